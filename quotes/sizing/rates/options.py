"""Sizing services and jobs from measured rates, on every accelerator.

A service counts on the cautious end of the rate (the low end of the 80 % interval) times the share that
`rate_use_fraction` allows at the peak, and on what decoding lets through. Docs: docs/sizing/rates.md.
"""

from collections.abc import Mapping, Sequence
from math import ceil, log2

from catalog.quantity import Message, Quantity, noop
from catalog.specs import AcceleratorSpec, FormFactor
from configurator.workload import LoadProfile, RateService, RateTraining
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.rates import needs
from quotes.sizing.rates.devices import device_of
from quotes.sizing.rates.effects import bound_by
from quotes.sizing.rates.needs import Limit, refusal
from quotes.sizing.rates.offered import RateModel
from quotes.sizing.rates.situation import Situation
from quotes.sizing.rates.table import SPREAD_MAX, Base, RateTable
from quotes.sizing.results import (
    Estimate,
    HostNeed,
    Layout,
    LoadOption,
    MemoryBreakdown,
    Refusal,
    Speed,
    Verdict,
)

type Options = Mapping[str, tuple[LoadOption, ...] | Refusal]

BYTES_PER_GRADIENT = 2
BYTES_PER_TRAINED_PARAMETER = 16  # weights, gradients, master weights and Adam moments in mixed precision
ACCELERATORS_MAX = 100_000
COUNTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)


# ── services ────────────────────────────────────────────────────────────────────────────────────────────────────


def rate_service_options(
    service: RateService,
    accelerators: Sequence[AcceleratorSpec],
    *,
    max_in_node: Mapping[str, int],
    assumptions: Assumptions,
    rates: RateTable,
    demand_factors: Sequence[float] = (1.0,),
) -> Options:
    """For each accelerator the numbers that carry each multiple of today's demand, or the reason why it cannot."""
    model = needs.model_of(service.model, service.domain)
    if model is None or model.domain is not service.domain:
        return {accelerator.sku: _unknown(service, accelerator) for accelerator in accelerators}
    base = Base.of(model.run, rates.ratios)
    return {
        accelerator.sku: _serve(service, model, base, accelerator, assumptions, rates, demand_factors)
        for accelerator in accelerators
    }


def _serve(
    service: RateService,
    model: RateModel,
    base: Base,
    accelerator: AcceleratorSpec,
    assumptions: Assumptions,
    rates: RateTable,
    demand_factors: Sequence[float],
) -> tuple[LoadOption, ...] | Refusal:
    memory = needs.memory_of(model.memory_gb, accelerator, assumptions)
    refused = needs.out_of_place(service, accelerator, assumptions) or needs.unfit(
        service, accelerator, model.memory_gb, memory
    )
    if refused:
        return refused
    rate = served_rate(service, model, base, accelerator, rates)
    if isinstance(rate, Refusal):
        return rate.model_copy(update={"change": needs.without_accelerator(model, rates)})
    if slow := _too_slow(service, model, base, accelerator, rates):
        return slow
    limit = carried(service, model, rate, accelerator, assumptions)
    found: dict[int, LoadOption] = {}
    for factor in demand_factors:
        working = ceil(service.items_s * factor / limit.items_s)
        if working > ACCELERATORS_MAX:
            count = Quantity(value=ACCELERATORS_MAX, unit="GPUs", digits=1)
            text = Message.of(noop("It would take more than {count}."), count=count)
            return refusal(accelerator, service.name, "speed", text)
        found.setdefault(
            working, _serving(service, model, accelerator, assumptions, rate, limit, memory, working)
        )
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
    rate = _rate(service.name, base, accelerator, rates, with_evidence)
    if isinstance(rate, Refusal):
        return rate
    factor = model.rate_to_items
    if model.steps and service.steps:
        factor *= model.steps / service.steps
    return needs.scaled(rate, factor)


