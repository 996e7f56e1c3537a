"""Published training measurements as typed runs: names, units and habits of each source are understood here only."""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from catalog.specs import ModelArchitecture
from quotes.sizing.architecture import typical_architecture
from quotes.sizing.training_hardware import TrainingGpu
from quotes.sizing.training_memory import (
    LOSSES,
    STATES,
    Adapter,
    Batch,
    Loss,
    MemoryFactors,
    Split,
    States,
    training_memory,
)
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
    software_age_months: float = 0
    layout_known: bool = True
    states: States = STATES["adamw"]
    loss: Loss = "eager"
    lora_rank: float = 16
    full_adapter_ends: bool = False
    measure: Measure = "reserved"
    gibibytes: float = 1.0  # published unit in GiB
    residual_bytes: float = 2.0
    unfused_attention: bool = False
    sequence_parallel: bool = True
    accumulates_whole: bool = False  # gradients are summed unsharded over micro-batches
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
def _load_subjects() -> Mapping[str, Any]:
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
    key = _match(_load_subjects()["model_names"], name)
    if key and key in _load_subjects()["models"]:
        return key, ModelArchitecture(key=key, name=key, **_load_subjects()["models"][key])
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
    key = _match(_load_subjects()["gpu_names"], name)
    if key is None:
        raise NotInScope("the GPU is not named, or is no GPU that the product sizes training on")
    return key, TrainingGpu(**_load_subjects()["gpus"][key])


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
            return name
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


def fabric_of(row: Row, hardware: TrainingGpu) -> TrainingGpu:
    """The GPU with the network that the row names, else that of its reference platform."""
    notes = row["notes"].lower()
    found = next((rate for pattern, rate in FABRICS if re.search(pattern, notes)), None)
    if found is None and "bigscience" in row["source_locator"]:
        found = 50
    return hardware if found is None else hardware.model_copy(update={"fabric_gbit_s": found})


def _method(row: Row) -> Literal["pretrain", "full", "lora", "qlora"]:
    return {"full_ft": "full"}.get(row["method"], row["method"])  # type: ignore[return-value]


def _base_bytes(row: Row, method: str) -> float:
    if method != "qlora":
        return 2.0
    text = row["precision"].lower()
    if "int8" in text or "8-bit" in text:
        return 1.02
    return 0.55 if "nf4" in text or ("bnb" in text and "dq" not in text) else 0.53


_RECIPES: Mapping[str, Recompute] = {
    "torchtune": "full", "fsdp_qlora": "full", "fsdp_compiled": "selective", "torchtitan": "selective",
}  # fmt: skip


def _recompute(text: str, stack: str) -> Recompute:
    """What a source means by its checkpointing cell, and what its recipe does when the cell is empty."""
    text = text.lower()
    if text.startswith(("full", "recipe default", "unsloth", "yaml")):
        return "full"
    if "selective: none" in text or text in {"none", "no"}:
        return "none"
    if text.startswith(("sel", "mlp")):
        return "selective"
    return _RECIPES.get(stack, "none")


def _needed_recompute(run: Run, stack: str) -> Run:
    """Where a source is silent, full recomputation if the run would not fit without: nobody measures an overflow."""
    if stack not in {"automodel", "hf", "hf_fused"} or run.recompute != "none":
        return run
    shards = run.dp if run.sharding == "fsdp" else 1
    memory = training_memory(
        trained_model(run.arch),
        run.states,
        Split(tp=run.tp, pp=run.pp, cp=run.cp, dp=run.dp, ep=run.ep, weight_shards=shards, gradient_shards=shards,
              optimizer_shards=shards),
        Batch(run.sequence_tokens, run.micro_batch, recompute=0.0, loss=LOSSES.index("chunked")),
        MemoryFactors(),
        Adapter(float(run.frozen), run.base_bytes, run.lora_rank),
    )  # fmt: skip
    return run._replace(recompute="full") if float(memory.peak) > run.hardware.memory_gib * 2**30 else run


