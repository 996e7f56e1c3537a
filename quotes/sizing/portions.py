"""Parts of one accelerator: what a replica has to itself when several services share it.

NVIDIA cards with MIG are divided by hardware, in the profiles that the catalog names; other CUDA cards by MPS, in
quarters, without walls. A part is sized as a small accelerator of its own, so that every target is checked on it.
Source of the MIG rules: docs.nvidia.com/datacenter/tesla/mig-user-guide (fractions of memory and processors).
"""

import re

from catalog.quantity import Message, Quantity, noop
from catalog.specs import AcceleratorSpec, FormFactor
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.results import Estimate, LoadOption, Portion, Speed
from quotes.sizing.trace import Badge, Figure, Input

PROFILE = re.compile(r"(\d)g\.\d+gb")
MEMORY_EIGHTHS = {1: 1, 2: 2, 3: 4, 4: 4}
"""Of the cards that MIG divides into seven: sevenths of the processors to eighths of the memory."""
SEVEN, EIGHT, QUARTERS = 7, 8, 4


class PartSpec(AcceleratorSpec):
    """A part as an accelerator: what is scarce is scaled, what it is called and made of stays."""

    whole: AcceleratorSpec
    portion: Portion
    rate_fraction: float  # of the whole accelerator's measured rates


def portions_of(accelerator: AcceleratorSpec) -> tuple[Portion, ...]:
    """The parts into which it can be divided, smallest first; none when it cannot, or when that is not known."""
    if "cuda" not in accelerator.software_stack or accelerator.form_factor is FormFactor.EDGE:
        return ()
    if accelerator.memory_mib is None or not accelerator.memory_bandwidth_gb_s:
        return ()
    return _by_mig(accelerator) or _by_mps()


def _by_mig(accelerator: AcceleratorSpec) -> tuple[Portion, ...]:
    count = accelerator.mig_count or 0
    found = []
    for name in accelerator.mig_profiles:
        profile = PROFILE.fullmatch(name)
        units = int(profile[1]) if profile else count
        memory = MEMORY_EIGHTHS.get(units) if count == SEVEN else units
        if 0 < units < count and memory:
            found.append(
                Portion(
                    name=name,
                    kind="mig",
                    compute_units=units,
                    compute_total=count,
                    memory_units=memory,
                    memory_total=EIGHT if count == SEVEN else count,
                )
            )
    return tuple(sorted(found, key=lambda part: (part.compute_units, part.memory_units)))


def _by_mps() -> tuple[Portion, ...]:
    return tuple(
        Portion(
            name=f"{quarters}/{QUARTERS}" if quarters != QUARTERS // 2 else "1/2",
            kind="mps",
            compute_units=quarters,
            compute_total=QUARTERS,
            memory_units=quarters,
            memory_total=QUARTERS,
        )
        for quarters in range(1, QUARTERS)
    )


def part_of(accelerator: AcceleratorSpec, portion: Portion, assumptions: Assumptions) -> PartSpec:
    """The part as an accelerator that stands alone; its SKU names both."""
    if portion.kind == "mig":
        compute = portion.compute_fraction * assumptions.mig_compute_fraction
        bandwidth = portion.memory_fraction
    else:
        compute = bandwidth = portion.compute_fraction * assumptions.shared_busy_fraction

    def scaled(rate: float | None) -> float | None:
        return None if rate is None else rate * compute

    figures = {name: getattr(accelerator, name) for name in AcceleratorSpec.model_fields}
    figures |= {
        "sku": f"{accelerator.sku}|{portion.name}",
        "memory_mib": (accelerator.memory_mib or 0)
        * portion.memory_fraction
        * assumptions.part_memory_fraction,
        "memory_bandwidth_gb_s": (accelerator.memory_bandwidth_gb_s or 0) * bandwidth,
        **{name: scaled(figures[name]) for name in RATES},
        "nvdec_count": None,
        "link_gb_s": None,
        "link_max_count": 0,
        "link_kind": "none",
    }
    return PartSpec.model_construct(
        **figures, whole=accelerator, portion=portion, rate_fraction=min(compute, bandwidth)
    )


RATES = ("bf16_tflops", "fp8_tflops", "fp4_tflops", "int8_tops", "fp32_tflops")


def whole_of(accelerator: AcceleratorSpec) -> tuple[AcceleratorSpec, float]:
    """The whole accelerator, and the share of its measured rates that counts."""
    if isinstance(accelerator, PartSpec):
        return accelerator.whole, accelerator.rate_fraction
    return accelerator, 1.0


def as_part(option: LoadOption, part: PartSpec, assumptions: Assumptions) -> LoadOption:
    """An option sized on a part, under the whole accelerator's name. Runs were measured on the whole only."""
    speed = option.speed
    lowered = {
        name: _lowered(getattr(speed, name))
        for name in Speed.model_fields
        if isinstance(getattr(speed, name), Estimate)
    }
    figures = tuple(
        figure.model_copy(update={"badge": Badge.INTERPOLATED}) if figure.badge is Badge.MEASURED else figure
        for figure in option.figures
    )
    if figures:
        figures += (_part_figure(part, assumptions),)
    settings = option.settings
    if settings and part.portion.kind == "mps":  # the engine sees the whole accelerator
        share = part.portion.memory_fraction * assumptions.part_memory_fraction
        settings = settings.model_copy(update={"memory_fraction": settings.memory_fraction * share})
    return option.model_copy(
        update={
            "accelerator": part.whole.sku,
            "portion": part.portion,
            "settings": settings,
            "speed": speed.model_copy(update=lowered),
            "figures": figures,
        }
    )


def _lowered(estimate: Estimate) -> Estimate:
    if estimate.badge is not Badge.MEASURED:
        return estimate
    return estimate.model_copy(update={"badge": Badge.INTERPOLATED})


def _part_figure(part: PartSpec, assumptions: Assumptions) -> Figure:
    mig = part.portion.kind == "mig"
    key = "mig_compute_fraction" if mig else "shared_busy_fraction"

    def number(label: str, value: float, source: str, assumption: str | None = None) -> Input:
        return Input(
            name=Message.of(label), value=Quantity(value=value), source=source, assumption=assumption
        )

    return Figure(
        key="part_of_accelerator",
        label=Message.of(noop("Part of the accelerator that counts")),
        value=Quantity(value=100 * part.rate_fraction, unit="%", digits=2),
        formula=noop(
            "the smaller of computing and memory bandwidth, each units / all units × share to count on"
        ),
        inputs=(
            number(noop("units of computing"), part.portion.compute_units, "catalog" if mig else "rule"),
            number(noop("all units of computing"), part.portion.compute_total, "catalog" if mig else "rule"),
            number(noop("units of memory"), part.portion.memory_units, "catalog" if mig else "rule"),
            number(noop("all units of memory"), part.portion.memory_total, "catalog" if mig else "rule"),
            number(noop("share of the part to count on"), getattr(assumptions, key), "assumption", key),
            number(
                noop("share of its memory to count on"),
                assumptions.part_memory_fraction,
                "assumption",
                "part_memory_fraction",
            ),
        ),
        badge=Badge.ESTIMATED,
    )


def busy_of_whole(portion: Portion | None, busy_fraction: float, assumptions: Assumptions) -> float:
    """`busy_fraction` of a part, as a fraction of the accelerator it belongs to."""
    if portion is None:
        return busy_fraction
    counted = assumptions.mig_compute_fraction if portion.kind == "mig" else assumptions.shared_busy_fraction
    return busy_fraction * portion.compute_fraction * counted
