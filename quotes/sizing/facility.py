"""Racks, feeds, cooling and floor: where everything stands.

Racks fill by the tightest of power, units, weight and floor load. Feeds are sized on the most that a server may draw,
with one of two feeds lost. The limits of the site themselves are rules of `site`.
"""

from collections.abc import Sequence
from math import ceil, floor
from typing import NamedTuple

from catalog.quantity import Quantity, noop
from catalog.specs import PduSpec, RackSpec, ServerRole, ServerSpec
from configurator.workload import Site
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.bill import Broken, broken
from quotes.sizing.node import NodePlan
from quotes.sizing.parts import Parts

BTU_PER_WATT_HOUR = 3.412


class Box(NamedTuple):
    """Something in a rack. Watts are the most it draws; `c13`, `c19`: outlets it takes on each of two feeds."""

    label: str
    kind: str
    units: float
    watts: float
    kg: float | None
    c13: int = 0
    c19: int = 0
    liquid: bool = False


class Limits(NamedTuple):
    """What one rack may hold."""

    units: float
    watts: float  # of the servers with accelerators
    dry_watts: float  # of a rack without liquid-cooled servers
    kg: float
    water: bool  # the site has water for rear doors
    feed_w: float  # one feed of a redundant pair, or all feeds of a rack without redundancy
    rack: RackSpec


class RackPlan(NamedTuple):
    boxes: tuple[Box, ...]
    pairs: int  # feed pairs (or single feeds, when not redundant)
    pdu: PduSpec | None
    cooling: str  # "air", "rear_door", "liquid"

    @property
    def watts(self) -> float:
        return sum(box.watts for box in self.boxes)


class Layout(NamedTuple):
    """All racks. `own`: the customer's racks or the room itself; nothing of them is ordered."""

    racks: tuple[tuple[RackPlan, int], ...]  # each with how many are alike
    rack: RackSpec | None
    own: bool
    feeds_per_pair: int

    @property
    def count(self) -> int:
        return sum(number for _, number in self.racks)

    @property
    def pdus(self) -> int:
        return sum(plan.pairs * self.feeds_per_pair * number for plan, number in self.racks)


# ── arithmetic ──────────────────────────────────────────────────────────────────────────────────────────────────


def feed_capacity_w(amps: float, phases: int, assumptions: Assumptions) -> float:
    """Continuous watts of one feed: volts × amps × phases × share of the breaker."""
    return amps * assumptions.feed_volts * phases * assumptions.feed_load_fraction


def amps_per_phase(watts: float, phases: int, assumptions: Assumptions) -> float:
    """Amperes on each phase of a balanced feed at power factor one."""
    return watts / assumptions.feed_volts / phases


def floor_load_kg_m2(load_kg: float, rack: RackSpec) -> float | None:
    """(rack + load) / footprint of the rack, kg/m²; None when the rack's size or weight is unknown."""
    if not rack.width_mm or not rack.depth_mm or rack.weight_kg is None:
        return None
    return (rack.weight_kg + load_kg) / (rack.width_mm * rack.depth_mm / 1e6)


def usable_supply_kw(shelves: int, shelf_kw: float) -> float:
    """What a rack's power shelves carry when half of them are the spare: installed supply is not load."""
    return shelves // 2 * shelf_kw


def fits_per_rack(box: Box, limits: Limits) -> int:
    """How many equal boxes a rack holds, by the tightest limit."""
    by_units = floor(limits.units / box.units + 1e-9) if box.units else 10**6
    by_power = floor(limits.watts / box.watts + 1e-9) if box.watts else 10**6
    by_weight = floor(limits.kg / box.kg + 1e-9) if box.kg else 10**6
    return min(by_units, by_power, by_weight)


# ── boxes ───────────────────────────────────────────────────────────────────────────────────────────────────────


def server_box(plan: NodePlan, kind: str) -> Box:
    server = plan.server
    supplies = ceil((server.psu_count or 0) / 2)
    large = "C19" in server.inlet or "C20" in server.inlet
    return Box(
        label=server.name,
        kind=kind,
        units=server.rack_units or 0,
        watts=plan.provision_w,
        kg=server.weight_kg,
        c13=0 if large else supplies,
        c19=supplies if large else 0,
        liquid=needs_liquid(server),
    )


def needs_liquid(server: ServerSpec) -> bool:
    """A closed loop inside a desk-side system needs nothing of the room."""
    return server.cooling == "liquid" and ServerRole.WORKSTATION not in server.roles


def stands_alone(server: ServerSpec) -> bool:
    """Not in a rack: desk-side systems and edge boxes without rack units."""
    return ServerRole.WORKSTATION in server.roles or not server.rack_units


# ── racks ───────────────────────────────────────────────────────────────────────────────────────────────────────


