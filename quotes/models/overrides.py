"""Assumptions of sizing that this site replaces by values of its own."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from quotes.sizing.assumptions import Assumptions, described


class AssumptionOverride(models.Model):
    """A value that replaces a default of `quotes.sizing.assumptions` on this site."""

    key = models.CharField(_("assumption"), max_length=80, unique=True)
    value = models.FloatField(_("value"))
    source = models.CharField(_("source"), max_length=300, help_text=_("What your value rests on."))
    changed_at = models.DateTimeField(_("changed at"), auto_now=True)
    history = HistoricalRecords()

    class Meta:
        verbose_name = _("changed assumption")
        verbose_name_plural = _("changed assumptions")
        ordering = ["key"]
        constraints = [
            models.CheckConstraint(
                condition=~Q(source=""),
                name="quotes_override_has_a_source",
                violation_error_code="source",
                violation_error_message=_("Say what your value rests on."),
            )
        ]

    def __str__(self) -> str:
        return f"{self.key} = {self.value:g}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        # An assumption out of its range would break every proposal, so no way around the check.
        self.clean()
        super().save(*args, **kwargs)

    def clean(self) -> None:
        if self.key not in Assumptions.model_fields:
            raise ValidationError({"key": _("There is no such assumption.")})
        facts = described(Assumptions(), self.key)
        if self.value is not None and not facts["low"] <= self.value <= facts["high"]:
            limits = {"low": facts["low"], "high": facts["high"]}
            raise ValidationError({"value": _("Choose a value between %(low)s and %(high)s.") % limits})
