"""Filters of the lists: what misses a figure or a price, and what holds when."""

from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.db import models
from django.db.models import F, OuterRef, Q
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from catalog.completeness import is_incomplete
from catalog.models import TABLES, Price
from catalog.models.prices import STALE_DAYS


def is_stale() -> Q:
    """Prices that a colleague should ask for again, as `Price.is_stale`."""
    oldest = timezone.localdate() - timedelta(days=STALE_DAYS)
    return Q(stated_on__isnull=True) | Q(stated_on__lt=oldest)


def holding_now() -> models.QuerySet[Price]:
    """Prices of today in euro, the latest first."""
    today = timezone.localdate()
    return Price.objects.filter(
        Q(valid_from__isnull=True) | Q(valid_from__lte=today),
        Q(valid_until__isnull=True) | Q(valid_until__gte=today),
        currency="EUR",
    ).order_by(F("valid_from").desc(nulls_last=True))


class FiguresFilter(admin.SimpleListFilter):
    title = gettext_lazy("figures")
    parameter_name = "figures"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("missing", _("a figure is missing")),
            ("estimated", _("a figure is an estimate")),
            ("complete", _("complete")),
        ]

    def queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> models.QuerySet[Any]:
        incomplete = is_incomplete(queryset.model.kind_key)
        if self.value() == "missing":
            return queryset.filter(incomplete)
        if self.value() == "estimated":
            return queryset.exclude(estimated_fields=[])
        return queryset.exclude(incomplete) if self.value() == "complete" else queryset


class PriceStateFilter(admin.SimpleListFilter):
    title = gettext_lazy("price")
    parameter_name = "price_state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("none", _("no price")), ("stale", _("stale price")), ("fresh", _("fresh price"))]

    def queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> models.QuerySet[Any]:
        now = holding_now().filter(article=OuterRef("pk"))
        match self.value():
            case "none":
                return queryset.filter(~models.Exists(now))
            case "stale":
                return queryset.filter(models.Exists(now.filter(is_stale())))
            case "fresh":
                return queryset.filter(models.Exists(now.exclude(is_stale())))
        return queryset


class FreshnessFilter(admin.SimpleListFilter):
    title = gettext_lazy("freshness")
    parameter_name = "freshness"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("stale", _("stale")), ("fresh", _("fresh"))]

    def queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> models.QuerySet[Any]:
        if self.value() == "stale":
            return queryset.filter(is_stale())
        return queryset.exclude(is_stale()) if self.value() == "fresh" else queryset


class HoldsFilter(admin.SimpleListFilter):
    title = gettext_lazy("validity")
    parameter_name = "holds"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("now", _("today")), ("later", _("from a later day")), ("past", _("no longer"))]

    def queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> models.QuerySet[Any]:
        today = timezone.localdate()
        match self.value():
            case "now":
                return queryset.filter(
                    Q(valid_from__isnull=True) | Q(valid_from__lte=today),
                    Q(valid_until__isnull=True) | Q(valid_until__gte=today),
                )
            case "later":
                return queryset.filter(valid_from__gt=today)
            case "past":
                return queryset.filter(valid_until__lt=today)
        return queryset


class KindFilter(admin.SimpleListFilter):
    title = gettext_lazy("kind")
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(key, str(_plural(key))) for key in TABLES if key != "ai_model"]

    def queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> models.QuerySet[Any]:
        return queryset.filter(kind_name=self.value()) if self.value() else queryset


def _plural(kind_key: str) -> Any:
    return TABLES[kind_key]._meta.verbose_name_plural
