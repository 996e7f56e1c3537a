"""Memory bars and their legend as SVG, the same on the page and in a PDF.

Widths are percentages in attributes: nothing needs an inline style, and the bar grows with its column. Every mark
has a class, which the site's style sheet colours for both schemes, and the matching attribute for a PDF.
"""

from collections.abc import Iterable
from typing import Protocol
from zlib import crc32

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from configurator.formats import quantity
from configurator.palette import LIGHT, SERIES

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
    key = f"{crc32(repr((parts, total, label)).encode()):x}"
    marks, left = [], 0.0
    for name, amount in parts:
        width = 100 * amount / scale
        marks.append(_mark(name, f"{left:.2f}%", f"{width:.2f}%", height, f"p{key}{name}"))
        left += width
    limit = ""
    if scale > total > 0:
        at = f"{100 * total / scale:.2f}%"
        limit = format_html(
            '<line class="bar__limit" x1="{at}" x2="{at}" y1="0" y2="100%" stroke="{colour}" stroke-width="2"/>',
            at=at,
            colour=LIGHT["refusal"],
        )
    spoken = ", ".join(f"{gettext(SERIES[name].label)} {quantity(amount, unit)}" for name, amount in parts)
    return format_html(
        '<svg class="bar{}" width="100%" height="{}" role="img" aria-label="{}">{}{}</svg>',
        " bar--small" if small else "",
        height,
        f"{label}: {spoken}" if label else spoken,
        format_html_join("", "{}", ((mark,) for mark in marks)),
        limit,
    )


def swatch_svg(name: str) -> SafeString:
    """The legend's sample of one series: same colour, same pattern."""
    return format_html(
        '<svg class="legend__swatch" width="14" height="14" aria-hidden="true">{}</svg>',
        _mark(name, "0", "14", 14, f"swatch-{name}"),
    )


def _mark(name: str, x: str, width: str, height: int, pattern_id: str) -> SafeString:
    """A filled rectangle, and over it the pattern that tells the series apart in grey print."""
    paper = LIGHT["paper"]
    ground = paper if name == "free" else SERIES[name].colour
    box = format_html('x="{}" y="0" width="{}" height="{}"', x, width, height)
    rect = format_html('<rect class="fill-{}" {} fill="{}"/>', name, box, ground)
    gap = format_html('<rect class="bar__gap" {} fill="none" stroke="{}" stroke-width="1.5"/>', box, paper)
    pattern = _pattern(name, pattern_id)
    if not pattern:
        return rect + gap
    over = format_html('<rect {} fill="url(#{})"/>', box, pattern_id)
    frame = gap
    if name == "free":
        frame = format_html(
            '<rect class="bar__frame" {} fill="none" stroke="{}"/>', box, LIGHT["line-strong"]
        )
    return rect + pattern + over + frame


def _pattern(name: str, pattern_id: str) -> SafeString:
    """The pattern's definition; empty for a solid series."""
    paper, free = LIGHT["paper"], LIGHT["free"]
    drawn = {
        "solid": "",
        "dots": f'<circle class="fill-paper" cx="2" cy="2" r="0.9" fill="{paper}"/>'
        f'<circle class="fill-paper" cx="5" cy="5" r="0.9" fill="{paper}"/>',
        "upright": f'<path class="stroke-paper" d="M3 0V6" stroke="{paper}" stroke-width="0.9"/>',
        "falling": f'<path class="stroke-paper" d="M0 0L6 6M-1 5L1 7M5 -1L7 1" stroke="{paper}" stroke-width="0.9"/>',
        "hatched": f'<path class="stroke-free" d="M0 6L6 0M-1 1L1 -1M5 7L7 5" stroke="{free}" stroke-width="1.2"/>',
    }[SERIES[name].pattern]
    if not drawn:
        return SafeString("")
    return format_html(
        '<defs><pattern id="{}" width="6" height="6" patternUnits="userSpaceOnUse">{}</pattern></defs>',
        pattern_id,
        mark_safe(drawn),  # noqa: S308 (constants of this module)
    )
