"""The parts of the design system in a real browser, on the style guide."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

OpenPage = Callable[..., Page]
GUIDE = "/styleguide/"
PAPER = {"light": "rgb(251, 250, 247)", "dark": "rgb(16, 20, 24)"}


def background(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_every_part_is_accessible_and_fits(
    open_page: OpenPage,
    expect_accessible: Callable[[Page], None],
    expect_no_overflow: Callable[[Page], None],
    width: int,
    theme: str,
) -> None:
    page = open_page(width=width, theme=theme)
    page.goto(GUIDE)
    page.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true })")
    for name in ("For the engineer", "For the manager", "For the facility manager"):
        page.get_by_role("tab", name=name, exact=True).click()
        expect_accessible(page)
        expect_no_overflow(page)
    assert background(page) == PAPER[theme]


def test_the_typeface_arrives(page: Page) -> None:
    page.goto(GUIDE)
    page.evaluate("document.fonts.ready")
    assert page.evaluate("document.fonts.check('600 17px \"Source Sans 3\"')")
    assert page.evaluate(
        "[...document.fonts].some(font => font.family.includes('Source Sans 3') && font.status === 'loaded')"
    )


def test_the_scheme_is_chosen_kept_and_given_back(open_page: OpenPage) -> None:
    page = open_page(theme="light")
    page.goto(GUIDE)
    switch = page.locator("[data-theme-switch]")
    switch.locator("[value=dark]").click()
    assert background(page) == PAPER["dark"]
    page.reload()
    assert background(page) == PAPER["dark"]
    expect(switch.locator("[value=dark]")).to_have_attribute("aria-pressed", "true")
    switch.locator("[value=auto]").click()
    assert background(page) == PAPER["light"]
    page.emulate_media(color_scheme="dark")
    assert background(page) == PAPER["dark"]


def test_tabs_work_with_the_keyboard_and_the_address(page: Page) -> None:
    page.goto(f"{GUIDE}#manager")
    manager = page.locator("a[href='#manager']")
    expect(manager).to_have_attribute("aria-selected", "true")
    manager.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("a[href='#facility']")).to_be_focused()
    expect(page.locator("#facility")).to_be_visible()
    expect(page.locator("#manager")).not_to_be_visible()
    page.keyboard.press("Home")
    expect(page.locator("#engineer")).to_be_visible()


def test_the_summary_of_errors_has_focus_and_leads_to_the_field(page: Page) -> None:
    page.goto(GUIDE)
    expect(page.locator(".error-summary")).to_be_focused()
    page.locator(".error-summary a").first.click()
    expect(page.locator("#wrong_users")).to_be_focused()


@pytest.mark.parametrize("javascript", [True, False])
def test_the_estimate_is_beside_or_at_the_foot(open_page: OpenPage, javascript: bool) -> None:
    wide = open_page(width=1280, javascript=javascript)
    wide.goto(GUIDE)
    expect(wide.locator(".estimate__body")).to_be_visible()
    expect(wide.locator(".estimate__line")).not_to_be_visible()
    narrow = open_page(width=390, height=844, javascript=javascript)
    narrow.goto(GUIDE)
    expect(narrow.locator(".estimate__body")).not_to_be_visible()
    line = narrow.locator(".estimate__line")
    box = line.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] == pytest.approx(844, abs=1)
    line.click()
    expect(narrow.locator(".estimate__body")).to_be_visible()


def test_without_scripts_nothing_is_hidden_and_the_language_changes(open_page: OpenPage) -> None:
    page = open_page(javascript=False, language="nl")
    page.goto(GUIDE)
    for panel in ("engineer", "manager", "facility"):
        expect(page.locator(f"#{panel}")).to_be_visible()
    expect(page.locator("[data-theme-switch]")).not_to_be_visible()
    page.get_by_role("button", name="English").click()
    page.wait_for_url(f"**{GUIDE}")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.get_by_role("button", name="English")).to_have_attribute("aria-current", "true")


def test_the_skip_link_comes_first(page: Page) -> None:
    page.goto("/nowhere/")
    page.keyboard.press("Tab")
    skip = page.locator(".skip")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_a_card_is_chosen_anywhere_on_it(page: Page) -> None:
    page.goto(GUIDE)
    page.get_by_text("Find faults in camera images.").click()
    expect(page.locator("input[value=image_inspection]")).to_be_checked()
    page.keyboard.press("ArrowRight")
    expect(page.locator("input[value=speech]")).to_be_checked()


def test_the_printed_page_shows_all_panels_on_white(page: Page) -> None:
    page.goto(GUIDE)
    page.emulate_media(media="print")
    expect(page.locator("#manager")).to_be_visible()
    expect(page.locator(".site-footer")).not_to_be_visible()
    assert background(page) == "rgb(255, 255, 255)"


def test_what_is_unfolded_stays_so_when_the_server_sends_it_again(open_page: OpenPage) -> None:
    page = open_page(width=390)
    page.goto(GUIDE)
    page.locator(".estimate__line").click()
    page.evaluate("document.querySelector('#estimate').dataset.old = 'yes'")
    page.evaluate(
        "htmx.ajax('GET', location.pathname, {target: '#estimate', swap: 'outerHTML', select: '#estimate'})"
    )
    estimate = page.locator("#estimate:not([data-old])")
    expect(estimate).to_have_attribute("open", "")
    expect(estimate).not_to_have_attribute("aria-busy", "true")
