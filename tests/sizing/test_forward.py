"""One pass of a model, a replica under load, and the queue before it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotes.sizing.architecture import FORMATS, weight_bytes
from quotes.sizing.serving.batching import Load, Steady, steady_state, tokens_per_step
from quotes.sizing.serving.calibration import load_calibration
from quotes.sizing.serving.forward import Spread, decode_seconds, joining_seconds, prefill_seconds
from quotes.sizing.serving.kernels import CurveTable, Link, smooth_max
from quotes.sizing.serving.machines import machine_for, one_way_gb_s, overheads_for, scheduling_for, silicon
from quotes.sizing.serving.model_shape import kernels_per_layer, model_shape, scales_activations
from quotes.sizing.serving.queueing import mean_wait_seconds, required_replicas, wait_quantile_seconds
from tests.sizing.language import (
    A100,
    B200,
    GPT_OSS,
    H100,
    H200,
    L40S,
    LLAMA_8B,
    LLAMA_70B,
    MI300X,
    QWEN_32B,
    R1,
    catalog,
    gpu,
    model,
)  # fmt: skip

CALIBRATION = load_calibration()
CARDS = (H100, H200, B200, L40S, A100, MI300X)


def replica(key: str, form: str, card: str, tp: int = 1, engine: str = "vllm"):  # type: ignore[no-untyped-def]
    """Shape, machine, overheads, scheduler and layout of one replica."""
    arch, constants = model(key), CALIBRATION.engine(engine)
    choice = machine_for(gpu(card), arch, FORMATS[form], 2.0, engine, tp, CALIBRATION)
    factor = CALIBRATION.factors(choice.generation).small
    return (
        model_shape(arch, FORMATS[form]),
        choice.machine,
        overheads_for(constants, CALIBRATION.shared, factor),
        scheduling_for(constants, CALIBRATION.shared),
        Spread(float(tp), 1.0, 1.0),
    )


def step(
    key: str, form: str, card: str, batch: float, context: float, tp: int = 1, drafts: float = 0.0
) -> float:
    shape, machine, over, _, spread = replica(key, form, card, tp)
    return float(decode_seconds(shape, machine, over, spread, batch, context, drafts))


def steady(
    key: str, form: str, card: str, concurrency: float, prompt: float, output: float, tp: int = 1
) -> Steady:
    shape, machine, over, sched, spread = replica(key, form, card, tp)
    return steady_state(shape, machine, over, sched, spread, Load(concurrency, prompt, output, 1e9))


# ── one pass ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize(("key", "form"), [(LLAMA_8B, "bf16"), (LLAMA_70B, "fp8"), (QWEN_32B, "bf16")])
def test_no_step_beats_the_memory_bandwidth(key: str, form: str, card: str) -> None:
    """Weights over bandwidth is the floor of a decode step."""
    arch = model(key)
    embedding = arch.vocabulary * arch.hidden * 2
    floor = (weight_bytes(arch, FORMATS[form]) - embedding) / (
        float(gpu(card).memory_bandwidth_gb_s or 0) * 1e9
    )
    assert step(key, form, card, 1, 100) > floor


@pytest.mark.parametrize(
    ("card", "tp", "milliseconds"),
    [(H200, 1, 21.47), (H200, 2, 13.91), (H200, 4, 9.85), (H200, 8, 7.93),
     (H100, 2, 17.41), (H100, 4, 11.78), (H100, 8, 9.11)],
)  # fmt: skip
def test_published_times_per_token(card: str, tp: int, milliseconds: float) -> None:
    """Llama 70B in FP8 under vLLM, 1024 tokens in and out, four requests at once."""
    found = steady(LLAMA_70B, "fp8", card, 4, 1024, 1024, tp)
    assert float(found.tpot_s) * 1e3 == pytest.approx(milliseconds, rel=0.2)


def test_single_user_decode_reads_active_experts_and_large_batches_nearly_all() -> None:
    arch = model(R1)
    dense = arch.model_copy(
        update={
            "experts": 0,
            "experts_per_token": 0,
            "expert_width": 0,
            "shared_expert_width": 0,
            "dense_layers": 0,
        }
    )
    assert step(R1, "fp8", H200, 1, 1000, 8) < 0.03  # 37 of 671 billion
    share = [step(R1, "fp8", H200, batch, 1000, 8) for batch in (1, 8, 64)]
    assert share[2] > 2.5 * share[0]
    assert dense.is_moe is False


@pytest.mark.parametrize("key", [LLAMA_8B, R1, GPT_OSS])
@given(batch=st.floats(1, 500), more=st.floats(1, 3), context=st.floats(16, 50_000))
def test_a_step_never_gets_faster_with_more_to_do(
    key: str, batch: float, more: float, context: float
) -> None:
    form, tp = model(key).native_format, 8 if key == R1 else 1
    now = step(key, form, H200, batch, context, tp)
    assert step(key, form, H200, batch * more, context, tp) >= now * (1 - 1e-9)
    assert step(key, form, H200, batch, context * more, tp) >= now * (1 - 1e-9)


@given(length=st.floats(64, 30_000), more=st.floats(1.01, 4))
def test_a_prompt_takes_at_least_in_proportion_once_it_is_long(length: float, more: float) -> None:
    shape, machine, over, _, spread = replica(LLAMA_8B, "bf16", H100)
    one = float(prefill_seconds(shape, machine, over, spread, 1.0, length))
    longer = float(prefill_seconds(shape, machine, over, spread, 1.0, length * more))
    assert longer > one
    if length > 16_000:
        assert longer > one * more * 0.95


def test_more_gpus_make_a_step_faster_over_nvlink_and_less_so_over_pcie() -> None:
    linked = [step(LLAMA_70B, "fp8", H100, 16, 2000, tp) for tp in (2, 4, 8)]
    assert linked == sorted(linked, reverse=True)
    apart = [step(LLAMA_70B, "fp8", L40S, 16, 2000, tp) for tp in (2, 4)]
    assert apart[0] / apart[1] < linked[0] / linked[1] * 1.2


def joined(gpus: int, dp: bool, rank_tokens: float) -> float:
    shape, machine, _, _, _ = replica(R1, "fp8", B200, gpus)
    spread = Spread(1.0, float(gpus), float(gpus)) if dp else Spread(float(gpus), 1.0, 1.0)
    return float(joining_seconds(shape, machine, spread, rank_tokens if dp else rank_tokens * gpus))


def test_inside_a_server_attention_replicas_add_up_as_tensor_parallelism_does() -> None:
    assert joined(8, True, 64) == joined(8, False, 64)
    assert joined(1, False, 64) == 0


def test_beyond_one_server_tokens_go_only_to_their_experts() -> None:
    """What is sent grows with the tokens of one replica, not with those of all, as an all-reduce would."""
    assert joined(32, True, 256) < 0.2 * joined(32, False, 256)
    assert joined(32, True, 256) < 1.5 * joined(16, True, 256)


def test_each_attention_replica_looks_after_its_own_sequences() -> None:
    shape, machine, over, _, _ = replica(R1, "fp8", B200, 8)
    over = replace(over, step_sequence_s=1.0)
    for gpus, seconds in ((8, 8), (32, 2)):
        found = decode_seconds(shape, machine, over, Spread(1.0, float(gpus), float(gpus)), 64, 1000)
        assert float(found) == pytest.approx(seconds, rel=0.01)


def test_fixed_time_is_counted_in_kernels() -> None:
    bf16, nvfp4, fp8 = FORMATS["bf16"], FORMATS["nvfp4"], FORMATS["fp8"]
    assert kernels_per_layer(model(LLAMA_8B), bf16) == 8
    assert kernels_per_layer(model(QWEN_32B), bf16) == 10  # query and key norms
    assert kernels_per_layer(model(LLAMA_8B), nvfp4) == 12  # each product's input is quantised
    assert scales_activations(model(R1), fp8)
    assert not scales_activations(model(LLAMA_8B), fp8)


def test_speculation_costs_a_little_and_yields_more() -> None:
    assert float(tokens_per_step(0, 0.7)) == 1
    assert float(tokens_per_step(1, 0.7)) == pytest.approx(1.7)
    assert float(tokens_per_step(3, 0.5)) == pytest.approx(1.875)
    plain, guessing = (step(R1, "fp8", H200, 4, 2000, 8, drafts) for drafts in (0.0, 2.0))
    assert plain < guessing < 2 * plain


# ── kernels ─────────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.floats(1e-6, 1), st.floats(1e-6, 1), st.floats(1, 8))
def test_a_smooth_maximum_lies_between_the_maximum_and_the_sum(one: float, other: float, p: float) -> None:
    found = float(smooth_max(one, other, p))
    assert max(one, other) * (1 - 1e-9) <= found <= (one + other) * (1 + 1e-9)


def test_one_gpu_reduces_nothing() -> None:
    link = Link(a_s=3e-6, c_s=1e-6, bytes_s=300e9)
    times = link.all_reduce_seconds(np.array([1.0, 2.0, 4.0, 8.0]), 1e6)
    assert times[0] == 0
    assert list(times[1:]) == sorted(times[1:])


def test_a_missing_curve_is_replaced_and_says_so() -> None:
    table: CurveTable = CALIBRATION.curve_table
    own, exact = table.find("gemm", "hopper", "bfloat16")
    assert exact
    assert own.generation == "hopper"
    borrowed, exact = table.find("gemm", "cdna", "bfloat16")
    assert not exact
    assert borrowed.generation == "hopper"
    with pytest.raises(LookupError):
        table.find("fft", "hopper", "bfloat16")


def test_a_mesh_offers_only_the_links_to_those_who_take_part() -> None:
    two, kind = one_way_gb_s(gpu(MI300X), 2)
    eight, _ = one_way_gb_s(gpu(MI300X), 8)
    assert kind == "mesh"
    assert eight == pytest.approx(7 * two)
    assert one_way_gb_s(gpu(L40S), 2)[1] == "pcie"


@pytest.mark.parametrize(
    ("name", "key"),
    [("NVIDIA H100-SXM-80GB", "h100_sxm"), ("h100_sxm", "h100_sxm"), ("AMD Instinct MI300X 192GB", "mi300x"),
     ("GeForce RTX 4090 24GB", "rtx_4090"), ("H100 NVL 94GB", "h100_nvl")],
)  # fmt: skip
def test_one_chip_under_many_names(name: str, key: str) -> None:
    assert silicon(name) == key


def test_every_accelerator_with_figures_has_a_machine_or_a_reason() -> None:
    arch = model(LLAMA_8B)
    for card in catalog().accelerators:
        if not (card.memory_mib and card.memory_bandwidth_gb_s and card.bf16_tflops):
            continue
        try:
            choice = machine_for(card, arch, FORMATS["bf16"], 2.0, "vllm", 1, CALIBRATION)
        except LookupError:
            continue
        assert float(np.asarray(choice.machine.decode_bytes_s)) > 0


# ── under load ──────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.floats(1, 200), st.floats(1.01, 3), st.floats(100, 8000), st.floats(50, 1000))
def test_more_requests_do_more_in_all_and_less_for_each(
    load: float, more: float, prompt: float, output: float
) -> None:
    now, busier = (steady(LLAMA_8B, "bf16", H100, c, prompt, output) for c in (load, load * more))
    assert float(busier.output_tokens_s) >= float(now.output_tokens_s) * 0.999
    assert float(busier.tpot_s) >= float(now.tpot_s) * 0.999
    assert float(busier.ttft_s) >= float(now.ttft_s) * 0.99


def test_prompt_length_alone_changes_throughput_several_times() -> None:
    """No single tokens/s per GPU exists."""
    short, long = (float(steady(LLAMA_8B, "bf16", H100, 32, p, 200).output_tokens_s) for p in (200, 16_000))
    assert short > 4 * long


def test_littles_law_holds() -> None:
    found = steady(LLAMA_8B, "bf16", H100, 24, 1000, 300)
    seconds = float(found.ttft_s) + 300 * float(found.tpot_s)
    assert float(found.output_tokens_s) == pytest.approx(24 * 300 / seconds, rel=1e-6)


def test_a_full_cache_lets_requests_wait() -> None:
    shape, machine, over, sched, spread = replica(LLAMA_8B, "bf16", H100)
    free, full = (
        steady_state(
            shape, machine, over, replace(sched, full_wait=1.0), spread, Load(64.0, 1000.0, 300.0, room)
        )
        for room in (64.0, 16.0)
    )
    assert float(full.ttft_s) > 10 * float(free.ttft_s)
    assert float(full.tpot_s) < float(free.tpot_s)


# ── the queue ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_wait_explodes_while_each_step_is_as_fast_as_ever() -> None:
    waits = [float(mean_wait_seconds(rate, 0.1, 0.5)) for rate in (5.0, 9.0, 9.9)]
    assert waits == sorted(waits)
    assert waits[2] > 50 * waits[0]
    assert np.isinf(mean_wait_seconds(10.0, 0.1, 0.5))
    assert np.isinf(wait_quantile_seconds(11.0, 0.1, 0.5))


def test_the_textbook_wait_of_a_fixed_service_time() -> None:
    assert float(mean_wait_seconds(5.0, 0.1, 0.0)) == pytest.approx(0.5 * 0.1 / 2 / 0.5)


def test_hardly_anybody_waits_at_a_low_load() -> None:
    assert float(wait_quantile_seconds(0.4, 0.1, 0.5, 0.95)) == 0


@given(st.floats(1, 1000), st.floats(0.1, 100))
def test_replicas_are_whole_and_enough(peak: float, each: float) -> None:
    count = float(required_replicas(peak, each))
    assert count == int(count) >= 1
    assert count * each >= peak * (1 - 1e-6)


def test_no_number_of_replicas_helps_when_none_holds_a_request() -> None:
    assert np.isinf(required_replicas(10.0, 0.0))
