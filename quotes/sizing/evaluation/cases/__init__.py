"""Worked cases: one figure each, asked by its unit, answered by the product's own functions or refused with a reason.

A case states its inputs in one JSON object. `units` reads what is asked, `stated` puts the inputs under one name each;
the tables of the rooms (`serving`, `training`, `systems`, `storage`, `money`) say who answers what from which inputs.
"""

import json
from collections.abc import Iterator, Mapping

from quotes.sizing.evaluation.base import Context, PredictedRow, Row
from quotes.sizing.evaluation.cases import money, serving, storage, systems, training
from quotes.sizing.evaluation.cases.answers import Answer, Case, Ranged, candidates
from quotes.sizing.evaluation.cases.stated import stated, words_of
from quotes.sizing.evaluation.cases.units import asked
from quotes.sizing.evaluation.names import OutOfScope
from quotes.sizing.evaluation.training_run import NotInScope
from quotes.sizing.serving.machines import MissingFigure
from quotes.sizing.trace import Badge

METRIC = "numeric_expected"


def predict_rows(rows: list[dict[str, str]], context: Context) -> Iterator[PredictedRow]:
    """The answer to each case, or why there is none."""
    for row in rows:
        try:
            inputs = json.loads(row["inputs"]) if row.get("inputs") else {}
            yield predict_case(row, inputs, context)
        except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError) as error:
            yield _told(row, {}, f"The case cannot be read: {error}.")


def predict_case(row: Row, inputs: Mapping[str, object], context: Context) -> PredictedRow:
    """`inputs` is the parsed JSON. Raises what nonsense in it raises."""
    known = stated(inputs)
    month_hours = float(known.get("month_hours") or context.assumptions.hours_per_month)
    case = Case(row, known, asked(row["unit"], month_hours), context)
    asking = candidates(_tables(case), case, words_of(known.values()))
    if not asking:
        return _told(row, known, f"Nothing in the product answers a case in the unit '{row['unit']}'.")
    chosen = asking[0]
    if missing := sorted(chosen.needs - known.keys()):
        return _told(row, known, f"The case does not state {', '.join(missing)}.")
    try:
        found = chosen.function(case)
    except MissingFigure as reason:
        return _told(row, known, str(reason.message))
    except (OutOfScope, NotInScope) as reason:
        return _told(row, known, str(reason))
    value = (
        found.times(1 / case.asked.scale) if isinstance(found, Ranged) else float(found) / case.asked.scale
    )
    return _told(row, known, "", value)


def _tables(case: Case) -> tuple[Answer, ...]:
    """Training and serving ask for the same things of different systems."""
    language = training.ANSWERS if training.is_about_training(case.inputs) else serving.ANSWERS
    return (*language, *systems.ANSWERS, *storage.ANSWERS, *money.ANSWERS)


def _told(
    row: Row, inputs: Mapping[str, object], refused: str, value: float | Ranged | None = None
) -> PredictedRow:
    expected = row.get("numeric_expected") or ""
    ranged = value if isinstance(value, Ranged) else None
    return PredictedRow(
        id=row["id"],
        metric=METRIC,
        measured=float(expected) if expected else None,
        predicted=ranged.value if ranged else value,  # type: ignore[arg-type]
        low=ranged.low if ranged else None,
        high=ranged.high if ranged else None,
        badge="" if refused else str(ranged.badge if ranged else Badge.COMPUTED),
        refused=refused,
        model=str(inputs.get("model", "")),
        gpu=str(inputs.get("gpu", "")),
    )
