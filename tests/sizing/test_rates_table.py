"""The shipped table: sane, complete for what is offered, and cautious about what it does not know."""

import pytest

from configurator.workload import Domain
from quotes.sizing.rates import load_rates, rate_models
from quotes.sizing.rates.devices import device_of
from quotes.sizing.rates.offered import BY_NAME, MODELS
from quotes.sizing.rates.table import DATA, SPREAD_FAR, Base, fitted_rows, load_devices, reach
from quotes.sizing.trace import Badge

from .hardware import named, seed

RATES = load_rates()


def rate(model: str, accelerator: str, *, training: bool = False):
    offered = BY_NAME[model]
    base = Base.of((offered.train if training else offered.run) or offered.run, RATES.ratios)
    device = device_of(named(accelerator))
    return RATES.estimate(base, device, base.on(device, RATES.ratios), with_evidence=True)


@pytest.mark.parametrize(
    ("model", "accelerator", "measured"),
    [
        # medians of published rows of exactly this model and accelerator, kept to one figure on purpose
        ("RetinaNet", "L40S", 780),
        ("RetinaNet", "H100 SXM5 80GB", 1600),
        ("Whisper large-v3", "H200 SXM5 141GB", 1580),
        ("Whisper large-v3", "L4", 121),
        ("BERT-Large (384 tokens)", "A100 SXM4 80GB", 3300),
        ("Wan 2.2 A14B (720p, 5 s)", "H100 SXM5 80GB", 0.00096),
        ("YOLO26s", "Jetson AGX Orin 64GB", 263),
        ("YOLO26m", "T4", 213),
    ],
)
def test_what_was_measured_comes_back(model: str, accelerator: str, measured: float) -> None:
    found = rate(model, accelerator)
    assert found.value == pytest.approx(measured, rel=0.25)
    assert found.low < measured < found.high
    assert found.badge is Badge.MEASURED or model == "RetinaNet"
    assert found.evidence
    assert found.evidence[0].source


@pytest.mark.parametrize(
    ("model", "slower", "faster"),
    [
        ("ViT-L/16", "L4", "L40S"),
        ("ViT-L/16", "A100 SXM4 80GB", "H100 SXM5 80GB"),
        ("Stable Diffusion XL", "H100 SXM5 80GB", "B200 SXM 180GB"),
        ("YOLO26s", "Jetson Orin NX 16GB", "Jetson AGX Orin 64GB"),
        ("DLRM v2", "L4", "L40S"),
        ("3D U-Net", "L4", "H200 SXM5 141GB"),
    ],
)
def test_the_stronger_accelerator_is_faster(model: str, slower: str, faster: str) -> None:
    assert rate(model, slower).value < rate(model, faster).value


def test_an_accelerator_outside_the_measurements_has_a_wider_interval() -> None:
    near, far = rate("BERT-Large (384 tokens)", "L40S"), rate("BERT-Large (384 tokens)", "Gaudi 3")
    assert far.high / far.low > near.high / near.low
    assert far.badge is Badge.EXTRAPOLATED


def test_a_card_of_the_same_table_is_surer_than_one_that_others_measured() -> None:
    one_hand, many = rate("ViT-L/16", "GeForce RTX 5090"), rate("ViT-L/16", "H200 SXM5 141GB")
    assert one_hand.high / one_hand.low < many.high / many.low


def test_errors_grow_faster_than_uncertainty_outside_what_was_measured() -> None:
    assert reach(SPREAD_FAR) == SPREAD_FAR
    assert reach(1.5 * SPREAD_FAR) > 2 * SPREAD_FAR


def test_every_domain_offers_measured_models() -> None:
    offered = rate_models(RATES)
    assert set(offered) == set(Domain)
    assert {model for models in offered.values() for model in models} == set(MODELS)
    assert all(models for models in offered.values())


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_an_offered_model_is_run_as_somebody_measured(model) -> None:
    rows = RATES.rows[model.run.model]
    run = model.run
    assert any((row.variant, row.unit) == (run.variant, run.unit) for row in rows)
    if model.name != "R-GAT":  # published on servers without accelerators only
        assert any((row.engine, row.precision) == (run.engine, run.precision) for row in rows)
    assert model.memory_gb > 0
    assert model.memory_source


@pytest.mark.parametrize(
    "accelerator", [a for a in seed().accelerators if device_of(a).known], ids=lambda a: a.sku
)
def test_no_rate_is_absurd(accelerator) -> None:
    """A transformer never exceeds the arithmetic that the accelerator can do, even at the high end."""
    device = device_of(accelerator)
    base = Base.of(BY_NAME["ViT-L/16"].run, RATES.ratios)
    found = RATES.estimate(base, device, base.on(device, RATES.ratios))
    half_or_full = 2  # consumer cards state either
    roof = half_or_full * (device.bf16_tflops or 0) * 1e12 / (2 * 61.6e9)
    assert 0 < found.low <= found.value <= found.high <= roof


def test_the_files_are_small_and_the_fitted_rows_are_named() -> None:
    assert sum(path.stat().st_size for path in DATA.glob("rates*.csv")) < 400_000
    assert len(fitted_rows()) > 4000
    assert "OW00001" in fitted_rows()


@pytest.mark.parametrize("name", ["V100 SXM2 16GB", "V100 SXM2 32GB", "V100 PCIe 16GB", "V100 PCIe 32GB"])
def test_cards_no_longer_sold_stand_in_measured_rows_under_one_name(name: str) -> None:
    assert device_of(named(name)) == load_devices()["V100"]
