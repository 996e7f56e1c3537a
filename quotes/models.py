"""Quotes and what a quote needs around it: the seller, VAT rates, terms, numbers, and changed assumptions.

A quote in draft may be edited. An issued quote is a frozen copy (`issued_copy`) that nothing changes any more; a
correction is a new revision under the same number.
"""

import hashlib
import secrets
from datetime import date
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from quotes.pricing.money import OfferMode, VatMode
from quotes.sizing.assumptions import Assumptions, described
from quotes.sizing.results import LineRole, Tier

LANGUAGES = [("nl", _("Dutch")), ("en", _("English"))]


def new_token() -> str:
    """256 bits: a link that cannot be guessed."""
    return secrets.token_urlsafe(32)


class Seller(models.Model):
    """The party that offers. One row; whoever sells under another name changes it here."""

    MANDATORY = (
        "trade_name",
        "statutory_name",
        "seat",
        "street",
        "postcode",
        "city",
        "kvk_number",
        "vat_id",
        "iban",
        "contact_name",
        "email",
        "phone",
    )

    product_name = models.CharField(_("name of this site"), max_length=60, default="Rekenkracht")
    trade_name = models.CharField(_("trade name"), max_length=120, blank=True)
    statutory_name = models.CharField(_("statutory name"), max_length=120, blank=True)
    seat = models.CharField(_("statutory seat"), max_length=120, blank=True)
    street = models.CharField(_("street and number"), max_length=120, blank=True)
    postcode = models.CharField(_("postcode"), max_length=12, blank=True)
    city = models.CharField(_("city"), max_length=80, blank=True)
    country = models.CharField(_("country"), max_length=2, default="NL")
    kvk_number = models.CharField(
        _("Chamber of Commerce number (KvK)"),
        max_length=8,
        blank=True,
        validators=[RegexValidator(r"^\d{8}$", _("A KvK number has eight digits."))],
    )
    vat_id = models.CharField(_("VAT number"), max_length=20, blank=True)
    iban = models.CharField(_("IBAN"), max_length=34, blank=True)
    contact_name = models.CharField(_("contact person"), max_length=120, blank=True)
    email = models.EmailField(_("e-mail address"), blank=True)
    phone = models.CharField(_("telephone number"), max_length=30, blank=True)
    website = models.URLField(_("website"), blank=True)
    accent = models.CharField(
        _("accent colour"),
        max_length=7,
        default="#0b5563",
        validators=[
            RegexValidator(r"^#[0-9a-fA-F]{6}$", _("Write the colour as # and six hexadecimal digits."))
        ],
    )
    validity_days = models.PositiveSmallIntegerField(
        _("validity of a quote (days)"), default=14, validators=[MinValueValidator(1), MaxValueValidator(180)]
    )
    payment_term_days = models.PositiveSmallIntegerField(_("payment term (days)"), default=30)
    warranty_nl = models.TextField(_("warranty and support, in Dutch"), blank=True)
    warranty_en = models.TextField(_("warranty and support, in English"), blank=True)

    class Meta:
        verbose_name = _("seller")
        verbose_name_plural = _("seller")

    def __str__(self) -> str:
        return self.trade_name or self.product_name

    @property
    def missing(self) -> list[str]:
        """Labels of the mandatory fields that are still empty; a quote is not issued while there are any."""
        return [
            str(self._meta.get_field(name).verbose_name) for name in self.MANDATORY if not getattr(self, name)
        ]


