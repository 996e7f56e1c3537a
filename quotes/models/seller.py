"""What the seller keeps once and every quote uses: its own card, VAT rates, terms, and the count of numbers."""

import hashlib
import re
from decimal import Decimal
from typing import Any
from xml.etree.ElementTree import ParseError, fromstring

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from configurator.palette import LIGHT
from quotes.pricing.money import VatMode

LANGUAGES = [("nl", _("Dutch")), ("en", _("English"))]
VAT_MODES = [
    (VatMode.DOMESTIC.value, _("Netherlands")),
    (VatMode.EU_BUSINESS.value, _("business elsewhere in the EU")),
    (VatMode.EXPORT.value, _("outside the EU")),
    (VatMode.REVERSE_CHARGE.value, _("Netherlands, reverse charge")),
]
DEFAULT_ACCENT = "#0b5563"
LOGO_MAX_BYTES = 64_000
READABLE = 4.5  # contrast of text that everybody can read (WCAG AA)


def validate_logo(svg: str) -> None:
    """A drawing and nothing else: no scripts, no declarations, nothing loaded from elsewhere."""
    if len(svg.encode()) > LOGO_MAX_BYTES:
        raise ValidationError(_("The logo is larger than 64 kB. Simplify the drawing."))
    if "<!" in re.sub(r"<!--.*?-->", "", svg, flags=re.S):
        raise ValidationError(_("Remove the document type declaration from the logo."))
    try:
        root = fromstring(svg)  # noqa: S314
    except ParseError:
        raise ValidationError(_("The logo is no valid SVG.")) from None
    if root.tag.rpartition("}")[2] != "svg":
        raise ValidationError(_("The logo is no valid SVG."))
    for element in root.iter():
        name = element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else ""
        if name in {"script", "foreignobject", "style"} or any(_is_active(*pair) for pair in element.items()):
            raise ValidationError(
                _("The logo may hold shapes only: no scripts, style sheets or outside files.")
            )


def _is_active(attribute: str, value: str) -> bool:
    name = attribute.rpartition("}")[2].lower()
    elsewhere = name == "href" and not value.startswith(("#", "data:image/png;", "data:image/jpeg;"))
    return name.startswith("on") or elsewhere or "url(" in value.replace("url(#", "")


def contrast(one: str, other: str) -> float:
    """Contrast of two colours `#rrggbb` as WCAG defines it: 1 (the same) to 21 (black on white)."""
    dark, light = sorted(_luminance(colour) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    channels = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def validate_accent(colour: str) -> None:
    """Text in the accent colour must be readable on our paper."""
    if re.fullmatch(r"#[0-9a-fA-F]{6}", colour) and contrast(colour, LIGHT["paper"]) < READABLE:
        raise ValidationError(_("Text in this colour is hard to read on a light page. Choose a darker one."))


class Seller(models.Model):
    """The party that offers. One row; whoever sells under another name changes it here."""

    MANDATORY = (
        "trade_name", "statutory_name", "seat", "street", "postcode", "city", "kvk_number", "vat_id", "iban",
        "contact_name", "email", "phone",
    )  # fmt: skip

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
        default=DEFAULT_ACCENT,
        validators=[
            RegexValidator(r"^#[0-9a-fA-F]{6}$", _("Write the colour as # and six hexadecimal digits.")),
            validate_accent,
        ],
    )
    logo_svg = models.TextField(
        _("logo (SVG)"), blank=True, validators=[validate_logo], help_text=_("The text of an SVG file.")
    )
    validity_days = models.PositiveSmallIntegerField(
        _("validity of a quote (days)"), default=14, validators=[MinValueValidator(1), MaxValueValidator(180)]
    )
    vat_check_days = models.PositiveSmallIntegerField(
        _("a VAT number found valid stays good for (days)"),
        default=30,
        validators=[MinValueValidator(1), MaxValueValidator(180)],
        help_text=_(
            "A quote to a business elsewhere in the EU is issued on a check in VIES no older than this."
        ),
    )
    payment_term_days = models.PositiveSmallIntegerField(
        _("payment term (days)"), default=30, validators=[MaxValueValidator(180)]
    )
    warranty_nl = models.TextField(_("warranty and support, in Dutch"), blank=True)
    warranty_en = models.TextField(_("warranty and support, in English"), blank=True)
    keep_open_days = models.PositiveSmallIntegerField(
        _("keep requests that came to nothing (days)"),
        default=180,
        validators=[MinValueValidator(1)],
        help_text=_("After the last change; then the quote and the contact details are deleted."),
    )
    keep_lost_days = models.PositiveSmallIntegerField(
        _("keep declined, expired and withdrawn quotes (days)"),
        default=365,
        validators=[MinValueValidator(1)],
        help_text=_("Then the contact details are erased; number and amounts stay."),
    )
    keep_won_years = models.PositiveSmallIntegerField(
        _("keep accepted quotes (years)"),
        default=7,
        validators=[MinValueValidator(7)],
        help_text=_("Tax law asks for at least seven."),
    )
    history = HistoricalRecords()

    class Meta:
        verbose_name = _("seller")
        verbose_name_plural = _("seller")
        constraints = [
            models.CheckConstraint(
                condition=Q(id=1),
                name="quotes_seller_is_one",
                violation_error_message=_("There is one seller; change that one."),
            ),
            models.CheckConstraint(
                condition=Q(keep_won_years__gte=7),
                name="quotes_seller_keeps_won_quotes",
                violation_error_code="keep_won_years",
                violation_error_message=_("Tax law asks for at least seven years."),
            ),
        ]

    def __str__(self) -> str:
        return self.trade_name or self.product_name

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.pk = 1
        super().save(*args, **kwargs)

    @property
    def missing(self) -> list[str]:
        """Labels of the mandatory fields that are still empty; a quote is not issued while there are any."""
        return [
            str(self._meta.get_field(name).verbose_name)  # type: ignore[union-attr]
            for name in self.MANDATORY
            if not getattr(self, name)
        ]


