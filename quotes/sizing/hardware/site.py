"""The limits of the customer's site, which are hard: what exceeds one is refused, by how much, and what would help."""

from collections.abc import Iterator
from math import ceil, floor

from catalog.quantity import Message, Quantity, noop
from catalog.specs import ServerRole, ServerSpec
from configurator.workload import Site, SiteKind
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.hardware.bill import Broken, broken, would_fit
from quotes.sizing.hardware.facility import (
    UNLIMITED,
    Box,
    Limits,
    cord_rule,
    feed_capacity_w,
    feed_pairs,
    floor_load_kg_m2,
    larger_feed,
    stands_alone,
)
from quotes.sizing.hardware.node_findings import NodePlan
from quotes.sizing.hardware.parts import Parts
from quotes.sizing.refusals import enough, hardest, joined

RACK_SITES = frozenset({SiteKind.SERVER_ROOM, SiteKind.DATA_HALL, SiteKind.COLOCATION})


def stands_at(server: ServerSpec, site: Site) -> bool:
    """A desktop system does not belong in a rack."""
    return ServerRole.WORKSTATION not in server.roles or site.kind not in RACK_SITES


def limits_for(box: Box, site: Site, parts: Parts, assumptions: Assumptions) -> Limits | Broken:
    """What a rack of this site may hold of this kind of server."""
    key = ("limits", parts.number_of(site), box.liquid, parts.number_of(assumptions))
    return parts.remember(key, lambda: _limits(box.liquid, site, parts, assumptions))


def _limits(liquid: bool, site: Site, parts: Parts, assumptions: Assumptions) -> Limits | Broken:
    rack = parts.rack(assumptions.rack_units_wanted_count, assumptions.rack_width_wanted_mm)
    if rack is None:
        return broken(
            "rack_none", noop("The catalog has no rack with a price."), stage="catalog", kind="server"
        )
    water = bool(site.cooling & {"rear_door", "liquid"})
    dry_kw = assumptions.rack_rear_door_kw if water else assumptions.rack_air_kw
    wet_kw = assumptions.rack_liquid_kw if liquid else dry_kw
    site_kw = site.rack_power_max_kw or wet_kw
    kg = rack.load_max_kg or UNLIMITED
    if site.floor_load_kg_m2 is not None and rack.width_mm and rack.depth_mm and rack.weight_kg is not None:
        kg = min(kg, site.floor_load_kg_m2 * rack.width_mm * rack.depth_mm / 1e6 - rack.weight_kg)
    feed_w = feed_capacity_w(site.feed_amps, site.feed_phases, assumptions)
    return Limits(
        units=rack.rack_units - assumptions.rack_units_spare_count,
        watts=1000 * min(wet_kw, site_kw),
        dry_watts=1000 * min(dry_kw, site_kw),
        air_watts=1000 * assumptions.rack_air_kw,
        kg=kg,
        water=water,
        feed_w=feed_w,
        feed_amps=site.feed_amps,
        feed_phases=site.feed_phases,
        phase_w=site.feed_amps * assumptions.feed_volts,
        feeds_per_pair=2 if site.feeds_redundant else 1,
        strips=tuple(parts.pdus_for(site.feed_phases, site.feed_amps)),
        rack=rack,
    )


def server_site_rules(
    plan: NodePlan, nodes: int, box: Box, site: Site, limits: Limits, assumptions: Assumptions
) -> Broken | None:
    """What keeps even one such server from standing at this site, or all of them without what belongs to them."""
    found = list(_server_site_rules(plan, box, site, limits, assumptions))
    if not found:  # what is too much in all is told with all that belongs to it, by `total_rules`
        return _size_rules(plan, box, site, limits, assumptions)
    free = site.rack_units_free
    if free is not None and nodes * box.units > free:
        found.append(_too_high(nodes * box.units, free, noop("at least {units} free U")))
    limit_w = (site.power_available_kw or UNLIMITED) * 1000
    if nodes * box.watts > limit_w:
        text = noop("{count} × {article} in their servers may draw {power}; the site has {limit}.")
        need = noop("at least {power} in all")
        found.append(_too_much_power(nodes * box.watts, plan, nodes, limit_w, text, need))
    worst, needs = hardest(found), [rule.needs for rule in found if rule.needs]
    if not worst.needs:
        return worst
    text = noop("It needs {needs}, as in a colocation.") if movable(site) else noop("It needs {needs}.")
    return worst._replace(change=Message.of(text, needs=joined(needs)))


