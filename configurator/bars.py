"""Memory bars and their legend as SVG, the same on the page and in a PDF.

Widths are percentages in attributes: nothing needs an inline style, and the bar grows with its column. Every mark
has a class, which the site's style sheet colours for both schemes, and the matching attribute for a PDF.
"""

from collections.abc import Iterable
from typing import Protocol

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from configurator.formats import quantity
from configurator.palette import LIGHT, SERIES, Pattern

type Part = tuple[str, float]
"""A series of the palette and its amount, in the bar's unit, not negative."""


class Memory(Protocol):
    """What `memory_parts` reads: one GPU's memory by component, GiB."""

    @property
    def weights_gib(self) -> float: ...
    @property
    def optimizer_gib(self) -> float: ...
    @property
    def kv_gib(self) -> float: ...
    @property
    def activations_gib(self) -> float: ...
    @property
    def runtime_gib(self) -> float: ...
    @property
    def free_gib(self) -> float: ...


def memory_parts(memory: Memory) -> list[Part]:
    """The components that are there, in the palette's order. Memory that falls short has no free part."""
    amounts = [(name, getattr(memory, f"{name}_gib")) for name in SERIES]
    return [(name, amount) for name, amount in amounts if amount > 0]


def bar_svg(parts: Iterable[Part], total: float, unit: str, label: str, small: bool = False) -> SafeString:
    """One bar. Parts beyond `total` run on past a line that marks the limit; the text alternative names each part."""
    parts = list(parts)
    scale = max(total, sum(amount for _, amount in parts)) or 1
    height = 12 if small else 20
    marks, left = [], 0.0
    for name, amount in parts:
        width = 100 * amount / scale
        marks.append((_mark(name, f"{left:.2f}%", f"{width:.2f}%", height),))
        left += width
    limit = _limit(f"{100 * total / scale:.2f}%") if scale > total > 0 else ""
    spoken = ", ".join(f"{gettext(SERIES[name].label)} {quantity(amount, unit)}" for name, amount in parts)
    text = gettext("{parts}; {total} in all").format(parts=spoken, total=quantity(total, unit))
    return format_html(
        '<svg class="bar{}" width="100%" height="{}" role="img" aria-label="{}">{}{}</svg>',
        " bar--small" if small else "",
        height,
        f"{label}: {text}" if label else text,
        format_html_join("", "{}", marks),
        limit,
    )


def swatch_svg(name: str) -> SafeString:
    """The legend's sample of one series: same colour, same pattern."""
    return format_html(
        '<svg class="legend__swatch" width="14" height="14" aria-hidden="true">{}</svg>',
        _mark(name, "0", "14", 14),
    )


def _limit(at: str) -> SafeString:
    return format_html(
        '<line class="stroke-paper" x1="{0}" x2="{0}" y1="0" y2="100%" stroke="{1}" stroke-width="6"/>'
        '<line class="bar__limit" x1="{0}" x2="{0}" y1="0" y2="100%" stroke="{2}" stroke-width="2"/>',
        at,
        LIGHT["paper"],
        LIGHT["refusal"],
    )


def _mark(name: str, x: str, width: str, height: int) -> SafeString:
    """One segment: colour, the pattern that tells the series apart in grey print, and a gap to the next.

    The nested svg clips the pattern to the segment. Patterns are dashed lines rather than `<pattern>`s: those need
    ids, which clash when a page shows the same bar twice.
    """
    free = name == "free"
    return format_html(
        '<svg x="{}" width="{}" height="{}"><rect class="fill-{}" width="100%" height="100%" fill="{}"/>{}{}</svg>',
        x,
        width,
        height,
        name,
        LIGHT["paper"] if free else SERIES[name].colour,
        _pattern(SERIES[name].pattern, height),
        format_html(
            '<rect class="{}" width="100%" height="100%" fill="none" stroke="{}" stroke-width="1.5"/>',
            "bar__frame" if free else "bar__gap",
            LIGHT["line-strong" if free else "paper"],
        ),
    )


def _pattern(pattern: Pattern, height: int) -> SafeString:
    paper, free, middle = LIGHT["paper"], LIGHT["free"], height / 2
    match pattern:
        case "solid":
            drawn = ""
        case "dots":
            rows = ((height * (2 * i + 1) / 6, 1.5 + 3 * (i % 2)) for i in range(3))
            drawn = "".join(
                f'<line class="stroke-paper" x1="{start}" x2="100%" y1="{y:.1f}" y2="{y:.1f}" stroke="{paper}" '
                'stroke-width="1.6" stroke-linecap="round" stroke-dasharray="0 6"/>'
                for y, start in rows
            )
        case "upright":
            drawn = (
                f'<line class="stroke-paper" x1="4" x2="100%" y1="{middle}" y2="{middle}" stroke="{paper}" '
                f'stroke-width="{height}" stroke-dasharray="1 4"/>'
            )
        case "falling" | "hatched":
            # A skewed dash is a slanted stripe; it starts and ends beyond the segment, which clips it.
            kind, colour, angle = ("paper", paper, 45) if pattern == "falling" else ("free", free, -45)
            drawn = (
                f'<line class="stroke-{kind}" x1="-60" x2="2000" y1="{middle}" y2="{middle}" stroke="{colour}" '
                f'stroke-width="{height}" stroke-dasharray="1.2 4.8" transform="skewX({angle})"/>'
            )
    return mark_safe(drawn)  # noqa: S308 (numbers and constants of this module)
