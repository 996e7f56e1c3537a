"""Quotes for sales: find one, change a draft, issue it, and see what happened to it."""

import json
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from http import HTTPStatus
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin import ActionLocation
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import PermissionDenied
from django.db import models, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from catalog.admin.base import CatalogAdmin
from catalog.admin.newest import SEEN, newest
from configurator import formats
from quotes import services
from quotes.admin.filters import CustomerFilter, ValueFilter
from quotes.admin.steps import STEPS
from quotes.models import EventKind, Quote, QuoteEvent, QuoteLine, QuoteStatus
from quotes.pricing.lines import line_net
from quotes.pricing.vat import normal_vat_id
from quotes.services.drafting import together
from quotes.views import costs_response, pdf_response, xlsx_response

SEE_MARGIN = "quotes.see_margin"
ERASE = "quotes.erase_contact"


# ── lines ───────────────────────────────────────────────────────────────────────────────────────────────────────


class LineForm(forms.ModelForm):
    """A row of the table of lines; the heads of the columns are no labels to a screen reader."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs["aria-label"] = field.label


class LineFormSet(forms.BaseInlineFormSet):
    """Shows a posted row for each line that was posted, also when a colleague deleted the line in the meantime."""

    def get_queryset(self) -> Any:
        if self.is_bound and "forms" in self.__dict__:
            return [form.instance for form in self.initial_forms]
        return super().get_queryset()


class LineInline(admin.TabularInline):
    model = QuoteLine
    form = LineForm
    formset = LineFormSet
    extra = 0
    readonly_fields = ("net",)
    formfield_overrides = {models.CharField: {"widget": forms.TextInput({"size": 34})}}

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        cost = ["cost_eur"] if request.user.has_perm(SEE_MARGIN) else []
        return (
            "quantity", "text", "unit_eur", "discount_pct", "net", *cost, "optional", "lead_time_weeks", "group",
            "role", "sku", "position", "demonstration",
        )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[QuoteLine]:
        """With the quote's discount at hand, without its frozen copies, which take 20 ms to read."""
        lines = super().get_queryset(request).select_related("quote")
        return lines.defer("quote__proposal", "quote__issued_copy")

    def has_change_permission(self, request: HttpRequest, obj: Quote | None = None) -> bool:
        return super().has_change_permission(request, obj) and (obj is None or obj.is_editable)

    def has_add_permission(self, request: HttpRequest, obj: Quote | None = None) -> bool:
        return super().has_add_permission(request, obj) and (obj is None or obj.is_editable)

    def has_delete_permission(self, request: HttpRequest, obj: Quote | None = None) -> bool:
        return super().has_delete_permission(request, obj) and (obj is None or obj.is_editable)

    @admin.display(description=gettext_lazy("total (€)"))
    def net(self, line: QuoteLine) -> str:
        if line.pk is None:
            return "–"
        discount = together(line.discount_pct, line.quote.discount_pct)
        return formats.money(line_net(line.quantity, line.unit_eur, discount))


# ── quotes ──────────────────────────────────────────────────────────────────────────────────────────────────────

# What sales may change in a draft; everything else on the page is to read.
EDITABLE = (
    "title", "language", "organisation", "contact_name", "email", "phone", "street", "postcode", "city", "country",
    "kvk_number", "vat_id", "vat_id_checked_on", "reference", "delivery_place", "incoterm", "offer_mode",
    "valid_until", "vat_mode", "discount_pct",
)  # fmt: skip


