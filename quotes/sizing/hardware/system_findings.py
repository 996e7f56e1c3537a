"""What to mind of a composed system: its power, its site, its data."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from catalog.quantity import Message, Quantity, noop
from catalog.specs import ServerRole
from configurator.workload import Site, Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.hardware.cards import runs_infiniband
from quotes.sizing.hardware.fabric import Fabric, plan_topology
from quotes.sizing.hardware.facility import Box, server_box, usable_supply_kw
from quotes.sizing.hardware.node_findings import NodePlan, small_plug
from quotes.sizing.hardware.parts import Parts
from quotes.sizing.hardware.room import QUIET_ROLES, one_feed_carries
from quotes.sizing.results import LoadOption, RackPlacement
from quotes.sizing.trace import Finding, Severity

if TYPE_CHECKING:
    from quotes.sizing.hardware.system import SystemPlan

type Note = Callable[..., None]

RACK_PARTS = {
    "power_shelves": noop("power shelves"),
    "nvlink_switches": noop("NVLink switches"),
    "management_switches": noop("management switches"),
    "cdu": noop("coolant distribution"),
}
STEP_FRACTION = 0.75  # one server fewer that saves so many switches is worth a word
C13_AMPS, C19_AMPS = 10, 16  # rated current of the outlets, IEC 60320


def system_findings(
    plan: "SystemPlan",
    loads: Sequence[LoadOption],
    workload: Workload,
    racks: Sequence[RackPlacement],
    parts: Parts,
    assumptions: Assumptions,
) -> list[Finding]:
    found: list[Finding] = []

    def note(severity: Severity, text: str, remedy: str = "", about: str = "", **params: object) -> None:
        message = Message(text=text, params=params)
        then = Message(text=remedy, params=params) if remedy else None
        found.append(Finding(severity=severity, message=message, about=about, remedy=then))

    _power_findings(plan, racks, workload.site, assumptions, note)
    _site_findings(plan, racks, workload.site, note)
    _data_findings(plan, workload, parts, note)
    if plan.nodes == 1 and any(load.spare_replicas for load in loads):
        note(
            Severity.INFO,
            noop("The spare stands in the same server: it covers a failed accelerator, not a failed server."),
            noop("Spread the replicas over two servers."),
        )
    if plan.cluster and not (plan.networks and plan.networks.management_count):
        note(
            Severity.INFO,
            noop("Scheduler and monitoring run on the first server: a small cluster has no servers for it."),
        )
    if plan.cluster and plan.networks and plan.networks.management:
        note(
            Severity.INFO,
            noop(
                "The management servers connect to the in-band switches with cables that suit your choice of ports."
            ),
        )
    if plan.networks and not plan.networks.in_band:
        note(
            Severity.WARNING,
            noop("The bill has no switches for data and users: none in the catalog joins so many servers."),
            noop("Enter larger switches in the catalog, or ask us for a project."),
        )
    if plan.fabric:
        _fabric_findings(plan, plan.fabric, note)
    for purpose in plan.missing:
        note(
            Severity.WARNING,
            noop("The catalog has no priced service for {purpose}: it is not in the bill."),
            purpose=purpose,
        )
    return found


def _fabric_findings(plan: "SystemPlan", fabric: Fabric, note: Note) -> None:
    """What one server more or fewer would change, and what Ethernet asks."""
    topology, rails = fabric.topology, plan.node.gpus
    ports = fabric.switch.ports * max(int(fabric.switch.port_gbit_s // fabric.link_gbit_s), 1)
    fewer = plan_topology(
        plan.nodes - 1,
        rails,
        ports,
        manager_links=topology.manager_links,
        blocking=topology.blocking,
    )
    if plan.nodes > 2 and fewer.switches < topology.switches * STEP_FRACTION:
        note(
            Severity.INFO,
            noop("With one server fewer the cluster network takes {few} switches instead of {many}."),
            few=fewer.switches,
            many=topology.switches,
        )
    if topology.spines and topology.blocking > 1:
        note(
            Severity.WARNING,
            noop(
                "Between switches the cluster network carries one link for each {factor} to servers. Training is "
                "counted as if all its traffic shared that; no such run is among our measurements."
            ),
            factor=Quantity(value=topology.blocking, digits=2),
        )
    if not fabric.infiniband and runs_infiniband(plan.node.accelerator):
        note(
            Severity.INFO,
            noop(
                "The cluster network is Ethernet: it needs settings without loss; speed counts as over InfiniBand."
            ),
            about="placement.cluster_network",
        )


def _power_findings(
    plan: "SystemPlan", racks: Sequence[RackPlacement], site: Site, assumptions: Assumptions, note: Note
) -> None:
    if plan.provision_w > plan.wall_w * 1.01:
        note(
            Severity.INFO,
            noop("Feeds are sized for {planned}, the makers' planning figures; computed is {computed}."),
            planned=Quantity(value=plan.provision_w / 1000, unit="kW", digits=3),
            computed=Quantity(value=plan.wall_w / 1000, unit="kW", digits=3),
        )
    box = server_box(plan.node, "node")
    if racks and box.cords and plan.node.server.inlet:
        sides = 1 if site.feeds_redundant else 2
        note(
            Severity.INFO,
            noop("Each server takes on each of two feeds: {outlets}.")
            if site.feeds_redundant
            else noop("Each server takes: {outlets}."),
            outlets=_listed(
                [f"{sides * count} × {kind}" for count, kind in ((box.c19, "C19"), (box.c13, "C13")) if count]
            ),
        )
        if site.feeds_redundant:
            _cord_finding(box, assumptions, note)
    if racks and box.cords and site.feeds_redundant and one_feed_carries(plan.node, assumptions) is False:
        note(
            Severity.WARNING,
            noop(
                "With one feed lost the supplies of {server} give {left} and it may ask {load}: it slows down or stops."
            ),
            noop("Ask the maker what it does then, or take a server whose supplies on one feed carry it."),
            about="site.feeds_redundant",
            server=plan.node.server.name,
            left=Quantity(value=(plan.node.server.psu_one_feed_w or 0) / 1000, unit="kW", digits=3),
            load=Quantity(
                value=plan.node.provision_w * assumptions.psu_efficiency_fraction / 1000, unit="kW", digits=3
            ),
        )
    busiest_a = max((rack.amps_per_phase or 0 for rack in racks), default=0)
    if busiest_a > site.feed_amps * assumptions.feed_load_fraction * (1 + 1e-9):
        note(
            Severity.WARNING,
            noop("With one feed lost the busiest phase carries {amps} of its {breaker}: more than is usual."),
            noop("Have the electrician confirm it, or have a larger feed installed."),
            about="site.feed_amps",
            amps=Quantity(value=busiest_a, unit="A", digits=3),
            breaker=Quantity(value=site.feed_amps, unit="A", digits=3),
        )
    hottest = max((rack.power_w for rack in racks if rack.cooling == "air"), default=0)
    if hottest > assumptions.rack_air_kw * 1000:
        note(
            Severity.WARNING,
            noop("A rack of {power} is above what room air usually cools ({limit})."),
            noop("Have the cooling checked, or plan a rear-door heat exchanger."),
            power=Quantity(value=hottest / 1000, unit="kW", digits=3),
            limit=Quantity(value=assumptions.rack_air_kw, unit="kW", digits=3),
        )
    if racks and not site.feeds_redundant:
        note(Severity.WARNING, noop("One feed: if it fails, everything stops."), about="site.feeds_redundant")


def _cord_finding(box: Box, assumptions: Assumptions, note: Note) -> None:
    """After the loss of a feed, each cord that is left carries more."""
    amps = box.watts / box.cords / assumptions.feed_volts
    kind, most = ("C19", C19_AMPS) if box.c19 else ("C13", C13_AMPS)
    if amps > most:
        note(
            Severity.WARNING,
            noop(
                "With one feed lost, each cord of {server} may carry {amps}; a {kind} outlet is made for {most}."
            ),
            noop("Ask the maker how the server limits itself then, or take a server with more supplies."),
            server=box.label,
            amps=Quantity(value=amps, unit="A", digits=3),
            kind=kind,
            most=Quantity(value=most, unit="A"),
        )


def _site_findings(plan: "SystemPlan", racks: Sequence[RackPlacement], site: Site, note: Note) -> None:
    server = plan.node.server
    if plan.layout and plan.layout.own and ServerRole.RACK not in server.roles:
        note(
            Severity.INFO,
            noop("No rack is included: {units} U are needed in racks that you have."),
            units=Quantity(value=plan.units),
        )
    heaviest = max((rack.floor_least_kg_m2 or 0 for rack in racks), default=0)
    if heaviest and site.floor_load_kg_m2 is None:
        known = all(rack.floor_kg_m2 is not None for rack in racks)
        note(
            Severity.INFO,
            noop("The heaviest rack weighs {load} kg/m² on its footprint: have the floor checked.")
            if known
            else noop("A rack weighs at least {load} kg/m² on its footprint: have the floor checked."),
            load=Quantity(value=heaviest, digits=3),
        )
    if site.floor_load_kg_m2 is not None and any(rack.floor_kg_m2 is None for rack in racks):
        note(
            Severity.WARNING,
            noop("The weight of a part is not known, so the floor load cannot be checked."),
            about="site.floor_load_kg_m2",
        )
    if any(rack.cooling == "liquid" for rack in racks):
        note(Severity.INFO, noop("The water of the building up to the racks is not included."))
    if ServerRole.RACK in server.roles:
        _whole_rack_findings(plan.node, note)
    if plan.layout is None and {"C19", "C20"} & set(server.inlet.split("/")):
        note(
            Severity.INFO,
            noop("The cord of {server} fits a power strip: for a wall socket, order one with its plug."),
            server=server.name,
        )
    if site.noise_sensitive and not QUIET_ROLES & server.roles:
        note(
            Severity.WARNING,
            noop("{server} is loud: it belongs in a closed room, away from people."),
            noop("Place it in a server room or colocation, or choose a workstation."),
            about="site.noise_sensitive",
            server=server.name,
        )


def _whole_rack_findings(node: NodePlan, note: Note) -> None:
    """What the maker delivers in a complete rack, and what the site must bring."""
    server = node.server
    brought = [name for key, name in RACK_PARTS.items() if key in server.rack_includes]
    missing = [name for key, name in RACK_PARTS.items() if key not in server.rack_includes]
    if brought:
        note(Severity.INFO, noop("In {server}: {parts}."), server=server.name, parts=_listed(brought))
    if missing:
        note(
            Severity.WARNING,
            noop("Whether {server} brings {parts} is not known: ask the maker before the order."),
            server=server.name,
            parts=_listed(missing),
        )
    note(
        Severity.INFO,
        noop(
            "The site brings feeds to each power shelf, water, and links to its network: have them planned."
        ),
    )
    if not server.psu_count or not server.psu_w:
        note(Severity.WARNING, noop("The power shelves of {server} are not known."), server=server.name)
        return
    half_w = usable_supply_kw(server.psu_count, server.psu_w / 1000) * 1000
    if node.provision_w > half_w:
        note(
            Severity.WARNING,
            noop(
                "With one side lost the shelves of {server} carry {left}; it may draw {power} and then slows down."
            ),
            server=server.name,
            left=Quantity(value=half_w / 1000, unit="kW", digits=3),
            power=Quantity(value=node.provision_w / 1000, unit="kW", digits=3),
        )


def _listed(names: Sequence[str]) -> Message:
    """`a, b, c`."""
    said = Message.of(names[0])
    for name in names[1:]:
        said = Message.of(noop("{first}, {next}"), first=said, next=Message.of(name))
    return said


def _data_findings(plan: "SystemPlan", workload: Workload, parts: Parts, note: Note) -> None:
    if workload.data.existing_storage and (plan.need.read_gb_s or plan.need.tb):
        note(
            Severity.INFO,
            noop("Your own storage must hold {tb} TB and give {read} GB/s."),
            about="data.existing_storage",
            tb=Quantity(value=plan.need.tb, digits=3),
            read=Quantity(value=plan.need.read_gb_s, digits=3),
        )
    elif plan.need.tb and plan.store is None and not plan.node.recipe.drives:
        note(
            Severity.WARNING,
            noop("The catalog does not say which data drives {server} brings; {tb} TB are needed."),
            noop("Ask for them with the order, or keep the data on storage that you have."),
            about="data",
            server=plan.node.server.name,
            tb=Quantity(value=plan.need.tb, digits=3),
        )
    elif plan.need.tb and plan.store is None:
        note(
            Severity.INFO,
            noop("All {tb} TB stand on the drives of the server: keep a copy elsewhere.")
            if plan.nodes == 1
            else noop("Every server holds all {tb} TB on its own drives: keep a copy elsewhere."),
            about="data",
            tb=Quantity(value=plan.need.tb, digits=3),
        )
    if not plan.cluster and any(not small_plug(sku, parts) for sku, _ in plan.node.recipe.nics):
        note(
            Severity.INFO,
            noop("Cables from {server} to your own switches are not included: they depend on the switch."),
            server=plan.node.server.name,
        )
    if plan.store and not plan.cluster:
        note(
            Severity.INFO,
            noop("The storage connects to your own network: switch and cables are not included."),
        )
    if plan.store and len(plan.store.tiers) == 1 and workload.data.copies > 1:
        note(
            Severity.INFO,
            noop(
                "All {copies} copies stand on one storage system: it survives a drive, not a fire. Keep one elsewhere."
            ),
            about="data.copies",
            copies=workload.data.copies,
        )
    if plan.store and plan.store.estimated:
        note(Severity.WARNING, noop("The power of the storage is not known and not in the sum."))
