"""Owning against renting: sums that add up, laws that hold, published cases that come out."""

from datetime import timedelta
from decimal import Decimal
from itertools import pairwise
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from configurator.workload import (
    Domain,
    Growth,
    LanguageTraining,
    LoadProfile,
    Method,
    ModelRef,
    Placement,
    RateTraining,
    Site,
    SiteKind,
    Workload,
)
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.money.economics import break_even_hours, economics
from quotes.sizing.money.growth import growth_phases
from quotes.sizing.money.running_costs import (
    administration_h_per_month,
    average_load,
    busy_fraction,
    energy_eur_per_year,
    renewed_support_eur_per_year,
    yearly_costs,
)
from quotes.sizing.results import (
    BillLine,
    Candidate,
    Economics,
    Estimate,
    LineRole,
    LoadOption,
    RoomNeeds,
    Speed,
)
from quotes.sizing.trace import Badge

from .money import CHAT, DAY, PROFILES, WORDS, candidate, catalog, load, offer, workload

A = Assumptions()


def money(
    made: Candidate | None = None,
    wanted: Workload | None = None,
    hourly: str = "2",
    *loads: LoadOption,
    assumptions: Assumptions = A,
    **rent: object,
) -> Economics:
    made = made or candidate()
    return economics(
        made,
        wanted or workload(),
        catalog(offer(hourly, **rent)),
        assumptions,
        purchase_eur=made.price_eur,
        on=DAY,
        cloud_options={"gpu": loads or made.loads},
    )


# ── running cost ────────────────────────────────────────────────────────────────────────────────────────────────


def test_energy_follows_its_formula() -> None:
    """The example of the planning defaults: 9.97 kW × 0.75 × 8,760 h × 1.3 × 0.19."""
    colocation = workload(site=Site(kind=SiteKind.COLOCATION))
    assert energy_eur_per_year(9970, 1, colocation, A) == pytest.approx(16_180, rel=0.001)


def test_answers_replace_assumptions() -> None:
    answered = workload(site=Site(electricity_eur_kwh=Decimal("0.10"), pue=1.1))
    assert energy_eur_per_year(1000, 1, answered, A) == pytest.approx(0.75 * 8760 * 1.1 * 0.10)


NIGHTLY = RateTraining(
    name="nightly", domain=Domain.VISION, model="ViT-L/16", samples=1, deadline_h=9, runs_per_month=73
)


@pytest.mark.parametrize(
    ("profiles", "job", "run_h", "busy"),
    [
        (("always",), None, 0, 1),
        (("office_hours",), None, 0, 45 / 168),
        (("office_hours", "extended"), None, 0, 84 / 168),  # the busiest of them
        (("office_hours",), NIGHTLY, 2, 45 / 168 + 0.2),  # 146 of 730 hours a month beside them
        (("extended",), NIGHTLY, 9, 1),
        ((), NIGHTLY, 5, 0.5),
        ((), NIGHTLY.model_copy(update={"runs_per_month": 0}), 5, 1),  # one run, and then nobody knows
    ],
)
def test_a_system_works_in_the_hours_of_its_loads(
    profiles: tuple[str, ...], job: RateTraining | None, run_h: float, busy: float
) -> None:
    services = tuple(
        CHAT.model_copy(update={"name": profile, "profile": LoadProfile(profile)}) for profile in profiles
    )
    wanted = Workload(services=services, jobs=(job,) if job else ())
    speed = Speed(run_hours=Estimate(value=run_h, low=run_h, high=run_h, badge=Badge.MEASURED))
    runs = (load(load="nightly", kind="rate_training", speed=speed),) if job else ()
    assert busy_fraction(wanted, runs, A) == pytest.approx(busy, rel=1e-3)
    assert busy_fraction(wanted, (), A) == pytest.approx(1 if job else busy)  # the time of a run is not known


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.3, 1), st.floats(0.1, 0.75))
def test_more_hours_never_take_less_energy(one: float, other: float, working: float, waiting: float) -> None:
    given_ = A.model_copy(update={"load_factor_fraction": working, "idle_power_fraction": waiting})
    less, more = (average_load(busy, given_) for busy in sorted((one, other)))
    assert min(waiting, working) - 1e-9 <= less <= more + 1e-9 <= working + 2e-9


