"""The rules of the tables: each broken one gives its sentence at its field, and the database refuses it too."""

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, models, transaction
from django.utils import timezone, translation

from catalog.models import (
    TABLES,
    Accelerator,
    Accessory,
    AiModel,
    Article,
    Cable,
    CloudOffer,
    Cpu,
    Drive,
    Margin,
    MemoryModule,
    NetworkCard,
    Pdu,
    Price,
    Rack,
    Server,
    Service,
    StorageSystem,
    Switch,
)
from catalog.models.base import in_words

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _in_english() -> Iterator[None]:
    with translation.override("en"):
        yield


ARTICLE: dict[str, Any] = {"sku": "x-1", "vendor": "Vendor", "name": "X 1", "source": "data sheet"}
VALID: dict[type[models.Model], dict[str, Any]] = {
    Accelerator: {**ARTICLE, "architecture": "Hopper", "form_factor": "pcie", "memory_gb_label": 80},
    Accessory: {**ARTICLE, "kind": "kvm"},
    Server: {**ARTICLE, "status": "buildable", "rack_units": 2, "cpu_sockets": 2, "cpu_socket": "SP5",
             "dimm_slots": 24, "psu_count": 2, "psu_w": 2000, "base_power_w": 90, "fan_pct": 8, "nvme_bays": 8,
             "free_x16_slots": 4},
    Cpu: {**ARTICLE, "generation": "EPYC 9005", "socket": "SP5", "cores": 32},
    MemoryModule: {**ARTICLE, "capacity_gb": 64, "speed_mt_s": 6400},
    Drive: {**ARTICLE, "capacity_gb": 3840, "form": "U.2"},
    NetworkCard: {**ARTICLE, "ports": 2, "port_gbit_s": 25},
    Switch: {**ARTICLE, "ports": 64, "port_gbit_s": 400, "cages": 32, "typical_power_w": 600, "max_power_w": 1700},
    Cable: {**ARTICLE, "kind": "dac"},
    StorageSystem: {**ARTICLE, "usable_tb": 96, "raw_tb": 123},
    Rack: {**ARTICLE, "rack_units": 48},
    Pdu: {**ARTICLE, "phases": 3, "amps": 32},
    Service: {**ARTICLE, "unit": "server"},
    CloudOffer: {**ARTICLE, "region": "eu", "hourly_amount": Decimal("2.5"), "currency": "EUR"},
    AiModel: {"key": "a/b", "name": "B", "source": "config.json", "layers": 32, "hidden": 4096, "query_heads": 32,
              "kv_heads": 8, "head_dim": 128, "vocabulary": 128_256, "feed_forward": 14_336},
    Margin: {"category": "gpu", "margin_pct": 7, "minimum_margin_pct": 3},
}  # fmt: skip


def make(table: type[models.Model], **changes: Any) -> Any:
    return table(**{**VALID[table], **changes})


@pytest.mark.parametrize("table", VALID, ids=lambda table: table.__name__)
def test_the_valid_rows_are_valid(table: type[models.Model]) -> None:
    row = make(table)
    row.full_clean()
    row.save()


def broken(table: type[models.Model], field: str, sentence: str, **changes: Any) -> Any:
    name = f"{table.__name__}-{'-'.join(changes)}"
    return pytest.param(table, field, sentence, changes, id=name)


