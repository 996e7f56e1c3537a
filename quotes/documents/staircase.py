"""The chart of the cliff map: price over demand as a staircase, with today, the growth years and this proposal."""

from collections.abc import Sequence

from catalog.quantity import Message, Quantity, noop
from quotes.documents.svg import (
    ENGLISH,
    SMALL,
    WIDE_LETTER,
    Words,
    area,
    drawing,
    line,
    nice_ticks,
    path,
    text,
)
from quotes.sizing.cliff import amount_at, carried
from quotes.sizing.results import Candidate, CliffMap, CliffStep, GrowthPhase

AXES = {
    "people": noop("people who may use it"),
    "requests": noop("requests at once"),
    "cameras": noop("number of cameras"),
    "×": noop("times today's load"),
}
LEFT, RIGHT, TOP, BOTTOM = 72.0, 24.0, 44.0, 64.0


class _Plot:
    """From demand and euro to a place in the picture."""

    def __init__(self, drawn: CliffMap, candidate: Candidate, width: float, height: float) -> None:
        self.width, self.height = width, height
        self.first, self.last, self.unit = drawn.first, drawn.steps[-1].demand, drawn.today.unit
        self.last = max(self.last, candidate.headroom_factor, 1.0)
        most = max(*(float(step.price_eur) for step in drawn.steps), float(candidate.price_eur))
        self.ticks = nice_ticks(most * 1.05)

    @property
    def right(self) -> float:
        return self.width - RIGHT

    @property
    def floor(self) -> float:
        return self.height - BOTTOM

    def x(self, demand: float) -> float:
        share = (demand - self.first) / (self.last - self.first)
        return LEFT + (self.right - LEFT) * min(max(share, 0), 1)

    def y(self, euro: float) -> float:
        return TOP + (self.floor - TOP) * (1 - euro / self.ticks[-1])


def staircase(
    drawn: CliffMap,
    candidate: Candidate,
    growth: Sequence[GrowthPhase] = (),
    words: Words = ENGLISH,
    *,
    key: str = "steps",
    width: float = 720,
    height: float = 320,
) -> str:
    """Price over demand; the proposal is a thick stretch from today's demand to the most that it carries."""
    plot = _Plot(drawn, candidate, width, height)
    marks = [*_axes(plot, drawn, words), *_stairs(plot, drawn, words)]
    marks += _proposal(plot, drawn, candidate, words)
    marks += _years(plot, growth, words)
    title = words.say(Message.of(noop("Price by demand")))
    return drawing(key, width, height, title, _sentence(drawn, words), marks)


def _axes(plot: _Plot, drawn: CliffMap, words: Words) -> list[str]:
    marks = []
    for euro in plot.ticks:
        y = plot.y(euro)
        marks.append(line(LEFT, y, plot.right, y, "line" if euro else "ink", thick=0.5 if euro else 1))
        label = words.amount(euro, "EUR")
        marks.append(text(LEFT - 8, y + 4, label, size=SMALL, anchor="end", colour="ink-quiet"))
    today = drawn.today.value
    for amount in nice_ticks(plot.last * today, 6):
        demand = amount / today
        if plot.first <= demand <= plot.last:
            x = plot.x(demand)
            marks.append(line(x, plot.floor, x, plot.floor + 5, "ink"))
            label = words.amount(amount)
            marks.append(text(x, plot.floor + 18, label, size=SMALL, anchor="middle", colour="ink-quiet"))
    marks.append(
        text(
            plot.right, plot.height - 6, axis_name(drawn, words), size=SMALL, anchor="end", colour="ink-quiet"
        )
    )
    return marks


def axis_name(drawn: CliffMap, words: Words) -> str:
    """What the horizontal axis counts."""
    unit = drawn.today.unit
    if text := AXES.get(unit):
        return words.say(Message.of(text))
    per_run = unit.endswith(("tokens", "samples"))
    return words.say(
        Message.of(
            noop("{unit} in one run") if per_run else noop("{unit} at the peak"), unit=words.unit(unit)
        )
    )


def _stairs(plot: _Plot, drawn: CliffMap, words: Words) -> list[str]:
    points, x = [], plot.x(drawn.first)
    for step in drawn.steps:
        y, end = plot.y(float(step.price_eur)), plot.x(step.demand)
        points += [(x, y), (end, y)]
        x = end
    marks = [path(points, "accent", thick=1.75)]
    if drawn.last is not None:
        marks.append(line(x, TOP, x, plot.floor, "refusal", thick=2, dash="2 3"))
        label = words.say(Message.of(noop("not possible beyond this")))
        marks.append(text(x - 6, TOP - 6, label, size=SMALL, anchor="end"))
    return [*marks, *_step_labels(plot, drawn, words)]


def _step_labels(plot: _Plot, drawn: CliffMap, words: Words) -> list[str]:
    """Servers and accelerators above each stretch that is wide enough for the words."""
    marks, x, today = [], plot.x(drawn.first), plot.x(1)
    for step in drawn.steps:
        end = plot.x(step.demand)
        label = step_name(step, words)
        wide = len(label) * SMALL * WIDE_LETTER
        start = today if x <= today < x + 4 + wide else x  # beside the line of today, not through it
        if end - start > wide:
            marks.append(text(start + 4, plot.y(float(step.price_eur)) - 10, label, size=SMALL))
        x = end
    return marks


def step_name(step: CliffStep, words: Words) -> str:
    return f"{words.amount(step.nodes, 'servers', 15)}, {words.amount(step.accelerators, 'GPUs', 15)}"


def _proposal(plot: _Plot, drawn: CliffMap, candidate: Candidate, words: Words) -> list[str]:
    y = plot.y(float(candidate.price_eur))
    today, most = plot.x(1), plot.x(carried(drawn, candidate))
    per_run = plot.unit.endswith(("tokens", "samples"))
    label = words.say(Message.of(noop("your job now") if per_run else noop("your peak today")))
    return [
        line(today, TOP - 4, today, plot.floor, "ink", thick=1, dash="4 4"),
        text(today, TOP - 10, label, size=SMALL, anchor="middle", bold=True),
        line(today, y, most, y, "accent", thick=6),
        area([(today - 7, y), (today, y - 7), (today + 7, y), (today, y + 7)], "ink"),
    ]


def _years(plot: _Plot, growth: Sequence[GrowthPhase], words: Words) -> list[str]:
    """A small triangle below the axis for each year in which the demand is another; names where there is room."""
    marks, free_from = [], 0.0
    for phase in growth:
        if phase.year == 0 or phase.demand_factor == 1 or not plot.first <= phase.demand_factor <= plot.last:
            continue
        x, y = plot.x(phase.demand_factor), plot.floor + 26
        marks.append(area([(x, y), (x - 5, y + 8), (x + 5, y + 8)], "ink"))
        label = words.say(Message.of(noop("year {year}"), year=phase.year))
        half = len(label) * SMALL * WIDE_LETTER / 2
        if x - half > free_from:
            marks.append(text(x, y + 19, label, size=SMALL, anchor="middle"))
            free_from = x + half + 4
    return marks


def _sentence(drawn: CliffMap, words: Words) -> str:
    said = [words.say(message) for message in drawn.words]
    for step in drawn.steps:
        up_to = amount_at(drawn.today, step.demand)
        price = Quantity(value=float(step.price_eur), unit="EUR")
        facts = Message.of(noop("Up to {amount}: {price}."), amount=up_to, price=price)
        said.append(f"{step_name(step, words)}: {words.say(facts)}")
    return " ".join(said)
