"""What a language service is offered on each accelerator, and the laws that hold for every answer."""

from collections.abc import Iterator
from itertools import pairwise
from math import hypot

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.quantity import Message, Quantity
from catalog.specs import AcceleratorSpec
from configurator.workload import LanguageService, ModelRef
from quotes.sizing.architecture import FORMATS
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.results import LoadOption, Refusal, Verdict
from quotes.sizing.serving import explain_serving
from quotes.sizing.serving.calibration import MeasuredRow, load_calibration
from quotes.sizing.serving.layouts import expert_groups, kv_format_for, layouts, weight_formats
from quotes.sizing.serving.machines import shape_signature
from quotes.sizing.trace import Badge
from tests.sizing.language import (
    A100,
    B200,
    GPT_OSS,
    H100,
    H200,
    L4,
    L40S,
    LLAMA_8B,
    LLAMA_70B,
    MI300X,
    MIXTRAL,
    R1,
    catalog,
    fewest,
    gpu,
    model,
    options,
    refusal,
    service,
    sized,
)

CARDS = (H100, H200, L40S, MI300X)
CHATTY = service(model=ModelRef(key=LLAMA_8B))


def gpus_needed(asked: LanguageService, key: str, card: str) -> float:
    """Fewest GPUs; infinite when refused."""
    found = sized(asked, model(key), [gpu(card)])[card]
    return float("inf") if isinstance(found, Refusal) else fewest(found)


# ── laws ────────────────────────────────────────────────────────────────────────────────────────────────────────


@settings(max_examples=40)
@given(
    st.sampled_from(CARDS),
    st.sampled_from([LLAMA_8B, LLAMA_70B, MIXTRAL]),
    st.floats(1, 400),
    st.floats(1, 8),
)
def test_more_users_never_need_fewer_gpus(card: str, key: str, users: float, more: float) -> None:
    few, many = (
        gpus_needed(service(concurrent_requests=count), key, card) for count in (users, users * more)
    )
    assert few <= many


@settings(max_examples=30)
@given(st.sampled_from(CARDS), st.floats(0.3, 20), st.floats(1, 5), st.floats(2, 60), st.floats(1, 3))
def test_stricter_targets_never_need_fewer_gpus(
    card: str, wait: float, looser: float, speed: float, slower: float
) -> None:
    strict = service(ttft_p95_s=wait, tokens_s_per_user=speed)
    loose = service(ttft_p95_s=wait * looser, tokens_s_per_user=speed / slower)
    assert gpus_needed(loose, LLAMA_70B, card) <= gpus_needed(strict, LLAMA_70B, card)


@settings(max_examples=30)
@given(st.sampled_from(CARDS), st.integers(200, 20_000), st.floats(1, 4))
def test_longer_prompts_never_need_fewer_gpus(card: str, prompt: int, more: float) -> None:
    short, long = (
        service(prompt_tokens=tokens, concurrent_requests=40) for tokens in (prompt, int(prompt * more))
    )
    assert gpus_needed(short, LLAMA_8B, card) <= gpus_needed(long, LLAMA_8B, card)


@settings(max_examples=25)
@given(
    st.sampled_from(CARDS),
    st.floats(1, 300),
    st.floats(0.5, 10),
    st.sampled_from(["vllm", "sglang", "trtllm"]),
)
def test_every_option_holds_what_it_promises(card: str, users: float, wait: float, engine: str) -> None:
    asked = service(concurrent_requests=users, ttft_p95_s=wait, tokens_s_per_user=10, engine=engine)
    found = sized(asked, model(LLAMA_8B), [gpu(card)])[card]
    for option in () if isinstance(found, Refusal) else found:
        speed = option.speed
        assert speed.ttft_p95_s is not None
        assert speed.tokens_s_per_user is not None
        assert speed.ttft_p95_s.high <= wait * 1.05  # the cautious end
        assert speed.tokens_s_per_user.low >= 10 / 1.05
        assert option.capacity_factor >= 0.99
        assert option.gpus == option.gpus_per_replica * option.replicas
        memory = option.memory
        assert memory is not None
        parts = (
            memory.weights_gib + memory.kv_gib + memory.activations_gib + memory.runtime_gib + memory.free_gib
        )
        assert parts == pytest.approx(memory.total_gib, rel=0.001)
        assert option.verdict is not Verdict.OOM


# ── what is offered ─────────────────────────────────────────────────────────────────────────────────────────────


