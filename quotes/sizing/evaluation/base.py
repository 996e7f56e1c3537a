"""What an evaluator is: it turns published rows into predictions, and says why when it does not."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol

from catalog.specs import CatalogSnapshot
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.serving.calibration import Calibration

type Row = Mapping[str, str]


class Context(NamedTuple):
    """What evaluators may look things up in. Constants of training and rates they load themselves."""

    catalog: CatalogSnapshot
    assumptions: Assumptions
    calibration: Calibration


class PredictedRow(NamedTuple):
    """One metric of one published row beside its prediction.

    `metric` is the name of the reference column. Numbers are in that column's unit; outcomes are the words fits, tight
    and oom. `refused` holds the reason, in a sentence, and then `predicted` is None. `low`–`high` is the 80 % interval.
    `model` and `gpu` group the report; `scored` False keeps a row out of the error figures (saturated, inferred …).
    """

    id: str
    metric: str
    measured: float | str | None
    predicted: float | str | None = None
    low: float | None = None
    high: float | None = None
    badge: str = ""
    refused: str = ""
    model: str = ""
    gpu: str = ""
    scored: bool = True


class Evaluator(Protocol):
    """Predicts every row of one reference file, at least one PredictedRow per row, in any order."""

    def __call__(self, rows: list[dict[str, str]], context: Context) -> Iterator[PredictedRow]: ...
