"""Published training measurements as typed runs: names, units and habits of each source are understood here only."""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from catalog.specs import ModelArchitecture
from quotes.sizing.architecture import typical_architecture
from quotes.sizing.training_hardware import TrainingGpu
from quotes.sizing.training_memory import STATES, Loss, States
from quotes.sizing.training_model import attention_flops, trained_model

SUBJECTS = Path(__file__).parent.parent / "data" / "training_subjects.json"

type Row = Mapping[str, str]
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
    software_months: float = 0
    layout_known: bool = True
    states: States = STATES["adamw"]
    loss: Loss = "eager"
    lora_rank: float = 16
    full_adapter_ends: bool = False
    measure: Measure = "reserved"
    gibibytes: float = 1.0  # published unit in GiB
    host_offload: bool = False
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
def _subjects() -> Mapping[str, dict]:
    return json.loads(SUBJECTS.read_text(encoding="utf-8"))


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
    key = _match(_subjects()["model_names"], name)
    if key and key in _subjects()["models"]:
        return key, ModelArchitecture(key=key, name=key, **_subjects()["models"][key])
    if params_b:
        return f"typical-{params_b:g}b", typical_architecture(params_b)
    raise NotInScope("unknown model and no parameter count")


def gpt_shape(params_b: float) -> ModelArchitecture:
    """A GPT of `params_b` billion in the proportions of the BLOOM prototypes: hidden 14,336 (6,144 below 40 B)."""
    hidden = 14_336 if params_b >= 100 else 8_192 if params_b >= 40 else 6_144
    vocabulary = 150_000
    layers = max(1, round((params_b * 1e9 - vocabulary * hidden) / (12 * hidden**2)))
    return ModelArchitecture(
        key=f"gpt-{params_b:g}b", name=f"GPT {params_b:g}B", layers=layers, hidden=hidden, feed_forward=4 * hidden,
        query_heads=hidden // 128, kv_heads=hidden // 128, head_dim=128, vocabulary=vocabulary,
        tied_embeddings=True, gated_feed_forward=False,
    )  # fmt: skip


@cache
def subject_gpu(name: str) -> tuple[str, TrainingGpu]:
    """Key and figures of a named GPU. NotInScope when it is none that the product knows for training."""
    key = _match(_subjects()["gpu_names"], name)
    if key is None:
        raise NotInScope("the GPU is not named, or is no GPU that the product sizes training on")
    return key, TrainingGpu(**_subjects()["gpus"][key])


# ── cells ───────────────────────────────────────────────────────────────────────────────────────────────────────


def number(text: str | None) -> float | None:
    """The leading number of a cell, None when there is none."""
    found = re.match(r"\s*([\d.]+(?:e[+-]?\d+)?)", text or "", re.IGNORECASE)
    return float(found[1]) if found else None


def note(row: Row, key: str) -> str | None:
    """The value of `key=value` in the notes."""
    found = re.search(rf"(?:^|[;,]\s*){re.escape(key)}=([^;,]*)", row["notes"])
    return found[1].strip() if found else None


_SUFFIX = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}


def token_count(text: str | None) -> float | None:
    """'15T+', '350B unique …', '2097152' as a number."""
    found = re.search(r"([\d.]+(?:e[+-]?\d+)?)\s*([KMBT])?(?![a-z])", text or "", re.IGNORECASE)
    return float(found[1]) * _SUFFIX.get((found[2] or "").upper(), 1) if found else None


STACKS: tuple[tuple[str, str], ...] = (
    # source of the row → software family; families share the factors of `TrainingCalibration.stacks`
    (r"mosaicml", "fsdp_eager"),
    (r"training_results_v.*/results/|mlcommons/training_results.*results", "mlperf"),
    (r"cases_april|calculon|2205\.05198|mlsys\.org|gpt2\.md", "megatron_2021"),
    (r"bigscience|68810743420|2205\.01068", "megatron_2021"),
    (r"megatron|performance_summary|moe-modelzoo|2407\.21783|dgxc|stas00", "megatron"),
    (r"automodel", "fsdp_compiled"),
    (r"internevo|colossal", "fsdp_eager"),
    (r"fms-fsdp|torchtitan|pytorch/ao docs|maxtext|tinyllama|awsome-distributed", "fsdp_compiled"),
    (r"torchtune|torchao", "torchtune"),
    (r"primus", "primus"),
    (r"fms-acceleration", "hf"),
    (r"answerdotai", "fsdp_qlora"),
)


