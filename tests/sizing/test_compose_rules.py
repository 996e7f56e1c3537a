"""Every composition rule, broken once: the table of docs/sizing/hardware.md, with what the reader is told."""

import ast
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from catalog.specs import AcceleratorSpec, CatalogSnapshot, ServerSpec
from configurator.workload import DataNeeds, Placement, Site, Workload
from quotes.sizing.hardware.bill import Broken
from quotes.sizing.hardware.compose import SystemRecipe, Wish, plan_system
from quotes.sizing.hardware.demand import NodeBrief, NodeDemand
from quotes.sizing.hardware.node import plan_node
from quotes.sizing.hardware.parts import parts_of
from quotes.sizing.results import Refusal
from tests.sizing.hardware import (
    ASSUMPTIONS,
    changed,
    named,
    recipe,
    seed,
    serve,
    serving,
    train,
    training,
    with_item,
    without_price,
)

H200 = "H200 SXM5 141GB"
NVL = "H200 NVL 141GB"
RTX = "RTX PRO 6000 Blackwell Server Edition"
HGX = "SYS-821GE-TNHR"
BOX = "SYS-421GE-TNRT3"
BOOT = "M.2 NVMe boot 960GB"

GOOD_HGX = {
    "Xeon Platinum 8568Y+": 2, "DDR5 64GB DDR5-5600": 32, BOOT: 2, "PM9A3 7.68TB U.2": 4,
         "BlueField-3 B3220 2x200G": 1,
}  # fmt: skip
GOOD_BOX = {
    "Xeon Gold 6548Y+": 2, "DDR5 64GB DDR5-5600": 16, BOOT: 2, "PM9A3 7.68TB U.2": 4, "ConnectX-7 2x200G QSFP112": 1,
    "NVLink bridge 4-way H200 NVL": 1,
}  # fmt: skip


class Node(NamedTuple):
    """One server that breaks a rule."""

    rule: str
    says: str
    then: str = ""
    server: str | ServerSpec = HGX
    accelerator: str | AcceleratorSpec | None = H200
    count: int = 8
    swap: dict[str, str | int | None] | None = None  # parts of the good recipe, replaced or dropped
    demand: NodeDemand = NodeDemand()
    catalog: CatalogSnapshot | None = None


def _parts(case: Node) -> dict[str, int] | None:
    if case.swap is None:
        return None
    good = dict(GOOD_BOX if case.server == BOX else GOOD_HGX)
    for old, new in case.swap.items():
        number = good.pop(old, 8)
        if isinstance(new, str):
            good[new] = number
        elif new is not None:
            good[old] = new
    return good


def broken_node(case: Node) -> Any:
    catalog = case.catalog or seed()
    server = named(case.server) if isinstance(case.server, str) else case.server
    server = (
        next((row for row in catalog.servers if row.sku == server.sku), server)
        if isinstance(case.server, str)
        else server
    )
    accelerator = named(case.accelerator) if isinstance(case.accelerator, str) else case.accelerator
    if accelerator is not None and isinstance(case.accelerator, str):
        accelerator = next(row for row in catalog.accelerators if row.sku == accelerator.sku)
    parts = _parts(case)
    brief = NodeBrief(server, accelerator, case.count, case.demand, parts_of(catalog), ASSUMPTIONS)
    return plan_node(brief, recipe(parts) if parts is not None else None)


def chassis(name: str = HGX, **figures: Any) -> ServerSpec:
    return named(name).model_copy(update=figures)


def card(name: str, **figures: Any) -> AcceleratorSpec:
    return named(name).model_copy(update=figures)


