"""Which refusal is told, with which figures, and each once in the group of its kind."""

from math import floor, log10
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.quantity import Message, significant
from quotes.sizing.refusals import (
    TITLES,
    at_most,
    either,
    enough,
    grouped_refusals,
    hardest,
    joined,
    nearest,
    ratio,
    telling_digits,
)
from quotes.sizing.results import Kind, Refusal, Stage


def kinds_of(of: object) -> set[str]:
    """The words of a literal type, those of the literals inside it included."""
    return {word for part in get_args(of) for word in (kinds_of(part) or {part})}


def refused(name: str, **more: object) -> Refusal:
    return Refusal(subject=name, subject_name=name, reason=Message.of("No."), **more)


FURTHEST = [
    # of one stage: degree before kind, and of degrees the least
    ([("site", None), ("site", 1.4), ("site", 1.2)], 2),
    ([("server", 1.01), ("site", 9.0)], 1),
    ([("server", 1.01), ("site", None)], 1),
    ([("memory", 1.1), ("speed", 3.0), ("speed", 2.0)], 2),
    ([("site", None), ("site", None)], 0),
]


@pytest.mark.parametrize(("misses", "told"), FURTHEST)
def test_of_several_ways_the_nearest_miss_is_told(
    misses: list[tuple[Stage, float | None]], told: int
) -> None:
    ways = [refused(str(n), stage=stage, excess=excess) for n, (stage, excess) in enumerate(misses)]
    assert nearest(ways) is ways[told]


def test_of_things_that_all_must_be_solved_the_one_with_most_left_is_told() -> None:
    fast, large = refused("fast", stage="speed", excess=4.0), refused("large", stage="memory", excess=1.1)
    larger, unknown = refused("larger", stage="memory", excess=2.0), refused("unknown", stage="memory")
    assert hardest([fast, large]) is large
    assert hardest([fast, large, larger]) is larger
    assert hardest([unknown, large, larger]) is unknown


figure = st.floats(1e-3, 1e7)


@given(value=figure, digits=st.integers(1, 5))
def test_what_is_called_enough_is_enough_and_what_is_called_possible_is_possible(
    value: float, digits: int
) -> None:
    step = 10.0 ** (floor(log10(value)) + 1 - digits)
    up, down = enough(value, "kW", digits), at_most(value, "kW", digits)
    assert value * (1 - 1e-5) <= up.value <= value + step * 1.001
    assert value - step * 1.001 <= down.value <= value * (1 + 1e-5)
    assert float(significant(up.value, digits).replace(",", "")) == pytest.approx(up.value)


@pytest.mark.parametrize(
    ("value", "other", "digits"), [(14, 20, 3), (29.6, 30, 3), (26, 30, 2), (19.96, 20, 4), (101, 60, 3)]
)
def test_a_figure_has_the_digits_that_tell_it_from_the_wish(value: float, other: float, digits: int) -> None:
    assert telling_digits(value, other) == digits


@pytest.mark.parametrize(("asked", "available", "off"), [(14, 12, 14 / 12), (3, 0, None), (1, -2, None)])
def test_a_ratio_to_nothing_is_no_degree(asked: float, available: float, off: float | None) -> None:
    assert ratio(asked, available) == off


def test_parts_of_a_sentence_are_joined() -> None:
    parts = [Message.of(text) for text in ("a", "b", "c")]
    assert [str(joined(parts[:n])) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]
    assert str(either(parts)) == "a, b or c"


def test_every_kind_has_a_title() -> None:
    assert kinds_of(Kind) == set(TITLES)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(sorted(kinds_of(Stage))),
            st.none() | st.sampled_from(sorted(kinds_of(Kind))),
            st.none() | st.floats(0.1, 100),
        )
    )
)
def test_each_refusal_stands_in_one_group_and_the_nearest_miss_first(
    rows: list[tuple[Stage, Kind | None, float | None]],
) -> None:
    every = [
        refused(f"card {number}", stage=stage, kind=kind, excess=excess)
        for number, (stage, kind, excess) in enumerate(rows)
    ]
    groups = grouped_refusals(every)
    members = [member for group in groups for member in group.members]
    assert sorted(member.subject for member in members) == sorted(refusal.subject for refusal in every)
    assert [group.kind for group in groups] == [
        kind for kind in TITLES if kind in {group.kind for group in groups}
    ]
    for group in groups:
        assert {member.kind or member.stage for member in group.members} == {group.kind}
        off = [float("inf") if member.excess is None else member.excess for member in group.members]
        assert off == sorted(off)


@pytest.mark.parametrize(
    ("stage", "title"), [("site", "Your site"), ("catalog", "Not for sale, or a figure is missing")]
)
def test_a_refusal_kept_before_there_were_kinds_is_grouped_by_its_stage(stage: Stage, title: str) -> None:
    (group,) = grouped_refusals([refused("B", stage=stage), refused("A", stage=stage)])
    assert str(group.title) == title
    assert [member.subject for member in group.members] == ["A", "B"]
