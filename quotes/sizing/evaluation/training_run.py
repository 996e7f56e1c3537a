"""A published training run, typed, and what all tables share: names of models, GPUs and software, units, habits."""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from catalog.specs import CatalogSnapshot, ModelArchitecture
from quotes.sizing.architecture import typical_architecture
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.evaluation.base import Row
from quotes.sizing.evaluation.names import OutOfScope, find_accelerator
from quotes.sizing.training.calibration import load_training_calibration
from quotes.sizing.training.hardware import TrainingGpu
from quotes.sizing.training.memory import STATES, Loss, States
from quotes.sizing.training.plan import surrounded

USUAL_NODE = 8  # GPUs in a server
SUBJECTS = Path(__file__).parent.parent / "data" / "training_subjects.json"

type Recompute = Literal["none", "selective", "full"]
type Measure = Literal["allocated", "reserved", "device"]


class NotInScope(ValueError):
    """The row describes something that the product does not size, or leaves out what a prediction needs."""


class Run(NamedTuple):
    """One measured or planned training run."""

    id: str
    model: str  # key of the subject
    arch: ModelArchitecture
    gpu: str
    hardware: TrainingGpu
    stack: str  # software, see `stack_of`
    method: Literal["pretrain", "full", "lora", "qlora"]
    precision: Literal["bf16", "fp8", "mxfp8", "nvfp4"]
    base_bytes: float  # per frozen weight; 2 when nothing is frozen
    gpus: int
    tp: int = 1
    pp: int = 1
    cp: int = 1
    ep: int = 1
    virtual_stages: int = 1
    sharding: Literal["none", "zero1", "zero2", "fsdp"] = "none"
    shard_ranks: int = 0
    sequence_tokens: float = 4096
    micro_batch: float = 1
    global_batch_tokens: float = 0
    recompute: Recompute = "none"
    software_age_months: float = 0
    states: States = STATES["adamw"]
    loss: Loss = "eager"
    lora_rank: float = 16
    full_adapter_ends: bool = False
    measure: Measure = "reserved"
    gibibytes: float = 1.0  # published unit in GiB
    residual_bytes: float = 2.0
    unfused_attention: bool = False
    sequence_parallel: bool = True
    host_offload: Literal["none", "optimizer", "all"] = "none"
    measured: float = 0.0  # in the row's own metric
    metric: str = ""
    params_b: float | None = None
    tokens_trained: float = 0
    counted_flops: float = 0  # FLOPs per token as the source counts them, for rows given in TFLOP/s or MFU
    source: str = ""

    @property
    def dp(self) -> float:
        return max(self.gpus / (self.tp * self.pp * self.cp), 1)

    @property
    def frozen(self) -> bool:
        return self.method in {"lora", "qlora"}

    @property
    def is_moe(self) -> bool:
        return self.arch.is_moe


# ── subjects ────────────────────────────────────────────────────────────────────────────────────────────────────


@cache
def load_subjects() -> Mapping[str, Any]:
    subjects: Mapping[str, Any] = json.loads(SUBJECTS.read_text(encoding="utf-8"))
    return subjects


def _match(names: list[list[str]], text: str) -> str | None:
    for pattern, template in names:
        if found := re.search(pattern, text.lower()):
            return template.format(*(found.groups() or ()))
    return None


@cache
def subject_model(name: str, params_b: float | None = None) -> tuple[str, ModelArchitecture]:
    """Key and architecture of a named model. Megatron prototypes are told apart by size; an unknown name gets a
    typical shape of its size. NotInScope when there is not even a size."""
    if re.search(r"stable diffusion|flux|wan \d", name, re.IGNORECASE):
        raise NotInScope("no language model: images and video are sized from measured rates")
    if re.search(r"\bt0_|t5|ul2", name, re.IGNORECASE):
        raise NotInScope("encoder-decoder models are not sized")
    if re.search(r"prototype|^gpt 52b", name, re.IGNORECASE) and params_b:
        return f"gpt-prototype-{params_b:g}b", gpt_shape(params_b)
    key = _match(load_subjects()["model_names"], name)
    if key and key in load_subjects()["models"]:
        return key, ModelArchitecture(key=key, name=key, **load_subjects()["models"][key])
    if params_b:
        return f"typical-{params_b:g}b", typical_architecture(params_b)
    raise NotInScope("unknown model and no parameter count")


