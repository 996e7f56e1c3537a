"""The cluster network: leaves, spines, cores, and every optic and fibre between them.

Rail-optimised: accelerator i of every server meets accelerator i of all others on one leaf. Non-blocking unless
`cluster_blocking_factor` says otherwise: a leaf has at least as many links up as down. `plan_topology` is arithmetic
on counts alone and reproduces the published reference architectures; `plan_fabric` adds articles of the catalog.
"""

from math import ceil, floor
from typing import NamedTuple

from catalog.quantity import Message, Quantity, noop
from catalog.specs import AcceleratorSpec, CableSpec, SwitchSpec
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.hardware.bill import Broken, Line, broken
from quotes.sizing.hardware.cards import runs_infiniband
from quotes.sizing.hardware.parts import Parts
from quotes.sizing.results import FabricPlan, LineRole
from quotes.sizing.trace import Figure, Input

GROUP = "fabric"


class Topology(NamedTuple):
    """Counts over all planes together. Links are of one port each; `manager_links` are among `node_links`."""

    leaves: int
    spines: int = 0
    cores: int = 0
    node_links: int = 0
    leaf_spine_links: int = 0
    spine_core_links: int = 0
    manager_links: int = 0
    nodes_most: int = 0  # servers for which the leaves have ports
    links_per_cable: int = 1
    blocking: float = 1  # links down for each link up, at most

    @property
    def switches(self) -> int:
        return self.leaves + self.spines + self.cores

    @property
    def node_cables(self) -> int:
        return ceil(self.node_links / self.links_per_cable)

    @property
    def spine_cables(self) -> int:
        return ceil(self.leaf_spine_links / self.links_per_cable)

    @property
    def core_cables(self) -> int:
        return ceil(self.spine_core_links / self.links_per_cable)

    @property
    def cables(self) -> int:
        """Of all layers."""
        return self.node_cables + self.spine_cables + self.core_cables

    @property
    def blocking_ratio(self) -> float:
        """Bandwidth down over bandwidth up; 1 or less is non-blocking."""
        return self.node_links / self.leaf_spine_links if self.leaf_spine_links else 1


class NoTopology(ValueError):
    """Three tiers of this switch do not reach so many ports."""


def plan_topology(
    nodes: int,
    rails: int,
    switch_ports: int,
    *,
    manager_links: int = 0,
    planes: int = 1,
    links_per_cable: int = 1,
    blocking: float = 1,
) -> Topology:
    """The smallest fabric for `nodes` servers with `rails` ports each, per plane, with at most `blocking` links down
    from a leaf for each link up; 1 never blocks.

    `manager_links`: ports that fabric managers take on as many leaves: together they cost a server's place.
    `planes`: independent copies of the fabric, when each accelerator has a port in each. Raises NoTopology.
    Source of the rules: published reference architectures of 31 to 512 servers, see docs/sizing/hardware.md.
    """
    one = _plane(nodes, rails, switch_ports, manager_links, blocking)
    return Topology(
        leaves=one.leaves * planes,
        spines=one.spines * planes,
        cores=one.cores * planes,
        node_links=one.node_links * planes,
        leaf_spine_links=one.leaf_spine_links * planes,
        spine_core_links=one.spine_core_links * planes,
        manager_links=manager_links * planes,
        nodes_most=one.nodes_most,
        links_per_cable=links_per_cable,
        blocking=blocking,
    )


def ports_down(ports: int, blocking: float) -> int:
    """Ports of a leaf that servers may take, so that the others carry them up at `blocking` to one."""
    return floor(ports * blocking / (blocking + 1) + 1e-9)


