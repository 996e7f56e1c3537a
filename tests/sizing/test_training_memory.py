"""Peak memory of training: components, what makes them smaller, and what plans often forget."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.specs import ModelArchitecture
from quotes.sizing.architecture import typical_architecture
from quotes.sizing.training.memory import (
    GIB,
    LOSSES,
    STATES,
    Adapter,
    Batch,
    MemoryFactors,
    Split,
    States,
    TrainingMemory,
    in_flight_layers,
    in_host_memory,
    local_params,
    states_level,
    training_memory,
)
from quotes.sizing.training.model import TrainedModel, adapter_params, attention_flops, trained_model
from quotes.sizing.training.plan import memory_spread
from tests.sizing.language import LLAMA_8B, LLAMA_70B, MIXTRAL, catalog, model
from tests.sizing.trainings import CALIBRATION

FACTORS = CALIBRATION.memory_factors("typical")
LLAMA = trained_model(model(LLAMA_8B))
BIG = trained_model(model(LLAMA_70B))
EXPERTS = trained_model(model(MIXTRAL))
SPLITS = st.sampled_from([1, 2, 4, 8])


def peak(
    what: TrainedModel = LLAMA, *, sequence: int = 4096, micro: int = 1, recompute: float = 1.0, selective: float = 0.0,
    states: str = "adamw", shards: int = 1, adapter: Adapter | None = None, loss: str = "eager", **split: float,
) -> TrainingMemory:  # fmt: skip
    layout = Split(dp=shards, weight_shards=shards, gradient_shards=shards, optimizer_shards=shards, **split)
    batch = Batch(sequence, micro, recompute=recompute, selective=selective, loss=LOSSES.index(loss))
    return training_memory(what, STATES[states], layout, batch, FACTORS, adapter or Adapter())


def gib(memory: TrainingMemory) -> float:
    return float(memory.device(FACTORS)) / GIB


@pytest.mark.parametrize(
    ("states", "per_parameter"),
    [
        ("adamw", 16),
        ("adamw_main_gradients", 18),
        ("adamw_deepspeed", 16),
        ("adamw_8bit", 6),
        ("adamw_pure", 8),
        ("adamw_16bit_gradients", 16),
        ("adamw_16bit_moments", 12),
    ],
)
def test_every_optimiser_has_its_bytes_per_parameter(states: str, per_parameter: float) -> None:
    """'Adam' without its recipe is no answer."""
    assert STATES[states].resident == per_parameter
    held = peak(states=states)
    total = float(held.weights + held.gradients + held.optimizer)
    assert total == pytest.approx(per_parameter * LLAMA.params)


def test_full_training_of_an_8b_model_does_not_fit_where_its_weights_do() -> None:
    """16 GB of weights become more than 120 GB to train."""
    assert LLAMA.params * 2 / GIB < 16
    assert gib(peak()) > 110


@pytest.mark.parametrize("shards", [2, 8, 64])
def test_full_sharding_divides_states_but_not_activations(shards: int) -> None:
    """More data-parallel GPUs shrink the states only."""
    alone, shared = peak(), peak(shards=shards)
    assert float(shared.optimizer) == pytest.approx(float(alone.optimizer) / shards)
    assert float(shared.activations) == float(alone.activations)
    assert float(shared.logits) == float(alone.logits)
    assert float(shared.gathered) > 0 == float(alone.gathered)


def test_data_parallelism_without_sharding_copies_everything() -> None:
    copied = training_memory(LLAMA, STATES["adamw"], Split(dp=8), Batch(4096, 1), FACTORS)
    assert gib(copied) == pytest.approx(gib(peak()))


def test_logits_of_a_large_vocabulary_overtake_the_activations_of_one_layer() -> None:
    """Tokens × vocabulary grows with the sequence, and no sharding helps."""
    long, short = peak(sequence=32_768, shards=64), peak(sequence=2048, shards=64)
    assert float(long.logits) == pytest.approx(16 * float(short.logits))
    assert float(long.logits) > float(long.weights + long.gradients + long.optimizer)
    assert gib(peak(sequence=32_768, shards=64, loss="chunked")) < 0.5 * gib(long)


def test_logits_and_a_layer_that_is_recomputed_are_never_there_together() -> None:
    """The loss is over before the first layer is recomputed: the larger of the two counts, not their sum."""
    both = peak(sequence=32_768, shards=64)
    kept = float(both.activations - both.working)
    at_loss = float(both.weights + both.optimizer + both.gathered + both.logits) + kept
    assert float(both.working) > 0
    assert float(both.peak) == pytest.approx(at_loss)
    pieces = peak(sequence=32_768, shards=64, loss="fused")
    assert float(pieces.logits) < float(pieces.working)
    assert float(pieces.peak) >= float(
        pieces.weights + pieces.optimizer + pieces.gathered + pieces.activations
    )


def test_activations_follow_sequence_and_micro_batch_alike() -> None:
    """A sequence twice as long needs as much as twice the batch, with fused attention."""
    assert float(peak(sequence=8192).activations) == pytest.approx(float(peak(micro=2).activations))


def test_written_out_attention_scores_grow_with_the_square_of_the_sequence() -> None:
    def scores(sequence: int) -> float:
        fused = Batch(sequence, 1, recompute=0.0)
        plain = fused._replace(unfused_attention=1.0)
        with_scores, without = (
            training_memory(LLAMA, STATES["adamw"], Split(), batch, FACTORS).activations
            for batch in (plain, fused)
        )
        return float(with_scores - without)

    assert scores(8192) == pytest.approx(4 * scores(4096))


@given(
    micro=st.sampled_from([1, 2, 4]), sequence=st.sampled_from([512, 4096, 16_384]), shards=SPLITS, tp=SPLITS,
    what=st.sampled_from([LLAMA, BIG, EXPERTS]),
)  # fmt: skip
def test_less_work_at_a_time_never_needs_more(
    micro: int, sequence: int, shards: int, tp: int, what: TrainedModel
) -> None:
    usual = gib(peak(what, micro=micro, sequence=sequence, shards=shards, tp=tp))
    assert gib(peak(what, micro=2 * micro, sequence=sequence, shards=shards, tp=tp)) > usual
    assert gib(peak(what, micro=micro, sequence=2 * sequence, shards=shards, tp=tp)) > usual
    none = gib(peak(what, micro=micro, sequence=sequence, shards=shards, tp=tp, recompute=0.0))
    some = gib(peak(what, micro=micro, sequence=sequence, shards=shards, tp=tp, recompute=0.0, selective=1.0))
    assert some <= none
    # Few layers alive at once beat all of them; of a model with hardly any layers that need not be so.
    assert usual <= none
    chunked = gib(peak(what, micro=micro, sequence=sequence, shards=shards, tp=tp, loss="chunked"))
    assert chunked <= usual


@given(
    arch=st.sampled_from(catalog().models), sequence=st.sampled_from([512, 8192, 131_072]), shards=SPLITS,
    offload=st.sampled_from([0, 1, 2]), rank=st.sampled_from([None, 16]),
    how=st.sampled_from([(0.0, 0.0), (0.0, 1.0), (1.0, 0.0)]), loss=st.sampled_from(["eager", "chunked", "fused"]),
)  # fmt: skip
def test_no_model_of_the_catalog_shrinks_by_more_work(
    arch: ModelArchitecture, sequence: int, shards: int, offload: int, rank: int | None, how: tuple[float, float],
    loss: str,
) -> None:  # fmt: skip
    """Whatever its structure: longer sequences and larger batches never need less, a divided sequence never more."""
    adapter = Adapter(1.0, 2.0, rank) if rank else None

    def needed(sequence: int = sequence, micro: int = 1, cp: int = 1) -> float:
        held = peak(
            trained_model(arch), sequence=sequence, micro=micro, shards=shards, cp=cp, adapter=adapter, loss=loss,
            recompute=how[0], selective=how[1],
        )  # fmt: skip
        return gib(in_host_memory(held, offload))

    usual = needed()
    assert 0 < usual < 1e5
    assert needed(sequence=2 * sequence) >= usual
    assert needed(micro=2) >= usual
    assert needed(cp=2) <= usual


@given(
    size=st.floats(1, 400), micro=st.sampled_from([1, 4]), sequence=st.sampled_from([512, 4096]), shards=SPLITS,
    rank=st.sampled_from([4, 16, 64]),
)  # fmt: skip
def test_an_adapter_never_needs_more_than_full_training_nor_four_bit_more_than_sixteen(
    size: float, micro: int, sequence: int, shards: int, rank: int
) -> None:
    """The base of an adapter has no gradients and no states."""
    what = trained_model(typical_architecture(size))
    full = gib(peak(what, micro=micro, sequence=sequence, shards=shards))
    lora = gib(peak(what, micro=micro, sequence=sequence, shards=shards, adapter=Adapter(1.0, 2.0, rank)))
    qlora = gib(peak(what, micro=micro, sequence=sequence, shards=shards, adapter=Adapter(1.0, 0.53, rank)))
    assert lora < full
    assert qlora < lora * 1.001


def test_adapters_hold_their_share_of_a_model() -> None:
    """About 0.2 % of an 8B model at rank 16 on every projection, and twice that at rank 32."""
    found = float(adapter_params(LLAMA, 16))
    assert found / LLAMA.params == pytest.approx(0.0052, rel=0.1)
    assert float(adapter_params(LLAMA, 32)) == pytest.approx(2 * found)


def test_all_experts_are_held_though_few_work() -> None:
    """Memory follows all parameters, computation the active ones."""
    held = peak(EXPERTS)
    assert float(held.weights + held.gradients + held.optimizer) == pytest.approx(16 * EXPERTS.params)
    assert EXPERTS.active_flops / 2 < 0.35 * EXPERTS.params


def test_expert_parallelism_divides_experts_only() -> None:
    alone, spread = Split(dp=8), Split(dp=8, ep=8)
    saved = float(local_params(EXPERTS, alone) - local_params(EXPERTS, spread))
    assert saved == pytest.approx(EXPERTS.expert_params * 7 / 8)


def test_the_first_stage_of_a_pipeline_holds_as_many_micro_batches_as_there_are_stages() -> None:
    """A pipeline divides weights, not the activations of its first stage."""
    assert float(in_flight_layers(Split(pp=8))) == 8
    assert float(in_flight_layers(Split(pp=8, virtual_stages=4))) > 8

    def activations(stages: int) -> float:
        split = Split(pp=stages)
        batch = Batch(4096, 1, recompute=0.0, in_flight=in_flight_layers(split))
        return float(training_memory(LLAMA, STATES["adamw"], split, batch, FACTORS).activations)

    assert activations(8) == pytest.approx(activations(1))


def test_what_lives_in_host_memory_leaves_the_gpu() -> None:
    held = peak(shards=8)
    some, nothing = (in_host_memory(held, index) for index in (1, 2))
    assert float(in_host_memory(held, 0).peak) == float(held.peak)
    assert float(held.peak) > float(some.peak) > float(nothing.peak) > float(held.at_work)
    assert float(some.weights) == float(held.weights)
    assert float(some.optimizer) < 0.1 * float(held.optimizer)


@given(cp=SPLITS, sequence=st.sampled_from([8192, 65_536]))
def test_a_divided_sequence_keeps_its_part_on_every_gpu(cp: int, sequence: int) -> None:
    whole, part = peak(sequence=sequence), peak(sequence=sequence, cp=cp)
    assert float(part.activations) == pytest.approx(float(whole.activations) / cp)
    assert float(part.logits) == pytest.approx(float(whole.logits) / cp)


def test_numbers_and_arrays_agree() -> None:
    micro, shards = np.array([1.0, 2.0, 4.0]), np.array([1.0, 8.0, 64.0])
    many = training_memory(
        LLAMA, STATES["adamw"], Split(dp=shards, weight_shards=shards, gradient_shards=shards, optimizer_shards=shards),
        Batch(4096, micro), FACTORS,
    ).device(FACTORS)  # fmt: skip
    alone = [gib(peak(micro=int(size), shards=int(ranks))) for size, ranks in zip(micro, shards, strict=True)]
    assert many / GIB == pytest.approx(alone)


def test_what_the_driver_sees_lies_above_what_is_allocated() -> None:
    memory = peak()
    assert float(memory.peak) < float(memory.reserved(FACTORS)) < float(memory.device(FACTORS))
    plain = MemoryFactors(reserved_fraction=0.0, runtime_gib=0.0)
    assert float(memory.device(plain)) == float(memory.peak)


def test_a_state_is_numbers_or_arrays_of_them() -> None:
    assert States(2, 2, 12).resident == 16


def test_the_more_of_it_are_states_the_surer_a_plan_is() -> None:
    small, large = peak(sequence=65_536, shards=64), peak()
    assert int(states_level(small)) == 0
    assert int(states_level(large)) >= 1
    spreads = [memory_spread(memory, 1.0, CALIBRATION) for memory in (small, large)]
    assert float(spreads[1].high / spreads[1].low) < float(spreads[0].high / spreads[0].low)


def test_causal_attention_costs_half_the_square() -> None:
    """Per token the work grows with the sequence: 4 × heads × width × half of it, forward."""
    arch = model(LLAMA_8B)
    per_key = 4 * arch.layers * arch.query_heads * arch.head_dim
    assert float(attention_flops(LLAMA, 8192)) == pytest.approx(per_key * 4096)
