"""What sizing says: the nouns between the workload and the price. All frozen, all serialisable.

The order of the file is the order of the computation: one load on one accelerator, one server, one system, its money,
the choice.
"""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from enum import StrEnum
from math import floor, log10
from typing import Literal

from pydantic import Field

from catalog.quantity import ArticleName, Frozen, Message, Quantity
from configurator.workload import Workload
from quotes.sizing.trace import Badge, Evidence, Figure, Finding

# ── one load on one accelerator ─────────────────────────────────────────────────────────────────────────────────


class Layout(Frozen):
    """Parallelism of one replica (or of the whole job): tensor, pipeline, data, expert, context."""

    tp: int = 1
    pp: int = 1
    dp: int = 1
    ep: int = 1
    sharding: Literal["none", "ddp", "zero1", "zero2", "fsdp"] = "none"
    cp: int = 1  # GPUs over which one sequence is divided

    @property
    def gpus(self) -> int:
        return self.tp * self.pp * self.dp * self.cp


class Verdict(StrEnum):
    FITS = "fits"
    TIGHT = "tight"
    OOM = "oom"


class MemoryBreakdown(Frozen):
    """One GPU's memory, GiB. The parts sum to `total_gib`; a negative `free_gib` says by how much it does not fit."""

    total_gib: float
    weights_gib: float
    kv_gib: float = 0  # in use at the peak
    activations_gib: float = 0
    optimizer_gib: float = 0  # gradients, master weights, moments
    runtime_gib: float = 0  # context, collectives, graphs, and what the engine's share leaves out
    free_gib: float = 0
    kv_capacity_tokens: float | None = None  # per replica
    kv_bytes_per_token: float | None = None  # per GPU


class Estimate(Frozen):
    """A predicted value with its 80 % interval and its evidence."""

    value: float
    low: float
    high: float
    badge: Badge = Badge.EXTRAPOLATED
    evidence: tuple[Evidence, ...] = ()
    evidence_count: int = 0


class Speed(Frozen):
    """Serving: at the peak, per user and per GPU. Rates: items per second. Training: tokens or samples per second."""

    ttft_p95_s: Estimate | None = None
    ttft_s: Estimate | None = None
    tokens_s_per_user: Estimate | None = None
    output_tokens_s_per_gpu: Estimate | None = None
    items_s_per_gpu: Estimate | None = None
    run_hours: Estimate | None = None  # wall clock of one training run on `gpus`
    mfu_fraction: float | None = None


class HostNeed(Frozen):
    """What a load asks of the server around each GPU."""

    cpu_cores_per_gpu: float = 0
    ram_gb_per_gpu: float = 0
    nvme_tb_per_node: float = 0
    nvme_write_tb_per_day: float = 0  # per node
    fabric_gbit_s_per_gpu: float = 0  # 0: no RDMA fabric between servers
    storage_read_gb_s: float = 0  # whole system
    storage_write_gb_s: float = 0
    checkpoint_tb: float = 0  # one checkpoint; how many are kept is an assumption


class TrainingRecipe(Frozen):
    """How a training job is run, as far as its memory and speed depend on it."""

    micro_batch: int = 1  # sequences per GPU group at a time; the rest of a batch is accumulated
    recompute: Literal["none", "selective", "full"] = "none"  # of activations, in the backward pass
    loss: Literal["eager", "chunked"] = "eager"
    optimizer: str = ""
    step_sequences: float = 0  # per optimiser step, all GPUs together; 0: not kept
    host_offload: Literal["none", "optimizer", "all"] = "none"  # states that live in host memory
    recomputing_all_h: float = 0  # cautious hours of a run if `selective` were `full`; 0: not computed


