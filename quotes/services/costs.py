"""Keeping a customer's own figures with their plan."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from configurator.models import Draft
from quotes.models import AssumptionOverride


@transaction.atomic
def change_costs(draft: Draft, changes: Mapping[str, Mapping[str, Any]]) -> Draft:
    """Store what a customer changed, by step of the plan; None takes a figure away, so that ours counts again."""
    kept = Draft.objects.select_for_update().get(pk=draft.pk)
    for step, changed in changes.items():
        stored = {**kept.answers.get(step, {}), **changed}
        kept.change(step, {name: value for name, value in stored.items() if value is not None})
    if changes:
        kept.save()
    return kept


def seller_sources() -> dict[str, str]:
    """What the seller's own values of assumptions rest on, by key."""
    return dict(AssumptionOverride.objects.values_list("key", "source"))
