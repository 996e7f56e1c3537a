"""Charts of a proposal as SVG text: one accelerator's memory, cost over time. The door is `drawings`."""

from collections.abc import Callable, Sequence
from math import ceil

from catalog.quantity import Message, Quantity, noop
from configurator.palette import SERIES
from quotes.documents.svg import (
    ENGLISH,
    SMALL,
    Words,
    area,
    drawing,
    hatch,
    line,
    nice_ticks,
    path,
    rect,
    text,
)
from quotes.sizing.results import CostYears, MemoryBreakdown

LETTER = 0.5  # of the text size: about the width of a letter


# ── memory ──────────────────────────────────────────────────────────────────────────────────────────────────────


def memory_bar(
    memory: MemoryBreakdown, words: Words = ENGLISH, *, key: str = "memory", width: float = 640
) -> str:
    """One accelerator's memory by component, with a legend; what does not fit runs on past the mark of the limit."""
    parts = [(name, getattr(memory, f"{name}_gib")) for name in SERIES]
    parts = [(name, amount) for name, amount in parts if amount > 0]
    scale = max(memory.total_gib, sum(amount for _, amount in parts)) or 1
    marks, x = [], 0.0
    for name, amount in parts:
        wide = width * amount / scale
        marks.append(_segment(name, x, 0, wide, 24))
        x += wide
    limit = width * memory.total_gib / scale
    if limit < width - 1:
        marks.append(line(limit, -2, limit, 28, "refusal", thick=2))
    columns = 3
    for index, (name, amount) in enumerate(parts):
        at_x, at_y = width / columns * (index % columns), 46 + 22 * (index // columns)
        marks.append(_segment(name, at_x, at_y - 10, 14, 12))
        label = words.say(Message.of(SERIES[name].label))
        marks.append(text(at_x + 20, at_y, f"{label} {words.amount(amount, 'GiB')}"))
    title = words.say(Message.of(noop("Memory of one accelerator")))
    spoken = [
        f"{words.say(Message.of(SERIES[name].label))} {words.amount(amount, 'GiB')}" for name, amount in parts
    ]
    total = words.say(
        Message.of(
            noop("{parts}; {total} in all."),
            parts=", ".join(spoken),
            total=Quantity(value=memory.total_gib, unit="GiB"),
        )
    )
    return drawing(key, width, 30 + 22 * ceil(len(parts) / columns), title, total, marks)


def _segment(name: str, x: float, y: float, width: float, height: float) -> str:
    """A component in its colour, with the pattern that tells it apart in grey print."""
    pattern = SERIES[name].pattern
    free = name == "free"
    marks = [rect(x, y, width, height, "paper" if free else name, "line-strong" if free else "paper")]
    if pattern == "dots":
        marks += [
            line(
                x + 3, y + height * part, x + width - 2, y + height * part, "paper", thick=1.6, dash="1.6 4.4"
            )
            for part in (0.3, 0.7)
        ]
    elif pattern == "upright":
        at = x + 4
        while at < x + width - 1:
            marks.append(line(at, y, at, y + height, "paper"))
            at += 5
    elif pattern in {"falling", "hatched"}:
        marks.append(hatch(x, y, width, height, "free" if free else "paper"))
    return "".join(marks)


# ── cost over time ──────────────────────────────────────────────────────────────────────────────────────────────


def cost_curve(
    curve: CostYears,
    break_even_month: float | None = None,
    break_even_band: tuple[float, float] | None = None,
    words: Words = ENGLISH,
    *,
    key: str = "cost",
    width: float = 720,
    height: float = 300,
) -> str:
    """Cumulative euro over the months: owned solid, rented dashed, leased dotted, and where the first two cross."""
    if not curve.months:
        return ""
    left, right, top, bottom = 72.0, 104.0, 24.0, 40.0
    last = max(curve.months[-1], 1)
    ticks = nice_ticks(max((*curve.own_eur, *curve.cloud_eur, *curve.lease_eur)))

    def at(month: float, euro: float) -> tuple[float, float]:
        return (
            left + (width - left - right) * month / last,
            top + (height - top - bottom) * (1 - euro / ticks[-1]),
        )

    marks = _axes(at, ticks, last, words)
    if break_even_band:
        low, high = (min(max(month, 0), last) for month in break_even_band)
        marks.append(area([at(low, 0), at(high, 0), at(high, ticks[-1]), at(low, ticks[-1])], "paper-sunk"))
    if break_even_month is not None and break_even_month <= last:
        x, _ = at(break_even_month, 0)
        marks.append(line(x, top, x, height - bottom, "ink-quiet", dash="4 4"))
        said = Message.of(noop("equal in month {month}"), month=Quantity(value=break_even_month, digits=2))
        marks.append(text(x + 6, top + 12, words.say(said), size=SMALL, colour="ink-quiet"))
    own, cloud = words.say(Message.of(noop("own system"))), words.say(Message.of(noop("rented")))
    ends = [(curve.own_eur[-1], own)]
    if curve.cloud_eur:
        marks.append(
            path([at(m, e) for m, e in zip(curve.months, curve.cloud_eur, strict=True)], "accent", dash="7 5")
        )
        ends.append((curve.cloud_eur[-1], cloud))
    if curve.lease_eur:
        marks.append(
            path([at(m, e) for m, e in zip(curve.months, curve.lease_eur, strict=True)], "ink", dash="2 4")
        )
        ends.append((curve.lease_eur[-1], words.say(Message.of(noop("leased")))))
    marks.append(
        path([at(m, e) for m, e in zip(curve.months, curve.own_eur, strict=True)], "accent", thick=2.5)
    )
    marks += _ends(ends, lambda euro: at(last, euro), words)
    title = words.say(Message.of(noop("Cumulative cost")))
    return drawing(key, width, height, title, _cost_sentence(curve, break_even_month, words), marks)


def _ends(
    ends: Sequence[tuple[float, str]], at: Callable[[float], tuple[float, float]], words: Words
) -> list[str]:
    """Each line's name and final amount where it ends, kept apart when lines end close together."""
    marks, lowest = [], 0.0
    for euro, label in sorted(ends, reverse=True):
        x, y = at(euro)
        y = max(y, lowest + 30)
        lowest = y
        marks.append(text(x + 8, y + 2, label, bold=True))
        marks.append(text(x + 8, y + 16, words.amount(euro, "EUR"), size=SMALL))
    return marks


def _axes(
    at: Callable[[float, float], tuple[float, float]], ticks: Sequence[float], last: float, words: Words
) -> list[str]:
    marks = []
    for euro in ticks:
        x1, y = at(0, euro)
        x2, _ = at(last, euro)
        marks.append(line(x1, y, x2, y, "line" if euro else "ink", thick=0.5 if euro else 1))
        marks.append(
            text(x1 - 8, y + 4, words.amount(euro, "EUR"), size=SMALL, anchor="end", colour="ink-quiet")
        )
    for year in range(int(last // 12) + 1):
        x, y = at(12 * year, 0)
        marks.append(line(x, y, x, y + 5, "ink"))
        marks.append(
            text(
                x, y + 18, words.amount(12 * year, digits=4), size=SMALL, anchor="middle", colour="ink-quiet"
            )
        )
    x, y = at(last / 2, 0)
    marks.append(
        text(
            x, y + 34, words.say(Message.of(noop("months"))), size=SMALL, anchor="middle", colour="ink-quiet"
        )
    )
    return marks


def _cost_sentence(curve: CostYears, break_even_month: float | None, words: Words) -> str:
    def euro(value: float) -> Quantity:
        return Quantity(value=value, unit="EUR")

    said = [
        words.say(
            Message.of(
                noop("After {months} months the own system has cost {own}."),
                months=curve.months[-1],
                own=euro(curve.own_eur[-1]),
            )
        )
    ]
    if curve.cloud_eur:
        said.append(words.say(Message.of(noop("Rented: {cloud}."), cloud=euro(curve.cloud_eur[-1]))))
    if curve.lease_eur:
        said.append(words.say(Message.of(noop("Leased: {lease}."), lease=euro(curve.lease_eur[-1]))))
    if break_even_month is not None:
        month = Quantity(value=break_even_month, digits=2)
        said.append(words.say(Message.of(noop("They are equal in month {month}."), month=month)))
    return " ".join(said)


# ── an interval against a wish ──────────────────────────────────────────────────────────────────────────────────


def interval_bar(
    low: float,
    high: float,
    wish: float | None,
    words: Words = ENGLISH,
    *,
    unit: str,
    less_is_better: bool,
    key: str,
    width: float = 250,
) -> str:
    """Where a value will lie (a box), the end that is promised (thick) and what was asked for (a dashed mark)."""
    scale = max(high, wish or 0) * 1.08 or 1
    first, last = (width * bound / scale for bound in (low, high))
    promised = last if less_is_better else first
    marks = [
        line(0, 12, width, 12, "line", thick=0.75),
        rect(first, 6, max(last - first, 2), 12, "paper-sunk", "accent"),
        line(promised, 3, promised, 21, "accent", thick=3.5),
    ]
    said = [
        words.say(
            Message.of(
                noop("Between {low} and {high}"),
                low=Quantity(value=low, unit=unit, digits=2),
                high=Quantity(value=high, unit=unit, digits=2),
            )
        )
    ]
    if wish is not None:
        x = width * wish / scale
        asked = words.say(Message.of(noop("asked: {wish}"), wish=Quantity(value=wish, unit=unit, digits=3)))
        room = len(asked) * SMALL * LETTER
        anchor, at = ("end", min(x + 4, width)) if x > room else ("start", x - 4)
        marks.append(line(x, 0, x, 24, "ink", thick=1.25, dash="3 2"))
        marks.append(text(max(at, 0), 34, asked, size=SMALL, anchor=anchor, colour="ink-quiet"))
        said.append(asked)
    title = words.say(Message.of(noop("Promise and wish")))
    return drawing(key, width, 38 if wish is not None else 26, title, "; ".join(said) + ".", marks)
