"""All ways on all accelerators that fit in memory, timed together, and which few of them are worth offering."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from catalog.quantity import Quantity
from catalog.specs import AcceleratorSpec, ModelArchitecture
from configurator.workload import LanguageService
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.refusals import at_most, enough, telling_digits
from quotes.sizing.serving.calibration import Calibration
from quotes.sizing.serving.fleet import Fleet, Memory, fleet_of
from quotes.sizing.serving.layouts import Way
from quotes.sizing.serving.memory import EngineMemory
from quotes.sizing.serving.queueing import required_replicas
from quotes.sizing.serving.speed import Largest, Targets, largest_load

type Values = NDArray[np.float64]

OPTIONS_PER_DEMAND = 4
OPTIONS_PER_GROWTH = 2  # of the larger demands: fewest GPUs, and one step up
MUCH_MORE = 1.5  # headroom that makes a larger option worth showing


class Shortfall(NamedTuple):
    """What a single request gets, usually and at the end of the interval that counts, and which targets that misses."""

    ttft_s: float
    ttft_high: float  # times that, at the cautious end
    tokens_s: float
    tokens_low: float
    misses: Mapping[str, float]  # asked / available by target that is missed: ttft, tokens, rho
    gpus: int

    def time_to_ask(self, targets: Targets) -> Quantity:
        """The first token that can be promised, rounded so that asking for it holds."""
        cautious = self.ttft_s * self.ttft_high
        return enough(cautious, "s", telling_digits(cautious, targets.ttft_s))

    def speed_to_ask(self, targets: Targets) -> Quantity:
        cautious = self.tokens_s * self.tokens_low
        return at_most(cautious, "tokens/s", telling_digits(cautious, targets.tokens_s))


@dataclass(frozen=True, slots=True)
class Asked:
    """One service, the accelerators that it may run on, and by what its ways are judged."""

    service: LanguageService
    arch: ModelArchitecture
    accelerators: Sequence[AcceleratorSpec]
    assumptions: Assumptions
    calibration: Calibration
    engine: EngineMemory
    targets: Targets


@dataclass(frozen=True, slots=True)
class Search:
    """Everything known about the ways that fit."""

    asked: Asked
    ways: tuple[Way, ...]
    memory: Memory
    fleet: Fleet
    most: Largest

    def rows_of(self, number: int) -> list[int]:
        """Rows of the ways that fit on accelerator `number`."""
        return [row for row, way in enumerate(self.ways) if way.accelerator == number]

    def shortfall(self, mine: Sequence[int]) -> Shortfall:
        """What one request in flight gets from the way that misses its targets by least."""
        fleet, most, targets = self.fleet, self.most, self.asked.targets
        best = min(mine, key=lambda row: max(float(strain[row]) for strain in most.strain_alone.values()))
        off = {name: float(strain[best]) for name, strain in most.strain_alone.items()}
        return Shortfall(
            ttft_s=float(most.alone.ttft_p95_s[best]),
            ttft_high=float(fleet.ttft_high[best]) if targets.ttft_stated else 1.0,
            tokens_s=float(most.alone.tokens_s[best]),
            tokens_low=1 / float(fleet.tpot_high[best]) if targets.tokens_stated else 1.0,
            misses={name: strain for name, strain in off.items() if strain > 1},
            gpus=self.ways[best].gpus,
        )

    def picked(self, number: int, demand_factors: Sequence[float]) -> list[tuple[int, int]]:
        """(row, working replicas) to offer: for each demand the fewest GPUs, and what a higher precision, a faster
        layout or much headroom would take."""
        holding = [row for row in self.rows_of(number) if self.most.load[row] > 0]
        if not holding:
            return []
        peak, spare = self.asked.service.concurrent_requests, spare_replicas(self.asked.service)
        chosen: dict[tuple[int, int], None] = {}
        for factor in sorted(demand_factors):
            replicas = required_replicas(peak * factor, self.most.load[holding])
            gpus = np.array([self.ways[row].gpus for row in holding]) * (replicas + spare)
            most = OPTIONS_PER_DEMAND if factor == min(demand_factors) else OPTIONS_PER_GROWTH
            for pick in self._non_dominated(holding, replicas, gpus, peak, most):
                chosen[holding[pick], int(replicas[pick])] = None
        return list(chosen)

    def _non_dominated(
        self, holding: Sequence[int], replicas: Values, gpus: Values, peak: float, most: int
    ) -> Iterator[int]:
        """Positions in `holding`, at most `most`, fewest GPUs first."""
        capacity = np.array([self.most.load[row] for row in holding]) * replicas / peak
        speed = self.most.alone.tokens_s[list(holding)]
        precision = np.array([self.ways[row].form.bytes_per_weight for row in holding])
        order = sorted(range(len(holding)), key=lambda at: (gpus[at], -capacity[at], -speed[at]))
        kept: list[int] = []
        for at in order:
            better = [
                gpus[at] > 0
                and (
                    precision[at] > precision[other]
                    or capacity[at] > MUCH_MORE * capacity[other]
                    or speed[at] > 1.3 * speed[other]
                )
                for other in kept
            ]
            if all(better) and len(kept) < most:
                kept.append(at)
        yield from kept


def search_of(asked: Asked, found: Sequence[Way], memory: Memory, most_demand: float) -> Search | None:
    """The ways of `found` that fit and may be offered, up to `most_demand` times today's peak; None when none does."""
    index = np.flatnonzero(memory.fits & np.array([not way.wish for way in found], bool))
    if not len(index):
        return None
    selected = tuple(found[int(number)] for number in index)
    own, service = memory.of_rows(index), asked.service
    fleet = fleet_of(selected, own.capacity, service, asked.arch, asked.accelerators, asked.calibration)
    ceiling = max(4.0, 2.0 * service.concurrent_requests * most_demand)
    return Search(asked, selected, own, fleet, largest_load(fleet, service, asked.targets, ceiling))


def spare_replicas(service: LanguageService) -> int:
    return 1 if service.availability == "n_plus_1" else 0
