"""Predicting the rows of `serving_measured`: runs at a fixed number of requests in flight.

Rows that the shipped constants were fitted on are predicted by a fit without their model on their GPU, so that no
figure here is in-sample; rows of a known model, GPU, engine and format are shifted by what those measured.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from quotes.sizing.evaluation import serving_fit
from quotes.sizing.evaluation.base import Context, PredictedRow, Row
from quotes.sizing.evaluation.serving_rows import (
    Run,
    Table,
    parse_runs,
    predict,
    table_of,
    throughput_per_gpu,
)
from quotes.sizing.serving import evidence
from quotes.sizing.serving.batching import tokens_per_step
from quotes.sizing.serving.calibration import Calibration
from quotes.sizing.serving.intervals import intervals_of
from quotes.sizing.serving.machines import shape_signature, silicon
from quotes.sizing.trace import Badge

type Vector = NDArray[np.float64]

METRICS = ("ttft_ms", "tpot_ms", "output_tokens_s_per_gpu")
# Runs with speculative decoding do not say how many tokens they guessed; two, of which 60 % are right, is usual.
GUESSED, RIGHT = 2.0, 0.6


def predict_rows(rows: list[dict[str, str]], context: Context) -> Iterator[PredictedRow]:
    """Three metrics per row, or a refusal of each."""
    runs, refused = parse_runs(rows, context)
    for row, reason in refused:
        yield from refused_rows(row, reason)
    if runs:
        yield from predictions(runs, context)


class Times(NamedTuple):
    """Predicted milliseconds per run, and whether runs of its model, GPU, engine and format shifted it."""

    ttft_ms: Vector
    tpot_ms: Vector
    seen: NDArray[np.bool_]


def predictions(runs: Sequence[Run], context: Context) -> Iterator[PredictedRow]:
    """Runs in order, with intervals and badges."""
    calibration = context.calibration
    table = with_guesses(table_of(runs, calibration, context.assumptions))
    times = times_of(table, calibration)
    rate = throughput_per_gpu(
        np.asarray(table.load.concurrency, float),
        table.nominal,
        times.ttft_ms,
        times.tpot_ms,
        table.spread.gpus,
    )
    for number, run in enumerate(runs):
        choice, seen = table.choices[number], bool(times.seen[number])
        gpus = run.tp * run.dp
        intervals = intervals_of(calibration, run.engine, choice, seen, run.arch.standard_structure, gpus)
        known = choice.exact and run.arch.standard_structure
        near = known and choice.generation in calibration.serving_generations
        if seen and len(evidence.nearby_rows(evidence_run(run), calibration)):
            badge = Badge.MEASURED
        else:
            badge = Badge.INTERPOLATED if near else Badge.EXTRAPOLATED
        measured = {"ttft_ms": run.ttft_ms, "tpot_ms": run.tpot_ms, "output_tokens_s_per_gpu": _rate(run)}
        values = (times.ttft_ms[number], times.tpot_ms[number], rate[number])
        for metric, value, interval in zip(METRICS, values, intervals, strict=True):
            yield PredictedRow(
                id=run.id,
                metric=metric,
                measured=measured[metric],
                predicted=float(value),
                low=float(value * interval.low),
                high=float(value * interval.high),
                badge=str(badge),
                model=run.model,
                gpu=run.gpu,
                scored=is_scored(run, metric),
            )


def is_scored(run: Run, metric: str) -> bool:
    """Runs past saturation or with inferred speculation do not count, nor first-token times of queues."""
    if run.flags & {"mtp_inferred", "saturated"}:
        return False
    return metric != "ttft_ms" or "ttft_queueing" not in run.flags


def with_guesses(table: Table) -> Table:
    """`table` with speculative decoding in the runs that are thought to have used it."""
    guesses = np.array([GUESSED if "mtp_inferred" in run.flags else 0.0 for run in table.runs])
    load = replace(table.load, drafts=guesses, accepted=tokens_per_step(guesses, RIGHT))
    return replace(table, load=load)


def times_of(table: Table, calibration: Calibration) -> Times:
    """Times by the shipped constants and shifts; for rows that these were made of, by a fit without their pair."""
    runs = table.runs
    predicted = predict(table, calibration)
    shifts = [evidence.shift_of(evidence_run(run), calibration) for run in runs]
    fitted = np.array([is_evidence(run, calibration) for run in runs])
    ttft = predicted.ttft_ms * np.array([shift.ttft for shift in shifts])
    tpot = predicted.tpot_ms * np.array([shift.tpot for shift in shifts])
    seen = np.array([shift.rows > 0 for shift in shifts]) & ~fitted
    if fitted.any():
        pairs = np.array(["|".join(run.pair) for run in runs])
        values, _ = serving_fit.fit(table, calibration, include=fitted)
        for name in sorted(set(pairs[fitted])):
            mine = fitted & (pairs == name)
            rest = fitted & (pairs != name)
            if not rest.any():
                continue
            own = predict(
                table, serving_fit.fit(table, calibration, include=rest, start=values, iterations=6)[1]
            )
            ttft, tpot = np.where(mine, own.ttft_ms, ttft), np.where(mine, own.tpot_ms, tpot)
    return Times(ttft, tpot, seen)


def evidence_run(run: Run) -> evidence.Run:
    """`run` in the terms of the evidence table."""
    return evidence.Run(
        shape=shape_signature(run.arch),
        gpu=silicon(run.accelerator.name, run.accelerator.form_factor),
        engine=run.engine,
        precision=run.form.key,
        tp=run.tp,
        dp=run.dp,
        prompt=run.prompt,
        output=run.output,
        concurrency=run.concurrency,
    )


def is_evidence(run: Run, calibration: Calibration) -> bool:
    """Whether this very run is among the measured rows of the shipped file."""
    near = evidence.nearby_rows(evidence_run(run), calibration)
    rows = (calibration.evidence(int(number)) for number in near)
    return any(
        row.concurrency == run.concurrency
        and row.prompt == round(run.prompt)
        and row.output == round(run.output)
        and abs(row.tpot_ms / (run.tpot_ms or 1.0) - 1) < 1e-3
        for row in rows
    )


def _rate(run: Run) -> float | None:
    """Output tokens per second and GPU, by Little's law."""
    if run.ttft_ms is None or run.tpot_ms is None:
        return None
    one = np.ones(1)
    return float(
        throughput_per_gpu(
            run.concurrency * one,
            run.output * one,
            run.ttft_ms * one,
            run.tpot_ms * one,
            run.tp * run.dp * one,
        )[0]
    )


def refused_rows(row: Row, reason: str) -> Iterator[PredictedRow]:
    """A refusal of each metric of `row`."""
    for metric in METRICS:
        yield PredictedRow(row["id"], metric, None, refused=reason, model=row["model"], gpu=row["gpu"])
