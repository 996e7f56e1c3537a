"""What the room must give: per rack and in all, for the page, the quote and the site sheet alike."""

from typing import TYPE_CHECKING, Any, Literal

from catalog.specs import ServerRole
from configurator.workload import Site
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.hardware.facility import (
    Layout,
    RackPlan,
    busiest_phase_w,
    floor_load_kg_m2,
    needs_liquid,
    stands_alone,
)
from quotes.sizing.hardware.node_findings import NodePlan
from quotes.sizing.hardware.parts import Parts
from quotes.sizing.results import RackPlacement, RoomNeeds

if TYPE_CHECKING:
    from quotes.sizing.hardware.system import SystemPlan

BOTTOM_UP = ("cooling", "node", "storage", "management", "network", "fabric")
QUIET_ROLES = {ServerRole.WORKSTATION, ServerRole.EDGE}
AIR_WH_PER_M3_K = 1.2 * 1005 / 3600  # density × heat capacity of air at 20 °C
WATER_W_MIN_PER_L_K = 4186 / 60  # heat capacity of a litre of water a minute


def airflow_m3_h(watts: float, assumptions: Assumptions) -> float:
    """Air that carries this heat away, m³/h."""
    return watts / AIR_WH_PER_M3_K / assumptions.air_rise_k


def water_l_min(watts: float, assumptions: Assumptions) -> float:
    """Water that carries this heat away, litres a minute."""
    return watts / WATER_W_MIN_PER_L_K / assumptions.water_rise_k


# ── racks ───────────────────────────────────────────────────────────────────────────────────────────────────────


def placements(plan: "SystemPlan", site: Site, assumptions: Assumptions) -> tuple[RackPlacement, ...]:
    """Racks from left to right, boxes from the bottom up: pumps and servers low, switches on top.

    The calculated watts of all racks add up to those of the system.
    """
    layout = plan.layout
    if layout is None:
        return ()
    return tuple(
        placement
        for rack, number in layout.racks
        for placement in [_placement(rack, plan, layout, site, assumptions)] * number
    )


def _wall_w(rack: RackPlan, plan: "SystemPlan", layout: Layout) -> float:
    """Servers by their own sum; the rest of the system's watts by each part's share of the provision."""
    nodes = sum(box.kind == "node" for box in rack.boxes)
    rest_w = plan.wall_w - plan.nodes * plan.node.wall_w
    shares = [
        (sum(box.watts for box in other.boxes if box.kind != "node"), number)
        for other, number in layout.racks
    ]
    total = sum(watts * number for watts, number in shares)
    mine = sum(box.watts for box in rack.boxes if box.kind != "node")
    share = mine / total if total else 1 / layout.rack_count
    return nodes * plan.node.wall_w + rest_w * share


def _placement(
    rack: RackPlan, plan: "SystemPlan", layout: Layout, site: Site, assumptions: Assumptions
) -> RackPlacement:
    wall_w = _wall_w(rack, plan, layout)
    boxes = sorted(rack.boxes, key=lambda box: (not box.units, BOTTOM_UP.index(box.kind), -box.units))
    known = all(box.kg is not None for box in boxes)
    kg = sum(box.kg or 0 for box in boxes)
    whole = layout.rack is None  # the rack is itself the article
    own = layout.own and not whole
    rack_kg = 0 if whole or own or not layout.rack else layout.rack.weight_kg
    least_kg = kg + (rack_kg or 0)
    floor = floor_load_kg_m2(kg, layout.rack) if layout.rack else None
    plugs = not whole and (bool(plan.node.server.inlet) or all(box.kind != "node" for box in boxes))
    sides = 3 - layout.feeds_per_pair  # on a single feed hang the cords of both
    return RackPlacement(
        units_total=layout.rack.rack_units if layout.rack else round(sum(box.units for box in boxes)),
        items=tuple((box.label, box.units, box.kind) for box in boxes),
        power_w=rack.watts,
        weight_kg=least_kg if known and rack_kg is not None else None,
        floor_kg_m2=floor if known else None,
        weight_least_kg=least_kg,
        floor_least_kg_m2=floor,
        own=own,
        cooling=rack.cooling,
        wall_w=wall_w,
        expected_w=wall_w * assumptions.load_factor_fraction,
        feeds=rack.pairs * layout.feeds_per_pair,
        amps_per_phase=busiest_phase_w(rack.boxes, rack.pairs * site.feed_phases, sides)
        / assumptions.feed_volts,
        c13=sides * sum(box.c13 for box in boxes) if plugs else None,
        c19=sides * sum(box.c19 for box in boxes) if plugs else None,
        airflow_m3_h=None if rack.cooling == "liquid" else airflow_m3_h(wall_w, assumptions),
        water_l_min=None if rack.cooling == "air" else water_l_min(wall_w, assumptions),
    )