NODES = [
    # chassis and accelerators
    Node("server_incomplete", "figures are missing", "Complete its figures", server="SYS-521GE-TNRT"),
    Node("server_special_rack", "special rack with its own power shelf", server="SYS-222GS-NB3OT-ALC"),
    Node("server_part_of_rack", "part of a complete rack", server="ARS-121GL-NB3-LCC"),
    Node("server_price", f"{HGX} has no valid price", "Enter its price", catalog=without_price(HGX)),
    Node("form_factor", "comes on a board of its own", "It goes into", server=BOX),
    Node("form_factor", "is a card", "for example", accelerator=RTX),
    Node("not_listed", "not on the maker's list", accelerator="B200 SXM 180GB"),
    Node("superchip_whole", "only comes inside whole systems",
         server=chassis(accelerators=frozenset({"gh200-96gb"})), accelerator="GH200 96GB", count=1),
    Node("accelerator_price", "has no valid price", "price of its card or board",
         catalog=without_price("hgx-h200-8-gpu-board")),
    Node("accelerator_power_unknown", "power of H200 SXM5 141GB is not known", accelerator=card(H200, power_w=None)),
    Node("accelerator_power", "draws 600 W; ThinkSystem SR650a V4 cools and feeds at most 450 W",
         "at most 450 W", server="ThinkSystem SR650a V4", accelerator=RTX, count=2),
    Node("accelerator_liquid", "needs liquid cooling", "liquid-cooled server",
         accelerator=card(H200, cooling=frozenset({"liquid"}))),
    Node("board_whole", "boards of 8; 6 is not possible", "Take 8", count=6),
    Node("count_most", "at most 8 accelerators; 10", "Take 8", server=BOX, accelerator=NVL, count=10),
    Node("card_steps", "3 cards load the CPUs", "Take 2", server=BOX, accelerator=NVL, count=3),
    Node("system_whole", "sold whole, with 8", "Take all 8", server="DGX B200", accelerator="B200 SXM 180GB",
         count=4),
    # CPU
    Node("cpu_socket", "EPYC 9555 has socket SP5", "fits.", swap={"Xeon Platinum 8568Y+": "EPYC 9555"}),
    Node("cpu_generation", "its generation EPYC 9005 is not on the maker's list", "EPYC", server="AS-8125GS-TNHR",
         swap={"Xeon Platinum 8568Y+": "EPYC 9575F", "DDR5 64GB DDR5-5600": 24}),
    Node("cpu_power", "Xeon Platinum 8568Y+ draws 350 W", "fits.", swap={}, server=chassis(cpu_power_max_w=300)),
    Node("cpu_count", "2 CPU sockets, all to be filled; 1", "Take 2", swap={"Xeon Platinum 8568Y+": 1}),
    Node("cpu_single", "works alone only", server="AS-8126GS-TNMR", accelerator="Instinct MI325X",
         swap={"Xeon Platinum 8568Y+": "EPYC 9655P", "DDR5 64GB DDR5-5600": 24}),
    Node("cpu_cores_few", "16 CPU cores are fewer", "more cores", swap={"Xeon Platinum 8568Y+": "Xeon Gold 6534"}),
    Node("cpu_cores", "ask for 648 CPU cores", "a server with more cores", demand=NodeDemand(cores_per_gpu=80)),
    Node("cpu_price", "Xeon Platinum 8568Y+ is not in the catalog or has no valid price", swap={},
         catalog=without_price("xeon-platinum-8568y-plus")),
    Node("cpu_none", "no priced CPU", catalog=changed(cpus=())),
    Node("cpu_power_unknown", "The power of Xeon Platinum 8568Y+ is not known", swap={},
         catalog=with_item("cpus", named("Xeon Platinum 8568Y+"), power_w=None)),
    # memory
    Node("memory_channels", "20 modules leave memory channels unequally filled", "Take 16",
         swap={"DDR5 64GB DDR5-5600": 20}),
    Node("memory_slots", "32 memory slots; 48 modules", "larger modules", swap={"DDR5 64GB DDR5-5600": 48}),
    Node("memory_kind", "96GB MRDIMM-8800 is of a kind", "RDIMM", swap={"DDR5 64GB DDR5-5600": "96GB MRDIMM-8800"}),
    Node("memory_cpu_most", "4096 GB is more than the 1024 GB that the CPUs address", "smaller modules",
         swap={"DDR5 64GB DDR5-5600": "DDR5 128GB DDR5-5600"},
         catalog=with_item("cpus", named("Xeon Platinum 8568Y+"), memory_max_gb=512)),
    Node("memory_server_most", "2048 GB is more than the 1024 GB that", "smaller modules", swap={},
         server=chassis(memory_max_gb=1024)),
    Node("memory_needed", "2048 GB of host memory is less than the 4000 GB", "larger modules", swap={},
         demand=NodeDemand(ram_gb_per_gpu=500)),
    Node("memory_most", "in an even filling; 80000 GB is needed", "fewer accelerators",
         demand=NodeDemand(ram_gb_per_gpu=10_000)),
    Node("memory_price", "DDR5 64GB DDR5-5600 is not in the catalog", swap={},
         catalog=without_price("ddr5-64gb-5600")),
    # drives
    Node("boot_places", "1 M.2 places; 2 boot drives", "two data bays", server="ESC4000A-E12",
         accelerator="L40S", count=2,
         swap={"Xeon Platinum 8568Y+": None, "EPYC 9455P": 1, "DDR5 64GB DDR5-5600": 12,
               "BlueField-3 B3220 2x200G": None}),
    Node("boot_form", "CM7-R 3.84TB E3.S has form E3.S; SYS-821GE-TNHR has bays for U.2", "fits.", swap={}),
    Node("boot_price", "M.2 NVMe boot 960GB is not in the catalog", swap={},
         catalog=without_price("m.2-nvme-boot-960gb")),
    Node("drive_form", "PM9A3 7.68TB U.2 has form U.2; SYS-822GS-NBRT has bays for E1.S", "fits.",
         server="SYS-822GS-NBRT", accelerator="B200 SXM 180GB",
         swap={"Xeon Platinum 8568Y+": "Xeon 6767P", "DDR5 64GB DDR5-5600": 32}),
    Node("drive_kind", "Exos X24 24TB is too slow", "NVMe", swap={"PM9A3 7.68TB U.2": "Exos X24 24TB"}),
    Node("drive_bays", "16 drive bays; 20 drives", "fewer, larger", swap={"PM9A3 7.68TB U.2": 20}),
    Node("drive_size", "hold less than the 60 TB", "Take 8", swap={}, demand=NodeDemand(nvme_tb=60)),
    Node("drive_wear", "wear out early: 50 TB is written per day, 31 is warranted", "Take 7", swap={},
         demand=NodeDemand(nvme_write_tb_per_day=50)),
    Node("drive_read", "read 26.8 GB/s; 40 GB/s is needed", "Take 6", swap={}, demand=NodeDemand(nvme_read_gb_s=40)),
    Node("drive_capacity", "The 16 bays of SYS-821GE-TNHR do not give 5000 TB", "shared storage",
         demand=NodeDemand(nvme_tb=5000)),
    Node("drive_price", "PM9A3 7.68TB U.2 is not in the catalog", swap={}, catalog=without_price("pm9a3-7.68tb-u.2")),
    # network cards
    Node("nic_slots", "leaves 4 slots beside the accelerators; 5 network cards", "more slots", server=BOX,
         accelerator=NVL, count=4, swap={"ConnectX-7 2x200G QSFP112": 5}),
    Node("nic_slots_unknown", "How many slots SYS-821GE-TNHR leaves", "Enter it", swap={},
         server=chassis(free_x16_slots=None)),
    Node("nic_aiom", "no AIOM place for AIOM 2x25G SFP28", "PCIe card",
         swap={"BlueField-3 B3220 2x200G": "AIOM 2x25G SFP28"}),
    Node("nic_price", "BlueField-3 B3220 2x200G is not in the catalog", swap={},
         catalog=without_price("bluefield-3-b3220-2x200g")),
    Node("fabric_per_gpu", "one cluster network port per accelerator: 8, not 0", "Take 8 cards", swap={},
         demand=NodeDemand(fabric_gbit_s=400)),
    Node("fabric_speed", "gives 400 Gbit/s per accelerator; 800 is needed", "faster card",
         swap={"x": "ConnectX-7 1x400G OSFP"}, demand=NodeDemand(fabric_gbit_s=800)),
    Node("fabric_kind", "does not run InfiniBand", "that does", swap={"x": "Pensando Pollara 400"},
         demand=NodeDemand(fabric_gbit_s=400)),
    Node("fabric_onboard", "brings its 8 cluster network ports", "Leave the 8 cards out", server="SYS-822GS-NB3RT",
         accelerator="B300 SXM 288GB",
         swap={"Xeon Platinum 8568Y+": "Xeon 6767P", "DDR5 64GB DDR5-5600": 32, "PM9A3 7.68TB U.2": None,
               "BlueField-3 B3220 2x200G": None, "x": "ConnectX-7 1x400G OSFP"}),
    Node("fabric_nic_none", "no cluster network card of 3200 Gbit/s", demand=NodeDemand(fabric_gbit_s=3200)),
    Node("front_nic_none", "no network card that gives SYS-821GE-TNHR 99992 Gbit/s",
         demand=NodeDemand(read_gb_s=12_499)),
    # bridges
    Node("bridge_kind", "NVLink bridge set H100 NVL does not fit H200 NVL 141GB", "NVLink bridge 4-way H200 NVL fits",
         server=BOX, accelerator=NVL, count=4, swap={"NVLink bridge 4-way H200 NVL": "NVLink bridge set H100 NVL"}),
    Node("bridge_count", "join 8 cards; there are 4", "fits", server=BOX, accelerator=NVL, count=4,
         swap={"NVLink bridge 4-way H200 NVL": 2}),
    Node("bridge_price", "NVLink bridge 4-way H200 NVL is not in the catalog", server=BOX, accelerator=NVL,
         count=4, swap={},
         catalog=without_price("nvlink-bridge-4-way-h200-nvl")),
    # supplies
    Node("supply", "carry 5,400 W after a failure (2+2)", "With 4 × H200 NVL 141GB it fits", server=BOX,
         accelerator=NVL),
    Node("supply", "carry 7,200 W after a failure (3+3)", "larger supplies",
         server=chassis(psu_w=2400, psu_redundancy="3+3")),
    Node("supply_unknown", "power supplies of SYS-821GE-TNHR are not known", "Enter number",
         server=chassis(psu_w=None)),
]  # fmt: skip


