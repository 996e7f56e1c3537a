"""What is on each GPU while a language model is served, and how many tokens fit beside it.

The identity of the engines' start-up logs: usable memory = what the driver reports less its own reserve, times the
engine's share; less weights, activations, runtime; what remains is the KV pool. Sizes in GiB (2^30 bytes) of the
*smallest* worker. Everything accepts scalars and arrays of layouts and GPUs.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from catalog.specs import ModelArchitecture
from quotes.sizing.architecture import (
    BYTES_GIB,
    WeightFormat,
    expert_layers,
    kv_bytes_of_sequence,
    kv_bytes_per_token_full,
    kv_bytes_per_token_sliding,
    state_bytes,
    weight_bytes_by_part,
)
from quotes.sizing.arrays import Numbers
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.results import Verdict

type Values = NDArray[np.float64]


LARGE_GPU_GIB = 70  # engines plan larger batches from here on


class Pool(StrEnum):
    """How an engine cuts its KV pool out of the memory."""

    SHARE_OF_TOTAL = "share_of_total"  # vLLM: (total × share) − everything else
    STATIC = "static"  # SGLang: total × share − weights; the rest is for runtime and activations
    SHARE_OF_FREE = "share_of_free"  # TensorRT-LLM: (total − everything else) × share


@dataclass(frozen=True, slots=True)
class EngineMemory:
    """The habits of one engine version. `graphs_inside`: captured graphs count against the engine's share."""

    pool: Pool
    share_fraction: float
    driver_reserve_gib: float
    context_gib: float
    collectives_gib: float
    graph_base_gib: float
    graph_mib_per_layer: float
    graph_experts_gib: float
    batched_tokens: float
    sampled_sequences: float
    small_gpu_fraction: float  # of both on GPUs below LARGE_GPU_GIB
    logit_bytes: float
    image_reserve_mib_per_token: float
    margin_gib: float
    window_aware: bool = True
    graphs_inside: bool = True
    chunked_prefill: bool = True


def engine_memory(engine: str, assumptions: Assumptions) -> EngineMemory:
    """Today's habits of `engine` (vllm, sglang, trtllm) under `assumptions`."""
    pool, share = {
        "sglang": (Pool.STATIC, assumptions.sglang_static_fraction),
        "trtllm": (Pool.SHARE_OF_FREE, assumptions.trtllm_free_fraction),
    }.get(engine, (Pool.SHARE_OF_TOTAL, assumptions.memory_utilisation_fraction))
    return EngineMemory(
        pool=pool,
        share_fraction=share,
        driver_reserve_gib=assumptions.driver_reserve_gib,
        context_gib=assumptions.engine_context_gib,
        collectives_gib=assumptions.engine_collectives_gib,
        graph_base_gib=assumptions.graph_base_gib,
        graph_mib_per_layer=assumptions.graph_mib_per_layer,
        graph_experts_gib=assumptions.graph_experts_gib,
        batched_tokens=assumptions.batched_tokens_count,
        sampled_sequences=assumptions.sampled_sequences_count,
        small_gpu_fraction=assumptions.small_gpu_batch_fraction,
        logit_bytes=assumptions.logit_bytes,
        image_reserve_mib_per_token=assumptions.image_reserve_mib_per_token,
        margin_gib=assumptions.memory_margin_gib,
        window_aware=assumptions.window_aware_fraction >= 0.5,
    )


@dataclass(frozen=True, slots=True)
class Split:
    """How one replica is laid over GPUs. Each may be an array. `dp` > 1: attention runs data-parallel over the
    replica's GPUs, each with its own requests, and experts are spread over all of them. `linked`: the GPUs have direct
    links, whose collectives keep buffers."""

    tp: Numbers = 1
    pp: Numbers = 1
    dp: Numbers = 1
    linked: Numbers = True

    @property
    def gpus(self) -> Values:
        return np.asarray(self.tp, float) * np.asarray(self.pp, float) * np.asarray(self.dp, float)


@dataclass(frozen=True, slots=True)
class MemoryBudget:
    """GiB per GPU of the smallest worker. `kv_pool_gib` may be negative: then the weights alone do not fit."""

    total_gib: Values
    weights_gib: Values
    activations_gib: Values
    runtime_gib: Values
    held_back_gib: Values  # driver reserve and what the engine's share leaves out
    kv_pool_gib: Values


def weights_gib(arch: ModelArchitecture, form: WeightFormat, split: Split) -> Values:
    """Of the fullest worker."""
    parts = weight_parts_gib(arch, form, split)
    return parts.layers + parts.experts + parts.ends + parts.encoder


class WeightParts(NamedTuple):
    """GiB on one GPU. `ends`: embedding, and the head where no later stage has it."""

    layers: Values
    experts: Values
    ends: Values
    encoder: Values


