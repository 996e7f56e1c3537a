"""Fitting the constants of serving speed on published runs: a few per engine, none per model or GPU."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from quotes.sizing.evaluation.robust import Vector, least_squares
from quotes.sizing.evaluation.serving_rows import PREFILL_FIRST, Predicted, Run, Table, predict
from quotes.sizing.serving.calibration import Calibration

TTFT_WEIGHT = 0.25  # of a squared log residual, against 1 for the time per token
ENGINES = ("trtllm", "vllm", "sglang", PREFILL_FIRST)


class Parameter(NamedTuple):
    """A positive constant with a weak prior: `spread` is a standard deviation of its logarithm."""

    owner: str  # engine, or "shared", or "engines" for one value in all of them but `PREFILL_FIRST`
    field: str
    prior: float
    spread: float


def parameters() -> tuple[Parameter, ...]:
    """What is fitted. Priors: what the parts of a step look like in profiles and launch scripts."""
    found = [
        Parameter("shared", "all_reduce_wait", 1.3, 0.3),
        Parameter("shared", "queueing", 0.6, 0.5),
        Parameter("shared", "attention_share", 0.45, 0.2),
        Parameter("engines", "interference", 1.0, 0.1),
        Parameter(PREFILL_FIRST, "interference", 0.5, 0.5),
        Parameter("sglang", "prompt_x", 1.0, 0.3),
    ]
    for engine in ENGINES:
        found += [
            Parameter(engine, "kernel_us", 3.8, 0.3),
            Parameter(engine, "burst_fraction", 0.6 if engine == PREFILL_FIRST else 0.15, 0.5),
            Parameter(engine, "first_ms", 20.0, 0.7),
            Parameter(engine, "first_steps", 2.5, 0.5),
            Parameter(engine, "first_gpu_ms", 4.0, 0.7),
        ]
    return tuple(found)


def with_values(calibration: Calibration, found: Sequence[Parameter], values: Vector) -> Calibration:
    """`calibration` with exp(`values`) in the places of `found`."""
    shared: dict[str, float] = {}
    engines: dict[str, dict[str, float]] = {name: {} for name in calibration.engines}
    for parameter, value in zip(found, np.exp(values), strict=True):
        if parameter.owner == "shared":
            shared[parameter.field] = float(value)
        elif parameter.owner == "engines":
            for name in engines:
                if name != PREFILL_FIRST:
                    engines[name][parameter.field] = float(value)
        else:
            engines[parameter.owner][parameter.field] = float(value)
    return calibration.model_copy(
        update={
            "shared": calibration.shared.model_copy(update=shared),
            "engines": {
                name: constants.model_copy(update=engines[name])
                for name, constants in calibration.engines.items()
            },
        }
    )


class Measured(NamedTuple):
    """What the runs measured, and which of it counts."""

    ttft_ms: Vector
    tpot_ms: Vector
    use_ttft: NDArray[np.bool_]
    use_tpot: NDArray[np.bool_]


def measured(runs: Sequence[Run]) -> Measured:
    """Runs with inferred speculation or past saturation do not count, nor first-token times of queues."""
    clean = np.array(
        [not run.flags & {"mtp_inferred", "saturated"} and run.tpot_ms is not None for run in runs]
    )
    queued = np.array(["ttft_queueing" in run.flags or run.ttft_ms is None for run in runs])
    return Measured(
        ttft_ms=np.array([run.ttft_ms or 1.0 for run in runs]),
        tpot_ms=np.array([run.tpot_ms or 1.0 for run in runs]),
        use_ttft=clean & ~queued,
        use_tpot=clean,
    )


def fit(
    table: Table,
    calibration: Calibration,
    *,
    include: NDArray[np.bool_] | None = None,
    start: Vector | None = None,
    iterations: int = 12,
) -> tuple[Vector, Calibration]:
    """Logarithms of the constants, and the calibration with them; `calibration` itself when no row counts.

    Rows of one campaign (model, GPU, engine, precision, version) share their weight, so that a long table does not
    outvote a short one.
    """
    found = parameters()
    facts = measured(table.runs)
    include = np.ones(len(table.runs), bool) if include is None else include
    counts = Counter(run.campaign for run in table.runs)
    share = np.array([1 / counts[run.campaign] for run in table.runs])
    weights = np.concatenate(
        [share * (facts.use_tpot & include), TTFT_WEIGHT * share * (facts.use_ttft & include)]
    )
    if not weights.any():
        return np.log([parameter.prior for parameter in found]), calibration
    values = least_squares(
        _residuals(table, facts, calibration, found),
        np.log([parameter.prior for parameter in found]),
        np.array([parameter.spread for parameter in found]),
        weights / weights.sum(),
        start=start,
        iterations=iterations,
    )
    return values, with_values(calibration, found, values)


def _residuals(
    table: Table, facts: Measured, calibration: Calibration, found: Sequence[Parameter]
) -> Callable[[Vector], Vector]:
    def residuals(values: Vector) -> Vector:
        predicted = predict(table, with_values(calibration, found, values))
        return np.concatenate(
            [np.log(predicted.tpot_ms / facts.tpot_ms), np.log(predicted.ttft_ms / facts.ttft_ms)]
        )

    return residuals


def left_out(
    table: Table, calibration: Calibration, groups: Sequence[str], start: Vector | None = None
) -> Predicted:
    """Predictions of each run by a fit that saw no run of its group."""
    names = np.array(groups, object)
    columns = np.zeros((3, len(names)))
    if start is None:
        start, _ = fit(table, calibration)
    for name in sorted(set(groups)):
        mine = names == name
        _, fitted = fit(table, calibration, include=~mine, start=start, iterations=6)
        predicted = predict(table, fitted)
        for row, values in enumerate(predicted[:3]):
            columns[row, mine] = values[mine]
    ttft_ms, tpot_ms, output_tokens_s_per_gpu = columns
    return Predicted(ttft_ms, tpot_ms, output_tokens_s_per_gpu, predict(table, calibration).steady)
