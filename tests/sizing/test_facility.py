"""Racks, feeds, heat and floor: arithmetic against published figures, and how servers fill racks."""

import pytest

from configurator.workload import DataNeeds, Site
from quotes.sizing.hardware.bill import Broken
from quotes.sizing.hardware.compose import build_system
from quotes.sizing.hardware.demand import NodeBrief, NodeDemand
from quotes.sizing.hardware.facility import (
    BTU_PER_WATT_HOUR,
    Box,
    Layout,
    busiest_phase_w,
    cord_rule,
    feed_capacity_w,
    feed_pairs,
    fits_per_rack,
    floor_load_kg_m2,
    lay_out,
    server_box,
    usable_supply_kw,
)
from quotes.sizing.hardware.node import plan_node
from quotes.sizing.hardware.parts import parts_of
from quotes.sizing.hardware.room import airflow_m3_h, water_l_min
from quotes.sizing.hardware.site import limits_for
from quotes.sizing.results import SystemBuild
from tests.sizing.hardware import ASSUMPTIONS, named, seed, serve, serving, train, training

H200, B200 = "H200 SXM5 141GB", "B200 SXM 180GB"
PARTS = parts_of(seed())


# ── arithmetic ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("amps", "phases", "kw"), [(32, 3, 17.7), (63, 3, 34.8), (16, 1, 2.94), (32, 1, 5.89), (16, 3, 8.83)]
)
def test_a_feed_carries_four_fifths_of_its_breaker(amps: float, phases: int, kw: float) -> None:
    assert feed_capacity_w(amps, phases, ASSUMPTIONS) / 1000 == pytest.approx(kw, rel=0.005)


def test_amps_and_heat() -> None:
    assert busiest_phase_w([Box("x", "node", 10, 14_300, 142, c19=3)], 3) / 230 == pytest.approx(
        20.7, rel=0.01
    )
    assert pytest.approx(40_946, rel=1e-4) == 12_000 * BTU_PER_WATT_HOUR


def test_floor_load_of_a_published_example() -> None:
    """Four servers of 142.4 kg in a rack of 185.45 kg, 750 × 1200 mm: 839 kg/m²."""
    load = floor_load_kg_m2(4 * 142.4, named("NetShelter SX AR3357 48U 750x1200"))
    assert load == pytest.approx(839, rel=0.001)


def test_installed_supply_is_not_load() -> None:
    """Eight shelves of 33 kW are 264 kW installed and 132 kW usable: half of them are the spare."""
    assert usable_supply_kw(8, 33) == 132


@pytest.mark.parametrize(
    ("redundancy", "count", "surviving"),
    [
        ("4+2", 6, 12_000),
        ("3+3", 6, 9_000),
        ("5+1", 6, 15_000),
        ("none", 1, 3000),
        ("N+1", 8, 21_000),
        ("N+N", 8, 12_000),
    ],
)
def test_supplies_count_what_survives(redundancy: str, count: int, surviving: float) -> None:
    server = named("SYS-821GE-TNHR").model_copy(
        update={"psu_redundancy": redundancy, "psu_count": count, "psu_w": 3000}
    )
    assert server.psu_surviving_w == surviving


# ── racks ───────────────────────────────────────────────────────────────────────────────────────────────────────


def per_rack(server: str, accelerator: str, site: Site) -> int:
    plan = plan_node(NodeBrief(named(server), named(accelerator), 8, NodeDemand(), PARTS, ASSUMPTIONS))
    box = server_box(plan, "node")
    return fits_per_rack(box, limits_for(box, site, PARTS, ASSUMPTIONS))


@pytest.mark.parametrize(
    ("server", "accelerator", "kw", "number"),
    [
        ("DGX B200", B200, 20, 1),  # 14.3 kW each: published, not two
        ("DGX H100 / H200", H200, 20, 1),  # 10.2 kW each
        ("DGX H100 / H200", H200, 20.5, 2),
        ("SYS-822GS-NBRT", B200, 30, 2),
    ],
)
def test_racks_fill_by_what_a_server_may_draw(server: str, accelerator: str, kw: float, number: int) -> None:
    site = Site(rack_power_max_kw=kw, cooling=frozenset({"air", "rear_door"}), feed_amps=63)
    assert per_rack(server, accelerator, site) == number