def amps_per_phase(plan: "SystemPlan", racks: tuple[RackPlacement, ...], assumptions: Assumptions) -> float:
    """Of the busiest phase of the busiest rack; beside a desk, of one system on its own socket."""
    alone = plan.node.provision_w / assumptions.feed_volts
    return max((rack.amps_per_phase or 0 for rack in racks), default=alone)


# ── in all ──────────────────────────────────────────────────────────────────────────────────────────────────────


def room_needs(
    plan: "SystemPlan",
    racks: tuple[RackPlacement, ...],
    site: Site,
    parts: Parts,
    assumptions: Assumptions,
) -> RoomNeeds:
    """The sums, and what no rack tells: where it stands, the heaviest piece to carry in, how loud it is."""
    server = plan.node.server
    standing = _standing(plan)
    wet = needs_liquid(server) or any(rack.cooling == "liquid" for rack in racks)
    heights = [rack.units_total for rack in racks if plan.layout and not plan.layout.own]
    return RoomNeeds(
        standing=standing,
        own_racks=plan.layout.own if plan.layout and standing == "racks" else None,
        volts=assumptions.feed_volts,
        phases=1 if standing in {"desk", "edge"} else site.feed_phases,
        breaker_a=None if standing in {"desk", "edge"} else site.feed_amps,
        redundant=site.feeds_redundant,
        feeds=sum(rack.feeds or 0 for rack in racks),
        rack_units=plan.units if racks else None,
        rack_height_units=max(heights, default=None),
        weight_kg=_sum([rack.weight_kg for rack in racks])
        if racks
        else _times(plan.node.weight_kg, plan.nodes),
        weight_least_kg=_sum([rack.weight_least_kg for rack in racks]) if racks else None,
        heaviest_kg=plan.node.weight_kg,
        deepest_mm=server.depth_mm,
        inlet=server.inlet,
        airflow_m3_h=None if wet else airflow_m3_h(plan.wall_w, assumptions),
        water_l_min=water_l_min(sum(rack.wall_w or 0 for rack in racks if rack.cooling != "air"), assumptions)
        if any(rack.cooling != "air" for rack in racks)
        else None,
        noise="quiet" if QUIET_ROLES & server.roles else "closed_room",
        one_feed_carries=one_feed_carries(plan.node, assumptions)
        if site.feeds_redundant and standing == "racks"
        else None,
        **({} if plan.cluster else _ports(plan, parts)),
    )


def _ports(plan: "SystemPlan", parts: Parts) -> dict[str, Any]:
    """What the servers plug into switches that are there; nothing for a server whose ports are not known."""
    by_sku = {nic.sku: nic for nic in parts.nics}
    cards = [(by_sku[sku], number) for sku, number in plan.node.recipe.nics]
    if not cards:
        return {}
    fastest = max((card for card, _ in cards), key=lambda card: card.port_gbit_s)
    return {
        "data_ports": plan.nodes * sum(number * card.ports for card, number in cards),
        "data_port_gbit_s": fastest.port_gbit_s,
        "data_plug": fastest.connector,
        "management_ports": plan.nodes * (1 + sum(number for card, number in cards if card.kind == "dpu")),
    }


def one_feed_carries(node: NodePlan, assumptions: Assumptions) -> bool | None:
    """Whether half of a server's supplies carries the most it may draw; None when they are not known."""
    one_feed_w = node.server.psu_one_feed_w
    if one_feed_w is None:
        return None
    return node.provision_w * assumptions.psu_efficiency_fraction <= one_feed_w + 1e-6


def _standing(plan: "SystemPlan") -> Literal["racks", "desk", "edge", "whole_racks"]:
    roles = plan.node.server.roles
    if ServerRole.RACK in roles:
        return "whole_racks"
    if not stands_alone(plan.node.server):
        return "racks"
    return "desk" if ServerRole.WORKSTATION in roles else "edge"


def _sum(values: list[float | None]) -> float | None:
    """The sum when every part is known."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _times(value: float | None, number: int) -> float | None:
    return None if value is None else value * number
