"""Rows of published peak memory as typed runs: which optimiser, loss and checkpointing each source means."""

import re
from typing import Any, Literal

from catalog.specs import CatalogSnapshot, ModelArchitecture
from quotes.sizing.evaluation.base import Row
from quotes.sizing.evaluation.training_run import (
    Measure,
    NotInScope,
    Recompute,
    Run,
    base_bytes_of,
    gpu_for,
    method_of,
    note,
    number,
    precision_of,
    recompute_of,
    stack_of,
    subject_model,
)
from quotes.sizing.training.hardware import TrainingGpu
from quotes.sizing.training.memory import STATES, Loss, States

GIB_PER_GB = 1e9 / 2**30
FUSED = frozenset({"torchtune", "torchtitan", "litgpt"})  # whose optimiser steps in place, in one kernel


def memory_run(row: Row, catalog: CatalogSnapshot | None = None) -> Run:
    """A row of training_memory.csv. NotInScope with the reason when it cannot be predicted. `catalog`: where to
    look for a GPU of which there are no published runs."""
    if "ESTIMATE" in row["notes"]:
        raise NotInScope("a rule of thumb of a vendor, not a measurement")
    if "MINIMUM" in row["notes"]:
        raise NotInScope("an absolute minimum stated by a vendor, not a measured peak")
    size = number(row["params_b"])
    model, arch = subject_model(row["model"], size)
    key, hardware = _memory_gpu(row, catalog)
    stack, method = stack_of(row), method_of(row)
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
    if "per DP" in row["micro_batch"]:
        raise NotInScope("the batch of a replica is given, not the micro-batches that it is cut into")
    if not row["micro_batch"] and not row["seq_len"]:
        raise NotInScope("sequence length and micro-batch are not stated")
    return Run(
        id=row["id"], model=model, arch=arch, gpu=key, hardware=hardware, stack=stack, method=method,
        precision=precision_of(row, stack, hardware, moe=arch.is_moe), base_bytes=base_bytes_of(row, method),
        sequence_tokens=sequence, micro_batch=micro or 1.0,
        global_batch_tokens=(number(note(row, "gbs")) or 0.0) * sequence,
        recompute=_memory_recompute(row, stack), states=_states_of(row, stack, method, moe=arch.is_moe),
        residual_bytes=_residual_bytes(row, stack, method, layout["sharding"]),
        sequence_parallel=stack != "megatron_2021" or "sequence parallel" in row["activation_checkpointing"],
        unfused_attention=_unfused(row, stack, model),
        loss=_loss_of(row, stack, hardware.generation),
        lora_rank=_rank_of(row), full_adapter_ends="LoRA (emb)" in row["notes"], measure=_measure_of(row),
        gibibytes=GIB_PER_GB if re.search(r"unit=GB\b|GB as published", row["notes"]) else 1.0,
        host_offload=_offload_of(row),
        measured=number(row["peak_mem_gib_per_gpu"]) or 0.0, metric="peak_mem_gib_per_gpu", params_b=size,
        source=row["source_locator"], **layout,
    )  # fmt: skip


def _memory_gpu(row: Row, catalog: CatalogSnapshot | None) -> tuple[str, TrainingGpu]:
    try:
        return gpu_for(row["gpu"], catalog)
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
    return recompute_of(text, stack)


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


def _states_of(row: Row, stack: str, method: str, *, moe: bool) -> States:
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
        return STATES["adamw_pure_fused" if stack in FUSED else "adamw_pure"]
    if "bigscience" in row["source_locator"]:
        # The source: from 28 February on a BF16 optimiser that accumulates in 32 bit, before that 16-bit gradients.
        return STATES["adamw_bf16_accumulating" if "02-28" in row["notes"] else "adamw_16bit_gradients"]
    if "Megatron-Bridge" in row["source_locator"]:
        # Its recipes reduce gradients in 16 bit, and keep moments of mixtures of experts in 16 bit as well.
        return STATES["adamw_16bit_moments" if moe else "adamw_16bit_gradients"]
    if stack in {"megatron", "megatron_2021", "primus"}:
        return STATES["adamw_main_gradients"]
    if "InternEvo" in row["source_locator"]:
        return STATES["adamw_flattened"]
    if stack in FUSED:
        return STATES["adamw_fused"]
    return STATES["adamw_deepspeed" if "zero" in row["sharding"].lower() else "adamw"]


def _loss_of(row: Row, stack: str, generation: str) -> Loss:
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
    # Software new enough for Blackwell compiles the loss along with the model.
    if stack == "torchtitan" and generation.startswith("blackwell"):
        return "fast"
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


def _sequence(text: str, fallback: float | None) -> float | None:
    if found := re.search(r"(\d{2,})", text or ""):
        return float(found[1])
    if "alpaca" in (text or "").lower():
        return 512.0
    return fallback