@pytest.mark.parametrize(
    ("made", "hours"),
    [
        (candidate(), 6),
        (candidate(nodes=3), 10),
        (candidate(nodes=4, fabric="infiniband"), 32),
        (candidate(room=RoomNeeds(standing="desk")), 2),
        (candidate(nodes=9, room=RoomNeeds(standing="edge")), 6),
    ],
    ids=["one server", "three servers", "a cluster", "a workstation", "nine boxes"],
)
def test_administration_grows_with_servers(made: Candidate, hours: float) -> None:
    assert administration_h_per_month(made, A) == hours


def test_support_is_paid_again_only_after_the_contract() -> None:
    line = BillLine(
        sku="support",
        name="support",
        quantity=1,
        role=LineRole.SERVICE,
        reason=WORDS,
        pct_of_hardware=Decimal(6),
    )
    made = candidate(price="106000", lines=(line,))
    assert renewed_support_eur_per_year(made, workload(growth=Growth(horizon_years=3)), A) == 0
    five = renewed_support_eur_per_year(made, workload(growth=Growth(horizon_years=5)), A)
    assert five * 5 == pytest.approx(6000 / 3 * 2)


def test_housing_is_paid_in_colocation_only() -> None:
    assert "housing" not in yearly_costs(candidate(), workload(), A)
    rented_space = yearly_costs(candidate(wall_w=5000), workload(site=Site(kind=SiteKind.COLOCATION)), A)
    assert rented_space["housing"] == pytest.approx(5 * 200 * 12)


# ── the comparison ──────────────────────────────────────────────────────────────────────────────────────────────

prices = st.decimals(min_value=1000, max_value=5_000_000, places=2)
hourly = st.decimals(min_value="0.05", max_value="60", places=2)


@given(price=prices, watts=st.floats(100, 100_000), years=st.integers(1, 5), rent=hourly)
def test_totals_add_up_to_the_cent(price: Decimal, watts: float, years: int, rent: Decimal) -> None:
    made = candidate(price=str(price), wall_w=watts)
    found = money(made, workload(growth=Growth(horizon_years=years)), str(rent))
    assert found.total_eur == found.purchase_eur + years * sum(found.yearly_eur.values()) - found.residual_eur
    assert len(found.curve.months) == len(found.curve.own_eur) == len(found.curve.cloud_eur) == years * 12 + 1
    assert found.curve.own_eur[0] == pytest.approx(float(price))
    assert found.curve.own_eur[-1] == pytest.approx(
        float(found.total_eur), abs=0.5
    )  # as the table, to the euro
    if (
        even := found.break_even_month
    ) is not None and even < years * 12:  # the lines cross where the words say
        own, cloud = found.curve.own_eur, found.curve.cloud_eur
        assert own[floor(even)] + 0.01 >= cloud[floor(even)]
        assert own[floor(even) + 1] <= cloud[floor(even) + 1] + 0.01
    else:
        before_the_end = zip(found.curve.own_eur[:-1], found.curve.cloud_eur[:-1], strict=True)
        assert all(own + 0.01 >= cloud for own, cloud in before_the_end)
    assert found.cloud_total_eur == pytest.approx(Decimal(found.curve.cloud_eur[-1]), abs=Decimal("0.01"))


@given(rent=st.floats(0.2, 50), cut=st.floats(0.05, 0.95))
def test_break_even_is_later_when_the_cloud_gets_cheaper(rent: float, cut: float) -> None:
    dear, cheap = money(hourly=f"{rent:.6f}"), money(hourly=f"{rent * cut:.6f}")
    if cheap.break_even_month is not None:
        assert dear.break_even_month is not None
        assert dear.break_even_month < cheap.break_even_month
    assert cheap.cloud_total_eur < dear.cloud_total_eur  # type: ignore[operator]


