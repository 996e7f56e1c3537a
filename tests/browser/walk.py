"""What browser tests do on every way through the site: answer questions, ask for a quote, read its PDF."""

import re
from collections.abc import Mapping
from io import BytesIO
from typing import Any

from playwright.sync_api import Page, expect
from pypdf import PdfReader

from tests.configurator.scenario_answers import SCENARIOS, UNKNOWN

CONTACT = {
    "organisation": "Voorbeeldbedrijf B.V.",
    "contact_name": "Robin Voorbeeld",
    "email": "robin@voorbeeld.example",
    "street": "Voorbeeldstraat 1",
    "postcode": "1234 AB",
    "city": "Utrecht",
    "reference": "INK-7",
}

PRINTING_MS = 60_000  # a machine that is busy with other tests prints slowly

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


def answer(page: Page, typed: Mapping[str, Any], language: str = "nl") -> None:
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


def press(page: Page, go: str) -> None:
    page.click(f'main button[name="go"][value="{go}"]')


def slug_of(page: Page) -> str:
    return page.url.partition("?")[0].rstrip("/").rpartition("/")[2]


def walk_to_the_answers(page: Page, scenario: str, language: str) -> None:
    """From the start page to 'check your answers'."""
    typed = SCENARIOS[scenario]
    page.goto("/")
    answer(page, typed["use"], language)
    press(page, "next")
    while (slug := slug_of(page)) != "check":
        answer(page, typed.get(slug, {}), language)
        press(page, "next")
        expect(page.locator(".error-summary")).to_have_count(0)
        assert slug_of(page) != slug


def request_quote(page: Page) -> None:
    """Fill in the request for a quote and end on the customer's page of the quote."""
    for name, value in CONTACT.items():
        page.fill(f"[name={name}]", value)
    page.check("[name=consent]")
    page.click("main form.form .button--primary")
    page.wait_for_url("**/quotes/q/*/")


def pdf_of(page: Page) -> PdfReader:
    """The PDF behind the button on the page of a quote."""
    return PdfReader(BytesIO(printed(page)))


def printed(page: Page) -> bytes:
    link = page.locator('main a.button--primary[href$="quote.pdf"]').get_attribute("href")
    response = page.request.get(str(link), timeout=PRINTING_MS)
    assert response.headers["content-type"] == "application/pdf"
    return response.body()


def words(reader: PdfReader) -> str:
    return " ".join(" ".join(sheet.extract_text() for sheet in reader.pages).split())
