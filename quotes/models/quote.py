"""A quote, its lines, its papers and what happened to it.

A quote in draft may be edited. An issued quote is a frozen copy (`issued_copy`) that nothing changes any more; a
correction is a new revision under the same number. Both are held here, in `save`, `delete` and the query sets, so that
no page, command or shell gets around them; only erasing a person (`quotes.services.privacy`) may.
"""

import secrets
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Self

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy
from simple_history.models import HistoricalRecords

from quotes.models.seller import LANGUAGES, VAT_MODES, TermsDocument
from quotes.pricing.money import OfferMode, VatMode
from quotes.pricing.vat import EU_COUNTRIES, is_vat_id, normal_vat_id
from quotes.sizing.results import LineRole, Tier

LINK_OPEN = timedelta(days=180)  # a quote that nobody issued
LINK_AFTER_VALIDITY = timedelta(days=90)
LINK_AFTER_ACCEPTANCE = timedelta(days=730)
LINE_MAX_EUR = Decimal(10) ** 10  # so that the total of any quote fits its column

TIERS = [
    (Tier.LEAN.value, _("Lean")),
    (Tier.BALANCED.value, _("Balanced")),
    (Tier.ROOM_TO_GROW.value, _("Room to grow")),
]
ROLES = [
    (LineRole.SERVER.value, _("server")),
    (LineRole.ACCELERATOR.value, _("accelerator")),
    (LineRole.CPU.value, _("processor")),
    (LineRole.MEMORY.value, _("memory")),
    (LineRole.DRIVE.value, _("drive")),
    (LineRole.NIC.value, _("network card")),
    (LineRole.NETWORK.value, _("network")),
    (LineRole.STORAGE.value, _("storage")),
    (LineRole.MANAGEMENT.value, _("management")),
    (LineRole.RACK.value, _("rack")),
    (LineRole.POWER.value, pgettext_lazy("kind of line", "power")),
    (LineRole.COOLING.value, _("cooling")),
    (LineRole.SERVICE.value, _("service")),
    (LineRole.LICENCE.value, _("licence")),
]
GROUPS = [
    ("node", _("Servers")),
    ("system", _("System")),
    ("fabric", _("Compute network")),
    ("network", _("Network")),
    ("storage", _("Storage")),
    ("management", _("Management")),
    ("racks", _("Racks, power and cooling")),
    ("services", _("Services")),
]


def new_token() -> str:
    """256 bits: a link that cannot be guessed."""
    return secrets.token_urlsafe(32)


def new_link_expiry() -> date:
    return timezone.localdate() + LINK_OPEN


def frozen_error() -> ValidationError:
    return ValidationError(_("This quote has been issued and cannot change; make a new revision."))


def percentage() -> list[Any]:
    return [MinValueValidator(Decimal(0)), MaxValueValidator(Decimal(100))]


class QuoteStatus(models.TextChoices):
    DRAFT = "draft", _("draft")
    ISSUED = "issued", _("issued")
    ACCEPTED = "accepted", _("accepted")
    DECLINED = "declined", _("declined")
    EXPIRED = "expired", _("expired")
    WITHDRAWN = "withdrawn", _("withdrawn")


TRANSITIONS: Mapping[str, frozenset[str]] = {
    QuoteStatus.DRAFT: frozenset({QuoteStatus.ISSUED, QuoteStatus.WITHDRAWN}),
    QuoteStatus.ISSUED: frozenset(
        {QuoteStatus.ACCEPTED, QuoteStatus.DECLINED, QuoteStatus.EXPIRED, QuoteStatus.WITHDRAWN}
    ),
    QuoteStatus.ACCEPTED: frozenset(),
    QuoteStatus.DECLINED: frozenset(),
    QuoteStatus.EXPIRED: frozenset(),
    QuoteStatus.WITHDRAWN: frozenset(),
}
"""From a status to those that may follow it."""

# What may still change once a quote is no draft: who opens the link, and our own notes.
ALWAYS_MUTABLE = frozenset(
    {
        "link_revoked", "link_expires_on", "internal_note", "updated_at",
        "draft", "draft_id", "issued_by", "issued_by_id",  # the database lets go of what is deleted
    }
)  # fmt: skip
# What a decision writes, once.
DECISION = frozenset({"status", "decided_at", "decided_by", "decided_function", "decline_reason"})


