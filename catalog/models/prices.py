"""Prices, each with the days it holds, and the margins behind them."""

from collections.abc import Iterable
from datetime import timedelta
from decimal import Decimal

from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from catalog.models.base import Article, Seeded

CURRENCIES = [("EUR", _("euro")), ("USD", _("US dollar")), ("GBP", _("pound sterling"))]
STALE_DAYS = 60  # hardware prices move within a quarter


CATEGORIES = {
    "gpu_card": _("GPU card"),
    "gpu_board": _("GPU board"),
    "edge_module": _("edge module"),
    "server": _("server"),
    "cpu": _("processor"),
    "memory": _("memory"),
    "drive": _("drive"),
    "nic": _("network card"),
    "switch": _("switch"),
    "optic": _("optic"),
    "cable": _("cable"),
    "bridge": _("NVLink bridge"),
    "rack": _("rack"),
    "pdu": _("power distribution unit"),
    "rack_accessory": _("rack accessory"),
    "cooling": _("cooling"),
    "ups": _("UPS"),
    "kvm": _("console (KVM)"),
    "storage": _("storage"),
    "power_supply": _("power supply"),
    "service": _("service"),
    "support_contract": _("support contract"),
    "software": _("software"),
}
"""Names of the categories of the seed catalog; one that somebody adds goes by its own."""


class Margin(Seeded):
    """The margin of a price category: for colleagues only, never in a snapshot or a customer's document."""

    category = models.SlugField(_("price category"), max_length=30, primary_key=True)
    margin_pct = models.DecimalField(
        _("margin (%)"),
        max_digits=5,
        decimal_places=2,
        help_text=_("Of the list price. Customers never see it."),
    )
    minimum_margin_pct = models.DecimalField(_("lowest margin (%)"), max_digits=5, decimal_places=2)
    notes = models.TextField(_("notes"), blank=True)

    history = HistoricalRecords()

    class Meta:
        verbose_name = _("margin")
        verbose_name_plural = _("margins")
        ordering = ["category"]
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    minimum_margin_pct__gte=0, margin_pct__gte=F("minimum_margin_pct"), margin_pct__lt=100
                ),
                name="catalog_margin_order",
                violation_error_code="margin_pct",
                violation_error_message=_("The margin lies between the lowest margin and 100."),
            )
        ]

    def __str__(self) -> str:
        return str(CATEGORIES.get(self.category, self.category))


