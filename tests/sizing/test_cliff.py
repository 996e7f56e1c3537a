"""The cliff map against a full search at each demand, and what it says in words."""

from decimal import Decimal
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.quantity import Quantity
from catalog.specs import CatalogSnapshot
from configurator.workload import Workload
from quotes.sizing.cliff import amount_at, cliff_map, demand_of, next_step, times
from quotes.sizing.engine import size
from quotes.sizing.knowledge import shipped
from quotes.sizing.results import CliffMap, CliffStep, SizedSystem
from tests.scenarios import SCENARIOS, load_workload
from tests.sizing.hardware import ASSUMPTIONS, DAY, seed

from .money import WORDS, candidate, load

GRID = (0.26, 0.4, 0.61, 0.85, 1.0, 1.22, 1.5, 1.9, 2.4)
EDGE = 0.015  # of a demand: a search interpolates its own measurements of load just there


@cache
def systems(name: str) -> tuple[SizedSystem, ...]:
    return size(load_workload(name), seed(), ASSUMPTIONS, shipped(), on=DAY, in_full=True).systems


def only(system: SizedSystem) -> CatalogSnapshot:
    """The catalog with the accelerator of a system, in the server of that system and in no other."""
    chosen, server = system.candidate.accelerator, system.candidate.system.node.server
    return seed().model_copy(
        update={
            "accelerators": tuple(one for one in seed().accelerators if one.sku == chosen),
            "servers": tuple(
                one if one.sku == server else one.model_copy(update={"accelerators": frozenset()})
                for one in seed().servers
            ),
        }
    )


def at(drawn: CliffMap, demand: float) -> CliffStep | None:
    return next((step for step in drawn.steps if demand <= step.demand), None)


def near_an_edge(drawn: CliffMap, demand: float) -> bool:
    return any(abs(step.demand / demand - 1) < EDGE for step in drawn.steps)


def figures(workload: Workload, catalog: CatalogSnapshot) -> tuple[int, int, Decimal] | None:
    """Servers, accelerators and price of the cheapest system of a full search."""
    found = size(workload, catalog, ASSUMPTIONS, shipped(), on=DAY).systems
    if not found:
        return None
    lean = found[0].candidate
    return lean.system.nodes, lean.system.accelerators, lean.price_eur


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_map_is_what_a_full_search_finds_at_each_demand(name: str) -> None:
    for system in (systems(name)[0], systems(name)[-1]):
        drawn, catalog = system.cliff, only(system)
        assert drawn
        compared = 0
        for demand in GRID:
            step = at(drawn, demand)
            if near_an_edge(drawn, demand) or (step is None and drawn.last is None):
                continue
            found = figures(times(load_workload(name), demand), catalog)
            mine = step and (step.nodes, step.accelerators, step.price_eur)
            # For much less than today the map may know a cheaper way than a search there would try; never a dearer.
            cheaper = demand < 1 and found and mine and found[:2] == mine[:2] and mine[2] < found[2]
            assert found == mine or cheaper, demand
            compared += 1
        assert compared > len(GRID) / 2


@pytest.mark.parametrize("name", SCENARIOS)
def test_more_demand_never_costs_less_and_steps_differ(name: str) -> None:
    for system in systems(name):
        assert system.cliff
        for lower, higher in pairwise(system.cliff.steps):
            assert lower.demand < higher.demand
            assert lower.price_eur < higher.price_eur


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_proposal_stands_on_its_own_map(name: str) -> None:
    """The cheapest proposal carries today's demand, so the map has its price there."""
    lean = systems(name)[0]
    assert lean.cliff
    step = at(lean.cliff, 1)
    assert step
    assert (step.price_eur, step.demand) == (
        lean.candidate.price_eur,
        pytest.approx(lean.candidate.headroom_factor, rel=1e-4),
    )


def test_the_words_name_what_stays_and_the_next_step() -> None:
    (lean, *_) = systems("municipality")
    assert lean.cliff
    stays, comes = map(str, lean.cliff.words)
    most = amount_at(lean.cliff.today, lean.candidate.headroom_factor)
    assert stays == f"Up to {most.value:.0f} people nothing changes."
    assert comes.startswith(f"One more server above {most.value:.0f} people: about ")


def test_a_site_that_is_full_ends_the_map_with_its_reason() -> None:
    roomy = systems("municipality")[-1]
    assert roomy.cliff
    assert roomy.cliff.last
    assert "kW" in str(roomy.cliff.last)
    assert str(roomy.cliff.words[-1]).startswith("Above that, this system cannot grow: ")


def test_a_quick_answer_draws_no_map() -> None:
    quick = size(load_workload("municipality"), seed(), ASSUMPTIONS, shipped(), on=DAY)
    assert all(system.cliff is None for system in quick.systems)


def test_without_an_accelerator_there_is_no_map() -> None:
    bare = candidate().model_copy(update={"accelerator": None})
    assert cliff_map(bare, load_workload("municipality"), seed(), ASSUMPTIONS, shipped()) is None


def test_the_next_step_takes_more_than_the_system_has() -> None:
    have = candidate(load(capacity_factor=1.4), price="100000")
    steps = [(0.7, 2, "60000"), (1.41, 4, "100000"), (2.1, 6, "140000"), (2.8, 8, "180000")]
    drawn = CliffMap(
        today=Quantity(value=10, unit="requests"),
        first=0.25,
        steps=tuple(
            CliffStep(demand=demand, nodes=1, accelerators=cards, price_eur=price)  # type: ignore[arg-type]
            for demand, cards, price in steps
        ),
        last=WORDS,
    )
    larger = next_step(drawn, have)
    assert larger
    assert larger.accelerators == 6


# ── the customer's own terms ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "today"),
    [
        ("municipality", Quantity(value=300, unit="people", digits=15)),
        ("factory", Quantity(value=40, unit="cameras", digits=15)),
        ("university", Quantity(value=500, unit="billion tokens")),
    ],
)
def test_demand_is_told_as_the_customer_does(name: str, today: Quantity) -> None:
    assert demand_of(load_workload(name)) == today


@given(value=st.floats(1e-3, 1e9), demand=st.floats(0.25, 20))
def test_an_amount_is_never_rounded_up(value: float, demand: float) -> None:
    amount = amount_at(Quantity(value=value, unit="images/s"), demand)
    assert amount.value <= value * demand * (1 + 1e-6)
    assert amount.value >= value * demand * 0.9


@given(people=st.integers(1, 1_000_000), demand=st.floats(0.25, 20))
def test_people_are_whole(people: int, demand: float) -> None:
    amount = amount_at(Quantity(value=people, unit="people", digits=15), demand)
    assert amount.value == int(amount.value)


def test_two_digits_never_fall_below_what_is_asked_today() -> None:
    assert amount_at(Quantity(value=125, unit="people", digits=15), 1.01).value == 126
    assert amount_at(Quantity(value=125, unit="people", digits=15), 3.1).value == 380
