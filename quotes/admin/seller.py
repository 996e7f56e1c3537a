"""The seller's card, VAT rates and terms."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import TextField
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from catalog.admin.base import CatalogAdmin
from quotes.models import Seller, TermsDocument, VatRate


@admin.register(Seller)
class SellerAdmin(CatalogAdmin):
    """One row: the list leads straight to it."""

    fieldsets = (
        (gettext_lazy("Look"), {"fields": ["product_name", "accent", "logo_svg"]}),
        (
            gettext_lazy("Who offers"),
            {
                "fields": [
                    ("trade_name", "statutory_name"), "seat", "street", ("postcode", "city", "country"),
                    ("kvk_number", "vat_id", "iban"),
                ],
                "description": gettext_lazy("No quote is issued while one of these is empty."),
            },
        ),
        (gettext_lazy("Contact"), {"fields": ["contact_name", ("email", "phone"), "website"]}),
        (
            gettext_lazy("Quotes"),
            {"fields": [("validity_days", "payment_term_days", "vat_check_days"), "warranty_nl", "warranty_en"]},
        ),
        (
            gettext_lazy("How long details of customers are kept"),
            {"fields": ["keep_open_days", "keep_lost_days", "keep_won_years"]},
        ),
    )  # fmt: skip

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super().has_add_permission(request) and not Seller.objects.exists()

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        seller = Seller.objects.first()
        if seller and self.has_view_permission(request):
            return HttpResponseRedirect(reverse("admin:quotes_seller_change", args=[seller.pk]))
        return super().changelist_view(request, extra_context)

    def save_model(self, request: HttpRequest, obj: Seller, form: forms.ModelForm, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if obj.missing:
            text = _("Before a quote can be issued, fill in: %(fields)s.") % {
                "fields": ", ".join(obj.missing)
            }
            self.message_user(request, text, messages.WARNING)


@admin.register(VatRate)
class VatRateAdmin(CatalogAdmin):
    list_display = ("mode", "rate_pct", "from_net_eur", "valid_from", "source")
    list_filter = ("mode",)
    fields = ("mode", ("rate_pct", "from_net_eur"), "valid_from", "text_nl", "text_en", "source")


@admin.register(TermsDocument)
class TermsDocumentAdmin(CatalogAdmin):
    list_display = ("title", "version", "language", "valid_from", "sha256")
    list_filter = ("language",)
    fields = ("title", ("version", "language"), "valid_from", "text", "sha256")
    readonly_fields = ("sha256",)
    formfield_overrides = {TextField: {"widget": forms.Textarea({"rows": 30, "cols": 100})}}

    def has_delete_permission(self, request: HttpRequest, obj: TermsDocument | None = None) -> bool:
        return super().has_delete_permission(request, obj) and not (obj and obj.is_used)
