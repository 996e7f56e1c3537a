"""From a machine as it was given to groups of equal GPUs, and to what its readings say."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from catalog.quantity import Message, Quantity, noop
from catalog.specs import AcceleratorSpec, CatalogSnapshot
from configurator.workload import ExistingGpu, ExistingMachine
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.existing.carrying import gpus_of
from quotes.sizing.existing.results import GpuGroup, Readings
from quotes.sizing.trace import Finding, Severity

ENDED = {"Kepler": "12", "Maxwell": "13", "Pascal": "13", "Volta": "13"}
"""First CUDA release that no longer builds for an architecture: release notes of CUDA 12.0 (Kepler) and 13.0 (August
2025: Maxwell, Pascal and Volta)."""


def groups_of(machine: ExistingMachine, catalog: CatalogSnapshot) -> tuple[GpuGroup, ...]:
    """GPUs of one kind and memory together, in the order in which they appear."""
    known = {one.sku: one for one in catalog.accelerators}
    count: Counter[tuple[str, str, float | None]] = Counter()
    failing: Counter[tuple[str, str, float | None]] = Counter()
    for gpu in machine.gpus:
        spec = known.get(gpu.sku)
        memory_mib = gpu.memory_mib or (spec.memory_mib if spec else None)
        key = (spec.sku if spec else "", spec.name if spec else gpu.name, memory_mib)
        count[key] += gpu.count
        failing[key] += gpu.count if gpu.failing else 0
    return tuple(
        GpuGroup(
            sku=sku, name=name, count=number, failing_count=failing[sku, name, mib],
            memory_gib=mib / 1024 if mib else None,
        )
        for (sku, name, mib), number in count.items()
    )  # fmt: skip


def spec_of(group: GpuGroup, catalog: CatalogSnapshot) -> AcceleratorSpec | None:
    """The accelerator of a group, with no more memory than its driver reports."""
    spec = next((one for one in catalog.accelerators if one.sku == group.sku), None)
    if spec is None or group.memory_gib is None or spec.memory_mib is None:
        return spec
    return spec.model_copy(update={"memory_mib": min(spec.memory_mib, group.memory_gib * 1024)})


def readings_of(machine: ExistingMachine) -> Readings | None:
    """The readings of the whole machine; None when there are none."""
    gpus = machine.gpus
    used = [(gpu.memory_used_mib, gpu.memory_mib) for gpu in gpus if gpu.memory_used_mib is not None]
    shares = [a / b for a, b in used if b]
    found = Readings(
        utilisation_pct=_mean([gpu.utilisation_pct for gpu in gpus]),
        memory_used_fraction=_mean(shares),
        temperature_c=max((gpu.temperature_c for gpu in gpus if gpu.temperature_c is not None), default=None),
        power_w=_sum([gpu.power_w for gpu in gpus]),
        ecc_errors_count=_errors(gpus),
        throttled_by=frozenset(kind for gpu in gpus for kind in gpu.throttled_by),
    )
    return None if found == Readings() else found


def _errors(gpus: Iterable[ExistingGpu]) -> int | None:
    counts = [gpu.ecc_errors_count for gpu in gpus if gpu.ecc_errors_count is not None]
    return sum(counts) if counts else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def taken(gpu: ExistingGpu, assumptions: Assumptions) -> bool:
    """Whether a GPU was in use at the moment of its readings: busy, or its memory full."""
    used, total = gpu.memory_used_mib, gpu.memory_mib
    full = used is not None and total and used >= total * assumptions.existing_full_fraction
    return bool(full) or (gpu.utilisation_pct or 0) >= assumptions.existing_busy_pct


def held_up(machine: ExistingMachine, assumptions: Assumptions) -> Message | None:
    """What stands in the way of more work on a machine as it is now; None when nothing was seen."""
    readings = readings_of(machine)
    if readings is None:
        return None
    heat, use, full = readings.temperature_c, readings.utilisation_pct, readings.memory_used_fraction
    if "temperature" in readings.throttled_by:
        return Message.of(
            noop("Its GPUs were too hot and slowed themselves down. Have the cooling looked at first.")
        )
    if heat is not None and heat >= assumptions.existing_hot_c:
        text = noop("One of its GPUs was {heat}: near the limit at which it slows itself down.")
        return Message.of(text, heat=Quantity(value=heat, unit="°C", digits=3))
    if not all(taken(gpu, assumptions) for gpu in machine.gpus if not gpu.failing):
        return None
    if use is not None and use >= assumptions.existing_busy_pct:
        text = noop("It was {use} busy at that moment. What is left is too little to count on.")
        return Message.of(text, use=Quantity(value=use, unit="%", digits=3))
    text = noop("Its GPU memory was {full} full. New work fits only when what runs there now goes elsewhere.")
    return Message.of(text, full=Quantity(value=(full or 0) * 100, unit="%", digits=2))


def findings_of(
    machine: ExistingMachine, groups: Sequence[GpuGroup], catalog: CatalogSnapshot, assumptions: Assumptions
) -> Iterator[Finding]:
    """What whoever looks after the machine must know."""
    failing = sum(group.failing_count for group in groups)
    if failing:
        text = noop("{gpus} reported an error instead of readings. We do not count on them.")
        yield _warning(Message.of(text, gpus=gpus_of(failing)))
    if errors := _errors(machine.gpus):
        text = noop(
            "Memory errors that could not be corrected: {count}. Have the GPU tested before you rely on it."
        )
        yield _warning(Message.of(text, count=errors))
    in_use = sum(gpu.count for gpu in machine.gpus if taken(gpu, assumptions) and not gpu.failing)
    if in_use and held_up(machine, assumptions) is None:
        text = noop("In use at that moment: {gpus}. The figures hold when that work goes elsewhere.")
        yield _warning(Message.of(text, gpus=gpus_of(in_use)))
    if any(gpu.divided for gpu in machine.gpus):
        yield _warning(
            Message.of(
                noop(
                    "GPUs are divided into slices (MIG). The figures hold for whole GPUs: turn it off first."
                )
            )
        )
    for group in groups:
        spec = spec_of(group, catalog)
        if spec is None:
            text = noop("We do not know the GPU ‘{name}’. Choose it by hand in your answers.")
            unnamed = noop("The text does not say which GPUs these are. Choose them by hand in your answers.")
            yield _warning(Message.of(text, name=group.name) if group.name else Message.of(unnamed))
            continue
        if release := ENDED.get(spec.architecture):
            text = noop("{name}: CUDA {release} and later no longer support it; it runs older software only.")
            yield _warning(Message.of(text, name=spec.name, release=release))
        if cap := _cap(machine, spec, assumptions):
            text = noop(
                "{name}: its power is capped at {cap} instead of {usual}, so it is slower than we calculate."
            )
            usual = Quantity(value=spec.power_w or 0, unit="W", digits=4)
            yield _warning(
                Message.of(text, name=spec.name, cap=Quantity(value=cap, unit="W", digits=4), usual=usual)
            )


def _cap(machine: ExistingMachine, spec: AcceleratorSpec, assumptions: Assumptions) -> float | None:
    """The lowest cap of the GPUs of this kind, where it is clearly below what they usually may take."""
    caps = [gpu.power_cap_w for gpu in machine.gpus if gpu.sku == spec.sku and gpu.power_cap_w]
    if not caps or spec.power_w is None or min(caps) >= spec.power_w * assumptions.existing_capped_fraction:
        return None
    return min(caps)


def _warning(message: Message) -> Finding:
    return Finding(severity=Severity.WARNING, message=message, about="existing")
