"""Which legal systems become proposals, and what is said of each."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from configurator.workload import Budget, Growth, Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.candidates import Draft
from quotes.sizing.choosing import choose, cons, expected_demand, pros, recommended_tier, targets
from quotes.sizing.hardware.compose import ScreenedSystem
from quotes.sizing.results import Estimate, LoadOption, Speed, Tier, Verdict
from quotes.sizing.trace import Badge
from tests.sizing.hardware import JOB, SERVICE, named, serving, training

CARDS = ("H100 NVL 94GB", "H200 NVL 141GB", "L40S", "GH200 144GB")
GOALS = {Tier.LEAN: 1.0, Tier.BALANCED: 1.25, Tier.ROOM_TO_GROW: 1.6}


def draft(
    price: float,
    headroom: float,
    *,
    card: str = CARDS[0],
    count: int = 8,
    watts: float = 5000,
    weeks: int | None = 12,
    nodes: int = 1,
    loads: tuple[LoadOption, ...] | None = None,
) -> Draft:
    screened = ScreenedSystem("server", nodes, count, Decimal(str(price)), watts, 4, weeks, watts)
    return Draft(named(card), loads or (serving(card, count),), screened, headroom)


def picked(*drafts: Draft, step: float = 1.1) -> dict[Tier, Draft]:
    return choose(drafts, GOALS, lambda _draft: 0, step)


def said(messages: tuple[Any, ...]) -> str:
    return " | ".join(str(message) for message in messages)


# ── which ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_nothing_to_choose_from_is_a_normal_answer() -> None:
    assert picked() == {}


def test_three_tiers_by_price_headroom_and_price_per_headroom() -> None:
    lean, balanced, room = draft(100, 1.0), draft(150, 1.3, count=10), draft(200, 4.0, card=CARDS[1])
    dear = draft(500, 4.1, card=CARDS[2])
    assert picked(dear, room, balanced, lean) == {
        Tier.LEAN: lean,
        Tier.BALANCED: balanced,
        Tier.ROOM_TO_GROW: room,
    }


def test_running_cost_counts_for_balanced_and_not_for_lean() -> None:
    lean, thirsty, frugal = draft(100, 1.0), draft(140, 1.5, count=4), draft(150, 1.5, count=6, watts=1000)
    chosen = choose((lean, thirsty, frugal), GOALS, lambda option: option.screened.wall_w / 100)
    assert chosen[Tier.LEAN] is lean
    assert chosen[Tier.BALANCED] is frugal


def test_a_dearer_system_that_carries_no_more_is_not_proposed() -> None:
    lean, same = draft(100, 7.5), draft(110, 7.6, card=CARDS[1])
    assert picked(lean, same) == {Tier.LEAN: lean}
    assert Tier.BALANCED in picked(lean, same, step=1.0)


@pytest.mark.parametrize(
    ("carries", "price", "offered"),
    [(1.0, 500, True), (2.0, 200, True), (2.0, 201, False), (1.3, 201, False)],
)
def test_whoever_has_room_enough_is_not_shown_something_several_times_as_dear(
    carries: float, price: float, offered: bool
) -> None:
    lean, large = draft(100, carries), draft(price, 9.0, card=CARDS[1], watts=1)
    chosen = choose(
        (lean, large), {**GOALS, Tier.ROOM_TO_GROW: GOALS[Tier.BALANCED]}, lambda _draft: 0, 1.1, 2
    )
    assert (large in chosen.values()) is offered


@pytest.mark.parametrize(
    ("price", "watts", "headroom", "offered"),
    [
        (199, 9000, 1.9, True),  # cheaper than two of the first
        (201, 10_000, 1.9, False),
        (201, 9000, 1.9, True),  # two of the first draw more
        (201, 10_000, 2.1, True),  # two of the first carry less
        (301, 15_000, 2.1, False),
    ],
)
def test_nothing_is_proposed_that_costs_more_than_the_one_before_it_bought_as_often_as_needed(
    price: float, watts: float, headroom: float, offered: bool
) -> None:
    lean, large = draft(100, 1.0), draft(price, headroom, card=CARDS[1], watts=watts)
    assert (large in picked(lean, large).values()) is offered
    jobs = (training(CARDS[1], 8),)
    assert (
        draft(price, headroom, card=CARDS[1], watts=watts, loads=jobs)
        in picked(
            draft(100, 1.0, loads=jobs), draft(price, headroom, card=CARDS[1], watts=watts, loads=jobs)
        ).values()
    )


def test_the_same_accelerators_in_another_chassis_are_the_same_system() -> None:
    lean, other = draft(100, 1.3), draft(101, 1.5)
    assert picked(lean, other) == {Tier.LEAN: lean}


def test_speed_that_nobody_measured_is_a_last_resort() -> None:
    guessed = serving(CARDS[2], 8).model_copy(
        update={
            "speed": Speed(tokens_s_per_user=Estimate(value=30, low=20, high=45, badge=Badge.EXTRAPOLATED))
        }
    )
    cheap, backed = draft(50, 2, card=CARDS[2], loads=(guessed,)), draft(100, 1)
    assert picked(cheap, backed) == {Tier.LEAN: backed}
    assert picked(cheap) == {Tier.LEAN: cheap}


def test_of_models_that_nobody_published_those_on_known_accelerators_come_first() -> None:
    guess = Speed(tokens_s_per_user=Estimate(value=30, low=20, high=45, badge=Badge.EXTRAPOLATED))
    known = serving(CARDS[1], 8).model_copy(update={"speed": guess})
    unheard = serving(CARDS[2], 8).model_copy(update={"speed": guess, "chip_is_measured": False})
    cheap, dear = draft(50, 2, card=CARDS[2], loads=(unheard,)), draft(100, 1, card=CARDS[1], loads=(known,))
    assert [cheap.backing, dear.backing, draft(1, 1).backing] == [0, 1, 2]
    assert picked(cheap, dear) == {Tier.LEAN: dear}


@given(
    rows=st.lists(
        st.tuples(
            st.integers(1, 10**6),
            st.floats(1, 20),
            st.sampled_from(CARDS),
            st.integers(1, 16),
            st.integers(1, 99),
        ),
        min_size=1,
        max_size=12,
    ),
    step=st.floats(1, 2),
)
def test_laws_of_the_choice(rows: list[tuple[int, float, str, int, int]], step: float) -> None:
    drafts = [
        draft(price, headroom, card=card, count=count, watts=100 * watts)
        for price, headroom, card, count, watts in rows
    ]
    chosen = choose(drafts, GOALS, lambda option: option.screened.wall_w, step)
    found = list(chosen.values())
    assert found[0].price_eur == min(option.price_eur for option in drafts)
    for tier, option in chosen.items():
        assert option in drafts
        assert tier is Tier.LEAN or option.headroom_factor >= GOALS[tier]
    for less, more in zip(found, found[1:], strict=False):  # noqa: RUF007 - pairs of a short list
        assert more.headroom_factor >= step * less.headroom_factor
        assert more.price_eur >= found[0].price_eur


# ── targets and advice ──────────────────────────────────────────────────────────────────────────────────────────


def test_room_to_grow_follows_the_growth_over_the_horizon() -> None:
    """20 % a year for three years is 1.728 times today's peak."""
    workload = Workload(services=(SERVICE,), growth=Growth(load_pct_per_year=20, horizon_years=3))
    assert targets(workload, Assumptions())[Tier.ROOM_TO_GROW] == pytest.approx(1.728)
    still = workload.model_copy(update={"growth": Growth(load_pct_per_year=0)})
    assert targets(still, Assumptions())[Tier.ROOM_TO_GROW] == Assumptions().room_headroom_factor


