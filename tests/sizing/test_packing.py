"""Parts on accelerators: the fewest, never more than one holds, never two replicas of one load on one."""

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotes.sizing.hardware.packing import EXACT_PIECES, Packing, Piece, pack
from quotes.sizing.results import Portion

SEVENTHS = {1: 1, 2: 2, 3: 4, 4: 4}


def mig(units: int) -> Portion:
    return Portion(
        name=f"{units}g",
        kind="mig",
        compute_units=units,
        compute_total=7,
        memory_units=SEVENTHS[units],
        memory_total=8,
    )


def mps(quarters: int) -> Portion:
    return Portion(
        name=f"{quarters}/4",
        kind="mps",
        compute_units=quarters,
        compute_total=4,
        memory_units=quarters,
        memory_total=4,
    )


def pieces(loads: Sequence[tuple[Portion, int]]) -> list[Piece]:
    return [
        Piece(f"load {number}", replica, portion)
        for number, (portion, replicas) in enumerate(loads)
        for replica in range(replicas)
    ]


portions = st.one_of(
    st.lists(st.tuples(st.sampled_from([mig(units) for units in SEVENTHS]), st.integers(1, 2)), max_size=4),
    st.lists(st.tuples(st.sampled_from([mps(1), mps(2), mps(3)]), st.integers(1, 2)), max_size=4),
)


def holds(held: Sequence[Piece]) -> bool:
    compute = sum(piece.portion.compute_fraction for piece in held)
    memory = sum(piece.portion.memory_fraction for piece in held)
    return compute <= 1 + 1e-9 and memory <= 1 + 1e-9 and len({piece.load for piece in held}) == len(held)


def partitions(items: Sequence[Piece]) -> Iterator[list[list[Piece]]]:
    """Every way to divide the pieces into groups."""
    if not items:
        yield []
        return
    first, *rest = items
    for groups in partitions(rest):
        yield [[first], *groups]
        for number, group in enumerate(groups):
            yield [*groups[:number], [first, *group], *groups[number + 1 :]]


def every_piece_once(packing: Packing, given_: Sequence[Piece]) -> bool:
    return sorted(piece[:2] for held in packing for piece in held) == sorted(piece[:2] for piece in given_)


@given(portions)
def test_no_other_packing_takes_fewer(loads: list[tuple[Portion, int]]) -> None:
    wanted = pieces(loads)[:7]
    fewest = min(len(groups) for groups in partitions(wanted) if all(map(holds, groups)))
    assert len(pack(wanted)) == fewest


@given(
    st.lists(st.tuples(st.sampled_from([mig(units) for units in SEVENTHS]), st.integers(1, 3)), max_size=12)
)
def test_what_is_packed_fits(loads: list[tuple[Portion, int]]) -> None:
    wanted = pieces(loads)
    packing = pack(wanted)
    assert every_piece_once(packing, wanted)
    assert all(map(holds, packing))
    assert len(packing) <= len(wanted)


@given(portions, st.sampled_from([mig(1), mig(3), mps(1), mps(3)]))
def test_one_more_piece_never_takes_fewer(loads: list[tuple[Portion, int]], more: Portion) -> None:
    wanted = pieces([pair for pair in loads if pair[0].kind == more.kind])[: EXACT_PIECES - 1]
    assert len(pack([*wanted, Piece("one more", 0, more)])) >= len(pack(wanted))


def test_largest_first_alone_would_take_one_more() -> None:
    """3 + 2 + 2 and 3 + 2 + 2 of 7 parts of which memory allows eight; largest first joins the two threes."""
    loads = [(mig(3), 1), (mig(3), 1), (mig(2), 1), (mig(2), 1), (mig(2), 1), (mig(2), 1)]
    assert len(pack(pieces(loads))) == 2


@pytest.mark.parametrize(
    ("loads", "accelerators"),
    [
        ([], 0),
        ([(mig(1), 1)] * 7, 1),
        ([(mig(1), 1)] * 8, 2),
        ([(mig(3), 1), (mig(3), 1), (mig(1), 1)], 2),  # memory: nine eighths
        ([(mig(4), 1), (mig(2), 1), (mig(1), 1)], 1),
        ([(mps(1), 2)], 2),  # a replica and its spare
        ([(mps(2), 2), (mps(2), 2)], 2),
    ],
)
def test_known_packings(loads: list[tuple[Portion, int]], accelerators: int) -> None:
    assert len(pack(pieces(loads))) == accelerators


def test_both_kinds_never_meet_on_one_accelerator() -> None:
    assert len(pack(pieces([(mig(1), 1), (mps(1), 1)]))) == 2
