"""Sizing a training job on accelerators: what is chosen, what is refused, and laws that hold for every job."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.quantity import Quantity
from catalog.specs import AcceleratorSpec
from configurator.workload import LoadProfile, Method
from quotes.sizing.architecture import typical_architecture
from quotes.sizing.results import LoadOption, Refusal, Verdict
from quotes.sizing.trace import Badge
from quotes.sizing.training import explain_training
from quotes.sizing.training.layouts import context_degrees, expert_parallel, gpu_counts
from quotes.sizing.training.plan import available_hours, shares_pool
from tests.sizing.language import (
    A100,
    B200,
    H100,
    H200,
    L4,
    L40S,
    LLAMA_8B,
    LLAMA_70B,
    MI300X,
    MIXTRAL,
    catalog,
    gpu,
    model,
)
from tests.sizing.trainings import ASSUMPTIONS, CALIBRATION, fitting, job, memory_of, planned, refused, run_of

CARDS = [gpu(sku) for sku in (A100, H100, H200, B200, L40S, L4, MI300X)]


def one(sku: str, arch: str = LLAMA_8B, **changes: object) -> tuple[LoadOption, ...]:
    return fitting(planned(job(**changes), arch, [gpu(sku)])[sku])


def no(sku: str, arch: str = LLAMA_8B, **changes: object) -> Refusal:
    return refused(planned(job(**changes), arch, [gpu(sku)])[sku])


# ── what is chosen ──────────────────────────────────────────────────────────────────────────────────────────────


def test_every_accelerator_of_the_catalog_gets_an_answer() -> None:
    found = planned(job(method="lora"), LLAMA_70B)
    assert set(found) == {card.sku for card in catalog().accelerators}
    assert any(isinstance(answer, tuple) for answer in found.values())
    for answer in found.values():
        if isinstance(answer, Refusal):
            assert answer.reason.text
            assert answer.load == "training"


def test_the_first_option_is_the_smallest_and_the_others_are_clearly_faster() -> None:
    options = one(H100, tokens=2e8)
    assert 1 < len(options) <= 4
    for before, after in pairwise(options):
        assert after.gpus > before.gpus
        assert run_of(after).value * 1.1 <= run_of(before).value


@pytest.mark.parametrize("method", list(Method))
@pytest.mark.parametrize("sku", [A100, H100, B200, MI300X])
def test_an_option_holds_together(sku: str, method: Method) -> None:
    for option in one(sku, method=method, runs_per_month=2):
        run, layout, memory = run_of(option), option.layout, memory_of(option)
        assert layout.gpus == option.gpus == option.gpus_per_replica
        assert option.gpus_in_one_node == min(option.gpus, 8)
        assert run.low < run.value < run.high <= 24
        assert option.capacity_factor >= 1
        assert option.gpu_hours_per_month == pytest.approx(2 * option.gpus * run.value)
        parts = (
            memory.weights_gib,
            memory.optimizer_gib,
            memory.activations_gib,
            memory.runtime_gib,
            memory.free_gib,
        )
        assert sum(parts) == pytest.approx(memory.total_gib)
        assert min(parts) >= 0
        assert 0.05 < (option.speed.mfu_fraction or 0) < 0.75
        assert option.recipe is not None


def test_a_70b_model_trains_in_full_on_servers_with_adapters_on_a_few_gpus() -> None:
    """Full fine-tuning of 70 billion parameters takes two servers of 80 GB cards; LoRA four cards, QLoRA one or two."""
    full = one(H100, LLAMA_70B, tokens=2e7)[0]
    assert full.gpus in {16, 24, 32}
    assert full.host.fabric_gbit_s_per_gpu == 400
    assert one(H100, LLAMA_70B, method="lora", tokens=1e7)[0].gpus == 4
    assert one(H100, LLAMA_70B, method="qlora", tokens=1e6)[0].gpus in {1, 2}


def test_servers_are_filled_before_the_next_one() -> None:
    assert gpu_counts(8, 64) == (1, 2, 4, 8, 16, 24, 32, 48, 64)
    assert gpu_counts(4, 16) == (1, 2, 4, 8, 12, 16)
    assert gpu_counts(1, 4) == (1, 2, 3, 4)


def test_experts_spread_over_the_fast_domain_and_divide_evenly() -> None:
    assert expert_parallel(model(MIXTRAL), 64, 8) == 8
    assert expert_parallel(model(MIXTRAL), 64, 72) == 8
    assert expert_parallel(model(MIXTRAL), 2, 8) == 2
    assert expert_parallel(model(LLAMA_8B), 64, 8) == 1


def test_tensor_parallelism_stays_inside_the_fast_link() -> None:
    for option in one(L40S, method="pre_train", tokens=1e9, deadline_h=2000):
        assert option.layout.tp == 1


def test_a_chip_without_eight_bit_trains_in_sixteen_and_says_so() -> None:
    option = one(A100, precision="fp8")[0]
    assert option.precision == "bf16"
    assert any("no 8-bit" in finding.message.text for finding in option.findings)
    assert one(H100, precision="fp8")[0].precision == "fp8"


def test_a_divided_four_bit_base_is_pointed_out() -> None:
    """Not every training software can divide what is stored in 4 bit."""
    for sku in (L40S, H100):
        for option in one(sku, LLAMA_70B, method="qlora", tokens=1e6, deadline_h=100):
            told = any("4-bit base is divided" in finding.message.text for finding in option.findings)
            assert told == (option.layout.sharding == "fsdp")


def test_eight_bit_adam_needs_no_more_gpus() -> None:
    assert (
        one(H100, LLAMA_70B, optimizer="adamw_8bit", tokens=1e6)[0].gpus
        <= one(H100, LLAMA_70B, tokens=1e6)[0].gpus
    )


def test_a_generation_that_nobody_published_is_extrapolated_with_a_wide_interval() -> None:
    known, unknown = run_of(one(H100)[0]), run_of(one("gaudi-3")[0])
    assert known.badge is Badge.INTERPOLATED
    assert unknown.badge is Badge.EXTRAPOLATED
    assert unknown.high / unknown.low > known.high / known.low


def test_an_unknown_structure_is_extrapolated_with_a_wide_interval() -> None:
    """Of such models the dimensions do not tell everything that computes or is kept."""
    usual = model(LLAMA_8B)
    odd = usual.model_copy(update={"standard_structure": False})
    known, unknown = (run_of(fitting(planned(job(), arch, [gpu(H100)])[H100])[0]) for arch in (usual, odd))
    assert known.badge is Badge.INTERPOLATED
    assert unknown.badge is Badge.EXTRAPOLATED
    assert unknown.high / unknown.low > known.high / known.low


def test_a_plan_that_hardly_fits_is_called_tight() -> None:
    verdicts = {option.verdict for card in CARDS for option in _options(card, LLAMA_70B, method="lora")}
    assert verdicts <= {Verdict.FITS, Verdict.TIGHT}
    for card in CARDS:
        for option in _options(card, LLAMA_70B, method="lora"):
            free = memory_of(option).free_gib / memory_of(option).total_gib
            assert (option.verdict is Verdict.TIGHT) == (free < ASSUMPTIONS.training_tight_fraction)


def test_a_pipeline_must_leave_a_third_free() -> None:
    """70 billion in full over tp 4 × pp 4 took 59 GB of an 80 GB card in a published run, and ended out of memory."""
    piped = [
        option
        for tokens in (1e8, 3e9)
        for card in CARDS
        for option in _options(card, LLAMA_70B, tokens=tokens)
        if option.layout.pp > 1
    ]
    assert piped
    for option in piped:
        free = memory_of(option).free_gib / memory_of(option).total_gib
        assert (option.verdict is Verdict.TIGHT) == (free < 1 / 3)


def _options(card: AcceleratorSpec, arch: str, **changes: object) -> tuple[LoadOption, ...]:
    answer = planned(job(**changes), arch, [card])[card.sku]
    return () if isinstance(answer, Refusal) else answer


# ── hosts ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_hosts_hold_twice_the_gpu_memory() -> None:
    """Offloading and saving go through host memory, so that it belongs to the quote."""
    assert one(H100)[0].host.ram_gb_per_gpu == 160
    assert one(B200)[0].host.ram_gb_per_gpu >= 2 * 180


def test_a_checkpoint_is_seven_times_the_weights_and_an_adapter_is_small() -> None:
    full = one(H100)[0].host
    weights = 2 * 8.03e9
    assert full.checkpoint_tb * 1e12 / weights == pytest.approx(7, rel=0.05)
    assert full.storage_write_gb_s == pytest.approx(full.checkpoint_tb * 1e3 / ASSUMPTIONS.checkpoint_stall_s)
    assert one(H100, method="lora")[0].host.checkpoint_tb < 0.02 * full.checkpoint_tb


def test_one_server_needs_no_cluster_network() -> None:
    options = one(H100, tokens=3e8)
    assert {option.host.fabric_gbit_s_per_gpu for option in options if option.gpus <= 8} == {0}
    assert {option.host.fabric_gbit_s_per_gpu for option in options if option.gpus > 8} <= {400}


# ── refusals ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_model_that_no_split_can_hold_is_refused_with_what_saves_most() -> None:
    answer = no(L4, LLAMA_70B, tokens=1e6, deadline_h=1000)
    assert answer.stage == "memory"
    assert answer.change is not None
    assert no(L4, LLAMA_70B, method="lora", sequence_tokens=131_072).change.text.startswith(  # type: ignore[union-attr]
        "Less is needed with shorter sequences"
    )


def test_too_late_is_refused_with_the_best_that_could_be_done() -> None:
    answer = no(L4, method="pre_train", tokens=1e12, deadline_h=100)
    assert answer.stage == "speed"
    assert answer.excess is not None
    hours = answer.reason.params["hours"]
    assert isinstance(hours, Quantity)
    assert hours.value == pytest.approx(answer.excess * 100, rel=0.1)
    assert f"Possible within {hours.value:,.0f} hours instead of 100 hours" in str(answer.change)


def test_sequences_beyond_the_model_are_refused() -> None:
    answer = no(H100, sequence_tokens=10_000_000)
    assert "longer than the model takes" in answer.reason.text


def test_edge_modules_do_not_train_and_unknown_figures_are_said() -> None:
    assert "An edge module" in no("jetson-agx-orin-64gb").reason.text
    card = gpu(H100).model_copy(update={"bf16_tflops": None})
    assert "not known" in refused(planned(job(), LLAMA_8B, [card])[H100]).reason.text


# ── sequences over several GPUs, states in host memory ──────────────────────────────────────────────────────────


def test_a_sequence_too_long_for_one_gpu_is_divided() -> None:
    """128K tokens of an 8B model: more activations than a card holds, and more GPUs than sequences fill."""
    option = one(H100, sequence_tokens=131_072, deadline_h=100)[0]
    assert option.layout.cp > 1
    assert option.layout.gpus == option.gpus
    assert any("divided over" in finding.message.text for finding in option.findings)
    short = one(H100)[0]
    assert short.layout.cp == 1
    assert not any("context parallelism" in finding.message.text for finding in short.findings)


@pytest.mark.parametrize(
    ("sequence", "degrees"),
    [(4096, (1,)), (8192, (1, 2)), (32_768, (1, 2, 4, 8)), (10**6, (1, 2, 4, 8, 16, 32))],
)
def test_a_sequence_is_not_cut_into_crumbs(sequence: int, degrees: tuple[int, ...]) -> None:
    assert context_degrees(sequence) == degrees


FEW_SEQUENCES = ASSUMPTIONS.model_copy(update={"finetune_batch_sequences": 4})


def test_states_go_to_host_memory_only_where_nothing_else_fits() -> None:
    """Four sequences a step keep four cards busy at most, which do not hold 70 billion parameters with states."""
    asked = job(tokens=1e7, deadline_h=1000)
    found = planned(asked, LLAMA_70B, [gpu(L40S), gpu(H200)], assumptions=FEW_SEQUENCES)
    for option in fitting(found[L40S]):
        assert option.recipe is not None
        assert option.recipe.host_offload == "all"
        assert option.verdict is Verdict.TIGHT
        assert run_of(option).badge is Badge.EXTRAPOLATED
        states = 25 * 70.55e9 / option.gpus / 1e9
        assert option.host.ram_gb_per_gpu == pytest.approx(2 * 48 + states, rel=0.01)
        told = explain_training(option, asked, model(LLAMA_70B), gpu(L40S), FEW_SEQUENCES, CALIBRATION)
        assert told.model_copy(update={"figures": ()}) == option
    assert not any(_offloaded(option) for option in fitting(found[H200]))


def test_nobody_offloads_what_is_small() -> None:
    """8-bit states are not moved; a frozen base is, whole."""
    eight = planned(job(tokens=1e7, deadline_h=1000, optimizer="adamw_8bit"), LLAMA_70B, [gpu(L40S)],
                    assumptions=FEW_SEQUENCES)[L40S]  # fmt: skip
    assert isinstance(eight, Refusal) or not any(_offloaded(option) for option in eight)
    frozen = planned(job(tokens=1e7, deadline_h=1000, method="lora"), LLAMA_70B, [gpu(L40S)],
                     assumptions=FEW_SEQUENCES)[L40S]  # fmt: skip
    assert all(
        option.recipe is not None and option.recipe.host_offload == "all" for option in fitting(frozen)
    )


# ── windows ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_night_is_one_stretch_and_long_jobs_get_their_share_of_the_week() -> None:
    assert available_hours(8, LoadProfile.NIGHTS, ASSUMPTIONS) == 8
    assert available_hours(24, LoadProfile.NIGHTS, ASSUMPTIONS) == pytest.approx(24 * 118 / 168)
    assert available_hours(24, LoadProfile.ALWAYS, ASSUMPTIONS) == 24
    assert available_hours(168, LoadProfile.OFFICE_HOURS, ASSUMPTIONS) == pytest.approx(50)
    assert available_hours(168, LoadProfile.EXTENDED, ASSUMPTIONS) == pytest.approx(90)


def test_only_jobs_that_fit_in_the_nights_live_on_service_gpus() -> None:
    nightly = job(window="nights", deadline_h=12, runs_per_month=20)
    assert shares_pool(nightly, 10, ASSUMPTIONS)
    assert not shares_pool(nightly, 13, ASSUMPTIONS)
    assert not shares_pool(nightly.model_copy(update={"runs_per_month": 100}), 10, ASSUMPTIONS)
    assert not shares_pool(job(window="office_hours"), 1, ASSUMPTIONS)


# ── laws ────────────────────────────────────────────────────────────────────────────────────────────────────────


METHODS = st.sampled_from(list(Method))
SIZES = st.floats(0.5, 120)
TOKENS = st.floats(1e5, 1e10)
SEQUENCES = st.sampled_from([512, 2048, 4096, 8192])


@given(
    method=METHODS, size=SIZES, tokens=TOKENS, sequence=SEQUENCES, deadline=st.floats(1, 500),
    longer=st.floats(1, 50),
)  # fmt: skip
@settings(max_examples=40)
def test_a_longer_deadline_never_needs_more_gpus(
    method: Method, size: float, tokens: float, sequence: int, deadline: float, longer: float
) -> None:
    arch = typical_architecture(size)
    usual = job(method=method, tokens=tokens, sequence_tokens=sequence, deadline_h=deadline)
    first = planned(usual, arch, CARDS)
    later = planned(usual.model_copy(update={"deadline_h": deadline * longer}), arch, CARDS)
    for sku, answer in first.items():
        if isinstance(answer, tuple):
            assert fitting(later[sku])[0].gpus <= answer[0].gpus


@given(method=METHODS, size=SIZES, tokens=TOKENS, sequence=SEQUENCES, fewer=st.floats(0.01, 1))
@settings(max_examples=40)
def test_fewer_tokens_never_need_more_gpus(
    method: Method, size: float, tokens: float, sequence: int, fewer: float
) -> None:
    arch = typical_architecture(size)
    usual = job(method=method, tokens=tokens, sequence_tokens=sequence, deadline_h=200)
    # A step of the optimiser is never larger than the whole run: below that, fewer GPUs have something to do.
    few = max(tokens * fewer, 64 * sequence)
    first, smaller = (
        planned(usual, arch, CARDS),
        planned(usual.model_copy(update={"tokens": few}), arch, CARDS),
    )
    if method is Method.PRE_TRAIN or few > tokens:
        return
    for sku, answer in first.items():
        if isinstance(answer, tuple):
            assert fitting(smaller[sku])[0].gpus <= answer[0].gpus


@given(size=SIZES, tokens=st.floats(1e5, 1e8), sequence=st.sampled_from([512, 2048]))
@settings(max_examples=30)
def test_adapters_never_need_more_gpus_than_full_training(size: float, tokens: float, sequence: int) -> None:
    arch = typical_architecture(size)
    answers = {
        method: planned(job(method=method, tokens=tokens, sequence_tokens=sequence), arch, CARDS)
        for method in (Method.FULL, Method.LORA)
    }
    for sku, full in answers[Method.FULL].items():
        if isinstance(full, tuple) and not _offloaded(full[0]):
            assert fitting(answers[Method.LORA][sku])[0].gpus <= full[0].gpus


# ── figures ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("method", list(Method))
@pytest.mark.parametrize("sku", [A100, H100, "gaudi-3"])
def test_figures_say_what_the_option_says(sku: str, method: Method) -> None:
    asked = job(method=method)
    for option in one(sku, method=method):
        told = explain_training(option, asked, model(LLAMA_8B), gpu(sku), ASSUMPTIONS, CALIBRATION)
        figures = {figure.key: figure for figure in told.figures}
        assert figures["training.run_hours"].value.value == pytest.approx(run_of(option).value)
        assert figures["training.mfu"].value.value == pytest.approx(100 * (option.speed.mfu_fraction or 0))
        used = memory_of(option).total_gib - memory_of(option).free_gib
        assert figures["training.memory"].value.value == pytest.approx(used)
        rate = figures["training.tokens_s_per_gpu"]
        assert rate.low is not None
        assert rate.high is not None
        assert rate.low < rate.value.value < rate.high
        assert len(rate.evidence) == 3
        assert all(evidence.source for evidence in rate.evidence)
        recipe = told.recipe and told.recipe.model_copy(update={"recomputing_all_h": 0})
        assert told.model_copy(update={"figures": (), "recipe": recipe}) == option


def _offloaded(option: LoadOption) -> bool:
    return option.recipe is not None and option.recipe.host_offload != "none"


def test_the_share_of_each_cause_adds_up_to_the_whole() -> None:
    option = one(H100)[0]
    told = explain_training(option, job(), model(LLAMA_8B), gpu(H100), ASSUMPTIONS, CALIBRATION)
    rate = next(figure for figure in told.figures if figure.key == "training.tokens_s_per_gpu")
    shares = [part.value.value for part in rate.inputs if not isinstance(part.value, str)]
    assert sum(shares) == pytest.approx(100)


def test_what_keeps_a_job_from_fewer_gpus_is_memory_only_where_half_of_them_would_not_hold_it() -> None:
    small = {option.gpus: str(option.limited_by) for option in one(H100, method="qlora")}
    assert small.pop(1).startswith("nothing")
    assert small
    assert all(text.startswith("room for more") for text in small.values())
    least = min(one(H100, LLAMA_70B, method="full"), key=lambda option: option.gpus)
    assert str(least.limited_by).startswith("GPU memory")
