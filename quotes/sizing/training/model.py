"""What training a language model asks per token: weights, matrix products, attention, and elements moved.

Everything is for the whole model and one token, before any split over GPUs; the splits are in `training_memory` and
`training_speed`. Sources: 6·N per token (Kaplan et al. 2020), attention and activations after Korthikanti et al. 2022
(arXiv:2205.05198), adapted to grouped-query attention, gated feed-forward parts and mixtures of experts.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from catalog.specs import ModelArchitecture
from quotes.sizing.architecture import (
    attention_params_per_layer,
    expert_layers,
    expert_params,
    feed_forward_layers,
    parameters,
)
from quotes.sizing.arrays import Numbers

MAMBA_EXPANSION = 2  # inner width of a linear-attention or state-space mixer, in hidden sizes


class TrainedModel(NamedTuple):
    """A model as training sees it. Parameters are counts; FLOPs are of one token's forward pass; elements are
    numbers written and read, or kept for the backward pass, per token. The formulas also accept arrays in every field,
    one entry per model (see `stack_models`)."""

    params: float  # everything that has a gradient in full training
    expert_params: float  # routed experts, split by expert parallelism
    embedding_params: float  # one vocabulary matrix
    embeddings_untied: bool
    matrix_flops: float  # layers without routed experts
    expert_flops: float
    head_flops: float
    attention_flops_per_key: float  # full-attention layers; times the keys that a token sees
    sliding_flops_per_key: float
    sliding_window: int
    mixer_elements: float  # linear-attention layers
    moved_elements: float  # by normalisation, activation, residual and copy kernels
    routed_elements: float  # tokens sent to experts
    kept_elements: float  # saved for the backward pass when nothing is recomputed
    kept_expert_elements: float  # of them, inside routed experts
    key_elements: float  # keys and values of all attention layers, what context-parallel ranks exchange
    kept_heads: float  # attention heads whose 32-bit statistics are kept
    largest_layer_params: float
    largest_matrix_params: float
    layers: int
    hidden: int
    head_dim: int
    vocabulary: int
    experts: int
    expert_width: int
    adapter_width: float  # Σ (inputs + outputs) of the matrices that get an adapter

    @property
    def active_flops(self) -> float:
        """Forward FLOPs of all matrix products of one token, attention scores left out."""
        return self.matrix_flops + self.expert_flops + self.head_flops


@lru_cache(maxsize=512)
def trained_model(arch: ModelArchitecture) -> TrainedModel:
    """The quantities of `arch` that training needs. Prediction layers and encoders are left out."""
    count = parameters(arch)
    moe_layers = expert_layers(arch)
    dense_layers = feed_forward_layers(arch) - moe_layers
    attention_layers = arch.full_layers + arch.sliding_layers
    chosen = arch.experts_per_token
    matrices = 3 if arch.gated_feed_forward else 2
    head_params = count.head or count.embedding

    query_key = arch.query_heads * ((arch.nope_dim + arch.rope_dim) if arch.is_mla else arch.head_dim)
    value = arch.query_heads * (arch.value_dim or arch.head_dim)
    kept_keys = query_key + value if arch.is_mla else 2 * arch.kv_heads * arch.head_dim
    attention_width = query_key + value + kept_keys
    feed_forward_width = dense_layers * matrices * arch.feed_forward + moe_layers * matrices * (
        arch.shared_expert_width + chosen * arch.expert_width
    )
    expert_input = arch.expert_latent or arch.hidden
    body = count.attention + count.other + count.dense + count.router + count.shared
    active = arch.active_params_b
    if active and arch.is_moe:  # believe the published count, as `parameters` believes the published total
        routed = count.experts * chosen / arch.experts
        body = max(
            0.2 * body, active * 1e9 - routed - head_params - (0 if arch.tied_embeddings else count.embedding)
        )

    largest = attention_params_per_layer(arch)
    if moe_layers:
        largest += arch.experts * expert_params(arch) + matrices * arch.hidden * arch.shared_expert_width
    else:
        largest += matrices * arch.hidden * arch.feed_forward
    mixer_width = MAMBA_EXPANSION * arch.hidden
    return TrainedModel(
        params=count.total,
        expert_params=count.experts,
        embedding_params=count.embedding,
        embeddings_untied=not arch.tied_embeddings,
        matrix_flops=2 * body,
        expert_flops=2 * count.experts * (chosen / arch.experts if arch.is_moe else 0),
        head_flops=2 * head_params,
        attention_flops_per_key=2 * arch.full_layers * (query_key + value),
        sliding_flops_per_key=2 * arch.sliding_layers * (query_key + value),
        sliding_window=arch.sliding_window,
        mixer_elements=arch.linear_layers * mixer_width,
        moved_elements=6 * arch.layers * arch.hidden + attention_layers * attention_width + feed_forward_width
        + 8 * arch.linear_layers * mixer_width,
        routed_elements=moe_layers * chosen * expert_input,
        kept_elements=4 * arch.layers * arch.hidden + attention_layers * attention_width
        + feed_forward_width + moe_layers * chosen * expert_input + 4 * arch.linear_layers * mixer_width,
        kept_expert_elements=moe_layers * chosen * (matrices * arch.expert_width + expert_input),
        key_elements=attention_layers * kept_keys,
        kept_heads=attention_layers * arch.query_heads,
        largest_layer_params=largest,
        largest_matrix_params=arch.hidden * max(
            arch.feed_forward, arch.expert_width, arch.shared_expert_width, arch.query_heads * arch.head_dim
        ),
        layers=arch.layers,
        hidden=arch.hidden,
        head_dim=arch.value_dim or arch.head_dim,
        vocabulary=arch.vocabulary,
        experts=arch.experts,
        expert_width=arch.expert_width,
        adapter_width=_adapter_width(arch, attention_layers, dense_layers),
    )  # fmt: skip


def _adapter_width(arch: ModelArchitecture, attention_layers: int, dense_layers: int) -> float:
    """Σ over adapted matrices of (inputs + outputs): attention projections and dense feed-forward, not the experts."""
    heads = arch.query_heads * arch.head_dim
    keys = arch.kv_heads * arch.head_dim
    attention = 2 * (arch.hidden + heads) + 2 * (arch.hidden + keys)
    feed_forward = (3 if arch.gated_feed_forward else 2) * (arch.hidden + arch.feed_forward)
    return attention_layers * attention + dense_layers * feed_forward


def adapter_params(model: TrainedModel, rank: Numbers) -> NDArray[np.float64]:
    """Trainable parameters of a low-rank adapter on every linear layer outside the experts: r·(inputs + outputs)."""
    return np.asarray(rank, float) * model.adapter_width


def attention_flops(
    model: TrainedModel, sequence_tokens: Numbers, *, window_skipped: float = 1.0
) -> NDArray[np.float64]:
    """Forward FLOPs of attention scores and values per token; a causal token sees half the sequence on average.

    `window_skipped`: share of the keys outside a sliding window that the kernel really skips.
    """
    sequence = np.asarray(sequence_tokens, float)
    window = np.where(np.asarray(model.sliding_window) > 0, model.sliding_window, sequence)
    half = sequence / 2
    seen = half - window_skipped * np.maximum(half - window, 0)
    return model.attention_flops_per_key * half + model.sliding_flops_per_key * seen
