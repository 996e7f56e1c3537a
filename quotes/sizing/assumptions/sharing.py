"""Assumptions about several services on one accelerator."""

from catalog.quantity import Frozen, noop
from quotes.sizing.assumptions.base import assume


class SharingAssumptions(Frozen):
    part_memory_fraction: float = assume(
        0.9,
        unit="",
        low=0.5,
        high=1,
        label=noop("Memory that a service counts on, as a share of its part of an accelerator"),
        source=noop(
            "drivers report 9.75 GiB for an eighth of an H100 of 79.6 GiB and 16 for an eighth of an H200 of 140 GiB"
        ),
    )
    mig_compute_fraction: float = assume(
        0.84,
        unit="",
        low=0.5,
        high=1,
        label=noop("Computing that a MIG part gives, as a share of its sevenths or quarters"),
        source=noop(
            "the smallest part of an H100 has 16 of 132 processors, 0.85 of a seventh; of an A100 14 of 108"
        ),
    )
    shared_busy_fraction: float = assume(
        0.8,
        unit="",
        low=0.3,
        high=1,
        label=noop(
            "Computing and bandwidth that a service counts on, as a share of its part, without walls between them"
        ),
        source=noop(
            "own choice: services that peak together keep an accelerator busy for at most this share"
        ),
    )