class EngineSettings(Frozen):
    """What the serving engine must be told to run as it was sized. Counts hold for one GPU's scheduler: with
    data-parallel attention each rank has its own."""

    memory_fraction: float  # of all memory, or (TensorRT-LLM) of what loading leaves
    context_tokens: int  # longest request
    step_tokens: int  # computed in one step at most
    sequences: int  # that run together at most
    draft_tokens: float = 0  # guessed ahead per step


class ModelToRun(Frozen):
    """The language model of a load as its publisher names it, and what of it decides how it is started."""

    hub_id: str = ""  # empty: only a size or an own config is known
    checkpoint_format: str = "bf16"
    cache_format: str = "bf16"  # that engines choose for this checkpoint by themselves
    licence: str = ""
    experts: bool = False
    latent_attention: bool = False
    shape: Mapping[str, int] = Field(default_factory=dict)  # of a plain dense model, to train it from nothing


class Portion(Frozen):
    """A part of one accelerator that a replica has to itself, in whole units of computing and of memory.

    Parts fit on one accelerator when neither sum of units exceeds its total. `mig`: walls in hardware; `mps`: none.
    """

    name: str  # the MIG profile, "2g.35gb", or the share, "1/4"
    kind: Literal["mig", "mps"]
    compute_units: int = Field(ge=1)
    compute_total: int = Field(ge=2)
    memory_units: int = Field(ge=1)
    memory_total: int = Field(ge=2)

    @property
    def compute_fraction(self) -> float:
        return self.compute_units / self.compute_total

    @property
    def memory_fraction(self) -> float:
        return self.memory_units / self.memory_total


def readable_rate(items_s: float, unit: str, digits: int = 3) -> Quantity:
    """By the hour where less than one a second is done, in millions where more than one of those."""
    if items_s < 1 and unit.endswith("/s"):
        return Quantity(value=items_s * 3600, unit=f"{unit.removesuffix('/s')}/hour", digits=digits)
    if items_s >= 1e6:
        return Quantity(value=items_s / 1e6, unit=f"million {unit}", digits=digits)
    return Quantity(value=items_s, unit=unit, digits=digits)


class LoadOption(Frozen):
    """One way to run one service or job on one kind of accelerator."""

    load: str
    kind: Literal["serving", "training", "rate_serving", "rate_training"]
    accelerator: str  # SKU
    layout: Layout = Layout()
    precision: str = ""
    kv_precision: str = ""
    engine: str = ""
    rate_unit: str = "items/s"  # what a rate service does a second: images/s, pairs/s …
    asked_items_s: float | None = None  # of a rate service, at today's peak
    recipe: TrainingRecipe | None = None  # training of language models only
    settings: EngineSettings | None = None  # serving of language models only
    model: ModelToRun | None = None  # language models, of the chosen option only
    stack: str = ""  # software of the accelerator: cuda, jetpack, rocm …; of the chosen option only
    gpus_per_replica: int = Field(ge=1)
    replicas: int = Field(ge=1)  # spare included
    spare_replicas: int = 0
    gpus: int = Field(ge=1)  # with a `portion`: on which it has a part
    portion: Portion | None = None  # of an accelerator, for each replica; None: whole accelerators
    gpus_in_one_node: int = Field(
        ge=1
    )  # a server must hold at least so many for this option (tp, NVLink domain)
    capacity_factor: float = 1  # multiple of today's peak demand at which every target still holds
    busy_fraction: float = 0  # of the GPUs' compute at the peak
    gpu_hours_per_month: float = 0  # for jobs; 0 for services, which hold their GPUs always
    shares_pool: bool = False  # a job that can run on the service GPUs outside their busy hours
    memory: MemoryBreakdown | None = None
    verdict: Verdict = Verdict.FITS
    speed: Speed = Speed()
    chip_is_measured: bool = True  # runs on this generation of accelerators were published
    limited_by: Message
    host: HostNeed = HostNeed()
    figures: tuple[Figure, ...] = ()  # filled by the module's `explain_*` for the chosen option only
    findings: tuple[Finding, ...] = ()

    @property
    def rate_in_all(self) -> Quantity:
        """`items_s_in_all` as people count, to two digits and never rounded up."""
        rate = readable_rate(self.items_s_in_all, self.rate_unit, digits=2)
        step = 10.0 ** (floor(log10(rate.value)) - 1) if rate.value > 0 else 1
        return rate.model_copy(update={"value": round(floor(rate.value / step + 1e-6) * step, 9)})

    @property
    def items_s_in_all(self) -> float:
        """What a rate service carries at the peak, cautiously; 0 for other loads. `rate_unit` names what.

        Less than the accelerators do flat out: part is kept back for bursts, and decoding may allow less.
        """
        if self.asked_items_s is not None:
            return self.asked_items_s * self.capacity_factor
        working = self.gpus_per_replica * (self.replicas - self.spare_replicas)
        return self.speed.items_s_per_gpu.low * working if self.speed.items_s_per_gpu else 0.0


