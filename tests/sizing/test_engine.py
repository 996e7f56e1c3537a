"""Laws of the whole search: more work never costs less, fewer wishes never cost more, every refusal has its reason."""

import json
from decimal import Decimal
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.quantity import Message, Quantity
from catalog.specs import CatalogSnapshot
from configurator.workload import (
    Budget,
    Domain,
    LanguageService,
    LanguageTraining,
    Method,
    ModelRef,
    Placement,
    RateService,
    Site,
    SiteKind,
    Workload,
)
from quotes.sizing.candidates import Draft, drafts, node_limits, servers_for
from quotes.sizing.engine import size
from quotes.sizing.knowledge import shipped
from quotes.sizing.loads import option_table
from quotes.sizing.results import Refusal, Sizing
from tests.sizing.hardware import ASSUMPTIONS, DAY, changed, named, seed

# A few cards of each kind make a search of milliseconds.
CARDS = (
    "L40S",
    "H100 NVL 94GB",
    "H200 NVL 141GB",
    "H200 SXM5 141GB",
    "B200 SXM 180GB",
    "Instinct MI300X",
    "T4",
)
CHAT = LanguageService(
    model=ModelRef(key="meta-llama/Meta-Llama-3.1-8B"),
    concurrent_requests=20,
    prompt_tokens=2000,
    output_tokens=300,
    ttft_p95_s=2,
    tokens_s_per_user=20,
)
few = settings(max_examples=8)


@cache
def small() -> CatalogSnapshot:
    return changed(accelerators=tuple(named(name) for name in CARDS))


@cache
def sized(workload: Workload) -> Sizing:
    return size(workload, small(), ASSUMPTIONS, shipped(), on=DAY)


def chat(site: Site | None = None, **wishes: Any) -> Workload:
    return Workload(services=(CHAT.model_copy(update=wishes),), site=site or Site(kind=SiteKind.SERVER_ROOM))


def price(workload: Workload) -> Decimal:
    """Of the lean proposal; infinite when there is none."""
    systems = sized(workload).systems
    return systems[0].candidate.price_eur if systems else Decimal("Infinity")


def able(sizing: Sizing) -> set[str | None]:
    """Accelerators on which a system works, proposed or not."""
    works = {refusal.subject for refusal in sizing.refusals if refusal.stage in {"dominated", "evidence"}}
    return works | {system.candidate.accelerator for system in sizing.systems}


# ── laws ────────────────────────────────────────────────────────────────────────────────────────────────────────

loads = st.sampled_from([1, 5, 20, 60, 150, 400, 1000])


@few
@given(one=loads, other=loads)
def test_more_users_never_cost_less(one: int, other: int) -> None:
    fewer, more = sorted((one, other))
    assert price(chat(concurrent_requests=fewer)) <= price(chat(concurrent_requests=more))


paces = st.sampled_from([None, 5, 20, 40, 80])
waits = st.sampled_from([0.3, 1, 2, 10, None])


@few
@given(one=paces, other=paces)
def test_a_slower_pace_never_costs_more(one: float | None, other: float | None) -> None:
    slower, faster = sorted((one, other), key=lambda pace: pace or 0)
    assert price(chat(tokens_s_per_user=slower)) <= price(chat(tokens_s_per_user=faster))


@few
@given(one=waits, other=waits)
def test_a_longer_wait_never_costs_more(one: float | None, other: float | None) -> None:
    shorter, longer = sorted((one, other), key=lambda wait: wait or 1e9)
    assert price(chat(ttft_p95_s=longer)) <= price(chat(ttft_p95_s=shorter))


powers = st.sampled_from([1.0, 2.0, 4.0, 8.0, 12.0, 20.0, 40.0])


@few
@given(one=powers, other=powers)
def test_more_power_never_refuses_more(one: float, other: float) -> None:
    less, more = (
        sized(chat(Site(kind=SiteKind.SERVER_ROOM, power_available_kw=kw), concurrent_requests=150))
        for kw in sorted((one, other))
    )
    assert able(less) <= able(more)
    for system in less.systems:
        assert system.candidate.system.power.provision_w <= min(one, other) * 1000


