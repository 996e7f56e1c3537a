"""Filters of the list of quotes."""

from decimal import Decimal
from typing import Any

from django.contrib import admin
from django.db import models
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from configurator import formats
from quotes.models import Quote

VALUES = [
    (Decimal(0), Decimal(50_000)),
    (Decimal(50_000), Decimal(250_000)),
    (Decimal(250_000), Decimal(1_000_000)),
]
CUSTOMERS_LISTED = 30


class ValueFilter(admin.SimpleListFilter):
    title = gettext_lazy("value")
    parameter_name = "value"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        bands = [(str(high), formats.money_span(low, high)) for low, high in VALUES]
        return [
            *bands,
            ("more", _("more than %(amount)s") % {"amount": formats.money(VALUES[-1][1], "round")}),
        ]

    def queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> models.QuerySet[Any]:
        if self.value() == "more":
            return queryset.filter(net_eur__gte=VALUES[-1][1])
        band = next(((low, high) for low, high in VALUES if str(high) == self.value()), None)
        return queryset.filter(net_eur__gte=band[0], net_eur__lt=band[1]) if band else queryset


class CustomerFilter(admin.SimpleListFilter):
    """The organisations that asked last; others are found by search."""

    title = gettext_lazy("customer")
    parameter_name = "customer"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        latest = (
            Quote.objects.values("organisation").annotate(last=models.Max("created_at")).order_by("-last")
        )
        return [(row["organisation"], row["organisation"]) for row in latest[:CUSTOMERS_LISTED]]

    def queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> models.QuerySet[Any]:
        return queryset.filter(organisation=self.value()) if self.value() else queryset