def lay_out(
    node: NodePlan,
    nodes: int,
    others: Sequence[Box],
    site: Site,
    limits: Limits,
    own: bool,
    parts: Parts,
    assumptions: Assumptions,
) -> Layout | Broken:
    """Servers with accelerators in racks alike, everything else in racks of its own, or beside them where it fits."""
    feeds = 2 if site.feeds_redundant else 1
    box = server_box(node, "node")
    if ServerRole.RACK in node.server.roles:
        plan = RackPlan((box,), ceil(box.watts / limits.feed_w - 1e-9), None, "liquid")
        return Layout(((plan, nodes),), None, True, feeds)
    per_rack = max(min(fits_per_rack(box, limits), _by_feed(box, limits), _by_outlets(box, site, parts)), 1)
    per_rack = ceil(nodes / ceil(nodes / per_rack))
    bins: list[list[Box]] = []
    whole, rest = divmod(nodes, per_rack)
    racks: list[tuple[list[Box], int]] = [([box] * per_rack, whole)] if whole else []
    if rest:
        racks.append(([box] * rest, 1))
    if others and len(racks) == 1 and racks[0][1] == 1:
        bins = [racks.pop()[0]]
    for other in sorted(others, key=lambda item: -item.units):
        _first_fit(bins, other, limits)
    racks += [(boxes, 1) for boxes in bins]
    if heavy := next((other for other in others if other.watts > limits.dry_watts), None):
        return broken(
            "site_rack_power_other",
            noop("{part} may draw {power}; the site allows {limit} per rack."),
            noop("Place it in a colocation."),
            stage="site",
            part=heavy.label,
            power=Quantity(value=heavy.watts / 1000, unit="kW", digits=3),
            limit=Quantity(value=limits.dry_watts / 1000, unit="kW", digits=3),
        )
    plans = []
    for boxes, number in racks:
        plan = _rack_plan(tuple(boxes), site, limits, parts, assumptions, own)
        if isinstance(plan, Broken):
            return plan
        plans.append((plan, number))
    return Layout(tuple(plans), limits.rack, own, feeds)


def _by_feed(box: Box, limits: Limits) -> int:
    """One feed pair per rack: more servers share it, a server that needs more pairs stands alone."""
    return max(floor(limits.feed_w / box.watts + 1e-9), 1) if box.watts else 10**6


def _by_outlets(box: Box, site: Site, parts: Parts) -> int:
    strips = parts.pdus_for(site.feed_phases, site.feed_amps)
    by_c19 = max((strip.outlets_c19 for strip in strips), default=0) // box.c19 if box.c19 else 10**6
    by_c13 = max((strip.outlets_c13 for strip in strips), default=0) // box.c13 if box.c13 else 10**6
    return min(by_c13, by_c19)


def _first_fit(bins: list[list[Box]], box: Box, limits: Limits) -> None:
    """Into the first rack with room, else into a new one. One feed pair per rack, unless its first box needs more."""
    for boxes in bins:
        most = limits.watts if any(item.liquid for item in boxes) else limits.dry_watts
        if (
            sum(item.units for item in boxes) + box.units <= limits.units
            and sum(item.watts for item in boxes) + box.watts <= min(most, max(limits.feed_w, boxes[0].watts))
            and sum(item.kg or 0 for item in boxes) + (box.kg or 0) <= limits.kg
        ):
            boxes.append(box)
            return
    bins.append([box])


def _rack_plan(
    boxes: tuple[Box, ...], site: Site, limits: Limits, parts: Parts, assumptions: Assumptions, own: bool
) -> RackPlan | Broken:
    watts = sum(box.watts for box in boxes)
    pairs = max(ceil(watts / limits.feed_w - 1e-9), 1)
    cooling = "liquid" if any(box.liquid for box in boxes) else "air"
    if cooling == "air" and limits.water and watts > assumptions.rack_air_kw * 1000:
        cooling = "rear_door"
    if own:
        return RackPlan(boxes, pairs, None, cooling)
    c13, c19 = sum(box.c13 for box in boxes), sum(box.c19 for box in boxes)
    strips = [
        strip
        for strip in parts.pdus_for(site.feed_phases, site.feed_amps)
        if strip.outlets_c13 * pairs >= c13
        and strip.outlets_c19 * pairs >= c19
        and feed_capacity_w(strip.amps, strip.phases, assumptions) * pairs >= watts - 1e-6
    ]
    if not strips:
        return broken(
            "pdu_none",
            noop(
                "No power strip carries a rack of {power} with {c19} C19 and {c13} C13 outlets on {amps} A feeds."
            ),
            noop("Enter such a strip with its price, or have larger feeds installed."),
            stage="site",
            power=Quantity(value=watts / 1000, unit="kW", digits=3),
            c19=c19,
            c13=c13,
            amps=Quantity(value=site.feed_amps, digits=3),
        )
    return RackPlan(boxes, pairs, strips[0], cooling)