BROKEN = [
    broken(Accelerator, "memory_mib", "cannot report more memory than the label", memory_mib=82_000),
    broken(Accelerator, "link_max_count", "at least two accelerators", link_kind="bridge", link_max_count=1),
    broken(
        Accelerator, "link_max_count", "without a link the number is 0", link_kind="none", link_max_count=8
    ),
    broken(Accelerator, "memory_mib", "no memory as one space", device_count=4, memory_mib=61_424),
    broken(Accelerator, "inactive_reason", "Say why the row is not active", active=False),
    broken(Accelerator, "confidence", "not a valid choice", confidence="D"),
    broken(Accelerator, "source", "cannot be blank", source=""),
    broken(Accelerator, "power_w", "greater than or equal to 0", power_w=-1),
    broken(Accessory, "count", "at least two accelerators", kind="board", count=1),
    broken(Server, "status", "A buildable server needs", base_power_w=None),
    broken(Server, "status", "A buildable server needs", cpu_socket=""),
    broken(Server, "status", "A buildable server needs", psu_count=None),
    broken(Cpu, "cores", "greater than or equal to 1", cores=0),
    broken(Cpu, "sockets_max", "less than or equal to 8", sockets_max=9),
    broken(MemoryModule, "capacity_gb", "greater than or equal to 1", capacity_gb=0),
    broken(Drive, "capacity_gb", "greater than or equal to 1", capacity_gb=-5),
    broken(NetworkCard, "ports", "greater than or equal to 1", ports=0),
    broken(Switch, "cages", "more cages than ports", cages=65),
    broken(Switch, "typical_power_w", "cannot exceed the highest power", typical_power_w=1800),
    broken(Cable, "ports", "greater than or equal to 1", ports=0),
    broken(StorageSystem, "usable_tb", "cannot exceed the raw capacity", usable_tb=124),
    broken(StorageSystem, "minimum_count", "greater than or equal to 1", minimum_count=0),
    broken(Rack, "rack_units", "greater than or equal to 1", rack_units=0),
    broken(Pdu, "phases", "not a valid choice", phases=2),
    broken(Service, "pct_of_hardware", "less than or equal to 100", pct_of_hardware=101),
    broken(CloudOffer, "currency", "needs a currency", currency=""),
    broken(CloudOffer, "exchange_rate", "rate of the euro is 1", exchange_rate=Decimal("0.9")),
    broken(CloudOffer, "exchange_rate_on", "Say of which day", currency="USD", exchange_rate=Decimal("0.9")),
    broken(AiModel, "layers", "more sliding, linear and attentionless layers", linear_layers=33),
    broken(AiModel, "experts_per_token", "at least one and at most all", experts=8, experts_per_token=9),
    broken(AiModel, "active_params_b", "cannot exceed all parameters", total_params_b=7, active_params_b=8),
    broken(AiModel, "kv_heads", "at most as many KV heads", kv_heads=64),
    broken(AiModel, "kv_rank", "needs its rotary", kv_rank=512),
    broken(AiModel, "sliding_window", "need the size of the window", sliding_layers=4),
    broken(Margin, "margin_pct", "between the lowest margin and 100", margin_pct=2),
]


FORM_ONLY = [
    broken(Server, "psu_redundancy", "Write it as 3+1", psu_redundancy="redundant"),
    broken(Server, "psu_redundancy", "another number of supplies than 2", psu_redundancy="3+1"),
]


@pytest.mark.parametrize(("table", "field", "sentence", "changes"), [*BROKEN, *FORM_ONLY])
def test_a_broken_rule_is_told_at_its_field(
    table: type[models.Model], field: str, sentence: str, changes: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError) as raised:
        make(table, **changes).full_clean()
    told = raised.value.message_dict
    assert field in told, told
    assert any(sentence in each for each in told[field]), told


@pytest.mark.parametrize(("table", "field", "sentence", "changes"), BROKEN)
def test_the_database_refuses_it_too(
    table: type[models.Model], field: str, sentence: str, changes: dict[str, Any]
) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        make(table, **changes).save()


def test_the_spec_has_the_last_word() -> None:
    """A figure that the types refuse is told at its field even where no constraint says so."""
    row = make(Drive, kind="tape")
    with pytest.raises(ValidationError) as raised:
        row.full_clean()
    assert "kind" in raised.value.message_dict


def test_what_the_spec_says_is_said_in_the_readers_language() -> None:
    detail = {"type": "less_than_equal", "msg": "Input should be …", "ctx": {"le": 100}}
    assert in_words(detail) == "At most 100."
    with translation.override("nl"):
        assert in_words(detail) == "Hoogstens 100."
    assert in_words({"type": "value_error", "msg": "Value error, no such thing"}) == "no such thing"


def test_only_figures_can_be_estimates() -> None:
    with pytest.raises(ValidationError) as raised:
        make(Drive, estimated_fields=["colour"]).full_clean()
    assert raised.value.message_dict == {"estimated_fields": ["colour is not a figure of this kind."]}


def test_mistakes_at_fields_that_a_form_lacks_are_told_at_the_row() -> None:
    row = make(Switch, cages=65)
    with pytest.raises(ValidationError) as raised:
        row.full_clean(exclude=["source"])
    assert "cages" in raised.value.message_dict
    row = make(Drive, kind="tape")
    with pytest.raises(ValidationError) as raised:
        row.full_clean(exclude=["kind"])
    assert set(raised.value.message_dict) == {"__all__"}


# ── one SKU over all kinds ──────────────────────────────────────────────────────────────────────────────────────


def test_a_sku_is_unique_over_all_kinds() -> None:
    make(Rack).save()
    with pytest.raises(ValidationError) as raised:
        make(Cpu).full_clean()
    assert "sku" in raised.value.message_dict
    with pytest.raises(IntegrityError), transaction.atomic():
        make(Cpu).save()
    with pytest.raises(IntegrityError), transaction.atomic():
        Cpu.objects.create(**VALID[Cpu])
    assert Article.objects.get(pk="x-1").kind_name == "rack"


