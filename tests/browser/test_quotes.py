"""From the first question to the PDF in real browsers, and what sales does in between."""

import json
from collections.abc import Callable, Mapping

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Site
from tests.browser.walk import CONTACT, PRINTING_MS, answer, pdf_of, press, request_quote, words

PREPARE = """
import json
from datetime import date
from django.urls import reverse
from configurator.models import Draft
from quotes.management.commands.make_demo import read_demo
from quotes.models import Seller, TermsDocument
demo = read_demo()
if not Seller.objects.exists():
    Seller.objects.create(**demo["seller"])
    for terms in demo["terms"]:
        TermsDocument.objects.create(**terms, valid_from=date(2026, 1, 1))
addresses = {}
for plan in demo["plans"]:
    draft = Draft.objects.create(language="nl", title=plan["scenario"], answers=plan["answers"], revision=9)
    addresses[plan["scenario"]] = reverse("quotes:proposal", args=[draft.token])
print(json.dumps(addresses))
"""


@pytest.fixture(scope="module")
def proposals(site: Site) -> Mapping[str, str]:
    """Addresses of the proposals for the scenarios, from plans that were filled in already."""
    return json.loads(site.run(PREPARE))


def test_a_quote_is_asked_for_issued_and_accepted(
    open_page: Callable[..., Page],
    sign_in: Callable[[Page, str], None],
    expect_accessible: Callable[[Page], None],
    proposals: Mapping[str, str],
) -> None:
    customer = open_page(language="nl")
    customer.goto(proposals["law-firm"])
    customer.click(".proposal--chosen .button--primary")
    request_quote(customer)
    expect(customer.locator('form[action$="/accept/"]')).to_have_count(0)

    sales = open_page(language="nl", width=1440)
    sign_in(sales, "saskia")
    sales.goto("/admin/quotes/quote/")
    sales.locator("#result_list tbody th a").first.click()
    quantity = sales.locator("[name=lines-0-quantity]")
    quantity.fill(str(int(quantity.input_value()) + 1))
    sales.fill("[name=discount_pct]", "5")
    sales.click("[name=_continue]")
    expect(sales.locator(".messagelist")).to_contain_text("Totaal exclusief btw")
    sales.locator('.object-tools a[href*="/step/issue/"]').click()
    sales.click("#content-main input[type=submit]", timeout=PRINTING_MS)
    expect(sales.locator(".messagelist")).to_contain_text("is uitgebracht")

    customer.reload()
    number = customer.locator("h1").inner_text().rpartition(" ")[2]
    expect(customer.locator(".terms")).to_be_visible()
    expect_accessible(customer)
    customer.fill("[name=accept-name]", "Laura Voorbeeld")
    customer.fill("[name=accept-function]", "Partner")
    customer.locator('form[action$="/accept/"] button').click()
    expect(customer.locator(".error-summary")).to_be_focused()
    customer.check("[name=accept-terms]")
    customer.locator('form[action$="/accept/"] button').click(timeout=PRINTING_MS)
    expect(customer.locator(".finding--good")).to_contain_text("Laura Voorbeeld (Partner)")
    text = words(pdf_of(customer))
    assert number in text
    assert "Laura Voorbeeld" in text

    sales.reload()
    expect(sales.locator("[name=lines-0-quantity]")).to_have_count(0)


def test_what_is_missing_is_named_and_nothing_is_lost(
    page: Page, expect_accessible: Callable[[Page], None], proposals: Mapping[str, str]
) -> None:
    page.goto(proposals["municipality"])
    page.click(".proposal--chosen .button--primary")
    page.fill('[name="organisation"]', CONTACT["organisation"])
    page.fill('[name="email"]', "robin")
    page.click("main form.form .button--primary")
    expect(page.locator(".error-summary")).to_be_visible()
    expect(page.locator('[name="organisation"]')).to_have_value(CONTACT["organisation"])
    expect_accessible(page)


