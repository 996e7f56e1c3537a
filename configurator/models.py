"""A draft: the answers of one customer, reached by a secret link and kept for a while."""

import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

RETENTION = timedelta(days=180)  # after the last change
TOKEN_BYTES = 24  # 192 bits: no guessing


def new_token() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)


def new_expiry() -> datetime:
    return timezone.now() + RETENTION


class DraftQuerySet(models.QuerySet["Draft"]):
    def alive(self) -> Self:
        return self.filter(expires_at__gt=timezone.now())

    def expired(self) -> Self:
        return self.filter(expires_at__lte=timezone.now())


class Draft(models.Model):
    """Answers by step. Whoever knows the token may read and change it; nobody else finds it.

    Each step owns its own answers, so that two tabs on different steps never clash. `changed_in` says in which revision
    a step was last changed: a page that was opened before that revision is stale.
    """

    token = models.CharField(
        _("secret of the link"), max_length=43, unique=True, default=new_token, editable=False
    )
    language = models.CharField(_("language"), max_length=7, choices=settings.LANGUAGES, default="nl")
    title = models.CharField(_("name"), max_length=80, blank=True)
    expert = models.BooleanField(_("expert view"), default=False)
    answers = models.JSONField(_("answers"), default=dict, blank=True)
    changed_in = models.JSONField(_("revision of each step"), default=dict, blank=True, editable=False)
    revision = models.PositiveIntegerField(_("revision"), default=0, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)
    expires_at = models.DateTimeField(_("kept until"), default=new_expiry, db_index=True)

    objects = DraftQuerySet.as_manager()

    class Meta:
        verbose_name = _("plan")
        verbose_name_plural = _("plans")
        ordering = ("-updated_at",)
        constraints = (
            models.CheckConstraint(
                condition=Q(expires_at__gt=F("created_at")),
                name="draft_expires_after_creation",
                violation_error_message=_("A plan is kept until a moment after it was made."),
            ),
            models.CheckConstraint(
                condition=Q(language__in=[code for code, _name in settings.LANGUAGES]),
                name="draft_language_is_known",
                violation_error_message=_("Choose a language of the site."),
            ),
        )

    def __str__(self) -> str:
        return self.title or f"{self._meta.verbose_name} {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("wizard:plan", args=[self.token])

    def is_stale(self, slug: str, seen: int) -> bool:
        """Whether step `slug` was changed after revision `seen`."""
        return int(self.changed_in.get(slug, 0)) > seen

    def change(self, slug: str, stored: Mapping[str, Any]) -> None:
        """Put `stored` in the place of step `slug`'s answers. The caller holds the row and saves."""
        self.revision += 1
        self.answers = {**self.answers, slug: dict(stored)}
        self.changed_in = {**self.changed_in, slug: self.revision}
        self.expires_at = new_expiry()

    def variant(self, title: str) -> "Draft":
        """A new, unsaved draft with the same answers and a secret of its own."""
        return Draft(
            language=self.language,
            title=title[:80],
            expert=self.expert,
            answers=self.answers,
            revision=self.revision,
            changed_in=self.changed_in,
        )
