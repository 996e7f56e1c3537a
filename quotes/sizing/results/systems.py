"""One server and one system: what is ordered, what it draws, where it stands and what runs on it."""

from decimal import Decimal
from enum import StrEnum
from typing import Literal

from pydantic import Field

from catalog.quantity import ArticleName, Frozen, Message
from quotes.sizing.results.loads import Portion
from quotes.sizing.trace import Figure, Finding


class LineRole(StrEnum):
    SERVER = "server"
    ACCELERATOR = "accelerator"
    CPU = "cpu"
    MEMORY = "memory"
    DRIVE = "drive"
    NIC = "nic"
    NETWORK = "network"
    STORAGE = "storage"
    MANAGEMENT = "management"
    RACK = "rack"
    POWER = "power"
    COOLING = "cooling"
    SERVICE = "service"
    LICENCE = "licence"


class BillLine(Frozen):
    """A catalog article and how many of it, with the rule that put it there."""

    sku: str
    name: str
    quantity: int = Field(ge=1)
    role: LineRole
    group: str = "system"  # "node", "management", "storage", "fabric", "racks", "services"
    reason: Message
    pct_of_hardware: Decimal | None = None


class Power(Frozen):
    """Watts. `wall_w` is the maximum at the wall, supply losses included; `expected_w` at the usual load."""

    dc_w: float
    wall_w: float
    expected_w: float
    surviving_psu_w: float | None = None
    planning_w: float | None = None  # the vendor's planning figure; feeds are sized on the higher one
    estimated: bool = False  # a planning estimate is inside

    @property
    def provision_w(self) -> float:
        return max(self.wall_w, self.planning_w or 0)

    @property
    def heat_btu_h(self) -> float:
        return self.wall_w * 3.412


class NodeBuild(Frozen):
    """One composed server: bill per node, watts, size."""

    server: str  # SKU
    accelerator: str | None
    accelerators: int
    lines: tuple[BillLine, ...]  # quantities per node
    power: Power
    rack_units: float | None
    weight_kg: float | None
    cooling: Literal["air", "liquid"]
    list_price_eur: Decimal  # hardware of one node
    lead_time_weeks: int | None = None
    lead_time_line: str = ""
    findings: tuple[Finding, ...] = ()


class RackPlacement(Frozen):
    """What stands in one rack, from the bottom up: (label, rack units, kind). None is not known."""

    units_total: int
    items: tuple[tuple[str, float, str], ...]
    power_w: float  # what its feeds must carry
    weight_kg: float | None
    floor_kg_m2: float | None
    cooling: Literal["air", "rear_door", "liquid"]
    wall_w: float | None = None  # the calculated maximum
    expected_w: float | None = None
    feeds: int | None = None  # A and B together
    amps_per_phase: float | None = None  # of the busiest phase, the other feeds lost
    c13: int | None = None  # outlets on each of the two sides
    c19: int | None = None
    airflow_m3_h: float | None = None
    water_l_min: float | None = None  # of the building, when a door or loop takes all heat
    own: bool = (
        False  # a rack that is there: its weight is not in `weight_kg`, and `floor_kg_m2` counts it as empty
    )
    weight_least_kg: float | None = None  # without the parts whose weight is not known
    floor_least_kg_m2: float | None = None

    @property
    def units_used(self) -> float:
        return sum(units for _label, units, _kind in self.items)


class RoomNeeds(Frozen):
    """What the room must give in all. None is not known, or does not apply where `standing` says so."""

    standing: Literal["racks", "desk", "edge", "whole_racks"] | None = None
    own_racks: bool | None = None  # the customer's racks: none is ordered
    volts: float | None = None  # of one phase
    phases: int | None = None
    breaker_a: float | None = None
    redundant: bool = True
    feeds: int = 0
    rack_units: float | None = None
    rack_height_units: int | None = None  # of racks that are ordered
    weight_kg: float | None = None  # racks that are ordered included
    weight_least_kg: float | None = None  # without the parts whose weight is not known
    heaviest_kg: float | None = None  # the heaviest piece to carry in
    deepest_mm: float | None = None
    inlet: str = ""
    airflow_m3_h: float | None = None
    water_l_min: float | None = None
    noise: Literal["quiet", "closed_room"] | None = None
    data_ports: int | None = None  # for data and users, in switches of the customer
    data_port_gbit_s: float | None = None
    data_plug: str = ""
    management_ports: int | None = None
    one_feed_carries: bool | None = (
        None  # whether the supplies on one of two feeds carry the most a server may draw
    )


class FabricPlan(Frozen):
    leaves: int = 0
    spines: int = 0
    cores: int = 0
    node_links: int = 0
    leaf_spine_links: int = 0
    spine_core_links: int = 0
    link_gbit_s: float = 0
    blocking_ratio: float = 1
    switch: str = ""
    kind: Literal["none", "infiniband", "ethernet"] = "none"


class NetworkPlan(Frozen):
    """A network beside the cluster's own: for data and users, or for management."""

    kind: Literal["in_band", "management"]
    switches: int = 0  # 0: the customer's
    links: int = 0  # to servers, storage and what else hangs on it
    link_gbit_s: float = 0


class StoragePlan(Frozen):
    usable_tb: float = 0
    raw_tb: float = 0
    read_gb_s: float = 0
    write_gb_s: float = 0
    needed_tb: float = 0
    needed_read_gb_s: float = 0
    needed_write_gb_s: float = 0
    local_nvme_tb: float = 0
    system: str = ""  # SKU, empty when local drives suffice


class Placed(Frozen):
    """A replica, or what one server holds of it: accelerators `first` … `first + accelerators - 1`, from 1."""

    server: int = Field(ge=1)
    first: int = Field(ge=1)
    accelerators: int = Field(ge=1)
    load: str
    replica: int = Field(ge=1)
    portion: Portion | None = None
    memory_gib: float | None = None  # in use on each of these accelerators; None: not known
    memory_fraction: float | None = None  # the same, of the accelerator
    busy_fraction: float | None = None  # of each accelerator, at the peak; None: unknown
    outside_hours: bool = False  # a job on accelerators of services while these rest


class SystemBuild(Frozen):
    """Everything that must be ordered and switched on."""

    accelerator: str | None
    accelerators: int
    nodes: int
    node: NodeBuild
    lines: tuple[BillLine, ...]  # whole system, one line per SKU and group
    power: Power  # whole system
    racks: tuple[RackPlacement, ...] = ()
    placement: tuple[Placed, ...] = ()
    sharing: tuple[
        Finding, ...
    ] = ()  # what sharing accelerators risks, and who shares nothing for which reason
    fabric: FabricPlan = FabricPlan()
    storage: StoragePlan = StoragePlan()
    feeds_per_rack: int = 0
    amps_per_phase: float = 0
    findings: tuple[Finding, ...] = ()
    figures: tuple[Figure, ...] = ()
    lead_time_weeks: int | None = None
    lead_time_line: str = ""
    lead_time_article: ArticleName | None = None  # the same article, in every language
    room: RoomNeeds = RoomNeeds()
    networks: tuple[NetworkPlan, ...] = ()