@pytest.mark.parametrize(
    ("site", "number"),
    [
        (Site(), 2),  # 25 kW of room air, 10.5 kW each
        (Site(cooling=frozenset({"air", "rear_door"})), 3),  # 40 kW
        (Site(floor_load_kg_m2=380), 1),  # 110 kg each on 0.96 m² beside 170 kg of rack
        (Site(rack_power_max_kw=15), 1),
    ],
)
def test_the_tightest_limit_decides(site: Site, number: int) -> None:
    assert per_rack("SYS-821GE-TNHR", H200, site) == number


def test_units_limit_flat_and_frugal_servers() -> None:
    limits = limits_for(Box("x", "node", 2, 100, 10), Site(), PARTS, ASSUMPTIONS)
    assert fits_per_rack(Box("x", "node", 2, 100, 10), limits) == 23  # 48 U less 2 for cables


def cluster(
    site: Site, servers: int = 4, server: str = "SYS-821GE-TNHR", accelerator: str = H200
) -> SystemBuild:
    loads = (training(accelerator, servers * 8),)
    system = build_system(
        named(accelerator), named(server), servers * 8, loads,
        train(site=site, data=DataNeeds(existing_storage=True)), seed(), ASSUMPTIONS,
    )  # fmt: skip
    assert isinstance(system, SystemBuild), str(system.reason)
    return system


def nodes_in(system: SystemBuild) -> list[int]:
    return [number for rack in system.racks if (number := sum(kind == "node" for _, _, kind in rack.items))]


def test_a_small_feed_carries_one_server_per_rack() -> None:
    """3 × 32 A carries 17.7 kW: one server of 10.5 kW; 3 × 63 A carries two."""
    assert nodes_in(cluster(Site(feed_amps=32))) == [1, 1, 1, 1]
    assert nodes_in(cluster(Site(feed_amps=63))) == [2, 2]


def test_single_feeds_halve_the_strips() -> None:
    def strips(system: SystemBuild) -> int:
        return sum(line.quantity for line in system.lines if line.group == "racks" and line.role == "power")

    assert strips(cluster(Site(feed_amps=63))) == 2 * strips(
        cluster(Site(feed_amps=63, feeds_redundant=False))
    )
    assert any(
        "One feed" in str(f.message) for f in cluster(Site(feed_amps=63, feeds_redundant=False)).findings
    )


def test_liquid_racks_hold_more_and_bring_their_pump() -> None:
    site = Site(feed_amps=63, cooling=frozenset({"air", "liquid"}))
    system = cluster(site, 4, "SYS-422GS-NBRT-LCC", B200)
    assert system.node.cooling == "liquid"
    wet = [rack for rack in system.racks if rack.cooling == "liquid"]
    assert all(any(kind == "cooling" for _, _, kind in rack.items) for rack in wet)
    bought = {line.name: line.quantity for line in system.lines}
    assert bought["Rack manifold with quick disconnects (per rack)"] == len(wet)
    assert bought["Liquid loop commissioning"] == len(wet)


def test_rear_doors_only_above_room_air() -> None:
    water = frozenset({"air", "rear_door"})
    hot = cluster(Site(feed_amps=63, cooling=water), 4, "SYS-822GS-NBRT", B200)
    assert {rack.cooling for rack in hot.racks if rack.items[0][2] == "node"} == {"rear_door"}
    cool = cluster(Site(feed_amps=63, cooling=water), 2, "SYS-821GE-TNHR", H200)
    assert {rack.cooling for rack in cool.racks} == {"air"}


