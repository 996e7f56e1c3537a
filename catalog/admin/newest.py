"""Two people at one form: who saves last is told what the other one changed, instead of undoing it unseen.

A form carries which state of the row it shows, named by the newest record of the row's history. Saving compares that
with the state of now, and holds the row until the transaction ends.
"""

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.translation import gettext as _
from simple_history.admin import SimpleHistoryAdmin

from catalog.admin.changes import ChangesInWords

SEEN = "_seen"


class NewestOnly(SimpleHistoryAdmin):
    """Refuses a form that shows an older state than the row has by now. What was typed stays in the form."""

    change_form_template = "catalog/admin/change_form.html"

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        row = super().get_object(request, object_id, from_field)
        if row is None or request.method != "GET":
            return row
        # The record first and then the row, so that no form says it is newer than what it shows.
        seen = newest(row)
        row = super().get_object(request, object_id, from_field)
        if row is not None:
            row.seen = seen
        return row

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        context["seen"] = request.POST.get(SEEN) or getattr(context.get("original"), "seen", "")
        return super().render_change_form(request, context, *args, **kwargs)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form: Any = super().get_form(request, obj, change, **kwargs)
        seen = request.POST.get(SEEN)
        if not change or obj is None or seen is None:
            return form
        shown, overtaken = seen, self.overtaken

        class Checked(form):
            def clean(self) -> Any:
                cleaned = super().clean()
                with transaction.atomic():
                    list(type(obj)._base_manager.select_for_update().filter(pk=obj.pk).values_list("pk"))
                    if newest(obj) != shown:
                        raise ValidationError(overtaken(obj, shown, request.get_full_path()), "overtaken")
                return cleaned

        return Checked

    def get_changelist_formset(self, request: HttpRequest, **kwargs: Any) -> Any:
        """In a list, only what somebody typed is saved, not what a colleague changed since the list was opened."""
        formset = super().get_changelist_formset(request, **kwargs)
        for field in formset.form.base_fields.values():
            field.show_hidden_initial = True
        return formset

    def overtaken(self, row: Any, seen: str, address: str) -> str:
        """What to say of a form that was overtaken; safe to show."""
        words = _(
            "After you opened this, %(who)s saved it, on %(when)s. Changed there: %(what)s. Yours is not saved; what "
            "you typed still stands below. Open the newer state beside it and enter there what still holds."
        ) % self.since(row, seen)
        link = _("Open the newer state (in a new tab)")
        return format_html('{} <a href="{}" target="_blank" rel="noopener">{}</a>', words, address, link)

    def since(self, row: Any, seen: str) -> dict[str, str]:
        """Who changed the row since a state that was seen, when, and what."""
        last = row.history.first()
        before = row.history.filter(pk=int(seen)).first() if seen.isdecimal() else None
        since = row.history.filter(pk__gt=before.pk if before else 0).select_related("history_user")
        people = sorted({str(record.history_user or _("the site itself")) for record in since})
        changed = list(self.changes_between(before, last)) if before and last else []
        return {
            "who": ", ".join(people) or _("somebody"),
            "when": date_format(timezone.localtime(last and last.history_date), "DATETIME_FORMAT"),
            "what": "; ".join(changed) or _("nothing that is told here"),
        }

    def changes_between(self, before: Any, after: Any) -> Iterator[str]:
        """What differs between two records of the history."""
        delta = after.diff_against(before, foreign_keys_are_objs=True)
        for change in ChangesInWords(self.model, after).context_for_delta_changes(delta):
            yield f"{change['field']}: {change['old']} → {change['new']}"


def newest(row: Any) -> str:
    """Names the state of a row: its newest record, "0" for a row without any."""
    return str(row.history.values_list("pk", flat=True).first() or 0)