def _server_site_rules(
    plan: NodePlan, box: Box, site: Site, limits: Limits, assumptions: Assumptions
) -> Iterator[Broken]:
    server = plan.server
    power = Quantity(value=box.watts / 1000, unit="kW", digits=3)
    if box.liquid and "liquid" not in site.cooling:
        yield broken(
            "site_liquid",
            noop("{server} needs direct liquid cooling, which the site does not have."),
            stage="site",
            kind="cooling",
            needs=Message.of(noop("liquid cooling")),
            server=server.name,
        )
    if site.rack_power_max_kw is not None and box.watts > site.rack_power_max_kw * 1000:
        yield broken(
            "site_rack_power",
            noop("{server} may draw {power}; the site allows {limit} per rack."),
            stage="site",
            kind="power",
            off=(box.watts, site.rack_power_max_kw * 1000),
            needs=Message.of(noop("{power} per rack"), power=enough(box.watts / 1000, "kW")),
            server=server.name,
            power=power,
            limit=Quantity(value=site.rack_power_max_kw, unit="kW", digits=3),
        )
    if (
        ServerRole.RACK not in server.roles
        and not box.liquid
        and box.watts > assumptions.rack_rear_door_kw * 1000
    ):
        yield broken(
            "site_air_most",
            noop("{server} may draw {power}, more than a rack cooled by air can lose."),
            noop("Choose a liquid-cooled server."),
            stage="site",
            kind="cooling",
            off=(box.watts, assumptions.rack_rear_door_kw * 1000),
            server=server.name,
            power=power,
        )
    if wrong := _feed_rule(plan, box, site, limits, assumptions):
        yield wrong
    if wrong := _floor_rule(plan, box, site, limits):
        yield wrong


def _feed_rule(
    plan: NodePlan, box: Box, site: Site, limits: Limits, assumptions: Assumptions
) -> Broken | None:
    if thin := cord_rule(box, limits):
        return thin
    pairs, most = feed_pairs((box,), limits), int(assumptions.feed_pairs_most_count)
    if pairs <= most:
        return None
    return broken(
        "site_feed",
        noop(
            "{server} may draw {power}; a feed of {phases} × {amps} A carries {feed}: it would need {pairs} pairs."
        ),
        stage="site",
        kind="power",
        off=(pairs, most),
        needs=larger_feed(box, limits, most),
        server=plan.server.name,
        power=Quantity(value=box.watts / 1000, unit="kW", digits=3),
        phases=site.feed_phases,
        amps=Quantity(value=site.feed_amps, digits=3),
        feed=Quantity(value=limits.feed_w / 1000, unit="kW", digits=3),
        pairs=pairs,
    )


def _floor_rule(plan: NodePlan, box: Box, site: Site, limits: Limits) -> Broken | None:
    """A rack with one server on this floor."""
    in_rack = ServerRole.RACK not in plan.server.roles and not stands_alone(plan.server)
    load = floor_load_kg_m2(box.kg, limits.rack) if box.kg and in_rack else None
    if site.floor_load_kg_m2 is None or load is None or load <= site.floor_load_kg_m2:
        return None
    return broken(
        "site_floor",
        noop("A rack with one {server} weighs {load} kg/m²; the floor carries {limit}."),
        stage="site",
        kind="space",
        off=(load, site.floor_load_kg_m2),
        needs=Message.of(noop("a floor for {load} kg/m²"), load=enough(load)),
        server=plan.server.name,
        load=Quantity(value=load, digits=3),
        limit=Quantity(value=site.floor_load_kg_m2, digits=3),
    )


