"""The questionnaire as visitors meet it: with and without scripts, wide and narrow, in both languages."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.walk import answer, press

STEPS = ["use", "model-image-inspection", "load-image-inspection", "data", "site", "plan", "check", ""]


def start(page: Page, use_case: str = "document_chat") -> str:
    """A new plan; its address without the step."""
    page.goto("/")
    answer(page, {"use_case": use_case})
    press(page, "next")
    page.wait_for_url("**/plan/*/model-*/")
    return page.url.rstrip("/").rpartition("/")[0]


@pytest.mark.parametrize(
    ("language", "theme", "width"),
    [("nl", "light", 1440), ("nl", "dark", 390), ("en", "light", 390), ("en", "dark", 1440)],
)
def test_every_page_is_accessible_and_fits(
    open_page: Callable[..., Page],
    expect_accessible: Callable[[Page], None],
    expect_no_overflow: Callable[[Page], None],
    language: str,
    theme: str,
    width: int,
) -> None:
    page = open_page(language=language, theme=theme, width=width)
    page.goto("/")
    expect_accessible(page)
    expect_no_overflow(page)
    plan = start(page, "image_inspection")
    press(page, "next")
    page.click('button[value="expert:on"]')
    for slug in STEPS:
        page.goto(f"{plan}/{slug}".rstrip("/") + "/")
        for details in page.locator("main details").all():
            details.evaluate("details => details.open = true")
        expect(page.locator("h1")).to_have_count(1)
        expect_accessible(page)
        expect_no_overflow(page)


@pytest.mark.parametrize("use_case", ["document_chat", "speech", "embedding_search", "custom"])
def test_other_questions_are_accessible_and_fit(
    open_page: Callable[..., Page],
    expect_accessible: Callable[[Page], None],
    expect_no_overflow: Callable[[Page], None],
    use_case: str,
) -> None:
    page = open_page(width=320)  # what WCAG asks: 1280 pixels at 400 %
    start(page, use_case)
    for _step in ("model", "load"):
        expect_accessible(page)
        expect_no_overflow(page)
        press(page, "next")


def test_mistakes_are_named_at_the_top_and_at_the_question(
    page: Page, expect_accessible: Callable[[Page], None]
) -> None:
    plan = start(page)
    page.goto(f"{plan}/load-document-chat/")
    answer(page, {"people": "heel veel", "at_once": "0"})
    press(page, "next")
    summary = page.locator(".error-summary")
    expect(summary).to_be_focused()
    expect(page).to_have_title("Fout: Hoeveel werk is het? · Rekenkracht")
    expect_accessible(page)
    summary.get_by_role("link").first.click()
    expect(page.locator('[name="people"]')).to_be_focused()
    expect(page.locator('[name="people"]')).to_have_value("heel veel")
    page.reload()
    expect(page.locator('[name="people"]')).to_have_value("heel veel")


def test_questions_that_do_not_count_are_hidden(page: Page) -> None:
    start(page)
    model, size = page.locator('[name="model"]'), page.locator('[name="params_b"]')
    expect(model).to_be_hidden()
    page.check('[name="source"][value="catalog"]')
    expect(model).to_be_visible()
    expect(size).to_be_hidden()
    page.check('[name="source"][value="size"]')
    expect(size).to_be_visible()
    expect(page.locator('[name="method"]').first).to_be_hidden()
    page.check('[name="task"][value="both"]')
    expect(page.locator('[name="method"]').first).to_be_visible()


def test_a_model_is_picked_from_the_list(page: Page) -> None:
    start(page)
    page.check('[name="source"][value="catalog"]')
    page.click("#model-list > summary")
    page.click('button[name="pick"][value="openai/gpt-oss-20b"]')
    expect(page.locator('[name="model"]')).to_have_value("gpt-oss-20b")


def test_a_config_shows_and_counts_as_soon_as_its_file_is_chosen(page: Page) -> None:
    start(page)
    page.check('[name="source"][value="config"]')
    config = {
        "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "intermediate_size": 14336,
        "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256,
    }  # fmt: skip
    text = json.dumps(config, indent=2)
    file, box = page.locator('[name="config_file"]'), page.locator('[name="config"]')
    expect(page.locator("#estimate")).to_contain_text("config.json")
    file.set_input_files({"name": "config.json", "mimeType": "application/json", "buffer": text.encode()})
    expect(box).to_have_value(text)
    expect(page.locator("#estimate")).to_contain_text("server")
    box.press("End")
    box.press("Space")  # who changes the text means the text
    expect(file).to_have_value("")
    press(page, "next")
    page.wait_for_url("**/load-document-chat/")


@pytest.mark.parametrize("javascript", [True, False])
def test_nothing_typed_is_lost_on_any_way_out(open_page: Callable[..., Page], javascript: bool) -> None:
    page = open_page(javascript=javascript)
    plan = start(page)
    page.goto(f"{plan}/load-document-chat/")
    answer(page, {"people": "1.234"})
    page.click('header button[value="language:en"]')
    expect(page.locator('[name="people"]')).to_have_value("1,234")
    answer(page, {"people": "2,345"})
    page.click('nav button[value="step:site"]')
    expect(page.locator("h1")).to_have_text("Site and power")
    page.click('nav button[value="step:load-document-chat"]')
    expect(page.locator('[name="people"]')).to_have_value("2,345")
    answer(page, {"people": "3,456"})
    press(page, "back")
    page.goto(f"{plan}/load-document-chat/")
    expect(page.locator('[name="people"]')).to_have_value("3,456")


def test_the_back_button_shows_what_was_saved_and_may_change_it(page: Page) -> None:
    plan = start(page)
    page.goto(f"{plan}/load-document-chat/")
    answer(page, {"people": "111"})
    press(page, "next")
    expect(page.locator("h1")).to_have_text("Gegevens en opslag")
    page.go_back()
    expect(page.locator('[name="people"]')).to_have_value("111")
    answer(page, {"people": "222"})
    press(page, "next")
    expect(page.locator("h1")).to_have_text("Gegevens en opslag")
    page.go_back()
    expect(page.locator('[name="people"]')).to_have_value("222")


def test_enter_in_a_field_goes_on(page: Page) -> None:
    plan = start(page)
    page.goto(f"{plan}/load-document-chat/")
    answer(page, {"people": "321"})
    page.press('[name="people"]', "Enter")
    expect(page.locator("h1")).to_have_text("Gegevens en opslag")


def test_a_second_window_never_overwrites_unseen(
    page: Page, expect_accessible: Callable[[Page], None], expect_no_overflow: Callable[[Page], None]
) -> None:
    plan = start(page)
    page.goto(f"{plan}/load-document-chat/")
    other = page.context.new_page()
    other.goto(page.url)
    answer(page, {"people": "111"})
    press(page, "next")
    answer(other, {"people": "222"})
    press(other, "next")
    expect(other.locator(".error-summary")).to_contain_text("111")
    expect(other.locator('[name="people"]')).to_have_value("222")
    expect_accessible(other)
    expect_no_overflow(other)
    press(other, "next")
    expect(other.locator("h1")).to_have_text("Gegevens en opslag")
    page.goto(f"{plan}/load-document-chat/")
    expect(page.locator('[name="people"]')).to_have_value("222")


def test_typing_unticks_i_do_not_know(page: Page) -> None:
    plan = start(page)
    page.goto(f"{plan}/site/")
    box = page.locator('[name="power_kw_unknown"]')
    expect(box).to_be_checked()
    answer(page, {"power_kw": "12"})
    expect(box).not_to_be_checked()
    press(page, "next")
    page.goto(f"{plan}/site/")
    expect(page.locator('[name="power_kw"]')).to_have_value("12")


def test_without_scripts_what_is_typed_wins_over_a_box_that_was_ticked(
    open_page: Callable[..., Page],
) -> None:
    page = open_page(javascript=False)
    plan = start(page)
    page.goto(f"{plan}/site/")
    expect(page.locator("#estimate")).to_be_hidden()  # it could only say that it calculates
    answer(page, {"power_kw": "12"})
    press(page, "next")
    page.goto(f"{plan}/site/")
    expect(page.locator('[name="power_kw"]')).to_have_value("12")
    expect(page.locator('[name="power_kw_unknown"]')).not_to_be_checked()


def test_starting_over_is_undone_from_the_start_page(page: Page) -> None:
    plan = start(page)
    page.goto(f"{plan}/plan/")
    answer(page, {"title": "Gemeentehuis"})
    press(page, "next")
    start(page, "speech")
    page.goto("/")
    page.get_by_role("link", name="Gemeentehuis").click()
    assert page.url.startswith(plan)
