"""Which of the legal systems become the three proposals, and how each is summed up."""

from collections.abc import Callable, Mapping, Sequence
from math import ceil, inf

from catalog.quantity import Message, Quantity, noop
from catalog.specs import Availability
from configurator.workload import LanguageService, Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.candidates import Draft, best_backed
from quotes.sizing.results import Candidate, Economics, LoadOption, Tier, Verdict
from quotes.sizing.trace import Badge

NARROW_HEADROOM = 1.1


def targets(workload: Workload, assumptions: Assumptions) -> Mapping[Tier, float]:
    """The multiple of today's peak that each proposal must carry.

    Room to grow follows the growth that the customer expects over the horizon, and is never less than its assumption.
    """
    return {
        Tier.LEAN: 1.0,
        Tier.BALANCED: assumptions.balanced_headroom_factor,
        Tier.ROOM_TO_GROW: max(expected_demand(workload), assumptions.room_headroom_factor),
    }


def choose(
    drafts: Sequence[Draft],
    goals: Mapping[Tier, float],
    running_cost: Callable[[Draft], float],
    step_factor: float = 1,
    needless_factor: float = inf,
) -> dict[Tier, Draft]:
    """At most one draft per tier, each carrying at least `step_factor` times what the one before it carries.

    What already carries the target of a tier is not followed by one that costs more than `needless_factor` times as
    much.

    Of systems whose speed measured runs back less than that of others, none is proposed. *Lean* is the cheapest that
    holds the targets today; *balanced* the cheapest to own (purchase and energy over the horizon) of those with
    headroom; *room to grow* the one with the lowest price per unit of headroom among those that carry the demand at
    the horizon.
    """
    if not drafts:
        return {}
    drafts = best_backed(drafts)
    chosen = {Tier.LEAN: min(drafts, key=lambda draft: (draft.price_eur, draft.screened.wall_w))}
    owning = {id(draft): float(draft.price_eur) + running_cost(draft) for draft in drafts}
    scores: dict[Tier, Callable[[Draft], float]] = {
        Tier.BALANCED: lambda draft: owning[id(draft)],
        Tier.ROOM_TO_GROW: lambda draft: (
            owning[id(draft)] / min(draft.headroom_factor, 3 * goals[Tier.ROOM_TO_GROW])
        ),
    }
    for tier, score in scores.items():
        least = max(goals[tier], *(step_factor * other.headroom_factor for other in chosen.values()))
        rest = [
            draft
            for draft in drafts
            if draft.headroom_factor >= least
            and not any(_same(draft, other) or _twice_is_better(other, draft) for other in chosen.values())
            and not any(
                other.headroom_factor >= goals[tier]
                and float(draft.price_eur) > needless_factor * float(other.price_eur)
                for other in chosen.values()
            )
        ]
        if rest:
            chosen[tier] = min(rest, key=score)
    return chosen


def _same(one: Draft, other: Draft) -> bool:
    """Two drafts a customer would call the same system, be it in another maker's chassis."""
    return (one.accelerator.sku, one.screened.accelerators) == (
        other.accelerator.sku,
        other.screened.accelerators,
    )


def _twice_is_better(small: Draft, large: Draft) -> bool:
    """Whether `small`, bought as often as it takes to carry what `large` carries, is neither dearer nor hungrier.

    Services run beside each other on several systems; one job does not.
    """
    if not any(load.kind == "serving" for load in large.loads):
        return False
    times = ceil(large.headroom_factor / small.headroom_factor - 1e-9)
    return (
        times * small.price_eur <= large.price_eur and times * small.screened.wall_w <= large.screened.wall_w
    )


def expected_demand(workload: Workload) -> float:
    """Load at the end of the horizon as a multiple of today's; jobs do not grow by themselves."""
    if not workload.services:
        return 1.0
    return max(1.0, (1 + workload.growth.load_pct_per_year / 100) ** workload.growth.horizon_years)


