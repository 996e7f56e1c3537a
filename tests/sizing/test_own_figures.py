"""A customer's figures in the place of assumptions: bounded, counted, and never silently dropped."""

from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from configurator.workload import OwnFigure, Site, SiteKind, Workload
from quotes.sizing.assumptions import Assumptions, described
from quotes.sizing.assumptions.own import fits, may_be_owned, with_own
from quotes.sizing.money.running_costs import (
    TAX_BRACKETS_KWH,
    electricity_eur_per_kwh,
    energy_tax_eur_per_kwh,
    yearly_costs,
)

from .money import candidate, workload

A = Assumptions()
OWNABLE = [key for key in Assumptions.model_fields if may_be_owned(key)]


@pytest.mark.parametrize("key", OWNABLE)
def test_the_bounds_of_an_assumption_bound_the_customer(key: str) -> None:
    facts = described(A, key)
    for value, allowed in ((facts["low"], True), (facts["high"], True), (facts["high"] + 1, False)):
        adjusted, refused = with_own(A, (OwnFigure(key=key, value=value),))
        assert fits(key, value) is allowed
        assert getattr(adjusted, key) == (value if allowed else facts["default"])
        assert [finding.about for finding in refused] == ([] if allowed else [f"own_figures.{key}"])


@pytest.mark.parametrize("key", ["no_such_thing", "psu_efficiency_fraction", "hours_per_month"])
def test_what_is_no_cost_of_the_customer_is_refused_by_name(key: str) -> None:
    adjusted, refused = with_own(A, (OwnFigure(key=key, value=1),))
    assert adjusted == A
    assert len(refused) == 1
    assert "cannot be used" in str(refused[0].message)


def test_a_figure_is_given_once() -> None:
    twice = (OwnFigure(key="residual_pct", value=1), OwnFigure(key="residual_pct", value=2))
    with pytest.raises(ValueError, match="another key"):
        workload(own_figures=twice)


# ── energy tax ──────────────────────────────────────────────────────────────────────────────────────────────────

RATES = (
    A.energy_tax_to_10_mwh_eur,
    A.energy_tax_to_50_mwh_eur,
    A.energy_tax_to_10_gwh_eur,
    A.energy_tax_above_10_gwh_eur,
)


@dataclass(frozen=True)
class Bill:
    """A site that used `before_mwh`, and `more_kwh` on top of it: the tax in euro, added up by hand."""

    before_mwh: float
    more_kwh: float
    tax_eur: float


BILLS = [
    Bill(0, 10_000, 1088.0),
    Bill(0, 60_000, 10_000 * 0.1088 + 40_000 * 0.09037 + 10_000 * 0.03943),
    Bill(50, 131_000, 131_000 * 0.03943),
    Bill(45, 10_000, 5_000 * 0.09037 + 5_000 * 0.03943),
    Bill(9_999, 2_000, 1_000 * 0.03943 + 1_000 * 0.00188),
]


@pytest.mark.parametrize("bill", BILLS, ids=str)
def test_energy_tax_follows_the_brackets(bill: Bill) -> None:
    site = A.model_copy(update={"site_use_mwh_per_year": bill.before_mwh})
    assert energy_tax_eur_per_kwh(site, bill.more_kwh) * bill.more_kwh == pytest.approx(bill.tax_eur)


@given(before=st.floats(0, 1e6), kwh=st.floats(1, 1e9))
def test_the_average_tax_lies_between_the_brackets(before: float, kwh: float) -> None:
    site = A.model_copy(update={"site_use_mwh_per_year": before})
    assert min(RATES) - 1e-9 <= energy_tax_eur_per_kwh(site, kwh) <= max(RATES) + 1e-9


def test_the_brackets_are_in_order() -> None:
    assert all(low < high for low, high in pairwise(TAX_BRACKETS_KWH))


def test_a_contract_price_takes_the_place_of_the_price_with_tax() -> None:
    site = A.model_copy(update={"electricity_contract_eur_per_kwh": 0.12})
    assert electricity_eur_per_kwh(workload(), site, 20_000) == pytest.approx(0.12 + 0.03943)
    assert electricity_eur_per_kwh(workload(), A, 20_000) == A.electricity_eur_per_kwh


# ── housing and capital ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        (SiteKind.COLOCATION, "colocation_eur_per_kw_month"),
        (SiteKind.SERVER_ROOM, "own_room_eur_per_kw_month"),
    ],
)
def test_housing_is_counted_by_the_kw(kind: SiteKind, key: str) -> None:
    wanted: Workload = workload(site=Site(kind=kind))
    for price in (100, 200):
        yearly = yearly_costs(candidate(wall_w=5000), wanted, A.model_copy(update={key: price}))
        assert yearly["housing"] == pytest.approx(5 * 12 * price)


def test_capital_costs_the_rate_over_the_money_tied_up_on_average() -> None:
    site = A.model_copy(update={"capital_pct_per_year": 5, "residual_pct": 20})
    assert yearly_costs(candidate(price="100000"), workload(), site)["capital"] == pytest.approx(
        0.05 * 60_000
    )
    free = A.model_copy(update={"capital_pct_per_year": 0})
    assert "capital" not in yearly_costs(candidate(), workload(), free)