def test_options_are_few_and_none_is_worse_in_everything() -> None:
    for found in sized(service(concurrent_requests=60), model(LLAMA_70B)).values():
        if isinstance(found, Refusal):
            continue
        assert 1 <= len(found) <= 4
        assert [option.gpus for option in found] == sorted(option.gpus for option in found)
        for smaller, larger in pairwise(found):
            assert (
                larger.gpus > smaller.gpus
                or larger.precision != smaller.precision
                or (larger.capacity_factor != smaller.capacity_factor)
            )


def test_a_demand_twice_as_large_is_answered_too() -> None:
    (lean,) = {option.gpus for option in options(CHATTY, model(LLAMA_8B), gpu(L4))[:1]}
    grown = options(CHATTY, model(LLAMA_8B), gpu(L4), factors=(1.0, 4.0))
    assert fewest(grown) == lean
    assert max(option.capacity_factor for option in grown) >= 4


def test_n_plus_1_adds_one_spare_replica() -> None:
    plain = options(service(), model(LLAMA_70B), gpu(H100))[0]
    spare = options(service(availability="n_plus_1"), model(LLAMA_70B), gpu(H100))[0]
    assert (plain.spare_replicas, spare.spare_replicas) == (0, 1)
    assert spare.gpus == spare.gpus_per_replica * spare.replicas
    assert spare.replicas >= 2


def test_a_wide_replica_and_several_narrow_ones_are_both_considered() -> None:
    degrees = {tp for tp, dp, _ in layouts(model(LLAMA_70B), gpu(H100), 8) if dp == 1}
    assert degrees == {1, 2, 4, 8}
    assert any(dp == 8 for _, dp, _ in layouts(model(R1), gpu(H200), 8))


def test_a_replica_stays_inside_one_server() -> None:
    for option in options(service(concurrent_requests=300), model(LLAMA_70B), gpu(H100), in_node=2):
        assert option.gpus_per_replica <= 2 == option.gpus_in_one_node or option.gpus_in_one_node == 1


def test_experts_are_split_by_width_or_spread() -> None:
    assert expert_groups(model(MIXTRAL), 8, 8) == 1
    assert expert_groups(model("Qwen/Qwen3-30B-A3B"), 8, 8) == 8  # 768 wide does not divide over eight
    assert expert_groups(model(LLAMA_8B), 8, 8) == 1


# ── precision ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("key", "card", "formats"),
    [
        (LLAMA_70B, H100, {"bf16", "fp8"}),
        (LLAMA_70B, A100, {"bf16"}),  # no FP8 arithmetic
        (GPT_OSS, H100, {"mxfp4"}),
        (R1, H200, {"fp8"}),
        (R1, "t4", set()),
    ],
)
def test_automatic_precision_never_halves_a_model_on_its_own(key: str, card: str, formats: set[str]) -> None:
    found = {form.key for form in weight_formats(service(), model(key), gpu(card))}
    assert found == formats


def test_four_bits_are_a_choice_and_named_as_a_change() -> None:
    found = refusal(service(), model(LLAMA_70B), gpu(A100), in_node=1)
    assert found.stage == "memory"
    assert found.change is not None
    assert "weights in INT4" in str(found.change)
    chosen = options(service(precision="int4"), model(LLAMA_70B), gpu(A100), in_node=1)
    assert {option.precision for option in chosen} == {"int4"}


@pytest.mark.parametrize(
    ("engine", "form", "kv"),
    [("vllm", "fp8", "bf16"), ("trtllm", "fp8", "fp8"), ("vllm", "nvfp4", "fp8"), ("sglang", "bf16", "bf16")],
)
def test_the_cache_follows_the_checkpoint_unless_chosen(engine: str, form: str, kv: str) -> None:
    assert kv_format_for("auto", engine, FORMATS[form]) == kv
    assert kv_format_for("fp8", engine, FORMATS[form]) == "fp8"


# ── refusals ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_context_beyond_the_positions_is_refused_with_the_largest_that_is_possible() -> None:
    found = refusal(service(prompt_tokens=200_000, concurrent_requests=1), model(LLAMA_8B), gpu(H200))
    assert "131,072" in str(found.reason).replace(".", ",") or "131072" in str(found.reason)
    assert found.change is not None


def test_what_does_not_fit_says_by_how_much_and_what_would() -> None:
    found = refusal(service(), model(R1), gpu(H100))
    assert found.stage == "memory"
    assert "GiB" in str(found.reason)
    assert found.change is not None


