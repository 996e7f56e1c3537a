"""The other ways to the same work, beside buying and renting by the hour: leases, reservations, spot, tokens."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from catalog.quantity import Message, Quantity, noop
from catalog.specs import CatalogSnapshot
from configurator.workload import Workload
from quotes.pricing.money import cents
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.money.break_even import break_even_month
from quotes.sizing.money.leasing import Leased, financial_lease, operational_lease
from quotes.sizing.money.renting import RESERVED_YEARS, Plan, Rented, cheapest_rent, undated
from quotes.sizing.money.tokens import tokens_per_month
from quotes.sizing.results import Candidate, CloudAlternative, Lease, LoadOption, RentPlan, TokenCost

_NO_PRICE = noop("No price known; ask for an offer.")
_NO_DATE = noop("The price that we know has no date, so it is not compared; ask for an offer.")
PLANS: Sequence[Plan] = ("on_demand", "reserved_1y", "reserved_3y", "spot")


def eur(amount: float) -> Decimal:
    """Whole cents."""
    return cents(Decimal(repr(float(amount))))


# ── leasing ─────────────────────────────────────────────────────────────────────────────────────────────────────


def leases_known(price_eur: float, months: int, assumptions: Assumptions) -> tuple[Leased, ...]:
    """The leases whose rate is known."""
    found = (financial_lease(price_eur, months, assumptions), operational_lease(price_eur, assumptions))
    return tuple(lease for lease in found if lease)


def leases(
    known: Sequence[Leased], running_eur_month: float, residual_eur: float, months: int
) -> tuple[Lease, ...]:
    """Both kinds; the one whose rate is not known without amounts."""
    by_kind = {lease.kind: lease for lease in known}
    made = []
    for kind in ("financial", "operational"):
        lease = by_kind.get(kind)
        if lease is None:
            made.append(Lease(kind=kind))
            continue
        owned = residual_eur if kind == "financial" else 0
        monthly, final = eur(lease.monthly_eur), eur(lease.final_eur)
        total = monthly * months + final + eur(running_eur_month * months) - eur(owned)
        made.append(Lease(kind=kind, monthly_eur=monthly, final_eur=final, total_eur=total))
    return tuple(made)


def lease_curve(
    known: Sequence[Leased], running_eur_month: float, residual_eur: float, months: int
) -> tuple[float, ...]:
    """Cumulative by month, of the cheapest lease whose rate is known.

    In the last month falls its last payment, and the residual value of what is yours by then comes off.
    """
    if not known:
        return ()
    owned = {lease.kind: residual_eur if lease.kind == "financial" else 0 for lease in known}
    lease = min(known, key=lambda one: one.monthly_eur * months + one.final_eur - owned[one.kind])
    paid = [(lease.monthly_eur + running_eur_month) * month for month in range(months + 1)]
    paid[-1] += lease.final_eur - owned[lease.kind]
    return tuple(paid)


# ── renting ─────────────────────────────────────────────────────────────────────────────────────────────────────


def rent_plans(
    workload: Workload,
    catalog: CatalogSnapshot,
    assumptions: Assumptions,
    cloud_options: Mapping[str, tuple[LoadOption, ...]],
    on_demand: Rented | None,
    *,
    purchase_eur: float,
    own_month: float,
) -> tuple[RentPlan, ...]:
    """Every way to rent, each with its cheapest offer, or with the reason why there is none."""
    months = workload.growth.horizon_years * 12
    made = []
    for plan in PLANS:
        note = _impossible(plan, workload)
        rent = None if note else on_demand
        if note is None and plan != "on_demand":
            rent = cheapest_rent(workload, catalog, assumptions, cloud_options, plan)
        if rent is None:
            skus = {sku for sku, loads in cloud_options.items() if loads}
            unknown = _NO_DATE if undated(catalog, plan, skus) else _NO_PRICE
            made.append(RentPlan(plan=plan, note=note or Message.of(unknown)))
            continue
        even = break_even_month(purchase_eur, own_month, rent.monthly_eur, rent.once_eur)
        made.append(
            RentPlan(
                plan=plan,
                cloud=alternative(rent, catalog, plan),
                total_eur=eur(rent.total_eur(months)),
                break_even_month=even if even is not None and even <= months else None,
                note=_condition(plan, rent, assumptions),
            )
        )
    return tuple(made)


def _impossible(plan: Plan, workload: Workload) -> Message | None:
    """Why this plan does not suit the work at all."""
    if plan == "spot" and workload.services:
        return Message.of(noop("Not for a service: the machines may be taken away while people use it."))
    if plan in RESERVED_YEARS:
        if not workload.services and all(job.runs_per_month == 0 for job in workload.jobs):
            return Message.of(noop("Nobody reserves for a single run."))
        if RESERVED_YEARS[plan] > workload.growth.horizon_years:
            return Message.of(noop("Longer than the years that the cost is counted over."))
    return None


def _condition(plan: Plan, rent: Rented, assumptions: Assumptions) -> Message | None:
    """What comes with the price of this plan."""
    if plan in RESERVED_YEARS:
        if rent.estimated:
            return Message.of(
                noop(
                    "Paid for every hour, used or not. Estimated: the price on demand less a usual discount."
                )
            )
        return Message.of(noop("Paid for every hour, used or not."))
    if plan == "spot":
        return Message.of(
            noop(
                "May be taken away at any moment: {share} of the time counts, so a useful hour costs {price}."
            ),
            share=Quantity(value=assumptions.spot_useful_fraction * 100, unit="%", digits=2),
            price=Quantity(value=rent.hourly_eur / assumptions.spot_useful_fraction, unit="EUR", digits=3),
        )
    return None


def alternative(rent: Rented, catalog: CatalogSnapshot, plan: Plan = "on_demand") -> CloudAlternative:
    """A way to rent as the proposal keeps it."""
    offer = rent.offer
    item = catalog.items.get(offer.accelerator_sku or "")
    return CloudAlternative(
        offer=offer.sku,
        provider=offer.vendor,
        region=offer.region,
        accelerator=item.name if item else (offer.accelerator_sku or ""),
        instances=rent.instances,
        plan=plan,
        hourly_eur=Decimal(repr(rent.hourly_eur)) if rent.estimated else offer.hourly_eur,
        hours_per_month=rent.hours_per_month,
        monthly_eur=eur(rent.monthly_eur),
        priced_on=offer.priced_on,
        reason=_reason(rent),
        once_eur=eur(rent.once_eur),
        once_hours=rent.once_hours,
        storage_eur_month=eur(rent.storage_eur_month),
        estimated=rent.estimated,
        instance_hours_month=rent.instance_hours_month,
        once_instance_hours=rent.once_instance_hours,
        gpus_each=offer.accelerator_count,
    )


def _reason(rent: Rented) -> Message:
    hours = Quantity(value=rent.hours_per_month, unit="hours", digits=3)
    once = Quantity(value=rent.once_hours, unit="hours", digits=3)
    if not rent.hours_per_month:
        return Message.of(noop("Sized for the same load; rented once, for {hours}."), hours=once)
    text = noop("Sized for the same load; rented for {hours} a month and stopped outside the busy hours.")
    if rent.once_hours:
        text = noop("Sized for the same load; rented for {hours} a month, and once for {once}.")
    return Message.of(text, hours=hours, once=once)


# ── tokens ──────────────────────────────────────────────────────────────────────────────────────────────────────


def token_cost(
    candidate: Candidate, workload: Workload, assumptions: Assumptions, own_total_eur: Decimal
) -> TokenCost | None:
    """What a million tokens cost on the own system, and the same tokens from a provider where that is allowed."""
    tokens = tokens_per_month(workload, candidate.loads, assumptions)
    if tokens is None or tokens.all_m <= 0:
        return None
    months = workload.growth.horizon_years * 12
    allowed = workload.placement.cloud_allowed and not workload.is_confidential
    price = tokens.price_eur(assumptions) if allowed else None
    return TokenCost(
        input_m_month=tokens.input_m,
        output_m_month=tokens.output_m,
        own_eur_per_m=eur(float(own_total_eur) / (tokens.all_m * months)),
        api_eur_month=None if price is None else eur(price),
        api_total_eur=None if price is None else eur(price) * months,
    )
