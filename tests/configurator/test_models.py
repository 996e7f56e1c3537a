"""A draft guards its own rules, and goes when its time is over."""

from datetime import timedelta
from io import StringIO

import pytest
import time_machine
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.utils import timezone

from configurator.models import RETENTION, Draft

pytestmark = pytest.mark.django_db


def test_every_draft_has_a_secret_of_its_own() -> None:
    tokens = {Draft.objects.create().token for _ in range(20)}
    assert len(tokens) == 20
    assert all(len(token) == 32 for token in tokens)


def test_a_change_is_counted_for_its_step() -> None:
    draft = Draft.objects.create()
    draft.change("load", {"people": "3"})
    draft.change("data", {"copies": "2"})
    assert (draft.revision, draft.changed_in) == (2, {"load": 1, "data": 2})
    assert draft.is_stale("load", 0)
    assert not draft.is_stale("load", 1)
    assert not draft.is_stale("site", 0)


def test_a_variant_shares_nothing_with_its_origin() -> None:
    draft = Draft.objects.create(answers={"load": {"people": "3"}})
    variant = draft.variant("x" * 200)
    variant.change("load", {"people": "4"})
    variant.save()
    draft.refresh_from_db()
    assert draft.answers == {"load": {"people": "3"}}
    assert variant.token != draft.token
    assert len(variant.title) == 80


@pytest.mark.parametrize("wrong", [{"language": "xx"}, {"expires_at": timezone.now() - timedelta(days=1)}])
def test_the_database_refuses_what_makes_no_sense(wrong: dict[str, object]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Draft.objects.create(**wrong)


def test_expired_drafts_are_purged_and_the_others_stay() -> None:
    old = Draft.objects.create()
    with time_machine.travel(timezone.now() + RETENTION / 2):
        young = Draft.objects.create()
    with time_machine.travel(timezone.now() + RETENTION + timedelta(days=1)):
        out = StringIO()
        call_command("purge_drafts", "--dry-run", stdout=out)
        assert "1 expired drafts would be deleted" in out.getvalue()
        assert Draft.objects.count() == 2
        call_command("purge_drafts", stdout=out)
        assert "1 expired drafts deleted" in out.getvalue()
    assert list(Draft.objects.values_list("pk", flat=True)) == [young.pk]
    assert old.pk != young.pk
