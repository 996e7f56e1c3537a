"""Which machine does what: each load to as few machines as carry it, each GPU to one load."""

from collections import defaultdict
from collections.abc import Callable, Sequence

from catalog.quantity import Message, Quantity, noop
from configurator.workload import Job, LanguageService, RateService, Service
from quotes.sizing.existing.results import (
    Allotted,
    Carried,
    ExistingReport,
    GpuGroup,
    MachineLoad,
    MachineReport,
    Use,
)

LEAST_SHARE = 0.05  # below this part of a load a machine is not worth keeping for it

type OnGroups = Callable[[Service | Job, Sequence[GpuGroup]], tuple[MachineLoad, GpuGroup | None]]
"""The most that one group of equal GPUs carries of a load, and which group that is."""


def allot(
    parts: Sequence[Service | Job], machines: Sequence[MachineReport], on_groups: OnGroups
) -> tuple[Allotted, ...]:
    """Loads in the order of the workload; only machines that are worth keeping take part. A machine does several
    loads when they find GPUs of their own on it."""
    free = _Free(machines, on_groups)
    allotted: list[Allotted] = []
    for part in parts:
        serves = isinstance(part, LanguageService | RateService)
        allotted += _spread(part, free) if serves else _one(part, free)
    return tuple(allotted)


class _Free:
    """The GPUs that no load has been given yet."""

    def __init__(self, machines: Sequence[MachineReport], on_groups: OnGroups) -> None:
        self.on_groups = on_groups
        self.groups = {one.number: list(one.groups) for one in machines if one.use is Use.REUSE}

    def left(self, number: int) -> int:
        return sum(group.working for group in self.groups[number])

    def carried(self, part: Service | Job) -> dict[int, tuple[MachineLoad, GpuGroup]]:
        """By machine: what the GPUs that are left carry of `part`, where they carry anything."""
        found = {number: self.on_groups(part, groups) for number, groups in self.groups.items()}
        return {
            number: (load, group) for number, (load, group) in found.items()
            if group and load.option and load.fraction
        }  # fmt: skip

    def take(self, number: int, load: MachineLoad, group: GpuGroup, fraction: float) -> Allotted:
        gpus = load.option.gpus if load.option else 0
        groups = self.groups[number]
        smaller = group.model_copy(update={"count": group.count - gpus})
        groups[groups.index(group)] = smaller
        return Allotted(load=load.load, machine=number, fraction=fraction, gpus=gpus)


def settled(report: ExistingReport, allotted: Sequence[Allotted], *, counted: bool = False) -> ExistingReport:
    """`report` with every machine kept for what was allotted to it; what is over is a spare. `counted`: allotted at the
    largest demand, so that the new system leaves it out."""
    found: dict[int, list[Allotted]] = defaultdict(list)
    for one in allotted:
        found[one.machine].append(one)
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


def _kept(kept: Sequence[Allotted], *, counted: bool) -> Message:
    if len(kept) > 1:
        text = noop("It does {count} services and jobs beside each other, each on GPUs of its own.")
        return Message.of(text, count=len(kept))
    (one,) = kept
    if one.fraction >= 1:
        return Message.of(noop("It carries all of {load}."), load=one.load)
    share = Quantity(value=min(99.0, one.fraction * 100), unit="%", digits=2)
    text = noop("At the largest load it carries {share} of {load}.") if counted else noop(
        "It carries {share} of {load}, beside others."
    )  # fmt: skip
    return Message.of(text, share=share, load=one.load)


def _spread(part: Service | Job, free: _Free) -> list[Allotted]:
    """The smallest rest of a machine that carries a service alone, else the largest parts until it is carried."""
    if alone := _one(part, free):
        return alone
    chosen: list[Allotted] = []
    open_part = 1.0
    carried = free.carried(part)
    for number, (load, group) in sorted(carried.items(), key=lambda item: -item[1][0].fraction):
        fraction = min(open_part, load.fraction)
        if fraction < LEAST_SHARE:
            break
        chosen.append(free.take(number, load, group, fraction))
        open_part -= fraction
        if open_part < 1e-9:
            break
    return chosen


def _one(part: Service | Job, free: _Free) -> list[Allotted]:
    """The machine with the fewest GPUs left of those that carry all of a load."""
    whole = {
        number: found for number, found in free.carried(part).items() if found[0].carried is Carried.WHOLE
    }
    if not whole:
        return []
    smallest = min(whole, key=free.left)
    return [free.take(smallest, *whole[smallest], 1)]
