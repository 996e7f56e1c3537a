"""How well training is predicted for what the fit has not seen: pairs, models, GPUs and software left out."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from quotes.sizing.evaluation.accuracy import Cross
from quotes.sizing.evaluation.base import Row
from quotes.sizing.evaluation.report import Errors
from quotes.sizing.evaluation.training_calibrate import memory_runs, speed_runs
from quotes.sizing.evaluation.training_fit import fit_speed, observed_rate
from quotes.sizing.evaluation.training_left_out import memory_left_out, pairs_of, speed_left_out
from quotes.sizing.evaluation.training_peaks import fit_memory
from quotes.sizing.evaluation.training_run import Run

type Vector = NDArray[np.float64]
type Mask = NDArray[np.bool_]

PAIR = "model on GPU"
GOALS: Mapping[str, tuple[float, float]] = {"dense": (8, 25), "experts": (20, 45), "memory": (8, 25)}


def cross_validation(throughput: Sequence[Row], memory: Sequence[Row]) -> list[Cross]:
    """Errors of tokens/s per GPU, dense models and mixtures of experts apart, and of peak memory."""
    runs = speed_runs(throughput)
    fit = fit_speed(runs, np.array([observed_rate(run) for run in runs]))
    experts = np.array([run.is_moe for run in runs])
    found = []
    for name, labels in _groups(runs).items():
        errors = speed_left_out(runs, fit, labels).known
        found.append(_cross(name, "training tokens/s, dense", errors[~experts], "dense"))
        found.append(_cross(name, "training tokens/s, mixture of experts", errors[experts], "experts"))
    runs = memory_runs(memory)
    factors = fit_memory(runs)
    for name, labels in _groups(runs).items():
        errors = memory_left_out(runs, factors, labels).known
        found.append(_cross(name, "training peak memory", errors, "memory"))
    return found


def _groups(runs: Sequence[Run]) -> Mapping[str, Sequence[object]]:
    return {
        PAIR: pairs_of(runs),
        "model": [run.model for run in runs],
        "GPU": [run.gpu for run in runs],
        "GPU generation": [run.hardware.generation for run in runs],
        "software": [run.stack for run in runs],
    }


def _cross(left_out: str, metric: str, errors: Vector, goal: str) -> Cross:
    """`errors` are logarithms of measured over predicted; the goals are about pairs."""
    off = 100 * (np.exp(-errors) - 1)
    summary = Errors(
        rows=errors.size,
        median_pct=float(np.median(np.abs(off))),
        p90_pct=float(np.percentile(np.abs(off), 90)),
        bias_pct=float(np.median(off)),
        coverage_pct=None,
    )
    return Cross(left_out, metric, summary, GOALS[goal] if left_out == PAIR else None)