def test_one_server_goes_into_a_rack_that_is_there() -> None:
    system = build_system(
        named(H200), named("SYS-821GE-TNHR"), 8, (serving(H200, 8, 8),), serve(), seed(), ASSUMPTIONS
    )
    assert not [line for line in system.lines if line.group == "racks"]
    assert [rack.items for rack in system.racks] == [(("SYS-821GE-TNHR", 8.0, "node"),)]
    assert any("No rack is included: 8" in str(finding.message) for finding in system.findings)


def test_desk_side_and_edge_need_no_rack() -> None:
    for server, accelerator, count in (
        ("DGX Spark", "GB10 (DGX Spark)", 1),
        ("MIC-733-AO", "Jetson AGX Orin 64GB", 3),
    ):
        loads = (serving(accelerator, count),)
        system = build_system(named(accelerator), named(server), count, loads, serve(), seed(), ASSUMPTIONS)
        assert system.racks == ()
        assert system.nodes == count


def test_a_complete_rack_is_its_own_rack() -> None:
    site = Site(feed_amps=63, cooling=frozenset({"liquid"}))
    system = build_system(
        named("GB200 (per GPU)"), named("SRS-GB200-NVL72-M1"), 72, (), serve(site=site), seed(), ASSUMPTIONS
    )
    assert isinstance(system, SystemBuild)
    assert system.power.wall_w == 120_000
    assert [rack.power_w for rack in system.racks] == [120_000]
    assert system.feeds_per_rack == 8
    assert not [line for line in system.lines if line.role == "rack"]


@pytest.mark.parametrize(
    ("server", "accelerator", "count", "adds_kg"),
    [
        ("SYS-421GE-TNRT3", "H200 NVL 141GB", 4, 4 * ASSUMPTIONS.card_weight_kg),
        ("SYS-821GE-TNHR", H200, 8, 0),
    ],
)
def test_cards_weigh_on_the_floor_and_boards_are_in_the_makers_weight(
    server: str, accelerator: str, count: int, adds_kg: float
) -> None:
    empty = named(server)
    plan = plan_node(NodeBrief(empty, named(accelerator), count, NodeDemand(), PARTS, ASSUMPTIONS))
    assert not isinstance(plan, Broken)
    assert plan.weight_kg == server_box(plan, "node").kg == (empty.weight_kg or 0) + adds_kg


def test_unknown_weight_is_not_zero() -> None:
    site = Site(cooling=frozenset({"liquid"}), floor_load_kg_m2=1000)
    system = build_system(
        named(H200),
        named("SYS-421GE-TNHR2-LCC"),
        8,
        (serving(H200, 8, 8),),
        serve(site=site),
        seed(),
        ASSUMPTIONS,
    )
    assert system.node.weight_kg is None
    assert all(rack.floor_kg_m2 is None for rack in system.racks)
    assert any("floor load cannot be checked" in str(finding.message) for finding in system.findings)


@pytest.mark.parametrize(
    ("site", "says"),
    [
        (Site(noise_sensitive=True), "is loud"),
        (Site(), "have the floor checked"),
        (Site(), "C19"),
        (Site(), "makers' planning figures"),
    ],
)
def test_what_the_reader_must_know_of_the_site(site: Site, says: str) -> None:
    system = build_system(
        named(H200), named("SYS-821GE-TNHR"), 8, (serving(H200, 8, 8),), serve(site=site), seed(), ASSUMPTIONS
    )
    assert any(says in str(finding.message) for finding in system.findings)


