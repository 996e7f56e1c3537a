"""What goes into one server beside the accelerators: what the loads ask, and the cheapest parts that give it."""

from collections.abc import Iterable, Sequence
from math import ceil
from typing import NamedTuple

from catalog.quantity import noop
from catalog.specs import AcceleratorSpec, CpuSpec, DriveSpec, FormFactor, NicSpec, ServerRole, ServerSpec
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.bill import Broken, broken
from quotes.sizing.parts import MemoryChoice, Parts, onboard_gbit_s, takes_aiom
from quotes.sizing.results import LoadOption

TB = 1000  # gigabytes


class NodeDemand(NamedTuple):
    """What the loads together ask of each server. Without accelerators, 'per accelerator' means per server."""

    training: bool = False
    cores_per_gpu: float = 0
    ram_gb_per_gpu: float = 0  # 0: the loads do not say
    nvme_tb: float = 0
    nvme_write_tb_per_day: float = 0
    fabric_gbit_s: float = 0  # per accelerator, 0: no cluster network
    joined: int = 1  # accelerators that one replica or job joins inside a server
    read_gb_s: float = 0  # over the ordinary network
    front_gbit_s: float = 0  # least speed of an ordinary network port


class NodeRecipe(NamedTuple):
    """Parts of one server by SKU and count, chosen by hand or by `choose_recipe`. A tuple: searches make thousands."""

    cpu: str = ""
    cpus: int = 0
    memory: str = ""
    modules: int = 0
    boot: str = ""
    boot_drives: int = 0
    drive: str = ""
    drives: int = 0
    fabric_nic: str = ""
    fabric_nics: int = 0
    nics: tuple[tuple[str, int], ...] = ()
    bridge: str = ""
    bridges: int = 0


def demand_of(loads: Iterable[LoadOption]) -> NodeDemand:
    """Loads sit beside each other on one server: cores and memory per accelerator by the greediest, disk by the sum."""
    loads = tuple(loads)
    return NodeDemand(
        training=any(load.kind.endswith("training") for load in loads),
        cores_per_gpu=max((load.host.cpu_cores_per_gpu for load in loads), default=0),
        ram_gb_per_gpu=max((load.host.ram_gb_per_gpu for load in loads), default=0),
        nvme_tb=sum(load.host.nvme_tb_per_node for load in loads),
        nvme_write_tb_per_day=sum(load.host.nvme_write_tb_per_day for load in loads),
        joined=max((load.gpus_in_one_node for load in loads), default=1),
    )


# ── how much ────────────────────────────────────────────────────────────────────────────────────────────────────


def cores_needed(count: int, demand: NodeDemand, assumptions: Assumptions) -> float:
    per_gpu = demand.cores_per_gpu or assumptions.cpu_cores_per_gpu_count
    return per_gpu * max(count, 1) + assumptions.cpu_cores_base_count


def ram_needed_gb(
    accelerator: AcceleratorSpec | None, count: int, demand: NodeDemand, assumptions: Assumptions
) -> float:
    """What the load says, but never less than a floor; a multiple of the accelerators' memory when it says nothing."""
    gpu_gb = accelerator.memory_gb_label * count if accelerator else 0
    if demand.ram_gb_per_gpu:
        return max(demand.ram_gb_per_gpu * max(count, 1), gpu_gb * assumptions.ram_floor_factor)
    factor = assumptions.ram_training_factor if demand.training else assumptions.ram_serving_factor
    return gpu_gb * factor


def front_gbit_s(count: int, demand: NodeDemand, assumptions: Assumptions) -> float:
    """Ordinary network bandwidth of one server, for data and users."""
    return max(max(count, 1) * assumptions.front_gbit_s_per_gpu, demand.read_gb_s * 8)


def fabric_onboard(server: ServerSpec, accelerator: AcceleratorSpec | None, parts: Parts) -> int:
    """Cluster-network ports that the chassis or the accelerator board brings along."""
    board = parts.board_for(accelerator) if accelerator else None
    return max(server.onboard_fabric_count, board.fabric_nic_count if board else 0)


# ── which ───────────────────────────────────────────────────────────────────────────────────────────────────────


