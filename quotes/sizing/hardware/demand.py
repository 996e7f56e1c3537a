"""What the loads ask of each server, in numbers, and the form in which its parts are written down."""

from collections.abc import Iterable
from math import ceil, inf
from typing import NamedTuple

from catalog.specs import AcceleratorSpec, DriveSpec, ServerSpec
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.hardware.packing import pack, pieces_of
from quotes.sizing.hardware.parts import Parts
from quotes.sizing.results import LoadOption

TB = 1000  # gigabytes
MANY_DRIVES = 4  # from here on parity leaves the assumed share
FEW_DRIVES = {1: 0.0, 2: 1 / 2, 3: 2 / 3}
"""Share of equal drives that is left when any one of them may fail: none, a mirror, parity over three."""


class NodeDemand(NamedTuple):
    """What the loads together ask of each server. Without accelerators, 'per accelerator' means per server."""

    training: bool = False
    cores_per_gpu: float = 0
    ram_gb_per_gpu: float = 0  # 0: the loads do not say
    nvme_tb: float = 0  # raw, for models and caches
    kept_tb: float = 0  # data that must outlive a drive, with room to breathe
    kept_fraction: float = 1  # share of four drives or more that is left for it
    nvme_write_tb_per_day: float = 0
    nvme_read_gb_s: float = 0  # from the server's own drives
    fabric_gbit_s: float = 0  # per accelerator, 0: no cluster network
    joined: int = 1  # accelerators that one replica or job joins inside a server
    read_gb_s: float = 0  # over the ordinary network
    front_gbit_s: float = 0  # least speed of an ordinary network port

    def raw_tb(self, drives: int) -> float:
        """What `drives` equal drives must hold together; infinite when so few cannot outlive a failure."""
        if not self.kept_tb:
            return self.nvme_tb
        share = min(self.kept_fraction, FEW_DRIVES.get(drives, 1))
        return self.nvme_tb + self.kept_tb / share if share else inf


class NodeBrief(NamedTuple):
    """One server to be filled: the chassis, what goes into it, what its loads ask, and where the parts come from."""

    server: ServerSpec
    accelerator: AcceleratorSpec | None
    gpus: int
    demand: NodeDemand
    parts: Parts
    assumptions: Assumptions

    @property
    def cores_needed(self) -> float:
        per_gpu = self.demand.cores_per_gpu or self.assumptions.cpu_cores_per_gpu_count
        return per_gpu * max(self.gpus, 1) + self.assumptions.cpu_cores_base_count

    @property
    def ram_needed_gb(self) -> float:
        return ram_needed_gb(self.accelerator, self.gpus, self.demand, self.assumptions)

    @property
    def front_gbit_s(self) -> float:
        """Ordinary network bandwidth, for data and users."""
        per_gpu = self.assumptions.front_gbit_s_per_gpu
        return max(max(self.gpus, 1) * per_gpu, self.demand.read_gb_s * 8)

    @property
    def fabric_onboard(self) -> int:
        """Cluster-network ports that the chassis or the accelerator board brings along."""
        board = self.parts.board_for(self.accelerator) if self.accelerator else None
        return max(self.server.onboard_fabric_count, board.fabric_nic_count if board else 0)

    @property
    def roomy(self) -> NodeDemand:
        """Every server keeps models and caches, whether its loads mention them or not."""
        least = max(self.gpus, 1) * self.assumptions.nvme_tb_per_gpu
        demand = self.demand
        kept_tb = demand.raw_tb(MANY_DRIVES) - demand.nvme_tb
        return demand if demand.nvme_tb + kept_tb >= least else demand._replace(nvme_tb=least - kept_tb)


class NodeRecipe(NamedTuple):
    """Parts of one server by SKU and count, chosen by hand or by `recipe.choose_recipe`; cheap, for searches."""

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
    """Loads sit beside each other on one server: cores and memory per accelerator by the greediest, disk by the sum.

    Loads that share an accelerator ask for theirs together."""
    loads = tuple(loads)
    hosts = [
        (load.host.cpu_cores_per_gpu, load.host.ram_gb_per_gpu) for load in loads if load.portion is None
    ]
    by_name = {load.load: load.host for load in loads}
    for held in pack(pieces_of(loads)):
        together = [by_name[piece.load] for piece in held]
        hosts.append(
            (
                sum(host.cpu_cores_per_gpu for host in together),
                sum(host.ram_gb_per_gpu for host in together),
            )
        )
    return NodeDemand(
        training=any(load.kind.endswith("training") for load in loads),
        cores_per_gpu=max((cores for cores, _ in hosts), default=0),
        ram_gb_per_gpu=max((ram for _, ram in hosts), default=0),
        nvme_tb=sum(load.host.nvme_tb_per_node for load in loads),
        nvme_write_tb_per_day=sum(load.host.nvme_write_tb_per_day for load in loads),
        joined=max((load.gpus_in_one_node for load in loads), default=1),
    )


# ── how much ────────────────────────────────────────────────────────────────────────────────────────────────────


def ram_floor_gb(accelerator: AcceleratorSpec, assumptions: Assumptions) -> float:
    """The least host memory per accelerator, whatever its loads ask."""
    return accelerator.memory_gb_label * assumptions.ram_floor_factor


def ram_needed_gb(
    accelerator: AcceleratorSpec | None, count: int, demand: NodeDemand, assumptions: Assumptions
) -> float:
    """What the load says, but never less than a floor; a multiple of the accelerators' memory when it says nothing."""
    if demand.ram_gb_per_gpu:
        floor = ram_floor_gb(accelerator, assumptions) * count if accelerator else 0
        return max(demand.ram_gb_per_gpu * max(count, 1), floor)
    factor = assumptions.ram_training_factor if demand.training else assumptions.ram_serving_factor
    return accelerator.memory_gb_label * count * factor if accelerator else 0


def drives_needed(drive: DriveSpec, demand: NodeDemand, least: int) -> int:
    """By capacity, by read bandwidth and by endurance: no more is written a day than the drives are warranted for."""
    number = max(ceil(demand.raw_tb(MANY_DRIVES) * TB / drive.capacity_gb - 1e-9), least)
    while number < MANY_DRIVES and number * drive.capacity_gb < demand.raw_tb(number) * TB - 1e-6:
        number += 1
    if demand.nvme_write_tb_per_day and drive.dwpd:
        number = max(number, ceil(demand.nvme_write_tb_per_day * TB / drive.capacity_gb / drive.dwpd - 1e-9))
    if demand.nvme_read_gb_s and drive.read_gb_s:
        number = max(number, ceil(demand.nvme_read_gb_s / drive.read_gb_s - 1e-9))
    return number