def test_figures_unfold_to_the_numbers_they_explain() -> None:
    system = cluster(Site(feed_amps=63))
    figures = {figure.key: figure for figure in system.figures}
    assert set(figures) == {"server_power", "power", "heat", "air", "amps", "racks", "fabric_switches"}
    assert figures["power"].value.value == pytest.approx(system.power.wall_w / 1000)
    assert figures["amps"].value.value == pytest.approx(system.amps_per_phase)
    assert figures["air"].value.value == system.room.airflow_m3_h
    assert figures["heat"].value.value == pytest.approx(system.power.heat_btu_h)
    inputs = {item.name.text: item.value.value for item in figures["power"].inputs}
    parts = ("cluster network", "other networks and management", "storage", "pumps and fans of the racks")
    total = inputs["servers"] * inputs["power per server"] + sum(inputs[name] for name in parts)
    assert total == pytest.approx(system.power.wall_w)
    server = {item.name.text: item.value.value for item in figures["server_power"].inputs}
    dc = server["accelerators"] * server["power per accelerator"]
    dc += server["CPUs, memory, drives and network cards"] + server["board and management"]
    assert dc * (1 + server["fans"] / 100) / server["supply efficiency"] == pytest.approx(
        system.node.power.wall_w
    )


def test_every_assumption_named_in_a_figure_exists() -> None:
    for figure in cluster(Site(feed_amps=63)).figures:
        for item in figure.inputs:
            if item.assumption:
                assert hasattr(ASSUMPTIONS, item.assumption)


# ── phases, outlets, air and water ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("cords", "watts", "phases", "sides", "busiest"),
    [
        (3, 9000, 3, 1, 3000),  # three cords load three phases evenly
        (2, 9000, 3, 1, 4500),  # two do not
        (4, 8000, 3, 1, 4000),
        (2, 9000, 3, 2, 4500),  # a single feed takes the cords of both sides
        (0, 9000, 3, 1, 3000),  # wired to all phases
        (3, 9000, 1, 1, 9000),
    ],
)
def test_a_cord_is_not_divided_over_phases(
    cords: int, watts: float, phases: int, sides: int, busiest: float
) -> None:
    assert busiest_phase_w([Box("x", "node", 4, watts, 50, c19=cords)], phases, sides) == busiest


def test_a_box_beside_the_servers_trips_a_breaker_as_well() -> None:
    """One cord of 3.7 kW draws 16.1 A of a 16 A breaker, and nothing of note of a 32 A one."""
    storage = Box("storage", "storage", 2, 3700, 50, c13=1)
    small, large = (limits_for(storage, Site(feed_amps=amps), PARTS, ASSUMPTIONS) for amps in (16, 32))
    found = cord_rule(storage, small)
    assert found is not None
    assert found.rule == "site_cord"
    assert cord_rule(storage, large) is None


def test_servers_whose_cords_would_share_a_phase_get_a_rack_each() -> None:
    """Two of 8.8 kW are within 17.66 kW, but four cords of 4.4 kW on three phases put 38 A on one of 32 A."""
    limits = limits_for(Box("x", "node", 4, 8800, 50), Site(), PARTS, ASSUMPTIONS)
    pair = [Box("x", "node", 4, 8800, 50, c19=2)] * 2
    assert feed_pairs(pair[:1], limits) == 1
    assert feed_pairs(pair, limits) == 2


def test_a_system_beside_a_desk_hangs_on_one_phase() -> None:
    system = build_system(
        named("RTX PRO 6000 Blackwell Workstation Edition"), named("SYS-551A-T"), 1,
        (serving("RTX PRO 6000 Blackwell Workstation Edition", 1),),
        serve(site=Site(feed_phases=3)), seed(), ASSUMPTIONS,
    )  # fmt: skip
    assert isinstance(system, SystemBuild), str(system.reason)
    assert system.amps_per_phase == pytest.approx(system.node.power.provision_w / 230)
    assert (system.room.standing, system.room.phases, system.room.noise) == ("desk", 1, "quiet")
    assert system.feeds_per_rack == 0


