"""The life of a quote: issue, revise, accept, decline, withdraw, expire, and its customer link."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from catalog.models import Article
from configurator.formats import money
from quotes.models import EventKind, NumberSequence, Paper, Quote, QuoteLine, QuoteStatus
from quotes.models.quote import LINK_AFTER_ACCEPTANCE, LINK_AFTER_VALIDITY, new_link_expiry, new_token
from quotes.pricing.money import OfferMode, VatMode
from quotes.pricing.vat import EU_COUNTRIES, allows, is_vat_id
from quotes.services.events import record
from quotes.services.frozen import frozen
from quotes.services.notices import Notice, tell_customer, tell_seller
from quotes.services.paper import fingerprint, keep_paper, make_document, terms_for_issue
from quotes.services.proposals import today, vat_rate
from quotes.services.refused import Refused, Unreadable
from quotes.services.seller import current_seller, current_terms
from quotes.sizing.results import LineRole

LAST_REVISION = "Z"
REVERSE_CHARGED = frozenset({LineRole.CPU, LineRole.ACCELERATOR, LineRole.SERVICE})
"""Processors before they are built into anything, and what is done with them; memory, drives and racks are outside."""


def _locked(quote: Quote) -> Quote:
    """The quote as it stands, held until the transaction ends, with all revisions of its number."""
    if quote.number:
        list(Quote.objects.select_for_update().filter(number=quote.number).values_list("pk"))
    return Quote.objects.select_for_update().get(pk=quote.pk)


# ── issuing ─────────────────────────────────────────────────────────────────────────────────────────────────────


def obstacles(quote: Quote, now: datetime | None = None) -> list[str]:
    """What still keeps a draft from being issued, as sentences that say what to do."""
    return list(_obstacles(quote, now or timezone.now()))


def _obstacles(quote: Quote, moment: datetime) -> Iterator[str]:
    if missing := current_seller().missing:
        yield _("First complete the seller's details: %(fields)s.") % {"fields": ", ".join(missing)}
    empty = [
        str(Quote._meta.get_field(name).verbose_name)  # type: ignore[union-attr]
        for name in ("organisation", "contact_name", "email", "street", "postcode", "city")
        if not getattr(quote, name)
    ]
    if empty:
        yield _("First complete the customer's details: %(fields)s.") % {"fields": ", ".join(empty)}
    if current_terms(quote.language, timezone.localdate(moment)) is None:
        yield _("There are no terms and conditions in this language yet. Add them in the administration.")
    if quote.is_expired(moment):
        yield _("The validity lies in the past. Choose a later date.")
    lines = list(quote.lines.filter(optional=False))
    if not lines:
        yield _("A quote needs at least one line.")
    if quote.offer_mode == OfferMode.FIRM and any(line.demonstration for line in lines):
        yield _("Demonstration prices are no offer. Set real prices, or make the offer without obligation.")
    yield from _retired(lines)
    yield from _vat_obstacles(quote, lines, timezone.localdate(moment))


def _retired(lines: list[QuoteLine]) -> Iterator[str]:
    """Articles that the catalog no longer offers; a line of one's own words has no SKU."""
    for article in Article.objects.filter(sku__in={line.sku for line in lines}, active=False):
        yield _("%(article)s is no longer offered (%(reason)s). Replace the line or take it out.") % {
            "article": article.name,
            "reason": article.inactive_reason.rstrip(".") or "–",
        }


