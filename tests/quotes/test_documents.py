"""The quote on paper: everything it must say, nothing it may not, readable by machines and people alike."""

import logging
import re
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from django.utils import translation
from pypdf.generic import ArrayObject, DictionaryObject, IndirectObject

from catalog.quantity import Message, Quantity
from configurator import formats
from quotes.document_data import Address
from quotes.documents.context import address_lines, document_context, glued, key_figures, refused
from quotes.documents.pdf import OwnFiles, render_html, render_pdf
from quotes.presentation.proposal import Reason, Stage, bill
from quotes.presentation.room import watts
from quotes.pricing.money import OfferMode
from tests.quotes.conftest import sized
from tests.quotes.samples import discounted, document, pages, pdf, preview, reader, words

SCENARIOS = ["municipality", "factory", "university", "law-firm", "software-house"]
FORBIDDEN = re.compile(r"(?i:inkoop|\bmarges?\b|margin|cost_eur|internal)|None\b|\bnan\b|%\(|\{\w+\}")


def plain(text: str) -> str:
    return " ".join(text.split())


def money(amount: Any, language: str) -> str:
    with translation.override(language):
        return plain(formats.money(amount))


# ── what it says ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("scenario", "language"), [*((name, "nl") for name in SCENARIOS), ("municipality", "en")]
)
def test_every_price_is_on_paper(scenario: str, language: Any) -> None:
    quote, text = document(scenario, language), words(pdf(scenario, language))
    totals = quote.prices.totals
    amounts = [totals.net, totals.vat, totals.gross]
    amounts += [subtotal for _lines, subtotal in quote.prices.groups.values()]
    amounts += [amount for line in quote.prices.lines for amount in (line.unit_eur, line.net_eur)]
    missing = [amount for amount in amounts if money(amount, language) not in text]
    assert not missing
    with translation.override(language):
        names = [line.name for group in bill(quote.prices) for line in group.lines]
    assert not [name for name in names if plain(name) not in text]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_nothing_internal_and_nothing_unfinished_is_on_paper(scenario: str) -> None:
    assert not FORBIDDEN.findall(words(pdf(scenario)))


def test_a_dutch_quote_says_u() -> None:
    text = " ".join(words(pdf(name)) for name in SCENARIOS)
    assert not re.findall(r"\b(?:je|jij|jouw|jullie)\b", text, re.IGNORECASE)


def test_a_quote_carries_what_the_law_and_custom_want() -> None:
    quote, text = document(), words(pdf())
    seller, customer = quote.seller, quote.customer
    for must in (
        seller.statutory_name, seller.address.street, seller.kvk_number, seller.vat_id, seller.iban, seller.seat,
        customer.organisation, customer.address.city, "2026-0042", "30 november 2026", "31 december 2026", "23.59",
        "12 weken", "DAP Voorbeelddam", "30 dagen", quote.warranty_text, quote.terms.version, quote.terms.sha256,
        "demonstratieprijzen", quote.acceptance_url,
    ):  # fmt: skip
        assert must in text


def test_a_quote_without_obligation_does_not_bind() -> None:
    html = render_html(document(offer_mode=OfferMode.WITHOUT_OBLIGATION))
    assert "rijblijvend" in html
    assert "nherroepelijk" not in html


def test_numbers_and_words_follow_the_language_of_the_document() -> None:
    with translation.override("nl"):
        english = render_html(document(language="en"))
    with translation.override("en"):
        dutch = render_html(document(language="nl"))
    assert '<html lang="en">' in english
    assert "Summary" in english
    assert "30 November 2026" in english
    assert '<html lang="nl">' in dutch
    assert "Samenvatting" in dutch
    assert "Summary" not in dutch


def test_a_discount_changes_the_one_sentence_and_has_a_column() -> None:
    quote = discounted("50")
    html = render_html(quote)
    assert "50 %" in plain(html)
    with translation.override("nl"):
        assert formats.quantity(float(quote.net_eur), "EUR", 3) in html.split('id="summary"')[0]
    assert "Korting" in html
    assert "Korting" not in render_html(document())


