"""From options per load to systems: who may take part, how many accelerators, and where replicas go."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.quantity import Message
from catalog.specs import Availability, ServerStatus
from configurator.workload import LoadProfile, Placement, Site, SiteKind, Workload
from quotes.sizing.candidates import (
    COMBINATIONS_MAX,
    Draft,
    accelerators_needed,
    beaten,
    combinations,
    drafts,
    exclusion,
    first_refusal,
    headroom,
    node_limits,
    servers_for,
    spread,
)
from quotes.sizing.hardware.compose import ScreenedSystem
from quotes.sizing.hardware.placing import Shape, holds
from quotes.sizing.results import Estimate, LoadOption, Refusal, Speed
from quotes.sizing.trace import Badge
from tests.sizing.hardware import (
    ASSUMPTIONS,
    JOB,
    SERVICE,
    changed,
    named,
    seed,
    serve,
    serving,
    training,
    without_price,
)

H100 = "H100 NVL 94GB"


def option(load: LoadOption, **changes: Any) -> LoadOption:
    return load.model_copy(update=changes)


# ── who may take part ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "stage", "reason"),
    [
        ("TPU v6e (Trillium)", "catalog", "only be rented"),
        ("Rubin SXM", "catalog", "cannot be ordered yet"),
        ("H20 96GB", "catalog", "not sold in the European Union"),
        ("A100 SXM4 80GB", "server", "no complete server"),
    ],
)
def test_what_cannot_be_delivered_says_why(name: str, stage: str, reason: str) -> None:
    card = named(name)
    refusal = exclusion(card, serve(), servers_for(seed())[card.sku], seed())
    assert refusal is not None
    assert (refusal.stage, refusal.subject, refusal.subject_name) == (stage, card.sku, name)
    assert reason in str(refusal.reason)


def test_wishes_about_makers_and_software_are_kept() -> None:
    card, amd = named(H100), named("Instinct MI300X")
    carrying = servers_for(seed())
    without = serve(placement=Placement(vendors_excluded=frozenset({"NVIDIA"})))
    rocm = serve(placement=Placement(software_stack="rocm"))
    assert exclusion(card, serve(), carrying[card.sku], seed()) is None
    assert "no products of NVIDIA" in str(exclusion(card, without, carrying[card.sku], seed()).reason)
    assert "needs ROCm" in str(exclusion(card, rocm, carrying[card.sku], seed()).reason)
    assert exclusion(amd, rocm, carrying[amd.sku], seed()) is None


def test_a_card_without_a_price_may_not_take_part() -> None:
    card = named(H100)
    refusal = exclusion(card, serve(), servers_for(seed())[card.sku], without_price(card.order_sku))
    assert "no valid price" in str(refusal.reason)


def test_a_desktop_does_not_belong_in_a_rack() -> None:
    card = named("GeForce RTX 5090")
    carrying = servers_for(seed())[card.sku]
    assert "desktop" in str(
        exclusion(card, serve(site=Site(kind=SiteKind.DATA_HALL)), carrying, seed()).reason
    )
    assert exclusion(card, serve(site=Site(kind=SiteKind.EDGE)), carrying, seed()) is None


def test_incomplete_servers_carry_nothing() -> None:
    offered = {server.sku for rows in servers_for(seed()).values() for server in rows}
    complete = {ServerStatus.BUILDABLE, ServerStatus.COMPLETE_SYSTEM}
    assert offered
    assert all(server.status in complete for server in seed().servers if server.sku in offered)


def test_the_largest_server_sets_how_many_can_be_joined() -> None:
    carrying = servers_for(seed())
    limits = node_limits(seed(), carrying)
    card = named(H100)
    assert limits[card.sku] == max(server.max_accelerators for server in carrying[card.sku])
    rented = next(a for a in seed().accelerators if a.availability is Availability.CLOUD_ONLY)
    assert limits[rented.sku] == 8


def test_the_first_load_that_cannot_be_carried_is_the_reason() -> None:
    card = named(H100)
    no = Refusal(subject=card.sku, subject_name=card.name, reason=Message.of("too small"))
    yes = (serving(H100, 2),)
    assert first_refusal([{card.sku: yes}], card) is None
    assert first_refusal([{card.sku: yes}, {card.sku: no}], card) is no
    assert "No arrangement" in str(first_refusal([{card.sku: ()}], card).reason)


# ── how many ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("profile", "shares", "needed"),
    [
        (LoadProfile.OFFICE_HOURS, True, 8),  # the job waits for the night
        (LoadProfile.EXTENDED, True, 8),
        (LoadProfile.ALWAYS, True, 12),  # the service never rests
        (LoadProfile.OFFICE_HOURS, False, 12),  # the job does not fit in the night
    ],
)
def test_jobs_share_when_services_rest(profile: LoadProfile, shares: bool, needed: int) -> None:
    workload = Workload(services=(SERVICE.model_copy(update={"profile": profile}),), jobs=(JOB,))
    loads = (serving(H100, 4), option(training(H100, 8), shares_pool=shares))
    assert accelerators_needed(loads, workload) == needed


def test_jobs_run_one_after_another() -> None:
    loads = (training(H100, 8), training(H100, 4, 4, name="small"))
    assert accelerators_needed(loads, Workload(jobs=(JOB,))) == 8


def test_headroom_is_that_of_the_tightest_service() -> None:
    loads = (
        option(serving(H100, 2), capacity_factor=2.0),
        option(serving(H100, 2, name="search"), capacity_factor=1.2),
        option(training(H100, 8), capacity_factor=1.01),
    )
    assert headroom(loads) == 1.2
    assert headroom(loads[2:]) == 1.01


def test_of_equally_many_accelerators_the_one_with_most_headroom_stays() -> None:
    sku = named(H100).sku
    good, better = (option(serving(H100, 4, 2), capacity_factor=factor) for factor in (1.1, 1.3))
    large = option(serving(H100, 8, 2), capacity_factor=2.5)
    found = combinations([{sku: (good, better, large)}], sku, (1.0, 1.6), serve())
    assert {loads[0].gpus: loads[0].capacity_factor for loads in found} == {4: 1.3, 8: 2.5}


def test_accelerators_on_boards_are_compared_by_board() -> None:
    """Both fill one board of eight: four replicas of two carry more than two of four."""
    sku = named("H200 SXM5 141GB").sku
    narrow = option(serving("H200 SXM5 141GB", 2, 2), capacity_factor=1.0)
    wide = option(serving("H200 SXM5 141GB", 4, 4), capacity_factor=1.4)
    found = combinations([{sku: (narrow, wide)}], sku, (1.0,), serve(), board=8)
    assert found == [(narrow,)]
    assert len(combinations([{sku: (narrow, wide)}], sku, (1.0,), serve())) == 2


@pytest.mark.parametrize(
    ("gb_per_gpu", "floor", "both"), [(150, 0, True), (290, 0, False), (150, 250, False), (150, 320, False)]
)
def test_of_equally_many_boards_what_needs_much_less_host_memory_stays_too(
    gb_per_gpu: float, floor: float, both: bool
) -> None:
    """Two replicas of four accelerators hold the weights in the host twice, one of eight once."""
    sku = named("H200 SXM5 141GB").sku
    narrow, wide = (
        option(serving("H200 SXM5 141GB", gpus, gpus, ram_gb_per_gpu=gb), capacity_factor=factor)
        for gpus, gb, factor in ((4, 300, 2.0), (8, gb_per_gpu, 2.5))
    )
    found = combinations([{sku: (narrow, wide)}], sku, (1.0, 1.25), serve(), 8, (), floor)
    assert found == ([(narrow,), (wide,)] if both else [(narrow,)])


def test_many_loads_end_in_few_combinations_among_them_the_smallest_for_each_target() -> None:
    """Fifteen services in two sizes could be combined in 32,768 ways."""
    sku = named(H100).sku
    tables = [
        {
            sku: tuple(
                option(serving(H100, gpus, name=f"s{number}"), capacity_factor=gpus * (1 + number / 20) / 2)
                for gpus in (2, 2 + 3**number)
            )
        }
        for number in range(15)
    ]
    found = combinations(tables, sku, (1.0, 1.02), serve())
    needed = [accelerators_needed(loads, serve()) for loads in found]
    assert 1 < len(found) <= COMBINATIONS_MAX + 2
    assert min(needed) == 2 * 15
    assert min(count for loads, count in zip(found, needed, strict=True) if headroom(loads) >= 1.02) == 30 + 1


# ── accelerators that come along with whole servers ─────────────────────────────────────────────────────────────


def test_left_over_accelerators_become_replicas() -> None:
    load = option(serving(H100, 4, 2, spare=1), capacity_factor=1.2, busy_fraction=0.9)
    (filled,) = spread((load,), 4, Shape(1, 8))
    assert (filled.replicas, filled.gpus, filled.spare_replicas) == (4, 8, 1)
    assert filled.capacity_factor == pytest.approx(1.2 * 3)  # one working replica became three
    assert filled.busy_fraction == pytest.approx(0.9 / 3)


def test_left_over_accelerators_may_be_too_scattered_for_a_replica() -> None:
    """Two servers of ten hold four groups of four and leave two places in each."""
    loads = (serving(H100, 16, 4),)
    assert spread(loads, 16, Shape(2, 10)) == loads
    small = serving(H100, 2, 2, name="small")
    wide, filled = spread((*loads, small), 18, Shape(2, 10))
    assert (wide.gpus, filled.gpus) == (16, 4)


def test_the_service_with_least_headroom_comes_first() -> None:
    poor = option(serving(H100, 2, name="chat"), capacity_factor=1.0)
    rich = option(serving(H100, 2, name="search"), capacity_factor=3.0)
    first, second = spread((poor, rich), 4, Shape(1, 6))
    assert (first.gpus, second.gpus) == (4, 2)


def test_jobs_get_nothing_extra() -> None:
    loads = (training(H100, 4, 4),)
    assert spread(loads, 4, Shape(1, 8)) == loads


@given(
    sizes=st.lists(st.sampled_from([1, 2, 4, 8]), min_size=1, max_size=3),
    per_server=st.sampled_from([4, 8, 10]),
    nodes=st.integers(1, 4),
    factors=st.lists(st.floats(1, 4), min_size=3, max_size=3),
)
def test_what_was_filled_up_finds_a_place(
    sizes: list[int], per_server: int, nodes: int, factors: list[float]
) -> None:
    loads = tuple(
        option(serving(H100, size, size, name=f"load {index}"), capacity_factor=factors[index])
        for index, size in enumerate(sizes)
    )
    shape, needed = Shape(nodes, per_server), sum(sizes)
    if needed > nodes * per_server or not holds(loads, needed, shape):
        return
    filled = spread(loads, needed, shape)
    assert holds(filled, sum(load.gpus for load in filled), shape)
    assert all(after.gpus >= before.gpus for before, after in zip(loads, filled, strict=True))
    least = min(load.gpus_per_replica for load in filled)
    left = nodes * per_server - sum(load.gpus for load in filled)
    assert left < least or per_server % least or len(set(sizes)) > 1


# ── whole systems ───────────────────────────────────────────────────────────────────────────────────────────────


def test_every_server_answers_with_a_system_or_a_reason() -> None:
    card = named(H100)
    table = {card.sku: (option(serving(H100, 4, 2), capacity_factor=1.1),)}
    answers = list(drafts(card, [table], (1.0,), serve(), seed(), ASSUMPTIONS))
    carrying = [
        s for s in seed().servers if card.sku in s.accelerators and s.status is not ServerStatus.INCOMPLETE
    ]
    assert 0 < len(answers) <= len(carrying)
    legal = [answer for answer in answers if isinstance(answer, Draft)]
    assert legal
    for answer in legal:
        assert answer.screened.accelerators >= 4
        assert answer.price_eur > 0
        assert answer.headroom_factor >= 1.1


def test_a_dearer_card_makes_a_dearer_system() -> None:
    card = named(H100)
    table = {card.sku: (serving(H100, 4, 2),)}
    entry = seed().prices[card.sku]
    dearer = entry.model_copy(
        update={"amount": entry.amount.model_copy(update={"amount": entry.amount.amount + 1000})}
    )
    catalog = changed(prices={**seed().prices, card.sku: dearer})
    before, after = (
        min(
            d.price_eur
            for d in drafts(card, [table], (1.0,), serve(), rows, ASSUMPTIONS)
            if isinstance(d, Draft)
        )
        for rows in (seed(), catalog)
    )
    assert after >= before + 4000


@pytest.mark.parametrize(
    ("badge", "winners", "price", "stage", "text"),
    [
        (Badge.EXTRAPOLATED, Badge.INTERPOLATED, 80, "evidence", "no measured runs"),
        (Badge.EXTRAPOLATED, Badge.EXTRAPOLATED, 150, "dominated", "50 % more"),
        (Badge.INTERPOLATED, Badge.INTERPOLATED, 150, "dominated", "50 % more"),
        (Badge.INTERPOLATED, Badge.INTERPOLATED, 100, "dominated", "for about 100 EUR."),
    ],
)
def test_who_works_but_is_not_proposed_hears_the_price(
    badge: Badge, winners: Badge, price: int, stage: str, text: str
) -> None:
    def draft(badge: Badge, price: int) -> Draft:
        speed = Speed(tokens_s_per_user=Estimate(value=30, low=20, high=40, badge=badge))
        loads = (option(serving(H100, 2), speed=speed),)
        return Draft(named(H100), loads, ScreenedSystem("server", 1, 2, price, 1000, 2, 12, 1000), 1.2)

    refusal = beaten(named(H100), draft(badge, price), draft(winners, 100))
    assert refusal.stage == stage
    assert text in str(refusal.reason)
