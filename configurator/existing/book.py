"""What the readers of the formats write into: machines and their GPUs, as far as they have been read."""

from dataclasses import dataclass, field
from typing import Any

from configurator.existing.cells import driver
from configurator.workload import ExistingGpu, ExistingMachine

type Gpu = dict[str, Any]
"""Fields of an ExistingGpu read so far; what is None has not been reported."""


@dataclass
class Machine:
    name: str = ""
    driver: str = ""
    layout: str = ""  # the format that its GPUs were read from
    gpus: list[Gpu] = field(default_factory=list)
    numbered: dict[int | str, Gpu] = field(
        default_factory=dict
    )  # GPUs that several tables speak of by number


@dataclass
class Book:
    """Collects machines. A new block of output starts a machine, except one of another tool about the same GPUs."""

    machines: list[Machine] = field(default_factory=lambda: [Machine()])
    host: str = ""  # named, and not yet given to a machine

    @property
    def current(self) -> Machine:
        return self.machines[-1]

    def name(self, host: str) -> None:
        """What follows is of this machine."""
        self.host = host
        known = next((one for one in self.machines if host and one.name == host), None)
        if known is not None:
            self.machines.remove(known)
            self.machines.append(known)

    def start(self, layout: str, version: str = "") -> None:
        """A block of output begins."""
        if self.current.gpus and not (self.host and self.current.name == self.host):
            self.machines.append(Machine())
        elif self.current.gpus and self.current.layout == layout:
            self.current.gpus, self.current.numbered = (
                [],
                {},
            )  # the same machine again: the newest readings count
        elif self.current.gpus:
            self.machines.append(Machine(name=self.host))
        if self.host:
            self.current.name, self.host = self.host, ""
        self.current.layout = layout
        self.driver(version)

    def driver(self, version: str) -> None:
        self.current.driver = driver(version) or self.current.driver

    def gpu(self, **fields: Any) -> None:
        """One more GPU of the current machine."""
        self.current.gpus.append(fields)

    def add(self, **fields: Any) -> None:
        """Readings of the GPU that was named last."""
        if self.current.gpus:
            self.current.gpus[-1].update({key: value for key, value in fields.items() if value is not None})

    def numbered(self, index: int | str, **fields: Any) -> None:
        """Readings of GPU `index` of the current machine, which becomes known with its first reading."""
        if index not in self.current.numbered:
            self.gpu()
            self.current.numbered[index] = self.current.gpus[-1]
        found = {key: value for key, value in fields.items() if value is not None}
        self.current.numbered[index].update(found)

    def done(self) -> tuple[ExistingMachine, ...]:
        """The machines that have GPUs."""
        merged: list[Machine] = []
        for machine in self.machines:
            if merged and _same(merged[-1], machine):
                _merge(merged[-1], machine)
            elif machine.gpus:
                _keep(merged, machine)
        return tuple(
            ExistingMachine(
                name=one.name, driver=one.driver, gpus=tuple(map(_built, one.gpus)), pasted=True
            )
            for one in merged
        )  # fmt: skip


def _same(first: Machine, second: Machine) -> bool:
    """Whether two blocks of different tools speak of one machine: equally many GPUs, none named otherwise."""
    if first.layout == second.layout or (second.name and second.name != first.name):
        return False
    return bool(second.gpus) and len(first.gpus) == len(second.gpus) and all(
        not one.get("name") or not other.get("name") or _alike(one["name"], other["name"])
        for one, other in zip(first.gpus, second.gpus, strict=True)
    )  # fmt: skip


def _keep(machines: list[Machine], machine: Machine) -> None:
    """Add a machine. Of two blocks of one name that contradict each other the fuller counts, or else the newer."""
    twin = next((at for at, one in enumerate(machines) if one.name and one.name == machine.name), None)
    if twin is None:
        machines.append(machine)
    elif len(machine.gpus) >= len(machines[twin].gpus):
        machines[twin] = machine


def _alike(one: str, other: str) -> bool:
    """Equal names; tables cut long ones off with dots."""
    short, long = sorted((one.rstrip(". "), other.rstrip(". ")), key=len)
    return long.startswith(short)


def _merge(into: Machine, other: Machine) -> None:
    into.driver = into.driver or other.driver
    for one, more in zip(into.gpus, other.gpus, strict=True):
        if len(more.get("name", "").rstrip(". ")) > len(one.get("name", "").rstrip(". ")):
            one["name"] = more["name"]
        for key, value in more.items():
            if not one.get(key):
                one[key] = value


def _built(gpu: Gpu) -> ExistingGpu:
    used, total = gpu.get("memory_used_mib"), gpu.get("memory_mib")
    if used is not None and total is not None and used > total:
        gpu = {**gpu, "memory_used_mib": None}  # a misread cell is worse than none
    return ExistingGpu(**gpu)