@pytest.mark.parametrize(
    ("key", "card", "engine", "context", "share"),
    [
        (LLAMA_70B, "a100-sxm4-80gb", "vllm", 1200, 91),  # 0.05 GiB of 80 too little is no plain 'no'
        (LLAMA_70B, H100, "vllm", 8192, 92),
        ("Qwen/Qwen2.5-72B", H100, "vllm", 1200, 94),
        ("Qwen/Qwen2.5-72B", H100, "sglang", 8192, 88),
        ("Qwen/Qwen2.5-72B", H100, "vllm", 30_000, None),  # more than an engine can be given
        ("Qwen/Qwen2.5-72B", H100, "sglang", 60_000, None),
    ],
)
def test_what_would_hardly_fit_hears_how_much_of_the_memory_the_engine_needs(
    key: str, card: str, engine: str, context: int, share: int | None
) -> None:
    """Two GPUs of 80 GB hold a model of 70 billion in 16 bit, barely."""
    asked = service(
        model=ModelRef(key=key), precision="bf16", engine=engine, concurrent_requests=1, prompt_tokens=1000,
        output_tokens=200, context_tokens=context,
    )  # fmt: skip
    found = refusal(asked, model(key), gpu(card), in_node=2)
    named = dict(figures(found.change)).get("share")
    assert named == (share and pytest.approx(share))
    if share:
        setting = "memory_utilisation_fraction" if engine == "vllm" else "sglang_static_fraction"
        (more,) = options(
            asked, model(key), gpu(card), in_node=2, assumptions=Assumptions(**{setting: share / 100})
        )
        assert more.verdict is Verdict.TIGHT
    else:
        assert "memory for the engine" not in str(found.change)


def test_a_speed_that_no_number_of_replicas_gives() -> None:
    found = refusal(service(tokens_s_per_user=500), model(LLAMA_70B), gpu(H100))
    assert found.stage == "speed"
    assert found.change is not None


@pytest.mark.parametrize(
    ("card", "wishes"),
    [
        (H100, {"tokens_s_per_user": 500}),
        (H200, {"tokens_s_per_user": 150, "ttft_p95_s": 0.05}),
        (L40S, {"prompt_tokens": 30_000, "ttft_p95_s": 5, "tokens_s_per_user": 60}),
        ("a100-pcie-80gb", {"prompt_tokens": 3000, "ttft_p95_s": 2}),
    ],
)
def test_with_the_targets_that_a_refusal_names_a_request_is_fast_enough(
    card: str, wishes: dict[str, float]
) -> None:
    found = refusal(service(**wishes), model(LLAMA_70B), gpu(card))
    assert found.excess is not None
    assert found.excess > 1
    named = dict(figures(found.change))
    reachable = {"ttft_p95_s": named.get("time"), "tokens_s_per_user": named.get("speed")}
    eased = {**wishes, **{key: value for key, value in reachable.items() if value}}
    assert eased != wishes
    assert options(service(**{**eased, "concurrent_requests": 1}), model(LLAMA_70B), gpu(card))


def figures(message: Message | None) -> Iterator[tuple[str, float]]:
    """Every quantity in a sentence, those of the sentences inside it included."""
    for name, value in (message.params if message else {}).items():
        if isinstance(value, Quantity):
            yield name, value.value
        elif isinstance(value, Message):
            yield from figures(value)


@pytest.mark.parametrize(
    ("card", "key", "gpus", "context"),
    [
        ("gh200-96gb", LLAMA_70B, 1, None),
        (A100, LLAMA_70B, 2, None),
        ("a40", LLAMA_70B, 4, 120_000),
        (L4, LLAMA_8B, 1, 100_000),
    ],
)
def test_with_the_context_that_a_refusal_names_it_fits(
    card: str, key: str, gpus: int, context: int | None
) -> None:
    """Whether the usual requests are too long, or only the longest one."""
    usual = 2_000 if context else 120_000
    asked = {"concurrent_requests": 1, "ttft_p95_s": 1e6, "tokens_s_per_user": 0.001, "output_tokens": 200}
    found = refusal(
        service(**asked, prompt_tokens=usual, context_tokens=context), model(key), gpu(card), in_node=gpus
    )
    assert found.stage == "memory"
    assert found.excess is not None
    assert found.excess > 1
    longest = int(dict(figures(found.change))["tokens"])
    assert longest < (context or usual)
    shorter = {"context_tokens": longest} if context else {"prompt_tokens": longest - 200}
    eased = service(**{**asked, "prompt_tokens": usual, **shorter})
    assert options(eased, model(key), gpu(card), in_node=gpus)


def test_a_precision_that_it_does_not_compute_in_is_told_apart_from_memory() -> None:
    found = refusal(service(precision="nvfp4"), model(LLAMA_8B), gpu(MI300X))
    assert (found.stage, found.excess) == ("stack", None)
    assert str(found.reason) == "It does not compute in NVFP4, which you chose."


