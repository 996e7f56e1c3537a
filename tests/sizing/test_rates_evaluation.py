"""Predicting published rows, and making the shipped files from them."""

import csv
from io import StringIO

import pytest

from quotes.sizing.evaluation.base import Context, PredictedRow
from quotes.sizing.evaluation.other import predict_rows
from quotes.sizing.evaluation.other_cross import cross_validation
from quotes.sizing.evaluation.other_fit import calibrate

from .hardware import ASSUMPTIONS, seed

CONTEXT = Context(seed(), ASSUMPTIONS, None)  # type: ignore[arg-type]
COLUMNS = (
    "id", "source_title", "source_locator", "date", "domain", "model", "params_m", "gmacs_or_tflops_per_item", "input",
    "precision", "framework_or_engine", "accelerator", "accelerator_count", "batch", "metric", "value",
    "per_accelerator_value", "latency_ms", "power_w", "notes",
)  # fmt: skip


def row(name: str, **cells: str) -> dict[str, str]:
    usual = {
        "source_title": "MLPerf Inference v4.1 (closed)",
        "source_locator": "github:mlcommons/inference_results_v4.1 closed/…",
        "date": "2024-08",
        "domain": "detection",
        "model": "RetinaNet ResNeXt50-32x4d FPN",
        "input": "800x800 OpenImages",
        "precision": "int8",
        "framework_or_engine": "TensorRT 10.2.0, CUDA 12.4",
        "accelerator": "H100 NVL 94GB",
        "accelerator_count": "1",
        "metric": "images_s",
        "value": "1400",
        "notes": "MLPerf v4.1 Offline; benchmark id retinanet",
    }
    return dict.fromkeys(COLUMNS, "") | usual | {"id": name} | cells


def predicted(*rows: dict[str, str]) -> dict[str, PredictedRow]:
    return {found.id: found for found in predict_rows(list(rows), CONTEXT)}


def test_a_new_row_is_predicted_with_an_interval() -> None:
    found = predicted(row("new-1", value="1360"))["new-1"]
    assert found.metric == "value"
    assert isinstance(found.predicted, float)
    assert found.predicted == pytest.approx(1360, rel=0.3)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.predicted < found.high
    assert not found.refused


def test_code_that_nobody_tuned_tells_nothing_of_an_accelerator() -> None:
    found = predicted(row("new-1", notes="MLPerf v4.1 Offline; reference (unoptimised) implementation"))[
        "new-1"
    ]
    assert "tuned" in found.refused


def test_several_accelerators_do_more_together() -> None:
    found = predicted(row("new-1"), row("new-4", accelerator_count="4"))
    one, four = found["new-1"].predicted, found["new-4"].predicted
    assert isinstance(one, float)
    assert isinstance(four, float)
    assert 3 < four / one < 4.5


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"model": "nobody knows this", "domain": "graph"}, "Nothing was measured of this model"),
        ({"accelerator": "Brand new chip", "model": "ResNet-50 v1.5"}, "No figures of this accelerator"),
        ({"value": ""}, "cannot be read"),
        ({"accelerator": ""}, "cannot be read"),
    ],
)
def test_what_cannot_be_predicted_is_refused_with_a_reason(cells: dict[str, str], reason: str) -> None:
    found = predicted(row("new-1", **cells))["new-1"]
    assert found.predicted is None
    assert reason in found.refused


def test_every_row_is_answered_once() -> None:
    rows = [row(f"new-{n}", value=value) for n, value in enumerate(("1", "", "3"))]
    assert sorted(found.id for found in predict_rows(rows, CONTEXT)) == ["new-0", "new-1", "new-2"]


def test_a_fitted_row_is_predicted_without_its_group() -> None:
    """An accelerator said to be three times as fast as its figures does not pull its own answer."""
    rows = [
        row(f"OW0000{n}", accelerator=name, value=value)
        for n, (name, value) in enumerate(
            (("L4", "220"), ("L40S", "790"), ("H100 PCIe 80GB", "1150"), ("H200 SXM5 141GB", "6000")), start=1
        )
    ]
    found = predicted(*rows)["OW00004"]
    assert isinstance(found.predicted, float)
    assert found.predicted < 3500


def test_the_files_are_made_from_rows_and_are_the_same_each_time() -> None:
    rows = [
        row(f"R{n:03d}", accelerator=name) for n, name in enumerate(("L4", "L40S", "H100 SXM5 80GB"), start=1)
    ]
    files = calibrate(rows, seed().accelerators)
    assert files == calibrate(rows, seed().accelerators)
    table = list(csv.DictReader(StringIO(files["rates.csv"])))
    assert {line["device"] for line in table} == {"L4", "L40S", "H100 SXM5 80GB"}
    spans = list(csv.DictReader(StringIO(files["rates_fitted.csv"])))
    assert [(span["prefix"], span["first"], span["last"]) for span in spans] == [("R", "1", "3")]
    assert "MLPerf Inference v4.1" in files["rates_sources.csv"]


def test_whole_accelerators_and_models_are_left_out_and_unreadable_rows_skipped() -> None:
    """Rates that follow the figures of the cards are found again without the card, and without the model."""
    rates = {"L4": 400, "L40S": 1200, "A100 SXM4 80GB": 1250, "H100 SXM5 80GB": 2900, "H200 SXM5 141GB": 3000}
    rows = [
        row(
            f"{card}-{gmacs}", accelerator=card, model=f"vit_{gmacs}_patch16_224", domain="vision_inference",
            input="224x224", precision="AMP fp16", framework_or_engine="PyTorch 2.9.1 eager", batch="256",
            gmacs_or_tflops_per_item=f"{gmacs} GMACs", value=f"{17 * rate / gmacs:.1f}", notes="",
        )
        for card, rate in rates.items()
        for gmacs in (1.3, 4.6, 8.0, 17.0, 31.0, 60.0, 120.0)
    ]  # fmt: skip
    found = {cross.left_out: cross for cross in cross_validation([*rows, row("broken", value="")], CONTEXT)}
    assert set(found) == {"accelerator", "model, work per item known"}
    assert {cross.errors.rows for cross in found.values()} == {len(rows)}
    assert found["model, work per item known"].errors.median_pct < 15
    assert found["accelerator"].errors.median_pct < 60


def test_a_row_that_cannot_be_read_stops_the_making() -> None:
    with pytest.raises(ValueError, match=r".+"):
        calibrate([row("R001", value="")], seed().accelerators)
