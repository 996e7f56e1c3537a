"""What remains when a hard limit of the site is exceeded: less now and more later, a power cap, or a colocation.

Each alternative has its price and its price in speed. A cap is priced by what is known of it: a chip under a cap is
never slower than its power above idle allows, and a load that stays below the cap loses nothing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from catalog.quantity import Message, Quantity, Span, noop
from catalog.specs import AcceleratorSpec, CatalogSnapshot, FormFactor, ServerSpec
from configurator.workload import LanguageService, Site, SiteKind, Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.candidates import Draft, best_backed
from quotes.sizing.hardware.compose import Wish, screen_system
from quotes.sizing.results import Refusal, SiteAlternative, SiteLimits

type Search = Callable[[Workload, CatalogSnapshot], Sequence[Draft]]
"""Every legal system for a workload with a catalog."""

SHARES = (0.9, 0.75, 0.5, 0.25, 0.1)  # of today's demand, tried from the largest
CAPS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4)  # of the accelerators' rated power
CAPPABLE = frozenset(
    {FormFactor.SXM, FormFactor.OAM, FormFactor.PCIE}
)  # superchips share one limit with their CPU
WORTH_TELLING = Decimal("0.9")  # of the price inside the limits: a smaller saving is no reason to move
COLOCATION = Site(
    kind=SiteKind.COLOCATION, cooling=frozenset({"air", "rear_door", "liquid"}), feed_amps=63, feed_phases=3
)
"""What a data centre for AI lets: no limit that a single customer would meet."""


class Asked(NamedTuple):
    """What is needed to look for alternatives."""

    workload: Workload
    catalog: CatalogSnapshot
    assumptions: Assumptions
    search: Search


def site_limits(inside: Draft | None, asked: Asked) -> SiteLimits | None:
    """What the limits of the site cost, and what to do about it; None when they cost nothing worth telling.

    `inside`: the cheapest system within the limits, None when there is none. Guarantee: nothing that is called possible
    exceeds a limit of the site, but the colocation, which stands elsewhere.
    """
    anywhere = elsewhere(asked.workload)
    unlimited = asked.search(anywhere, asked.catalog)
    free = cheapest(unlimited)
    if free is None or (inside and free.price_eur > inside.price_eur * WORTH_TELLING):
        return None
    refusal = _refusal(free, asked)
    if refusal is None:
        return None
    cap, place = _capped(inside, unlimited, asked), _colocation(free, asked)
    if inside is None:
        alternatives = [_phased(free, anywhere, asked), cap, place]
    else:  # something fits: only what would be cheaper is worth a word
        alternatives = [cap, place] if cap.possible else [place]
    exceeded = Message.of(
        noop(
            "The cheapest system for this work, {count} × {name} for about {price}, does not fit the site. {reason}"
        ),
        count=free.screened.accelerators,
        name=free.accelerator.name,
        price=Quantity(value=float(free.price_eur), unit="EUR", digits=3),
        reason=refusal.reason,
    )
    return SiteLimits(exceeded=exceeded, alternatives=tuple(alternatives))


def elsewhere(workload: Workload) -> Workload:
    """The same work at a site without limits."""
    return workload.model_copy(update={"site": COLOCATION})


def cheapest(drafts: Sequence[Draft]) -> Draft | None:
    """Of the systems that measurements back most."""
    return min(best_backed(drafts), key=lambda draft: (draft.price_eur, draft.screened.wall_w), default=None)


def _refusal(free: Draft, asked: Asked) -> Refusal | None:
    """The limit of the site that this system exceeds."""
    server = next(row for row in asked.catalog.servers if row.sku == free.screened.server)
    wish = Wish(free.screened.accelerators, free.loads, asked.workload, asked.assumptions)
    answer = screen_system(free.accelerator, server, wish, asked.catalog)
    return answer if isinstance(answer, Refusal) and answer.stage == "site" else None


# ── less now, more later ────────────────────────────────────────────────────────────────────────────────────────


def _phased(free: Draft, anywhere: Workload, asked: Asked) -> SiteAlternative:
    found = _largest_part(asked)
    if found:
        share, now = found
        rest = cheapest(asked.search(part_of(anywhere, 1 - share), asked.catalog))
        return _alternative(
            "phased",
            now,
            said=Message.of(
                noop(
                    "Start with what the site carries; place the rest when the site has grown by about {power}."
                ),
                power=_kw(rest.screened.provision_w if rest else free.screened.provision_w),
            ),
            in_speed=_slower(asked.workload, share),
            speed=(share, share),
            later_eur=rest.price_eur if rest else None,
        )
    return _none(
        "phased",
        Message.of(
            noop("Not possible: even {share} of the work does not fit the site."), share=_percent(SHARES[-1])
        ),
    )


def _largest_part(asked: Asked) -> tuple[float, Draft] | None:
    """How much of the work fits the site, on what; rather less than on accelerators that nobody published runs of."""
    unheard = None
    for share in SHARES:
        now = cheapest(asked.search(part_of(asked.workload, share), asked.catalog))
        if now and now.backing:
            return share, now
        unheard = unheard or (now and (share, now))
    return unheard


def _slower(workload: Workload, share: float) -> Message:
    longer = Quantity(value=1 / share, unit="×", digits=2)
    if not workload.services:
        return Message.of(noop("Until then a run takes {longer} as long as you allow."), longer=longer)
    if not workload.jobs:
        return Message.of(
            noop("Until then {share} of the peak load; the rest waits or is refused."), share=_percent(share)
        )
    return Message.of(
        noop("Until then {share} of the peak load, and a run takes {longer} as long as you allow."),
        share=_percent(share),
        longer=longer,
    )


def part_of(workload: Workload, share: float) -> Workload:
    """The same work at `share` of the demand: fewer requests at once, fewer items a second, later deadlines."""
    services = tuple(
        service.model_copy(
            update={"concurrent_requests": max(service.concurrent_requests * share, 1.0)}
            if isinstance(service, LanguageService)
            else {"items_s": service.items_s * share}
        )
        for service in workload.services
    )
    jobs = tuple(job.model_copy(update={"deadline_h": job.deadline_h / share}) for job in workload.jobs)
    return workload.model_copy(update={"services": services, "jobs": jobs})


# ── a power cap ─────────────────────────────────────────────────────────────────────────────────────────────────


def _capped(inside: Draft | None, unlimited: Sequence[Draft], asked: Asked) -> SiteAlternative:
    """The mildest cap under which a system fits that does not fit without it, built as it may be built without one."""
    most = _most_per_server(unlimited)
    for cap in CAPS:
        if cap < asked.assumptions.power_cap_lowest_fraction:
            break
        drafts = [
            draft
            for draft in asked.search(asked.workload, capped(asked.catalog, cap))
            if draft.accelerator.form_factor in CAPPABLE and _per_server(draft) <= most.get(_pair(draft), 0)
        ]
        best = cheapest(drafts)
        if best is None or (inside and best.price_eur > inside.price_eur * WORTH_TELLING):
            continue
        low = speed_floor(cap, asked.assumptions)
        return _alternative(
            "power_cap",
            best,
            said=Message.of(
                noop("Limit each accelerator to {watts}, {cap} of its power, in its driver: then the site suffices."),
                watts=Quantity(value=best.accelerator.power_w or 0, unit="W", digits=3),
                cap=_percent(cap),
            ),
            in_speed=Message.of(
                noop(
                    "{range} of the speed: writing answers hardly slows down, reading long texts and training do most."
                    " What you ask is certain without a cap only."
                ),
                range=Span(low=low * 100, high=100, unit="%", digits=2),
            ),
            speed=(low, 1.0),
        )  # fmt: skip
    return _none(
        "power_cap",
        Message.of(
            noop("Not possible: even at {cap} of the accelerators' power nothing fits."),
            cap=_percent(asked.assumptions.power_cap_lowest_fraction),
        ),
    )


def _pair(draft: Draft) -> tuple[str, str]:
    return draft.accelerator.sku, draft.screened.server


def _per_server(draft: Draft) -> int:
    return draft.screened.accelerators // draft.screened.nodes


def _most_per_server(drafts: Sequence[Draft]) -> dict[tuple[str, str], int]:
    """How many of each accelerator each server takes where no site limits it: what its own supplies carry."""
    most: dict[tuple[str, str], int] = {}
    for draft in drafts:
        most[_pair(draft)] = max(_per_server(draft), most.get(_pair(draft), 0))
    return most


def capped(catalog: CatalogSnapshot, cap: float) -> CatalogSnapshot:
    """The catalog with every card and board limited to `cap` of its rated power, and planning figures lowered by it.

    A maker's planning figure is of a server full of its hungriest accelerators: it sinks by what those save. Feeds are
    sized on the computed watts where these are higher, so a figure for smaller ones is never understated.
    """
    saved: dict[str, float] = {}
    accelerators: list[AcceleratorSpec] = []
    for one in catalog.accelerators:
        if one.form_factor in CAPPABLE and one.power_w:
            saved[one.sku] = one.power_w * (1 - cap)
            one = one.model_copy(update={"power_w": one.power_w * cap})
        accelerators.append(one)
    servers = tuple(_sunk(server, cap, saved) for server in catalog.servers)
    return catalog.model_copy(
        update={
            "accelerators": tuple(accelerators),
            "servers": servers,
            "version": f"{catalog.version} capped {cap}",
        }
    )


def _sunk(server: ServerSpec, cap: float, saved: Mapping[str, float]) -> ServerSpec:
    """What the slots allow sinks alike, so that a cap admits no card that they do not take without it."""
    changes: dict[str, float] = {}
    if server.accelerator_power_max_w is not None:
        changes["accelerator_power_max_w"] = server.accelerator_power_max_w * cap
    if server.planning_power_w is not None:
        most = max((saved.get(sku, 0.0) for sku in server.accelerators), default=0.0)
        changes["planning_power_w"] = max(server.planning_power_w - most * server.max_accelerators, 0)
    return server.model_copy(update=changes) if changes else server


def speed_floor(cap: float, assumptions: Assumptions) -> float:
    """The least speed under a cap, as a share of the full speed: power above idle buys speed at worst in proportion."""
    idle = assumptions.accelerator_idle_fraction
    return max((cap - idle) / (1 - idle), 0)


# ── elsewhere ───────────────────────────────────────────────────────────────────────────────────────────────────


def _colocation(free: Draft, asked: Asked) -> SiteAlternative:
    kw = free.screened.provision_w / 1000
    monthly = Decimal(round(kw * asked.assumptions.colocation_eur_per_kw_month))
    return _alternative(
        "colocation",
        free,
        said=Message.of(
            noop(
                "Place the system in a data centre giving {power}: about {rent} a month for the place, without energy."
            ),
            power=_kw(free.screened.provision_w),
            rent=Quantity(value=float(monthly), unit="EUR", digits=2),
        ),
        in_speed=Message.of(noop("None: everything you ask, over a network connection to the data centre.")),
        speed=(1.0, 1.0),
        monthly_eur=monthly,
    )


# ── shapes ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _alternative(
    kind: str,
    draft: Draft,
    *,
    said: Message,
    in_speed: Message,
    speed: tuple[float, float],
    monthly_eur: Decimal | None = None,
    later_eur: Decimal | None = None,
) -> SiteAlternative:
    return SiteAlternative.model_validate(
        {
            "kind": kind,
            "said": said,
            "accelerator": draft.accelerator.sku,
            "accelerator_name": draft.accelerator.name,
            "accelerators": draft.screened.accelerators,
            "nodes": draft.screened.nodes,
            "price_eur": draft.price_eur,
            "later_eur": later_eur,
            "monthly_eur": monthly_eur,
            "power_kw": draft.screened.provision_w / 1000,
            "speed_low": speed[0],
            "speed_high": speed[1],
            "in_speed": in_speed,
        }
    )


def _none(kind: str, why: Message) -> SiteAlternative:
    return SiteAlternative.model_validate({"kind": kind, "possible": False, "said": why})


def _kw(watts: float) -> Quantity:
    return Quantity(value=watts / 1000, unit="kW", digits=3)


def _percent(share: float) -> Quantity:
    return Quantity(value=share * 100, unit="%", digits=2)


def used_assumptions(limits: SiteLimits | None) -> Iterator[str]:
    """Keys of the assumptions that the alternatives rest on."""
    if limits is None:
        return
    for alternative in limits.alternatives:
        if alternative.possible and alternative.kind == "power_cap":
            yield from ("accelerator_idle_fraction", "power_cap_lowest_fraction")
        if alternative.kind == "colocation":
            yield "colocation_eur_per_kw_month"
