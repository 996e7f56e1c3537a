"""When it can be there, for the page and for paper."""

from collections.abc import Iterable
from datetime import date
from typing import Any, NamedTuple

from django.utils.translation import get_language

from quotes.pricing.delivery import Arrival, DeliveryPlan, delivery_plan
from quotes.pricing.lines import PricedLine
from quotes.sizing.assumptions import Assumptions

SHOWN = 6  # lines in full; the rest comes sooner and is counted


class Row(NamedTuple):
    name: str
    arrival: Arrival


def delivery_page(
    lines: Iterable[PricedLine],
    assumptions: Assumptions,
    *,
    ordered_on: date,
    wished_on: date | None,
    valid_until: date | None,
) -> dict[str, Any]:
    """Template context: the plan, its slowest lines by the name of the reader's language, and how many come sooner."""
    plan: DeliveryPlan = delivery_plan(
        lines, assumptions, ordered_on=ordered_on, wished_on=wished_on, valid_until=valid_until
    )
    language = get_language() or "en"
    rows = [Row(arrival.name_in(language), arrival) for arrival in plan.arrivals]
    return {
        "delivery": plan,
        "arrivals": rows[:SHOWN],
        "sooner_count": max(0, len(rows) - SHOWN),
        "valid_until": valid_until,
    }
