"""Issuing, revising, deciding, withdrawing and expiring: what is allowed when, and what it leaves behind."""

import hashlib
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from catalog.models import Rack
from quotes import services
from quotes.document_data import IssuedDocument
from quotes.models import NumberSequence, Paper, Quote, QuoteStatus, Seller, TermsDocument
from quotes.models.quote import LINK_AFTER_ACCEPTANCE, LINK_AFTER_VALIDITY
from quotes.services.life import next_number
from tests.quotes.conftest import sized

pytestmark = pytest.mark.usefixtures("english")

AMSTERDAM = ZoneInfo("Europe/Amsterdam")


# ── issuing ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_issuing_numbers_freezes_and_prints(
    make_quote, ada: User, terms: TermsDocument, paper: list[Any]
) -> None:
    quote = services.issue(make_quote(), ada)
    year = timezone.localdate().year
    assert quote.number == f"{year}-0001"
    assert quote.full_number == quote.number
    assert (quote.status, quote.issued_by, quote.terms) == ("issued", ada, terms)
    document = IssuedDocument.model_validate(quote.issued_copy)
    assert document.number == quote.number
    assert document.terms.sha256 == terms.sha256
    assert document.net_eur == quote.net_eur
    kept = quote.papers.get(kind=Paper.Kind.ISSUED)
    assert bytes(kept.pdf) == services.pdf_of(quote)
    assert kept.sha256 == hashlib.sha256(bytes(kept.pdf)).hexdigest()
    assert [one.number for one in paper] == [quote.number]
    assert quote.events.last().kind == "issued"
    assert quote.link_expires_on >= quote.valid_until + LINK_AFTER_VALIDITY


def test_numbers_run_on_without_a_gap(make_quote, ada: User) -> None:
    quotes = [make_quote() for _ in range(3)]
    year = timezone.localdate().year
    with pytest.raises(services.Refused):
        services.issue(make_quote(street=""), ada)
    numbers = [services.issue(quote, ada).number for quote in quotes]
    assert numbers == [f"{year}-0001", f"{year}-0002", f"{year}-0003"]


