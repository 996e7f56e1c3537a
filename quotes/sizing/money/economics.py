"""Money over time: owning against renting the same work, like for like.

Everything is computed by month in floating point and rounded to cents where it leaves. Prices are without VAT.
A month has `Assumptions.hours_per_month` hours. Docs: docs/sizing/economics.md.
"""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from math import ceil

import numpy as np

from catalog.quantity import Message, Quantity, noop
from catalog.specs import CatalogSnapshot, CloudOffer
from configurator.workload import Workload
from quotes.pricing.money import cents
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.money.explain import figures
from quotes.sizing.money.growth import growth_phases
from quotes.sizing.money.hybrid import Split, best_split, busy_load
from quotes.sizing.money.renting import Rented, busy_hours_per_month, cheapest_rent
from quotes.sizing.money.running_costs import energy_eur_per_year, yearly_costs
from quotes.sizing.results import Candidate, CloudAlternative, CostYears, Economics, LoadOption, OwnedShare
from quotes.sizing.trace import Finding, Severity

__all__ = ["break_even_hours", "break_even_month", "economics", "energy_eur_per_year", "growth_phases"]


def break_even_hours(capex_eur: float, cloud_eur_per_h: float, own_eur_per_h: float) -> float | None:
    """Hours of use after which owning has cost as much as renting; None = never."""
    saving = cloud_eur_per_h - own_eur_per_h
    return capex_eur / saving if saving > 0 else None


def break_even_month(
    purchase_eur: float, own_eur_month: float, cloud_eur_month: float, cloud_once_eur: float = 0
) -> float | None:
    """Months until owning has cost as much as renting: capex / (cloud rate − own running cost); None = never.

    What is rented once counts from the first month.
    """
    missing, saving = purchase_eur - cloud_once_eur, cloud_eur_month - own_eur_month
    if missing <= 0:
        return 0
    return missing / saving if saving > 0 else None


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
    residual = float(purchase_eur) * assumptions.residual_pct / 100
    months = np.arange(years * 12 + 1)
    rent = None
    findings: tuple[Finding, ...] = ()
    if workload.is_confidential or not workload.placement.cloud_allowed:
        findings = (_no_cloud(),)
    else:
        rent = cheapest_rent(workload, catalog, assumptions, cloud_options)
        findings = _price_age(rent.offer, on, assumptions) if rent else (_no_offer(),)
    yearly_eur = {key: _eur(value) for key, value in yearly.items()}
    residual_eur = _eur(residual)
    split = _hybrid(candidate, workload, assumptions, own_month, residual, rent) if rent else None
    even, low, high = _band(purchase_eur, yearly, rent, assumptions) if rent else (None, None, None)
    limit = years * 12
    return Economics(
        horizon_years=years,
        purchase_eur=cents(purchase_eur),
        yearly_eur=yearly_eur,
        total_eur=cents(purchase_eur) + sum(yearly_eur.values()) * years - residual_eur,
        residual_eur=residual_eur,
        cloud=_alternative(rent, catalog) if rent else None,
        cloud_total_eur=_eur(rent.total_eur(limit)) if rent else None,
        break_even_month=_within(even, limit),
        break_even_low=_within(low, limit),
        break_even_high=_within(high, limit),
        hybrid_gpus_owned=split.owned * candidate.loads[0].gpus_per_replica if split else None,
        hybrid_total_eur=_eur(split.monthly_eur * limit) if split else None,
        hybrid_choices=_choices(split, candidate) if split else (),
        curve=CostYears(
            months=tuple(int(month) for month in months),
            own_eur=tuple(float(value) for value in float(purchase_eur) + own_month * months),
            cloud_eur=tuple(rent.total_eur(float(month)) for month in months) if rent else (),
        ),
        figures=figures(candidate, workload, assumptions, yearly, rent, even, split),
        findings=findings,
    )


def _within(month: float | None, limit: float) -> float | None:
    return month if month is not None and month <= limit else None


def _band(
    purchase_eur: Decimal, yearly: Mapping[str, float], rent: Rented, assumptions: Assumptions
) -> tuple[float | None, float | None, float | None]:
    """Break-even as computed, and when use, energy price and cloud price all lie at one end of their bands.

    More use and a dearer cloud pay back sooner, dearer energy later; more use also takes more energy.
    """
    purchase, own, energy = float(purchase_eur), sum(yearly.values()) / 12, yearly["energy"] / 12

    def at(side: int) -> float | None:
        use = 1 + side * assumptions.utilisation_band_pct / 100
        cloud = use * (1 + side * assumptions.cloud_price_band_pct / 100)
        power = use * (1 - side * assumptions.electricity_band_pct / 100)
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
        assumptions.cloud_administration_h_per_month * assumptions.administration_eur_per_h,
    )


def _choices(split: Split, candidate: Candidate) -> tuple[OwnedShare, ...]:
    each = candidate.loads[0].gpus_per_replica
    return tuple(
        OwnedShare(gpus_owned=owned * each, own_eur=own, rent_eur=rent)
        for owned, (own, rent) in enumerate(zip(split.own_eur, split.rent_eur, strict=True))
    )


def _alternative(rent: Rented, catalog: CatalogSnapshot) -> CloudAlternative:
    offer = rent.offer
    item = catalog.items.get(offer.accelerator_sku or "")
    return CloudAlternative(
        offer=offer.sku,
        provider=offer.vendor,
        region=offer.region,
        accelerator=item.name if item else (offer.accelerator_sku or ""),
        instances=rent.instances,
        plan=offer.plan,
        hourly_eur=offer.hourly_eur,
        hours_per_month=rent.hours_per_month,
        monthly_eur=_eur(rent.monthly_eur),
        priced_on=offer.priced_on,
        reason=Message.of(
            noop("Sized for the same load; rented for {hours} a month and stopped outside the busy hours."),
            hours=Quantity(value=rent.hours_per_month, unit="hours", digits=3),
        ),
    )


def _eur(amount: float) -> Decimal:
    return cents(Decimal(repr(amount)))


def _no_cloud() -> Finding:
    return Finding(
        severity=Severity.INFO,
        message=Message.of(
            noop("Your data may not leave the house, so there is no comparison with a cloud.")
        ),
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