class VatRate(models.Model):
    """The rate and the sentence that the law wants, per mode, from a date."""

    mode = models.CharField(_("kind of sale"), max_length=20, choices=VAT_MODES)
    rate_pct = models.DecimalField(
        _("rate (%)"),
        max_digits=5,
        decimal_places=2,
        validators=[MinValueValidator(Decimal(0)), MaxValueValidator(Decimal(100))],
    )
    from_net_eur = models.DecimalField(
        _("only from this amount (€)"),
        max_digits=12,
        decimal_places=2,
        null=True,
        blank=True,
        validators=[MinValueValidator(Decimal(0))],
        help_text=_("Without VAT. Empty: from any amount."),
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
                name="quotes_vat_rate_once_per_day",
                violation_error_message=_("There is already a rate for this kind of sale from this date."),
            ),
            models.CheckConstraint(
                condition=Q(rate_pct__gte=0, rate_pct__lte=100),
                name="quotes_vat_rate_is_a_percentage",
                violation_error_code="rate_pct",
                violation_error_message=_("A VAT rate lies between 0 and 100 per cent."),
            ),
            models.CheckConstraint(
                condition=Q(mode__in=[mode.value for mode in VatMode]),
                name="quotes_vat_rate_mode_known",
                violation_error_code="mode",
                violation_error_message=_("There is no such kind of sale."),
            ),
            models.CheckConstraint(
                condition=~Q(source=""),
                name="quotes_vat_rate_has_a_source",
                violation_error_code="source",
                violation_error_message=_("Say which law the rate comes from."),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_mode_display()} {self.rate_pct} %"


class TermsDocument(models.Model):
    """A version of the terms and conditions. Its hash stands on every quote that declares it applicable.

    A version that stands on a quote never changes its text any more.
    """

    title = models.CharField(_("title"), max_length=120)
    version = models.CharField(_("version"), max_length=20)
    language = models.CharField(_("language"), max_length=2, choices=LANGUAGES)
    text = models.TextField(_("text"))
    sha256 = models.CharField(_("fingerprint (SHA-256)"), max_length=64, editable=False)
    valid_from = models.DateField(_("valid from"))
    history = HistoricalRecords()

    class Meta:
        verbose_name = _("terms and conditions")
        verbose_name_plural = _("terms and conditions")
        ordering = ["language", "-valid_from"]
        constraints = [
            models.UniqueConstraint(
                fields=["version", "language"],
                name="quotes_terms_version_once_per_language",
                violation_error_message=_("This version exists already in this language."),
            ),
            models.UniqueConstraint(
                fields=["language", "valid_from"],
                name="quotes_terms_one_from_a_day",
                violation_error_message=_("Other terms in this language hold from the same day."),
            ),
            models.CheckConstraint(
                condition=~Q(text="") & ~Q(sha256=""),
                name="quotes_terms_have_a_text",
                violation_error_code="text",
                violation_error_message=_("Terms without a text bind nobody."),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.title} {self.version} ({self.language})"

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.sha256 = hashlib.sha256(self.text.encode()).hexdigest()
        self.clean()
        super().save(*args, **kwargs)

    def clean(self) -> None:
        if self.is_used and self._text_differs():
            raise ValidationError(
                {"text": _("This version stands on a quote. Add a new version instead of changing it.")}
            )

    @property
    def is_used(self) -> bool:
        return self.pk is not None and self.quotes.exists()

    def _text_differs(self) -> bool:
        before = TermsDocument.objects.filter(pk=self.pk).values_list("title", "version", "language", "text")
        return list(before) != [(self.title, self.version, self.language, self.text)]


class NumberSequence(models.Model):
    """The last quote number of a year; locked while a number is taken, so that none is skipped or given twice."""

    year = models.PositiveSmallIntegerField(primary_key=True)
    last = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name = _("last number")
        verbose_name_plural = _("last numbers")

    def __str__(self) -> str:
        return f"{self.year}-{self.last:04d}"
