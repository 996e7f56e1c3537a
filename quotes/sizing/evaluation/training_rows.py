"""Rows of published training speed as typed runs: units and habits of each source are understood here only."""

import re
from typing import Literal

from catalog.specs import CatalogSnapshot, ModelArchitecture
from quotes.sizing.evaluation.base import Row
from quotes.sizing.evaluation.training_run import (
    SUFFIX,
    NotInScope,
    Run,
    base_bytes_of,
    degree,
    gpu_for,
    load_subjects,
    method_of,
    note,
    number,
    precision_of,
    recompute_of,
    stack_of,
    subject_model,
    surroundings_of,
    token_count,
)
from quotes.sizing.training.hardware import TrainingGpu
from quotes.sizing.training.memory import LOSSES, Adapter, Batch, MemoryFactors, Split, training_memory
from quotes.sizing.training.model import attention_flops, trained_model

NEWEST = 2026 * 12 + 8  # month of the newest software measured
FRAMEWORKS_AGE = frozenset({"megatron", "mlperf", "primus", "torchtitan", "automodel"})
_SEQUENCES = {
    "mlperf": 8192.0,
    "fsdp_compiled": 4096.0,
    "torchtitan": 8192.0,
    "primus": 4096.0,
    "torchtune": 512.0,
    "megatron": 8192.0,
}
_PROJECT = {"gpu_hours"}


def throughput_run(row: Row, catalog: CatalogSnapshot | None = None) -> Run:
    """A row of training_throughput.csv. NotInScope with the reason when it cannot be predicted. `catalog`: where to
    look for a GPU of which there are no published runs."""
    size = number(row["params_b"])
    hardware_key, hardware = gpu_for(row["gpu"], catalog)
    hardware = surroundings_of(row, hardware_key, hardware)
    model, arch = subject_model(row["model"], size)
    if stack_of(row) == "hf" and model.startswith("llama4"):
        # This implementation sends every token through every expert and masks afterwards.
        arch = arch.model_copy(update={"experts_per_token": arch.experts, "active_params_b": None})
    if "Megatron-LM images" in row["source_locator"]:
        model, arch = _core_gpt(row["model"], model, arch)
    stack, method = stack_of(row), method_of(row)
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
    tp, pp = degree(row, "tp"), degree(row, "pp")
    cp = degree({"notes": row["notes"]}, "cp")
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
    if stack == "mlperf" and batch_tokens:
        # Fewer sequences than GPUs: several GPUs share one, inside the fast domain as tensor parallelism.
        shared = max(1, round(gpus * sequence / batch_tokens))
        tp = min(shared, 8)
        cp = max(1, shared // tp)
    run = Run(
        id=row["id"], model=model, arch=arch, gpu=hardware_key, hardware=hardware, stack=stack, method=method,
        precision=precision_of(row, stack, hardware, moe=arch.is_moe), base_bytes=base_bytes_of(row, method),
        gpus=gpus, tp=tp, pp=pp,
        cp=cp, ep=degree(row, "ep"), virtual_stages=virtual, sharding=_sharding(zero, method, gpus, tp * pp),
        shard_ranks=int(found[1]) if (found := re.search(r"group=(\d+)", zero)) else 0, sequence_tokens=sequence,
        micro_batch=micro, global_batch_tokens=batch_tokens,
        recompute=recompute_of(row["activation_checkpointing"], stack),
        software_age_months=_software_age(row, stack), measured=float(row["value"]),
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
    fields = load_subjects()["models"].get(key)
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
            return value * SUFFIX[found[2]] if found[2] else value * sequence
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
        recompute="selective", measured=float(row["value"]), metric=row["metric"],
        params_b=number(row["params_b"]), tokens_trained=tokens, source=row["source_title"],
    )  # fmt: skip


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
