"""What the tests of quotes share: proposals sized once, a complete seller, and quotes in any state."""

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.contrib.auth.models import User
from django.utils import timezone, translation

from catalog.seed import seed_snapshot
from configurator.workload import Workload
from quotes import services
from quotes.models import Quote, QuoteStatus, Seller, TermsDocument
from quotes.proposal import Proposal, propose
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.knowledge import shipped

SCENARIOS = Path(__file__).resolve().parent.parent / "scenarios"
DAY = date(2026, 11, 30)

CONTACT = {
    "organisation": "Gemeente Voorbeelddam",
    "contact_name": "Jan de Voorbeeld",
    "email": "jan@voorbeelddam.example",
    "street": "Raadhuisplein 1",
    "postcode": "1000 AA",
    "city": "Voorbeelddam",
}
SELLER = {
    "trade_name": "Verkoper",
    "statutory_name": "Verkoper B.V.",
    "seat": "Utrecht",
    "street": "Straat 1",
    "postcode": "1234 AB",
    "city": "Utrecht",
    "kvk_number": "12345678",
    "vat_id": "NL123456782B01",
    "iban": "NL91ABNA0417164300",
    "contact_name": "Saskia",
    "email": "verkoop@verkoper.example",
    "phone": "030 123 45 67",
}


@cache
def workload_of(name: str) -> Workload:
    return Workload.model_validate(yaml.safe_load((SCENARIOS / f"{name}.yaml").read_text()))


@cache
def sized(name: str) -> Proposal:
    """The proposal of a scenario from the seed catalog, without a database; computed once per process."""
    return propose(
        workload_of(name),
        seed_snapshot(DAY),
        Assumptions(),
        shipped(),
        on=DAY,
        vat_rate_pct=Decimal(21),
        in_full=True,
    )


@pytest.fixture
def english() -> Iterator[None]:
    with translation.override("en"):
        yield


@pytest.fixture
def proposal() -> Proposal:
    return sized("municipality")


@pytest.fixture
def seller(db: None) -> Seller:
    return Seller.objects.create(**SELLER)


@pytest.fixture
def terms(db: None) -> TermsDocument:
    first = timezone.localdate() - timedelta(days=30)
    made = [
        TermsDocument.objects.create(title=title, version="1", language=code, text=text, valid_from=first)
        for code, title, text in (
            ("en", "Terms", "The terms in English."),
            ("nl", "Voorwaarden", "De voorwaarden in het Nederlands."),
        )
    ]
    return made[1]


@pytest.fixture
def paper(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Instead of a real PDF (a second each): the documents that were rendered, in order."""
    rendered: list[Any] = []

    def render(document: Any) -> bytes:
        rendered.append(document)
        return f"%PDF {document.full_number} {document.accepted_by}".encode()

    monkeypatch.setattr("quotes.services.paper.render", render)
    return rendered


type MakeQuote = Callable[..., Quote]


@pytest.fixture
def make_quote(seller: Seller, terms: TermsDocument, paper: list[Any], ada: User) -> MakeQuote:
    """`make_quote("issued", discount_pct=5)`: a quote in that status, with these fields changed while in draft."""

    def make(status: str = "draft", *, scenario: str = "municipality", **fields: Any) -> Quote:
        found = sized(scenario)
        assert found.recommended
        contact = CONTACT | {name: fields.pop(name) for name in list(fields) if name in CONTACT}
        quote = services.create_quote(
            found, found.recommended.tier, contact, language=fields.pop("language", "nl")
        )
        for name, value in fields.items():
            setattr(quote, name, value)
        quote.save()
        services.refresh_total(quote)
        return advance(quote, status, ada)

    return make


def advance(quote: Quote, status: str, by: User) -> Quote:
    """Take a draft to `status` along the way that people take."""
    if status == QuoteStatus.DRAFT:
        return quote
    quote = services.issue(quote, by)
    match status:
        case QuoteStatus.ACCEPTED:
            return services.accept(quote, name="Jan", function="Hoofd ICT")
        case QuoteStatus.DECLINED:
            return services.decline(quote, name="Jan", reason="Te duur")
        case QuoteStatus.WITHDRAWN:
            return services.withdraw(quote, by)
        case QuoteStatus.EXPIRED:
            services.expire_due(timezone.now() + timedelta(days=365))
            quote.refresh_from_db()
    return quote
