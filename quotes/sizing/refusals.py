"""Refusals for a reader: what stood in the way, and of each kind the nearest miss first."""

from collections.abc import Iterable, Mapping
from math import inf

from catalog.quantity import Frozen, Message, noop
from quotes.sizing.results import Kind, Refusal

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
