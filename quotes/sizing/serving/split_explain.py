"""A split layout in words and figures: what it would be, and whether it is worth a trial."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from catalog.quantity import Message, Quantity, noop
from configurator.workload import LanguageService
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.results import Estimate, Layout, LoadOption, Speed, SplitLayout
from quotes.sizing.serving.explain import ANSWER, CALIBRATED, given
from quotes.sizing.serving.fleet import Fleet
from quotes.sizing.serving.intervals import Interval
from quotes.sizing.serving.layouts import Way
from quotes.sizing.serving.option import estimate
from quotes.sizing.serving.speed import Targets
from quotes.sizing.serving.split import Circling
from quotes.sizing.trace import Badge, Figure

type Values = NDArray[np.float64]
type Index = NDArray[np.intp]

FASTER = 1.1  # writing must be so much faster to be worth another layout


@dataclass(frozen=True, slots=True)
class Divisions:
    """Columns: the index of the way of both kinds of workers, and how many of each there are."""

    reads: Index
    writes: Index
    readers: Values
    writers: Values


@dataclass(frozen=True, slots=True)
class Timed:
    """Columns over the divisions. Times in seconds."""

    divisions: Divisions
    reading: Fleet
    writing: Fleet
    found: Circling
    prompt: Values  # reading one
    transfer: Values  # of its cache
    wait: Values  # for a prompt worker, 95 % of requests
    ttft_p95: Values
    ttft_intervals: tuple[Interval, ...]
    tpot_intervals: tuple[Interval, ...]


def told(
    timed: Timed,
    at: int,
    ways: Sequence[Way],
    option: LoadOption,
    service: LanguageService,
    targets: Targets,
    assumptions: Assumptions,
) -> SplitLayout:
    """Division `at` of `timed`, whose indices point into `ways`, against the undivided `option`."""
    divisions = timed.divisions
    reads, writes = ways[divisions.reads[at]], ways[divisions.writes[at]]
    readers, writers = int(divisions.readers[at]), int(divisions.writers[at])
    first = estimate(float(timed.ttft_p95[at]), timed.ttft_intervals[at], Badge.EXTRAPOLATED, 0)
    rate = estimate(
        float(1 / timed.found.step_s[at]), timed.tpot_intervals[at], Badge.EXTRAPOLATED, 0, inverse=True
    )
    worth, reason = _judged(first, rate, float(timed.found.prompts_busy[at]), option, targets)
    return SplitLayout(
        load=option.load,
        prompt_workers=readers,
        prompt_layout=Layout(tp=reads.tp, dp=reads.dp, ep=reads.ep),
        answer_workers=writers,
        answer_layout=Layout(tp=writes.tp, dp=writes.dp, ep=writes.ep),
        speed=Speed(ttft_p95_s=first, tokens_s_per_user=rate),
        worth=worth,
        said=Message.of(
            noop(
                "The same accelerators split into {readers} × {reads} that read prompts and {writers} × {writes} that"
                " write answers."
            ),
            readers=Quantity(value=readers, digits=4),
            reads=Quantity(value=reads.gpus, unit="GPUs", digits=4),
            writers=Quantity(value=writers, digits=4),
            writes=Quantity(value=writes.gpus, unit="GPUs", digits=4),
        ),
        reason=reason,
        figures=_figures(timed, at, first, rate, service, targets, assumptions),
    )


def _judged(
    first: Estimate, rate: Estimate, busy: float, option: LoadOption, targets: Targets
) -> tuple[bool, Message]:
    """Whether the split is worth a trial, and the reason. Wishes count as when replicas are sized, those that were
    stated at the cautious end; the two layouts are compared there."""
    before = option.speed.tokens_s_per_user.low if option.speed.tokens_s_per_user else 0.0
    late = first.high if targets.ttft_stated else first.value
    certain = rate.low if targets.tokens_stated else rate.value
    if late > targets.ttft_s and busy > targets.rho:
        return False, Message.of(
            noop(
                "Not worth it: however they are split, the accelerators that read have no time left ({busy} busy), and"
                " prompts queue up."
            ),
            busy=Quantity(value=100 * busy, unit="%", digits=2),
        )
    if late > targets.ttft_s:
        return False, Message.of(
            noop(
                "Not worth it: a first token may take {late} where {allowed} is allowed, since fewer accelerators read"
                " the prompts and each prompt is handed over."
            ),
            late=_seconds(late),
            allowed=_seconds(targets.ttft_s),
        )
    if certain < targets.tokens_s:
        return False, Message.of(
            noop(
                "Not worth it: a user gets {rate} where {least} is needed, since fewer accelerators write the answers."
            ),
            rate=_rate(certain),
            least=_rate(targets.tokens_s),
        )
    if rate.low < FASTER * before:
        return False, Message.of(
            noop(
                "Not worth it: a user gets at least {rate}, against {before} undivided. What answers gain without"
                " prompts in between goes into the accelerators that are set aside to read."
            ),
            rate=_rate(rate.low),
            before=_rate(before),
        )
    return True, Message.of(
        noop(
            "Worth a trial: a user gets at least {rate}, against {before} undivided, since prompts no longer hold up"
            " the answers. 95 of 100 first tokens come within {late}."
        ),
        rate=_rate(rate.low),
        before=_rate(before),
        late=_seconds(first.high),
    )


def _seconds(value: float) -> Quantity:
    return Quantity(value=value, unit="s", digits=2)


def _rate(value: float) -> Quantity:
    return Quantity(value=value, unit="tokens/s", digits=2)


def _figures(
    timed: Timed,
    at: int,
    first: Estimate,
    rate: Estimate,
    service: LanguageService,
    targets: Targets,
    assumptions: Assumptions,
) -> tuple[Figure, ...]:
    reading, found = timed.reading, timed.found
    sched, token_ms = reading.sched, float(found.step_s[at]) * 1e3
    return (
        Figure(
            key="split_ttft_p95_s",
            label=Message.of(noop("Time to first token with separate workers, 95 % of requests")),
            value=Quantity(value=first.value, unit="s", digits=2),
            low=first.low,
            high=first.high,
            formula=noop(
                "ratio × (fixed + fixed_per_gpu × (GPUs − 1) + prompt) + transfer + handover + steps × time_per_token"
                " + √(wait₉₅² + (1.645 × spread × ratio × prompt)²)"
            ),
            inputs=(
                given(noop("Fixed part"), float(np.asarray(sched.first_s)) * 1e3, "ms", CALIBRATED),
                given(
                    noop("Fixed part per further GPU"),
                    float(np.asarray(sched.first_gpu_s)) * 1e3,
                    "ms",
                    CALIBRATED,
                ),
                given(noop("GPUs per prompt worker"), float(reading.spread.gpus[at])),
                given(noop("Reading one prompt"), float(timed.prompt[at]) * 1e3, "ms"),
                given(noop("Ratio of nearby measurements"), float(reading.ttft_x[at]), "", CALIBRATED),
                given(noop("Moving its cache to the answer worker"), float(timed.transfer[at]) * 1e3, "ms"),
                given(
                    noop("Handover"),
                    assumptions.split_handover_s * 1e3,
                    "ms",
                    "assumption",
                    "split_handover_s",
                ),
                given(
                    noop("Steps before the first token"), float(np.asarray(sched.first_steps)), "", CALIBRATED
                ),
                given(noop("Time per token"), token_ms, "ms"),
                given(noop("Wait for a prompt worker, 95 % of requests"), float(timed.wait[at]) * 1e3, "ms"),
                given(noop("Share of time that prompt workers are busy"), float(found.prompts_busy[at])),
                given(
                    noop("Spread of prompt lengths"), targets.variation, "", "assumption", "prompt_variation"
                ),
            ),
            badge=first.badge,
            note=Message.of(
                noop(
                    "Published runs with separate workers do not tell what their first tokens waited for. Measure"
                    " before you rely on this."
                )
            ),
        ),
        Figure(
            key="split_tokens_s_per_user",
            label=Message.of(noop("Output speed per user with separate workers")),
            value=Quantity(value=rate.value, unit="tokens/s", digits=2),
            low=rate.low,
            high=rate.high,
            formula=noop("1 ÷ time_per_token"),
            inputs=(
                given(noop("Time per token"), token_ms, "ms"),
                given(noop("Requests that write together on one worker"), float(found.batch[at])),
                given(noop("Requests at once at the peak"), service.concurrent_requests, "", ANSWER),
            ),
            badge=rate.badge,
        ),
    )
