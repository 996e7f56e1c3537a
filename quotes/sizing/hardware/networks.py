"""What a cluster needs beside its accelerators' own network: in-band and management network, management servers.

Two in-band switches, every server and storage unit with a port on each; one port of the management network for every
processor that manages something.
"""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from catalog.quantity import noop
from catalog.specs import CableSpec, SwitchSpec
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.hardware.bill import Broken, Line
from quotes.sizing.hardware.demand import NodeBrief, NodeDemand, NodeRecipe
from quotes.sizing.hardware.fabric import Fabric, switch_watts
from quotes.sizing.hardware.facility import Box, server_box
from quotes.sizing.hardware.node import plan_node
from quotes.sizing.hardware.node_findings import NodePlan
from quotes.sizing.hardware.parts import Parts
from quotes.sizing.hardware.storage import Store
from quotes.sizing.results import LineRole, NetworkPlan

IN_BAND, MANAGEMENT = "network", "management"
MEDIUM_NODES, LARGE_NODES = 8, 64


class Networks(NamedTuple):
    """Switches with their number, bill and watts; the management servers; what is still to be settled."""

    in_band: SwitchSpec | None
    in_band_count: int
    out_of_band: SwitchSpec | None
    out_of_band_count: int
    management: NodePlan | None
    management_count: int
    consoles: int
    results: tuple[NetworkPlan, ...]
    lines: tuple[Line, ...]
    wall_w: float
    provision_w: float


class Bought(NamedTuple):
    """Some equipment of one kind: switch when it is one, number, bill, watts as used and at most."""

    switch: SwitchSpec | None = None
    number: int = 0
    lines: Sequence[Line] = ()
    wall_w: float = 0
    most_w: float = 0
    gbit_s: float = 0  # of one link


def management_count(nodes: int, assumptions: Assumptions) -> int:
    if nodes < assumptions.cluster_nodes_count:
        return 0
    if nodes < MEDIUM_NODES:
        return int(assumptions.management_servers_count)
    if nodes < LARGE_NODES:
        return int(assumptions.management_servers_medium_count)
    return int(assumptions.management_servers_large_count)


def plan_management(
    parts: Parts, assumptions: Assumptions, recipe: NodeRecipe | None = None
) -> NodePlan | Broken | None:
    """The cheapest management server; None when the catalog has none."""
    key = ("management", parts.number_of(assumptions), recipe)
    return parts.remember(key, lambda: _cheapest_management(parts, assumptions, recipe))


def _cheapest_management(
    parts: Parts, assumptions: Assumptions, recipe: NodeRecipe | None
) -> NodePlan | Broken | None:
    demand = NodeDemand(
        cores_per_gpu=assumptions.management_cores_count - assumptions.cpu_cores_base_count,
        ram_gb_per_gpu=assumptions.management_ram_gb,
        nvme_tb=assumptions.management_drive_tb,
        front_gbit_s=25,
    )
    plan: NodePlan | Broken | None = None
    for server in parts.offered_servers("management"):
        plan = plan_node(NodeBrief(server, None, 0, demand, parts, assumptions), recipe)
        if isinstance(plan, NodePlan):
            return plan
    return plan


def plan_networks(
    node: NodePlan,
    nodes: int,
    fabric: Fabric | None,
    store: Store | None,
    feeds: int,
    parts: Parts,
    assumptions: Assumptions,
    recipe: NodeRecipe | None = None,
) -> Networks | Broken:
    """`feeds`: metered power strips and doors that want a port of their own on the management network."""
    management = plan_management(parts, assumptions, recipe) if management_count(nodes, assumptions) else None
    if isinstance(management, Broken):
        return management
    managers = management_count(nodes, assumptions) if management else 0
    stores = store.units if store else 0
    links = 2 * nodes + sum(
        number * max(system.nic_ports_needed, system.ports or 2)
        for system, number in (store.tiers if store else ())
    )
    in_band = _in_band(links, _port_gbit_s(node, store, parts), parts, assumptions)
    switches = (fabric.topology.switches if fabric else 0) + in_band.number
    dpus = sum(number for sku, number in node.recipe.nics if getattr(parts.items[sku], "kind", "") == "dpu")
    ports = nodes * (1 + dpus) + stores + 2 * managers + switches + feeds
    out_of_band = _out_of_band(ports, parts, assumptions)
    servers = _management(management, managers, node, fabric, parts, assumptions)
    consoles = _consoles(stores + managers, parts)
    bought = (in_band, out_of_band, servers, consoles)
    results = (
        NetworkPlan(kind="in_band", switches=in_band.number, links=links, link_gbit_s=in_band.gbit_s),
        NetworkPlan(
            kind="management", switches=out_of_band.number, links=ports, link_gbit_s=out_of_band.gbit_s
        ),
    )
    return Networks(
        in_band.switch,
        in_band.number,
        out_of_band.switch,
        out_of_band.number,
        management,
        managers,
        consoles.number,
        tuple(result for result in results if result.switches),
        tuple(line for piece in bought for line in piece.lines),
        sum(piece.wall_w for piece in bought),
        sum(piece.most_w for piece in bought),
    )


