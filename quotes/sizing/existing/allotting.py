"""Which machine does what: each load to as few machines as carry it, each machine to one load."""

from collections.abc import Sequence

from catalog.quantity import Message, Quantity, noop
from configurator.workload import Job, LanguageService, RateService, Service
from quotes.sizing.existing.results import Allotted, Carried, ExistingReport, MachineReport, Use

LEAST_SHARE = 0.05  # below this part of a load a machine is not worth keeping for it


def allot(parts: Sequence[Service | Job], machines: Sequence[MachineReport]) -> tuple[Allotted, ...]:
    """Loads in the order of the workload; only machines that are worth keeping take part."""
    free = [machine for machine in machines if machine.use is Use.REUSE]
    allotted: list[Allotted] = []
    for part in parts:
        serves = isinstance(part, LanguageService | RateService)
        chosen = _spread(part.name, free) if serves else _one(part.name, free)
        free = [machine for machine in free if machine.number not in {one.machine for one in chosen}]
        allotted += chosen
    return tuple(allotted)


def settled(report: ExistingReport, allotted: Sequence[Allotted], *, counted: bool = False) -> ExistingReport:
    """`report` with every machine kept for what was allotted to it; what is over is a spare. `counted`: allotted at the
    largest demand, so that the new system leaves it out."""
    found = {one.machine: one for one in allotted}
    done = {one.load: sum(each.fraction for each in allotted if each.load == one.load) for one in allotted}
    machines = []
    for machine in report.machines:
        if machine.number in found:
            update = {"use": Use.REUSE, "reason": _kept(found[machine.number], counted=counted)}
        elif machine.use is Use.REUSE:
            spare = any(load.fraction and done.get(load.load, 0) > 1 - 1e-9 for load in machine.loads)
            text = noop("Others carry this work already: a spare, for tests or for growth.") if spare else noop(
                "It does this work, but takes longer than asked: for tests, or with more time."
            )  # fmt: skip
            update = {"use": Use.OTHER, "reason": Message.of(text)}
        else:
            update = {}
        machines.append(machine.model_copy(update=update))
    return report.model_copy(
        update={"machines": tuple(machines), "allotted": tuple(allotted), "counted": counted}
    )


def _kept(one: Allotted, *, counted: bool) -> Message:
    if one.fraction >= 1:
        return Message.of(noop("It carries all of {load}."), load=one.load)
    share = Quantity(value=min(99.0, one.fraction * 100), unit="%", digits=2)
    text = noop("At the largest load it carries {share} of {load}.") if counted else noop(
        "It carries {share} of {load}, beside others."
    )  # fmt: skip
    return Message.of(text, share=share, load=one.load)


def _spread(load: str, free: Sequence[MachineReport]) -> list[Allotted]:
    """The smallest machine that carries a service alone, else the largest parts until it is carried."""
    if alone := _one(load, free):
        return alone
    chosen: list[Allotted] = []
    open_part = 1.0
    for machine in sorted(free, key=lambda machine: -_fraction(machine, load)):
        fraction = min(open_part, _fraction(machine, load))
        if fraction < LEAST_SHARE:
            break
        chosen.append(Allotted(load=load, machine=machine.number, fraction=fraction))
        open_part -= fraction
        if open_part < 1e-9:
            break
    return chosen


def _one(load: str, free: Sequence[MachineReport]) -> list[Allotted]:
    """The machine with the fewest GPUs of those that carry all of a load."""
    whole = [
        machine for machine in free
        if any(one.load == load and one.carried is Carried.WHOLE for one in machine.loads)
    ]  # fmt: skip
    smallest = min(whole, key=lambda machine: sum(group.working for group in machine.groups), default=None)
    return [Allotted(load=load, machine=smallest.number, fraction=1)] if smallest else []


def _fraction(machine: MachineReport, load: str) -> float:
    return next((one.fraction for one in machine.loads if one.load == load), 0.0)
