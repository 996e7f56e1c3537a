"""Where the work is done: all at home, all in the cloud, peaks rented, or training and serving in different places.

The same work every time, so the totals can be laid beside each other. What is confidential never leaves the house.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

from catalog.quantity import Message, Quantity, noop
from catalog.specs import CatalogSnapshot
from configurator.workload import Workload
from quotes.pricing.money import cents
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.cliff import Walk
from quotes.sizing.hardware.compose import build_system
from quotes.sizing.knowledge import Knowledge
from quotes.sizing.money.renting import Rented, cheapest_rent
from quotes.sizing.money.running_costs import yearly_costs
from quotes.sizing.results import Candidate, Economics, LoadOption, PlacedWay, Refusal

type Options = Mapping[str, tuple[LoadOption, ...]]
"""By accelerator: the smallest option of each load."""


class Shop(NamedTuple):
    """Where everything comes from."""

    catalog: CatalogSnapshot
    assumptions: Assumptions
    knowledge: Knowledge
    options: Options


def placements(
    candidate: Candidate, money: Economics, workload: Workload, answer: Message, shop: Shop
) -> tuple[PlacedWay, ...]:
    """Every way that the data rules allow, cheapest first; all at home is always among them.

    Guarantee: the first is never dearer than owning all or renting all.
    """
    ways = [
        PlacedWay(
            key="own",
            label=Message.of(noop("All at home")),
            purchase_eur=money.purchase_eur,
            own_eur=money.total_eur,
            rent_eur=Decimal(0),
            sentence=answer,
        )
    ]
    if money.cloud is not None and money.cloud_total_eur is not None:
        ways += [_all_rented(money), *_peaks(candidate, money)]
    if workload.services and workload.jobs and workload.placement.cloud_allowed:
        ways += [way for trains in (False, True) if (way := _divided(candidate, workload, shop, trains))]
    return tuple(sorted(ways, key=lambda way: way.total_eur))


def leading(ways: tuple[PlacedWay, ...], workload: Workload) -> str:
    """The key of the way that a proposal leads with: what the customer prefers, where it is possible.

    'Both' and 'whatever is cheapest' lead with the cheapest way, which may turn out to be one place only. Whoever did
    not say, gets the own system.
    """
    wish = workload.placement.preference
    if not ways or "placement.preference" in workload.assumed:
        return "own"
    if wish in {"hybrid", "cheapest"}:
        return ways[0].key
    rented = {"cloud", "as_needed"} if wish == "cloud" else {wish}
    return next((way.key for way in ways if way.key in rented), "own")


# ── the ways ────────────────────────────────────────────────────────────────────────────────────────────────────


def _all_rented(money: Economics) -> PlacedWay:
    cloud, total = money.cloud, money.cloud_total_eur
    assert cloud is not None  # noqa: S101  asked only where something is rented
    assert total is not None  # noqa: S101
    text = noop(
        "Rent it: {count} × {accelerator} at {provider}, {region}: about {month} a month, {total} in {years}."
    )
    if not cloud.monthly_eur:
        text = noop("Rent it once: {count} × {accelerator} at {provider}, {region}: about {total}.")
    return PlacedWay(
        key="cloud",
        label=Message.of(noop("All in the cloud")),
        purchase_eur=Decimal(0),
        own_eur=Decimal(0),
        rent_eur=total,
        sentence=Message.of(
            text,
            count=cloud.instances,
            accelerator=cloud.machine,
            provider=cloud.provider,
            region=cloud.region,
            month=_eur(cloud.monthly_eur),
            total=_eur(total),
            years=_years(money.horizon_years),
        ),
    )


def _peaks(candidate: Candidate, money: Economics) -> list[PlacedWay]:
    """The cheapest mix of owning and renting by the hour of need, unless that is to own everything."""
    choices, owned = money.hybrid_choices, money.hybrid_gpus_owned
    if not choices or owned is None or owned >= choices[-1].gpus_owned:
        return []
    months = 12 * money.horizon_years
    chosen = next(choice for choice in choices if choice.gpus_owned == owned)
    own, rent = (cents(Decimal(repr(amount * months))) for amount in (chosen.own_eur, chosen.rent_eur))
    if not owned:
        return _as_needed(money, rent)
    share = Decimal(owned) / candidate.system.accelerators
    return [
        PlacedWay(
            key="peaks",
            label=Message.of(noop("The base at home, the peaks rented")),
            purchase_eur=cents(candidate.price_eur * share),
            own_eur=own,
            rent_eur=rent,
            sentence=Message.of(
                noop("Own {owned} of the {all} × {name} and rent the peaks: about {total} in {years}."),
                owned=owned,
                all=candidate.system.accelerators,
                name=candidate.accelerator_name,
                total=_eur(own + rent),
                years=_years(money.horizon_years),
            ),
        )
    ]


def _as_needed(money: Economics, rent_eur: Decimal) -> list[PlacedWay]:
    """Nothing owned, and in each hour only what that hour needs; told where it is cheaper than always the peak's."""
    cloud, total = money.cloud, money.cloud_total_eur
    if cloud is None or total is None or rent_eur >= total:
        return []
    return [
        PlacedWay(
            key="as_needed",
            label=Message.of(noop("All in the cloud, as many as each hour needs")),
            purchase_eur=Decimal(0),
            own_eur=Decimal(0),
            rent_eur=rent_eur,
            sentence=Message.of(
                noop(
                    "Rent up to {count} × {accelerator} at {provider}, {region}, by need: about {total} in {years}."
                ),
                count=cloud.instances,
                accelerator=cloud.machine,
                provider=cloud.provider,
                region=cloud.region,
                total=_eur(rent_eur),
                years=_years(money.horizon_years),
            ),
        )
    ]


