"""What happens to proposals and quotes. Each function is one transaction; each refusal is a sentence.

A proposal is computed, cached by everything it depends on, and never stored. A quote keeps the proposal it was made
from; issuing freezes everything that is on paper.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog.snapshot import snapshot
from catalog.specs import CatalogSnapshot
from configurator.models import Draft
from configurator.workload import Workload
from quotes.document_data import Address, CustomerCard, IssuedDocument, SellerCard, TermsCard
from quotes.models import (
    AssumptionOverride,
    NumberSequence,
    Quote,
    QuoteEvent,
    QuoteLine,
    QuoteStatus,
    Seller,
    TermsDocument,
    VatRate,
)
from quotes.pricing.lines import PricedLine, priced
from quotes.pricing.money import OfferMode, VatMode
from quotes.proposal import Proposal, propose
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.knowledge import shipped
from quotes.sizing.results import LineRole, Tier

CACHED_PROPOSALS = 64


class Refused(ValidationError):
    """The step is not allowed now; the message says why and what to do."""


# ── proposals ───────────────────────────────────────────────────────────────────────────────────────────────────


def today() -> date:
    return timezone.localdate()


def current_assumptions() -> Assumptions:
    """The defaults with this site's overrides."""
    return Assumptions.model_validate(dict(AssumptionOverride.objects.values_list("key", "value")))


def vat_rate(mode: VatMode, on: date) -> VatRate:
    """The rate that holds on a day. Raises Refused when nobody entered one."""
    rate = VatRate.objects.filter(mode=mode.value, valid_from__lte=on).order_by("-valid_from").first()
    if rate is None:
        raise Refused(_("There is no VAT rate for this kind of sale yet. Add one in the administration."))
    return rate


def proposal_for(workload: Workload, *, on: date | None = None) -> Proposal:
    """Size and price `workload` with today's catalog, prices and assumptions."""
    day = on or today()
    rate = vat_rate(VatMode.DOMESTIC, day).rate_pct
    return _proposal(workload.model_dump_json(), _Hashed(snapshot(day)), current_assumptions(), day, rate)


@dataclass(frozen=True, eq=False)
class _Hashed:
    """A snapshot as a cache key: equal versions on equal days are equal."""

    catalog: CatalogSnapshot

    @property
    def key(self) -> tuple[str, date]:
        return self.catalog.version, self.catalog.taken_on

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hashed) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@lru_cache(maxsize=CACHED_PROPOSALS)
def _proposal(
    workload: str, hashed: _Hashed, assumptions: Assumptions, on: date, vat_rate_pct: Decimal
) -> Proposal:
    return propose(
        Workload.model_validate_json(workload),
        hashed.catalog,
        assumptions,
        shipped(),
        on=on,
        vat_rate_pct=vat_rate_pct,
    )


# ── quotes ──────────────────────────────────────────────────────────────────────────────────────────────────────


@transaction.atomic
def create_quote(
    proposal: Proposal,
    tier: Tier,
    contact: Mapping[str, Any],
    *,
    language: str,
    draft: Draft | None = None,
    now: datetime | None = None,
) -> Quote:
    """A quote in draft from one of the proposals, with its lines at list price; `contact`: the customer's fields."""
    system = proposal.system(tier)
    if system is None:
        raise Refused(_("This proposal is no longer there. Look at the proposals again and choose one."))
    moment = now or timezone.now()
    seller = current_seller()
    title = proposal.sizing.workload.title or _("AI system")
    quote = Quote(
        language=language,
        title=title,
        draft=draft,
        tier=tier.value,
        proposal=proposal.model_dump(mode="json"),
        consented_at=moment,
        valid_until=timezone.localdate(moment) + timedelta(days=seller.validity_days),
        **contact,
    )
    quote.full_clean(exclude=["draft", "proposal"])
    quote.save()
    QuoteLine.objects.bulk_create(
        QuoteLine(
            quote=quote,
            position=position,
            sku=line.sku,
            text=line.name,
            role=line.role.value,
            group=line.group,
            quantity=line.quantity,
            unit_eur=line.unit_eur,
            discount_pct=line.discount_pct,
            lead_time_weeks=line.lead_time_weeks,
            demonstration=line.demonstration,
        )
        for position, line in enumerate(proposal.prices[tier].lines)
    )
    refresh_total(quote)
    record(quote, "created", by=quote.contact_name)
    return quote


def current_seller() -> Seller:
    return Seller.objects.order_by("pk").first() or Seller()


def record(quote: Quote, kind: str, *, by: str = "", detail: str = "") -> QuoteEvent:
    return QuoteEvent.objects.create(quote=quote, kind=kind, by=by[:120], detail=detail[:300])


def lines_of(quote: Quote) -> tuple[list[PricedLine], list[PricedLine]]:
    """The lines in the total, and the options apart; the quote's discount comes on top of each line's own."""
    firm: list[PricedLine] = []
    options: list[PricedLine] = []
    rest = 100 - quote.discount_pct
    for row in quote.lines.all():
        line = PricedLine.of(
            sku=row.sku,
            name=row.text,
            role=LineRole(row.role),
            group=row.group,
            quantity=row.quantity,
            unit_eur=row.unit_eur,
            discount_pct=100 - (100 - row.discount_pct) * rest / 100,
            lead_time_weeks=row.lead_time_weeks,
            demonstration=row.demonstration,
        )
        (options if row.optional else firm).append(line)
    return firm, options