def stack_of(row: Row) -> str:
    """The software family that produced a row; 'hf' (Hugging Face Trainer and kin) when nothing else is said."""
    locator = row["source_locator"].lower()
    found = next((family for pattern, family in STACKS if re.search(pattern, locator)), "hf")
    if found == "hf" and re.search(r"foak|liger|unsloth", row["notes"], re.IGNORECASE):
        return "hf_fused"
    return found


def precision_of(row: Row, stack: str, hardware: TrainingGpu) -> Literal["bf16", "fp8", "mxfp8", "nvfp4"]:
    text = row["precision"].lower()
    if stack == "mlperf":
        text = "fp8"  # the logs do not say; every submission of these rounds trained in 8 bit where it could
    if hardware.fp8_tflops is None:
        return "bf16"
    for name in ("nvfp4", "mxfp8", "fp8"):
        if name in text:
            return name  # type: ignore[return-value]
    return "bf16"


def _method(row: Row) -> Literal["pretrain", "full", "lora", "qlora"]:
    return {"full_ft": "full"}.get(row["method"], row["method"])  # type: ignore[return-value]


def _base_bytes(row: Row, method: str) -> float:
    if method != "qlora":
        return 2.0
    text = row["precision"].lower()
    if "int8" in text or "8-bit" in text:
        return 1.02
    return 0.55 if "nf4" in text or ("bnb" in text and "dq" not in text) else 0.53


def _recompute(text: str, stack: str) -> Recompute:
    """What a source means by its checkpointing cell, and what its recipe does when the cell is empty."""
    text = text.lower()
    if text.startswith(("full", "recipe default", "unsloth", "yaml")):
        return "full"
    if "selective: none" in text or text in {"none", "no"}:
        return "none"
    if text.startswith(("sel", "mlp")):
        return "selective"
    return {"torchtune": "full", "fsdp_qlora": "full", "fsdp_compiled": "selective", "hf": "none"}.get(
        stack, "none"
    )  # type: ignore[return-value]


def _software_months(row: Row) -> float:
    """Months of a dated software container against August 2026, the newest; 0 when not dated."""
    found = re.search(r"(\d\d)\.(\d\d)(?:\.\d\d)? ?NeMo", row.get("date", ""))
    return (int(found[1]) - 26) * 12 + int(found[2]) - 8 if found else 0.0


def _degree(row: Row, key: str) -> int:
    cell = row.get(key, "") if key in row else note(row, key)
    return max(1, int(number(cell) or 1))


def _sequence(text: str, fallback: float | None) -> float | None:
    if found := re.search(r"(\d{2,})", text or ""):
        return float(found[1])
    if "alpaca" in (text or "").lower():
        return 512.0
    return fallback


# ── throughput rows ─────────────────────────────────────────────────────────────────────────────────────────────

_SEQUENCES = {
    "mlperf": 8192.0,
    "fsdp_compiled": 4096.0,
    "primus": 4096.0,
    "torchtune": 512.0,
    "megatron": 8192.0,
}
_PROJECT = {"gpu_hours"}


def throughput_run(row: Row) -> Run:
    """A row of training_throughput.csv. NotInScope with the reason when it cannot be predicted."""
    size = number(row["params_b"])
    hardware_key, hardware = subject_gpu(row["gpu"])
    model, arch = subject_model(row["model"], size)
    if "Megatron-LM images" in row["source_locator"]:
        model, arch = _core_gpt(row["model"], model, arch)
    stack, method = stack_of(row), _method(row)
    gpus = int(number(row["gpu_count"]) or 0)
    if row["metric"] in _PROJECT:
        return _project_run(row, model, arch, hardware_key, hardware, stack, method)
    if not gpus:
        raise NotInScope("the number of GPUs is not given")
    if row["metric"] == "time_to_train_min" and not token_count(row["tokens_trained"]):
        raise NotInScope("the tokens trained are not given, so minutes cannot be derived")
    if "Baseline (unpacked)" in row["notes"]:
        raise NotInScope("unpacked short examples: the rate counts padding away")
    sequence = number(row["seq_len"]) or _SEQUENCES.get(stack, 4096.0)
    tp, pp = _degree(row, "tp"), _degree(row, "pp")
    cp = _degree({"notes": row["notes"]}, "cp")
    zero = row["zero_stage_or_fsdp"].lower()
    if found := re.search(r"tp(\d)\+pp(\d)", zero):
        tp, pp = int(found[1]), int(found[2])
    micro = number(row["micro_batch"]) or (1.0 if sequence >= 8192 else 2.0 if sequence >= 4096 else 4.0)
    if pp > 1 and stack == "fsdp_compiled":
        micro = 1.0  # the source prints the batch of a replica, cut into single sequences by the pipeline
    dp = max(gpus / (tp * pp * cp), 1)
    batch_tokens = _global_batch(row, sequence, dp * micro)
    layout_known = stack != "mlperf"
    if not layout_known and batch_tokens:
        cp = max(1, round(gpus * sequence / batch_tokens))
    return Run(
        id=row["id"], model=model, arch=arch, gpu=hardware_key, hardware=hardware, stack=stack, method=method,
        precision=precision_of(row, stack, hardware), base_bytes=_base_bytes(row, method), gpus=gpus, tp=tp, pp=pp,
        cp=cp, ep=_degree(row, "ep"), virtual_stages=_virtual(row), sharding=_sharding(zero, method, gpus, tp * pp),
        shard_ranks=int(found[1]) if (found := re.search(r"group=(\d+)", zero)) else 0, sequence_tokens=sequence,
        micro_batch=micro, global_batch_tokens=batch_tokens, recompute=_recompute(row["activation_checkpointing"], stack),
        software_months=_software_months(row), layout_known=layout_known, measured=float(row["value"]),
        metric=row["metric"], params_b=size, tokens_trained=token_count(row["tokens_trained"]) or 0.0,
        counted_flops=_counted_flops(row, arch, sequence), source=row["source_title"],
    )  # fmt: skip


