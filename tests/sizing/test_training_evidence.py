"""Published runs near a planned one, the calibration that holds them, and what failures cost."""

import json
from itertools import pairwise

import numpy as np
import pytest

from quotes.sizing.training.calibration import PATH, MeasuredRun, Quantity, TrainingCalibration, dumps, loads
from quotes.sizing.training.evidence import (
    CAUTION,
    Subject,
    distances,
    nearest_runs,
    shift_of,
    subject_of,
    table_of,
)
from quotes.sizing.training.goodput import goodput
from tests.sizing.trainings import ASSUMPTIONS, CALIBRATION

HERE = Subject(
    "llama3-8b", 8.0, False, "H100 SXM 80 GB", "hopper", "torchtitan", "pretrain", "bf16", "fsdp", 8192, 8
)


def measured(ratio: float = 1.2, **changes: object) -> MeasuredRun:
    return MeasuredRun.model_validate(
        {"id": "T1", **HERE._asdict(), "value": 6000, "ratio": ratio, "source": "somebody", **changes}
    )


def shift(*runs: MeasuredRun, subject: Subject = HERE) -> float:
    return float(shift_of(runs, "speed", [subject])[0])


def test_the_same_run_is_no_distance_away_and_every_difference_adds() -> None:
    others = [
        HERE, HERE._replace(model="qwen3-8b"), HERE._replace(model="qwen3-8b", generation="ampere", gpu="A100"),
        HERE._replace(sequence_tokens=16_384), HERE._replace(method="lora"), HERE._replace(method="full"),
    ]  # fmt: skip
    far = distances(table_of([HERE]), table_of(others))[0]
    assert far[0] == far[5] == 0  # full fine-tuning works like pre-training
    assert far[2] > far[1] > far[3] > 0
    assert far[4] > far[3]


def test_a_measurement_of_the_same_thing_pulls_the_prediction_towards_it() -> None:
    assert shift() == 1
    assert shift(measured()) == pytest.approx(1.2 ** (1 / (1 + CAUTION)))
    assert 1 < shift(measured(gpu="A100", generation="ampere", model="other")) < shift(measured())
    assert shift(measured(100.0)) < 2  # one odd row may not claim the world


def test_a_long_series_does_not_outvote_a_careful_measurement() -> None:
    series = [measured(0.8, id=f"S{index}", series=50) for index in range(50)]
    assert shift(measured(1.2), *series) > np.exp(50**0.3 / (50**0.3 + 1) * np.log(0.8))


def test_memory_believes_only_what_is_nearly_the_same() -> None:
    other = HERE._replace(model="qwen3-8b")

    def pulled(quantity: str) -> float:
        runs = (measured(quantity=quantity),)
        return float(shift_of(runs, quantity, [other])[0])  # type: ignore[arg-type]

    assert pulled("memory") - 1 < 0.2 * (pulled("speed") - 1)


def test_the_nearest_runs_are_shown_with_their_source() -> None:
    runs = (
        measured(id="far", gpu="A100", generation="ampere"),
        measured(id="near"),
        measured(id="x", stack="hf"),
    )
    shown = nearest_runs(runs, "speed", HERE)
    assert shown["evidence"][0].source == "somebody"
    assert len(shown["evidence"]) == 3
    assert shown["evidence_count"] == 3
    assert nearest_runs((), "speed", HERE) == {}


# ── the file ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_shipped_file_reads_back_as_it_was_written() -> None:
    text = PATH.read_text(encoding="utf-8")
    assert dumps(CALIBRATION) == text
    assert loads(text) == CALIBRATION
    assert json.loads(text)["data_hash"]


def test_few_numbers_stand_behind_the_formulas() -> None:
    """Fitted per generation, per software family and for all: never per row."""
    fitted = sum(len(one.products) + 1 for one in CALIBRATION.generations.values() if one.rows)
    assert fitted + 3 * len(CALIBRATION.stacks) + len(type(CALIBRATION.speed).model_fields) < 120
    assert CALIBRATION.rows["speed"] > 800
    assert CALIBRATION.rows["memory"] > 500


def test_unknown_generations_software_and_regimes_fall_back() -> None:
    assert CALIBRATION.rates("unheard of").rows == 0
    assert CALIBRATION.stack("unheard of") == CALIBRATION.stack("typical")
    assert CALIBRATION.memory_factors("unheard of") == CALIBRATION.memory_factors("typical")
    assert CALIBRATION.interval("speed", "unheard of") == CALIBRATION.interval("speed")
    empty = TrainingCalibration(version="0", generations={}, stacks={}, memory={})
    assert empty.interval("speed").high > 1 > empty.interval("speed").low


def test_a_precision_that_was_not_measured_takes_the_next_of_kin() -> None:
    rates = CALIBRATION.rates("hopper").model_copy(update={"products": {"mxfp8": 0.5, "bf16": 0.6}})
    assert [rates.product(kind) for kind in ("fp8", "bf16", "nvfp4")] == [0.5, 0.6, 0.5]
    assert rates.model_copy(update={"products": {}}).product("bf16") == 0.4