def refresh_total(quote: Quote) -> Decimal:
    """Recompute the stored total of a draft from its lines, for lists and filters."""
    firm, _options = lines_of(quote)
    quote.net_eur = priced(firm, Decimal(0)).totals.net
    quote.save(update_fields=["net_eur", "updated_at"])
    return quote.net_eur


def document_of(quote: Quote, *, site_url: str = "") -> IssuedDocument:
    """What the PDF shows: the frozen copy of an issued quote, else a preview of the draft as it is now."""
    if quote.issued_copy:
        document = IssuedDocument.model_validate(quote.issued_copy)
        if quote.status == QuoteStatus.ACCEPTED:
            decided = {
                "accepted_by": quote.decided_by,
                "accepted_function": quote.decided_function,
                "accepted_at": quote.decided_at,
            }
            document = document.model_copy(update=decided)
        return document
    return _document(quote, number=None, revision="", issued_at=None, site_url=site_url)


def _document(
    quote: Quote, *, number: str | None, revision: str, issued_at: datetime | None, site_url: str
) -> IssuedDocument:
    day = timezone.localdate(issued_at) if issued_at else today()
    rate = vat_rate(VatMode(quote.vat_mode), day)
    firm, options = lines_of(quote)
    slowest = max(firm, key=lambda line: line.lead_time_weeks or 0, default=None)
    seller = current_seller()
    dutch = quote.language == "nl"
    return IssuedDocument(
        number=number,
        revision=revision,
        language="nl" if dutch else "en",
        title=quote.title,
        issued_on=day,
        issued_at=issued_at,
        valid_until=quote.valid_until,
        offer_mode=OfferMode(quote.offer_mode),
        seller=_seller_card(seller),
        customer=_customer_card(quote),
        prices=priced(firm, rate.rate_pct),
        options=tuple(options),
        vat_mode=VatMode(quote.vat_mode),
        vat_text=rate.text_nl if dutch else rate.text_en,
        terms=_terms_card(quote.language, day),
        delivery_weeks=slowest.lead_time_weeks if slowest else None,
        delivery_line=slowest.name if slowest else "",
        delivery_place=quote.delivery_place or quote.city,
        incoterm=quote.incoterm,
        payment_term_days=seller.payment_term_days,
        warranty_text=seller.warranty_nl if dutch else seller.warranty_en,
        proposal=Proposal.model_validate(quote.proposal),
        tier=Tier(quote.tier),
        acceptance_url=site_url + reverse("quotes:quote", args=[quote.token]) if site_url else "",
    )


def _seller_card(seller: Seller) -> SellerCard:
    fields = SellerCard.model_fields.keys() - {"address", "logo_svg"}
    return SellerCard(address=_address(seller), **{name: getattr(seller, name) for name in fields})


def _customer_card(quote: Quote) -> CustomerCard:
    fields = CustomerCard.model_fields.keys() - {"address"}
    return CustomerCard(address=_address(quote), **{name: getattr(quote, name) for name in fields})


def _address(row: Seller | Quote) -> Address:
    return Address(street=row.street, postcode=row.postcode, city=row.city, country=row.country)


def _terms_card(language: str, on: date) -> TermsCard:
    terms = (
        TermsDocument.objects.filter(language=language, valid_from__lte=on).order_by("-valid_from").first()
    )
    if terms is None:
        raise Refused(
            _("There are no terms and conditions in this language yet. Add them in the administration.")
        )
    return TermsCard(title=terms.title, version=terms.version, sha256=terms.sha256, text=terms.text)


# ── the life of a quote ─────────────────────────────────────────────────────────────────────────────────────────


@transaction.atomic
def issue(quote: Quote, by: AbstractBaseUser, *, site_url: str, now: datetime | None = None) -> Quote:
    """Number and freeze a draft. Refused while the seller's card is incomplete or the quote is empty or out of date."""
    quote = Quote.objects.select_for_update().get(pk=quote.pk)
    moment = now or timezone.now()
    if not quote.is_editable:
        raise Refused(_("This quote has been issued already."))
    if missing := current_seller().missing:
        raise Refused(_("First complete the seller's details: %(fields)s.") % {"fields": ", ".join(missing)})
    if not quote.lines.filter(optional=False).exists():
        raise Refused(_("A quote needs at least one line."))
    if quote.is_expired(timezone.localdate(moment)):
        raise Refused(_("The validity lies in the past. Choose a later date."))
    if quote.vat_mode == VatMode.EU_BUSINESS and not quote.vat_id:
        raise Refused(_("A sale to a business in another EU country needs the customer's VAT number."))
    if quote.number is None:
        quote.number = next_number(timezone.localdate(moment).year)
    quote.issued_at = moment
    quote.issued_by_id = by.pk
    document = _document(
        quote, number=quote.number, revision=quote.revision, issued_at=moment, site_url=site_url
    )
    quote.net_eur = document.net_eur
    quote.issued_copy = document.model_dump(mode="json")
    quote.issued_sha256 = hashlib.sha256(json.dumps(quote.issued_copy, sort_keys=True).encode()).hexdigest()
    quote.status = QuoteStatus.ISSUED
    quote.save()
    record(quote, "issued", by=str(by))
    return quote