def _rate(
    load: str, base: Base, accelerator: AcceleratorSpec, rates: RateTable, with_evidence: bool
) -> Estimate | Refusal:
    device = device_of(accelerator)
    if not device.known:
        text = noop("Its tensor rate or memory bandwidth is not in the catalog.")
        return refusal(accelerator, load, "catalog", Message.of(text))
    log = base.on(device, rates.ratios)
    if log.spread > SPREAD_MAX:
        text = noop("No measurement is near enough to promise a rate.")
        return refusal(accelerator, load, "speed", Message.of(text))
    return rates.estimate(base, device, log, with_evidence=with_evidence)


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
    service: RateService, model: RateModel, base: Base, accelerator: AcceleratorSpec, rates: RateTable
) -> Refusal | None:
    """Whether one item alone misses the latency that was asked for."""
    if service.latency_ms is None:
        return None
    alone = Base.of(alone_situation(model.run), rates.ratios)
    rate = served_rate(service, model, alone, accelerator, rates)
    if isinstance(rate, Refusal) or 1000 / rate.value <= service.latency_ms:
        return None
    return refusal(
        accelerator,
        service.name,
        "speed",
        Message.of(
            noop("One item takes about {latency}, more than the {wanted} you asked for."),
            latency=Quantity(value=1000 / rate.value, unit="ms", digits=2),
            wanted=Quantity(value=service.latency_ms, unit="ms", digits=3),
        ),
        Message.of(noop("Allow more time per item, or choose a smaller model.")),
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
            storage_read_gb_s=service.items_s * model.sample_kb / 1e6
            if model.source == "jpeg" and not service.streams
            else 0,
        ),
    )


def _unknown(part: RateService | RateTraining, accelerator: AcceleratorSpec) -> Refusal:
    return refusal(
        accelerator,
        part.name,
        "catalog",
        Message.of(noop("There is no measured rate for the model {model}."), model=part.model),
        Message.of(noop("Choose the offered model that is most like it.")),
    )


# ── jobs ────────────────────────────────────────────────────────────────────────────────────────────────────────


def rate_training_options(
    job: RateTraining,
    accelerators: Sequence[AcceleratorSpec],
    *,
    max_in_node: Mapping[str, int],
    assumptions: Assumptions,
    rates: RateTable,
) -> Options:
    """For each accelerator the smallest numbers that finish a run before the deadline, or the reason why none does."""
    model = needs.model_of(job.model, job.domain)
    if model is None or model.domain is not job.domain:
        return {accelerator.sku: _unknown(job, accelerator) for accelerator in accelerators}
    if model.train is None or model.training_memory_gb is None:
        text = Message.of(noop("No training of {model} has been measured."), model=model.name)
        return {a.sku: refusal(a, job.name, "catalog", text) for a in accelerators}
    base = Base.of(model.train, rates.ratios)
    return {
        accelerator.sku: _train(
            job, model, base, accelerator, max_in_node.get(accelerator.sku, 1), assumptions, rates
        )
        for accelerator in accelerators
    }


def _train(
    job: RateTraining,
    model: RateModel,
    base: Base,
    accelerator: AcceleratorSpec,
    in_node: int,
    assumptions: Assumptions,
    rates: RateTable,
) -> tuple[LoadOption, ...] | Refusal:
    if accelerator.form_factor is FormFactor.EDGE:
        text = noop("A module for using models at the edge, not for training them.")
        return refusal(accelerator, job.name, "server", Message.of(text))
    needed = model.training_memory_gb or 0
    memory = needs.memory_of(needed, accelerator, assumptions)
    if refused := needs.unfit(job, accelerator, needed, memory):
        return refused
    rate = trained_rate(job.name, model, base, accelerator, rates)
    if isinstance(rate, Refusal):
        return rate
    limit = prepared(job, model, rate, assumptions)
    counts = [
        n
        for n in _counts(in_node, assumptions)
        if run_hours(job, limit.items_s, n, in_node, assumptions) <= job.deadline_h
    ]
    if not counts:
        most = max(_counts(in_node, assumptions))
        return _too_late(job, accelerator, run_hours(job, limit.items_s, most, in_node, assumptions), most)
    return tuple(
        _trained(job, model, accelerator, in_node, assumptions, rate, limit, memory, count)
        for count in counts[:3]
    )


def trained_rate(
    load: str,
    model: RateModel,
    base: Base,
    accelerator: AcceleratorSpec,
    rates: RateTable,
    *,
    with_evidence: bool = False,
) -> Estimate | Refusal:
    """Samples a second of one accelerator while training."""
    rate = _rate(load, base, accelerator, rates, with_evidence)
    if isinstance(rate, Refusal) or model.training_costs is None:
        return rate
    return needs.scaled(rate, 1 / model.training_costs)


def prepared(job: RateTraining, model: RateModel, rate: Estimate, assumptions: Assumptions) -> Limit:
    """The rate that training gets: the accelerator's, or what the host can prepare."""
    bound = Limit(rate.low, Message.of(needs.BOUND_WORDS[bound_by(model.run.family)]))
    if model.source != "jpeg":
        return bound
    cores = assumptions.host_cores_per_gpu_max_count
    fed = cores * _prepared_per_core(job, model, assumptions)
    host = Limit(
        fed, Message.of(noop("limited by preparing images on the CPU; decode on the GPU to go faster"))
    )
    return min(bound, host, key=lambda limit: limit.items_s)