def test_a_missing_figure_is_named() -> None:
    blank = gpu(H100).model_copy(update={"memory_bandwidth_gb_s": None})
    found = refusal(service(), model(LLAMA_8B), blank)
    assert found.stage == "catalog"
    assert "memory bandwidth" in str(found.reason)


@pytest.mark.parametrize("sku", ["tpu-v6e", "groq-lpu-v1", "trainium2"])
def test_nothing_is_promised_on_what_nobody_measured(sku: str) -> None:
    found = sized(service(), model(LLAMA_8B), [gpu(sku)])[sku]
    assert isinstance(found, Refusal)


def test_an_accelerator_without_a_server_is_refused_for_that() -> None:
    assert refusal(service(), model(LLAMA_8B), gpu(H100), in_node=0).stage == "server"


def test_every_accelerator_gets_an_answer_in_the_order_asked() -> None:
    found = sized(service(), model(LLAMA_8B))
    assert list(found) == [one.sku for one in catalog().accelerators]


# ── saying where figures come from ──────────────────────────────────────────────────────────────────────────────


def explained(
    asked: LanguageService, key: str, card: AcceleratorSpec, at: int = 0
) -> tuple[LoadOption, LoadOption]:
    option = options(asked, model(key), card)[at]
    return option, explain_serving(option, asked, model(key), card, Assumptions(), load_calibration())


def test_the_explanation_repeats_the_figures_of_the_option() -> None:
    option, told = explained(service(), LLAMA_70B, gpu(H100))
    for name in ("ttft_p95_s", "tokens_s_per_user", "output_tokens_s_per_gpu"):
        before, after = getattr(option.speed, name), getattr(told.speed, name)
        assert (after.value, after.low, after.high) == pytest.approx((before.value, before.low, before.high))
    figures = {figure.key: figure for figure in told.figures}
    assert option.memory is not None
    assert figures["weights_gib"].value.value == pytest.approx(option.memory.weights_gib)
    assert figures["replicas"].value.value == option.replicas


def test_every_assumption_that_is_named_exists() -> None:
    _, told = explained(service(), LLAMA_70B, gpu(H100))
    named = {entry.assumption for figure in told.figures for entry in figure.inputs if entry.assumption}
    assert named
    assert named <= set(Assumptions.model_fields)


def test_every_figure_has_a_formula_and_inputs() -> None:
    _, told = explained(service(), LLAMA_70B, gpu(B200))
    for figure in told.figures:
        assert figure.formula
        assert figure.inputs


def test_what_is_unfolded_adds_up() -> None:
    """A reader with a calculator comes to the same weights, working memory, cache, first word and writing speed."""
    _, told = explained(service(), GPT_OSS, gpu(H100))
    found = {figure.key: figure for figure in told.figures}

    def said(key: str) -> dict[str, float]:
        inputs = found[key].inputs
        return {item.name.text: item.value.value for item in inputs if isinstance(item.value, Quantity)}

    gib = [
        item.value.value for item in found["weights_gib"].inputs if getattr(item.value, "unit", "") == "GiB"
    ]
    assert sum(gib) == pytest.approx(found["weights_gib"].value.value)
    work = said("activations_gib")
    sampling = work["Sequences"] * work["Vocabulary"] * work["Bytes per entry"] / 2**30
    assert max(sampling, work["Widest layer, for all tokens of a step"]) + work[
        "Workspace of the experts"
    ] + work["Reserve for images"] == pytest.approx(found["activations_gib"].value.value)
    first = said("ttft_p95_s")
    usual = (
        first["Fixed part"]
        + first["Fixed part per further GPU"] * (first["GPUs per replica"] - 1)
        + first["Steps before the first token"] * first["Decode step"]
        + first["Reading one prompt"]
    )
    longer = 1.645 * first["Spread of prompt lengths"] * first["Reading one prompt"]
    slow = (usual + hypot(first["Waiting for other prompts, 95 %"], longer)) * first[
        "Ratio of nearby measurements"
    ]
    assert slow / 1000 == pytest.approx(found["ttft_p95_s"].value.value)
    pace = said("tokens_s_per_user")
    between = pace["Interference"] * (pace["Requests per replica"] - 1) * pace["One prompt among others"]
    step = pace["Decode step"] + pace["Ratio of nearby measurements"] * between / pace["Answer"]
    assert 1000 / step == pytest.approx(found["tokens_s_per_user"].value.value, rel=0.01)


def test_evidence_is_shown_with_its_source() -> None:
    _, told = explained(service(), LLAMA_70B, gpu(B200))
    assert told.speed.ttft_s is not None
    assert told.speed.ttft_s.evidence
    assert all(entry.source for entry in told.speed.ttft_s.evidence)


