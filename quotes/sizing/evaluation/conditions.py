"""How published serving runs were set up: what their tables leave out and their launch scripts tell.

InferenceX (formerly InferenceMAX, SemiAnalysisAI/InferenceX on GitHub, `benchmarks/`): requests draw their lengths
evenly between 0.8 and 1.0 of the nominal ones, ten times the concurrency is sent at once, and each model has its own
engine settings. Files of other campaigns name a model.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

LENGTH_FACTOR = 0.9  # mean of a uniform draw between 0.8 and 1.0
CHUNK_TOKENS = 8192
BALANCE_STEPS = (
    20  # of the 60 that TensorRT-LLM may wait for prompts on all attention replicas: a third, as measured
)


class Conditions(NamedTuple):
    """Settings of one run."""

    length_factor: float = 1.0  # mean of the lengths over the nominal ones
    burst: bool = True  # the first wave starts at once
    chunk_tokens: float = CHUNK_TOKENS
    wait_steps: float = 0.0  # decode steps that a request waits on purpose
    receive_interval: float = 0.0  # decode steps between two looks at the queue
    seats: float = float("inf")  # running requests at most
    kv_format: str = ""  # "" = as the engine does by itself
    wait_shown: bool = True  # the published mean holds the whole wait for room in the cache


def is_inferencex(source: str) -> bool:
    """Whether a row's source is an InferenceX dump (a date or database dump) and not a campaign of one model."""
    return not source.startswith(("Qwen_", "meta-llama_"))


def conditions_of(row: Mapping[str, str]) -> Conditions:
    """Settings of a row of serving_measured.csv."""
    if not is_inferencex(row.get("source", "")):
        return Conditions()
    engine = row["engine"]
    settings = {"sglang": _sglang, "trtllm": _trtllm, "vllm": _vllm}.get(engine)
    found = settings(row) if settings else {}
    return Conditions(length_factor=LENGTH_FACTOR, wait_shown=False)._replace(**found)


def _sglang(row: Mapping[str, str]) -> dict[str, Any]:
    model, gpu, precision = row["model"], row["gpu"], row["weights_precision"]
    blackwell = gpu.startswith(("b", "gb"))
    concurrency, tp = float(row["concurrency"]), int(row["tp"])
    interval = 10.0 if concurrency < 16 else 30.0
    if "R1" in model or "V3" in model:
        if not blackwell:
            return {"chunk_tokens": 32_768, "seats": 256, "kv_format": "bf16"}
        if precision == "nvfp4":
            return {"chunk_tokens": 16_384, "seats": 256, "receive_interval": interval, "kv_format": "fp8"}
        if tp == 4:
            return {"chunk_tokens": 8192, "seats": 32, "receive_interval": 10, "kv_format": "fp8"}
        return {"chunk_tokens": 32_768, "seats": 128, "receive_interval": interval, "kv_format": "fp8"}
    if "Qwen3.5" in model:
        kv = "fp8" if precision == "fp8" else "bf16"
        if blackwell:
            return {"chunk_tokens": 32_768, "seats": 128, "receive_interval": interval, "kv_format": kv}
        return {"chunk_tokens": 16_384, "seats": 128, "kv_format": kv}
    return {}


def _trtllm(row: Mapping[str, str]) -> dict[str, Any]:
    model, precision = row["model"], row["weights_precision"]
    prompt, output, tp = float(row["input_tokens"]), float(row["output_tokens"]), int(row["tp"])
    if "Llama" in model:
        # batch_wait_timeout_iters: 20, for 1k/1k on fewer than eight GPUs
        waits = prompt == output == 1024 and tp < 8
        return {"chunk_tokens": 16_384, "wait_steps": 20 if waits else 0, "kv_format": "fp8"}
    if "gpt-oss" in model:
        return {"chunk_tokens": 20_000}
    if "R1" in model or "V3" in model:
        tokens = prompt + float(row["concurrency"]) + 64
        # enable_balance, timeout_iters: 60: with data-parallel attention a prompt waits until each replica has one
        return {
            "chunk_tokens": max(tokens, 8192) if precision == "nvfp4" else tokens, "kv_format": "fp8",
            "wait_steps": BALANCE_STEPS if int(row["dp"] or 1) > 1 else 0,
        }  # fmt: skip
    return {}


def _vllm(row: Mapping[str, str]) -> dict[str, Any]:
    model, gpu = row["model"], row["gpu"]
    if "Llama" in model or ("gpt-oss" in model and gpu.startswith(("b", "gb"))):
        return {"kv_format": "fp8"}
    return {}
