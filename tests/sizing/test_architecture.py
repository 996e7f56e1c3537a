"""Parameters, bytes and splits of published models against figures from model cards and engine logs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.specs import ModelArchitecture
from configurator.workload import ModelRef
from quotes.sizing.architecture import (
    FORMATS,
    active_params,
    distinct_experts,
    is_legal_tp,
    kv_bytes_of_sequence,
    kv_bytes_per_token_full,
    kv_bytes_per_token_sliding,
    legal_tp,
    parameters,
    resolve,
    typical_architecture,
    weight_bytes,
)
from quotes.sizing.serving.memory import Split, weights_gib
from tests.sizing.language import (
    GPT_OSS,
    GPT_OSS_SMALL,
    LLAMA_8B,
    LLAMA_70B,
    MIXTRAL,
    QWEN_32B,
    R1,
    catalog,
    model,
)

MODELS = [one for one in catalog().models if one.total_params_b]
STANDARD = [one for one in MODELS if one.standard_structure and not one.sparse_top_k]
GIB = 2**30


@pytest.mark.parametrize("arch", STANDARD, ids=lambda one: one.key)
def test_dimensions_give_the_published_count(arch: ModelArchitecture) -> None:
    bare = arch.model_copy(update={"total_params_b": None})
    assert parameters(bare).total / 1e9 == pytest.approx(arch.total_params_b, rel=0.005)


@pytest.mark.parametrize(
    "arch", [one for one in STANDARD if one.is_moe and one.active_params_b], ids=lambda one: one.key
)
def test_dimensions_give_the_published_active_count(arch: ModelArchitecture) -> None:
    assert active_params(arch) / 1e9 == pytest.approx(arch.active_params_b, rel=0.02)


@pytest.mark.parametrize("arch", MODELS, ids=lambda one: one.key)
def test_a_published_count_is_believed(arch: ModelArchitecture) -> None:
    assert parameters(arch).total / 1e9 == pytest.approx(arch.total_params_b, rel=0.005)


def test_mixtral_is_no_13_billion() -> None:
    """All experts count: a published tool reads one of eight."""
    assert parameters(model(MIXTRAL)).total / 1e9 == pytest.approx(46.7, rel=0.01)
    assert active_params(model(MIXTRAL)) / 1e9 == pytest.approx(12.9, rel=0.01)


# ── KV cache ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (LLAMA_70B, 327_680),  # 80 layers × 8 KV heads, not 64 query heads
        (LLAMA_8B, 131_072),
        (QWEN_32B, 262_144),  # head_dim 128 as stated, not 5120 / 64 = 80
        (R1, 61 * (512 + 64) * 2),  # one latent, no separate values
    ],
)
def test_bytes_per_token(key: str, expected: float) -> None:
    assert float(kv_bytes_per_token_full(model(key), 2.0)) == expected


def test_gpt_oss_counts_its_sliding_layers_inside_the_window() -> None:
    """A log shows 73,728 bytes per token: 36 layers, half of which keep 128 tokens only."""
    arch = model(GPT_OSS)
    whole = float(kv_bytes_per_token_full(arch, 2.0) + kv_bytes_per_token_sliding(arch, 2.0))
    assert whole == 73_728
    long = float(kv_bytes_of_sequence(arch, 10_000.0, 2.0))
    assert long == 10_000 * 36_864 + 128 * 36_864


def test_window_aware_and_full_engines_are_far_apart() -> None:
    """Gemma 3 27B at 131,072 tokens: 10.4 GiB with windows."""
    arch = model("google/gemma-3-27b-it")
    aware = float(kv_bytes_of_sequence(arch, 131_072.0, 2.0)) / GIB
    whole = float(kv_bytes_of_sequence(arch, 131_072.0, 2.0, window_aware=False)) / GIB
    assert aware == pytest.approx(10.41, rel=0.001)
    assert whole / aware > 5


def test_recurrent_layers_keep_a_state_and_do_not_grow() -> None:
    arch = model("Qwen/Qwen3.5-27B")
    short, long = (float(kv_bytes_of_sequence(arch, tokens, 2.0)) for tokens in (1000.0, 2000.0))
    assert long - short == 1000 * 16 * 2 * 4 * 256 * 2
    assert short > 1000 * 16 * 2 * 4 * 256 * 2


def test_the_cache_is_copied_beyond_one_head_per_gpu() -> None:
    arch = model(LLAMA_70B)
    per_gpu = [float(kv_bytes_per_token_full(arch, 2.0, tp)) for tp in (1, 2, 4, 8, 16)]
    assert per_gpu == [327_680, 163_840, 81_920, 40_960, 40_960]


def test_latent_caches_are_not_divided() -> None:
    arch = model(R1)
    assert float(kv_bytes_per_token_full(arch, 2.0, 8)) == float(kv_bytes_per_token_full(arch, 2.0, 1))


# ── weights ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("key", "form", "gib", "tolerance"),
    [
        (LLAMA_8B, "bf16", 14.99, 0.003),
        (LLAMA_8B, "fp8", 8.49, 0.005),
        (LLAMA_8B, "fp32", 29.98, 0.003),
        (LLAMA_8B, "int4", 5.38, 0.01),
        (LLAMA_70B, "q4_0", 37.22, 0.005),  # 4.53 bits per weight
        (LLAMA_70B, "q4_k_m", 39.59, 0.005),
        (LLAMA_8B, "q4_k_m", 4.58, 0.01),
        (
            "mistralai/Mixtral-8x22B-v0.1",
            "q4_k_m",
            79.70,
            0.02,
        ),  # files of 2024 on; the first of 2023 are 6 % smaller
        (
            "meta-llama/Llama-3.2-1B",
            "q4_k_m",
            0.754,
            0.02,
        ),  # a fifth of it the embedding, which serves as head too
        (QWEN_32B, "bf16", 61.02, 0.01),
    ],
)
def test_loaded_weights(key: str, form: str, gib: float, tolerance: float) -> None:
    assert weight_bytes(model(key), FORMATS[form]) / GIB == pytest.approx(gib, rel=tolerance)


@pytest.mark.parametrize(
    ("key", "form"), [(LLAMA_70B, "nvfp4"), (LLAMA_70B, "int4"), (LLAMA_8B, "fp8"), (GPT_OSS, "mxfp4")]
)
def test_a_quantised_checkpoint_weighs_more_than_its_bits(key: str, form: str) -> None:
    bits = {"nvfp4": 4, "int4": 4, "fp8": 8, "mxfp4": 4}[form]
    assert weight_bytes(model(key), FORMATS[form]) > 1.01 * parameters(model(key)).total * bits / 8


def test_four_bit_floats_are_half_a_byte_and_scales() -> None:
    """A reseller's table gives a quarter byte: 17.5 GB for 70 billion. 35 to 43 GB is right."""
    assert 35e9 < weight_bytes(typical_architecture(70), FORMATS["nvfp4"]) < 43e9


