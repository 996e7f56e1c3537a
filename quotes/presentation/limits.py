"""What remains when a limit of the site is exceeded, in words: for the page and the quote."""

from typing import NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from catalog.quantity import Message
from configurator import formats
from quotes.presentation.room import watts
from quotes.sizing.results import SiteAlternative, SiteLimits


class Alternative(NamedTuple):
    """One way around a limit, in words; cells are empty where it is not possible."""

    name: str
    said: Message
    system: str
    price: str
    power: str
    in_speed: Message | None


def alternatives(limits: SiteLimits | None) -> list[Alternative]:
    return [_alternative(row) for row in limits.alternatives] if limits else []


def _alternative(row: SiteAlternative) -> Alternative:
    names = {
        "phased": _("In phases"),
        "power_cap": _("With a power cap"),
        "colocation": _("In a data centre"),
    }
    if not row.possible:
        return Alternative(names[row.kind], row.said, "", "", "", None)
    servers = ngettext("%(count)s server", "%(count)s servers", row.nodes) % {
        "count": formats.number(row.nodes)
    }
    system = f"{servers} · {formats.number(row.accelerators)} × {row.accelerator_name}"
    return Alternative(names[row.kind], row.said, system, _price(row), watts(_w(row.power_kw)), row.in_speed)


def _w(kw: float | None) -> float | None:
    return None if kw is None else kw * 1000


def _price(row: SiteAlternative) -> str:
    price = formats.money(row.price_eur, "round")
    if row.later_eur is not None:
        later = formats.money(row.later_eur, "round")
        return _("%(price)s now, about %(later)s later") % {"price": price, "later": later}
    if row.monthly_eur is not None:
        rent = formats.money(row.monthly_eur, "round")
        return _("%(price)s, and %(rent)s a month") % {"price": price, "rent": rent}
    return price
