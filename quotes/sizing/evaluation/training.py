"""Evaluators of training_throughput.csv and training_memory.csv."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from quotes.sizing.evaluation.base import Context, PredictedRow, Row
from quotes.sizing.evaluation.training_fit import in_metric
from quotes.sizing.evaluation.training_memory_rows import memory_run
from quotes.sizing.evaluation.training_predict import (
    Predicted,
    fits,
    peaks,
    rates,
    unseen_peaks,
    unseen_rates,
)
from quotes.sizing.evaluation.training_rows import throughput_run
from quotes.sizing.evaluation.training_run import NotInScope, Run
from quotes.sizing.training.calibration import TrainingCalibration, load_training_calibration

ENOUGH_TO_FIT = 200  # rows below which a fit without some of them says nothing
PROJECT_SPREAD = (0.6, 1.6)  # whole projects against steady speed: restarts, evaluations, idle weeks


def predict_throughput_rows(rows: list[dict[str, str]], context: Context) -> Iterator[PredictedRow]:
    """Tokens/s per GPU, TFLOP/s, MFU, minutes or GPU-hours, whichever a row prints."""
    calibration = load_training_calibration()
    known = []
    for row in rows:
        try:
            known.append((row, throughput_run(row, context.catalog)))
        except NotInScope as reason:
            yield _refused(row, "value", float(row["value"]), str(reason))
    runs = [run for _, run in known]
    for (row, run), rate in zip(known, _honest(runs, "speed", rates, unseen_rates, calibration), strict=True):
        project = context.assumptions.training_project_fraction
        ends = sorted(in_metric(run, value, project_fraction=project) for value in (rate.low, rate.high))
        spread = PROJECT_SPREAD if run.metric == "gpu_hours" else (1.0, 1.0)
        yield PredictedRow(
            id=row["id"], metric="value", measured=float(row["value"]),
            predicted=in_metric(run, rate.value, project_fraction=project), low=ends[0] * spread[0],
            high=ends[1] * spread[1], badge=str(rate.badge), model=run.model, gpu=row["gpu"],
        )  # fmt: skip


def predict_memory_rows(rows: list[dict[str, str]], context: Context) -> Iterator[PredictedRow]:
    """Peak memory where a row has one, and the verdict where its GPU is known."""
    calibration = load_training_calibration()
    known: list[tuple[Row, Run]] = []
    for row in rows:
        measured = float(row["peak_mem_gib_per_gpu"]) if row["peak_mem_gib_per_gpu"] else None
        try:
            known.append((row, memory_run(row, context.catalog)))
        except NotInScope as reason:
            if measured is not None:
                yield _refused(row, "peak_mem_gib_per_gpu", measured, str(reason))
            yield _refused(row, "outcome", row["outcome"], str(reason))
    yield from _memory_rows(known, calibration)


def _memory_rows(known: list[tuple[Row, Run]], calibration: TrainingCalibration) -> Iterator[PredictedRow]:
    runs = [run for _, run in known]
    if not runs:
        return
    seen = peaks(runs, calibration)
    honest = _honest(runs, "memory", peaks, unseen_peaks, calibration)
    scales = [peak.value / other.value for peak, other in zip(honest, seen, strict=True)]
    for (row, run), peak, fit in zip(known, honest, fits(runs, calibration, scales), strict=True):
        about = partial(PredictedRow, id=row["id"], badge=str(peak.badge), model=run.model, gpu=row["gpu"])
        if run.measured:
            yield about(
                metric="peak_mem_gib_per_gpu", measured=run.measured, predicted=peak.value, low=peak.low,
                high=peak.high,
            )  # fmt: skip
        if run.gpu == "unknown":
            yield _refused(row, "outcome", row["outcome"], "the GPU is not named, so its memory is not known")
        elif not np.isfinite(fit.needed_gib):
            yield _refused(row, "outcome", row["outcome"], "the memory cannot be computed")
        else:
            yield about(metric="outcome", measured=row["outcome"], predicted=fit.verdict)


type Predictor = Callable[[Sequence[Run], TrainingCalibration], list[Predicted]]


def _honest(
    runs: Sequence[Run],
    quantity: str,
    shipped: Predictor,
    unseen: Predictor,
    calibration: TrainingCalibration,
) -> list[Predicted]:
    """Predictions that have not seen what they predict: rows that the shipped factors were fitted on come from a fit
    without their model on their GPU. A handful of such rows cannot be fitted anew; they keep the shipped factors."""
    found = shipped(runs, calibration)
    fitted = set(calibration.fitted.get(quantity, ()))
    chosen = [index for index, run in enumerate(runs) if run.id in fitted]
    if len(chosen) >= ENOUGH_TO_FIT:
        for index, better in zip(chosen, unseen([runs[index] for index in chosen], calibration), strict=True):
            found[index] = better
    return found


def _refused(row: Row, metric: str, measured: float | str | None, reason: str) -> PredictedRow:
    return PredictedRow(
        id=row["id"], metric=metric, measured=measured, refused=reason, model=row["model"], gpu=row["gpu"]
    )
