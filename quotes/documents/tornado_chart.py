"""The chart of what moves the outcome: a bar per input from its lower to its upper end, widest on top."""

from collections.abc import Callable, Sequence
from math import ceil, floor

from catalog.quantity import Message, Quantity, noop
from quotes.documents.svg import (
    ENGLISH,
    SMALL,
    WIDE_LETTER,
    Words,
    drawing,
    hatch,
    line,
    nice_ticks,
    rect,
    text,
)
from quotes.sizing.results import Swing, Tornado

type Place = Callable[[float], float]
"""From euro to a horizontal place."""

ROW, BAR, FLAT_ROW = 34.0, 16.0, 25.0
RIGHT, TOP, BOTTOM = 16.0, 40.0, 46.0
ENDS = 64.0  # room beside the bars for what the input is at either end


def tornado_chart(
    found: Tornado, words: Words = ENGLISH, *, key: str = "tornado", width: float = 720, row: float = ROW
) -> str:
    """Solid where the input is lower, hatched where it is higher; a thick line is the outcome as calculated.

    `row` is the height of an input.
    """
    names = [words.say(swing.label) for swing in found.swings]
    left = max(len(name) for name in names) * (SMALL + 1) * WIDE_LETTER * 0.92 + 12 + ENDS
    values = [found.base_eur, *(end for swing in found.swings for end in (swing.low_eur, swing.high_eur))]
    ticks = spread_ticks(min(values), max(values))
    height = TOP + row * len(names) + BOTTOM
    wide = width - left - RIGHT - ENDS

    def x(euro: float) -> float:
        return left + wide * (euro - ticks[0]) / (ticks[-1] - ticks[0])

    floor_y = TOP + row * len(names)
    marks = _axis(x, ticks, floor_y, words)
    if ticks[0] < 0 < ticks[-1] and found.compares:
        marks.append(line(x(0), TOP - 6, x(0), floor_y, "ink", dash="5 4"))
        label = words.say(Message.of(noop("owning and renting cost the same")))
        marks.append(text(x(0), floor_y + 38, label, size=SMALL, anchor="middle"))
    for number, (swing, name) in enumerate(zip(found.swings, names, strict=True)):
        y = TOP + row * number + (row - BAR) / 2
        marks.append(text(8, y + BAR - 4, name, size=SMALL + 1))
        marks += _bar(swing, found.base_eur, x, y, words)
    base = x(found.base_eur)
    marks.append(line(base, TOP - 6, base, floor_y, "ink", thick=2))
    label = words.say(
        Message.of(
            noop("as calculated: {amount}"), amount=Quantity(value=found.base_eur, unit="EUR", digits=3)
        )
    )
    half = len(label) * SMALL * WIDE_LETTER / 2
    middle = min(max(base, half + 4), width - half - 4)
    marks.append(text(middle, TOP - 12, label, size=SMALL, anchor="middle", bold=True))
    title = words.say(Message.of(noop("What moves the outcome")))
    return drawing(key, width, height, title, _sentence(found, words), marks)


def spread_ticks(low: float, high: float) -> list[float]:
    """Round numbers from below `low` to above `high`, which may lie on either side of zero."""
    steps = nice_ticks(max(high - low, 1e-9), 4)
    step = steps[1] - steps[0]
    first, last = floor(low / step), ceil(high / step)
    return [step * number for number in range(first, max(last, first + 1) + 1)]


def _axis(x: Place, ticks: Sequence[float], floor_y: float, words: Words) -> list[str]:
    marks = [line(x(ticks[0]), floor_y, x(ticks[-1]), floor_y, "ink")]
    for euro in ticks:
        marks.append(line(x(euro), floor_y, x(euro), floor_y + 5, "ink"))
        label = words.amount(euro, "EUR")
        marks.append(text(x(euro), floor_y + 18, label, size=SMALL, anchor="middle", colour="ink-quiet"))
    return marks


def _bar(swing: Swing, base: float, x: Place, y: float, words: Words) -> list[str]:
    marks: list[str] = []
    named: dict[bool, list[tuple[float, str]]] = {False: [], True: []}  # by the side of the base
    for value, quantity, is_higher in (
        (swing.low_eur, swing.low, False),
        (swing.high_eur, swing.high, True),
    ):
        start, end = sorted((x(base), x(value)))
        marks.append(rect(start, y, end - start, BAR, "paper" if is_higher else "accent", "accent"))
        if is_higher:
            marks.append(hatch(start, y, end - start, BAR, "accent", gap=5))
        right = value > base or (value == base and is_higher)
        named[right].append((x(value), end_name(quantity, swing, words)))
    for right, ends in named.items():
        if ends:
            outer = max(ends)[0] + 5 if right else min(ends)[0] - 5
            label, anchor = ", ".join(name for _x, name in ends), "start" if right else "end"
            marks.append(text(outer, y + BAR - 4, label, size=SMALL, anchor=anchor, colour="ink-quiet"))
    return marks


def end_name(quantity: Quantity, swing: Swing, words: Words) -> str:
    """What an input is at one end; a change of it carries its sign."""
    sign = "+" if swing.low.value < 0 < quantity.value else ""
    return sign + words.number(quantity).replace("-", "−")


def _sentence(found: Tornado, words: Words) -> str:
    said = [words.say(message) for message in found.words]
    for swing in found.swings:
        facts = Message.of(
            noop("{input}: {low} at {lower}, {high} at {upper}."),
            input=swing.label,
            low=Quantity(value=swing.low_eur, unit="EUR"),
            high=Quantity(value=swing.high_eur, unit="EUR"),
            lower=end_name(swing.low, swing, words),
            upper=end_name(swing.high, swing, words),
        )
        said.append(words.say(facts))
    return " ".join(said)