def test_options_stand_apart_from_the_total() -> None:
    quote = document()
    html = render_html(quote.model_copy(update={"options": quote.prices.lines[:1]}))
    assert html.index("Totaal inclusief btw") < html.index("Opties, niet in het totaal")
    cheaper = quote.prices.lines[0].model_copy(update={"discount_pct": Decimal(12)})
    options = render_html(quote.model_copy(update={"options": (cheaper,)})).split(
        "Opties, niet in het totaal"
    )[1]
    assert "Korting" in options
    assert "12 %" in plain(options)


def test_names_are_text_and_never_markup() -> None:
    customer = document().customer.model_copy(update={"organisation": "<b>A & B</b>"})
    html = render_html(document(customer=customer))
    assert "<b>A" not in html
    assert "&lt;b&gt;A &amp; B&lt;/b&gt;" in html


def test_a_preview_says_so_on_every_page_and_cannot_be_signed() -> None:
    printed = pages(render_pdf(preview()))
    assert all("CONCEPT" in page for page in printed)
    assert "Handtekening" not in " ".join(printed)
    assert all("CONCEPT" not in page for page in pages(pdf()))
    assert "Handtekening" in words(pdf())


def test_an_accepted_quote_says_by_whom_instead_of_asking() -> None:
    signed = {
        "accepted_by": "Jan Jansen",
        "accepted_function": "hoofd ICT",
        "accepted_at": datetime(2026, 12, 3, tzinfo=UTC),
    }
    html = render_html(document(**signed))
    assert "Jan Jansen, hoofd ICT, op 3 december 2026" in html
    assert "Handtekening" not in html
    without_function = render_html(document(**signed | {"accepted_function": ""}))
    assert "Jan Jansen op 3 december 2026" in without_function


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_refused_accelerator_is_told_once(scenario: str) -> None:
    with translation.override("nl"):
        told = document_context(document(scenario))["refused"]
    names = [name for _stage, rows in told for row in rows for name in row.names.split(", ")]
    assert sorted(names) == sorted(row.subject_name for row in sized(scenario).sizing.refusals)
    reasons = [row.reason for _stage, rows in told for row in rows]
    assert len(reasons) < len(names)


def test_refusals_by_one_rule_share_a_row_that_tells_of_the_nearest() -> None:
    def reason(name: str, rule: str, kw: float) -> Reason:
        return Reason(name, Message.of(rule, power=Quantity(value=kw, unit="kW")), None)

    same, other = "It needs {power}.", "It lacks {power}."
    reasons = (reason("A", same, 13), reason("B", same, 15), reason("C", other, 2), reason("D", other, 2))
    with translation.override("en"):
        ((_name, rows),) = refused([Stage("Power", reasons, each_its_own=False)])
        ((_name, alone),) = refused([Stage("Power", reasons, each_its_own=True)])

    told = [(row.names, plain(row.reason)) for row in rows]
    assert told == [("A, B", "A: It needs 13 kW."), ("C, D", "It lacks 2 kW.")]
    assert [row.names for row in alone] == ["A", "B", "C", "D"]


@pytest.mark.parametrize(
    ("scenario", "wishes"),
    [
        ("municipality", {"gevraagd: 2 s", "gevraagd: 20 tokens/s"}),
        ("factory", {"gevraagd: 600 beelden/s", "gevraagd: 12 uur"}),
        ("university", {"gevraagd: 60 dagen"}),
    ],
)
def test_promises_are_drawn_beside_what_was_asked(scenario: str, wishes: set[str]) -> None:
    with translation.override("nl"):
        loads = document_context(document(scenario))["loads"]
    drawings = " ".join(plain(promise.drawing) for load in loads for promise in load["promises"])
    assert set(re.findall(r"gevraagd: [^<]+(?=</text>)", drawings)) == wishes