def weight_parts_gib(arch: ModelArchitecture, form: WeightFormat, split: Split) -> WeightParts:
    """Tensor parallelism divides every matrix, the router and the encoder are copied, experts spread over all GPUs of
    the replica, a pipeline stage holds its layers and an end of the model."""
    part = weight_bytes_by_part(arch, form)
    tp, pp, dp = (np.asarray(value, float) for value in (split.tp, split.pp, split.dp))
    stage = np.ceil(arch.layers / pp) / arch.layers
    body = (part["attention"] + part["other"] + part["dense"] + part["shared"]) / tp + part["router"]
    ends = part["embedding"] + np.where(pp > 1, 0.0, part["head"])
    experts = part["experts"] / (tp * dp) * expert_padding(arch, form, tp)
    return WeightParts(
        stage * body / BYTES_GIB,
        stage * experts / BYTES_GIB,
        ends / tp / BYTES_GIB,
        np.asarray(part["encoder"] / BYTES_GIB, float),
    )


PADDED_HIDDEN, PADDED_WIDTH = 256, 128


def expert_padding(arch: ModelArchitecture, form: WeightFormat, tp: Numbers) -> Values:
    """MXFP4 kernels round the sides of an expert's matrices up; matters for widths such as 2880."""
    if form.key != "mxfp4" or not arch.is_moe:
        return np.ones_like(np.asarray(tp, float))
    hidden = arch.expert_latent or arch.hidden
    width = arch.expert_width / np.asarray(tp, float)
    wide = np.ceil(width / PADDED_WIDTH) * PADDED_WIDTH / width
    return np.asarray(wide * (np.ceil(hidden / PADDED_HIDDEN) * PADDED_HIDDEN / hidden), float)


def planned_batch(engine: EngineMemory, reported_gib: Numbers) -> tuple[Values, Values]:
    """Tokens computed in one step, and sequences that run together, on a GPU of that size."""
    share = np.where(np.asarray(reported_gib, float) < LARGE_GPU_GIB, engine.small_gpu_fraction, 1.0)
    return np.maximum(np.floor(engine.batched_tokens * share), 1.0), np.maximum(
        np.floor(engine.sampled_sequences * share), 1.0
    )


def activations_gib(
    arch: ModelArchitecture,
    engine: EngineMemory,
    split: Split,
    context_tokens: Numbers = 0,
    reported_gib: Numbers = LARGE_GPU_GIB,
) -> Values:
    """Peak while profiling: the larger of sampling and the widest layer, plus the expert workspace, plus an image."""
    parts = activation_parts_gib(arch, engine, split, context_tokens, reported_gib)
    return np.maximum(parts.sampling, parts.layer) + parts.workspace + parts.image


class ActivationParts(NamedTuple):
    """GiB on one GPU."""

    sampling: Values  # sequences × vocabulary
    layer: Values  # the widest, for one batch of prompt tokens
    workspace: Values  # of experts
    image: float  # the largest


def activation_parts_gib(
    arch: ModelArchitecture,
    engine: EngineMemory,
    split: Split,
    context_tokens: Numbers = 0,
    reported_gib: Numbers = LARGE_GPU_GIB,
) -> ActivationParts:
    """Engines that do not cut prompts into chunks compute `context_tokens` at once."""
    tokens, sequences = planned_batch(engine, reported_gib)
    if not engine.chunked_prefill:
        tokens = np.maximum(tokens, context_tokens)
    tp = np.asarray(split.tp, float)
    sampling = sequences * arch.vocabulary * engine.logit_bytes
    width = 3 * max(arch.feed_forward, arch.shared_expert_width) / tp + 4 * arch.hidden
    workspace = np.zeros_like(tp)
    if expert_layers(arch):
        workspace = 2 * tokens * arch.experts_per_token * (
            3 * arch.expert_width / tp + (arch.expert_latent or arch.hidden)
        )  # fmt: skip
    image = arch.image_tokens_max * engine.image_reserve_mib_per_token * 2**20 if arch.multimodal else 0.0
    return ActivationParts(
        sampling / BYTES_GIB, 2 * tokens * width / BYTES_GIB, workspace / BYTES_GIB, image / BYTES_GIB
    )


def graphs_gib(arch: ModelArchitecture, engine: EngineMemory, split: Split) -> Values:
    layers = np.ceil(arch.layers / np.asarray(split.pp, float))
    experts = engine.graph_experts_gib if expert_layers(arch) else 0.0
    return np.asarray(engine.graph_base_gib + engine.graph_mib_per_layer * layers / 1024 + experts, float)


