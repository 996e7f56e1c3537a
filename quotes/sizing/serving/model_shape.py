"""What the time of a pass depends on in a model: its dimensions as numbers that can be stacked."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from catalog.specs import ModelArchitecture
from quotes.sizing.architecture import (
    WeightFormat,
    expert_layers,
    feed_forward_layers,
    parameters,
    sixteen_bit_parts,
)
from quotes.sizing.arrays import Numbers
from quotes.sizing.serving.kernels import Columns

type Values = NDArray[np.float64]


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
