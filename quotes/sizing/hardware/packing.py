"""Which parts of accelerators lie on one accelerator: as few accelerators as possible.

Two resources, computing and memory, in whole units; replicas of one load never on the same accelerator, so that one
failure takes one replica. Largest first, then an exact search where that may not be the fewest; why no solver:
docs/adr/0008-packing-without-a-solver.md.
"""

from collections.abc import Iterable, Sequence
from math import ceil
from typing import NamedTuple

from quotes.sizing.results import LoadOption, Portion

EXACT_PIECES = 10
"""Up to so many pieces every packing is weighed; beyond, largest-first stands."""


class Piece(NamedTuple):
    """One replica of a load on a part of an accelerator."""

    load: str
    replica: int
    portion: Portion


type Packing = tuple[tuple[Piece, ...], ...]
"""Accelerators, each with the pieces on it."""


def pieces_of(loads: Iterable[LoadOption]) -> list[Piece]:
    return [
        Piece(load.load, replica, load.portion)
        for load in loads
        if load.portion is not None
        for replica in range(load.replicas)
    ]


def fits_with(others: Sequence[Piece], piece: Piece) -> bool:
    """Whether a piece fits beside others on one accelerator: by kind, computing, memory, and none of its own load."""
    new = piece.portion
    compute, memory = new.compute_units, new.memory_units
    for other in others:
        part = other.portion
        if other.load == piece.load or part.kind != new.kind:
            return False
        compute += part.compute_units
        memory += part.memory_units
    return compute <= new.compute_total and memory <= new.memory_total


def pack(pieces: Sequence[Piece]) -> Packing:
    """The fewest accelerators for up to `EXACT_PIECES` pieces, close to it for more. Deterministic."""
    if not pieces:
        return ()
    ordered = sorted(
        pieces,
        key=lambda piece: (
            -max(piece.portion.compute_fraction, piece.portion.memory_fraction),
            -piece.portion.compute_units - piece.portion.memory_units,
            piece.load,
            piece.replica,
        ),
    )
    bins = _first_fit(ordered)
    if len(bins) > _least(ordered) and len(ordered) <= EXACT_PIECES:
        bins = _fewest(ordered, bins)
    return tuple(tuple(held) for held in bins)


def _least(pieces: Sequence[Piece]) -> int:
    """No packing takes fewer: by computing, by memory, and by the replicas of one load."""
    compute = sum(piece.portion.compute_fraction for piece in pieces)
    memory = sum(piece.portion.memory_fraction for piece in pieces)
    replicas = max(piece.replica for piece in pieces) + 1
    return max(ceil(compute - 1e-9), ceil(memory - 1e-9), replicas)


def _first_fit(pieces: Iterable[Piece]) -> list[list[Piece]]:
    bins: list[list[Piece]] = []
    for piece in pieces:
        room = next((held for held in bins if fits_with(held, piece)), None)
        if room is None:
            bins.append([piece])
        else:
            room.append(piece)
    return bins


def _fewest(pieces: Sequence[Piece], known: list[list[Piece]]) -> list[list[Piece]]:
    """Every way to place the pieces, one after another, as far as it can still beat the best so far."""
    best, least, bins = known, _least(pieces), list[list[Piece]]()

    def place(index: int) -> None:
        nonlocal best
        if len(bins) >= len(best) or len(best) == least:
            return
        if index == len(pieces):
            best = [list(held) for held in bins]
            return
        piece = pieces[index]
        for held in bins:
            if fits_with(held, piece):
                held.append(piece)
                place(index + 1)
                held.pop()
        bins.append([piece])
        place(index + 1)
        bins.pop()

    place(0)
    return best
