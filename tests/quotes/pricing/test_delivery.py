"""When it can be there: days by hand, and laws that hold for any bill."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotes.pricing.delivery import delivery_plan
from quotes.pricing.lines import PricedLine
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.results import LineRole

A = Assumptions()
DAY = date(2026, 11, 30)


def line(sku: str, weeks: int | None, role: LineRole = LineRole.SERVER, **more: Any) -> PricedLine:
    return PricedLine.of(
        sku=sku, name=f"{sku} in English", name_nl=f"{sku} in het Nederlands", role=role, group="node",
        quantity=1, unit_eur=Decimal(100), lead_time_weeks=weeks, **more,
    )  # fmt: skip


def test_the_slowest_line_decides_and_work_follows_it() -> None:
    """Twelve weeks from 30 November 2026 is 22 February 2027; five days of work make it the 27th."""
    stated = date(2026, 11, 2)
    lines = (line("cable", 2), line("server", 12, lead_time_stated_on=stated), line("disk", None))
    plan = delivery_plan(lines, A, ordered_on=DAY, wished_on=date(2027, 3, 31))
    assert [(one.sku, one.arrives_on) for one in plan.arrivals] == [
        ("server", date(2027, 2, 22)),
        ("cable", date(2026, 12, 14)),
    ]
    assert plan.deciding is not None
    assert (plan.deciding.sku, plan.deciding.stated_on) == ("server", stated)
    assert plan.deciding.name_in("nl") == "server in het Nederlands"
    assert plan.deciding.name_in("en") == "server in English"
    assert plan.ready_on == date(2027, 2, 27)
    assert plan.order_by == date(2027, 3, 31) - timedelta(days=12 * 7 + 5)
    assert plan.unknown == ("disk in English",)
    assert plan.findings == ()


def test_services_and_unknown_lead_times_give_no_date() -> None:
    plan = delivery_plan(
        (line("work", 3, LineRole.SERVICE), line("disk", None)), A, ordered_on=DAY, wished_on=DAY
    )
    assert (plan.arrivals, plan.ready_on, plan.order_by, plan.deciding) == ((), None, None, None)


def test_an_order_that_is_late_says_by_how_much() -> None:
    plan = delivery_plan((line("server", 4),), A, ordered_on=DAY, wished_on=DAY + timedelta(days=30))
    assert "3 days late" in str(plan.findings[0].message)


@pytest.mark.parametrize(("days", "warned"), [(7, False), (14, False), (30, True), (90, True)])
def test_prices_that_outlive_the_market_are_said(days: int, warned: bool) -> None:
    plan = delivery_plan((line("server", 4),), A, ordered_on=DAY, valid_until=DAY + timedelta(days=days))
    assert bool(plan.findings) is warned
    if warned:
        assert "market moves faster" in str(plan.findings[0].message)


def test_a_validity_in_the_past_warns_of_nothing() -> None:
    assert (
        delivery_plan((line("a", 1),), A, ordered_on=DAY, valid_until=DAY - timedelta(days=900)).findings
        == ()
    )


@given(weeks=st.lists(st.integers(0, 60), min_size=1, max_size=8), wish=st.integers(0, 700))
def test_ordering_on_the_last_day_is_in_time_and_a_day_later_is_not(weeks: list[int], wish: int) -> None:
    lines = tuple(line(f"part-{number}", one) for number, one in enumerate(weeks))
    wished = DAY + timedelta(days=wish)
    plan = delivery_plan(lines, A, ordered_on=DAY, wished_on=wished)
    assert plan.order_by is not None
    on_time = delivery_plan(lines, A, ordered_on=plan.order_by, wished_on=wished)
    late = delivery_plan(lines, A, ordered_on=plan.order_by + timedelta(days=1), wished_on=wished)
    assert on_time.ready_on == wished
    assert late.ready_on is not None
    assert late.ready_on > wished
    assert not on_time.findings
    assert late.findings
    assert [one.arrives_on for one in plan.arrivals] == sorted(
        (one.arrives_on for one in plan.arrivals), reverse=True
    )
