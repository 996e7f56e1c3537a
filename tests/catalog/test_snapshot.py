"""The snapshot of the database: what is in it, what it costs, and when it is made anew."""

import logging
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal

import pytest
from pytest_django import DjangoAssertNumQueries

from catalog import snapshot as module
from catalog.models import Accelerator, CatalogVersion, Drive, Price, Rack, Server
from catalog.seed import seed_snapshot
from catalog.snapshot import snapshot

DAY = date(2026, 12, 1)


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    module._snapshot.cache_clear()
    module._undated.cache_clear()
    yield
    module._snapshot.cache_clear()
    module._undated.cache_clear()


def test_the_database_holds_what_the_files_say(catalog: None) -> None:
    stored, read = snapshot(DAY), seed_snapshot(DAY)
    assert stored.model_copy(update={"version": read.version}) == read


def test_it_takes_one_query_per_table_and_then_one(
    catalog: None, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(20):  # version, 16 kinds, 2 lists of accelerators, prices
        first = snapshot(DAY)
    with django_assert_num_queries(1):
        assert snapshot(DAY) is first
    with django_assert_num_queries(1):  # another day needs no other rows
        assert snapshot(date(2027, 1, 1)).accelerators == first.accelerators


CHANGES: dict[str, Callable[[], object]] = {
    "save": lambda: Rack.objects.get(pk="AR3357").save(),
    "delete": lambda: Price.objects.get(article_id="l40s").delete(),
    "update many": lambda: Price.objects.filter(article_id="l40s").update(amount=1),
    "delete many": lambda: Price.objects.filter(article_id="l40s").delete(),
    "bulk_update": lambda: Price.objects.bulk_update(
        [Price.objects.get(article_id="l40s")], ["amount"]
    ),
    "bulk_create": lambda: Price.objects.bulk_create(
        [Price(article_id="l40s", currency="USD", amount=1, source="x")]
    ),
    "create": lambda: Rack.objects.create(sku="new", vendor="v", name="n", source="s", rack_units=42),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_every_change_makes_a_new_version(catalog: None, change: Callable[[], object]) -> None:
    before = CatalogVersion.current()
    change()
    assert CatalogVersion.current() != before


def test_a_changed_price_is_in_the_next_snapshot(catalog: None) -> None:
    before = snapshot(DAY)
    price = Price.objects.get(article_id="l40s")
    price.amount = Decimal(9999)
    price.save()
    assert snapshot(DAY).price_eur("l40s") == 9999
    assert before.price_eur("l40s") == 8600


def test_a_changed_list_of_accelerators_is_in_the_next_snapshot(catalog: None) -> None:
    server = Server.objects.get(pk="SYS-821GE-TNHR")
    server.save()
    server.accelerators.set(["l40s"])
    found = snapshot(DAY).items["SYS-821GE-TNHR"]
    assert found.accelerators == {"l40s"}  # type: ignore[attr-defined]


def test_inactive_rows_and_their_prices_are_left_out(catalog: None) -> None:
    Accelerator.objects.filter(pk="l40s").update(active=False, inactive_reason="sold out")
    found = snapshot(DAY)
    assert "l40s" not in found.items
    assert "l40s" not in found.prices


def test_a_dutch_name_that_somebody_gave_is_in_the_next_snapshot(catalog: None) -> None:
    before = snapshot(DAY)
    rack = Rack.objects.get(pk="AR3357")
    rack.name_nl = "APC-rack 48U"
    rack.save()
    found = snapshot(DAY).items["AR3357"]
    assert (found.name, found.name_nl) == (rack.name, "APC-rack 48U")
    assert before.items["AR3357"].name_nl == ""


def test_a_price_holds_on_its_days_only(catalog: None) -> None:
    Price.objects.filter(article_id="l40s").update(
        valid_from=date(2026, 12, 1), valid_until=date(2026, 12, 31)
    )
    assert snapshot(date(2026, 11, 30)).price_eur("l40s") is None
    assert snapshot(date(2026, 12, 1)).price_eur("l40s") == 8600
    assert snapshot(date(2026, 12, 31)).price_eur("l40s") == 8600
    assert snapshot(date(2027, 1, 1)).price_eur("l40s") is None


def test_a_row_that_the_spec_refuses_is_left_out_and_told(
    catalog: None, caplog: pytest.LogCaptureFixture
) -> None:
    Drive.objects.filter(pk="exos-x20-20tb").update(kind="tape")
    with caplog.at_level(logging.ERROR, logger="catalog.snapshot"):
        found = snapshot(DAY)
    assert "exos-x20-20tb" not in found.items
    assert "exos-x22-22tb" in found.items
    assert "exos-x20-20tb is left out" in caplog.text


def test_an_empty_catalog_is_a_catalog(db: None) -> None:
    assert snapshot(DAY).items == {}
