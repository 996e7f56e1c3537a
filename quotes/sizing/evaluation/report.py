"""Summing up predicted rows: how many were answered, how far off, how often inside their interval."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from quotes.sizing.evaluation.base import PredictedRow

COLUMNS = ("file", "id", "metric", "measured", "predicted", "low", "high", "badge", "refused")
VERDICTS = ("fits", "tight", "oom")


@dataclass(frozen=True, slots=True)
class Errors:
    """Of numeric predictions; percentages. `coverage_pct` = measurements inside the interval."""

    rows: int
    median_pct: float
    p90_pct: float
    bias_pct: float
    coverage_pct: float | None  # None: no prediction has an interval


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Of predicted outcomes. `right`: the outcome, or tight; `fits_though_oom` must stay 0."""

    rows: int
    right: int
    tight: int
    fits_though_oom: int

    @property
    def right_pct(self) -> float:
        return 100 * self.right / self.rows if self.rows else float("nan")


@dataclass(frozen=True, slots=True)
class Summary:
    """One metric of one file. `unscored` = answered, but kept out of the errors (queues, inferred settings)."""

    file: str
    metric: str
    rows: int
    answered: int
    unscored: int
    refused: Mapping[str, int]
    errors: Errors | None
    verdicts: Verdicts | None
    by_badge: Mapping[str, Errors]
    by_gpu: Mapping[str, Errors | Verdicts]
    by_model: Mapping[str, Errors | Verdicts]


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def errors_of(rows: Sequence[PredictedRow]) -> Errors | None:
    """None when no row compares two positive numbers."""
    pairs = [
        row
        for row in rows
        if is_number(row.measured) and is_number(row.predicted) and float(row.measured or 0) > 0
    ]
    if not pairs:
        return None
    ratio = np.array([float(row.predicted or 0) / float(row.measured or 1) for row in pairs])
    inside = [
        row.low <= float(row.measured or 0) <= row.high
        for row in pairs
        if row.low is not None and row.high is not None
    ]
    off = np.abs(ratio - 1) * 100
    return Errors(
        rows=len(pairs),
        median_pct=float(np.median(off)),
        p90_pct=float(np.percentile(off, 90)),
        bias_pct=float(np.median(ratio - 1) * 100),
        coverage_pct=100 * float(np.mean(inside)) if inside else None,
    )


def verdicts_of(rows: Sequence[PredictedRow]) -> Verdicts | None:
    """None when no row predicts an outcome."""
    told = [row for row in rows if row.predicted in VERDICTS and row.measured in VERDICTS]
    if not told:
        return None
    return Verdicts(
        rows=len(told),
        right=sum(row.predicted in (row.measured, "tight") for row in told),
        tight=sum(row.predicted == "tight" for row in told),
        fits_though_oom=sum(row.predicted == "fits" and row.measured == "oom" for row in told),
    )


def summaries(file: str, rows: Iterable[PredictedRow]) -> Iterator[Summary]:
    """One per metric, in the order in which they occur."""
    by_metric: dict[str, list[PredictedRow]] = defaultdict(list)
    for row in rows:
        by_metric[row.metric].append(row)
    for metric, found in by_metric.items():
        yield summary_of(file, metric, found)


def summary_of(file: str, metric: str, rows: Sequence[PredictedRow]) -> Summary:
    answered = [row for row in rows if not row.refused]
    scored = [row for row in answered if row.scored]
    return Summary(
        file=file,
        metric=metric,
        rows=len(rows),
        answered=len(answered),
        unscored=len(answered) - len(scored),
        refused=dict(Counter(row.refused for row in rows if row.refused).most_common()),
        errors=errors_of(scored),
        verdicts=verdicts_of(scored),
        by_badge={
            name: found
            for name, group in _grouped(scored, lambda row: row.badge)
            if (found := errors_of(group)) is not None
        },
        by_gpu=_errors_by(scored, lambda row: row.gpu),
        by_model=_errors_by(scored, lambda row: row.model),
    )


def _grouped(
    rows: Sequence[PredictedRow], key: Callable[[PredictedRow], str]
) -> list[tuple[str, list[PredictedRow]]]:
    groups: dict[str, list[PredictedRow]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))


def _errors_by(
    rows: Sequence[PredictedRow], key: Callable[[PredictedRow], str]
) -> Mapping[str, Errors | Verdicts]:
    found: dict[str, Errors | Verdicts] = {}
    for name, group in _grouped(rows, key):
        told = errors_of(group) or verdicts_of(group)
        if told is not None:
            found[name or "not stated"] = told
    return found


def as_json(found: Iterable[Summary]) -> list[dict[str, object]]:
    return [asdict(summary) for summary in found]


def row_cells(file: str, row: PredictedRow) -> tuple[object, ...]:
    """The cells of one row, in the order of COLUMNS."""
    values = (row.measured, row.predicted, row.low, row.high)
    return (
        file,
        row.id,
        row.metric,
        *("" if value is None else value for value in values),
        row.badge,
        row.refused,
    )


def text(found: Iterable[Summary], *, groups: int = 12) -> Iterator[str]:
    """Lines for a terminal."""
    for one in found:
        yield f"{one.file} · {one.metric}: {one.rows} rows, {one.answered} answered"
        if one.unscored:
            yield f"  {one.unscored} answered but not counted"
        if one.errors:
            yield "  " + error_line(one.errors)
        if one.verdicts:
            yield "  " + verdict_line(one.verdicts)
        for name, errors in one.by_badge.items():
            yield f"  {name or 'no badge'}: {error_line(errors)}"
        for title, table in (("by GPU", one.by_gpu), ("by model", one.by_model)):
            if len(table) > 1:
                yield f"  {title}"
                for name, told in list(table.items())[:groups]:
                    line = error_line(told) if isinstance(told, Errors) else verdict_line(told)
                    yield f"    {name}: {line}"
        for reason, count in one.refused.items():
            yield f"  refused {count}: {reason}"


def error_line(errors: Errors) -> str:
    line = (
        f"{errors.rows} rows, median error {errors.median_pct:.1f} %, 90th percentile {errors.p90_pct:.1f} %, "
        f"bias {errors.bias_pct:+.1f} %"
    )
    covered = errors.coverage_pct
    return line if covered is None else f"{line}, inside the interval {covered:.0f} %"


def verdict_line(verdicts: Verdicts) -> str:
    return (
        f"{verdicts.right} of {verdicts.rows} verdicts right ({verdicts.right_pct:.1f} %), {verdicts.tight} tight, "
        f"{verdicts.fits_though_oom} called 'fits' that ran out of memory"
    )
