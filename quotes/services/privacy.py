"""What is kept of a person and for how long; handing it out and erasing it.

This is the one place that changes issued quotes: personal data goes, numbers and amounts stay.
"""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from configurator.models import Draft
from quotes.models import EventKind, Quote, QuoteEvent, QuoteStatus
from quotes.services.events import record
from quotes.services.life import expire_due
from quotes.services.paper import document_of, fingerprint
from quotes.services.seller import current_seller

ERASED_EMAIL = "erased@rekenkracht.invalid"
PERSONAL = (
    "organisation", "contact_name", "email", "phone", "street", "postcode", "city", "kvk_number", "vat_id",
    "reference", "customer_note", "delivery_place", "decided_by", "decided_function", "decline_reason",
)  # fmt: skip
"""What says something about a person."""

LOST = (QuoteStatus.DECLINED, QuoteStatus.EXPIRED, QuoteStatus.WITHDRAWN)
BY_CUSTOMER = (EventKind.CREATED, EventKind.ACCEPTED, EventKind.DECLINED)


class Erased(NamedTuple):
    """How many quotes were deleted, stripped of personal data, or kept because they must be."""

    deleted: int = 0
    stripped: int = 0
    kept: int = 0


def export_contact(email: str) -> dict[str, Any]:
    """Everything kept about a person, as plain data; costs, margins and our own notes are not about the person."""
    quotes = Quote.objects.filter(email__iexact=email).order_by("created_at")
    return {"email": email, "quotes": [_exported(quote) for quote in quotes]}


def _exported(quote: Quote) -> dict[str, Any]:
    # The frozen copy itself, so that what an earlier version issued can be handed out too.
    prices = (quote.issued_copy or document_of(quote).model_dump(mode="json"))["prices"]
    return {
        "number": quote.full_number,
        "status": quote.status,
        "title": quote.title,
        "language": quote.language,
        "made_at": quote.created_at.isoformat(),
        "consented_at": quote.consented_at.isoformat(),
        "personal": {name: getattr(quote, name) for name in PERSONAL},
        "lines": prices["lines"],
        "totals": prices["totals"],
        "events": [
            {"at": event.at.isoformat(), "event": event.kind, "by": event.by, "detail": event.detail}
            for event in quote.events.filter(kind__in=BY_CUSTOMER)
        ],
    }


@transaction.atomic
def erase_contact(email: str) -> Erased:
    """Erase a person: drafts go, lost quotes lose their personal data, open and accepted ones must be kept.

    An accepted quote belongs to the books (seven years); an open one must be declined or withdrawn first. The plans go
    as well, unless a quote that is kept, or another person's, was made from them.
    """
    deleted = stripped = kept = 0
    plans = set(
        Quote.objects.filter(email__iexact=email, draft__isnull=False).values_list("draft", flat=True)
    )
    for quote in Quote.objects.select_for_update().filter(email__iexact=email).order_by("-pk"):
        if quote.status == QuoteStatus.DRAFT:
            _delete(quote)
            deleted += 1
        elif quote.status in LOST:
            _strip(quote)
            stripped += 1
        else:
            kept += 1
    needed = set(Quote.objects.filter(draft__in=plans).values_list("draft", flat=True))
    Draft.objects.filter(pk__in=plans - needed).delete()
    return Erased(deleted, stripped, kept)


@transaction.atomic
def purge(now: datetime | None = None) -> Erased:
    """Let go of what has been kept long enough (see the seller's card). Marks expired quotes first."""
    moment = now or timezone.now()
    expire_due(moment)
    seller = current_seller()
    stale = Quote.objects.filter(
        status=QuoteStatus.DRAFT, updated_at__lt=moment - timedelta(days=seller.keep_open_days)
    )
    deleted = 0
    for quote in stale.order_by("-pk"):
        _delete(quote)
        deleted += 1
    lost = Q(status__in=LOST, updated_at__lt=moment - timedelta(days=seller.keep_lost_days))
    won = Q(status=QuoteStatus.ACCEPTED, decided_at__lt=moment - timedelta(days=366 * seller.keep_won_years))
    due = list(Quote.objects.filter(lost | won).exclude(email=ERASED_EMAIL))
    for quote in due:
        _strip(quote)
    return Erased(deleted=deleted, stripped=len(due))


def _delete(quote: Quote) -> None:
    """Delete a draft with its history, which would otherwise remember the deletion itself."""
    history, pk = quote.history.model, quote.pk
    quote.delete()
    history.objects.filter(id=pk).delete()
    _logged(pk).delete()


def _logged(pk: int) -> models.QuerySet[LogEntry]:
    """What the admin noted of a quote: it names the customer."""
    return LogEntry.objects.filter(content_type=ContentType.objects.get_for_model(Quote), object_id=str(pk))


def _strip(quote: Quote) -> None:
    """Take the person out of a quote that stays: its row, frozen copy, papers, history, events and log."""
    values: dict[str, Any] = {name: "–" if getattr(quote, name) else "" for name in PERSONAL}
    values |= {"email": ERASED_EMAIL, "title": "–", "internal_note": "", "draft": None, "link_revoked": True}
    values["proposal"] = _untitled(quote.proposal)
    if quote.issued_copy:
        blank = {"organisation": "–", "contact_name": "–", "email": ERASED_EMAIL}
        proposal = _untitled(quote.issued_copy["proposal"])
        copy = {
            **quote.issued_copy,
            "title": "–",
            "customer": blank,
            "delivery_place": "",
            "proposal": proposal,
        }
        values |= {"issued_copy": copy, "issued_sha256": fingerprint(copy)}
    # Past the guard of the query set, which refuses every other change of an issued quote.
    models.QuerySet.update(Quote.objects.filter(pk=quote.pk), **values)
    quote.papers.all().delete()
    quote.history.all().delete()
    _logged(quote.pk).update(object_repr=quote.full_number)
    QuoteEvent.objects.filter(quote=quote, kind__in=BY_CUSTOMER).update(by="", detail="")
    record(quote, EventKind.ERASED, detail=quote.issued_sha256[:12])


def _untitled(proposal: dict[str, Any]) -> dict[str, Any]:
    sizing = proposal["sizing"]
    return {**proposal, "sizing": {**sizing, "workload": {**sizing["workload"], "title": ""}}}