@few
@given(tokens=st.sampled_from([1e9, 1e10, 5e10]), hours=st.sampled_from([100.0, 300.0, 1000.0]))
def test_more_time_for_a_job_never_costs_more(tokens: float, hours: float) -> None:
    def job(deadline_h: float) -> Workload:
        training = LanguageTraining(
            model=ModelRef(params_b=8), method=Method.FULL, tokens=tokens, deadline_h=deadline_h
        )
        return Workload(jobs=(training,), site=Site(kind=SiteKind.DATA_HALL))

    assert price(job(2 * hours)) <= price(job(hours))


# ── refusals ────────────────────────────────────────────────────────────────────────────────────────────────────


@settings(max_examples=12)
@given(
    limits=st.fixed_dictionaries(
        {},
        optional={
            "power_available_kw": powers,
            "rack_power_max_kw": powers,
            "rack_units_free": st.sampled_from([1, 4, 8, 20]),
            "floor_load_kg_m2": st.sampled_from([250.0, 305.0, 1000.0]),
            "feed_amps": st.sampled_from([10.0, 16.0, 32.0, 63.0]),
            "cooling": st.sampled_from([frozenset({"air"}), frozenset({"air", "liquid"})]),
        },
    )
)
def test_a_limit_of_the_site_loses_nobody_and_the_nearest_miss_is_told(limits: dict[str, Any]) -> None:
    site = Site(kind=SiteKind.SERVER_ROOM, **limits)
    workload = chat(site, concurrent_requests=150)
    sizing = sized(workload)
    refused = {refusal.subject: refusal for refusal in sizing.refusals}
    proposed = {system.candidate.accelerator for system in sizing.systems}
    assert set(refused) | proposed == {card.sku for card in small().accelerators}
    assert len(refused) == len(sizing.refusals)
    assert not set(refused) & proposed
    for sku, refusal in refused.items():
        if refusal.stage not in {"server", "site"}:
            continue
        others = [answer for answer in screened(sku, workload) if isinstance(answer, Refusal)]
        far = [other for other in others if other.stage == refusal.stage]
        assert refusal.stage == "site" or all(other.stage != "site" for other in others)
        degrees = [other.excess for other in far if other.excess is not None]
        assert refusal.excess == (min(degrees) if degrees else None)


def screened(sku: str, workload: Workload) -> list[Draft | Refusal]:
    """What every server answers at today's demand."""
    card = next(row for row in small().accelerators if row.sku == sku)
    limits = node_limits(small(), servers_for(small()))
    table = option_table(
        workload.services[0], small().accelerators, limits, small(), ASSUMPTIONS, shipped(), (1.0, 1.25, 1.6)
    )
    return list(drafts(card, [table], (1.0, 1.25, 1.6), workload, small(), ASSUMPTIONS))


@pytest.mark.parametrize("kilowatts", [1.0, 3.0, 9.0, 12.0])
def test_with_the_power_that_a_refusal_names_it_works(kilowatts: float) -> None:
    room = Site(kind=SiteKind.SERVER_ROOM, power_available_kw=kilowatts)
    refused = [r for r in sized(chat(room, concurrent_requests=150)).refusals if r.kind == "power"]
    assert refused
    for refusal in refused:
        needs = refusal.change.params["needs"] if refusal.change else None
        assert isinstance(needs, Message)
        power = needs.params["power"]
        assert isinstance(power, Quantity)
        assert power.value == pytest.approx((refusal.excess or 0) * kilowatts, rel=0.01)
        larger = room.model_copy(update={"power_available_kw": power.value})
        assert refusal.subject in able(sized(chat(larger, concurrent_requests=150)))


def test_a_board_that_misses_by_watts_is_not_refused_for_its_liquid_cooled_sister() -> None:
    room = Site(kind=SiteKind.SERVER_ROOM, power_available_kw=9)
    (h200,) = (r for r in sized(chat(room)).refusals if r.subject == named("H200 SXM5 141GB").sku)
    assert (h200.kind, str(h200.reason)) == (
        "power",
        "8 × H200 SXM5 141GB with all around them may draw 10 kW; the site has 9 kW.",
    )


