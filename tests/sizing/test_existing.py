"""Machines that are there already: what they carry, what to do with them, and what a new system must still carry."""

from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.seed import seed_snapshot
from configurator.existing import match, read_paste
from configurator.workload import ExistingGpu, ExistingMachine, Workload
from quotes.proposal import Proposal, propose
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.existing import Carried, ExistingReport, MachineReport, Use, report_existing, rest_of
from quotes.sizing.knowledge import shipped
from tests.configurator.existing import pastes

DAY = date(2026, 12, 1)
CATALOG = seed_snapshot(DAY)
SCENARIOS = Path(__file__).parent.parent / "scenarios"


@cache
def scenario(name: str) -> Workload:
    return Workload.model_validate(yaml.safe_load((SCENARIOS / f"{name}.yaml").read_text(encoding="utf-8")))


def machine(sku: str, count: int, **readings: Any) -> ExistingMachine:
    gpus = tuple(ExistingGpu(name=sku, sku=sku, **readings) for _ in range(count))
    return ExistingMachine(gpus=gpus, pasted=bool(readings))


def pasted(text: str) -> ExistingMachine:
    (found,) = read_paste(text).machines
    gpus = [
        gpu.model_copy(update={"sku": match(gpu.name, gpu.memory_mib, CATALOG.accelerators)})
        for gpu in found.gpus
    ]
    return found.model_copy(update={"gpus": tuple(gpus)})


def report(name: str, *machines: ExistingMachine, **changes: Any) -> ExistingReport:
    wanted = scenario(name).model_copy(update={"existing": machines, **changes})
    found = report_existing(wanted, CATALOG, Assumptions(), shipped())
    assert found is not None
    return found


def one(name: str, given: ExistingMachine) -> MachineReport:
    return report(name, given).machines[0]


def proposal(name: str, *machines: ExistingMachine, count: bool) -> Proposal:
    wanted = scenario(name).model_copy(update={"existing": machines, "count_existing": count})
    return propose(wanted, CATALOG, Assumptions(), shipped(), on=DAY, vat_rate_pct=Decimal(21))


# ── what a machine carries ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "given", "carried", "low", "high"),
    [
        # 60 people at once on a 70B model: 66 GiB of weights in 8 bit, twice that in 16 bit
        ("municipality", machine("h100-sxm5-80gb", 8), Carried.WHOLE, 1, 1),
        ("municipality", machine("h200-sxm5-141gb", 2), Carried.PART, 0.4, 0.9),
        ("municipality", machine("h200-sxm5-141gb", 1), Carried.PART, 0.05, 0.4),
        ("municipality", machine("a100-pcie-40gb", 2), Carried.NONE, 0, 0),
        ("municipality", machine("geforce-rtx-3090", 4), Carried.NONE, 0, 0),
        ("municipality", machine("v100-sxm2-32gb", 8), Carried.UNKNOWN, 0, 0),
        ("municipality", machine("t4", 4), Carried.UNKNOWN, 0, 0),
        ("municipality", machine("cloud-ai-100-ultra", 4), Carried.UNKNOWN, 0, 0),
        # 600 images a second
        ("factory", machine("a100-pcie-40gb", 2), Carried.WHOLE, 1, 1),
        ("factory", machine("t4", 2), Carried.PART, 0.3, 0.9),
        ("factory", machine("v100-pcie-32gb", 2), Carried.WHOLE, 1, 1),
    ],
)
def test_services(name: str, given: ExistingMachine, carried: Carried, low: float, high: float) -> None:
    load = one(name, given).loads[0]
    assert (load.carried, low <= load.fraction <= high) == (carried, True), load.message
    if load.option:
        assert load.option.gpus <= given.gpu_count


@pytest.mark.parametrize(
    ("given", "carried"),
    [
        (machine("h100-sxm5-80gb", 8), Carried.WHOLE),
        (machine("a100-pcie-40gb", 2), Carried.PART),  # ready, but after 12 hours
        (machine("t4", 4), Carried.NONE),  # too little memory
    ],
)
def test_jobs(given: ExistingMachine, carried: Carried) -> None:
    load = one("factory", given).loads[1]
    assert load.carried is carried
    if load.option:
        hours = load.option.speed.run_hours
        assert hours
        assert (hours.high <= 12) == (carried is Carried.WHOLE)
        assert load.option.gpus <= given.gpu_count


