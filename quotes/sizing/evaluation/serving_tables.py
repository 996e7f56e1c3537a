"""Predicting the rows of `serving_throughput`: published throughput and latency tables.

Rows that the shipped constants were fitted on are predicted by a fit without their model on their GPU, which takes a
minute, so that no figure here is in-sample.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from quotes.sizing.evaluation import tables_fit
from quotes.sizing.evaluation.base import Context, PredictedRow, Row
from quotes.sizing.evaluation.local_engine import LOCAL_ENGINE, predict_local
from quotes.sizing.evaluation.names import OutOfScope
from quotes.sizing.evaluation.serving_throughput import Question, questions_of
from quotes.sizing.evaluation.table_answers import Answer, answer_all
from quotes.sizing.serving.calibration import Metric
from quotes.sizing.serving.intervals import interval_of
from quotes.sizing.serving.machines import MissingFigure
from quotes.sizing.trace import Badge

METRIC = "value"
TABLES = "tables"  # key of the residuals
QUEUE = "The load is beyond what the system carries: only its queue grows."


def predict_rows(rows: list[dict[str, str]], context: Context) -> Iterator[PredictedRow]:
    """One prediction or refusal per row."""
    local = [row for row in rows if row["engine"].lower().startswith(LOCAL_ENGINE)]
    for row in local:
        try:
            yield predict_local(row, context)
        except MissingFigure as missing:
            yield _refused(row, str(missing.message))
        except OutOfScope as reason:
            yield _refused(row, str(reason))
    engines = [row for row in rows if not row["engine"].lower().startswith(LOCAL_ENGINE)]
    questions, refused = questions_of(engines, context)
    yield from (_refused(row, reason) for row, reason in refused)
    answers = answer_all(questions, context)
    left_out = _left_out(questions, context)
    for question, answer in zip(questions, answers, strict=True):
        value = left_out.get(question.row["id"], answer.value)
        yield _refused(question.row, QUEUE) if value is None else _predicted(question, answer, value, context)


def _left_out(questions: Sequence[Question], context: Context) -> dict[str, float]:
    """By row: what a fit says that has not seen its pair. Rows that no fit has seen are not in it."""
    pairs = set(context.calibration.fitted_pairs)
    known = [
        question for question in questions if question.row["value"] and tables_fit.pair(question) in pairs
    ]
    if len({tables_fit.pair(question) for question in known}) < tables_fit.FOLDS:
        return {}
    ratios = tables_fit.left_out(known, context, tables_fit.values_of(context.calibration))
    return {
        question.row["id"]: float(question.row["value"]) / float(np.exp(ratio))
        for question, ratio in zip(known, ratios, strict=True)
        if np.isfinite(ratio)
    }


def _predicted(question: Question, answer: Answer, value: float, context: Context) -> PredictedRow:
    run, choice, calibration = question.runs[0], answer.choice, context.calibration
    kind: Metric = "ttft" if question.metric.startswith("ttft") else "throughput"
    measured = choice.generation in calibration.table_generations
    interval = interval_of(
        calibration, kind, TABLES, choice, measured, run.arch.standard_structure, run.tp * run.dp
    )
    return PredictedRow(
        id=question.row["id"],
        metric=METRIC,
        measured=_value(question.row),
        predicted=value,
        low=value * interval.low,
        high=value * interval.high,
        badge=str(Badge.INTERPOLATED if choice.exact else Badge.EXTRAPOLATED),
        model=question.row["model"],
        gpu=question.row["gpu"],
    )


def _refused(row: Row, reason: str) -> PredictedRow:
    return PredictedRow(
        row["id"], METRIC, _value(row), refused=reason, model=row.get("model", ""), gpu=row.get("gpu", "")
    )


def _value(row: Row) -> float | None:
    try:
        return float(row["value"])
    except (KeyError, ValueError):
        return None
