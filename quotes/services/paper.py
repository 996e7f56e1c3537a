"""What is on paper: the document of a quote, and its PDF as it was sent."""

import hashlib
import json
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import override

from quotes.document_data import Address, CustomerCard, IssuedDocument, SellerCard, TermsCard
from quotes.documents.sheet import Sheet, sheet_of
from quotes.documents.spreadsheet import render_xlsx
from quotes.models import Paper, Quote, QuoteStatus, Seller, TermsDocument
from quotes.pricing.lines import priced
from quotes.pricing.money import OfferMode, VatMode
from quotes.proposal import Proposal
from quotes.services.drafting import lines_of
from quotes.services.frozen import thawed
from quotes.services.proposals import today, vat_rate
from quotes.services.refused import Refused
from quotes.services.seller import current_seller, current_terms
from quotes.sizing.results import Tier


def document_of(quote: Quote) -> IssuedDocument:
    """What the PDF shows: the frozen copy of an issued quote, else a preview of the draft as it is now.

    Raises Refused when a preview cannot be made, because a VAT rate is missing; Unreadable when the copy was made by a
    version whose data this one no longer understands.
    """
    if not quote.issued_copy:
        return make_document(quote, number=None, issued_at=None, terms=current_terms(quote.language, today()))
    document = thawed(IssuedDocument, quote.issued_copy)
    if quote.status != QuoteStatus.ACCEPTED:
        return document
    decision = {
        "accepted_by": quote.decided_by,
        "accepted_function": quote.decided_function,
        "accepted_at": quote.decided_at,
    }
    return document.model_copy(update=decision)


def pdf_of(quote: Quote) -> bytes:
    """The PDF of a quote: as it was sent when it has been issued, else a preview with a watermark."""
    order = (Paper.Kind.ACCEPTED, Paper.Kind.ISSUED)
    papers = {paper.kind: paper for paper in quote.papers.all()}
    kept = next((papers[kind] for kind in order if kind in papers), None)
    return bytes(kept.pdf) if kept else render(document_of(quote))


def xlsx_of(quote: Quote) -> bytes:
    """The price table of a quote as a spreadsheet, in the quote's language. Raises as `document_of` does."""
    return render_xlsx(document_of(quote))


def site_sheet_of(quote: Quote) -> bytes:
    """The site sheet of a quote as a PDF, with the figures it was issued with. Raises as `document_of` does."""
    document = document_of(quote)
    return _print_sheet(sheet_of(document))


def site_sheet_for(proposal: Proposal, tier: Tier, language: str) -> bytes:
    """The site sheet of one of the proposals as a PDF. Raises Refused when the proposal has no such tier."""
    system = proposal.system(tier)
    if system is None:
        raise Refused(_("This proposal is no longer there. Look at the proposals again and choose one."))
    seller = current_seller()
    sheet = Sheet(
        language=language,
        title=proposal.sizing.workload.title or _("AI system"),
        system=system,
        assumptions=proposal.assumptions,
        made_on=proposal.priced_on,
        seller=seller.trade_name,
        accent=seller.accent,
    )
    return _print_sheet(sheet)


def _print_sheet(sheet: Sheet) -> bytes:
    from quotes.documents.pdf import render_sheet  # noqa: PLC0415 — as in `render`

    with override(sheet.language):
        return render_sheet(sheet)


def keep_paper(quote: Quote, kind: Paper.Kind) -> Paper:
    """Render the quote as it is now and keep the result."""
    pdf = render(document_of(quote))
    return Paper.objects.create(quote=quote, kind=kind, pdf=pdf, sha256=hashlib.sha256(pdf).hexdigest())


def render(document: IssuedDocument) -> bytes:
    """The PDF of a document, in its own language."""
    # WeasyPrint takes half a second to import, and most processes never print.
    from quotes.documents.pdf import render_pdf  # noqa: PLC0415

    with override(document.language):
        return render_pdf(document)


def fingerprint(copy: Any) -> str:
    """SHA-256 of a frozen copy, independent of the order of its keys."""
    return hashlib.sha256(json.dumps(copy, sort_keys=True).encode()).hexdigest()


def make_document(
    quote: Quote, *, number: str | None, issued_at: datetime | None, terms: TermsDocument | None
) -> IssuedDocument:
    """The quote as it is now, in a document with this number (None: a preview)."""
    day = timezone.localdate(issued_at) if issued_at else today()
    rate = vat_rate(VatMode(quote.vat_mode), day)
    firm, options = lines_of(quote)
    slowest = max(firm, key=lambda line: line.lead_time_weeks or 0, default=None)
    seller = current_seller()
    dutch = quote.language == "nl"
    return IssuedDocument(
        number=number,
        revision=quote.revision if number else "",
        language="nl" if dutch else "en",
        title=quote.title,
        issued_on=day,
        issued_at=issued_at,
        valid_until=quote.valid_until,
        offer_mode=OfferMode(quote.offer_mode),
        seller=seller_card(seller),
        customer=_customer_card(quote),
        prices=priced(firm, rate.rate_pct),
        options=tuple(options),
        vat_mode=VatMode(quote.vat_mode),
        vat_text=rate.text_nl if dutch else rate.text_en,
        terms=terms_card(terms, quote.language),
        delivery_weeks=slowest.lead_time_weeks if slowest else None,
        delivery_line=slowest.name if slowest and slowest.lead_time_weeks else "",
        delivery_place=quote.delivery_place or quote.city,
        incoterm=quote.incoterm,
        payment_term_days=seller.payment_term_days,
        warranty_text=seller.warranty_nl if dutch else seller.warranty_en,
        proposal=thawed(Proposal, quote.proposal),
        tier=Tier(quote.tier),
        acceptance_url=settings.SITE_URL + quote.get_absolute_url(),
    )


def seller_card(seller: Seller) -> SellerCard:
    fields = SellerCard.model_fields.keys() - {"address"}
    return SellerCard(address=_address(seller), **{name: getattr(seller, name) for name in fields})


def _customer_card(quote: Quote) -> CustomerCard:
    fields = CustomerCard.model_fields.keys() - {"address"}
    return CustomerCard(address=_address(quote), **{name: getattr(quote, name) for name in fields})


def _address(row: Seller | Quote) -> Address:
    return Address(street=row.street, postcode=row.postcode, city=row.city, country=row.country)


def terms_card(terms: TermsDocument | None, language: str) -> TermsCard:
    """Without terms, only a preview gets this far (issuing is refused), and it says so."""
    if terms is None:
        with override(language):
            return TermsCard(
                title=_("Terms and conditions follow with the final quote"), version="", sha256="", text=""
            )
    return TermsCard(title=terms.title, version=terms.version, sha256=terms.sha256, text=terms.text)


def terms_for_issue(quote: Quote) -> TermsDocument:
    """The terms that hold today, in the quote's language. Raises Refused when there are none."""
    terms = current_terms(quote.language, today())
    if terms is None:
        raise Refused(
            _("There are no terms and conditions in this language yet. Add them in the administration.")
        )
    return terms
