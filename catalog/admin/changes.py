"""What the history of a row says of a change: words and figures as the pages of the admin show them."""

from typing import Any

from django.contrib.admin.utils import display_for_field
from django.db import models
from django.utils.translation import gettext as _
from simple_history.models import ModelChange
from simple_history.template_utils import HistoricalRecordContextHelper

NOTHING = "–"


class ChangesInWords(HistoricalRecordContextHelper):
    """Choices by their names, dates and figures in the reader's language, a dash for what is empty."""

    def prepare_delta_change_value(self, change: ModelChange, value: Any) -> Any:
        field = self.model._meta.get_field(change.field)
        if isinstance(field, models.ManyToManyField):
            return super().prepare_delta_change_value(change, value)
        if isinstance(value, bool):
            return _("yes") if value else _("no")
        if value in (None, ""):
            return NOTHING
        if isinstance(field, models.ForeignKey):
            # Who or what was deleted since is a name no longer.
            return str(value) if isinstance(value, models.Model) else NOTHING
        return display_for_field(value, field, NOTHING)
