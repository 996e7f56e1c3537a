"""Codes of the domain in words."""

from django.utils.translation import gettext_lazy

from quotes.models.quote import GROUPS, ROLES, TIERS
from quotes.sizing.results import Tier

STAGES = {
    "dominated": gettext_lazy("It would do, but others do it better"),
    "evidence": gettext_lazy("Nobody measured it well enough"),
    "budget": gettext_lazy("Your budget"),
    "site": gettext_lazy("Your site"),
    "server": gettext_lazy("No suitable server"),
    "speed": gettext_lazy("Too slow"),
    "memory": gettext_lazy("Too little memory"),
    "stack": gettext_lazy("Your software"),
    "catalog": gettext_lazy("Not for sale, or a figure is missing"),
}
"""What stood in the way, nearest to working first."""

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


def stage_name(stage: str) -> str:
    """What stood in the way, in a few words."""
    return str(STAGES[stage])


def group_name(group: str) -> str:
    """Heading of a group of lines on the bill."""
    return str(dict(GROUPS).get(group, group))


def role_name(role: str) -> str:
    return str(dict(ROLES).get(role, role))


def cost_name(key: str) -> str:
    """A running cost in words."""
    return str(COSTS.get(key, key))
