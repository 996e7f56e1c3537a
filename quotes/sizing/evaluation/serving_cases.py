"""Worked cases about serving language models: what fits, what it weighs, how many tokens it holds, how fast it is.

A case states its inputs in one JSON object and asks for one figure, named by its unit. What a case leaves open is
taken as an engine's default.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

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
from quotes.sizing.evaluation.base import Context, PredictedRow, Row
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
from quotes.sizing.serving.machines import MissingFigure
from quotes.sizing.serving.memory import kv_gib_of_sequence, largest_context_tokens
from quotes.sizing.trace import Badge

METRIC = "numeric_expected"
USUAL_GPU = "H100 SXM 80GB"  # of a case that names none
LOCAL_MEMORY_EFF = 0.8
DEGREES = (1, 2, 4, 8, 16)

type Inputs = Mapping[str, Any]
type Answer = Callable[[Row, Inputs, Context], float]


def predict_case(row: Row, inputs: Mapping[str, object], context: Context) -> PredictedRow | None:
    """The answer to a case about serving, None when it is about something else."""
    answer = _answer_for(row, inputs)
    if answer is None:
        if inputs.get("workload") != "inference":
            return None
        return _told(row, inputs, refused=f"Nothing in serving has the unit {row['unit']}.")
    try:
        return _told(row, inputs, float(answer(row, inputs, context)))
    except (OutOfScope, MissingFigure) as reason:
        return _told(row, inputs, refused=str(getattr(reason, "message", reason)))
    except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError) as error:
        return _told(row, inputs, refused=f"The case cannot be read: {error}.")


def _told(row: Row, inputs: Inputs, value: float | None = None, refused: str = "") -> PredictedRow:
    expected = row["numeric_expected"]
    return PredictedRow(
        id=row["id"],
        metric=METRIC,
        measured=float(expected) if expected else None,
        predicted=value,
        badge="" if refused else str(Badge.COMPUTED),
        refused=refused,
        model=str(inputs.get("model", "")),
        gpu=str(inputs.get("gpu", "")),
    )


def _answer_for(row: Row, inputs: Inputs) -> Answer | None:
    if inputs.get("workload", "inference") != "inference" or "sharding" in inputs:
        return None
    if not inputs.keys() & {"model", "gpus", "cases", "params_b", "heads"} or inputs.keys() & {
        "horizon_years",
        "system",
    }:
        return None
    unit = row["unit"].lower()
    return next((answer for pattern, answer in ANSWERS if re.fullmatch(pattern, unit)), None)


# ── a case as a start of an engine ──────────────────────────────────────────────────────────────────────────────


def _start(row: Row, inputs: Inputs, context: Context, **changes: Any) -> Start:
    """The engine start that a case describes. Raises OutOfScope."""
    stated = {**inputs, **changes}
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
    start = start_of(cells, context, arch=_architecture(stated, context))
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
    size = inputs.get("params_b") or _size(name)
    try:
        found = find_model(name, context.catalog)
    except OutOfScope:
        if not size:
            raise
        found = typical_architecture(float(size))
    stated = inputs.get("arch")
    return _with_dimensions(found, stated) if isinstance(stated, Mapping) else found


_DIMENSIONS = {
    "layers": "layers", "kv_heads": "kv_heads", "q_heads": "query_heads", "head_dim": "head_dim", "hidden": "hidden",
    "kv_lora_rank": "kv_rank", "rope_dim": "rope_dim", "sliding_window": "sliding_window",
    "sliding_layers": "sliding_layers",
}  # fmt: skip


def _with_dimensions(arch: ModelArchitecture, stated: Inputs) -> ModelArchitecture:
    update = {_DIMENSIONS[key]: int(value) for key, value in stated.items() if key in _DIMENSIONS}
    if "global_layers" in stated:
        update["sliding_layers"] = int(stated.get("layers", arch.layers)) - int(stated["global_layers"])
    changed: dict[str, Any] = {key: value for key, value in update.items() if getattr(arch, key) != value}
    if "layers" in update and update.keys() & {"kv_heads", "kv_rank"}:
        changed["key"] = arch.key if arch.key != "typical" else "stated"
    return arch.model_copy(update=changed)


def _size(name: str) -> float | None:
    found = re.search(r"(?<![\d.])(\d+(?:\.\d+)?) ?b\b", name.lower())
    return float(found[1]) if found else None


def _pool(inputs: Inputs) -> float | None:
    value = inputs.get("kv_pool_gib_per_gpu", inputs.get("kv_pool_gib"))
    return float(value) if value is not None else None


# ── memory ──────────────────────────────────────────────────────────────────────────────────────────────────────


def kv_tokens(row: Row, inputs: Inputs, context: Context) -> float:
    """From the pool when the case states one, else from the hardware."""
    start = _start(row, inputs, context)
    _known_cache(start)
    pool = _pool(inputs)
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


def requests_held(row: Row, inputs: Inputs, context: Context) -> float:
    """Requests of the stated length that the cache holds."""
    return kv_tokens(row, inputs, context) / float(inputs.get("max_context") or inputs["context"])


def bytes_per_token(row: Row, inputs: Inputs, context: Context) -> float:
    return _bytes_per_token(_start(row, {**inputs, "gpu_count": 1, "tp": 1}, context))


def kib_per_token(row: Row, inputs: Inputs, context: Context) -> float:
    return bytes_per_token(row, inputs, context) / 1024


def largest_context(row: Row, inputs: Inputs, context: Context) -> float:
    start = _start(row, inputs, context)
    _known_cache(start)
    pool = _pool(inputs)
    room = float(start.budget.kv_pool_gib) if pool is None else pool
    longest = largest_context_tokens(start.arch, kv_bytes(start.kv_format), start.split, room, start.engine)
    return float(longest)


def weights_per_gpu_gib(row: Row, inputs: Inputs, context: Context) -> float:
    return start_weights_gib(_start(row, inputs, context))


def weights_per_gpu_gb(row: Row, inputs: Inputs, context: Context) -> float:
    return weights_per_gpu_gib(row, inputs, context) * BYTES_GIB / 1e9


def _whole_weights(inputs: Inputs, context: Context) -> float:
    """Bytes of the whole model."""
    return weight_bytes(_architecture(inputs, context), _form(inputs, context))


def _form(inputs: Inputs, context: Context) -> WeightFormat:
    return _gguf(_format_name(inputs)) or weight_format_of(
        _format_name(inputs), str(inputs.get("model", "")), _architecture(inputs, context)
    )


def weights_gib(row: Row, inputs: Inputs, context: Context) -> float:
    return _whole_weights(inputs, context) / BYTES_GIB


def size_gb(row: Row, inputs: Inputs, context: Context) -> float:
    """Of the weights; of the cache when the case is about one: it states a length and no format of weights."""
    if "context" in inputs and not inputs.keys() & {"quant", "weight_dtype"} and "weights" not in row["unit"]:
        return sequence_or_use_gib(row, inputs, context) * BYTES_GIB / 1e9
    return _whole_weights(inputs, context) / 1e9


def used_gb(row: Row, inputs: Inputs, context: Context) -> float:
    """One user with a short context: weights, cache, the engine itself."""
    start = _start(
        row, {**inputs, "engine": "llama.cpp", "max_context": inputs.get("max_context", 2048)}, context
    )
    budget = start.budget
    cache = kv_gib_of_sequence(start.arch, start.length, kv_bytes(start.kv_format), start.split, start.engine)
    taken = (
        start_weights_gib(start) + float(budget.activations_gib) + float(budget.runtime_gib) + float(cache)
    )
    return taken * BYTES_GIB / 1e9


def sequence_or_use_gib(row: Row, inputs: Inputs, context: Context) -> float:
    """The cache of one context; of a quantised model on a GPU everything that is in use."""
    if "quant" in inputs and "gpu" in inputs:
        if "context" in inputs:
            return used_gb(row, {**inputs, "max_context": inputs["context"]}, context) * 1e9 / BYTES_GIB
        start = _start(row, inputs, context)
        budget = start.budget
        return start_weights_gib(start) + float(budget.activations_gib) + float(budget.runtime_gib)
    if "quant" in inputs and "context" not in inputs:
        return weights_gib(row, inputs, context)
    start = _start(row, inputs, context)
    length = float(inputs.get("context", start.length))
    width, aware = kv_bytes(start.kv_format), "engine" not in inputs or start.engine.window_aware
    each = kv_bytes_of_sequence(start.arch, length, width, start.split.tp, window_aware=aware)
    return float(each) * int(inputs.get("batch", 1)) / BYTES_GIB


def fits(row: Row, inputs: Inputs, context: Context) -> float:
    found = re.search(r"(\d+) prefill workers", str(inputs.get("layout", "")))
    if found:  # half of the GPUs, dealt over the workers
        each = max(1, int(inputs.get("gpu_count", 8)) // 2 // int(found[1]))
        inputs = {**inputs, "gpu_count": each, "tp": each}
    start = _start(row, inputs, context)
    if not _starts(start):
        return 0.0
    found_verdict = outcome(start)
    if (
        int(inputs.get("pp", 1)) > 1
    ):  # stages are never even: what is tight on average is too much for the fullest
        return float(found_verdict is Verdict.FITS)
    return float(found_verdict is not Verdict.OOM)


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


def least_gpus(row: Row, inputs: Inputs, context: Context) -> float:
    for count in DEGREES:
        if outcome(_start(row, inputs, context, gpu_count=count, tp=count)) is not Verdict.OOM:
            return float(count)
    raise OutOfScope(f"The model does not fit on {DEGREES[-1]} GPUs.")


def kv_memory_ratio(row: Row, inputs: Inputs, context: Context) -> float:
    """Cache of the first layout over that of the second, whole system."""
    pools = []
    for layout in inputs["layouts"]:
        found = re.search(r"(\d+) replicas? on (\d+)", str(layout))
        if found is None:
            raise ValueError(f"layout {layout}")
        replicas, gpus = int(found[1]), int(found[2])
        start = _start(row, inputs, context, gpu_count=gpus, tp=gpus)
        pools.append(replicas * gpus * float(start.budget.kv_pool_gib))
    return pools[0] / pools[1]


def memory_of_gpu(row: Row, inputs: Inputs, context: Context) -> float:
    name = re.sub(r".*gib on ", "", row["unit"], flags=re.IGNORECASE)
    return float(find_accelerator(name, context.catalog).memory_gib or np.nan)


def active_parameters_b(row: Row, inputs: Inputs, context: Context) -> float:
    return active_params(_architecture(inputs, context)) / 1e9


def parameters_b(row: Row, inputs: Inputs, context: Context) -> float:
    return parameters(_architecture(inputs, context)).total / 1e9


def valid_split(row: Row, inputs: Inputs, context: Context) -> float:
    """1 when every listed degree divides its heads."""
    cases = inputs.get("cases") or [inputs]
    return float(
        all(
            divides_heads(
                heads := int(case.get("heads") or case["q_heads"]),
                int(case.get("kv_heads", heads)),
                int(case["tp"]),
            )
            for case in cases
        )
    )


# ── speed ───────────────────────────────────────────────────────────────────────────────────────────────────────


def rate_per_gpu(row: Row, inputs: Inputs, context: Context) -> float:
    return _rate(row, inputs, context, "tokens_s_output_per_gpu")


def rate(row: Row, inputs: Inputs, context: Context) -> float:
    return _rate(row, inputs, context, "tokens_s_output_total")


def first_token_ms(row: Row, inputs: Inputs, context: Context) -> float:
    return _rate(row, inputs, context, "ttft_mean_ms")


def first_token_s(row: Row, inputs: Inputs, context: Context) -> float:
    return first_token_ms(row, inputs, context) / 1e3


def per_token_ms(row: Row, inputs: Inputs, context: Context) -> float:
    return _rate(row, inputs, context, "tpot_mean_ms")


def rate_per_user(row: Row, inputs: Inputs, context: Context) -> float:
    return 1e3 / per_token_ms(row, inputs, context)


def _rate(row: Row, inputs: Inputs, context: Context, metric: str) -> float:
    """As a row of a throughput table: a fixed batch, so many seats, or as many requests as pay."""
    seats = (
        inputs.get("batch") or inputs.get("max_num_seqs") or inputs.get("concurrency") or inputs.get("users")
    )
    engine = str(inputs.get("engine") or _engine_of(row["source_locator"]))
    read, written = (_first(inputs, *names) for names in (PROMPT_NAMES, ANSWER_NAMES))
    cells = {
        "id": row["id"], "source_title": "TensorRT-LLM" if engine.startswith("TensorRT") else "", "date": "",
        "model": str(inputs["model"]), "quantization": "" if _format_name(inputs).startswith("labelled")
        else _format_name(inputs), "kv_dtype": str(inputs.get("kv_dtype", "")), "gpu": str(inputs["gpu"]),
        "gpu_count": str(inputs.get("gpu_count", 1)), "tp": str(inputs.get("tp", "")), "pp": "", "engine": engine,
        "scenario": "offline", "input_len": str(read), "output_len": str(written),
        "concurrency_or_batch": str(seats) if seats else "max load", "metric": metric, "value": "0", "notes": "",
    }  # fmt: skip
    batch = inputs.get("batch") if metric.startswith("tokens") else None
    question = question_of({**cells, "metric": "e2e_latency_s"} if batch else cells, context)
    (answer,) = answer_all([question], context)
    if answer.value is None:
        raise OutOfScope("The load is beyond what the system carries.")
    if not batch:
        return answer.value
    total = float(batch) * float(written) / answer.value
    return total / (float(inputs.get("gpu_count", 1)) if metric.endswith("per_gpu") else 1.0)


PROMPT_NAMES = ("isl", "input", "input_len", "input_tokens", "prompt_tokens")
ANSWER_NAMES = ("osl", "output", "output_len", "output_tokens", "generated_tokens")


def _first(inputs: Inputs, *names: str) -> Any:
    for name in names:
        if name in inputs:
            return inputs[name]
    raise OutOfScope("The case does not state the lengths of prompt and answer.")


def _engine_of(source: str) -> str:
    """The engine of a case that names none: the one whose project published it, else a tuned benchmark."""
    return "vLLM" if "vllm-project/vllm" in source else "TensorRT-LLM"


def single_stream(row: Row, inputs: Inputs, context: Context) -> float:
    """Tokens per second of one user by the bandwidth of the machine; under a load, those of a throughput table."""
    if inputs.keys() & {*PROMPT_NAMES} and inputs.keys() & {*ANSWER_NAMES} and "bandwidth_gbs" not in inputs:
        return rate(row, inputs, context)
    bandwidth = inputs.get("bandwidth_gbs")
    if bandwidth is None and "gpu" in inputs and int(inputs.get("users", inputs.get("batch", 1))) == 1:
        bandwidth = find_accelerator(str(inputs["gpu"]), context.catalog).memory_bandwidth_gb_s
    if not bandwidth:
        raise OutOfScope("The case does not state a memory bandwidth.")
    arch = _architecture(inputs, context)
    active = float(inputs.get("active_b") or active_params(arch) / 1e9) * 1e9
    width = _bits_of(str(inputs.get("quant", ""))) or _form(inputs, context).bytes_per_weight
    launches = arch.layers * KERNELS_PER_LAYER * (2 if arch.is_moe else 1) * KERNEL_US * 1e-6
    return 1 / (active * width / (float(bandwidth) * 1e9 * LOCAL_MEMORY_EFF) + launches)


def _bits_of(quantisation: str) -> float | None:
    """Bytes per weight of a GGUF type by its leading number of bits; None for the formats that are listed."""
    found = re.match(r"i?q(\d)_", quantisation.lower())
    if found is None or quantisation.lower() in FORMATS:
        return None
    return (int(found[1]) + 0.85) / 8  # scales and mixed layers add most of a bit


ANSWERS: tuple[tuple[str, Answer], ...] = (
    (r"kv tokens|tokens of kv", kv_tokens),
    (r"gib weights per gpu", weights_per_gpu_gib),
    (r"gb weights per gpu", weights_per_gpu_gb),
    (r"gib weights|gib of weights", weights_gib),
    (r"(fits|starts|runs|works) \(1/0\)", fits),
    (r"valid \(1/0\)", valid_split),
    (r"gb used", used_gb),
    (r"gb|gb weights|gb (model )?file|gb checkpoint", size_gb),
    (
        r"tokens max context|max tokens of context|max(imum)? context tokens|tokens of max(imum)? context",
        largest_context,
    ),
    (r"(output )?tokens/s (output )?per gpu", rate_per_gpu),
    (r"output tokens/s|tokens/s output", rate),
    (r"ratio of kv memory", kv_memory_ratio),
    (r"bytes (of kv )?per token", bytes_per_token),
    (r"kib (of kv )?per token", kib_per_token),
    (r"gib|gib.*(kv|cache|rank|mla).*", sequence_or_use_gib),
    (r"(concurrent )?(requests|sequences)( held)?|(full-length )?requests at once", requests_held),
    (r"ms (mean )?(ttft|time to first token)", first_token_ms),
    (r"s (mean )?(ttft|time to first token)", first_token_s),
    (r"ms (tpot|itl|per token|per output token)", per_token_ms),
    (r"(output )?tokens/s per user", rate_per_user),
    (r"tokens/s", single_stream),
    (r"billion parameters", parameters_b),
    (r"billion active parameters|billion parameters active", active_parameters_b),
    (r"gpus minimum|minimum gpus|gpus needed|least gpus", least_gpus),
    (r"gib on .*", memory_of_gpu),
)
