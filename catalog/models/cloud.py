"""What can be rented."""

from decimal import Decimal
from typing import ClassVar

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from catalog.models.accelerators import Accelerator
from catalog.models.base import Article
from catalog.models.fields import count, figure, not_negative
from catalog.models.prices import CURRENCIES

PLANS = [
    ("on_demand", _("on demand")),
    ("reserved_1y", _("reserved for 1 year")),
    ("reserved_3y", _("reserved for 3 years")),
    ("spot", _("spot: can be taken away")),
]


class CloudOffer(Article):
    kind_key = "cloud_offer"

    region = models.CharField(_("region"), max_length=60)
    in_eu = models.BooleanField(_("in the European Union"), default=False)
    offered_accelerator = models.ForeignKey(
        Accelerator,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="cloud_offers",
        verbose_name=_("accelerator"),
    )
    accelerator_count = models.PositiveIntegerField(_("accelerators"), default=1)
    vcpus = count(_("virtual CPUs"))
    memory_gib = figure(_("memory (GiB)"))
    hourly_amount = models.DecimalField(
        _("price per hour"),
        max_digits=14,
        decimal_places=6,
        null=True,
        blank=True,
        validators=[MinValueValidator(Decimal(0))],
        help_text=_("Of the whole instance, without VAT."),
    )
    currency = models.CharField(_("currency"), max_length=3, choices=CURRENCIES, blank=True)
    exchange_rate = models.DecimalField(
        _("exchange rate (euro per unit)"),
        max_digits=12,
        decimal_places=6,
        default=Decimal(1),
        validators=[MinValueValidator(Decimal("0.000001"))],
    )
    exchange_rate_on = models.DateField(_("date of the rate"), null=True, blank=True)
    exchange_rate_source = models.CharField(_("source of the rate"), max_length=200, blank=True)
    plan = models.CharField(_("plan"), max_length=15, choices=PLANS, default="on_demand")
    priced_on = models.DateField(
        _("date of the price"), null=True, blank=True, help_text=_("Empty: the source gives no date.")
    )
    historic = models.BooleanField(
        _("historic"), default=False, help_text=_("Kept to show how prices moved; never compared with.")
    )

    columns_of: ClassVar = {**Article.columns_of, "accelerator_sku": "offered_accelerator_id"}

    history = HistoricalRecords()

    class Meta:
        verbose_name = _("cloud offer")
        verbose_name_plural = _("cloud offers")
        constraints = [
            not_negative("catalog_cloud_figures", ("memory_gib", "hourly_amount")),
            models.CheckConstraint(
                condition=Q(hourly_amount__isnull=True, currency="")
                | (Q(hourly_amount__isnull=False) & ~Q(currency="")),
                name="catalog_cloud_price_has_currency",
                violation_error_code="currency",
                violation_error_message=_("A price needs a currency, and a currency a price."),
            ),
            models.CheckConstraint(
                condition=~Q(currency="EUR") | Q(exchange_rate=1),
                name="catalog_cloud_euro_rate",
                violation_error_code="exchange_rate",
                violation_error_message=_("The exchange rate of the euro is 1."),
            ),
            models.CheckConstraint(
                condition=Q(currency__in=["", "EUR"]) | Q(exchange_rate_on__isnull=False),
                name="catalog_cloud_rate_is_dated",
                violation_error_code="exchange_rate_on",
                violation_error_message=_("Say of which day the exchange rate is."),
            ),
        ]

    @property
    def hourly_eur(self) -> Decimal | None:
        """Price of an hour in euro."""
        return None if self.hourly_amount is None else self.hourly_amount * self.exchange_rate
