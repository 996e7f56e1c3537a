"""The palette equals the style sheet, and both schemes can be read."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from configurator.palette import LIGHT, SERIES

TOKENS = Path(__file__).resolve().parents[2] / "static" / "css" / "tokens.css"
PAIRS = {
    name: (light, dark)
    for name, light, dark in re.findall(
        r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", TOKENS.read_text()
    )
}
SCHEMES = pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
GROUNDS = ("paper", "paper-sunk", "paper-field", "accent-wash", "warning-wash", "refusal-wash")


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_agrees_with_the_standards_examples() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_the_light_colours_are_those_of_the_style_sheet() -> None:
    assert {name: PAIRS[name][0] for name in LIGHT} == LIGHT


def test_every_colour_has_a_light_and_a_dark_half() -> None:
    named = set(re.findall(r"^\s+--([\w-]+): (?:light-dark|#|rgb|hsl)", TOKENS.read_text(), re.M))
    assert named == set(PAIRS)


@SCHEMES
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("text", ["ink", "ink-quiet", "accent", "accent-strong", "warning", "refusal"])
def test_text_reads_on_every_ground(text: str, ground: str, scheme: int) -> None:
    assert contrast(PAIRS[text][scheme], PAIRS[ground][scheme]) >= 4.5


@SCHEMES
@pytest.mark.parametrize("ground", ["accent", "accent-strong"])
def test_text_reads_on_a_button(ground: str, scheme: int) -> None:
    assert contrast(PAIRS["on-accent"][scheme], PAIRS[ground][scheme]) >= 4.5


@SCHEMES
@pytest.mark.parametrize("edge", ["line-strong", *(name for name in SERIES if name != "free")])
def test_edges_and_series_stand_out_from_paper(edge: str, scheme: int) -> None:
    ground = "paper-field" if edge == "line-strong" else "paper"
    assert contrast(PAIRS[edge][scheme], PAIRS[ground][scheme]) >= 3


def test_series_that_meet_differ_without_colour() -> None:
    names = list(SERIES)
    for one, other in pairwise(names):
        same_grey = contrast(SERIES[one].colour, SERIES[other].colour) < 1.5
        assert SERIES[one].pattern != SERIES[other].pattern or not same_grey