def _counted_flops(row: Row, arch: ModelArchitecture, sequence: float) -> float:
    """FLOPs per token that a source divides by: hardware FLOPs repeat the forward pass; only newer Megatron formulas
    halve attention for causality."""
    model = trained_model(arch)
    passes = (
        8 if re.search(r"hardware|HFU", row["notes"], re.IGNORECASE) and "mfu_pct" not in row["notes"] else 6
    )
    causal = 0.5 if re.search(r"Bridge|ModelZoo", row["source_locator"]) else 1.0
    return passes * (model.active_flops / 2 + causal * float(attention_flops(model, sequence)))


def _core_gpt(name: str, model: str, arch: ModelArchitecture) -> tuple[str, ModelArchitecture]:
    """The GPT shapes of the 2024 weak-scaling table, which share names with the shapes of 2021."""
    key = f"mcore-{name.lower()}"
    fields = _subjects()["models"].get(key)
    return (key, ModelArchitecture(key=key, name=name, **fields)) if fields else (model, arch)


def _virtual(row: Row) -> int:
    return max(1, int(number(note(row, "vp") or note(row, "vpp")) or 1))


def _global_batch(row: Row, sequence: float, one_pass: float) -> float:
    """Tokens per optimiser step; without a figure one micro-batch, or 32 when a pipeline must be filled."""
    cell = row["global_batch"]
    if found := re.match(r"^([\d.]+)\s*([KMBT])?", cell or ""):
        value = float(found[1])
        if value:
            return value * _SUFFIX[found[2]] if found[2] else value * sequence
    steps = number(note(row, "ga") or note(row, "grad_accum"))
    return one_pass * sequence * (steps or (32.0 if _degree(row, "pp") > 1 else 1.0))


def _sharding(text: str, method: str, gpus: int, group: int) -> Literal["none", "zero1", "zero2", "fsdp"]:
    if gpus <= group:
        return "none"
    if "shard_grad" in text or "zero-2" in text or "zero2" in text:
        return "zero2"
    if ("fsdp" in text or "hsdp" in text or "zero-3" in text) and "no fsdp" not in text:
        return "fsdp"
    return "none" if method in {"lora", "qlora"} else "zero1"


def _project_run(
    row: Row, model: str, arch: ModelArchitecture, gpu: str, hardware: TrainingGpu, stack: str, method: str
) -> Run:
    """GPU-hours of a whole project: no layout is published, so a usual one is assumed."""
    tokens = token_count(row["tokens_trained"])
    if not tokens or tokens < 1e9:
        raise NotInScope("the tokens trained are not given, so GPU-hours cannot be derived")
    sequence = number(row["seq_len"]) or 4096.0
    return Run(
        id=row["id"], model=model, arch=arch, gpu=gpu, hardware=hardware, stack="project", method=method,  # type: ignore[arg-type]
        precision="bf16", base_bytes=2.0, gpus=int(number(row["gpu_count"]) or 256), sharding="fsdp",
        sequence_tokens=sequence, micro_batch=1 if sequence >= 8192 else 2, global_batch_tokens=4e6,
        recompute="selective", layout_known=False, measured=float(row["value"]), metric=row["metric"],
        params_b=number(row["params_b"]), tokens_trained=tokens, source=row["source_title"],
    )  # fmt: skip
