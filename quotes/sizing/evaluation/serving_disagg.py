"""Predicting the rows of `serving_measured_disagg`: prompts and answers computed by workers of their own.

What the rows tell enough about is predicted: the time per token where the workers are counted. A closed network of
prompt and answer workers says how many answers are written at once. The time to the first token is not: see `PLACE`.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from quotes.sizing.evaluation.base import Context, PredictedRow, Row
from quotes.sizing.evaluation.conditions import Conditions
from quotes.sizing.evaluation.names import OutOfScope
from quotes.sizing.evaluation.serving_rows import Run, constants_for, parse_runs, table_of
from quotes.sizing.serving.forward import decode_seconds, prefill_seconds
from quotes.sizing.serving.intervals import intervals_of
from quotes.sizing.serving.split import WIDER, AnswerStation, Circling, PromptStation, circling
from quotes.sizing.trace import Badge

type Vector = NDArray[np.float64]

SINGLE_WORKER_REQUESTS = 64  # a run that leaves its count of workers open and has so few requests has one
LATE_MS = 2500  # a mean time to first token beyond this is a wait, so that batches were not full
PLACE = (
    "The wait for a place on an answer worker is not predicted: how many answers a worker runs together is a setting of"
    " its launch that the row does not state."
)
LOAD = "The row does not state how many requests were in flight."
BATCH = (
    "The row states neither how many decode workers shared the load nor whether they guessed tokens ahead."
)


def predict_rows(rows: list[dict[str, str]], context: Context) -> Iterator[PredictedRow]:
    """Times per token where the workers are counted; everything else with the reason why not."""
    halves, refused = parse_halves(rows, context)
    for row in rows:
        yield _refused(row, "ttft_ms", PLACE)
    for out, reason in refused:
        yield _refused(out, "tpot_ms", reason)
    if not halves:
        return
    choices = table_of([half.answers for half in halves], context.calibration, context.assumptions).choices
    for half, choice, seconds in zip(halves, choices, circles(halves, context).step_s, strict=True):
        run, milliseconds = half.answers, float(seconds) * 1e3
        interval = intervals_of(
            context.calibration, run.engine, choice, False, run.arch.standard_structure, run.tp * run.dp
        )[1]
        yield PredictedRow(
            id=run.id,
            metric="tpot_ms",
            measured=run.tpot_ms,
            predicted=milliseconds,
            low=milliseconds * interval.low**WIDER,
            high=milliseconds * interval.high**WIDER,
            badge=str(Badge.INTERPOLATED if choice.exact else Badge.EXTRAPOLATED),
            model=run.model,
            gpu=run.gpu,
        )


def _refused(row: Row, metric: str, reason: str) -> PredictedRow:
    measured = float(row[metric]) if row[metric] else np.nan
    return PredictedRow(row["id"], metric, measured, refused=reason, model=row["model"], gpu=row["gpu"])


# ── both kinds of workers of one run ────────────────────────────────────────────────────────────────────────────


class Halves(NamedTuple):
    """One run: a worker of each kind with its share of the requests, and how many there are of it."""

    prompts: Run
    answers: Run
    requests: float
    prompt_workers: float  # infinite when they are not counted: no wait can be told
    answer_workers: float


def parse_halves(rows: Iterable[Row], context: Context) -> tuple[list[Halves], list[tuple[Row, str]]]:
    """Runs that can be predicted, and (row, reason) of those that cannot."""
    found: list[Halves] = []
    refused: list[tuple[Row, str]] = []
    for row in rows:
        try:
            found.append(halves_of(row, context))
        except OutOfScope as reason:
            refused.append((row, str(reason)))
    return found, refused


def halves_of(row: Row, context: Context) -> Halves:
    """Both workers of `row`. Raises OutOfScope with a sentence when their load is not known or they are not sized."""
    if not row["concurrency"]:
        raise OutOfScope(LOAD)
    batch = decode_batch(row)
    if batch is None:
        raise OutOfScope(BATCH)
    requests, workers = float(row["concurrency"]), float(row["prefill_workers"] or 0) or np.inf
    prompts = _worker(row, "prefill", max(1.0, requests / workers), context)
    return Halves(prompts, _worker(row, "decode", batch, context), requests, workers, requests / batch)


def _worker(row: Row, kind: str, requests: float, context: Context) -> Run:
    """One worker as a run of its own, with no prompts between its steps and no setting of an undivided engine."""
    shaped = {
        **row, "tp": row[f"{kind}_tp"], "dp": row[f"{kind}_dp"], "pp": row[f"{kind}_pp"], "concurrency": str(requests),
        "ep": str(max(1, int(row[f"{kind}_ep"] or 1))), "spec_decode": "none", "flags": "", "kv_precision": "fp8",
    }  # fmt: skip
    runs, refused = parse_runs([shaped], context)
    if refused:
        raise OutOfScope(refused[0][1])
    conditions = Conditions(length_factor=runs[0].conditions.length_factor)
    return runs[0]._replace(alone=True, campaign=f"{runs[0].campaign}|{kind} worker", conditions=conditions)


def circles(halves: Sequence[Halves], context: Context) -> Circling:
    """The steady state of each run, as a benchmark with a fixed number of requests in flight sees it."""
    reading = table_of([half.prompts for half in halves], context.calibration, context.assumptions)
    writing = table_of([half.answers for half in halves], context.calibration, context.assumptions)
    constants = constants_for(reading, context.calibration)
    over, sched = constants.over, constants.sched
    prompt, output = np.asarray(reading.load.prompt, float), np.asarray(writing.load.output, float)
    alone = prefill_seconds(reading.shape, reading.machine, over, reading.spread, 1.0, prompt)
    most = np.maximum(1.0, np.asarray(reading.load.concurrency) / reading.spread.dp)
    together = np.clip(sched.chunk_tokens / prompt, 1.0, most)
    batched = prefill_seconds(reading.shape, reading.machine, over, reading.spread, together, prompt)
    answering = constants_for(writing, context.calibration).over
    workers = np.array([half.answer_workers for half in halves])

    def step(batch: Vector) -> Vector:
        held = np.maximum(batch, 1.0)
        return decode_seconds(
            writing.shape, writing.machine, answering, writing.spread, held, prompt + output / 2
        )

    prompt_s = batched / (together * reading.spread.dp)
    counted = np.array([half.prompt_workers for half in halves])
    uncounted = np.isinf(counted)
    return circling(
        np.array([half.requests for half in halves]),
        PromptStation(
            np.where(uncounted, 1.0, counted),
            np.where(uncounted, 0.0, prompt_s),
            sched.first_s + sched.first_gpu_s * (reading.spread.gpus - 1) + alone,
        ),
        AnswerStation(workers, output, step, writing.load.capacity, sched.first_steps),
    )


def decode_batch(row: Row) -> float | None:
    """Requests in flight per decode worker, all its attention replicas together; None when nothing tells. The column
    of that name holds a limit of one attention replica, reached or not."""
    if not row["concurrency"]:
        return None
    if float(row["decode_workers"] or 0) > 0:
        return float(row["concurrency"]) / float(row["decode_workers"])
    few = float(row["concurrency"]) <= SINGLE_WORKER_REQUESTS
    single = row["prefill_tp"] == "1" and not row["prefill_workers"] and row["decode_tp"] == "4"
    return float(row["concurrency"]) if few and single else None


# ── decode workers that constants are fitted on ─────────────────────────────────────────────────────────────────


def fitted_decode_workers(rows: Iterable[Row], context: Context) -> list[Run]:
    """Decode workers whose batch was full, without repeats: no models that could have guessed tokens ahead, and no FP8,
    whose rows name several checkpoints."""
    full = (row for row in rows if float(row["ttft_ms"] or 0) <= LATE_MS)
    runs = [
        half.answers._replace(ttft_ms=None)
        for half in parse_halves(full, context)[0]
        if not half.answers.arch.mtp_layers and half.answers.form.key != "fp8"
    ]
    once = {(run.model, run.gpu, run.engine, run.tp, run.ep, run.prompt, run.tpot_ms): run for run in runs}
    return list(once.values())
