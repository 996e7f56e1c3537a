"""The search behind `training_options`: layouts, memory and time of a job on every accelerator at once.

Per accelerator the smallest number of GPUs, and the layout on them, that holds the job in memory and meets its
deadline at the cautious end of the predicted interval; then a few faster alternatives. NumPy arrays hold all
accelerators together; a second pass looks at larger sizes where the first found nothing.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from catalog.specs import AcceleratorSpec, ModelArchitecture
from configurator.workload import LanguageTraining
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.results import LoadOption, Refusal
from quotes.sizing.training.calibration import TrainingCalibration
from quotes.sizing.training.hardware import TrainingGpu
from quotes.sizing.training.layouts import VARIANTS, Grid, Space, gpu_counts, space
from quotes.sizing.training.memory import GIB, STATES, Offload
from quotes.sizing.training.option import chosen_rows, option_of
from quotes.sizing.training.plan import (
    STACK,
    Plan,
    machines_of,
    memory_of,
    memory_shift,
    memory_spread,
    plan_of,
    run_hours,
    speed_spread,
    time_of,
)
from quotes.sizing.training.refusals import admitted, refused_memory, refused_size, refused_speed

type Vector = NDArray[np.float64]
type Rows = NDArray[np.int64]

ALTERNATIVES = 3
FASTER = 1.1  # an alternative must beat the one before it by so much
BEST_CASE_UTILISATION = 0.95  # of the peak: sizes that miss the deadline even so are not looked at
LEAST_STATES = STATES["adamw_8bit"].resident  # bytes per parameter, the smallest recipe of full training
LOOKED_AT_FIRST = 8  # sizes per accelerator; the rest only where none of these will do


type Answer = tuple[LoadOption, ...] | Refusal


class Found(NamedTuple):
    """Candidates that fit, with what was computed of them."""

    layout: Grid
    hours: Vector  # expected
    cautious: Vector  # at the slow end of the interval
    hopeful: Vector
    seconds: Vector  # per token and GPU, expected
    chunked: NDArray[np.bool_]  # fits only with a loss computed in pieces


class Near(NamedTuple):
    """The fastest candidate that fits but misses the deadline."""

    cautious_h: float
    gpus: int


def training_options(
    job: LanguageTraining,
    arch: ModelArchitecture,
    accelerators: Sequence[AcceleratorSpec],
    *,
    max_in_node: Mapping[str, int],
    assumptions: Assumptions,
    calibration: TrainingCalibration,
) -> Mapping[str, Answer]:
    """By accelerator SKU: the smallest sufficient option first, then up to three faster ones; or why there is none."""
    plan = plan_of(job, arch, assumptions)
    answers: dict[str, Answer] = {}
    usable: list[tuple[AcceleratorSpec, TrainingGpu]] = []
    for accelerator in accelerators:
        answer = admitted(accelerator, max(1, max_in_node.get(accelerator.sku, 8)), plan, assumptions)
        if isinstance(answer, Refusal):
            answers[accelerator.sku] = answer
        else:
            usable.append((accelerator, answer))
    if usable:
        answers |= _Search(plan, usable, assumptions, calibration).answers()
    return answers


def offloads(plan: Plan) -> tuple[Offload, ...]:
    """What may live in host memory, the least first: an adapter has hardly any optimiser states."""
    if plan.frozen:
        return ("all",)
    return ("optimizer", "all") if plan.job.optimizer == "adamw" else ()


class _Search:
    """One job on the accelerators that may train it."""

    def __init__(
        self, plan: Plan, usable: Sequence[tuple[AcceleratorSpec, TrainingGpu]], assumptions: Assumptions,
        calibration: TrainingCalibration,
    ) -> None:  # fmt: skip
        self.plan = plan
        self.accelerators = [accelerator for accelerator, _ in usable]
        self.machines = machines_of([gpu for _, gpu in usable], plan.job.precision, calibration)
        self.assumptions = assumptions
        self.calibration = calibration
        self.memory_shift = memory_shift(plan, self.machines.gpus[0], calibration)
        self.speed = speed_spread(plan, self.machines, calibration)
        self.counts = [
            self._counts(gpu, kind)
            for gpu, kind in zip(self.machines.gpus, self.machines.precisions, strict=True)
        ]
        self.near: dict[int, Near] = {}

    def answers(self) -> dict[str, Answer]:
        found = self._look([counts[:LOOKED_AT_FIRST] for counts in self.counts])
        found |= self._look([
            () if index in found else counts[LOOKED_AT_FIRST:] for index, counts in enumerate(self.counts)
        ])  # fmt: skip
        for offload in offloads(self.plan):
            # States in host memory are slow and seldom measured: only where nothing fits without.
            found |= self._look([
                () if index in found or index in self.near else self._counts(gpu, kind, offload)
                for index, (gpu, kind) in enumerate(zip(self.machines.gpus, self.machines.precisions, strict=True))
            ], offload)  # fmt: skip
        return {
            accelerator.sku: found[index] if index in found else self._refusal(index)
            for index, accelerator in enumerate(self.accelerators)
        }

    def _counts(self, gpu: TrainingGpu, precision: str, offload: Offload = "none") -> tuple[int, ...]:
        """GPU counts that could do it at best, by speed and by the states that the GPUs must hold."""
        least = max(self._least(gpu, precision, offload))
        every = gpu_counts(gpu.node_gpus, self.assumptions.training_gpus_max)
        return tuple(count for count in every if count >= least)

    def _least(self, gpu: TrainingGpu, precision: str, offload: Offload = "none") -> tuple[float, float]:
        """GPUs that it takes at best: for the deadline, and to hold the states."""
        plan = self.plan
        rate = gpu.peak_tflops(precision) * 1e12 * BEST_CASE_UTILISATION
        for_deadline = plan.tokens * plan.token_flops / rate / 3600 / plan.available_h
        least_states = (plan.base_bytes if plan.frozen else LEAST_STATES) if offload == "none" else 0.0
        return for_deadline, plan.model.params * least_states / (gpu.memory_gib * GIB)

    def _look(
        self, counts: Sequence[Sequence[int]], offload: Offload = "none"
    ) -> dict[int, tuple[LoadOption, ...]]:
        """Options by index of the accelerator, at these sizes; `near` is kept for those without."""
        if not any(counts):
            return {}
        plan = self.plan
        found = self._survivors(
            space(
                plan.arch,
                plan.job.method,
                plan.job.sequence_tokens,
                self.machines.gpus,
                counts,
                offload=offload,
            )
        )
        order = np.lexsort((found.hours, found.layout.gpus, found.layout.accelerator))
        edges = np.searchsorted(found.layout.accelerator[order], np.arange(len(self.accelerators) + 1))
        picked: dict[int, list[int]] = {}
        for index, (start, end) in enumerate(pairwise(edges)):
            mine = order[start:end]
            if rows := _choose(found, mine, plan):
                picked[index] = rows
            elif mine.size:
                best = int(mine[np.argmin(found.cautious[mine])])
                near = Near(float(found.cautious[best]), int(found.layout.gpus[best]))
                self.near[index] = min(near, self.near.get(index, near))
        every = np.array([row for rows in picked.values() for row in rows], np.int64)
        chosen = iter(chosen_rows(
            plan, found.layout.take(every), found.chunked[every], self.machines,
            (found.hours[every], found.hopeful[every], found.cautious[every]), found.seconds[every], self.memory_shift,
            self.assumptions, self.calibration,
        ))  # fmt: skip
        return {
            index: tuple(
                option_of(
                    plan, self.accelerators[index], self.machines.gpus[index], self.machines.precisions[index],
                    next(chosen), self.assumptions, self.calibration,
                )
                for _ in rows
            )
            for index, rows in picked.items()
        }  # fmt: skip

    def _refusal(self, index: int) -> Refusal:
        accelerator = self.accelerators[index]
        if near := self.near.get(index):
            return refused_speed(self.plan, accelerator, near.gpus, near.cautious_h)
        if not self.counts[index]:
            gpu, kind = self.machines.gpus[index], self.machines.precisions[index]
            most = int(self.assumptions.training_gpus_max)
            return refused_size(self.plan, accelerator, most, *self._least(gpu, kind))
        return refused_memory(
            self.plan, accelerator, self.machines.gpus[index], self.counts[index], self.memory_shift, self.assumptions,
            self.calibration,
        )  # fmt: skip

    def _survivors(self, every: Space) -> Found:
        """Candidates that fit at the cautious end of the memory interval, with their run time.

        Per layout and micro-batch the least recomputation that fits, since more is slower; a loss computed in pieces
        comes in where the plain one does not fit.
        """
        plan, layouts = self.plan, every.candidates
        factors = self.calibration.memory_factors(STACK)
        memory = memory_of(plan, layouts, self.calibration, "eager", "chunked")
        needed = (
            memory.device(factors)
            * memory_spread(
                memory, self.memory_shift, self.calibration, known=plan.arch.standard_structure
            ).high
        )
        whole = layouts.dp * layouts.micro_batch * plan.job.sequence_tokens <= plan.step_tokens
        needed = np.where(whole, needed, np.inf).reshape(2, -1, *VARIANTS)
        usable = GIB * (1 - self.assumptions.training_memory_reserve_fraction)
        limit = np.array([gpu.memory_gib for gpu in self.machines.gpus]) * usable
        plain, pieces = needed[:, every.layout] <= limit[every.owner][:, None, None]
        pair, micro = np.nonzero(pieces.any(axis=1))
        recompute = pieces.argmax(axis=1)[pair, micro]
        rows = (every.layout[pair] * VARIANTS[0] + recompute) * VARIANTS[1] + micro
        kept = layouts.take(rows)._replace(accelerator=every.owner[pair])
        time = time_of(plan, kept, self.machines, self.calibration)
        seconds = time.total
        # Traffic to host memory depends on the server, and nobody publishes it: half as much to twice as much.
        hours, hopeful, cautious = (
            run_hours(
                plan, kept.gpus, (seconds + extra * time.host) / factor[kept.accelerator], self.assumptions
            )
            for factor, extra in ((self.speed.middle, 0.0), (self.speed.high, -0.5), (self.speed.low, 1.0))
        )
        chunked = ~plain[pair, recompute, micro]
        return Found(kept, hours, cautious, hopeful, seconds / self.speed.middle[kept.accelerator], chunked)


def _choose(found: Found, mine: Rows, plan: Plan) -> list[int]:
    """Row numbers: the fastest layout of the smallest size in time, then of larger sizes that are clearly faster.
    `mine` is sorted by size and time."""
    first_of_size = mine[np.unique(found.layout.gpus[mine], return_index=True)[1]]
    chosen: list[int] = []
    for row in first_of_size[found.cautious[first_of_size] <= plan.available_h]:
        if chosen and found.hours[row] * FASTER > found.hours[chosen[-1]]:
            continue
        chosen.append(int(row))
        if len(chosen) > ALTERNATIVES:
            break
    return chosen
