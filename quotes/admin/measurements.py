"""Own measurements: enter one, see what it changes, or take over a table of them."""

from collections.abc import Sequence
from copy import copy
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core import signing
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from catalog.admin.base import CatalogAdmin, column
from catalog.importers.tabular import UnreadableTable
from configurator import formats
from quotes.admin.measurement_files import ReadLine, read_measurements, store_measurements
from quotes.admin.measurement_form import MeasurementForm
from quotes.models import Measurement
from quotes.services.measurements import compared
from quotes.sizing.serving.measurements import Comparison

ROWS_SALT = "quotes.measurements"
ROWS_HOURS = 4
MAX_FILE_MB = 2


class MeasurementFileForm(forms.Form):
    file = forms.FileField(
        label=gettext_lazy("file with measurements"),
        help_text=gettext_lazy(
            "CSV or Excel with the columns model, gpu, tp, dp, engine, engine_version, weights_precision, "
            "kv_precision, input_tokens, output_tokens, concurrency, ttft_ms, tpot_ms, output_tokens_s_per_gpu, "
            "measured_on, source."
        ),
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,.xlsx,.txt"}),
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > MAX_FILE_MB * 1024 * 1024:
            raise forms.ValidationError(_("The file is larger than %(size)d MB.") % {"size": MAX_FILE_MB})
        return file


def comparison_rows(comparison: Comparison) -> list[dict[str, str]]:
    """What the model says, what was measured and what the model says with it, as text."""
    kinds = (
        (_("time to first token"), "ms"),
        (_("time per token"), "ms"),
        (_("throughput per GPU"), "tokens/s"),
    )
    figures = zip(kinds, comparison.before, comparison.measured, comparison.after, strict=True)
    return [
        {
            "name": name,
            "before": formats.quantity(before, unit),
            "measured": "–" if measured is None else formats.quantity(measured, unit),
            "after": formats.quantity(after, unit),
        }
        for (name, unit), before, measured, after in figures
    ]


@admin.register(Measurement)
class MeasurementAdmin(CatalogAdmin):
    form = MeasurementForm
    change_form_template = "quotes/admin/measurement_form.html"
    change_list_template = "quotes/admin/measurement_list.html"
    list_display = (
        "measured_on", "model", "ran", "load", column("ttft_ms", "TTFT (ms)"), column("tpot_ms", "TPOT (ms)"),
        column("tokens_s_per_gpu", "tokens/s/GPU"), "entered_by", "active",
    )  # fmt: skip
    list_display_links = ("measured_on", "model")
    list_filter = (
        "active",
        "engine",
        ("model", admin.RelatedOnlyFieldListFilter),
        ("accelerator", admin.RelatedOnlyFieldListFilter),
    )
    list_select_related = ("model", "accelerator", "entered_by")
    search_fields = ("model__name", "model__key", "accelerator__name", "accelerator__sku", "source", "notes")
    radio_fields = {"engine": admin.HORIZONTAL, "kv_precision": admin.HORIZONTAL}
    fieldsets = (
        (
            gettext_lazy("What ran"),
            {
                "fields": [
                    "accelerator", "model", "engine", "engine_version", ("precision", "kv_precision"), ("tp", "dp"),
                ]
            },
        ),
        (
            gettext_lazy("The load"),
            {"fields": [("input_tokens", "output_tokens"), ("concurrency", "burst")]},
        ),
        (
            gettext_lazy("What was measured"),
            {
                "fields": [("ttft_ms", "tpot_ms", "tokens_s_per_gpu"), "sure"],
                "description": gettext_lazy("At least one of the three; more is better."),
            },
        ),
        (
            gettext_lazy("Where the figures come from"),
            {"fields": ["measured_on", "source", "notes", "active"]},
        ),
    )  # fmt: skip

    @admin.display(description=gettext_lazy("what ran"), ordering="accelerator__name")
    def ran(self, row: Measurement) -> str:
        gpus = row.tp * row.dp
        return f"{gpus} × {row.accelerator}, {row.get_engine_display()}, {row.get_precision_display()}"

    @admin.display(description=gettext_lazy("tokens, in flight"), ordering="concurrency")
    def load(self, row: Measurement) -> str:
        tokens = f"{formats.number(row.input_tokens)} → {formats.number(row.output_tokens)}"
        return f"{tokens} × {formats.number(row.concurrency)}"

    # ── one measurement ─────────────────────────────────────────────────────────────────────────────────────────

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Any = None,
    ) -> HttpResponse:
        """As Django's. The button that only shows what a measurement changes gives the filled form back unstored."""
        context = {**(extra_context or {})}
        row = self.get_object(request, object_id) if object_id else None
        if request.method == "POST" and "_preview" in request.POST:
            if not (self.has_change_permission(request, row) if row else self.has_add_permission(request)):
                raise PermissionDenied
            form = self.get_form(request, row, change=row is not None)(request.POST, instance=row)
            if form.is_valid():
                context["comparison"] = comparison_rows(form.comparison)
                context["is_preview"] = True
                request = copy(request)
                request.method = "GET"
                request.preview = form.instance  # type: ignore[attr-defined]
        elif row is not None and self.has_view_permission(request, row):
            context["comparison"] = _stored_comparison(row)
        return super().changeform_view(request, object_id, form_url, context)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        return getattr(request, "preview", None) or super().get_object(request, object_id, from_field)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        row = getattr(request, "preview", None)
        if row is not None:
            return forms.model_to_dict(row)
        return super().get_changeform_initial_data(request)

    def save_model(self, request: HttpRequest, obj: Measurement, form: Any, change: bool) -> None:
        if not change and isinstance(request.user, User):
            obj.entered_by = request.user
        super().save_model(request, obj, form, change)
        comparison = getattr(form, "comparison", None)
        if comparison is None:
            return
        for row in comparison_rows(comparison):
            if row["measured"] != "–":
                text = _(
                    "%(name)s: the model said %(before)s, you measured %(measured)s, now it says %(after)s."
                )
                self.message_user(request, text % row, messages.INFO)

    # ── a table of measurements ─────────────────────────────────────────────────────────────────────────────────

    class Media:
        css = {"all": ["quotes/admin.css"]}

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        own = [path("import/", wrap(self.import_view), name="quotes_measurement_import")]
        return [*own, *super().get_urls()]

    def import_view(self, request: HttpRequest) -> HttpResponse:
        """Choose a file, look at what it holds, then confirm."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        if request.method == "POST" and "rows" in request.POST:
            return self._confirm(request)
        form = MeasurementFileForm(request.POST or None, request.FILES or None)
        context: dict[str, Any] = {"form": form}
        if request.method == "POST" and form.is_valid():
            upload = form.cleaned_data["file"]
            try:
                context |= _preview(read_measurements(upload.read(), upload.name))
            except UnreadableTable as error:
                form.add_error("file", str(error))
        common = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Import measurements"),
            "media": self.media,
        }
        return TemplateResponse(request, "quotes/admin/measurement_import.html", {**common, **context})

    def _confirm(self, request: HttpRequest) -> HttpResponse:
        again = HttpResponseRedirect(reverse("admin:quotes_measurement_import"))
        try:
            rows = signing.loads(request.POST["rows"], salt=ROWS_SALT, max_age=ROWS_HOURS * 3600)
        except signing.BadSignature:
            self.message_user(request, _("The preview is too old; choose the file again."), messages.ERROR)
            return again
        try:
            stored = store_measurements(rows, request.user)  # type: ignore[arg-type]
        except ValidationError as error:
            text = _("Nothing was stored, because something changed meanwhile: %(reason)s")
            self.message_user(request, text % {"reason": "; ".join(error.messages)}, messages.ERROR)
            return again
        text = ngettext(
            "%(count)d measurement was stored.", "%(count)d measurements were stored.", len(stored)
        )
        self.message_user(request, text % {"count": len(stored)}, messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:quotes_measurement_changelist"))


def _stored_comparison(row: Measurement) -> list[dict[str, str]]:
    """Nothing when sizing cannot use the row any more, as when its accelerator left the catalog."""
    try:
        return comparison_rows(compared(row))
    except ValidationError:
        return []


def _preview(lines: Sequence[ReadLine]) -> dict[str, Any]:
    usable = [read for read in lines if read.form is not None]
    return {
        "mistakes": [read for read in lines if read.mistakes],
        "usable": [
            {"line": read.line, "row": read.form.instance, "figures": comparison_rows(read.form.comparison)}
            for read in usable
            if read.form and read.form.comparison
        ],
        "signed": signing.dumps([dict(read.entries) for read in usable], salt=ROWS_SALT, compress=True),
        "looked": True,
    }
