"""The limits of the customer's site, which are hard: what exceeds one is refused, by how much, and what would help."""

from math import floor

from catalog.quantity import Quantity, noop
from catalog.specs import ServerRole
from configurator.workload import Site
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.hardware.bill import Broken, broken
from quotes.sizing.hardware.facility import (
    UNLIMITED,
    Box,
    Limits,
    cord_rule,
    feed_capacity_w,
    feed_pairs,
    floor_load_kg_m2,
    stands_alone,
)
from quotes.sizing.hardware.node_findings import NodePlan
from quotes.sizing.hardware.parts import Parts


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
    plan: NodePlan, box: Box, site: Site, limits: Limits, assumptions: Assumptions
) -> Broken | None:
    """What keeps even one such server from standing at this site."""
    server = plan.server
    if box.liquid and "liquid" not in site.cooling:
        return broken(
            "site_liquid",
            noop("{server} needs direct liquid cooling, which the site does not have."),
            noop("Choose an air-cooled server, or a colocation with liquid cooling."),
            stage="site",
            kind="cooling",
            server=server.name,
        )
    if site.rack_power_max_kw is not None and box.watts > site.rack_power_max_kw * 1000:
        return broken(
            "site_rack_power",
            noop("{server} may draw {power}; the site allows {limit} per rack, {excess} less."),
            noop("Take fewer accelerators per server, cap their power, or place it in a colocation."),
            stage="site",
            kind="power",
            server=server.name,
            power=Quantity(value=box.watts / 1000, unit="kW", digits=3),
            limit=Quantity(value=site.rack_power_max_kw, unit="kW", digits=3),
            excess=Quantity(value=box.watts / 1000 - site.rack_power_max_kw, unit="kW", digits=2),
        )
    if (
        ServerRole.RACK not in server.roles
        and not box.liquid
        and box.watts > assumptions.rack_rear_door_kw * 1000
    ):
        return broken(
            "site_air_most",
            noop("{server} may draw {power}, more than a rack cooled by air can lose."),
            noop("Choose a liquid-cooled server."),
            stage="site",
            kind="cooling",
            server=server.name,
            power=Quantity(value=box.watts / 1000, unit="kW", digits=3),
        )
    return _feed_rule(plan, box, site, limits, assumptions) or _size_rules(
        plan, box, site, limits, assumptions
    )


def _feed_rule(
    plan: NodePlan, box: Box, site: Site, limits: Limits, assumptions: Assumptions
) -> Broken | None:
    if thin := cord_rule(box, limits):
        return thin
    pairs = feed_pairs((box,), limits)
    if pairs <= assumptions.feed_pairs_most_count:
        return None
    return broken(
        "site_feed",
        noop(
            "{server} may draw {power}; a feed of {phases} × {amps} A carries {feed}: it would need {pairs} pairs."
        ),
        noop("Have a larger feed installed, for example 3 × 63 A, or place it in a colocation."),
        stage="site",
        kind="power",
        server=plan.server.name,
        power=Quantity(value=box.watts / 1000, unit="kW", digits=3),
        phases=site.feed_phases,
        amps=Quantity(value=site.feed_amps, digits=3),
        feed=Quantity(value=limits.feed_w / 1000, unit="kW", digits=3),
        pairs=pairs,
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
            server=server.name,
            depth=round(server.depth_mm),
            rack=round(depth),
        )
    if box.kg and box.kg > limits.kg:
        return _too_heavy(plan, box.kg, site, limits)
    return None


def _too_heavy(plan: NodePlan, kg: float, site: Site, limits: Limits) -> Broken:
    load = floor_load_kg_m2(kg, limits.rack)
    if site.floor_load_kg_m2 is not None and load and load > site.floor_load_kg_m2:
        return broken(
            "site_floor",
            noop("A rack with one {server} weighs {load} kg/m²; the floor carries {limit}, {excess} less."),
            noop("Spread the load with a plate, choose a lighter server, or place it in a colocation."),
            stage="site",
            kind="space",
            server=plan.server.name,
            load=Quantity(value=load, digits=3),
            limit=Quantity(value=site.floor_load_kg_m2, digits=3),
            excess=Quantity(value=load - site.floor_load_kg_m2, digits=3),
        )
    return broken(
        "rack_weight",
        noop("{server} weighs {kg} kg; the rack carries {limit} kg."),
        noop("Enter a stronger rack in the catalog."),
        server=plan.server.name,
        kg=round(kg),
        limit=round(limits.kg),
    )


def total_rules(
    watts: float,
    units: float,
    node: NodePlan,
    nodes: int,
    site: Site,
    assumptions: Assumptions,
) -> Broken | None:
    """The limits of the whole site: power, and free rack units in racks that stand there."""
    limit = site.power_available_kw
    if limit is not None and watts > limit * 1000 + 1e-6:
        return _too_much_power(watts, node, nodes, limit * 1000, assumptions)
    free = site.rack_units_free
    if free is not None and units > free + 1e-6:
        return broken(
            "site_units",
            noop("The system takes {units} U; {free} U are free, {excess} too few."),
            noop("Free more rack units, choose a flatter server, or place it in a colocation."),
            stage="site",
            kind="space",
            units=Quantity(value=units),
            free=free,
            excess=Quantity(value=units - free),
        )
    return None


def _too_much_power(
    watts: float, node: NodePlan, nodes: int, limit_w: float, assumptions: Assumptions
) -> Broken:
    rest = watts - nodes * node.provision_w
    fitting = floor((limit_w - rest) / node.provision_w) if node.provision_w else 0
    gpu_w = nodes * node.gpus * ((node.accelerator.power_w if node.accelerator else 0) or 0)
    gpu_w *= node.provision_w / node.dc_w if node.dc_w else 1
    cap = 1 - (watts - limit_w) / gpu_w if gpu_w else 0
    change = noop("Place it in a colocation, or choose accelerators that draw less.")
    if fitting >= 1 and fitting < nodes:
        change = noop("Take at most {count} accelerators of this kind, or place the system in a colocation.")
    elif cap >= assumptions.power_cap_lowest_fraction:
        change = noop("Cap the accelerators at {cap} of their power, or place the system in a colocation.")
    return broken(
        "site_power",
        noop("The system may draw {power}; the site has {limit}, {excess} too little."),
        change,
        stage="site",
        kind="power",
        power=Quantity(value=watts / 1000, unit="kW", digits=3),
        limit=Quantity(value=limit_w / 1000, unit="kW", digits=3),
        excess=Quantity(value=(watts - limit_w) / 1000, unit="kW", digits=2),
        count=max(fitting, 0) * node.gpus,
        cap=Quantity(value=max(floor(100 * cap), 0), unit="%", digits=2),
    )
