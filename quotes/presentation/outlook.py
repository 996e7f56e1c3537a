"""What a proposal says of other demands and of other prices: the drawings and the tables behind them."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from catalog.quantity import Quantity
from quotes.documents import drawings
from quotes.documents.staircase import axis_name
from quotes.documents.tornado_chart import FLAT_ROW, ROW
from quotes.documents.use_chart import levels
from quotes.presentation.room import READER
from quotes.sizing.cliff import amount_at
from quotes.sizing.results import CliffMap, CliffStep, GrowthPhase, OwnedShare, SizedSystem, Swing


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


CHOICES_SHOWN = 9


def outlook_page(chosen: SizedSystem, width: float = 720, flat: bool = False) -> dict[str, Any]:
    """Template context of everything below; empty for a proposal that was not worked out in full.

    `flat` drawings are lower, for paper.
    """
    several = chosen.placements if len(chosen.placements) > 1 else ()
    return {
        "placements": [(way, way is several[0], way.key == chosen.leads_with) for way in several],
        "leading_way": chosen.leading_way,
        **use_page(chosen, width, 190 if flat else 260),
        **swings_page(chosen, width, FLAT_ROW if flat else ROW),
        **steps_page(chosen, width, 250 if flat else 320),
    }


def use_page(chosen: SizedSystem, width: float, height: float) -> dict[str, Any]:
    """How the load lies over the hours and, where renting is allowed, what each number of owned accelerators costs."""
    curve, money = chosen.use, chosen.economics
    if curve is None or money is None:
        return {}
    choices, owned = money.hybrid_choices, None
    if choices and money.hybrid_gpus_owned is not None:
        owned = money.hybrid_gpus_owned / max(choices[-1].gpus_owned, 1)
    best = min((choice.total_eur for choice in choices), default=None)
    return {
        "use": curve,
        "use_levels": levels(curve),
        "choices": [(choice, choice.total_eur == best) for choice in _shown(choices, best)],
        "choices_left_out": len(choices) > CHOICES_SHOWN,
        "use_drawing": SafeString(
            drawings.use_chart(curve, owned, READER, key="use-drawing", width=width, height=height)
        ),
    }


def _shown(choices: Sequence[OwnedShare], best: float | None) -> list[OwnedShare]:
    """None, all, the cheapest and its neighbours, and some in between."""
    if len(choices) <= CHOICES_SHOWN:
        return list(choices)
    cheapest = next(index for index, choice in enumerate(choices) if choice.total_eur == best)
    last = len(choices) - 1
    kept = {0, last, last // 4, last // 2, 3 * last // 4, cheapest - 1, cheapest, cheapest + 1}
    return [choice for index, choice in enumerate(choices) if index in kept]


def swings_page(chosen: SizedSystem, width: float, row: float) -> dict[str, Any]:
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
            drawings.tornado_chart(found, READER, key="tornado-drawing", width=width, row=row)
        ),
    }


def steps_page(chosen: SizedSystem, width: float, height: float) -> dict[str, Any]:
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
                cliff,
                chosen.candidate,
                chosen.growth,
                READER,
                key="steps-drawing",
                width=width,
                height=height,
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
