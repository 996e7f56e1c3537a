"""The admin works under the content security policy of the site: nothing is loosened for it."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect


@pytest.mark.parametrize("name", ["saskia", "carlo", "ada"])
def test_staff_sign_in(page: Page, sign_in: Callable[[Page, str], None], name: str) -> None:
    sign_in(page, name)
    expect(page.locator("#user-tools")).to_contain_text(name.title())


def test_the_admin_breaks_no_rule(page: Page, sign_in: Callable[[Page, str], None]) -> None:
    sign_in(page, "ada")
    for path in ("auth/user/", "auth/user/add/", "auth/group/add/"):
        page.goto(f"/admin/{path}")
        expect(page.locator("#content h1, #content-main").first).to_be_visible()
    # The permission picker is built by a script: it only appears when scripts run.
    expect(page.locator(".selector-chosen").first).to_be_visible()
    page.click("button.theme-toggle >> visible=true")


@pytest.mark.parametrize("width", [390, 1280])
def test_a_page_without_scripts(
    open_page: Callable[..., Page], expect_no_overflow: Callable[[Page], None], width: int
) -> None:
    page = open_page(width=width, javascript=False, language="en", theme="dark")
    page.goto("/admin/")
    expect(page.locator("#id_username")).to_be_visible()
    expect_no_overflow(page)