@pytest.mark.parametrize("case", NODES, ids=lambda case: case.rule)
def test_a_server_that_breaks_a_rule_is_refused_in_words(case: Node) -> None:
    answer = _boot_in_wrong_bay() if case.rule == "boot_form" else broken_node(case)
    assert isinstance(answer, Broken), answer
    refusal = answer.refusal("sku", "name")
    assert answer.rule == case.rule, str(refusal.reason)
    assert case.says in str(refusal.reason)
    assert case.then in str(refusal.change or "")
    if case.then:
        assert refusal.change is not None


def _boot_in_wrong_bay() -> Any:
    chosen = recipe(GOOD_HGX)._replace(boot=named("CM7-R 3.84TB E3.S").sku)
    return plan_node(
        NodeBrief(named(HGX), named(H200), 8, NodeDemand(), parts_of(seed()), ASSUMPTIONS), chosen
    )


# ── the whole system and its site ───────────────────────────────────────────────────────────────────────────────


class System(NamedTuple):
    rule: str
    says: str
    then: str = ""
    server: str = HGX
    accelerator: str = H200
    needed: int = 8
    loads: tuple = ()
    workload: Workload = serve()
    catalog: CatalogSnapshot | None = None
    recipe: SystemRecipe | None = None


LIQUID = {"server": "SYS-422GS-NBRT-LCC", "accelerator": "B200 SXM 180GB"}
WATER = frozenset({"air", "liquid"})
WET = Site(feed_amps=63, cooling=WATER)
CLUSTER = {"needed": 32, "loads": (training(H200, 32),)}
ALMOST = {**CLUSTER, "workload": train(site=Site(feed_amps=63))}

