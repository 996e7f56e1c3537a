"""Parameters, bytes and legal layouts of a language model, from its dimensions.

Counts are exact for the standard structures (grouped-query and latent attention, sliding windows, mixtures of
experts); what the dimensions do not tell (state-space mixers, sparse indexers, gates) is the difference with the
published total and is treated as dense weights.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from catalog.specs import CatalogSnapshot, ModelArchitecture
from configurator.workload import ModelRef
from quotes.sizing.arrays import Numbers

BYTES_GIB = 2**30
INDEXER_KEY_BYTES = 132  # per token and layer of an indexed sparse attention: 128 values in FP8 and one scale
TP_DEGREES = (1, 2, 4, 8, 16, 32)

KV_BYTES: Mapping[str, float] = {"fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1, "nvfp4": 0.5625}


@dataclass(frozen=True, slots=True)
class WeightFormat:
    """How a checkpoint stores a weight. `bytes_per_weight` includes scales and zero points."""

    key: str
    bytes_per_weight: float
    compute: str  # the arithmetic of its matrix products: bf16, fp8, fp4
    experts_only: bool = False  # everything else stays in 16 bit
    whole_file: bool = False  # embeddings and head are quantised too (GGUF)
    head_bytes: float = 0  # of the output matrix, and of the embedding that serves as one; 0: as all else


FORMATS: Mapping[str, WeightFormat] = {
    form.key: form
    for form in (
        WeightFormat("fp32", 4, "bf16"),
        WeightFormat("bf16", 2, "bf16"),
        WeightFormat("fp8", 1.001, "fp8"),  # one 32-bit scale per 128×128 block, or per channel
        WeightFormat("int8", 1.002, "int8"),
        WeightFormat("int6", 0.78, "bf16"),
        WeightFormat("int4", 0.531, "bf16"),  # AWQ/GPTQ, group 128: scale, zero point, packing
        WeightFormat("nf4", 0.516, "bf16"),
        WeightFormat("mxfp4", 0.531, "fp4", experts_only=True),
        WeightFormat("nvfp4", 0.5625, "fp4"),
        # llama.cpp: half of the down projections and values in six bits, the output matrix always
        WeightFormat("q4_k_m", 0.6, "bf16", whole_file=True, head_bytes=6.5625 / 8),
        WeightFormat("q4_0", 0.5625, "bf16", whole_file=True, head_bytes=6.5625 / 8),
        WeightFormat("q8_0", 1.0625, "bf16", whole_file=True),
    )
}


@dataclass(frozen=True, slots=True)
class Parameters:
    """Counts by component, all layers together. `head` is 0 when it is tied to the embedding."""

    embedding: float
    head: float
    attention: float
    other: float  # mixers, indexers and gates that the dimensions do not tell; norms
    dense: float  # feed-forward outside the experts
    router: float
    experts: float
    shared: float
    encoder: float
    mtp: float  # multi-token-prediction layers, loaded for speculative decoding only

    @property
    def total(self) -> float:
        """The text model without prediction layers, as model cards count it."""
        return self.embedding + self.head + self.body + self.experts

    @property
    def body(self) -> float:
        """Read with every token: layers without routed experts."""
        return self.attention + self.other + self.dense + self.router + self.shared


def attention_params_per_layer(arch: ModelArchitecture, *, sliding: bool = False) -> float:
    """Projections of one attention layer."""
    heads, width, value = arch.query_heads, arch.head_dim, arch.value_dim or arch.head_dim
    if arch.is_mla:
        query_width = heads * (arch.nope_dim + arch.rope_dim)
        query = (
            arch.hidden * arch.q_rank + arch.q_rank * query_width
            if arch.q_rank
            else arch.hidden * query_width
        )
        latent = arch.hidden * (arch.kv_rank + arch.rope_dim)
        expand = arch.kv_rank * heads * (arch.nope_dim + arch.value_dim)
        return query + latent + expand + heads * arch.value_dim * arch.hidden
    kv_heads = arch.kv_heads
    if sliding:
        kv_heads = arch.sliding_kv_heads or kv_heads
        width = arch.sliding_head_dim or width
        value = width if arch.sliding_head_dim else value
    return arch.hidden * (heads * width + kv_heads * (width + value) + heads * value)


def feed_forward_layers(arch: ModelArchitecture) -> int:
    return arch.layers if arch.feed_forward_layers is None else arch.feed_forward_layers


def expert_layers(arch: ModelArchitecture) -> int:
    """Layers whose feed-forward part is a mixture of experts."""
    return feed_forward_layers(arch) - arch.dense_layers if arch.is_moe else 0


def expert_params(arch: ModelArchitecture) -> float:
    """Weights of one routed expert in one layer."""
    return (3 if arch.gated_feed_forward else 2) * (arch.expert_latent or arch.hidden) * arch.expert_width


@lru_cache(maxsize=512)
def parameters(arch: ModelArchitecture) -> Parameters:
    """Count `arch` component by component.

    A published total is believed: what it has more is booked as `other` (or as expert biases when it is tiny), what
    it has less is taken off the attention, the part whose variants the dimensions tell least.
    """
    matrices = 3 if arch.gated_feed_forward else 2
    moe_layers = expert_layers(arch)
    dense = (feed_forward_layers(arch) - moe_layers) * matrices * arch.hidden * arch.feed_forward
    experts = moe_layers * arch.experts * expert_params(arch)
    shared = moe_layers * matrices * arch.hidden * arch.shared_expert_width
    router = moe_layers * arch.hidden * arch.experts
    if arch.expert_latent:
        router += moe_layers * 2 * arch.hidden * arch.expert_latent
    attention = arch.full_layers * attention_params_per_layer(arch)
    attention += arch.sliding_layers * attention_params_per_layer(arch, sliding=True)
    embedding = arch.vocabulary * arch.hidden
    head = 0 if arch.tied_embeddings else embedding
    norms = (2 * arch.layers + 1) * arch.hidden
    counted = embedding + head + attention + dense + experts + shared + router + norms
    surplus = arch.total_params_b * 1e9 - counted if arch.total_params_b else 0.0
    if arch.is_moe and 0 < surplus < 0.001 * counted:
        experts, surplus = experts + surplus, 0.0
    attention = max(0.05 * attention, attention + min(surplus, 0.0))
    layer = attention_params_per_layer(arch) + 2 * arch.hidden**2
    layer += expert_params(arch) * arch.experts + matrices * arch.hidden * (
        arch.shared_expert_width if arch.is_moe else arch.feed_forward
    )
    return Parameters(
        embedding=embedding,
        head=head,
        attention=attention,
        other=norms + max(0.0, surplus),
        dense=dense,
        router=router,
        experts=experts,
        shared=shared,
        encoder=arch.encoder_params_b * 1e9,
        mtp=min(arch.mtp_layers, 1) * layer,
    )


def active_params(arch: ModelArchitecture) -> float:
    """Parameters that one token passes through, embedding and head included; decides FLOPs (2 per parameter)."""
    count = parameters(arch)
    share = arch.experts_per_token / arch.experts if arch.is_moe else 0
    head = count.head or count.embedding * arch.tied_embeddings  # tied: stored once, multiplied all the same
    return count.embedding * (not arch.tied_embeddings) + head + count.body + count.experts * share


def distinct_experts(experts: Numbers, per_token: Numbers, tokens: Numbers) -> NDArray[np.float64]:
    """Expected experts that `tokens` tokens touch when routing is even: E·(1 − (1 − k/E)^T)."""
    experts = np.asarray(experts, float)
    share = np.divide(per_token, np.maximum(experts, 1))
    with np.errstate(divide="ignore"):
        untouched = np.exp(np.asarray(tokens, float) * np.log1p(-np.minimum(share, 1)))
    return np.where(share >= 1, experts, experts * (1 - untouched))


# ── bytes ───────────────────────────────────────────────────────────────────────────────────────────────────────


def sixteen_bit_parts(arch: ModelArchitecture, form: WeightFormat) -> frozenset[str]:
    """Components that stay in 16 bit under `form`."""
    if form.compute == "bf16" and form.bytes_per_weight >= 2:
        return frozenset()
    if form.experts_only and arch.is_moe:
        return frozenset({"attention", "dense", "shared", "other"})
    if arch.native_format == form.key:
        return frozenset(arch.sixteen_bit)
    if form.key == "nvfp4" and arch.is_mla:
        return frozenset({"attention"})  # the published NVFP4 checkpoints of latent-attention models
    return frozenset()


def weight_bytes_by_part(arch: ModelArchitecture, form: WeightFormat) -> Mapping[str, float]:
    """Bytes of the whole checkpoint by component; prediction layers left out."""
    count = parameters(arch)
    wide = sixteen_bit_parts(arch, form)
    sixteen = max(2.0, form.bytes_per_weight) if form.key == "fp32" else 2.0
    ends = form.bytes_per_weight if form.whole_file else sixteen
    head = form.head_bytes or ends
    return {
        "embedding": count.embedding * (head if arch.tied_embeddings else ends),
        "head": count.head * head,
        "router": count.router * sixteen,
        "encoder": count.encoder * sixteen,
        **{
            part: getattr(count, part) * (sixteen if part in wide else form.bytes_per_weight)
            for part in ("attention", "other", "dense", "experts", "shared")
        },
    }


def weight_bytes(arch: ModelArchitecture, form: WeightFormat) -> float:
    """Bytes of the whole checkpoint in memory, scales and 16-bit parts included."""
    return sum(weight_bytes_by_part(arch, form).values())


def kv_heads_per_gpu(arch: ModelArchitecture, tp: Numbers) -> NDArray[np.float64]:
    """KV heads that one GPU holds: beyond one head per GPU the cache is copied, not split."""
    return np.maximum(1.0, np.ceil(arch.kv_heads / np.asarray(tp, float)))


def kv_bytes_per_token_full(
    arch: ModelArchitecture, kv_bytes: Numbers, tp: Numbers = 1
) -> NDArray[np.float64]:
    """Per GPU, of one token in the layers that keep the whole context. Latent caches are not split by `tp`."""
    kv_bytes = np.asarray(kv_bytes, float)
    if arch.is_mla:
        per_layer = (arch.kv_rank + arch.rope_dim) * kv_bytes * np.ones_like(np.asarray(tp, float))
    else:
        width = arch.head_dim + (arch.value_dim or arch.head_dim)
        per_layer = kv_heads_per_gpu(arch, tp) * width * kv_bytes
    return arch.full_layers * (per_layer + (INDEXER_KEY_BYTES if arch.sparse_top_k else 0))


def kv_bytes_per_token_sliding(
    arch: ModelArchitecture, kv_bytes: Numbers, tp: Numbers = 1
) -> NDArray[np.float64]:
    """Per GPU, of one token inside the window, all sliding layers together."""
    heads = arch.sliding_kv_heads or arch.kv_heads
    width = arch.sliding_head_dim or arch.head_dim
    value = width if arch.sliding_head_dim else (arch.value_dim or width)
    held = np.maximum(1.0, np.ceil(heads / np.asarray(tp, float)))
    return arch.sliding_layers * held * (width + value) * np.asarray(kv_bytes, float)


def state_bytes(arch: ModelArchitecture, tp: Numbers = 1) -> NDArray[np.float64]:
    """Per GPU and sequence, of linear-attention and state-space layers (kept in 32 bit)."""
    return 4.0 * arch.recurrent_state_elements / np.asarray(tp, float)


def kv_bytes_of_sequence(
    arch: ModelArchitecture,
    tokens: Numbers,
    kv_bytes: Numbers,
    tp: Numbers = 1,
    *,
    window_aware: bool = True,
) -> NDArray[np.float64]:
    """Per GPU, of one sequence of `tokens` tokens. Engines that are not window-aware keep sliding layers whole."""
    tokens = np.asarray(tokens, float)
    kept = np.minimum(tokens, arch.sliding_window) if window_aware and arch.sliding_window else tokens
    return (
        tokens * kv_bytes_per_token_full(arch, kv_bytes, tp)
        + kept * kv_bytes_per_token_sliding(arch, kv_bytes, tp)
        + state_bytes(arch, tp)
    )


# ── layouts ─────────────────────────────────────────────────────────────────────────────────────────────────────


def is_legal_tp(arch: ModelArchitecture, tp: int) -> bool:
    """Tensor parallelism must divide the heads, and the KV heads or be divided by them, and the expert width."""
    if tp < 1 or arch.query_heads % tp:
        return False
    if not arch.is_mla and arch.kv_heads % tp and tp % arch.kv_heads:
        return False
    widths = (arch.feed_forward, arch.expert_width)
    return all(width % tp == 0 for width in widths if width)


def legal_tp(arch: ModelArchitecture, limit: int) -> tuple[int, ...]:
    """Powers of two up to `limit` that are legal for `arch`, smallest first; 1 always is."""
    return tuple(tp for tp in TP_DEGREES if tp <= limit and is_legal_tp(arch, tp))


# ── from a reference to an architecture ─────────────────────────────────────────────────────────────────────────

# Typical dense shapes: billions, layers, hidden, feed-forward, query heads, KV heads, head width, vocabulary, tied.
# Source: published configs of Qwen3 (0.6, 14, 32), Llama 3 (1, 3, 8, 70, 405), Mistral Large (123).
_TYPICAL = (
    (0.6, 28, 1024, 3072, 16, 8, 128, 151_936, True),
    (1.24, 16, 2048, 8192, 32, 8, 64, 128_256, True),
    (3.21, 28, 3072, 8192, 24, 8, 128, 128_256, True),
    (8.03, 32, 4096, 14336, 32, 8, 128, 128_256, False),
    (14.8, 40, 5120, 17408, 40, 8, 128, 151_936, False),
    (32.8, 64, 5120, 25600, 64, 8, 128, 151_936, False),
    (70.6, 80, 8192, 28672, 64, 8, 128, 128_256, False),
    (122.6, 88, 12288, 28672, 96, 8, 128, 32_768, False),
    (405.9, 126, 16384, 53248, 128, 8, 128, 128_256, False),
)
_LARGEST_DENSE_B = 500  # published models above this are mixtures of experts


def typical_architecture(params_b: float) -> ModelArchitecture:
    """A plausible model of `params_b` billion parameters for somebody who knows no more; intervals widen.

    Dense up to 500 billion: the nearest published shape with the feed-forward width fitted to the count. Above,
    a mixture of experts of the DeepSeek-V3 shape with the number of experts fitted.
    """
    name = f"{params_b:g}B"
    if params_b > _LARGEST_DENSE_B:
        return ModelArchitecture(
            key="typical", name=name, family="typical", layers=61, hidden=7168, feed_forward=18432, query_heads=128,
            kv_heads=128, head_dim=128, vocabulary=129_280, experts=max(16, round(256 * params_b / 671 / 16) * 16),
            experts_per_token=8, expert_width=2048, shared_expert_width=2048, dense_layers=3, q_rank=1536,
            kv_rank=512, rope_dim=64, nope_dim=128, value_dim=128, native_format="fp8", max_context=131_072,
            standard_structure=False,
        )  # fmt: skip
    _, layers, hidden, _, heads, kv_heads, width, vocabulary, tied = min(
        _TYPICAL, key=lambda shape: abs(np.log(shape[0] / params_b))
    )
    fixed = vocabulary * hidden * (1 if tied else 2) + layers * hidden * width * 2 * (heads + kv_heads)
    feed_forward = max(256, round((params_b * 1e9 - fixed) / (3 * layers * hidden) / 256) * 256)
    return ModelArchitecture(
        key="typical", name=name, family="typical", layers=layers, hidden=hidden, feed_forward=feed_forward,
        query_heads=heads, kv_heads=kv_heads, head_dim=width, vocabulary=vocabulary, tied_embeddings=tied,
        max_context=131_072, standard_structure=False,
    )  # fmt: skip


def resolve(ref: ModelRef, snapshot: CatalogSnapshot) -> ModelArchitecture:
    """The architecture that `ref` names. LookupError when the catalog has no such key."""
    if ref.architecture is not None:
        return ref.architecture
    if ref.params_b is not None:
        return typical_architecture(ref.params_b)
    model = snapshot.models_by_key.get(ref.key or "")
    if model is None:
        raise LookupError(f"the catalog has no model {ref.key!r}")
    return model
