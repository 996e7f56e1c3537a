"""Changed assumptions: what may be changed, within which range, and what it was."""

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from catalog.admin.base import CatalogAdmin
from configurator import formats
from quotes.models import AssumptionOverride
from quotes.sizing.assumptions import Assumptions, described

DIGITS = 6


def facts_of(key: str) -> dict[str, str]:
    """Label, unit, default, range and source of one assumption, as text."""
    facts = described(Assumptions(), key)

    def amount(name: str) -> str:
        return formats.quantity(float(facts[name]), facts["unit"], DIGITS)

    return {
        "key": key,
        "label": _(facts["label"]),
        "default": amount("default"),
        "range": formats.span(facts["low"], facts["high"], facts["unit"], DIGITS),
        "source": f"{_(facts['source'])} ({facts['year']})",
    }


def all_facts() -> list[dict[str, str]]:
    return sorted((facts_of(key) for key in Assumptions.model_fields), key=lambda row: row["label"].lower())


def choices() -> Iterator[tuple[str, str]]:
    yield "", "---------"
    for facts in all_facts():
        yield facts["key"], f"{facts['label']} · {facts['default']} ({facts['range']})"


class OverrideForm(forms.ModelForm):
    key = forms.ChoiceField(label=gettext_lazy("assumption"), choices=choices)

    class Meta:
        model = AssumptionOverride
        fields = ("key", "value", "source")


@admin.register(AssumptionOverride)
class AssumptionOverrideAdmin(CatalogAdmin):
    form = OverrideForm
    change_list_template = "quotes/admin/assumption_change_list.html"
    list_display = ("label", "shown", "default", "range", "source", "changed_at")
    search_fields = ("key", "source")

    def get_fields(self, request: HttpRequest, obj: AssumptionOverride | None = None) -> list[str]:
        return (
            ["label", "default", "range", "origin", "value", "source"] if obj else ["key", "value", "source"]
        )

    def get_readonly_fields(self, request: HttpRequest, obj: AssumptionOverride | None = None) -> list[str]:
        return ["label", "default", "range", "origin"] if obj else []

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        # The key of a row never changes, so a form for an existing row has no field for it.
        if obj is not None:
            kwargs["form"] = forms.ModelForm
        return super().get_form(request, obj, change, **kwargs)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        changed = set(AssumptionOverride.objects.values_list("key", flat=True))
        rows = [{**facts, "changed": facts["key"] in changed} for facts in all_facts()]
        context: Mapping[str, Any] = {"assumptions": rows, **(extra_context or {})}
        return super().changelist_view(request, context)

    def _fact(self, row: AssumptionOverride, name: str) -> str:
        return facts_of(row.key)[name] if row.key in Assumptions.model_fields else "–"

    @admin.display(description=gettext_lazy("assumption"), ordering="key")
    def label(self, row: AssumptionOverride) -> str:
        if row.key not in Assumptions.model_fields:
            return format_html("⚠ {} ({})", row.key, _("no longer used"))
        return capfirst(self._fact(row, "label"))

    @admin.display(description=gettext_lazy("value"), ordering="value")
    def shown(self, row: AssumptionOverride) -> str:
        unit = described(Assumptions(), row.key)["unit"] if row.key in Assumptions.model_fields else ""
        return formats.quantity(row.value, unit, DIGITS)

    @admin.display(description=gettext_lazy("default"))
    def default(self, row: AssumptionOverride) -> str:
        return self._fact(row, "default")

    @admin.display(description=gettext_lazy("range"))
    def range(self, row: AssumptionOverride) -> str:
        return self._fact(row, "range")

    @admin.display(description=gettext_lazy("where the default comes from"))
    def origin(self, row: AssumptionOverride) -> str:
        return self._fact(row, "source")
