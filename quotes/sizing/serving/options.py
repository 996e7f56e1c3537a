"""How a language service runs on each accelerator: replicas that hold every target at the peak, or why none does.

All ways on all accelerators are timed together as arrays; only the few that are offered become objects. Where the
customer stated a target, it holds at the cautious end of the 80 % interval.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from catalog.quantity import Message, Quantity, noop
from catalog.specs import AcceleratorSpec, ModelArchitecture
from configurator.workload import LanguageService
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.portions import PartSpec
from quotes.sizing.results import (
    EngineSettings,
    Estimate,
    HostNeed,
    Layout,
    LoadOption,
    MemoryBreakdown,
    Refusal,
    Speed,
)
from quotes.sizing.serving.calibration import Calibration
from quotes.sizing.serving.evidence import Badges, Run, badges_for
from quotes.sizing.serving.fleet import Fleet, Memory, fleet_of, memory_of_ways, run_of
from quotes.sizing.serving.intervals import Interval
from quotes.sizing.serving.kernels import generation
from quotes.sizing.serving.layouts import Way, ways
from quotes.sizing.serving.machines import Choice, MissingFigure, require_figures, tabled_silicon
from quotes.sizing.serving.memory import (
    EngineMemory,
    MemoryBudget,
    engine_memory,
    margin_gib,
    planned_batch,
    verdict,
)
from quotes.sizing.serving.queueing import required_replicas
from quotes.sizing.serving.refusals import (
    Shortfall,
    context_refusal,
    memory_refusal,
    missing_refusal,
    no_server_refusal,
    part_refusal,
    speed_refusal,
    unmeasured_refusal,
)
from quotes.sizing.serving.speed import Largest, Served, Targets, largest_load, serve_rows
from quotes.sizing.trace import Badge

type Values = NDArray[np.float64]

OPTIONS_PER_DEMAND = 4
OPTIONS_PER_GROWTH = 2  # of the larger demands: fewest GPUs, and one step up
MUCH_MORE = 1.5  # headroom that makes a larger option worth showing

# ── the whole search ────────────────────────────────────────────────────────────────────────────────────────────


def serving_options(
    service: LanguageService,
    arch: ModelArchitecture,
    accelerators: Sequence[AcceleratorSpec],
    *,
    max_in_node: Mapping[str, int],
    assumptions: Assumptions,
    calibration: Calibration,
    demand_factors: Sequence[float] = (1.0,),
) -> Mapping[str, tuple[LoadOption, ...] | Refusal]:
    """By accelerator SKU: the few non-dominated ways that hold every target at the peak times each demand factor, or
    the reason why none does and the smallest change that would admit one."""
    if arch.max_context and service.longest_request_tokens > arch.max_context:
        return {one.sku: context_refusal(one, service, arch) for one in accelerators}
    answers: dict[str, tuple[LoadOption, ...] | Refusal] = dict(_excluded(service, accelerators, max_in_node))
    usable = [number for number, one in enumerate(accelerators) if one.sku not in answers]
    found = ways(service, arch, accelerators, usable, max_in_node)
    engine = engine_memory(service.engine, assumptions)
    memory = memory_of_ways(
        found, service, arch, accelerators, engine, assumptions.kv_occupancy_limit_fraction
    )
    fits = (memory.budget.kv_pool_gib >= memory.needed_gib) & (memory.capacity >= 1)
    offered = np.array([not way.wish for way in found], bool)
    index = np.flatnonzero(fits & offered)
    targets = Targets.of(service, assumptions)
    search = _search(found, index, memory, service, arch, accelerators, targets, calibration, demand_factors)
    picked = {number: _picked(search, number, service, demand_factors) for number in usable}
    options = _options(search, picked, service, arch, accelerators, assumptions, engine, calibration)
    for number in usable:
        sku = accelerators[number].sku
        if number in options:
            answers[sku] = tuple(options[number])
        elif mine := _rows_of(search, number):
            answers[sku] = speed_refusal(accelerators[number], service, targets, _shortfall(search, mine))
        elif isinstance(accelerators[number], PartSpec):
            answers[sku] = part_refusal(accelerators[number], service)
        else:
            occupancy = assumptions.kv_occupancy_limit_fraction
            answers[sku] = memory_refusal(
                accelerators[number], service, arch, number, found, memory, fits, engine, occupancy
            )
    return {one.sku: answers[one.sku] for one in accelerators}


def _excluded(
    service: LanguageService, accelerators: Sequence[AcceleratorSpec], max_in_node: Mapping[str, int]
) -> Iterator[tuple[str, Refusal]]:
    for accelerator in accelerators:
        try:
            require_figures(accelerator)
        except MissingFigure as missing:
            yield accelerator.sku, missing_refusal(accelerator, service, missing.message)
            continue
        if generation(accelerator) is None:
            yield accelerator.sku, unmeasured_refusal(accelerator, service)
        elif max_in_node.get(accelerator.sku, 0) < 1:
            yield accelerator.sku, no_server_refusal(accelerator, service)


@dataclass(frozen=True, slots=True)
class Search:
    """Everything known about the ways that fit."""

    ways: tuple[Way, ...]
    memory: Memory
    fleet: Fleet
    most: Largest
    targets: Targets


def _search(
    found: Sequence[Way],
    index: NDArray[np.intp],
    memory: Memory,
    service: LanguageService,
    arch: ModelArchitecture,
    accelerators: Sequence[AcceleratorSpec],
    targets: Targets,
    calibration: Calibration,
    demand_factors: Sequence[float],
) -> Search | None:
    if not len(index):
        return None
    selected = tuple(found[number] for number in index)
    budget = MemoryBudget(*(getattr(memory.budget, name)[index] for name in MemoryBudget.__slots__))
    own = Memory(budget, *(getattr(memory, name)[index] for name in Memory.__slots__[1:]))
    fleet = fleet_of(selected, own.capacity, service, arch, accelerators, calibration)
    ceiling = max(4.0, 2.0 * service.concurrent_requests * max(demand_factors))
    return Search(selected, own, fleet, largest_load(fleet, service, targets, ceiling), targets)


def _shortfall(search: Search | None, mine: Sequence[int]) -> Shortfall:
    """What one request in flight gets from the way that misses its targets by least."""
    assert search is not None  # noqa: S101  rows exist only after a search
    fleet, most, targets = search.fleet, search.most, search.targets
    best = min(mine, key=lambda row: max(float(strain[row]) for strain in most.strain_alone.values()))
    off = {name: float(strain[best]) for name, strain in most.strain_alone.items()}
    return Shortfall(
        ttft_s=float(most.alone.ttft_p95_s[best]),
        ttft_high=float(fleet.ttft_high[best]) if targets.ttft_stated else 1.0,
        tokens_s=float(most.alone.tokens_s[best]),
        tokens_low=1 / float(fleet.tpot_high[best]) if targets.tokens_stated else 1.0,
        misses={name: strain for name, strain in off.items() if strain > 1},
        gpus=search.ways[best].gpus,
    )


def _rows_of(search: Search | None, number: int) -> list[int]:
    """Rows of the ways that fit on accelerator `number`."""
    return [] if search is None else [row for row, way in enumerate(search.ways) if way.accelerator == number]


def _picked(
    search: Search | None, number: int, service: LanguageService, demand_factors: Sequence[float]
) -> list[tuple[int, int]]:
    """(row, working replicas) to offer: for each demand the fewest GPUs, and what a higher precision, a faster layout
    or much headroom would take."""
    holding = [row for row in _rows_of(search, number) if search is not None and search.most.load[row] > 0]
    if search is None or not holding:
        return []
    peak, spare = service.concurrent_requests, spare_replicas(service)
    chosen: dict[tuple[int, int], None] = {}
    for factor in sorted(demand_factors):
        replicas = required_replicas(peak * factor, search.most.load[holding])
        gpus = np.array([search.ways[row].gpus for row in holding]) * (replicas + spare)
        most = OPTIONS_PER_DEMAND if factor == min(demand_factors) else OPTIONS_PER_GROWTH
        for pick in _non_dominated(search, holding, replicas, gpus, peak, most):
            chosen[holding[pick], int(replicas[pick])] = None
    return list(chosen)


def _options(
    search: Search | None,
    picked: Mapping[int, Sequence[tuple[int, int]]],
    service: LanguageService,
    arch: ModelArchitecture,
    accelerators: Sequence[AcceleratorSpec],
    assumptions: Assumptions,
    engine: EngineMemory,
    calibration: Calibration,
) -> dict[int, list[LoadOption]]:
    """The picked rows as options, timed together at their own loads."""
    pairs = [pair for chosen in picked.values() for pair in chosen]
    if search is None or not pairs:
        return {}
    rows, counts = (np.array(column) for column in zip(*pairs, strict=True))
    served = serve_rows(search.fleet, rows, service, service.concurrent_requests / counts, search.targets)
    settings = {
        number: _settings(service, accelerators[number], engine, assumptions)
        for number, chosen in picked.items()
        if chosen
    }
    options: dict[int, list[LoadOption]] = {}
    for at, (row, replicas) in enumerate(pairs):
        number = search.ways[row].accelerator
        option = option_of(
            search,
            row,
            at,
            replicas,
            served,
            service,
            arch,
            accelerators[number],
            assumptions,
            engine,
            settings[number],
            calibration,
        )
        options.setdefault(number, []).append(option)
    return options


def spare_replicas(service: LanguageService) -> int:
    return 1 if service.availability == "n_plus_1" else 0


def _non_dominated(
    search: Search, holding: Sequence[int], replicas: Values, gpus: Values, peak: float, most: int
) -> Iterator[int]:
    """Positions in `holding`, at most `most`, fewest GPUs first."""
    capacity = np.array([search.most.load[row] for row in holding]) * replicas / peak
    speed = search.most.alone.tokens_s[list(holding)]
    precision = np.array([search.ways[row].form.bytes_per_weight for row in holding])
    order = sorted(range(len(holding)), key=lambda at: (gpus[at], -capacity[at], -speed[at]))
    kept: list[int] = []
    for at in order:
        better = [
            gpus[at] > 0
            and (
                precision[at] > precision[other]
                or capacity[at] > MUCH_MORE * capacity[other]
                or speed[at] > 1.3 * speed[other]
            )
            for other in kept
        ]
        if all(better) and len(kept) < most:
            kept.append(at)
    yield from kept


def estimate(
    value: float, interval: Interval, badge: Badge, count: int, *, inverse: bool = False
) -> Estimate:
    """`value` with its interval; `inverse` when the interval is of a time and the value a rate."""
    low, high = (1 / interval.high, 1 / interval.low) if inverse else interval
    return Estimate(value=value, low=value * low, high=value * high, badge=badge, evidence_count=count)


def option_of(
    search: Search,
    row: int,
    at: int,
    replicas: int,
    served: Served,
    service: LanguageService,
    arch: ModelArchitecture,
    accelerator: AcceleratorSpec,
    assumptions: Assumptions,
    engine: EngineMemory,
    settings: EngineSettings,
    calibration: Calibration,
) -> LoadOption:
    """Row `row` of the search with `replicas` working replicas; `at` is its place in `served`."""
    way, memory, budget = search.ways[row], search.memory, search.memory.budget
    spare = spare_replicas(service)
    per_replica = service.concurrent_requests / replicas
    ttft_x, tpot_x, rate_x = search.fleet.intervals[row]
    choice = search.fleet.choices[row]
    run = run_of(way, service, arch, accelerator, per_replica)
    badges = badges_of(run, choice, arch, calibration)
    in_use = min(per_replica, memory.capacity[row]) / way.dp * memory.half_gib[row]
    pool, weights = float(budget.kv_pool_gib[row]), float(budget.weights_gib[row])
    state = verdict(pool, float(memory.needed_gib[row]), margin_gib(arch, engine, weights))
    usual = service.prompt_tokens + service.output_tokens
    rate = float(served.steady.output_tokens_s[at]) * min(per_replica, 1.0) / way.gpus
    return LoadOption(
        load=service.name,
        kind="serving",
        accelerator=accelerator.sku,
        layout=Layout(tp=way.tp, dp=way.dp, ep=way.ep),
        precision=way.form.key,
        kv_precision=way.kv_format,
        engine=service.engine,
        settings=settings,
        gpus_per_replica=way.gpus,
        replicas=replicas + spare,
        spare_replicas=spare,
        gpus=way.gpus * (replicas + spare),
        gpus_in_one_node=way.gpus,
        capacity_factor=float(search.most.load[row]) * replicas / service.concurrent_requests,
        busy_fraction=min(1.0, per_replica / float(search.most.load[row])),
        memory=MemoryBreakdown(
            total_gib=float(budget.total_gib[row]),
            weights_gib=weights,
            kv_gib=in_use,
            activations_gib=float(budget.activations_gib[row]),
            runtime_gib=float(budget.runtime_gib[row] + budget.held_back_gib[row]),
            free_gib=pool - in_use,
            kv_capacity_tokens=pool / float(memory.mean_gib[row]) * usual * way.dp,
            kv_bytes_per_token=float(memory.mean_gib[row]) * 2**30 / usual,
        ),
        verdict=state,
        speed=Speed(
            ttft_p95_s=estimate(float(served.ttft_p95_s[at]), ttft_x, badges.first, badges.runs),
            ttft_s=estimate(float(served.steady.ttft_s[at]), ttft_x, badges.first, badges.runs),
            tokens_s_per_user=estimate(
                float(served.tokens_s[at]), tpot_x, badges.rate, badges.runs, inverse=True
            ),
            output_tokens_s_per_gpu=estimate(rate, rate_x, badges.rate, badges.runs),
        ),
        chip_is_measured=_chip_is_measured(run, choice, calibration),
        limited_by=_limit(search, row, replicas, service),
        host=HostNeed(
            cpu_cores_per_gpu=assumptions.serving_cores_per_gpu,
            ram_gb_per_gpu=assumptions.serving_ram_base_gb
            + assumptions.serving_ram_per_weight * weights * 2**30 / 1e9,
            nvme_tb_per_node=assumptions.model_versions_kept_count * weights * way.gpus * 2**30 / 1e12,
        ),
    )


def _settings(
    service: LanguageService, accelerator: AcceleratorSpec, engine: EngineMemory, assumptions: Assumptions
) -> EngineSettings:
    tokens, sequences = planned_batch(engine, accelerator.memory_gib or 0.0)
    return EngineSettings(
        memory_fraction=engine.share_fraction,
        context_tokens=service.longest_request_tokens,
        step_tokens=int(tokens),
        sequences=int(sequences),
        draft_tokens=assumptions.draft_tokens_count,
    )


def badges_of(run: Run, choice: Choice, arch: ModelArchitecture, calibration: Calibration) -> Badges:
    """A figure without a measured run of its own stands between others when the model is built as measured ones are,
    and others were served on this generation with measured kernels, or throughput tables of this very GPU are known."""
    served = arch.standard_structure and choice.exact and choice.generation in calibration.serving_generations
    tabled = arch.standard_structure and run.gpu in tabled_silicon(calibration)
    return badges_for(run, calibration, served=served, tabled=served or tabled)


def _chip_is_measured(run: Run, choice: Choice, calibration: Calibration) -> bool:
    return choice.generation in calibration.serving_generations or run.gpu in tabled_silicon(calibration)


def _limit(search: Search, row: int, replicas: int, service: LanguageService) -> Message:
    """What keeps this option from being smaller."""
    above = {name: bool(values[row] > 1) for name, values in search.most.strain_above.items()}
    cautious = search.targets.ttft_stated if above["ttft"] else search.targets.tokens_stated
    largest = Quantity(value=float(search.most.load[row]), unit="", digits=2)
    if replicas == 1 and service.concurrent_requests < 0.7 * search.most.load[row]:
        if search.ways[row].gpus == 1:
            return Message.of(
                noop("nothing: one GPU is the least there is, and it carries more than you ask.")
            )
        return Message.of(
            noop("memory: {gpus} together hold the model; the load alone would need less."),
            gpus=Quantity(value=search.ways[row].gpus, unit="GPUs", digits=4),
        )
    if above["ttft"]:
        text = (
            noop(
                "time to first token: one replica holds {count} requests at once, counted at the cautious end."
            )
            if cautious
            else noop("time to first token: one replica holds {count} requests at once.")
        )
    elif above["tokens"]:
        text = (
            noop(
                "output speed per user: one replica holds {count} requests at once, counted at the cautious end."
            )
            if cautious
            else noop("output speed per user: one replica holds {count} requests at once.")
        )
    elif above["rho"]:
        text = noop(
            "reading the prompts: one replica holds {count} requests at once before a queue builds up."
        )
    elif search.memory.capacity[row] >= search.memory.seats[row]:
        text = noop("the setting of the engine: one replica runs at most {count} requests at once.")
    else:
        text = noop("KV cache: the memory of one replica holds {count} requests at once.")
    return Message.of(text, count=largest)
