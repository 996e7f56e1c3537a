"""One load on one accelerator: its memory, its speed, and what it asks of the server."""

from collections.abc import Mapping
from enum import StrEnum
from math import floor, log10
from typing import Literal

from pydantic import Field

from catalog.quantity import Frozen, Message, Quantity
from quotes.sizing.trace import Badge, Evidence, Figure, Finding


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
