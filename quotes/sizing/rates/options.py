"""Sizing services and jobs from measured rates, on every accelerator.

A service counts on the cautious end of the rate (the low end of the 80 % interval) times the share that
`rate_use_fraction` allows at the peak, and on what decoding lets through. Docs: docs/sizing/rates.md.
"""

from collections.abc import Mapping, Sequence
from math import ceil

from catalog.quantity import Message, Quantity, noop
from catalog.specs import AcceleratorSpec
from configurator.workload import RateService
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.portions import whole_of
from quotes.sizing.rates import needs
from quotes.sizing.rates.devices import device_of
from quotes.sizing.rates.effects import bound_by
from quotes.sizing.rates.needs import Limit
from quotes.sizing.rates.offered import RateModel
from quotes.sizing.rates.situation import Situation
from quotes.sizing.rates.table import Base, RateTable
from quotes.sizing.refusals import enough, ratio, telling_digits
from quotes.sizing.results import (
    Estimate,
    HostNeed,
    LoadOption,
    MemoryBreakdown,
    Refusal,
    Speed,
    Verdict,
)

type Options = Mapping[str, tuple[LoadOption, ...] | Refusal]

ACCELERATORS_MAX = 100_000


def rate_service_options(
    service: RateService,
    accelerators: Sequence[AcceleratorSpec],
    *,
    max_in_node: Mapping[str, int],
    assumptions: Assumptions,
    rates: RateTable,
    demand_factors: Sequence[float] = (1.0,),
) -> Options:
    """For each accelerator the numbers that carry each multiple of today's demand, or the reason why it cannot.

    Raises NotMeasured.
    """
    model = needs.known_model(service)
    base = Base.of(model.run, rates.ratios)
    alone = Base.of(alone_situation(model.run), rates.ratios)
    return {
        accelerator.sku: _serve(service, model, base, alone, accelerator, assumptions, rates, demand_factors)
        for accelerator in accelerators
    }


def _serve(
    service: RateService,
    model: RateModel,
    base: Base,
    alone: Base,
    accelerator: AcceleratorSpec,
    assumptions: Assumptions,
    rates: RateTable,
    demand_factors: Sequence[float],
) -> tuple[LoadOption, ...] | Refusal:
    memory = needs.memory_of(model.memory_gb, accelerator, assumptions)
    refused = (
        needs.out_of_place(service, accelerator, assumptions)
        or needs.unfit(service, accelerator, memory)
        or needs.undivided(service, model, accelerator, assumptions)
    )
    if refused:
        return refused
    rate = served_rate(service, model, base, accelerator, rates)
    if isinstance(rate, Refusal):
        return rate.model_copy(update={"change": needs.without_accelerator(model, rates)})
    if slow := _too_slow(service, model, alone, accelerator, rates):
        return slow
    limit = carried(service, model, rate, accelerator, assumptions)
    found: dict[int, LoadOption] = {}
    for factor in demand_factors:
        working = ceil(service.items_s * factor / limit.items_s)
        if working > ACCELERATORS_MAX:
            count = Quantity(value=ACCELERATORS_MAX, unit="GPUs", digits=1)
            text = Message.of(noop("It would take more than {count}."), count=count)
            off = ratio(working, ACCELERATORS_MAX)
            return Refusal.of(accelerator, "speed", text, load=service.name, excess=off)
        if working not in found:
            found[working] = _serving(service, model, accelerator, assumptions, rate, limit, memory, working)
    return tuple(found.values())


def served_rate(
    service: RateService,
    model: RateModel,
    base: Base,
    accelerator: AcceleratorSpec,
    rates: RateTable,
    *,
    with_evidence: bool = False,
) -> Estimate | Refusal:
    """Items a second of one accelerator in the questionnaire's unit, before any share is kept free."""
    rate = rate_on(service.name, base, accelerator, rates, with_evidence)
    if isinstance(rate, Refusal):
        return rate
    factor = model.rate_to_items
    if model.steps and service.steps:
        factor *= model.steps / service.steps
    return needs.scaled(rate, factor)


