"""Racks, feeds, cooling and floor: where everything stands.

Racks fill by the tightest of power, units, weight and floor load. Feeds are sized on the most that a server may draw,
with one of two feeds lost. The limits of the site themselves are rules of `site`.
"""

from collections.abc import Iterable, Sequence
from heapq import heapreplace
from math import ceil, floor
from typing import Literal, NamedTuple

from catalog.quantity import Message, Quantity, noop
from catalog.specs import CoolingSpec, PduSpec, RackSpec, ServerRole, ServerSpec
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.hardware.bill import Broken, broken
from quotes.sizing.hardware.node_findings import NodePlan
from quotes.sizing.hardware.parts import Parts
from quotes.sizing.refusals import enough

BTU_PER_WATT_HOUR = 3.412
UNLIMITED = 10**9


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

    @property
    def cords(self) -> int:
        """On each of two feeds."""
        return self.c13 + self.c19

    @property
    def cord_w(self) -> float:
        """Over each cord when one of two feeds is lost; 0 without cords."""
        cords = self.c13 + self.c19
        return self.watts / cords if cords else 0.0


class Limits(NamedTuple):
    """What one rack may hold."""

    units: float
    watts: float  # of the servers with accelerators
    dry_watts: float  # of a rack without liquid-cooled servers
    air_watts: float  # what room air cools
    kg: float
    water: bool  # the site has water for rear doors
    feed_w: float  # what one feed carries
    feed_amps: float
    feed_phases: int
    phase_w: float  # what trips the breaker of one phase
    feeds_per_pair: int
    strips: tuple[PduSpec, ...]  # power strips for such feeds, cheapest first
    rack: RackSpec

    @property
    def sides(self) -> int:
        """Sides of cords that hang on one feed: a single feed takes both."""
        return 3 - self.feeds_per_pair


class RackPlan(NamedTuple):
    boxes: tuple[Box, ...]
    pairs: int  # feed pairs (or single feeds, when not redundant)
    pdu: PduSpec | None
    cooling: Literal["air", "rear_door", "liquid"]
    unit: CoolingSpec | None = None  # the door or pump that is ordered with it

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
    def rack_count(self) -> int:
        return sum(number for _, number in self.racks)

    @property
    def pdus(self) -> int:
        return sum(plan.pairs * self.feeds_per_pair * number for plan, number in self.racks)


# ── arithmetic ──────────────────────────────────────────────────────────────────────────────────────────────────


def feed_capacity_w(amps: float, phases: int, assumptions: Assumptions) -> float:
    """Continuous watts of one feed: volts × amps × phases × share of the breaker."""
    return amps * assumptions.feed_volts * phases * assumptions.feed_load_fraction


def busiest_phase_w(boxes: Sequence[Box], phases: int, sides: int = 1) -> float:
    """Watts on the busiest of `phases` phases when each box spreads its load over its cords on `sides` of them.

    A cord cannot be divided, so two cords never load three phases evenly. What has no cords is wired to all phases.
    """
    loads = [0.0] * phases
    for box in boxes:
        if not box.cords:
            loads = [load + box.watts / phases for load in loads]
    for cord in sorted(_cord_loads(boxes, sides), reverse=True):
        heapreplace(loads, loads[0] + cord)  # on the phase with the least; all start alike, which is a heap
    return max(loads)


def _cord_loads(boxes: Sequence[Box], sides: int) -> list[float]:
    loads: list[float] = []
    for box in boxes:
        number = sides * (box.c13 + box.c19)
        if number:
            loads += [box.watts / number] * number
    return loads


def cord_rule(box: Box, limits: Limits) -> Broken | None:
    """A cord hangs on one phase, so it may draw no more than trips that breaker."""
    cord_w = box.cord_w / limits.sides
    if cord_w <= limits.phase_w:
        return None
    return broken(
        "site_cord",
        noop("Each cord of {server} may carry {amps} with one feed lost; a breaker trips at {breaker}."),
        stage="site",
        kind="power",
        off=(cord_w, limits.phase_w),
        needs=larger_feed(box, limits, UNLIMITED),
        server=box.label,
        amps=Quantity(value=cord_w / limits.phase_w * limits.feed_amps, unit="A", digits=3),
        breaker=Quantity(value=limits.feed_amps, unit="A", digits=3),
    )


