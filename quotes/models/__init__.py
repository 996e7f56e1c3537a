"""Quotes and what a quote needs around it: the seller, VAT rates, terms, numbers, changed assumptions, measurements."""

from quotes.models.measurements import Measurement
from quotes.models.overrides import AssumptionOverride
from quotes.models.quote import (
    EventKind,
    Paper,
    Quote,
    QuoteEvent,
    QuoteLine,
    QuoteStatus,
)
from quotes.models.seller import NumberSequence, Seller, TermsDocument, VatRate

__all__ = [
    "AssumptionOverride",
    "EventKind",
    "Measurement",
    "NumberSequence",
    "Paper",
    "Quote",
    "QuoteEvent",
    "QuoteLine",
    "QuoteStatus",
    "Seller",
    "TermsDocument",
    "VatRate",
]
