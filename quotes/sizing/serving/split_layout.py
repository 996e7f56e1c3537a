"""An extra layout for a service that is sized already: its GPUs as prompt workers and answer workers.

The workers stand where the replicas stood, in the same formats, and none is fuller than those were. The best division
is the one whose promises, at the cautious ends, are furthest from being missed. What is not known of such layouts
widens the intervals: see docs/sizing/accuracy_notes.md.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from catalog.specs import AcceleratorSpec, ModelArchitecture
from configurator.workload import LanguageService
from quotes.sizing.architecture import FORMATS
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.results import LoadOption, SplitLayout, Verdict
from quotes.sizing.serving.calibration import Calibration
from quotes.sizing.serving.fleet import Fleet, Memory, fleet_of, memory_of_ways
from quotes.sizing.serving.forward import decode_seconds, prefill_seconds
from quotes.sizing.serving.intervals import Interval
from quotes.sizing.serving.layouts import Way, kv_bytes, layouts
from quotes.sizing.serving.machines import one_way_gb_s
from quotes.sizing.serving.memory import (
    EngineMemory,
    Split,
    engine_memory,
    kv_gib_of_sequence,
    margin_gib,
    verdict,
)
from quotes.sizing.serving.queueing import wait_quantile_seconds
from quotes.sizing.serving.speed import Targets
from quotes.sizing.serving.split import (
    WIDER,
    AnswerStation,
    PromptStation,
    circling,
)
from quotes.sizing.serving.split_explain import Divisions, Timed, told

type Values = NDArray[np.float64]
type Index = NDArray[np.intp]

COUNTS_TRIED = 8  # of prompt workers, per pair of worker sizes
ROOM = 0.999  # of an answer worker's places in use: beyond it requests wait for one


def split_layout(
    option: LoadOption,
    service: LanguageService,
    arch: ModelArchitecture,
    accelerator: AcceleratorSpec,
    server_gpus: int,
    assumptions: Assumptions,
    calibration: Calibration,
) -> SplitLayout | None:
    """`option` with its working replicas split. None for cards without links between them, on which no such run was
    published, and where nothing is left to split or no division has room. `server_gpus`: in one server."""
    gpus = option.gpus_per_replica * (option.replicas - option.spare_replicas)
    if not accelerator.link_gb_s or gpus < 2:
        return None
    engine = engine_memory(service.engine, assumptions)
    ways = _workers(option, arch, accelerator)
    memory = memory_of_ways(
        ways, service, arch, [accelerator], engine, assumptions.kv_occupancy_limit_fraction
    )
    kept = [at for at in range(len(ways)) if _roomy(memory, at, option.verdict, arch, engine)]
    ways = [ways[at] for at in kept]
    divisions = _divisions([way.gpus for way in ways], gpus)
    if not len(divisions.readers):
        return None
    fleet = fleet_of(ways, memory.capacity[kept], service, arch, [accelerator], calibration)
    split = Split(tp=np.array([float(way.tp) for way in ways]))
    cache = kv_gib_of_sequence(arch, service.prompt_tokens, kv_bytes(option.kv_precision), split, engine)
    rate = one_way_gb_s(accelerator, gpus)[0] * 1e9
    if gpus > server_gpus:
        rate = min(rate, assumptions.front_gbit_s_per_gpu * 1e9 / 8)
    targets = Targets.of(service, assumptions)
    timed = _timed(fleet, divisions, service, cache * 2**30 / rate, targets, assumptions)
    best = _best(timed, targets)
    return None if best is None else told(timed, best, ways, option, service, targets, assumptions)


def _workers(option: LoadOption, arch: ModelArchitecture, accelerator: AcceleratorSpec) -> list[Way]:
    """Every layout that stands in the place of one replica, once or several times."""
    place, form = option.gpus_per_replica, FORMATS[option.precision]
    return [
        Way(0, form, option.kv_precision, tp, dp, ep)
        for tp, dp, ep in layouts(arch, accelerator, place)
        if place % (tp * dp) == 0
    ]


def _roomy(memory: Memory, at: int, wanted: Verdict, arch: ModelArchitecture, engine: EngineMemory) -> bool:
    """Whether a worker holds the longest request at least as comfortably as the replicas did."""
    margin = margin_gib(arch, engine, float(memory.budget.weights_gib[at]))
    found = verdict(float(memory.budget.kv_pool_gib[at]), float(memory.needed_gib[at]), margin)
    return found in (Verdict.FITS, wanted) and memory.capacity[at] >= 1


# ── every division at the peak ──────────────────────────────────────────────────────────────────────────────────


def _divisions(sizes: Sequence[int], gpus: int) -> Divisions:
    rows = []
    for reads, reader in enumerate(sizes):
        for writes, writer in enumerate(sizes):
            most = (gpus - writer) // reader
            tried = np.unique(np.round(np.geomspace(1, max(most, 1), COUNTS_TRIED)).astype(int))
            rows += [
                (reads, writes, count, (gpus - count * reader) // writer) for count in tried if count <= most
            ]
    columns = np.array(rows, float).reshape(-1, 4).T
    return Divisions(columns[0].astype(np.intp), columns[1].astype(np.intp), columns[2], columns[3])


def _timed(
    fleet: Fleet,
    divisions: Divisions,
    service: LanguageService,
    transfer_s: Values,
    targets: Targets,
    assumptions: Assumptions,
) -> Timed:
    reading, writing, sched = fleet.take(divisions.reads), fleet.take(divisions.writes), fleet.sched
    transfer = np.maximum(
        transfer_s[divisions.reads], transfer_s[divisions.writes]
    )  # the narrower end decides
    alone, batched = _reading(reading, divisions.readers, service)
    fixed = reading.ttft_x * (sched.first_s + sched.first_gpu_s * (reading.spread.gpus - 1) + alone)
    first = fixed + transfer + assumptions.split_handover_s
    context = service.prompt_tokens + service.output_tokens / 2

    def step(batch: Values) -> Values:
        whole = decode_seconds(
            writing.shape,
            writing.machine,
            writing.over,
            writing.spread,
            np.maximum(batch, 1.0),
            context,
            targets.drafts,
        )
        return np.asarray(whole * writing.tpot_x / targets.accepted, float)

    found = circling(
        service.concurrent_requests,
        PromptStation(divisions.readers, batched, first, targets.variation),
        AnswerStation(divisions.writers, service.output_tokens, step, writing.capacity, sched.first_steps),
    )
    wait = wait_quantile_seconds(found.requests_s, batched, targets.variation, servers=divisions.readers)
    longer = 1.645 * targets.variation * reading.ttft_x * alone
    return Timed(
        divisions=divisions,
        reading=reading,
        writing=writing,
        found=found,
        prompt=alone,
        transfer=transfer,
        wait=wait,
        ttft_p95=first + np.asarray(sched.first_steps) * found.step_s + np.hypot(wait, longer),
        ttft_intervals=tuple(_wider(row[0]) for row in reading.intervals),
        tpot_intervals=tuple(_wider(row[1]) for row in writing.intervals),
    )


def _reading(reading: Fleet, workers: Values, service: LanguageService) -> tuple[Values, Values]:
    """Seconds of one prompt alone, and among others on the same worker."""
    prompt, replicas = float(service.prompt_tokens), np.asarray(reading.spread.dp, float)
    load = service.concurrent_requests / workers / replicas
    together = np.clip(reading.sched.chunk_tokens / prompt, 1.0, np.maximum(1.0, load))
    rates = reading.shape, reading.machine, reading.over, reading.spread
    alone = prefill_seconds(*rates, 1.0, prompt)
    return alone, prefill_seconds(*rates, together, prompt) / (together * replicas) * reading.ttft_x


def _wider(interval: Interval) -> Interval:
    return Interval(interval.low**WIDER, interval.high**WIDER)


def _best(timed: Timed, targets: Targets) -> int | None:
    """The division whose nearest miss is furthest away, counted as when replicas are sized; None when no division has a
    place for every answer."""
    later = [one.high if targets.ttft_stated else 1.0 for one in timed.ttft_intervals]
    slower = [one.high if targets.tokens_stated else 1.0 for one in timed.tpot_intervals]
    late = timed.ttft_p95 * np.array(later) / targets.ttft_s
    slow = timed.found.step_s * np.array(slower) * targets.tokens_s
    strain = np.maximum(late, slow)
    strain = np.where(timed.found.batch < ROOM * timed.writing.capacity, strain, np.inf)
    best = int(np.argmin(strain))
    return best if np.isfinite(strain[best]) else None