@given(rent=st.floats(1, 50), price=st.floats(2000, 400_000))
def test_the_band_lies_around_the_break_even(rent: float, price: float) -> None:
    found = money(candidate(price=f"{price:.2f}"), hourly=f"{rent:.6f}")
    low, even, high = found.break_even_low, found.break_even_month, found.break_even_high
    if even is not None:
        assert low is not None
        assert low <= even
    if high is not None:
        assert even is not None
        assert even <= high


@given(
    rent=hourly,
    price=prices,
    profile=st.sampled_from(PROFILES),
    replicas=st.integers(1, 40),
    spare=st.integers(0, 1),
    factor=st.floats(1, 3),
)
def test_hybrid_is_never_dearer_than_the_better_of_both(
    rent: Decimal, price: Decimal, profile: LoadProfile, replicas: int, spare: int, factor: float
) -> None:
    option = load(
        replicas=replicas + spare, gpus=replicas + spare, spare_replicas=spare, capacity_factor=factor
    )
    found = money(candidate(option, price=str(price)), workload(profile), str(rent))
    assert found.hybrid_total_eur is not None
    assert found.cloud_total_eur is not None
    assert found.hybrid_total_eur <= min(found.total_eur, found.cloud_total_eur) + Decimal(1)


def test_more_load_never_costs_less_to_rent() -> None:
    small, large = load(replicas=2, gpus=2), load(replicas=5, gpus=5)
    assert money(None, None, "2", small).cloud_total_eur < money(None, None, "2", large).cloud_total_eur  # type: ignore[operator]


def test_break_even_is_capex_over_the_saving() -> None:
    assert break_even_hours(1000, 3, 1) == 500
    assert break_even_hours(1000, 1, 1) is None


def test_rent_counts_whole_instances_for_the_busy_hours() -> None:
    """Three accelerators on instances of two, in office hours: 2 × 45/168 × 730 h."""
    found = money(
        None, workload(LoadProfile.OFFICE_HOURS), "5", load(replicas=3, gpus=3), accelerator_count=2
    )
    assert found.cloud is not None
    assert found.cloud.instances == 2
    assert found.cloud.hours_per_month == pytest.approx(45 / 168 * 730)
    administration = A.cloud_administration_h_per_month * A.administration_eur_per_h
    assert float(found.cloud.monthly_eur) == pytest.approx(2 * 5 * 45 / 168 * 730 + administration, abs=0.01)


def test_a_job_is_rented_for_the_hours_it_runs() -> None:
    job = LanguageTraining(
        name="tune",
        model=ModelRef(params_b=8),
        method=Method.LORA,
        tokens=1e6,
        deadline_h=10,
        runs_per_month=4,
    )
    option = load(load="tune", kind="training", gpus=1, replicas=1, gpu_hours_per_month=20)
    found = money(candidate(option), Workload(jobs=(job,)), "10", option)
    administration = A.cloud_administration_h_per_month * A.administration_eur_per_h
    assert float(found.cloud.monthly_eur) == pytest.approx(200 + administration)  # type: ignore[union-attr]


def test_a_single_run_is_rented_once() -> None:
    job = LanguageTraining(
        name="tune",
        model=ModelRef(params_b=8),
        method=Method.LORA,
        tokens=1e6,
        deadline_h=1000,
        runs_per_month=0,
    )
    speed = Speed(run_hours=Estimate(value=100, low=90, high=110))
    option = load(load="tune", kind="training", gpus=1, replicas=1, speed=speed)
    found = money(candidate(option), Workload(jobs=(job,)), "10", option)
    assert found.cloud_total_eur == Decimal("1000.00")
    assert found.break_even_month is None


