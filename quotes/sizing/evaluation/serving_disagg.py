"""Predicting the rows of `serving_measured_disagg`: prompts and answers computed by workers of their own.

Only what the rows tell enough about is predicted: the time per token of a decode worker whose batch is known. The wait
for a prompt worker, and so the throughput of the whole, depends on how many there were, which most rows leave open.
"""

from collections.abc import Iterator

import numpy as np

from quotes.sizing.evaluation.base import Context, PredictedRow, Row
from quotes.sizing.evaluation.serving_rows import (
    decode_batch,
    decode_worker_runs,
    predict,
    table_of,
    waited_for_prompts,
)
from quotes.sizing.serving.intervals import intervals_of
from quotes.sizing.trace import Badge

WIDER = 1.25  # of the interval: how full the batch was is known only roughly, and guessing ahead not at all
WAITING = "The wait for a prompt worker is not predicted: how prompts were spread over workers is not stated."
WAITED = "Requests waited for prompts, so that it is not known how full the decode batches were."
FORMAT = "The row names a model or a format that is not sized."
BATCH = "The row does not state how many decode workers shared the load."


def predict_rows(rows: list[dict[str, str]], context: Context) -> Iterator[PredictedRow]:
    """Times per token of known decode batches; everything else with the reason why not."""
    found = {run.id: run for run in decode_worker_runs(rows, context)}
    predicted: dict[str, tuple[float, float, float, str]] = {}
    if found:
        runs = tuple(found.values())
        table = table_of(runs, context.calibration, context.assumptions)
        times = predict(table, context.calibration).tpot_ms
        for run, choice, value in zip(runs, table.choices, times, strict=True):
            interval = intervals_of(
                context.calibration, run.engine, choice, False, run.arch.standard_structure, run.tp * run.dp
            )[1]
            badge = Badge.INTERPOLATED if choice.exact else Badge.EXTRAPOLATED
            ends = (float(value * interval.low**WIDER), float(value * interval.high**WIDER))
            predicted[run.id] = (float(value), *ends, str(badge))
    for row in rows:
        yield _refused(row, "ttft_ms", WAITING)
        if row["id"] in predicted:
            value, low, high, badge_text = predicted[row["id"]]
            yield PredictedRow(
                id=row["id"], metric="tpot_ms", measured=float(row["tpot_ms"]), predicted=value, low=low, high=high,
                badge=badge_text, model=row["model"], gpu=row["gpu"],
            )  # fmt: skip
        else:
            yield _refused(row, "tpot_ms", _why(row))


def _why(row: Row) -> str:
    if decode_batch(row) is None:
        return BATCH
    return WAITED if waited_for_prompts(row) else FORMAT


def _refused(row: Row, metric: str, reason: str) -> PredictedRow:
    measured = float(row[metric]) if row[metric] else np.nan
    return PredictedRow(row["id"], metric, measured, refused=reason, model=row["model"], gpu=row["gpu"])
