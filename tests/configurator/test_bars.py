"""Memory bars: geometry, limit, and words for those who do not see them."""

from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest
from django.utils.translation import override
from hypothesis import given
from hypothesis import strategies as st

from configurator import bars
from configurator.palette import SERIES

amounts = st.lists(
    st.tuples(st.sampled_from(list(SERIES)), st.floats(0.01, 1e4)),
    min_size=1,
    max_size=6,
    unique_by=lambda p: p[0],
)


def parse(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 (our own drawing)


def segments(svg: str) -> list[tuple[float, float]]:
    return [
        (float(mark.attrib["x"].rstrip("%")), float(mark.attrib["width"].rstrip("%")))
        for mark in parse(svg).findall("svg")
    ]


@given(parts=amounts, total=st.floats(0.1, 1e4))
def test_segments_join_up_and_stay_inside(parts: list[bars.Part], total: float) -> None:
    found = segments(bars.bar_svg(parts, total, "GiB", "Memory"))
    assert len(found) == len(parts)
    left = 0.0
    for x, width in found:
        assert x == pytest.approx(left, abs=0.05)
        left = x + width
    assert left <= 100.1
    used = sum(amount for _, amount in parts)
    assert left == pytest.approx(100 * min(1, used / total), abs=0.2)


@pytest.mark.parametrize(("used", "marked"), [(90, False), (100, False), (120, True)])
def test_a_line_marks_the_limit_that_is_passed(used: float, marked: bool) -> None:
    svg = bars.bar_svg([("weights", used)], 100, "GiB", "")
    line = parse(svg).find("line[@class='bar__limit']")
    assert (line is not None) is marked
    if line is not None:
        assert line.attrib["x1"] == "83.33%"


def test_the_bar_says_what_it_shows() -> None:
    with override("en"):
        svg = bars.bar_svg([("weights", 35.2), ("kv", 58.44)], 140.4, "GiB", "Memory <of> one GPU")
    label = parse(svg).attrib["aria-label"]
    assert label == "Memory <of> one GPU: weights 35.2\u202fGiB, KV cache 58.4\u202fGiB; 140\u202fGiB in all"


def test_a_bar_needs_no_style_sheet_and_no_ids() -> None:
    svg = bars.bar_svg([(name, 10) for name in SERIES], 60, "GiB", "")
    root = parse(svg)
    fills = {
        mark.attrib["class"]: mark.attrib["fill"]
        for mark in root.iter("rect")
        if "fill-" in mark.attrib["class"]
    }
    assert fills == {
        f"fill-{name}": "#fbfaf7" if name == "free" else series.colour for name, series in SERIES.items()
    }
    assert "id=" not in svg
    assert "style=" not in svg


def test_only_parts_that_are_there_are_shown() -> None:
    memory = SimpleNamespace(
        total_gib=80.0,
        weights_gib=70.0,
        optimizer_gib=0.0,
        kv_gib=20.0,
        activations_gib=0.0,
        runtime_gib=3.0,
        free_gib=-13.0,
    )
    assert bars.memory_parts(memory) == [("weights", 70.0), ("kv", 20.0), ("runtime", 3.0)]


@pytest.mark.parametrize("name", SERIES)
def test_swatch_has_the_colour_and_pattern_of_its_series(name: str) -> None:
    bar = parse(bars.bar_svg([(name, 1)], 1, "GiB", ""))
    swatch = parse(bars.swatch_svg(name))
    assert [mark.attrib.get("class") for mark in bar.iter() if mark.tag != "svg"] == [
        mark.attrib.get("class") for mark in swatch.iter() if mark.tag != "svg"
    ]


def test_an_empty_bar_is_a_bar() -> None:
    assert segments(bars.bar_svg([], 0, "GiB", "")) == []