def test_the_memory_that_the_driver_reports_counts() -> None:
    usual = one("municipality", machine("h200-sxm5-141gb", 1)).loads[0]
    less = one("municipality", machine("h200-sxm5-141gb", 1, memory_mib=72_000.0)).loads[0]
    assert (usual.carried, less.carried) == (Carried.PART, Carried.NONE)


def test_failing_gpus_do_not_count() -> None:
    whole = machine("h200-sxm5-141gb", 2)
    broken = whole.model_copy(
        update={"gpus": (whole.gpus[0], whole.gpus[1].model_copy(update={"failing": True}))}
    )
    assert one("municipality", broken).loads == one("municipality", machine("h200-sxm5-141gb", 1)).loads


def test_software_for_another_make() -> None:
    placement = scenario("municipality").placement.model_copy(update={"software_stack": "cuda"})
    load = report("municipality", machine("instinct-mi300x", 8), placement=placement).machines[0].loads[0]
    assert load.carried is Carried.NONE
    assert "CUDA" in str(load.message)


def test_of_a_machine_with_several_kinds_that_does_not_do_each_kind_says_why() -> None:
    few, old = machine("a40", 2), machine("v100-pcie-32gb", 1)
    both = one("municipality", ExistingMachine(gpus=few.gpus + old.gpus)).loads[0]
    alone = [one("municipality", given).loads[0] for given in (few, old)]
    assert [load.carried for load in alone] == [Carried.NONE, Carried.UNKNOWN]
    assert both.carried is Carried.UNKNOWN
    assert str(both.message) == f"2 × A40: {alone[0].message} 1 × V100 PCIe 32GB: {alone[1].message}"


# ── what to do with it ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "given", "use", "words"),
    [
        ("municipality", machine("h100-sxm5-80gb", 8), Use.REUSE, "all of document_chat"),
        ("municipality", machine("h200-sxm5-141gb", 2), Use.REUSE, "% of document_chat"),
        ("municipality", pasted(pastes.H100_EIGHT), Use.BUSY, "100 % busy"),
        ("municipality", pasted(pastes.T4_CSV), Use.BUSY, "too hot"),
        ("municipality", pasted(pastes.RTX_3090_FOUR), Use.BUSY, "87 °C"),
        ("municipality", machine("h100-sxm5-80gb", 8, memory_mib=8e4, memory_used_mib=79e3), Use.BUSY, "99 % full"),
        ("municipality", machine("a100-pcie-40gb", 2), Use.OTHER, "Too little for this work"),
        ("municipality", machine("v100-sxm2-32gb", 2), Use.OTHER, "Nobody measured this work"),
        ("municipality", machine("", 2), Use.UNKNOWN, "do not know its GPUs"),
        ("municipality", machine("p40", 2), Use.UNKNOWN, "Nothing comparable was measured"),
        ("municipality", machine("jetson-orin-nano-8gb", 1), Use.RETIRE, "it can go"),
        ("university", machine("h200-sxm5-141gb", 2), Use.OTHER, "takes longer than asked"),
        ("factory", pasted(pastes.L40S_TABLE), Use.REUSE, "all of image_inspection"),
    ],
)  # fmt: skip
def test_advice(name: str, given: ExistingMachine, use: Use, words: str) -> None:
    found = one(name, given)
    assert (found.use, words in str(found.reason)) == (use, True), found.reason


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (pasted(pastes.MIG), "slices (MIG)"),
        (pasted(pastes.QUERY), "could not be corrected: 3"),
        (pasted(pastes.A100_TWICE), "In use at that moment: 1 GPUs"),
        (pasted(pastes.RTX_3090_FOUR), "capped at 280 W instead of 350 W"),
        (pasted(pastes.RTX_3090_FOUR), "1 GPUs reported an error"),
        (pasted(pastes.OLD_V100), "CUDA 13 and later"),
        (pasted(pastes.ROCM_OLD), "does not say which GPUs"),
        (pasted("1 x Voodoo 5"), "‘Voodoo 5’"),
    ],
)
def test_what_its_keeper_must_know(given: ExistingMachine, words: str) -> None:
    assert any(words in str(finding.message) for finding in one("municipality", given).findings)


