"""The customer's own machines, arranged for the proposal page and for paper."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from catalog.quantity import Message
from configurator import formats
from configurator.wizard.presets import load_title
from quotes.presentation.facts import Speed, speeds
from quotes.sizing.existing import Carried, ExistingReport, MachineLoad, MachineReport, Use
from quotes.sizing.existing.results import GpuGroup, Readings
from quotes.sizing.trace import Finding

USES = {
    Use.REUSE: gettext_lazy("keep"),
    Use.OTHER: gettext_lazy("for other work"),
    Use.BUSY: gettext_lazy("bottleneck"),
    Use.RETIRE: gettext_lazy("retire"),
    Use.UNKNOWN: gettext_lazy("unknown"),
}
MARKS = {
    Use.REUSE: "fits",
    Use.OTHER: "plain",
    Use.BUSY: "tight",
    Use.RETIRE: "oom",
    Use.UNKNOWN: "extrapolated",
}
"""Kinds of badges, which have their fixed colours."""
CARRIES = {
    Carried.NONE: gettext_lazy("nothing"),
    Carried.UNKNOWN: gettext_lazy("unknown"),
}


class LoadRow(NamedTuple):
    """One service or job on one machine."""

    name: str
    carries: str  # in a word, where the message gives only the reason
    message: Message
    change: Message | None
    speeds: tuple[Speed, ...]


class Machine(NamedTuple):
    title: str
    gpus: str
    use: str
    mark: str
    reason: Message
    kept: tuple[str, ...]  # loads and GPUs, where it is kept for several
    readings: str
    loads: tuple[LoadRow, ...]
    findings: tuple[Finding, ...]
    energy: str


class Existing(NamedTuple):
    """What stands in the section about machines that are there already."""

    together: tuple[Message, ...]
    counted: tuple[str, ...]
    carries_all: bool
    basis: str  # whether the proposals count them in
    saving: str  # what the cheapest proposal would cost without them
    machines: tuple[Machine, ...]
    findings: tuple[Finding, ...]


def existing_page(report: ExistingReport | None) -> Existing | None:
    """The report in the active language; None when the customer named no machines."""
    if report is None:
        return None
    return Existing(
        together=tuple(load.message for load in report.loads),
        counted=tuple(_counted(report)),
        carries_all=report.carries_all,
        basis=_basis(report),
        saving=_saving(report),
        machines=tuple(_machine(machine, report) for machine in report.machines),
        findings=report.findings,
    )


def _basis(report: ExistingReport) -> str:
    if not report.counted:
        return _("This is a comparison: the proposals carry everything.")
    if report.carries_all:
        return _("Counted in, they carry everything: there is nothing to buy.")
    if not report.allotted:
        return _("None of your machines can be counted on, so the proposals carry everything.")
    return _(
        "The proposals carry what your own machines leave, at the largest load that was calculated with:"
    )


def _saving(report: ExistingReport) -> str:
    alone, beside = report.alone_eur, report.beside_eur
    if alone is None or (beside is None and not report.carries_all):
        return ""
    prices = {
        "alone": formats.quantity(alone, "EUR", 3),
        "beside": formats.quantity(beside or 0, "EUR", 3),
    }
    if beside is None:
        return _("Without them the cheapest proposal costs about %(alone)s without VAT.") % prices
    if beside < alone:
        text = _(
            "Without them the cheapest proposal costs about %(alone)s without VAT, beside them %(beside)s."
        )
        return text % prices
    text = _(
        "They do not make the cheapest proposal cheaper: servers and GPUs come in whole steps. Without them it costs "
        "about %(alone)s without VAT, beside them %(beside)s."
    )
    return text % prices


def _counted(report: ExistingReport) -> Iterator[str]:
    for one in report.allotted if report.counted else ():
        text = _("%(machine)s takes over %(share)s of %(load)s.")
        yield text % {
            "machine": title_of(report.machines[one.machine - 1]),
            "share": formats.percent(one.fraction),
            "load": load_title(one.load),
        }


def title_of(machine: MachineReport) -> str:
    return machine.name or _("Machine %(number)s") % {"number": machine.number}


def _kept(machine: MachineReport, report: ExistingReport) -> Iterator[str]:
    here = [one for one in report.allotted if one.machine == machine.number]
    for one in here if len(here) > 1 else ():
        yield _("%(load)s: %(share)s on %(gpus)s") % {
            "load": load_title(one.load),
            "share": formats.percent(one.fraction),
            "gpus": formats.quantity(one.gpus, "GPUs", 4),
        }


def _machine(machine: MachineReport, report: ExistingReport) -> Machine:
    return Machine(
        title=title_of(machine),
        gpus=gpus_in_words(machine.groups),
        use=str(USES[machine.use]),
        mark=MARKS[machine.use],
        reason=machine.reason,
        kept=tuple(_kept(machine, report)),
        readings=readings_in_words(machine.readings),
        loads=tuple(map(_load, machine.loads)),
        findings=machine.findings,
        energy=_energy(machine),
    )


def _load(load: MachineLoad) -> LoadRow:
    shown = tuple(speeds(load.option)) if load.option and load.option.kind == "serving" else ()
    return LoadRow(
        load_title(load.load), str(CARRIES.get(load.carried, "")), load.message, load.change, shown
    )


def gpus_in_words(groups: Sequence[GpuGroup]) -> str:
    """`2 × A100 PCIe 40GB, 1 × unknown GPU`."""
    return ", ".join(f"{formats.number(group.count)} × {group.name or _('unknown GPU')}" for group in groups)


def readings_in_words(readings: Readings | None) -> str:
    """`12 % busy, memory 46 % full, at most 36 °C, 79 W`; empty without readings."""
    if readings is None:
        return ""
    parts = []
    if readings.utilisation_pct is not None:
        parts.append(
            _("%(share)s busy") % {"share": formats.quantity(round(readings.utilisation_pct), "%", 3)}
        )
    if readings.memory_used_fraction is not None:
        parts.append(
            _("memory %(share)s full")
            % {"share": formats.quantity(round(readings.memory_used_fraction * 100), "%", 3)}
        )
    if readings.temperature_c is not None:
        parts.append(_("at most %(heat)s") % {"heat": formats.quantity(readings.temperature_c, "°C", 3)})
    if readings.power_w is not None:
        parts.append(formats.quantity(readings.power_w, "W", 3))
    return ", ".join(parts)


def _energy(machine: MachineReport) -> str:
    """What its GPUs cost in electricity for the work they are kept for, beside the proposed ones."""
    if machine.energy is None:
        return ""
    text = _("Electricity of the GPUs for %(load)s: %(here)s a year here, %(there)s on %(name)s.")
    return text % {
        "load": load_title(machine.energy.load),
        "here": formats.quantity(machine.energy.here_eur, "EUR", 2),
        "there": formats.quantity(machine.energy.proposed_eur, "EUR", 2),
        "name": machine.energy.proposed_name,
    }
