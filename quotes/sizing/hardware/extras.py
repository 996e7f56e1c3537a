"""Racks, power strips and cooling that are ordered with a system, and the work that makes it run."""

from math import ceil
from typing import NamedTuple

from catalog.quantity import noop
from catalog.specs import CoolingSpec, FormFactor, ServerRole, ServerStatus
from configurator.workload import Delivery
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.hardware.bill import Line
from quotes.sizing.hardware.fabric import Fabric
from quotes.sizing.hardware.facility import Layout, RackPlan, stands_alone
from quotes.sizing.hardware.node_findings import NodePlan
from quotes.sizing.hardware.parts import Parts
from quotes.sizing.results import LineRole

RACKS, SERVICES = "racks", "services"
LOW_UNITS = 4  # up to here one person racks a server


class RackBill(NamedTuple):
    lines: tuple[Line, ...]
    wall_w: float  # of pumps and fans


def rack_lines(layout: Layout | None, cluster: bool, parts: Parts) -> RackBill:
    """Nothing in the customer's own racks; else racks, strips, doors or loops, each by what it must carry."""
    if layout is None or layout.own or layout.rack is None:
        return RackBill((), 0)
    lines = [
        Line(
            layout.rack.sku,
            layout.rack_count,
            LineRole.RACK,
            RACKS,
            noop("By the tightest of power, units, weight and floor."),
        )
    ]
    wall_w = 0.0
    for plan, number in layout.racks:
        if plan.pdu:
            strips = plan.pairs * layout.feeds_per_pair * number
            why = (
                noop("Fed twice: one strip per feed.")
                if layout.feeds_per_pair == 2
                else noop("One strip per feed.")
            )
            lines.append(Line(plan.pdu.sku, strips, LineRole.POWER, RACKS, why))
        for item, why in _cooling(plan, parts):
            lines.append(Line(item.sku, number, LineRole.COOLING, RACKS, why))
            wall_w += number * (item.max_power_w or 0)
    if cluster:
        tidy = next(
            (
                item
                for item in parts.accessories
                if item.kind == "rack_accessory" and "cable-management" in item.sku
            ),
            None,
        )
        lines += (
            [Line(tidy.sku, layout.rack_count, LineRole.RACK, RACKS, noop("One per rack."))] if tidy else []
        )
    return RackBill(tuple(lines), wall_w)


def _cooling(plan: RackPlan, parts: Parts) -> list[tuple[CoolingSpec, str]]:
    if plan.unit is None:
        return []
    leak = [(item, noop("Warns of water in the rack.")) for item in parts.cooling_items("leak_detection")[:1]]
    if plan.cooling == "rear_door":
        return [(plan.unit, noop("A rack above the limit of room air.")), *leak]
    manifold = parts.cooling_items("manifold")[:1]
    return [
        (plan.unit, noop("Pumps coolant through the servers of a rack.")),
        *((item, noop("Spreads coolant over the servers.")) for item in manifold),
        *leak,
    ]


# ── services ────────────────────────────────────────────────────────────────────────────────────────────────────


def service_lines(
    node: NodePlan,
    nodes: int,
    fabric: Fabric | None,
    layout: Layout | None,
    cluster: bool,
    delivery: Delivery,
    parts: Parts,
    assumptions: Assumptions,
) -> tuple[list[Line], tuple[str, ...]]:
    """Lines, and the purposes for which the catalog has no service."""
    wanted: list[tuple[str, int, str]] = []
    server = node.server
    composed = server.status is ServerStatus.BUILDABLE
    if cluster:
        wanted += _cluster_services(nodes, fabric, assumptions)
    elif composed:
        wanted.append(("os_install", nodes, noop("Operating system and drivers, before delivery.")))
        if node.accelerator and node.accelerator.form_factor in {FormFactor.SXM, FormFactor.OAM}:
            wanted.append(("burn_in", nodes, noop("Accelerator boards run at full load before delivery.")))
    if delivery.installation:
        wanted += _installation(node, nodes, layout, cluster, assumptions)
    wet = (
        sum(number for plan, number in layout.racks if plan.cooling != "air")
        if layout and not layout.own
        else 0
    )
    if wet:
        wanted.append(
            ("loop_commissioning", wet, noop("Filling, bleeding and testing, per rack with water."))
        )
    if delivery.support != "none":
        wanted.append((f"support_{delivery.support}", 1, noop("A percentage of the hardware lines.")))
    lines, missing = [], []
    for purpose, number, why in wanted:
        service = parts.service(purpose)
        if service is None:
            missing.append(purpose)
        elif number:
            role = LineRole.LICENCE if purpose == "fabric_manager" else LineRole.SERVICE
            lines.append(Line(service.sku, number, role, SERVICES, why, percent=service.pct_of_hardware))
    return lines, tuple(missing)


def _cluster_services(
    nodes: int, fabric: Fabric | None, assumptions: Assumptions
) -> list[tuple[str, int, str]]:
    project = assumptions.project_days_base_count + nodes * assumptions.project_days_per_node
    managed = nodes if fabric and fabric.infiniband else 0
    lessons = assumptions.training_days_base_count + nodes // assumptions.training_day_per_nodes_count
    return [
        ("cluster_software", 1, noop("Scheduler, monitoring and images for all servers.")),
        ("cluster_acceptance", 1, noop("Network, storage and computing measured before handover.")),
        ("fabric_manager", managed, noop("Manages the cluster network, per server.")),
        ("project_day", ceil(project), noop("Planning and delivery of a cluster, by its size.")),
        ("training_day", ceil(lessons), noop("For your administrators.")),
    ]  # fmt: skip


def _installation(
    node: NodePlan, nodes: int, layout: Layout | None, cluster: bool, assumptions: Assumptions
) -> list[tuple[str, int, str]]:
    server = node.server
    if stands_alone(server):
        if ServerRole.EDGE not in server.roles:
            return []
        days = ceil(nodes / assumptions.edge_boxes_per_day_count)
        return [("installation_day", days, noop("An engineer on site mounts and connects the boxes."))]
    if ServerRole.RACK in server.roles:
        return [("rack_build", nodes, noop("Placing and connecting a complete rack."))]
    purpose = "rack_small" if (server.rack_units or 0) <= LOW_UNITS else "rack_large"
    wanted = [(purpose, nodes, noop("Mounting and connecting each server."))]
    if cluster and layout and not layout.own:
        wanted.append(("rack_build", layout.rack_count, noop("Building and cabling each rack.")))
    return wanted