@pytest.mark.parametrize(
    ("value_w", "said"), [(87.5, "88 W"), (1000, "1 kW"), (3708.9, "3,71 kW"), (23456, "23,5 kW")]
)
def test_small_power_is_told_in_watts(value_w: float, said: str) -> None:
    with translation.override("nl"):
        assert plain(watts(value_w)) == said


@pytest.mark.parametrize(
    ("scenario", "told"),
    [("university", "one training run, at most"), ("law-firm", "today's peak load")],
)
def test_only_who_serves_people_is_told_of_a_peak(scenario: str, told: str) -> None:
    with translation.override("en"):
        assert [label for label, _value, _note in key_figures(document(scenario))][2] == told


def test_the_country_is_told_abroad_only() -> None:
    with translation.override("nl"):
        assert address_lines(Address(street="A 1", postcode="1000 AA", city="B")) == ["A 1", "1000 AA B"]
        assert address_lines(Address(city="Brussel", country="BE")) == ["Brussel", "België"]
        assert address_lines(Address()) == []


def test_drawings_take_the_accent_and_leave_the_colours_with_a_meaning() -> None:
    seller = document().seller.model_copy(update={"accent": "#8a1c4a"})
    html = render_html(document(seller=seller))
    marks = re.findall(r"<(?:rect|line|polyline)[^>]*>", html)
    accents = [mark for mark in marks if "-accent" in mark]
    weights = [mark for mark in marks if "fill-weights" in mark]
    assert accents
    assert weights
    assert all("#8a1c4a" in mark and "#0b5563" not in mark for mark in accents)
    assert all('fill="#0b5563"' in mark for mark in weights)


def test_a_percentage_stays_on_its_line() -> None:
    assert glued("in 95 % van") == f"in 95{formats.THIN}% van"


# ── how it is made ──────────────────────────────────────────────────────────────────────────────────────────────


def test_metadata_is_of_the_quote_and_not_of_the_moment() -> None:
    information = reader(pdf()).metadata
    assert information is not None
    assert information.title == "Offerte 2026-0042 – Documentchat gemeente"
    assert information.author == "Verkoper"
    assert (
        information.creation_date
        == information.modification_date
        == datetime(2026, 11, 30, 12, 30, tzinfo=UTC)
    )


def test_equal_documents_give_equal_bytes_and_printing_opens_no_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = pdf()

    def refuse(*_args: Any) -> None:
        raise AssertionError("a document was fetching from the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert render_pdf(document()) == first


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/a.css",
        "http://localhost/",
        "file:///etc/hostname",
        "resource:css/../settings.py",
        "resource:css/.env",
        "resource:css/../../configurator/settings.py",
        "resource:other/a.css",
        "resource:",
        "data:text/html;base64,PGI+",
    ],
)
def test_nothing_else_is_served(url: str) -> None:
    with pytest.raises(ValueError, match="loads nothing"):
        OwnFiles().fetch(url)


def test_an_image_in_a_logo_is_not_fetched(caplog: pytest.LogCaptureFixture) -> None:
    sneaky = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="file:///etc/hostname"/></svg>'
    seller = document().seller.model_copy(update={"logo_svg": sneaky})
    with caplog.at_level(logging.ERROR, logger="weasyprint"):
        assert render_pdf(document(seller=seller)).startswith(b"%PDF")
    assert "loads nothing from file:///etc/hostname" in caplog.text


def test_printing_complains_about_nothing(caplog: pytest.LogCaptureFixture) -> None:
    logo = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9"/></svg>'
    seller = document().seller.model_copy(update={"logo_svg": logo, "accent": "#8a1c4a"})
    with caplog.at_level(logging.WARNING, logger="weasyprint"):
        render_pdf(preview(seller=seller))
    assert not [record.getMessage() for record in caplog.records]