class QuoteQuerySet(models.QuerySet["Quote"]):
    def beyond_draft(self) -> Self:
        return self.exclude(status=QuoteStatus.DRAFT)

    def open(self, today: date) -> Self:
        """Issued and still to be decided on."""
        return self.filter(status=QuoteStatus.ISSUED, valid_until__gte=today)

    def update(self, **values: Any) -> int:
        if values.keys() - ALWAYS_MUTABLE and self.beyond_draft().exists():
            raise frozen_error()
        return super().update(**values)

    def delete(self) -> tuple[int, dict[str, int]]:
        if self.beyond_draft().exists():
            raise ValidationError(_("An issued quote is kept; withdraw it instead."))
        return super().delete()


class Quote(models.Model):
    """An offer to one customer. `proposal` is the frozen proposal it was made from."""

    status = models.CharField(_("status"), max_length=10, choices=QuoteStatus, default=QuoteStatus.DRAFT)
    number = models.CharField(_("number"), max_length=12, blank=True, null=True)
    revision = models.CharField(_("revision"), max_length=1, blank=True)
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
    link_expires_on = models.DateField(_("customer link works until"), default=new_link_expiry)
    language = models.CharField(_("language"), max_length=2, choices=LANGUAGES)
    title = models.CharField(_("title"), max_length=120)
    draft = models.ForeignKey(
        "configurator.Draft", on_delete=models.SET_NULL, null=True, blank=True, verbose_name=_("plan")
    )
    tier = models.CharField(_("proposal"), max_length=20, choices=TIERS)
    proposal = models.JSONField(editable=False)

    organisation = models.CharField(_("organisation"), max_length=120)
    contact_name = models.CharField(_("contact person"), max_length=120)
    email = models.EmailField(_("e-mail address"))
    phone = models.CharField(_("telephone number"), max_length=30, blank=True)
    street = models.CharField(_("street and number"), max_length=120, blank=True)
    postcode = models.CharField(_("postcode"), max_length=12, blank=True)
    city = models.CharField(_("city"), max_length=80, blank=True)
    country = models.CharField(
        _("country"),
        max_length=2,
        default="NL",
        validators=[RegexValidator(r"^[A-Z]{2}$", _("Write the country as two capital letters."))],
    )
    kvk_number = models.CharField(
        _("Chamber of Commerce number (KvK)"),
        max_length=8,
        blank=True,
        validators=[RegexValidator(r"^\d{8}$", _("A KvK number has eight digits."))],
    )
    vat_id = models.CharField(_("VAT number"), max_length=20, blank=True)
    vat_id_checked_on = models.DateField(
        _("VAT number checked on"),
        null=True,
        blank=True,
        help_text=_("The day on which you found it valid in the register of the EU (VIES)."),
    )
    reference = models.CharField(_("customer's reference"), max_length=60, blank=True)
    customer_note = models.TextField(_("question or remark"), max_length=2000, blank=True)
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
    valid_until = models.DateField(
        _("valid until"), help_text=_("Until the end of that day, Amsterdam time.")
    )
    vat_mode = models.CharField(
        pgettext_lazy("field", "VAT"), max_length=20, choices=VAT_MODES, default=VatMode.DOMESTIC.value
    )
    discount_pct = models.DecimalField(
        _("discount on all lines (%)"),
        max_digits=5,
        decimal_places=2,
        default=Decimal(0),
        validators=percentage(),
    )
    delivery_place = models.CharField(_("place of delivery"), max_length=120, blank=True)
    incoterm = models.CharField(
        _("Incoterm"),
        max_length=3,
        default="DAP",
        choices=[(term, term) for term in ("EXW", "FCA", "CPT", "CIP", "DAP", "DPU", "DDP")],
    )
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
        verbose_name=_("issued by"),
    )
    issued_copy = models.JSONField(null=True, blank=True, editable=False)
    issued_sha256 = models.CharField(max_length=64, blank=True, editable=False)
    terms = models.ForeignKey(
        TermsDocument,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        editable=False,
        related_name="quotes",
        verbose_name=_("terms and conditions"),
    )
    net_eur = models.DecimalField(
        _("total without VAT (€)"), max_digits=14, decimal_places=2, default=Decimal(0), editable=False
    )
    decided_at = models.DateTimeField(_("decided at"), null=True, blank=True)
    decided_by = models.CharField(_("decided by"), max_length=120, blank=True)
    decided_function = models.CharField(_("function"), max_length=120, blank=True)
    decline_reason = models.CharField(_("reason for declining"), max_length=300, blank=True)

    objects = QuoteQuerySet.as_manager()
    history = HistoricalRecords(excluded_fields=["proposal", "issued_copy"])

    class Meta:
        verbose_name = _("quote")
        verbose_name_plural = _("quotes")
        ordering = ["-created_at"]
        base_manager_name = "objects"
        indexes = [
            models.Index(fields=["status", "valid_until"]),
            models.Index(fields=["email"]),
        ]
        permissions = [
            ("issue_quote", _("Can issue a quote")),
            ("see_margin", _("Can see cost and margin")),
            ("erase_contact", _("Can erase a person")),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["number", "revision"],
                name="quotes_number_once",
                violation_error_message=_("This number and revision exist already."),
            ),
            models.CheckConstraint(
                condition=Q(status__in=QuoteStatus.values),
                name="quotes_status_known",
                violation_error_message=_("There is no such status."),
            ),
            models.CheckConstraint(
                condition=Q(status__in=[QuoteStatus.DRAFT, QuoteStatus.WITHDRAWN])
                | (
                    Q(number__isnull=False, issued_copy__isnull=False, issued_at__isnull=False)
                    & ~Q(issued_sha256="")
                ),
                name="quotes_issued_has_number_and_copy",
                violation_error_message=_("An issued quote has a number and a frozen copy."),
            ),
            models.CheckConstraint(
                condition=~Q(status=QuoteStatus.DRAFT) | Q(issued_copy__isnull=True, issued_at__isnull=True),
                name="quotes_draft_has_no_copy",
                violation_error_message=_("A draft has no frozen copy."),
            ),
            models.CheckConstraint(
                condition=~Q(status=QuoteStatus.ACCEPTED)
                | (
                    Q(decided_at__isnull=False, terms__isnull=False)
                    & ~Q(decided_by="")
                    & ~Q(decided_function="")
                ),
                name="quotes_accepted_by_somebody",
                violation_error_message=_(
                    "An accepted quote says who accepted it, in which function and when."
                ),
            ),
            models.CheckConstraint(
                condition=Q(revision="") | Q(number__isnull=False),
                name="quotes_revision_of_a_number",
                violation_error_message=_("Only an issued quote has revisions."),
            ),
            models.CheckConstraint(
                condition=Q(discount_pct__gte=0, discount_pct__lte=100),
                name="quotes_discount_is_a_percentage",
                violation_error_code="discount_pct",
                violation_error_message=_("A discount lies between 0 and 100 per cent."),
            ),
            models.CheckConstraint(
                condition=Q(offer_mode__in=[mode.value for mode in OfferMode]),
                name="quotes_offer_is_firm_or_not",
                violation_error_code="offer_mode",
                violation_error_message=_("An offer is either firm or without obligation."),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.full_number or _('draft')} – {self.organisation}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        self._refuse_changes_after_issue()
        super().save(*args, **kwargs)

    def get_absolute_url(self) -> str:
        return reverse("quotes:quote", args=[self.token])

    def clean(self) -> None:
        """A VAT number is kept in one form, and only one that can exist."""
        self.vat_id = normal_vat_id(self.vat_id)
        if self.vat_id and self.country in EU_COUNTRIES and not is_vat_id(self.vat_id, self.country):
            raise ValidationError({"vat_id": _("This is no VAT number of that country.")})

    def delete(self, *args: Any, **kwargs: Any) -> Any:
        if self.status != QuoteStatus.DRAFT:
            raise ValidationError(_("An issued quote is kept; withdraw it instead."))
        return super().delete(*args, **kwargs)

    @property
    def full_number(self) -> str:
        return f"{self.number}-{self.revision}" if self.number and self.revision else (self.number or "")

    @property
    def is_editable(self) -> bool:
        return self.status == QuoteStatus.DRAFT

    def is_expired(self, at: datetime) -> bool:
        """Valid until 23:59:59 of its last day in the site's time zone (Europe/Amsterdam)."""
        return timezone.localdate(at, timezone.get_default_timezone()) > self.valid_until

    def link_works(self, today: date) -> bool:
        return not self.link_revoked and today <= self.link_expires_on

    def _refuse_changes_after_issue(self) -> None:
        before = type(self)._base_manager.filter(pk=self.pk).values().first() if self.pk else None
        if before is None:
            return
        changed = {name for name, value in before.items() if getattr(self, name) != value}
        if "status" in changed and self.status not in TRANSITIONS[before["status"]]:
            steps = {"before": QuoteStatus(before["status"]).label, "after": QuoteStatus(self.status).label}
            raise ValidationError(_("A quote cannot go from %(before)s to %(after)s.") % steps)
        if before["status"] == QuoteStatus.DRAFT:
            return
        allowed = ALWAYS_MUTABLE | (DECISION if before["status"] == QuoteStatus.ISSUED else frozenset())
        if changed - allowed:
            raise frozen_error()


