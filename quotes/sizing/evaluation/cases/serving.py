"""Worked cases about serving language models: what fits, what it weighs, how many tokens it holds, how fast it is.

What a case leaves open is taken as an engine's default.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from catalog.specs import ModelArchitecture
from quotes.sizing.architecture import (
    BYTES_GIB,
    FORMATS,
    WeightFormat,
    active_params,
    kv_bytes_of_sequence,
    kv_bytes_per_token_full,
    kv_bytes_per_token_sliding,
    parameters,
    typical_architecture,
    weight_bytes,
)
from quotes.sizing.evaluation.base import Context
from quotes.sizing.evaluation.cases.answers import Answer, Case, Inputs, answer
from quotes.sizing.evaluation.local_engine import KERNEL_US, KERNELS_PER_LAYER
from quotes.sizing.evaluation.names import OutOfScope, find_accelerator, find_model
from quotes.sizing.evaluation.serving_memory import (
    Start,
    outcome,
    start_of,
    start_weights_gib,
    tokens,
    weight_format_of,
)
from quotes.sizing.evaluation.serving_throughput import question_of
from quotes.sizing.evaluation.table_answers import answer_all
from quotes.sizing.results import Verdict
from quotes.sizing.serving.layouts import kv_bytes
from quotes.sizing.serving.memory import kv_gib_of_sequence, largest_context_tokens

USUAL_GPU = "H100 SXM 80GB"  # of a case that names none
LOCAL_MEMORY_EFF = 0.8
DEGREES = (1, 2, 4, 8, 16)


# ── a case as a start of an engine ──────────────────────────────────────────────────────────────────────────────


def _start(case: Case, **changes: Any) -> Start:
    """The engine start that a case describes. Raises OutOfScope."""
    stated = {**case.inputs, **changes}
    gpus = int(stated.get("gpu_count", stated.get("tp", 1)))
    dp, pp = int(stated.get("dp", 1)), int(stated.get("pp", 1))
    tp = int(stated.get("tp") or max(1, gpus // (dp * pp)))
    memory = stated.get("gpu_mem_gib", stated.get("memory_gb", ""))
    gguf = _gguf(_format_name(stated))
    engine, _, version = str(stated.get("engine") or ("llama.cpp" if gguf else "vLLM")).partition(" ")
    cells = {
        "model": str(stated.get("model", "")), "quantization": "q4_k_m" if gguf else _format_name(stated),
        "kv_dtype": str(stated.get("kv_dtype", "")), "gpu_mem_gb": str(memory),
        "gpu": str(stated.get("gpu") or ("" if memory else USUAL_GPU)),
        "gpu_count": str(gpus), "tp": str(tp), "pp": str(pp), "engine": engine, "engine_version": version,
        "gpu_memory_utilization": str(stated.get("mem_util", "")), "max_model_len": str(stated.get("max_context", "")),
        "notes": f"data parallel {dp}" if dp > 1 else "",
    }  # fmt: skip
    start = start_of(cells, case.context, arch=_architecture(stated, case.context))
    return replace(start, form=gguf) if gguf else start


# Bits per weight of the files of a 70B model, whose embedding weighs little; smaller models have somewhat more.
GGUF_BITS = {
    "q2_k": 2.99, "q3_k_s": 3.5, "q3_k_m": 3.88, "q3_k_l": 4.2, "iq4_xs": 4.29, "q4_k_s": 4.57, "q5_k_s": 5.52,
    "q5_0": 5.52, "q5_k_m": 5.66, "q6_k": 6.56,
}  # fmt: skip


def _gguf(label: str) -> WeightFormat | None:
    """A file of llama.cpp; None for every other format."""
    key = label.lower()
    if key in FORMATS:
        return FORMATS[key] if FORMATS[key].whole_file else None
    return WeightFormat(key, GGUF_BITS[key] / 8, "bf16", whole_file=True) if key in GGUF_BITS else None


def _format_name(inputs: Inputs) -> str:
    text = str(inputs.get("quant") or inputs.get("weight_dtype") or "")
    return {"fp4": "nvfp4", "int4-awq": "awq", "fp16": "float16"}.get(text.lower(), text)


def _architecture(inputs: Inputs, context: Context) -> ModelArchitecture:
    """The model by name, else of typical dimensions; dimensions that the case states go before."""
    name = str(inputs.get("model", ""))
    size = inputs.get("params_b") or size_in_name(name)
    try:
        found = find_model(name, context.catalog)
    except OutOfScope:
        if not size and not _has_dimensions(inputs.get("arch")):
            raise
        found = typical_architecture(float(size or 1))
    stated = inputs.get("arch")
    return _with_dimensions(found, stated) if isinstance(stated, Mapping) else found


def _has_dimensions(stated: object) -> bool:
    """Whether they suffice for the cache of a model that is not named."""
    return isinstance(stated, Mapping) and bool(
        {"layers", "kv_heads", "head_dim"} <= stated.keys() or {"layers", "kv_lora_rank"} <= stated.keys()
    )


_DIMENSIONS = {
    "layers": "layers", "kv_heads": "kv_heads", "q_heads": "query_heads", "head_dim": "head_dim", "hidden": "hidden",
    "kv_lora_rank": "kv_rank", "rope_dim": "rope_dim", "sliding_window": "sliding_window",
    "sliding_layers": "sliding_layers",
}  # fmt: skip


def _with_dimensions(arch: ModelArchitecture, stated: Inputs) -> ModelArchitecture:
    update = {_DIMENSIONS[key]: int(value) for key, value in stated.items() if key in _DIMENSIONS}
    if "global_layers" in stated:
        update["sliding_layers"] = int(stated.get("layers", arch.layers)) - int(stated["global_layers"])
    if "kv_lora_rank" in stated and arch.kv_rank and "sparse_top_k" not in stated:
        update["sparse_top_k"] = 0  # latent dimensions alone: without the keys of an indexer
    changed: dict[str, Any] = {key: value for key, value in update.items() if getattr(arch, key) != value}
    if "layers" in update and update.keys() & {"kv_heads", "kv_rank"}:
        changed["key"] = arch.key if arch.key != "typical" else "stated"
    return arch.model_copy(update=changed)


def size_in_name(name: str) -> float | None:
    """Billions of parameters, None where the name does not tell; a mixture names one of its experts."""
    found = re.search(r"(?<![\d.x])(\d+(?:\.\d+)?) ?(b|t)\b", name.lower())
    return float(found[1]) * (1000 if found[2] == "t" else 1) if found else None


def _pool(inputs: Inputs) -> float | None:
    value = inputs.get("kv_pool_gib_per_gpu", inputs.get("kv_pool_gib"))
    return float(value) if value is not None else None


# ── memory ──────────────────────────────────────────────────────────────────────────────────────────────────────


def kv_tokens(case: Case) -> float:
    """From the pool when the case states one, else from the hardware."""
    start = _start(case)
    _known_cache(start)
    pool = _pool(case.inputs)
    return tokens(start) if pool is None else pool * BYTES_GIB / _bytes_per_token(start)


def _known_cache(start: Start) -> None:
    """A model of which only the size is known has no known cache. Raises OutOfScope."""
    if start.arch.key == "typical":
        raise OutOfScope("How much cache the model takes is not known without its dimensions.")


def _bytes_per_token(start: Start) -> float:
    """Per GPU, in all layers."""
    _known_cache(start)
    width = kv_bytes(start.kv_format)
    full = kv_bytes_per_token_full(start.arch, width, start.split.tp)
    return float(full + kv_bytes_per_token_sliding(start.arch, width, start.split.tp))


def kv_pool_per_gpu(case: Case) -> float:
    """Bytes."""
    return float(_start(case).budget.kv_pool_gib) * BYTES_GIB


def kv_pool(case: Case) -> float:
    start = _start(case)
    return float(start.budget.kv_pool_gib) * BYTES_GIB * float(start.split.gpus)


def requests_held(case: Case) -> float:
    """Requests of the stated length that the cache holds."""
    length = case.inputs.get("max_context") or case.inputs.get("context")
    if not length:
        raise OutOfScope("The case does not state how long a request is.")
    return kv_tokens(case) / float(length)


def bytes_per_token(case: Case) -> float:
    return _bytes_per_token(_start(case, gpu_count=1, tp=1))


def largest_context(case: Case) -> float:
    start = _start(case)
    _known_cache(start)
    pool = _pool(case.inputs)
    room = float(start.budget.kv_pool_gib) if pool is None else pool
    longest = largest_context_tokens(start.arch, kv_bytes(start.kv_format), start.split, room, start.engine)
    return float(longest)


def weights_per_gpu(case: Case) -> float:
    return start_weights_gib(_start(case)) * BYTES_GIB


def weights(case: Case) -> float:
    """Bytes of the whole model."""
    return weight_bytes(_architecture(case.inputs, case.context), _form(case.inputs, case.context))


def bits_per_weight(case: Case) -> float:
    return weights(case) * 8 / parameters_of(case)


def _form(inputs: Inputs, context: Context) -> WeightFormat:
    return _gguf(_format_name(inputs)) or weight_format_of(
        _format_name(inputs), str(inputs.get("model", "")), _architecture(inputs, context)
    )


def size(case: Case) -> float:
    """Of the weights; of the cache when the case is about one: it states a length and no format of weights; of all
    that is in use when it states the weights, a length or a card, and a local engine."""
    inputs = case.inputs
    if "gpu" in inputs and ("quant" in inputs or "file_gb" in inputs) and case.asked.word.endswith("ib"):
        return used(case)
    if inputs.keys() & {"context", "max_context"} and not inputs.keys() & {"quant", "weight_dtype"}:
        return cache_of_sequences(case)
    if "context" in inputs and "quant" in inputs:
        return used(case)
    return weights(case)


def used(case: Case) -> float:
    """Of one GPU, one user with a short context: weights, cache, the engine itself. In llama.cpp unless said."""
    gpu_pool = "kv_fraction" in case.inputs
    length = case.inputs.get("max_context") or case.inputs.get("context") or 2048
    start = _start(case, **({} if gpu_pool else {"engine": "llama.cpp", "max_context": length}))
    budget = start.budget
    taken = start_weights_gib(start) + float(budget.activations_gib) + float(budget.runtime_gib)
    if not gpu_pool:
        width = kv_bytes(start.kv_format)
        taken += float(kv_gib_of_sequence(start.arch, start.length, width, start.split, start.engine))
    return taken * BYTES_GIB


def cache_of_sequences(case: Case) -> float:
    """Bytes of cache of one context on one GPU, times the sequences that are stated."""
    start = _start(case)
    _known_cache(start)
    length = float(case.inputs.get("context") or case.inputs.get("max_context") or start.length)
    aware = "engine" not in case.inputs or start.engine.window_aware
    each = kv_bytes_of_sequence(
        start.arch, length, kv_bytes(start.kv_format), start.split.tp, window_aware=aware
    )
    return float(each) * int(case.inputs.get("batch", 1))


def cache_of_one(case: Case) -> float:
    """The same of one request."""
    return cache_of_sequences(case._replace(inputs={**case.inputs, "batch": 1}))


def fits(case: Case) -> float:
    inputs = case.inputs
    found = re.search(r"(\d+) prefill workers", str(inputs.get("layout", "")))
    if found:  # half of the GPUs, dealt over the workers
        each = max(1, int(inputs.get("gpu_count", 8)) // 2 // int(found[1]))
        inputs = {**inputs, "gpu_count": each, "tp": each}
    start = _start(case._replace(inputs=inputs))
    if not _starts(start):
        return 0.0
    verdict = _sure_outcome(start)
    if int(inputs.get("pp", 1)) > 1:  # stages are never even: tight on average is too much for the fullest
        return float(verdict is Verdict.FITS)
    return float(verdict is not Verdict.OOM)


def _sure_outcome(start: Start) -> Verdict:
    """Of a model of which only the size is known: the same with as large a cache as such a model may have."""
    verdict = outcome(start)
    if start.arch.key != "typical" or start.local:
        return verdict
    most = start.arch.model_copy(update={"kv_heads": start.arch.query_heads})
    if (outcome(replace(start, arch=most)) is Verdict.OOM) != (verdict is Verdict.OOM):
        raise OutOfScope(
            "Whether it fits depends on the cache, which is not known without the model's dimensions."
        )
    return verdict


def _starts(start: Start) -> bool:
    """Whether an engine takes the layout and the length at all, however much memory there is."""
    heads, most = start.arch.query_heads, start.arch.max_context
    divides = start.local or divides_heads(
        heads, heads if start.arch.is_mla else start.arch.kv_heads, int(start.split.tp)
    )
    known = start.arch.key != "typical" and bool(most)
    return divides and not (known and start.length > float(most or 0))


def divides_heads(heads: int, kv_heads: int, tp: int) -> bool:
    """Query heads divide over the GPUs, and KV heads do or are copied evenly."""
    return heads % tp == 0 and (kv_heads % tp == 0 or tp % kv_heads == 0)


def least_gpus(case: Case) -> float:
    for count in DEGREES:
        if outcome(_start(case, gpu_count=count, tp=count)) is not Verdict.OOM:
            return float(count)
    raise OutOfScope(f"The model does not fit on {DEGREES[-1]} GPUs.")


def replicas(case: Case) -> float:
    """Copies of the model on the GPUs that are stated: as many GPUs each as stated, else as few as hold it."""
    each = float(case.inputs.get("tp") or least_gpus(case))
    return float(case.inputs["gpu_count"]) // each


def kv_memory_ratio(case: Case) -> float:
    """Cache of the first layout over that of the second, whole system."""
    pools = []
    for layout in case.inputs["layouts"]:
        found = re.search(r"(\d+) replicas? on (\d+)", str(layout))
        if found is None:
            raise ValueError(f"layout {layout}")
        copies, gpus = int(found[1]), int(found[2])
        start = _start(case, gpu_count=gpus, tp=gpus)
        pools.append(copies * gpus * float(start.budget.kv_pool_gib))
    return pools[0] / pools[1]


def active_parameters(case: Case) -> float:
    return active_params(_architecture(case.inputs, case.context))


def parameters_of(case: Case) -> float:
    return parameters(_architecture(case.inputs, case.context)).total


def valid_split(case: Case) -> float:
    """1 when every listed degree divides its heads."""
    return float(all(divides_heads(*_heads(one), int(one["tp"])) for one in _listed(case)))


def largest_split(case: Case) -> float:
    """The largest degree within the GPUs that are stated, of one listed model or the stated one."""
    (one,) = _listed(case)
    gpus = int(one.get("gpus") or one.get("gpu_count") or case.inputs["gpu_count"])
    return float(max(tp for tp in range(1, gpus + 1) if divides_heads(*_heads(one), tp)))


def _listed(case: Case) -> list[Inputs]:
    if "cases" in case.inputs:
        return list(case.inputs["cases"])
    if "heads" in case.inputs or "q_heads" in case.inputs:
        return [case.inputs]
    arch = _architecture(case.inputs, case.context)
    kv_heads = arch.query_heads if arch.is_mla else arch.kv_heads
    return [{**case.inputs, "heads": arch.query_heads, "kv_heads": kv_heads}]


def _heads(one: Inputs) -> tuple[int, int]:
    heads = int(one.get("heads") or one.get("q_heads") or 0)
    return heads, int(one.get("kv_heads", heads))


# ── speed ───────────────────────────────────────────────────────────────────────────────────────────────────────

HOUR_S = 3600


def rate_per_gpu(case: Case) -> float:
    return _rate(case, "tokens_s_output_per_gpu")


def rate(case: Case) -> float:
    return _rate(case, "tokens_s_output_total")


def rate_with_prompts(case: Case) -> float:
    return _rate(case, "tokens_s_total")


def requests_rate(case: Case) -> float:
    return _rate(case, "requests_s")


def first_token_h(case: Case) -> float:
    return _rate(case, "ttft_s") / HOUR_S


def per_token_h(case: Case) -> float:
    return _rate(case, "tpot_s") / HOUR_S


def whole_answer_h(case: Case) -> float:
    """From the question to the last word of its answer."""
    return first_token_h(case) + per_token_h(case) * float(case.inputs["osl"])


def rate_per_user(case: Case) -> float:
    return 1 / _rate(case, "tpot_s")


def _rate(case: Case, metric: str) -> float:
    """As a row of a throughput table: a fixed batch, so many seats, or as many requests as pay."""
    inputs = case.inputs
    seats = next(
        (inputs[name] for name in ("batch", "max_num_seqs", "concurrency", "users") if inputs.get(name)), None
    )
    if metric.startswith(("ttft", "tpot")) and not seats:
        raise OutOfScope("The case does not state how many requests are in flight.")
    if not inputs.get("isl") or not inputs.get("osl"):
        raise OutOfScope("The case does not state the lengths of prompt and answer.")
    if "gpu" not in inputs:
        raise OutOfScope("The case does not name the GPU.")
    engine = str(inputs.get("engine") or _engine_of(case.row.get("source_locator", "")))
    form = _format_name(inputs)
    cells = {
        "id": case.row["id"], "source_title": "TensorRT-LLM" if engine.startswith("TensorRT") else "", "date": "",
        "model": str(inputs["model"]), "quantization": "" if form.startswith("labelled") else form,
        "kv_dtype": str(inputs.get("kv_dtype", "")), "gpu": str(inputs["gpu"]),
        "gpu_count": str(inputs.get("gpu_count", 1)), "tp": str(inputs.get("tp", "")), "pp": "", "engine": engine,
        "scenario": "offline", "input_len": str(inputs["isl"]), "output_len": str(inputs["osl"]),
        "concurrency_or_batch": str(seats) if seats else "max load", "metric": metric, "value": "0", "notes": "",
    }  # fmt: skip
    batch = inputs.get("batch") if metric.startswith("tokens") else None
    question = question_of({**cells, "metric": "e2e_latency_s"} if batch else cells, case.context)
    at_once = re.match(r"(\d+) requests? at once", str(inputs.get("load", "")))
    if at_once:
        question = question._replace(prompts=float(at_once[1]))
    (found,) = answer_all([question], case.context)
    if found.value is None:
        raise OutOfScope("The load is beyond what the system carries.")
    if not batch:
        return found.value
    total = float(batch) * float(inputs["osl"]) / found.value
    return total / (float(inputs.get("gpu_count", 1)) if metric.endswith("per_gpu") else 1.0)


def _engine_of(source: str) -> str:
    """The engine of a case that names none: the one whose project published it, else a tuned benchmark."""
    return "vLLM" if "vllm-project/vllm" in source else "TensorRT-LLM"


def single_stream(case: Case) -> float:
    """Tokens per second of one user by the bandwidth of the machine; under a load, those of a throughput table."""
    inputs = case.inputs
    if {"isl", "osl"} <= inputs.keys() and "bandwidth_gbs" not in inputs:
        return rate(case)
    bandwidth = inputs.get("bandwidth_gbs")
    if bandwidth is None and "gpu" in inputs and int(inputs.get("users", inputs.get("batch", 1))) == 1:
        bandwidth = find_accelerator(str(inputs["gpu"]), case.context.catalog).memory_bandwidth_gb_s
    if not bandwidth:
        raise OutOfScope("The case does not state a memory bandwidth.")
    arch = _architecture(inputs, case.context)
    _within_memory(case)
    active = float(inputs.get("active_b") or active_params(arch) / 1e9) * 1e9
    width = _bits_of(str(inputs.get("quant", ""))) or _form(inputs, case.context).bytes_per_weight
    launches = arch.layers * KERNELS_PER_LAYER * (2 if arch.is_moe else 1) * KERNEL_US * 1e-6
    return 1 / (active * width / (float(bandwidth) * 1e9 * LOCAL_MEMORY_EFF) + launches)


def _within_memory(case: Case) -> None:
    """Weights that do not fit are read from host memory, at its pace. Raises OutOfScope."""
    room = case.inputs.get("memory_gb")
    if room and not _bits_of(str(case.inputs.get("quant", ""))) and weights(case) > float(room) * 1e9:
        raise OutOfScope("The weights do not fit the memory, and how fast the host reads them is not stated.")


def _bits_of(quantisation: str) -> float | None:
    """Bytes per weight of a GGUF type by its leading number of bits; None for the formats that are listed."""
    found = re.match(r"i?q(\d)_", quantisation.lower())
    if found is None or quantisation.lower() in FORMATS:
        return None
    return (int(found[1]) + 0.85) / 8  # scales and mixed layers add most of a bit


SPEED = "generation aggregate throughput output total decode"
ANSWERS: tuple[Answer, ...] = (
    answer("tokens kv", kv_tokens, may="cache pool capacity"),
    answer("tokens most context", largest_context, may="length window"),
    answer("count most context", largest_context, may="length"),
    answer("bytes kv pool / gpu", kv_pool_per_gpu, may="cache"),
    answer("bytes kv pool", kv_pool, may="cache total"),
    answer("bytes weight / gpu", weights_per_gpu, may="model"),
    answer("bytes weight", weights, may="model only file total"),
    answer("bits / weight", bits_per_weight),
    answer("bytes", size, may="model file disk memory vram gpu with mla checkpoint", needs="model"),
    answer("bytes used", used, may="gpu memory vram", needs="model"),
    answer("bytes / gpu", used, may="used memory vram", needs="model"),
    answer("bytes kv", cache_of_sequences, may="cache mla with"),
    answer("bytes / rank", cache_of_sequences, may="kv cache"),
    answer("bytes kv / request", cache_of_one, may="cache"),
    answer("bytes / request", cache_of_one, may="kv cache"),
    answer("bytes / token", bytes_per_token, may="kv cache"),
    answer("count request", requests_held, may="concurrent most full-length parallel held once"),
    answer("count concurrency", requests_held, may="most full-length"),
    answer("count concurrent", requests_held, may="most"),
    answer("flag fit", fits),
    answer("flag valid", valid_split, may="split tp"),
    answer("count tp most", largest_split, may="valid degree tensor parallel"),
    answer("tokens/s / gpu", rate_per_gpu, may=SPEED),
    answer("tokens/s output", rate, may=SPEED),
    answer("tokens/s input", rate_with_prompts, may="output total"),
    answer("tokens/s total", rate_with_prompts, may="throughput"),
    answer("tokens/s / request", rate_per_user, may=SPEED),
    answer("tokens/s", single_stream, may="decode generation"),
    answer("requests/s", requests_rate, may="throughput"),
    answer("hours ttft", first_token_h),
    answer("hours tpot", per_token_h),
    answer("hours / token", per_token_h, may="output"),
    answer("hours latency", whole_answer_h, may="request end-to-end e2e whole answer", needs="osl"),
    answer("ratio kv memory", kv_memory_ratio, needs="layouts"),
    answer("parameters", parameters_of, may="total", needs="model"),
    answer("parameters active", active_parameters, needs="model"),
    answer("count gpu least", least_gpus),
    answer("count replica", replicas, needs="gpu_count"),
)