SYSTEMS = [
    System("group_size", "join 16 accelerators in one server; SYS-821GE-TNHR holds 8", "holds more",
           needed=16, loads=(serving(H200, 16, 16),)),
    System("desktop_alone", "2 × SYS-551A-T; desktop systems do not work together", "in servers of a rack",
           server="SYS-551A-T", accelerator="RTX PRO 6000 Blackwell Workstation Edition", needed=6,
           loads=(serving("RTX PRO 6000 Blackwell Workstation Edition", 6, 1),)),
    System("rack_cluster", "need networks between their trays", "Stay within one complete rack",
           server="SRS-GB200-NVL72-M1", accelerator="GB200 (per GPU)", needed=144,
           loads=(training("GB200 (per GPU)", 144),), workload=train(site=WET)),
    System("rack_cluster", "4 × SRS-GB200-NVL72-M1 need networks", "ask us for a project",
           server="SRS-GB200-NVL72-M1", accelerator="GB200 (per GPU)", needed=288,
           loads=(serving("GB200 (per GPU)", 288, 72),), workload=serve(site=WET)),
    System("fabric_complete", "MIC-733-AO comes complete", "takes network cards", server="MIC-733-AO",
           accelerator="Jetson AGX Orin 64GB", needed=2,
           loads=(training("Jetson AGX Orin 64GB", 2, joined=1),), workload=train()),
    System("site_power", "8 × H200 SXM5 141GB with all around them may draw 10.5 kW; the site has 5 kW",
           "would fit with 10.5 kW in all, as in a colocation.",
           workload=serve(site=Site(power_available_kw=5))),
    System("site_power", "24 × H200 SXM5 141GB with all around them may draw 31.5 kW", "31.5 kW in all",
           needed=24, loads=(serving(H200, 24, 8),), workload=serve(site=Site(power_available_kw=12))),
    System("site_power", "10.5 kW; the site has 9 kW", "or capped at 77 %",
           workload=serve(site=Site(power_available_kw=9))),
    System("site_rack_power", "may draw 10.5 kW; the site allows 8 kW per rack", "needs 10.5 kW per rack",
           workload=serve(site=Site(rack_power_max_kw=8))),
    System("site_rack_power_other", "AI400X2 Turbo may draw 2.4 kW", "with 2.4 kW per rack", server="AS-1115CS-TNR",
           accelerator="L4", needed=1,
           workload=train(site=Site(rack_power_max_kw=1.9), data=DataNeeds(dataset_tb=10)),
           recipe=SystemRecipe(storage=("ai400x2-turbo", 1))),
    System("site_floor_other", "Object storage node 36x24TB weighs 98 kg; a rack may hold 22 kg", "colocation",
           server="AS-1115CS-TNR", accelerator="L4", needed=1,
           workload=serve(site=Site(floor_load_kg_m2=200), data=DataNeeds(dataset_tb=1000))),
    System("site_units", "takes 8 U; 6 U are free", "would fit with 8 free U",
         workload=serve(site=Site(rack_units_free=6))),
    System("site_liquid", "needs direct liquid cooling", "needs liquid cooling", **LIQUID),
    System("site_floor", "weighs 292 kg/m²; the floor carries 250", "a floor for 292 kg/m²",
           workload=serve(site=Site(floor_load_kg_m2=250))),
    System("site_feed", "a feed of 1 × 16 A carries 2.94 kW: it would need 6 pairs", "feeds of 1 × 32 A",
           workload=serve(site=Site(feed_amps=16, feed_phases=1, feeds_redundant=False))),
    System("site_cord", "may carry 15.2 A with one feed lost; a breaker trips at 10 A", "feeds of 1 × 16 A",
           workload=serve(site=Site(feed_amps=10, feed_phases=1))),
    System("site_air_most", "more than a rack cooled by air can lose", "liquid-cooled server",
           catalog=with_item("servers", named(HGX), planning_power_w=41_000), workload=serve(site=Site(feed_amps=63))),
    System("rack_none", "no rack with a price", catalog=changed(racks=())),
    System("rack_units", "8 U high; the rack has 4 U", "higher rack",
           catalog=changed(racks=(named("Server rack 48U 800x1200").model_copy(update={"rack_units": 6}),))),
    System("rack_depth", "843 mm deep; a rack of 900 mm", "deeper rack",
           catalog=changed(racks=(named("Server rack 48U 800x1200").model_copy(update={"depth_mm": 900}),))),
    System("rack_weight", "weighs 110 kg; the rack carries 100 kg", "stronger rack",
           catalog=changed(racks=(named("Server rack 48U 800x1200").model_copy(update={"load_max_kg": 100}),))),
    System("pdu_none", "No power strip carries a rack", "Enter such a strip", catalog=changed(pdus=()), **ALMOST),
    System("cooling_none", "no cooling for a rack of", "enter a larger unit", catalog=changed(cooling=()), **LIQUID,
           workload=serve(site=Site(cooling=WATER))),
    System("fabric_switch", "no switch with optics that joins 4 servers", "Enter such a switch",
           catalog=changed(switches=()), **ALMOST),
    System("fabric_wanted", "MI325X join over Ethernet; InfiniBand was asked for", "Allow Ethernet",
           server="AS-8126GS-TNMR", accelerator="Instinct MI325X", needed=16, loads=(training("Instinct MI325X", 16),),
           workload=train(site=Site(feed_amps=63), placement=Placement(cluster_network="infiniband"))),
    System("storage_none", "no storage for", "storage you have", **CLUSTER,
           workload=train(site=Site(feed_amps=63), data=DataNeeds(dataset_tb=100)),
           catalog=changed(storage_systems=())),
    System("storage_none", "no storage for 0 TB", **CLUSTER, workload=train(site=Site(feed_amps=63)),
           recipe=SystemRecipe(storage=("nothing", 1))),
]  # fmt: skip