def test_jobs_and_shrinking_loads_do_not_grow() -> None:
    assert expected_demand(Workload(jobs=(JOB,), growth=Growth(load_pct_per_year=50))) == 1
    assert expected_demand(Workload(services=(SERVICE,), growth=Growth(load_pct_per_year=-20))) == 1


@pytest.mark.parametrize(
    ("growth_pct", "budget", "advised"),
    [
        (0, None, Tier.LEAN),  # today's load is all there is
        (20, None, Tier.BALANCED),  # lean would have to be bought twice: 200 against 180
        (60, None, Tier.ROOM_TO_GROW),  # 4.1 times: 5 × 100, 3 × 180 or 2 × 210
        (20, 150, Tier.LEAN),
        (60, 50, Tier.LEAN),  # nothing is affordable: the cheapest, and a finding says so
    ],
)
def test_advice_is_the_cheapest_for_the_load_to_come(
    growth_pct: float, budget: int | None, advised: Tier
) -> None:
    chosen = {
        Tier.LEAN: draft(100, 1.0),
        Tier.BALANCED: draft(180, 1.8, count=10),
        Tier.ROOM_TO_GROW: draft(210, 2.4, card=CARDS[1]),
    }
    workload = Workload(
        services=(SERVICE,),
        growth=Growth(load_pct_per_year=growth_pct, horizon_years=3),
        budget=Budget(max_eur=None if budget is None else Decimal(budget)),
    )
    assert recommended_tier(chosen, workload) is advised