def recommended_tier(chosen: Mapping[Tier, Draft], workload: Workload) -> Tier:
    """The proposal that is cheapest for the load expected over the horizon, among those within the budget.

    A proposal that will not carry that load counts as often as it has to be bought until it does.
    """
    limit = workload.budget.max_eur
    within = {tier: draft for tier, draft in chosen.items() if limit is None or draft.price_eur <= limit}
    if not within:
        return Tier.LEAN
    demand = expected_demand(workload)
    return min(
        within, key=lambda tier: within[tier].price_eur * ceil(demand / within[tier].headroom_factor - 1e-9)
    )


# ── words ───────────────────────────────────────────────────────────────────────────────────────────────────────


def answer(candidate: Candidate, economics: Economics | None, workload: Workload) -> Message:
    """The one sentence that answers the customer's question."""
    system = candidate.system
    one = noop("One server with {count} × {name}")
    many = noop("{servers} servers with {count} × {name} in all")
    head = Message.of(
        one if system.nodes == 1 else many,
        servers=system.nodes,
        count=system.accelerators,
        name=candidate.accelerator_name,
    )
    facts: dict[str, Message | Quantity] = {
        "system": head,
        "load": _all_loads(candidate, workload),
        "power": Quantity(value=system.power.wall_w / 1000, unit="kW", digits=2),
        "price": Quantity(value=float(candidate.price_eur), unit="EUR", digits=3),
    }
    if economics and economics.break_even_month is not None:
        text = noop(
            "{system}: {load}; at most {power}; about {price} without VAT; pays itself back in month {month}."
        )
        return Message.of(text, month=round(economics.break_even_month), **facts)
    return Message.of(noop("{system}: {load}; at most {power}; about {price} without VAT."), **facts)


def outgrown(said: Message, candidate: Candidate, workload: Workload) -> Message:
    """`said`, with the year in which the load outgrows the system and what must be bought then."""
    demand, carries = expected_demand(workload), candidate.headroom_factor
    times = ceil(demand / carries - 1e-9)
    if times < 2:
        return said
    rate = 1 + workload.growth.load_pct_per_year / 100
    year = next(
        (year for year in range(1, workload.growth.horizon_years + 1) if rate**year > carries * (1 + 1e-9)),
        workload.growth.horizon_years,
    )
    if times == 2:
        then = Message.of(
            noop(
                "In year {year} the load outgrows it: buy a second one or extend it, at most about {price}."
            ),
            year=year,
            price=Quantity(value=float(candidate.price_eur), unit="EUR", digits=3),
        )
    else:
        then = Message.of(
            noop(
                "In year {year} the load outgrows it: by year {last} you need {count} of them, or one so extended."
            ),
            year=year,
            last=workload.growth.horizon_years,
            count=times,
        )
    return Message.of(noop("{answer} {then}"), answer=said, then=then)


def _all_loads(candidate: Candidate, workload: Workload) -> Message:
    """Each load in a clause; several services are too much for one sentence."""
    loads = candidate.loads
    if len(workload.services) > 1:
        return Message.of(
            noop("carries all {count} kinds of work, up to {factor} today's peak"),
            count=len(loads),
            factor=Quantity(value=candidate.headroom_factor, unit="×", digits=2),
        )
    clause = does(loads[0], workload)
    for load in loads[1:]:
        clause = Message.of(noop("{clause}; {next}"), clause=clause, next=does(load, workload))
    return clause


def does(load: LoadOption, workload: Workload) -> Message:
    """What the system does with one load, in one clause with the cautious end of each promise."""
    speed = load.speed
    if load.kind == "serving" and speed.ttft_p95_s and speed.tokens_s_per_user:
        at_once = next(
            (
                service.concurrent_requests
                for service in workload.services
                if isinstance(service, LanguageService) and service.name == load.load
            ),
            1,
        )
        return Message.of(
            noop(
                "at the peak {requests} at once, the first word within {ttft} in 95 of 100 cases, then at least "
                "{rate} each"
            ),
            requests=Quantity(value=ceil(at_once - 1e-9), unit="requests", digits=15),
            ttft=Quantity(value=speed.ttft_p95_s.high, unit="s", digits=2),
            rate=Quantity(value=speed.tokens_s_per_user.low, unit="tokens/s", digits=2),
        )
    if speed.run_hours:
        hours = speed.run_hours
        if hours.high >= 72:
            return Message.of(
                noop("one run takes at most {days}"),
                days=Quantity(value=hours.high / 24, unit="days", digits=2),
            )
        return Message.of(
            noop("one run takes at most {hours}"), hours=Quantity(value=hours.high, unit="hours", digits=2)
        )
    if speed.items_s_per_gpu:
        return Message.of(
            noop("at least {rate}"),
            rate=load.rate_in_all,
        )
    return load.limited_by