@pytest.mark.parametrize(
    "unfit",
    [{"in_eu": False}, {"historic": True}, {"plan": "spot"}, {"accelerator_sku": "other"}],
    ids=["outside the EU", "historic", "spot", "another accelerator"],
)
def test_only_like_offers_are_compared(unfit: dict[str, object]) -> None:
    found = money(None, None, "2", **unfit)
    assert found.cloud is None
    assert "no current cloud offer" in str(found.findings[0].message)


def test_a_replica_does_not_span_rented_machines() -> None:
    wide = load(gpus_per_replica=4, gpus_in_one_node=4, replicas=1)
    assert money(candidate(wide), None, "2", wide).cloud is None
    assert money(candidate(wide), None, "2", wide, accelerator_count=4).cloud is not None


@pytest.mark.parametrize(
    "kept",
    [
        workload(placement=Placement(cloud_allowed=False)),
        Workload(services=(CHAT.model_copy(update={"confidential": True}),)),
    ],
    ids=["not allowed", "confidential"],
)
def test_what_is_confidential_never_goes_to_the_cloud(kept: Workload) -> None:
    found = money(None, kept)
    assert (found.cloud, found.hybrid_total_eur, found.curve.cloud_eur) == (None, None, ())
    assert "may not leave the house" in str(found.findings[0].message)


@pytest.mark.parametrize(
    ("priced_on", "said"),
    [(None, "not known"), (DAY - timedelta(days=400), "months old"), (DAY, None)],
)
def test_old_and_undated_cloud_prices_are_said(priced_on: object, said: str | None) -> None:
    findings = [str(finding.message) for finding in money(None, None, "2", priced_on=priced_on).findings]
    assert bool(findings) == (said is not None)
    assert said is None or said in findings[0]


def test_figures_repeat_what_was_computed_and_name_their_assumptions() -> None:
    found = money(candidate(price="20000"), workload(LoadProfile.OFFICE_HOURS), "8")
    figures = {figure.key: figure for figure in found.figures}
    assert figures["own_total_eur"].value.value == pytest.approx(float(found.total_eur), abs=0.05)
    assert figures["cloud_eur_per_month"].value.value == pytest.approx(
        float(found.cloud.monthly_eur), abs=0.01
    )  # type: ignore[union-attr]
    assert figures["break_even_month"].value.value == pytest.approx(found.break_even_month)
    months = found.horizon_years * 12
    assert figures["hybrid_eur_per_month"].value.value * months == pytest.approx(
        float(found.hybrid_total_eur), abs=1
    )  # type: ignore[arg-type]
    named = {item.assumption for figure in found.figures for item in figure.inputs} - {None}
    assert named <= set(Assumptions.model_fields)
    assert {"electricity_eur_per_kwh", "residual_pct", "hours_per_month", "utilisation_band_pct"} <= named


# ── growth ──────────────────────────────────────────────────────────────────────────────────────────────────────


@given(growth=st.floats(0, 200), headroom=st.floats(1, 5), years=st.integers(1, 5))
def test_each_phase_carries_its_demand(growth: float, headroom: float, years: int) -> None:
    made = candidate(load(capacity_factor=headroom))
    phases = growth_phases(made, workload(growth=Growth(load_pct_per_year=growth, horizon_years=years)), A)
    assert [phase.year for phase in phases] == list(range(years + 1))
    assert phases[0].nodes == 1
    for phase in phases:
        assert phase.nodes * headroom >= phase.demand_factor * (1 - 1e-9)
        assert phase.nodes == 1 or (phase.nodes - 1) * headroom < phase.demand_factor
    assert all(later.nodes >= earlier.nodes for earlier, later in pairwise(phases))


def test_shrinking_demand_adds_nothing() -> None:
    phases = growth_phases(candidate(), workload(growth=Growth(load_pct_per_year=-50)), A)
    assert {phase.nodes for phase in phases} == {1}


def test_a_job_does_not_grow_by_itself() -> None:
    alone = workload(growth=Growth(load_pct_per_year=50)).model_copy(update={"services": ()})
    assert growth_phases(candidate(), alone, A) == ()
