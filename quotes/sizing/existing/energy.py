"""Electricity of existing GPUs against that of proposed ones, for the same work."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal

from catalog.quantity import Message, Quantity, noop
from catalog.specs import AcceleratorSpec, CatalogSnapshot
from configurator.workload import ExistingMachine, Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.existing.results import Allotted, Energy, ExistingReport, MachineLoad, MachineReport, Use
from quotes.sizing.money.renting import busy_hours_per_month
from quotes.sizing.money.running_costs import energy_eur_per_year
from quotes.sizing.results import LoadOption, Sizing


def with_energy(
    report: ExistingReport,
    sizing: Sizing,
    workload: Workload,
    catalog: CatalogSnapshot,
    assumptions: Assumptions,
) -> ExistingReport:
    """`report` with what the GPUs of each machine cost in electricity for the service that it would be kept for,
    beside the recommended GPUs doing the same; of several services the one on most GPUs. A machine is retired where new
    GPUs for that work pay for themselves in electricity within the horizon, unless it was counted in or does more."""
    known = {one.sku: one for one in catalog.accelerators}
    proposed = {load.load: load for load in sizing.recommended.candidate.loads} if sizing.recommended else {}
    kept: dict[int, list[Allotted]] = defaultdict(list)
    for one in report.allotted:
        kept[one.machine].append(one)
    machines = []
    for machine, given in zip(report.machines, workload.existing, strict=True):
        here = kept[machine.number]
        energy = _energy(machine, here, given, proposed, known, workload, assumptions)
        if energy is None:
            machines.append(machine)
            continue
        update: dict[str, object] = {"energy": energy[0]}
        years = _years(energy, proposed, known, catalog)
        replaceable = not report.counted and len(here) == 1
        if years is not None and years <= workload.growth.horizon_years and replaceable:
            text = noop(
                "New GPUs for the same work pay for themselves in electricity within {years}: replace it."
            )
            update |= {
                "use": Use.RETIRE,
                "reason": Message.of(text, years=Quantity(value=years, unit="years", digits=2)),
            }
        machines.append(machine.model_copy(update=update))
    return report.model_copy(update={"machines": tuple(machines)})


def _energy(
    machine: MachineReport,
    kept: Sequence[Allotted],
    given: ExistingMachine,
    proposed: Mapping[str, LoadOption],
    known: Mapping[str, AcceleratorSpec],
    workload: Workload,
    assumptions: Assumptions,
) -> tuple[Energy, float] | None:
    """The comparison, and how many proposed GPUs the work takes. None where there is nothing to compare."""
    if machine.use is not Use.REUSE:
        return None
    gpus = {one.load: one.gpus for one in kept}
    best = max(
        (load for load in machine.loads if load.load in gpus and load.load in proposed and not _is_job(load)),
        key=lambda load: gpus[load.load],
        default=None,
    )
    if best is None or best.option is None:
        return None
    new = proposed[best.load]
    old_w, new_w = _watts(known.get(best.option.accelerator), given), _watts(known.get(new.accelerator), None)
    if old_w is None or new_w is None:
        return None
    # At equal work: GPUs per unit of what they carry, times the part that this machine carries.
    old_gpus = best.option.gpus / max(1.0, best.option.capacity_factor)
    part = new.portion.compute_fraction if new.portion else 1.0
    new_gpus = new.gpus * part / max(1.0, new.capacity_factor) * best.fraction
    served = next(service for service in workload.services if service.name == best.load)
    busy = busy_hours_per_month(served, assumptions) / assumptions.hours_per_month
    energy = Energy(
        load=best.load,
        here_eur=energy_eur_per_year(old_gpus * old_w, busy, workload, assumptions),
        proposed_eur=energy_eur_per_year(new_gpus * new_w, busy, workload, assumptions),
        proposed_name=known[new.accelerator].name,
    )
    return energy, new_gpus


def _is_job(load: MachineLoad) -> bool:
    return load.option is not None and load.option.kind.endswith("training")


def _watts(accelerator: AcceleratorSpec | None, given: ExistingMachine | None) -> float | None:
    """The most that one GPU takes: its cap where the machine sets a lower one."""
    if accelerator is None or accelerator.power_w is None:
        return None
    caps = (
        [gpu.power_cap_w for gpu in given.gpus if gpu.sku == accelerator.sku and gpu.power_cap_w]
        if given
        else []
    )
    return min([accelerator.power_w, *caps])


def _years(
    energy: tuple[Energy, float],
    proposed: Mapping[str, LoadOption],
    known: Mapping[str, AcceleratorSpec],
    catalog: CatalogSnapshot,
) -> float | None:
    """Years of saved electricity that pay for new GPUs doing this machine's work; None without price or saving."""
    found, gpus = energy
    accelerator = known[proposed[found.load].accelerator]
    price = catalog.price_eur(accelerator.order_sku)
    saved = found.here_eur - found.proposed_eur
    if price is None or price == Decimal(0) or saved <= 0:
        return None
    return float(price) / accelerator.board_count * gpus / saved