def gpt_shape(params_b: float) -> ModelArchitecture:
    """A GPT of `params_b` billion as the trials before BLOOM had it: hidden 14,336 and 250,880 tokens; the older one of
    52 billion had 8,192 and a GPT-2 vocabulary."""
    older = params_b == 52
    hidden, vocabulary = (8_192, 50_304) if older else (14_336, 250_880)
    layers = max(1, round((params_b * 1e9 - vocabulary * hidden) / (12 * hidden**2)))
    return ModelArchitecture(
        key=f"gpt-{params_b:g}b", name=f"GPT {params_b:g}B", layers=layers, hidden=hidden, feed_forward=4 * hidden,
        query_heads=hidden // 128, kv_heads=hidden // 128, head_dim=128, vocabulary=vocabulary,
        tied_embeddings=True, gated_feed_forward=False,
    )  # fmt: skip


@cache
def subject_gpu(name: str) -> tuple[str, TrainingGpu]:
    """Key and figures of a named GPU. NotInScope when it is none that the product knows for training."""
    key = _match(load_subjects()["gpu_names"], name)
    if key is None:
        raise NotInScope("the GPU is not named, or is no GPU that the product sizes training on")
    return key, TrainingGpu(**load_subjects()["gpus"][key])


def gpu_for(name: str, catalog: CatalogSnapshot | None) -> tuple[str, TrainingGpu]:
    """The same; one that only the catalog knows stands in a server of eight, if its generation was measured at all."""
    try:
        return subject_gpu(name)
    except NotInScope:
        if catalog is None or not name:
            raise
    try:
        accelerator = find_accelerator(name, catalog)
    except OutOfScope as reason:
        raise NotInScope(str(reason)) from None
    found = surrounded(accelerator, USUAL_NODE, Assumptions())
    if found is None or found.generation not in load_training_calibration().generations:
        raise NotInScope(f"No published run tells how {accelerator.name} trains.")
    return accelerator.sku, found


# ── cells ───────────────────────────────────────────────────────────────────────────────────────────────────────


def number(text: str | None) -> float | None:
    """The leading number of a cell, None when there is none."""
    found = re.match(r"\s*([\d.]+(?:e[+-]?\d+)?)", text or "", re.IGNORECASE)
    return float(found[1]) if found else None


def note(row: Row, key: str) -> str | None:
    """The value of `key=value` in the notes."""
    found = re.search(rf"(?:^|[;,]\s*){re.escape(key)}=([^;,]*)", row["notes"])
    return found[1].strip() if found else None


SUFFIX = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}


def token_count(text: str | None) -> float | None:
    """'15T+', '350B unique …', '2097152' as a number."""
    found = re.search(r"([\d.]+(?:e[+-]?\d+)?)\s*([KMBT])?(?![a-z])", text or "", re.IGNORECASE)
    return float(found[1]) * SUFFIX.get((found[2] or "").upper(), 1) if found else None


STACKS: tuple[tuple[str, str], ...] = (
    # source of the row → software family; families share the factors of `TrainingCalibration.stacks`
    (r"mosaicml", "llm_foundry"),
    (r"training_results_v.*/results/|mlcommons/training_results.*results", "mlperf"),
    (r"cases_april|calculon|stas00|2205\.05198|mlsys\.org|gpt2\.md", "megatron_2021"),
    (r"bigscience|68810743420|2205\.01068", "megatron_2021"),
    (r"megatron|performance_summary|moe-modelzoo|2407\.21783|dgxc", "megatron"),
    (r"automodel", "automodel"),
    (r"internevo|colossal", "fsdp_eager"),
    (r"torchtitan|pytorch/ao docs", "torchtitan"),
    (r"fms-fsdp|maxtext|tinyllama", "fsdp_compiled"),
    (r"torchtune|torchao", "torchtune"),
    (r"primus", "primus"),
    (r"fms-acceleration", "hf"),
    (r"answerdotai", "fsdp_qlora"),
    (r"litgpt", "litgpt"),
)


