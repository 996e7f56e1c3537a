"""Saving a step so that no second tab is overwritten unseen."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.db import transaction

from catalog.specs import CatalogSnapshot
from configurator.models import Draft
from configurator.wizard.answers import with_step
from configurator.wizard.fields import Stored
from configurator.wizard.situation import PLAN
from configurator.wizard.steps import FORMS, Step


class Saved(NamedTuple):
    """The draft after the post. `clash`: questions that another tab answered otherwise; then nothing is saved."""

    draft: Draft
    clash: tuple[str, ...] = ()


def save_step(token: str, step: Step, data: Any, seen: int, snapshot: CatalogSnapshot) -> Saved:
    """Store what was posted for `step`, unless another tab changed it since revision `seen`.

    Raises Draft.DoesNotExist.
    """
    with transaction.atomic():
        draft = Draft.objects.alive().select_for_update().get(token=token)
        if not FORMS[step.kind]:
            return Saved(draft)
        before = step.stored(draft.answers)
        after = with_step(draft.answers, step, data, snapshot, expert=draft.expert)[step.slug]
        if after == before:
            return Saved(draft)
        if draft.is_stale(step.slug, seen) and (clash := _differences(before, after)):
            return Saved(draft, clash)
        draft.change(step.slug, after)
        if step.kind == PLAN:
            title = after.get("title")
            draft.title = title if isinstance(title, str) else ""
        draft.save()
    return Saved(draft)


def _differences(before: Mapping[str, Stored], after: Mapping[str, Stored]) -> tuple[str, ...]:
    return tuple(name for name in after if before.get(name) != after[name])