def test_what_the_room_gives_is_the_sum_of_its_racks() -> None:
    """12 kW and 15 K: 2,388 m³ of air an hour; a litre of water a minute carries 70 W per kelvin."""
    system = cluster(Site(feed_amps=63))
    room = system.room
    assert room.feeds == sum(rack.feeds or 0 for rack in system.racks) == 2 * len(system.racks)
    assert room.airflow_m3_h == pytest.approx(sum(rack.airflow_m3_h or 0 for rack in system.racks))
    assert room.weight_kg is None  # one part's weight is not known
    assert room.weight_least_kg == pytest.approx(sum(rack.weight_least_kg or 0 for rack in system.racks))
    assert room.weight_least_kg > 4 * 110 + len(system.racks) * 170
    assert (room.standing, room.own_racks, room.water_l_min) == ("racks", False, None)
    assert airflow_m3_h(12_000, ASSUMPTIONS) == pytest.approx(2388, rel=0.001)
    assert water_l_min(698, ASSUMPTIONS) == pytest.approx(1, rel=0.001)


@pytest.mark.parametrize(
    ("server", "accelerator", "carries"),
    [
        ("SYS-821GE-TNHR", H200, False),  # 4+2 × 3 kW: three are left, 9 kW for 10.5 kW at the wall
        ("DGX B200", B200, False),  # 5+1 × 3.3 kW: 9.9 kW for 14.3 kW
        ("SYS-822GS-NBRT", B200, True),  # 3+3 × 6.6 kW
    ],
)
def test_half_of_the_supplies_must_carry_a_server_when_a_feed_is_lost(
    server: str, accelerator: str, carries: bool
) -> None:
    def alone(*, redundant: bool) -> SystemBuild:
        system = build_system(
            named(accelerator), named(server), 8, (serving(accelerator, 8, 8),),
            serve(site=Site(feed_amps=63, feeds_redundant=redundant)), seed(), ASSUMPTIONS,
        )  # fmt: skip
        assert isinstance(system, SystemBuild), str(system.reason)
        return system

    system = alone(redundant=True)
    told = any("it slows down or stops" in str(finding.message) for finding in system.findings)
    assert (system.room.one_feed_carries, told) == (carries, not carries)
    assert alone(redundant=False).room.one_feed_carries is None


def test_a_strip_carries_the_busiest_phase_as_well() -> None:
    """Two servers of 8.8 kW on two cords each: 17.6 kW fit a strip of 3 × 32 A in all, 38 A on one phase do not."""
    site = Site(feed_amps=63)
    box = Box("x", "node", 4, 8800, 50, c19=2)
    limits = limits_for(box, site, PARTS, ASSUMPTIONS)
    plan = lay_out(named("SYS-421GE-TNRT3"), box, 2, (), limits, own=False, parts=PARTS)
    assert isinstance(plan, Layout)
    assert [(len(rack.boxes), rack.pdu.amps) for rack, _ in plan.racks if rack.pdu] == [(2, 63)]


def test_an_unknown_inlet_is_not_called_c13() -> None:
    system = build_system(
        named("Instinct MI325X"), named("ESC A8A-E12U"), 8, (serving("Instinct MI325X", 8, 8),),
        serve(site=Site(feed_amps=63)), seed(), ASSUMPTIONS,
    )  # fmt: skip
    assert isinstance(system, SystemBuild), str(system.reason)
    said = " ".join(str(finding.message) for finding in system.findings)
    assert "C13" not in said
    assert "power inlet of ESC A8A-E12U is not known" in said
    assert system.room.one_feed_carries is False  # 5+1 × 3 kW: 9 kW for 12.5 kW at the wall


def test_three_supplies_leave_one_on_the_smaller_side() -> None:
    assert named("SYS-221GE-NR").psu_one_feed_w == 2000


def test_a_rack_that_is_there_is_not_part_of_the_weight() -> None:
    """One server of 110 kg in a rack that the customer has; the floor counts an empty one, of 800 × 1200 mm."""
    system = build_system(
        named(H200), named("SYS-821GE-TNHR"), 8, (serving(H200, 8, 8),), serve(), seed(), ASSUMPTIONS
    )
    assert isinstance(system, SystemBuild)
    (rack,) = system.racks
    assert (rack.own, rack.weight_kg, system.room.weight_kg) == (True, 110, 110)
    assert rack.floor_kg_m2 == pytest.approx((170 + 110) / 0.96)


