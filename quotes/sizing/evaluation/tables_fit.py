"""Fitting what published throughput tables tell and closed-load runs do not.

Three things: an engine's own benchmark program without a server around it, AMD GPUs, which borrow the curves of
another maker, and collective operations over PCI Express.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from quotes.sizing.evaluation.base import Context
from quotes.sizing.evaluation.robust import Vector, least_squares
from quotes.sizing.evaluation.serving_fit import Parameter
from quotes.sizing.evaluation.serving_throughput import TUNED, Question
from quotes.sizing.evaluation.table_answers import answer_all
from quotes.sizing.serving.calibration import Calibration, GenerationFactors

FOLDS = 5
LATENCY_WEIGHT = 0.25  # of rows about first tokens, against 1 for rates and times per token


def parameters() -> tuple[Parameter, ...]:
    """What is fitted, with priors."""
    return (
        Parameter(TUNED, "kernel_us", 2.5, 0.3),
        Parameter(TUNED, "step_sequence_us", 1.0, 0.7),
        Parameter(TUNED, "prompt_x", 1.0, 0.2),
        Parameter(TUNED, "interference", 1.0, 0.1),
        Parameter(TUNED, "first_ms", 5.0, 0.7),
        Parameter("cdna", "memory", 0.85, 0.15),
        Parameter("cdna", "compute", 1.2, 0.3),
        Parameter("cdna", "small", 1.0, 0.3),
        Parameter("cdna", "all_reduce", 1.5, 0.5),
        Parameter("pcie", "all_reduce", 0.5, 0.7),
    )


def with_values(calibration: Calibration, found: Sequence[Parameter], values: Vector) -> Calibration:
    """`calibration` with exp(`values`) in the places of `found`."""
    engines, generations = dict(calibration.engines), dict(calibration.generations)
    for parameter, value in zip(found, np.exp(values), strict=True):
        update = {parameter.field: float(value)}
        if parameter.owner in engines:
            engines[parameter.owner] = engines[parameter.owner].model_copy(update=update)
        else:
            known = generations.get(parameter.owner, GenerationFactors())
            generations[parameter.owner] = known.model_copy(update=update)
    return calibration.changed(engines=engines, generations=generations)


def values_of(calibration: Calibration) -> Vector:
    """Logarithms of the constants as they are in `calibration`."""
    found = []
    for parameter in parameters():
        if parameter.owner in calibration.engines:
            owner: object = calibration.engines[parameter.owner]
        else:
            owner = calibration.factors(parameter.owner)
        found.append(np.log(getattr(owner, parameter.field)))
    return np.array(found)


def campaign(question: Question) -> str:
    """Rows that were measured together: one table, model and GPU."""
    return "|".join(question.row[name] for name in ("source_title", "model", "gpu"))


def pair(question: Question) -> str:
    return f"{question.row['model']}|{question.row['gpu']}"


class Tables(NamedTuple):
    """Questions with what they measured and how much each counts."""

    questions: tuple[Question, ...]
    measured: Vector
    weights: Vector

    @classmethod
    def of(cls, questions: Sequence[Question]) -> "Tables":
        """Rows of one table, model and GPU share their weight by its square root."""
        counts = Counter(campaign(question) for question in questions)
        weights = np.array([counts[campaign(question)] ** -0.5 for question in questions])
        first = np.array([question.metric.startswith("ttft") for question in questions])
        measured = np.array([float(question.row["value"]) for question in questions])
        return cls(tuple(questions), measured, weights * np.where(first, LATENCY_WEIGHT, 1.0))

    def log_ratios(self, context: Context) -> Vector:
        """Logarithms of measured ÷ predicted; not a number where the load only makes a queue grow."""
        answered = answer_all(self.questions, context)
        return np.asarray(np.log(self.measured / np.array([a.value or np.nan for a in answered])), float)


def fit(
    questions: Sequence[Question], context: Context, *, start: Vector | None = None, iterations: int = 8
) -> tuple[Vector, Calibration]:
    """Logarithms of the constants, and the calibration with them."""
    found, tables = parameters(), Tables.of(questions)

    def residuals(values: Vector) -> Vector:
        calibration = with_values(context.calibration, found, values)
        return np.nan_to_num(-tables.log_ratios(context._replace(calibration=calibration)))

    values = least_squares(
        residuals,
        np.log([parameter.prior for parameter in found]),
        np.array([parameter.spread for parameter in found]),
        tables.weights / tables.weights.sum(),
        start=start,
        iterations=iterations,
    )
    return values, with_values(context.calibration, found, values)


def left_out(questions: Sequence[Question], context: Context, start: Vector, folds: int = FOLDS) -> Vector:
    """Logarithms of measured ÷ predicted by fits without the row's model on its GPU. Pairs are dealt into `folds`."""
    pairs = [pair(question) for question in questions]
    fold_of = {name: number % folds for number, name in enumerate(sorted(set(pairs)))}
    fold = np.array([fold_of[name] for name in pairs])
    ratios = np.full(len(questions), np.nan)
    for number in range(folds):
        rest = [question for question, own in zip(questions, fold, strict=True) if own != number]
        mine = [question for question, own in zip(questions, fold, strict=True) if own == number]
        if not mine:
            continue
        calibration = fit(rest, context, start=start, iterations=2)[1] if rest else context.calibration
        ratios[fold == number] = Tables.of(mine).log_ratios(context._replace(calibration=calibration))
    return ratios
