"""What can be sold and what is known about it, as frozen types free of Django.

`catalog.snapshot` translates database rows into these; the sizing engine knows nothing else of the catalog. A figure
that nobody sourced is `None`: the engine must answer it with a visible finding, never with a guess. Compute rates
are dense tensor rates; memory is what the driver reports (MiB).
"""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import Literal

from pydantic import Field, model_validator

from catalog.quantity import Frozen, Money


class Confidence(StrEnum):
    """A vendor document, B a secondary source quoting a vendor, C press or datasheet knowledge to be rechecked."""

    VENDOR = "A"
    SECONDARY = "B"
    RECHECK = "C"


class Provenance(Frozen):
    source: str = ""
    checked_on: date | None = None
    confidence: Confidence = Confidence.RECHECK
    estimated_fields: tuple[str, ...] = ()
    """Names of fields that are planning estimates, to be shown as such."""
    weaker_fields: tuple[str, ...] = ()
    """Names of fields that were filled later, from `weaker_source` instead of `source`."""
    weaker_source: str = ""
    weaker_confidence: Confidence | None = None

    def to_confirm(self, field: str) -> bool:
        """Whether the figure in `field` is an estimate, or rests on no document of the maker that anybody quoted."""
        weaker = self.weaker_confidence if field in self.weaker_fields else None
        return field in self.estimated_fields or (weaker or self.confidence) is Confidence.RECHECK


class Item(Frozen):
    """Anything with a row in the catalog. `sku` is unique over all kinds and is what a bill of materials names."""

    sku: str = Field(min_length=1)
    vendor: str
    name: str
    name_nl: str = ""
    """The name in Dutch where `name` is words rather than a maker's type; empty: `name` holds in every language."""
    provenance: Provenance = Provenance()


# ── accelerators ────────────────────────────────────────────────────────────────────────────────────────────────


class FormFactor(StrEnum):
    SXM = "sxm"  # on an NVSwitch board of 4 or 8
    OAM = "oam"  # on a universal base board of 8
    PCIE = "pcie"  # a card in a slot
    SUPERCHIP = "superchip"  # whole trays or racks only
    EDGE = "edge"  # module inside an edge box
    SYSTEM = "system"  # a desktop system of its own
    CLOUD = "cloud"  # cannot be bought


class Availability(StrEnum):
    ORDERABLE = "orderable"
    END_OF_SALE = "end_of_sale"  # still orderable while stock lasts
    CLOUD_ONLY = "cloud_only"
    EDGE = "edge"
    ANNOUNCED = "announced"
    NOT_IN_EU = "not_in_eu"
    NOT_SOLD = "not_sold"  # no longer; known so that what a customer has can be compared
    PART_OF_SYSTEM = "part_of_system"  # only inside a server, tray or rack that is itself an article


class AcceleratorSpec(Item):
    """One GPU (or TPU, NPU). Bandwidths in GB/s (10^9), rates in dense TFLOPS/TOPS of one device."""

    architecture: str  # "Hopper", "Blackwell", "Ada Lovelace", "CDNA3", …
    form_factor: FormFactor
    availability: Availability
    memory_mib: float | None = None  # as the driver reports it
    memory_gb_label: float = 0  # what the box says
    memory_bandwidth_gb_s: float | None = None
    bf16_tflops: float | None = None
    fp8_tflops: float | None = None
    fp4_tflops: float | None = None
    int8_tops: float | None = None
    fp32_tflops: float | None = None
    link_gb_s: float | None = None  # NVLink/xGMI to all peers together, both directions as on the data sheet
    link_max_count: int = 0  # cards that one NVLink/xGMI domain joins; 0 = PCIe only
    link_kind: Literal["none", "bridge", "switch", "mesh"] = "none"
    pcie_generation: int | None = None
    pcie_lanes: int | None = None
    power_w: float | None = None
    slots_wide: int | None = None
    cooling: frozenset[Literal["air", "liquid"]] = frozenset({"air"})
    mig_count: int | None = None  # most instances that the card itself can be divided into
    mig_profiles: frozenset[str] = frozenset()  # "2g.35gb": two of those parts; without the whole card
    confidential_computing: bool | None = None
    nvdec_count: int | None = None
    software_stack: frozenset[str] = frozenset()  # "cuda", "rocm", "gaudi", …
    board_sku: str | None = None  # the article that is ordered when the GPU comes on a board
    board_count: int = 1  # GPUs on that article
    device_count: int = 1
    """Devices on one card that software sees apart. Above 1 a model cannot use the card's memory as one space; then
    `memory_mib` stays None and the card is not sized."""

    @property
    def memory_gib(self) -> float | None:
        return None if self.memory_mib is None else self.memory_mib / 1024

    @property
    def order_sku(self) -> str:
        """The article on the bill: the board for SXM/OAM, the card itself otherwise."""
        return self.board_sku or self.sku


