"""What the reader must know of one composed server: estimates, unknowns, single points of failure, slower memory."""

from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

from catalog.quantity import Message, Quantity, noop
from catalog.specs import AcceleratorSpec, FormFactor, ServerSpec, ServerStatus
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.hardware.bill import Line
from quotes.sizing.hardware.demand import NodeDemand, NodeRecipe, ram_needed_gb
from quotes.sizing.hardware.parts import Parts
from quotes.sizing.trace import Finding, Severity

type Note = Callable[..., None]


class NodePlan(NamedTuple):
    """A composed server, cheap to make. Lines are per server; `wall_w` includes the losses of the supplies."""

    server: ServerSpec
    accelerator: AcceleratorSpec | None
    gpus: int
    recipe: NodeRecipe
    lines: tuple[Line, ...]
    dc_w: float
    wall_w: float
    planning_w: float | None  # the maker's planning figure for so many accelerators
    estimated: bool
    eur: Decimal  # list price of one
    lead_weeks: int | None  # of the part that takes longest
    weight_kg: float | None  # with its cards

    @property
    def provision_w(self) -> float:
        """What feeds must carry: the higher of computed and planned."""
        return max(self.wall_w, self.planning_w or 0)


def small_plug(sku: str, parts: Parts) -> bool:
    return str(getattr(parts.items[sku], "connector", "")).startswith("SFP28")


def node_findings(
    plan: NodePlan, demand: NodeDemand, parts: Parts, assumptions: Assumptions
) -> list[Finding]:
    server = plan.server
    found: list[Finding] = []

    def note(severity: Severity, text: str, remedy: str = "", **params: object) -> None:
        found.append(
            Finding(
                severity=severity,
                message=Message(text=text, params={"server": server.name, **params}),
                about=server.sku,
                remedy=Message(text=remedy, params=params) if remedy else None,
            )
        )

    if plan.accelerator:
        _accelerator_findings(plan.accelerator, note)
    if plan.estimated:
        note(Severity.INFO, noop("The power of {server} rests partly on planning estimates."))
    if server.status is ServerStatus.COMPLETE_SYSTEM:
        if server.rack_units and server.weight_kg is None:
            note(Severity.WARNING, noop("The weight of {server} is not known: have the floor load checked."))
        return found
    _supply_findings(plan, note)
    _part_findings(plan, demand, parts, assumptions, note)
    if server.weight_kg is None:
        note(Severity.WARNING, noop("The weight of {server} is not known: have the floor load checked."))
    return found


def _accelerator_findings(accelerator: AcceleratorSpec, note: Note) -> None:
    """What decides fit and speed and nobody confirmed yet."""
    remedy = noop("Have this confirmed by the maker before you order.")
    if accelerator.memory_mib and "memory_mib" in accelerator.provenance.estimated_fields:
        note(
            Severity.INFO,
            noop(
                "How much of its memory {accelerator} leaves to software is estimated from related cards: {memory}."
            ),
            remedy,
            accelerator=accelerator.name,
            memory=Quantity(value=accelerator.memory_mib / 1024, unit="GiB", digits=3),
        )
    speeds = ("memory_bandwidth_gb_s", "bf16_tflops", "fp8_tflops", "fp4_tflops")
    if any(getattr(accelerator, name) and accelerator.provenance.to_confirm(name) for name in speeds):
        note(
            Severity.INFO,
            noop("The speed figures of {accelerator} do not all come from a document of the maker."),
            remedy,
            accelerator=accelerator.name,
        )


def _supply_findings(plan: NodePlan, note: Note) -> None:
    server = plan.server
    if server.psu_redundancy in {"", "none"}:
        note(
            Severity.WARNING,
            noop("{server} has no spare power supply: if it fails, the server stops."),
            noop("Accept that, or choose a server with redundant supplies."),
        )
    if not server.inlet:
        note(Severity.WARNING, noop("The power inlet of {server} is not known: cords are not included."))


def _part_findings(
    plan: NodePlan, demand: NodeDemand, parts: Parts, assumptions: Assumptions, note: Note
) -> None:
    server, recipe, accelerator = plan.server, plan.recipe, plan.accelerator
    if recipe.boot_drives == 1:
        note(Severity.INFO, noop("The boot drive of {server} is not mirrored."))
    cpu = parts.items[recipe.cpu]
    choice = next(
        (
            choice
            for choice in parts.memory_for(server, cpu)  # type: ignore[arg-type]
            if choice.spec.sku == recipe.memory and choice.modules == recipe.modules
        ),
        None,
    )
    if choice and choice.speed_mt_s is None:
        note(Severity.INFO, noop("How fast the memory of {server} runs when fully filled is not known."))
    elif choice and choice.speed_mt_s and choice.speed_mt_s < choice.spec.speed_mt_s:
        note(
            Severity.INFO,
            noop("The memory modules of {server} run at {speed} instead of {rated} MT/s."),
            speed=choice.speed_mt_s,
            rated=choice.spec.speed_mt_s,
        )
    total = recipe.modules * parts.items[recipe.memory].capacity_gb  # type: ignore[attr-defined]
    needed = ram_needed_gb(accelerator, plan.gpus, demand, assumptions)
    if total < needed:
        note(
            Severity.WARNING,
            noop("{total} GB of host memory is below the usual {needed} GB for these accelerators."),
            total=total,
            needed=round(needed),
        )
    if accelerator and accelerator.link_kind == "bridge" and demand.joined > 1 and not recipe.bridges:
        note(
            Severity.WARNING,
            noop("The catalog has no bridge for {accelerator}: the cards talk over PCIe."),
            accelerator=accelerator.name,
        )
    _lane_finding(plan, parts, note)


def _lane_finding(plan: NodePlan, parts: Parts, note: Note) -> None:
    """PCIe switches in a chassis are not in the catalog: say when the CPUs' own lanes cannot be enough."""
    accelerator, recipe = plan.accelerator, plan.recipe
    cpu_lanes = getattr(parts.items[recipe.cpu], "pcie_lanes", None)
    if accelerator is None or cpu_lanes is None or accelerator.form_factor is not FormFactor.PCIE:
        return
    lanes = plan.gpus * (accelerator.pcie_lanes or 16) + 4 * recipe.drives
    lanes += sum(16 * number for _, number in recipe.nics) + 16 * recipe.fabric_nics
    have = cpu_lanes * recipe.cpus
    if lanes > have:
        note(
            Severity.INFO,
            noop(
                "{server} uses {lanes} PCIe lanes and the CPUs have {have}: switches on the board share them."
            ),
            lanes=Quantity(value=lanes, digits=4),
            have=Quantity(value=have, digits=4),
        )
