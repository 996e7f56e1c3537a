"""When it can be there: the lead time of every line, the line that decides, and the last day to order. Pure."""

from collections.abc import Iterable
from datetime import date, timedelta

from catalog.quantity import Frozen, Message, Quantity, noop
from quotes.pricing.lines import SERVICES, PricedLine
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.trace import Finding, Severity

DAYS_PER_MONTH = 30.4


class Arrival(Frozen):
    """One line of the bill and the day it arrives when it is ordered on the day of the plan."""

    sku: str
    name: str
    name_nl: str = ""
    weeks: int
    arrives_on: date
    stated_on: date | None = None  # when the supplier gave this lead time
    decides: bool = False

    def name_in(self, language: str) -> str:
        return (language == "nl" and self.name_nl) or self.name


class DeliveryPlan(Frozen):
    """Guarantee: `arrivals` come latest first, each article once."""

    ordered_on: date
    arrivals: tuple[Arrival, ...] = ()
    unknown: tuple[str, ...] = ()  # names of goods whose lead time nobody stated
    ready_on: date | None = None  # working, when ordered on that day; None: not known
    wished_on: date | None = None
    order_by: date | None = None  # the last day to order for the wish
    findings: tuple[Finding, ...] = ()

    @property
    def deciding(self) -> Arrival | None:
        return next((arrival for arrival in self.arrivals if arrival.decides), None)


def delivery_plan(
    lines: Iterable[PricedLine],
    assumptions: Assumptions,
    *,
    ordered_on: date,
    wished_on: date | None = None,
    valid_until: date | None = None,
) -> DeliveryPlan:
    """The days that follow from the lead times of `lines`, and what to mind about them and about the prices."""
    goods = {line.sku: line for line in lines if line.role not in SERVICES}
    known = sorted(
        (line for line in goods.values() if line.lead_time_weeks is not None),
        key=lambda line: (-(line.lead_time_weeks or 0), line.name),
    )
    arrivals = tuple(
        Arrival(
            sku=line.sku,
            name=line.name,
            name_nl=line.name_nl,
            weeks=line.lead_time_weeks or 0,
            arrives_on=ordered_on + timedelta(weeks=line.lead_time_weeks or 0),
            stated_on=line.lead_time_stated_on,
            decides=number == 0,
        )
        for number, line in enumerate(known)
    )
    work = timedelta(days=assumptions.commissioning_days)
    wait = arrivals[0].arrives_on - ordered_on + work if arrivals else None
    plan = DeliveryPlan(
        ordered_on=ordered_on,
        arrivals=arrivals,
        unknown=tuple(line.name for line in goods.values() if line.lead_time_weeks is None),
        ready_on=ordered_on + wait if wait is not None else None,
        wished_on=wished_on,
        order_by=wished_on - wait if wished_on and wait is not None else None,
    )
    found = (_too_late(plan), _market(plan, assumptions, valid_until))
    return plan.model_copy(update={"findings": tuple(finding for finding in found if finding)})


def _too_late(plan: DeliveryPlan) -> Finding | None:
    if plan.order_by is None or plan.order_by >= plan.ordered_on:
        return None
    late = (plan.ordered_on - plan.order_by).days
    return Finding(
        severity=Severity.WARNING,
        message=Message.of(
            noop("For your start date the order is {days} late."),
            days=Quantity(value=late, unit="days", digits=15),
        ),
        about="delivery.start_on",
        remedy=Message.of(
            noop("Plan a later start, rent in the meantime, or ask for a part that comes sooner.")
        ),
    )


def _market(plan: DeliveryPlan, assumptions: Assumptions, valid_until: date | None) -> Finding | None:
    """Prices move faster than the quote is valid."""
    if valid_until is None or valid_until <= plan.ordered_on:
        return None
    days = (valid_until - plan.ordered_on).days
    moved = ((1 + assumptions.price_move_pct_per_month / 100) ** (days / DAYS_PER_MONTH) - 1) * 100
    if moved < assumptions.price_move_worth_saying_pct:
        return None
    return Finding(
        severity=Severity.WARNING,
        message=Message.of(
            noop("The market moves faster than these prices hold: in {days} prices may change by {share}."),
            days=Quantity(value=days, unit="days", digits=15),
            share=Quantity(value=moved, unit="%", digits=2),
        ),
        about="valid_until",
        remedy=Message.of(noop("Decide early; after the last day the prices are asked for anew.")),
    )
