"""How far off a refusal is: which of several is told, and how all are grouped for a reader."""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor, inf, isfinite, log10
from typing import Protocol

from catalog.quantity import Frozen, Message, Quantity, noop, significant
from quotes.sizing.results import Kind, Refusal, Stage

# ── which of several is told ────────────────────────────────────────────────────────────────────────────────────

_CHECKS: tuple[Stage, ...] = (
    "catalog", "stack", "memory", "speed", "server", "site", "budget", "evidence", "dominated",
)  # fmt: skip
"""In the order in which they are made."""


class Miss(Protocol):
    """What has come so far and is off by so much."""

    @property
    def stage(self) -> Stage: ...
    @property
    def excess(self) -> float | None: ...


def nearest[Some: Miss](misses: Iterable[Some]) -> Some:
    """Of ways of which one is enough, the one that got furthest and missed by least; degree before kind."""
    return min(misses, key=_left_to_solve)


def hardest[Some: Miss](misses: Iterable[Some]) -> Some:
    """Of things that all must be solved, the one with most left to solve."""
    return max(misses, key=_left_to_solve)


def _left_to_solve(miss: Miss) -> tuple[int, float]:
    return -_CHECKS.index(miss.stage), inf if miss.excess is None else miss.excess


def ratio(asked: float, available: float) -> float | None:
    """asked / available; None when nothing is available, which no degree measures."""
    return asked / available if available > 0 and isfinite(asked / available) else None


# ── figures in a refusal ────────────────────────────────────────────────────────────────────────────────────────


def enough(value: float, unit: str = "", digits: int = 3) -> Quantity:
    """`value` rounded up, so that what is called enough is enough."""
    return Quantity(value=_rounded(value, digits, up=True), unit=unit, digits=digits)


def at_most(value: float, unit: str = "", digits: int = 3) -> Quantity:
    """`value` rounded down, so that what is called possible is possible."""
    return Quantity(value=_rounded(value, digits, up=False), unit=unit, digits=digits)


def _rounded(value: float, digits: int, *, up: bool) -> float:
    if not value > 0 or not isfinite(value):
        return value
    places = digits - 1 - floor(log10(value))
    whole = value * 10.0**places
    return round((ceil(whole - 1e-6) if up else floor(whole + 1e-6)) / 10.0**places, max(places, 0))


def telling_digits(value: float, other: float) -> int:
    """The fewest digits, two or after a leading 1 three, with which the two do not look the same; at most four."""
    least = 3 if significant(value, 1).strip("0.,").startswith("1") else 2
    apart = (digits for digits in range(least, 4) if significant(value, digits) != significant(other, digits))
    return next(apart, 4)


def joined(parts: Sequence[Message]) -> Message:
    """'a, b and c'. Needs at least one."""
    *most, last = parts
    return Message.of(noop("{first} and {last}"), first=Message.listed(most), last=last) if most else last


def either(parts: Sequence[Message]) -> Message:
    """'a, b or c'. Needs at least one."""
    *most, last = parts
    return Message.of(noop("{first} or {last}"), first=Message.listed(most), last=last) if most else last


# ── for a reader ────────────────────────────────────────────────────────────────────────────────────────────────


TITLES: Mapping[Kind, str] = {
    "dominated": noop("It would do, but others do it better"),
    "evidence": noop("Nobody measured it well enough"),
    "budget": noop("Your budget"),
    "power": noop("Too much power for your site"),
    "space": noop("Too large or too heavy for your site"),
    "cooling": noop("Your site does not cool it"),
    "site": noop("Your site"),
    "server": noop("No suitable server"),
    "speed": noop("Too slow"),
    "memory": noop("Too little memory"),
    "stack": noop("Its software does not do this"),
    "unknown": noop("A figure or a measurement is missing"),
    "model": noop("Beyond what the model takes"),
    "wish": noop("Left out at your request"),
    "catalog": noop("Not for sale, or a figure is missing"),
    "sale": noop("Not for sale, or without a price"),
}
"""What stood in the way, nearest to working first."""


class RefusalGroup(Frozen):
    """Refusals of one kind, nearest miss first. Never empty."""

    kind: Kind
    title: Message
    members: tuple[Refusal, ...]


def grouped_refusals(refusals: Iterable[Refusal]) -> tuple[RefusalGroup, ...]:
    """Each refusal in the group of its kind, once. Groups nearest to working first; members by how far off they are,
    those that are off by kind and not by degree last, then by name."""
    found: dict[Kind, list[Refusal]] = {}
    for refusal in sorted(refusals, key=_distance):
        found.setdefault(refusal.kind or refusal.stage, []).append(refusal)
    return tuple(
        RefusalGroup(kind=kind, title=Message.of(title), members=tuple(found[kind]))
        for kind, title in TITLES.items()
        if kind in found
    )


def _distance(refusal: Refusal) -> tuple[float, str]:
    return inf if refusal.excess is None else refusal.excess, refusal.subject_name.lower()
