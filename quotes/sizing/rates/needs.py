"""What one accelerator can carry of a load: memory, decoding, host, and the rate that a promise may rest on."""

from math import inf
from typing import NamedTuple

from catalog.quantity import Message, Quantity, noop
from catalog.specs import AcceleratorSpec, FormFactor
from configurator.workload import Domain, RateService, RateTraining
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.portions import whole_of
from quotes.sizing.rates.offered import BY_NAME, MODELS, RateModel
from quotes.sizing.rates.table import RateTable
from quotes.sizing.refusals import enough, ratio
from quotes.sizing.results import Estimate, MemoryBreakdown, Refusal, Verdict

BYTES_PER_GIB = 1024**3
EDGE_DOMAINS = frozenset({Domain.VISION, Domain.DETECTION, Domain.SPEECH, Domain.MEDICAL})


class Limit(NamedTuple):
    """A rate per accelerator, and the resource behind it."""

    items_s: float
    reason: Message


def model_of(name: str, domain: Domain) -> RateModel | None:
    """The offered model by name, else None."""
    return BY_NAME.get(name) or next(
        (model for model in MODELS if model.name.lower() == name.lower() and model.domain is domain), None
    )


class NotMeasured(LookupError):
    """Nobody measured rates of the model that is named, or not for this kind of work."""


def known_model(part: RateService | RateTraining) -> RateModel:
    """The offered model that `part` names, for the work that it names. Raises NotMeasured."""
    model = model_of(part.model, part.domain)
    if model is None or model.domain is not part.domain:
        raise NotMeasured(part.model)
    return model


def memory_of(
    needed_gb: float, accelerator: AcceleratorSpec, assumptions: Assumptions
) -> MemoryBreakdown | None:
    """None when the accelerator's memory is unknown."""
    if accelerator.memory_gib is None:
        return None
    weights = needed_gb * 1e9 / BYTES_PER_GIB
    runtime = assumptions.rate_runtime_gib
    return MemoryBreakdown(
        total_gib=accelerator.memory_gib,
        weights_gib=weights,
        runtime_gib=runtime,
        free_gib=accelerator.memory_gib - weights - runtime,
    )


def verdict_of(memory: MemoryBreakdown, assumptions: Assumptions) -> Verdict:
    if memory.free_gib < 0:
        return Verdict.OOM
    tight = memory.free_gib < assumptions.rate_tight_fraction * memory.total_gib
    return Verdict.TIGHT if tight else Verdict.FITS


def unfit(
    part: RateService | RateTraining,
    accelerator: AcceleratorSpec,
    memory: MemoryBreakdown | None,
) -> Refusal | None:
    """Why this accelerator cannot hold the model at all."""
    if memory is None:
        text = noop("Its memory is not known, or is split over several devices.")
        return Refusal.of(accelerator, "catalog", Message.of(text), load=part.name, kind="unknown")
    if memory.free_gib < 0:
        return Refusal.of(
            accelerator,
            "memory",
            Message.of(
                noop("{model} needs about {needed} of memory; this accelerator has {memory}."),
                model=part.model,
                needed=enough(memory.total_gib - memory.free_gib, "GiB"),
                memory=Quantity(value=memory.total_gib, unit="GiB", digits=3),
            ),
            Message.of(noop("Choose a smaller model, or an accelerator with more memory.")),
            load=part.name,
            excess=ratio(memory.total_gib - memory.free_gib, memory.total_gib),
        )
    return None


def out_of_place(
    service: RateService, accelerator: AcceleratorSpec, assumptions: Assumptions
) -> Refusal | None:
    """Edge boxes take modules and small cards; edge modules are offered only for what runs at the edge."""
    edge = accelerator.form_factor is FormFactor.EDGE
    if edge and service.domain not in EDGE_DOMAINS:
        text = noop("A small module for cameras and microphones; it is not offered for this kind of work.")
        return Refusal.of(accelerator, "server", Message.of(text), load=service.name)
    if not service.at_edge or edge:
        return None
    watts = accelerator.power_w
    small = (
        accelerator.form_factor is FormFactor.PCIE
        and watts is not None
        and watts <= assumptions.edge_card_w_max
    )
    if small:
        return None
    return Refusal.of(
        accelerator,
        "server",
        Message.of(noop("You want to compute beside the cameras; it does not fit in an edge box.")),
        Message.of(noop("Possible in a server room, with a network to the cameras.")),
        load=service.name,
    )