def _management(
    plan: NodePlan | None,
    number: int,
    node: NodePlan,
    fabric: Fabric | None,
    parts: Parts,
    assumptions: Assumptions,
) -> Bought:
    """The servers; their copper for a switch above does not fit the in-band switches, so it stays out."""
    if plan is None:
        return Bought()
    lines = [line.times(number, MANAGEMENT) for line in plan.lines if line.role is not LineRole.NETWORK]
    watts = plan.wall_w * number
    if fabric and fabric.topology.manager_links:
        cards = _manager_cards(node, fabric, parts)
        lines.append(cards)
        power_w = getattr(parts.items[cards.sku], "power_w", None) or assumptions.part_power_unknown_w
        watts += cards.quantity * power_w / assumptions.psu_efficiency_fraction
    return Bought(None, number, lines, watts, watts)


def _consoles(machines: int, parts: Parts) -> Bought:
    console = parts.accessory("kvm")
    if console is None or not console.ports or not machines:
        return Bought()
    number = ceil(machines / console.ports)
    why = noop("Screen and keyboard in the rack.")
    lines = [Line(console.sku, number, LineRole.MANAGEMENT, MANAGEMENT, why)]
    watts = number * (console.max_power_w or 0)
    return Bought(None, number, lines, watts, watts)


def _port_gbit_s(node: NodePlan, store: Store | None, parts: Parts) -> float:
    """The fastest ordinary port in the cluster."""
    speeds = [getattr(parts.items[sku], "port_gbit_s", 0) for sku, _ in node.recipe.nics]
    if store and store.nic:
        speeds.append(store.nic.port_gbit_s)
    speeds += [system.port_gbit_s or 0 for system, _ in (store.tiers if store else ())]
    return max(speeds, default=0) or 100


def _in_band(links: int, gbit_s: float, parts: Parts, assumptions: Assumptions) -> Bought:
    """Cheapest pair (or pairs below a further pair) of Ethernet switches with room for all links."""
    cable, between = _long_cable(gbit_s, parts)
    speed = cable.gbit_s if cable and cable.gbit_s else gbit_s
    options = []
    for switch in parts.switches:
        if switch.fabric != "ethernet" or switch.port_gbit_s < speed or switch.port_gbit_s > 2 * speed:
            continue
        tree = pair_or_tree(links, switch.ports, assumptions)
        if tree:
            options.append((switch, *tree))
    if not options or cable is None:
        return Bought()
    switch, number, joints = min(options, key=lambda option: parts.price[option[0].sku] * option[1])
    between = between if number == 2 else cable  # a pair stands in one rack
    active = links + (joints if number > 2 else 0)
    lines = [
        Line(
            switch.sku,
            number,
            LineRole.NETWORK,
            IN_BAND,
            noop("For data, users and storage: two ports per server."),
        ),
        Line(cable.sku, links, LineRole.NETWORK, IN_BAND, noop("Two for every server and storage unit.")),
    ]
    if between:
        lines.append(Line(between.sku, joints, LineRole.NETWORK, IN_BAND, noop("Joins the switches.")))
    usual, most = switch_watts(switch, assumptions)
    cables_w = active * 2 * (cable.power_w or 0)
    return Bought(switch, number, lines, number * usual + cables_w, number * most + cables_w, speed)


