"""Which price holds on a day, and how rows become a snapshot."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.kinds import KINDS, PriceRow, assemble, build, overlap, prices_on
from catalog.quantity import Money
from catalog.specs import AcceleratorSpec, AccessorySpec, Availability, FormFactor

DAY = date(2026, 12, 1)


def price(amount: int, first: str = "", last: str = "", currency: str = "EUR", sku: str = "x") -> PriceRow:
    return PriceRow(
        sku=sku,
        amount=Money(amount=Decimal(amount), currency=currency),
        valid_from=date.fromisoformat(first) if first else None,
        valid_until=date.fromisoformat(last) if last else None,
    )


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([price(1)], 1),
        ([price(1, "2026-12-01", "2026-12-01")], 1),  # both ends included
        ([price(1, "2026-12-02")], None),
        ([price(1, "", "2026-11-30")], None),
        ([price(1, "", "2026-11-30"), price(2, "2026-12-01")], 2),
        ([price(2, "2026-12-01"), price(1, "2026-01-01")], 2),  # the most recent, in any order
        ([price(1, "2026-12-01", currency="USD"), price(2, "2026-01-01")], 2),  # euro before newer
        ([price(1, currency="USD")], 1),
        ([], None),
    ],
)
def test_the_price_of_a_day(rows: list[PriceRow], expected: int | None) -> None:
    found = prices_on(DAY, rows)
    assert (found["x"].amount.amount if "x" in found else None) == expected


days = st.dates(date(2026, 1, 1), date(2026, 1, 12))
spans = st.tuples(st.none() | days, st.none() | days).filter(lambda span: None in span or span[0] <= span[1])


@given(spans, spans)
def test_spans_overlap_when_they_share_a_day(one: tuple, other: tuple) -> None:  # type: ignore[type-arg]
    def contains(span: tuple, day: date) -> bool:  # type: ignore[type-arg]
        return (span[0] is None or span[0] <= day) and (span[1] is None or day <= span[1])

    around = [date(2025, 12, 31) + timedelta(days=offset) for offset in range(15)]
    assert overlap(*one, *other) == any(contains(one, day) and contains(other, day) for day in around)
    assert overlap(*one, *other) == overlap(*other, *one)


def test_a_board_tells_its_accelerator() -> None:
    card = AcceleratorSpec(
        sku="c", vendor="v", name="n", architecture="a", form_factor=FormFactor.SXM,
        availability=Availability.ORDERABLE,
    )  # fmt: skip
    board = AccessorySpec(sku="b", vendor="v", name="n", kind="board", accelerators=frozenset({"c"}), count=8)
    bridge = AccessorySpec(
        sku="a", vendor="v", name="n", kind="bridge", accelerators=frozenset({"c"}), count=2
    )
    catalog = assemble("1", {"accelerator": [card], "accessory": [board, bridge]}, {}, DAY)
    (found,) = catalog.accelerators
    assert (found.board_sku, found.board_count, found.order_sku) == ("b", 8, "b")
    assert [each.sku for each in catalog.accessories] == ["a", "b"]


def test_what_is_left_out_is_the_usual_value() -> None:
    found = build(KINDS["cpu"], {"sku": "c", "vendor": "v", "name": "n", "generation": "g", "socket": "s", "cores": 8,
                                 "power_w": None, "category": "cpu"})  # fmt: skip
    assert (found.power_w, found.sockets_max) == (None, 2)  # type: ignore[union-attr]
