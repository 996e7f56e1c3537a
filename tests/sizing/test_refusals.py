"""Refusals for a reader: each once, in the group of its kind, the nearest miss first."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.quantity import Message
from quotes.sizing.refusals import TITLES, grouped_refusals
from quotes.sizing.results import Kind, Refusal, Stage


def kinds_of(of: object) -> set[str]:
    """The words of a literal type, those of the literals inside it included."""
    return {word for part in get_args(of) for word in (kinds_of(part) or {part})}


def refused(name: str, **more: object) -> Refusal:
    return Refusal(subject=name, subject_name=name, reason=Message.of("No."), **more)


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
