"""Predicting published runs by fits that have not seen them nor anything of their group (conformal over groups)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from quotes.sizing.evaluation.training_fit import (
    SpeedFit,
    Table,
    fit_speed,
    observed_rate,
    speed_derivatives,
    speed_seconds,
    table_of,
)
from quotes.sizing.evaluation.training_peaks import (
    factor_columns,
    fit_memory,
    memory_derivatives,
    peak_in_row_unit,
    peaks_of,
)
from quotes.sizing.evaluation.training_run import Run
from quotes.sizing.training.calibration import Quantity
from quotes.sizing.training.evidence import Subject, distances, shifts
from quotes.sizing.training.evidence import Table as Subjects
from quotes.sizing.training.evidence import table_of as subject_table
from quotes.sizing.training.model import trained_model

type Vector = NDArray[np.float64]
type Mask = NDArray[np.bool_]

TYPICAL = "typical"  # software that a planned job is assumed to run: the middle of the current families
CURRENT = ("fsdp_compiled", "torchtitan", "automodel", "llm_foundry", "hf_fused", "megatron")
CURRENT_MEMORY = ("hf", "hf_fused", "torchtitan", "torchtune", "fsdp_qlora")
TYPICAL_STEP_S = 0.03
LEVELS = (0.4, 1.0, 2.0)  # evidence weight: little, some, much
WARM_ITERATIONS = 5


# ── subjects ────────────────────────────────────────────────────────────────────────────────────────────────────


def subject_of_run(run: Run, stack: str | None = None) -> Subject:
    return Subject(
        model=run.model, params_b=trained_model(run.arch).params / 1e9, expert=run.is_moe, gpu=run.hardware.name,
        generation=run.hardware.generation, stack=stack or run.stack, method=run.method, precision=run.precision,
        sharding=run.sharding, sequence_tokens=run.sequence_tokens, gpus=run.gpus,
        software_age_months=run.software_age_months,
    )  # fmt: skip


def series_counts(runs: Sequence[Run]) -> Vector:
    """How many rows of one model, GPU, software and method there are: a long table must not outvote a short one."""
    keys = [(run.model, run.gpu, run.stack, run.method) for run in runs]
    size = Counter(keys)
    return np.array([size[key] for key in keys], float)


def pairs_of(runs: Sequence[Run]) -> list[tuple[str, str]]:
    return [(run.model, run.gpu) for run in runs]


def ways_of(runs: Sequence[Run]) -> list[Sequence[object]]:
    """Groups to leave out: pairs of model and GPU first, then whole models, GPUs and software families."""
    return [
        pairs_of(runs),
        [run.model for run in runs],
        [run.gpu for run in runs],
        [run.stack for run in runs],
    ]


def _take(subjects: Subjects, mask: Mask) -> Subjects:
    return Subjects(subjects.names[mask], subjects.numbers[mask])


# ── leaving groups out ──────────────────────────────────────────────────────────────────────────────────────────


class LeftOut(NamedTuple):
    """Errors (log of measured over predicted) of rows predicted without their group, and what evidence was near."""

    known: Vector  # software family known
    planned: Vector  # not known
    evidence: Vector  # weight of the evidence, software family known
    nearest: Vector  # distance of the nearest run that was not left out
    bare: Vector  # without the shift by evidence


def speed_left_out(runs: Sequence[Run], full: SpeedFit, groups: Sequence[object]) -> LeftOut:
    """Every group of `groups` predicted by a fit on the others."""
    table, rates = table_of(runs), np.array([observed_rate(run) for run in runs])
    jacobian = speed_derivatives(table, full)
    anonymous = table._replace(stacks=(TYPICAL,) * len(runs))

    def errors(left: Mask) -> tuple[Vector, Vector]:
        fit = fit_speed(
            runs, rates, table=table, start=full, iterations=WARM_ITERATIONS, keep=~left, jacobian=jacobian
        )
        return speed_errors(table, fit, rates), speed_errors(anonymous, with_typical(fit), rates)

    return _left_out("speed", runs, groups, errors)


def memory_left_out(runs: Sequence[Run], full: Mapping[str, float], groups: Sequence[object]) -> LeftOut:
    peaks, measured = peaks_of(runs), np.log([run.measured for run in runs])
    jacobian = memory_derivatives(peaks, full)

    def errors(left: Mask) -> tuple[Vector, Vector]:
        values = fit_memory(
            runs, peaks=peaks, keep=~left, start=full, iterations=WARM_ITERATIONS, jacobian=jacobian
        )
        known = measured - np.log(peak_in_row_unit(peaks, factor_columns(values, peaks.stacks)))
        typical = factor_columns(with_typical_memory(values), (TYPICAL,) * len(runs))
        return known, measured - np.log(peak_in_row_unit(peaks, typical))

    return _left_out("memory", runs, groups, errors)


def _left_out(
    quantity: Quantity,
    runs: Sequence[Run],
    groups: Sequence[object],
    errors: Callable[[Mask], tuple[Vector, Vector]],
) -> LeftOut:
    named = subject_table([subject_of_run(run) for run in runs])
    anonymous = subject_table([subject_of_run(run, TYPICAL) for run in runs])
    counts = series_counts(runs)
    result = LeftOut(*(np.zeros(len(runs)) for _ in LeftOut._fields))
    for group in dict.fromkeys(groups):
        left = np.array([other == group for other in groups])
        kept = ~left
        known, planned = errors(left)
        rest, weights = _take(named, kept), counts[kept]
        result.bare[left] = known[left]
        result.known[left] = known[left] - shifts(_take(named, left), rest, known[kept], weights, quantity)
        result.planned[left] = planned[left] - shifts(
            _take(anonymous, left), rest, known[kept], weights, quantity
        )
        far = distances(_take(named, left), rest)
        result.evidence[left] = (np.exp(-far) * weights**-0.7).sum(axis=1)
        result.nearest[left] = far.min(axis=1)
    return result


def speed_errors(table: Table, fit: SpeedFit, rates: Vector) -> Vector:
    return np.log(rates * speed_seconds(table, fit).total)


def with_typical(fit: SpeedFit) -> SpeedFit:
    """The fit with one more software family: the middle of the current ones."""
    moved = median(fit.value(f"moved:{name}", 3.0) for name in CURRENT if f"moved:{name}" in fit.where)
    names = (*fit.names, f"moved:{TYPICAL}", f"step:{TYPICAL}")
    point = np.append(fit.point, np.log([moved, TYPICAL_STEP_S]))
    return SpeedFit(names, point, {name: index for index, name in enumerate(names)})


def with_typical_memory(values: Mapping[str, float]) -> Mapping[str, float]:
    middle = {
        f"{name}:{TYPICAL}": median(
            values[key] for stack in CURRENT_MEMORY if (key := f"{name}:{stack}") in values
        )
        for name in ("kept", "working_layers")
    }
    return {**values, **middle}


def level_of(evidence: float) -> int:
    """How much evidence stands near, 0 (little) to 3 (much)."""
    return int(np.searchsorted(LEVELS, evidence, side="right"))
