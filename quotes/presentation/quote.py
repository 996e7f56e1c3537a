"""The customer's page of one quote."""

from datetime import datetime
from typing import Any

from django.utils import timezone

from quotes import services
from quotes.launch import launch_plan
from quotes.models import Quote, QuoteStatus
from quotes.presentation.proposal import bill


def quote_page(quote: Quote, now: datetime) -> dict[str, Any]:
    """Template context: the quote as it was issued (or a preview), and what the customer may do now.

    Of a quote that an earlier version issued and this one cannot read, `document` is None: the PDF says it all.
    """
    try:
        document = services.document_of(quote)
    except services.Unreadable:
        document = None
    expired = quote.status == QuoteStatus.ISSUED and quote.is_expired(now)
    later = services.later_revision(quote)
    return {
        "quote": quote,
        "document": document,
        "bill": bill(document.prices) if document else [],
        "totals": document.prices.totals if document else None,
        "can_launch": bool(
            quote.issued_at
            and document
            and launch_plan(document.system, document.proposal.sizing.workload).loads
        ),
        "status": QuoteStatus.EXPIRED if expired else QuoteStatus(quote.status),
        "is_open": quote.status == QuoteStatus.ISSUED and not expired,
        "issued_on": timezone.localdate(quote.issued_at) if quote.issued_at else None,
        "decided_on": timezone.localdate(quote.decided_at) if quote.decided_at else None,
        "later": later,
        "later_on": timezone.localdate(later.issued_at) if later and later.issued_at else None,
        # Only to the same person: a revision may have gone to somebody else.
        "later_url": later.get_absolute_url() if later and later.email == quote.email else "",
    }
