"""What can be said about the machines that a customer has. All frozen, all serialisable."""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from catalog.quantity import Frozen, Message
from quotes.sizing.results import LoadOption
from quotes.sizing.trace import Finding


class Carried(StrEnum):
    WHOLE = "whole"
    PART = "part"
    NONE = "none"
    UNKNOWN = "unknown"  # no measurement and no figure to go by: neither yes nor no


class MachineLoad(Frozen):
    """One service or job on one machine, as if the machine did nothing else."""

    load: str
    carried: Carried
    fraction: float = Field(
        default=0, ge=0, le=1
    )  # of the peak; of a job: the deadline over the time it takes
    message: Message
    change: Message | None = None  # the smallest change that would admit it
    option: LoadOption | None = None  # how it runs there, at what it carries


class Use(StrEnum):
    REUSE = "reuse"  # for a load of this workload, whole or in part
    OTHER = "other"  # for lighter work
    BUSY = "busy"  # it holds itself up, or is in use already
    RETIRE = "retire"
    UNKNOWN = "unknown"


class GpuGroup(Frozen):
    """GPUs of one kind in one machine. `sku` is empty for a kind that the catalog does not know."""

    sku: str
    name: str
    count: int
    failing_count: int = 0  # of these, reporting errors; they are not counted on
    memory_gib: float | None = None  # of each, as the driver reports it, else as the catalog says

    @property
    def working(self) -> int:
        return self.count - self.failing_count


class Readings(Frozen):
    """Of a whole machine, at one moment. None: not reported."""

    utilisation_pct: float | None = None  # mean of the GPUs
    memory_used_fraction: float | None = None
    temperature_c: float | None = None  # of the hottest GPU
    power_w: float | None = None  # together
    ecc_errors_count: int | None = None
    throttled_by: frozenset[Literal["temperature", "power"]] = frozenset()


class Energy(Frozen):
    """Electricity of the GPUs alone for the same work, euro a year: on this machine's kind, and on what we propose."""

    load: str
    here_eur: float
    proposed_eur: float
    proposed_name: str


class MachineReport(Frozen):
    number: int  # from 1, in the order in which they were given
    name: str = ""
    driver: str = ""
    groups: tuple[GpuGroup, ...]
    readings: Readings | None = None
    loads: tuple[MachineLoad, ...]
    use: Use
    reason: Message
    findings: tuple[Finding, ...] = ()
    energy: Energy | None = None


class LoadTogether(Frozen):
    """One service or job on all machines, as if they did nothing else."""

    load: str
    carried: Carried
    fraction: float = Field(ge=0, le=1)
    message: Message


class Allotted(Frozen):
    """What a machine is kept for: a load, the part of it that it carries, and how many of its GPUs that takes."""

    load: str
    machine: int
    fraction: float = Field(gt=0, le=1)
    gpus: int = 0  # 0: not kept at the time, a machine did one load


class ExistingReport(Frozen):
    machines: tuple[MachineReport, ...]
    loads: tuple[LoadTogether, ...]
    findings: tuple[Finding, ...] = ()
    allotted: tuple[Allotted, ...] = ()
    counted: bool = (
        False  # the new system leaves out what is allotted, at the largest demand that is proposed for
    )
    carries_all: bool = False  # counted in, they leave nothing for a new system
    alone_eur: float | None = None  # net price of the cheapest proposal without them; None: not counted in
    beside_eur: float | None = None  # and of the cheapest beside them
