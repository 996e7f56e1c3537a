"""Peak memory of one GPU while training, component by component.

Formulas take scalars and NumPy arrays alike: the search over thousands of layouts and the explanation of the chosen
one are the same code. Bytes throughout. Sources: states after Rajbhandari et al. 2020 (ZeRO), activations after
Korthikanti et al. 2022, the factors fitted on published peaks (`TrainingCalibration.memory`).
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from catalog.quantity import Frozen
from quotes.sizing.training_model import TrainedModel, adapter_params

type Array = NDArray[np.float64]
type Loss = Literal["eager", "chunked", "fused"]

GIB = 2**30
STATISTIC_BYTES = 4  # one 32-bit log-sum-exp per head and token
LATE_SHARE = 0.25  # of the activations still held when most gradients exist


class States(Frozen):
    """Bytes per trainable parameter that live between steps, and the extra while the optimiser steps."""

    weights: float
    gradients: float
    optimizer: float
    transient: float = 0
    gathered: float = 2  # a layer brought together by sharding, in compute precision
    gradients_persist: bool = (
        False  # kept while the next forward pass runs: accumulation, or a 32-bit main gradient
    )
    source: str = ""

    @property
    def resident(self) -> float:
        return self.weights + self.gradients + self.optimizer


STATES: Mapping[str, States] = {
    # The optimiser must be named (16–18 bytes for Adam in mixed precision, before any activation).
    "adamw": States(weights=4, gradients=4, optimizer=8, transient=4, source="FSDP mixed precision: 32-bit states"),
    "adamw_main_gradients": States(
        weights=2, gradients=4, optimizer=12, gradients_persist=True, source="Megatron: 6 + 12/dp bytes"
    ),
    "adamw_deepspeed": States(weights=2, gradients=2, optimizer=12, transient=0, source="ZeRO paper: 16 bytes"),
    "adamw_pure": States(weights=2, gradients=2, optimizer=4, transient=2, source="all 16 bit: 8 + 2 in the step"),
    "adamw_8bit": States(weights=2, gradients=2, optimizer=2, source="16-bit weights, 8-bit moments"),
    "adamw_8bit_in_backward": States(weights=2, gradients=0, optimizer=2, source="gradients freed layer by layer"),
    "adamw_in_backward": States(weights=2, gradients=0, optimizer=4, source="gradients freed layer by layer"),
}  # fmt: skip


class MemoryFactors(Frozen):
    """What is fitted; see docs/sizing/training.md for the rows behind each."""

    kept: float = 1.0  # activations kept, as a multiple of the textbook count at 2 bytes per element
    selective_kept: float = 0.6  # share still kept with selective recomputation
    working_layers: float = 1.0  # layers' worth of activations alive while one is recomputed
    logit_bytes: Mapping[Loss, float] = {"eager": 12.0, "chunked": 2.0, "fused": 0.5}
    gathered_layers: float = 2.0  # layers brought together at once by full sharding
    frozen_workspace_layers: float = 1.0  # layers of a quantised base expanded to 16 bit at once
    runtime_gib: float = 1.0  # what the allocator does not see: context, collectives, libraries
    reserved_fraction: float = 0.12  # allocator cache and fragmentation on top of what is allocated


class Split(NamedTuple):
    """How a job is laid out; every field a scalar or an array of the same shape.

    The *_shards fields say over how many data-parallel ranks a state is divided (1 = every rank holds all of it).
    """

    tp: ArrayLike = 1
    pp: ArrayLike = 1
    cp: ArrayLike = 1
    dp: ArrayLike = 1
    ep: ArrayLike = 1
    weight_shards: ArrayLike = 1
    gradient_shards: ArrayLike = 1
    optimizer_shards: ArrayLike = 1
    virtual_stages: ArrayLike = 1


class Batch(NamedTuple):
    """What one replica works on at a time."""

    sequence_tokens: ArrayLike
    micro_batch: ArrayLike
    recompute: ArrayLike = 1.0  # share of the layers' activations recomputed: 0 none, 1 full
    selective: ArrayLike = 0.0  # 1 where only attention and cheap kernels are recomputed
    loss: Loss = "eager"
    in_flight: ArrayLike = (
        1.0  # micro-batches whose activations the first pipeline stage holds, times layers/pp
    )


class TrainingMemory(NamedTuple):
    """Bytes on the fullest GPU. `peak` is what the allocator hands out at the worst moment."""

    weights: Array
    gradients: Array
    optimizer: Array
    activations: Array
    logits: Array
    gathered: Array
    transient: Array
    peak: Array

    def reserved(self, factors: MemoryFactors) -> Array:
        """Allocated plus what the allocator keeps: the fragmentation that ends runs which fit on paper."""
        cached = self.activations + self.logits + self.gathered + self.transient
        return self.peak + factors.reserved_fraction * np.minimum(cached, self.peak)

    def device(self, factors: MemoryFactors) -> Array:
        """What the driver reports: reserved plus the runtime."""
        return self.reserved(factors) + factors.runtime_gib * GIB


def local_dense_params(model: TrainedModel, split: Split) -> Array:
    """Parameters outside the experts that one GPU is responsible for before data-parallel sharding.

    The first stage of a pipeline carries the embedding, the last the head: neither shrinks with the stages.
    """
    tp, pp = np.asarray(split.tp, float), np.asarray(split.pp, float)
    dense = model.params - model.expert_params
    ends = model.embedding_params * np.where(model.embeddings_untied, 2, 1)
    return np.where(pp > 1, (dense - ends) / pp + model.embedding_params, dense) / tp


def local_expert_params(model: TrainedModel, split: Split) -> Array:
    """Parameters of the routed experts that one GPU is responsible for."""
    tp, pp, ep = (np.asarray(value, float) for value in (split.tp, split.pp, split.ep))
    return model.expert_params / (pp * ep * tp)


def local_params(model: TrainedModel, split: Split) -> Array:
    """All parameters that one GPU is responsible for before data-parallel sharding."""
    return local_dense_params(model, split) + local_expert_params(model, split)


def _sharded(model: TrainedModel, split: Split, shards: ArrayLike) -> Array:
    """Parameters kept per GPU when a state is divided over `shards` ranks; experts are divided already."""
    ranks = np.asarray(shards, float)
    left = np.maximum(ranks / np.asarray(split.ep, float), 1.0)
    return local_dense_params(model, split) / ranks + local_expert_params(model, split) / left


def activation_bytes(model: TrainedModel, split: Split, batch: Batch, factors: MemoryFactors) -> Array:
    """Activations kept for the backward pass: everything, the selective part, or layer inputs plus one layer."""
    tp, pp, cp = (np.asarray(value, float) for value in (split.tp, split.pp, split.cp))
    tokens = np.asarray(batch.micro_batch, float) * np.asarray(batch.sequence_tokens, float) / cp
    recompute, selective = np.asarray(batch.recompute, float), np.asarray(batch.selective, float)
    everything = (2 * model.kept_elements * factors.kept + STATISTIC_BYTES * model.kept_heads) * tokens / tp
    inputs = 2.0 * model.layers * model.hidden * tokens / tp
    kept = everything * np.where(selective > 0, factors.selective_kept, 1.0)
    working = factors.working_layers * everything / model.layers
    in_flight = np.asarray(batch.in_flight, float)
    return ((1 - recompute) * kept + recompute * inputs) * in_flight / pp + recompute * working


def logit_bytes(model: TrainedModel, split: Split, batch: Batch, factors: MemoryFactors) -> Array:
    """Logits, their 32-bit copy and gradient: vocabulary × tokens, the term that breaks long contexts."""
    tokens = np.asarray(batch.micro_batch, float) * np.asarray(batch.sequence_tokens, float)
    share = np.asarray(split.tp, float) * np.asarray(split.cp, float)
    return factors.logit_bytes[batch.loss] * model.vocabulary * tokens / share


def training_memory(
    model: TrainedModel,
    states: States,
    split: Split,
    batch: Batch,
    factors: MemoryFactors,
    *,
    frozen_bytes: float | None = None,
    adapter_rank: float = 0,
    full_adapter_ends: bool = False,
) -> TrainingMemory:
    """Peak memory of one GPU.

    `frozen_bytes` per base weight marks a low-rank adapter: the base has no gradients or optimiser states, and
    `states` holds for the adapter only (2 for 16 bit, about 0.52 for NF4). `full_adapter_ends`: embedding and head
    are trained as well, which costs more than the adapter itself.
    """
    tp = np.asarray(split.tp, float)
    layer = model.largest_layer_params / (tp * np.where(model.experts, split.ep, 1.0))
    ends = model.embedding_params * np.where(model.embeddings_untied, 2, 1) / tp
    gather_bytes = states.gathered
    if frozen_bytes is None:
        frozen = np.zeros_like(tp)
        kept = {
            name: _sharded(model, split, shards)
            for name, shards in (
                ("weights", split.weight_shards),
                ("gradients", split.gradient_shards),
                ("optimizer", split.optimizer_shards),
            )
        }
    else:
        stage = tp * np.asarray(split.pp, float)
        trained = adapter_params(model, adapter_rank) / stage
        if full_adapter_ends:
            trained = trained + ends / np.asarray(split.pp, float)
        kept = {
            "weights": trained / split.weight_shards,
            "gradients": trained / split.gradient_shards,
            "optimizer": trained / split.optimizer_shards,
        }
        # Embedding and head stay in 16 bit whatever the format of the base.
        base = _sharded(model, split, split.weight_shards)
        base_ends = np.minimum(ends / np.asarray(split.weight_shards, float), base)
        frozen = (base - base_ends) * frozen_bytes + base_ends * max(2.0, frozen_bytes)
        gather_bytes = max(frozen_bytes, 0.5)
    weights = frozen + kept["weights"] * states.weights
    gradients = kept["gradients"] * states.gradients
    optimizer = kept["optimizer"] * states.optimizer
    transient = kept["optimizer"] * states.transient

    activations = activation_bytes(model, split, batch, factors)
    logits = logit_bytes(model, split, batch, factors)
    gathered = factors.gathered_layers * layer * gather_bytes + model.embedding_params * 2.0 / tp
    gathered = np.where(np.asarray(split.weight_shards) > 1, gathered, 0.0)
    if frozen_bytes is not None and frozen_bytes < 1:
        gathered = gathered + factors.frozen_workspace_layers * 2.0 * layer

    persistent = weights + optimizer + (gradients if states.gradients_persist else 0.0) + gathered
    # With a pipeline the first stage holds many micro-batches, the last stage one and the logits.
    last_stage = activations / np.maximum(np.asarray(batch.in_flight, float), 1.0) + logits
    at_loss = persistent + np.where(
        np.asarray(split.pp) > 1, np.maximum(activations, last_stage), activations + logits
    )
    late = weights + optimizer + gradients + gathered + activations * LATE_SHARE
    at_step = weights + optimizer + gradients + transient
    peak = np.maximum(np.maximum(at_loss, late), at_step)
    return TrainingMemory(weights, gradients, optimizer, activations, logits, gathered, transient, peak)


def in_flight_layers(split: Split) -> Array:
    """Micro-batches held by the first stage of a one-forward-one-backward pipeline, as a multiple of its layers."""
    pp, virtual = np.asarray(split.pp, float), np.asarray(split.virtual_stages, float)
    return pp * np.where(virtual > 1, 1 + (pp - 1) / (pp * virtual), 1.0)
