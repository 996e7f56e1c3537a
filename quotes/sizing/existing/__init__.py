"""Machines that a customer has already: what they carry of a workload, and what to do with them."""

from quotes.sizing.existing.allotting import settled
from quotes.sizing.existing.energy import with_energy
from quotes.sizing.existing.report import report_existing
from quotes.sizing.existing.rest import Rest, rest_of
from quotes.sizing.existing.results import Carried, ExistingReport, MachineLoad, MachineReport, Use

__all__ = [
    "Carried",
    "ExistingReport",
    "MachineLoad",
    "MachineReport",
    "Rest",
    "Use",
    "report_existing",
    "rest_of",
    "settled",
    "with_energy",
]
