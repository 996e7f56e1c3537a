"""Assumptions about servers, power, cooling, fabric and storage."""

from typing import Any

from catalog.quantity import Frozen, noop
from quotes.sizing.assumptions.base import assume

GUIDE = noop("planning guide for AI servers, September 2026")
OWN = noop("own choice of the makers of this configurator")
BUILDS = noop("practice in the twelve checked complete systems of the seed catalog")
REFERENCE = noop("vendors' reference architectures for clusters")


def _count(default: float, low: float, high: float, label: str, source: str, unit: str = "") -> Any:
    return assume(default, unit=unit, low=low, high=high, label=label, source=source)


class HardwareAssumptions(Frozen):
    # ── power ──
    psu_efficiency_fraction: float = assume(
        0.95,
        unit="",
        low=0.85,
        high=0.98,
        label=noop("Efficiency of the power supplies"),
        source=noop("80 PLUS Titanium class"),
    )
    load_factor_fraction: float = assume(
        0.75,
        unit="",
        low=0.3,
        high=1,
        label=noop("Power while the system works, as a share of the calculated maximum"),
        source=noop("coincidence factor 0.7–0.8 of a planning guide of September 2026"),
        group="use",
    )
    idle_power_fraction: float = assume(
        0.35,
        unit="",
        low=0.1,
        high=0.75,
        label=noop("Power while the system waits, as a share of the calculated maximum"),
        source=noop(
            "an idle H100 with a model loaded draws 124 of 700 W; processors, memory and fans sink less (own estimate)"
        ),
        group="use",
    )
    part_power_unknown_w: float = _count(
        25,
        5,
        150,
        noop("Power of a network card or drive whose figure is unknown"),
        noop("upper end of the drives and network cards in the seed catalog"),
        "W",
    )
    dimm_power_w: float = _count(
        10, 4, 16, noop("Power of a memory module whose figure is unknown"), BUILDS, "W"
    )
    card_weight_kg: float = _count(
        1.5,
        0.5,
        2.5,
        noop("Weight of an accelerator card, which the makers of servers for cards leave out"),
        noop("product brief of the H100 card: 1.2 kg without its bracket"),
        "kg",
    )
    power_cap_lowest_fraction: float = _count(
        0.6, 0.4, 1, noop("Lowest power cap that is still worth proposing"), OWN
    )
    accelerator_idle_fraction: float = _count(
        0.2,
        0.05,
        0.35,
        noop("Power of an idle accelerator as a share of its rated power, which buys no speed under a cap"),
        noop(
            "an idle H100 card measured at 80 of 350 W; decoding measured at 137-300 of 700 W on H200, so that no cap"
            " slows it (arXiv 2605.11999)"
        ),
    )
    # ── the host around the accelerators ──
    cpu_cores_per_gpu_count: float = _count(
        6,
        1,
        64,
        noop("CPU cores per accelerator, when the load does not say"),
        noop("rule of thumb 28–44 cores per server of eight (language, vision), plus room"),
        "cores",
    )
    cpu_cores_base_count: float = _count(
        8, 0, 64, noop("CPU cores kept for the operating system and services"), OWN, "cores"
    )
    ram_training_factor: float = _count(
        2,
        1,
        4,
        noop("Host memory as a multiple of accelerator memory for training, when the load does not say"),
        noop("common rule of system builders; published training hosts carry 1.4–2.8 times"),
    )
    ram_serving_factor: float = _count(
        1,
        0.25,
        4,
        noop("Host memory as a multiple of accelerator memory for serving, when the load does not say"),
        noop("rule of thumb: at least the accelerator memory"),
    )
    ram_floor_factor: float = _count(
        0.5,
        0,
        2,
        noop("Least host memory as a multiple of accelerator memory, when the load says what it needs"),
        OWN,
    )
    boot_drive_gb: float = _count(960, 240, 4000, noop("Least size of a boot drive"), BUILDS, "GB")
    nvme_drives_least_count: float = _count(2, 1, 8, noop("Least number of data drives in a server"), OWN)
    nvme_tb_per_gpu: float = _count(
        1, 0, 32, noop("Least local drive capacity per accelerator, for models and caches"), OWN, "TB"
    )
    local_usable_fraction: float = _count(
        0.75,
        0.5,
        1,
        noop("Usable share of four or more local drives that hold the only copy of data (parity)"),
        GUIDE,
    )
    front_gbit_s_per_gpu: float = _count(
        8,
        1,
        100,
        noop("Ordinary network bandwidth per accelerator"),
        noop("at least 1 GB/s read per accelerator (storage vendors' guideline)"),
        "Gbit/s",
    )
    # ── clusters ──
    fabric_gbit_s_per_gpu: float = _count(
        400,
        100,
        800,
        noop("Cluster network port on the board, when its speed is unknown"),
        REFERENCE,
        "Gbit/s",
    )
    cluster_blocking_factor: float = _count(
        1,
        1,
        4,
        noop("Cluster network: links to servers for each link between switches"),
        noop("vendors' reference architectures for training: 1, which never blocks"),
    )
    fabric_manager_leaves_count: float = _count(
        8,
        1,
        64,
        noop("Leaf switches from which fabric managers take ports of their own"),
        noop("below one leaf per rail a switch runs the subnet manager itself"),
    )
    fabric_manager_ports_count: float = _count(
        4, 0, 16, noop("Ports that the fabric managers take"), REFERENCE
    )
    cluster_nodes_count: float = _count(
        4, 2, 16, noop("Servers from which a system gets management servers"), BUILDS, "servers"
    )
    management_servers_count: float = _count(
        2, 0, 8, noop("Management servers of a small cluster"), BUILDS, "servers"
    )
    management_servers_medium_count: float = _count(
        4, 1, 12, noop("Management servers from eight servers"), BUILDS, "servers"
    )
    management_servers_large_count: float = _count(
        5, 1, 20, noop("Management servers from sixty-four servers"), REFERENCE, "servers"
    )
    management_cores_count: float = _count(
        32, 8, 192, noop("CPU cores of a management server"), BUILDS, "cores"
    )
    management_ram_gb: float = _count(384, 64, 3072, noop("Memory of a management server"), BUILDS, "GB")
    management_drive_tb: float = _count(7.6, 1, 60, noop("Drives of a management server"), BUILDS, "TB")
    cluster_front_gbit_s: float = _count(
        100, 10, 400, noop("Least port speed to shared storage in a cluster"), OWN, "Gbit/s"
    )
    network_spare_fraction: float = _count(
        0.1, 0, 0.5, noop("Ports kept free on in-band and management switches"), OWN
    )
    in_band_blocking_factor: float = _count(
        4,
        1,
        8,
        noop(
            "Data network of several pairs of switches: bandwidth to servers over bandwidth between switches"
        ),
        noop("vendors' reference architectures: up to 4 to 1 outside the cluster network"),
    )
    project_days_base_count: float = _count(
        4, 0, 40, noop("Project days for a cluster, fixed part"), BUILDS, "days"
    )
    project_days_per_node: float = _count(
        1, 0, 5, noop("Project days for a cluster, per server"), BUILDS, "days"
    )
    training_days_base_count: float = _count(
        2, 0, 20, noop("Training days for administrators of a cluster, fixed part"), BUILDS, "days"
    )
    training_day_per_nodes_count: float = _count(
        16, 1, 200, noop("Servers per further training day"), BUILDS, "servers"
    )
    edge_boxes_per_day_count: float = _count(
        4, 1, 20, noop("Edge boxes that one engineer installs in a day"), BUILDS
    )
    # ── storage ──
    checkpoints_kept_count: float = _count(3, 1, 100, noop("Checkpoints kept on storage"), OWN)
    storage_fill_fraction: float = _count(
        0.85, 0.5, 1, noop("How full storage may become"), noop("common guidance of file-system vendors")
    )
    storage_snapshot_fraction: float = _count(
        0.05,
        0,
        0.4,
        noop("Share of storage kept for snapshots"),
        noop("default of ONTAP volumes; up to 20 % where data changes often"),
    )
    storage_read_gb_s_per_gpu: float = _count(
        1,
        0.05,
        25,
        noop("Least read bandwidth of shared storage per training accelerator"),
        noop("storage vendors' guideline"),
        "GB/s",
    )
    # ── racks, feeds, cooling ──
    feed_volts: float = _count(230, 200, 240, noop("Voltage of one phase"), noop("European low voltage"), "V")
    feed_load_fraction: float = _count(
        0.8, 0.5, 1, noop("Continuous load of a feed as a share of its breaker"), noop("80 % rule")
    )
    feed_pairs_most_count: float = _count(
        4, 1, 8, noop("Feed pairs that one server or rack may need at most"), OWN
    )
    rack_units_wanted_count: float = _count(48, 12, 52, noop("Height of a new rack"), BUILDS, "U")
    rack_width_wanted_mm: float = _count(800, 600, 1000, noop("Width of a new rack"), BUILDS, "mm")
    rack_units_spare_count: float = _count(
        2, 0, 10, noop("Rack units kept free for cables and air"), OWN, "U"
    )
    rack_depth_spare_mm: float = _count(
        100, 0, 300, noop("Depth behind a server kept free for cables"), OWN, "mm"
    )
    rack_air_kw: float = _count(
        25,
        5,
        40,
        noop("Power per rack up to which room air is used"),
        noop("practical air limit 20–30 kW per rack in published sources"),
        "kW",
    )
    rack_rear_door_kw: float = _count(
        40,
        15,
        60,
        noop("Power per rack up to which a rear-door heat exchanger is used"),
        noop("midpoint between upgraded air and direct liquid cooling; doors carry 20–50 kW"),
        "kW",
    )
    air_rise_k: float = _count(
        15,
        8,
        25,
        noop("How much warmer the air leaves a server than it enters"),
        noop("own planning value; makers of AI servers design for 10–20 K"),
        "K",
    )
    water_rise_k: float = _count(
        10,
        4,
        20,
        noop("How much warmer cooling water returns than it arrives"),
        noop("own planning value; loops for AI racks run at 6–15 K"),
        "K",
    )
    rack_liquid_kw: float = _count(
        120,
        40,
        250,
        noop("Power per rack up to which direct liquid cooling is used"),
        noop("reference rack of eight liquid-cooled servers: 115 kW"),
        "kW",
    )