def _divided(candidate: Candidate, workload: Workload, shop: Shop, trains: bool) -> PlacedWay | None:
    """Services and jobs in different places; `trains`: training at home. None when it cannot be or may not be."""
    services, jobs = (workload.model_copy(update={kind: ()}) for kind in ("jobs", "services"))
    home, away = (jobs, services) if trains else (services, jobs)
    if any(part.confidential for part in (*away.services, *away.jobs)):
        return None
    rent = _rented(away, shop)
    kept = _at_home(candidate, home, shop)
    if rent is None or kept is None:
        return None
    years = workload.growth.horizon_years
    own_eur, rent_eur = _owned_eur(kept, home, shop.assumptions), _exact(rent.total_eur(12 * years))
    text = (
        noop(
            "Train at home on {count} × {name} for about {price} and serve in the cloud for about {rent} in {years}."
        )
        if trains
        else noop(
            "Serve at home on {count} × {name} for about {price} and train in the cloud for about {rent} in {years}."
        )
    )
    return PlacedWay(
        key="services_out" if trains else "jobs_out",
        label=Message.of(
            noop("Training at home, serving in the cloud")
            if trains
            else noop("Serving at home, training in the cloud")
        ),
        purchase_eur=cents(kept.price_eur),
        own_eur=own_eur,
        rent_eur=rent_eur,
        sentence=Message.of(
            text,
            count=kept.system.accelerators,
            name=kept.accelerator_name,
            price=_eur(kept.price_eur),
            rent=_eur(rent_eur),
            years=_years(years),
        ),
    )


def _rented(away: Workload, shop: Shop) -> Rented | None:
    names = {part.name for part in (*away.services, *away.jobs)}
    options = {
        sku: tuple(load for load in loads if load.load in names) for sku, loads in shop.options.items()
    }
    return cheapest_rent(away, shop.catalog, shop.assumptions, options)


def _at_home(candidate: Candidate, home: Workload, shop: Shop) -> Candidate | None:
    """The cheapest system for a part of the work on the accelerator and in the server of the whole."""
    walk = Walk.of(candidate, home, shop.catalog, shop.assumptions, shop.knowledge)
    draft = walk.cheapest(1.0) if walk else None
    if walk is None or draft is None:
        return None
    count = draft.screened.accelerators
    system = build_system(
        walk.accelerator, walk.server, count, draft.loads, home, shop.catalog, shop.assumptions
    )
    if isinstance(system, Refusal):
        return None
    return candidate.model_copy(
        update={
            "loads": draft.loads,
            "system": system,
            "price_eur": draft.price_eur,
            "headroom_factor": draft.headroom_factor,
            "expected_w": system.power.expected_w,
        }
    )


def _owned_eur(kept: Candidate, home: Workload, assumptions: Assumptions) -> Decimal:
    """Purchase and running cost over the horizon, less the residual value."""
    running = sum(yearly_costs(kept, home, assumptions).values()) * home.growth.horizon_years
    price = float(kept.price_eur)
    return _exact(price * (1 - assumptions.residual_pct / 100) + running)


def _exact(amount: float) -> Decimal:
    return cents(Decimal(repr(amount)))


def _eur(amount: Decimal) -> Quantity:
    return Quantity(value=float(amount), unit="EUR", digits=3)


def _years(years: int) -> Quantity:
    return Quantity(value=years, unit="years", digits=1)