class Price(Seeded):
    """The list price of an article from one day to another, both included. No day has two."""

    article = models.ForeignKey(
        Article, on_delete=models.CASCADE, related_name="prices", verbose_name=_("article")
    )
    currency = models.CharField(_("currency"), max_length=3, choices=CURRENCIES, default="EUR")
    amount = models.DecimalField(
        _("list price"),
        max_digits=12,
        decimal_places=2,
        validators=[MinValueValidator(Decimal(0))],
        help_text=_("Without VAT."),
    )
    valid_from = models.DateField(
        _("valid from"), null=True, blank=True, help_text=_("Empty: from the start.")
    )
    valid_until = models.DateField(
        _("valid until"), null=True, blank=True, help_text=_("The last day. Empty: until further notice.")
    )
    stated_on = models.DateField(
        _("stated on"), null=True, blank=True, help_text=_("The day the supplier gave this price.")
    )
    source = models.TextField(_("source"), help_text=_("Who gave this price, or what it rests on."))
    indicative = models.BooleanField(
        _("indicative"), default=True, help_text=_("Not a firm price of the supplier.")
    )
    demonstration = models.BooleanField(
        _("demonstration price"), default=False, help_text=_("Shown as such to customers; no offer.")
    )
    lead_time_weeks = models.PositiveIntegerField(_("lead time (weeks)"), null=True, blank=True)
    lead_time_stated_on = models.DateField(_("lead time stated on"), null=True, blank=True)
    notes = models.TextField(_("notes"), blank=True)

    replaces_open = False
    """Set on a new price that is to end the one that holds until further notice (`end_predecessor` does it)."""

    history = HistoricalRecords()

    class Meta:
        verbose_name = _("price")
        verbose_name_plural = _("prices")
        ordering = ["article", "currency", F("valid_from").asc(nulls_first=True)]
        constraints = [
            models.CheckConstraint(
                condition=Q(amount__gte=0),
                name="catalog_price_not_negative",
                violation_error_code="amount",
                violation_error_message=_("A price cannot be negative."),
            ),
            models.CheckConstraint(
                condition=Q(valid_from__isnull=True)
                | Q(valid_until__isnull=True)
                | Q(valid_until__gte=F("valid_from")),
                name="catalog_price_days_in_order",
                violation_error_code="valid_until",
                violation_error_message=_("The last day of a price lies before its first day."),
            ),
            models.CheckConstraint(
                condition=Q(demonstration=False) | Q(indicative=True),
                name="catalog_price_demonstration_is_indicative",
                violation_error_code="indicative",
                violation_error_message=_("A demonstration price is never firm."),
            ),
            models.CheckConstraint(
                condition=~Q(source=""),
                name="catalog_price_has_a_source",
                violation_error_code="source",
                violation_error_message=_("Say who gave this price."),
            ),
            models.UniqueConstraint(
                fields=["article", "currency", "valid_from"],
                name="catalog_price_one_per_first_day",
                violation_error_code="valid_from",
                violation_error_message=_("This article already has a price from that day."),
            ),
            models.UniqueConstraint(
                fields=["article", "currency"],
                condition=Q(valid_from__isnull=True),
                name="catalog_price_one_from_the_start",
                violation_error_code="valid_from",
                violation_error_message=_("This article already has a price from the start."),
            ),
            models.UniqueConstraint(
                fields=["article", "currency"],
                condition=Q(valid_until__isnull=True),
                name="catalog_price_one_until_further_notice",
                violation_error_code="valid_until",
                violation_error_message=_(
                    "This article already has a price until further notice: give that one a last day first."
                ),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.article_id}: {self.currency} {self.amount}"

    def clean(self) -> None:
        """Refuse a price that holds on a day that already has one."""
        super().clean()
        if self.valid_from and self.valid_until and self.valid_until < self.valid_from:
            raise ValidationError({"valid_until": _("The last day of a price lies before its first day.")})
        if not self.article_id:
            return
        others = self.overlapping()
        if self.replaces_open and self.valid_from:
            others = others.exclude(
                Q(valid_from__isnull=True) | Q(valid_from__lt=self.valid_from), valid_until__isnull=True
            )
        for other in others:
            raise ValidationError(
                {
                    "valid_from": _(
                        "On some of these days another price holds: %(amount)s %(currency)s, from %(first)s until "
                        "%(last)s."
                    )
                    % {
                        "amount": other.amount,
                        "currency": other.currency,
                        "first": other.valid_from or "…",
                        "last": other.valid_until or "…",
                    }
                }
            )

    def validate_constraints(self, exclude: Iterable[str] | None = None) -> None:
        # The price that ends for this one still stands in the database while this one is judged.
        super().validate_constraints({*(exclude or ()), "valid_until"} if self.replaces_open else exclude)

    def overlapping(self) -> models.QuerySet["Price"]:
        """Other prices of the article in the same currency that share a day with this one."""
        others = Price.objects.filter(article_id=self.article_id, currency=self.currency).exclude(pk=self.pk)
        if self.valid_until:
            others = others.filter(Q(valid_from__isnull=True) | Q(valid_from__lte=self.valid_until))
        if self.valid_from:
            others = others.filter(Q(valid_until__isnull=True) | Q(valid_until__gte=self.valid_from))
        return others

    def end_predecessor(self) -> "Price | None":
        """Give the price that holds until further notice its last day: the day before this one starts.

        Saves that price and returns it, or None when there is none or it does not start earlier.
        """
        if not self.valid_from:
            return None
        open_ended = (
            Price.objects.filter(article_id=self.article_id, currency=self.currency, valid_until__isnull=True)
            .filter(Q(valid_from__isnull=True) | Q(valid_from__lt=self.valid_from))
            .exclude(pk=self.pk)
            .first()
        )
        if open_ended:
            open_ended.valid_until = self.valid_from - timedelta(days=1)
            open_ended.save()
        return open_ended

    @property
    def is_stale(self) -> bool:
        """Stated so long ago, or on no known day, that a colleague should ask again."""
        if self.stated_on is None:
            return True
        return (timezone.localdate() - self.stated_on).days > STALE_DAYS
