"""The shipped constants, the shift by measured runs, and the fits that make both."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotes.sizing.architecture import FORMATS
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.evaluation import serving_fit
from quotes.sizing.evaluation.base import Context
from quotes.sizing.evaluation.conformal import group_weights, interval, weighted_quantile
from quotes.sizing.evaluation.robust import least_squares
from quotes.sizing.evaluation.serving_calibrate import (
    ClosedLoad,
    cross_validation,
    dumps,
    evidence_rows,
    fitted,
)
from quotes.sizing.evaluation.serving_rows import parse_runs, predict, table_of
from quotes.sizing.serving.calibration import PATH, Calibration, MeasuredRow, load_calibration
from quotes.sizing.serving.evidence import (
    DOUBT,
    LARGEST_SHIFT,
    REMEMBERED,
    Run,
    badges_for,
    fading_mean,
    nearest_evidence,
    shift_of,
)
from quotes.sizing.serving.fleet import run_of
from quotes.sizing.serving.intervals import interval_of
from quotes.sizing.serving.layouts import Way
from quotes.sizing.serving.machines import Choice, machine_for
from quotes.sizing.serving.measurements import measured_row
from quotes.sizing.trace import Badge
from tests.sizing.language import H100, LLAMA_8B, MI300X, catalog, gpu, model, service
from tests.sizing.published import RUNS, TABLES

CALIBRATION = load_calibration()
CONTEXT = Context(catalog(), Assumptions(), CALIBRATION)


# ── the file ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_file_is_small_versioned_and_says_what_it_was_made_of() -> None:
    assert PATH.stat().st_size < 300_000
    assert len(CALIBRATION.data_sha256) == 64
    assert CALIBRATION.version >= 1
    assert CALIBRATION.counts["runs"] > 1000


def test_constants_are_positive_and_plausible() -> None:
    for constants in CALIBRATION.engines.values():
        assert 1 < constants.kernel_us < 10
        assert 0.3 < constants.interference < 1.3
        assert constants.prompt_x > 0
    for factors in CALIBRATION.generations.values():
        assert 0.1 < factors.memory <= 1.2


def test_residuals_lie_around_one_and_unseen_pairs_are_less_sure() -> None:
    for row in CALIBRATION.residuals:
        assert row.low < 1 < row.high
        assert row.rows >= 40
    for metric in ("ttft", "tpot", "throughput"):
        seen, unseen = (CALIBRATION.residual(metric, "", seen) for seen in (True, False))
        assert unseen.high / unseen.low > seen.high / seen.low


def test_an_engine_without_residuals_of_its_own_takes_those_of_all() -> None:
    assert CALIBRATION.residual("tpot", "mystery") == CALIBRATION.residual("tpot", "")
    assert CALIBRATION.engine("mystery") == CALIBRATION.engine("vllm")


def test_what_is_written_is_read_back() -> None:
    again = Calibration.model_validate(json.loads(dumps(CALIBRATION)))
    assert dumps(again) == dumps(CALIBRATION)
    assert again.evidence_rows == CALIBRATION.evidence_rows
    assert again.engines == CALIBRATION.engines


def test_measured_runs_stand_together() -> None:
    names = [(row[0], row[1]) for row in CALIBRATION.evidence_rows]
    assert names == sorted(names)
    assert CALIBRATION.evidence_table.rows_of(*map(str, names[0])) == names.count(names[0])
    assert CALIBRATION.evidence_table.rows_of("no", "such") == 0


# ── the shift ───────────────────────────────────────────────────────────────────────────────────────────────────


def run(**changes: object) -> Run:
    usual = {
        "shape": "1x2x3x0", "gpu": "h100_sxm", "engine": "vllm", "precision": "fp8", "tp": 1, "dp": 1, "prompt": 1000.0,
        "output": 500.0, "concurrency": 16.0,
    }  # fmt: skip
    return Run(**{**usual, **changes})  # type: ignore[arg-type]


def measured(**changes: object) -> MeasuredRow:
    usual = {
        "shape": "1x2x3x0", "gpu": "h100_sxm", "model": "m", "engine": "vllm", "precision": "fp8", "tp": 1, "dp": 1,
        "prompt": 1000, "output": 500, "concurrency": 16, "ttft_ms": 100, "tpot_ms": 10, "ttft_x": 1.4, "tpot_x": 1.2,
        "source": 0,
    }  # fmt: skip
    return MeasuredRow(**{**usual, **changes})  # type: ignore[arg-type]


def test_nothing_measured_shifts_nothing() -> None:
    assert shift_of(run(), CALIBRATION) == (1.0, 1.0, 0, 0)


def test_a_measured_run_shifts_its_own_kind_only() -> None:
    known = CALIBRATION.with_rows([measured()], ["here"])
    shift = shift_of(run(), known)
    assert shift.rows == 1
    assert 1 < shift.ttft < 1.4
    assert 1 < shift.tpot < 1.2
    for other in ({"gpu": "b200_sxm"}, {"engine": "sglang"}, {"precision": "bf16"}, {"shape": "9x9x9x0"}):
        assert shift_of(run(**other), known).rows == 0


def test_a_shift_fades_with_distance_and_does_not_depend_on_the_load() -> None:
    known = CALIBRATION.with_rows([measured()], ["here"])
    near, far, farther = (shift_of(run(prompt=prompt), known).tpot for prompt in (1000.0, 4000.0, 64_000.0))
    assert near > far > farther > 1
    assert shift_of(run(concurrency=500.0), known).tpot == near


def test_more_measurements_leave_less_doubt() -> None:
    one = CALIBRATION.with_rows([measured()], ["here"])
    three = CALIBRATION.with_rows([measured()] * 3, ["here"])
    assert shift_of(run(), three).tpot > shift_of(run(), one).tpot
    assert shift_of(run(), one).tpot == pytest.approx(1.2 ** (1 / (1 + DOUBT)))


@given(st.lists(st.floats(0.001, 1000), min_size=1, max_size=6))
def test_no_measurement_shifts_beyond_the_largest(factors: list[float]) -> None:
    assert abs(fading_mean(np.array(factors), np.ones(len(factors)))) <= LARGEST_SHIFT


def test_a_run_that_says_nothing_about_first_tokens_does_not_shift_them() -> None:
    known = CALIBRATION.with_rows([measured(ttft_x=0.0)], ["here"])
    assert shift_of(run(), known).ttft == 1.0
    assert shift_of(run(), known).tpot > 1


def test_badge_and_evidence_follow_the_nearest_runs() -> None:
    known = CALIBRATION.with_rows([measured(), measured(prompt=100_000)], ["here"])
    busier, wider = run(concurrency=200.0), run(tp=2)
    assert badges_for(run(), known, served=True, tabled=True) == (Badge.MEASURED, Badge.MEASURED, 1)
    assert badges_for(busier, known, served=True, tabled=True) == (Badge.INTERPOLATED, Badge.INTERPOLATED, 0)
    assert badges_for(wider, known, served=False, tabled=True) == (Badge.EXTRAPOLATED, Badge.INTERPOLATED, 0)
    assert badges_for(wider, known, served=False, tabled=False) == (Badge.EXTRAPOLATED, Badge.EXTRAPOLATED, 0)
    nearest = nearest_evidence(run(), known, "tpot")
    assert nearest[0].source == "here"
    assert nearest[0].value.value == pytest.approx(100)


def test_measurements_of_ones_own_halve_the_error_of_what_they_describe() -> None:
    """Somebody runs the model at three loads and finds each step 30 % slower than predicted."""
    arch, card = model(LLAMA_8B), gpu(MI300X)
    asked = service(prompt_tokens=1500, output_tokens=400)
    way = Way(0, FORMATS["bf16"], "bf16", tp=1, dp=1, ep=1)
    exact = measured_row(way, asked, arch, card, CALIBRATION, concurrency=8, tpot_ms=1.0)
    truth = 1.3 / exact.tpot_x  # milliseconds: tpot_x is one over the prediction
    rows = [
        measured_row(way, asked, arch, card, CALIBRATION, concurrency=8, tpot_ms=truth, ttft_ms=200)
        for _ in range(3)
    ]
    assert rows[0].tpot_x == pytest.approx(1.3)
    assert rows[0].ttft_x > 0
    assert exact.ttft_x == 0
    known = CALIBRATION.with_rows(rows, ["our own"])
    shifted = shift_of(run_of(way, asked, arch, card), known)
    assert 1.3**0.5 < shifted.tpot < 1.3


def test_what_is_remembered_does_not_grow_without_end() -> None:
    known = CALIBRATION.with_rows([measured()], ["here"])
    for number in range(REMEMBERED + 50):
        known.shifts[number] = None
        if number % 500 == 0:
            shift_of(run(prompt=float(number + 1)), known)
    shift_of(run(prompt=0.5), known)
    assert len(known.shifts) < REMEMBERED


def test_forgetting_what_was_looked_up_with_other_constants() -> None:
    first = CALIBRATION.changed()
    machine_for(gpu(MI300X), model(LLAMA_8B), FORMATS["bf16"], 2.0, "vllm", 1, first)
    assert first.machines
    assert not first.changed(version=2).machines


def test_what_was_not_measured_is_less_sure() -> None:
    def width(choice: Choice, *, seen: bool, standard: bool = True, gpus: int = 1) -> float:
        found = interval_of(CALIBRATION, "tpot", "vllm", choice, seen, standard, gpus)
        return found.high / found.low

    known = machine_for(gpu(H100), model(LLAMA_8B), FORMATS["bf16"], 2.0, "vllm", 1, CALIBRATION)
    borrowed = machine_for(gpu(MI300X), model(LLAMA_8B), FORMATS["bf16"], 2.0, "vllm", 1, CALIBRATION)
    assert width(known, seen=True) < width(known, seen=False) < width(borrowed, seen=False)
    assert width(known, seen=False) < width(known, seen=False, standard=False)


# ── fits ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_constants_predict_published_runs() -> None:
    runs, refused = parse_runs(RUNS, CONTEXT)
    assert not refused
    table = table_of(runs, CALIBRATION, Assumptions())
    predicted = predict(table, CALIBRATION)
    ratio = predicted.tpot_ms / np.array([one.tpot_ms for one in runs])
    assert np.median(np.abs(ratio - 1)) < 0.12


def test_a_fit_recovers_the_constants_that_made_the_data() -> None:
    """Runs made by the model itself, with other constants than the fit starts from."""
    runs, _ = parse_runs(RUNS, CONTEXT)
    truth = CALIBRATION.changed(
        engines={
            name: one.model_copy(update={"kernel_us": one.kernel_us * 1.3})
            for name, one in CALIBRATION.engines.items()
        }
    )
    table = table_of(runs, truth, Assumptions())
    made = predict(table, truth)
    runs = [
        one._replace(ttft_ms=float(ttft), tpot_ms=float(tpot))
        for one, ttft, tpot in zip(runs, made.ttft_ms, made.tpot_ms, strict=True)
    ]
    table = table_of(runs, CALIBRATION, Assumptions())
    _, found = serving_fit.fit(table, CALIBRATION)
    again = predict(table, found)
    assert np.max(np.abs(again.tpot_ms / made.tpot_ms - 1)) < 0.03


def test_left_out_groups_are_predicted_without_themselves() -> None:
    runs, _ = parse_runs(RUNS, CONTEXT)
    table = table_of(runs, CALIBRATION, Assumptions())
    groups = [one.model for one in runs]
    left = serving_fit.left_out(table, CALIBRATION, groups)
    _, full = serving_fit.fit(table, CALIBRATION)
    assert not np.allclose(left.tpot_ms, predict(table, full).tpot_ms)


def test_a_calibration_is_made_from_rows() -> None:
    made = fitted(RUNS, [], TABLES, CONTEXT)
    assert made.counts["runs"] == len(RUNS)
    assert len(made.evidence_rows) == len(RUNS)
    assert made.data_sha256 != CALIBRATION.data_sha256
    assert {"vllm", "sglang", "trtllm"} <= set(made.engines)


def test_evidence_keeps_what_was_measured_and_how_far_off_it_was() -> None:
    closed = ClosedLoad.of(RUNS, [], CONTEXT)
    rows, sources = evidence_rows(closed, predict(closed.table, CALIBRATION))
    first = rows[0]
    assert first.tpot_ms == pytest.approx(float(RUNS[0]["tpot_ms"]), rel=1e-3)
    assert sources[first.source].startswith(("InferenceX", "published benchmark"))


def test_cross_validation_names_what_was_left_out() -> None:
    found = cross_validation(RUNS, [], CONTEXT)
    assert {cross.left_out for cross in found} == {
        "model on GPU", "model", "GPU", "configuration of a known pair",
    }  # fmt: skip
    assert all(cross.errors.rows for cross in found)


def test_least_squares_ignores_outliers() -> None:
    steps = np.linspace(0, 1, 50)
    data = 0.7 + 0.4 * steps
    data[::10] += 3

    def residuals(at):  # type: ignore[no-untyped-def]
        return at[0] + at[1] * steps - data

    found = least_squares(residuals, np.zeros(2), np.full(2, 10.0), np.full(50, 1 / 50), iterations=60)
    assert found == pytest.approx([0.7, 0.4], abs=0.08)


# ── intervals ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_conformal_interval_covers_what_it_says() -> None:
    draws = np.sin(np.arange(2000) * 12.9898) * 0.3  # spread evenly enough, and the same every time
    low, high = interval(draws, ["one"] * 2000, 0.8)
    inside = np.mean((np.exp(draws) >= low) & (np.exp(draws) <= high))
    assert inside == pytest.approx(0.8, abs=0.01)


def test_a_large_group_does_not_outvote_small_ones() -> None:
    groups = ["large"] * 100 + ["small"]
    weights = group_weights(groups)
    assert weights[:100].sum() == pytest.approx(10)
    assert weights[100] == 1
    assert weighted_quantile(np.arange(3.0), np.ones(3), 0.5) == 1
