"""What a new system must still carry when the customer wants existing machines counted in."""

from collections.abc import Sequence
from typing import NamedTuple

from catalog.specs import CatalogSnapshot
from configurator.workload import Job, LanguageService, RateService, Service, Workload
from quotes.sizing import choosing
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.existing.report import LEAST_SHARE, report_existing
from quotes.sizing.existing.results import Carried, CountedIn, MachineReport, Use
from quotes.sizing.knowledge import Knowledge
from quotes.sizing.loads import parts

type _Shares = dict[str, float]


class Rest(NamedTuple):
    """`workload` is None when nothing is left."""

    workload: Workload | None
    counted: tuple[CountedIn, ...]


def rest_of(
    workload: Workload, catalog: CatalogSnapshot, assumptions: Assumptions, knowledge: Knowledge
) -> Rest:
    """What is left of `workload` after its machines did what they can.

    Only machines worth keeping count, each for one load. A service leaves the part of its *largest* demand (the one
    that the proposal with room to grow carries) that the machines do not carry: the smaller proposals come out
    cautiously large. A job leaves nothing or everything. An N+1 service finds its spare on each machine by itself.
    """
    grown = workload.model_copy(
        update={"services": tuple(_grown(part, workload, assumptions) for part in workload.services)}
    )
    report = report_existing(grown, catalog, assumptions, knowledge)
    free = [machine for machine in report.machines if machine.use is Use.REUSE] if report else []
    counted: list[CountedIn] = []
    left: list[Service | Job] = []
    for part in parts(workload):
        serves = isinstance(part, LanguageService | RateService)
        chosen = _spread(part.name, free) if serves else _one(part.name, free)
        free = [machine for machine in free if machine.number not in {one.machine for one in chosen}]
        counted += chosen
        remaining = 1 - sum(one.fraction for one in chosen)
        if remaining > 0:
            left.append(_scaled(part, remaining))
    rest = workload.model_copy(update=_split(left)) if left else None
    return Rest(rest, tuple(counted))


def _grown(part: Service, workload: Workload, assumptions: Assumptions) -> Service:
    return _scaled(part, max(choosing.targets(workload, assumptions).values()))


def _scaled[Part: Service | Job](part: Part, factor: float) -> Part:
    if isinstance(part, LanguageService):
        return part.model_copy(update={"concurrent_requests": part.concurrent_requests * factor})
    if isinstance(part, RateService):
        return part.model_copy(update={"items_s": part.items_s * factor})
    return part


def _split(left: Sequence[Service | Job]) -> dict[str, tuple[Service | Job, ...]]:
    return {
        "services": tuple(part for part in left if isinstance(part, LanguageService | RateService)),
        "jobs": tuple(part for part in left if not isinstance(part, LanguageService | RateService)),
    }


def _spread(load: str, free: Sequence[MachineReport]) -> list[CountedIn]:
    """The smallest machine that carries a service alone, else the largest parts until it is carried."""
    if alone := _one(load, free):
        return alone
    chosen: list[CountedIn] = []
    open_part = 1.0
    for machine in sorted(free, key=lambda machine: -_fraction(machine, load)):
        fraction = min(open_part, _fraction(machine, load))
        if fraction < LEAST_SHARE:
            break
        chosen.append(CountedIn(load=load, machine=machine.number, fraction=fraction))
        open_part -= fraction
        if open_part < 1e-9:
            break
    return chosen


def _one(load: str, free: Sequence[MachineReport]) -> list[CountedIn]:
    """The machine with the fewest GPUs of those that carry all of a load."""
    whole = [
        machine for machine in free
        if any(one.load == load and one.carried is Carried.WHOLE for one in machine.loads)
    ]  # fmt: skip
    smallest = min(whole, key=lambda machine: sum(group.working for group in machine.groups), default=None)
    return [CountedIn(load=load, machine=smallest.number, fraction=1)] if smallest else []


def _fraction(machine: MachineReport, load: str) -> float:
    return next((one.fraction for one in machine.loads if one.load == load), 0.0)
