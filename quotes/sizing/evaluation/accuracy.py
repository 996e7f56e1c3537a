"""The document on accuracy: every figure from rows that the fit has not seen, beside the goal it is held to."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from quotes.sizing.evaluation.report import Errors, Summary, Verdicts

HEAD = """# How far off the figures are

Written by `manage.py evaluate_sizing DIR --docs docs/accuracy.md`; do not edit. What the misses mean, what was tried
and what would help stands in `docs/sizing/accuracy_notes.md`, whose text is repeated at the end.

Every error below is of rows that the fit has not seen. Rows that the shipped constants were fitted on are predicted by
a fit without their group: the model on the GPU, unless the table says otherwise. Error = absolute percentage error;
*inside* = share of measurements within the 80 % interval. Refused rows are counted, never dropped.
"""


class Goal(NamedTuple):
    """The error a metric is held to, per cent."""

    file: str
    metric: str
    what: str
    median_pct: float
    p90_pct: float


GOALS: tuple[Goal, ...] = (
    Goal("serving_measured", "tpot_ms", "time per token, model and GPU never seen together", 11, 35),
    Goal("serving_measured", "ttft_ms", "time to first token below saturation, pair never seen", 25, 70),
    Goal("serving_measured", "output_tokens_s_per_gpu", "output tokens/s per GPU, pair never seen", 11, 30),
    Goal("serving_throughput", "value", "published throughput tables", 18, 45),
    Goal("serving_memory", "weights_gib_per_gpu", "weights per GPU", 2, 6),
    Goal("serving_memory", "kv_cache_tokens", "KV tokens from the hardware alone", 6, 20),
    Goal("training_memory", "peak_mem_gib_per_gpu", "training peak memory", 8, 25),
    Goal("other_workloads", "value", "other workloads, model and accelerator never seen together", 20, 60),
)


class Cross(NamedTuple):
    """Errors when whole groups are left out of the fit."""

    left_out: str
    metric: str
    errors: Errors
    goal: tuple[float, float] | None = None


def document(found: Sequence[Summary], crosses: Sequence[Cross], notes: str) -> str:
    """Markdown. `notes` = the hand-written part."""
    lines = [HEAD, *_goals(found), *_crosses(crosses)]
    for summary in found:
        lines += _section(summary)
    if notes:
        lines += [notes.strip(), ""]
    return "\n".join(lines)


def _goals(found: Sequence[Summary]) -> Iterator[str]:
    by_key = {(summary.file, summary.metric): summary for summary in found}
    yield "## Goals\n"
    yield "| what | goal, median / 90 % | reached | rows | inside |"
    yield "| --- | --- | --- | --- | --- |"
    for goal in GOALS:
        summary = by_key.get((goal.file, goal.metric))
        if summary is not None and summary.errors is not None:
            errors = summary.errors
            met = errors.median_pct <= goal.median_pct and errors.p90_pct <= goal.p90_pct
            reached = f"{errors.median_pct:.1f} / {errors.p90_pct:.1f} %{'' if met else ' — missed'}"
            wanted = f"{goal.median_pct:g} / {goal.p90_pct:g} %"
            yield f"| {goal.what} | {wanted} | {reached} | {errors.rows} | {_inside(errors)} |"
    for summary in found:
        if summary.verdicts is not None:
            verdicts = summary.verdicts
            yield (
                f"| verdicts of {summary.file} | 95 % right, none 'fits' that ran out | "
                f"{verdicts.right_pct:.1f} % right, {verdicts.fits_though_oom} did | {verdicts.rows} | |"
            )
    yield ""


def _crosses(crosses: Sequence[Cross]) -> Iterator[str]:
    if not crosses:
        return
    yield "## Whole groups left out\n"
    yield "| left out | metric | median | 90 % | bias | rows | goal |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for cross in crosses:
        errors = cross.errors
        goal = f"{cross.goal[0]:g} / {cross.goal[1]:g} %" if cross.goal else ""
        yield (
            f"| {cross.left_out} | {cross.metric} | {errors.median_pct:.1f} % | {errors.p90_pct:.1f} % | "
            f"{errors.bias_pct:+.1f} % | {errors.rows} | {goal} |"
        )
    yield ""


def _section(summary: Summary) -> Iterator[str]:
    yield f"## {summary.file}: {summary.metric}\n"
    yield f"{summary.rows} rows, {summary.answered} answered, {summary.unscored} of them not counted.\n"
    if summary.errors is not None:
        yield "| | rows | median | 90 % | bias | inside |"
        yield "| --- | --- | --- | --- | --- | --- |"
        yield _row("**all**", summary.errors)
        yield from (_row(f"*{name}*", errors) for name, errors in summary.by_badge.items() if name)
        yield from _groups(summary.by_gpu)
        yield from _groups(summary.by_model)
        yield ""
    if summary.verdicts is not None:
        verdicts = summary.verdicts
        yield (
            f"{verdicts.right} of {verdicts.rows} verdicts right ({verdicts.right_pct:.1f} %), {verdicts.tight} "
            f"of them 'tight'; {verdicts.fits_though_oom} called 'fits' that ran out of memory.\n"
        )
    if summary.refused:
        yield "| refused | reason |"
        yield "| --- | --- |"
        yield from (f"| {count} | {reason} |" for reason, count in summary.refused.items())
        yield ""


FEW = 5  # rows below which a group says nothing


def _groups(table: Mapping[str, Errors | Verdicts]) -> Iterator[str]:
    for name, errors in table.items():
        if isinstance(errors, Errors) and errors.rows >= FEW:
            yield _row(name, errors)


def _row(name: str, errors: Errors) -> str:
    return (
        f"| {name} | {errors.rows} | {errors.median_pct:.1f} % | {errors.p90_pct:.1f} % | {errors.bias_pct:+.1f} % | "
        f"{_inside(errors)} |"
    )


def _inside(errors: Errors) -> str:
    return "" if errors.coverage_pct is None else f"{errors.coverage_pct:.0f} %"
