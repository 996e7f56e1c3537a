"""The measured runs nearest to a predicted one: they decide the badge and are shown beside the figure."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from catalog.quantity import Quantity
from quotes.sizing.calibration import Calibration, MeasuredRow
from quotes.sizing.trace import Badge, Evidence

NEARBY = 2.0  # a measured run within this factor in load, prompt and answer is nearby
SHOWN = 3


@dataclass(frozen=True, slots=True)
class Run:
    """What is being predicted, in the terms of the measured rows."""

    shape: str  # `machines.shape_signature`
    gpu: str  # `machines.silicon`
    engine: str
    precision: str
    tp: int
    dp: int
    prompt: float
    output: float
    concurrency: float  # per replica


def badge_for(run: Run, calibration: Calibration, *, interpolates: bool) -> tuple[Badge, int]:
    """Measured when a nearby run of the same model, GPU and format exists, with how many; else interpolated when
    `interpolates`; else extrapolated."""
    count = len(nearby_rows(run, calibration))
    if count:
        return Badge.MEASURED, count
    return (Badge.INTERPOLATED if interpolates else Badge.EXTRAPOLATED), 0


def nearby_rows(run: Run, calibration: Calibration) -> NDArray[np.intp]:
    """Indices of evidence rows of the same model shape, GPU, format and layout at a load within a factor of two."""
    table = calibration.evidence_table
    start, stop = table.groups.get((run.shape, run.gpu), (0, 0))
    if start == stop:
        return np.zeros(0, np.intp)
    part = slice(start, stop)
    near = (table.precision[part] == run.precision) & (table.gpus[part] == run.tp * run.dp)
    wanted = np.log([max(run.prompt, 1), max(run.output, 1), max(run.concurrency, 1)])
    near &= (np.abs(table.logs[part] - wanted) <= np.log(NEARBY) + 1e-9).all(axis=1)
    return np.flatnonzero(near) + start


def nearest_evidence(run: Run, calibration: Calibration, metric: str) -> tuple[Evidence, ...]:
    """The measured rows most like `run`, nearest first; `metric` is ttft, tpot or throughput."""
    table = calibration.evidence_table
    if not len(table.logs):
        return ()
    wanted = np.log([max(run.prompt, 1), max(run.output, 1), max(run.concurrency, 1)])
    distance = np.abs(table.logs - wanted).sum(axis=1)
    distance += 6.0 * (table.shape != run.shape) + 3.0 * (table.gpu != run.gpu)
    distance += 1.0 * (table.precision != run.precision) + 0.5 * (table.engine != run.engine)
    distance += np.abs(np.log(table.gpus / (run.tp * run.dp)))
    order = np.argsort(distance, kind="stable")[:SHOWN]
    return tuple(_evidence(calibration.evidence[number], metric) for number in order)


def _evidence(row: MeasuredRow, metric: str) -> Evidence:
    gpus = row.tp * row.dp
    if metric == "ttft":
        value = Quantity(value=row.ttft_ms / 1000, unit="s")
    elif metric == "tpot":
        value = Quantity(value=1000 / row.tpot_ms, unit="tokens/s")
    else:
        seconds = (row.ttft_ms + row.output * row.tpot_ms) / 1000
        value = Quantity(value=row.concurrency * row.output / seconds / gpus, unit="tokens/s")
    text = (
        f"{row.model}, {row.precision.upper()}, {gpus} × {row.gpu}, {row.engine}, "
        f"{row.prompt:g} → {row.output:g} tokens, {row.concurrency:g} requests"
    )
    return Evidence(description=text, value=value, source=row.source)