def next_number(year: int) -> str:
    """The next number of a year: gapless because the row stays locked until the transaction ends."""
    NumberSequence.objects.get_or_create(year=year)
    row = NumberSequence.objects.select_for_update().get(year=year)
    row.last += 1
    row.save()
    return f"{year}-{row.last:04d}"


@transaction.atomic
def new_revision(quote: Quote, by: AbstractBaseUser) -> Quote:
    """A draft with the same number and the next letter. The earlier revision stays valid until this one is issued."""
    if not quote.number:
        raise Refused(_("This quote has not been issued; you can simply change it."))
    if hasattr(quote, "superseded_by"):
        raise Refused(_("There is already a later revision of this quote."))
    if quote.status == QuoteStatus.ACCEPTED:
        raise Refused(_("An accepted quote is an agreement; make a new quote instead."))
    lines = list(quote.lines.all())
    copy = Quote.objects.get(pk=quote.pk)
    copy.pk = None
    copy._state.adding = True
    copy.token = Quote._meta.get_field("token").get_default()
    copy.status = QuoteStatus.DRAFT
    copy.revision = chr(ord(quote.revision or "A") + 1)
    copy.supersedes = quote
    copy.issued_at = copy.issued_by = copy.issued_copy = copy.decided_at = None
    copy.issued_sha256 = copy.decided_by = copy.decided_function = copy.decline_reason = ""
    copy.valid_until = today() + timedelta(days=current_seller().validity_days)
    copy.save()
    for line in lines:
        line.pk, line.quote = None, copy
        line._state.adding = True
    QuoteLine.objects.bulk_create(lines)
    record(copy, "revised", by=str(by), detail=quote.full_number)
    return copy


@transaction.atomic
def accept(quote: Quote, *, name: str, function: str, now: datetime | None = None) -> Quote:
    """The customer agrees. Refused when expired, revoked, decided already, or when a later revision was issued."""
    quote = _open_for_decision(quote, now)
    quote.status = QuoteStatus.ACCEPTED
    quote.decided_at = now or timezone.now()
    quote.decided_by, quote.decided_function = name, function
    quote.accepted_terms_sha256 = (quote.issued_copy or {}).get("terms", {}).get("sha256", "")
    quote.save()
    record(quote, "accepted", by=name, detail=f"{quote.full_number} {quote.accepted_terms_sha256[:12]}")
    return quote


@transaction.atomic
def decline(quote: Quote, *, name: str, reason: str = "", now: datetime | None = None) -> Quote:
    quote = _open_for_decision(quote, now)
    quote.status = QuoteStatus.DECLINED
    quote.decided_at = now or timezone.now()
    quote.decided_by, quote.decline_reason = name, reason
    quote.save()
    record(quote, "declined", by=name, detail=reason)
    return quote


def _open_for_decision(quote: Quote, now: datetime | None) -> Quote:
    quote = Quote.objects.select_for_update().get(pk=quote.pk)
    if quote.status != QuoteStatus.ISSUED or quote.link_revoked:
        raise Refused(_("This quote is not open for a decision."))
    if quote.is_expired(timezone.localdate(now or timezone.now())):
        raise Refused(_("This quote has expired. Ask for a new one."))
    later = getattr(quote, "superseded_by", None)
    if later and later.status != QuoteStatus.DRAFT:
        raise Refused(_("There is a later revision of this quote; please look at that one."))
    return quote


@transaction.atomic
def withdraw(quote: Quote, by: AbstractBaseUser) -> Quote:
    """Take back a draft, or an issued offer that is without obligation."""
    quote = Quote.objects.select_for_update().get(pk=quote.pk)
    if quote.status not in {QuoteStatus.DRAFT, QuoteStatus.ISSUED}:
        raise Refused(_("This quote cannot be withdrawn any more."))
    if (
        quote.status == QuoteStatus.ISSUED
        and quote.offer_mode == OfferMode.FIRM
        and not quote.is_expired(today())
    ):
        raise Refused(_("A firm offer cannot be withdrawn before its date."))
    quote.status = QuoteStatus.WITHDRAWN
    quote.save()
    record(quote, "withdrawn", by=str(by))
    return quote


def expire_due(on: date | None = None) -> int:
    """Mark issued quotes whose validity is over. Returns how many."""
    due = Quote.objects.filter(status=QuoteStatus.ISSUED, valid_until__lt=on or today())
    with transaction.atomic():
        for quote in due.select_for_update():
            quote.status = QuoteStatus.EXPIRED
            quote.save()
            record(quote, "expired")
    return len(due)