# ── answers that are no system ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "wishes",
    [
        {"concurrent_requests": 1e7},
        {"ttft_p95_s": 0.0001},
        {"tokens_s_per_user": 100_000},
        {"context_tokens": 100_000_000},
    ],
)
def test_an_impossible_wish_is_refused_by_every_accelerator_with_a_reason(wishes: dict[str, float]) -> None:
    sizing = sized(chat(**wishes))
    assert not sizing.systems
    assert sizing.recommended is None
    assert {refusal.subject for refusal in sizing.refusals} == {card.sku for card in small().accelerators}
    assert all(str(refusal.reason) for refusal in sizing.refusals)
    assert any("meets all your wishes" in str(finding.message) for finding in sizing.findings)


def test_a_model_that_the_catalog_lacks_is_named() -> None:
    sizing = sized(chat(model=ModelRef(key="nobody/nothing-7B")))
    assert not sizing.systems
    assert any("nobody/nothing-7B" in str(finding.message) for finding in sizing.findings)


def test_an_empty_catalog_is_no_error() -> None:
    sizing = size(
        chat(),
        CatalogSnapshot(version="empty", taken_on=DAY, models=seed().models),
        ASSUMPTIONS,
        shipped(),
        on=DAY,
    )
    assert not sizing.systems
    assert sizing.findings


def test_excluding_all_makers_leaves_nothing_and_says_so() -> None:
    makers = frozenset(card.vendor for card in small().accelerators)
    workload = chat().model_copy(update={"placement": Placement(vendors_excluded=makers)})
    sizing = sized(workload)
    assert not sizing.systems
    assert {refusal.stage for refusal in sizing.refusals} == {"stack"}


# ── money, words, assumptions ───────────────────────────────────────────────────────────────────────────────────


def test_a_budget_that_does_not_reach_still_gets_a_proposal_and_a_warning() -> None:
    cheapest = price(chat())
    poor = chat().model_copy(update={"budget": Budget(max_eur=cheapest - 1)})
    rich = chat().model_copy(update={"budget": Budget(max_eur=cheapest)})
    assert price(poor) == cheapest
    about = [finding.about for finding in sized(poor).findings]
    assert "budget.max_eur" in about
    assert "budget.max_eur" not in [finding.about for finding in sized(rich).findings]


def test_a_proposal_says_what_it_does_and_which_assumptions_it_used() -> None:
    sizing = sized(chat())
    assert sizing.candidates_considered > len(sizing.systems)
    for system in sizing.systems:
        text = str(system.answer)
        assert system.candidate.accelerator_name in text
        assert "first word within" in text
        assert system.pros
        assert system.growth
    assert set(sizing.assumptions_used) <= set(type(ASSUMPTIONS).model_fields)
    assert "electricity_eur_per_kwh" in sizing.assumptions_used


def test_loads_of_both_kinds_are_sized_together() -> None:
    """A chat and an inspection on one kind of card: each keeps its own promise."""
    cameras = RateService(domain=Domain.VISION, model="ResNet-50", items_s=2000)
    workload = Workload(services=(CHAT, cameras), site=Site(kind=SiteKind.SERVER_ROOM))
    lean = sized(workload).systems[0].candidate
    assert [load.load for load in lean.loads] == ["chat", "inspection"]
    assert lean.system.accelerators >= sum(load.gpus for load in lean.loads)
    assert lean.price_eur >= price(chat())


def test_sets_of_a_workload_are_written_in_order() -> None:
    paths = ["site.pue", "budget.max_eur", "data.copies", "site.kind", "growth.horizon_years"]
    workload = Workload(services=(CHAT,), assumed=frozenset(paths))

    written = json.loads(workload.model_dump_json())

    assert written["assumed"] == sorted(paths)
    assert Workload.model_validate(written) == workload