def _plane(nodes: int, rails: int, ports: int, manager_links: int, blocking: float) -> Topology:
    links = nodes * rails + manager_links
    if links <= ports:
        return Topology(1, node_links=links, manager_links=manager_links, nodes_most=ports // rails)
    places = ports_down(ports, blocking)
    leaves, down = leaf_count(nodes, rails, places, manager_links)
    spines, up = spine_count(leaves, ceil(down / blocking), ports - places, ports)
    if leaves <= ports and spines <= up:
        return Topology(leaves, spines, 0, links, leaves * up, 0, manager_links, leaves * places // rails)
    return _three_tiers(leaves, links, places, ports, manager_links, rails)


def leaf_count(nodes: int, rails: int, down_most: int, manager_links: int = 0) -> tuple[int, int]:
    """Leaves, and the most links down from one. Whole rails per leaf: several while few servers share them."""
    places = nodes + ceil(manager_links / rails)
    groups = ceil(places / down_most)
    if groups > 1:
        return groups * rails, down_most
    rails_per_leaf = max(
        count for count in range(1, rails + 1) if rails % count == 0 and count * places <= down_most
    )
    return rails // rails_per_leaf, rails_per_leaf * places


def spine_count(leaves: int, up_least: int, up_most: int, spine_ports_down: int) -> tuple[int, int]:
    """(spines, links up per leaf): the fewest spines that carry all uplinks and divide each leaf's uplinks evenly.

    With equal spines, the fewest links. `spine_ports_down`: all ports in two tiers, half of them in three.
    """
    best: tuple[int, int] | None = None
    for up in range(max(up_least, 1), up_most + 1):
        spines = ceil(leaves * up / spine_ports_down)
        while up % spines and spines <= up:
            spines += 1
        if best is None or spines < best[0]:
            best = (spines, up)
    if best is None:
        raise NoTopology
    return best


def _three_tiers(leaves: int, links: int, down: int, ports: int, manager_links: int, rails: int) -> Topology:
    """Pods of as many leaves as a spine has ports down, each leaf with one link to every spine of its pod; cores join
    the spines, which never block."""
    half, up = ports // 2, ports - down
    full, rest = divmod(leaves, half)
    spines = full * up
    if rest:
        spines += spine_count(rest, up, up, half)[0]
    cores = ceil(spines * half / ports)
    while (spines * half) % cores:
        cores += 1
    if full + bool(rest) > ports:
        raise NoTopology
    return Topology(
        leaves, spines, cores, links, leaves * up, spines * half, manager_links, leaves * down // rails
    )


def leaf_loads(nodes: int, rails: int, leaves: int, down: int, manager_links: int = 0) -> list[int]:
    """Links down from each leaf of one plane: full groups of `down` servers, then the rest with the fabric managers."""
    if leaves <= rails:  # one group; several rails share a leaf
        loads = [nodes * rails // leaves] * leaves
    else:
        groups = leaves // rails
        loads = [down] * (rails * (groups - 1)) + [nodes - down * (groups - 1)] * rails
    for leaf in range(manager_links):
        loads[-1 - leaf % leaves] += 1
    return loads


def cages_in_use(nodes: int, rails: int, ports: int, topology: Topology, per_cage: int) -> int:
    """Modules at the ends of switches: each serves links of one switch, so an odd link leaves half of one unused."""
    up = topology.leaf_spine_links // topology.leaves
    places = ports_down(ports, topology.blocking)
    loads = leaf_loads(nodes, rails, topology.leaves, places, topology.manager_links)
    leaves = sum(ceil((down + up) / per_cage) for down in loads)
    spine_links = topology.leaf_spine_links + topology.spine_core_links
    spines = topology.spines * ceil(spine_links / topology.spines / per_cage) if topology.spines else 0
    cores = (
        topology.cores * ceil(topology.spine_core_links / topology.cores / per_cage) if topology.cores else 0
    )
    return leaves + spines + cores


# ── articles ────────────────────────────────────────────────────────────────────────────────────────────────────


class Fabric(NamedTuple):
    """A topology with its switch and its bill; watts as used and as provisioned."""

    topology: Topology
    switch: SwitchSpec
    link_gbit_s: float
    lines: tuple[Line, ...]
    wall_w: float
    provision_w: float
    infiniband: bool


def plan_fabric(
    nodes: int,
    accelerator: AcceleratorSpec,
    count: int,
    link_gbit_s: float,
    parts: Parts,
    assumptions: Assumptions,
    *,
    ethernet: bool = False,
) -> Fabric | Broken:
    """Cheapest fabric of one kind of switch for `nodes` servers with `count` ports each.

    `ethernet`: RDMA over Ethernet where InfiniBand would be usual; the cards of such accelerators do both.
    """
    number = parts.number_of(assumptions)
    key = ("fabric", nodes, parts.key_of(accelerator), count, link_gbit_s, number, ethernet)
    return parts.remember(
        key, lambda: _cheapest_fabric(nodes, accelerator, count, link_gbit_s, parts, assumptions, ethernet)
    )


def _cheapest_fabric(
    nodes: int,
    accelerator: AcceleratorSpec,
    count: int,
    link_gbit_s: float,
    parts: Parts,
    assumptions: Assumptions,
    ethernet: bool,
) -> Fabric | Broken:
    both = runs_infiniband(accelerator)
    options = [
        plan
        for switch in parts.switches
        if (switch.fabric == "infiniband") == (both and not ethernet)
        and switch.port_gbit_s >= link_gbit_s
        and (plan := _with_switch(nodes, count, switch, link_gbit_s, parts, assumptions, flat_top=both))
    ]
    if options:
        return min(
            options, key=lambda plan: sum(parts.price[line.sku] * line.quantity for line in plan.lines)
        )
    return broken(
        "fabric_switch",
        noop(
            "The catalog has no switch with optics that joins {nodes} servers at {speed} Gbit/s per accelerator."
        ),
        noop("Enter such a switch with its optics and prices, or take servers that need no cluster network."),
        stage="catalog",
        kind="server",
        nodes=nodes,
        speed=round(link_gbit_s),
    )


def manager_ports(nodes: int, count: int, ports: int, assumptions: Assumptions) -> int:
    """Fabric managers get servers and ports of their own once every rail has a leaf of its own."""
    if nodes * count <= ports:
        return 0
    leaves, _ = leaf_count(nodes, count, ports_down(ports, assumptions.cluster_blocking_factor))
    return (
        int(assumptions.fabric_manager_ports_count)
        if leaves >= assumptions.fabric_manager_leaves_count
        else 0
    )


def _with_switch(
    nodes: int,
    count: int,
    switch: SwitchSpec,
    link_gbit_s: float,
    parts: Parts,
    assumptions: Assumptions,
    *,
    flat_top: bool,
) -> Fabric | None:
    split = max(int(switch.port_gbit_s // link_gbit_s), 1)
    ports = switch.ports * split
    per_cage = ports // (switch.cages or switch.ports)
    managers = manager_ports(nodes, count, ports, assumptions) if switch.fabric == "infiniband" else 0
    try:
        topology = plan_topology(
            nodes, count, ports, manager_links=managers, blocking=assumptions.cluster_blocking_factor
        )
    except NoTopology:
        return None
    if switch.managed is False and not managers:
        return None
    optics = optics_for(link_gbit_s, per_cage, topology.switches == 1, flat_top, parts)
    if optics is None:
        return None
    twin, single, fibre = optics
    twins = cages_in_use(nodes, count, ports, topology, twin.ports)
    links = topology.node_links + topology.leaf_spine_links + topology.spine_core_links
    lines = (
        Line(
            switch.sku,
            topology.switches,
            LineRole.NETWORK,
            GROUP,
            noop("{leaves} leaf, {spines} spine and {cores} core switches."),
            {"leaves": topology.leaves, "spines": topology.spines, "cores": topology.cores},
        ),
        Line(
            twin.sku,
            twins,
            LineRole.NETWORK,
            GROUP,
            noop("One per switch cage in use, {per} links each."),
            {"per": twin.ports},
        ),
        Line(
            single.sku,
            topology.node_links,
            LineRole.NETWORK,
            GROUP,
            noop("One at the server's end of every link."),
        ),
        Line(fibre.sku, links, LineRole.NETWORK, GROUP, noop("One per link.")),
    )
    optics_w = twins * (twin.power_w or 0) + topology.node_links * (single.power_w or 0)
    used_w, most_w = switch_watts(switch, assumptions)
    provision_w = topology.switches * most_w + topology.node_links * (single.power_w or 0)
    return Fabric(
        topology,
        switch,
        link_gbit_s,
        lines,
        min(topology.switches * used_w + optics_w, provision_w),  # a maximum holds the modules already
        provision_w,
        switch.fabric == "infiniband",
    )


def switch_watts(switch: SwitchSpec, assumptions: Assumptions) -> tuple[float, float]:
    """(usual, most); the most is said to include active optics. An unknown figure counts as the other one."""
    usual = switch.typical_power_w or switch.max_power_w or assumptions.part_power_unknown_w
    return usual, max(switch.max_power_w or 0, usual)


def optics_for(
    gbit_s: float, per_cage: int, near: bool, flat_top: bool, parts: Parts
) -> tuple[CableSpec, CableSpec, CableSpec] | None:
    """(switch side, server side, fibre) that meet: multimode where it exists, else single mode.

    `flat_top`: the cards of the servers take OSFP, not QSFP112.
    """
    server_side = "OSFP flat-top" if flat_top else "QSFP112"
    for mode, fibre_name in (("MM", "MPO-12/APC MM"), ("SM", "MPO-12/APC SM")):
        fibre = parts.cable("fibre", fibre_name, reach_m=0 if near else 20)
        single = _optic(server_side, gbit_s, 1, mode, parts)
        twin = _optic("OSFP", gbit_s, per_cage, mode, parts, but_not="flat-top")
        if fibre and single and twin:
            return twin, single, fibre
    return None


def _optic(
    connector: str, gbit_s: float, links: int, mode: str, parts: Parts, but_not: str = "\n"
) -> CableSpec | None:
    return next(
        (
            cable
            for cable in parts.cables
            if cable.kind == "optic"
            and cable.connector.startswith(connector)
            and but_not not in cable.connector
            and f"MPO-12/APC {mode}" in cable.connector
            and cable.gbit_s == gbit_s
            and cable.ports == links
        ),
        None,
    )


def fabric_result(fabric: Fabric | None) -> FabricPlan:
    if fabric is None:
        return FabricPlan()
    topology = fabric.topology
    return FabricPlan(
        leaves=topology.leaves,
        spines=topology.spines,
        cores=topology.cores,
        node_links=topology.node_links,
        leaf_spine_links=topology.leaf_spine_links,
        spine_core_links=topology.spine_core_links,
        link_gbit_s=fabric.link_gbit_s,
        blocking_ratio=topology.blocking_ratio,
        switch=fabric.switch.sku,
        kind="infiniband" if fabric.infiniband else "ethernet",
    )


def fabric_figure(fabric: Fabric, nodes: int, count: int) -> Figure:
    topology = fabric.topology

    def number(label: str, value: float, source: str = "", assumption: str | None = None) -> Input:
        return Input(
            name=Message.of(label),
            value=Quantity(value=value, digits=6),
            source=source,
            assumption=assumption,
        )

    managers = "fabric_manager_ports_count" if topology.manager_links else None
    return Figure(
        key="fabric_switches",
        label=Message.of(noop("Switches of the cluster network")),
        value=Quantity(value=topology.switches, unit="switches", digits=6),
        formula=noop(
            "leaves + spines + cores; every leaf at least links down / blocking links up, uplinks divided evenly"
        ),
        inputs=(
            number(noop("servers"), nodes),
            number(noop("cluster ports per server"), count),
            number(noop("ports per switch"), fabric.switch.ports, "catalog"),
            number(noop("ports for fabric managers"), topology.manager_links, "assumption", managers),
            number(noop("blocking, at most"), topology.blocking, "assumption", "cluster_blocking_factor"),
            number(noop("leaf switches"), topology.leaves),
            number(noop("spine switches"), topology.spines),
            number(noop("core switches"), topology.cores),
            number(noop("links to servers"), topology.node_links),
            number(noop("links between leaf and spine"), topology.leaf_spine_links),
            number(
                noop("links down for each link up: 1 or less never blocks"), round(topology.blocking_ratio, 3)
            ),
        ),
    )