def test_one_moment_is_no_average() -> None:
    said = [str(finding.message) for finding in report("municipality", pasted(pastes.L40S_TABLE)).findings]
    by_hand = [str(finding.message) for finding in report("municipality", machine("l40s", 1)).findings]
    assert any("no average" in text for text in said)
    assert not any("no average" in text for text in by_hand)


def test_a_second_machine_for_the_same_work_is_a_spare() -> None:
    found = report("municipality", machine("h100-sxm5-80gb", 8), machine("h100-sxm5-80gb", 4))
    assert [one.use for one in found.machines] == [Use.OTHER, Use.REUSE]  # the smaller one is enough
    assert found.loads[0].carried is Carried.WHOLE


def test_busy_machines_do_not_carry_anything_together() -> None:
    (load,) = report("municipality", pasted(pastes.H100_EIGHT)).loads
    assert (load.carried, "as busy as it is now" in str(load.message)) == (Carried.NONE, True)


def test_a_machine_does_several_loads_on_gpus_of_their_own() -> None:
    found = report("law-firm", machine("h200-sxm5-141gb", 4))
    assert [(one.load, one.machine, one.fraction) for one in found.allotted] == [
        ("fine_tune", 1, 1), ("fine_tune_training", 1, 1),
    ]  # fmt: skip
    assert "2 services and jobs beside each other" in str(found.machines[0].reason)
    assert len(report("law-firm", machine("h200-sxm5-141gb", 1)).allotted) == 1


# ── energy ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_energy_follows_the_cap_and_the_price() -> None:
    def energy(watts: float | None, eur: str) -> float:
        site = scenario("municipality").site.model_copy(update={"electricity_eur_kwh": Decimal(eur)})
        wanted = scenario("municipality").model_copy(
            update={"existing": (machine("h100-sxm5-80gb", 8, power_cap_w=watts),), "site": site}
        )
        found = propose(wanted, CATALOG, Assumptions(), shipped(), on=DAY, vat_rate_pct=Decimal(21)).existing
        assert found
        assert found.machines[0].energy
        return found.machines[0].energy.here_eur

    assert energy(350, "0.20") == pytest.approx(energy(None, "0.20") / 2)
    assert energy(None, "0.40") == pytest.approx(2 * energy(None, "0.20"))


def test_a_machine_that_uses_more_than_new_gpus_cost_is_retired() -> None:
    site = scenario("factory").site.model_copy(update={"electricity_eur_kwh": Decimal(10)})
    wanted = scenario("factory").model_copy(
        update={"existing": (machine("v100-sxm2-32gb", 8),), "site": site}
    )
    found = propose(wanted, CATALOG, Assumptions(), shipped(), on=DAY, vat_rate_pct=Decimal(21)).existing
    assert found
    assert found.machines[0].use is Use.RETIRE
    assert "pay for themselves in electricity" in str(found.machines[0].reason)


# ── counted in ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_by_default_the_new_system_carries_everything() -> None:
    plain = propose(
        scenario("municipality"), CATALOG, Assumptions(), shipped(), on=DAY, vat_rate_pct=Decimal(21)
    )
    beside = proposal("municipality", machine("h200-sxm5-141gb", 2), count=False)
    assert [row.candidate for row in beside.sizing.systems] == [row.candidate for row in plain.sizing.systems]
    assert plain.existing is None


def test_counted_in_the_new_system_is_smaller() -> None:
    alone = proposal("municipality", machine("h200-sxm5-141gb", 2), count=False)
    beside = proposal("municipality", machine("h200-sxm5-141gb", 2), count=True)
    assert alone.recommended
    assert beside.recommended
    assert beside.existing
    assert beside.recommended.candidate.price_eur < alone.recommended.candidate.price_eur
    net = [float(min(row.totals.net for row in one.prices.values())) for one in (alone, beside)]
    assert [beside.existing.alone_eur, beside.existing.beside_eur] == net
    assert alone.existing
    assert alone.existing.alone_eur is None
    (service,) = beside.sizing.workload.services
    (kept,) = beside.existing.allotted
    assert service.concurrent_requests == pytest.approx(60 * (1 - kept.fraction))  # type: ignore[union-attr]