def undivided(
    service: RateService, model: RateModel, accelerator: AcceleratorSpec, assumptions: Assumptions
) -> Refusal | None:
    """Why the model does not run on a part of an accelerator."""
    if (
        whole_of(accelerator)[0] is accelerator
        or decode_limit(service, model, accelerator, assumptions) is None
    ):
        return None
    text = noop(
        "It decodes images or video beside the model, which the parts of an accelerator do not divide."
    )
    return Refusal.of(accelerator, "server", Message.of(text), load=service.name)


def decode_limit(
    service: RateService, model: RateModel, accelerator: AcceleratorSpec, assumptions: Assumptions
) -> Limit | None:
    """What decoding allows per accelerator; None when nothing is decoded."""
    if model.source == "video" or (model.source == "jpeg" and service.streams):
        decoders = accelerator.nvdec_count
        if decoders:
            rate = decoders * assumptions.video_fps_per_decoder
            return Limit(rate, Message.of(noop("the video decoders of the accelerator")))
        rate = assumptions.host_cores_per_gpu_max_count * assumptions.video_fps_per_core
        return Limit(rate, Message.of(noop("video decoding on the CPU")))
    if model.source == "jpeg":
        rate = assumptions.host_cores_per_gpu_max_count * jpeg_items_s_per_core(model, assumptions)
        return Limit(rate, Message.of(noop("JPEG decoding on the CPU")))
    return None


def jpeg_items_s_per_core(model: RateModel, assumptions: Assumptions) -> float:
    return assumptions.jpeg_mpixels_s_per_core / model.sample_pixels_m if model.sample_pixels_m else inf


def cores_for(
    items_s: float,
    service: RateService,
    model: RateModel,
    accelerator: AcceleratorSpec,
    assumptions: Assumptions,
) -> float:
    """CPU cores per accelerator that serve `items_s` items a second."""
    cores = model.host_cores
    if model.source == "video" or service.streams:
        if not accelerator.nvdec_count and model.source != "none":
            cores += items_s / assumptions.video_fps_per_core
    elif model.source == "jpeg":
        cores += items_s / jpeg_items_s_per_core(model, assumptions)
    return cores


def read_gb_s(items_s: float, item_kb: float) -> float:
    """What storage must deliver while so many items a second are read from it."""
    return items_s * item_kb / 1e6


def use_fraction(domain: Domain, assumptions: Assumptions) -> tuple[float, str]:
    """The share of a measured rate to count on, and the name of that assumption."""
    if domain is Domain.SPEECH:
        return assumptions.speech_use_fraction, "speech_use_fraction"
    return assumptions.rate_use_fraction, "rate_use_fraction"


def without_accelerator(model: RateModel, rates: RateTable) -> Message | None:
    """What a server without accelerators was measured to do."""
    row = rates.without_accelerator(model.without)
    if row is None:
        return None
    return Message.of(
        noop("A server without accelerators ({cpu}) was measured at {rate}."),
        cpu=row.device.removeprefix("CPU "),
        rate=Quantity(value=row.rate, unit=model.unit, digits=2),
    )


BOUND_WORDS = {
    "tensor": noop("the tensor rate of the accelerator"),
    "memory": noop("the memory bandwidth of the accelerator"),
    "mixed": noop("tensor rate and memory bandwidth together"),
}


def scaled(estimate: Estimate, factor: float) -> Estimate:
    """The same evidence in another unit."""
    if factor == 1:
        return estimate
    return estimate.model_copy(
        update={
            "value": estimate.value * factor,
            "low": estimate.low * factor,
            "high": estimate.high * factor,
        }
    )
