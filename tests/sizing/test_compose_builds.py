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


@pytest.mark.parametrize(
    ("server", "published_w"),
    [
        ("SYS-821GE-TNHR", 10_500),
        ("SYS-A21GE-NBRT", 14_500),
        ("SYS-822GS-NBRT", 14_300),
        ("DGX B200", 14_300),
    ],
)
def test_provisioned_power_is_never_below_the_published_planning_figure(
    server: str, published_w: float
) -> None:
    chassis = named(server)
    accelerator = next(a for a in seed().accelerators if a.sku in chassis.accelerators and a.power_w)
    workload = serve()
    system = build_system(accelerator, chassis, 8, (), workload, seed(), ASSUMPTIONS)
    assert isinstance(system, SystemBuild)
    assert system.power.provision_w == pytest.approx(published_w, rel=0.05)
