"""Renting the same work: which instances, how many, for how many hours.

Like for like: the loads were sized on the rented accelerator with the same targets, not priced per card.
"""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import NamedTuple

from catalog.specs import CatalogSnapshot, CloudOffer
from configurator.workload import LoadProfile, Service, Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.money.hybrid import counted_share
from quotes.sizing.results import LoadOption

HOURS_PER_WEEK = 168
JOINED_INSTANCE_GPUS = 8


def busy_hours_per_month(service: Service, assumptions: Assumptions) -> float:
    """Hours in which a service is used at all, by its counts or by its profile."""
    if service.profile is LoadProfile.COUNTED:
        return counted_share(service) * assumptions.hours_per_month
    weekly = {
        LoadProfile.OFFICE_HOURS: assumptions.office_hours_per_week,
        LoadProfile.EXTENDED: assumptions.extended_hours_per_week,
        LoadProfile.NIGHTS: assumptions.night_hours_per_week,
        LoadProfile.SEASONAL: assumptions.office_hours_per_week,
        LoadProfile.ALWAYS: HOURS_PER_WEEK,
    }[service.profile]
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
    services = {service.name: service for service in workload.services}
    single_runs = {job.name for job in workload.jobs if job.runs_per_month == 0}
    instances, busiest, monthly, once = 0, 0.0, 0.0, 0.0
    for load in loads:
        count = ceil(load.gpus / offer.accelerator_count)
        rate = count * float(offer.hourly_eur)
        if load.load in services:
            hours = busy_hours_per_month(services[load.load], assumptions)
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
    months = workload.growth.horizon_years * 12
    found = []
    for offer in catalog.cloud_offers:
        loads = cloud_options.get(offer.accelerator_sku or "")
        if loads and _comparable(offer) and _one_instance_holds(offer, loads):
            found.append(rented(offer, loads, workload, assumptions))
    return min(found, key=lambda rent: rent.total_eur(months), default=None)


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
