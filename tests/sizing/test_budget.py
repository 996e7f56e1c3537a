"""The smallest wish to give up when the budget does not reach."""

from decimal import Decimal

import pytest

from configurator.workload import Budget, LanguageTraining, Method, ModelRef, Workload
from quotes.sizing.money.budget import CALLS_MAX, budget_advice, relaxations

from .money import CHAT, INSPECTION

PEOPLE = CHAT.model_copy(
    update={
        "concurrent_requests": 100.0,
        "ttft_p95_s": 2.0,
        "tokens_s_per_user": 20.0,
        "availability": "n_plus_1",
    }
)
TUNE = LanguageTraining(
    name="tune", model=ModelRef(params_b=8), method=Method.LORA, tokens=1e6, deadline_h=10
)
WISH = Workload(services=(PEOPLE, INSPECTION), jobs=(TUNE,), budget=Budget(max_eur=Decimal(80_000)))


def by_people(workload: Workload) -> Decimal:
    """A thousand euro for each person served at once."""
    return Decimal(1000) * Decimal(str(workload.services[0].concurrent_requests))  # type: ignore[union-attr]


def test_a_budget_that_reaches_needs_no_advice() -> None:
    assert budget_advice(WISH, Decimal(80_000), by_people) == ()
    assert budget_advice(WISH.model_copy(update={"budget": Budget()}), Decimal(10**9), by_people) == ()


def test_the_smallest_concession_that_reaches_is_named() -> None:
    (finding,) = budget_advice(WISH, Decimal(100_000), by_people)
    assert finding.about == "services.0.concurrent_requests"
    assert "serve 25 % fewer people" in str(finding.remedy)
    assert "75,000" in str(finding.remedy)


def test_when_nothing_helps_it_says_so() -> None:
    asked = []

    def hopeless(workload: Workload) -> Decimal | None:
        asked.append(workload)
        return None

    (finding,) = budget_advice(WISH, Decimal(100_000), hopeless)
    assert "not enough" in str(finding.remedy)
    assert 0 < len(asked) <= CALLS_MAX


def test_each_concession_changes_one_wish_only() -> None:
    for one in relaxations(WISH):
        assert 0 < one.concession < 1
        old, new = WISH.model_dump(), one.workload.model_dump()
        changed = [
            (kind, index, field)
            for kind in ("services", "jobs")
            for index, part in enumerate(old[kind])
            for field in part
            if part[field] != new[kind][index][field]
        ]
        assert [".".join(map(str, place)) for place in changed] == [one.about]
        assert {key: old[key] for key in old if key not in {"services", "jobs"}} == {
            key: new[key] for key in new if key not in {"services", "jobs"}
        }


@pytest.mark.parametrize(
    "wish",
    ["concurrent_requests", "tokens_s_per_user", "ttft_p95_s", "availability", "items_s", "deadline_h"],
)
def test_every_wish_can_be_relaxed(wish: str) -> None:
    assert any(one.about.endswith(wish) for one in relaxations(WISH))
