"""Unfolding an option: the same functions that chose it, with their inputs and the measured rows behind them."""

import math

from catalog.quantity import Message, Quantity, noop
from catalog.specs import AcceleratorSpec
from configurator.workload import RateService, RateTraining
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.portions import whole_of
from quotes.sizing.rates import jobs, needs, options
from quotes.sizing.rates.devices import Device, device_of
from quotes.sizing.rates.effects import SHARES, bound_by, features_of_device, summed
from quotes.sizing.rates.needs import Limit
from quotes.sizing.rates.offered import RateModel
from quotes.sizing.rates.situation import Situation
from quotes.sizing.rates.table import Base, RateTable
from quotes.sizing.results import Estimate, LoadOption, Refusal
from quotes.sizing.trace import Badge, Figure, Finding, Input, Severity

WIDE = 2.0  # high over low from which the reader is warned


def explain_rates(
    option: LoadOption,
    load: RateService | RateTraining,
    accelerator: AcceleratorSpec,
    assumptions: Assumptions,
    rates: RateTable,
) -> LoadOption:
    """`option` with figures and findings. An option of more accelerators than were sized keeps its number."""
    model = needs.model_of(load.model, load.domain)
    if model is None:
        return option
    situation = model.run if isinstance(load, RateService) else (model.train or model.run)
    base = Base.of(situation, rates.ratios)
    if isinstance(load, RateService):
        rate = options.served_rate(load, model, base, accelerator, rates, with_evidence=True)
    else:
        rate = jobs.trained_rate(load.name, model, base, accelerator, rates, with_evidence=True)
    if isinstance(rate, Refusal):
        return option
    figures = [_rate_figure(model, situation, rate, accelerator, rates), _memory_figure(option, load, model)]
    if isinstance(load, RateService):
        limit = options.carried(load, model, rate, accelerator, assumptions)
        figures += _service_figures(option, load, model, rate, limit, accelerator, assumptions)
    else:
        limit = jobs.prepared(load, model, rate, assumptions)
        figures.append(_run_figure(option, load, limit, assumptions))
    return option.model_copy(
        update={
            "figures": tuple(figures),
            "findings": option.findings + _findings(rate, model, load, assumptions, rates),
        }
    )


def _rate_figure(
    model: RateModel, situation: Situation, rate: Estimate, accelerator: AcceleratorSpec, rates: RateTable
) -> Figure:
    device, part = device_of(accelerator), whole_of(accelerator)[1]
    tensor_share, bandwidth_share = SHARES[bound_by(situation.family)]
    inputs = [
        _input(noop("tensor rate"), device.tensor_rate(situation.precision) or 0, "TFLOPS", "catalog"),
        _input(noop("memory bandwidth"), device.bandwidth_gb_s or 0, "GB/s", "catalog"),
        _input(
            noop("share of the tensor rate that reaches this class"), tensor_share, "", "docs/sizing/rates.md"
        ),
        _input(
            noop("share of the bandwidth that reaches this class"),
            bandwidth_share,
            "",
            "docs/sizing/rates.md",
        ),
        _input(
            noop("measured ratio of this accelerator in its class"),
            ratio_of(situation, device, rates),
            "",
            "measured rows",
        ),
        Input(
            name=Message.of(noop("software")),
            value=f"{situation.engine}, {situation.precision}",
            source="measured rows",
        ),
    ]
    if part < 1:
        inputs.append(_input(noop("part of the accelerator to count on"), part, "", "assumption"))
    if model.training_costs and situation is model.train:
        inputs.append(
            _input(
                noop("inference items that one trained sample costs"),
                model.training_costs,
                "",
                "timm benchmark results, 3–4.4",
            )
        )
    return Figure(
        key="rate_per_gpu",
        label=Message.of(
            noop("Rate of one part of an accelerator, {model}")
            if part < 1
            else noop("Rate of one accelerator, {model}"),
            model=model.name,
        ),
        value=Quantity(value=rate.value, unit=model.unit, digits=2),
        low=rate.low,
        high=rate.high,
        formula=noop(
            "measured_level × (tensor_rate / reference)^share × (bandwidth / reference)^share × measured_ratio × part"
        )
        if part < 1
        else noop(
            "measured_level × (tensor_rate / reference)^share × (bandwidth / reference)^share × measured_ratio"
        ),
        inputs=tuple(inputs),
        badge=rate.badge,
        evidence=rate.evidence,
        evidence_count=rate.evidence_count,
        note=Message.of(noop("Sized on the lower end of the interval.")),
    )


def ratio_of(situation: Situation, device: Device, rates: RateTable) -> float:
    """What measurements add to catalog figures for this device: above 1 it does better than they promise."""
    return math.exp(summed(features_of_device(situation, device), rates.ratios).value)


def _memory_figure(option: LoadOption, load: RateService | RateTraining, model: RateModel) -> Figure:
    training = isinstance(load, RateTraining)
    needed = model.training_memory_gb if training else model.memory_gb
    inputs = [
        Input(
            name=Message.of(noop("memory of the model while running")),
            value=Quantity(value=needed or 0, unit="GB"),
            source=model.memory_source,
        )
    ]
    if option.memory:
        inputs += [
            _input(noop("memory of the accelerator"), option.memory.total_gib, "GiB", "catalog"),
            _input(noop("runtime"), option.memory.runtime_gib, "GiB", "assumption", "rate_runtime_gib"),
        ]  # fmt: skip
    return Figure(
        key="memory_free_gib",
        label=Message.of(noop("Memory left on each accelerator")),
        value=Quantity(value=option.memory.free_gib if option.memory else 0, unit="GiB", digits=2),
        formula=noop("memory − model − runtime"),
        inputs=tuple(inputs),
        badge=Badge.ESTIMATED if model.memory_source.startswith("planning") else Badge.COMPUTED,
    )