# ── servers ─────────────────────────────────────────────────────────────────────────────────────────────────────


class ServerStatus(StrEnum):
    BUILDABLE = "buildable"
    COMPLETE_SYSTEM = "complete_system"  # sold with its accelerators inside, nothing to compose
    INCOMPLETE = "incomplete"  # a figure is missing: never offered
    SPECIAL_RACK = "special_rack"
    PART_OF_RACK = "part_of_rack"


class ServerRole(StrEnum):
    GPU_HGX = "gpu_hgx"
    GPU_OAM = "gpu_oam"
    GPU_PCIE = "gpu_pcie"
    GPU_SUPERCHIP = "gpu_superchip"
    WORKSTATION = "workstation"
    COMPUTE = "compute"
    MANAGEMENT = "management"
    STORAGE = "storage"
    EDGE = "edge"
    RACK = "rack"


class ServerSpec(Item):
    """A chassis (barebone) or a complete system."""

    status: ServerStatus
    roles: frozenset[ServerRole]
    rack_units: float | None = None
    depth_mm: float | None = None
    weight_kg: float | None = None
    cooling: Literal["air", "liquid", "both", "fanless"] = "air"
    accelerators: frozenset[str] = frozenset()  # SKUs of the accelerators that may go in
    max_accelerators: int = 0
    accelerator_power_max_w: float | None = None
    cpu_sockets: int = 0
    cpu_socket: str = ""
    cpu_families: frozenset[str] = frozenset()
    cpu_power_max_w: float | None = None
    dimm_slots: int = 0
    memory_max_gb: float | None = None
    nvme_bays: int | None = None
    nvme_forms: frozenset[str] = frozenset()  # "U.2", "E1.S", "E3.S", "M.2"
    hdd_bays: int = 0  # 3.5-inch
    boot_m2_count: int | None = None
    free_x16_slots: int | None = None  # for NICs, after the accelerators
    onboard_lan: str = ""
    onboard_fabric_count: int = 0  # fabric NICs already on the board (8 on HGX B300)
    onboard_fabric_gbit_s: float | None = None  # speed of each of them
    psu_count: int | None = None
    psu_w: float | None = None
    psu_redundancy: str = ""  # "2+2", "3+1", "none": the first number must carry the load
    planning_power_w: float | None = None  # the vendor's planning maximum of the full system, when published
    base_power_w: float | None = None  # board, fans at idle, management
    fan_pct: float | None = None
    inlet: str = ""  # "C14", "C19/C20", …
    rack_includes: frozenset[str] = frozenset()
    """Of a complete rack, what the maker delivers in it: "power_shelves", "nvlink_switches", "management_switches",
    "cdu". What is not named is not known to be in it."""

    def takes_cpu(self, cpu: "CpuSpec") -> bool:
        """Same socket, enough sockets in the CPU, its generation or exact model listed, within the power limit."""
        return (
            cpu.socket == self.cpu_socket
            and cpu.sockets_max >= self.cpu_sockets
            and bool({cpu.generation, cpu.name} & self.cpu_families)
            and (cpu.power_w is None or self.cpu_power_max_w is None or cpu.power_w <= self.cpu_power_max_w)
        )

    @property
    def psu_surviving_w(self) -> float | None:
        """DC watts left after the failure that the redundancy policy must survive; None when unknown, and when the
        policy is none that can be read."""
        if self.psu_w is None or self.psu_count is None:
            return None
        needed, _, spare = self.psu_redundancy.partition("+")
        needed, spare = needed.strip(), spare.strip()[:1]
        if needed.isdigit():
            return self.psu_w * min(int(needed), self.psu_count)
        if needed.upper() == "N" and spare.upper() == "N":
            return self.psu_w * (self.psu_count // 2)
        if needed.upper() == "N" and spare.isdigit():
            return self.psu_w * (self.psu_count - int(spare))
        return self.psu_w * self.psu_count if needed.lower() in ("", "none") else None

    @property
    def psu_one_feed_w(self) -> float | None:
        """DC watts of the supplies on one of two feeds, the cords divided as evenly as they go; None when unknown."""
        if self.psu_w is None or self.psu_count is None:
            return None
        return self.psu_w * (self.psu_count // 2)


# ── parts ───────────────────────────────────────────────────────────────────────────────────────────────────────


class CpuSpec(Item):
    generation: str  # as `ServerSpec.cpu_families` names it: "EPYC 9005", "Xeon 5th gen", "Xeon 6700P", …
    socket: str
    cores: int
    power_w: float | None = None
    memory_channels: int | None = None
    memory_speed_mt_s: int | None = None
    memory_speed_2dpc_mt_s: int | None = None
    memory_max_gb: float | None = None
    pcie_generation: int | None = None
    pcie_lanes: int | None = None
    sockets_max: int = 2


class MemorySpec(Item):
    capacity_gb: int
    speed_mt_s: int
    kind: str = "RDIMM"
    power_w: float | None = None


class DriveSpec(Item):
    capacity_gb: float
    form: str  # "U.2", "E1.S", "M.2", "3.5-inch"
    kind: Literal["nvme", "sata_ssd", "hdd", "boot"] = "nvme"
    dwpd: float | None = None  # drive writes per day over the warranty
    read_gb_s: float | None = None
    write_gb_s: float | None = None
    power_w: float | None = None


class NicSpec(Item):
    ports: int
    port_gbit_s: float
    connector: str = ""
    kind: Literal["nic", "dpu", "aiom"] = "nic"
    infiniband: bool = False  # runs InfiniBand as well as Ethernet
    pcie_lanes: int | None = None
    power_w: float | None = None


class SwitchSpec(Item):
    ports: int
    port_gbit_s: float
    cages: int | None = None  # physical cages when one cage carries two ports
    fabric: Literal["infiniband", "ethernet"] = "ethernet"
    connector: str = ""
    uplink_ports: int = 0  # further, faster ports beside `ports`
    uplink_gbit_s: float | None = None
    managed: bool | None = None
    """InfiniBand: runs the subnet manager itself. False: only for networks with fabric managers. None: not known."""
    rack_units: float | None = None
    max_power_w: float | None = None
    typical_power_w: float | None = None
    weight_kg: float | None = None


class CableSpec(Item):
    """A cable, fibre or transceiver."""

    kind: Literal["dac", "aoc", "fibre", "copper", "optic", "power"]
    connector: str = ""
    gbit_s: float | None = None  # of one link
    reach_m: float | None = None
    ports: int = 1  # links carried by one piece (2 for a twin-port optic)
    power_w: float | None = None


class StorageSystemSpec(Item):
    usable_tb: float | None = None
    raw_tb: float | None = None
    read_gb_s: float | None = None
    write_gb_s: float | None = None
    ports: int | None = None
    port_gbit_s: float | None = None
    rack_units: float | None = None
    max_power_w: float | None = None
    weight_kg: float | None = None
    scale_out: bool = False
    minimum_count: int = 1
    tier: Literal["hot", "capacity"] = "hot"  # capacity: disks, too slow to feed training directly
    nic_ports_needed: int = (
        0  # ports of the network cards that must be ordered with each unit; 0: they are inside
    )
    licence_sku: str | None = None  # charged per usable TB


class RackSpec(Item):
    rack_units: int
    width_mm: float | None = None
    depth_mm: float | None = None
    weight_kg: float | None = None
    load_max_kg: float | None = None


class PduSpec(Item):
    phases: int
    amps: float
    volts: float = 230
    power_kw: float | None = None
    outlets_c13: int = 0
    outlets_c19: int = 0
    rack_units: float = 0


class CoolingSpec(Item):
    kind: Literal["rear_door", "cdu", "manifold", "leak_detection", "in_row", "sidecar", "loop"]
    """`in_row`: a CDU for several racks; `sidecar`: liquid to air, needs no facility water; `loop`: building side."""
    capacity_kw: float | None = None
    rack_units: float | None = None
    max_power_w: float | None = None


class AccessorySpec(Item):
    """An article of its own that belongs to another one: a GPU board, an NVLink bridge, a console, rack parts, a UPS.

    `accelerators` and `count`: the board carries `count` of one of them; the bridge joins `count` of one of them.
    """

    kind: Literal["board", "bridge", "kvm", "rack_accessory", "ups", "power_supply"]
    accelerators: frozenset[str] = frozenset()  # SKUs
    count: int = 0
    rack_units: float | None = None
    max_power_w: float | None = None
    capacity_kw: float | None = None  # UPS
    ports: int = 0  # KVM
    fabric_nic_count: int = 0
    """Board: fabric NICs it brings (HGX B300: 8). A server counts the larger of this and `onboard_fabric_count`."""


class ServiceSpec(Item):
    """A service, licence or charge. `pct_of_hardware` replaces a fixed price."""

    unit: str  # "server", "rack", "GPU", "day", "3 years", …
    purpose: str = ""
    """What composition looks for: "os_install", "rack_small" (server up to 4U), "rack_large", "burn_in", "rack_build",
    "cluster_software", "cluster_acceptance", "fabric_manager", "file_system", "project_day", "training_day",
    "installation_day", "loop_commissioning", "support_nbd_3y", "support_24x7_3y"; empty for the rest."""
    applies_to: str = "all"
    pct_of_hardware: Decimal | None = None


class CloudOffer(Item):
    """One rentable instance. Prices per hour of the whole instance, in `currency`, without VAT."""

    region: str
    in_eu: bool
    accelerator_sku: str | None  # None when the catalog has no such accelerator
    accelerator_count: int
    vcpus: int | None = None
    memory_gib: float | None = None
    hourly: Money
    hourly_eur: Decimal
    exchange_rate: Decimal = Decimal(1)  # EUR per unit of the original currency
    exchange_rate_on: date | None = None
    exchange_rate_source: str = ""
    plan: Literal["on_demand", "reserved_1y", "reserved_3y", "spot"] = "on_demand"
    priced_on: date | None = None
    historic: bool = False


class Price(Frozen):
    """A list price that holds on the snapshot's date."""

    amount: Money
    lead_time_weeks: int | None = None
    lead_time_stated_on: date | None = None
    demonstration: bool = True
    indicative: bool = True
    valid_from: date | None = None
    valid_until: date | None = None
    source: str = ""
    category: str = ""


# ── models ──────────────────────────────────────────────────────────────────────────────────────────────────────


class ModelArchitecture(Frozen):
    """Dimensions of a language model, enough to count parameters, bytes and FLOPs.

    Source: the model's published config. `layers` = decoder layers without multi-token-prediction layers.
    """

    key: str  # hub id, or "custom"
    name: str
    family: str = ""
    layers: int = Field(ge=1)
    hidden: int = Field(ge=1)
    feed_forward: int = Field(ge=0)  # dense FFN width; 0 when every layer is MoE
    query_heads: int = Field(ge=1)
    kv_heads: int = Field(ge=1)
    head_dim: int = Field(ge=1)
    vocabulary: int = Field(ge=1)
    tied_embeddings: bool = False
    gated_feed_forward: bool = True
    # mixture of experts
    experts: int = 0
    experts_per_token: int = 0
    expert_width: int = 0
    shared_expert_width: int = 0  # total width of the shared experts
    dense_layers: int = 0  # leading layers with a dense FFN in a MoE model
    expert_latent: int = 0  # experts work on a projection of this width; 0 = hidden
    # multi-head latent attention
    q_rank: int = 0
    kv_rank: int = 0  # > 0 marks MLA
    rope_dim: int = 0
    nope_dim: int = 0
    value_dim: int = 0
    # layer mix
    sliding_window: int = 0
    sliding_layers: int = 0
    linear_layers: int = 0
    sliding_kv_heads: int | None = None  # when sliding layers differ
    sliding_head_dim: int | None = None
    recurrent_state_elements: int = 0  # per sequence, all linear layers together
    attentionless_layers: int = 0  # decoder layers that hold a feed-forward part and no mixer (Nemotron-H)
    feed_forward_layers: int | None = None  # layers with a feed-forward part; None = every layer
    sparse_top_k: int = 0  # indexed sparse attention reads at most this many tokens
    mtp_layers: int = 0
    multimodal: bool = False
    image_tokens_max: int = 0  # tokens of the largest image an engine reserves for; 0 = none or unknown
    max_context: int | None = None
    # published counts, billions; None = derived from the dimensions
    total_params_b: float | None = None
    active_params_b: float | None = None
    encoder_params_b: float = 0  # vision or audio encoder, in memory but outside the counts below
    native_format: str = "bf16"  # precision of the published checkpoint: bf16, fp8, mxfp4, nvfp4, int4 …
    sixteen_bit: frozenset[Literal["attention", "dense", "shared", "experts", "other"]] = frozenset()
    """Parts that the published quantised checkpoint keeps in 16 bit, besides embeddings, head, norms and router."""
    quantised_from: str | None = None
    licence: str = ""
    standard_structure: bool = True  # False: dimensions do not tell the whole structure, intervals widen
    provenance: Provenance = Provenance()

    @property
    def is_moe(self) -> bool:
        return self.experts > 0

    @property
    def is_mla(self) -> bool:
        return self.kv_rank > 0

    @property
    def full_layers(self) -> int:
        """Layers whose cache grows with the whole context."""
        return self.layers - self.sliding_layers - self.linear_layers - self.attentionless_layers

    @model_validator(mode="after")
    def _layers_add_up(self) -> "ModelArchitecture":
        if self.sliding_layers + self.linear_layers + self.attentionless_layers > self.layers:
            raise ValueError("sliding_layers + linear_layers + attentionless_layers exceed layers")
        if self.experts and not 0 < self.experts_per_token <= self.experts:
            raise ValueError("experts_per_token must lie between 1 and experts")
        return self


# ── snapshot ────────────────────────────────────────────────────────────────────────────────────────────────────


class CatalogSnapshot(Frozen):
    """The whole catalog on one day: what the engine sees. Built by `catalog.snapshot`, cached by `version`."""

    version: str
    taken_on: date
    accelerators: tuple[AcceleratorSpec, ...] = ()
    servers: tuple[ServerSpec, ...] = ()
    cpus: tuple[CpuSpec, ...] = ()
    memory: tuple[MemorySpec, ...] = ()
    drives: tuple[DriveSpec, ...] = ()
    nics: tuple[NicSpec, ...] = ()
    switches: tuple[SwitchSpec, ...] = ()
    cables: tuple[CableSpec, ...] = ()
    storage_systems: tuple[StorageSystemSpec, ...] = ()
    racks: tuple[RackSpec, ...] = ()
    pdus: tuple[PduSpec, ...] = ()
    cooling: tuple[CoolingSpec, ...] = ()
    accessories: tuple[AccessorySpec, ...] = ()
    services: tuple[ServiceSpec, ...] = ()
    cloud_offers: tuple[CloudOffer, ...] = ()
    models: tuple[ModelArchitecture, ...] = ()
    prices: Mapping[str, Price] = Field(default_factory=dict)  # by SKU; absent = not priced, not offered

    @cached_property
    def items(self) -> Mapping[str, Item]:
        """Every article by SKU (accelerators, servers, parts, services, cloud offers)."""
        kinds = (
            self.accelerators, self.servers, self.cpus, self.memory, self.drives, self.nics, self.switches, self.cables,
            self.storage_systems, self.racks, self.pdus, self.cooling, self.accessories, self.services,
            self.cloud_offers,
        )  # fmt: skip
        return {item.sku: item for kind in kinds for item in kind}

    @cached_property
    def models_by_key(self) -> Mapping[str, ModelArchitecture]:
        return {model.key: model for model in self.models}

    def price_eur(self, sku: str) -> Decimal | None:
        """List price in euro without VAT, or None when the article has none on this day."""
        price = self.prices.get(sku)
        return price.amount.amount if price and price.amount.currency == "EUR" else None

    def lead_time_weeks(self, sku: str) -> int | None:
        price = self.prices.get(sku)
        return price.lead_time_weeks if price else None