class LineQuerySet(models.QuerySet["QuoteLine"]):
    def _refuse_when_issued(self) -> None:
        if self.exclude(quote__status=QuoteStatus.DRAFT).exists():
            raise frozen_error()

    def update(self, **values: Any) -> int:
        self._refuse_when_issued()
        return super().update(**values)

    def delete(self) -> tuple[int, dict[str, int]]:
        self._refuse_when_issued()
        return super().delete()


class QuoteLine(models.Model):
    """A line of a quote in draft. Cost and margin are internal and never leave the admin."""

    quote = models.ForeignKey(Quote, on_delete=models.CASCADE, related_name="lines")
    position = models.PositiveSmallIntegerField(_("position"), default=0)
    sku = models.CharField(_("article"), max_length=120, blank=True)
    text = models.CharField(_("text"), max_length=300)
    role = models.CharField(_("kind"), max_length=20, choices=ROLES, default=LineRole.SERVICE.value)
    group = models.CharField(_("group"), max_length=40, choices=GROUPS, default="services")
    quantity = models.PositiveIntegerField(_("quantity"), default=1, validators=[MinValueValidator(1)])
    unit_eur = models.DecimalField(
        _("unit price (€)"), max_digits=12, decimal_places=2, validators=[MinValueValidator(Decimal(0))]
    )
    discount_pct = models.DecimalField(
        _("discount (%)"), max_digits=5, decimal_places=2, default=Decimal(0), validators=percentage()
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

    objects = LineQuerySet.as_manager()

    class Meta:
        verbose_name = _("line")
        verbose_name_plural = _("lines")
        ordering = ["position", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(quantity__gte=1),
                name="quotes_line_has_quantity",
                violation_error_code="quantity",
                violation_error_message=_("A line needs a quantity of at least 1."),
            ),
            models.CheckConstraint(
                condition=Q(unit_eur__gte=0, discount_pct__gte=0, discount_pct__lte=100),
                name="quotes_line_price_is_sane",
                violation_error_message=_(
                    "A price is not negative and a discount lies between 0 and 100 per cent."
                ),
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

    def clean(self) -> None:
        if self.quantity and self.unit_eur and self.quantity * self.unit_eur > LINE_MAX_EUR:
            raise ValidationError(
                {"unit_eur": _("Quantity and price make more than ten billion euros. Is a digit too many?")}
            )

    def _refuse_when_issued(self) -> None:
        if not self.quote.is_editable:
            raise frozen_error()


class Paper(models.Model):
    """The PDF as it was sent: rendered once, kept as it is, whatever later versions of the templates look like."""

    class Kind(models.TextChoices):
        ISSUED = "issued", _("as issued")
        ACCEPTED = "accepted", _("as accepted")

    quote = models.ForeignKey(Quote, on_delete=models.CASCADE, related_name="papers")
    kind = models.CharField(_("kind"), max_length=10, choices=Kind)
    pdf = models.BinaryField(editable=False)
    sha256 = models.CharField(_("fingerprint (SHA-256)"), max_length=64, editable=False)
    made_at = models.DateTimeField(_("made at"), auto_now_add=True)

    class Meta:
        verbose_name = _("document")
        verbose_name_plural = _("documents")
        constraints = [
            models.UniqueConstraint(
                fields=["quote", "kind"],
                name="quotes_paper_once",
                violation_error_message=_("This document exists already."),
            )
        ]

    def __str__(self) -> str:
        return f"{self.quote} ({self.get_kind_display()})"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise frozen_error()
        super().save(*args, **kwargs)


class EventKind(models.TextChoices):
    CREATED = "created", _("requested")
    REPRICED = "repriced", _("calculated anew")
    ISSUED = "issued", _("issued")
    REVISED = "revised", _("revision made")
    REPLACED = "replaced", _("replaced by a revision")
    ACCEPTED = "accepted", _("accepted")
    DECLINED = "declined", _("declined")
    EXPIRED = "expired", _("expired")
    WITHDRAWN = "withdrawn", _("withdrawn")
    LINK_REVOKED = "link_revoked", _("link revoked")
    LINK_RESTORED = "link_restored", _("link restored")
    ERASED = "erased", _("personal data erased")
    MAILED = "mailed", _("e-mailed")
    NOT_MAILED = "not_mailed", _("e-mail not delivered")


class QuoteEvent(models.Model):
    """What happened to a quote, in order; only ever added to."""

    quote = models.ForeignKey(Quote, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField(_("at"), auto_now_add=True)
    kind = models.CharField(_("event"), max_length=30, choices=EventKind)
    by = models.CharField(_("by"), max_length=120, blank=True)
    detail = models.CharField(_("detail"), max_length=300, blank=True)

    class Meta:
        verbose_name = _("event")
        verbose_name_plural = _("events")
        ordering = ["at", "pk"]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.kind}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise ValidationError(_("What happened cannot be changed."))
        super().save(*args, **kwargs)
