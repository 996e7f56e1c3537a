"""Assumptions about machines that a customer has already, and about what one moment of readings says."""

from catalog.quantity import Frozen, noop
from quotes.sizing.assumptions.base import assume


class ExistingAssumptions(Frozen):
    existing_busy_pct: float = assume(
        60,
        unit="%",
        low=10,
        high=100,
        label=noop(
            "Use of the GPUs at the moment of the readings from which an existing machine counts as busy"
        ),
        source=noop("own choice; what is left is too little to promise anything on"),
    )
    existing_full_fraction: float = assume(
        0.9,
        unit="",
        low=0.3,
        high=1,
        label=noop("Part of the GPU memory in use from which an existing machine counts as full"),
        source=noop(
            "own choice; engines for language models take about nine tenths of the memory for themselves"
        ),
    )
    existing_hot_c: float = assume(
        85,
        unit="°C",
        low=60,
        high=110,
        label=noop("Temperature from which an existing GPU counts as too hot"),
        source=noop("highest operating temperature that drivers report for data-centre GPUs: 85 to 87 °C"),
        year=2025,
    )
    existing_capped_fraction: float = assume(
        0.95,
        unit="",
        low=0.5,
        high=1,
        label=noop("Part of its usual power below which the cap of an existing GPU is said to slow it down"),
        source=noop("own choice; makers allow a few percent of difference between boards"),
    )
