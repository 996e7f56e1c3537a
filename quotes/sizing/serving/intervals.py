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
    if pair_seen:
        return Interval(residual.low, residual.high)
    low, high, exponent = residual.low, residual.high, 1.0
    if metric != "ttft" and _tables_alone(calibration, choice):
        tables = calibration.residual("throughput", "tables")
        rate = (tables.low, tables.high) if metric == "throughput" else (1 / tables.high, 1 / tables.low)
        low, high = min(low, rate[0]), max(high, rate[1])
    else:
        exponent *= _generation_factor(calibration, choice)
    exponent *= 1.0 if standard else widen.structure_unknown
    exponent *= widen.pcie_parallel if choice.link == "pcie" and gpus > 1 else 1.0
    return Interval(low**exponent, high**exponent)


def _tables_alone(calibration: Calibration, choice: Choice) -> bool:
    """Whether the rate of this generation is known from published tables, and from no timed runs."""
    return (
        choice.generation in calibration.table_generations
        and choice.generation not in calibration.serving_generations
    )


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