class VatRate(models.Model):
    """The rate and the sentence that the law wants, per mode, from a date."""

    mode = models.CharField(_("mode"), max_length=20, choices=[(mode.value, mode.value) for mode in VatMode])
    rate_pct = models.DecimalField(
        _("rate (%)"),
        max_digits=5,
        decimal_places=2,
        validators=[MinValueValidator(Decimal(0)), MaxValueValidator(Decimal(100))],
    )
    text_nl = models.CharField(_("sentence in Dutch"), max_length=300, blank=True)
    text_en = models.CharField(_("sentence in English"), max_length=300, blank=True)
    valid_from = models.DateField(_("valid from"))
    source = models.CharField(_("source"), max_length=300)
    history = HistoricalRecords()

    class Meta:
        verbose_name = _("VAT rate")
        verbose_name_plural = _("VAT rates")
        ordering = ["mode", "-valid_from"]
        constraints = [
            models.UniqueConstraint(
                fields=["mode", "valid_from"],
                name="vat_rate_once_per_day",
                violation_error_message=_("There is already a rate for this mode from this date."),
            ),
            models.CheckConstraint(
                condition=models.Q(rate_pct__gte=0, rate_pct__lte=100),
                name="vat_rate_is_a_percentage",
                violation_error_message=_("A VAT rate lies between 0 and 100 %."),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.mode} {self.rate_pct} %"


class TermsDocument(models.Model):
    """A version of the terms and conditions. Its hash stands on every quote that declares it applicable."""

    title = models.CharField(_("title"), max_length=120)
    version = models.CharField(_("version"), max_length=20)
    language = models.CharField(_("language"), max_length=2, choices=LANGUAGES)
    text = models.TextField(_("text"))
    valid_from = models.DateField(_("valid from"))
    history = HistoricalRecords()

    class Meta:
        verbose_name = _("terms and conditions")
        verbose_name_plural = _("terms and conditions")
        ordering = ["language", "-valid_from"]
        constraints = [
            models.UniqueConstraint(
                fields=["version", "language"],
                name="terms_version_once_per_language",
                violation_error_message=_("This version exists already in this language."),
            )
        ]

    def __str__(self) -> str:
        return f"{self.title} {self.version} ({self.language})"

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


class NumberSequence(models.Model):
    """The last quote number of a year; locked while a number is taken, so that none is skipped or given twice."""

    year = models.PositiveSmallIntegerField(primary_key=True)
    last = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.year}-{self.last:04d}"


class QuoteStatus(models.TextChoices):
    DRAFT = "draft", _("draft")
    ISSUED = "issued", _("issued")
    ACCEPTED = "accepted", _("accepted")
    DECLINED = "declined", _("declined")
    EXPIRED = "expired", _("expired")
    WITHDRAWN = "withdrawn", _("withdrawn")