@pytest.mark.parametrize("sku", ["", "two words", "-dash", "a/b", "ü"])
def test_a_sku_is_a_plain_word(sku: str) -> None:
    with pytest.raises(ValidationError) as raised:
        make(Rack, sku=sku).full_clean()
    assert "sku" in raised.value.message_dict


def test_an_article_knows_its_kind() -> None:
    make(Rack).save()
    assert Article.objects.get(pk="x-1").kind_name == "rack"


def test_a_purpose_is_used_once() -> None:
    make(Service, purpose="burn_in").save()
    with pytest.raises(ValidationError) as raised:
        make(Service, sku="x-2", purpose="burn_in").full_clean()
    assert raised.value.message_dict == {"purpose": ["Another service is already used for this."]}


def test_what_is_referred_to_cannot_be_deleted() -> None:
    make(Accelerator).save()
    make(CloudOffer, sku="offer", offered_accelerator_id="x-1").save()
    with pytest.raises(models.ProtectedError):
        Accelerator.objects.get(pk="x-1").delete()


def test_every_table_holds_the_figures_of_its_spec() -> None:
    for key, table in TABLES.items():
        fields = {field.name for field in table._meta.get_fields()} | {
            field.attname for field in table._meta.concrete_fields
        }
        missing = {column for column in table.catalog_kind().columns if table.attribute(column) not in fields}
        assert not missing, (key, missing)


# ── prices ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def price() -> Callable[..., Price]:
    make(Rack).save()

    def build(first: str | None = None, last: str | None = None, **changes: Any) -> Price:
        values = {"article_id": "x-1", "amount": Decimal(100), "source": "list", **changes}
        return Price(
            valid_from=date.fromisoformat(first) if first else None,
            valid_until=date.fromisoformat(last) if last else None,
            **values,
        )

    return build


@pytest.mark.parametrize(
    ("first", "last", "free"),
    [
        ("2026-07-01", None, True),  # the day after
        ("2026-06-30", None, False),  # shares the last day
        (None, "2026-02-28", True),  # until the day before
        (None, "2026-03-01", False),  # shares the first day
        ("2026-04-01", "2026-05-01", False),  # inside
        (None, None, False),  # always
    ],
)
def test_two_prices_never_share_a_day(
    price: Callable[..., Price], first: str | None, last: str | None, free: bool
) -> None:
    price("2026-03-01", "2026-06-30").save()
    other = price(first, last)
    if free:
        other.full_clean()
        return
    with pytest.raises(ValidationError, match="another price holds"):
        other.full_clean()


def test_another_currency_is_another_price(price: Callable[..., Price]) -> None:
    price().save()
    price(currency="USD").full_clean()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"first": "2026-02-02", "last": "2026-02-01"}, "valid_until"),
        ({"amount": Decimal("-0.01")}, "amount"),
        ({"demonstration": True, "indicative": False}, "indicative"),
        ({"source": ""}, "source"),
    ],
)
def test_a_price_that_cannot_be(price: Callable[..., Price], changes: dict[str, Any], field: str) -> None:
    row = price(**changes)
    with pytest.raises(ValidationError) as raised:
        row.full_clean()
    assert field in raised.value.message_dict
    with pytest.raises(IntegrityError), transaction.atomic():
        row.save()


@pytest.mark.parametrize(
    ("first", "last"), [("2026-03-01", "2026-12-31"), (None, "2026-12-31"), ("2026-01-01", None)]
)
def test_the_database_allows_one_start_and_one_open_end(
    price: Callable[..., Price], first: str | None, last: str | None
) -> None:
    price("2026-03-01", None).save()
    price(None, "2026-02-28").save()
    with pytest.raises(IntegrityError), transaction.atomic():
        price(first, last).save()


def test_a_new_price_ends_the_open_one(price: Callable[..., Price]) -> None:
    old = price("2026-01-01")
    old.save()
    new = price("2026-07-01", amount=Decimal(120))
    new.replaces_open = True
    new.full_clean()
    assert new.end_predecessor() == old
    new.save()
    old.refresh_from_db()
    assert old.valid_until == date(2026, 6, 30)


def test_a_new_price_ends_no_later_one(price: Callable[..., Price]) -> None:
    price("2026-08-01").save()
    new = price("2026-07-01")
    new.replaces_open = True
    with pytest.raises(ValidationError, match="another price holds"):
        new.full_clean()


def test_a_price_grows_stale(price: Callable[..., Price]) -> None:
    today = timezone.localdate()
    assert price().is_stale
    assert not price(stated_on=today - timedelta(days=60)).is_stale
    assert price(stated_on=today - timedelta(days=61)).is_stale


def test_history_keeps_what_was(price: Callable[..., Price]) -> None:
    row = price()
    row.save()
    row.amount = Decimal(90)
    row.save()
    assert [each.amount for each in row.history.all()] == [Decimal(90), Decimal(100)]
