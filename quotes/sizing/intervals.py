"""How sure a predicted speed is: conformal intervals, wider where nothing was measured."""

from typing import NamedTuple

from quotes.sizing.calibration import Calibration, Metric
from quotes.sizing.machines import Choice


class Interval(NamedTuple):
    """Factors on the predicted value; 80 % of measurements lie between them."""

    low: float
    high: float


def interval_of(
    calibration: Calibration,
    metric: Metric,
    engine: str,
    choice: Choice,
    pair_seen: bool,
    standard: bool,
    gpus: int,
) -> Interval:
    """The residual interval of `engine`, widened for a pair, generation, structure or link that was not measured."""
    residual, widen = calibration.residual(metric, engine), calibration.widening
    exponent = 1.0
    if not pair_seen:
        exponent *= widen.pair_unseen
    if not choice.exact:
        exponent *= widen.generation_borrowed
    if not standard:
        exponent *= widen.structure_unknown
    if choice.link == "pcie" and gpus > 1:
        exponent *= widen.pcie_parallel
    return Interval(residual.low**exponent, residual.high**exponent)
