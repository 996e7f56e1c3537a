"""The ways to the same work, beside each other: buying, leasing, renting, paying by the token."""

from decimal import Decimal
from typing import NamedTuple

from django.utils.translation import gettext as _

from configurator import formats
from quotes.sizing.results import CloudAlternative, Economics, Lease, RentPlan, TokenCost

MONTHS = 12


class Way(NamedTuple):
    """One row: what it costs at once, each month, and over the horizon. None: not known, or not possible."""

    name: str
    once_eur: Decimal | None
    month_eur: Decimal | None
    total_eur: Decimal | None
    note: str
    is_cheapest: bool = False


def ways(money: Economics) -> list[Way]:
    """Every way that is possible or worth asking for, with the cheapest marked; in the reader's language."""
    rows = [_buying(money), *(_leasing(lease, money) for lease in money.leases)]
    rows += [_renting(plan) for plan in money.rents]
    if money.tokens and money.rents:
        rows.append(_by_the_token(money.tokens))
    known = [row.total_eur for row in rows if row.total_eur is not None]
    lowest = min(known) if len(known) > 1 else None
    return [row._replace(is_cheapest=lowest is not None and row.total_eur == lowest) for row in rows]


def _buying(money: Economics) -> Way:
    monthly = sum(money.yearly_eur.values(), Decimal(0)) / MONTHS
    return Way(
        _("Buying"), money.purchase_eur, monthly, money.total_eur, _("Less the residual value at the end.")
    )


def _leasing(lease: Lease, money: Economics) -> Way:
    financial = lease.kind == "financial"
    name = _("Financial lease") if financial else _("Operational lease")
    if lease.monthly_eur is None:
        return Way(name, None, None, None, _("Rate not known: ask for an offer."))
    capital = money.yearly_eur.get("capital", Decimal(0))
    running = (sum(money.yearly_eur.values(), Decimal(0)) - capital) / MONTHS
    note = _("The system is given back at the end.")
    if financial:
        note = _("Yours after the last payment of %(amount)s.") % {
            "amount": formats.money(lease.final_eur, "round")
        }
    return Way(name, Decimal(0), lease.monthly_eur + running, lease.total_eur, note)


def plan_name(plan: str) -> str:
    names = {
        "on_demand": _("Renting by the hour"),
        "reserved_1y": _("Renting, reserved for a year"),
        "reserved_3y": _("Renting, reserved for three years"),
        "spot": _("Renting what may be taken away (spot)"),
    }
    return names[plan]


def _renting(plan: RentPlan) -> Way:
    note = formats.say(plan.note) if plan.note else ""
    if plan.cloud is None:
        return Way(plan_name(plan.plan), None, None, None, note)
    said = " ".join(filter(None, (_where(plan.cloud), note)))
    return Way(plan_name(plan.plan), plan.cloud.once_eur, plan.cloud.monthly_eur, plan.total_eur, said)


def _where(cloud: CloudAlternative) -> str:
    dated = (
        _("price of %(date)s") % {"date": formats.day(cloud.priced_on)}
        if cloud.priced_on
        else _("date of the price unknown")
    )
    return _("%(count)s × %(accelerator)s, %(provider)s, %(region)s, %(rate)s an hour each; %(dated)s.") % {
        "count": formats.number(cloud.instances),
        "accelerator": cloud.machine,
        "provider": cloud.provider,
        "region": cloud.region,
        "rate": formats.money(cloud.hourly_eur),
        "dated": dated,
    }


def _by_the_token(tokens: TokenCost) -> Way:
    own = _("The own system comes to %(price)s per million tokens at this use.") % {
        "price": formats.money(tokens.own_eur_per_m)
    }
    if tokens.api_eur_month is None:
        own = f"{own} {_('What a provider asks is not known.')}"
    return Way(_("Per token, from a provider"), None, tokens.api_eur_month, tokens.api_total_eur, own)