def test_a_number_is_not_lost_when_printing_fails(
    make_quote, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    quote = make_quote()

    def fail(document: Any) -> bytes:
        raise RuntimeError("no ink")

    with monkeypatch.context() as broken:
        broken.setattr("quotes.services.paper.render", fail)
        with pytest.raises(RuntimeError):
            services.issue(quote, ada)
    quote.refresh_from_db()
    assert (quote.status, quote.number) == ("draft", None)
    assert services.issue(quote, ada).number == f"{timezone.localdate().year}-0001"


def test_each_year_counts_by_itself(db) -> None:
    assert [next_number(2026), next_number(2027), next_number(2026)] == [
        "2026-0001",
        "2027-0001",
        "2026-0002",
    ]
    assert NumberSequence.objects.get(year=2026).last == 2


def no_terms(quote: Quote) -> None:
    TermsDocument.objects.filter(language=quote.language).delete()


def no_lines(quote: Quote) -> None:
    quote.lines.all().delete()


def only_options(quote: Quote) -> None:
    quote.lines.update(optional=True)


def no_iban(quote: Quote) -> None:
    Seller.objects.update(iban="")


def retired_article(quote: Quote) -> None:
    sku = quote.lines.exclude(sku="").order_by("pk")[0].sku
    reason = {"active": False, "inactive_reason": "Out of production."}
    Rack.objects.create(sku=sku, vendor="Maker", name="Old part", source="-", rack_units=42, **reason)


OBSTACLES: list[tuple[dict[str, Any], Callable[[Quote], None] | None, str]] = [
    ({}, None, ""),
    ({}, no_iban, "First complete the seller's details: IBAN."),
    ({}, no_terms, "There are no terms and conditions in this language yet."),
    ({}, no_lines, "A quote needs at least one line."),
    ({}, retired_article, "Old part is no longer offered (Out of production). Replace the line"),
    ({}, only_options, "A quote needs at least one line."),
    ({"street": "", "city": ""}, None, "First complete the customer's details: street and number, city."),
    ({"valid_until": date(2020, 1, 1)}, None, "The validity lies in the past."),
    ({"offer_mode": "firm"}, None, "Demonstration prices are no offer."),
    ({"country": "DE"}, None, "The kind of VAT does not fit the customer's country."),
    ({"vat_mode": "export"}, None, "The kind of VAT does not fit the customer's country."),
    ({"country": "US", "vat_mode": "export"}, None, ""),
    ({"country": "DE", "vat_mode": "eu_business"}, None, "needs the customer's VAT number"),
    (
        {"country": "DE", "vat_mode": "eu_business", "vat_id": "DE12"},
        None,
        "DE12 is no VAT number of the customer's country.",
    ),
    ({"vat_id": "NL123456789B01"}, None, "NL123456789B01 is no VAT number of the customer's country."),
    (
        {"country": "DE", "vat_mode": "eu_business", "vat_id": "DE123456789"},
        None,
        "Check the customer's VAT number",
    ),
    ({"vat_mode": "reverse_charge"}, None, "Reverse charge needs the customer's VAT number."),
    ({"vat_mode": "reverse_charge", "vat_id": "NL123456782B01"}, None, "loose processors; outside of it: "),
]


@pytest.mark.parametrize(("fields", "spoil", "sentence"), OBSTACLES)
def test_what_keeps_a_quote_from_being_issued(
    make_quote, ada: User, fields: dict[str, Any], spoil: Callable[[Quote], None] | None, sentence: str
) -> None:
    quote = make_quote(**fields)
    if spoil:
        spoil(quote)
    if not sentence:
        assert services.obstacles(quote) == []
        assert services.issue(quote, ada).status == "issued"
        return
    with pytest.raises(services.Refused) as error:
        services.issue(quote, ada)
    assert sentence in error.value.sentence
    assert any(sentence in one for one in services.obstacles(quote))
    quote.refresh_from_db()
    assert (quote.status, quote.number) == ("draft", None)


@pytest.mark.parametrize(
    ("days_ago", "sentence"), [(0, ""), (30, ""), (31, "more than 30 days ago"), (-1, "lies in the future")]
)
def test_a_vat_number_found_valid_stays_good_for_a_while(
    make_quote, ada: User, days_ago: int, sentence: str
) -> None:
    checked = timezone.localdate() - timedelta(days=days_ago)
    abroad = {"country": "DE", "vat_mode": "eu_business", "vat_id": "DE123456789"}
    told = services.obstacles(make_quote(**abroad, vat_id_checked_on=checked))
    assert (sentence in told[0]) if sentence else not told


def test_a_revision_abroad_needs_a_number_that_is_valid_now(make_quote, ada: User) -> None:
    abroad = {"country": "DE", "vat_mode": "eu_business", "vat_id": "DE123456789"}
    issued = make_quote("issued", **abroad, vat_id_checked_on=timezone.localdate())
    later = timezone.now() + timedelta(days=31)
    revision = services.new_revision(issued, ada)
    revision.valid_until = timezone.localdate(later)
    revision.save()
    assert services.obstacles(revision) == []
    with pytest.raises(services.Refused, match="Check it in VIES again"):
        services.issue(revision, ada, now=later)


def test_reverse_charge_is_for_loose_processors_from_ten_thousand_euro(make_quote, ada: User) -> None:
    quote = make_quote(vat_mode="reverse_charge", vat_id="NL123456782B01")
    quote.lines.exclude(role__in=["cpu", "memory"]).delete()
    memory = quote.lines.get(role="memory")
    assert any(memory.text in one for one in services.obstacles(quote))
    memory.delete()
    line = quote.lines.get()
    line.unit_eur, line.quantity = Decimal("99.99"), 100
    line.save()
    services.refresh_total(quote)
    assert services.obstacles(quote) == ["This kind of VAT applies from €10,000 only."]
    line.unit_eur = Decimal(100)
    line.save()
    services.refresh_total(quote)
    issued = services.issue(quote, ada)
    assert services.document_of(issued).prices.totals.vat == 0


def test_a_firm_offer_stands_on_real_prices(make_quote, ada: User) -> None:
    quote = make_quote(offer_mode="firm")
    quote.lines.update(demonstration=False)
    assert services.issue(quote, ada).status == "issued"


# ── the state machine ───────────────────────────────────────────────────────────────────────────────────────────

STEPS: dict[str, Callable[[Quote, User], Any]] = {
    "issue": services.issue,
    "accept": lambda quote, by: services.accept(quote, name="Jan", function="Hoofd"),
    "decline": lambda quote, by: services.decline(quote, name="Jan"),
    "withdraw": services.withdraw,
    "revise": services.new_revision,
    "reprice": services.reprice,
}
ALLOWED = {
    ("draft", "issue"): "issued",
    ("draft", "withdraw"): "withdrawn",
    ("draft", "reprice"): "draft",
    ("issued", "accept"): "accepted",
    ("issued", "decline"): "declined",
    ("issued", "withdraw"): "withdrawn",
    ("issued", "revise"): "issued",
    ("declined", "revise"): "declined",
    ("expired", "revise"): "expired",
    ("withdrawn", "revise"): "withdrawn",
}


@pytest.mark.parametrize("status", QuoteStatus.values)
@pytest.mark.parametrize("step", STEPS)
def test_every_step_from_every_status(
    make_quote, ada: User, monkeypatch: pytest.MonkeyPatch, status: str, step: str
) -> None:
    monkeypatch.setattr("quotes.services.drafting.proposal_for", lambda workload: sized("municipality"))
    quote = make_quote(status)
    if (status, step) in ALLOWED:
        STEPS[step](quote, ada)
        expected = ALLOWED[status, step]
    else:
        with pytest.raises(services.Refused):
            STEPS[step](quote, ada)
        expected = status
    assert Quote.objects.get(pk=quote.pk).status == expected


# ── decisions ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("moment", "open_"),
    [
        (datetime(2027, 1, 31, 23, 59, 59, tzinfo=AMSTERDAM), True),
        (datetime(2027, 2, 1, 0, 0, 0, tzinfo=AMSTERDAM), False),
        (datetime(2027, 1, 31, 22, 59, 59, tzinfo=ZoneInfo("UTC")), True),
        (datetime(2027, 1, 31, 23, 0, 0, tzinfo=ZoneInfo("UTC")), False),
    ],
)
def test_valid_until_the_last_second_of_the_day_in_amsterdam(
    make_quote, ada: User, moment: datetime, open_: bool
) -> None:
    quote = make_quote("issued", valid_until=date(2027, 1, 31))
    if open_:
        assert services.expire_due(moment) == 0
        assert services.accept(quote, name="Jan", function="Hoofd", now=moment).status == "accepted"
        return
    with pytest.raises(services.Refused, match="expired"):
        services.accept(quote, name="Jan", function="Hoofd", now=moment)
    assert services.expire_due(moment) == 1
    quote.refresh_from_db()
    assert quote.status == "expired"
    with pytest.raises(services.Refused, match="expired"):
        services.decline(quote, name="Jan", now=moment)


