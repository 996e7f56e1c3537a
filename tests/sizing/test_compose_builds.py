"""The twelve checked systems come out of composition: same lines, same watts, same price, or the difference named."""

from collections import Counter
from decimal import Decimal

import pytest

from configurator.workload import DataNeeds, Delivery, Site
from quotes.pricing.lines import price
from quotes.sizing.hardware.compose import SystemRecipe, build_system
from quotes.sizing.results import SystemBuild
from tests.sizing.builds import BOOT, CLUSTERS, MANAGEMENT, SINGLE, STORAGE, SUPPORT, Build
from tests.sizing.hardware import (
    ASSUMPTIONS,
    named,
    recipe,
    refused,
    seed,
    serve,
    serving,
    train,
    training,
)


def built(build: Build, parts: dict[str, int]):
    accelerator = named(build.accelerator) if build.accelerator else None
    cluster = build in CLUSTERS
    loads = ()
    if cluster:
        loads = (training(build.accelerator, build.nodes * 8),)
    elif "bridge" in " ".join(parts):
        loads = (serving(build.accelerator, build.count, build.count),)
    common = {
        "site": Site(feed_amps=63 if cluster else 32, cooling=frozenset(build.cooling)),
        "delivery": Delivery(installation=build.installation),
    }
    workload = train(data=DataNeeds(dataset_tb=1), **common) if cluster else serve(**common)
    return build_system(
        accelerator,
        named(build.server),
        build.nodes * build.count if cluster else max(build.count, 1),
        loads,
        workload,
        seed(),
        ASSUMPTIONS,
        SystemRecipe(
            node=recipe(parts) if parts else None,
            management=recipe(MANAGEMENT) if cluster else None,
            storage=(named(STORAGE).sku, 6 if build.nodes == 4 else 12) if cluster else None,
        ),
    )


def bill(system: SystemBuild) -> Counter[str]:
    found: Counter[str] = Counter()
    for line in system.lines:
        found[line.name] += line.quantity
    return found


def expected(build: Build, parts: dict[str, int]) -> Counter[str]:
    wanted = Counter({build.server: build.nodes, SUPPORT: 1})
    for name, number in parts.items():
        wanted[name] += number * build.nodes
    return wanted + Counter(build.lines)


AS_LISTED = [build for build in SINGLE if build.number != 3]


@pytest.mark.parametrize("build", AS_LISTED, ids=lambda build: f"{build.number}-{build.server}")
def test_single_systems_come_out_to_the_line_the_watt_and_the_euro(build: Build) -> None:
    system = built(build, build.parts)
    assert isinstance(system, SystemBuild)
    assert bill(system) == expected(build, build.parts)
    assert round(system.nodes * system.node.power.wall_w) == build.wall_w
    priced = price(system, seed(), Decimal(21))
    assert round(priced.totals.net) == build.total_eur
    support = next(line.net_eur for line in priced.lines if line.name == SUPPORT)
    assert round(priced.totals.net - support) == build.hardware_and_services_eur
    assert system.lead_time_weeks == build.weeks


def test_the_pump_of_a_liquid_rack_counts_in_the_power() -> None:
    """The list leaves it out: 1,200 W for the pump and 10 W for leak detection."""
    build = next(build for build in SINGLE if build.number == 8)
    system = built(build, build.parts)
    assert system.power.wall_w == pytest.approx(system.node.power.wall_w + 1210)


def test_two_boot_drives_do_not_fit_one_place() -> None:
    """The list puts two M.2 drives in a chassis with one place; mirrored in the bays it costs two small drives."""
    build = next(build for build in SINGLE if build.number == 3)
    refusal = refused(built(build, build.parts))
    assert "1 M.2 places; 2 boot drives" in str(refusal.reason)
    one = {**build.parts, BOOT: 1}
    system = built(build, one)
    assert bill(system) == expected(build, one)
    net = price(system, seed(), Decimal(21)).totals.net
    assert net == pytest.approx(Decimal("55938.52") - Decimal(190) * Decimal("1.06"), abs=Decimal("0.01"))
    assert system.node.power.wall_w == pytest.approx(build.wall_w - 8 * 1.10 / 0.95, abs=0.5)


# What the list has and composition has not, or the reverse; see docs/sizing/hardware.md.
DIFFERENT = {
    10: {"Power cord C13-C14 2m": 4, "RJ45 Cat6A 5m": 27 - 24},
    11: {"Power cord C13-C14 2m": 8, "RJ45 Cat6A 5m": 88 - 96},
}


