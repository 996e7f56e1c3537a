"""Time per token while training: what it follows, and how near it comes to what people measured."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.specs import FormFactor
from quotes.sizing.training.hardware import (
    FP8_OVER_BF16,
    MOST_OF_PEAK,
    TrainingGpu,
    generation_of,
    share_of_peak,
    training_gpu,
)
from quotes.sizing.training.layouts import Grid
from quotes.sizing.training.memory import Split
from quotes.sizing.training.plan import (
    FSDP,
    FULL,
    ZERO1,
    Plan,
    machines_of,
    plan_of,
    run_hours,
    surrounded,
    time_of,
)
from quotes.sizing.training.speed import TokenTime, mfu_fraction, model_flops_per_token
from tests.sizing.language import (
    A100,
    B200,
    H100,
    H200,
    L40S,
    LLAMA_8B,
    LLAMA_70B,
    MI300X,
    MIXTRAL,
    gpu,
    model,
)
from tests.sizing.trainings import ASSUMPTIONS, CALIBRATION, job


def plan(arch: str = LLAMA_8B, **changes: object) -> Plan:
    usual: dict[str, object] = {"method": "pre_train", "sequence_tokens": 8192, "tokens": 1e10}
    return plan_of(job(**{**usual, **changes}), model(arch), ASSUMPTIONS)


def layout(
    gpus: int = 8,
    *,
    tp: int = 1,
    pp: int = 1,
    sharding: int = FSDP,
    micro: int = 1,
    recompute: int = 0,
    ep: int = 1,
    cp: int = 1,
    offload: int = 0,
) -> Grid:
    values = (gpus, tp, pp, gpus // (tp * pp * cp), ep, sharding, micro, recompute, cp, offload)
    return Grid(np.array([0]), *(np.array([float(value)]) for value in values))


def times(what: Plan, grid: Grid, sku: str = H100, node: int = 8, precision: str = "bf16") -> TokenTime:
    card = surrounded(gpu(sku), node, ASSUMPTIONS)
    assert card is not None
    return time_of(what, grid, machines_of([card], precision, CALIBRATION), CALIBRATION)


def mfu(what: Plan, grid: Grid, sku: str = H100) -> float:
    card = surrounded(gpu(sku), 8, ASSUMPTIONS)
    assert card is not None
    seconds = times(what, grid, sku).total
    found = mfu_fraction(
        what.model, what.job.sequence_tokens, seconds, card.bf16_tflops * 1e12, frozen=what.frozen
    )
    return float(found[0])


def test_a_token_costs_six_operations_per_active_parameter_and_its_attention() -> None:
    short, long = plan(sequence_tokens=512), plan(sequence_tokens=65_536)
    active = short.model.active_flops / 2
    assert short.token_flops == pytest.approx(6 * active, rel=0.03)
    assert long.token_flops > 1.5 * short.token_flops
    experts = plan(MIXTRAL)
    assert model_flops_per_token(experts.model, 1) == pytest.approx(6 * 12.9e9, rel=0.03)


def test_an_adapter_saves_the_gradient_of_the_weights() -> None:
    full, frozen = plan(method="full", sequence_tokens=512), plan(method="lora", sequence_tokens=512)
    assert frozen.token_flops / full.token_flops == pytest.approx(2 / 3, rel=0.01)
    assert float(times(frozen, layout()).total[0]) < float(times(full, layout()).total[0])


@pytest.mark.parametrize(
    ("arch", "sku", "gpus", "lowest", "highest"),
    [
        (LLAMA_8B, H100, 8, 0.30, 0.50),
        (LLAMA_8B, H100, 256, 0.25, 0.50),
        (LLAMA_8B, A100, 8, 0.40, 0.62),
        (LLAMA_8B, H200, 8, 0.33, 0.55),
        (LLAMA_8B, MI300X, 8, 0.25, 0.50),
        (MIXTRAL, H100, 64, 0.12, 0.40),
    ],
)
def test_utilisation_is_what_tuned_runs_reach(
    arch: str, sku: str, gpus: int, lowest: float, highest: float
) -> None:
    """Nobody gets the peak: 30–50 % on a good network."""
    assert lowest < mfu(plan(arch), layout(gpus), sku) < highest


def test_a_thin_network_costs_utilisation() -> None:
    """Full sharding over a tenth of the bandwidth waits for weights."""
    what, grid = plan(LLAMA_70B), layout(64, recompute=FULL)
    thin = ASSUMPTIONS.model_copy(update={"training_fabric_gbit_s": 25.0})

    def seconds(assumptions: object) -> float:
        card = surrounded(gpu(H100), 8, assumptions)  # type: ignore[arg-type]
        assert card is not None
        return float(time_of(what, grid, machines_of([card], "bf16", CALIBRATION), CALIBRATION).total[0])

    assert seconds(thin) > 1.5 * seconds(ASSUMPTIONS)


def test_cards_without_a_fast_link_pay_for_it() -> None:
    bridged, linked = times(plan(), layout(8), "h100-pcie-80gb"), times(plan(), layout(8), H100)
    assert float(bridged.sharding_hidden[0]) > 5 * float(linked.sharding_hidden[0])
    pair = times(plan(), layout(2), "h100-pcie-80gb")
    assert float(bridged.sharding_hidden[0]) > 5 * float(pair.sharding_hidden[0])
    assert mfu(plan(), layout(8), L40S) < mfu(plan(), layout(8), A100)


def test_recomputation_costs_about_a_quarter() -> None:
    without, with_it = times(plan(), layout()), times(plan(), layout(recompute=FULL))
    assert 1.15 < float(with_it.total[0] / without.total[0]) < 1.4


def test_a_deeper_pipeline_waits_longer_and_more_micro_batches_wait_less() -> None:
    few, many = layout(64, pp=8, sharding=ZERO1, micro=8), layout(64, pp=8, sharding=ZERO1, micro=1)
    shallow = layout(64, pp=2, sharding=ZERO1, micro=1)
    bubble = [
        float(times(plan(), grid).bubble[0] / times(plan(), grid).products[0])
        for grid in (few, many, shallow)
    ]
    assert bubble[0] > bubble[1] > bubble[2] > 0


def test_eight_bit_is_faster_where_the_chip_has_it() -> None:
    assert float(times(plan(), layout(), precision="fp8").total[0]) < float(times(plan(), layout()).total[0])
    same = [float(times(plan(), layout(), A100, precision=kind).total[0]) for kind in ("fp8", "bf16")]
    assert same[0] == same[1]


@given(
    arch=st.sampled_from([LLAMA_8B, LLAMA_70B, MIXTRAL]), sku=st.sampled_from([A100, H100, B200, MI300X]),
    start=st.sampled_from([8, 16, 32, 64]), tp=st.sampled_from([1, 8]), sharding=st.sampled_from([FSDP, ZERO1]),
)  # fmt: skip
def test_twice_the_gpus_never_take_longer(arch: str, sku: str, start: int, tp: int, sharding: int) -> None:
    """The same layout with twice the replicas, while a step still has a micro-batch for each. Weights that were
    gathered inside a server and must now come over its ports are another matter."""
    what = plan(arch, sequence_tokens=4096)
    start = max(start, 16) if sharding == FSDP else start
    hours = [
        float(run_hours(what, grid.gpus, times(what, grid, sku).total, ASSUMPTIONS)[0])
        for grid in (layout(start, tp=tp, sharding=sharding), layout(2 * start, tp=tp, sharding=sharding))
    ]
    assert hours[1] < hours[0]


def test_a_ring_of_tensor_parallel_ranks_drives_one_port_per_server() -> None:
    """Every rank exchanges its own part with its peer in the next server; experts likewise."""
    alone, split = layout(16, sharding=ZERO1), layout(16, sharding=ZERO1, tp=8)
    exchanged = [float(times(plan(), grid).sharding_hidden[0]) for grid in (alone, split)]
    # An eighth of the parameters over an eighth of the ports takes as long; only the ring is shorter.
    assert exchanged[1] / exchanged[0] == pytest.approx((1 / 2) / (15 / 16))


def test_dividing_a_sequence_costs_exchange_and_more_between_servers() -> None:
    """Keys and values pass by every GPU of the ring; over the network that takes longer."""
    long = plan(sequence_tokens=131_072)
    alone, inside = layout(64), layout(64, cp=8)
    # The same work per token: only exchanges differ.
    assert float(times(long, inside).products[0]) == pytest.approx(float(times(long, alone).products[0]))
    parts = [
        float(times(long, grid).tensor_parallel[0]) for grid in (layout(64, cp=4), inside, layout(64, cp=16))
    ]
    assert 0 < parts[0] < parts[1]
    assert parts[2] > 3 * parts[1]


def test_host_memory_costs_time_that_larger_steps_make_up_for() -> None:
    """Once a step the CPU updates everything; weights that live there come up for every micro-batch besides."""
    large, small = plan(MIXTRAL, sequence_tokens=4096), plan(MIXTRAL, sequence_tokens=4096, method="full")
    held, away, everything = (times(large, layout(16, ep=8, offload=index)) for index in range(3))
    assert float(held.host[0]) == 0
    assert float(away.total[0]) == pytest.approx(float(held.total[0] + away.host[0]))
    assert float(everything.host[0]) > float(away.host[0])
    ratio = large.step_tokens / small.step_tokens
    slow = times(small, layout(16, ep=8, offload=1))
    assert float(slow.host[0]) == pytest.approx(ratio * float(away.host[0]))


def test_what_is_exchanged_once_a_step_hides_behind_one_micro_batch() -> None:
    """The fewer micro-batches a step has, the more of the exchange is waited for; more of them make it negligible."""
    few, many = (layout(count, sharding=ZERO1, micro=1) for count in (512, 32))
    shares = [float((time := times(plan(), grid)).exposed[0] / time.total[0]) for grid in (few, many)]
    assert shares[0] > 3 * shares[1] > 0


def test_numbers_and_arrays_agree() -> None:
    grids = [layout(8), layout(64, tp=8), layout(64, pp=8, sharding=ZERO1), layout(256, recompute=FULL)]
    together = Grid(*map(np.concatenate, zip(*grids, strict=True)))
    alone = [float(times(plan(), grid).total[0]) for grid in grids]
    assert times(plan(), together).total == pytest.approx(alone)


# ── hardware ────────────────────────────────────────────────────────────────────────────────────────────────────


def card(**changes: object) -> TrainingGpu:
    usual: dict[str, object] = {
        "name": "card", "generation": "cdna3", "memory_gib": 192, "bf16_tflops": 1307, "fp8_tflops": 2615,
        "memory_bandwidth_gb_s": 5300, "power_w": 750,
    }  # fmt: skip
    return TrainingGpu.model_validate({**usual, **changes})


def test_power_tells_chips_of_one_data_sheet_rate_apart() -> None:
    assert card().power_share == pytest.approx(1.0, rel=0.01)
    assert card(power_w=1000).power_share == pytest.approx(4 / 3, rel=0.01)
    assert card(power_w=10).power_share == 0.4
    assert card(power_w=None).power_share == card(generation="unheard of").power_share == 1


def test_nothing_exceeds_its_peak() -> None:
    assert float(share_of_peak(0.7, 1.5, 1.0)) == MOST_OF_PEAK
    assert card(fp8_tflops=4 * 1307).peak_tflops("fp8") == pytest.approx(FP8_OVER_BF16 * 1307)
    assert card(fp4_tflops=9000).peak_tflops("nvfp4") == 9000
    assert card(fp8_tflops=None).peak_tflops("fp8") == card().peak_tflops("bf16") == 1307


def test_workstation_blackwell_is_a_generation_of_its_own() -> None:
    assert generation_of(gpu(B200)) == "blackwell"
    assert generation_of(gpu("rtx-pro-6000-blackwell-server-edition")) == "blackwell workstation"
    assert generation_of(gpu(L40S)) == "ada"
    assert generation_of(gpu(H100).model_copy(update={"form_factor": FormFactor.PCIE})) == "hopper"


def test_an_accelerator_without_figures_is_no_training_gpu() -> None:
    without = gpu(H100).model_copy(update={"memory_bandwidth_gb_s": None})
    assert training_gpu(without, node_gpus=8, fabric_gbit_s=400, pcie_gb_s=40) is None


def test_a_split_is_whole_by_default() -> None:
    assert Split().weight_shards == 1
