"""Renting the same work: which instances, how many, for how many hours.

Like for like: the loads were sized on the rented accelerator with the same targets, not priced per card.
"""

from collections.abc import Collection, Mapping, Sequence
from math import ceil
from typing import Literal, NamedTuple

from catalog.specs import CatalogSnapshot, CloudOffer
from configurator.workload import LoadProfile, Service, Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.money.hybrid import counted_share
from quotes.sizing.results import LoadOption

type Plan = Literal["on_demand", "reserved_1y", "reserved_3y", "spot"]

RESERVED_YEARS: Mapping[Plan, int] = {"reserved_1y": 1, "reserved_3y": 3}
HOURS_PER_WEEK = 168
BUSY_HOURS = {
    LoadProfile.OFFICE_HOURS: "office_hours_per_week",
    LoadProfile.EXTENDED: "extended_hours_per_week",
    LoadProfile.NIGHTS: "night_hours_per_week",
    LoadProfile.SEASONAL: "office_hours_per_week",
}
JOINED_INSTANCE_GPUS = 8


def busy_hours_per_month(service: Service, assumptions: Assumptions) -> float:
    """Hours in which a service is used at all, by its counts or by its profile."""
    if service.profile is LoadProfile.COUNTED:
        return counted_share(service) * assumptions.hours_per_month
    key = busy_hours_key(service)
    weekly = getattr(assumptions, key) if key else HOURS_PER_WEEK
    return float(weekly / HOURS_PER_WEEK * assumptions.hours_per_month)


def busy_hours_key(service: Service) -> str:
    """Name of the assumption that says how many hours a week a service is used; empty for none."""
    return BUSY_HOURS.get(service.profile, "")


class Rented(NamedTuple):
    """One way to rent the work: instances and hours a month per load, and what that costs."""

    offer: CloudOffer
    instances: int
    hours_per_month: float  # of the busiest load
    monthly_eur: float
    once_eur: float  # jobs that run a single time
    once_hours: float = 0
    storage_eur_month: float = 0  # with what leaves the cloud; within `monthly_eur`
    administration_eur_month: float = 0  # within `monthly_eur`
    hourly_eur: float = 0  # of one instance, by the plan
    instance_hours_month: float = 0  # all loads together
    once_instance_hours: float = 0
    estimated: bool = False  # the offer's price less an assumed discount

    def total_eur(self, months: float) -> float:
        return self.once_eur + self.monthly_eur * months

    @property
    def fixed_eur_month(self) -> float:
        """What a month costs whatever the hours."""
        return self.storage_eur_month + self.administration_eur_month


class Priced(NamedTuple):
    """What an hour of an offer's instance costs by a plan."""

    offer: CloudOffer
    hourly_eur: float
    estimated: bool = False


def rented(
    priced: Priced,
    loads: Sequence[LoadOption],
    workload: Workload,
    assumptions: Assumptions,
    plan: Plan = "on_demand",
) -> Rented:
    """Instances are rented whole and stopped outside the busy hours; jobs are rented by the hour they run.

    Reserved ones are paid for every hour. Machines that may be taken away take longer: only a share of the time counts.
    """
    services = {service.name: service for service in workload.services}
    single_runs = {job.name for job in workload.jobs if job.runs_per_month == 0}
    useful = assumptions.spot_useful_fraction if plan == "spot" else 1
    instances, busiest, instance_hours, once_instance_hours, once_hours = 0, 0.0, 0.0, 0.0, 0.0
    for load in loads:
        count = ceil(load.gpus / priced.offer.accelerator_count)
        if load.load in single_runs:
            hours = 0.0
            run = load.speed.run_hours.value / useful if load.speed.run_hours else 0
            once_instance_hours += count * run
            once_hours = max(once_hours, run)
        elif plan in RESERVED_YEARS:
            hours = assumptions.hours_per_month
        elif load.load in services:
            hours = busy_hours_per_month(services[load.load], assumptions)
        else:
            hours = load.gpu_hours_per_month / load.gpus / useful
        instances = max(instances, count)
        busiest = max(busiest, hours)
        instance_hours += count * hours
    administration = assumptions.cloud_administration_h_per_month * assumptions.administration_eur_per_h
    storage = _storage_eur_month(workload, assumptions)
    monthly, once = instance_hours * priced.hourly_eur, once_instance_hours * priced.hourly_eur
    if not monthly:  # nothing goes on after the single run
        once += storage * ceil(once_hours / assumptions.hours_per_month)
        administration = storage = 0
    return Rented(
        offer=priced.offer,
        instances=instances,
        hours_per_month=busiest,
        monthly_eur=monthly + administration + storage,
        once_eur=once,
        once_hours=once_hours,
        storage_eur_month=storage,
        administration_eur_month=administration,
        hourly_eur=priced.hourly_eur,
        estimated=priced.estimated,
        instance_hours_month=instance_hours,
        once_instance_hours=once_instance_hours,
    )


def _storage_eur_month(workload: Workload, assumptions: Assumptions) -> float:
    """The data kept in the cloud, once: the provider keeps the copies; and what leaves it."""
    kept = workload.data.dataset_tb * assumptions.cloud_storage_eur_per_tb_month
    return kept + assumptions.cloud_egress_tb_per_month * assumptions.cloud_egress_eur_per_tb


def cheapest_rent(
    workload: Workload,
    catalog: CatalogSnapshot,
    assumptions: Assumptions,
    cloud_options: Mapping[str, tuple[LoadOption, ...]],
    plan: Plan = "on_demand",
) -> Rented | None:
    """The cheapest current offer in the EU of this plan on which the loads were sized and hold their targets.

    Where the catalog has no offer of a reserved plan, that of an offer on demand less the assumed discount.
    """
    months = workload.growth.horizon_years * 12
    for candidates in (_listed(catalog, plan), _discounted(catalog, plan, assumptions)):
        found = [
            rented(priced, loads, workload, assumptions, plan)
            for priced in candidates
            if (loads := cloud_options.get(priced.offer.accelerator_sku or ""))
            and _one_instance_holds(priced.offer, loads)
        ]
        if found:
            return min(found, key=lambda rent: rent.total_eur(months))
    return None


def _listed(catalog: CatalogSnapshot, plan: Plan) -> list[Priced]:
    """Prices of spot move by the hour: without a date they say nothing."""
    return [
        Priced(offer, float(offer.hourly_eur))
        for offer in catalog.cloud_offers
        if offer.plan == plan and _comparable(offer) and (offer.priced_on or plan != "spot")
    ]


def _discounted(catalog: CatalogSnapshot, plan: Plan, assumptions: Assumptions) -> list[Priced]:
    discounts = {
        "reserved_1y": assumptions.cloud_reserved_1y_discount_pct,
        "reserved_3y": assumptions.cloud_reserved_3y_discount_pct,
    }
    discount = discounts.get(plan, 0)
    if not discount:
        return []
    return [
        Priced(priced.offer, priced.hourly_eur * (1 - discount / 100), estimated=True)
        for priced in _listed(catalog, "on_demand")
    ]


def undated(catalog: CatalogSnapshot, plan: Plan, skus: Collection[str]) -> bool:
    """Whether there is a price without a date for one of these accelerators."""
    return any(
        offer.plan == plan
        and offer.priced_on is None
        and offer.accelerator_sku in skus
        and _comparable(offer)
        for offer in catalog.cloud_offers
    )


def _comparable(offer: CloudOffer) -> bool:
    return offer.in_eu and not offer.historic and offer.accelerator_count > 0


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