@pytest.mark.parametrize("build", CLUSTERS, ids=lambda build: f"{build.number}-{build.server}")
def test_clusters_come_out_but_for_cords_and_patch_cables(build: Build) -> None:
    system = built(build, build.parts)
    assert isinstance(system, SystemBuild)
    found, wanted = bill(system), expected(build, build.parts)
    differences = {name: found[name] - wanted[name] for name in found | wanted if found[name] != wanted[name]}
    assert differences == DIFFERENT[build.number]
    extra = sum(seed().price_eur(named(name).sku) * number for name, number in differences.items())
    net = price(system, seed(), Decimal(21)).totals.net
    assert abs(net - extra * Decimal("1.06") - build.total_eur) < 1
    assert system.lead_time_weeks == build.weeks


@pytest.mark.parametrize("build", CLUSTERS, ids=lambda build: f"{build.number}-{build.server}")
def test_cluster_power_differs_by_what_the_list_leaves_out(build: Build) -> None:
    """Storage network cards 25 W, active cables 4.5 W at both ends, consoles 30 W, door fans 600 W, leak kits 10 W."""
    system = built(build, build.parts)
    found = bill(system)
    left_out = (
        25 * found[STORAGE]
        + 2 * 4.5 * found["MFS1S00-H010V 200G AOC 10m"]
        + 30 * found["KVM console 1U 17-inch with 8-port switch"]
        + 600 * found["Rear-door heat exchanger active 45 kW"]
        + 10 * found["Leak detection kit (per rack)"]
    )
    assert system.power.wall_w - left_out == pytest.approx(build.wall_w, abs=6)


@pytest.mark.parametrize("build", CLUSTERS, ids=lambda build: f"{build.number}-{build.server}")
def test_clusters_stand_as_listed(build: Build) -> None:
    """Two servers per rack; network, storage and management in racks of their own."""
    system = built(build, build.parts)
    gpu_racks = [rack for rack in system.racks if rack.items[0][2] == "node"]
    assert [sum(kind == "node" for _, _, kind in rack.items) for rack in gpu_racks] == [2] * (
        build.nodes // 2
    )
    assert len(system.racks) == build.lines["Server rack 48U 800x1200"]
    assert {rack.cooling for rack in gpu_racks} == {"rear_door" if "rear_door" in build.cooling else "air"}


PLANNING = [  # published planning figures: Cisco, Radian Arc, NVIDIA, Supermicro, Dell; read November 2026
    ("SYS-421GE-TNRT", "L40S", 8, 4_200),
    ("AS-5126GS-TNRT2", "RTX PRO 6000 Blackwell Server Edition", 8, 6_500),
    ("AS-8125GS-TNHR", "H100 SXM5 80GB", 8, 10_200),
    ("SYS-821GE-TNHR", "H200 SXM5 141GB", 8, 10_500),
    ("DGX H100 / H200", "H200 SXM5 141GB", 8, 10_200),
    ("SYS-822GS-NBRT", "B200 SXM 180GB", 8, 14_300),
    ("SYS-A21GE-NBRT", "B200 SXM 180GB", 8, 14_500),
    ("DGX B200", "B200 SXM 180GB", 8, 14_300),
    ("AS-8126GS-NB3RT", "B300 SXM 288GB", 8, 13_900),
    ("DGX B300", "B300 SXM 288GB", 8, 14_500),
    ("AS-8125GS-TNMR2", "Instinct MI300X", 8, 10_500),
    ("SRS-GB200-NVL72-M1", "GB200 (per GPU)", 72, 120_000),
    ("SRS-GB300-NVL72-M1", "GB300 (per GPU)", 72, 135_000),
]
ROOMY = Site(feed_amps=63, cooling=frozenset({"air", "liquid"}))


@pytest.mark.parametrize(("server", "accelerator", "count", "published_w"), PLANNING)
def test_power_per_node_is_within_five_per_cent_of_published_planning_figures(
    server: str, accelerator: str, count: int, published_w: float
) -> None:
    loads = (serving(accelerator, count),)
    system = build_system(
        named(accelerator), named(server), count, loads, serve(site=ROOMY), seed(), ASSUMPTIONS
    )
    assert isinstance(system, SystemBuild)
    assert system.power.provision_w == pytest.approx(published_w, rel=0.05)


@pytest.mark.parametrize(
    ("server", "accelerator", "published_w"),
    [
        ("SYS-421GE-TNRT", "L40S", 4_200),
        ("AS-5126GS-TNRT2", "RTX PRO 6000 Blackwell Server Edition", 6_529),
        ("ESC8000-E12P", "RTX PRO 6000 Blackwell Server Edition", 6_529),
    ],
)
def test_parts_alone_add_up_to_the_planning_figures_of_servers_with_cards(
    server: str, accelerator: str, published_w: float
) -> None:
    """Without a maker's figure to lean on: rated parts, fans and losses."""
    system = build_system(
        named(accelerator),
        named(server),
        8,
        (serving(accelerator, 8),),
        serve(site=ROOMY),
        seed(),
        ASSUMPTIONS,
    )
    assert isinstance(system, SystemBuild)
    assert system.node.power.wall_w == pytest.approx(published_w, rel=0.05)
