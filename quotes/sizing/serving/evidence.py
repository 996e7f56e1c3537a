"""The measured runs nearest to a predicted one: they shift it, decide its badge and are shown beside the figure."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from catalog.quantity import Quantity
from quotes.sizing.serving.calibration import Calibration, MeasuredRow
from quotes.sizing.trace import Badge, Evidence

NEARBY = 2.0  # a measured run within this factor in load, prompt and answer is nearby
SHOWN = 3
# How a measured deviation fades with distance, in natural logarithms of GPUs, prompt and answer; the weight of not
# knowing better; the largest deviation that counts. Chosen by leaving configurations out of the measured runs.
FADING = np.array([0.5, 0.7, 0.7])
DOUBT = 0.3
LARGEST_SHIFT = 0.6


@dataclass(frozen=True, slots=True)
class Run:
    """What is being predicted, in the terms of the measured rows."""

    shape: str  # `serving.machines.shape_signature`
    gpu: str  # `serving.machines.silicon`
    engine: str
    precision: str
    tp: int
    dp: int
    prompt: float
    output: float
    concurrency: float  # per replica


class Shift(NamedTuple):
    """Factors on a prediction from what runs of the same model, GPU, engine and format measured, and how many of them
    timed tokens and first tokens."""

    ttft: float = 1.0
    tpot: float = 1.0
    rows: int = 0
    first_rows: int = 0


NOTHING_MEASURED = Shift()


def shift_of(run: Run, calibration: Calibration) -> Shift:
    """The mean deviation of measured runs from their predictions, weighted by nearness in GPUs, prompt and answer.

    The load does not enter: a shift that changed with the load could make a busier service look smaller.
    """
    if (run.shape, run.gpu) not in calibration.evidence_table.groups:
        return NOTHING_MEASURED
    key = (run.shape, run.gpu, run.engine, run.precision, run.tp * run.dp, run.prompt, run.output)
    shift: Shift = _remembered(calibration, key, lambda: _shift_of(run, calibration))
    return shift


REMEMBERED = 4096  # answers kept; every service asks for its own


def _remembered(calibration: Calibration, key: Hashable, make: Callable[[], Any]) -> Any:
    known = calibration.shifts
    if key not in known:
        if len(known) >= REMEMBERED:
            known.clear()
        known[key] = make()
    return known[key]


def _shift_of(run: Run, calibration: Calibration) -> Shift:
    table = calibration.evidence_table
    rows = table.part(run.shape, run.gpu, run.engine, run.precision)
    if not len(rows):
        return NOTHING_MEASURED
    place = np.column_stack([np.log(table.gpus[rows]), table.logs[rows, :2]])
    wanted = np.log([run.tp * run.dp, max(run.prompt, 1), max(run.output, 1)])
    near = np.exp(-(np.abs(place - wanted) / FADING).sum(axis=1))
    return Shift(
        float(np.exp(fading_mean(table.ttft_x[rows], near))),
        float(np.exp(fading_mean(table.tpot_x[rows], near))),
        int((table.tpot_x[rows] > 0).sum()),
        int((table.ttft_x[rows] > 0).sum()),
    )


def fading_mean(factors: NDArray[np.float64], near: NDArray[np.float64]) -> float:
    """Mean logarithm of `factors` (those above 0) with weights `near`, drawn towards 0 by `DOUBT`."""
    known = factors > 0
    logs = np.clip(np.log(np.where(known, factors, 1.0)), -LARGEST_SHIFT, LARGEST_SHIFT)
    weight = near * known
    return float((weight * logs).sum() / (weight.sum() + DOUBT))


class Badges(NamedTuple):
    """How near the first token and the tokens after it are to measurements; how many runs are nearby."""

    first: Badge
    rate: Badge
    runs: int = 0


def badges_for(run: Run, calibration: Calibration, *, served: bool, tabled: bool) -> Badges:
    """Measured when a nearby run of the same model, GPU and format exists; else interpolated where runs of its kind
    were `served`, and the rate alone where only its throughput was `tabled`; else extrapolated."""
    count = len(nearby_rows(run, calibration))
    if count:
        return Badges(Badge.MEASURED, Badge.MEASURED, count)
    first = Badge.INTERPOLATED if served else Badge.EXTRAPOLATED
    return Badges(first, Badge.INTERPOLATED if tabled else first)


def nearby_rows(run: Run, calibration: Calibration) -> NDArray[np.intp]:
    """Indices of measured runs of the same model shape, GPU, engine, format and layout at a load within a factor of
    two. Runs that timed only first tokens do not count."""
    table = calibration.evidence_table
    rows = table.part(run.shape, run.gpu, run.engine, run.precision)
    if not len(rows):
        return rows
    wanted = np.log([max(run.prompt, 1), max(run.output, 1), max(run.concurrency, 1)])
    near = (table.gpus[rows] == run.tp * run.dp) & (table.tpot_x[rows] > 0)
    near &= (np.abs(table.logs[rows] - wanted) <= np.log(NEARBY) + 1e-9).all(axis=1)
    return rows[near]


def nearest_evidence(run: Run, calibration: Calibration, metric: str) -> tuple[Evidence, ...]:
    """The measured rows most like `run`, nearest first; `metric` is ttft, tpot or throughput."""
    key = (run, metric)
    rows = _remembered(calibration, key, lambda: _nearest_rows(run, calibration, metric))
    return tuple(_evidence(row, calibration, metric) for row in rows)


def _nearest_rows(run: Run, calibration: Calibration, metric: str) -> tuple[MeasuredRow, ...]:
    table = calibration.evidence_table
    # A published run states both times, also where a queue makes one useless to compare with; one's own may lack one.
    stated = (table.ttft_ms > 0) | (metric == "tpot")
    stated &= (table.tpot_ms > 0) | (metric == "ttft")
    wanted = np.log([max(run.prompt, 1), max(run.output, 1), max(run.concurrency, 1)])
    distance = np.abs(table.logs - wanted).sum(axis=1) + np.abs(np.log(table.gpus / (run.tp * run.dp)))
    distance += 1.0 * (table.precision != run.precision) + 0.5 * (table.engine != run.engine)
    strange = np.full(len(distance), 9.0)
    for (shape, gpu), (start, stop) in table.groups.items():
        strange[start:stop] = 6.0 * (shape != run.shape) + 3.0 * (gpu != run.gpu)
    order = np.argsort(np.where(stated, distance + strange, np.inf), kind="stable")[
        : min(SHOWN, stated.sum())
    ]
    return tuple(calibration.evidence(int(number)) for number in order)


def _evidence(row: MeasuredRow, calibration: Calibration, metric: str) -> Evidence:
    gpus = row.tp * row.dp
    if metric == "ttft":
        value = Quantity(value=row.ttft_ms / 1000, unit="s")
    elif metric == "tpot":
        value = Quantity(value=1000 / row.tpot_ms, unit="tokens/s")
    else:
        seconds = (row.ttft_ms + row.output * row.tpot_ms) / 1000
        value = Quantity(value=row.concurrency * row.output / seconds / gpus, unit="tokens/s")
    text = (
        f"{row.model}, {row.precision.upper()}, {gpus} × {row.gpu.replace('_', ' ').upper()}, {row.engine}, "
        f"{row.concurrency:g} × ({row.prompt:g} → {row.output:g} tokens)"
    )
    own = calibration.first_own_source is not None and row.source >= calibration.first_own_source
    return Evidence(description=text, value=value, source=calibration.sources[row.source], own=own)