def test_intervals_hold_the_middle() -> None:
    for residual in CALIBRATION.residuals:
        assert residual.low < residual.middle < residual.high
        assert residual.rows >= 15


@pytest.mark.parametrize("quantity", ["speed", "memory", "device"])
@pytest.mark.parametrize("kind", ["dense", "expert"])
def test_less_evidence_never_makes_surer(kind: str, quantity: Quantity) -> None:
    levels = [CALIBRATION.interval(quantity, f"{kind} {level}") for level in range(4)]
    assert [level.regime for level in levels] == [f"{kind} {level}" for level in range(4)]
    for less, more in pairwise(levels):
        assert less.low <= more.low
        assert less.high >= more.high


def test_evidence_names_its_source_and_its_subject() -> None:
    for run in CALIBRATION.evidence:
        assert run.source
        assert subject_of(run).gpus > 0
        assert run.value > 0


# ── failures ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_best_time_between_checkpoints_is_that_of_young() -> None:
    kept = goodput(1024, gpu_mtbf_h=50_000, write_h=1 / 60, restart_h=0.3)
    assert float(kept.mtbf_h) == pytest.approx(50_000 / 1024)
    assert float(kept.interval_h) == pytest.approx(np.sqrt(2 / 60 * 50_000 / 1024))
    lost = (
        1 / 60 / float(kept.interval_h)
        + float(kept.interval_h) / 2 / float(kept.mtbf_h)
        + 0.3 / float(kept.mtbf_h)
    )
    assert float(kept.fraction) == pytest.approx(1 - lost)


@pytest.mark.parametrize(
    ("gpus", "failures", "days", "within"),
    [
        (16_384, 419, 54, 1.1),  # Llama 3 405B: unexpected interruptions (Grattafiori et al. 2024)
        (384, 1.5, 7, 1.5),  # BLOOM: one or two GPU failures a week (Le Scao et al. 2022)
        (440, 4, 9.5, 2.1),  # MPT-7B: four hardware failures (MosaicML 2023)
        (
            992,
            105,
            61,
            6.0,
        ),  # OPT-175B: 35 manual and over 70 automatic restarts, software included (Zhang et al. 2022)
    ],
)
def test_failures_come_about_as_often_as_published(
    gpus: int, failures: float, days: float, within: float
) -> None:
    """One rate per GPU, within a factor two."""
    kept = goodput(gpus, gpu_mtbf_h=ASSUMPTIONS.training_gpu_mtbf_h, write_h=1 / 60, restart_h=0.3)
    published = days * 24 / failures
    assert 1 / within < float(kept.mtbf_h) / published < within


def test_lost_time_at_scale_is_on_the_cautious_side() -> None:
    """Llama 3 kept more than 90 % with checkpoints in seconds and restarts in minutes; a plan stays below that."""
    assumed = {"gpu_mtbf_h": ASSUMPTIONS.training_gpu_mtbf_h}
    tuned = goodput(16_384, **assumed, write_h=5 / 3600, restart_h=0.1)
    planned = goodput(
        16_384, **assumed, write_h=ASSUMPTIONS.checkpoint_stall_s / 3600,
        restart_h=ASSUMPTIONS.training_restart_h,
    )  # fmt: skip
    assert float(tuned.fraction) > 0.9 > float(planned.fraction) > 0.75
    largest = goodput(
        ASSUMPTIONS.training_gpus_max, **assumed, write_h=ASSUMPTIONS.checkpoint_stall_s / 3600,
        restart_h=ASSUMPTIONS.training_restart_h,
    )  # fmt: skip
    assert float(largest.fraction) > 0.94


def test_no_other_interval_keeps_more() -> None:
    best = goodput(4096, gpu_mtbf_h=50_000, write_h=0.02, restart_h=0.3)
    for factor in (0.5, 0.8, 1.25, 2):
        interval = float(best.interval_h) * factor
        lost = 0.02 / interval + (interval / 2 + 0.3) / float(best.mtbf_h)
        assert 1 - lost < float(best.fraction)


def test_larger_systems_keep_less_and_never_nothing() -> None:
    kept = goodput(
        np.array([8, 1024, 16_384, 10_000_000]), gpu_mtbf_h=50_000, write_h=0.02, restart_h=0.3
    ).fraction
    assert list(kept) == sorted(kept, reverse=True)
    assert kept[0] > 0.99
    assert 0.7 < kept[2] < 0.95
    assert kept[3] == 0.05


def test_free_checkpoints_lose_only_restarts() -> None:
    kept = goodput(1000, gpu_mtbf_h=50_000, write_h=0, restart_h=0.5)
    assert float(kept.fraction) == pytest.approx(1 - 0.5 / 50)
