"""Drawings: true to scale, readable without colour or sight, alike on the page and in the PDF."""

import logging
import re
from decimal import Decimal
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weasyprint import HTML

from catalog.quantity import Message, Quantity
from configurator.palette import LIGHT
from configurator.workload import Site
from quotes.documents.drawings import (
    UNIT,
    Words,
    cost_curve,
    interval_bar,
    memory_bar,
    network_topology,
    placement_map,
    rack_elevation,
    staircase,
    tornado_chart,
)
from quotes.documents.svg import clip, nice_ticks
from quotes.documents.tornado_chart import spread_ticks
from quotes.sizing.hardware.compose import build_system
from quotes.sizing.hardware.placing import Shape, seat
from quotes.sizing.results import (
    CliffMap,
    CliffStep,
    CostYears,
    GrowthPhase,
    MemoryBreakdown,
    RackPlacement,
    Swing,
    SystemBuild,
    Tornado,
)
from tests.sizing.hardware import ASSUMPTIONS, named, seed, serving, train, training
from tests.sizing.money import candidate, load

SVG = "{http://www.w3.org/2000/svg}"
ROOT = Path(__file__).resolve().parents[2]
RACK = RackPlacement(
    units_total=48,
    items=(
        ("Server A & B", 8, "node"),
        ("Server A & B", 8, "node"),
        ("Leaf <1>", 1, "fabric"),
        ("Store", 4, "storage"),
    ),
    power_w=21_000,
    weight_kg=390,
    floor_kg_m2=406,
    cooling="air",
)
MEMORY = MemoryBreakdown(
    total_gib=140, weights_gib=66, kv_gib=40, activations_gib=6, runtime_gib=8, free_gib=20
)
SHORT = MemoryBreakdown(total_gib=80, weights_gib=66, kv_gib=30, runtime_gib=8, free_gib=-24)
CURVE = CostYears(
    months=tuple(range(37)),
    own_eur=tuple(196_000.0 + 2400 * month for month in range(37)),
    cloud_eur=tuple(11_500.0 * month for month in range(37)),
)
HAVE = candidate(load(capacity_factor=1.4), price="100000")
STEPS = CliffMap(
    today=Quantity(value=300, unit="people", digits=15),
    first=0.25,
    steps=(
        CliffStep(demand=0.7, nodes=1, accelerators=2, price_eur=Decimal(60_000)),
        CliffStep(demand=1.4, nodes=1, accelerators=4, price_eur=Decimal(100_000)),
        CliffStep(demand=2.8, nodes=2, accelerators=8, price_eur=Decimal(200_000)),
    ),
    words=(Message.of("One more server above 420 people."),),
)
SWINGS = Tornado(
    compares=True,
    base_eur=-20_000,
    years=3,
    swings=(
        Swing(
            key="cloud_price",
            label=Message.of("Price of the cloud"),
            low=Quantity(value=-25, unit="%"),
            high=Quantity(value=25, unit="%"),
            low_eur=-90_000,
            high_eur=50_000,
        ),
        Swing(
            key="horizon",
            label=Message.of("Years of use"),
            low=Quantity(value=2, unit="years"),
            high=Quantity(value=4, unit="years"),
            low_eur=-22_000,
            high_eur=-25_000,
        ),
    ),
)
YEARS = tuple(
    GrowthPhase(year=year, demand_factor=1.3**year, gpus=4, nodes=1, note=Message.of("–"))
    for year in range(4)
)
H200 = "H200 SXM5 141GB"


def system(servers: int) -> SystemBuild:
    built = build_system(
        named(H200), named("SYS-821GE-TNHR"), servers * 8, (training(H200, servers * 8),),
        train(site=Site(feed_amps=63)), seed(), ASSUMPTIONS,
    )  # fmt: skip
    assert isinstance(built, SystemBuild)
    return built


def seats():
    loads = (serving(H200, 16, 4), serving(H200, 3, 1, name="embeddings"), training(H200, 8, name="nightly"))
    return seat(loads, 19, Shape(3, 8))