def stack_of(row: Row) -> str:
    """The software family that produced a row; 'hf' (Hugging Face Trainer and kin) when nothing else is said."""
    locator = row["source_locator"].lower()
    found = next((family for pattern, family in STACKS if re.search(pattern, locator)), "hf")
    if found == "hf" and re.search(r"foak|liger|unsloth", row["notes"], re.IGNORECASE):
        return "hf_fused"
    return found


def precision_of(
    row: Row, stack: str, hardware: TrainingGpu, *, moe: bool
) -> Literal["bf16", "fp8", "mxfp8", "nvfp4"]:
    """The arithmetic of most matrix products. The NVFP4 recipes of mixtures of experts keep them in MXFP8."""
    text = row["precision"].lower()
    if moe and "nvfp4" in text:
        text = "mxfp8"
    if stack == "mlperf":
        # The logs do not say. Submissions of these rounds trained in 8 bit where they could, and NVIDIA's first ones on
        # rack-scale Blackwell Ultra in NVFP4, as NVIDIA told when it published them.
        text = "nvfp4" if hardware.name == "GB300" else "fp8"
    if hardware.fp8_tflops is None:
        return "bf16"
    for name in ("nvfp4", "mxfp8", "fp8"):
        if name in text:
            # Scales per row cost what scales per block cost: every operand is read once more to find them.
            return "mxfp8" if name == "fp8" and "rowwise" in row["notes"] else name
    return "bf16"


FABRICS: tuple[tuple[str, float], ...] = (
    # what a source says of its network, in Gb/s per GPU
    (r"4x100gb roce per node", 50),
    (r"inter-node network 800gbps", 100),
    (r"inter-node network 400gbps", 50),
    (r"4x200gb/s per node|4 x 200g", 100),
    (r"2xbf3 400gbps for ew", 100),
    (r"4 omni-path", 50),
)


LIMITED_WATTS = {"b200": 750.0}  # what 'power limited' means where the figure is given


def surroundings_of(row: Row, key: str, hardware: TrainingGpu) -> TrainingGpu:
    """The GPU with the network and the power limit that the row names, else those of its reference platform."""
    notes = row["notes"].lower()
    found = next((rate for pattern, rate in FABRICS if re.search(pattern, notes)), None)
    if found is None and "bigscience" in row["source_locator"]:
        found = 50
    changed: dict[str, float] = {} if found is None else {"fabric_gbit_s": found}
    if "power limited" in notes and key in LIMITED_WATTS:
        changed["power_w"] = LIMITED_WATTS[key]
    return hardware.model_copy(update=changed)


def method_of(row: Row) -> Literal["pretrain", "full", "lora", "qlora"]:
    return {"full_ft": "full"}.get(row["method"], row["method"])  # type: ignore[return-value]


def base_bytes_of(row: Row, method: str) -> float:
    if method != "qlora":
        return 2.0
    text = row["precision"].lower()
    if "int8" in text or "8-bit" in text:
        return 1.02
    return 0.55 if "nf4" in text or ("bnb" in text and "dq" not in text) else 0.53


_RECIPES: Mapping[str, Recompute] = {
    "torchtune": "full", "fsdp_qlora": "full", "fsdp_compiled": "selective", "torchtitan": "selective",
}  # fmt: skip


def recompute_of(text: str, stack: str) -> Recompute:
    """What a source means by its checkpointing cell, and what its recipe does when the cell is empty."""
    text = text.lower()
    if text.startswith(("full", "recipe default", "unsloth", "yaml")):
        return "full"
    if "selective: none" in text or text in {"none", "no"}:
        return "none"
    if text.startswith(("sel", "mlp")):
        return "selective"
    return _RECIPES.get(stack, "none")


def degree(row: Row, key: str) -> int:
    cell = row.get(key, "") if key in row else note(row, key)
    return max(1, int(number(cell) or 1))
