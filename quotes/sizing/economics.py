"""Money over time: owning against renting the same work, like for like, and how it grows.

Everything is computed by month in floating point and rounded to cents where it leaves. Prices are without VAT.
A month has `Assumptions.hours_per_month` hours. Source of the running-cost defaults: each assumption names its own.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from math import ceil
from typing import NamedTuple

import numpy as np

from catalog.quantity import Message, Quantity, noop
from catalog.specs import CatalogSnapshot, CloudOffer
from configurator.workload import LoadProfile, SiteKind, Workload
from quotes.pricing.money import cents
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.hybrid import Split, best_split
from quotes.sizing.results import (
    Candidate,
    CloudAlternative,
    CostYears,
    Economics,
    GrowthPhase,
    LoadOption,
)
from quotes.sizing.trace import Figure, Finding, Input, Severity

HOURS_PER_YEAR = 8760
HOURS_PER_WEEK = 168
JOINED_INSTANCE_GPUS = 8


# ── running cost of an own system ───────────────────────────────────────────────────────────────────────────────


def electricity_eur_per_kwh(workload: Workload, assumptions: Assumptions) -> float:
    """The customer's contract price, else the assumption."""
    answered = workload.site.electricity_eur_kwh
    return float(answered) if answered is not None else assumptions.electricity_eur_per_kwh


def pue(workload: Workload, assumptions: Assumptions) -> float:
    """The site's own figure, else the assumption for its kind."""
    if workload.site.pue is not None:
        return workload.site.pue
    shared = workload.site.kind in {SiteKind.COLOCATION, SiteKind.DATA_HALL}
    return assumptions.pue_colocation if shared else assumptions.pue_own_room


def energy_eur_per_year(wall_w: float, workload: Workload, assumptions: Assumptions) -> float:
    """kW × load factor × 8,760 h × PUE × €/kWh; `wall_w` is the maximum at the wall."""
    kwh = wall_w / 1000 * assumptions.load_factor_fraction * HOURS_PER_YEAR * pue(workload, assumptions)
    return kwh * electricity_eur_per_kwh(workload, assumptions)


def yearly_costs(candidate: Candidate, workload: Workload, assumptions: Assumptions) -> dict[str, float]:
    """Running cost a year by kind, euro. Support is a line of the purchase and not counted twice."""
    system = candidate.system
    hours = assumptions.administration_h_per_month
    hours += assumptions.administration_extra_h_per_node * max(system.nodes - 1, 0)
    costs = {
        "energy": energy_eur_per_year(system.power.wall_w, workload, assumptions),
        "administration": hours * 12 * assumptions.administration_eur_per_h,
        "spares": float(candidate.price_eur) * assumptions.spares_pct_per_year / 100,
    }
    if workload.site.kind is SiteKind.COLOCATION:
        costs["housing"] = system.power.provision_w / 1000 * 12 * assumptions.colocation_eur_per_kw_month
    return costs


# ── the cloud, like for like ────────────────────────────────────────────────────────────────────────────────────


def busy_hours_per_month(profile: LoadProfile, assumptions: Assumptions) -> float:
    weekly = {
        LoadProfile.OFFICE_HOURS: assumptions.office_hours_per_week,
        LoadProfile.EXTENDED: assumptions.extended_hours_per_week,
        LoadProfile.NIGHTS: assumptions.night_hours_per_week,
        LoadProfile.ALWAYS: HOURS_PER_WEEK,
    }[profile]
    return weekly / HOURS_PER_WEEK * assumptions.hours_per_month


class Rented(NamedTuple):
    """One way to rent the work: instances and hours a month per load, and what that costs."""

    offer: CloudOffer
    instances: int
    hours_per_month: float  # of the busiest load
    monthly_eur: float
    once_eur: float  # jobs that run a single time

    def total_eur(self, months: float) -> float:
        return self.once_eur + self.monthly_eur * months


def rented(
    offer: CloudOffer, loads: Sequence[LoadOption], workload: Workload, assumptions: Assumptions
) -> Rented:
    """Instances are rented whole and stopped outside the busy hours; jobs are rented by the hour they run."""
    profiles = {service.name: service.profile for service in workload.services}
    single_runs = {job.name for job in workload.jobs if job.runs_per_month == 0}
    instances, busiest, monthly, once = 0, 0.0, 0.0, 0.0
    for load in loads:
        count = ceil(load.gpus / offer.accelerator_count)
        rate = count * float(offer.hourly_eur)
        if load.load in profiles:
            hours = busy_hours_per_month(profiles[load.load], assumptions)
        else:
            hours = load.gpu_hours_per_month / load.gpus
        if load.load in single_runs and load.speed.run_hours:
            once += rate * load.speed.run_hours.value
        instances = max(instances, count)
        busiest = max(busiest, hours)
        monthly += rate * hours
    if monthly:
        monthly += assumptions.cloud_administration_h_per_month * assumptions.administration_eur_per_h
    return Rented(offer, instances, busiest, monthly, once)


