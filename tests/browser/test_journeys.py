"""The whole way: five real workloads from the first question to the PDF of a quote."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from playwright.sync_api import Page, expect

from tests.browser.conftest import Site
from tests.browser.walk import CONTACT, pdf_of, printed, request_quote, walk_to_the_answers, words

SCENARIOS = Path(__file__).resolve().parent.parent / "scenarios"


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
    expect_well_made()
    downloaded = page.request.get(page.url.replace("/check/", "/workload.yaml"))
    stored = (SCENARIOS / f"{journey.scenario}.yaml").read_text()
    assert yaml.safe_load(downloaded.text()) == yaml.safe_load(stored)

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
    request_quote(page)
    expect(page.locator(".eyebrow")).to_contain_text(CONTACT["organisation"])
    expect(page.locator(".finding").first).to_contain_text(
        {"nl": "concept", "en": "preview"}[journey.language]
    )
    expect_well_made()
    document = pdf_of(page)
    text = words(document)
    assert CONTACT["organisation"] in text
    assert CONTACT["reference"] in text
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
        return customer.locator("main .ledger").inner_text(), printed(customer)

    customer = open_page(language="nl")
    proposed, issued = proposed_price(), quoted()

    carlo = open_page(language="en", width=1440)
    sign_in(carlo, "carlo")
    carlo.goto(f"/admin/catalog/price/?q={sku}")
    amount = carlo.locator("#result_list input[name^=form-][name$=-amount]")
    expect(amount).to_have_count(1)
    amount.fill("99999")
    carlo.click("input[name=_save]")
    expect(carlo.locator(".messagelist .success")).to_be_visible()

    assert proposed_price() != proposed
    assert quoted() == issued