def test_accepting_logs_who_what_and_which_terms(make_quote, terms: TermsDocument, paper: list[Any]) -> None:
    quote = services.accept(make_quote("issued"), name="Jan de Vries", function="Hoofd ICT")
    event = quote.events.last()
    assert (quote.decided_by, quote.decided_function) == ("Jan de Vries", "Hoofd ICT")
    assert (event.kind, event.by) == ("accepted", "Jan de Vries")
    assert quote.full_number in event.detail
    assert terms.sha256[:12] in event.detail
    assert quote.issued_sha256[:12] in event.detail
    assert paper[-1].accepted_by == "Jan de Vries"
    assert {row.kind for row in quote.papers.all()} == {"issued", "accepted"}
    assert services.pdf_of(quote) == bytes(quote.papers.get(kind="accepted").pdf)
    assert quote.link_expires_on >= timezone.localdate() + LINK_AFTER_ACCEPTANCE


@pytest.mark.parametrize(("name", "function"), [("", "Hoofd"), ("Jan", ""), ("  ", "Hoofd")])
def test_somebody_must_accept(make_quote, name: str, function: str) -> None:
    with pytest.raises(services.Refused, match="Say who"):
        services.accept(make_quote("issued"), name=name, function=function)


def test_a_revoked_or_expired_link_decides_nothing(make_quote, ada: User) -> None:
    quote = services.revoke_link(make_quote("issued"), ada)
    with pytest.raises(services.Refused, match="not open"):
        services.accept(quote, name="Jan", function="Hoofd")
    quote = services.restore_link(quote, ada)
    Quote.objects.filter(pk=quote.pk).update(link_expires_on=timezone.localdate() - timedelta(days=1))
    with pytest.raises(services.Refused, match="not open"):
        services.decline(quote, name="Jan")