NEWEST = 2026 * 12 + 8  # month of the newest software measured
FRAMEWORKS_AGE = frozenset({"megatron", "mlperf", "primus", "torchtitan", "automodel"})


def _software_age(row: Row, stack: str) -> float:
    """Months by which a dated run is older than the newest measured software; 0 for undated or settled software."""
    if stack not in FRAMEWORKS_AGE:
        return 0.0
    date = row.get("date", "")
    if found := re.search(r"(\d\d)\.(\d\d)(?:\.\d\d)? ?NeMo", date):
        return NEWEST - ((2000 + int(found[1])) * 12 + int(found[2]))
    if found := re.search(r"(20\d\d)(?:-(\d\d))?", date):
        return NEWEST - (int(found[1]) * 12 + int(found[2] or 6))
    return 0.0


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
    "torchtitan": 8192.0,
    "primus": 4096.0,
    "torchtune": 512.0,
    "megatron": 8192.0,
}
_PROJECT = {"gpu_hours"}


def throughput_run(row: Row) -> Run:
    """A row of training_throughput.csv. NotInScope with the reason when it cannot be predicted."""
    size = number(row["params_b"])
    hardware_key, hardware = subject_gpu(row["gpu"])
    hardware = fabric_of(row, hardware)
    model, arch = subject_model(row["model"], size)
    if stack_of(row) == "hf" and model.startswith("llama4"):
        # This implementation sends every token through every expert and masks afterwards.
        arch = arch.model_copy(update={"experts_per_token": arch.experts, "active_params_b": None})
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
    virtual = max(1, int(number(note(row, "vp") or note(row, "vpp")) or 1))
    if pp > 1 and stack == "torchtitan":
        # The source prints the batch of a replica; its pipeline cuts it into as many micro-batches as stages.
        micro, virtual = max(micro / pp, 1.0), 2 if "Interleaved" in row["notes"] else 1
    if stack == "megatron" and not row["tp"] and not row["pp"]:
        tp, pp = _usual_megatron(arch, hardware, gpus)
    dp = max(gpus / (tp * pp * cp), 1)
    batch_tokens = _global_batch(row, sequence, dp, micro, pp)
    layout_known = stack != "mlperf"
    if not layout_known and batch_tokens:
        # Fewer sequences than GPUs: several GPUs share one, inside the fast domain as tensor parallelism.
        shared = max(1, round(gpus * sequence / batch_tokens))
        tp = min(shared, 8)
        cp = max(1, shared // tp)
    run = Run(
        id=row["id"], model=model, arch=arch, gpu=hardware_key, hardware=hardware, stack=stack, method=method,
        precision=precision_of(row, stack, hardware, moe=arch.is_moe), base_bytes=_base_bytes(row, method),
        gpus=gpus, tp=tp, pp=pp,
        cp=cp, ep=_degree(row, "ep"), virtual_stages=virtual, sharding=_sharding(zero, method, gpus, tp * pp),
        shard_ranks=int(found[1]) if (found := re.search(r"group=(\d+)", zero)) else 0, sequence_tokens=sequence,
        micro_batch=micro, global_batch_tokens=batch_tokens,
        recompute=_recompute(row["activation_checkpointing"], stack),
        software_age_months=_software_age(row, stack), layout_known=layout_known, measured=float(row["value"]),
        metric=row["metric"], params_b=size, tokens_trained=token_count(row["tokens_trained"]) or 0.0,
        counted_flops=_counted_flops(row, arch, sequence), source=row["source_title"],
    )  # fmt: skip
    silent = not row["activation_checkpointing"]
    return _needed_recompute(run, stack) if silent else run


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
    fields = _load_subjects()["models"].get(key)
    return (key, ModelArchitecture(key=key, name=name, **fields)) if fields else (model, arch)


def _usual_megatron(arch: ModelArchitecture, hardware: TrainingGpu, gpus: int) -> tuple[int, int]:
    """Tensor and pipeline degrees for a row that gives none: as little as holds 8 bytes per parameter in half a GPU."""
    params = trained_model(arch).params
    tp = 8 if params > 2e10 else 1
    pp = 1
    while params * 8 / (tp * pp) > 0.5 * hardware.memory_gib * 2**30 and tp * pp * 2 <= gpus:
        pp *= 2
    return tp, pp


def _global_batch(row: Row, sequence: float, dp: float, micro: float, pp: int) -> float:
    """Tokens per optimiser step; without a figure one micro-batch, or 32 when a pipeline must be filled."""
    if found := re.match(r"^([\d.]+)\s*([KMBT])?", row["global_batch"] or ""):
        value = float(found[1])
        if value:
            return value * _SUFFIX[found[2]] if found[2] else value * sequence
    if per_replica := number(note(row, "batch_per_dp")):
        return per_replica * dp * sequence
    steps = number(note(row, "ga") or note(row, "grad_accum"))
    return dp * micro * sequence * (steps or (32.0 if pp > 1 else 1.0))


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


# ── memory rows ─────────────────────────────────────────────────────────────────────────────────────────────────

GIB_PER_GB = 1e9 / 2**30
NEAR_THE_WALL = 0.9  # of the card: beyond, the allocator fills what there is and tells nothing


def memory_run(row: Row) -> Run:
    """A row of training_memory.csv. NotInScope with the reason when it cannot be predicted."""
    if "ESTIMATE" in row["notes"]:
        raise NotInScope("a rule of thumb of a vendor, not a measurement")
    if "MINIMUM" in row["notes"]:
        raise NotInScope("an absolute minimum stated by a vendor, not a measured peak")
    size = number(row["params_b"])
    model, arch = subject_model(row["model"], size)
    key, hardware = _memory_gpu(row)
    stack, method = stack_of(row), _method(row)
    layout = _memory_layout(row, arch)
    sequence = _sequence(row["seq_len"], 4096.0 if layout["pp"] > 1 else None)
    if row["seq_len"] == "default":
        sequence = 512.0
    micro = _memory_batch(row, layout)
    if sequence is None and "Alpaca" in row["notes"]:
        sequence, micro = 512.0, micro or 2.0
    if sequence is None:
        raise NotInScope("the sequence length is not stated")
    if micro is None and row["micro_batch"].startswith("not stated"):
        raise NotInScope("the micro-batch is not stated")
    if "Baseline (unpacked)" in row["notes"]:
        raise NotInScope("unpacked short examples: the real sequence length is not stated")
    if not row["micro_batch"] and not row["seq_len"]:
        raise NotInScope("sequence length and micro-batch are not stated")
    return Run(
        id=row["id"], model=model, arch=arch, gpu=key, hardware=hardware, stack=stack, method=method,
        precision=precision_of(row, stack, hardware, moe=arch.is_moe), base_bytes=_base_bytes(row, method),
        sequence_tokens=sequence, micro_batch=micro or 1.0,
        global_batch_tokens=(number(note(row, "gbs")) or 0.0) * sequence,
        recompute=_memory_recompute(row, stack), states=_states_of(row, stack, method),
        residual_bytes=_residual_bytes(row, stack, method, layout["sharding"]),
        sequence_parallel=stack != "megatron_2021" or "sequence parallel" in row["activation_checkpointing"],
        accumulates_whole="micro_num=" in row["notes"], unfused_attention=_unfused(row, stack, model),
        loss=_loss_of(row, stack),
        lora_rank=_rank_of(row), full_adapter_ends="LoRA (emb)" in row["notes"], measure=_measure_of(row),
        gibibytes=GIB_PER_GB if re.search(r"unit=GB\b|GB as published", row["notes"]) else 1.0,
        host_offload=_offload_of(row),
        measured=number(row["peak_mem_gib_per_gpu"]) or 0.0, metric="peak_mem_gib_per_gpu", params_b=size,
        source=row["source_locator"], **layout,
    )  # fmt: skip


def device_run(row: Row) -> Run | None:
    """The same run as the driver saw it, where a source prints that too and the allocator was not at the wall."""
    seen = re.search(r"nvidia-smi reserved MiB=([\d.]+)", row["notes"])
    if not seen or row["outcome"] != "fits":
        return None
    run = memory_run(row)
    gib = float(seen[1]) / 1024
    if gib > NEAR_THE_WALL * run.hardware.memory_gib:
        return None
    return run._replace(measure="device", measured=gib, gibibytes=1.0)


def _memory_gpu(row: Row) -> tuple[str, TrainingGpu]:
    try:
        return subject_gpu(row["gpu"])
    except NotInScope:
        if row["gpu"] and "not stated" not in row["gpu"]:
            raise
        return "unknown", TrainingGpu(
            name="unknown", generation="other", memory_gib=1e6, bf16_tflops=300, memory_bandwidth_gb_s=2000
        )


def _memory_layout(row: Row, arch: ModelArchitecture) -> dict[str, Any]:
    """Degrees and sharding from cells such as 'ZeRO-1 dp=8 tp=8 pp=6', 'FSDP2 8', 'tp=2 pp=1 ep=8'."""
    text = row["sharding"].lower()
    gpus = int(number(row["gpu_count"]) or 0)
    found = {name: int(value) for name, value in re.findall(r"\b(tp|pp|dp|ep|cp|vpp)=(\d+)", text)}
    if both := re.search(r"tp(\d)\+pp(\d)", text):
        found |= {"tp": int(both[1]), "pp": int(both[2])}
    tp, pp, ep = found.get("tp", 1), found.get("pp", 1), found.get("ep", 1)
    cp = int(number(note(row, "cp")) or found.get("cp", 1))
    if not gpus:
        gpus = max(tp * pp * cp * found.get("dp", 1), ep)
    virtual = found.get("vpp", int(number(note(row, "vpp")) or 1))
    if "v-half" in text or "v-min" in text or "zb" in text:
        virtual = 1
    if "naive pipeline" in text:
        pp = gpus
    sharding: Literal["none", "zero1", "zero2", "fsdp"] = "none"
    if re.search(r"fsdp|zero-?3", text) and "ddp (devices" not in text:
        sharding = "fsdp"
    elif re.search(r"zero-?2", text):
        sharding = "zero2"
    elif re.search(r"zero-?1|distributed", text + row["optimizer"].lower()):
        sharding = "zero1"
    if "litgpt" in row["source_locator"] and row["method"] != "full_ft":
        sharding = "none"  # its peak holds the whole model: it is loaded before it is sharded
    return {
        "gpus": gpus,
        "tp": tp,
        "pp": pp,
        "cp": cp,
        "ep": ep,
        "virtual_stages": virtual,
        "sharding": sharding,
    }


def _memory_batch(row: Row, layout: dict[str, Any]) -> float | None:
    found = number(re.sub(r"[^\d.]*", "", row["micro_batch"].split("-")[0], count=1) or None)
    if "per DP" in row["micro_batch"] and layout["pp"] > 1:
        raise NotInScope("the micro-batch of the pipeline is not stated")
    if found and "torchtitan" in row["source_locator"] and layout["pp"] > 1:
        return max(found / layout["pp"], 1.0)
    return found


def _memory_recompute(row: Row, stack: str) -> Recompute:
    text = row["activation_checkpointing"].lower()
    if text.startswith("litgpt"):
        return "full" if "fsdp" in row["sharding"].lower() and "devices" not in row["sharding"] else "none"
    if text.startswith("not stated (off"):
        return "full" if "fsdp" in row["sharding"].lower() else "none"
    if text.startswith("selective (per-op)"):
        return "selective"
    if text in {"", "not stated"}:
        return {"megatron": "selective", "torchtitan": "selective", "primus": "none"}.get(stack, "full")  # type: ignore[return-value]
    return _recompute(text, stack)


def _residual_bytes(row: Row, stack: str, method: str, sharding: str) -> float:
    """Adapters trained under autocast with full sharding keep the residual stream, and the saved inputs, in 32 bit."""
    pure = "pure" in row["precision"] or re.search(r"a100_80gb(_granite)?\.csv|litgpt", row["source_locator"])
    autocast = sharding == "fsdp" and stack in {"hf", "hf_fused"} and not pure
    return 4.0 if method in {"lora", "qlora"} and autocast else 2.0


def _offload_of(row: Row) -> Literal["none", "optimizer", "all"]:
    text = f"{row['sharding']} {row['optimizer']}".lower()
    if "offload" not in text and "CPU offload" not in row["notes"]:
        return "none"
    if "0% optimizer cpu offload" in text and "100%" not in text:
        return "none"
    return "optimizer" if re.search(r"optimizer (cpu )?offload", text) and "param" not in text else "all"


def _unfused(row: Row, stack: str, model: str) -> bool:
    """Sources whose attention writes its scores out: Megatron before FlashAttention, and model code without it."""
    if "w/o flash" in row["notes"].lower() or "w/o FlashAttention" in row["notes"]:
        return True
    swift = "modelscope/swift" in row["source_locator"]
    first_mpt = "llm-foundry#" in row["source_locator"]
    return stack == "megatron_2021" or first_mpt or (swift and not model.startswith("qwen"))


def _states_of(row: Row, stack: str, method: str) -> States:
    text = f"{row['precision']} {row['optimizer']} {row['notes']}".lower()
    if method in {"lora", "qlora"}:
        return STATES["adamw"]
    if "paged" in text and not re.search(r"in_bwd|in.backward", text):
        return STATES["adamw_paged"]
    eight_bit = "8-bit" in text or "8bit" in text or "4-bit" in text
    if "paged" in text:
        return STATES["adamw_paged_in_backward"]
    if (
        "in backward" in text
        or "in_bwd" in text
        or "fused in bwd" in text
        or "in_backward" in text
        or "optimizer_in_bwd" in text
    ):
        return STATES["adamw_8bit_in_backward" if eight_bit else "adamw_in_backward"]
    if eight_bit:
        return STATES["adamw_8bit"]
    swift = "modelscope/swift" in row["source_locator"]
    if swift or "pure" in text or "bf16-true" in text or "bf16 states" in text:
        return STATES["adamw_pure"]
    if "bigscience" in row["source_locator"]:
        # The source: from 28 February on a BF16 optimiser that accumulates in 32 bit, before that 16-bit gradients.
        return STATES["adamw_bf16_accumulating" if "02-28" in row["notes"] else "adamw_fp16"]
    if stack in {"megatron", "megatron_2021", "primus"}:
        return STATES["adamw_main_gradients"]
    return STATES["adamw_deepspeed" if "zero" in row["sharding"].lower() else "adamw"]


def _loss_of(row: Row, stack: str) -> Loss:
    notes = row["notes"].lower()
    if "liger" in notes or "unsloth" in notes:
        return "fused"
    if "foak" in notes:
        return "fast"
    if stack == "torchtune" and re.search(r"step: (baseline|\+packed|\+compile)", notes):
        return "eager"
    if stack == "torchtune":
        return "chunked"
    if stack in {"megatron", "megatron_2021", "primus"}:
        return "chunked"
    return "eager"


def _rank_of(row: Row) -> float:
    return number(row["lora_rank"]) or 16.0


def _measure_of(row: Row) -> Measure:
    notes = row["notes"].lower()
    if "nvidia-smi style" in notes or "rounded up" in notes:
        return "device"
    if re.search(r"reserved", notes) and not notes.startswith("peak torch allocated"):
        return "reserved"
    if "allocat" in notes or "peak active" in notes:
        return "allocated"
    if "qwenlm/" in row["source_locator"].lower() or "modelscope/swift" in row["source_locator"]:
        return "device"
    return "reserved"
