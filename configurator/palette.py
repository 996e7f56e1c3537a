"""The series of memory drawings: their fixed order, names, colours and patterns.

`static/css/tokens.css` is the source of the colours; the light half stands here too because a PDF's inline SVG sees
no style sheet. A test keeps the two equal.
"""

from typing import Literal, NamedTuple

from catalog.quantity import noop

Pattern = Literal["solid", "dots", "upright", "falling", "hatched"]


class Series(NamedTuple):
    label: str
    """English name, to be translated when shown."""
    colour: str
    """The light scheme's colour, `#rrggbb`."""
    pattern: Pattern
    """What tells it apart without colour."""


SERIES: dict[str, Series] = {
    "weights": Series(noop("weights"), "#0b5563", "solid"),
    "optimizer": Series(noop("optimiser state"), "#5b98a3", "falling"),
    "kv": Series(noop("KV cache"), "#c27c0e", "dots"),
    "activations": Series(noop("activations"), "#7b3f70", "upright"),
    "runtime": Series(noop("runtime and reserve"), "#85898f", "solid"),
    "free": Series(noop("free"), "#a9a498", "hatched"),
}

LIGHT: dict[str, str] = {
    "paper": "#fbfaf7",
    "paper-sunk": "#f3f1ea",
    "ink": "#15191e",
    "ink-quiet": "#565c64",
    "line": "#dcd8ce",
    "line-strong": "#7d8185",
    "accent": "#0b5563",
    "warning": "#835000",
    "refusal": "#9a2e1e",
    **{name: series.colour for name, series in SERIES.items()},
}
"""Token name to its light colour, for presentation attributes in SVG."""
