"""What a proposal says of other demands and of other prices: the drawings and the tables behind them."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from catalog.quantity import Quantity
from quotes.documents import drawings
from quotes.documents.staircase import axis_name
from quotes.presentation.room import READER
from quotes.sizing.cliff import amount_at
from quotes.sizing.results import CliffMap, CliffStep, GrowthPhase, SizedSystem, Swing


class Moment(NamedTuple):
    """The outcome at one end of an input."""

    name: str
    euro: float
    month: float | None


class Moved(NamedTuple):
    """A row of the table behind the tornado."""

    swing: Swing
    ends: tuple[Moment, ...]


class Step(NamedTuple):
    """A row of the table behind the staircase: the most that one system carries."""

    most: Quantity
    system: CliffStep
    when: str  # the years in which the demand is on this step


def swings_page(chosen: SizedSystem, width: float = 720) -> dict[str, Any]:
    """What moves the outcome most, with the table behind the drawing."""
    found = chosen.tornado
    if found is None:
        return {}
    return {
        "tornado": found,
        "pays_back": any(
            month is not None for swing in found.swings for month in (swing.low_month, swing.high_month)
        ),
        "swings": [
            Moved(
                swing,
                tuple(
                    Moment(drawings.end_name(end, swing, READER), euro, month)
                    for end, euro, month in (
                        (swing.low, swing.low_eur, swing.low_month),
                        (swing.high, swing.high_eur, swing.high_month),
                    )
                ),
            )
            for swing in found.swings
        ],
        "tornado_drawing": SafeString(
            drawings.tornado_chart(found, READER, key="tornado-drawing", width=width)
        ),
    }


def steps_page(chosen: SizedSystem, width: float = 720) -> dict[str, Any]:
    """What this system costs for more and for fewer users, with the table behind the drawing."""
    cliff = chosen.cliff
    if cliff is None:
        return {}
    return {
        "steps": list(_steps(cliff, chosen.growth)),
        "steps_unit": axis_name(cliff, READER),
        "steps_words": cliff.words,
        "steps_drawing": SafeString(
            drawings.staircase(
                cliff, chosen.candidate, chosen.growth, READER, key="steps-drawing", width=width
            )
        ),
    }


def _steps(cliff: CliffMap, growth: Sequence[GrowthPhase]) -> Iterator[Step]:
    before = 0.0
    for step in cliff.steps:
        years = [phase.year for phase in growth if before < phase.demand_factor <= step.demand]
        names = [_("year %(year)s") % {"year": year} if year else _("now") for year in years]
        yield Step(amount_at(cliff.today, step.demand), step, ", ".join(names))
        before = step.demand
