"""Documents as they are issued, made from the scenarios without a database."""

from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from io import BytesIO
from typing import Any, Literal

from pypdf import PdfReader

from quotes.document_data import Address, CustomerCard, IssuedDocument, SellerCard, TermsCard
from quotes.documents.pdf import render_pdf
from quotes.pricing.lines import PricedLine, priced
from quotes.pricing.money import OfferMode
from tests.quotes.conftest import CONTACT, DAY, SELLER, sized

TERMS = "Artikel 1. Toepassing.\n\nDeze voorwaarden gelden voor alle aanbiedingen.\n\n" * 6


def document(
    scenario: str = "municipality", language: Literal["nl", "en"] = "nl", **changes: Any
) -> IssuedDocument:
    """An issued quote for the recommended system of a scenario."""
    proposal = sized(scenario)
    chosen = proposal.recommended
    assert chosen is not None
    fields: dict[str, Any] = {
        "number": "2026-0042",
        "language": language,
        "title": proposal.sizing.workload.title,
        "issued_on": DAY,
        "issued_at": datetime(2026, 11, 30, 12, 30, tzinfo=UTC),
        "valid_until": date(2026, 12, 31),
        "offer_mode": OfferMode.FIRM,
        "seller": SellerCard(address=_address(SELLER), **_rest(SELLER)),
        "customer": CustomerCard(address=_address(CONTACT), **_rest(CONTACT)),
        "prices": proposal.prices[chosen.tier],
        "terms": TermsCard(title="Algemene voorwaarden", version="2026-1", sha256="0f" * 32, text=TERMS),
        "proposal": proposal,
        "tier": chosen.tier,
        "delivery_weeks": 12,
        "delivery_line": "H200 NVL",
        "delivery_place": "Voorbeelddam",
        "warranty_text": "Drie jaar, volgende werkdag op locatie.",
        "acceptance_url": "https://verkoper.example/offerte/abc/",
    }
    return IssuedDocument(**(fields | changes))


def preview(language: Literal["nl", "en"] = "nl", **changes: Any) -> IssuedDocument:
    return document(language=language, **{"number": None, "issued_at": None, **changes})


def discounted(percentage: str) -> IssuedDocument:
    """The municipality's quote with this discount on the first line."""
    first, *rest = document().prices.lines
    kept = first.model_dump(exclude={"net_eur", "discount_pct"})
    line = PricedLine.of(**kept, discount_pct=Decimal(percentage))
    return document(prices=priced((line, *rest), Decimal(21)))


def _address(row: dict[str, str]) -> Address:
    return Address(street=row["street"], postcode=row["postcode"], city=row["city"])


def _rest(row: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in row.items() if name not in {"street", "postcode", "city"}}


@cache
def pdf(scenario: str = "municipality", language: Literal["nl", "en"] = "nl") -> bytes:
    """The PDF of `document(scenario, language)`, printed once per process."""
    return render_pdf(document(scenario, language))


def reader(printed: bytes) -> PdfReader:
    return PdfReader(BytesIO(printed))


@cache
def pages(printed: bytes) -> list[str]:
    """The words of every page, with single ordinary spaces; read once per process."""
    return [" ".join(page.extract_text().split()) for page in reader(printed).pages]


def words(printed: bytes) -> str:
    return " ".join(pages(printed))
