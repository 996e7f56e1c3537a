"""Predicting the rows of `serving_memory`: start-up logs of serving engines.

Weights and KV tokens are computed from the hardware and the model alone; what a log says about its pool is not used.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from catalog.specs import AcceleratorSpec, ModelArchitecture
from quotes.sizing.architecture import (
    BYTES_GIB,
    FORMATS,
    WeightFormat,
    kv_bytes_per_token_full,
    kv_bytes_per_token_sliding,
)
from quotes.sizing.evaluation.base import Context, PredictedRow, Row
from quotes.sizing.evaluation.names import OutOfScope, find_accelerator, find_model, label_gb
from quotes.sizing.evaluation.releases import release, version_of
from quotes.sizing.results import Verdict
from quotes.sizing.serving.layouts import kv_bytes, kv_format_for
from quotes.sizing.serving.memory import (
    EngineMemory,
    MemoryBudget,
    Pool,
    Split,
    graphs_gib,
    kv_capacity_tokens,
    kv_gib_of_sequence,
    margin_gib,
    memory_budget,
    verdict,
    weights_gib,
)
from quotes.sizing.trace import Badge

WEIGHTS, TOKENS, OUTCOME = "weights_gib_per_gpu", "kv_cache_tokens", "outcome"
WEIGHTS_INTERVAL = (0.98, 1.03)
TOKENS_INTERVAL = (0.88, 1.12)
LOCAL_CONTEXT = 1024
MLA_SINCE = (0, 7)  # releases of vLLM before it expanded latent caches to full heads


def predict_rows(rows: list[dict[str, str]], context: Context) -> Iterator[PredictedRow]:
    """Up to three metrics per row: those that it measured."""
    for row in rows:
        measured = {
            WEIGHTS: _number(row[WEIGHTS]),
            TOKENS: _number(row[TOKENS]),
            OUTCOME: row[OUTCOME] or None,
        }
        wanted = [metric for metric, value in measured.items() if value is not None]
        try:
            start = start_of(row, context)
        except (OutOfScope, ValueError) as reason:
            for metric in wanted:
                yield _told(row, metric, measured[metric], refused=str(reason))
            continue
        for metric in wanted:
            yield prediction(row, start, metric, measured[metric])


@dataclass(frozen=True, slots=True)
class Start:
    """One start of an engine. `reported_gib` None: the GPU is not named, so that only weights can be told."""

    arch: ModelArchitecture
    form: WeightFormat
    kv_format: str
    engine: EngineMemory
    split: Split
    reported_gib: float | None
    length: float  # of the longest request that the engine must hold
    length_stated: bool = True
    old: "Start | None" = None  # the same with an early release, when the row does not state which it was
    shared_cache: int = 1  # GPUs over which a latent cache is divided (decode context parallelism)
    local: bool = False

    @property
    def budget(self) -> MemoryBudget:
        return memory_budget(
            self.arch, self.form, self.split, self.reported_gib or np.nan, self.engine, self.length
        )


def prediction(row: Row, start: Start, metric: str, measured: float | str | None) -> PredictedRow:
    if metric == WEIGHTS:
        value = start_weights_gib(start)
        ends = (value * WEIGHTS_INTERVAL[0], value * WEIGHTS_INTERVAL[1])
        return _told(row, metric, measured, value, ends)
    if start.reported_gib is None:
        return _told(
            row, metric, measured, refused="The row does not name the GPU, so its memory is not known."
        )
    if metric == TOKENS:
        value = tokens(start)
        ends = (value * TOKENS_INTERVAL[0], value * TOKENS_INTERVAL[1])
        return _told(row, metric, measured, value, ends)
    return _told(row, metric, measured, str(outcome(start)))


def start_weights_gib(start: Start) -> float:
    """Of one GPU; layers of llama.cpp are dealt out evenly."""
    if start.local:
        whole = float(weights_gib(start.arch, start.form, Split()))
        return whole / float(start.split.gpus)
    return float(weights_gib(start.arch, start.form, start.split))


def tokens(start: Start) -> float:
    """As the engine prints it: pool over the bytes of a token in all layers, or requests of the full length that fit
    times that length where windows and states are kept apart."""
    pool = float(start.budget.kv_pool_gib)
    width = kv_bytes(start.kv_format)
    if start.engine.window_aware and (start.arch.sliding_layers or start.arch.linear_layers):
        length = start.length
        return float(kv_capacity_tokens(start.arch, width, start.split, pool, start.engine, length))
    stage = np.ceil(start.arch.layers / np.asarray(start.split.pp, float)) / start.arch.layers
    each = kv_bytes_per_token_full(start.arch, width, start.split.tp)
    each = (each + kv_bytes_per_token_sliding(start.arch, width, start.split.tp)) * stage
    return max(0.0, pool * BYTES_GIB / float(each)) * start.shared_cache


SHORT_CONTEXT = 4096  # with which an engine is started when the full length does not fit


def outcome(start: Start) -> Verdict:
    """Whether the engine starts: one request of the full length must fit its pool, and what it takes outside its share
    must fit there. A row that does not state the length may have been started with a shorter one: tight."""
    told = _pool_verdict(start, start.length)
    if told is Verdict.OOM and not start.length_stated:
        return Verdict.OOM if _pool_verdict(start, SHORT_CONTEXT) is Verdict.OOM else Verdict.TIGHT
    if told is Verdict.FITS and outside_gib(start) < 0:
        return Verdict.TIGHT
    if told is Verdict.FITS and start.old is not None and outcome(start.old) is not Verdict.FITS:
        return Verdict.TIGHT
    return told


def _pool_verdict(start: Start, length: float) -> Verdict:
    needed = float(
        kv_gib_of_sequence(start.arch, length, kv_bytes(start.kv_format), start.split, start.engine)
    )
    margin = margin_gib(start.arch, start.engine, start_weights_gib(start))
    return verdict(float(start.budget.kv_pool_gib), needed / start.shared_cache, margin)


def outside_gib(start: Start) -> float:
    """What is left outside the engine's share once its graphs are captured and the sampler has warmed up."""
    if start.local or start.engine.pool is not Pool.SHARE_OF_TOTAL:
        return 0.0
    free = (float(start.reported_gib or 0) - start.engine.driver_reserve_gib) * (
        1 - start.engine.share_fraction
    )
    graphs = 0.0 if start.engine.graphs_inside else float(graphs_gib(start.arch, start.engine, start.split))
    sampler = start.engine.sampled_sequences * start.arch.vocabulary * start.engine.logit_bytes / BYTES_GIB
    return free - graphs - sampler


