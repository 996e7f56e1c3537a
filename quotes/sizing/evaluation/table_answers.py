"""Answering published tables: one evaluation of the speed model for all rows, at every load that may matter."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from quotes.sizing.evaluation.base import Context
from quotes.sizing.evaluation.serving_rows import (
    Table,
    constants_for,
    table_of,
)
from quotes.sizing.evaluation.serving_throughput import Question
from quotes.sizing.serving.batching import steady_state
from quotes.sizing.serving.machines import Choice

type Values = NDArray[np.float64]

LOADS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)  # requests per replica that are tried
TAIL = 0.75  # mean over 99th percentile of a time per token, of a well-behaved run
# Of what a system carries: at a higher arrival rate the wait depends on how long the run lasted.
NEARLY_FULL = 0.85


class Replica(NamedTuple):
    """Times and rates of one replica of a run at each load of LOADS."""

    load: Values
    capacity: float
    ttft_s: Values
    tpot_s: Values
    step_s: Values
    prompt_batched_s: Values
    requests_s: Values

    def at(self, requests: float, values: Values) -> float:
        """`values` at a load in between."""
        logs = np.interp(np.log(requests), np.log(self.load), np.log(np.maximum(values, 1e-12)))
        return float(np.exp(logs))

    @property
    def usable(self) -> NDArray[np.bool_]:
        return self.load <= max(self.capacity, 1.0)


def replicas_of(table: Table, context: Context) -> list[Replica]:
    """All runs of `table` at all loads, in one evaluation of the speed model."""
    constants = constants_for(table, context.calibration)
    loads = np.array(LOADS, float)
    steady = steady_state(
        table.shape, table.machine, constants.over, constants.sched, table.spread,
        replace(table.load, concurrency=loads[:, None]),
    )  # fmt: skip
    shape = (len(loads), len(table.runs))
    rates = steady.output_tokens_s / table.load.output
    columns = [
        np.broadcast_to(values, shape)
        for values in (steady.ttft_s, steady.tpot_s, steady.step_s, steady.prompt_batched_s, rates)
    ]
    capacity = np.asarray(table.load.capacity, float)
    return [
        Replica(loads, float(capacity[run]), *(values[:, run] for values in columns))
        for run in range(shape[1])
    ]


class Answer(NamedTuple):
    """The predicted value; None when the load only makes a queue grow. `choice` = the machine of the first layout."""

    value: float | None
    choice: Choice


def answer_all(questions: Sequence[Question], context: Context) -> list[Answer]:
    """Answer all questions with one evaluation of the speed model."""
    runs = [run for question in questions for run in question.runs]
    if not runs:
        return []
    table = table_of(runs, context.calibration, context.assumptions)
    replicas = replicas_of(table, context)
    found, first = [], 0
    for question in questions:
        values = [outcome(question, at, replicas[first + at]) for at in range(len(question.runs))]
        known = [value for value in values if value is not None]
        smallest = question.metric.startswith(("ttft", "tpot", "itl", "e2e"))
        best = (min if smallest else max)(known) if known else None
        found.append(Answer(best, table.choices[first]))
        first += len(question.runs)
    return found


def outcome(question: Question, at: int, replica: Replica) -> float | None:
    """The row's metric in its unit for layout `at`; None when the load is beyond saturation."""
    run, count, metric = question.runs[at], question.replicas[at], question.metric
    requests = requests_in_flight(question, replica, count)
    if requests is None:
        return None
    per_second = replica.at(requests, replica.requests_s) * count
    if question.rate_s is not None:
        per_second = min(per_second, question.rate_s)
    ttft, tpot = replica.at(requests, replica.ttft_s), replica.at(requests, replica.tpot_s)
    if question.prompts:  # all sent at once: the last wave waits for all before it
        waves = max(0.0, question.prompts / (requests * count) - 1) / 2
        ttft += waves * (ttft + run.output * tpot)
    if metric.startswith(("ttft", "tpot", "itl", "e2e")):
        seconds = ttft if metric.startswith("ttft") else tpot
        if metric.startswith("e2e"):  # a batch: all prompts, then all steps
            seconds = replica.at(requests, replica.prompt_batched_s) * requests
            seconds += run.output * replica.at(requests, replica.step_s)
        return seconds * (1 if metric.endswith("_s") else 1e3)
    gpus = run.tp * run.dp * count
    match metric:
        case "tokens_s_decode":
            return requests * count / tpot
        case (
            "tokens_s_output_total" | "tokens_s_unspecified"
        ):  # unspecified: of ROCm's pages, which count answers
            return per_second * run.output
        case "tokens_s_output_per_gpu":
            return per_second * run.output / gpus
        case "tokens_s_total":
            return per_second * (run.output + run.prompt)
        case "queries_s" | "samples_s" | "requests_s":
            return per_second * (run.output if "tokens/s" in question.row["notes"] else 1)
        case "tokens_s_prefill_per_gpu":
            return run.prompt / replica.at(requests, replica.prompt_batched_s) / gpus
    return None


def requests_in_flight(question: Question, replica: Replica, count: float) -> float | None:
    """Per replica: given, or where the arrival rate is met, or where the most is done within the limits."""
    usable = replica.usable
    if question.requests is not None:
        return max(1.0, question.requests / count)
    if question.prompts is not None:
        return float(np.clip(min(question.prompts / count, replica.capacity), 1.0, LOADS[-1]))
    if question.rate_s is not None:
        wanted, carried = question.rate_s / count, replica.requests_s[usable]
        full = 1.0 if question.metric.startswith("tokens") else NEARLY_FULL
        if wanted > full * carried.max():
            return float(replica.load[usable][-1]) if question.metric.startswith("tokens") else None
        return float(np.exp(np.interp(np.log(wanted), np.log(carried), np.log(replica.load[usable]))))
    if question.limits is not None:
        ttft_limit_s, tpot_limit_ms = question.limits
        within = (replica.tpot_s * 1e3 <= TAIL * tpot_limit_ms) & (replica.ttft_s <= ttft_limit_s)
        usable = usable & within if (usable & within).any() else replica.load == replica.load[0]
    return float(replica.load[usable][np.argmax(replica.requests_s[usable])])