def cheapest_rent(
    workload: Workload,
    catalog: CatalogSnapshot,
    assumptions: Assumptions,
    cloud_options: Mapping[str, tuple[LoadOption, ...]],
) -> Rented | None:
    """The cheapest current on-demand offer in the EU on which the loads were sized and hold their targets."""
    return min(
        (
            rented(offer, cloud_options[offer.accelerator_sku], workload, assumptions)
            for offer in catalog.cloud_offers
            if _comparable(offer) and offer.accelerator_sku in cloud_options
            if _one_instance_holds(offer, cloud_options[offer.accelerator_sku])
        ),
        key=lambda found: found.total_eur(workload.growth.horizon_years * 12),
        default=None,
    )


def _comparable(offer: CloudOffer) -> bool:
    return offer.in_eu and not offer.historic and offer.plan == "on_demand" and offer.accelerator_count > 0


def _one_instance_holds(offer: CloudOffer, loads: Sequence[LoadOption]) -> bool:
    """A replica never spans two rented machines; training does, but only machines made to be joined."""
    return all(
        load.gpus_in_one_node <= offer.accelerator_count
        and (
            not load.kind.endswith("training")
            or load.gpus <= offer.accelerator_count
            or _can_be_joined(offer)
        )
        for load in loads
    )


def _can_be_joined(offer: CloudOffer) -> bool:
    """Whole 8-GPU instances come with a fast network between them; smaller ones do not."""
    return offer.accelerator_count >= JOINED_INSTANCE_GPUS


# ── the comparison ──────────────────────────────────────────────────────────────────────────────────────────────


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
        findings = () if rent else (_no_offer(),)
    split = _hybrid(candidate, workload, assumptions, own_month, residual, rent) if rent else None
    even, low, high = _band(purchase_eur, yearly, rent, assumptions) if rent else (None, None, None)
    limit = years * 12
    return Economics(
        horizon_years=years,
        purchase_eur=cents(purchase_eur),
        yearly_eur={key: _eur(value) for key, value in yearly.items()},
        total_eur=_eur(float(purchase_eur) + own_month * limit - residual),
        residual_eur=_eur(residual),
        cloud=_alternative(rent, catalog) if rent else None,
        cloud_total_eur=_eur(rent.total_eur(limit)) if rent else None,
        break_even_month=_within(even, limit),
        break_even_low=_within(low, limit),
        break_even_high=_within(high, limit),
        hybrid_gpus_owned=split.owned * candidate.loads[0].gpus_per_replica if split else None,
        hybrid_total_eur=_eur(split.monthly_eur * limit) if split else None,
        curve=CostYears(
            months=tuple(int(month) for month in months),
            own_eur=tuple(float(value) for value in float(purchase_eur) + own_month * months),
            cloud_eur=tuple(rent.total_eur(float(month)) for month in months) if rent else (),
        ),
        figures=_figures(candidate, workload, assumptions, yearly, rent, even),
        findings=findings,
    )


def _within(month: float | None, limit: float) -> float | None:
    return month if month is not None and month <= limit else None


def _band(
    purchase_eur: Decimal, yearly: Mapping[str, float], rent: Rented, assumptions: Assumptions
) -> tuple[float | None, float | None, float | None]:
    """Break-even with the prices as they are, and with energy and cloud prices at the ends of their bands."""
    purchase, own = float(purchase_eur), sum(yearly.values()) / 12
    swing = yearly["energy"] / 12 * assumptions.electricity_band_pct / 100
    spread = assumptions.cloud_price_band_pct / 100
    return (
        break_even_month(purchase, own, rent.monthly_eur, rent.once_eur),
        break_even_month(
            purchase, own - swing, rent.monthly_eur * (1 + spread), rent.once_eur * (1 + spread)
        ),
        break_even_month(
            purchase, own + swing, rent.monthly_eur * (1 - spread), rent.once_eur * (1 - spread)
        ),
    )


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
        workload.services[0].profile,
        at_the_peak,
        own / load.replicas,
        rented_replica_eur_hour,
        busy_hours_per_month(workload.services[0].profile, assumptions),
        assumptions.cloud_administration_h_per_month * assumptions.administration_eur_per_h,
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


def _no_offer() -> Finding:
    return Finding(
        severity=Severity.INFO,
        message=Message.of(noop("The catalog has no current cloud offer in the EU that does the same work.")),
        about="placement",
    )


