"""What a seller measured itself: placed, checked, compared, and counted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quotes.sizing.knowledge import shipped, with_measurements
from quotes.sizing.serving.calibration import MeasuredRow, load_calibration
from quotes.sizing.serving.evidence import Run, nearest_evidence, shift_of
from quotes.sizing.serving.machines import shape_signature
from quotes.sizing.serving.measurements import OwnMeasurement, Unusable, compare, with_own
from quotes.sizing.trace import Badge
from tests.sizing.language import (
    B200,
    H100,
    LLAMA_8B,
    LLAMA_70B,
    MI300X,
    R1,
    catalog,
    gpu,
    model,
    options,
    service,
)
from tests.sizing.published import RUNS

CALIBRATION = load_calibration()


def own(**changes: object) -> OwnMeasurement:
    """Llama 8B in BF16 on one MI300X, of which nothing was published, at eight requests."""
    usual: dict[str, object] = {
        "accelerator_sku": MI300X, "model_key": LLAMA_8B, "engine": "vllm", "precision": "bf16", "input_tokens": 1500,
        "output_tokens": 400, "concurrency": 8, "tpot_ms": 12.0, "source": "our own bench",
    }  # fmt: skip
    return OwnMeasurement.model_validate({**usual, **changes})


# ── three measurements and the published rest ───────────────────────────────────────────────────────────────────


def test_three_published_runs_entered_as_ones_own_make_the_others_of_their_kind_better_predicted() -> None:
    """Every model and GPU that was published much of plays a site that measured three of its runs itself."""
    bare = CALIBRATION.changed(evidence_rows=())
    rows = [CALIBRATION.evidence(number) for number in range(len(CALIBRATION.evidence_rows))]
    kinds: dict[tuple[str, ...], list[MeasuredRow]] = {}
    for row in rows:
        kinds.setdefault((row.shape, row.gpu, row.engine, row.precision), []).append(row)
    tokens, wrong, first = [], [], []  # errors without and with the three, of rows that are not among them
    for kind in kinds.values():
        if len(kind) < 15:
            continue
        chosen = kind[:: len(kind) // 3 + 1]
        known = bare.with_rows([row.model_copy(update={"source": 0}) for row in chosen], ["here"], own=True)
        errors = []
        for row in kind:
            if row in chosen:
                continue
            at = Run(
                row.shape,
                row.gpu,
                row.engine,
                row.precision,
                row.tp,
                row.dp,
                row.prompt,
                row.output,
                row.concurrency,
            )
            shift = shift_of(at, known)
            errors.append((abs(1 / row.tpot_x - 1), abs(shift.tpot / row.tpot_x - 1)))
            if row.ttft_x:
                first.append((abs(1 / row.ttft_x - 1), abs(shift.ttft / row.ttft_x - 1)))
        tokens += errors
        if np.median(errors, axis=0)[0] > 0.1:  # kinds that the model gets wrong: why somebody measures
            wrong += errors
    assert len(tokens) > 1000
    for errors, share in ((tokens, 0.9), (wrong, 0.8), (first, 0.9)):
        without, with_three = np.median(errors, axis=0)
        assert with_three < share * without


def test_a_published_run_entered_as_ones_own_is_compared_with_nearly_what_was_predicted_of_it() -> None:
    row = next(
        row for row in RUNS if row["gpu"] == "h100_sxm" and row["model"].endswith("70B") and row["tp"] == "4"
    )
    entered = own(
        accelerator_sku=H100, model_key=LLAMA_70B, engine=row["engine"], precision=row["weights_precision"],
        tp=int(row["tp"]), input_tokens=int(row["input_tokens"]), output_tokens=int(row["output_tokens"]),
        concurrency=float(row["concurrency"]), tpot_ms=float(row["tpot_ms"]), ttft_ms=float(row["ttft_ms"]),
    )  # fmt: skip
    found = compare(entered, catalog(), CALIBRATION)
    assert found.before.tpot_ms == pytest.approx(float(row["tpot_ms"]), rel=0.25)
    assert not found.implausible


# ── what it changes ─────────────────────────────────────────────────────────────────────────────────────────────


@settings(max_examples=30)
@given(st.floats(0.6, 1.7), st.floats(0.6, 1.7))
def test_the_model_moves_towards_what_was_measured_and_not_past_it(slower: float, later: float) -> None:
    said = compare(own(), catalog(), CALIBRATION).before
    entered = own(tpot_ms=said.tpot_ms * slower, ttft_ms=said.ttft_ms * later)
    found = compare(entered, catalog(), CALIBRATION)
    for before, measured, after in list(zip(found.before, found.measured, found.after, strict=True))[:2]:
        assert measured is not None
        assert min(before, measured) <= after * (1 + 1e-9)
        assert after <= max(before, measured) * (1 + 1e-9)


def test_a_throughput_alone_tells_the_time_per_token() -> None:
    said = compare(own(), catalog(), CALIBRATION).before
    exact = compare(own(tpot_ms=None, tokens_s_per_gpu=said.tokens_s_per_gpu), catalog(), CALIBRATION)
    assert exact.after.tpot_ms == pytest.approx(said.tpot_ms, rel=1e-6)
    half = compare(own(tpot_ms=None, tokens_s_per_gpu=said.tokens_s_per_gpu / 1.5), catalog(), CALIBRATION)
    assert half.after.tpot_ms > 1.3 * said.tpot_ms


def test_a_first_token_alone_moves_no_speed_and_promises_no_measured_one() -> None:
    entered = own(tpot_ms=None, ttft_ms=400.0)
    found = compare(entered, catalog(), CALIBRATION)
    assert found.after.tpot_ms == found.before.tpot_ms
    assert found.after.ttft_ms > found.before.ttft_ms
    known = with_own(CALIBRATION, [entered], catalog())
    asked = service(
        prompt_tokens=1500,
        output_tokens=400,
        concurrent_requests=8,
        model={"key": LLAMA_8B},
        precision="bf16",
    )
    without = options(asked, model(LLAMA_8B), gpu(MI300X))[0]
    with_it = options(asked, model(LLAMA_8B), gpu(MI300X), calibration=known)[0]
    assert with_it.speed.tokens_s_per_user.badge is not Badge.MEASURED
    assert with_it.speed.tokens_s_per_user.low == pytest.approx(without.speed.tokens_s_per_user.low)


def test_own_measurements_are_shown_as_such_beside_the_figure() -> None:
    known = with_measurements(
        shipped(), [own(), own(concurrency=9, source="another bench")], catalog()
    ).serving
    run = Run(
        shape_signature(model(LLAMA_8B)),
        "mi300x",
        "vllm",
        "bf16",
        tp=1,
        dp=1,
        prompt=1500,
        output=400,
        concurrency=8,
    )
    nearest = nearest_evidence(run, known, "tpot")
    assert [(row.source, row.own) for row in nearest[:2]] == [
        ("our own bench", True),
        ("another bench", True),
    ]
    assert not nearest[2].own
    assert all(row.value.value > 0 for row in nearest_evidence(run, known, "ttft"))


def test_the_shipped_knowledge_stays_as_it_is() -> None:
    before = shipped().serving.evidence_rows
    assert with_measurements(shipped(), [own()], catalog()).serving.evidence_rows != before
    assert shipped().serving.evidence_rows is before
    assert with_measurements(shipped(), [], catalog()) == shipped()


def test_what_the_catalog_no_longer_has_is_left_out() -> None:
    gone = own(model_key="nobody/nothing")
    assert with_own(CALIBRATION, [gone], catalog()) is CALIBRATION
    kept = with_own(CALIBRATION, [gone, own()], catalog())
    assert len(kept.evidence_rows) == len(CALIBRATION.evidence_rows) + 1


# ── what cannot be ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"accelerator_sku": "no-such"}, "accelerator", "does not offer"),
        ({"accelerator_sku": "tpu-v5e"}, "accelerator", ""),
        ({"model_key": "no/such"}, "model", "does not have"),
        ({"tp": 3}, "tp", "do not divide"),
        ({"dp": 2}, "dp", "replicas"),
        ({"model_key": R1, "accelerator_sku": B200, "dp": 7, "precision": "fp8"}, "dp", "replicas"),
        ({"tpot_ms": 0.5}, "tpot_ms", "faster than possible"),
        ({"tpot_ms": None, "tokens_s_per_gpu": 3_000.0}, "tokens_s_per_gpu", "faster than possible"),
        ({"tpot_ms": None, "tokens_s_per_gpu": 50_000.0}, "tokens_s_per_gpu", "no more than"),
        ({"tokens_s_per_gpu": 5_000.0}, "tokens_s_per_gpu", "contradicts"),
        ({"tokens_s_per_gpu": 100.0}, "tokens_s_per_gpu", "contradicts"),
    ],
)
def test_what_cannot_be_is_refused_at_its_field(changes: dict[str, object], field: str, words: str) -> None:
    with pytest.raises(Unusable) as refused:
        compare(own(**changes), catalog(), CALIBRATION)
    assert refused.value.field == field
    assert words in refused.value.message.text


@pytest.mark.parametrize(("factor", "implausible"), [(0.12, False), (8.0, False), (11.0, True)])
def test_far_off_is_ten_times(factor: float, implausible: bool) -> None:
    said = compare(own(), catalog(), CALIBRATION).before
    entered = own(ttft_ms=said.ttft_ms * factor)
    assert compare(entered, catalog(), CALIBRATION).implausible is implausible


def test_what_is_consistent_is_taken() -> None:
    said = compare(own(), catalog(), CALIBRATION).before
    entered = own(ttft_ms=said.ttft_ms, tpot_ms=said.tpot_ms, tokens_s_per_gpu=said.tokens_s_per_gpu)
    found = compare(entered, catalog(), CALIBRATION)
    assert found.after == pytest.approx(found.before)
