"""What the customer needs: the question that sizing answers. Frozen, free of Django, serialisable to JSON or YAML.

`None` in an optional wish means 'no wish'. What the customer did not know has already been replaced by a stated
default when the Workload is made, and its name stands in `assumed`.
"""

from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PlainSerializer, model_validator

from catalog.quantity import Frozen
from catalog.specs import ModelArchitecture

IN_ORDER = PlainSerializer(sorted, return_type=list[str], when_used="json")
"""Writes a set in the order of its names, so that equal workloads give equal JSON."""


class UseCase(StrEnum):
    DOCUMENT_CHAT = "document_chat"
    CODE_ASSISTANT = "code_assistant"
    DOCUMENT_EXTRACTION = "document_extraction"
    IMAGE_INSPECTION = "image_inspection"
    SPEECH = "speech"
    IMAGE_GENERATION = "image_generation"
    EMBEDDING_SEARCH = "embedding_search"
    FINE_TUNE = "fine_tune"
    PRE_TRAIN = "pre_train"
    ANALYTICS = "analytics"
    EDGE = "edge"
    CUSTOM = "custom"


class LoadProfile(StrEnum):
    """When a service is busy. The busy hours per week follow from it (`Assumptions.busy_hours_per_week`)."""

    OFFICE_HOURS = "office_hours"
    EXTENDED = "extended"
    ALWAYS = "always"
    NIGHTS = "nights"
    SEASONAL = "seasonal"  # office hours, with a few busy months a year
    COUNTED = "counted"  # as `hourly_counts` of the service say


class Precision(StrEnum):
    """Weight format. `auto` lets sizing choose among what the GPU and the engine support without known loss."""

    AUTO = "auto"
    BF16 = "bf16"
    FP8 = "fp8"
    INT8 = "int8"
    INT4 = "int4"  # AWQ/GPTQ, group 128
    MXFP4 = "mxfp4"
    NVFP4 = "nvfp4"
    NF4 = "nf4"


class ModelRef(Frozen):
    """Which language model: a key of the catalog, an architecture read from a config, or only a parameter count."""

    key: str | None = None
    architecture: ModelArchitecture | None = None
    params_b: float | None = Field(default=None, gt=0, le=20_000)

    @model_validator(mode="after")
    def _exactly_one(self) -> "ModelRef":
        if sum(value is not None for value in (self.key, self.architecture, self.params_b)) != 1:
            raise ValueError("give exactly one of key, architecture, params_b")
        return self


HOURS_COUNTED = (24, 168, 8760, 8784)


class Used(Frozen):
    """When a service is used. Counts are requests or items in each hour of a day, a week or a year, in order."""

    hourly_counts: tuple[float, ...] = ()

    @model_validator(mode="after")
    def _counts_are_whole(self) -> "Used":
        counts, counted = self.hourly_counts, getattr(self, "profile", None) is LoadProfile.COUNTED
        if counted != bool(counts):
            raise ValueError("hourly_counts go with the profile 'counted', and only with that")
        if counts and len(counts) not in HOURS_COUNTED:
            raise ValueError("give 24, 168, 8760 or 8784 hourly counts")
        if counts and not (min(counts) >= 0 and 0 < max(counts) <= 1e12):
            raise ValueError("counts are not negative, not all zero and not endless")
        return self


class LanguageService(Used):
    """Serving a language model."""

    kind: Literal["language"] = "language"
    name: str = "chat"
    model: ModelRef
    precision: Precision = Precision.AUTO
    kv_precision: Literal["auto", "bf16", "fp8"] = "auto"
    engine: Literal["vllm", "sglang", "trtllm"] = "vllm"
    concurrent_requests: float = Field(gt=0, le=10_000_000)  # in flight at the peak
    prompt_tokens: int = Field(ge=1, le=100_000_000)
    output_tokens: int = Field(ge=1, le=10_000_000)
    context_tokens: int | None = Field(
        default=None, ge=1
    )  # longest request that must work; None = prompt + output
    ttft_p95_s: float | None = Field(default=None, gt=0)
    tokens_s_per_user: float | None = Field(default=None, gt=0)
    availability: Literal["single", "n_plus_1"] = "single"
    profile: LoadProfile = LoadProfile.OFFICE_HOURS
    confidential: bool = False
    users: int | None = Field(default=None, ge=1)  # people who may use it, for the sentence only

    @property
    def longest_request_tokens(self) -> int:
        return self.context_tokens or self.prompt_tokens + self.output_tokens


