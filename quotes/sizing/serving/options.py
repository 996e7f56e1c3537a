"""How a language service runs on each accelerator: replicas that hold every target at the peak, or why none does.

All ways on all accelerators are timed together as arrays; only the few that are offered become objects. Where the
customer stated a target, it holds at the cautious end of the 80 % interval.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from catalog.specs import AcceleratorSpec, ModelArchitecture
from configurator.workload import LanguageService
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.portions import PartSpec
from quotes.sizing.results import LoadOption, Refusal
from quotes.sizing.serving.calibration import Calibration
from quotes.sizing.serving.fleet import memory_of_ways
from quotes.sizing.serving.kernels import generation
from quotes.sizing.serving.layouts import ways
from quotes.sizing.serving.machines import MissingFigure, require_figures
from quotes.sizing.serving.memory import engine_memory
from quotes.sizing.serving.option import option_of
from quotes.sizing.serving.refusals import (
    context_refusal,
    memory_refusal,
    missing_refusal,
    no_server_refusal,
    part_refusal,
    speed_refusal,
    unmeasured_refusal,
)
from quotes.sizing.serving.search import Asked, Search, search_of
from quotes.sizing.serving.speed import Targets, serve_rows


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
    engine = engine_memory(service.engine, assumptions)
    asked = Asked(
        service, arch, accelerators, assumptions, calibration, engine, Targets.of(service, assumptions)
    )
    found = ways(service, arch, accelerators, usable, max_in_node)
    occupancy = assumptions.kv_occupancy_limit_fraction
    memory = memory_of_ways(found, service, arch, accelerators, engine, occupancy)
    search = search_of(asked, found, memory, max(demand_factors))
    options = _options(search, usable, demand_factors) if search else {}
    for number in usable:
        accelerator = accelerators[number]
        if number in options:
            answers[accelerator.sku] = tuple(options[number])
        elif search and (mine := search.rows_of(number)):
            shortfall = search.shortfall(mine)
            answers[accelerator.sku] = speed_refusal(accelerator, service, asked.targets, shortfall)
        elif isinstance(accelerator, PartSpec):
            answers[accelerator.sku] = part_refusal(accelerator, service)
        else:
            answers[accelerator.sku] = memory_refusal(asked, number, found, memory)
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


def _options(
    search: Search, usable: Sequence[int], demand_factors: Sequence[float]
) -> Mapping[int, Sequence[LoadOption]]:
    """By accelerator what is offered, timed together, each at its own load."""
    pairs = [pair for number in usable for pair in search.picked(number, demand_factors)]
    if not pairs:
        return {}
    rows, counts = (np.array(column) for column in zip(*pairs, strict=True))
    service = search.asked.service
    served = serve_rows(
        search.fleet, rows, service, service.concurrent_requests / counts, search.asked.targets
    )
    options: dict[int, list[LoadOption]] = {}
    for at, (row, replicas) in enumerate(pairs):
        made = option_of(search, row, replicas, served, at)
        options.setdefault(search.ways[row].accelerator, []).append(made)
    return options
