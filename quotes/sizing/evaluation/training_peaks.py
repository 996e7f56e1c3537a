"""Predicted peak memory of published runs, and the fit of its factors."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from quotes.sizing.evaluation.training_fit import stack_models
from quotes.sizing.evaluation.training_least_squares import Matrix, Prior, derivatives, least_squares
from quotes.sizing.evaluation.training_run import Run
from quotes.sizing.training.memory import (
    GIB,
    LOSSES,
    OFFLOADS,
    Adapter,
    Batch,
    MemoryFactors,
    Split,
    States,
    in_flight_layers,
    in_host_memory,
    states_level,
    training_memory,
)
from quotes.sizing.training.model import TrainedModel, trained_model

type Vector = NDArray[np.float64]

LEVELS = {"none": 0, "zero1": 1, "zero2": 2, "fsdp": 3}

SHARED = (
    Prior("logit_eager", 10.5, 0.15), Prior("logit_fast", 6.0, 0.2), Prior("logit_chunked", 2, 0.5),
    Prior("logit_fused", 0.3, 0.7), Prior("selective_kept", 0.5, 0.3), Prior("frozen_kept", 0.8, 0.2),
    Prior("expert_working", 0.5, 0.4), Prior("score_bytes", 6.0, 0.4), Prior("gathered_layers", 2, 0.5),
    Prior("workspace_matrices", 2, 0.2), Prior("late_share", 0.3, 0.5), Prior("runtime_gib", 1.2, 0.3),
    Prior("reserved_fraction", 0.1, 0.5),
)  # fmt: skip
PER_STACK = (Prior("kept", 1.0, 0.25), Prior("working_layers", 2.0, 0.3))


class Peaks(NamedTuple):
    """Runs as arrays, ready for `training_memory`."""

    model: TrainedModel
    states: States
    split: Split
    batch: Batch
    adapter: Adapter
    measure: Vector  # 0 allocated, 1 reserved, 2 seen by the driver
    offloaded: Vector  # 0 nothing, 1 optimiser states, 2 all states in host memory
    unit: Vector  # GiB per published unit
    stacks: tuple[str, ...]


def peaks_of(runs: Sequence[Run]) -> Peaks:
    def column(get: Callable[[Run], float]) -> Vector:
        return np.array([get(run) for run in runs], float)

    # Context-parallel ranks share the sharding of states with the data-parallel ones.
    ranks = column(lambda run: min(run.dp * run.cp, run.shard_ranks or run.dp * run.cp))
    level = column(lambda run: LEVELS[run.sharding])
    split = Split(
        tp=column(lambda run: run.tp), pp=column(lambda run: run.pp), cp=column(lambda run: run.cp),
        dp=column(lambda run: run.dp), ep=column(lambda run: run.ep),
        weight_shards=np.where(level == 3, ranks, 1), gradient_shards=np.where(level >= 2, ranks, 1),
        optimizer_shards=np.where(level >= 1, ranks, 1), virtual_stages=column(lambda run: run.virtual_stages),
        stage_gathered=column(lambda run: run.sharding == "fsdp" and run.pp > 1),
    )  # fmt: skip
    tokens = column(lambda run: run.micro_batch * run.sequence_tokens * run.dp)
    step = column(lambda run: run.global_batch_tokens)
    micro_batches = np.where(step > 0, step / tokens, 32.0)
    return Peaks(
        model=stack_models([trained_model(run.arch) for run in runs]),
        states=States(*(np.array(field, float) for field in zip(*(run.states for run in runs), strict=True))),
        split=split,
        batch=Batch(
            sequence_tokens=column(lambda run: run.sequence_tokens), micro_batch=column(lambda run: run.micro_batch),
            recompute=column(lambda run: run.recompute == "full"),
            selective=column(lambda run: run.recompute == "selective"),
            loss=np.array([LOSSES.index(run.loss) for run in runs]),
            residual_bytes=column(lambda run: run.residual_bytes),
            unfused_attention=column(lambda run: run.unfused_attention),
            sequence_parallel=column(lambda run: run.sequence_parallel),
            in_flight=np.minimum(in_flight_layers(split), np.maximum(micro_batches, 1.0)),
        ),
        adapter=Adapter(
            column(lambda run: run.frozen), column(lambda run: run.base_bytes), column(lambda run: run.lora_rank),
            column(lambda run: run.full_adapter_ends),
        ),
        measure=column(lambda run: {"allocated": 0, "reserved": 1, "device": 2}[run.measure]),
        offloaded=column(lambda run: OFFLOADS.index(run.host_offload)),
        unit=column(lambda run: run.gibibytes),
        stacks=tuple(run.stack for run in runs),
    )  # fmt: skip


def peak_bytes(peaks: Peaks, factors: MemoryFactors, *, device: bool = False) -> Vector:
    """Peak of one GPU as each row measures it (allocated, reserved, or seen by the driver); `device`: by the driver."""
    memory = in_host_memory(
        training_memory(peaks.model, peaks.states, peaks.split, peaks.batch, factors, peaks.adapter),
        peaks.offloaded,
    )
    reserved, seen = memory.reserved(factors), memory.device(factors)
    if device:
        return seen
    return np.select([peaks.measure == 0, peaks.measure == 1], [memory.peak, reserved], seen)


def state_bytes(peaks: Peaks, factors: MemoryFactors) -> Vector:
    """What no setting of the batch can make smaller: weights and states on one GPU, between steps."""
    memory = training_memory(peaks.model, peaks.states, peaks.split, peaks.batch, factors, peaks.adapter)
    held = memory.weights + memory.optimizer
    return np.select([peaks.offloaded == 2, peaks.offloaded == 1], [0 * held, memory.weights], held)


def states_levels(peaks: Peaks, factors: MemoryFactors) -> list[int]:
    """How much of each run's memory are states, as plans tell it."""
    memory = training_memory(peaks.model, peaks.states, peaks.split, peaks.batch, factors, peaks.adapter)
    levels: list[int] = states_level(memory).tolist()
    return levels