def test_both_together_carry_the_growth() -> None:
    """What the machines carry, and the rest at the largest demand, add up to that demand."""
    beside = proposal("municipality", machine("h200-sxm5-141gb", 2), count=True)
    assert beside.existing
    carries = beside.existing.machines[0].loads[0].fraction * 60
    growth = 1.2**3
    (service,) = beside.sizing.workload.services
    assert service.concurrent_requests * growth + carries >= 60 * growth * 0.97  # type: ignore[union-attr]


def test_nothing_is_left_to_buy() -> None:
    found = proposal("municipality", machine("h100-sxm5-80gb", 16), count=True)
    assert found.existing
    assert found.existing.carries_all
    assert (found.existing.beside_eur, bool(found.existing.alone_eur)) == (None, True)
    assert (found.sizing.systems, dict(found.prices)) == ((), {})


@pytest.mark.parametrize("given", [pasted(pastes.H100_EIGHT), machine("", 4), machine("t4", 1)])
def test_what_is_busy_unknown_or_too_small_does_not_count(given: ExistingMachine) -> None:
    wanted = scenario("municipality").model_copy(update={"existing": (given,), "count_existing": True})
    rest = rest_of(wanted, CATALOG, Assumptions(), shipped())
    assert (rest.workload, rest.counted) == (wanted, ())


def test_a_job_counts_whole_or_not_at_all() -> None:
    late = proposal("factory", machine("a100-pcie-40gb", 2), count=True).sizing.workload
    assert [job.name for job in late.jobs] == ["image_inspection_training"]
    assert late.services == ()


def test_what_was_assumed_goes_with_its_part() -> None:
    law = scenario("law-firm")
    wanted = law.model_copy(
        update={
            "assumed": frozenset({"services.0.engine", "jobs.0.precision", "data.copies"}),
            "existing": (machine("h200-sxm5-141gb", 4),), "count_existing": True,
        }
    )  # fmt: skip
    rest = rest_of(wanted, CATALOG, Assumptions(), shipped()).workload
    assert rest
    assert (rest.services, len(rest.jobs)) == ((), 1)
    assert rest.assumed == {"jobs.0.precision", "data.copies"}


def test_a_proposal_with_machines_is_kept_whole() -> None:
    found = proposal("municipality", machine("h200-sxm5-141gb", 2), pasted(pastes.QUERY), count=True)
    assert Proposal.model_validate_json(found.model_dump_json()) == found


# ── laws ────────────────────────────────────────────────────────────────────────────────────────────────────────

SKUS = sorted(one.sku for one in CATALOG.accelerators)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(["municipality", "factory", "law-firm"]), st.sampled_from(SKUS), st.integers(1, 7))
def test_one_more_gpu_never_carries_less(name: str, sku: str, count: int) -> None:
    for fewer, more in zip(
        one(name, machine(sku, count)).loads, one(name, machine(sku, count + 1)).loads, strict=True
    ):
        assert more.fraction >= fewer.fraction * 0.96, (fewer.message, more.message)
        assert 0 <= more.fraction <= 1
        if more.option:
            assert more.option.gpus <= count + 1


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(SKUS), st.integers(1, 8)), min_size=1, max_size=4))
def test_gpus_do_one_thing_and_no_load_is_done_twice(given_: list[tuple[str, int]]) -> None:
    found = report("law-firm", *(machine(sku, count) for sku, count in given_))
    for one_machine, (_sku, count) in zip(found.machines, given_, strict=True):
        here = [one.gpus for one in found.allotted if one.machine == one_machine.number]
        assert 0 not in here
        assert sum(here) <= count
        assert bool(here) == (one_machine.use is Use.REUSE)
    for load in found.loads:
        assert sum(one.fraction for one in found.allotted if one.load == load.load) <= 1 + 1e-9
