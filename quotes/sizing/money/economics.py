"""Money over time: owning against renting the same work, like for like.

Everything is computed by month in floating point and rounded to cents where it leaves. Prices are without VAT.
A month has `Assumptions.hours_per_month` hours. Docs: docs/sizing/economics.md.
"""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from math import ceil

from catalog.quantity import Message, Quantity, noop
from catalog.specs import CatalogSnapshot, CloudOffer
from configurator.workload import Workload
from quotes.pricing.money import cents
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.money.break_even import break_even_hours, break_even_month
from quotes.sizing.money.explain import figures
from quotes.sizing.money.explain_ways import figures_of_ways
from quotes.sizing.money.growth import growth_phases
from quotes.sizing.money.hybrid import Split, best_split, busy_load
from quotes.sizing.money.owning import cumulative_eur, value_left_eur
from quotes.sizing.money.renting import Rented, busy_hours_per_month, cheapest_rent
from quotes.sizing.money.running_costs import busy_fraction, energy_factor, yearly_costs
from quotes.sizing.money.ways import alternative, lease_curve, leases, leases_known, rent_plans, token_cost
from quotes.sizing.results import Candidate, CostYears, Economics, LoadOption, OwnedShare, RentPlan
from quotes.sizing.trace import Finding, Severity

__all__ = ["break_even_hours", "break_even_month", "economics", "growth_phases"]


def economics(
    candidate: Candidate,
    workload: Workload,
    catalog: CatalogSnapshot,
    assumptions: Assumptions,
    *,
    purchase_eur: Decimal,
    on: date,
    cloud_options: Mapping[str, tuple[LoadOption, ...]],
) -> Economics:
    """Cost by month over the horizon, own and rented, with the break-even and its band."""
    years = workload.growth.horizon_years
    yearly = yearly_costs(candidate, workload, assumptions)
    own_month = sum(yearly.values()) / 12
    residual = value_left_eur(float(purchase_eur), assumptions.residual_pct)
    months = range(years * 12 + 1)
    rent = None
    findings: tuple[Finding, ...] = ()
    plans: tuple[RentPlan, ...] = ()
    if workload.is_confidential or not workload.placement.cloud_allowed:
        findings = (_no_cloud(),)
    else:
        rent = cheapest_rent(workload, catalog, assumptions, cloud_options)
        findings = _price_age(rent.offer, on, assumptions) if rent else (_no_offer(),)
        plans = rent_plans(
            workload,
            catalog,
            assumptions,
            cloud_options,
            rent,
            purchase_eur=float(purchase_eur),
            own_month=own_month,
        )
    yearly_eur = {key: _eur(value) for key, value in yearly.items()}
    residual_eur = _eur(residual)
    split = _hybrid(candidate, workload, assumptions, own_month, residual, rent) if rent else None
    busy = busy_fraction(workload, candidate.loads, assumptions)
    even, low, high = _band(purchase_eur, yearly, busy, rent, assumptions) if rent else (None, None, None)
    limit = years * 12
    total_eur = cents(purchase_eur) + sum(yearly_eur.values()) * years - residual_eur
    # Whoever leases ties up no money of their own.
    running_month = own_month - yearly.get("capital", 0) / 12
    leased = leases_known(float(purchase_eur), limit, assumptions)
    tokens = token_cost(candidate, workload, assumptions, total_eur)
    return Economics(
        horizon_years=years,
        purchase_eur=cents(purchase_eur),
        yearly_eur=yearly_eur,
        total_eur=total_eur,
        residual_eur=residual_eur,
        cloud=alternative(rent, catalog) if rent else None,
        cloud_total_eur=_eur(rent.total_eur(limit)) if rent else None,
        break_even_month=_within(even, limit),
        break_even_low=_within(low, limit),
        break_even_high=_within(high, limit),
        hybrid_gpus_owned=split.owned * candidate.loads[0].gpus_per_replica if split else None,
        hybrid_total_eur=_eur(split.monthly_eur * limit) if split else None,
        hybrid_choices=_choices(split, candidate) if split else (),
        leases=leases(leased, running_month, residual, limit),
        rents=plans,
        tokens=tokens,
        curve=CostYears(
            months=tuple(months),
            own_eur=_own_curve(float(purchase_eur), own_month, residual, limit),
            cloud_eur=tuple(rent.total_eur(month) for month in months) if rent else (),
            lease_eur=lease_curve(leased, running_month, residual, limit),
        ),
        figures=figures(candidate, workload, assumptions, yearly, rent, even, split)
        + tuple(figures_of_ways(float(purchase_eur), limit, leased, plans, tokens, assumptions)),
        findings=findings,
    )