Stage = Literal["catalog", "memory", "speed", "server", "site", "budget", "dominated", "stack", "evidence"]
"""The check that refused."""

Kind = Literal[Stage, "power", "space", "cooling", "unknown", "model", "wish", "sale"]
"""What stands in the way, for a reader: a stage, or part of one."""


class Refusal(Frozen):
    """Why an accelerator, server or layout is not offered, and the smallest change that would admit it."""

    subject: str  # SKU
    subject_name: str
    reason: Message
    change: Message | None = None
    stage: Stage = "memory"
    load: str = ""
    kind: Kind | None = None  # None: as the stage
    excess: float | None = None  # asked / available of what runs short, None: off by kind, not by degree


# ── one server and one system ───────────────────────────────────────────────────────────────────────────────────


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


# ── money over time ─────────────────────────────────────────────────────────────────────────────────────────────


class CostYears(Frozen):
    """Euro without VAT, one entry per month from month 0 (purchase); cumulative."""

    months: tuple[int, ...]
    own_eur: tuple[float, ...]
    cloud_eur: tuple[float, ...] = ()
    lease_eur: tuple[float, ...] = ()  # the cheapest lease whose rate is known


class CloudAlternative(Frozen):
    offer: str  # SKU
    provider: str
    region: str
    accelerator: str
    instances: int
    plan: str
    hourly_eur: Decimal
    hours_per_month: float
    monthly_eur: Decimal
    priced_on: date | None
    reason: Message
    once_eur: Decimal = Decimal(0)  # what runs a single time
    once_hours: float = 0
    storage_eur_month: Decimal = Decimal(0)  # and what leaves; within `monthly_eur`
    instance_hours_month: float = 0  # all loads together
    once_instance_hours: float = 0
    estimated: bool = False  # the price is another offer's, less an assumed discount
    gpus_each: int = 1  # of one instance

    @property
    def machine(self) -> str:
        """What one instance brings: `8 × H200 SXM5 141GB`, or the name of its only accelerator."""
        return f"{self.gpus_each} × {self.accelerator}" if self.gpus_each > 1 else self.accelerator


class RentPlan(Frozen):
    """The same work rented in one way. `cloud` None: not possible or not known, as `note` says."""

    plan: Literal["on_demand", "reserved_1y", "reserved_3y", "spot"]
    cloud: CloudAlternative | None = None
    total_eur: Decimal | None = None  # over the horizon
    break_even_month: float | None = None  # None = not within the horizon
    note: Message | None = None


class Lease(Frozen):
    """The own system, leased over the horizon. Amounts are None while the lessor's rate is not known."""

    kind: Literal["financial", "operational"]  # owned in the end, or given back
    monthly_eur: Decimal | None = None  # to the lessor
    final_eur: Decimal = Decimal(0)  # the last payment, after which it is owned
    total_eur: Decimal | None = (
        None  # over the horizon, with running cost, less the residual value of what is owned
    )