class Domain(StrEnum):
    """Workloads sized from measured rates instead of physics."""

    VISION = "vision"
    DETECTION = "detection"
    DIFFUSION = "diffusion"
    VIDEO = "video"
    SPEECH = "speech"
    EMBEDDING = "embedding"
    RERANK = "rerank"
    RECOMMENDER = "recommender"
    GRAPH = "graph"
    ANALYTICS = "analytics"
    MEDICAL = "medical"
    SIMULATION = "simulation"


class RateService(Used):
    """A service measured in items per second: images, frames, sequences, audio seconds, queries."""

    kind: Literal["rate"] = "rate"
    name: str = "inspection"
    domain: Domain
    model: str  # a model name of the rate table, e.g. "ViT-L/16"
    items_s: float = Field(gt=0, le=1e9)  # at the peak, all sources together
    streams: int | None = Field(default=None, ge=1)  # cameras or audio streams behind it
    latency_ms: float | None = Field(default=None, gt=0)
    steps: int | None = Field(default=None, ge=1)  # diffusion
    profile: LoadProfile = LoadProfile.ALWAYS
    availability: Literal["single", "n_plus_1"] = "single"
    at_edge: bool = False
    confidential: bool = False


class Method(StrEnum):
    PRE_TRAIN = "pre_train"
    FULL = "full"
    LORA = "lora"
    QLORA = "qlora"


def _of_a_week(window: LoadProfile) -> LoadProfile:
    if window in {LoadProfile.SEASONAL, LoadProfile.COUNTED}:
        raise ValueError("a job runs in hours of the week")
    return window


Window = Annotated[LoadProfile, AfterValidator(_of_a_week)]


class LanguageTraining(Frozen):
    """Training or fine-tuning a language model, once or repeatedly."""

    kind: Literal["language"] = "language"
    name: str = "training"
    model: ModelRef
    method: Method
    precision: Literal["bf16", "fp8"] = "bf16"
    optimizer: Literal["adamw", "adamw_8bit"] = "adamw"
    tokens: float = Field(gt=0, le=1e15)  # per run, epochs included
    sequence_tokens: int = Field(default=4096, ge=1, le=10_000_000)
    lora_rank: int = Field(default=16, ge=1, le=4096)
    deadline_h: float = Field(gt=0)  # wall clock for one run
    runs_per_month: float = Field(default=0, ge=0)  # 0 = once
    window: Window = LoadProfile.ALWAYS  # when it may run
    confidential: bool = False


class RateTraining(Frozen):
    """Training a vision, speech, recommender … model: samples times epochs within a deadline."""

    kind: Literal["rate"] = "rate"
    name: str = "training"
    domain: Domain
    model: str
    samples: float = Field(gt=0, le=1e13)
    epochs: float = Field(default=30, gt=0)
    sample_kb: float | None = Field(default=None, gt=0)
    deadline_h: float = Field(gt=0)
    runs_per_month: float = Field(default=0, ge=0)
    window: Window = LoadProfile.NIGHTS
    confidential: bool = False


Service = Annotated[LanguageService | RateService, Field(discriminator="kind")]
Job = Annotated[LanguageTraining | RateTraining, Field(discriminator="kind")]


class DataNeeds(Frozen):
    """Data kept on the system. Terabytes are 10^12 bytes."""

    dataset_tb: float = Field(default=0, ge=0, le=1_000_000)
    hot_dataset_tb: float | None = Field(default=None, ge=0)  # read again and again while training
    copies: int = Field(default=1, ge=1, le=10)
    existing_storage: bool = False  # the customer has a fast enough store already
    growth_pct_per_year: float = Field(default=20, ge=-90, le=1000)


class SiteKind(StrEnum):
    SERVER_ROOM = "server_room"
    DATA_HALL = "data_hall"
    COLOCATION = "colocation"
    EDGE = "edge"
    UNKNOWN = "unknown"


class Site(Frozen):
    """Where it will stand. Limits are hard: None means not limited or not known, see `assumed`."""

    kind: SiteKind = SiteKind.UNKNOWN
    power_available_kw: float | None = Field(default=None, gt=0)
    cooling: Annotated[frozenset[Literal["air", "rear_door", "liquid"]], IN_ORDER] = frozenset({"air"})
    rack_units_free: int | None = Field(default=None, ge=1)
    rack_power_max_kw: float | None = Field(default=None, gt=0)
    floor_load_kg_m2: float | None = Field(default=None, gt=0)
    feed_amps: float = Field(default=32, gt=0)
    feed_phases: Literal[1, 3] = 3
    feeds_redundant: bool = True
    electricity_eur_kwh: Decimal | None = Field(default=None, ge=0, le=10)
    pue: float | None = Field(default=None, ge=1, le=4)
    noise_sensitive: bool = False


