"""How sure a predicted speed is: conformal intervals, wider where nothing was measured."""

from typing import NamedTuple

from quotes.sizing.serving.calibration import Calibration, Metric
from quotes.sizing.serving.machines import Choice

METRICS: tuple[Metric, ...] = ("ttft", "tpot", "throughput")


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
    residual, widen = calibration.residual(metric, engine, pair_seen), calibration.widening
    exponent = 1.0
    if not pair_seen:
        exponent *= _generation_factor(calibration, choice)
        exponent *= 1.0 if standard else widen.structure_unknown
        exponent *= widen.pcie_parallel if choice.link == "pcie" and gpus > 1 else 1.0
    return Interval(residual.low**exponent, residual.high**exponent)


def _generation_factor(calibration: Calibration, choice: Choice) -> float:
    if choice.exact and choice.generation in calibration.serving_generations:
        return 1.0
    if choice.generation in (*calibration.serving_generations, *calibration.table_generations):
        return calibration.widening.generation_unserved
    return calibration.widening.generation_unmeasured


def intervals_of(
    calibration: Calibration,
    engine: str,
    choice: Choice,
    pair_seen: bool,
    standard: bool,
    gpus: int,
    first_seen: bool | None = None,
) -> tuple[Interval, Interval, Interval]:
    """Of the time to first token, the time per token and the throughput; looked up once per kind of way.

    `pair_seen`: runs of the model on the GPU timed tokens; `first_seen`: they timed first tokens (the same when None).
    """
    first = pair_seen if first_seen is None else first_seen
    key = (
        "intervals",
        engine,
        choice.exact,
        choice.generation,
        choice.link,
        pair_seen,
        first,
        standard,
        gpus > 1,
    )
    if key not in calibration.machines:
        calibration.machines[key] = tuple(
            interval_of(calibration, metric, engine, choice, seen, standard, gpus)
            for metric, seen in zip(METRICS, (first, pair_seen, pair_seen), strict=True)
        )
    found: tuple[Interval, Interval, Interval] = calibration.machines[key]
    return found
