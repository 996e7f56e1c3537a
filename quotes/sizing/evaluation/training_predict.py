"""Predictions for typed training runs from the shipped calibration, with interval and badge."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quotes.sizing.evaluation.training_fit import fit_speed, observed_rate, table_of, time_table
from quotes.sizing.evaluation.training_left_out import (
    LEVELS,
    LeftOut,
    level_of,
    memory_left_out,
    pairs_of,
    speed_left_out,
    subject_of_run,
)
from quotes.sizing.evaluation.training_peaks import (
    Peaks,
    fit_memory,
    peak_bytes,
    peak_in_row_unit,
    peaks_of,
    state_bytes,
)
from quotes.sizing.evaluation.training_run import Run
from quotes.sizing.trace import Badge
from quotes.sizing.training.calibration import Quantity, Residual, TrainingCalibration
from quotes.sizing.training.evidence import distances, known_runs, shift_of
from quotes.sizing.training.evidence import table_of as subject_table
from quotes.sizing.training.memory import GIB, MemoryFactors

type Vector = NDArray[np.float64]
type Verdict = Literal["fits", "tight", "oom"]

USABLE = 0.97  # of the card before fragmentation ends a run
SAME = 0.5  # distance within which a published run counts as the same thing measured


class Predicted(NamedTuple):
    """A predicted value with its 80 % interval and how near the evidence is."""

    value: float
    low: float
    high: float
    badge: Badge


def _badge(nearest: float, evidence: float) -> Badge:
    if nearest <= SAME:
        return Badge.MEASURED
    return Badge.INTERPOLATED if evidence >= LEVELS[0] else Badge.EXTRAPOLATED


def _with_interval(value: float, residual: Residual, badge: Badge) -> Predicted:
    return Predicted(value, value * residual.low, value * residual.high, badge)


def _around(
    runs: Sequence[Run], values: Vector, quantity: Quantity, calibration: TrainingCalibration,
    *, spread: Quantity | None = None,
) -> list[Predicted]:  # fmt: skip
    """Values shifted by the evidence near each run, with the interval of its regime (of `spread` when given)."""
    subjects = [subject_of_run(run) for run in runs]
    values = values * shift_of(calibration.evidence, quantity, subjects)
    known = known_runs(calibration.evidence, quantity)
    if not known.runs:
        return [_with_interval(value, calibration.interval(quantity), Badge.EXTRAPOLATED) for value in values]
    far = distances(subject_table(subjects), known.table)
    evidence = (np.exp(-far) * known.counts**-0.7).sum(axis=1)
    result = []
    for run, value, nearest, weight in zip(runs, values, far.min(axis=1), evidence, strict=True):
        kind = "expert" if run.is_moe else "dense"
        residual = calibration.interval(spread or quantity, f"{kind} {level_of(weight)}", kind)
        result.append(_with_interval(float(value), residual, _badge(float(nearest), float(weight))))
    return result


def rates(runs: Sequence[Run], calibration: TrainingCalibration) -> list[Predicted]:
    """Tokens/s per GPU of each run."""
    table = table_of(runs)
    stacks = [calibration.stack(name) for name in table.stacks]
    generations = [calibration.rates(name) for name in table.generations]
    time = time_table(
        table,
        np.array([rate.product(kind) for rate, kind in zip(generations, table.precisions, strict=True)]),
        np.array([rate.attention * stack.kernels for rate, stack in zip(generations, stacks, strict=True)]),
        np.array([stack.moved for stack in stacks]),
        np.array([stack.step_s for stack in stacks]),
        calibration.speed,
    )
    return _around(runs, 1 / time.total, "speed", calibration)


def _columns(peaks: Peaks, calibration: TrainingCalibration) -> MemoryFactors:
    each = [calibration.memory_factors(name) for name in peaks.stacks]
    return MemoryFactors(*(np.array(field, float) for field in zip(*each, strict=True)))


def peaks(runs: Sequence[Run], calibration: TrainingCalibration) -> list[Predicted]:
    """Peak memory of one GPU in the unit that each row prints."""
    table = peaks_of(runs)
    return _around(runs, peak_in_row_unit(table, _columns(table, calibration)), "memory", calibration)


class Fit(NamedTuple):
    """Whether a run fits: memory that the driver would see against what the card has, GiB."""

    verdict: Verdict
    needed_gib: float


def fits(
    runs: Sequence[Run], calibration: TrainingCalibration, scales: Sequence[float] | None = None
) -> list[Fit]:
    """Verdicts: fits when the upper end of the interval does, out of memory when even the lower end does not.
    `scales` corrects each prediction, for a run that the shipped factors must not have seen."""
    table = peaks_of(runs)
    factors = _columns(table, calibration)
    device = peak_bytes(table, factors, device=True) / GIB
    states = (state_bytes(table, factors) / GIB).tolist()
    found = _around(runs, device * (scales or 1.0), "memory", calibration, spread="device")
    return [
        Fit(verdict(need, least, run.hardware.memory_gib), need.value)
        for run, need, least in zip(runs, found, states, strict=True)
    ]


# ── rows that the shipped factors were fitted on ────────────────────────────────────────────────────────────────


def unseen_rates(runs: Sequence[Run], calibration: TrainingCalibration) -> list[Predicted]:
    """Tokens/s per GPU of fitted runs, each by a fit without its model on its GPU."""
    measured = np.array([observed_rate(run) for run in runs])
    left = speed_left_out(runs, fit_speed(runs, measured), pairs_of(runs))
    return _unseen(runs, measured, left, "speed", calibration)


def unseen_peaks(runs: Sequence[Run], calibration: TrainingCalibration) -> list[Predicted]:
    """Peak memory of fitted runs, each by a fit without its model on its GPU."""
    measured = np.array([run.measured for run in runs])
    left = memory_left_out(runs, fit_memory(runs), pairs_of(runs))
    return _unseen(runs, measured, left, "memory", calibration)


def _unseen(
    runs: Sequence[Run], measured: Vector, left: LeftOut, quantity: Quantity, calibration: TrainingCalibration
) -> list[Predicted]:
    found = []
    values = measured * np.exp(-left.known)
    for run, value, nearest, weight in zip(runs, values, left.nearest, left.evidence, strict=True):
        kind = "expert" if run.is_moe else "dense"
        residual = calibration.interval(quantity, f"{kind} {level_of(float(weight))}", kind)
        found.append(_with_interval(float(value), residual, _badge(float(nearest), float(weight))))
    return found


def verdict(needed: Predicted, states_gib: float, capacity_gib: float) -> Verdict:
    """`states_gib` are exact arithmetic: where they alone do not fit, no interval helps."""
    if states_gib > capacity_gib:
        return "oom"
    if needed.high <= capacity_gib * USABLE:
        return "fits"
    return "oom" if needed.low > capacity_gib else "tight"
