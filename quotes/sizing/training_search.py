"""The search behind `training_options`: layouts, memory and time of a job on every accelerator at once.

Per accelerator the smallest number of GPUs, and the layout on them, that holds the job in memory and meets its
deadline at the cautious end of the predicted interval; then a few faster alternatives. One pass over NumPy arrays
for all accelerators together.
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
from quotes.sizing.training_calibration import TrainingCalibration
from quotes.sizing.training_hardware import TrainingGpu
from quotes.sizing.training_layouts import SIZES_ABOVE_NEED, VARIANTS, Grid, Space, gpu_counts, space
from quotes.sizing.training_memory import GIB, STATES
from quotes.sizing.training_option import admitted, chosen_rows, option_of, refused_memory, refused_speed
from quotes.sizing.training_plan import (
    STACK,
    Machines,
    Plan,
    Spread,
    machines_of,
    memory_of,
    memory_spread,
    plan_of,
    run_hours,
    speed_spread,
    time_of,
)

type Vector = NDArray[np.float64]
type Rows = NDArray[np.int64]

ALTERNATIVES = 3
FASTER = 1.1  # an alternative must beat the one before it by so much
BEST_CASE_UTILISATION = 0.9  # of the peak: sizes that miss the deadline even so are not looked at


class Found(NamedTuple):
    """Candidates that fit, with what was computed of them."""

    layout: Grid
    hours: Vector  # expected
    cautious: Vector  # at the slow end of the interval
    hopeful: Vector
    seconds: Vector  # per token and GPU, expected
    chunked: NDArray[np.bool_]  # fits only with a loss computed in pieces


def training_options(
    job: LanguageTraining,
    arch: ModelArchitecture,
    accelerators: Sequence[AcceleratorSpec],
    *,
    max_in_node: Mapping[str, int],
    assumptions: Assumptions,
    calibration: TrainingCalibration,
) -> Mapping[str, tuple[LoadOption, ...] | Refusal]:
    """By accelerator SKU: the smallest sufficient option first, then up to three faster ones; or why there is none."""
    plan = plan_of(job, arch, assumptions)
    answers: dict[str, tuple[LoadOption, ...] | Refusal] = {}
    usable: list[tuple[AcceleratorSpec, TrainingGpu]] = []
    for accelerator in accelerators:
        answer = admitted(accelerator, max(1, max_in_node.get(accelerator.sku, 8)), plan, assumptions)
        if isinstance(answer, Refusal):
            answers[accelerator.sku] = answer
        else:
            usable.append((accelerator, answer))
    if not usable:
        return answers
    machines = machines_of([gpu for _, gpu in usable], job.precision, calibration)
    counts = [
        _counts(plan, gpu, kind, assumptions)
        for gpu, kind in zip(machines.gpus, machines.precisions, strict=True)
    ]
    memory = memory_spread(plan, machines.gpus[0], calibration)
    found = _survivors(
        plan, space(arch, job.method, machines.gpus, counts), machines, calibration, assumptions, memory
    )
    order = np.lexsort((found.hours, found.layout.gpus, found.layout.accelerator))
    edges = np.searchsorted(found.layout.accelerator[order], np.arange(len(usable) + 1))
    mine = [order[start:end] for start, end in pairwise(edges)]
    picked = [_choose(found, rows, plan) for rows in mine]
    every = np.array([row for rows in picked for row in rows], np.int64)
    chosen = iter(chosen_rows(
        plan, found.layout.take(every), found.chunked[every], machines,
        (found.hours[every], found.hopeful[every], found.cautious[every]), found.seconds[every], memory, assumptions,
        calibration,
    ))  # fmt: skip
    for index, (accelerator, gpu) in enumerate(usable):
        if picked[index]:
            answers[accelerator.sku] = tuple(
                option_of(
                    plan, accelerator, gpu, machines.precisions[index], next(chosen), assumptions, calibration
                )
                for _ in picked[index]
            )
        elif mine[index].size:
            best = int(mine[index][np.argmin(found.cautious[mine[index]])])
            answers[accelerator.sku] = refused_speed(
                plan, accelerator, int(found.layout.gpus[best]), float(found.cautious[best])
            )
        elif counts[index]:
            answers[accelerator.sku] = refused_memory(
                plan, accelerator, gpu, counts[index], memory, assumptions, calibration
            )
        else:
            answers[accelerator.sku] = refused_speed(
                plan, accelerator, int(assumptions.training_gpus_max), None
            )
    return answers


def _counts(plan: Plan, gpu: TrainingGpu, precision: str, assumptions: Assumptions) -> tuple[int, ...]:
    """GPU counts that could do it at best, and a few above."""
    rate = gpu.peak_tflops(precision) * 1e12 * BEST_CASE_UTILISATION
    for_deadline = plan.tokens * plan.token_flops / rate / 3600 / plan.available_h
    least_states = plan.base_bytes if plan.frozen else STATES["adamw_8bit"].resident
    for_memory = plan.model.params * least_states / (gpu.memory_gib * GIB)
    least = max(for_deadline, for_memory if not plan.frozen else 0)
    every = gpu_counts(gpu.node_gpus, assumptions.training_gpus_max)
    return tuple(count for count in every if count >= least)[:SIZES_ABOVE_NEED]


def _survivors(
    plan: Plan, every: Space, machines: Machines, calibration: TrainingCalibration, assumptions: Assumptions,
    memory: Spread,
) -> Found:  # fmt: skip
    """Candidates that fit at the cautious end of the memory interval, with their run time.

    Per layout and micro-batch the least recomputation that fits, since more is slower; a loss computed in pieces comes
    in where the plain one does not fit.
    """
    layouts = every.candidates
    factors = calibration.memory_factors(STACK)
    needed = memory_of(plan, layouts, calibration, "eager", "chunked").device(factors)
    whole = layouts.dp * layouts.micro_batch * plan.job.sequence_tokens <= plan.step_tokens
    needed = np.where(whole, needed, np.inf).reshape(2, -1, *VARIANTS)
    usable = GIB * (1 - assumptions.training_memory_reserve_fraction) / float(memory.high[0])
    limit = np.array([gpu.memory_gib for gpu in machines.gpus]) * usable
    plain, pieces = needed[:, every.layout] <= limit[every.owner][:, None, None]
    pair, micro = np.nonzero(pieces.any(axis=1))
    recompute = pieces.argmax(axis=1)[pair, micro]
    rows = (every.layout[pair] * VARIANTS[0] + recompute) * VARIANTS[1] + micro
    kept = layouts.take(rows)._replace(accelerator=every.owner[pair])
    seconds = time_of(plan, kept, machines, calibration).total
    spread = speed_spread(plan, machines, calibration)
    hours, hopeful, cautious = (
        run_hours(plan, kept.gpus, seconds / factor[kept.accelerator], assumptions)
        for factor in (spread.middle, spread.high, spread.low)
    )
    chunked = ~plain[pair, recompute, micro]
    return Found(kept, hours, cautious, hopeful, seconds / spread.middle[kept.accelerator], chunked)


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
