"""The whole way: five real workloads from the first question to the PDF of a quote."""

import re
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Page, expect
from pypdf import PdfReader

from tests.browser.conftest import Site
from tests.configurator.scenario_answers import SCENARIOS, UNKNOWN


class Journey(NamedTuple):
    scenario: str
    language: str
    width: int
    javascript: bool
    theme: str = "light"


JOURNEYS = (
    Journey("municipality", "nl", 390, javascript=True),
    Journey("factory", "en", 1440, javascript=True),
    Journey("university", "nl", 1280, javascript=False),
    Journey("law-firm", "nl", 1440, javascript=True, theme="dark"),
    Journey("software-house", "en", 390, javascript=True, theme="dark"),
)

CONTACT = {
    "organisation": "Voorbeeldbedrijf B.V.",
    "contact_name": "Robin Voorbeeld",
    "email": "robin@voorbeeld.example",
    "street": "Voorbeeldstraat 1",
    "postcode": "1234 AB",
    "city": "Utrecht",
}

PATIENT_MS = 60_000  # a PDF on a machine that has other things to do

# How a Dutch customer types a number, and how an English one does.
ENGLISH = {"miljard": "billion", "miljoen": "million"}


def in_language(value: Any, language: str) -> Any:
    if language == "nl" or value is UNKNOWN or isinstance(value, list):
        return value
    if isinstance(value, tuple):
        return (in_language(value[0], language), value[1])
    for dutch, english in ENGLISH.items():
        value = value.replace(dutch, english)
    return re.sub(r"(?<=\d)\.(?=\d{3}\b)", ",", value) if re.fullmatch(r"[\d.]+", value) else value


def answer(page: Page, typed: Mapping[str, Any], language: str) -> None:
    """Fill in the questions of the page, each in the way its control asks for."""
    for name, raw in typed.items():
        value = in_language(raw, language)
        control = page.locator(f'[name="{name}"]').first
        if value is UNKNOWN:
            box = page.locator(f'[name="{name}_unknown"]')
            (box if box.count() else page.locator(f'[name="{name}"][value="unknown"]')).check()
        elif isinstance(value, tuple):
            control.fill(value[0])
            page.select_option(f'[name="{name}_unit"]', value[1])
        elif isinstance(value, list):
            for box in page.locator(f'[name="{name}"]').all():
                box.set_checked(box.get_attribute("value") in value)
        elif control.get_attribute("type") == "radio":
            page.check(f'[name="{name}"][value="{value}"]')
        elif control.evaluate("control => control.tagName") == "SELECT":
            control.select_option(value)
        else:
            control.fill(value)


def slug_of(page: Page) -> str:
    return page.url.partition("?")[0].rstrip("/").rpartition("/")[2]


def walk_to_the_answers(page: Page, scenario: str, language: str) -> None:
    """From the start page to 'check your answers'."""
    typed = SCENARIOS[scenario]
    page.goto("/")
    answer(page, typed["use"], language)
    page.click('main button[name="go"][value="next"]')
    while (slug := slug_of(page)) != "check":
        answer(page, typed.get(slug, {}), language)
        page.click('main button[name="go"][value="next"]')
        expect(page.locator(".error-summary")).to_have_count(0)
        assert slug_of(page) != slug


def pdf_of(page: Page, address: str) -> PdfReader:
    response = page.request.get(address, timeout=PATIENT_MS)
    assert response.ok
    assert response.headers["content-type"] == "application/pdf"
    return PdfReader(BytesIO(response.body()))


