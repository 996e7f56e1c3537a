"""Assumptions about servers, power, cooling, fabric and storage."""

from catalog.quantity import Frozen, noop
from quotes.sizing.assumptions.base import assume


class HardwareAssumptions(Frozen):
    psu_efficiency_fraction: float = assume(
        0.95,
        unit="",
        low=0.85,
        high=0.98,
        label=noop("Efficiency of the power supplies"),
        source="80 PLUS Titanium class",
    )
    load_factor_fraction: float = assume(
        0.75,
        unit="",
        low=0.3,
        high=1,
        label=noop("Average load as a share of the calculated maximum"),
        source="coincidence factor 0.7–0.8 of a planning guide of September 2026",
    )