# ── pages ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_pages_are_numbered_few_and_none_is_empty(scenario: str) -> None:
    printed = pages(pdf(scenario))
    assert 9 <= len(printed) <= 20
    for number, page in enumerate(printed[1:], 2):
        assert f"pagina {number} van {len(printed)}" in page
        assert "Offerte 2026-0042 · Gemeente Voorbeelddam" in page
    assert min(len(page) for page in printed) > 200


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_what_is_looked_up_begins_a_page_and_the_summary_fits_on_one(scenario: str) -> None:
    """Summary, system, prices, terms, appendix and conditions; what is read in one go flows on between them."""
    file = reader(pdf(scenario))
    starts = {
        str(entry.title): file.get_destination_page_number(entry)
        for entry in file.outline
        if not isinstance(entry, list)
    }
    order = list(starts.values())
    assert order == sorted(order)
    assert order[:2] == [1, 2]
    last = range(len(order) - 4, len(order))
    assert all(order.index(order[number]) == number for number in last)


def test_fonts_are_embedded_and_only_one_face() -> None:
    names, embedded = set(), []
    for page in reader(pdf()).pages:
        for font in page["/Resources"]["/Font"].values():
            inner = font.get_object()["/DescendantFonts"][0].get_object()
            names.add(str(inner["/BaseFont"]).split("+")[1])
            embedded.append("/FontFile2" in inner["/FontDescriptor"].get_object())
    assert all(embedded)
    assert {name.split(",")[0].startswith("Source-Sans-3") for name in names} == {True}


# ── for screen readers ──────────────────────────────────────────────────────────────────────────────────────────


def elements(node: Any, parents: tuple[str, ...] = ()) -> Iterator[tuple[DictionaryObject, tuple[str, ...]]]:
    """Every structure element of a tagged PDF with the kinds of the elements around it."""
    node = node.get_object() if isinstance(node, IndirectObject) else node
    if isinstance(node, ArrayObject):
        for child in node:
            yield from elements(child, parents)
    elif isinstance(node, DictionaryObject) and "/S" in node:
        yield node, parents
        if "/K" in node:
            yield from elements(node["/K"], (*parents, str(node["/S"])))


@pytest.mark.parametrize(("scenario", "language"), [("municipality", "en"), ("law-firm", "nl")])
def test_the_pdf_is_tagged_as_pdf_ua(scenario: str, language: Any) -> None:
    file = reader(pdf(scenario, language))
    root = file.trailer["/Root"]
    assert root["/Lang"] == language
    assert root["/MarkInfo"]["/Marked"]
    assert root["/ViewerPreferences"]["/DisplayDocTitle"]
    assert b"pdfuaid:part" in root["/Metadata"].get_data()
    found = list(elements(root["/StructTreeRoot"]["/K"]))
    headings = [
        (int(str(node["/S"])[2]), parents) for node, parents in found if re.fullmatch(r"/H\d", node["/S"])
    ]
    levels = [level for level, _parents in headings]
    assert levels[0] == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))
    assert not [
        parents for _level, parents in headings if any(re.fullmatch(r"/H\d", kind) for kind in parents)
    ]
    figures = [node for node, _parents in found if node["/S"] == "/Figure"]
    assert len(figures) >= 4
    assert all(len(str(figure["/Alt"])) > 20 for figure in figures)
    cells = [node for node, _parents in found if node["/S"] == "/TH"]
    assert all("/A" in cell for cell in cells)


def test_links_lead_somewhere_and_say_where() -> None:
    file = reader(pdf())
    known = set(file.named_destinations)
    links = [mark.get_object() for page in file.pages for mark in page.get("/Annots", [])]
    assert len(links) >= 8
    targets = [str(link["/Dest"]) for link in links if "/Dest" in link]
    addresses = [str(link["/A"]["/URI"]) for link in links if "/A" in link]
    assert set(targets) <= known
    assert set(addresses) == {document().acceptance_url}
    assert all(link.get("/Contents") for link in links)