def _prepared_per_core(job: RateTraining, model: RateModel, assumptions: Assumptions) -> float:
    """Larger files have more pixels to decode."""
    larger = max(1.0, job.sample_kb / model.sample_kb) if job.sample_kb and model.sample_kb else 1.0
    return needs.jpeg_items_s_per_core(model, assumptions) / larger / assumptions.augmentation_factor


def run_hours(job: RateTraining, items_s: float, gpus: int, in_node: int, assumptions: Assumptions) -> float:
    """Wall clock of one run, evaluation included."""
    inside = min(gpus, in_node)
    kept = assumptions.training_scaling_fraction ** log2(inside)
    kept *= assumptions.training_scaling_between_fraction ** log2(max(1.0, gpus / in_node))
    return (
        job.samples
        * job.epochs
        * (1 + assumptions.evaluation_share_fraction)
        / (items_s * gpus * kept)
        / 3600
    )


def _counts(in_node: int, assumptions: Assumptions) -> list[int]:
    """Data-parallel numbers worth trying, up to the servers that one job may span."""
    most = in_node * round(assumptions.rate_nodes_max_count)
    return [count for count in COUNTS if count <= most]


def network_gbit_s(
    model: RateModel, items_s: float, gpus: int, in_node: int, assumptions: Assumptions
) -> float:
    """Gradients that one server exchanges with the others, per accelerator; 0 when an ordinary network carries them.

    Each step every server sends and receives its gradients once; inside a server they are summed first.
    """
    if gpus <= in_node:
        return 0.0
    step_s = assumptions.training_batch_per_gpu_count / items_s
    gbit_s = 2 * model.params_m * 1e6 * BYTES_PER_GRADIENT * 8 / 1e9 / step_s / in_node
    return gbit_s if gbit_s > assumptions.front_gbit_s_per_gpu else 0.0


def _trained(
    job: RateTraining,
    model: RateModel,
    accelerator: AcceleratorSpec,
    in_node: int,
    assumptions: Assumptions,
    rate: Estimate,
    limit: Limit,
    memory: MemoryBreakdown | None,
    gpus: int,
) -> LoadOption:
    hours = run_hours(job, limit.items_s, gpus, in_node, assumptions)
    best = run_hours(job, min(rate.high, limit.items_s * rate.high / rate.low), gpus, in_node, assumptions)
    usual = run_hours(job, min(rate.value, limit.items_s * rate.value / rate.low), gpus, in_node, assumptions)
    samples_s = limit.items_s * gpus
    sample_kb = job.sample_kb or model.sample_kb
    per_core = _prepared_per_core(job, model, assumptions) if model.source == "jpeg" else float("inf")
    return LoadOption(
        load=job.name,
        kind="rate_training",
        accelerator=accelerator.sku,
        layout=Layout(dp=gpus, sharding="ddp" if gpus > 1 else "none"),
        precision=(model.train or model.run).precision,
        engine=(model.train or model.run).engine,
        gpus_per_replica=gpus,
        replicas=1,
        gpus=gpus,
        gpus_in_one_node=1,
        capacity_factor=job.deadline_h / hours,
        busy_fraction=1,
        gpu_hours_per_month=hours * gpus * job.runs_per_month,
        shares_pool=job.window is LoadProfile.NIGHTS,
        memory=memory,
        verdict=needs.verdict_of(memory, assumptions) if memory else Verdict.FITS,
        speed=Speed(
            items_s_per_gpu=rate,
            run_hours=rate.model_copy(update={"value": usual, "low": best, "high": hours}),
        ),
        limited_by=limit.reason,
        host=HostNeed(
            cpu_cores_per_gpu=model.host_cores + limit.items_s / per_core,
            storage_read_gb_s=samples_s * sample_kb / 1e6,
            fabric_gbit_s_per_gpu=network_gbit_s(model, limit.items_s, gpus, in_node, assumptions),
            checkpoint_tb=model.params_m * 1e6 * BYTES_PER_TRAINED_PARAMETER / 1e12,
        ),
    )


def _too_late(job: RateTraining, accelerator: AcceleratorSpec, hours: float, most: int) -> Refusal:
    return refusal(
        accelerator,
        job.name,
        "speed",
        Message.of(
            noop("Even {count} take {hours} for one run, longer than the {deadline} you allow."),
            count=Quantity(value=most, unit="GPUs", digits=4),
            hours=Quantity(value=hours, unit="hours", digits=2),
            deadline=Quantity(value=job.deadline_h, unit="hours", digits=3),
        ),
        Message.of(noop("Allow more time, fewer epochs, or smaller images.")),
    )