def _size_rules(
    plan: NodePlan, box: Box, site: Site, limits: Limits, assumptions: Assumptions
) -> Broken | None:
    server = plan.server
    if ServerRole.RACK in server.roles or stands_alone(server):
        return None
    if box.units > limits.units:
        return broken(
            "rack_units",
            noop("{server} is {units} U high; the rack has {free} U."),
            noop("Enter a higher rack in the catalog."),
            off=(box.units, limits.units),
            server=server.name,
            units=Quantity(value=box.units),
            free=Quantity(value=limits.units),
        )
    depth = limits.rack.depth_mm
    if server.depth_mm and depth and server.depth_mm + assumptions.rack_depth_spare_mm > depth:
        return broken(
            "rack_depth",
            noop("{server} is {depth} mm deep; a rack of {rack} mm leaves no room for cables."),
            noop("Enter a deeper rack in the catalog."),
            off=(server.depth_mm + assumptions.rack_depth_spare_mm, depth),
            server=server.name,
            depth=round(server.depth_mm),
            rack=round(depth),
        )
    if box.kg and box.kg > limits.kg:
        return broken(
            "rack_weight",
            noop("{server} weighs {kg} kg; the rack carries {limit} kg."),
            noop("Enter a stronger rack in the catalog."),
            off=(box.kg, limits.kg),
            server=server.name,
            kg=round(box.kg),
            limit=round(limits.kg),
        )
    return None


def total_rules(
    watts: float,
    units: float,
    node: NodePlan,
    nodes: int,
    site: Site,
    assumptions: Assumptions,
) -> Broken | None:
    """The limits of the whole site: power, and free rack units in racks that stand there."""
    found = []
    limit, free = site.power_available_kw, site.rack_units_free
    if limit is not None and watts > limit * 1000 + 1e-6:
        text = noop("{count} × {article} with all around them may draw {power}; the site has {limit}.")
        found.append(_too_much_power(watts, node, nodes, limit * 1000, text, noop("{power} in all")))
    if free is not None and units > free + 1e-6:
        found.append(_too_high(units, free, noop("{units} free U")))
    if not found:
        return None
    told = hardest(found)._replace(elsewhere=movable(site))
    needs = [rule.needs for rule in found if rule.needs]
    only_power = limit is not None and [rule.rule for rule in found] == ["site_power"]
    cap = _cap(watts, node, nodes, (limit or 0) * 1000, assumptions) if only_power else None
    if cap or len(needs) > 1:
        told = told._replace(change=would_fit(needs, cap, elsewhere=told.elsewhere))
    return told


def movable(site: Site) -> bool:
    """Whether the work may be done in a colocation as well: not beside cameras, nor where it is one already."""
    return site.kind not in {SiteKind.EDGE, SiteKind.COLOCATION}


def _too_high(units: float, free: int, need: str) -> Broken:
    return broken(
        "site_units",
        noop("The system takes {units} U; {free} U are free."),
        stage="site",
        kind="space",
        off=(units, free),
        needs=Message.of(need, units=Quantity(value=ceil(units))),
        units=Quantity(value=units),
        free=free,
    )


def _too_much_power(watts: float, node: NodePlan, nodes: int, limit_w: float, text: str, need: str) -> Broken:
    cards = node.accelerator
    return broken(
        "site_power",
        text,
        stage="site",
        kind="power",
        off=(watts, limit_w),
        needs=Message.of(need, power=enough(watts / 1000, "kW")),
        count=nodes * node.gpus if cards else nodes,
        article=cards.name if cards else node.server.name,
        power=Quantity(value=watts / 1000, unit="kW", digits=3),
        limit=Quantity(value=limit_w / 1000, unit="kW", digits=3),
    )


def _cap(
    watts: float, node: NodePlan, nodes: int, limit_w: float, assumptions: Assumptions
) -> Quantity | None:
    """The share of the accelerators' power at which the system stays within `limit_w`; None when that is too little."""
    gpu_w = nodes * node.gpus * ((node.accelerator.power_w if node.accelerator else 0) or 0)
    gpu_w *= node.provision_w / node.dc_w if node.dc_w else 1
    cap = 1 - (watts - limit_w) / gpu_w if gpu_w else 0
    if cap < assumptions.power_cap_lowest_fraction:
        return None
    return Quantity(value=floor(100 * cap), unit="%", digits=2)