def _vat_obstacles(quote: Quote, lines: list[QuoteLine], on: date) -> Iterator[str]:
    mode = VatMode(quote.vat_mode)
    if not allows(mode, quote.country):
        yield _("The kind of VAT does not fit the customer's country.")
    try:
        rate = vat_rate(mode, on)
    except Refused as refusal:
        yield refusal.sentence
        return
    if rate.from_net_eur is not None and quote.net_eur < rate.from_net_eur:
        yield _("This kind of VAT applies from %(amount)s only.") % {
            "amount": money(rate.from_net_eur, "round")
        }
    if mode is VatMode.EU_BUSINESS:
        if not quote.vat_id:
            yield _("A sale to a business in another EU country needs the customer's VAT number.")
        elif is_vat_id(quote.vat_id, quote.country):
            yield from _unchecked(quote.vat_id_checked_on, on)
    if mode is VatMode.REVERSE_CHARGE:
        if not quote.vat_id:
            yield _("Reverse charge needs the customer's VAT number.")
        if outside := [line.text for line in lines if line.role not in REVERSE_CHARGED]:
            yield _("Reverse charge is for loose processors; outside of it: %(lines)s.") % {
                "lines": "; ".join(outside)
            }
    if quote.vat_id and quote.country in EU_COUNTRIES and not is_vat_id(quote.vat_id, quote.country):
        yield _("%(number)s is no VAT number of the customer's country.") % {"number": quote.vat_id}


def _unchecked(day: date | None, on: date) -> Iterator[str]:
    """0 % asks for a number that is valid now, so each revision asks whether its check is still young enough."""
    good_for = current_seller().vat_check_days
    if day is None:
        yield _("Check the customer's VAT number in the register of the EU (VIES) and enter the day.")
    elif day > on:
        yield _("The day on which the VAT number was checked lies in the future.")
    elif day < on - timedelta(days=good_for):
        told = _(
            "The VAT number was checked on %(day)s, more than %(days)s days ago. Check it in VIES again and enter the "
            "day."
        )
        yield told % {"day": date_format(day), "days": good_for}


@transaction.atomic
def issue(quote: Quote, by: AbstractBaseUser, *, now: datetime | None = None) -> Quote:
    """Number, freeze and print a draft. Raises Refused with everything that stands in the way.

    Earlier revisions of the number that are without obligation are withdrawn, on record; a firm one stays open until
    its date, because it was promised so.
    """
    quote = _locked(quote)
    moment = now or timezone.now()
    if not quote.is_editable:
        raise Refused(_("This quote has been issued already."))
    if troubles := obstacles(quote, moment):
        raise Refused(troubles)
    quote.terms = terms_for_issue(quote)
    quote.number = quote.number or next_number(timezone.localdate(moment).year)
    quote.issued_at = moment
    quote.issued_by_id = by.pk
    document = make_document(quote, number=quote.number, issued_at=moment, terms=quote.terms)
    quote.net_eur = document.net_eur
    quote.issued_copy = frozen(document)
    quote.issued_sha256 = fingerprint(quote.issued_copy)
    quote.link_expires_on = max(quote.link_expires_on, quote.valid_until + LINK_AFTER_VALIDITY)
    quote.status = QuoteStatus.ISSUED
    quote.save()
    keep_paper(quote, Paper.Kind.ISSUED)
    record(quote, EventKind.ISSUED, by=str(by), detail=f"{quote.full_number} {quote.issued_sha256[:12]}")
    _replace_earlier(quote, by)
    return quote


def _replace_earlier(quote: Quote, by: AbstractBaseUser) -> None:
    earlier = Quote.objects.filter(number=quote.number, status=QuoteStatus.ISSUED).exclude(pk=quote.pk)
    for old in earlier:
        detail = quote.full_number
        if old.offer_mode == OfferMode.WITHOUT_OBLIGATION:
            old.status = QuoteStatus.WITHDRAWN
            old.save()
        else:
            detail = _("%(number)s; this firm offer stays open until its date") % {
                "number": quote.full_number
            }
        record(old, EventKind.REPLACED, by=str(by), detail=detail)


def next_number(year: int) -> str:
    """The next number of a year: gapless because the row stays locked until the transaction ends."""
    NumberSequence.objects.get_or_create(year=year)
    row = NumberSequence.objects.select_for_update().get(year=year)
    row.last += 1
    row.save()
    return f"{year}-{row.last:04d}"


# ── revisions ───────────────────────────────────────────────────────────────────────────────────────────────────