def choose_recipe(
    server: ServerSpec,
    accelerator: AcceleratorSpec | None,
    count: int,
    demand: NodeDemand,
    parts: Parts,
    assumptions: Assumptions,
    *,
    frugal: bool = False,
) -> NodeRecipe | Broken:
    """The cheapest parts that meet the demand; `frugal`: the CPU that draws least instead."""
    cpu = _choose_cpu(server, count, demand, parts, assumptions, frugal)
    if isinstance(cpu, Broken):
        return cpu
    memory = _choose_memory(server, cpu, ram_needed_gb(accelerator, count, demand, assumptions), parts)
    if isinstance(memory, Broken):
        return memory
    boot, boot_drives = _choose_boot(server, parts, assumptions)
    bays = (server.nvme_bays or 0) - (boot_drives if boot and boot.kind != "boot" else 0)
    drive = choose_drives(server, roomy(demand, count, assumptions), bays, parts, assumptions)
    if isinstance(drive, Broken):
        drive = choose_drives(server, demand, bays, parts, assumptions)
    if isinstance(drive, Broken):
        return drive
    nics = _choose_nics(server, accelerator, count, demand, parts, assumptions)
    if isinstance(nics, Broken):
        return nics
    fabric, fabric_nics, front = nics
    bridge = _choose_bridge(accelerator, count, demand, parts)
    return NodeRecipe(
        cpu=cpu.sku,
        cpus=server.cpu_sockets,
        memory=memory.spec.sku,
        modules=memory.modules,
        boot=boot.sku if boot else "",
        boot_drives=boot_drives,
        drive=drive[0].sku if drive else "",
        drives=drive[1] if drive else 0,
        fabric_nic=fabric.sku if fabric else "",
        fabric_nics=fabric_nics,
        nics=front,
        bridge=bridge[0] if bridge else "",
        bridges=bridge[1] if bridge else 0,
    )


def _choose_cpu(
    server: ServerSpec, count: int, demand: NodeDemand, parts: Parts, assumptions: Assumptions, frugal: bool
) -> CpuSpec | Broken:
    needed = cores_needed(count, demand, assumptions) / max(server.cpu_sockets, 1)
    fitting = parts.cpus_for(server)
    enough = (cpu for cpu in fitting if cpu.cores >= needed)
    chosen = min(enough, key=lambda cpu: cpu.power_w or 0, default=None) if frugal else next(enough, None)
    if chosen:
        return chosen
    if not fitting:
        return broken(
            "cpu_none",
            noop("The catalog has no priced CPU that {server} takes."),
            noop("Add a CPU of this socket and generation with its price to the catalog."),
            server=server.name,
        )
    most = max(fitting, key=lambda cpu: cpu.cores)
    return broken(
        "cpu_cores",
        noop("{count} accelerators in {server} ask for {needed} CPU cores; at most {most} fit."),
        noop("Put fewer accelerators in one server."),
        count=count,
        server=server.name,
        needed=ceil(needed * server.cpu_sockets),
        most=most.cores * server.cpu_sockets,
    )


def _choose_memory(server: ServerSpec, cpu: CpuSpec, needed_gb: float, parts: Parts) -> MemoryChoice | Broken:
    choices = parts.memory_for(server, cpu)
    chosen = next((choice for choice in choices if choice.gb >= needed_gb), None)
    return chosen or broken(
        "memory_most",
        noop("{server} holds at most {most} GB of memory in an even filling; {needed} GB is needed."),
        noop("Put fewer accelerators in one server, or choose a load that needs less host memory."),
        server=server.name,
        most=max((choice.gb for choice in choices), default=0),
        needed=ceil(needed_gb),
    )


def _choose_boot(server: ServerSpec, parts: Parts, assumptions: Assumptions) -> tuple[DriveSpec | None, int]:
    """A mirrored pair: on M.2 places where there are two, else in two data bays."""
    if (server.boot_m2_count or 0) >= 2:
        return parts.boot_drive(assumptions.boot_drive_gb), 2
    in_bays = [drive for drive in parts.drives_for(server) if drive.capacity_gb >= assumptions.boot_drive_gb]
    if (server.nvme_bays or 0) > 2 and in_bays:
        return in_bays[0], 2
    return parts.boot_drive(assumptions.boot_drive_gb), min(server.boot_m2_count or 0, 1)


def roomy(demand: NodeDemand, count: int, assumptions: Assumptions) -> NodeDemand:
    """Every server keeps models and caches, whether its loads mention them or not."""
    least = max(count, 1) * assumptions.nvme_tb_per_gpu
    return demand if demand.nvme_tb >= least else demand._replace(nvme_tb=least)


def drives_needed(capacity_gb: float, dwpd: float | None, demand: NodeDemand, least: int) -> int:
    """By capacity and by endurance: what is written a day may not exceed what the drives are warranted for."""
    number = max(ceil(demand.nvme_tb * TB / capacity_gb - 1e-9), least)
    if demand.nvme_write_tb_per_day and dwpd:
        number = max(number, ceil(demand.nvme_write_tb_per_day * TB / capacity_gb / dwpd - 1e-9))
    return number


