"""Time of one forward pass of a language model over one replica: the sum of its kernels.

A decode pass computes one token of each running sequence, a prefill pass all tokens of some prompts. Every field of
the arguments is a scalar or an array of one length, so that one call times thousands of candidates. Times in seconds.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quotes.sizing.architecture import (
    INDEXER_KEY_BYTES,
    distinct_experts,
)
from quotes.sizing.arrays import Numbers
from quotes.sizing.serving.kernels import Columns, Link, Rate
from quotes.sizing.serving.model_shape import ModelShape

type Values = NDArray[np.float64]

STATE_READ_EFF = 0.7  # share of the bandwidth that recurrent-state kernels reach
ACTIVATION_BYTES = 2
SERVER_GPUS = 8  # that share one server
DISPATCH_BYTES = 1  # of an activation on its way to its experts: sent in eight bits


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
    joined = reduce_wait * joining_seconds(shape, machine, spread, tokens)
    return np.asarray(dense + small + joined + expert_seconds(shape, machine, spread, tokens), float)


def joining_seconds(shape: ModelShape, machine: Machine, spread: Spread, tokens: Numbers) -> Values:
    """What the GPUs of a replica tell each other: two all-reduces per layer. With data-parallel attention over more
    GPUs than a server has, each token goes only to those of its experts and comes back, once per expert block."""
    tokens, hidden = np.asarray(tokens, float), np.asarray(shape.hidden, float)
    message = ACTIVATION_BYTES * hidden * tokens * spread.dp
    reduced = 2 * np.asarray(shape.layers, float) * machine.link.all_reduce_seconds(spread.gpus, message)
    met = spread.gpus * (1 - (1 - 1 / spread.gpus) ** np.asarray(shape.experts_per_token, float))
    sent = tokens * met * hidden  # to the GPUs that a token's experts meet
    there = machine.link.send_seconds(spread.gpus, sent * DISPATCH_BYTES)
    back = machine.link.send_seconds(spread.gpus, sent * ACTIVATION_BYTES)
    wide = (np.asarray(spread.dp) > 1) & (spread.gpus > SERVER_GPUS)
    return np.where(wide, np.asarray(shape.expert_layers, float) * (there + back), reduced)


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
    # Each attention replica is a process of its own and looks after its own sequences.
    host = over.step_s + over.step_sequence_s * rank
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
