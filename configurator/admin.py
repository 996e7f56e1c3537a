"""Plans in the admin: to help who mails a link, and to see what is asked for. Nobody edits answers here."""

import json
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from catalog.snapshot import snapshot
from configurator.models import Draft
from configurator.wizard import review
from configurator.wizard.answers import assess
from configurator.wizard.presets import PRESETS
from configurator.wizard.situation import chosen_use_cases


@admin.register(Draft)
class DraftAdmin(admin.ModelAdmin):
    list_display = ("name", "use_cases", "language", "created_at", "updated_at", "expires_at", "link")
    list_filter = ("language", "updated_at")
    search_fields = ("title",)
    date_hierarchy = "updated_at"
    fields = (
        "name",
        "use_cases",
        "answered",
        "language",
        "created_at",
        "updated_at",
        "expires_at",
        "link",
        "stored",
    )
    readonly_fields = fields

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @admin.display(description=_("name"), ordering="title")
    def name(self, draft: Draft) -> str:
        return str(draft)

    @admin.display(description=_("what for"))
    def use_cases(self, draft: Draft) -> str:
        return ", ".join(str(PRESETS[use_case].title) for use_case in chosen_use_cases(draft.answers))

    @admin.display(description=_("link"))
    def link(self, draft: Draft) -> SafeString:
        return format_html('<a href="{}">{}</a>', draft.get_absolute_url(), _("Open"))

    @admin.display(description=_("answers"))
    def answered(self, draft: Draft) -> SafeString:
        catalog = snapshot()
        rows = [
            row
            for section in review.sections(
                draft.token, draft.answers, catalog, assess(draft.answers, catalog)
            )
            for row in section.rows
            if row.state == "given"
        ]
        lines = [format_html("{} <strong>{}</strong><br>", row.label, row.value) for row in rows]
        return SafeString("".join(lines))

    @admin.display(description=_("answers as stored"))
    def stored(self, draft: Draft) -> SafeString:
        return format_html("<pre>{}</pre>", json.dumps(draft.answers, indent=2, ensure_ascii=False))
