"""The party that offers, and its terms."""

from datetime import date

from quotes.models import Seller, TermsDocument


def current_seller() -> Seller:
    """The seller's card; an empty one while nobody has filled it in."""
    return Seller.objects.first() or Seller()


def current_terms(language: str, on: date) -> TermsDocument | None:
    """The terms that hold on a day, in a language."""
    return TermsDocument.objects.filter(language=language, valid_from__lte=on).order_by("-valid_from").first()
