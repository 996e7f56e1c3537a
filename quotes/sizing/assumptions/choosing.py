"""Assumptions about which systems become proposals."""

from catalog.quantity import Frozen, noop
from quotes.sizing.assumptions.base import assume


class ChoosingAssumptions(Frozen):
    balanced_headroom_factor: float = assume(
        1.25,
        unit="×",
        low=1,
        high=3,
        label=noop("Load that the balanced proposal carries, as a multiple of today's peak"),
        source=noop("own choice: a quarter more than today's peak"),
    )
    room_headroom_factor: float = assume(
        1.6,
        unit="×",
        low=1,
        high=6,
        label=noop(
            "Load that the proposal with room to grow carries at least, as a multiple of today's peak"
        ),
        source=noop("own choice; the expected growth over the horizon counts when it is higher"),
    )
    largest_system_count: float = assume(
        2048,
        unit="",
        low=64,
        high=8192,
        label=noop("Accelerators in one system at most; a larger one is a project"),
        source=noop("own choice: two tiers of 64-port switches join 2,048 endpoints"),
    )
    tier_step_factor: float = assume(
        1.1,
        unit="×",
        low=1,
        high=2,
        label=noop("What a proposal carries at least, as a multiple of what the one before it carries"),
        source=noop("own choice: a dearer proposal that carries the same is no proposal"),
    )
    needless_price_factor: float = assume(
        2,
        unit="×",
        low=1,
        high=10,
        label=noop("What a proposal costs at most, as a multiple of one that already carries what it is for"),
        source=noop("own choice: whoever has room enough is not shown something several times as dear"),
    )
    estimate_band_fraction: float = assume(
        0.08,
        unit="",
        low=0,
        high=0.5,
        label=noop("Half the width of the price band beside the questionnaire, as a part of the price"),
        source=noop(
            "own choice: what list prices move between a first talk and an order; the quote itself is exact"
        ),
    )
