"""The fit finds the ratios that made the numbers, and its leave-out figures equal fits without the rows."""

import math

import numpy as np
import pytest

from quotes.sizing.rates.devices import Device
from quotes.sizing.rates.effects import predict, prior_mean, summed
from quotes.sizing.rates.fitting import Sample, fit
from quotes.sizing.rates.situation import Situation

DEVICES = {
    name: Device(name, "Ada Lovelace", bf16, 2 * bf16, 2 * bf16, bf16 / 4, bandwidth)
    for name, bf16, bandwidth in (("small", 121.0, 300.0), ("middle", 181.0, 864.0), ("large", 362.0, 864.0))
}


def situation(model: str, device: str, engine: str = "engine a") -> Situation:
    return Situation(model, "224x224", "infer", "items", "vit", device, device, "fp16", engine, gmacs=17.0)


def made(model: str, device: str, ratio: float, engine: str = "engine a") -> Sample:
    """A row that obeys the catalog figures times `ratio`."""
    s = situation(model, device, engine)
    return Sample(s, DEVICES[device], prior_mean(s, DEVICES[device]) + math.log(ratio))


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    found = [made(f"model {n}", device, 100 + 10 * n) for n in range(6) for device in DEVICES]
    return found + [made(f"model {n}", "large", 1.5 * (100 + 10 * n), "engine b") for n in range(6)]


def test_ratios_of_software_are_found(samples: list[Sample]) -> None:
    ratios = fit(samples).ratios
    plain = predict(situation("model 1", "large"), DEVICES["large"], ratios)
    tuned = predict(situation("model 1", "large", "engine b"), DEVICES["large"], ratios)
    assert math.exp(tuned.value - plain.value) == pytest.approx(1.5, rel=0.05)


def test_a_pair_that_was_never_measured_follows_the_catalog_figures(samples: list[Sample]) -> None:
    without = [s for s in samples if (s.situation.model, s.device.name) != ("model 3", "small")]
    ratios = fit(without).ratios
    expected = made("model 3", "small", 130).log_rate
    assert predict(situation("model 3", "small"), DEVICES["small"], ratios).value == pytest.approx(
        expected, abs=0.08
    )


def test_how_much_the_size_of_a_model_weighs_is_learned() -> None:
    """One item at a time, kernel starts hide much of the work: sixteen times the work costs four times the time."""
    found = [
        Sample(
            s := situation(f"model {gmacs:g}", device)._replace(gmacs=gmacs, batch=1.0),
            DEVICES[device],
            prior_mean(s._replace(gmacs=None), DEVICES[device]) - 0.5 * math.log(gmacs),
        )
        for gmacs in (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0)
        for device in DEVICES
    ]
    known = [s for s in found if s.situation.gmacs != 64.0]
    unseen = next(s for s in found if s.situation.gmacs == 64.0)
    value = predict(unseen.situation, unseen.device, fit(known).ratios).value
    assert value == pytest.approx(unseen.log_rate, abs=0.25)
    # The catalog figures alone take nearly all of the work for time.
    assert prior_mean(unseen.situation, unseen.device) < unseen.log_rate - 1


def test_leaving_out_equals_fitting_without(samples: list[Sample]) -> None:
    """Without the reweighting of odd rows, which made-up rows do not need, both are the same computation."""
    chosen = [index for index, s in enumerate(samples) if s.group == samples[0].group]
    full = fit(samples)
    without = fit([s for index, s in enumerate(samples) if index not in chosen])
    residual = full.left_out(lambda s: s.group)
    for index in chosen:
        s = samples[index]
        alone = s.log_rate - predict(s.situation, s.device, without.ratios).value
        assert residual[index] == pytest.approx(alone, abs=0.01)


def test_uncertainty_grows_when_a_group_is_left_out(samples: list[Sample]) -> None:
    full = fit(samples)
    seen = np.array([predict(s.situation, s.device, full.ratios).spread for s in samples])
    assert (full.spread_left_out(lambda s: s.group) > seen).all()
    assert (full.spread_left_out(lambda s: s.situation.model) > full.spread_left_out(lambda s: s.group)).all()


def test_an_odd_row_moves_its_neighbours_little(samples: list[Sample]) -> None:
    odd = made("model 2", "middle", 120 * 30)
    with_odd = fit([*samples, odd._replace(situation=odd.situation._replace(named="odd machine"))])
    before = predict(situation("model 2", "large"), DEVICES["large"], fit(samples).ratios).value
    after = predict(situation("model 2", "large"), DEVICES["large"], with_odd.ratios).value
    assert abs(after - before) < math.log(1.25)


def test_a_level_that_nobody_measured_has_ratio_one() -> None:
    empty = {kind: {} for kind in ("engine", "device")}
    found = summed([("engine", "never seen", 1.0)], empty)
    assert found.value == 0
    assert found.spread == pytest.approx(1.0)