def pair_or_tree(links: int, ports: int, assumptions: Assumptions) -> tuple[int, int] | None:
    """(switches, links between them): a pair while it has the ports, else pairs below further pairs.

    None beyond two tiers: every switch above reaches every switch below.
    """
    usable = int(ports * (1 - assumptions.network_spare_fraction) + 1e-9)
    joints = 2 * ceil(links / 32)
    if links / 2 <= usable - joints:
        return 2, joints
    blocking = assumptions.in_band_blocking_factor
    below = 2 * ceil(links / 2 / int(usable * blocking / (blocking + 1)))
    up = ceil(ceil(links / below) / blocking)
    above = 2 * ceil(below * up / 2 / usable)
    return (below + above, below * up) if below <= usable and above <= up else None


def _long_cable(gbit_s: float, parts: Parts) -> tuple[CableSpec | None, CableSpec | None]:
    """The fastest active cable not faster than the ports, and a copper one of that speed to join switches."""
    active = [
        cable
        for cable in parts.cables
        if cable.kind == "aoc" and 0 < (cable.gbit_s or 0) <= gbit_s and cable.ports == 1
    ]
    if not active:
        return None, None
    cable = max(active, key=lambda item: item.gbit_s or 0)
    copper = [item for item in parts.cables if item.kind == "dac" and item.gbit_s == cable.gbit_s]
    return cable, (copper[0] if copper else None)


def _out_of_band(ports: int, parts: Parts, assumptions: Assumptions) -> Bought:
    switch = next((item for item in parts.switches if item.connector.startswith("RJ45")), None)
    patch = parts.cable("copper", "RJ45")
    if switch is None or patch is None:
        return Bought()
    number = ceil(ports / (switch.ports * (1 - assumptions.network_spare_fraction)))
    lines = [
        Line(
            switch.sku,
            number,
            LineRole.NETWORK,
            MANAGEMENT,
            noop("Separate network that manages all equipment."),
        ),
        Line(patch.sku, ports, LineRole.NETWORK, MANAGEMENT, noop("One for every managed port.")),
    ]
    usual, most = switch_watts(switch, assumptions)
    return Bought(switch, number, lines, number * usual, number * most, switch.port_gbit_s)


def _manager_cards(node: NodePlan, fabric: Fabric, parts: Parts) -> Line:
    """A cluster-network card for each port of the fabric managers."""
    sku = node.recipe.fabric_nic or next(
        nic.sku
        for nic in parts.nics
        if nic.infiniband and nic.ports == 1 and nic.port_gbit_s >= fabric.link_gbit_s
    )
    return Line(
        sku, fabric.topology.manager_links, LineRole.NIC, MANAGEMENT, noop("For the fabric managers.")
    )


def boxes(
    fabric: Fabric | None,
    networks: Networks | None,
    store: Store | None,
    parts: Parts,
    assumptions: Assumptions,
) -> list[Box]:
    """What stands in racks beside the servers with accelerators."""
    found: list[Box] = []
    if fabric:
        each_w = fabric.provision_w / fabric.topology.switches
        found += fabric.topology.switches * [_switch_box(fabric.switch, "fabric", each_w)]
    for switch, number in (
        ((networks.in_band, networks.in_band_count), (networks.out_of_band, networks.out_of_band_count))
        if networks
        else ()
    ):
        if switch:
            found += number * [
                _switch_box(switch, "network", switch.max_power_w or assumptions.part_power_unknown_w)
            ]
    if networks and networks.management:
        box = server_box(networks.management, "management")._replace(watts=networks.management.wall_w)
        found += networks.management_count * [box]
    if networks and networks.consoles and (console := parts.accessory("kvm")):
        found += networks.consoles * [
            Box(console.name, "management", console.rack_units or 1, console.max_power_w or 0, None, c13=1)
        ]
    for system, number in store.tiers if store else ():
        watts = store.wall_w / store.units if store and len(store.tiers) == 1 else system.max_power_w or 0
        found += number * [
            Box(system.name, "storage", system.rack_units or 0, watts, system.weight_kg, c13=1)
        ]
    return found


def _switch_box(switch: SwitchSpec, kind: str, watts: float) -> Box:
    return Box(switch.name, kind, switch.rack_units or 1, watts, switch.weight_kg, c13=1)