@transaction.atomic
def new_revision(quote: Quote, by: AbstractBaseUser) -> Quote:
    """A draft with the same number and the next letter. The earlier one stays as it is until this is issued."""
    quote = _locked(quote)
    if not quote.number:
        raise Refused(_("This quote has not been issued; you can simply change it."))
    if Quote.objects.filter(supersedes=quote).exists():
        raise Refused(_("There is already a later revision of this quote."))
    if Quote.objects.filter(number=quote.number, status=QuoteStatus.ACCEPTED).exists():
        raise Refused(_("An accepted quote is an agreement; make a new quote instead."))
    if quote.is_editable:
        raise Refused(_("This revision has not been issued; you can simply change it."))
    if quote.revision == LAST_REVISION:
        raise Refused(_("There are no letters left for this number; make a new quote."))
    copy = _copied(quote)
    copy.revision = chr(ord(quote.revision or "A") + 1)
    copy.supersedes = quote
    copy.save()
    QuoteLine.objects.bulk_create(_copied_line(line, copy) for line in quote.lines.all())
    record(copy, EventKind.REVISED, by=str(by), detail=quote.full_number)
    return copy


FRESH: dict[str, Any] = {
    "status": QuoteStatus.DRAFT, "link_revoked": False, "issued_at": None, "issued_by_id": None, "issued_copy": None,
    "issued_sha256": "", "terms_id": None, "decided_at": None, "decided_by": "", "decided_function": "",
    "decline_reason": "",
}  # fmt: skip
"""What a revision does not take over from its predecessor."""


def _copied(quote: Quote) -> Quote:
    """An unsaved copy of a quote, a draft again, under a link of its own."""
    names = [field.attname for field in Quote._meta.concrete_fields if not field.primary_key]
    values = {name: getattr(quote, name) for name in names} | FRESH
    values |= {
        "token": new_token(),
        "link_expires_on": new_link_expiry(),
        "valid_until": today() + timedelta(days=current_seller().validity_days),
    }
    return Quote(**values)


def _copied_line(line: QuoteLine, quote: Quote) -> QuoteLine:
    names = [field.attname for field in QuoteLine._meta.concrete_fields if not field.primary_key]
    return QuoteLine(**{name: getattr(line, name) for name in names} | {"quote_id": quote.pk})


def later_revision(quote: Quote) -> Quote | None:
    """The latest issued revision of the same number, when it is not this one."""
    if not quote.number or quote.issued_at is None:
        return None
    return (
        Quote.objects.filter(number=quote.number, issued_at__gt=quote.issued_at)
        .order_by("-issued_at")
        .first()
    )


# ── decisions ───────────────────────────────────────────────────────────────────────────────────────────────────


@transaction.atomic
def accept(
    quote: Quote,
    *,
    name: str,
    function: str,
    entered_by: AbstractBaseUser | None = None,
    now: datetime | None = None,
) -> Quote:
    """The customer agrees, by the link or in another way that a colleague enters.

    Raises Refused when expired, decided already or replaced, and by the link when that is revoked.
    """
    quote = _open_for_decision(quote, now or timezone.now(), by_link=entered_by is None)
    if not name.strip() or not function.strip():
        raise Refused(_("Say who accepts this quote, and in which function."))
    quote.status = QuoteStatus.ACCEPTED
    quote.decided_at = now or timezone.now()
    quote.decided_by, quote.decided_function = name, function
    quote.link_expires_on = max(
        quote.link_expires_on, timezone.localdate(quote.decided_at) + LINK_AFTER_ACCEPTANCE
    )
    quote.save()
    # What was issued stays printed; an older copy that cannot be printed again is accepted all the same.
    with suppress(Unreadable):
        keep_paper(quote, Paper.Kind.ACCEPTED)
    terms = quote.terms.sha256[:12] if quote.terms else ""
    proof = f"{quote.full_number} {quote.issued_sha256[:12]} {terms}"
    record(quote, EventKind.ACCEPTED, by=name, detail=_entered(proof, entered_by))
    tell_customer(quote, Notice.AGREED)
    tell_seller(quote, Notice.ACCEPTED)
    return quote