def test_switches_that_are_there_give_a_port_for_each_port_of_a_server() -> None:
    """A DPU of 2 × 200 Gb/s, and for management the server's own port and the DPU's; a cluster brings switches."""
    system = build_system(
        named(H200), named("SYS-821GE-TNHR"), 8, (serving(H200, 8, 8),), serve(), seed(), ASSUMPTIONS
    )
    room = system.room
    assert (room.data_ports, room.data_port_gbit_s, room.management_ports) == (2, 200, 2)
    assert cluster(Site(feed_amps=63)).room.data_ports is None


def test_outlets_of_a_single_feed_take_the_cords_of_both_sides() -> None:
    both, one = (cluster(Site(feed_amps=63, feeds_redundant=redundant)) for redundant in (True, False))
    nodes = [next(rack for rack in system.racks if rack.items[0][2] == "node") for system in (both, one)]
    per_node = [(rack.c19 or 0) / sum(kind == "node" for _, _, kind in rack.items) for rack in nodes]
    assert per_node == [3, 6]


def test_a_cord_that_carries_more_than_its_outlet_is_told() -> None:
    system = cluster(Site(feed_amps=63, cooling=frozenset({"air", "liquid"})), 4, "SYS-422GS-NBRT-LCC", B200)
    assert any("a C19 outlet is made for 16 A" in str(found.message) for found in system.findings)


@pytest.mark.parametrize(
    ("server", "accelerator", "says"),
    [
        ("SRS-GB200-NVL72-M1", "GB200 (per GPU)", "power shelves, NVLink switches, coolant distribution."),
        (
            "SRS-GB300-NVL72-M1",
            "GB300 (per GPU)",
            "shelves of SRS-GB300-NVL72-M1 carry 132 kW; it may draw 135 kW",
        ),
        ("DGX GB200 NVL72", "GB200 (per GPU)", "brings power shelves, coolant distribution is not known"),
        ("DGX GB200 NVL72", "GB200 (per GPU)", "The site brings feeds to each power shelf"),
    ],
)
def test_a_complete_rack_tells_what_is_in_it_and_what_the_site_brings(
    server: str, accelerator: str, says: str
) -> None:
    site = Site(feed_amps=63, cooling=frozenset({"liquid"}))
    system = build_system(
        named(accelerator),
        named(server),
        72,
        (serving(accelerator, 72, 72),),
        serve(site=site),
        seed(),
        ASSUMPTIONS,
    )
    assert isinstance(system, SystemBuild), str(system.reason)
    assert says in " ".join(str(found.message) for found in system.findings)
    assert {line.name: line.quantity for line in system.lines if line.group == "node"} == {server: 1}
    rack = system.racks[0]
    assert (rack.c13, rack.c19, rack.feeds) == (None, None, 8)  # wired to all phases, without cords
    assert rack.amps_per_phase == pytest.approx(system.power.provision_w / 4 / 3 / 230)


@pytest.mark.parametrize(
    ("server", "accelerator", "standing"),
    [
        ("AS-2126HS-TN", None, "racks"),
        ("SYS-551A-T", "RTX PRO 6000 Blackwell Workstation Edition", "desk"),
        ("DGX Spark", "GB10 (DGX Spark)", "desk"),
        ("MIC-733-AO", "Jetson AGX Orin 64GB", "edge"),
        ("ProLiant Compute DL384 Gen12", "GH200 144GB", "racks"),
    ],
)
def test_each_kind_of_system_stands_where_it_belongs(
    server: str, accelerator: str | None, standing: str
) -> None:
    loads = (serving(accelerator, 1),) if accelerator else ()
    system = build_system(
        named(accelerator) if accelerator else None, named(server), 1, loads, serve(), seed(), ASSUMPTIONS
    )
    assert isinstance(system, SystemBuild), str(system.reason)
    assert system.room.standing == standing
    assert system.lines[0].sku == named(server).sku
    assert bool(system.racks) is (standing == "racks")
