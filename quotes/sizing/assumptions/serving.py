"""Assumptions about serving language models."""

from catalog.quantity import Frozen, noop
from quotes.sizing.assumptions.base import assume


class ServingAssumptions(Frozen):
    memory_utilisation_fraction: float = assume(
        0.90,
        unit="",
        low=0.5,
        high=0.98,
        label=noop("Share of GPU memory that the serving engine may use"),
        source="default of vLLM (gpu_memory_utilization)",
    )