class Placement(Frozen):
    cloud_allowed: bool = True
    preference: Literal["own", "cloud", "hybrid", "cheapest"] = "cheapest"
    software_stack: Literal["any", "cuda", "rocm"] = "any"
    vendors_excluded: frozenset[str] = frozenset()
    cluster_network: Literal["any", "infiniband", "ethernet"] = "any"


class Growth(Frozen):
    load_pct_per_year: float = Field(default=0, ge=-90, le=1000)
    horizon_years: int = Field(default=3, ge=1, le=5)


class Budget(Frozen):
    max_eur: Decimal | None = Field(default=None, gt=0)


class Delivery(Frozen):
    start_on: date | None = None
    installation: bool = True
    support: Literal["none", "nbd_3y", "24x7_3y"] = "nbd_3y"


class OwnFigure(Frozen):
    """A customer's figure in the place of one of our assumptions, which bounds it (`quotes.sizing.assumptions.own`)."""

    key: str
    value: float = Field(allow_inf_nan=False)


# ── what is there already ───────────────────────────────────────────────────────────────────────────────────────


class ExistingGpu(Frozen):
    """`count` GPUs of a machine that the customer has. Readings are of one moment; None is not reported.

    No serial number, no unique id, no name of a process is ever part of it.
    """

    name: str = Field(default="", max_length=80)  # as the driver names it; empty when the paste names none
    sku: str = ""  # the accelerator of the catalog that it is; empty: unknown
    count: int = Field(default=1, ge=1, le=1024)
    memory_mib: float | None = Field(default=None, gt=0, le=1e8)
    memory_used_mib: float | None = Field(default=None, ge=0, le=1e8)
    utilisation_pct: float | None = Field(default=None, ge=0, le=100)
    temperature_c: float | None = Field(default=None, ge=0, le=200)
    power_w: float | None = Field(default=None, ge=0, le=10_000)
    power_cap_w: float | None = Field(default=None, gt=0, le=10_000)
    ecc_errors_count: int | None = Field(default=None, ge=0)  # uncorrected since the driver was loaded
    throttled_by: frozenset[Literal["temperature", "power"]] = frozenset()
    divided: bool = False  # MIG is on: software sees slices
    failing: bool = False  # the driver reports an error instead of a reading


class ExistingMachine(Frozen):
    """One machine with GPUs that the customer has."""

    name: str = Field(default="", max_length=63)  # host name without domain; empty when unknown
    driver: str = Field(default="", max_length=32)
    gpus: tuple[ExistingGpu, ...] = ()
    pasted: bool = False  # readings come from a paste; otherwise the customer listed the GPUs by hand

    @property
    def gpu_count(self) -> int:
        return sum(gpu.count for gpu in self.gpus)


class Workload(Frozen):
    """Everything the customer asked for, services and jobs together: hybrid means that both are present."""

    schema_version: Literal[1] = 1
    title: str = ""
    use_case: UseCase = UseCase.CUSTOM
    services: tuple[Service, ...] = ()
    jobs: tuple[Job, ...] = ()
    data: DataNeeds = DataNeeds()
    site: Site = Site()
    placement: Placement = Placement()
    growth: Growth = Growth()
    budget: Budget = Budget()
    delivery: Delivery = Delivery()
    existing: tuple[ExistingMachine, ...] = ()
    count_existing: bool = False  # size only for what `existing` leaves; otherwise it is compared and no more
    assumed: Annotated[frozenset[str], IN_ORDER] = (
        frozenset()
    )  # dotted paths of values the customer did not know
    own_figures: tuple[OwnFigure, ...] = ()

    @model_validator(mode="after")
    def _something_to_do(self) -> "Workload":
        if not self.services and not self.jobs:
            raise ValueError("a workload needs at least one service or job")
        names = [part.name for part in (*self.services, *self.jobs)]
        if len(set(names)) != len(names):
            raise ValueError("names of services and jobs must differ")
        keys = [figure.key for figure in self.own_figures]
        if len(set(keys)) != len(keys):
            raise ValueError("each of own_figures must have another key")
        return self

    @property
    def is_confidential(self) -> bool:
        return any(part.confidential for part in (*self.services, *self.jobs))
