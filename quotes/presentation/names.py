"""Codes of the domain in words."""

from django.utils.translation import gettext_lazy

from quotes.models.quote import GROUPS, TIERS
from quotes.sizing.results import Tier

COSTS = {
    "energy": gettext_lazy("Energy"),
    "housing": gettext_lazy("Housing"),
    "administration": gettext_lazy("Administration"),
    "support": gettext_lazy("Support"),
    "spares": gettext_lazy("Spare parts"),
    "coolant": gettext_lazy("Coolant"),
    "capital": gettext_lazy("Cost of capital"),
}


def tier_name(tier: Tier) -> str:
    return str(dict(TIERS)[tier.value])


def group_name(group: str) -> str:
    """Heading of a group of lines on the bill."""
    return str(dict(GROUPS).get(group, group))


def cost_name(key: str) -> str:
    """A running cost in words."""
    return str(COSTS.get(key, key))