FEEDS = ((1, 16), (1, 32), (3, 16), (3, 32), (3, 63), (3, 125))
"""Phases and amperes that are installed, smallest first."""


def larger_feed(box: Box, limits: Limits, pairs_most: float) -> Message:
    """The smallest feed on which this box hangs with at most so many pairs."""
    usual_w = limits.feed_w / limits.feed_phases / limits.feed_amps  # per ampere of one phase
    volts = limits.phase_w / limits.feed_amps
    for phases, amps in FEEDS:
        other = limits._replace(
            feed_w=usual_w * phases * amps, feed_amps=amps, feed_phases=phases, phase_w=volts * amps
        )
        if box.cord_w / other.sides <= other.phase_w and feed_pairs((box,), other) <= pairs_most:
            return Message.of(noop("feeds of {phases} × {amps} A"), phases=phases, amps=amps)
    return Message.of(noop("feeds larger than {phases} × {amps} A"), phases=phases, amps=amps)


class Draw(NamedTuple):
    """What boxes draw together, and the most over one cord when one of two feeds is lost; watts."""

    watts: float
    cord_w: float

    @classmethod
    def of(cls, boxes: Sequence[Box]) -> "Draw":
        return cls(sum(box.watts for box in boxes), max((box.cord_w for box in boxes), default=0))


def feed_pairs(boxes: Sequence[Box], limits: Limits, most: int = 9, draw: Draw | None = None) -> int:
    """The fewest feed pairs of which one side carries these boxes, in all and phase by phase; `most` when none does.

    Each phase stays within the usual share of its breaker; a single cord that draws more may go up to the breaker.
    `draw`: of the boxes, where the caller keeps it.
    """
    watts, cord_w = draw or Draw.of(boxes)
    usual_w, largest_w = limits.feed_w / limits.feed_phases, cord_w / limits.sides
    limit_w = largest_w if usual_w < largest_w <= limits.phase_w else usual_w
    pairs = max(ceil(watts / limits.feed_w - 1e-9), 1)
    while pairs < most:
        phases = pairs * limits.feed_phases
        if watts / phases + largest_w <= limit_w:
            break  # however the cords lie: no phase gets more than its even share and one cord
        if busiest_phase_w(boxes, phases, limits.sides) <= limit_w * (1 + 1e-9):
            break
        pairs += 1
    return pairs


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
    by_units = floor(limits.units / box.units + 1e-9) if box.units else UNLIMITED
    by_power = floor(limits.watts / box.watts + 1e-9) if box.watts else UNLIMITED
    by_weight = floor(limits.kg / box.kg + 1e-9) if box.kg else UNLIMITED
    return min(by_units, by_power, by_weight)


# ── boxes ───────────────────────────────────────────────────────────────────────────────────────────────────────


def server_box(plan: NodePlan, kind: str) -> Box:
    server = plan.server
    wired = ServerRole.RACK in server.roles  # a complete rack has no cords
    supplies = 0 if wired else ceil((server.psu_count or 0) / 2)
    large = "C19" in server.inlet or "C20" in server.inlet
    return Box(
        label=server.name,
        kind=kind,
        units=server.rack_units or 0,
        watts=plan.provision_w,
        kg=plan.weight_kg,
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
    server: ServerSpec, box: Box, nodes: int, others: Sequence[Box], limits: Limits, own: bool, parts: Parts
) -> Layout | Broken:
    """Servers with accelerators in racks alike, everything else in racks of its own, or beside them where it fits."""
    if ServerRole.RACK in server.roles:
        whole = RackPlan((box,), feed_pairs((box,), limits), None, "liquid")
        return Layout(((whole, nodes),), None, True, limits.feeds_per_pair)
    if wrong := next((wrong for other in others if (wrong := _too_much(other, limits))), None):
        return wrong
    racks = _server_racks(box, nodes, limits, own, parts)
    bins: list[_Bin] = []
    if others and (len(racks) == 2 or racks[0][1] == 1):  # a rack of its own kind may have room for the rest
        bins = [_Bin(racks.pop()[0], limits)]
    _first_fit(bins, sorted(others, key=lambda item: -item.units), limits, own)
    plans: list[tuple[RackPlan, int]] = []
    for boxes, number in [*racks, *((bin_.boxes, 1) for bin_ in bins)]:
        plan = _rack_plan(tuple(boxes), limits, own, parts)
        if isinstance(plan, Broken):
            return plan
        plans.append((plan, number))
    return Layout(tuple(plans), limits.rack, own, limits.feeds_per_pair)


