"""Time of one training token on one GPU, and from it tokens per second, utilisation and days.

A step is a sum of kernel times (matrix products, attention, moved elements, routing, dequantisation), stretched by the
pipeline bubble, with communication that hides behind them as far as it can, plus what a step costs once. Formulas
take scalars and NumPy arrays alike. The few factors are fitted on published runs (`TrainingCalibration`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from catalog.quantity import Frozen
from quotes.sizing.arrays import Numbers
from quotes.sizing.training.memory import (
    OFFLOADS,
    Batch,
    Split,
    local_dense_params,
    local_expert_params,
    local_params,
)
from quotes.sizing.training.model import TrainedModel, attention_flops

type Array = NDArray[np.float64]

FORWARD_AND_BACKWARD = 3  # forward, gradient of the input, gradient of the weight
FROZEN_PASSES = 2  # a frozen matrix needs no gradient of its weight
FLASH_BACKWARD = 2.5  # backward attention recomputes the scores: 5 products for 2 (FlashAttention-2 paper)
_TINY = 1e-12  # keeps a model without experts from dividing by zero
HOST_MEMORY_B_S = 30e9  # of a server's memory bandwidth, the share of one of eight GPUs
OPTIMIZER_BYTES = 30  # read and written per parameter in one Adam step in mixed precision


class SpeedFactors(Frozen):
    """Fitted on all runs together; each multiplies the textbook time or count that its name says."""

    launch_us: float = 20.0  # per layer and pass, whatever the size
    logit_bytes: float = 10.0  # moved per logit, forward and backward
    selective_recompute: float = (
        0.43  # share of a forward pass repeated by selective recomputation of products
    )
    tensor_parallel: float = 1.5
    context_parallel: float = 1.0
    sharding: float = 1.4
    overlap_power: float = (
        3.5  # time = (compute^p + communication^p)^(1/p): infinite = perfect hiding, 1 = none
    )
    bubble: float = 0.4  # share of the textbook pipeline bubble that is felt
    head_stage: float = 0.3  # share of the head's work that a pipeline cannot balance over its stages
    power: float = 0.5  # rates go with (power limit / nominal power) to this power
    step_s_per_doubling: float = 0.005  # waiting for the slowest, per doubling of the nodes
    head_half: float = 20.0  # attention rate = d / (d + this), relative to heads of 128
    window_skipped: float = 0.5  # share of the keys outside a sliding window that training kernels skip
    expert_width_half: float = 800.0  # width of an expert at which half the rate is lost
    routing_passes: float = 3.0
    all_to_all: float = 0.25
    expert_sharding: float = 1.2
    mixer_passes: float = 250.0
    dequantise: float = 7.0
    software_pct_per_month: float = 1.0
    expert_software_pct_per_month: float = 4.0


class Chip(NamedTuple):
    """Effective rates of one GPU and its surroundings: data sheet times fitted efficiency."""

    matrix_flops_s: Numbers
    attention_flops_s: Numbers
    memory_b_s: Numbers
    link_b_s: Numbers  # to the peers in its domain, one direction
    domain: Numbers  # GPUs that the fast link joins
    server_b_s: (
        Numbers  # between peers of one server that no link joins: the link's rate where it joins them all
    )
    fabric_b_s: Numbers  # to other servers, per GPU, one direction
    node_gpus: Numbers
    host_b_s: Numbers = 22e9  # to host memory, per GPU, one direction


class Work(NamedTuple):
    """What the job asks beyond the model: frozen base, its bytes per weight, how the software moves elements."""

    frozen: Numbers  # 1: low-rank adapter on a base without gradients
    base_bytes: Numbers  # per weight in memory; below 1 it is expanded to 16 bit in every pass
    moved_passes: Numbers  # times that moved elements cross memory, by software stack
    step_s: Numbers = (
        0.0  # what an optimiser step costs once, by software stack: host time, launches, logging
    )
    software_age_months: Numbers = 0.0  # against the newest measured (August 2026)
    full_sharding: Numbers = 0.0  # 1: weights sharded, gathered for every micro-batch
    gradient_sharding: Numbers = 0.0  # 1: gradients reduced every micro-batch, weights gathered once a step
    offload: Numbers = 0.0  # index in OFFLOADS: states in host memory
    shard_ranks: Numbers = 0.0  # ranks over which states are sharded; 0 = all data-parallel ranks


class TokenTime(NamedTuple):
    """Seconds of one GPU per token it answers for, by cause. `total` is not their sum: communication hides."""

    products: Array
    experts: Array
    attention: Array
    moved: Array
    launches: Array
    dequantise: Array
    tensor_parallel: Array
    expert_exchange: Array
    bubble: Array
    sharding_hidden: Array  # communication of data parallelism before hiding
    exposed: Array  # what of it remains
    per_step: Array
    host: Array  # of the total: traffic to host memory and the optimiser on the CPU
    total: Array


def token_time(
    model: TrainedModel, chip: Chip, split: Split, batch: Batch, work: Work, factors: SpeedFactors, *,
    gpus: Numbers, global_batch_tokens: Numbers,
) -> TokenTime:  # fmt: skip
    """Seconds per token and GPU of a run on `gpus` GPUs with an optimiser step every `global_batch_tokens`."""
    tp, pp, cp, dp, ep, virtual = (
        np.asarray(value, float)
        for value in (split.tp, split.pp, split.cp, split.dp, split.ep, split.virtual_stages)
    )
    gpus, step_tokens = np.asarray(gpus, float), np.asarray(global_batch_tokens, float)
    recompute, selective = np.asarray(batch.recompute, float), np.asarray(batch.selective, float)
    memory = np.asarray(chip.memory_b_s, float)
    group = tp * pp * cp
    tokens = np.asarray(batch.micro_batch, float) * np.asarray(batch.sequence_tokens, float)
    micro_batches = np.maximum(step_tokens / (dp * tokens), 1.0)
    frozen = np.asarray(work.frozen, float) > 0
    head_passes = np.where(frozen, FROZEN_PASSES, FORWARD_AND_BACKWARD)
    passes = head_passes + recompute
    passes_products = passes + selective * factors.selective_recompute

    # kernels, per token of the whole replica
    products = (model.matrix_flops * passes_products + model.head_flops * head_passes) / chip.matrix_flops_s
    shape = model.expert_width / (model.expert_width + factors.expert_width_half)
    experts = model.expert_flops * passes_products / (chip.matrix_flops_s * (shape + _TINY))
    repeats = 1 + FLASH_BACKWARD + np.maximum(recompute, selective)
    narrow = (model.head_dim + factors.head_half) / (128 + factors.head_half) * 128 / model.head_dim
    scores = attention_flops(model, batch.sequence_tokens, window_skipped=factors.window_skipped)
    attention = scores * repeats * narrow / chip.attention_flops_s
    elements = model.moved_elements * np.asarray(work.moved_passes, float)
    elements = elements + model.mixer_elements * factors.mixer_passes
    elements = elements + model.routed_elements * factors.routing_passes
    moved = (2 * elements * passes + model.vocabulary * factors.logit_bytes) / memory
    expanded = np.where(frozen & (np.asarray(work.base_bytes, float) < 1), 6.0 * model.params, 0.0)
    expand = factors.dequantise * expanded / memory / tokens * cp
    launches = factors.launch_us * 1e-6 * model.layers * passes / tokens * cp * tp

    # exchanges inside the replica
    link = np.asarray(chip.link_b_s, float)
    collectives = np.where(frozen, 6, 8)
    tensor = factors.tensor_parallel * model.layers * collectives * 2 * model.hidden * (tp - 1) / link
    # Keys and values go round in 16 bit: forward, once more backward, and their gradients.
    near = np.where(tp * cp <= np.asarray(chip.node_gpus, float), chip.server_b_s, chip.fabric_b_s)
    key_rate = np.where(tp * cp <= np.asarray(chip.domain, float), link, near)
    context = factors.context_parallel * model.key_elements * 2 * 3 * (cp - 1) / key_rate
    beyond = np.where(ep <= np.asarray(chip.node_gpus, float), chip.server_b_s, chip.fabric_b_s)
    exchange_rate = np.where(ep <= np.asarray(chip.domain, float), link, beyond)
    exchange = factors.all_to_all * model.routed_elements * 8 * (ep - 1) / np.maximum(ep, 1) / exchange_rate
    months = np.asarray(work.software_age_months, float)
    pct = np.where(
        np.asarray(model.experts) > 0, factors.expert_software_pct_per_month, factors.software_pct_per_month
    )
    age = (1 + pct / 100) ** months
    inside = (products + experts + attention + moved + expand + launches + tensor + context + exchange) * age
    bubble = inside * factors.bubble * (pp - 1) / (virtual * micro_batches)
    head = model.head_flops * head_passes / chip.matrix_flops_s
    bubble = (
        bubble + factors.head_stage * head * (pp - 1) * age
    )  # every stage waits for the one with the head
    busy = inside + bubble

    # data parallelism: what is exchanged once a step hides behind its last micro-batch only
    shared = _data_parallel_time(model, chip, split, work, factors, gpus=gpus, micro_batches=micro_batches)
    communication = shared * group / tokens
    behind = np.where(
        np.asarray(work.full_sharding, float) + work.gradient_sharding > 0, 1.0, 1 / micro_batches
    )
    power = factors.overlap_power
    hiding = behind * busy
    overlapped = busy - hiding + (hiding**power + communication**power) ** (1 / power)
    per_gpu_tokens = step_tokens / gpus
    trained = np.where(frozen, 0.0, local_params(model, split))
    optimizer = OPTIMIZER_BYTES * trained / np.maximum(dp, 1) / memory
    doublings = np.log2(np.maximum(gpus / np.asarray(chip.node_gpus, float), 1.0))
    per_step = (
        optimizer + np.asarray(work.step_s, float) + factors.step_s_per_doubling * doublings
    ) / per_gpu_tokens
    host = _host_time(model, chip, split, work, per_gpu_tokens, tokens / group)
    return TokenTime(
        products * age, experts * age, attention * age, moved * age, launches * age, expand * age,
        (tensor + context) * age, exchange * age, bubble, communication, overlapped - busy, per_step,
        host, overlapped + per_step + host,
    )  # fmt: skip


def _host_time(
    model: TrainedModel, chip: Chip, split: Split, work: Work, step_tokens: Array, micro_tokens: Array
) -> Array:
    """Seconds per token for states in host memory; the tokens are those of one GPU.

    Once a step gradients go down, the CPU updates, weights come up; weights that live there come up twice per
    micro-batch and their gradients go down. Nothing is taken to hide. Sources: ZeRO-Offload (Ren et al. 2021) updates
    ten billion parameters a second on two sockets, which is their memory bandwidth.
    """
    chosen, to_host = np.asarray(work.offload, int), np.asarray(chip.host_b_s, float)
    frozen = np.asarray(work.frozen, float) > 0
    mine = local_params(model, split) / np.maximum(np.asarray(split.dp, float) * split.cp, 1.0)
    update = np.where(frozen, 0.0, mine * (2 * 2 / to_host + OPTIMIZER_BYTES / HOST_MEMORY_B_S))
    once = np.where(chosen > 0, update, 0.0)
    passes = np.where(frozen, 2 * np.asarray(work.base_bytes, float), 3 * 2.0)
    each = np.where(chosen == OFFLOADS.index("all"), mine * passes / to_host, 0.0)
    return once / step_tokens + each / micro_tokens


def _data_parallel_time(
    model: TrainedModel, chip: Chip, split: Split, work: Work, factors: SpeedFactors, *,
    gpus: Array, micro_batches: Array,
) -> Array:  # fmt: skip
    """Seconds of collectives per micro-batch: gathering weights, reducing gradients.

    Ranks that hold different parameters (tensor- and expert-parallel ones) have rings of their own. The fewer members
    of a ring share a server, the fewer ports it drives.
    """
    tp, ep = np.asarray(split.tp, float), np.asarray(split.ep, float)
    # Context-parallel ranks hold the same parameters and reduce gradients along.
    dp = np.asarray(split.dp, float) * split.cp
    ranks = np.where(np.asarray(work.shard_ranks, float) > 0, np.minimum(work.shard_ranks, dp), dp)
    dense = _ring_seconds(chip, work, local_dense_params(model, split), dp, ranks, tp, gpus, micro_batches)
    groups = np.minimum(np.maximum(ep, 1.0), dp)
    expert = _ring_seconds(
        chip, work, local_expert_params(model, split), dp / groups, np.maximum(ranks / groups, 1.0), tp * groups, gpus,
        micro_batches,
    )  # fmt: skip
    whole = np.asarray(work.full_sharding, float) > 0
    full = np.where(np.asarray(model.experts) > 0, factors.expert_sharding, 1.0)
    return factors.sharding * np.where(whole, full, 1.0) * (dense + expert)


def _ring_seconds(
    chip: Chip, work: Work, local: Array, dp: Array, ranks: Array, apart: Array, gpus: Array, micro_batches: Array,
) -> Array:  # fmt: skip
    """Seconds per micro-batch to gather and reduce `local` parameters among `dp` ranks, of which neighbours stand
    `apart` GPUs from each other; `ranks` of them share the states."""
    node = np.minimum(np.asarray(chip.node_gpus, float), gpus)
    link, server = np.asarray(chip.link_b_s, float), np.asarray(chip.server_b_s, float)
    domain = np.maximum(np.asarray(chip.domain, float), 1.0)
    # Rails: every GPU of a server drives its own port, so a ring over servers moves at the ports of its members there.
    ports = np.maximum(node / apart, 1.0)
    across = np.minimum(server, np.asarray(chip.fabric_b_s, float) * ports)
    rate_all, rate_shard = (
        np.where(ring <= domain, link, np.where(ring <= node, server, across))
        for ring in (dp * apart, ranks * apart)
    )
    share, shard_share = (dp - 1) / np.maximum(dp, 1), (ranks - 1) / np.maximum(ranks, 1)
    frozen = np.asarray(work.frozen, float) > 0
    # Full sharding gathers the weights twice and reduces the gradients once per micro-batch.
    gathered = np.where(frozen, 2 * np.asarray(work.base_bytes, float), 3 * 2.0)
    full = local * gathered * shard_share / rate_shard
    trained = np.where(frozen, 0.0, local)
    once = trained * 4 * share / rate_all / micro_batches
    per_micro = trained * 2 * (micro_batches + 1) / micro_batches * share / rate_all
    unsharded = np.where(np.asarray(work.gradient_sharding, float) > 0, per_micro, once)
    return np.where(np.asarray(work.full_sharding, float) > 0, full, unsharded)


def model_flops_per_token(model: TrainedModel, sequence_tokens: float, *, frozen: bool = False) -> float:
    """FLOPs that the mathematics needs per token, recomputation not counted: the numerator of MFU."""
    passes = FROZEN_PASSES if frozen else FORWARD_AND_BACKWARD
    return float(model.active_flops * passes + attention_flops(model, sequence_tokens) * FORWARD_AND_BACKWARD)


def mfu_fraction(
    model: TrainedModel, sequence_tokens: float, seconds_per_token: Numbers, peak_flops_s: Numbers, *,
    frozen: bool = False,
) -> Array:  # fmt: skip
    """Model FLOPs utilisation against the dense 16-bit peak, whatever the precision that ran."""
    needed = model_flops_per_token(model, sequence_tokens, frozen=frozen)
    return needed / (np.asarray(seconds_per_token, float) * np.asarray(peak_flops_s, float))