DRAWINGS = {
    "racks": rack_elevation((RACK, RACK)),
    "network": network_topology(system(16)),
    "single switch": network_topology(system(4), key="one-switch"),
    "no switch": network_topology(system(1), key="no-switch"),
    "memory": memory_bar(MEMORY),
    "short memory": memory_bar(SHORT, key="short"),
    "cost": cost_curve(CURVE, 21.5, (17, 29)),
    "staircase": staircase(STEPS, HAVE, YEARS),
    "staircase that ends": staircase(STEPS.model_copy(update={"last": Message.of("full")}), HAVE, key="ends"),
    "tornado": tornado_chart(SWINGS),
    "own cost only": cost_curve(CURVE.model_copy(update={"cloud_eur": ()}), key="own"),
    "placement": placement_map(seats(), Shape(3, 8)),
    "promise kept": interval_bar(0.9, 1.8, 2.0, unit="s", less_is_better=True, key="kept"),
    "promise without a wish": interval_bar(21, 31, None, unit="tokens/s", less_is_better=False, key="free"),
}


def parse(drawing: str) -> ElementTree.Element:
    return ElementTree.fromstring(drawing)  # noqa: S314 (our own text)


def texts(drawing: str) -> list[str]:
    return [element.text or "" for element in parse(drawing).iter(f"{SVG}text")]


@pytest.mark.parametrize("drawing", DRAWINGS.values(), ids=DRAWINGS)
def test_every_drawing_speaks(drawing: str) -> None:
    root = parse(drawing)
    assert root.get("role") == "img"
    ids = (root.get("aria-labelledby") or "").split()
    spoken = {
        element.get("id"): element.text for element in root if element.tag in {f"{SVG}title", f"{SVG}desc"}
    }
    assert set(ids) == set(spoken)
    assert all(spoken.values())


@pytest.mark.parametrize("drawing", DRAWINGS.values(), ids=DRAWINGS)
def test_no_drawing_needs_a_style_attribute_or_another_file(drawing: str) -> None:
    assert "style=" not in drawing
    assert "href" not in drawing
    assert "url(" not in drawing
    assert "<script" not in drawing


def tokens() -> dict[str, str]:
    """Class of the style sheet to the token that colours it."""
    sheet = (ROOT / "static/css/components.css").read_text()
    return dict(re.findall(r"\.((?:fill|stroke)-[\w-]+) { (?:fill|stroke): var\(--([\w-]+)\)", sheet))


@pytest.mark.parametrize("drawing", DRAWINGS.values(), ids=DRAWINGS)
def test_page_and_pdf_paint_every_mark_alike(drawing: str) -> None:
    """The page reads the class, the PDF the attribute: both mean the same colour."""
    colours = tokens()
    for element in parse(drawing).iter():
        for name in (element.get("class") or "").split():
            painted = element.get(name.split("-")[0], "")
            assert painted == LIGHT[colours[name]], f"{name} is {colours[name]}, the attribute {painted}"


@pytest.mark.parametrize("drawing", DRAWINGS.values(), ids=DRAWINGS)
def test_nothing_is_drawn_outside_the_picture(drawing: str) -> None:
    root = parse(drawing)
    width, height = float(root.get("width")), float(root.get("height"))
    for element in root.iter(f"{SVG}rect"):
        x, y = float(element.get("x")), float(element.get("y"))
        assert x >= -0.1
        assert x + float(element.get("width")) <= width + 0.1
        assert y >= -2
        assert y + float(element.get("height")) <= height + 0.1
    for element in root.iter(f"{SVG}text"):
        assert 0 <= float(element.get("y")) <= height


def test_the_pdf_draws_them_without_complaint(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="weasyprint"):
        pdf = HTML(string="".join(f"<figure>{drawing}</figure>" for drawing in DRAWINGS.values())).write_pdf()
    assert pdf.startswith(b"%PDF")
    assert not caplog.records


# ── racks ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_parts_have_their_true_height() -> None:
    root = parse(rack_elevation((RACK,)))
    fronts = [group.find(f"{SVG}rect") for group in root.iter(f"{SVG}g")]
    heights = [float(front.get("height")) + 1.5 for front in fronts]
    assert heights == [units * UNIT for _, units, _ in RACK.items]
    bottoms = [float(front.get("y")) + float(front.get("height")) for front in fronts]
    assert bottoms == sorted(bottoms, reverse=True)  # from the bottom up, none on another
    assert bottoms[0] - bottoms[1] == pytest.approx(8 * UNIT)


def test_equal_racks_are_drawn_once() -> None:
    drawn = rack_elevation((RACK,) * 8)
    assert "8 racks like this" in texts(drawn)
    assert len(re.findall("<g>", drawn)) == len(RACK.items)


def test_names_are_escaped_and_told_in_full() -> None:
    drawn = rack_elevation((RACK,))
    assert "Server A & B" in [element.text for element in parse(drawn).iter(f"{SVG}title")]
    description = parse(drawn).find(f"{SVG}desc").text
    assert "2 × Server A & B" in description
    assert "Leaf <1>" in description


