"""From two tables of published rows to `data/training_calibration.json`: factors, residuals, evidence.

Residual quantiles come from rows left out of the fit (`training_left_out`), once with the software family known, as
for a published row, and once without it, as for a planned job.
"""

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from quotes.sizing.evaluation.base import Row
from quotes.sizing.evaluation.conformal import group_weights, weighted_quantile
from quotes.sizing.evaluation.training_fit import (
    PRECISIONS,
    SPEED_PRIORS,
    fit_speed,
    generation_rates,
    observed_rate,
    table_of,
)
from quotes.sizing.evaluation.training_left_out import (
    LEVELS,
    TYPICAL,
    TYPICAL_STEP_S,
    LeftOut,
    level_of,
    memory_left_out,
    series_counts,
    speed_errors,
    speed_left_out,
    subject_of_run,
    ways_of,
    with_typical,
    with_typical_memory,
)
from quotes.sizing.evaluation.training_memory_rows import memory_run
from quotes.sizing.evaluation.training_peaks import (
    factor_columns,
    family_factors,
    fit_memory,
    peak_in_row_unit,
    peaks_of,
    states_levels,
)
from quotes.sizing.evaluation.training_rows import throughput_run
from quotes.sizing.evaluation.training_run import NotInScope, Run
from quotes.sizing.training.calibration import (
    GenerationRates,
    MeasuredRun,
    Quantity,
    Residual,
    TrainingCalibration,
    dumps,
)
from quotes.sizing.training.evidence import Subject
from quotes.sizing.training.speed import SpeedFactors

type Vector = NDArray[np.float64]
type Left = tuple[str, float]
"""Model and GPU of a run, and its error (log of measured over predicted) by a fit that has not seen it."""

# Fewer left-out rows do not make a regime of their own. Plans ask for more: a purchase must not hang on a few odd rows.
ROWS_PER_REGIME, ROWS_PER_PLAN = 15, 60
PAIRS_PER_LEVEL = 8
COVERED: Mapping[Quantity, tuple[float, float]] = {
    "speed": (0.1, 0.9),
    "memory": (0.1, 0.9),
    "device": (0.1, 0.95),  # that a job fits is the strictest promise
}

# Generations that nobody published: whose efficiencies they borrow, and how much is taken off.
BORROWED: Mapping[str, tuple[str, float, str]] = {
    "blackwell workstation": ("ada", 1.0, "workstation cards of the generation before"),
    "gaudi3": ("cdna3", 0.9, "the nearest other accelerator"),
    "gaudi2": ("cdna3", 0.9, "the nearest other accelerator"),
    "cdna2": ("cdna3", 0.9, "the generation after"),
    "cdna5": ("cdna4", 0.9, "the generation before"),
    "rubin": ("blackwell ultra", 0.9, "the generation before"),
    "volta": ("ampere", 0.8, "the generation after"),
    "turing": ("ampere", 0.7, "the generation after"),
}
OTHER = GenerationRates(
    products=dict.fromkeys(PRECISIONS, 0.4), attention=0.15, source="no measurement of kin"
)


def calibrate(throughput: Sequence[Row], memory: Sequence[Row]) -> Mapping[str, str]:
    """File name → content, for `quotes/sizing/data`. Deterministic; takes half a minute on two thousand rows."""
    calibration = fitted(speed_runs(throughput), memory_runs(memory), _hash(throughput, memory))
    return {"training_calibration.json": dumps(calibration)}