def pros(draft: Draft, others: Sequence[Draft], workload: Workload, advised: bool) -> tuple[Message, ...]:
    rivals = [other for other in others if other is not draft]
    found = []
    if advised and rivals and expected_demand(workload) > 1:
        years = Quantity(value=workload.growth.horizon_years, unit="years", digits=1)
        found.append(Message.of(noop("The cheapest for the load that you expect in {years}."), years=years))
    least = min((other.headroom_factor for other in rivals), default=NARROW_HEADROOM)
    if not _serves(draft) or draft.headroom_factor > least:
        found.append(_carries(draft))
    if rivals and all(draft.price_eur < other.price_eur for other in rivals):
        found.append(Message.of(noop("The lowest price of the proposals.")))
    if rivals and all(draft.screened.wall_w < other.screened.wall_w for other in rivals):
        found.append(Message.of(noop("The lowest power draw of the proposals.")))
    if rivals and all(_lead(draft) < _lead(other) for other in rivals):
        found.append(Message.of(noop("The shortest lead time of the proposals.")))
    if any(load.spare_replicas for load in draft.loads):
        found.append(Message.of(noop("Keeps working when one accelerator fails.")))
    return tuple(found)


def _carries(draft: Draft) -> Message:
    if _serves(draft):
        factor = Quantity(value=draft.headroom_factor, unit="×", digits=2)
        return Message.of(noop("Carries {factor} today's peak."), factor=factor)
    share = Quantity(value=100 / draft.headroom_factor, unit="%", digits=2)
    return Message.of(noop("A run takes at most {share} of the time that you give it."), share=share)


def _serves(draft: Draft) -> bool:
    return any(not load.kind.endswith("training") for load in draft.loads)


def cons(draft: Draft, others: Sequence[Draft]) -> tuple[Message, ...]:
    rivals = [other for other in others if other is not draft]
    found = []
    if any(load.verdict is Verdict.TIGHT for load in draft.loads):
        found.append(Message.of(noop("Memory is tight: little is left for longer conversations.")))
    if draft.accelerator.availability is Availability.END_OF_SALE:
        text = noop("Sold while stock lasts: ask whether it can be delivered, also for a later extension.")
        found.append(Message.of(text))
    if any(_first_is_calculated(load) for load in draft.loads):
        found.append(
            Message.of(noop("The time to the first word is calculated; no run on this GPU timed it."))
        )
    if draft.headroom_factor < NARROW_HEADROOM:
        found.append(
            Message.of(noop("No room for growth.") if _serves(draft) else noop("No time for a setback."))
        )
    if rivals and all(draft.price_eur > other.price_eur for other in rivals):
        found.append(Message.of(noop("The highest price of the proposals.")))
    if rivals and all(draft.screened.wall_w > other.screened.wall_w for other in rivals):
        found.append(Message.of(noop("The highest power draw of the proposals.")))
    if draft.accelerator.architecture.startswith("Grace"):
        found.append(Message.of(noop("Arm processors: check that all your software runs on them.")))
    if any(load.portion and load.portion.kind == "mps" for load in draft.loads):
        found.append(Message.of(noop("Services share an accelerator without walls between them.")))
    if draft.screened.nodes == 1 and _serves(draft):
        found.append(Message.of(noop("One server: maintenance stops the service.")))
    return tuple(found)


def _first_is_calculated(load: LoadOption) -> bool:
    first, rate = load.speed.ttft_p95_s, load.speed.tokens_s_per_user
    return bool(first and rate and first.badge is Badge.EXTRAPOLATED and rate.badge is not Badge.EXTRAPOLATED)


def _lead(draft: Draft) -> int:
    return draft.screened.lead_time_weeks or 99