@pytest.mark.parametrize(("tp", "gib"), [(1, 13.64), (2, 7.01)])
def test_mxfp4_rounds_the_sides_of_experts_up(tp: int, gib: float) -> None:
    assert float(weights_gib(model(GPT_OSS_SMALL), FORMATS["mxfp4"], Split(tp=tp))) == pytest.approx(
        gib, rel=0.03
    )


def test_tied_embeddings_are_stored_once_and_multiplied_all_the_same() -> None:
    tied = model(LLAMA_8B).model_copy(update={"tied_embeddings": True, "total_params_b": None})
    free = tied.model_copy(update={"tied_embeddings": False})
    once = tied.vocabulary * tied.hidden
    assert parameters(free).total - parameters(tied).total == once
    assert active_params(free) - active_params(tied) == once  # the lookup, not the product
    assert active_params(tied) >= parameters(tied).total


# ── experts and splits ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_batch_touches_more_and_more_experts() -> None:
    one, few, many = (float(distinct_experts(256, 8, tokens)) for tokens in (1, 16, 512))
    assert one == pytest.approx(8)
    assert 8 < few < 128
    assert many == pytest.approx(256, rel=0.001)


@pytest.mark.parametrize(
    ("heads", "tp", "legal"),
    [
        (52, 8, False),
        (52, 3, False),
        (40, 6, False),
        (28, 8, False),
        (28, 4, True),
        (64, 8, True),
        (64, 16, True),
    ],
)
def test_tensor_parallelism_must_divide_the_heads(heads: int, tp: int, legal: bool) -> None:
    arch = model(LLAMA_70B).model_copy(update={"query_heads": heads})
    assert is_legal_tp(arch, tp) is legal


def test_three_five_six_and_seven_gpus_are_never_one_wide_replica() -> None:
    for arch in catalog().models:
        assert not set(legal_tp(arch, 8)) & {3, 5, 6, 7}


@given(st.sampled_from(MODELS), st.sampled_from(sorted(FORMATS)))
def test_more_gpus_never_raise_the_weights_of_one(arch: ModelArchitecture, form: str) -> None:
    sizes = [float(weights_gib(arch, FORMATS[form], Split(tp=tp))) for tp in legal_tp(arch, 16)]
    assert sizes == sorted(sizes, reverse=True)


@given(st.sampled_from(MODELS), st.floats(1, 200_000), st.floats(1, 200_000))
def test_a_longer_sequence_never_needs_less_cache(arch: ModelArchitecture, one: float, other: float) -> None:
    short, long = sorted((one, other))
    assert float(kv_bytes_of_sequence(arch, short, 2.0)) <= float(kv_bytes_of_sequence(arch, long, 2.0))


# ── a model that is only a size ─────────────────────────────────────────────────────────────────────────────────


@given(st.floats(0.4, 1200))
def test_a_typical_model_has_about_the_size_asked_for(params_b: float) -> None:
    arch = typical_architecture(params_b)
    assert not arch.standard_structure
    assert parameters(arch).total / 1e9 == pytest.approx(params_b, rel=0.1)


def test_a_model_is_found_by_key_size_or_own_dimensions() -> None:
    assert resolve(ModelRef(key=LLAMA_8B), catalog()) is model(LLAMA_8B)
    assert resolve(ModelRef(params_b=13), catalog()).family == "typical"
    own = model(LLAMA_8B).model_copy(update={"key": "custom"})
    assert resolve(ModelRef(architecture=own), catalog()) is own
    with pytest.raises(LookupError):
        resolve(ModelRef(key="no/such-model"), catalog())