def test_no_racks_no_drawing() -> None:
    assert rack_elevation(()) == ""


# ── network ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_network_says_its_counts() -> None:
    said = texts(network_topology(system(16)))
    assert {"spine switches: 2", "leaf switches: 4", "servers: 16"} <= set(said)
    assert said.count("128 × 400 Gbit/s") == 2
    assert "…" in said


def test_no_letter_hides_behind_a_shared_job() -> None:
    """The letters of replicas stand above the corners in which jobs stand that run outside their hours."""
    loads = (serving(H200, 2, 2), training(H200, 2, 2, name="nightly"))
    drawn = parse(placement_map(seat(loads, 2, Shape(1, 2)), Shape(1, 2)))
    (label,) = (float(mark.get("y")) for mark in drawn.iter(f"{SVG}text") if mark.text == "A1")
    corners = [float(mark.get("y")) for mark in drawn.iter(f"{SVG}rect") if mark.get("width") == "10.0"]
    assert len(corners) == 2
    assert label < min(corners)


def test_the_other_networks_hang_below_the_servers() -> None:
    """Two ports of every server on a pair of switches; one port of management for all that is managed."""
    built = system(16)
    said = texts(network_topology(built))
    assert {"data switches: 2", "management switches: 2", "32 × 200 Gbit/s", "non-blocking"} <= set(said)
    quantity = {line.name: line.quantity for line in built.lines if line.group in {"network", "management"}}
    links = {network.kind: network.links for network in built.networks}
    assert quantity["MFS1S00-H010V 200G AOC 10m"] == links["in_band"]
    assert quantity["RJ45 Cat6A 5m"] == links["management"]


def test_a_single_server_is_drawn_on_switches_that_are_there() -> None:
    one = build_system(
        named(H200), named("SYS-821GE-TNHR"), 8, (serving(H200, 8, 8),), train(), seed(), ASSUMPTIONS
    )
    drawn = network_topology(one)
    assert {"servers: 1", "switches that are there", "management switch"} <= set(texts(drawn))
    assert "stroke-dasharray" in drawn
    assert network_topology(one.model_copy(update={"networks": ()})) == ""


# ── memory ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_bar_is_to_scale() -> None:
    root = parse(memory_bar(MEMORY, width=700))
    bars = [rect for rect in root.iter(f"{SVG}rect") if rect.get("height") == "24.0"]
    assert [float(bar.get("width")) for bar in bars] == pytest.approx([66 * 5, 40 * 5, 6 * 5, 8 * 5, 20 * 5])


def test_what_does_not_fit_runs_past_the_limit() -> None:
    drawn = memory_bar(SHORT, width=520)
    limit = next(line for line in parse(drawn).iter(f"{SVG}line") if line.get("class") == "stroke-refusal")
    assert float(limit.get("x1")) == pytest.approx(520 * 80 / 104)
    assert "free" not in " ".join(texts(drawn))


# ── cost ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_lines_are_labelled_where_they_end() -> None:
    drawn = cost_curve(CURVE, 21.5)
    assert {"own system", "rented", "equal in month 22"} <= set(texts(drawn))
    dashes = [line.get("stroke-dasharray") for line in parse(drawn).iter(f"{SVG}polyline")]
    assert dashes == ["7 5", None]  # rented dashed, owned solid


def test_a_crossing_beyond_the_chart_is_not_drawn() -> None:
    assert not [words for words in texts(cost_curve(CURVE, 99)) if "equal" in words]


@given(st.floats(1, 1e8))
def test_ticks_are_round_and_reach_the_top(most: float) -> None:
    ticks = nice_ticks(most)
    assert ticks[0] == 0
    assert ticks[-1] >= most > ticks[-2]
    assert 3 <= len(ticks) <= 6
    leading = f"{ticks[1]:.6e}".split("e")[0]
    assert float(leading) in {1, 2, 2.5, 5}