def test_a_link_that_works_again_expires_no_sooner_than_it_would_have(make_quote, ada: User) -> None:
    later = timezone.localdate() + timedelta(days=900)
    quote = make_quote("issued")
    Quote.objects.filter(pk=quote.pk).update(link_expires_on=later)
    assert services.restore_link(services.revoke_link(quote, ada), ada).link_expires_on == later


def test_a_firm_offer_is_not_withdrawn(make_quote, ada: User) -> None:
    quote = make_quote(offer_mode="firm")
    quote.lines.update(demonstration=False)
    with pytest.raises(services.Refused, match="firm"):
        services.withdraw(services.issue(quote, ada), ada)


# ── revisions ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_revision_keeps_the_number_and_changes_nothing_before_it_is_issued(make_quote, ada: User) -> None:
    first = make_quote("issued")
    second = services.new_revision(first, ada)
    assert (second.status, second.number, second.revision) == ("draft", first.number, "B")
    assert second.full_number == f"{first.number}-B"
    assert second.token != first.token
    assert second.supersedes == first
    assert list(second.lines.values_list("sku", "quantity", "unit_eur")) == list(
        first.lines.values_list("sku", "quantity", "unit_eur")
    )
    assert second.issued_copy is None
    assert second.decided_by == ""
    first.refresh_from_db()
    assert first.status == "issued"
    assert services.later_revision(first) is None
    assert services.accept(first, name="Jan", function="Hoofd").status == "accepted"


def test_issuing_a_revision_withdraws_a_free_offer_on_record(make_quote, ada: User) -> None:
    first = make_quote("issued")
    second = services.issue(services.new_revision(first, ada), ada)
    first.refresh_from_db()
    assert first.status == "withdrawn"
    assert first.events.last().kind == "replaced"
    assert second.full_number in first.events.last().detail
    assert services.later_revision(first) == second
    assert services.later_revision(second) is None
    with pytest.raises(services.Refused, match="not open"):
        services.accept(first, name="Jan", function="Hoofd")


def test_a_firm_offer_stays_open_beside_its_revision_until_one_is_accepted(make_quote, ada: User) -> None:
    quote = make_quote(offer_mode="firm")
    quote.lines.update(demonstration=False)
    first = services.issue(quote, ada)
    second = services.issue(services.new_revision(first, ada), ada)
    first.refresh_from_db()
    assert first.status == "issued"
    assert "stays open" in first.events.last().detail
    services.accept(first, name="Jan", function="Hoofd")
    with pytest.raises(services.Refused, match="accepted already"):
        services.accept(second, name="Jan", function="Hoofd")
    with pytest.raises(services.Refused, match="agreement"):
        services.new_revision(second, ada)


def test_there_is_one_next_revision(make_quote, ada: User) -> None:
    first = make_quote("issued")
    second = services.new_revision(first, ada)
    with pytest.raises(services.Refused, match="already a later revision"):
        services.new_revision(first, ada)
    services.withdraw(second, ada)
    third = services.issue(services.new_revision(second, ada), ada)
    assert third.full_number == f"{first.number}-C"
    assert NumberSequence.objects.get().last == 1


def test_a_draft_revision_can_be_thrown_away(make_quote, ada: User) -> None:
    first = make_quote("issued")
    services.new_revision(first, ada).delete()
    assert services.new_revision(first, ada).revision == "B"


def test_letters_end_at_z(make_quote, ada: User) -> None:
    quote = make_quote(revision="Z", number="2026-0009")
    quote = services.issue(quote, ada)
    with pytest.raises(services.Refused, match="no letters left"):
        services.new_revision(quote, ada)


def test_a_revision_may_have_an_accepted_look_of_its_own(make_quote, ada: User, paper: list[Any]) -> None:
    first = make_quote("issued")
    second = services.new_revision(first, ada)
    line = second.lines.first()
    line.quantity += 1
    line.save()
    second = services.issue(second, ada)
    assert second.net_eur > first.net_eur
    assert bytes(first.papers.get().pdf) != bytes(second.papers.get().pdf)
    assert services.document_of(first).net_eur == first.net_eur
