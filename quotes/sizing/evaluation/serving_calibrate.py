"""From tables of published serving runs to `data/serving.json`: constants, residuals, evidence.

Constants are fitted on all rows. Residual quantiles come from rows left out of the fit: with every run of their model
on their GPU for what was never measured, with their configuration for what was.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from quotes.sizing.evaluation import serving_fit, tables_fit
from quotes.sizing.evaluation.accuracy import Cross
from quotes.sizing.evaluation.base import Context, Row
from quotes.sizing.evaluation.conformal import COVERED, interval
from quotes.sizing.evaluation.report import Errors
from quotes.sizing.evaluation.serving_disagg import fitted_decode_workers
from quotes.sizing.evaluation.serving_fit import Measured, measured
from quotes.sizing.evaluation.serving_rows import (
    PREFILL_FIRST,
    Predicted,
    Run,
    Table,
    parse_runs,
    predict,
    table_of,
    throughput_per_gpu,
)
from quotes.sizing.evaluation.serving_throughput import Question, questions_of
from quotes.sizing.evaluation.table_answers import answer_all
from quotes.sizing.serving.calibration import Calibration, MeasuredRow, Metric, Residual
from quotes.sizing.serving.evidence import FADING, fading_mean
from quotes.sizing.serving.machines import shape_signature, silicon

type Vector = NDArray[np.float64]
type Mask = NDArray[np.bool_]

ENOUGH_ROWS = 40  # residuals of fewer rows do not make an interval of their own
METRICS: tuple[Metric, ...] = ("ttft", "tpot", "throughput")


def calibrate(
    runs: Sequence[Row], disaggregated: Sequence[Row], tables: Sequence[Row], context: Context
) -> Mapping[str, str]:
    """File name → content, for `quotes/sizing/data`. Deterministic; takes a few minutes."""
    return {"serving.json": dumps(fitted(runs, disaggregated, tables, context))}


def fitted(
    runs: Sequence[Row], disaggregated: Sequence[Row], tables: Sequence[Row], context: Context
) -> Calibration:
    """The calibration on all rows. `context.calibration` gives the kernel curves and what is not fitted."""
    closed = ClosedLoad.of(runs, disaggregated, context)
    values, calibration = serving_fit.fit(closed.table, context.calibration)
    unseen = closed.left_out(context.calibration, values)
    seen = closed.shifted(predict(closed.table, calibration))
    context = context._replace(calibration=calibration)
    questions = answerable(tables, context)
    start, calibration = tables_fit.fit(questions, context)
    table_errors = tables_fit.left_out(questions, context, start)
    residuals = (
        *closed.residuals(unseen, seen=False),
        *closed.residuals(seen, seen=True),
        *table_residuals(questions, table_errors),
    )
    rows, sources = evidence_rows(closed, predict(closed.table, calibration))
    generations = sorted({choice.generation for choice in closed.table.choices})
    return calibration.changed(
        version=calibration.version,
        data_sha256=data_hash(runs, disaggregated, tables),
        counts={
            "runs": len(closed.runs),
            "runs_with_first_token": int(closed.facts.use_ttft.sum()),
            "decode_workers": int(sum(run.alone for run in closed.table.runs)),
            "tables": len(questions),
        },
        residuals=residuals,
        serving_generations=tuple(generations),
        table_generations=tuple(
            sorted({answer.choice.generation for answer in answer_all(questions, context)})
        ),
        fitted_pairs=tuple(sorted({tables_fit.pair(question) for question in questions})),
        sources=(),
        evidence_columns=tuple(MeasuredRow.model_fields),
        evidence_rows=(),
    ).with_rows(rows, sources)


def data_hash(*tables: Iterable[Row]) -> str:
    digest = hashlib.sha256()
    for table in tables:
        for row in table:
            digest.update(json.dumps(row, sort_keys=True).encode())
    return digest.hexdigest()


# ── runs at a fixed load ────────────────────────────────────────────────────────────────────────────────────────


class ClosedLoad(NamedTuple):
    """Published runs at a fixed number of requests in flight, decode workers of their own among them."""

    runs: tuple[Run, ...]  # without decode workers
    table: Table  # with them, behind the runs
    facts: Measured

    @classmethod
    def of(cls, rows: Iterable[Row], disaggregated: Iterable[Row], context: Context) -> "ClosedLoad":
        runs, _ = parse_runs(rows, context)
        together = [*runs, *fitted_decode_workers(disaggregated, context)]
        table = table_of(together, context.calibration, context.assumptions)
        return cls(tuple(runs), table, measured(table.runs))

    @property
    def pairs(self) -> list[str]:
        return ["|".join(run.pair) for run in self.table.runs]

    def left_out(self, calibration: Calibration, start: Vector, groups: Sequence[str] = ()) -> Predicted:
        """Predictions of every run by a fit without its group; groups are pairs of model and GPU unless given."""
        return serving_fit.left_out(self.table, calibration, groups or self.pairs, start)

    def shifted(self, predicted: Predicted) -> Predicted:
        """`predicted` with the shift by measured runs of the same model, GPU, engine and format in other
        configurations."""
        shift = self._shifts(predicted)
        ttft, tpot = predicted.ttft_ms * shift[0], predicted.tpot_ms * shift[1]
        load = np.asarray(self.table.load.concurrency, float)
        rate = throughput_per_gpu(load, self.table.nominal, ttft, tpot, self.table.spread.gpus)
        return Predicted(ttft, tpot, rate, predicted.steady)

    def _shifts(self, predicted: Predicted) -> Vector:
        runs, facts = self.table.runs, self.facts
        place = np.log([(run.tp * run.dp, run.prompt, run.output) for run in runs])
        peers = np.array(["|".join((*run.pair, run.engine, run.form.key, str(run.alone))) for run in runs])
        setting = np.array([str((run.tp, run.dp, run.ep, run.prompt, run.output)) for run in runs])
        factors = (
            np.where(facts.use_ttft, facts.ttft_ms / predicted.ttft_ms, 0.0),
            np.where(facts.use_tpot, facts.tpot_ms / predicted.tpot_ms, 0.0),
        )
        shifts = np.ones((2, len(runs)))
        for name in sorted(set(peers)):
            mine = np.flatnonzero(peers == name)
            near = np.exp(-(np.abs(place[mine, None] - place[None, mine]) / FADING).sum(axis=-1))
            near *= setting[mine, None] != setting[None, mine]
            for row, factor in enumerate(factors):
                shifts[row, mine] = [np.exp(fading_mean(factor[mine], weight)) for weight in near]
        return shifts

    def log_ratios(self, predicted: Predicted, metric: Metric) -> tuple[Vector, Mask]:
        """Logarithms of measured ÷ predicted, and which runs count."""
        facts = self.facts
        alone = np.array([run.alone for run in self.table.runs])
        if metric == "ttft":
            return np.log(facts.ttft_ms / predicted.ttft_ms), facts.use_ttft
        if metric == "tpot":
            return np.log(facts.tpot_ms / predicted.tpot_ms), facts.use_tpot & ~alone
        load = np.asarray(self.table.load.concurrency, float)
        rate = throughput_per_gpu(
            load, self.table.nominal, facts.ttft_ms, facts.tpot_ms, self.table.spread.gpus
        )
        return np.log(rate / predicted.output_tokens_s_per_gpu), facts.use_tpot & ~alone

    def residuals(self, predicted: Predicted, *, seen: bool) -> list[Residual]:
        """Intervals over all engines, and of each engine with enough rows."""
        engines = np.array([run.engine for run in self.table.runs])
        pairs = np.array(self.pairs)
        found = []
        for metric in METRICS:
            ratios, counts = self.log_ratios(predicted, metric)
            for engine in ("", *sorted(set(engines) - {PREFILL_FIRST})):
                mine = counts & ((engines == engine) | (engine == ""))
                if mine.sum() >= ENOUGH_ROWS:
                    low, high = interval(ratios[mine], list(pairs[mine]))
                    found.append(
                        Residual(
                            metric=metric, engine=engine, seen=seen, low=low, high=high, rows=int(mine.sum())
                        )
                    )
        return found

    def errors(
        self, left_out: str, predicted: Predicted, goals: Mapping[Metric, tuple[float, float]]
    ) -> list[Cross]:
        """One entry per metric."""
        found = []
        for metric in METRICS:
            ratios, counts = self.log_ratios(predicted, metric)
            off = np.exp(-ratios[counts]) - 1
            errors = Errors(
                rows=int(counts.sum()),
                median_pct=100 * float(np.median(np.abs(off))),
                p90_pct=100 * float(np.percentile(np.abs(off), 90)),
                bias_pct=100 * float(np.median(off)),
                coverage_pct=None,
            )
            found.append(Cross(left_out, metric, errors, goals.get(metric)))
        return found


def evidence_rows(closed: ClosedLoad, predicted: Predicted) -> tuple[list[MeasuredRow], list[str]]:
    """The runs that count as evidence rows, and their sources."""
    facts, rows = closed.facts, []
    sources = sorted({source_of(run) for run in closed.runs})
    for number, run in enumerate(closed.runs):
        if not facts.use_tpot[number]:
            continue
        ttft_x = float(facts.ttft_ms[number] / predicted.ttft_ms[number])
        rows.append(
            MeasuredRow(
                shape=shape_signature(run.arch),
                gpu=silicon(run.accelerator.name, run.accelerator.form_factor),
                model=run.model.split("/")[-1],
                engine=run.engine,
                precision=run.form.key,
                tp=run.tp,
                dp=run.dp,
                prompt=round(run.prompt),
                output=round(run.output),
                concurrency=run.concurrency,
                ttft_ms=_short(run.ttft_ms or 0.0),
                tpot_ms=_short(run.tpot_ms or 0.0),
                ttft_x=_short(ttft_x, 3) if facts.use_ttft[number] else 0.0,
                tpot_x=_short(float(facts.tpot_ms[number] / predicted.tpot_ms[number]), 3),
                source=sources.index(source_of(run)),
            )
        )
    return rows, sources


def source_of(run: Run) -> str:
    """InferenceX files are dumps of one day; other files bear the name of the model."""
    name = run.source.split(";")[0].removesuffix(".csv")
    dump = name.removeprefix("db-dump-")
    return (
        f"InferenceX, {dump}" if dump[:2] == "20" else f"published benchmark of {name.replace('_', '/', 1)}"
    )


def _short(value: float, digits: int = 4) -> float:
    return float(f"{value:.{digits}g}")


# ── how well it does on groups that it has not seen ─────────────────────────────────────────────────────────────

SEEN_GOALS: Mapping[Metric, tuple[float, float]] = {"tpot": (7, 20), "ttft": (14, 45)}
UNSEEN_GOALS: Mapping[Metric, tuple[float, float]] = {
    "tpot": (11, 35),
    "ttft": (25, 70),
    "throughput": (11, 30),
}


def cross_validation(runs: Sequence[Row], disaggregated: Sequence[Row], context: Context) -> list[Cross]:
    """Errors with pairs, models, GPUs and configurations left out. Takes a minute or two."""
    closed = ClosedLoad.of(runs, disaggregated, context)
    values, fitted_calibration = serving_fit.fit(closed.table, context.calibration)
    groups = {
        "model on GPU": closed.pairs,
        "model": [run.model for run in closed.table.runs],
        "GPU": [run.gpu for run in closed.table.runs],
    }
    found = []
    for name, labels in groups.items():
        found += closed.errors(name, closed.left_out(context.calibration, values, labels), UNSEEN_GOALS)
    seen = closed.shifted(predict(closed.table, fitted_calibration))
    return found + closed.errors("configuration of a known pair", seen, SEEN_GOALS)


# ── published tables ────────────────────────────────────────────────────────────────────────────────────────────


def answerable(rows: Iterable[Row], context: Context) -> list[Question]:
    """The rows of throughput tables that the speed model answers."""
    questions, _ = questions_of((row for row in rows if not row["engine"].startswith("llama.cpp")), context)
    return [question for question in questions if question.row["value"]]


def table_residuals(questions: Sequence[Question], log_ratios: Vector) -> list[Residual]:
    """Intervals of tables: of rates and times per token, and of first tokens."""
    first = np.array([question.metric.startswith("ttft") for question in questions])
    pairs = np.array([tables_fit.pair(question) for question in questions])
    known = np.isfinite(log_ratios)
    found = []
    kinds: tuple[tuple[Metric, Mask], ...] = (("throughput", ~first & known), ("ttft", first & known))
    for metric, mine in kinds:
        if mine.sum() >= ENOUGH_ROWS:
            low, high = interval(log_ratios[mine], list(pairs[mine]), COVERED)
            found.append(Residual(metric=metric, engine="tables", low=low, high=high, rows=int(mine.sum())))
    return found


# ── the file ────────────────────────────────────────────────────────────────────────────────────────────────────


def dumps(calibration: Calibration) -> str:
    """One line per curve, residual and measured run, so that changes can be read."""
    data = json.loads(calibration.model_dump_json())
    lines = []
    for key, value in data.items():
        if value is None:
            continue
        if key in ("curves", "residuals", "evidence_rows", "fitted_pairs"):
            entries = [_entry(entry) for entry in value]
            lines.append(f'"{key}": [\n' + ",\n".join(entries) + "\n]")
        elif isinstance(value, dict) and any(isinstance(part, dict) for part in value.values()):
            parts = [f"{json.dumps(name)}: {_entry(part)}" for name, part in value.items()]
            lines.append(f'"{key}": {{\n' + ",\n".join(parts) + "\n}")
        else:
            lines.append(f'"{key}": {_entry(value)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _entry(value: object) -> str:
    if isinstance(value, dict):
        value = {name: _rounded(part) for name, part in value.items() if part not in ("", None)}
    return json.dumps(value, ensure_ascii=False, separators=(",", ":") if isinstance(value, list) else None)


def _rounded(value: object) -> object:
    return _short(value) if isinstance(value, float) else value