# ── reading a row ───────────────────────────────────────────────────────────────────────────────────────────────


EARLY = "0.5"


def start_of(row: Row, context: Context, arch: ModelArchitecture | None = None) -> Start:
    """Raises OutOfScope with a sentence. A row of vLLM without a release carries an early one along. `arch` goes
    before the name in the row."""
    arch = arch or find_model(row["model"], context.catalog)
    found = _start_of(row, context, arch)
    if row["engine"] == "vLLM" and not version_of(row["engine_version"]):
        return replace(found, old=_start_of({**row, "engine_version": EARLY}, context, arch))
    return found


def _start_of(row: Row, context: Context, arch: ModelArchitecture) -> Start:
    """Raises OutOfScope with a sentence when the row is about something else or leaves too much open."""
    local = row["engine"].lower().startswith("llama")
    form = weight_format_of(row["quantization"], row["model"], arch)
    if arch.native_format == "mxfp4" and form.key == "fp8":
        form = FORMATS["mxfp4"]  # labels name the arithmetic of the dense part
    if form.key == "fp8" and arch.native_format == "bf16":
        arch = context.catalog.models_by_key.get(f"{arch.key}-FP8", arch)
    engine = release(row["engine"], row["engine_version"], context.assumptions)
    engine = _with_share(engine, row)
    version = version_of(row["engine_version"])
    if arch.is_mla and row["engine"] == "vLLM" and version and version < MLA_SINCE:
        arch = expanded(arch)
    notes = row["notes"]
    if "enforce_eager" in notes:
        engine = replace(engine, graph_base_gib=0.0, graph_mib_per_layer=0.0, graph_experts_gib=0.0)
    if found := re.search(r"max_num_batched_tokens (\d+)", notes):
        engine = replace(engine, batched_tokens=float(found[1]))
    if not row["tp"] and not row["gpu_count"]:
        raise OutOfScope("The row does not state over how many GPUs the model was spread.")
    data_parallel = re.search(r"data parallel (\d+)", notes)
    shared = re.search(r"decode context parallel (\d+)", notes)
    tp, pp = int(row["tp"] or row["gpu_count"]), int(row["pp"] or 1)
    accelerator = _accelerator(row, context)
    stated = _number(row["max_model_len"])
    return Start(
        arch=arch,
        form=form,
        kv_format=_kv_format(row["kv_dtype"], form),
        engine=engine,
        split=Split(
            tp=tp,
            pp=pp,
            dp=int(data_parallel[1]) if data_parallel else 1,
            linked=accelerator is None or bool(accelerator.link_gb_s),
        ),
        reported_gib=_reported_gib(row, accelerator, engine),
        length=stated or (LOCAL_CONTEXT if local else float(arch.max_context or 8192)),
        length_stated=stated is not None,
        shared_cache=int(shared[1]) if shared else 1,
        local=local,
    )