def _hash(*tables: Sequence[Row]) -> str:
    text = json.dumps([[dict(row) for row in table] for table in tables], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def speed_runs(rows: Iterable[Row]) -> list[Run]:
    """Runs whose steady rate is known; whole projects (GPU-hours) are checked against, never fitted."""
    runs = list(_in_scope(rows, throughput_run))
    return [run for run in runs if run.metric != "gpu_hours"]


def memory_runs(rows: Iterable[Row]) -> list[Run]:
    """Runs with a measured peak."""
    return [
        run
        for run in _in_scope((row for row in rows if row["outcome"] == "fits"), memory_run)
        if run.measured
    ]


def _in_scope[T](rows: Iterable[Row], parse: Callable[[Row], T]) -> Iterable[T]:
    for row in rows:
        try:
            yield parse(row)
        except NotInScope:
            continue


# ── residuals ───────────────────────────────────────────────────────────────────────────────────────────────────


def residuals(
    quantity: Quantity,
    runs: Sequence[Run],
    left: Sequence[LeftOut],
    unseen: LeftOut,
    levels: Sequence[int] | None = None,
) -> list[Residual]:
    """Quantiles by regime. `left`: with pairs left out, then with wider groups; `unseen`: with whole GPU generations
    (of memory: software families); `levels`: how much of the memory of each run are states. Speed is told apart by
    method, memory by that."""
    mine = [i for i, run in enumerate(runs) if not (quantity == "device" and run.measure == "allocated")]
    modern = [i for i in mine if runs[i].stack != "megatron_2021"]
    pairs = left[0]
    known: dict[str, list[Left]] = defaultdict(list)
    for index in mine:
        for regime in ("all", _kind(runs[index])):
            known[regime].append(_left(runs, index, pairs.known))
    for index in modern:
        kind = f"planned {_kind(runs[index])}"
        own = (f"planned states {levels[index]}",) if levels else (kind, f"{kind} {runs[index].method}")
        for regime in ("planned", *own):
            known[regime].append(_left(runs, index, pairs.planned))
    known["planned unseen"] = [
        _left(runs, index, unseen.planned) for index, run in enumerate(runs) if run.stack != "megatron_2021"
    ]
    return [
        *(
            _residual(quantity, regime, errors)
            for regime, errors in known.items()
            if len(errors) >= (ROWS_PER_PLAN if regime.startswith("planned") else ROWS_PER_REGIME)
        ),
        *_by_evidence(quantity, runs, mine, left),
    ]


def _by_evidence(
    quantity: Quantity, runs: Sequence[Run], mine: Sequence[int], left: Sequence[LeftOut]
) -> list[Residual]:
    """Quantiles by how much evidence stands near, from all ways of leaving out: with a pair gone, its model and its GPU
    still tell something, and what nothing near tells about would hardly be met. Less evidence never makes surer. A kind
    of which few pairs were measured at a level takes the runs of both kinds there."""
    met: dict[tuple[str, int], list[Left]] = defaultdict(list)
    for way in left:
        for index in mine:
            for kind in (_kind(runs[index]), "both"):
                met[kind, level_of(way.evidence[index])].append(_left(runs, index, way.known))
    found: list[Residual] = []
    for kind in ("dense", "expert"):
        surer: Residual | None = None
        for level in range(len(LEVELS), -1, -1):
            own = met[kind, level]
            if len({group for group, _ in own}) < PAIRS_PER_LEVEL:
                own = met["both", level]
            if len(own) < ROWS_PER_REGIME:
                continue
            residual = _residual(quantity, f"{kind} {level}", own)
            if surer:
                low, high = min(residual.low, surer.low), max(residual.high, surer.high)
                residual = residual.model_copy(update={"low": low, "high": high})
            found.append(residual)
            surer = residual
    return found


def _kind(run: Run) -> str:
    return "expert" if run.is_moe else "dense"


def _left(runs: Sequence[Run], index: int, errors: Vector) -> Left:
    return f"{runs[index].model} {runs[index].gpu}", float(errors[index])


def _residual(quantity: Quantity, regime: str, errors: Sequence[Left]) -> Residual:
    """Pairs count by the root of their rows: what comes next is another pair, not another row of a long table. The far
    end of what fits is left to rows: there single odd runs would decide, and pairs left out are covered no better."""
    count = len(errors)
    weights = group_weights([group for group, _ in errors], 0.0 if quantity == "device" else 0.5)
    # Conformal: the quantile of n rows must cover the next one, so it lies a little further out.
    lower, upper = COVERED[quantity]
    outer = [1 - min(1.0, (1 - lower) * (count + 1) / count), 0.5, min(1.0, upper * (count + 1) / count)]
    values = np.array([error for _, error in errors])
    low, middle, high = (math.exp(weighted_quantile(values, weights, place)) for place in outer)
    return Residual(
        quantity=quantity,
        regime=regime,
        low=_short(low),
        middle=_short(middle),
        high=_short(high),
        rows=count,
    )


def _short(value: float, digits: int = 4) -> float:
    return float(f"{value:.{digits}g}")


# ── evidence ────────────────────────────────────────────────────────────────────────────────────────────────────


def evidence_of(quantity: Quantity, runs: Sequence[Run], errors: Vector, values: Vector) -> list[MeasuredRun]:
    """One entry per set of runs that differ in nothing the evidence looks at: the one with the middle value."""
    alike: dict[Subject, list[int]] = defaultdict(list)
    for index, run in enumerate(runs):
        alike[subject_of_run(run)].append(index)
    counts = series_counts(runs)
    found = []
    for subject, members in alike.items():
        middle = sorted(members, key=lambda index: values[index])[len(members) // 2]
        series = {(runs[i].model, runs[i].gpu, runs[i].stack, runs[i].method): counts[i] for i in members}
        found.append(
            MeasuredRun(
                id=runs[middle].id,
                **{
                    **subject._asdict(),
                    "params_b": _short(subject.params_b),
                    "value": _short(values[middle]),
                    "ratio": _short(float(np.exp(np.median(errors[members])))),
                    "series": max(1, round(max(series.values()) / len(members))),
                    "source": runs[middle].source,
                    "quantity": quantity,
                },
            )
        )
    return found


# ── the file ────────────────────────────────────────────────────────────────────────────────────────────────────


def fitted(speed: Sequence[Run], memory: Sequence[Run], data_hash: str = "") -> TrainingCalibration:
    """Fit both tables, leave groups out, and put everything that the formulas need together."""
    rates = np.array([observed_rate(run) for run in speed])
    table = table_of(speed)
    fit = fit_speed(speed, rates, table=table)
    speed_left = [speed_left_out(speed, fit, groups) for groups in ways_of(speed)]
    speed_unseen = speed_left_out(speed, fit, [run.hardware.generation for run in speed])

    peaks = peaks_of(memory)
    values = fit_memory(memory, peaks=peaks)
    memory_left = [memory_left_out(memory, values, groups) for groups in ways_of(memory)]
    memory_unseen = memory_left_out(memory, values, [run.stack for run in memory])
    memory_errors = np.log([run.measured for run in memory]) - np.log(
        peak_in_row_unit(peaks, factor_columns(values, peaks.stacks))
    )
    peak_gib = np.array([run.measured * run.gibibytes for run in memory])
    levels = states_levels(peaks, factor_columns(values, peaks.stacks))

    typical = with_typical(fit)
    stacks = [name.split(":")[1] for name in typical.names if name.startswith("moved:")]
    return TrainingCalibration(
        version="1",
        data_hash=data_hash,
        rows={"speed": len(speed), "memory": len({run.id for run in memory})},
        generations={**_generations(generation_rates(fit, speed))},
        stacks={
            name: {
                "moved": _short(typical.value(f"moved:{name}", 1.0)),
                "step_s": _short(typical.value(f"step:{name}", TYPICAL_STEP_S)),
                "kernels": _short(typical.value(f"kernels:{name}", 1.0)),
            }
            for name in stacks
        },
        speed=SpeedFactors(
            **{prior.name: _short(fit.value(prior.name, prior.value)) for prior in SPEED_PRIORS}
        ),
        memory={
            name: {
                key: _short(value) for key, value in family_factors(with_typical_memory(values), name).items()
            }
            for name in (*sorted(set(peaks.stacks)), TYPICAL)
        },
        residuals=(
            *residuals("speed", speed, speed_left, speed_unseen),
            *residuals("memory", memory, memory_left, memory_unseen, levels),
            *residuals("device", memory, memory_left, memory_unseen, levels),
        ),
        evidence=(
            *evidence_of("speed", speed, speed_errors(table, fit, rates), rates),
            *evidence_of("memory", memory, memory_errors, peak_gib),
        ),
        fitted={
            "speed": tuple(sorted({run.id for run in speed})),
            "memory": tuple(sorted({run.id for run in memory})),
        },
    )


def _generations(measured: Mapping[str, GenerationRates]) -> Mapping[str, GenerationRates]:
    borrowed = {
        name: GenerationRates(
            products={kind: _short(share * factor) for kind, share in measured[kin].products.items()},
            attention=_short(measured[kin].attention * factor),
            source=f"borrowed: {why}",
        )
        for name, (kin, factor, why) in BORROWED.items()
        if kin in measured and name not in measured
    }
    return {**measured, **borrowed, "other": OTHER}