@pytest.mark.parametrize("case", SYSTEMS, ids=lambda case: f"{case.rule}")
def test_a_system_that_breaks_a_limit_is_refused_with_what_would_admit_it(case: System) -> None:
    catalog = case.catalog or seed()
    answer = plan_system(
        named(case.accelerator),
        next(row for row in catalog.servers if row.sku == named(case.server).sku),
        Wish(case.needed, case.loads, case.workload, ASSUMPTIONS),
        parts_of(catalog),
        case.recipe,
    )
    assert isinstance(answer, Broken), answer
    refusal = answer.refusal("sku", "name")
    assert answer.rule == case.rule, str(refusal.reason)
    assert case.says in str(refusal.reason)
    assert case.then in str(refusal.change or "")
    if case.rule.startswith("site_") and case.rule != "site_air_most":
        assert isinstance(refusal, Refusal)
        assert refusal.stage == "site"


def test_the_good_recipes_break_nothing() -> None:
    """So that each case above fails for its own reason only."""
    for server, accelerator, count, parts in ((HGX, H200, 8, GOOD_HGX), (BOX, NVL, 4, GOOD_BOX)):
        brief = NodeBrief(
            named(server), named(accelerator), count, NodeDemand(), parts_of(seed()), ASSUMPTIONS
        )
        answer = plan_node(brief, recipe(parts))
        assert not isinstance(answer, Broken), answer


ROOT = Path(__file__).resolve().parents[2]


def rules_in_code() -> set[str]:
    """The first argument of everything that makes a broken rule."""
    makers = {"broken", "unpriced", "_wrong_bay"}
    found = set()
    for path in (ROOT / "quotes/sizing").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in makers and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    found.add(first.value)
    return found


def test_every_rule_is_tested_and_written_down() -> None:
    table = (ROOT / "docs/sizing/hardware.md").read_text().split("## Rules")[1]
    written = set(re.findall(r"`(\w+)`", table.split("## Known gaps")[0]))
    tested = {case.rule for case in (*NODES, *SYSTEMS)}
    assert rules_in_code() == tested
    assert rules_in_code() <= written
