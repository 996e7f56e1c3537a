"""Leasing, reserving, spot and tokens: the same work in other ways, and what nobody knows left unknown."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from configurator.workload import (
    DataNeeds,
    Growth,
    LanguageTraining,
    LoadProfile,
    Method,
    ModelRef,
    Placement,
    Workload,
)
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.money.economics import economics
from quotes.sizing.money.hybrid import busy_load
from quotes.sizing.money.leasing import financial_lease, operational_lease
from quotes.sizing.money.tokens import tokens_per_month
from quotes.sizing.results import Candidate, Economics, Estimate, LoadOption, RentPlan, Speed

from .money import CHAT, DAY, INSPECTION, candidate, catalog, load, offer, workload

A = Assumptions()


def with_figures(**figures: float) -> Assumptions:
    return A.model_copy(update=figures)


def money(
    *offers: Any,
    made: Candidate | None = None,
    wanted: Workload | None = None,
    assumptions: Assumptions = A,
) -> Economics:
    made = made or candidate()
    return economics(
        made,
        wanted or workload(),
        catalog(*(offers or (offer(),))),
        assumptions,
        purchase_eur=made.price_eur,
        on=DAY,
        cloud_options={"gpu": made.loads},
    )


def plans(found: Economics) -> dict[str, RentPlan]:
    return {plan.plan: plan for plan in found.rents}


def job(runs_per_month: float = 0) -> LanguageTraining:
    return LanguageTraining(
        name="tune",
        model=ModelRef(params_b=8),
        method=Method.LORA,
        tokens=1e6,
        deadline_h=1000,
        runs_per_month=runs_per_month,
    )


def run(hours: float = 100, per_month: float = 0) -> LoadOption:
    speed = Speed(run_hours=Estimate(value=hours, low=hours, high=hours))
    return load(
        load="tune", kind="training", gpus=1, replicas=1, speed=speed, gpu_hours_per_month=hours * per_month
    )


# ── leasing ─────────────────────────────────────────────────────────────────────────────────────────────────────


@given(
    price=st.floats(1000, 1e7),
    months=st.sampled_from([12, 24, 36, 48, 60]),
    interest=st.floats(0.1, 25),
    final=st.floats(0, 60),
)
def test_a_financial_lease_pays_its_price_back_with_interest(
    price: float, months: int, interest: float, final: float
) -> None:
    """Month by month: interest on what is owed, then the payment; after the last one nothing is owed."""
    found = financial_lease(
        price, months, with_figures(lease_interest_pct_per_year=interest, lease_final_pct=final)
    )
    assert found is not None
    owed = price
    for _month in range(months):
        owed += owed * interest / 1200 - found.monthly_eur
    assert owed == pytest.approx(found.final_eur, rel=1e-6, abs=price * 1e-6)


def test_what_no_lessor_offered_is_not_guessed() -> None:
    assert financial_lease(1000, 36, A) is None
    assert operational_lease(1000, A) is None
    found = money()
    assert [(lease.kind, lease.monthly_eur, lease.total_eur) for lease in found.leases] == [
        ("financial", None, None),
        ("operational", None, None),
    ]
    assert found.curve.lease_eur == ()


def test_leases_cost_their_payments_and_the_running_cost_but_no_capital() -> None:
    site = with_figures(lease_interest_pct_per_year=6, lease_operational_pct_per_month=4)
    found = money(assumptions=site)
    financial, operational = found.leases
    years, running = found.horizon_years, sum(found.yearly_eur.values()) - found.yearly_eur["capital"]
    assert operational.monthly_eur == Decimal("4000.00")
    assert operational.total_eur == pytest.approx(4000 * 36 + running * years, abs=Decimal("0.02"))
    assert financial.monthly_eur is not None
    assert financial.total_eur == pytest.approx(
        financial.monthly_eur * 36 + financial.final_eur + running * years - found.residual_eur,
        abs=Decimal("0.02"),
    )
    assert len(found.curve.lease_eur) == len(found.curve.own_eur)
    assert found.curve.lease_eur[-1] == pytest.approx(float(financial.total_eur), abs=1)


# ── reserving and spot ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_reservation_is_paid_for_every_hour() -> None:
    site = with_figures(cloud_reserved_1y_discount_pct=20)
    found = plans(money(wanted=workload(LoadProfile.OFFICE_HOURS), assumptions=site))
    on_demand, year = found["on_demand"].cloud, found["reserved_1y"].cloud
    assert on_demand is not None
    assert year is not None
    assert (on_demand.estimated, year.estimated) == (False, True)
    assert year.hours_per_month == A.hours_per_month
    administration = A.cloud_administration_h_per_month * A.administration_eur_per_h
    assert float(year.monthly_eur) == pytest.approx(4 * 2 * 0.8 * 730 + administration, abs=0.01)


def test_an_offer_in_the_catalog_comes_before_an_assumed_discount() -> None:
    listed = offer("1.9", sku="listed", plan="reserved_3y")
    found = plans(money(offer(), listed))["reserved_3y"].cloud
    assert found is not None
    assert (found.offer, found.estimated) == ("listed", False)


@pytest.mark.parametrize(
    ("wanted", "made", "plan", "said"),
    [
        (workload(), candidate(), "spot", "Not for a service"),
        (Workload(jobs=(job(),)), candidate(run()), "reserved_1y", "single run"),
        (workload(growth=Growth(horizon_years=2)), candidate(), "reserved_3y", "Longer than"),
        (Workload(jobs=(job(),)), candidate(run()), "spot", "No price known"),
    ],
)
def test_a_way_that_does_not_suit_says_why(wanted: Workload, made: Candidate, plan: str, said: str) -> None:
    found = plans(money(wanted=wanted, made=made))[plan]
    assert (found.cloud, found.total_eur) == (None, None)
    assert said in str(found.note)


def test_without_a_known_discount_reserving_is_to_be_asked_for() -> None:
    found = plans(money(assumptions=with_figures(cloud_reserved_1y_discount_pct=0)))["reserved_1y"]
    assert found.cloud is None
    assert "ask for an offer" in str(found.note)


def test_a_spot_price_without_a_date_is_left_out_and_says_so() -> None:
    undated = offer("1", sku="spot", plan="spot", priced_on=None)
    found = plans(money(offer(), undated, made=candidate(run(100)), wanted=Workload(jobs=(job(),))))["spot"]
    assert (found.cloud, found.total_eur) == (None, None)
    assert "has no date" in str(found.note)


def test_training_on_spot_takes_longer_and_says_its_useful_price() -> None:
    taken = offer("1", sku="spot", plan="spot")
    found = plans(money(offer(), taken, made=candidate(run(100)), wanted=Workload(jobs=(job(),))))["spot"]
    assert found.cloud is not None
    assert found.cloud.once_hours == pytest.approx(100 / A.spot_useful_fraction)
    assert found.total_eur == pytest.approx(Decimal(100 / A.spot_useful_fraction), abs=Decimal("0.01"))
    assert "a useful hour costs" in str(found.note)


@given(first=st.floats(0, 80), second=st.floats(0, 80))
def test_a_larger_discount_never_costs_more(first: float, second: float) -> None:
    low, high = sorted((max(first, 1), max(second, 1)))
    dear, cheap = (
        plans(money(assumptions=with_figures(cloud_reserved_3y_discount_pct=pct)))["reserved_3y"].total_eur
        for pct in (low, high)
    )
    assert cheap <= dear  # type: ignore[operator]


def test_an_instance_of_several_accelerators_is_told_as_such() -> None:
    one = plans(money())["on_demand"].cloud
    eight = plans(money(offer("16", accelerator_count=8)))["on_demand"].cloud
    assert one is not None
    assert eight is not None
    assert one.machine == one.accelerator
    assert (eight.instances, eight.machine) == (1, f"8 × {eight.accelerator}")


# ── once, storage ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_single_run_is_told_as_what_it_costs_once() -> None:
    found = money(offer("10"), made=candidate(run(100)), wanted=Workload(jobs=(job(),)))
    assert found.cloud is not None
    assert (found.cloud.once_eur, found.cloud.once_hours) == (Decimal("1000.00"), 100)
    assert "once, for 100 hours" in str(found.cloud.reason)
    keys = {figure.key: figure.value.value for figure in found.figures}
    assert keys["cloud_eur_once"] == 1000
    assert "cloud_eur_per_month" not in keys


def test_data_is_kept_in_the_cloud_as_long_as_work_goes_on() -> None:
    site = with_figures(cloud_egress_tb_per_month=2)
    kept, bare = (
        money(wanted=workload(data=DataNeeds(dataset_tb=size)), assumptions=site).cloud for size in (50, 0)
    )
    assert kept is not None
    assert bare is not None
    assert float(bare.storage_eur_month) == 2 * A.cloud_egress_eur_per_tb
    assert float(kept.monthly_eur - bare.monthly_eur) == pytest.approx(50 * A.cloud_storage_eur_per_tb_month)
    once = money(
        made=candidate(run(800)), wanted=Workload(jobs=(job(),), data=DataNeeds(dataset_tb=50))
    ).cloud
    assert once is not None
    assert float(once.once_eur) == pytest.approx(800 * 2 + 2 * 50 * A.cloud_storage_eur_per_tb_month)


# ── tokens ──────────────────────────────────────────────────────────────────────────────────────────────────────

SPEED = Speed(
    ttft_p95_s=Estimate(value=2, low=2, high=3), tokens_s_per_user=Estimate(value=25, low=20, high=30)
)


def test_tokens_follow_from_the_requests_in_flight() -> None:
    """Ten at once, each 2 s and 200 tokens at 25 a second: a request a second, day and night."""
    found = tokens_per_month(workload(), (load(speed=SPEED),), A)
    assert found is not None
    requests = (
        10
        / (2 + 200 / 25)
        * 730
        * 3600
        * float(busy_load(CHAT.model_copy(update={"profile": LoadProfile.ALWAYS})).mean())
    )
    assert found.input_m == pytest.approx(requests * 500 / 1e6)
    assert found.output_m == pytest.approx(requests * 200 / 1e6)


def test_a_faster_system_is_not_asked_more() -> None:
    """At a pace that is asked for the tokens are those of the work, whatever the system could write."""
    asked = CHAT.model_copy(
        update={"ttft_p95_s": 2.0, "tokens_s_per_user": 25.0, "profile": LoadProfile.ALWAYS}
    )
    faster = SPEED.model_copy(update={"tokens_s_per_user": Estimate(value=100, low=80, high=120)})
    work = Workload(services=(asked,))
    assert tokens_per_month(work, (load(speed=faster),), A) == tokens_per_month(work, (load(speed=SPEED),), A)
    assert tokens_per_month(work, (load(speed=SPEED),), A) == tokens_per_month(
        workload(), (load(speed=SPEED),), A
    )


def test_tokens_are_priced_where_the_price_is_known() -> None:
    made = candidate(load(speed=SPEED))
    unknown, known = (
        money(made=made, assumptions=site).tokens
        for site in (A, with_figures(token_input_eur_per_million=2, token_output_eur_per_million=8))
    )
    assert unknown is not None
    assert known is not None
    assert unknown.api_eur_month is None
    assert float(known.api_eur_month or 0) == pytest.approx(
        2 * known.input_m_month + 8 * known.output_m_month, abs=0.01
    )
    own = float(money(made=made).total_eur) / 36 / (known.input_m_month + known.output_m_month)
    assert float(known.own_eur_per_m) == pytest.approx(own, abs=0.01)


@pytest.mark.parametrize(
    "wanted",
    [
        workload(placement=Placement(cloud_allowed=False)),
        Workload(services=(CHAT.model_copy(update={"confidential": True}),)),
    ],
)
def test_tokens_that_may_not_leave_have_no_price_elsewhere(wanted: Workload) -> None:
    site = with_figures(token_input_eur_per_million=2, token_output_eur_per_million=8)
    found = money(made=candidate(load(speed=SPEED)), wanted=wanted, assumptions=site)
    assert found.tokens is not None
    assert found.tokens.api_total_eur is None
    assert found.rents == ()


def test_other_work_is_not_sold_by_the_token() -> None:
    mixed = Workload(services=(CHAT, INSPECTION))
    assert tokens_per_month(mixed, (load(speed=SPEED),), A) is None
    assert tokens_per_month(workload(), (load(),), A) is None