def _service_figures(
    option: LoadOption,
    service: RateService,
    model: RateModel,
    rate: Estimate,
    limit: Limit,
    accelerator: AcceleratorSpec,
    assumptions: Assumptions,
) -> list[Figure]:
    share, key = needs.use_fraction(service.domain, assumptions)
    inputs = [
        _input(noop("items a second at the peak"), service.items_s, model.unit, "answer"),
        _input(noop("rate of one accelerator, cautious"), rate.low, model.unit, "figure above"),
        _input(noop("share of the rate to count on"), share, "", "assumption", key),
        _input(noop("spare accelerators"), option.spare_replicas, "", "answer"),
    ]
    decoded = needs.decode_limit(service, model, accelerator, assumptions)
    if decoded:
        inputs.append(
            _input(
                noop("decoding allows"),
                decoded.items_s,
                model.unit,
                *_decode_source(model, service, accelerator),
            )
        )
    needed = Figure(
        key="accelerators",
        label=Message.of(noop("Accelerators needed")),
        value=Quantity(value=option.gpus, unit="GPUs", digits=4),
        formula=noop("ceil(items / min(rate × share, decoding)) + spare"),
        inputs=tuple(inputs),
        note=_limited(option.limited_by),
    )
    carries = Figure(
        key="capacity_items_s",
        label=Message.of(noop("What they carry at the peak")),
        value=Quantity(
            value=limit.items_s * (option.replicas - option.spare_replicas), unit=model.unit, digits=2
        ),
        formula=noop("accelerators × min(rate × share, decoding)"),
        inputs=tuple(inputs[1:3]),
        badge=rate.badge,
    )
    return [needed, carries]


def _limited(reason: Message) -> Message:
    return Message.of(noop("Limited by {reason}."), reason=reason)


def _decode_source(model: RateModel, service: RateService, accelerator: AcceleratorSpec) -> tuple[str, str]:
    if model.source == "video" or service.streams:
        key = "video_fps_per_decoder" if accelerator.nvdec_count else "video_fps_per_core"
        return "assumption", key
    return "assumption", "jpeg_mpixels_s_per_core"


def _run_figure(option: LoadOption, job: RateTraining, limit: Limit, assumptions: Assumptions) -> Figure:
    run = option.speed.run_hours
    hours = run.high if run else 0
    inside = assumptions.training_scaling_fraction
    return Figure(
        key="run_hours",
        label=Message.of(noop("One training run, at most")),
        value=Quantity(value=hours, unit="hours", digits=2),
        low=run.low if run else None,
        high=run.high if run else None,
        formula=noop("samples × epochs × (1 + evaluation) / (rate × accelerators × scaling)"),
        inputs=(
            _input(noop("samples"), job.samples, "", "answer"),
            _input(noop("epochs"), job.epochs, "", "answer"),
            _input(noop("rate of one accelerator, cautious"), limit.items_s, "samples/s", "figure above"),
            _input(noop("accelerators"), option.gpus, "GPUs", "sizing"),
            _input(
                noop("speed kept at each doubling"), inside, "", "assumption", "training_scaling_fraction"
            ),
            _input(
                noop("evaluation and saving"),
                assumptions.evaluation_share_fraction,
                "",
                "assumption",
                "evaluation_share_fraction",
            ),
            _input(
                noop("CPU work of preparing an image"),
                assumptions.augmentation_factor,
                "",
                "assumption",
                "augmentation_factor",
            ),
        ),
        badge=run.badge if run else Badge.EXTRAPOLATED,
        note=_limited(limit.reason),
    )


def _findings(
    rate: Estimate,
    model: RateModel,
    load: RateService | RateTraining,
    assumptions: Assumptions,
    rates: RateTable,
) -> tuple[Finding, ...]:
    found = []
    if rate.high / rate.low >= WIDE:
        text = noop(
            "The rate of {model} on this accelerator is uncertain: a factor {factor} between low and high."
        )
        message = Message.of(text, model=model.name, factor=Quantity(value=rate.high / rate.low, digits=2))
        remedy = Message.of(noop("Try it on one accelerator before you order more."))
        found.append(Finding(severity=Severity.WARNING, message=message, remedy=remedy))
    row = rates.without_accelerator(model.without)
    share, _ = needs.use_fraction(model.domain, assumptions)
    message_without = needs.without_accelerator(model, rates)
    if row and message_without and isinstance(load, RateService) and load.items_s <= row.rate * share:
        remedy = Message.of(noop("For this load an ordinary server may do."))
        found.append(Finding(severity=Severity.INFO, message=message_without, remedy=remedy))
    return tuple(found)


def _input(name: str, value: float, unit: str, source: str, assumption: str | None = None) -> Input:
    return Input(
        name=Message.of(name),
        value=Quantity(value=value, unit=unit, digits=15 if float(value).is_integer() else 4),
        source=source,
        assumption=assumption,
    )
