"""Cluster networks against published reference architectures, and the laws of leaf and spine."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from configurator.workload import DataNeeds, Placement, Site
from quotes.sizing.hardware.bill import Broken
from quotes.sizing.hardware.compose import build_system
from quotes.sizing.hardware.fabric import (
    Fabric,
    NoTopology,
    Topology,
    cages_in_use,
    leaf_count,
    leaf_loads,
    plan_fabric,
    plan_topology,
    ports_down,
    spine_count,
)
from quotes.sizing.hardware.networks import pair_or_tree
from quotes.sizing.hardware.parts import parts_of
from quotes.sizing.results import SystemBuild
from tests.sizing.hardware import ASSUMPTIONS, changed, named, seed, train, training

# Published: vendors' reference architectures, read November 2026.
# (leaves, spines, cores, cables to servers, cables from leaf to spine)
REFERENCES = [
    # 64-port NDR switches, eight rails; the fabric manager takes four ports, so 31, 63, 95, 127 servers
    ("H100, 1 unit", {"nodes": 31, "rails": 8, "switch_ports": 64, "manager_links": 4}, (8, 4, 0, 252, 256)),
    (
        "H100, 2 units",
        {"nodes": 63, "rails": 8, "switch_ports": 64, "manager_links": 4},
        (16, 8, 0, 508, 512),
    ),
    (
        "H100, 3 units",
        {"nodes": 95, "rails": 8, "switch_ports": 64, "manager_links": 4},
        (24, 16, 0, 764, 768),
    ),
    (
        "H100, 4 units",
        {"nodes": 127, "rails": 8, "switch_ports": 64, "manager_links": 4},
        (32, 16, 0, 1020, 1024),
    ),
    # NDR without fabric managers on the switches: two tiers to 2,048 ports, a third beyond
    *(
        (f"B200, {nodes} servers", {"nodes": nodes, "rails": 8, "switch_ports": 64}, counts)
        for nodes, counts in (
            (64, (16, 8, 0, 512, 512)),
            (128, (32, 16, 0, 1024, 1024)),
            (256, (64, 32, 0, 2048, 2048)),
            (512, (128, 128, 64, 4096, 4096)),
            (1024, (256, 256, 128, 8192, 8192)),
            (2048, (512, 512, 256, 16384, 16384)),
        )
    ),
    # 144-port XDR: sixteen spines would carry 288 servers, eighteen divide the 72 uplinks of a leaf
    *(
        (f"B300 XDR, {nodes} servers", {"nodes": nodes, "rails": 8, "switch_ports": 144}, counts)
        for nodes, counts in (
            (72, (8, 4, 0, 576, 576)),
            (144, (16, 8, 0, 1152, 1152)),
            (288, (32, 18, 0, 2304, 2304)),
            (576, (64, 36, 0, 4608, 4608)),
            (1296, (144, 72, 0, 10368, 10368)),
        )
    ),
    # two planes of Ethernet, two 400G links in each cable
    *(
        (
            f"B300 Ethernet, {nodes} servers",
            {"nodes": nodes, "rails": 8, "switch_ports": 128, "planes": 2, "links_per_cable": 2},
            counts,
        )
        for nodes, counts in (
            (64, (16, 8, 0, 512, 512)),
            (128, (32, 16, 0, 1024, 1024)),
            (256, (64, 32, 0, 2048, 2048)),
            (512, (128, 64, 0, 4096, 4096)),
            (1024, (256, 128, 0, 8192, 8192)),
        )
    ),
]


@pytest.mark.parametrize(
    ("wish", "counts"), [row[1:] for row in REFERENCES], ids=[row[0] for row in REFERENCES]
)
def test_reference_architectures_come_out_exactly(wish: dict[str, Any], counts: tuple[int, ...]) -> None:
    plan = plan_topology(**wish)
    assert (plan.leaves, plan.spines, plan.cores, plan.node_cables, plan.spine_cables) == counts
    assert plan.blocking_ratio <= 1


def test_the_core_tier_of_512_servers_has_as_many_cables_again() -> None:
    plan = plan_topology(512, 8, 64)
    assert plan.spine_core_links == 4096
    assert plan.switches == 320


def test_a_stripe_of_64_port_leaves_holds_32_servers() -> None:
    """One leaf per rail, half of its ports down: 32 servers and 256 accelerators."""
    plan = plan_topology(32, 8, 64)
    assert (plan.leaves, plan.nodes_most) == (8, 32)
    assert plan_topology(33, 8, 64).leaves == 16


def test_a_group_of_240_servers_with_half_speed_links() -> None:
    """Two 200G links share a 400G port: 480 ports on 15 leaves; 16 upper switches, since 15 do not divide 32 links."""
    ports = 240 * 4 // 2
    leaves = ports // 32
    assert leaves == 15
    assert spine_count(leaves, 32, 32, 32) == (16, 32)


def test_fabric_managers_take_a_servers_place() -> None:
    assert plan_topology(32, 8, 64).leaves == 8
    assert plan_topology(32, 8, 64, manager_links=4).leaves == 16


@pytest.mark.parametrize(
    ("nodes", "leaves", "spines", "cores"),
    [
        (1, 1, 0, 0),
        (8, 1, 0, 0),
        (9, 4, 2, 0),
        (16, 4, 2, 0),
        (17, 8, 3, 0),
        (256, 64, 32, 0),
        (257, 72, 72, 36),
    ],
)
def test_tiers_begin_where_ports_end(nodes: int, leaves: int, spines: int, cores: int) -> None:
    """One switch to 64 ports, two tiers to 2,048, three beyond."""
    plan = plan_topology(nodes, 8, 64)
    assert (plan.leaves, plan.spines, plan.cores) == (leaves, spines, cores)


def test_beyond_three_tiers_there_is_no_answer() -> None:
    with pytest.raises(NoTopology):
        plan_topology(40_000, 8, 64)


@pytest.mark.parametrize(
    ("nodes", "blocking", "leaves", "spines"),
    [
        (32, 1, 8, 4),
        (32, 2, 8, 2),  # 32 down and 16 up
        (96, 1, 24, 16),
        (96, 3, 16, 4),  # 48 down and 16 up
        (96, 2, 24, 11),  # 42 down and 22 up: 9 spines would carry them, 11 divide them evenly
    ],
)
def test_fewer_links_up_take_fewer_switches(nodes: int, blocking: float, leaves: int, spines: int) -> None:
    plan = plan_topology(nodes, 8, 64, blocking=blocking)
    assert (plan.leaves, plan.spines) == (leaves, spines)


@given(
    st.integers(1, 1500),
    st.sampled_from([1, 2, 4, 8, 10]),
    st.sampled_from([64, 128, 144]),
    st.booleans(),
    st.sampled_from([1, 1, 1.5, 2, 3, 4]),
)
def test_fabrics_block_no_more_than_asked_and_fit_their_ports(
    nodes: int, rails: int, ports: int, managed: bool, blocking: float
) -> None:
    managers = 4 if managed else 0
    plan = plan_topology(nodes, rails, ports, manager_links=managers, blocking=blocking)
    assert plan.node_links == nodes * rails + managers
    assert plan.blocking_ratio <= blocking
    assert plan.nodes_most >= nodes
    if plan.spines and not plan.cores:
        up = plan.leaf_spine_links // plan.leaves
        assert up % plan.spines == 0  # every leaf reaches every spine alike
        assert plan.leaf_spine_links <= plan.spines * ports
        assert plan.node_links / plan.leaves + up <= ports
    if plan.cores:
        assert plan.spine_core_links >= min(plan.leaf_spine_links, plan.node_links)
        assert plan.spine_core_links <= plan.cores * ports


@given(st.integers(1, 255), st.sampled_from([4, 8]))
def test_a_server_more_never_needs_fewer_switches(nodes: int, rails: int) -> None:
    assert plan_topology(nodes + 1, rails, 64).leaves >= plan_topology(nodes, rails, 64).leaves


@given(st.integers(1, 400), st.integers(1, 10))
def test_leaves_carry_whole_rails(nodes: int, rails: int) -> None:
    leaves, down = leaf_count(nodes, rails, 32)
    assert leaves % rails == 0 or rails % leaves == 0
    assert down <= 32 or leaves % rails == 0
    assert leaves * down >= nodes * rails


# ── data and management ──


@pytest.mark.parametrize(
    ("links", "ports", "switches", "joints"),
    [
        (56, 64, 2, 4),  # sixteen servers and twelve storage units of two ports
        (90, 64, 2, 6),
        (254, 64, 8, 66),  # 127 servers: six of 45 ports down, eleven up; two above
        (600, 64, 18, 154),  # fourteen of 43 down and eleven up; 77 to each side above take two of 57
    ],
)
def test_a_pair_of_switches_or_pairs_below_pairs(links: int, ports: int, switches: int, joints: int) -> None:
    assert pair_or_tree(links, ports, ASSUMPTIONS) == (switches, joints)


@given(st.integers(1, 4000), st.sampled_from([32, 48, 64]))
def test_data_switches_have_a_port_for_every_link(links: int, ports: int) -> None:
    tree = pair_or_tree(links, ports, ASSUMPTIONS)
    if tree is None:
        assert links > 2 * ports
        return
    switches, joints = tree
    assert links + 2 * joints <= switches * ports
    assert joints * ASSUMPTIONS.in_band_blocking_factor >= links or switches == 2


# ── articles ────────────────────────────────────────────────────────────────────────────────────────────────────


def fabric(nodes: int, accelerator: str, gbit_s: float, catalog=None):
    return plan_fabric(nodes, named(accelerator), 8, gbit_s, parts_of(catalog or seed()), ASSUMPTIONS)


def test_infiniband_for_nvidia_ethernet_for_others() -> None:
    assert fabric(4, "H200 SXM5 141GB", 400).switch.fabric == "infiniband"
    assert fabric(4, "Instinct MI325X", 400).switch.fabric == "ethernet"


def test_a_fabric_without_manager_servers_gets_switches_that_manage_themselves() -> None:
    assert fabric(4, "H200 SXM5 141GB", 400).switch.name == "Quantum-2 QM9700"
    assert fabric(31, "H200 SXM5 141GB", 400).topology.manager_links == 4


def test_faster_links_take_faster_switches_and_their_optics() -> None:
    plan = fabric(8, "B300 SXM 288GB", 800)
    assert plan.switch.port_gbit_s == 800
    names = {seed().items[line.sku].name: line.quantity for line in plan.lines}
    assert names["MMS4A20 800G DR4 500m"] == 64
    assert names["MMS4A00 1.6T twin 2xDR4 500m"] == 32


@pytest.mark.parametrize("nodes", [4, 16, 31])
def test_every_link_has_both_its_ends(nodes: int) -> None:
    plan = fabric(nodes, "H200 SXM5 141GB", 400)
    topology = plan.topology
    pieces = {
        seed().items[line.sku].kind: 0 for line in plan.lines if hasattr(seed().items[line.sku], "kind")
    }
    for line in plan.lines:
        item = seed().items[line.sku]
        if hasattr(item, "kind"):
            pieces[item.kind] += line.quantity * item.ports
    links = topology.node_links + topology.leaf_spine_links
    assert pieces["fibre"] == links
    # of 31 servers, four leaves of eight have an odd number of links: half a module each stays unused
    assert pieces["optic"] == 2 * links + {31: 4}.get(nodes, 0)


@given(
    st.integers(1, 600),
    st.sampled_from([4, 8]),
    st.sampled_from([64, 128, 144]),
    st.booleans(),
    st.sampled_from([1, 1, 2, 3]),
)
def test_leaves_hold_what_hangs_on_them(
    nodes: int, rails: int, ports: int, managed: bool, blocking: float
) -> None:
    managers = 4 if managed and nodes * rails > ports else 0
    plan = plan_topology(nodes, rails, ports, manager_links=managers, blocking=blocking)
    loads = leaf_loads(nodes, rails, plan.leaves, ports_down(ports, blocking), managers)
    ends = plan.node_links + 2 * (plan.leaf_spine_links + plan.spine_core_links)
    assert len(loads) == plan.leaves
    assert sum(loads) == plan.node_links
    assert max(loads) + plan.leaf_spine_links // plan.leaves <= ports
    assert ends / 2 <= cages_in_use(nodes, rails, ports, plan, 2) <= (ends + plan.switches) / 2


def test_without_switches_or_optics_it_says_so() -> None:
    no_optics = changed(cables=tuple(cable for cable in seed().cables if cable.kind != "optic"))
    answer = fabric(4, "H200 SXM5 141GB", 400, no_optics)
    assert isinstance(answer, Broken)
    assert answer.rule == "fabric_switch"


def test_a_switch_without_a_subnet_manager_wants_fabric_managers() -> None:
    """QM9790 is the cheaper of two alike; four servers have no fabric managers, 127 have."""
    cheap = {**seed().prices, "QM9790": seed().prices["SN2201"]}
    catalog = changed(prices=cheap)
    few, many = fabric(4, "H200 SXM5 141GB", 400, catalog), fabric(127, "H200 SXM5 141GB", 400, catalog)
    assert isinstance(few, Fabric)
    assert isinstance(many, Fabric)
    assert (few.switch.sku, many.switch.sku) == ("QM9700", "QM9790")
    assert (few.switch.managed, many.switch.managed) == (True, False)


def test_127_servers_stand_in_about_38_racks() -> None:
    """Published: 32 leaves, 16 spines, 38 racks with four servers each, five management servers."""
    system = build_system(
        named("H100 SXM5 80GB"),
        named("DGX H100 / H200"),
        127 * 8,
        (training("H100 SXM5 80GB", 127 * 8),),
        train(
            site=Site(feed_amps=63, cooling=frozenset({"air", "rear_door"})),
            data=DataNeeds(existing_storage=True),
        ),
        seed(),
        ASSUMPTIONS.model_copy(update={"rack_rear_door_kw": 42, "feed_load_fraction": 1.0}),
    )
    assert isinstance(system, SystemBuild)
    assert (system.fabric.leaves, system.fabric.spines) == (32, 16)
    assert system.fabric.node_links == 1020
    assert system.fabric.leaf_spine_links == 1024
    assert abs(len(system.racks) - 38) <= 2
    management = next(line for line in system.lines if line.group == "management" and line.role == "server")
    assert management.quantity == 5


@pytest.mark.parametrize(("servers", "told"), [(31, False), (32, True)])
def test_a_server_that_doubles_the_switches_is_told(servers: int, told: bool) -> None:
    """Fabric managers take the place of the 32nd server of a group."""
    system = trained(servers)
    said = [str(finding.message) for finding in system.findings if "one server fewer" in str(finding.message)]
    assert said == (
        ["With one server fewer the cluster network takes 12 switches instead of 24."] if told else []
    )


def test_ethernet_joins_the_same_cards_where_it_is_asked_for() -> None:
    """32 servers on 64 ports of 800G, split into 128: four leaves and two spines; no fabric managers."""
    system = trained(32, Placement(cluster_network="ethernet"))
    assert (system.fabric.kind, system.fabric.leaves, system.fabric.spines) == ("ethernet", 4, 2)
    assert system.fabric.node_links == system.fabric.leaf_spine_links == 256
    names = {line.name for line in system.lines}
    assert "MMA4Z00-NS400 400G SR4" in names  # OSFP flat-top, as on the cards of InfiniBand
    assert not [line for line in system.lines if "fabric manager" in line.name.lower()]
    assert any("settings without loss" in str(finding.message) for finding in system.findings)


def trained(servers: int, placement: Placement | None = None) -> SystemBuild:
    system = build_system(
        named("H200 SXM5 141GB"), named("SYS-821GE-TNHR"), servers * 8, (training("H200 SXM5 141GB", servers * 8),),
        train(
            site=Site(feed_amps=63, cooling=frozenset({"air", "rear_door"})),
            data=DataNeeds(existing_storage=True), placement=placement or Placement(),
        ), seed(), ASSUMPTIONS,
    )  # fmt: skip
    assert isinstance(system, SystemBuild), str(system.reason)
    return system


def test_topologies_say_how_many_switches() -> None:
    assert Topology(8, 4, 2).switches == 14