@admin.register(Quote)
class QuoteAdmin(CatalogAdmin):
    change_form_template = "quotes/admin/change_form.html"
    list_display = (
        "name",
        "organisation",
        "title",
        "state",
        "total",
        "valid_until",
        "language",
        "made_on",
    )
    list_filter = ("status", ValueFilter, CustomerFilter, "language", "vat_mode")
    date_hierarchy = "created_at"
    search_fields = ("number", "organisation", "contact_name", "email", "title", "reference")
    list_per_page = 50
    formfield_overrides = {models.TextField: {"widget": forms.Textarea({"rows": 3, "cols": 80})}}
    inlines = (LineInline,)
    actions = ("export_contacts", "erase_contacts")

    class Media:
        css = {"all": ["quotes/admin.css"]}

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Quote]:
        return super().get_queryset(request).defer("proposal", "issued_copy")

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Quote | None:
        """Held while it is changed: a customer may decide, or a colleague issue, at the same moment."""
        quote = super().get_object(request, object_id, from_field)
        if quote is None or request.method != "POST":
            return quote
        list(Quote.objects.select_for_update().filter(pk=quote.pk).values_list("pk"))
        return super().get_object(request, object_id, from_field)

    def changes_between(self, before: Any, after: Any) -> Iterator[str]:
        """Also the lines, which the admin noted but the history does not hold, and the steps."""
        yield from super().changes_between(before, after)
        since = (before.next_record or after).history_date
        kind = ContentType.objects.get_for_model(Quote)
        noted = LogEntry.objects.filter(content_type=kind, object_id=str(before.id), action_time__gte=since)
        for entry in noted.order_by("pk"):
            # Of the parts of a note, those about another row than the quote itself say its name.
            parts = [
                part for part in json.loads(entry.change_message) for said in part.values() if "name" in said
            ]
            if parts:
                yield LogEntry(change_message=json.dumps(parts)).get_change_message()
        for event in QuoteEvent.objects.filter(quote_id=before.id, at__gte=since):
            yield (
                f"{EventKind(event.kind).label} ({event.by})"
                if event.by
                else str(EventKind(event.kind).label)
            )

    def get_fieldsets(self, request: HttpRequest, obj: Quote | None = None) -> list[Any]:
        return [
            (None, {"fields": [("state", "todo"), ("totals", *self._margin_field(request))]}),
            (
                _("Offer"),
                {
                    "fields": [
                        ("title", "language"), ("offer_mode", "valid_until"), ("vat_mode", "discount_pct"),
                        ("delivery_place", "incoterm"), "internal_note",
                    ]
                },
            ),
            (
                _("Customer"),
                {
                    "classes": ["collapse"],
                    "fields": [
                        ("organisation", "reference"), ("contact_name", "email", "phone"), "street",
                        ("postcode", "city", "country"), ("kvk_number", "vat_id", "vat_id_checked_on"),
                        "customer_note", "consented_at",
                    ]
                },
            ),
            (_("Link for the customer"), {"fields": [("link", "link_expires_on")]}),
            (_("What happened"), {"classes": ["collapse"], "fields": ["happened"]}),
        ]  # fmt: skip

    def _margin_field(self, request: HttpRequest) -> list[str]:
        return ["margin"] if request.user.has_perm(SEE_MARGIN) else []

    def get_readonly_fields(self, request: HttpRequest, obj: Quote | None = None) -> Sequence[str]:
        always = ("state", "todo", "totals", "margin", "customer_note", "consented_at", "link", "happened")
        return always if obj is None or obj.is_editable else (*always, *EDITABLE)

    def revert_disabled(self, request: HttpRequest, obj: Quote | None = None) -> bool:
        return True  # the history keeps no proposal, so an old state cannot be brought back whole

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # a quote comes from a proposal

    def has_delete_permission(self, request: HttpRequest, obj: Quote | None = None) -> bool:
        return super().has_delete_permission(request, obj) and (obj is None or obj.is_editable)

    def get_actions(
        self, request: HttpRequest, action_location: ActionLocation = ActionLocation.CHANGE_LIST
    ) -> Any:
        actions = super().get_actions(request, action_location=action_location)
        # Deleting many at once would meet issued ones; a draft is deleted on its own page.
        actions.pop("delete_selected", None)
        return actions

    # ── what the list and the page show ─────────────────────────────────────────────────────────────────────────

    @admin.display(description=gettext_lazy("number"), ordering="number")
    def name(self, quote: Quote) -> str:
        return quote.full_number or _("draft %(id)s") % {"id": quote.pk}

    @admin.display(description=gettext_lazy("status"), ordering="status")
    def state(self, quote: Quote) -> str:
        label: Promise | str = QuoteStatus(quote.status).label
        if quote.status == QuoteStatus.ISSUED and quote.is_expired(timezone.now()):
            label = QuoteStatus.EXPIRED.label
        if quote.status == QuoteStatus.DRAFT and quote.number:
            label = _("draft of revision %(number)s") % {"number": quote.full_number}
        return format_html('<span class="quote-state quote-state--{}">{}</span>', quote.status, label)

    @admin.display(description=gettext_lazy("without VAT"), ordering="net_eur")
    def total(self, quote: Quote) -> str:
        return formats.money(quote.net_eur)

    @admin.display(description=gettext_lazy("made at"), ordering="created_at")
    def made_on(self, quote: Quote) -> str:
        """The day: with the hour the list is wider than a laptop's screen."""
        return date_format(timezone.localdate(quote.created_at), "SHORT_DATE_FORMAT")

    @admin.display(description=gettext_lazy("before it can be issued"))
    def todo(self, quote: Quote) -> str:
        if not quote.is_editable:
            return "–"
        troubles = services.obstacles(quote)
        if not troubles:
            return _("Nothing: it is ready.")
        return format_html("<ul>{}</ul>", format_html_join("", "<li>{}</li>", ((one,) for one in troubles)))

    @admin.display(description=gettext_lazy("totals"))
    def totals(self, quote: Quote) -> str:
        try:
            document = services.document_of(quote)
        except services.Refused as refusal:
            return refusal.sentence
        totals = document.prices.totals
        rows = [
            (_("without VAT"), formats.money(totals.net)),
            (
                _("VAT %(rate)s") % {"rate": formats.quantity(totals.vat_rate_pct, "%")},
                formats.money(totals.vat),
            ),
            (_("with VAT"), formats.money(totals.gross)),
        ]
        if document.options:
            options = sum((line.net_eur for line in document.options), Decimal(0))
            rows.append((_("options, apart"), formats.money(options)))
        return _table(rows)

    @admin.display(description=gettext_lazy("cost and margin (internal)"))
    def margin(self, quote: Quote) -> str:
        lines = [line for line in quote.lines.all() if not line.optional]
        unknown = [line for line in lines if line.cost_eur is None]
        known = [line for line in lines if line.cost_eur is not None]
        cost = sum((line.quantity * line.cost_eur for line in known if line.cost_eur is not None), Decimal(0))
        sold = sum((self._net(quote, line) for line in known), Decimal(0))
        rows = [(_("cost"), formats.money(cost)), (_("margin"), formats.money(sold - cost))]
        if sold:
            rows.append((_("margin, of the price"), formats.percent((sold - cost) / sold, 3)))
        if unknown:
            text = ngettext("%(count)d line without a cost", "%(count)d lines without a cost", len(unknown))
            rows.append((text % {"count": len(unknown)}, _("left out")))
        return _table(rows)

    @staticmethod
    def _net(quote: Quote, line: QuoteLine) -> Decimal:
        return line_net(line.quantity, line.unit_eur, together(line.discount_pct, quote.discount_pct))

    @admin.display(description=gettext_lazy("link"))
    def link(self, quote: Quote) -> str:
        if not quote.link_works(timezone.localdate()):
            return _("The link no longer works.")
        return format_html('<a href="{0}">{0}</a>', settings.SITE_URL + quote.get_absolute_url())

    @admin.display(description=gettext_lazy("what happened"))
    def happened(self, quote: Quote) -> str:
        rows = (
            (
                date_format(timezone.localtime(event.at), "DATETIME_FORMAT"),
                EventKind(event.kind).label,
                event.by,
                event.detail,
            )
            for event in quote.events.all()
        )
        return format_html(
            '<table class="quote-events">{}</table>',
            format_html_join("", "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>", rows),
        )

    # ── saving ──────────────────────────────────────────────────────────────────────────────────────────────────

    def save_model(self, request: HttpRequest, obj: Quote, form: Any, change: bool) -> None:
        """Another VAT number has not been found valid by the check of the one before."""
        if (
            normal_vat_id(form.initial.get("vat_id", "")) != obj.vat_id
            and "vat_id_checked_on" not in form.changed_data
            and obj.vat_id_checked_on
        ):
            obj.vat_id_checked_on = None
            text = _("The VAT number is another one now: check it in VIES and enter the day anew.")
            self.message_user(request, text, messages.WARNING)
        super().save_model(request, obj, form, change)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        if form.instance.is_editable:
            if "language" in form.changed_data:
                self._follow_language(request, form)
            net = services.refresh_total(form.instance)
            self.message_user(
                request, _("Total without VAT: %(net)s") % {"net": formats.money(net)}, messages.INFO
            )

    def _follow_language(self, request: HttpRequest, form: Any) -> None:
        own = services.follow_language(form.instance, form.initial["language"])
        text = _("The articles are now named in the new language; prices and quantities stayed as they were.")
        self.message_user(request, text, messages.INFO)
        if own:
            lines = ", ".join(f"“{line.text}”" for line in own)
            text = _("These lines have words of your own, which we did not translate: %(lines)s") % {
                "lines": lines
            }
            self.message_user(request, text, messages.WARNING)

    # ── steps ───────────────────────────────────────────────────────────────────────────────────────────────────

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        own = [
            path("<int:pk>/document.pdf", wrap(self.pdf_view), name="quotes_quote_pdf"),
            path("<int:pk>/prices.xlsx", wrap(self.xlsx_view), name="quotes_quote_xlsx"),
            path("<int:pk>/costs.xlsx", wrap(self.costs_view), name="quotes_quote_costs"),
            path("<int:pk>/step/<slug:name>/", wrap(self.step_view), name="quotes_quote_step"),
        ]
        return [*own, *super().get_urls()]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], **kwargs: Any
    ) -> HttpResponse:
        quote = kwargs.get("obj")
        if quote is not None:
            context["quote_steps"] = [
                {"url": reverse("admin:quotes_quote_step", args=[quote.pk, name]), "title": step.title}
                for name, step in STEPS.items()
                if request.user.has_perm(step.permission) and step.allowed(quote)
            ]
            context["quote_pdf_url"] = reverse("admin:quotes_quote_pdf", args=[quote.pk])
            context["quote_xlsx_url"] = reverse("admin:quotes_quote_xlsx", args=[quote.pk])
            context["quote_costs_url"] = reverse("admin:quotes_quote_costs", args=[quote.pk])
        return super().render_change_form(request, context, **kwargs)

    def pdf_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        return pdf_response(self._seen(request, pk))

    def xlsx_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        return xlsx_response(self._seen(request, pk))

    def costs_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        return costs_response(self._seen(request, pk))

    def _seen(self, request: HttpRequest, pk: int) -> Quote:
        quote = get_object_or_404(Quote, pk=pk)
        if not self.has_view_permission(request, quote):
            raise PermissionDenied
        return quote

    def step_view(self, request: HttpRequest, pk: int, name: str) -> HttpResponse:
        """Ask once more (GET), then do it (POST). What stands in the way is said on the same page."""
        quote = get_object_or_404(Quote, pk=pk)
        step, user = STEPS.get(name), request.user
        if step is None or not isinstance(user, User) or not user.has_perm(step.permission):
            raise PermissionDenied
        sent = request.POST if request.method == "POST" else request.GET
        seen = sent.get(SEEN) or newest(quote)
        form = step.form(request.POST if request.method == "POST" else None)
        with transaction.atomic():
            list(Quote.objects.select_for_update().filter(pk=quote.pk).values_list("pk"))
            trouble = self._trouble(quote, name, seen)
            if not trouble and form.is_valid():
                try:
                    changed = step.perform(quote, user, **form.cleaned_data)
                except services.Refused as refusal:
                    trouble = refusal.messages
                else:
                    self.message_user(request, str(step.done) % {"quote": changed}, messages.SUCCESS)
                    return HttpResponseRedirect(reverse("admin:quotes_quote_change", args=[changed.pk]))
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "quote": quote,
            "title": step.title,
            "question": step.question,
            "form": form,
            "seen": seen,
            "trouble": trouble,
            "media": self.media,
        }
        status = HTTPStatus.UNPROCESSABLE_ENTITY if request.method == "POST" else HTTPStatus.OK
        return TemplateResponse(request, "quotes/admin/step.html", context, status=status)

    def _trouble(self, quote: Quote, name: str, seen: str) -> Sequence[str]:
        """What stands in the way of a step: first of all, that this is not the quote that its page showed."""
        if newest(quote) != seen:
            said = _(
                "After you opened this quote, %(who)s saved it, on %(when)s. Changed there: %(what)s. Look at it "
                "again first."
            )
            return [said % self.since(quote, seen)]
        return services.obstacles(quote) if name == "issue" and quote.is_editable else ()

    # ── privacy ─────────────────────────────────────────────────────────────────────────────────────────────────

    @admin.action(description=gettext_lazy("Export what is kept of these contacts"), permissions=["change"])
    def export_contacts(self, request: HttpRequest, queryset: models.QuerySet[Quote]) -> HttpResponse:
        """A file per request: everything of the persons behind the chosen quotes."""
        body = [services.export_contact(email) for email in _emails(queryset)]
        response = JsonResponse(body, safe=False, json_dumps_params={"indent": 2, "ensure_ascii": False})
        response.headers["Content-Disposition"] = 'attachment; filename="contacts.json"'
        return response

    def has_erase_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(ERASE)

    @admin.action(description=gettext_lazy("Erase these contacts"), permissions=["erase"])
    def erase_contacts(self, request: HttpRequest, queryset: models.QuerySet[Quote]) -> HttpResponse | None:
        """Asks once more, since it concerns all quotes of these persons, not only the chosen ones."""
        emails = _emails(queryset)
        if "confirmed" not in request.POST:
            context = {
                **self.admin_site.each_context(request),
                "opts": self.opts,
                "title": _("Erase these contacts"),
                "emails": emails,
                "chosen": list(queryset.values_list("pk", flat=True)),
                "media": self.media,
            }
            return TemplateResponse(request, "quotes/admin/erase.html", context)
        outcomes = [services.erase_contact(email) for email in emails]
        deleted, stripped, kept = (sum(counts) for counts in zip(*outcomes, strict=True))
        text = _(
            "%(deleted)d drafts deleted, %(stripped)d quotes stripped of personal data, %(kept)d kept because they "
            "are open or accepted."
        )
        counts = {"deleted": deleted, "stripped": stripped, "kept": kept}
        self.message_user(request, text % counts, messages.WARNING if kept else messages.SUCCESS)
        return None


def _emails(queryset: models.QuerySet[Quote]) -> list[str]:
    return sorted({email.lower() for email in queryset.values_list("email", flat=True)})


def _table(rows: Iterable[tuple[str, str]]) -> SafeString:
    body = format_html_join("", "<tr><th>{}</th><td>{}</td></tr>", rows)
    return format_html('<table class="quote-totals">{}</table>', body)
