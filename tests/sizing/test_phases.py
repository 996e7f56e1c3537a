"""Growth in phases: what the first order leaves room for, and what would not plug in."""

from functools import cache

import pytest

from configurator.workload import Growth
from quotes.sizing import choosing
from quotes.sizing.engine import size
from quotes.sizing.knowledge import shipped
from quotes.sizing.results import GrowthPhase, SizedSystem
from tests.scenarios import load_workload
from tests.sizing.hardware import ASSUMPTIONS, DAY, seed

from .money import WORDS, candidate, load, workload


@cache
def systems(name: str) -> tuple[SizedSystem, ...]:
    return size(load_workload(name), seed(), ASSUMPTIONS, shipped(), on=DAY, in_full=True).systems


def growing(name: str) -> list[tuple[SizedSystem, GrowthPhase]]:
    """Phases in which something is added."""
    return [
        (system, phase)
        for system in systems(name)
        for before, phase in zip(system.growth, system.growth[1:], strict=False)
        if (phase.nodes, phase.gpus) != (before.nodes, before.gpus)
    ]


@pytest.mark.parametrize("name", ["municipality", "law-firm", "software-house", "factory"])
def test_a_phase_is_the_step_of_its_demand(name: str) -> None:
    for system, phase in growing(name):
        assert system.cliff
        step = next(step for step in system.cliff.steps if phase.demand_factor <= step.demand)
        assert (phase.nodes, phase.gpus) == (step.nodes, step.accelerators)


@pytest.mark.parametrize("name", ["municipality", "law-firm", "software-house", "factory"])
def test_a_phase_that_adds_says_what_to_leave_room_for(name: str) -> None:
    found = growing(name)
    assert found
    for _system, phase in found:
        said = " ".join(map(str, phase.reserve))
        assert "kW more power and cooling" in said
        assert "rack units" in said or "free places" in said


def test_a_system_that_carries_the_horizon_needs_nothing() -> None:
    roomy = systems("municipality")[-1]
    assert roomy.candidate.headroom_factor > roomy.growth[-1].demand_factor
    assert all(not phase.reserve and not phase.obstacles for phase in roomy.growth)


def test_parts_that_would_be_replaced_are_named() -> None:
    """Two accelerators more in the same server ask for other processors and memory than the first order has."""
    lean = systems("law-firm")[0]
    phase = next(phase for phase in lean.growth if phase.gpus > lean.candidate.system.accelerators)
    assert phase.nodes == lean.candidate.system.nodes
    assert "2 free places for accelerators" in str(phase.reserve[0])
    processors = next(line for line in lean.candidate.system.lines if line.role == "cpu")
    (said,) = phase.obstacles
    assert f"2 × {processors.name}" in str(said)


def test_a_phase_that_the_site_forbids_says_why() -> None:
    wanted = load_workload("municipality")
    steep = wanted.model_copy(update={"growth": Growth(load_pct_per_year=60, horizon_years=3)})
    lean = size(steep, seed(), ASSUMPTIONS, shipped(), on=DAY, in_full=True).systems[0]
    blocked = [phase for phase in lean.growth if "12 kW" in " ".join(map(str, phase.obstacles))]
    assert blocked
    assert all("cannot grow so far" in str(phase.obstacles[0]) for phase in blocked)


# ── the sentence ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("growth", "carries", "said"),
    [
        (
            20,
            1.05,
            "In year 1 the load outgrows it: buy a second one or extend it, at most about 100,000 EUR",
        ),
        (20, 1.3, "In year 2 the load outgrows it: buy a second one"),
        (60, 1.05, "In year 1 the load outgrows it: by year 3 you need 4 of them"),
    ],
)
def test_the_sentence_says_when_a_second_one_must_be_bought(growth: float, carries: float, said: str) -> None:
    wanted = workload(growth=Growth(load_pct_per_year=growth))
    assert said in str(choosing.outgrown(WORDS, candidate(load(capacity_factor=carries)), wanted))


def test_the_sentence_of_a_system_that_lasts_stays_as_it_is() -> None:
    lasting = candidate(load(capacity_factor=2.0))
    assert choosing.outgrown(WORDS, lasting, workload(growth=Growth(load_pct_per_year=20))) == WORDS