class TokenCost(Frozen):
    """Per million tokens, of a workload that language services are all of."""

    input_m_month: float  # millions a month
    output_m_month: float
    own_eur_per_m: Decimal  # of the own system, in and out together, at this use
    api_eur_month: Decimal | None = None  # None: no price known
    api_total_eur: Decimal | None = None


class OwnedShare(Frozen):
    """One choice between owning and renting peaks: euro a month over the horizon."""

    gpus_owned: int
    own_eur: float
    rent_eur: float

    @property
    def total_eur(self) -> float:
        return self.own_eur + self.rent_eur


class PlacedWay(Frozen):
    """The whole work, done at home, in the cloud, or divided. Euro over the horizon."""

    key: Literal["own", "cloud", "as_needed", "peaks", "jobs_out", "services_out"]
    label: Message
    purchase_eur: Decimal  # of what is owned
    own_eur: Decimal  # what is owned, running cost included and residual value deducted
    rent_eur: Decimal
    sentence: Message  # the answer, for whoever chooses this way

    @property
    def total_eur(self) -> Decimal:
        return self.own_eur + self.rent_eur


class UseCurve(Frozen):
    """The load-duration curve: load as a share of the peak, in equal parts of all hours, busiest first."""

    shares: tuple[float, ...]
    mean_fraction: float
    busy_fraction: float  # of all hours, not idle
    counted_hours: int = 0  # hours that the customer counted; 0: after a profile of ours
    words: tuple[Message, ...] = ()


class Economics(Frozen):
    horizon_years: int
    purchase_eur: Decimal
    yearly_eur: Mapping[str, Decimal]  # energy, housing, administration, support, spares …
    total_eur: Decimal  # over the horizon, residual value deducted
    residual_eur: Decimal = Decimal(0)
    cloud: CloudAlternative | None = None
    cloud_total_eur: Decimal | None = None
    break_even_month: float | None = None  # None = not within the horizon
    break_even_low: float | None = None
    break_even_high: float | None = None
    hybrid_gpus_owned: int | None = None
    hybrid_total_eur: Decimal | None = None
    hybrid_choices: tuple[OwnedShare, ...] = ()  # from owning nothing to owning all
    leases: tuple[Lease, ...] = ()
    rents: tuple[RentPlan, ...] = ()  # empty when nothing may be rented
    tokens: TokenCost | None = None
    curve: CostYears
    figures: tuple[Figure, ...] = ()
    findings: tuple[Finding, ...] = ()


class CliffStep(Frozen):
    """One system for all demands from the step before up to `demand`, a multiple of today's."""

    demand: float
    nodes: int
    accelerators: int
    price_eur: Decimal


class CliffMap(Frozen):
    """What one accelerator in one kind of server costs for smaller and larger demands."""

    today: Quantity  # the demand at the peak in the customer's own terms
    first: float  # the least multiple of it that was tried
    steps: tuple[CliffStep, ...]  # demand rises
    last: Message | None = None  # why there is nothing beyond the last step; None: it was not tried
    words: tuple[Message, ...] = ()  # what stays the same, and the next step


class Swing(Frozen):
    """One input at the lower and at the upper end of its band, and the outcome there."""

    key: str
    label: Message
    low: Quantity
    high: Quantity
    low_eur: float
    high_eur: float
    low_month: float | None = None  # break-even; None = not within the horizon
    high_month: float | None = None

    @property
    def width_eur(self) -> float:
        return abs(self.high_eur - self.low_eur)


class Tornado(Frozen):
    """What moves the outcome, widest first. One input moves at a time; the others stay."""

    compares: bool  # True: euro that owning saves over the horizon; False: euro that owning costs a month
    base_eur: float
    base_month: float | None = None
    years: int
    swings: tuple[Swing, ...]
    words: tuple[Message, ...] = ()


