"""How the rooms say what they can answer: a question in its base unit, what must be stated, and the function."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from quotes.sizing.evaluation.base import Context, Row
from quotes.sizing.evaluation.cases.units import Asked
from quotes.sizing.trace import Badge

type Inputs = Mapping[str, Any]
type Value = "float | Ranged"


class Ranged(NamedTuple):
    """A value with its interval, all in the base unit."""

    value: float
    low: float
    high: float
    badge: Badge

    def times(self, factor: float) -> "Ranged":
        ends = sorted((self.low * factor, self.high * factor))
        return Ranged(self.value * factor, ends[0], ends[1], self.badge)


class Case(NamedTuple):
    """A worked case as it is asked: its row, its inputs under their usual names, and its unit as read."""

    row: Row
    inputs: Inputs
    asked: Asked
    context: Context


class Answer(NamedTuple):
    """One question that the product answers. `must` and `may`: words of the unit beside the measure."""

    measure: str
    must: frozenset[str]
    may: frozenset[str]
    per: frozenset[str]
    needs: frozenset[str]
    function: Callable[[Case], Value]

    def is_asked(self, asked: Asked, named: frozenset[str]) -> bool:
        """`named`: words that only repeat what the inputs state."""
        return (
            asked.measure == self.measure
            and self.per <= asked.per
            and (bool(self.per) or asked.per <= named)
            and self.must <= asked.what
            and (asked.what - self.must) | (asked.per - self.per) <= self.may | named
        )


def answer(question: str, function: Callable[[Case], Value], *, needs: str = "", may: str = "") -> Answer:
    """`question` is the measure, words that must be there, and after a slash those that follow "per"."""
    head, _, per = question.partition(" / ")
    measure, *must = head.split(" ")
    return Answer(
        measure.replace("_", " "),
        frozenset(must),
        frozenset(may.split()),
        frozenset(per.split()),
        frozenset(needs.split()),
        function,
    )


def candidates(table: Iterable[Answer], case: Case, named: frozenset[str]) -> list[Answer]:
    """Whose question is asked, those first whose inputs are all stated."""
    found = [one for one in table if one.is_asked(case.asked, named)]
    return sorted(found, key=lambda one: not one.needs <= case.inputs.keys())
