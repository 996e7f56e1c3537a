"""What happened to a quote, in order."""

from quotes.models import EventKind, Quote, QuoteEvent


def record(quote: Quote, kind: EventKind, *, by: str = "", detail: str = "") -> QuoteEvent:
    """Add a line to what happened to a quote."""
    return QuoteEvent.objects.create(quote=quote, kind=kind.value, by=by[:120], detail=detail[:300])
