"""Memory of one GPU against start-up logs, and the laws it keeps."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotes.sizing.architecture import FORMATS, legal_tp
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.results import Verdict
from quotes.sizing.serving.memory import (
    EngineMemory,
    Pool,
    Split,
    engine_memory,
    kv_capacity_sequences,
    kv_capacity_tokens,
    kv_gib_of_sequence,
    largest_context_tokens,
    margin_gib,
    memory_budget,
    verdict,
    weights_gib,
)
from tests.sizing.language import (
    GPT_OSS_SMALL,
    H100,
    L4,
    L40S,
    LLAMA_8B,
    LLAMA_70B,
    MI300X,
    QWEN_32B,
    R1,
    catalog,
    gpu,
    model,
)

H100_GIB = 79.65
TODAY = engine_memory("vllm", Assumptions())
LOGGED = replace(
    TODAY, share_fraction=0.95, graphs_inside=False, window_aware=False
)  # vLLM 0.19, as the logs ran


@pytest.mark.parametrize(
    ("key", "form", "kv", "tp", "tokens"),
    [
        (LLAMA_8B, "bf16", 2.0, 1, 476_016),
        (LLAMA_8B, "bf16", 1.0, 1, 952_032),
        (LLAMA_8B, "bf16", 2.0, 2, 1_044_688),
        (LLAMA_8B, "bf16", 2.0, 4, 2_209_792),
        (LLAMA_8B, "fp8", 2.0, 1, 529_248),
        ("Qwen/Qwen3-30B-A3B", "bf16", 2.0, 1, 168_288),
        ("microsoft/phi-4", "bf16", 2.0, 1, 241_568),
        ("mistralai/Mixtral-8x7B-v0.1", "bf16", 2.0, 2, 465_936),
        ("google/gemma-2-9b", "bf16", 2.0, 1, 168_880),
    ],
)
def test_kv_tokens_from_the_hardware_alone(key: str, form: str, kv: float, tp: int, tokens: int) -> None:
    """What engines printed at start-up; nothing of the log goes in but its settings."""
    arch, split = model(key), Split(tp=tp)
    budget = memory_budget(arch, FORMATS[form], split, H100_GIB, LOGGED)
    held = float(kv_capacity_tokens(arch, kv, split, budget.kv_pool_gib, LOGGED))
    assert held == pytest.approx(tokens, rel=0.02)


def test_the_parts_sum_to_what_the_driver_reports() -> None:
    for engine in ("vllm", "sglang", "trtllm"):
        memory = engine_memory(engine, Assumptions())
        budget = memory_budget(model(LLAMA_8B), FORMATS["bf16"], Split(tp=2), H100_GIB, memory)
        parts = budget.weights_gib + budget.activations_gib + budget.runtime_gib + budget.held_back_gib
        assert float(parts + budget.kv_pool_gib) == pytest.approx(H100_GIB)


def test_memory_is_what_the_driver_reports_not_the_label() -> None:
    reported = {H100: 79.65, L40S: 45.0, L4: 22.5}
    found = {one.sku: one.memory_gib for one in catalog().accelerators if one.sku in reported}
    assert found == pytest.approx(reported, abs=0.06)


def test_engines_divide_the_memory_in_different_ways() -> None:
    pools = {
        engine: float(
            memory_budget(
                model(LLAMA_8B), FORMATS["bf16"], Split(), H100_GIB, engine_memory(engine, Assumptions())
            ).kv_pool_gib
        )
        for engine in ("vllm", "sglang", "trtllm")
    }
    assert len({round(pool, 1) for pool in pools.values()}) == 3
    assert engine_memory("sglang", Assumptions()).pool is Pool.STATIC


# ── traps ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_weights_that_fit_are_not_a_service_that_fits() -> None:
    """DeepSeek-V3 in FP8: 671 GB in 8 × 80 GB never; in 8 × 96 GB and 8 × 141 GB yes."""
    for reported, fits in ((79.65, False), (95.6, True), (140.4, True)):
        budget = memory_budget(model(R1), FORMATS["fp8"], Split(tp=8), reported, TODAY)
        assert (float(budget.kv_pool_gib) > 0) is fits


def test_a_small_change_of_the_reserve_moves_the_pool_a_lot_when_weights_fill_the_card() -> None:
    """Qwen2.5 72B on two H100: five points of share more than double the pool, so such a fit is tight."""
    arch, split = model("Qwen/Qwen2.5-72B"), Split(tp=2)
    pools = [
        float(
            memory_budget(
                arch, FORMATS["bf16"], split, H100_GIB, replace(LOGGED, share_fraction=share)
            ).kv_pool_gib
        )
        for share in (0.93, 0.98)
    ]
    assert pools[1] > 2 * pools[0] > 0
    needed = float(kv_gib_of_sequence(arch, 8192.0, 2.0, split, TODAY))
    assert verdict(pools[0], needed, TODAY.margin_gib) is Verdict.TIGHT


def test_whole_prompts_need_a_peak_that_chunks_do_not() -> None:
    """So fit is not monotonic in context for engines that read a prompt at once."""
    whole = replace(TODAY, chunked_prefill=False)

    def pool(engine: EngineMemory, context: float) -> float:
        return float(
            memory_budget(model(LLAMA_8B), FORMATS["bf16"], Split(), 44.5, engine, context).kv_pool_gib
        )

    assert pool(whole, 131_072) < pool(whole, 8192) - 5
    assert pool(TODAY, 131_072) == pool(TODAY, 8192)


def test_vision_models_reserve_for_the_largest_image() -> None:
    sees = model("Qwen/Qwen3-VL-8B-Instruct")
    blind = sees.model_copy(update={"image_tokens_max": 0})
    with_image, without = (
        float(memory_budget(arch, FORMATS["bf16"], Split(), H100_GIB, TODAY).activations_gib)
        for arch in (sees, blind)
    )
    assert with_image - without == pytest.approx(16_384 * TODAY.image_reserve_mib_per_token / 1024)


def test_encoders_are_copied_to_every_gpu() -> None:
    sees = model("meta-llama/Llama-4-Scout-17B-16E-Instruct")
    per_gpu = float(weights_gib(sees, FORMATS["bf16"], Split(tp=4)))
    assert per_gpu == pytest.approx(53.12, rel=0.03)


def test_data_parallel_attention_does_not_split_the_cache() -> None:
    """Qwen3-Coder 480B over eight ranks: 48.66 GiB hold one request of 205,728 tokens, not eight times that."""
    arch, split = model("Qwen/Qwen3-Coder-480B-A35B-Instruct"), Split(tp=1, dp=8)
    longest = float(largest_context_tokens(arch, 2.0, split, 48.66, TODAY))
    assert longest == pytest.approx(205_728, rel=0.01)
    assert longest < (arch.max_context or 0)


def test_one_wide_replica_keeps_more_cache_than_two_narrow_ones() -> None:
    """Weights are held once: 405 billion parameters in FP8 on eight MI300X."""
    arch, card = model("meta-llama/Meta-Llama-3.1-405B"), gpu(MI300X)
    pools = {
        tp: 8
        * float(
            memory_budget(arch, FORMATS["fp8"], Split(tp=tp), float(card.memory_gib or 0), TODAY).kv_pool_gib
        )
        for tp in (8, 4)
    }
    assert 1.3 < pools[8] / pools[4] < 1.8


def test_unusual_models_need_room_for_what_the_dimensions_leave_out() -> None:
    usual, odd = model(LLAMA_8B), model(LLAMA_8B).model_copy(update={"standard_structure": False})
    assert margin_gib(usual, TODAY, 15.0) == TODAY.margin_gib
    assert margin_gib(odd, TODAY, 15.0) == TODAY.margin_gib + 3
    compressed = model("deepseek-ai/DeepSeek-V4-Flash")
    assert verdict(1000.0, 1.0, margin_gib(compressed, TODAY, 1.0)) is Verdict.TIGHT


def test_small_cards_plan_smaller_batches_and_cards_without_links_no_collectives() -> None:
    large = memory_budget(model(LLAMA_8B), FORMATS["bf16"], Split(tp=2), 79.65, TODAY)
    small = memory_budget(model(LLAMA_8B), FORMATS["bf16"], Split(tp=2), 31.8, TODAY)
    assert float(small.activations_gib) == pytest.approx(float(large.activations_gib) / 4, rel=0.2)
    apart = memory_budget(model(LLAMA_8B), FORMATS["bf16"], Split(tp=2, linked=False), 31.8, TODAY)
    assert float(small.runtime_gib - apart.runtime_gib) == pytest.approx(TODAY.collectives_gib)


@pytest.mark.parametrize(
    ("pool", "needed", "expected"),
    [(-1, 0, Verdict.OOM), (5, 6, Verdict.OOM), (5, 4.5, Verdict.TIGHT), (20, 18.5, Verdict.TIGHT),
     (20, 5, Verdict.FITS)],
)  # fmt: skip
def test_verdicts(pool: float, needed: float, expected: Verdict) -> None:
    assert verdict(pool, needed, 1.0) is expected


# ── laws ────────────────────────────────────────────────────────────────────────────────────────────────────────

MODELS = [model(key) for key in (LLAMA_8B, LLAMA_70B, QWEN_32B, R1, GPT_OSS_SMALL, "Qwen/Qwen3.5-27B")]


@given(st.sampled_from(MODELS), st.floats(0.5, 500), st.floats(0.5, 500), st.floats(64, 100_000))
def test_more_pool_never_holds_fewer_requests(arch, one, other, tokens) -> None:  # type: ignore[no-untyped-def]
    less, more = sorted((one, other))
    held = kv_capacity_sequences(arch, tokens, 2.0, Split(), np.array([less, more]), TODAY)
    assert held[0] <= held[1]
    longest = largest_context_tokens(arch, 2.0, Split(), np.array([less, more]), TODAY)
    assert longest[0] <= longest[1] <= (arch.max_context or np.inf)


@given(
    st.sampled_from(catalog().models), st.floats(1, 1e6), st.floats(1, 4), st.sampled_from([2.0, 1.0, 0.5625]),
    st.sampled_from(["vllm", "sglang", "trtllm"]),
)  # fmt: skip
def test_no_model_of_the_catalog_keeps_less_for_a_longer_context(arch, tokens, longer, kv, engine) -> None:  # type: ignore[no-untyped-def]
    memory = engine_memory(engine, Assumptions())
    for tp in legal_tp(arch, 8):
        kept = kv_gib_of_sequence(arch, np.array([tokens, tokens * longer]), kv, Split(tp=tp), memory)
        assert 0 <= kept[0] <= kept[1] * (1 + 1e-12)


@given(st.sampled_from(MODELS), st.floats(2, 200))
def test_the_longest_request_really_fits(arch, pool) -> None:  # type: ignore[no-untyped-def]
    longest = float(largest_context_tokens(arch, 2.0, Split(), pool, TODAY))
    if longest >= 1:
        assert float(kv_gib_of_sequence(arch, longest, 2.0, Split(), TODAY)) <= pool * (1 + 1e-9)


@given(st.sampled_from(MODELS), st.floats(8, 300), st.sampled_from(["vllm", "sglang", "trtllm"]))
def test_a_wider_split_never_shrinks_the_pool_beyond_its_collectives(arch, reported, engine) -> None:  # type: ignore[no-untyped-def]
    memory = engine_memory(engine, Assumptions())
    form = FORMATS[arch.native_format]
    pools = [
        float(memory_budget(arch, form, Split(tp=tp), reported, memory).kv_pool_gib)
        for tp in legal_tp(arch, 8)
    ]
    slack = memory.collectives_gib + 1e-6
    assert all(later >= earlier - slack for earlier, later in pairwise(pools))


def test_scalars_and_arrays_agree() -> None:
    arch, splits = model(LLAMA_70B), np.array([1.0, 2.0, 4.0, 8.0])
    together = memory_budget(arch, FORMATS["fp8"], Split(tp=splits), np.full(4, 140.4), TODAY).kv_pool_gib
    each = [
        float(memory_budget(arch, FORMATS["fp8"], Split(tp=tp), 140.4, TODAY).kv_pool_gib) for tp in splits
    ]
    assert list(together) == pytest.approx(each)