# ── explaining ──────────────────────────────────────────────────────────────────────────────────────────────────


def _figures(
    candidate: Candidate,
    workload: Workload,
    assumptions: Assumptions,
    yearly: Mapping[str, float],
    rent: Rented | None,
    even: float | None,
) -> tuple[Figure, ...]:
    energy = Figure(
        key="energy_eur_per_year",
        label=Message.of(noop("Energy a year")),
        value=_money(yearly["energy"]),
        formula="power × load_factor × 8760 h × PUE × price",
        inputs=(
            _input(noop("power at the wall"), candidate.system.power.wall_w / 1000, "kW", "catalog"),
            _assumed(noop("load factor"), assumptions.load_factor_fraction, "", "load_factor_fraction"),
            _input_or_assumed(
                noop("PUE"), pue(workload, assumptions), "", workload.site.pue is not None, _pue_key(workload)
            ),
            _input_or_assumed(
                noop("price of electricity"),
                electricity_eur_per_kwh(workload, assumptions),
                "EUR/kWh",
                workload.site.electricity_eur_kwh is not None,
                "electricity_eur_per_kwh",
            ),
        ),
    )
    if rent is None:
        return (energy,)
    own = Figure(
        key="cloud_eur_per_month",
        label=Message.of(noop("The same work in the cloud, a month")),
        value=_money(rent.monthly_eur),
        formula="instances × hours × price_per_hour + administration",
        inputs=(
            _input(noop("instances"), rent.instances, "", "sizing on the rented accelerator"),
            _input(noop("hours a month"), rent.hours_per_month, "h", "load profile"),
            _input(noop("price an hour"), float(rent.offer.hourly_eur), "EUR", rent.offer.provenance.source),
            _assumed(
                noop("administration"),
                assumptions.cloud_administration_h_per_month,
                "h",
                "cloud_administration_h_per_month",
            ),
        ),
    )
    if even is None:
        return energy, own
    month = Figure(
        key="break_even_month",
        label=Message.of(noop("Paid back after")),
        value=Quantity(value=even, unit="months", digits=2),
        formula="purchase / (cloud_a_month − running_cost_a_month)",
        inputs=(
            _input(noop("purchase"), float(candidate.price_eur), "EUR", "bill of materials"),
            _input(noop("cloud a month"), rent.monthly_eur, "EUR", "above"),
            _input(noop("running cost a month"), sum(yearly.values()) / 12, "EUR", "above"),
        ),
    )
    return energy, own, month


def _pue_key(workload: Workload) -> str:
    shared = workload.site.kind in {SiteKind.COLOCATION, SiteKind.DATA_HALL}
    return "pue_colocation" if shared else "pue_own_room"


def _money(value: float) -> Quantity:
    return Quantity(value=value, unit="EUR", digits=3)


def _input(name: str, value: float, unit: str, source: str) -> Input:
    return Input(name=Message.of(name), value=Quantity(value=value, unit=unit, digits=4), source=source)


def _assumed(name: str, value: float, unit: str, key: str) -> Input:
    return Input(
        name=Message.of(name),
        value=Quantity(value=value, unit=unit, digits=4),
        source="assumption",
        assumption=key,
    )


def _input_or_assumed(name: str, value: float, unit: str, answered: bool, key: str) -> Input:
    return _input(name, value, unit, "answer") if answered else _assumed(name, value, unit, key)


# ── growth ──────────────────────────────────────────────────────────────────────────────────────────────────────


def growth_phases(
    candidate: Candidate, workload: Workload, assumptions: Assumptions
) -> tuple[GrowthPhase, ...]:
    """Demand year by year against what the system carries; when it no longer does, how many servers to add."""
    rate = 1 + workload.growth.load_pct_per_year / 100
    system = candidate.system
    per_node = system.accelerators / system.nodes
    phases = []
    for year in range(workload.growth.horizon_years + 1):
        demand = rate**year
        nodes = max(system.nodes, ceil(system.nodes * demand / max(candidate.headroom_factor, 1e-9) - 1e-9))
        phases.append(
            GrowthPhase(
                year=year,
                demand_factor=demand,
                gpus=round(nodes * per_node),
                nodes=nodes,
                note=_growth_note(nodes, phases[-1].nodes if phases else system.nodes),
            )
        )
    return tuple(phases)


def _growth_note(nodes: int, before: int) -> Message:
    if nodes == before:
        return Message.of(noop("Nothing to add."))
    if nodes - before == 1:
        return Message.of(noop("Add one server; keep rack space, power and network ports for it."))
    return Message.of(
        noop("Add {count} servers; keep rack space, power and network ports for them."), count=nodes - before
    )