# ── promises ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("less_is_better", "promised"), [(True, 20), (False, 10)])
@pytest.mark.parametrize("wish", [None, 5.0, 40.0])
def test_the_thick_end_is_the_promise(less_is_better: bool, promised: float, wish: float | None) -> None:
    root = parse(interval_bar(10, 20, wish, unit="s", less_is_better=less_is_better, key="speed", width=300))
    thick = next(line for line in root.iter(f"{SVG}line") if line.get("class") == "stroke-accent")
    pixels = 300 / (max(20, wish or 0) * 1.08)
    assert float(thick.get("x1")) == pytest.approx(promised * pixels, abs=0.1)
    dashed = [line for line in root.iter(f"{SVG}line") if line.get("stroke-dasharray")]
    assert [float(mark.get("x1")) for mark in dashed] == pytest.approx(
        [wish * pixels] if wish else [], abs=0.1
    )
    assert texts(DRAWINGS["promise kept"]) == ["asked: 2 s"]


# ── placement and words ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_map_tells_who_sits_where() -> None:
    said = texts(placement_map(seats(), Shape(3, 8)))
    assert {"A1", "A2", "A3", "A4", "B1", "B2", "B3"} <= set(said)
    assert said.count("C") == 8  # the job's letter on every accelerator it borrows
    assert "C: nightly, outside its hours" in said


def test_long_maps_end_with_a_count() -> None:
    places = seat((serving(H200, 160, 8),), 160, Shape(20, 8))
    assert "and 4 more servers" in texts(placement_map(places, Shape(20, 8)))


def test_words_and_numbers_come_from_the_reader() -> None:
    dutch = Words(say=lambda message: f"«{message}»", number=lambda quantity: f"#{quantity.value:g}")
    said = texts(rack_elevation((RACK,), dutch))
    assert "«Rack»" in said
    assert "#21 · #390 · #406" in said
    assert str(Message.of("x")) == "x"


@pytest.mark.parametrize(
    ("words", "width", "shown"), [("short", 100, "short"), ("a rather long name", 40, "a ra…")]
)
def test_names_are_cut_to_their_place(words: str, width: float, shown: str) -> None:
    assert clip(words, width) == shown


# ── the staircase ───────────────────────────────────────────────────────────────────────────────────────────────


def test_the_staircase_says_its_steps_and_marks_today_and_the_years() -> None:
    drawn = staircase(STEPS, HAVE, YEARS)
    shown = [node.text for node in ElementTree.fromstring(drawn).iter(f"{SVG}text")]  # noqa: S314
    assert {"your peak today", "year 1", "year 2", "year 3", "people who may use it"} <= set(shown)
    said = ElementTree.fromstring(drawn).find(f"{SVG}desc").text  # noqa: S314
    assert "2 servers, 8 GPUs: Up to 840 people: 200,000 EUR." in said


def test_the_thick_stretch_goes_on_as_far_as_the_proposal_does() -> None:
    """The search stopped at 1.1 times today's load; the same system carries 1.4 times."""
    stopped = HAVE.model_copy(update={"headroom_factor": 1.1})
    stretches = [
        [
            mark.get("x2")
            for mark in parse(staircase(STEPS, one)).iter(f"{SVG}line")
            if mark.get("stroke-width") == "6"
        ]
        for one in (HAVE, stopped)
    ]
    assert stretches[0]
    assert stretches[0] == stretches[1]


def test_a_staircase_that_ends_says_so() -> None:
    assert "not possible beyond this" in DRAWINGS["staircase that ends"]
    assert "not possible beyond this" not in DRAWINGS["staircase"]


# ── what moves the outcome ──────────────────────────────────────────────────────────────────────────────────────


def test_the_tornado_names_every_input_and_both_its_ends() -> None:
    shown = [node.text for node in ElementTree.fromstring(DRAWINGS["tornado"]).iter(f"{SVG}text")]  # noqa: S314
    assert {"Price of the cloud", "−25 %", "+25 %", "Years of use"} <= set(shown)
    assert "owning and renting cost the same" in shown
    assert "2 years, 4 years" in shown, "both ends lie on one side of the outcome"


def test_the_two_ends_differ_without_colour() -> None:
    one = SWINGS.model_copy(update={"swings": SWINGS.swings[:1]})
    boxes = re.findall(r"<rect [^>]*fill=\"([^\"]*)\"", tornado_chart(one))
    assert len(set(boxes)) == 2
    assert tornado_chart(one).count("<line") > 8, "the upper end is hatched"


@given(low=st.floats(-1e7, 1e7), width=st.floats(1, 1e7))
def test_ticks_cover_both_sides_of_zero(low: float, width: float) -> None:
    ticks = spread_ticks(low, low + width)
    high = low + width
    assert ticks[0] <= low + 1e-6 * max(1, abs(low))
    assert ticks[-1] >= high - 1e-6 * max(1, abs(high))
    assert 2 <= len(ticks) <= 8
