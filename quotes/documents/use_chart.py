"""The load-duration chart: how much of the peak is used for how many of the hours, busiest first."""

from collections.abc import Callable

from catalog.quantity import Message, Quantity, noop
from quotes.documents.svg import ENGLISH, SMALL, Words, area, drawing, hatch, line, path, text
from quotes.sizing.results import UseCurve

type Place = Callable[[float], float]
"""From a share of the peak to a vertical place."""

LEFT, RIGHT, TOP, BOTTOM = 56.0, 20.0, 30.0, 50.0


def use_chart(
    curve: UseCurve,
    owned_fraction: float | None = None,
    words: Words = ENGLISH,
    *,
    key: str = "use",
    width: float = 720,
    height: float = 260,
) -> str:
    """Load over hours as a falling staircase; what lies above the owned share of the peak is rented, and hatched."""
    wide, high = width - LEFT - RIGHT, height - TOP - BOTTOM
    floor = TOP + high

    def y(share: float) -> float:
        return TOP + high * (1 - share)

    step = wide / len(curve.shares)
    points = []
    for index, share in enumerate(curve.shares):
        points += [(LEFT + index * step, y(share)), (LEFT + (index + 1) * step, y(share))]
    marks = [area([(LEFT, floor), *points, (LEFT + wide, floor)], "paper-sunk")]
    marks += _axes(y, wide, floor, words)
    if owned_fraction is not None and owned_fraction < 1:
        marks += _rented(curve, owned_fraction, y, step)
    marks.append(path(points, "accent", thick=2.25))
    if owned_fraction is not None and 0 < owned_fraction < 1:
        at = y(owned_fraction)
        marks.append(line(LEFT, at, LEFT + wide, at, "ink", dash="6 4"))
        said = Message.of(
            noop("owned: {share} of the peak"), share=Quantity(value=owned_fraction * 100, unit="%", digits=2)
        )
        marks.append(text(LEFT + wide, at - 6, words.say(said), size=SMALL, anchor="end", bold=True))
    title = words.say(Message.of(noop("Load over the hours, busiest first")))
    return drawing(key, width, height, title, _sentence(curve, owned_fraction, words), marks)


def _axes(y: Place, wide: float, floor: float, words: Words) -> list[str]:
    marks = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        marks.append(
            line(LEFT, y(share), LEFT + wide, y(share), "line" if share else "ink", thick=0.5 if share else 1)
        )
        label = words.amount(share * 100, "%")
        marks.append(text(LEFT - 8, y(share) + 4, label, size=SMALL, anchor="end", colour="ink-quiet"))
        x = LEFT + wide * share
        marks.append(line(x, floor, x, floor + 5, "ink"))
        marks.append(text(x, floor + 18, label, size=SMALL, anchor="middle", colour="ink-quiet"))
    up, along = (
        words.say(Message.of(text))
        for text in (noop("share of the peak"), noop("share of all hours, busiest first"))
    )
    marks.append(text(LEFT, TOP - 12, up, size=SMALL, colour="ink-quiet"))
    marks.append(text(LEFT + wide, floor + 36, along, size=SMALL, anchor="end", colour="ink-quiet"))
    return marks


def _rented(curve: UseCurve, owned: float, y: Place, step: float) -> list[str]:
    """The part above the owned share, hatched run by run."""
    marks, start = [], 0
    shares = (*curve.shares, -1.0)
    for index in range(1, len(shares)):
        if shares[index] != shares[start]:
            if shares[start] > owned:
                top = y(shares[start])
                marks.append(
                    hatch(LEFT + start * step, top, (index - start) * step, y(owned) - top, "accent")
                )
            start = index
    return marks


def levels(curve: UseCurve) -> list[tuple[float, float]]:
    """Shares of the peak, and in which part of all hours at least so much is used."""
    return [
        (share, min(sum(load >= share for load in curve.shares) / len(curve.shares), curve.busy_fraction))
        for share in (0.9, 0.75, 0.5, 0.25)
    ]


def _sentence(curve: UseCurve, owned: float | None, words: Words) -> str:
    said = [words.say(message) for message in curve.words]
    for share, hours in levels(curve):
        facts = Message.of(
            noop("At least {share} of the peak in {hours} of the hours."),
            share=Quantity(value=share * 100, unit="%", digits=2),
            hours=Quantity(value=hours * 100, unit="%", digits=2),
        )
        said.append(words.say(facts))
    if owned is not None:
        facts = Message.of(
            noop("Cheapest to own: {share} of the peak."),
            share=Quantity(value=owned * 100, unit="%", digits=2),
        )
        said.append(words.say(facts))
    return " ".join(said)