@pytest.mark.parametrize("journey", JOURNEYS, ids=lambda journey: journey.scenario)
def test_from_the_first_question_to_the_pdf(
    open_page: Callable[..., Page],
    expect_accessible: Callable[[Page], None],
    expect_no_overflow: Callable[[Page], None],
    journey: Journey,
) -> None:
    page = open_page(
        language=journey.language, width=journey.width, javascript=journey.javascript, theme=journey.theme
    )

    def expect_well_made() -> None:
        expect(page.locator("h1")).to_have_count(1)
        if journey.language == "nl":
            assert not english_lines(page.locator("main").evaluate(OWN_WORDS))
        assert page.locator("html").get_attribute("lang") == journey.language
        if journey.javascript:
            expect_accessible(page)
        expect_no_overflow(page)

    walk_to_the_answers(page, journey.scenario, journey.language)

    page.locator("main a.button--primary").first.click()
    page.wait_for_url("**/proposal/*/")
    proposals = page.locator("article.proposal")
    assert proposals.count() >= 2
    expect(page.locator(".proposal__tag")).to_have_count(1)
    price = page.locator(".proposal--chosen .proposal__price").inner_text()
    assert "€" in price
    expect_well_made()

    page.locator(".proposal--chosen a.button--primary").click()
    page.wait_for_url("**/request/*/")
    expect_well_made()
    for name, value in CONTACT.items():
        page.fill(f'[name="{name}"]', value)
    page.check('[name="consent"]')
    page.locator("main form.form button.button--primary").click()

    page.wait_for_url("**/q/*/")
    expect(page.locator(".eyebrow")).to_contain_text(CONTACT["organisation"])
    expect_well_made()
    link = page.locator(".quote-actions a.button--primary").get_attribute("href")
    document = pdf_of(page, link)
    text = "\n".join(sheet.extract_text() for sheet in document.pages)
    assert CONTACT["organisation"] in text
    assert len(document.pages) >= 5
    assert document.trailer["/Root"]["/Lang"].startswith(journey.language)
    assert {"nl": "btw", "en": "VAT"}[journey.language] in text
    # What the page asks for is what the paper asks for.
    total = page.locator(".ledger dd").filter(has_text="€").first.inner_text()
    assert digits(total) in digits(text)


# What the site says itself: formulas, commands, names of articles and measured runs are data, English in any language.
OWN_WORDS = """main => {
  const copy = main.cloneNode(true);
  for (const name of copy.querySelectorAll('th[scope=row]')) name.firstChild?.remove();
  for (const data of copy.querySelectorAll('.figure__formula, .figure__list, .command')) data.remove();
  return copy.textContent;
}"""


def english_lines(text: str) -> list[str]:
    """Lines with an English function word that is no Dutch one."""
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if re.search(r"\b(the|and|with|which|from|your)\b", line)]


def digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def test_what_is_missing_is_named_and_nothing_is_lost(
    page: Page, expect_accessible: Callable[[Page], None]
) -> None:
    walk_to_the_answers(page, "municipality", "nl")
    page.locator("main a.button--primary").first.click()
    page.locator(".proposal--chosen a.button--primary").click()
    page.fill('[name="organisation"]', CONTACT["organisation"])
    page.fill('[name="email"]', "robin")
    page.locator("main form.form button.button--primary").click()
    expect(page.locator(".error-summary")).to_be_visible()
    expect(page.locator('[name="organisation"]')).to_have_value(CONTACT["organisation"])
    expect_accessible(page)


ISSUED = """
from django.urls import reverse
from quotes.models import Quote
quote = Quote.objects.get(reference="DEMO-1")
line = max(quote.lines.filter(role="accelerator"), key=lambda line: line.unit_eur)
print(reverse("quotes:proposal", args=[quote.draft.token]), quote.get_absolute_url(), line.sku)
"""


def test_a_price_changed_in_the_admin_changes_the_next_proposal_and_no_issued_quote(
    open_page: Callable[..., Page], site: Site, sign_in: Callable[[Page, str], None]
) -> None:
    """The demonstration site has a plan and an issued quote of the municipality."""
    site.run("from django.core.management import call_command; call_command('make_demo', verbosity=0)")
    plan, quote, sku = site.run(ISSUED).split()

    def proposed_price() -> str:
        customer.goto(plan)
        return digits(customer.locator(".proposal--chosen .proposal__price").inner_text())

    def quoted() -> tuple[str, bytes]:
        customer.goto(quote)
        paper = customer.request.get(
            customer.locator(".quote-actions a.button--primary").get_attribute("href"), timeout=PATIENT_MS
        ).body()
        return customer.locator("main .ledger").inner_text(), paper

    customer = open_page(language="nl")
    proposed, issued = proposed_price(), quoted()

    carlo = open_page(language="en", width=1440)
    sign_in(carlo, "carlo")
    carlo.goto(f"/admin/catalog/price/?q={sku}")
    amount = carlo.locator("#result_list input[name$=-amount]")
    expect(amount).to_have_count(1)
    amount.fill("99999")
    carlo.click("input[name=_save]")
    expect(carlo.locator(".messagelist .success")).to_be_visible()

    assert proposed_price() != proposed
    assert quoted() == issued