class Quote(models.Model):
    """An offer to one customer. `proposal` is the frozen proposal it was made from."""

    # Once issued these never change; a new revision carries the correction.
    MUTABLE_WHEN_ISSUED = frozenset(
        {
            "status",
            "link_revoked",
            "decided_at",
            "decided_by",
            "decided_function",
            "decline_reason",
            "accepted_terms_sha256",
            "internal_note",
            "updated_at",
            "draft_id",
        }
    )

    status = models.CharField(_("status"), max_length=10, choices=QuoteStatus, default=QuoteStatus.DRAFT)
    number = models.CharField(_("number"), max_length=12, blank=True, null=True)
    revision = models.CharField(_("revision"), max_length=3, blank=True)
    supersedes = models.OneToOneField(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="superseded_by",
        verbose_name=_("replaces"),
    )
    token = models.CharField(max_length=64, unique=True, default=new_token, editable=False)
    link_revoked = models.BooleanField(_("customer link revoked"), default=False)
    language = models.CharField(_("language"), max_length=2, choices=LANGUAGES)
    title = models.CharField(_("title"), max_length=120)
    draft = models.ForeignKey(
        "configurator.Draft", on_delete=models.SET_NULL, null=True, blank=True, verbose_name=_("plan")
    )
    tier = models.CharField(_("proposal"), max_length=20, choices=[(tier.value, tier.value) for tier in Tier])
    proposal = models.JSONField(editable=False)

    organisation = models.CharField(_("organisation"), max_length=120)
    contact_name = models.CharField(_("name"), max_length=120)
    email = models.EmailField(_("e-mail address"))
    phone = models.CharField(_("telephone number"), max_length=30, blank=True)
    street = models.CharField(_("street and number"), max_length=120, blank=True)
    postcode = models.CharField(_("postcode"), max_length=12, blank=True)
    city = models.CharField(_("city"), max_length=80, blank=True)
    country = models.CharField(_("country"), max_length=2, default="NL")
    kvk_number = models.CharField(_("Chamber of Commerce number (KvK)"), max_length=8, blank=True)
    vat_id = models.CharField(_("VAT number"), max_length=20, blank=True)
    reference = models.CharField(_("your reference"), max_length=60, blank=True)
    consented_at = models.DateTimeField(_("consent given at"))

    offer_mode = models.CharField(
        _("kind of offer"),
        max_length=20,
        choices=[
            (OfferMode.FIRM.value, _("firm until the date")),
            (OfferMode.WITHOUT_OBLIGATION.value, _("without obligation")),
        ],
        default=OfferMode.WITHOUT_OBLIGATION.value,
    )
    valid_until = models.DateField(_("valid until"))
    vat_mode = models.CharField(
        _("VAT"),
        max_length=20,
        choices=[(mode.value, mode.value) for mode in VatMode],
        default=VatMode.DOMESTIC.value,
    )
    discount_pct = models.DecimalField(
        _("discount on all lines (%)"),
        max_digits=5,
        decimal_places=2,
        default=Decimal(0),
        validators=[MinValueValidator(Decimal(0)), MaxValueValidator(Decimal(100))],
    )
    delivery_place = models.CharField(_("place of delivery"), max_length=120, blank=True)
    incoterm = models.CharField(_("Incoterm"), max_length=3, default="DAP")
    internal_note = models.TextField(
        _("internal note"), blank=True, help_text=_("Never shown to the customer.")
    )

    created_at = models.DateTimeField(_("made at"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed at"), auto_now=True)
    issued_at = models.DateTimeField(_("issued at"), null=True, blank=True)
    issued_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("by"),
    )
    issued_copy = models.JSONField(null=True, blank=True, editable=False)
    issued_sha256 = models.CharField(max_length=64, blank=True, editable=False)
    net_eur = models.DecimalField(
        _("total without VAT (€)"), max_digits=14, decimal_places=2, default=Decimal(0)
    )
    decided_at = models.DateTimeField(_("decided at"), null=True, blank=True)
    decided_by = models.CharField(_("decided by"), max_length=120, blank=True)
    decided_function = models.CharField(_("function"), max_length=120, blank=True)
    decline_reason = models.CharField(_("reason for declining"), max_length=300, blank=True)
    accepted_terms_sha256 = models.CharField(max_length=64, blank=True, editable=False)
    history = HistoricalRecords(excluded_fields=["proposal", "issued_copy"])

    class Meta:
        verbose_name = _("quote")
        verbose_name_plural = _("quotes")
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["status", "valid_until"])]
        permissions = [("issue_quote", _("Can issue a quote")), ("see_margin", _("Can see cost and margin"))]
        constraints = [
            models.UniqueConstraint(
                fields=["number", "revision"],
                name="quote_number_once",
                violation_error_message=_("This number and revision exist already."),
            ),
            models.CheckConstraint(
                condition=models.Q(status="draft")
                | models.Q(number__isnull=False, issued_copy__isnull=False)
                | models.Q(status="withdrawn"),
                name="quote_issued_has_number_and_copy",
                violation_error_message=_("An issued quote has a number and a frozen copy."),
            ),
            models.CheckConstraint(
                condition=~models.Q(status="accepted")
                | (models.Q(decided_at__isnull=False) & ~models.Q(decided_by="")),
                name="quote_accepted_by_somebody",
                violation_error_message=_("An accepted quote says who accepted it and when."),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.full_number or _('draft')} – {self.organisation}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        self._refuse_changes_after_issue()
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> Any:
        if self.number:
            raise ValidationError(_("An issued quote is kept; withdraw it instead."))
        return super().delete(*args, **kwargs)

    @property
    def full_number(self) -> str:
        return f"{self.number}-{self.revision}" if self.number and self.revision else (self.number or "")

    @property
    def is_editable(self) -> bool:
        return self.status == QuoteStatus.DRAFT

    def is_expired(self, today: date) -> bool:
        """Valid until the end of that day in the site's time zone."""
        return today > self.valid_until

    def _refuse_changes_after_issue(self) -> None:
        before = type(self)._default_manager.filter(pk=self.pk).values().first() if self.pk else None
        if before is None or before["status"] == QuoteStatus.DRAFT:
            return
        changed = [
            name
            for name, value in before.items()
            if name not in self.MUTABLE_WHEN_ISSUED and getattr(self, name) != value
        ]
        if changed:
            raise ValidationError(_("This quote has been issued and cannot change; make a new revision."))


class QuoteLine(models.Model):
    """A line of a quote in draft. Cost and margin are internal and never leave the admin."""

    quote = models.ForeignKey(Quote, on_delete=models.CASCADE, related_name="lines")
    position = models.PositiveSmallIntegerField(_("position"), default=0)
    sku = models.CharField(_("article"), max_length=120)
    text = models.CharField(_("text"), max_length=300)
    role = models.CharField(_("kind"), max_length=20, choices=[(role.value, role.value) for role in LineRole])
    group = models.CharField(_("group"), max_length=40, default="system")
    quantity = models.PositiveIntegerField(_("quantity"), default=1, validators=[MinValueValidator(1)])
    unit_eur = models.DecimalField(
        _("unit price (€)"), max_digits=12, decimal_places=2, validators=[MinValueValidator(Decimal(0))]
    )
    discount_pct = models.DecimalField(
        _("discount (%)"),
        max_digits=5,
        decimal_places=2,
        default=Decimal(0),
        validators=[MinValueValidator(Decimal(0)), MaxValueValidator(Decimal(100))],
    )
    optional = models.BooleanField(_("option, not in the total"), default=False)
    lead_time_weeks = models.PositiveSmallIntegerField(_("lead time (weeks)"), null=True, blank=True)
    demonstration = models.BooleanField(_("demonstration price"), default=False)
    cost_eur = models.DecimalField(
        _("unit cost (€)"),
        max_digits=12,
        decimal_places=2,
        null=True,
        blank=True,
        validators=[MinValueValidator(Decimal(0))],
    )

    class Meta:
        verbose_name = _("line")
        verbose_name_plural = _("lines")
        ordering = ["position", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(quantity__gte=1),
                name="quote_line_has_quantity",
                violation_error_message=_("A line needs a quantity of at least 1."),
            ),
            models.CheckConstraint(
                condition=models.Q(unit_eur__gte=0, discount_pct__gte=0, discount_pct__lte=100),
                name="quote_line_price_is_sane",
                violation_error_message=_("A price is not negative and a discount lies between 0 and 100 %."),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.quantity} × {self.text}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        self._refuse_when_issued()
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> Any:
        self._refuse_when_issued()
        return super().delete(*args, **kwargs)

    def _refuse_when_issued(self) -> None:
        if not self.quote.is_editable:
            raise ValidationError(_("This quote has been issued and cannot change; make a new revision."))


class QuoteEvent(models.Model):
    """What happened to a quote, in order; only ever added to."""

    quote = models.ForeignKey(Quote, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField(_("at"), auto_now_add=True)
    kind = models.CharField(_("event"), max_length=30)
    by = models.CharField(_("by"), max_length=120, blank=True)
    detail = models.CharField(_("detail"), max_length=300, blank=True)

    class Meta:
        verbose_name = _("event")
        verbose_name_plural = _("events")
        ordering = ["at", "pk"]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.kind}"


class AssumptionOverride(models.Model):
    """A value that replaces a default of `quotes.sizing.assumptions` on this site."""

    key = models.CharField(_("assumption"), max_length=80, unique=True)
    value = models.FloatField(_("value"))
    source = models.CharField(_("source"), max_length=300)
    changed_at = models.DateTimeField(_("changed at"), auto_now=True)
    history = HistoricalRecords()

    class Meta:
        verbose_name = _("changed assumption")
        verbose_name_plural = _("changed assumptions")
        ordering = ["key"]

    def __str__(self) -> str:
        return f"{self.key} = {self.value:g}"

    def clean(self) -> None:
        if self.key not in Assumptions.model_fields:
            raise ValidationError({"key": _("There is no such assumption.")})
        facts = described(Assumptions(), self.key)
        if not facts["low"] <= self.value <= facts["high"]:
            raise ValidationError(
                {
                    "value": _("Choose a value between %(low)s and %(high)s.")
                    % {"low": facts["low"], "high": facts["high"]}
                }
            )
