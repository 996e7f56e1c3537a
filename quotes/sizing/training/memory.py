"""Peak memory of one GPU while training, component by component.

Formulas take scalars and NumPy arrays alike: the search over thousands of layouts, the fit over hundreds of published
runs and the explanation of the chosen layout are the same code. Bytes throughout. Sources: states after Rajbhandari
et al. 2020 (ZeRO), activations after Korthikanti et al. 2022, the factors fitted on published peaks.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quotes.sizing.arrays import Numbers
from quotes.sizing.training.model import TrainedModel, adapter_params

type Array = NDArray[np.float64]
type Loss = Literal["eager", "fast", "chunked", "fused"]
type Offload = Literal["none", "optimizer", "all"]

GIB = 2**30
STATE_SHARES = (0.4, 0.6)  # of the peak: how much of it is arithmetic that hardly errs
STATISTIC_BYTES = 4  # one 32-bit log-sum-exp per head and token
LOSSES: tuple[Loss, ...] = ("eager", "fast", "chunked", "fused")
OFFLOADS: tuple[Offload, ...] = ("none", "optimizer", "all")
OFFLOADED_KEPT = 0.02  # share of states that stays on the GPU when they live in host memory


class States(NamedTuple):
    """Bytes per trainable parameter that live between steps, and the extra while the optimiser steps."""

    weights: Numbers
    gradients: Numbers
    optimizer: Numbers
    transient: Numbers = 0.0
    gathered: Numbers = 2.0  # a layer brought together by sharding, in compute precision
    gradients_persist: Numbers = (
        0.0  # 1: kept while the next forward pass runs (accumulation, 32-bit main gradient)
    )

    @property
    def resident(self) -> float:
        return float(np.sum([self.weights, self.gradients, self.optimizer]))


STATES: Mapping[str, States] = {
    # The optimiser must be named: Adam in mixed precision is 16–18 bytes per parameter before any activation.
    "adamw": States(4, 4, 8, transient=4),  # full sharding in mixed precision: everything in 32 bit
    "adamw_main_gradients": States(2, 4, 12, gradients_persist=1),  # Megatron: 6 + 12/dp
    "adamw_deepspeed": States(2, 2, 12, transient=2),  # the 16 bytes of the ZeRO paper
    "adamw_bf16_accumulating": States(2, 6, 12, gradients_persist=1),  # 16-bit gradients and their 32-bit sum
    "adamw_16bit_gradients": States(2, 2, 12, gradients_persist=1),  # gradients accumulated in 16 bit
    "adamw_16bit_moments": States(2, 2, 8, gradients_persist=1),  # its precision-aware optimiser
    "adamw_flattened": States(2, 2, 12, transient=14),  # groups flattened for the step: everything once more
    "adamw_fused": States(4, 4, 8),  # one kernel updates in place
    "adamw_pure_fused": States(2, 2, 4),
    "adamw_pure": States(2, 2, 4, transient=2),  # all 16 bit: 8, and 2 more in the step
    "adamw_8bit": States(2, 2, 2),  # 16-bit weights, 8-bit moments
    "adamw_in_backward": States(2, 0, 4),  # gradients freed layer by layer
    "adamw_8bit_in_backward": States(2, 0, 2),
    "adamw_paged": States(2, 2, 0.2),  # moments paged to the host
    "adamw_paged_in_backward": States(2, 0, 0.2),  # 8-bit moments paged to the host
}
_ADAPTED_ENDS = STATES[
    "adamw_pure"
]  # embedding and head trained beside an adapter: a 16-bit copy with its states


class MemoryFactors(NamedTuple):
    """What is fitted, per software family; see docs/sizing/training.md for the runs behind each."""

    kept: Numbers = 1.0  # activations kept, as a multiple of the textbook count at 2 bytes per element
    working_layers: Numbers = (
        2.0  # layers' worth alive while one is recomputed: its activations and gradients
    )
    selective_kept: Numbers = 0.4  # share still kept with selective recomputation
    frozen_kept: Numbers = 0.85  # share still kept when most weights are frozen
    expert_working: Numbers = 0.4  # share of a layer's expert activations alive while it is recomputed
    score_bytes: Numbers = 7.0  # per head, query and key where attention is not fused
    logit_eager: Numbers = 10.5  # bytes per logit: 16 bit, 32-bit copy, gradient
    logit_fast: Numbers = 5.6  # gradient in place
    logit_chunked: Numbers = 1.0
    logit_fused: Numbers = 0.3
    gathered_layers: Numbers = 2.0  # layers brought together at once by full sharding
    workspace_matrices: Numbers = 2.0  # matrices of a quantised base expanded to 16 bit at once
    late_share: Numbers = 0.35  # of the activations still held when most gradients exist
    runtime_gib: Numbers = 1.5  # what the allocator does not see: context, collectives, libraries
    reserved_fraction: Numbers = 0.2  # allocator cache and fragmentation on top of what is allocated

    def logit_bytes(self, loss: Numbers) -> Array:
        """Bytes per logit by index in LOSSES."""
        kinds = (self.logit_eager, self.logit_fast, self.logit_chunked, self.logit_fused)
        shape = np.broadcast_shapes(np.shape(loss), *(np.shape(kind) for kind in kinds))
        return np.choose(
            np.broadcast_to(np.asarray(loss, int), shape), [np.broadcast_to(kind, shape) for kind in kinds]
        )


class Split(NamedTuple):
    """How a job is laid out; every field a scalar or an array of the same shape.

    The *_shards fields say over how many data-parallel ranks a state is divided (1 = every rank holds all of it).
    """

    tp: Numbers = 1
    pp: Numbers = 1
    cp: Numbers = 1
    dp: Numbers = 1
    ep: Numbers = 1
    weight_shards: Numbers = 1
    gradient_shards: Numbers = 1
    optimizer_shards: Numbers = 1
    virtual_stages: Numbers = 1
    stage_gathered: Numbers = 0.0  # 1: sharding under a pipeline keeps a stage's weights and gradients whole
    streamed: Numbers = 0.0  # 1: weights live in host memory and come layer by layer


class Batch(NamedTuple):
    """What one replica works on at a time, and what its software keeps of it."""

    sequence_tokens: Numbers
    micro_batch: Numbers
    recompute: Numbers = 1.0  # 1: every layer is recomputed from its input in the backward pass
    selective: Numbers = 0.0  # 1: only attention and cheap kernels are
    loss: Numbers = 0  # index in LOSSES
    residual_bytes: Numbers = 2.0  # of a layer's input; 4 under autocast with 32-bit residuals
    unfused_attention: Numbers = 0.0  # 1: scores are written out, heads × keys per token and layer
    sequence_parallel: Numbers = 1.0  # 0: layer inputs are repeated on every tensor-parallel rank
    in_flight: Numbers = 1.0  # micro-batches held by the first pipeline stage, times its share of the layers


class Adapter(NamedTuple):
    """A low-rank addition to a frozen base: the base has neither gradients nor optimiser states."""

    frozen: Numbers = 0.0  # 1: adapter; 0: everything is trained and the rest is ignored
    base_bytes: Numbers = 2.0  # per frozen weight outside embedding and head
    rank: Numbers = 16.0
    full_ends: Numbers = 0.0  # 1: embedding and head are trained as well, which costs more than the adapter


class TrainingMemory(NamedTuple):
    """Bytes on the fullest GPU. `peak` is what the allocator hands out at the worst moment."""

    weights: Array
    gradients: Array
    optimizer: Array
    activations: Array  # the working set of a recomputed layer included
    logits: Array
    gathered: Array
    transient: Array
    peak: Array
    working: Array  # of the activations: alive only while a layer is recomputed, when the logits are gone

    @property
    def at_work(self) -> Array:
        """What comes and goes within a step: activations, layers gathered, and logits or the layer at work."""
        return self.activations - self.working + np.maximum(self.working, self.logits) + self.gathered

    def reserved(self, factors: MemoryFactors) -> Array:
        """Allocated plus what the allocator keeps: the fragmentation that ends runs which fit on paper."""
        cached = self.activations + self.logits + self.gathered + self.transient
        return self.peak + factors.reserved_fraction * np.minimum(cached, self.peak)

    def device(self, factors: MemoryFactors) -> Array:
        """What the driver reports: reserved plus the runtime."""
        return self.reserved(factors) + np.asarray(factors.runtime_gib, float) * GIB


def in_host_memory(memory: TrainingMemory, offload: Numbers) -> TrainingMemory:
    """`memory` with states kept in host memory: by index in OFFLOADS none, those of the optimiser, or all.

    Source: peaks of runs that did so; a share of what is away is always on its way.
    """
    chosen = np.asarray(offload, int)
    away = np.stack(np.broadcast_arrays(memory.weights, memory.gradients, memory.optimizer)) * OFFLOADED_KEPT
    # Gradients are copied together on their way to the host.
    weights, gradients, optimizer = (
        np.choose(chosen, held)
        for held in (
            (memory.weights, memory.weights, away[0]),
            (memory.gradients, 1.5 * memory.gradients, away[1]),
            (memory.optimizer, away[2], away[2]),
        )
    )
    peak = np.where(chosen > 0, weights + gradients + optimizer + memory.at_work, memory.peak)
    return memory._replace(weights=weights, gradients=gradients, optimizer=optimizer, peak=peak)


def states_level(memory: TrainingMemory) -> NDArray[np.int64]:
    """How much of the peak are weights and optimiser states: 0 little, 1 about half, 2 most."""
    return np.searchsorted(STATE_SHARES, (memory.weights + memory.optimizer) / memory.peak)


def _floats(*values: Numbers) -> list[Array]:
    return [np.asarray(value, float) for value in values]


# ── parameters per GPU ──────────────────────────────────────────────────────────────────────────────────────────


def end_params(model: TrainedModel) -> Array:
    """Embedding and output head."""
    return model.embedding_params * np.where(model.embeddings_untied, 2.0, 1.0)


def local_dense_params(model: TrainedModel, split: Split) -> Array:
    """Parameters outside the experts that one GPU is responsible for before data-parallel sharding.

    The first stage of a pipeline carries the embedding, the last the head: neither shrinks with the stages.
    """
    tp, pp = _floats(split.tp, split.pp)
    dense = model.params - model.expert_params
    staged = (dense - end_params(model)) / pp + model.embedding_params
    return np.where(pp > 1, staged, dense) / tp


def local_expert_params(model: TrainedModel, split: Split) -> Array:
    """Parameters of the routed experts that one GPU is responsible for: ranks hold them once between them."""
    tp, pp, cp, dp, ep = _floats(split.tp, split.pp, split.cp, split.dp, split.ep)
    return model.expert_params / (pp * np.minimum(ep * tp, dp * cp * tp))


def local_params(model: TrainedModel, split: Split) -> Array:
    """All parameters that one GPU is responsible for before data-parallel sharding."""
    return local_dense_params(model, split) + local_expert_params(model, split)


def _sharded(model: TrainedModel, split: Split, shards: Numbers) -> Array:
    """Parameters kept per GPU when a state is divided over `shards` ranks; experts are divided already."""
    ranks, ep = _floats(shards, split.ep)
    return local_dense_params(model, split) / ranks + local_expert_params(model, split) / np.maximum(
        ranks / ep, 1.0
    )


# ── activations ─────────────────────────────────────────────────────────────────────────────────────────────────


def activation_bytes(
    model: TrainedModel, split: Split, batch: Batch, factors: MemoryFactors, frozen: Numbers = 0.0
) -> tuple[Array, Array]:
    """Activations kept for the backward pass (everything, the selective part, or layer inputs), and the working set
    of the layer that is being recomputed."""
    tp, pp, cp = _floats(split.tp, split.pp, split.cp)
    sequence, micro, recompute, selective = _floats(
        batch.sequence_tokens, batch.micro_batch, batch.recompute, batch.selective
    )
    tokens = micro * sequence / cp
    scores = np.asarray(batch.unfused_attention, float) * factors.score_bytes * sequence
    per_head = (STATISTIC_BYTES + scores) * model.kept_heads
    needed = factors.kept * np.where(np.asarray(frozen, float) > 0, factors.frozen_kept, 1.0)
    everything = (2 * model.kept_elements * needed + per_head) * tokens / tp
    once = model.kept_elements - (1 - np.asarray(factors.expert_working, float)) * model.kept_expert_elements
    layer = (2 * once * needed + per_head) * tokens / tp / model.layers
    repeated = np.where(np.asarray(batch.sequence_parallel, float) > 0, tp, 1.0)
    inputs = np.asarray(batch.residual_bytes, float) * model.layers * model.hidden * tokens / repeated
    kept = everything * np.where(selective > 0, factors.selective_kept, 1.0)
    in_flight = np.asarray(batch.in_flight, float)
    held = ((1 - recompute) * kept + recompute * inputs) * in_flight / pp
    return held, recompute * factors.working_layers * layer


def logit_bytes(model: TrainedModel, split: Split, batch: Batch, factors: MemoryFactors) -> Array:
    """Logits, their 32-bit copy and gradient: vocabulary × tokens, the term that breaks long contexts."""
    sequence, micro, tp, cp = _floats(batch.sequence_tokens, batch.micro_batch, split.tp, split.cp)
    return factors.logit_bytes(batch.loss) * model.vocabulary * micro * sequence / (tp * cp)


def in_flight_layers(split: Split) -> Array:
    """Micro-batches held by the first stage of a one-forward-one-backward pipeline, as a multiple of its layers."""
    pp, virtual = _floats(split.pp, split.virtual_stages)
    return pp * np.where(virtual > 1, 1 + (pp - 1) / (pp * virtual), 1.0)


# ── the peak ────────────────────────────────────────────────────────────────────────────────────────────────────


class _Held(NamedTuple):
    """Bytes of states on one GPU."""

    weights: Array
    gradients: Array
    optimizer: Array
    transient: Array


def _full_states(model: TrainedModel, states: States, split: Split) -> _Held:
    weights = _sharded(model, split, split.weight_shards)
    gradients = _sharded(model, split, split.gradient_shards)
    optimizer = _sharded(model, split, split.optimizer_shards)
    return _Held(
        weights * states.weights, gradients * states.gradients, optimizer * states.optimizer,
        optimizer * states.transient,
    )  # fmt: skip


def _adapter_states(model: TrainedModel, states: States, split: Split, adapter: Adapter) -> _Held:
    tp, pp, shards = _floats(split.tp, split.pp, split.weight_shards)
    trained = adapter_params(model, adapter.rank) / (tp * pp)
    ends = end_params(model) / tp
    with_ends = np.asarray(adapter.full_ends, float) * ends / pp
    # Embedding and head stay in 16 bit whatever the format of the base.
    base = _sharded(model, split, shards)
    base_ends = np.minimum(ends / shards, base)
    base_bytes = np.asarray(adapter.base_bytes, float)
    frozen = (base - base_ends) * base_bytes + base_ends * np.maximum(2.0, base_bytes)
    extra = _ADAPTED_ENDS
    return _Held(
        frozen + (trained * states.weights + with_ends * extra.weights) / shards,
        (trained * states.gradients + with_ends * extra.gradients) / split.gradient_shards,
        (trained * states.optimizer + with_ends * extra.optimizer) / split.optimizer_shards,
        (trained * states.transient + with_ends * extra.transient) / split.optimizer_shards,
    )


def training_memory(
    model: TrainedModel,
    states: States,
    split: Split,
    batch: Batch,
    factors: MemoryFactors,
    adapter: Adapter = Adapter(),  # noqa: B008  immutable
) -> TrainingMemory:
    """Peak memory of one GPU. With an adapter, `states` holds for the adapter only."""
    tp, ep, in_flight, pp = _floats(split.tp, split.ep, batch.in_flight, split.pp)
    frozen = np.asarray(adapter.frozen, float) > 0
    base_bytes = np.asarray(adapter.base_bytes, float)
    full, low_rank = _full_states(model, states, split), _adapter_states(model, states, split, adapter)
    weights, gradients, optimizer, transient = (
        np.where(frozen, low, all_of_it) for low, all_of_it in zip(low_rank, full, strict=True)
    )
    held, working = activation_bytes(model, split, batch, factors, frozen)
    logits = logit_bytes(model, split, batch, factors)

    # Full sharding brings a few layers together, and the embedding; a 4-bit base is expanded layer by layer.
    layer = model.largest_layer_params / (tp * np.where(np.asarray(model.experts) > 0, ep, 1.0))
    gather_bytes = np.where(frozen, np.maximum(base_bytes, 0.5), states.gathered)
    gathered = factors.gathered_layers * layer * gather_bytes + model.embedding_params * 2.0 / tp
    divided = (np.asarray(split.weight_shards) > 1) | (np.asarray(split.streamed) > 0)
    gathered = np.where(divided, gathered, 0.0)
    whole = np.asarray(split.stage_gathered, float) > 0
    local = local_params(model, split)
    gathered = np.where(whole, local * gather_bytes, gathered)
    gradients = np.where(whole & ~frozen, local * states.gradients, gradients)
    expanded = frozen & (base_bytes < 1)
    gathered = gathered + np.where(
        expanded, factors.workspace_matrices * 2.0 * model.largest_matrix_params / tp, 0.0
    )

    persistent = weights + optimizer + gradients * np.asarray(states.gradients_persist, float) + gathered
    # With a pipeline the first stage holds many micro-batches, the last stage one and the logits.
    last_stage = held / np.maximum(in_flight, 1.0) + logits
    at_loss = persistent + np.where(pp > 1, np.maximum(held, last_stage), held + logits)
    # The logits are gone when the first layer is recomputed.
    at_recomputation = persistent + held + working
    late = weights + optimizer + gradients + gathered + held * factors.late_share + working
    at_step = weights + optimizer + gradients + transient
    peak = np.maximum(np.maximum(at_loss, at_recomputation), np.maximum(late, at_step))
    return TrainingMemory(
        weights, gradients, optimizer, held + working, logits, gathered, transient, peak, working
    )
