"""How demand grows over the horizon, and when the system must grow with it."""

from math import ceil

from catalog.quantity import Message, noop
from configurator.workload import Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.results import Candidate, GrowthPhase


def growth_phases(
    candidate: Candidate, workload: Workload, assumptions: Assumptions
) -> tuple[GrowthPhase, ...]:
    """Demand year by year against what the system carries; when it no longer does, how many servers to add.

    Empty without services: a job is as large as it is, and does not grow by itself.
    """
    if not workload.services:
        return ()
    rate = 1 + workload.growth.load_pct_per_year / 100
    system = candidate.system
    per_node = system.accelerators / system.nodes
    phases: list[GrowthPhase] = []
    for year in range(workload.growth.horizon_years + 1):
        demand = rate**year
        nodes = max(system.nodes, ceil(system.nodes * demand / max(candidate.headroom_factor, 1e-9) - 1e-9))
        phases.append(
            GrowthPhase(
                year=year,
                demand_factor=demand,
                gpus=round(nodes * per_node),
                nodes=nodes,
                note=_growth_note(nodes, phases[-1].nodes if phases else system.nodes),
            )
        )
    return tuple(phases)


def _growth_note(nodes: int, before: int) -> Message:
    if nodes == before:
        return Message.of(noop("Nothing to add."))
    if nodes - before == 1:
        return Message.of(noop("Add one server; keep rack space, power and network ports for it."))
    return Message.of(
        noop("Add {count} servers; keep rack space, power and network ports for them."), count=nodes - before
    )