# ── words ───────────────────────────────────────────────────────────────────────────────────────────────────────

SERVES = Workload(services=(SERVICE,), growth=Growth(load_pct_per_year=20))


def test_pros_compare_with_the_other_proposals() -> None:
    best = draft(100, 2.0, watts=1000, weeks=4)
    rivals = [best, draft(200, 3.0, watts=2000, weeks=12)]
    text = said(pros(best, rivals, SERVES, advised=True))
    for part in ("cheapest for the load", "lowest price", "lowest power", "shortest lead time"):
        assert part in text
    assert "Carries" not in text  # the least of them; its factor stands among the facts
    assert said(pros(rivals[1], rivals, SERVES, advised=False)) == "Carries 3 × today's peak."
    assert (
        said(pros(rivals[1], rivals[1:2], SERVES, advised=True)) == "Carries 3 × today's peak."
    )  # on its own
    assert said(pros(draft(1, 1.0), [], SERVES, advised=True)) == ""


def test_an_unknown_lead_time_is_not_the_shortest() -> None:
    unknown, known = draft(100, 2, weeks=None), draft(200, 3)
    assert "lead time" not in said(pros(unknown, [unknown, known], SERVES, advised=False))


def test_cons_name_what_a_seller_would() -> None:
    tight = serving(CARDS[3], 1).model_copy(update={"verdict": Verdict.TIGHT})
    worst = draft(300, 1.0, card=CARDS[3], watts=9000, loads=(tight,))
    text = said(cons(worst, [worst, draft(100, 2)]))
    for part in (
        "Memory is tight",
        "No room",
        "highest price",
        "highest power",
        "Arm processors",
        "One server",
    ):
        assert part in text
    assert cons(draft(100, 2, nodes=2), [draft(200, 3)]) == ()


def test_what_is_sold_while_stock_lasts_says_so() -> None:
    ada = draft(100, 2, nodes=2, card="RTX 6000 Ada")
    assert said(cons(ada, [ada])).startswith("Sold while stock lasts")


def test_who_only_trains_hears_of_the_deadline() -> None:
    job = draft(100, 1.05, loads=(training(CARDS[0], 8),))
    assert said(pros(job, [job], Workload(jobs=(JOB,)), advised=True)) == (
        "A run takes at most 95 % of the time that you give it."
    )
    assert said(cons(job, [job])) == "No time for a setback."


def test_a_spare_is_a_pro() -> None:
    spared = draft(100, 2, loads=(serving(CARDS[0], 4, spare=1),))
    assert "one accelerator fails" in said(pros(spared, [spared], SERVES, advised=False))