@pytest.mark.parametrize(
    ("language", "theme", "width"),
    [("nl", "light", 1440), ("nl", "dark", 390), ("en", "light", 390), ("en", "dark", 1440)],
)
def test_every_page_is_accessible_and_fits(
    open_page: Callable[..., Page],
    expect_accessible: Callable[[Page], None],
    expect_no_overflow: Callable[[Page], None],
    proposals: Mapping[str, str],
    language: str,
    theme: str,
    width: int,
) -> None:
    page = open_page(language=language, theme=theme, width=width)
    page.goto(proposals["university"])
    for reader in ("manager", "engineer", "facility"):
        page.click(f'.tabs__tab[href="#{reader}"]')
        expect(page.locator(f"#{reader}")).to_be_visible()
        for details in page.locator("main details").all():
            details.evaluate("details => details.open = true")
        expect_accessible(page)
        expect_no_overflow(page)
    page.locator(".proposal--chosen .button--primary").click()
    expect_accessible(page)
    page.click("main form .button--primary")
    expect(page.locator(".error-summary")).to_be_focused()
    expect_accessible(page)
    expect_no_overflow(page)
    request_quote(page)
    expect_accessible(page)
    expect_no_overflow(page)


def test_the_estimate_lives_beside_the_questions(page: Page) -> None:
    page.goto("/")
    answer(page, {"use_case": "document_chat"})
    press(page, "next")
    press(page, "next")
    estimate = page.locator("#estimate .estimate__body")
    expect(estimate).to_contain_text("€")
    expect(page.locator("#estimate-status")).to_contain_text("€")
    before = estimate.inner_text()
    page.fill("[name=people]", "90000")
    page.fill("[name=at_once]", "20000")
    expect(estimate).not_to_have_text(before, use_inner_text=True)
    expect(estimate).to_contain_text("servers")
    page.fill("[name=at_once]", "heel veel")
    expect(page.locator("#estimate-status")).not_to_contain_text("€")


def test_without_scripts_everything_is_on_one_page(
    open_page: Callable[..., Page], proposals: Mapping[str, str]
) -> None:
    page = open_page(language="en", javascript=False)
    page.goto(proposals["municipality"])
    for reader in ("manager", "engineer", "facility"):
        expect(page.locator(f"#{reader}")).to_be_visible()
    figure = page.locator("#engineer details.figure").first
    expect(figure.locator(".figure__body")).to_be_hidden()
    figure.locator("summary").click()
    expect(figure.locator(".figure__body")).to_be_visible()
    page.locator('.proposals a[href*="?tier="]').first.click()
    expect(page.locator("#details")).to_be_in_viewport()


def test_why_not_names_a_reason_for_each_accelerator(page: Page, proposals: Mapping[str, str]) -> None:
    page.goto(proposals["municipality"])
    folds = page.locator("[aria-labelledby=why-not-title] details")
    assert folds.count() >= 3
    counted = sum(int(fold.locator("summary .quiet").inner_text().split()[0]) for fold in folds.all())
    rows = page.locator("[aria-labelledby=why-not-title] tbody th").all_text_contents()
    assert counted == sum(len(row.split(", ")) for row in rows)  # those with one reason stand in one row
    folds.nth(1).locator("summary").click()
    expect(folds.nth(1).locator("table")).to_be_visible()


def test_own_figures_keep_the_place_and_tell_what_it_now_comes_to(
    page: Page, proposals: Mapping[str, str]
) -> None:
    page.goto(proposals["municipality"])
    page.locator("#costs > summary").click()
    page.fill("[name=cost-electricity]", "0,30")
    page.keyboard.press("Tab")
    reset = page.locator("#ours-electricity")
    expect(reset).to_be_visible(timeout=PRINTING_MS)
    expect(page.locator("#said")).to_have_text(page.locator(".lead").inner_text())
    expect(page.locator("[name=cost-pue]")).to_be_focused()
    reset.click()
    expect(page.locator("[name=cost-electricity]")).to_be_focused(timeout=PRINTING_MS)
