"""Time of one forward pass of a language model over one replica: the sum of its kernels.

A decode pass computes one token of each running sequence, a prefill pass all tokens of some prompts. Every field of
the arguments is a scalar or an array of one length, so that one call times thousands of candidates. Times in seconds.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from catalog.specs import ModelArchitecture
from quotes.sizing.architecture import (
    INDEXER_KEY_BYTES,
    WeightFormat,
    distinct_experts,
    expert_layers,
    feed_forward_layers,
    parameters,
    sixteen_bit_parts,
)
from quotes.sizing.arrays import Numbers
from quotes.sizing.kernels import Columns, Link, Rate

type Values = NDArray[np.float64]

STATE_READ_EFF = 0.7  # share of the bandwidth that recurrent-state kernels reach
ACTIVATION_BYTES = 2


@dataclass(frozen=True, slots=True)
class ModelShape(Columns):
    """What the time of a pass depends on; numbers of the whole model unless 'per' says otherwise."""

    layers: Numbers
    hidden: Numbers
    narrow_params: Numbers  # read with every token, in the quantised format
    narrow_bytes: Numbers  # per parameter of those
    wide_params: Numbers  # read with every token, in 16 bit
    head_params: Numbers
    expert_layers: Numbers
    experts: Numbers
    experts_per_token: Numbers
    expert_params: Numbers  # per expert and layer
    expert_bytes: Numbers  # per parameter of those
    expert_width: Numbers
    expert_hidden: Numbers
    query_heads: Numbers
    kv_heads: Numbers
    kv_width: Numbers  # elements per KV head and token, keys and values together
    query_width: Numbers  # decode: multiply-adds per head and cached token, keys and values together
    prompt_width: Numbers  # prefill: the same
    is_mla: Numbers
    full_layers: Numbers
    sliding_layers: Numbers
    window: Numbers
    sparse_top_k: Numbers
    linear_layers: Numbers
    state_bytes: Numbers  # per sequence
    kernels_per_layer: Numbers  # launches outside experts and attention, mean over the layers


def model_shape(arch: ModelArchitecture, form: WeightFormat, draft: bool = False) -> ModelShape:
    """The dimensions of `arch` with weights in `form`."""
    count = parameters(arch)
    wide = sixteen_bit_parts(arch, form)
    parts = {"attention": count.attention, "other": count.other, "dense": count.dense, "shared": count.shared}
    sixteen = sum(value for part, value in parts.items() if part in wide) + count.router
    if form.compute == "bf16" and form.bytes_per_weight >= 2:
        narrow = count.body - count.router
    else:
        narrow = sum(value for part, value in parts.items() if part not in wide)
    value_width = arch.value_dim or arch.head_dim
    if arch.is_mla:
        kv_width = float(arch.kv_rank + arch.rope_dim)
        query_width = arch.kv_rank * 2.0 + arch.rope_dim
        prompt_width = float(arch.nope_dim + arch.rope_dim + arch.value_dim)
    else:
        kv_width = query_width = prompt_width = float(arch.head_dim + value_width)
    moe = expert_layers(arch)
    return ModelShape(
        layers=arch.layers,
        hidden=arch.hidden,
        narrow_params=narrow,
        narrow_bytes=form.bytes_per_weight,
        wide_params=sixteen,
        head_params=arch.vocabulary * arch.hidden,
        expert_layers=moe,
        experts=arch.experts,
        experts_per_token=arch.experts_per_token,
        expert_params=count.experts / (moe * arch.experts) if moe else 0.0,
        expert_bytes=2.0 if "experts" in wide else form.bytes_per_weight,
        expert_width=arch.expert_width,
        expert_hidden=arch.expert_latent or arch.hidden,
        query_heads=arch.query_heads,
        kv_heads=arch.kv_heads,
        kv_width=kv_width,
        query_width=query_width,
        prompt_width=prompt_width,
        is_mla=arch.is_mla,
        full_layers=arch.full_layers,
        sliding_layers=arch.sliding_layers,
        window=arch.sliding_window,
        sparse_top_k=arch.sparse_top_k,
        linear_layers=arch.linear_layers,
        state_bytes=4.0 * arch.recurrent_state_elements,
        kernels_per_layer=kernels_per_layer(arch, form),
    )


def kernels_per_layer(arch: ModelArchitecture, form: WeightFormat) -> float:
    """Kernels that one pass launches per layer, besides the attention kernel and the expert block.

    Attention: two products, rotation, cache write and norm, two norms of queries and keys where the model has them;
    latent attention: five products and three small kernels. Dense feed-forward: two products, activation, norm.
    Experts: router product, selection, norm (shared experts run beside them). Recurrent mixers: nine. Indexers: six.
    Formats that scale activations while running quantise the input of each product.
    """
    moe = expert_layers(arch)
    dense = feed_forward_layers(arch) - moe
    attention = arch.layers - arch.attentionless_layers - arch.linear_layers
    per_attention = 8 if arch.is_mla else 4 + 2 * has_query_norm(arch)
    count = attention * per_attention + dense * 4 + moe * 3 + arch.linear_layers * 9
    count += 6 * arch.layers * bool(arch.sparse_top_k)
    if scales_activations(arch, form):
        wide = sixteen_bit_parts(arch, form)
        if "attention" not in wide:
            count += attention * (3 if arch.is_mla else 2)
        elif arch.is_mla:
            count += attention  # the output projection is quantised all the same
        if "dense" not in wide:
            count += dense * 2
        count += arch.linear_layers * 2
    return count / arch.layers


def scales_activations(arch: ModelArchitecture, form: WeightFormat) -> bool:
    """NVFP4 and block-wise FP8 (what FP8 releases are) find the scale of each activation block as they go."""
    return form.key == "nvfp4" or (form.key == "fp8" and arch.native_format == "fp8")


_QUERY_NORM = (
    "qwen3",
    "minimax",
    "gemma-3",
    "gemma3",
    "gemma-4",
    "gemma4",
    "glm-4",
    "glm4",
    "olmo-2",
    "olmo2",
)


def has_query_norm(arch: ModelArchitecture) -> bool:
    """Whether queries and keys are normalised; configs do not say it, families do."""
    name = f"{arch.key} {arch.family}".lower()
    return not arch.is_mla and any(family in name for family in _QUERY_NORM)


@dataclass(frozen=True, slots=True)
class Machine(Columns):
    """One kind of GPU running one number format on one engine: the rates of its kernels."""

    bandwidth: Numbers  # bytes/s of the data sheet
    narrow_bytes_s: Numbers
    narrow_flops_s: Numbers
    narrow_p: Numbers
    narrow_half: Numbers
    wide_bytes_s: Numbers
    wide_flops_s: Numbers
    wide_p: Numbers
    wide_half: Numbers
    expert_t0_s: Numbers
    expert_bytes_s: Numbers
    expert_flops_s: Numbers
    expert_p: Numbers
    expert_pad: Numbers
    expert_act: Numbers
    decode_t0_s: Numbers
    decode_bytes_s: Numbers
    decode_flops_s: Numbers
    decode_p: Numbers
    prompt_t0_s: Numbers
    prompt_flops_s: Numbers
    prompt_half: Numbers
    link_a_s: Numbers
    link_c_s: Numbers
    link_bytes_s: Numbers
    kv_bytes: Numbers  # bytes per cached element

    @property
    def link(self) -> Link:
        return Link(self.link_a_s, self.link_c_s, self.link_bytes_s)


@dataclass(frozen=True, slots=True)
class Overheads(Columns):
    """Fitted times that kernels alone do not tell, of one engine (see docs/sizing/serving.md)."""

    kernel_s: Numbers  # of one launched kernel that does next to nothing
    attention_share: Numbers  # of the attention kernels' fixed time that is not hidden
    all_reduce_wait: Numbers  # decode: multiple of the benchmark's time, since ranks arrive late
    step_s: Numbers  # of one decode step
    step_sequence_s: Numbers  # of one sequence in a step
    dp_step_s: Numbers  # of a step with data-parallel attention
    prompt_x: Numbers  # prefill: multiple of the kernels' time


@dataclass(frozen=True, slots=True)
class Spread(Columns):
    """Layout of one replica: attention over `tp` GPUs, `dp` times; experts over `ep` groups of all GPUs."""

    tp: Numbers
    dp: Numbers
    ep: Numbers

    @property
    def gpus(self) -> Values:
        return np.asarray(self.tp, float) * np.asarray(self.dp, float)


def body_seconds(
    shape: ModelShape,
    machine: Machine,
    over: Overheads,
    spread: Spread,
    tokens: Numbers,
    sampled: Numbers,
    reduce_wait: Numbers = 1.0,
) -> Values:
    """Everything but attention: `tokens` per attention replica, of which `sampled` go through the head."""
    tokens = np.asarray(tokens, float)
    tp = np.asarray(spread.tp, float)
    narrow = np.asarray(shape.narrow_params, float) / tp
    wide = np.asarray(shape.wide_params, float) / tp
    head = np.asarray(shape.head_params, float) / tp
    narrow_rate = Rate(0, machine.narrow_bytes_s, machine.narrow_flops_s, machine.narrow_p)
    wide_rate = Rate(0, machine.wide_bytes_s, machine.wide_flops_s, machine.wide_p)
    dense = narrow_rate.seconds(narrow * shape.narrow_bytes, 2 * (tokens + machine.narrow_half) * narrow)
    dense += wide_rate.seconds(wide * 2, 2 * (tokens + machine.wide_half) * wide)
    dense += wide_rate.seconds(head * 2, 2 * (np.asarray(sampled, float) + machine.wide_half) * head)
    small = shape.layers * np.asarray(shape.kernels_per_layer, float) * over.kernel_s
    small = small + 24 * tokens * shape.hidden * shape.layers / machine.bandwidth
    message = 2 * np.asarray(shape.hidden, float) * tokens * spread.dp
    reduce = 2 * np.asarray(shape.layers, float) * reduce_wait
    reduce = reduce * machine.link.all_reduce_seconds(spread.gpus, message)
    return np.asarray(dense + small + reduce + expert_seconds(shape, machine, spread, tokens), float)


def expert_seconds(shape: ModelShape, machine: Machine, spread: Spread, tokens: Numbers) -> Values:
    """Routed experts of all layers: weights of the experts touched, padded rows, activations in and out."""
    moe_tp = spread.gpus / spread.ep
    all_tokens = np.asarray(tokens, float) * spread.dp
    touched = distinct_experts(shape.experts, shape.experts_per_token, all_tokens) / spread.ep
    rows = all_tokens * shape.experts_per_token / spread.ep
    weights = np.asarray(shape.expert_params, float) / moe_tp
    rate = Rate(0, machine.expert_bytes_s, machine.expert_flops_s, machine.expert_p)
    product = rate.seconds(
        touched * weights * shape.expert_bytes, 2 * (rows + machine.expert_pad * touched) * weights
    )
    moved = rows * (
        2 * np.asarray(shape.expert_hidden, float) + 3 * np.asarray(shape.expert_width, float) / moe_tp
    )
    moved = moved * ACTIVATION_BYTES * machine.expert_act / machine.bandwidth
    return np.asarray(shape.expert_layers * (machine.expert_t0_s + product + moved), float)


def decode_attention_seconds(
    shape: ModelShape,
    machine: Machine,
    over: Overheads,
    spread: Spread,
    batch: Numbers,
    context: Numbers,
    queries: Numbers = 1.0,
) -> Values:
    """`queries` tokens of each of `batch` sequences per attention replica against `context` cached tokens."""
    batch, context = np.asarray(batch, float), np.asarray(context, float)
    tp = np.asarray(spread.tp, float)
    heads = shape.query_heads / tp
    held = np.where(shape.is_mla, 1.0, np.maximum(1.0, shape.kv_heads / tp))
    rate = Rate(0, machine.decode_bytes_s, machine.decode_flops_s, machine.decode_p)

    def layer(read: Values) -> Values:
        bytes_ = batch * read * held * shape.kv_width * machine.kv_bytes
        return rate.seconds(bytes_, 2 * batch * queries * read * heads * shape.query_width)

    top_k = np.asarray(shape.sparse_top_k, float)
    read = np.where(top_k > 0, np.minimum(context, top_k), context)
    window = np.asarray(shape.window, float)
    in_window = np.where(window > 0, np.minimum(context, window), context)
    index = np.where(top_k > 0, batch * context * INDEXER_KEY_BYTES / machine.decode_bytes_s, 0.0)
    fixed = machine.decode_t0_s * np.asarray(over.attention_share, float)
    state = 2 * batch * shape.state_bytes / tp / (STATE_READ_EFF * np.asarray(machine.bandwidth, float))
    full_layers, sliding_layers = (
        np.asarray(shape.full_layers, float),
        np.asarray(shape.sliding_layers, float),
    )
    time = full_layers * (layer(read) + index) + sliding_layers * layer(in_window)
    return np.asarray(time + (full_layers + sliding_layers) * fixed + state, float)


def prompt_attention_seconds(
    shape: ModelShape,
    machine: Machine,
    over: Overheads,
    spread: Spread,
    prompts: Numbers,
    length: Numbers,
) -> Values:
    """`prompts` prompts of `length` tokens per attention replica, causal."""
    prompts, length = np.asarray(prompts, float), np.asarray(length, float)
    heads = np.asarray(shape.query_heads, float) / spread.tp
    slow = 1 + machine.prompt_half / length
    top_k, window = np.asarray(shape.sparse_top_k, float), np.asarray(shape.window, float)

    def pairs(limit: Values) -> Values:
        """Query-key pairs of one prompt when a query sees at most `limit` keys."""
        seen = np.where(limit > 0, np.minimum(limit, length), length)
        return length * seen - seen**2 / 2

    rate = 2 * prompts * heads * shape.prompt_width * slow / machine.prompt_flops_s
    full_layers, sliding_layers = (
        np.asarray(shape.full_layers, float),
        np.asarray(shape.sliding_layers, float),
    )
    fixed = machine.prompt_t0_s * np.asarray(over.attention_share, float)
    time = full_layers * rate * pairs(top_k) + sliding_layers * rate * pairs(window)
    state = (
        2 * prompts * shape.state_bytes / spread.tp / (STATE_READ_EFF * np.asarray(machine.bandwidth, float))
    )
    return np.asarray(time + (full_layers + sliding_layers) * fixed + state, float)


def decode_seconds(
    shape: ModelShape,
    machine: Machine,
    over: Overheads,
    spread: Spread,
    batch: Numbers,
    context: Numbers,
    drafts: Numbers = 0.0,
) -> Values:
    """One decode step with `batch` sequences on the whole replica at a mean context of `context` tokens.

    With speculative decoding a step also checks `drafts` guessed tokens of each sequence; each guess costs one more
    layer and the output head.
    """
    rank = np.maximum(np.asarray(batch, float) / spread.dp, 1.0)
    queries = 1 + np.asarray(drafts, float)
    tokens = rank * queries
    time = body_seconds(shape, machine, over, spread, tokens, tokens, over.all_reduce_wait)
    time = time + decode_attention_seconds(shape, machine, over, spread, rank, context, queries)
    guess = time / shape.layers + 2 * np.asarray(shape.head_params, float) / spread.tp / machine.wide_bytes_s
    host = over.step_s + over.step_sequence_s * np.asarray(batch, float)
    host = host + np.where(np.asarray(spread.dp) > 1, over.dp_step_s, 0.0)
    return np.asarray(time + drafts * guess + host, float)


def prefill_seconds(
    shape: ModelShape,
    machine: Machine,
    over: Overheads,
    spread: Spread,
    prompts: Numbers,
    length: Numbers,
) -> Values:
    """One pass over `prompts` prompts of `length` tokens per attention replica."""
    prompts, length = np.asarray(prompts, float), np.asarray(length, float)
    time = body_seconds(shape, machine, over, spread, prompts * length, prompts)
    return over.prompt_x * (time + prompt_attention_seconds(shape, machine, over, spread, prompts, length))