def expanded(arch: ModelArchitecture) -> ModelArchitecture:
    """A latent cache kept as full heads, as engines without kernels for it do."""
    return arch.model_copy(
        update={
            "kv_rank": 0,
            "kv_heads": arch.query_heads,
            "head_dim": arch.nope_dim + arch.rope_dim,
            "value_dim": 0,
        }
    )


def _with_share(engine: EngineMemory, row: Row) -> EngineMemory:
    share = _number(row["gpu_memory_utilization"])
    return replace(engine, share_fraction=share) if share else engine


_FORMATS = (
    (r"w4a16|awq|gptq.*int4|^int4|gptq_marlin", "int4"),
    (r"w8a8|gptq.*int8|^int8", "int8"),
    (r"nvfp4", "nvfp4"),
    (r"mxfp4", "mxfp4"),
    (r"int6", "int6"),
    (r"fp8", "fp8"),
    (r"float32", "fp32"),
    (r"bfloat16|float16|^f16|^bf16", "bf16"),
    (r"q4_k_m", "q4_k_m"),
    (r"q4_0", "q4_0"),
    (r"q8_0", "q8_0"),
)


def weight_format_of(quantisation: str, model: str, arch: ModelArchitecture) -> WeightFormat:
    """By the label, else by the name, else as published. Raises OutOfScope."""
    for text in (quantisation.lower(), model.lower()):
        for pattern, key in _FORMATS:
            if re.search(pattern, text):
                return FORMATS[key]
    if quantisation or "quantised" in model:
        raise OutOfScope(f"Weights in {quantisation or 'an unstated format'} are not sized.")
    return FORMATS[arch.native_format]


def _kv_format(text: str, form: WeightFormat) -> str:
    name = text.lower()
    for start, key in (("fp8", "fp8"), ("nvfp4", "nvfp4"), ("int8", "int8"), ("q8", "int8"), ("q4", "nvfp4")):
        if name.startswith(start):
            return key
    if form.key == "fp32":
        return "fp32"
    return "bf16" if name in ("bf16", "fp16", "f16") else kv_format_for("auto", "vllm", form)


def _accelerator(row: Row, context: Context) -> AcceleratorSpec | None:
    """None when the row does not name one that is known; of two different GPUs the smaller one counts."""
    names = [part.strip() for part in row["gpu"].split("+")]
    try:
        found = [find_accelerator(name, context.catalog) for name in names]
    except OutOfScope:
        return None
    return min(found, key=lambda one: one.memory_gib or 0)


USABLE = 0.994  # of a label in GiB; of decimal labels the driver reports about as much in GiB


def _reported_gib(row: Row, accelerator: AcceleratorSpec | None, engine: EngineMemory) -> float | None:
    """What the driver reports: stated exactly, else by the catalog, else by the size in the row."""
    text = row["gpu_mem_gb"]
    stated = min((float(part) for part in re.findall(r"\d+(?:\.\d+)?", text)), default=None)
    if stated is not None and "." in text:
        return stated + engine.driver_reserve_gib
    if accelerator is not None and accelerator.memory_gib:
        return float(accelerator.memory_gib)
    stated = stated or label_gb(row["gpu"])
    return stated * USABLE if stated else None


def _number(text: str) -> float | None:
    found = re.search(r"-?\d+(?:\.\d+)?", text or "")
    return float(found.group()) if found else None


def _told(
    row: Row,
    metric: str,
    measured: float | str | None,
    value: float | str | None = None,
    ends: tuple[float, float] | None = None,
    refused: str = "",
) -> PredictedRow:
    return PredictedRow(
        id=row["id"],
        metric=metric,
        measured=measured,
        predicted=value,
        low=ends[0] if ends else None,
        high=ends[1] if ends else None,
        badge="" if refused else str(Badge.COMPUTED),
        refused=refused,
        model=row["model"],
        gpu=row["gpu"],
        scored=metric != TOKENS or not re.search(r"derived|inferred", row["notes"]),
    )
