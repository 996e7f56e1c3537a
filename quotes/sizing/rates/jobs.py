"""Sizing training jobs from measured rates, on every accelerator.

The rate is the cautious one, or what the host can prepare; numbers run from one accelerator to many servers.
"""

from collections.abc import Mapping, Sequence
from math import log2

from catalog.quantity import Message, Quantity, noop
from catalog.specs import AcceleratorSpec, FormFactor
from configurator.workload import LoadProfile, RateTraining
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.rates import needs
from quotes.sizing.rates.effects import bound_by
from quotes.sizing.rates.needs import Limit
from quotes.sizing.rates.offered import RateModel
from quotes.sizing.rates.options import Options, rate_on
from quotes.sizing.rates.table import Base, RateTable
from quotes.sizing.refusals import enough, ratio, telling_digits
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

BYTES_PER_GRADIENT = 2
BYTES_PER_TRAINED_PARAMETER = 16  # weights, gradients, master weights and Adam moments in mixed precision
COUNTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)


def rate_training_options(
    job: RateTraining,
    accelerators: Sequence[AcceleratorSpec],
    *,
    max_in_node: Mapping[str, int],
    assumptions: Assumptions,
    rates: RateTable,
) -> Options:
    """For each accelerator the smallest numbers that finish a run before the deadline, or the reason why none does.

    Raises NotMeasured.
    """
    model = needs.known_model(job)
    if model.train is None or model.training_memory_gb is None:
        text = Message.of(noop("No training of {model} has been measured."), model=model.name)
        return {a.sku: Refusal.of(a, "catalog", text, load=job.name, kind="unknown") for a in accelerators}
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
        return Refusal.of(accelerator, "server", Message.of(text), load=job.name)
    needed = model.training_memory_gb or 0
    memory = needs.memory_of(needed, accelerator, assumptions)
    if refused := needs.unfit(job, accelerator, memory):
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
    rate = rate_on(load, base, accelerator, rates, with_evidence)
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
    host = Limit(fed, Message.of(noop("preparing images on the CPU; decode on the GPU to go faster")))
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
            storage_read_gb_s=needs.read_gb_s(samples_s, sample_kb),
            fabric_gbit_s_per_gpu=network_gbit_s(model, limit.items_s, gpus, in_node, assumptions),
            checkpoint_tb=model.params_m * 1e6 * BYTES_PER_TRAINED_PARAMETER / 1e12,
        ),
    )


def _too_late(job: RateTraining, accelerator: AcceleratorSpec, hours: float, most: int) -> Refusal:
    digits = telling_digits(hours, job.deadline_h)
    return Refusal.of(
        accelerator,
        "speed",
        Message.of(
            noop("Even {count} take {hours} for one run, longer than the {deadline} you allow."),
            count=Quantity(value=most, unit="GPUs", digits=4),
            hours=enough(hours, "hours", digits),
            deadline=Quantity(value=job.deadline_h, unit="hours", digits=3),
        ),
        Message.of(
            noop("Possible within {hours}, with fewer epochs, or with smaller images."),
            hours=enough(hours, "hours"),
        ),
        load=job.name,
        excess=ratio(hours, job.deadline_h),
    )
