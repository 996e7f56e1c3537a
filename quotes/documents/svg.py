"""Small pieces of SVG that read alike on the page and in a PDF.

Every mark has a class, which the site's style sheet colours for both schemes, and the matching attribute of the light
scheme, because inline SVG in a PDF sees no style sheet. No style attributes, no ids but those of title and
description, nothing loaded.
"""

from collections.abc import Callable, Iterable
from html import escape
from typing import NamedTuple

from catalog.quantity import Message, Quantity, significant
from configurator.palette import LIGHT

FONT = "Source Sans 3, sans-serif"
SMALL, TEXT = 10, 12  # text sizes, px
WIDE_LETTER = 0.56  # of the text size: the average width of a letter


def _plain_number(value: Quantity) -> str:
    return f"{significant(value.value, value.digits)} {value.unit}".strip()


class Words(NamedTuple):
    """How sentences and numbers are written in the reader's language; plain English by default."""

    say: Callable[[Message], str] = str
    number: Callable[[Quantity], str] = _plain_number
    unit: Callable[[str], str] = str

    def amount(self, value: float, unit: str = "", digits: int = 3) -> str:
        return self.number(Quantity(value=value, unit=unit, digits=digits))


ENGLISH = Words()


def drawing(key: str, width: float, height: float, title: str, description: str, marks: Iterable[str]) -> str:
    """A whole picture with its text alternative. `key` makes the ids of title and description unique on a page."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-labelledby="{key}-title {key}-desc" '
        f'font-family="{FONT}"><title id="{key}-title">{escape(title)}</title>'
        f'<desc id="{key}-desc">{escape(description)}</desc>{"".join(marks)}</svg>'
    )


def rect(
    x: float,
    y: float,
    width: float,
    height: float,
    fill: str = "",
    stroke: str = "",
    *,
    thick: float = 1,
    dash: str = "",
) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}" '
        f"{paint(fill, stroke, thick, dash)}/>"
    )


def line(
    x1: float, y1: float, x2: float, y2: float, stroke: str = "line", *, thick: float = 1, dash: str = ""
) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {paint("none", stroke, thick, dash)}/>'


def path(points: Iterable[tuple[float, float]], stroke: str, *, thick: float = 2, dash: str = "") -> str:
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{joined}" {paint("none", stroke, thick, dash)}/>'


def area(points: Iterable[tuple[float, float]], fill: str) -> str:
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polygon points="{joined}" {paint(fill, "", 1, "")}/>'


def text(
    x: float,
    y: float,
    words: str,
    *,
    size: float = TEXT,
    anchor: str = "start",
    colour: str = "ink",
    bold: bool = False,
) -> str:
    """`y` is the line that the letters stand on."""
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="{anchor}"{weight} '
        f"{paint(colour, '', 1, '')}>{escape(words)}</text>"
    )


STROKES = {
    "line": ("stroke-line", "line-strong"),
    "line-strong": ("stroke-line", "line-strong"),
    "ink-quiet": ("stroke-quiet", "ink-quiet"),
}
"""Strokes whose class or colour of the palette has another name."""


def paint(fill: str, stroke: str, thick: float, dash: str) -> str:
    """Classes and attributes for a fill and a stroke by their names in the palette."""
    classes, attributes = [], []
    if fill and fill != "none":
        classes.append(f"fill-{fill}")
        attributes.append(f'fill="{LIGHT[fill]}"')
    else:
        attributes.append('fill="none"')
    if stroke:
        name, colour = STROKES.get(stroke, (f"stroke-{stroke}", stroke))
        classes.append(name)
        attributes.append(f'stroke="{LIGHT[colour]}" stroke-width="{thick:g}"')
    if dash:
        attributes.append(f'stroke-dasharray="{dash}"')
    named = f'class="{" ".join(classes)}" ' if classes else ""
    return named + " ".join(attributes)


def clip(words: str, width: float, size: float = TEXT) -> str:
    """As much of `words` as fits `width`, with an ellipsis when something is left out."""
    most = int(width / (size * WIDE_LETTER))
    return words if len(words) <= most else words[: max(most - 1, 1)].rstrip() + "…"


def hatch(x: float, y: float, width: float, height: float, colour: str, gap: float = 6) -> str:
    """Slanted lines within a box, drawn one by one so that nothing needs an id."""
    marks = []
    start = -height
    while start < width:
        left, right = max(start, 0.0), min(start + height, width)
        if right > left:
            marks.append(
                line(x + left, y + height - (left - start), x + right, y + height - (right - start), colour)
            )
        start += gap
    return "".join(marks)


def nice_ticks(most: float, count: int = 4) -> list[float]:
    """Round numbers from 0 to just beyond `most`: steps of 1, 2, 2.5 or 5 times a power of ten."""
    if most <= 0:
        return [0, 1]
    raw = most / count
    power = 10.0 ** (len(str(int(raw))) - 1) if raw >= 1 else 10.0 ** -len(str(int(1 / raw)))
    step = next(
        power * factor for factor in (1, 2, 2.5, 5, 10, 20, 50, 100) if power * factor * count >= most
    )
    ticks = [0.0]
    while ticks[-1] < most:
        ticks.append(ticks[-1] + step)
    return ticks