def _own_curve(purchase_eur: float, own_eur_month: float, left_eur: float, limit: int) -> tuple[float, ...]:
    """Cumulative by month; the residual value comes off in the last one, so that it ends in the total."""
    paid = [cumulative_eur(purchase_eur, own_eur_month, month) for month in range(limit + 1)]
    paid[-1] -= left_eur
    return tuple(paid)


def _within(month: float | None, limit: float) -> float | None:
    return month if month is not None and month <= limit else None


def _band(
    purchase_eur: Decimal, yearly: Mapping[str, float], busy: float, rent: Rented, assumptions: Assumptions
) -> tuple[float | None, float | None, float | None]:
    """Break-even as computed, and when use, energy price and cloud price all lie at one end of their bands.

    More use and a dearer cloud pay back sooner, dearer energy later; more use also takes more energy.
    """
    purchase, own, energy = float(purchase_eur), sum(yearly.values()) / 12, yearly["energy"] / 12

    def at(side: int) -> float | None:
        use = 1 + side * assumptions.utilisation_band_pct / 100
        cloud = use * (1 + side * assumptions.cloud_price_band_pct / 100)
        power = energy_factor(use, busy, assumptions) * (1 - side * assumptions.electricity_band_pct / 100)
        return break_even_month(
            purchase, own + energy * (power - 1), rent.monthly_eur * cloud, rent.once_eur * cloud
        )

    return break_even_month(purchase, own, rent.monthly_eur, rent.once_eur), at(1), at(-1)


def _hybrid(
    candidate: Candidate,
    workload: Workload,
    assumptions: Assumptions,
    own_eur_month: float,
    residual_eur: float,
    rent: Rented,
) -> Split | None:
    """Own the base, rent the peaks, for a workload of one service; part of a system costs its share of the whole."""
    if len(workload.services) != 1 or workload.jobs:
        return None
    load, months = candidate.loads[0], workload.growth.horizon_years * 12
    own = own_eur_month + (float(candidate.price_eur) - residual_eur) / months
    at_the_peak = max(1, ceil((load.replicas - load.spare_replicas) / load.capacity_factor - 1e-9))
    rented_replica_eur_hour = float(rent.offer.hourly_eur) * rent.instances / at_the_peak
    return best_split(
        busy_load(workload.services[0]),
        at_the_peak,
        own / load.replicas,
        rented_replica_eur_hour,
        busy_hours_per_month(workload.services[0], assumptions),
        rent.fixed_eur_month,
    )


def _choices(split: Split, candidate: Candidate) -> tuple[OwnedShare, ...]:
    each = candidate.loads[0].gpus_per_replica
    return tuple(
        OwnedShare(gpus_owned=owned * each, own_eur=own, rent_eur=rent)
        for owned, (own, rent) in enumerate(zip(split.own_eur, split.rent_eur, strict=True))
    )


def _eur(amount: float) -> Decimal:
    return cents(Decimal(repr(amount)))


def _no_cloud() -> Finding:
    return Finding(
        severity=Severity.INFO,
        message=Message.of(
            noop("Your data may not leave the house, so there is no comparison with a cloud.")
        ),
        remedy=Message.of(noop("Change that answer if they may: renting is then set beside it.")),
        about="placement.cloud_allowed",
    )


def _price_age(offer: CloudOffer, on: date, assumptions: Assumptions) -> tuple[Finding, ...]:
    """The date of a cloud price moves break-even more than anything else, so an old or undated one is said."""
    remedy = Message.of(noop("Ask the provider for today's price before you decide."))
    if offer.priced_on is None:
        message = Message.of(noop("The date of the cloud price is not known."))
    else:
        days = (on - offer.priced_on).days
        if days <= assumptions.cloud_price_age_days:
            return ()
        message = Message.of(
            noop("The cloud price is {age} old."), age=Quantity(value=days / 30.4, unit="months", digits=2)
        )
    return (Finding(severity=Severity.INFO, message=message, about="placement", remedy=remedy),)


def _no_offer() -> Finding:
    return Finding(
        severity=Severity.INFO,
        message=Message.of(noop("The catalog has no current cloud offer in the EU that does the same work.")),
        about="placement",
    )