def rate_on(
    load: str, base: Base, accelerator: AcceleratorSpec, rates: RateTable, with_evidence: bool
) -> Estimate | Refusal:
    device = device_of(accelerator)
    if not device.known:
        text = noop("Its tensor rate or memory bandwidth is not in the catalog.")
        return Refusal.of(accelerator, "catalog", Message.of(text), load=load, kind="unknown")
    rate = rates.promised(base, device, with_evidence=with_evidence)
    if rate is None:
        text = noop("No measurement is near enough to promise a rate.")
        return Refusal.of(accelerator, "speed", Message.of(text), load=load, kind="unknown")
    return needs.scaled(rate, whole_of(accelerator)[1])


def carried(
    service: RateService,
    model: RateModel,
    rate: Estimate,
    accelerator: AcceleratorSpec,
    assumptions: Assumptions,
) -> Limit:
    """What one accelerator carries at the peak, and the resource that ends it."""
    share, _ = needs.use_fraction(service.domain, assumptions)
    computed = Limit(rate.low * share, Message.of(needs.BOUND_WORDS[bound_by(model.run.family)]))
    decoded = needs.decode_limit(service, model, accelerator, assumptions)
    return min(computed, decoded, key=lambda limit: limit.items_s) if decoded else computed


def _too_slow(
    service: RateService, model: RateModel, alone: Base, accelerator: AcceleratorSpec, rates: RateTable
) -> Refusal | None:
    """Whether one item alone misses the latency that was asked for."""
    if service.latency_ms is None:
        return None
    rate = served_rate(service, model, alone, accelerator, rates)
    if isinstance(rate, Refusal) or 1000 / rate.value <= service.latency_ms:
        return None
    digits = telling_digits(1000 / rate.value, service.latency_ms)
    return Refusal.of(
        accelerator,
        "speed",
        Message.of(
            noop("One item takes about {latency}, more than the {wanted} you asked for."),
            latency=enough(1000 / rate.value, "ms", digits),
            wanted=Quantity(value=service.latency_ms, unit="ms", digits=3),
        ),
        Message.of(
            noop("Enough for {latency} per item; or choose a smaller model."),
            latency=enough(1000 / rate.value, "ms", digits),
        ),
        load=service.name,
        excess=ratio(1000 / rate.value, service.latency_ms),
    )


def alone_situation(situation: Situation) -> Situation:
    """The same model with one item at a time."""
    if situation.scenario:
        return situation._replace(scenario="SingleStream", batch=1.0)
    return situation._replace(batch=1.0)


def _serving(
    service: RateService,
    model: RateModel,
    accelerator: AcceleratorSpec,
    assumptions: Assumptions,
    rate: Estimate,
    limit: Limit,
    memory: MemoryBreakdown | None,
    working: int,
) -> LoadOption:
    spare = 1 if service.availability == "n_plus_1" else 0
    each = service.items_s / working
    return LoadOption(
        load=service.name,
        kind="rate_serving",
        accelerator=accelerator.sku,
        precision=model.run.precision,
        engine=model.run.engine,
        rate_unit=model.unit,
        asked_items_s=service.items_s,
        gpus_per_replica=1,
        replicas=working + spare,
        spare_replicas=spare,
        gpus=working + spare,
        gpus_in_one_node=1,
        capacity_factor=working * limit.items_s / service.items_s,
        busy_fraction=min(1.0, each / rate.value),
        memory=memory,
        verdict=needs.verdict_of(memory, assumptions) if memory else Verdict.FITS,
        speed=Speed(items_s_per_gpu=rate),
        limited_by=limit.reason,
        host=HostNeed(
            cpu_cores_per_gpu=needs.cores_for(each, service, model, accelerator, assumptions),
            storage_read_gb_s=needs.read_gb_s(service.items_s, model.sample_kb)
            if model.source == "jpeg" and not service.streams
            else 0,
        ),
    )