@pytest.mark.parametrize(
    ("key", "card", "badge"),
    [
        (LLAMA_8B, B200, Badge.INTERPOLATED),
        (LLAMA_70B, MI300X, Badge.EXTRAPOLATED),
        (LLAMA_70B, A100, Badge.EXTRAPOLATED),
    ],
)
def test_badges(key: str, card: str, badge: Badge) -> None:
    found = options(service(), model(key), gpu(card))[0].speed.ttft_s
    assert found is not None
    assert found.badge is badge


def test_a_measured_run_nearby_is_badged_so_and_counted() -> None:
    asked = service(prompt_tokens=1024, output_tokens=1024, concurrent_requests=32, precision="fp8")
    found = [option.speed.ttft_s for option in options(asked, model(LLAMA_70B), gpu(B200))]
    measured = [one for one in found if one is not None and one.badge is Badge.MEASURED]
    assert measured
    assert all(one.evidence_count >= 1 for one in measured)


def test_unmeasured_hardware_has_wider_intervals() -> None:
    def width(card: str) -> float:
        speed = options(service(), model(LLAMA_70B), gpu(card))[0].speed.ttft_s
        assert speed is not None
        return speed.high / speed.low

    assert width(MI300X) > width(H100)


def test_a_stated_target_counts_at_the_cautious_end_and_says_so() -> None:
    asked = service(tokens_s_per_user=25, concurrent_requests=200)
    found = options(asked, model(LLAMA_70B), gpu(H100))
    assert any("cautious" in str(option.limited_by) for option in found)


# ── engines and assumptions ─────────────────────────────────────────────────────────────────────────────────────


def test_the_engine_matters() -> None:
    speeds = set()
    for engine in ("vllm", "sglang", "trtllm"):
        speed = options(service(engine=engine), model(LLAMA_70B), gpu(H100))[0].speed.ttft_s
        assert speed is not None
        speeds.add(round(speed.value, 3))
    assert len(speeds) == 3


def test_less_memory_for_the_engine_never_needs_fewer_gpus() -> None:
    tight = Assumptions(memory_utilisation_fraction=0.7)
    asked = service(concurrent_requests=100)
    assert fewest(options(asked, model(LLAMA_70B), gpu(H100))) <= fewest(
        options(asked, model(LLAMA_70B), gpu(H100), assumptions=tight)
    )


def test_guessing_ahead_makes_users_faster() -> None:
    guessing = Assumptions(draft_tokens_count=2, draft_acceptance_fraction=0.6)
    asked = service(concurrent_requests=4)
    plain, faster = (
        options(asked, model(R1), gpu(B200), assumptions=one)[0].speed.tokens_s_per_user
        for one in (Assumptions(), guessing)
    )
    assert plain is not None
    assert faster is not None
    assert 1.2 < faster.value / plain.value < 1.96


def test_a_measurement_of_ones_own_shifts_the_prediction() -> None:
    asked = service(prompt_tokens=1000, output_tokens=300, concurrent_requests=8, precision="int8")
    before = options(asked, model(LLAMA_70B), gpu(A100))[0]
    own = MeasuredRow(
        shape=shape_signature(model(LLAMA_70B)), gpu="a100_sxm", model="own", engine="vllm", precision="int8",
        tp=before.layout.tp, dp=1, prompt=1000, output=300, concurrency=8, ttft_ms=900, tpot_ms=60, ttft_x=1.5,
        tpot_x=1.5, source=0,
    )  # fmt: skip
    calibration = load_calibration().with_rows([own], ["own measurement"])
    after = options(asked, model(LLAMA_70B), gpu(A100), calibration=calibration)[0]
    other = options(asked, model(LLAMA_70B), gpu(H100), calibration=calibration)[0]
    assert before.speed.ttft_s is not None
    assert after.speed.ttft_s is not None
    assert after.speed.ttft_s.value > 1.2 * before.speed.ttft_s.value
    assert other == options(asked, model(LLAMA_70B), gpu(H100))[0]
    told = explain_serving(after, asked, model(LLAMA_70B), gpu(A100), Assumptions(), calibration)
    assert told.speed.ttft_s is not None
    assert told.speed.ttft_s.evidence[0].source == "own measurement"


def test_the_host_is_part_of_the_answer() -> None:
    host = options(service(), model(LLAMA_70B), gpu(H100))[0].host
    assert host.cpu_cores_per_gpu > 0
    assert host.ram_gb_per_gpu > 16
    assert host.nvme_tb_per_node > 0