def _too_much(box: Box, limits: Limits) -> Broken | None:
    """Whether something beside the servers is too much for a rack even alone."""
    if box.watts > limits.dry_watts:
        return broken(
            "site_rack_power_other",
            noop("{part} may draw {power}; the site allows {limit} per rack."),
            stage="site",
            kind="power",
            off=(box.watts, limits.dry_watts),
            needs=Message.of(noop("{power} per rack"), power=enough(box.watts / 1000, "kW")),
            part=box.label,
            power=Quantity(value=box.watts / 1000, unit="kW", digits=3),
            limit=Quantity(value=limits.dry_watts / 1000, unit="kW", digits=3),
        )
    if box.kg is not None and box.kg > limits.kg:
        return broken(
            "site_floor_other",
            noop("{part} weighs {kg} kg; a rack may hold {limit} kg on this floor."),
            noop("Place it in a colocation."),
            stage="site",
            kind="space",
            off=(box.kg, limits.kg),
            part=box.label,
            kg=round(box.kg),
            limit=round(max(limits.kg, 0)),
        )
    return None


def _server_racks(
    box: Box, nodes: int, limits: Limits, own: bool, parts: Parts
) -> list[tuple[list[Box], int]]:
    """One feed pair per rack: servers share it, and a server that needs more pairs stands alone."""
    pump_units = (
        max((item.rack_units or 0 for item in parts.cooling_items("cdu")), default=0) if box.liquid else 0
    )
    room = limits._replace(units=limits.units - pump_units)
    by_feed = floor(limits.feed_w / box.watts + 1e-9) if box.watts else UNLIMITED
    while 1 < by_feed < UNLIMITED and feed_pairs([box] * by_feed, limits) > 1:
        by_feed -= 1  # cords do not always spread evenly over the phases
    by_outlet = UNLIMITED if own else min(
        max((strip.outlets_c13 for strip in limits.strips), default=0) // (limits.sides * box.c13)
        if box.c13 else UNLIMITED,
        max((strip.outlets_c19 for strip in limits.strips), default=0) // (limits.sides * box.c19)
        if box.c19 else UNLIMITED,
    )  # fmt: skip
    most = max(min(fits_per_rack(box, room), by_feed, by_outlet), 1)
    per_rack = ceil(nodes / ceil(nodes / most))
    whole, rest = divmod(nodes, per_rack)
    racks = [([box] * per_rack, whole)] if whole else []
    return racks + ([([box] * rest, 1)] if rest else [])


class _Bin:
    """A rack while it fills, with its sums kept up to date."""

    __slots__ = (
        "boxes",
        "c13",
        "c19",
        "cord_w",
        "first_watts",
        "kg",
        "pairs",
        "servers",
        "units",
        "watts",
        "wet",
    )

    def __init__(self, boxes: Sequence[Box], limits: Limits) -> None:
        self.boxes: list[Box] = []
        self.units = self.watts = self.kg = self.cord_w = 0.0
        self.c13 = self.c19 = 0
        self.servers = any(box.kind == "node" for box in boxes)
        self.wet = any(box.liquid for box in boxes)
        self.first_watts, self.pairs = boxes[0].watts, feed_pairs(boxes[:1], limits)
        for box in boxes:
            self.add(box)

    def add(self, box: Box) -> None:
        self.boxes.append(box)
        self.units += box.units
        self.watts += box.watts
        self.kg += box.kg or 0
        self.cord_w = max(self.cord_w, box.cord_w)
        self.c13 += box.c13
        self.c19 += box.c19

    def takes(self, box: Box, limits: Limits, own: bool) -> bool:
        """One feed pair per rack, unless its first box needs more; without accelerators, room air only."""
        most = limits.watts if self.wet else limits.dry_watts
        if not self.servers:
            most = min(most, limits.air_watts)
        watts = self.watts + box.watts
        if (
            self.units + box.units > limits.units
            or watts > min(most, max(limits.feed_w, self.first_watts))
            or self.kg + (box.kg or 0) > limits.kg
        ):
            return False
        boxes, draw = [*self.boxes, box], Draw(watts, max(self.cord_w, box.cord_w))
        pairs = feed_pairs(boxes, limits, self.pairs + 1, draw)
        if pairs > self.pairs:
            return False
        # a pump or door has a plug of its own
        plugs = self.c13 + box.c13 + (self.wet or (limits.water and watts > limits.air_watts))
        return own or _strip(boxes, draw, plugs, self.c19 + box.c19, pairs, limits) is not None


