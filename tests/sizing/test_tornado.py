"""What moves the outcome: the same economics with one input moved."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from configurator.workload import LoadProfile, Placement, Site, SiteKind, Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.money.tornado import Case, levers, outcome, tornado
from quotes.sizing.results import Swing, Tornado

from .money import DAY, PROFILES, candidate, catalog, load, offer, workload

A = Assumptions()


def case(wanted: Workload | None = None, *, price: str = "100000", hourly: str = "2") -> Case:
    return Case(
        candidate(price=price), wanted or workload(), catalog(offer(hourly)), A, DAY, {"gpu": (load(),)}
    )


def found(given: Case) -> Tornado:
    answer = tornado(given)
    assert answer
    return answer


def swing(answer: Tornado, key: str) -> Swing:
    return next(one for one in answer.swings if one.key == key)


SECRET = workload(services=(workload().services[0].model_copy(update={"confidential": True}),))
COLO = workload(site=Site(kind=SiteKind.COLOCATION))


def test_the_base_is_the_outcome_of_the_economics_themselves() -> None:
    money = case().worked_out()
    assert found(case()).base_eur == pytest.approx(float(money.cloud_total_eur - money.total_eur))
    assert found(case()).base_month == money.break_even_month


def test_the_widest_swing_comes_first() -> None:
    widths = [one.width_eur for one in found(case()).swings]
    assert widths == sorted(widths, reverse=True)
    assert len(widths) >= 6


def test_each_end_is_a_whole_calculation_with_one_input_changed() -> None:
    """By hand: electricity at 0.1425 instead of 0.19 saves a quarter of the energy over three years."""
    given = case()
    energy = float(given.worked_out().yearly_eur["energy"])
    cheap = swing(found(given), "electricity").low_eur - found(given).base_eur
    assert cheap == pytest.approx(0.25 * energy * 3, abs=0.1)
    dear = found(given).base_eur - swing(found(given), "residual").low_eur
    tied_up = 10_000 / 2 * 0.04 * 3  # no capital is tied up in a residual value that is not there
    assert dear == pytest.approx(10_000 - tied_up, abs=0.1)


@pytest.mark.parametrize(
    ("key", "more_saves"),
    [("use", True), ("cloud_price", True), ("residual", True), ("purchase", False), ("electricity", False),
     ("pue", False), ("administration", False)],
)  # fmt: skip
def test_an_input_moves_the_outcome_the_way_it_should(key: str, more_saves: bool) -> None:
    one = swing(found(case()), key)
    assert (one.high_eur > one.low_eur) is more_saves


def test_an_answered_price_moves_as_an_assumed_one() -> None:
    answered = case(workload(site=Site(electricity_eur_kwh=Decimal("0.19"), pue=1.5)))
    for key in ("electricity", "pue"):
        assert swing(found(answered), key).low_eur == pytest.approx(
            swing(found(case()), key).low_eur, abs=0.1
        )


def test_without_a_cloud_the_outcome_is_what_owning_costs_a_month() -> None:
    for secret in (SECRET, workload(placement=Placement(cloud_allowed=False))):
        answer = found(case(secret))
        assert not answer.compares
        assert answer.base_eur == pytest.approx(float(case(secret).worked_out().total_eur) / 36)
        assert "cloud_price" not in {one.key for one in answer.swings}
        assert "a month" in str(answer.words[0])


def test_housing_moves_only_where_it_is_paid() -> None:
    assert "housing" in {one.key for one in found(case(COLO)).swings}
    assert "housing" not in {one.key for one in found(case()).swings}


def test_a_contract_moves_and_its_tax_stays() -> None:
    contract = case()._replace(assumptions=A.model_copy(update={"electricity_contract_eur_per_kwh": 0.10}))
    (lever,) = [one for one in levers(contract) if one.key == "electricity"]
    assert lever.ends[1].value - lever.ends[0].value == pytest.approx(0.05)


def test_more_use_means_the_same_in_the_band_and_in_the_tornado() -> None:
    given = case(workload(LoadProfile.OFFICE_HOURS), hourly="9")
    given = given.assuming(electricity_band_pct=0, cloud_price_band_pct=0, cloud_administration_h_per_month=0)
    money, use = given.worked_out(), swing(found(given), "use")
    assert (money.break_even_low, money.break_even_high) == pytest.approx((use.high_month, use.low_month))


def test_the_words_say_what_could_turn_the_outcome() -> None:
    close = found(case(hourly="1.5"))
    assert (close.swings[0].low_eur > 0) != (close.swings[0].high_eur > 0)
    assert str(close.words[1]).startswith("Alone enough to turn the outcome: ")
    assert str(found(case(hourly="9")).words[1]) == "No single one of these makes renting cheaper."
    assert str(found(case(hourly="0.1")).words[1]) == "No single one of these makes owning cheaper."


prices = st.integers(1, 40).map(lambda tenths: f"{tenths / 10:.1f}")


@given(one=prices, other=prices, profile=st.sampled_from(PROFILES))
def test_a_cheaper_cloud_pays_back_later_and_saves_less(one: str, other: str, profile: LoadProfile) -> None:
    cheap, dear = sorted((one, other), key=float)
    below, above = (case(workload(profile), hourly=hourly).worked_out() for hourly in (cheap, dear))
    never = float("inf")
    assert (below.break_even_month or never) >= (above.break_even_month or never)
    assert outcome(below) <= outcome(above) + 0.01
