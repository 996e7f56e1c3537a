"""From a number of accelerators to everything that must be ordered and switched on.

`screen_systems` prices every server for one accelerator, cheaply, for the search; `build_system` builds the chosen one
in full. Both read the same `SystemPlan`, so their numbers are equal by construction.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple

from catalog.quantity import ArticleName
from catalog.specs import AcceleratorSpec, CatalogSnapshot, ServerSpec
from configurator.workload import Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.hardware.bill import Broken, Line, bill_lines, longest_lead
from quotes.sizing.hardware.fabric import fabric_result
from quotes.sizing.hardware.node import node_build
from quotes.sizing.hardware.parts import Parts, parts_of
from quotes.sizing.hardware.room import amps_per_phase, placements, room_needs
from quotes.sizing.hardware.site import stands_at
from quotes.sizing.hardware.storage import storage_result
from quotes.sizing.hardware.system import SystemPlan, SystemRecipe, Wish, plan_system
from quotes.sizing.hardware.system_findings import system_findings
from quotes.sizing.hardware.system_report import system_figures
from quotes.sizing.results import LoadOption, NetworkPlan, Power, Refusal, RoomNeeds, SystemBuild

__all__ = [
    "ScreenedSystem",
    "SystemRecipe",
    "Wish",
    "build_system",
    "plan_system",
    "screen_system",
    "screen_systems",
]


class ScreenedSystem(NamedTuple):
    """A legal system on one server type, priced: list price with services and support, without VAT."""

    server: str
    nodes: int
    accelerators: int
    price_eur: Decimal
    wall_w: float
    rack_units: float
    lead_time_weeks: int | None
    provision_w: float  # what feeds must carry


def screen_systems(
    accelerator: AcceleratorSpec,
    accelerators_needed: int,
    loads: tuple[LoadOption, ...],
    workload: Workload,
    catalog: CatalogSnapshot,
    assumptions: Assumptions,
) -> list[ScreenedSystem | Refusal]:
    """One answer for every server on whose list the accelerator stands and that may stand at the site."""
    wish = Wish(accelerators_needed, loads, workload, assumptions)
    servers = parts_of(catalog).servers_for.get(accelerator.sku, ())
    return [
        screen_system(accelerator, server, wish, catalog)
        for server in servers
        if stands_at(server, workload.site)
    ]


def screen_system(
    accelerator: AcceleratorSpec, server: ServerSpec, wish: Wish, catalog: CatalogSnapshot
) -> ScreenedSystem | Refusal:
    """The fewest of one server that hold the loads, priced; or the rule that stands in the way."""
    parts = parts_of(catalog)
    plan = plan_system(accelerator, server, wish, parts)
    if isinstance(plan, Broken):
        return plan.refusal(server.sku, server.name)
    return ScreenedSystem(
        server.sku,
        plan.nodes,
        plan.nodes * plan.node.gpus,
        plan.eur,
        plan.wall_w,
        plan.units,
        plan.lead_weeks(parts),
        plan.provision_w,
    )


def build_system(
    accelerator: AcceleratorSpec | None,
    server: ServerSpec,
    accelerators_needed: int,
    loads: tuple[LoadOption, ...],
    workload: Workload,
    catalog: CatalogSnapshot,
    assumptions: Assumptions,
    recipe: SystemRecipe | None = None,
) -> SystemBuild | Refusal:
    """The whole system on one server type, explained; or the rule that stands in the way.

    `accelerator` None: servers without accelerators, `accelerators_needed` of them. Guarantees: every line is an
    article of the catalog with a price and a quantity above zero; no limit of `workload.site` is exceeded.
    """
    parts = parts_of(catalog)
    wish = Wish(accelerators_needed, loads, workload, assumptions)
    plan = plan_system(accelerator, server, wish, parts, recipe)
    if isinstance(plan, Broken):
        return plan.refusal(server.sku, server.name)
    return _written_out(plan, loads, workload, parts, assumptions)


def _written_out(
    plan: SystemPlan, loads: Sequence[LoadOption], workload: Workload, parts: Parts, assumptions: Assumptions
) -> SystemBuild:
    node = node_build(plan.node, plan.demand, parts, assumptions)
    lines = plan.lines()
    weeks, slowest = longest_lead(lines, parts)
    drive = parts.items.get(plan.node.recipe.drive)
    nvme_tb = plan.nodes * plan.node.recipe.drives * getattr(drive, "capacity_gb", 0) / 1000
    storage = storage_result(plan.need, plan.store, nvme_tb)
    racks = placements(plan, workload.site, assumptions)
    room = room_needs(plan, racks, workload.site, parts, assumptions)
    return SystemBuild(
        accelerator=plan.node.accelerator.sku if plan.node.accelerator else None,
        accelerators=plan.nodes * plan.node.gpus,
        nodes=plan.nodes,
        node=node,
        lines=bill_lines(lines, parts),
        power=Power(
            dc_w=plan.wall_w * assumptions.psu_efficiency_fraction,
            wall_w=plan.wall_w,
            expected_w=plan.wall_w * assumptions.load_factor_fraction,
            surviving_psu_w=None,
            planning_w=plan.provision_w,
            estimated=plan.node.estimated or bool(plan.store and plan.store.estimated),
        ),
        racks=racks,
        fabric=fabric_result(plan.fabric),
        storage=storage,
        feeds_per_rack=max((rack.feeds or 0 for rack in racks), default=0),
        amps_per_phase=amps_per_phase(plan, racks, assumptions),
        findings=(
            *node.findings,
            *system_findings(plan, loads, workload, racks, parts, assumptions),
        ),
        figures=system_figures(plan, workload, storage, racks, room, assumptions),
        lead_time_weeks=weeks,
        lead_time_line=slowest,
        lead_time_article=_article(lines, slowest, parts),
        room=room,
        networks=plan.networks.results if plan.networks else _there(room),
    )


def _there(room: RoomNeeds) -> tuple[NetworkPlan, ...]:
    """Networks on switches of the customer."""
    if not room.data_ports:
        return ()
    return (
        NetworkPlan(kind="in_band", links=room.data_ports, link_gbit_s=room.data_port_gbit_s or 0),
        NetworkPlan(kind="management", links=room.management_ports or 0, link_gbit_s=1),
    )


def _article(lines: Iterable[Line], name: str, parts: Parts) -> ArticleName | None:
    """The article of the bill that is called `name`, with its name in Dutch."""
    item = next((parts.items[line.sku] for line in lines if parts.names.get(line.sku) == name), None)
    return ArticleName(name=item.name, name_nl=item.name_nl) if item else None