def _first_fit(bins: list[_Bin], boxes: Iterable[Box], limits: Limits, own: bool) -> None:
    """Each box into the first of `bins` that takes it, else into a new one at their end.

    What refused the box before refuses one like it: a row of equal switches is tried on each rack once.
    """
    last, first = None, 0
    for box in boxes:
        if box != last:
            last, first = box, 0
        while first < len(bins) and not bins[first].takes(box, limits, own):
            first += 1
        if first < len(bins):
            bins[first].add(box)
        else:
            bins.append(_Bin([box], limits))


def _strip(
    boxes: Sequence[Box], draw: Draw, c13: int, c19: int, pairs: int, limits: Limits
) -> PduSpec | None:
    """The cheapest power strip of which one per feed carries these watts, in all and on the busiest phase."""
    share = limits.feed_w / limits.feed_amps * pairs  # watts per ampere of breaker
    for strip in limits.strips:
        if (
            strip.outlets_c13 * pairs < limits.sides * c13
            or strip.outlets_c19 * pairs < limits.sides * c19
            or strip.amps * share < draw.watts - 1e-6
        ):
            continue
        if strip.amps < limits.feed_amps:
            own = limits.feed_w * strip.amps / limits.feed_amps
            smaller = limits._replace(
                feed_w=own, feed_amps=strip.amps, phase_w=limits.phase_w * strip.amps / limits.feed_amps
            )
            if feed_pairs(boxes, smaller, pairs + 1, draw) > pairs:
                continue
        return strip
    return None


def _rack_plan(boxes: tuple[Box, ...], limits: Limits, own: bool, parts: Parts) -> RackPlan | Broken:
    watts = sum(box.watts for box in boxes)
    cooling: Literal["air", "rear_door", "liquid"] = "air"
    unit: CoolingSpec | None = None
    if any(box.liquid for box in boxes):
        cooling = "liquid"
    elif limits.water and watts > limits.air_watts:
        cooling = "rear_door"
    if cooling != "air" and not own:
        kind = "cdu" if cooling == "liquid" else "rear_door"
        able = [item for item in parts.cooling_items(kind) if (item.capacity_kw or 0) * 1000 >= watts]
        if not able:
            return _no_cooling(watts)
        unit = able[0]
        units = (unit.rack_units or 0) if cooling == "liquid" else 0  # a door hangs behind the rack
        boxes = (*boxes, Box(unit.name, "cooling", units, unit.max_power_w or 0, None, c13=1))
        watts += unit.max_power_w or 0
    if too_much := next((found for box in boxes if (found := cord_rule(box, limits))), None):
        return too_much
    draw = Draw.of(boxes)
    pairs = feed_pairs(boxes, limits, draw=draw)
    if own:
        return RackPlan(boxes, pairs, None, cooling)
    c13, c19 = sum(box.c13 for box in boxes), sum(box.c19 for box in boxes)
    strip = _strip(boxes, draw, c13, c19, pairs, limits)
    return RackPlan(boxes, pairs, strip, cooling, unit) if strip else _no_strip(boxes, watts, limits)


def _no_cooling(watts: float) -> Broken:
    return broken(
        "cooling_none",
        noop("The catalog has no cooling for a rack of {power}."),
        noop("Put fewer servers in a rack, or enter a larger unit in the catalog."),
        stage="catalog",
        kind="server",
        power=Quantity(value=watts / 1000, unit="kW", digits=3),
    )


def _no_strip(boxes: Sequence[Box], watts: float, limits: Limits) -> Broken:
    return broken(
        "pdu_none",
        noop(
            "No power strip carries a rack of {power} with {c19} C19 and {c13} C13 outlets on {amps} A feeds."
        ),
        noop("Enter such a strip with its price, or have larger feeds installed."),
        stage="site",
        kind="power",
        power=Quantity(value=watts / 1000, unit="kW", digits=3),
        c19=sum(box.c19 for box in boxes),
        c13=sum(box.c13 for box in boxes),
        amps=Quantity(value=limits.feed_amps, digits=3),
    )
