"""Worked cases: asking everyone who may know the answer, in order."""

import json
from collections.abc import Iterator

from quotes.sizing.evaluation.base import CasePredictor, Context, PredictedRow
from quotes.sizing.evaluation.registry import case_predictors

NOBODY = "Nothing in the product answers a case of this kind."


def predict_rows(rows: list[dict[str, str]], context: Context) -> Iterator[PredictedRow]:
    """The first answer to each case, or the refusal of the one it belongs to."""
    predictors = list(case_predictors())
    for row in rows:
        try:
            inputs = json.loads(row["inputs"]) if row.get("inputs") else {}
        except ValueError:
            yield _refused(row, "The inputs of the case cannot be read.")
            continue
        yield answer(row, inputs, predictors, context)


def answer(
    row: dict[str, str], inputs: dict[str, object], predictors: list[CasePredictor], context: Context
) -> PredictedRow:
    for predictor in predictors:
        try:
            found = predictor(row, inputs, context)
        except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError) as error:
            return _refused(row, f"The case cannot be read: {error}.")
        if found is not None:
            return found
    return _refused(row, NOBODY)


def _refused(row: dict[str, str], reason: str) -> PredictedRow:
    value = row.get("numeric_expected") or row.get("expected") or ""
    return PredictedRow(row["id"], "numeric_expected", value or None, refused=reason)