def memory_budget(
    arch: ModelArchitecture,
    form: WeightFormat,
    split: Split,
    reported_gib: Numbers,
    engine: EngineMemory,
    context_tokens: Numbers = 0,
) -> MemoryBudget:
    """Divide one GPU's memory. `reported_gib` is what the driver reports, GiB."""
    total = np.asarray(reported_gib, float)
    weights = weights_gib(arch, form, split)
    activations = activations_gib(arch, engine, split, context_tokens, total)
    tensor_parallel = (np.asarray(split.tp, float) * np.asarray(split.dp, float) > 1) & np.asarray(
        split.linked
    )
    runtime = engine.context_gib + np.where(tensor_parallel, engine.collectives_gib, 0.0)
    graphs = graphs_gib(arch, engine, split)
    usable = total - engine.driver_reserve_gib
    match engine.pool:
        case Pool.SHARE_OF_TOTAL:
            inside = runtime + (graphs if engine.graphs_inside else 0.0)
            pool = usable * engine.share_fraction - weights - activations - inside
            held_back = total - usable * engine.share_fraction
            runtime = inside
        case Pool.STATIC:
            pool = usable * engine.share_fraction - weights
            runtime = runtime + graphs
            activations = np.minimum(activations, usable * (1 - engine.share_fraction))
            held_back = total - weights - pool - activations - runtime
        case Pool.SHARE_OF_FREE:
            runtime = runtime + graphs
            free = usable - weights - activations - runtime
            pool = np.where(free > 0, free * engine.share_fraction, free)
            held_back = total - weights - activations - runtime - pool
    shape = np.broadcast_shapes(*(np.shape(value) for value in (total, weights, activations, runtime, pool)))
    parts = (total, weights, activations, runtime, held_back, pool)
    return MemoryBudget(*(np.broadcast_to(np.asarray(value, float), shape) for value in parts))


# ── what fits in the pool ───────────────────────────────────────────────────────────────────────────────────────


def kv_gib_of_sequence(
    arch: ModelArchitecture, tokens: Numbers, kv_bytes: Numbers, split: Split, engine: EngineMemory
) -> Values:
    """Per GPU of the fullest stage, GiB, of one sequence."""
    stage = np.ceil(arch.layers / np.asarray(split.pp, float)) / arch.layers
    bytes_ = kv_bytes_of_sequence(arch, tokens, kv_bytes, split.tp, window_aware=engine.window_aware)
    return stage * bytes_ / BYTES_GIB


def kv_capacity_sequences(
    arch: ModelArchitecture,
    tokens: Numbers,
    kv_bytes: Numbers,
    split: Split,
    pool_gib: Numbers,
    engine: EngineMemory,
) -> Values:
    """Sequences of `tokens` tokens that one replica holds; with data-parallel attention on all its ranks together."""
    one = kv_gib_of_sequence(arch, tokens, kv_bytes, split, engine)
    return np.maximum(0.0, np.asarray(pool_gib, float)) / one * np.asarray(split.dp, float)


def kv_capacity_tokens(
    arch: ModelArchitecture,
    kv_bytes: Numbers,
    split: Split,
    pool_gib: Numbers,
    engine: EngineMemory,
    sequence_tokens: float = 8192,
) -> Values:
    """Live tokens of one replica, in sequences of `sequence_tokens` (which matters for windows and states only)."""
    sequences = kv_capacity_sequences(arch, sequence_tokens, kv_bytes, split, pool_gib, engine)
    return sequences * sequence_tokens


def largest_context_tokens(
    arch: ModelArchitecture, kv_bytes: Numbers, split: Split, pool_gib: Numbers, engine: EngineMemory
) -> Values:
    """Longest single sequence that the pool of one rank holds, within the model's positions; 0 when none does."""
    stage = np.ceil(arch.layers / np.asarray(split.pp, float)) / arch.layers
    room = np.maximum(0.0, np.asarray(pool_gib, float)) * BYTES_GIB / stage
    full = kv_bytes_per_token_full(arch, kv_bytes, split.tp)
    sliding = kv_bytes_per_token_sliding(arch, kv_bytes, split.tp)
    state = state_bytes(arch, split.tp)
    limit = float(arch.max_context) if arch.max_context else np.inf
    whole = room > state
    if not (engine.window_aware and arch.sliding_window):
        tokens = (room - state) / np.maximum(full + sliding, 1e-9)
    else:
        inside = (room - state) / np.maximum(full + sliding, 1e-9)
        beyond = (room - state - arch.sliding_window * sliding) / np.maximum(full, 1e-9)
        tokens = np.where(inside <= arch.sliding_window, inside, np.maximum(beyond, arch.sliding_window))
    return np.where(whole, np.floor(np.minimum(tokens, limit)), 0.0)


UNKNOWN_STRUCTURE = 0.2  # of the weights that the dimensions of an unusual model may leave out


def margin_gib(arch: ModelArchitecture, engine: EngineMemory, weights: float) -> float:
    """What may turn out to be missing: what releases differ by, for unusual models a share of the weights, and for
    compressed caches, which the dimensions give as an equivalent only, nobody knows how much."""
    if arch.sparse_top_k and arch.linear_layers:
        return float("inf")
    return engine.margin_gib + (0.0 if arch.standard_structure else UNKNOWN_STRUCTURE * weights)


def verdict(pool_gib: float, needed_gib: float, margin_gib: float) -> Verdict:
    """`tight` when losing `margin_gib` of the pool, or a tenth of it, would undo the fit."""
    if pool_gib < needed_gib or pool_gib <= 0:
        return Verdict.OOM
    if min(pool_gib - margin_gib, 0.9 * pool_gib) < needed_gib:
        return Verdict.TIGHT
    return Verdict.FITS
