"""Pages for prices and margins, and taking over a price list."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core import signing
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from pydantic import ValidationError as PlanError

from catalog.admin.base import CatalogAdmin, column, warning
from catalog.admin.filters import FreshnessFilter, HoldsFilter
from catalog.importers.price_list import Plan, Terms, apply_prices, plan_prices, read_price_list
from catalog.importers.tabular import UnreadableTable
from catalog.models import Margin, Price
from catalog.models.prices import CURRENCIES

PLAN_SALT = "catalog.price-list"
PLAN_HOURS = 4
MAX_FILE_MB = 10


class PriceForm(forms.ModelForm):
    """A price. A new one ends the price that holds until further notice, unless somebody unticks that."""

    replaces_open = forms.BooleanField(
        label=gettext_lazy("end the price that holds now, the day before"),
        required=False,
        initial=True,
        help_text=gettext_lazy("Otherwise you give that price a last day yourself first."),
    )

    class Meta:
        model = Price
        fields = (
            "article", "amount", "currency", "valid_from", "valid_until", "stated_on", "indicative", "demonstration",
            "lead_time_weeks", "lead_time_stated_on", "source", "notes",
        )  # fmt: skip

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        self.instance.replaces_open = self.instance.pk is None and bool(
            self.cleaned_data.get("replaces_open")
        )
        return cleaned


class PriceListForm(forms.Form):
    """Which list, and what holds for all its lines."""

    file = forms.FileField(
        label=gettext_lazy("price list"),
        help_text=gettext_lazy("CSV or Excel, with a column for the article and one for the price."),
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,.xlsx,.txt"}),
    )
    source = forms.CharField(
        label=gettext_lazy("source"), help_text=gettext_lazy("Whose list it is: distributor, number, month.")
    )
    stated_on = forms.DateField(
        label=gettext_lazy("date of the list"),
        initial=timezone.localdate,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    valid_from = forms.DateField(
        label=gettext_lazy("valid from"),
        initial=timezone.localdate,
        help_text=gettext_lazy("For lines without a date of their own."),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    currency = forms.ChoiceField(
        label=gettext_lazy("currency"),
        choices=CURRENCIES,
        help_text=gettext_lazy("For lines without a currency of their own."),
    )
    indicative = forms.BooleanField(
        label=gettext_lazy("indicative"),
        required=False,
        help_text=gettext_lazy("Tick when the supplier is not bound."),
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > MAX_FILE_MB * 1024 * 1024:
            raise forms.ValidationError(_("The file is larger than %(size)d MB.") % {"size": MAX_FILE_MB})
        return file

    def terms(self) -> Terms:
        names = set(Terms.model_fields)
        return Terms(**{name: value for name, value in self.cleaned_data.items() if name in names})


@admin.register(Price)
class PriceAdmin(CatalogAdmin):
    form = PriceForm
    list_display = (
        "article", "amount", column("currency", ""), "lead_time_weeks", "stated", "valid_from", "valid_until",
        "demonstration",
    )  # fmt: skip
    list_editable = ("amount", "lead_time_weeks")
    list_filter = (
        HoldsFilter, FreshnessFilter, "demonstration", "indicative", "currency", "article__category",
        "article__vendor",
    )  # fmt: skip
    search_fields = ("article__sku", "article__name", "article__vendor", "article__part_number")
    autocomplete_fields = ("article",)
    list_select_related = ("article",)
    ordering = ("article__vendor", "article__name", "valid_from")
    change_list_template = "catalog/admin/price_change_list.html"
    date_hierarchy = None

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        days: list[Any] = [("valid_from", "valid_until")]
        if obj is None:
            days.append("replaces_open")
        return [
            (None, {"fields": ["article", ("amount", "currency"), ("indicative", "demonstration")]}),
            (_("When it holds"), {"fields": days}),
            (_("Delivery"), {"fields": [("lead_time_weeks", "lead_time_stated_on")]}),
            (_("Where the price comes from"), {"fields": ["source", "stated_on", "notes"]}),
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("article",) if obj else ()

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        today = timezone.localdate()
        return {"valid_from": today, "stated_on": today, **super().get_changeform_initial_data(request)}

    @admin.display(description=gettext_lazy("stated on"), ordering="stated_on")
    def stated(self, price: Price) -> Any:
        day = "–" if price.stated_on is None else price.stated_on.isoformat()
        return warning(_("%(day)s, stale") % {"day": day}) if price.is_stale else day

    def save_model(self, request: HttpRequest, obj: Price, form: forms.ModelForm, change: bool) -> None:
        today = timezone.localdate()
        # Who changes an amount or a lead time states it today, unless the form says another day.
        if change and "amount" in form.changed_data and "stated_on" not in form.changed_data:
            obj.stated_on = today
        if (
            change
            and "lead_time_weeks" in form.changed_data
            and "lead_time_stated_on" not in form.changed_data
        ):
            obj.lead_time_stated_on = today
        if obj.lead_time_weeks is not None and obj.lead_time_stated_on is None:
            obj.lead_time_stated_on = obj.stated_on or today
        if obj.replaces_open:
            ended = obj.end_predecessor()
            if ended:
                text = _("The price of %(amount)s %(currency)s now ends on %(day)s.")
                values = {"amount": ended.amount, "currency": ended.currency, "day": ended.valid_until}
                self.message_user(request, text % values, messages.INFO)
        super().save_model(request, obj, form, change)

    # ── taking over a price list ────────────────────────────────────────────────────────────────────────────────

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        own = [path("import/", wrap(self.import_view), name="catalog_price_import")]
        return [*own, *super().get_urls()]

    def import_view(self, request: HttpRequest) -> HttpResponse:
        """Choose a list, look at what it would change, then confirm."""
        if not (self.has_add_permission(request) and self.has_change_permission(request)):
            raise PermissionDenied
        if request.method == "POST" and "plan" in request.POST:
            return self._confirm(request)
        form = PriceListForm(request.POST or None, request.FILES or None)
        if request.method == "POST" and form.is_valid():
            upload = form.cleaned_data["file"]
            try:
                lines, mistakes = read_price_list(upload.read(), upload.name, form.terms())
            except UnreadableTable as error:
                form.add_error("file", str(error))
            else:
                plan, unplaced = plan_prices(lines, form.terms())
                return self._preview(
                    request, plan, sorted([*mistakes, *unplaced], key=lambda each: each.line)
                )
        return self._page(request, "catalog/admin/price_list.html", {"form": form})

    def _preview(self, request: HttpRequest, plan: Plan, mistakes: list[Any]) -> HttpResponse:
        context = {
            "plan": plan,
            "mistakes": mistakes,
            "added": plan.count("add"),
            "corrected": plan.count("correct"),
            "restated": plan.count("restate"),
            "signed": signing.dumps(plan.model_dump(mode="json"), salt=PLAN_SALT, compress=True),
        }
        return self._page(request, "catalog/admin/price_list_preview.html", context)

    def _confirm(self, request: HttpRequest) -> HttpResponse:
        address = HttpResponseRedirect(reverse("admin:catalog_price_import"))
        try:
            data = signing.loads(request.POST["plan"], salt=PLAN_SALT, max_age=PLAN_HOURS * 3600)
            plan = Plan.model_validate(data)
        except (signing.BadSignature, PlanError):
            self.message_user(request, _("The preview is too old; choose the list again."), messages.ERROR)
            return address
        try:
            with transaction.atomic():
                changed = apply_prices(plan, user=request.user)
        except (ValidationError, Price.DoesNotExist) as error:
            reason = "; ".join(error.messages) if isinstance(error, ValidationError) else str(error)
            text = _("Nothing was changed, because the catalog changed meanwhile: %(reason)s")
            self.message_user(request, text % {"reason": reason}, messages.ERROR)
            return address
        text = ngettext("%(count)d price was changed.", "%(count)d prices were changed.", changed)
        self.message_user(request, text % {"count": changed}, messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:catalog_price_changelist"))

    def _page(self, request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
        common = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Import a price list"),
        }
        return TemplateResponse(request, template, {**common, "media": self.media, **context})


@admin.register(Margin)
class MarginAdmin(CatalogAdmin):
    list_display = ("__str__", "margin_pct", "minimum_margin_pct", "notes")
    list_editable = ("margin_pct", "minimum_margin_pct")
    search_fields = ("category", "notes")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("category",) if obj else ()