@transaction.atomic
def decline(
    quote: Quote,
    *,
    name: str,
    reason: str = "",
    entered_by: AbstractBaseUser | None = None,
    now: datetime | None = None,
) -> Quote:
    """The customer says no, by the link or in another way that a colleague enters. Raises Refused as `accept` does."""
    quote = _open_for_decision(quote, now or timezone.now(), by_link=entered_by is None)
    if not name.strip():
        raise Refused(_("Say who declines this quote."))
    quote.status = QuoteStatus.DECLINED
    quote.decided_at = now or timezone.now()
    quote.decided_by, quote.decline_reason = name, reason
    quote.save()
    record(quote, EventKind.DECLINED, by=name, detail=_entered(reason, entered_by))
    tell_seller(quote, Notice.DECLINED)
    return quote


def _entered(detail: str, by: AbstractBaseUser | None) -> str:
    """What an event says of a decision: by whom it was entered, when that was not the customer."""
    return f"{_('entered by %(name)s') % {'name': by}} {detail}".strip() if by else detail


def _open_for_decision(quote: Quote, moment: datetime, *, by_link: bool) -> Quote:
    quote = _locked(quote)
    if quote.status == QuoteStatus.EXPIRED or (
        quote.status == QuoteStatus.ISSUED and quote.is_expired(moment)
    ):
        raise Refused(_("This quote has expired. Ask for a new one."))
    barred = by_link and not quote.link_works(timezone.localdate(moment))
    if quote.status != QuoteStatus.ISSUED or barred:
        raise Refused(_("This quote is not open for a decision."))
    if Quote.objects.filter(number=quote.number, status=QuoteStatus.ACCEPTED).exists():
        raise Refused(_("Another revision of this quote has been accepted already."))
    return quote


@transaction.atomic
def withdraw(quote: Quote, by: AbstractBaseUser, *, now: datetime | None = None) -> Quote:
    """Take back a draft, or an issued offer that is without obligation. Raises Refused otherwise."""
    quote = _locked(quote)
    if quote.status not in {QuoteStatus.DRAFT, QuoteStatus.ISSUED}:
        raise Refused(_("This quote cannot be withdrawn any more."))
    if quote.status == QuoteStatus.ISSUED and quote.offer_mode == OfferMode.FIRM:
        raise Refused(_("A firm offer cannot be withdrawn before its date."))
    quote.status = QuoteStatus.WITHDRAWN
    quote.save()
    record(quote, EventKind.WITHDRAWN, by=str(by))
    return quote


@transaction.atomic
def expire_due(now: datetime | None = None) -> int:
    """Mark issued quotes whose validity is over. Returns how many."""
    last = timezone.localdate(now or timezone.now(), timezone.get_default_timezone())
    due = list(Quote.objects.select_for_update().filter(status=QuoteStatus.ISSUED, valid_until__lt=last))
    for quote in due:
        quote.status = QuoteStatus.EXPIRED
        quote.save()
        record(quote, EventKind.EXPIRED)
    return len(due)


# ── the customer's link ─────────────────────────────────────────────────────────────────────────────────────────


@transaction.atomic
def revoke_link(quote: Quote, by: AbstractBaseUser) -> Quote:
    """From now on the customer's link leads nowhere."""
    quote = _locked(quote)
    quote.link_revoked = True
    quote.save()
    record(quote, EventKind.LINK_REVOKED, by=str(by))
    return quote


@transaction.atomic
def restore_link(quote: Quote, by: AbstractBaseUser) -> Quote:
    """The customer's link works again, for at least as long as a new one."""
    quote = _locked(quote)
    quote.link_revoked = False
    quote.link_expires_on = max(quote.link_expires_on, new_link_expiry())
    quote.save()
    record(quote, EventKind.LINK_RESTORED, by=str(by))
    return quote
