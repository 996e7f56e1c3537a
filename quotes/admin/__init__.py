"""The pages of sales: quotes, and what a quote needs around it."""

from quotes.admin.assumptions import AssumptionOverrideAdmin
from quotes.admin.measurements import MeasurementAdmin
from quotes.admin.quotes import QuoteAdmin
from quotes.admin.seller import SellerAdmin, TermsDocumentAdmin, VatRateAdmin

__all__ = [
    "AssumptionOverrideAdmin",
    "MeasurementAdmin",
    "QuoteAdmin",
    "SellerAdmin",
    "TermsDocumentAdmin",
    "VatRateAdmin",
]