def choose_drives(
    server: ServerSpec, demand: NodeDemand, bays: int, parts: Parts, assumptions: Assumptions
) -> tuple[DriveSpec, int] | Broken | None:
    """The cheapest set of equal drives; None when nothing is asked and the server has no bays."""
    least = min(int(assumptions.nvme_drives_least_count), bays)
    best: tuple[float, DriveSpec, int] | None = None
    largest_gb = 0.0
    for drive, capacity_gb, dwpd, eur in parts.drive_table(server):
        if dwpd is None and demand.nvme_write_tb_per_day:
            continue
        largest_gb = max(largest_gb, capacity_gb)
        number = drives_needed(capacity_gb, dwpd, demand, least)
        if 0 < number <= bays and (best is None or eur * number < best[0]):
            best = (eur * number, drive, number)
    if best:
        return best[1], best[2]
    if not demand.nvme_tb and not demand.nvme_write_tb_per_day:
        return None
    return broken(
        "drive_capacity",
        noop(
            "{server} has {bays} bays for at most {most} TB; {needed} TB, written {daily} TB a day, is needed."
        ),
        noop("Keep the data on shared storage instead of in the server."),
        server=server.name,
        bays=bays,
        most=round(largest_gb * bays / TB),
        needed=ceil(demand.nvme_tb),
        daily=ceil(demand.nvme_write_tb_per_day),
    )


def _choose_bridge(
    accelerator: AcceleratorSpec | None, count: int, demand: NodeDemand, parts: Parts
) -> tuple[str, int] | None:
    if not accelerator or accelerator.link_kind != "bridge" or demand.joined < 2:
        return None
    bridge = parts.bridge_for(accelerator, count)
    return (bridge.sku, count // bridge.count) if bridge else None


# ── network cards ───────────────────────────────────────────────────────────────────────────────────────────────


def runs_infiniband(accelerator: AcceleratorSpec | None) -> bool:
    """NVIDIA clusters get InfiniBand, all others Ethernet with RDMA."""
    return accelerator is not None and "cuda" in accelerator.software_stack


def _choose_nics(
    server: ServerSpec,
    accelerator: AcceleratorSpec | None,
    count: int,
    demand: NodeDemand,
    parts: Parts,
    assumptions: Assumptions,
) -> tuple[NicSpec | None, int, tuple[tuple[str, int], ...]] | Broken:
    """Fabric card and count, and the cards for everything else."""
    fabric, cards = None, 0
    if demand.fabric_gbit_s and fabric_onboard(server, accelerator, parts) < count:
        fabric = _fabric_nic(accelerator, demand.fabric_gbit_s, parts)
        if fabric is None:
            return broken(
                "fabric_nic_none",
                noop("The catalog has no cluster network card of {speed} Gbit/s for this accelerator."),
                speed=round(demand.fabric_gbit_s),
            )
        cards = count
    front = _front_nic(server, accelerator, count, demand, parts, assumptions)
    if isinstance(front, Broken):
        return front
    return fabric, cards, front


def _fabric_nic(accelerator: AcceleratorSpec | None, gbit_s: float, parts: Parts) -> NicSpec | None:
    infiniband = runs_infiniband(accelerator)
    return next(
        (
            nic
            for nic in parts.nics
            if nic.kind == "nic"
            and nic.ports == 1
            and nic.port_gbit_s >= gbit_s
            and nic.infiniband == infiniband
        ),
        None,
    )


def _front_nic(
    server: ServerSpec,
    accelerator: AcceleratorSpec | None,
    count: int,
    demand: NodeDemand,
    parts: Parts,
    assumptions: Assumptions,
) -> tuple[tuple[str, int], ...] | Broken:
    """Two ports for data and users. A DPU beside NVIDIA boards, the ports on the board where they suffice."""
    needed = front_gbit_s(count, demand, assumptions)
    on_board = accelerator is not None and accelerator.form_factor in {FormFactor.SXM, FormFactor.OAM}
    if not on_board and not demand.front_gbit_s and onboard_gbit_s(server) >= max(needed, 10):
        return ()
    with_dpu = on_board and runs_infiniband(accelerator)
    port_least = demand.front_gbit_s
    if with_dpu:
        port_least = max(port_least, 400 if fabric_onboard(server, accelerator, parts) else 200)
    wanted: Sequence[NicSpec] = [
        nic
        for nic in parts.nics
        if nic.ports >= 2
        and nic.port_gbit_s >= port_least
        and nic.ports * nic.port_gbit_s >= needed
        and (nic.kind == "dpu") == with_dpu
        and (nic.kind != "aiom" or takes_aiom(server))
        and nic.connector != "RJ45"
    ]
    if not wanted:
        return broken(
            "front_nic_none",
            noop("The catalog has no network card that gives {server} {needed} Gbit/s for data and users."),
            server=server.name,
            needed=ceil(needed),
        )
    if takes_aiom(server):  # a place of its own, so the slots stay free
        wanted = [nic for nic in wanted if nic.kind == "aiom"] or wanted
    return ((wanted[0].sku, 1),)


def has_role(server: ServerSpec, *roles: ServerRole) -> bool:
    return any(role in server.roles for role in roles)
