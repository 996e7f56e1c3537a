"""Money: lines, groups and totals agree to the cent, whatever the numbers."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from catalog.quantity import Message, Money
from catalog.specs import CatalogSnapshot, Price, RackSpec, ServiceSpec
from quotes.pricing.lines import MissingPrice, PricedLine, PricedSystem, line_net, price_lines, priced
from quotes.pricing.money import Totals, cents
from quotes.sizing.results import BillLine, LineRole

amounts = st.decimals(min_value=0, max_value=10_000_000, places=2)
percentages = st.decimals(min_value=0, max_value=100, places=2)


@pytest.mark.parametrize(
    ("amount", "expected"),
    [("0.005", "0.01"), ("0.0049", "0.00"), ("2.675", "2.68"), ("1234.565", "1234.57"), ("-0.005", "-0.01")],
)
def test_cents_rounds_half_up(amount: str, expected: str) -> None:
    assert cents(Decimal(amount)) == Decimal(expected)


@given(net=amounts, rate=st.sampled_from([Decimal(0), Decimal(9), Decimal(21)]))
def test_net_plus_vat_is_gross(net: Decimal, rate: Decimal) -> None:
    totals = Totals.of(net, rate)
    assert totals.net + totals.vat == totals.gross
    assert totals.vat == cents(net * rate / 100)


def test_totals_that_do_not_add_up_are_refused() -> None:
    with pytest.raises(ValidationError, match="gross"):
        Totals(net=Decimal(100), vat_rate_pct=Decimal(21), vat=Decimal(21), gross=Decimal(120))
    with pytest.raises(ValidationError, match="cents"):
        Totals(net=Decimal("0.001"), vat_rate_pct=Decimal(0), vat=Decimal(0), gross=Decimal("0.001"))


@given(quantity=st.integers(1, 5000), unit=amounts, discount=percentages)
def test_discount_never_raises_a_line(quantity: int, unit: Decimal, discount: Decimal) -> None:
    assert 0 <= line_net(quantity, unit, discount) <= cents(quantity * unit)


def line(**changes: object) -> PricedLine:
    values = {
        "sku": "A",
        "name": "A",
        "role": LineRole.SERVER,
        "group": "node",
        "quantity": 1,
        "unit_eur": Decimal(1),
    }
    return PricedLine.of(**(values | changes))  # type: ignore[arg-type]


@given(
    st.lists(
        st.tuples(st.integers(1, 99), amounts, percentages, st.sampled_from(["node", "fabric", "services"])),
        min_size=1,
    )
)
def test_lines_groups_and_total_agree(rows: list[tuple[int, Decimal, Decimal, str]]) -> None:
    system = priced(
        (
            line(quantity=q, unit_eur=unit, discount_pct=discount, group=group)
            for q, unit, discount, group in rows
        ),
        Decimal(21),
    )
    subtotals = [subtotal for _, subtotal in system.groups.values()]
    assert sum(subtotals) == sum(row.net_eur for row in system.lines) == system.totals.net


def test_a_total_that_is_not_the_sum_of_its_lines_is_refused() -> None:
    with pytest.raises(ValidationError, match="differ"):
        PricedSystem(lines=(line(),), totals=Totals.of(Decimal(2), Decimal(21)))


def bill(sku: str, quantity: int = 1, role: LineRole = LineRole.SERVER, pct: str | None = None) -> BillLine:
    return BillLine(
        sku=sku,
        name=sku,
        quantity=quantity,
        role=role,
        reason=Message.of("because"),
        pct_of_hardware=None if pct is None else Decimal(pct),
    )


def catalog(**prices: str) -> CatalogSnapshot:
    return CatalogSnapshot(
        version="1",
        taken_on=date(2026, 11, 30),
        prices={sku: Price(amount=Money(amount=Decimal(amount))) for sku, amount in prices.items()},
    )


def test_a_percentage_service_counts_the_hardware_and_not_the_services() -> None:
    lines = price_lines(
        [
            bill("box", 2),
            bill("install", role=LineRole.SERVICE),
            bill("support", 3, role=LineRole.SERVICE, pct="6"),
        ],
        catalog(box="1000", install="350"),
    )
    assert [row.net_eur for row in lines] == [Decimal("2000.00"), Decimal("350.00"), Decimal("120.00")]
    assert lines[-1].unit_eur == Decimal("40.00")  # a year, of three


def test_no_discount_is_more_than_the_price() -> None:
    with pytest.raises(ValidationError, match="discount_pct"):
        line(discount_pct=Decimal("100.01"))


def test_lines_carry_the_dutch_name_of_their_article() -> None:
    """Services by percentage too; an article without a Dutch name keeps its own in both languages."""
    articles = {
        "services": [
            ServiceSpec(sku="install", vendor="v", name="Installation", name_nl="Installatie", unit="day"),
            ServiceSpec(sku="support", vendor="v", name="Support", name_nl="Ondersteuning", unit="year"),
        ],
        "racks": [RackSpec(sku="box", vendor="v", name="AR3357", rack_units=48)],
    }
    lines = price_lines(
        [
            bill("box").model_copy(update={"name": "AR3357"}),
            bill("install", role=LineRole.SERVICE).model_copy(update={"name": "Installation"}),
            bill("support", role=LineRole.SERVICE, pct="6").model_copy(update={"name": "Support"}),
        ],
        CatalogSnapshot.model_validate(dict(catalog(box="1000", install="350")) | articles),
    )
    assert [row.name_in("nl") for row in lines] == ["AR3357", "Installatie", "Ondersteuning"]
    assert [row.name_in("en") for row in lines] == ["AR3357", "Installation", "Support"]


def test_a_line_that_was_kept_before_there_were_dutch_names_is_read() -> None:
    kept = line(name="Installation").model_dump(mode="json")
    del kept["name_nl"]
    assert PricedLine.model_validate(kept).name_in("nl") == "Installation"


def test_an_article_without_a_price_cannot_be_quoted() -> None:
    with pytest.raises(MissingPrice, match="ghost"):
        price_lines([bill("ghost")], catalog())