def peak_in_row_unit(peaks: Peaks, factors: MemoryFactors) -> Vector:
    """Peak in the unit that each row prints (GB or GiB)."""
    return peak_bytes(peaks, factors) / GIB / peaks.unit


def factor_columns(values: Mapping[str, float], stacks: Sequence[str]) -> MemoryFactors:
    """Factors per run from fitted values: shared ones as numbers, those of the software family as arrays."""
    own = {
        prior.name: np.array([values.get(f"{prior.name}:{stack}", prior.value) for stack in stacks])
        for prior in PER_STACK
    }
    return MemoryFactors(**{prior.name: values.get(prior.name, prior.value) for prior in SHARED}, **own)


def family_factors(values: Mapping[str, float], stack: str) -> Mapping[str, float]:
    """Fitted factors of one software family, as the calibration file keeps them."""
    own = {prior.name: values.get(f"{prior.name}:{stack}", prior.value) for prior in PER_STACK}
    return {**{prior.name: values[prior.name] for prior in SHARED}, **own}


def _priors(peaks: Peaks) -> list[Prior]:
    return [
        *SHARED,
        *(
            Prior(f"{prior.name}:{stack}", prior.value, prior.spread)
            for stack in sorted(set(peaks.stacks))
            for prior in PER_STACK
        ),
    ]


def memory_derivatives(peaks: Peaks, values: Mapping[str, float]) -> Matrix:
    """Of the logarithms of the predicted peaks with respect to the fitted factors."""
    names = [prior.name for prior in _priors(peaks)]

    def logs(point: Vector) -> Vector:
        moved = dict(zip(names, np.exp(point).tolist(), strict=True))
        return np.log(peak_in_row_unit(peaks, factor_columns(moved, peaks.stacks)))

    return derivatives(logs, np.log([values[name] for name in names]))


def fit_memory(
    runs: Sequence[Run], *, keep: NDArray[np.bool_] | None = None, start: Mapping[str, float] | None = None,
    peaks: Peaks | None = None, iterations: int = 30, jacobian: Matrix | None = None,
) -> Mapping[str, float]:  # fmt: skip
    """Fitted factors by name; per software family under 'name:family'. Only runs with a measured peak count.
    `start` and `jacobian` as in `fit_speed`."""
    peaks = peaks or peaks_of(runs)
    priors = _priors(peaks)
    names = [prior.name for prior in priors]
    measured = np.log([run.measured for run in runs])
    size = Counter((run.model, run.gpu, run.stack, run.method) for run in runs)
    weights = np.array([size[run.model, run.gpu, run.stack, run.method] ** -0.5 for run in runs])

    def residuals(point: Vector) -> Vector:
        values = dict(zip(names, np.exp(point).tolist(), strict=True))
        return np.log(peak_in_row_unit(peaks, factor_columns(values, peaks.stacks))) - measured

    prior = np.log([p.value for p in priors])
    first = prior if start is None else np.log([start[name] for name in names])
    best = least_squares(
        residuals, first, prior, np.array([p.spread for p in priors]), weights * (1.0 if keep is None else keep),
        iterations=iterations, jacobian=jacobian,
    )  # fmt: skip
    return dict(zip(names, np.exp(best).tolist(), strict=True))