class GrowthPhase(Frozen):
    year: int
    demand_factor: float
    gpus: int
    nodes: int
    note: Message
    reserve: tuple[Message, ...] = ()  # what the first order must leave room for
    obstacles: tuple[Message, ...] = ()  # what would not plug in


# ── the choice ──────────────────────────────────────────────────────────────────────────────────────────────────


class Tier(StrEnum):
    LEAN = "lean"
    BALANCED = "balanced"
    ROOM_TO_GROW = "room_to_grow"


class Candidate(Frozen):
    """A complete, legal, sized and priced system."""

    key: str
    accelerator: str | None
    accelerator_name: str
    loads: tuple[LoadOption, ...]
    system: SystemBuild
    price_eur: Decimal  # list, hardware and services, without VAT
    headroom_factor: float  # least capacity_factor of the loads
    expected_w: float


class SplitLayout(Frozen):
    """The GPUs of one language service as workers that only read prompts and workers that only write answers: an extra
    layout on the same hardware, never the one that a proposal is sized on."""

    load: str
    prompt_workers: int = Field(ge=1)
    prompt_layout: Layout
    answer_workers: int = Field(ge=1)
    answer_layout: Layout
    speed: Speed
    worth: bool  # at the cautious ends
    said: Message
    reason: Message
    figures: tuple[Figure, ...] = ()


class SizedSystem(Frozen):
    """One of the three proposals."""

    tier: Tier
    recommended: bool = False
    candidate: Candidate
    economics: Economics | None = None
    growth: tuple[GrowthPhase, ...] = ()
    placements: tuple[PlacedWay, ...] = ()  # cheapest first; only in a proposal that was worked out in full
    leads_with: str = "own"  # key of the way that the customer prefers, where it is possible
    use: UseCurve | None = None  # of a workload of one service
    tornado: Tornado | None = None  # only in a proposal that was worked out in full
    cliff: CliffMap | None = None  # only in a proposal that was worked out in full
    splits: tuple[SplitLayout, ...] = ()  # of services that could be; only in a proposal worked out in full
    pros: tuple[Message, ...] = ()
    cons: tuple[Message, ...] = ()
    answer: Message  # the one sentence
    figures: tuple[Figure, ...] = ()

    @property
    def leading_way(self) -> PlacedWay | None:
        """Where the customer would rather have the work done, when that is not all at home."""
        return next((way for way in self.placements if way.key == self.leads_with != "own"), None)


class SiteAlternative(Frozen):
    """One way around a limit of the site, with its price and its price in speed."""

    kind: Literal["phased", "power_cap", "colocation"]
    possible: bool = True
    said: Message  # what to do, or why it is not possible
    accelerator: str | None = None
    accelerator_name: str = ""
    accelerators: int = 0
    nodes: int = 0
    price_eur: Decimal | None = None  # list, without VAT; of the first phase
    later_eur: Decimal | None = None  # of the rest, when it is bought in phases
    monthly_eur: Decimal | None = None  # for the place, when it is rented
    power_kw: float | None = None  # to provide
    speed_low: float | None = None  # share of what was asked
    speed_high: float | None = None
    in_speed: Message | None = None


class SiteLimits(Frozen):
    """What the limits of the site stand in the way of, and the alternatives."""

    exceeded: Message
    alternatives: tuple[SiteAlternative, ...]


class Sizing(Frozen):
    """The answer to a workload. No systems = infeasible, which `findings` and `refusals` explain."""

    workload: Workload
    catalog_version: str
    calculated_on: date
    systems: tuple[SizedSystem, ...] = ()
    refusals: tuple[Refusal, ...] = ()  # one per accelerator that is not offered
    findings: tuple[Finding, ...] = ()
    assumptions_used: tuple[str, ...] = ()  # keys of Assumptions
    candidates_considered: int = 0
    site_limits: SiteLimits | None = None  # only in a proposal that was worked out in full

    @property
    def recommended(self) -> SizedSystem | None:
        return next((system for system in self.systems if system.recommended), None)
