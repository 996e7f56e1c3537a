"""Nothing is lost and nothing is mixed: posts save first, then redirect; tabs do not overwrite each other."""

import json
from datetime import timedelta
from typing import Any

import pytest
import time_machine
import yaml
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from configurator.models import RETENTION, Draft
from configurator.workload import Workload
from tests.configurator.pages import read, send

pytestmark = pytest.mark.django_db
LOAD = "load-document-chat"


@pytest.fixture
def visitor(client: Client, catalog: None) -> Client:
    client.cookies.load({"django_language": "en"})
    return client


@pytest.fixture
def draft(visitor: Client) -> Draft:
    send(visitor, "/", {"use_case": "document_chat"})
    return Draft.objects.get()


def url(draft: Draft, slug: str) -> str:
    return f"/plan/{draft.token}/{slug}/"


def stored(draft: Draft, slug: str = LOAD) -> dict[str, Any]:
    draft.refresh_from_db()
    return draft.answers.get(slug, {})


# ── start ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_card_makes_a_plan_and_leads_to_its_first_question(visitor: Client) -> None:
    response = send(visitor, "/", {"use_case": "speech"})
    draft = Draft.objects.get()
    assert response.headers["Location"] == url(draft, "model-speech")
    assert draft.language == "en"
    assert len(draft.token) >= 22  # 128 bits and more


def test_a_start_without_a_choice_says_what_is_missing(visitor: Client) -> None:
    response = send(visitor, "/", {})
    page = read(response)
    assert response.status_code == 200
    assert page.title.startswith("Error:")
    assert "error-summary" in response.content.decode()
    assert not Draft.objects.exists()


def test_the_start_keeps_the_choice_over_a_change_of_language(visitor: Client) -> None:
    response = send(visitor, "/", {"use_case": "speech", "also": ["edge"]}, go="language:nl")
    assert response.cookies["django_language"].value == "nl"
    assert read(visitor.get(response.headers["Location"])).shown["use_case"] == "speech"
    assert not Draft.objects.exists()


def test_reading_makes_nothing(visitor: Client) -> None:
    visitor.get("/")
    assert not Draft.objects.exists()


def test_starting_over_keeps_the_earlier_plan_within_reach(visitor: Client, draft: Draft) -> None:
    send(visitor, url(draft, LOAD), {"people": "321"})
    send(visitor, "/", {"use_case": "speech"})
    assert Draft.objects.count() == 2
    assert f"/plan/{draft.token}/" in visitor.get("/").content.decode()
    assert stored(draft)["people"] == "321"


def test_another_browser_sees_no_plans(visitor: Client, draft: Draft) -> None:
    assert draft.token not in Client().get("/").content.decode()


# ── saving before jumping ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("go", "target"),
    [
        ("next", "data"),
        ("back", "model-document-chat"),
        ("step:site", "site"),
        ("step:check", "check"),
        ("stay", LOAD),
        ("language:nl", LOAD),
        ("expert:on", LOAD),
        ("estimate", "check"),
        ("nonsense", "data"),
        ("step:nowhere", "data"),
        ("language:xx", "data"),
    ],
)
def test_every_button_saves_first(visitor: Client, draft: Draft, go: str, target: str) -> None:
    response = send(visitor, url(draft, LOAD), {"people": "321"}, go=go)
    assert response.status_code == 302
    assert response.headers["Location"] == url(draft, target)
    assert stored(draft)["people"] == "321"


@pytest.mark.parametrize("go", ["back", "step:site", "language:nl", "plan", "restart"])
def test_also_what_is_wrong_is_kept_over_a_jump(visitor: Client, draft: Draft, go: str) -> None:
    send(visitor, url(draft, LOAD), {"people": "a few"}, go=go)
    page = read(visitor.get(url(draft, LOAD)))
    assert page.shown["people"] == "a few"
    assert page.errors


def test_a_wrong_answer_comes_back_with_its_error_and_a_reload_is_harmless(
    visitor: Client, draft: Draft
) -> None:
    response = send(visitor, url(draft, LOAD), {"people": "0"})
    assert response.headers["Location"] == url(draft, LOAD) + "?show=errors"
    for _reload in range(2):
        response = visitor.get(url(draft, LOAD) + "?show=errors")
        page = read(response)
        assert page.title.startswith("Error:")
        assert page.shown["people"] == "0"
        assert 'href="#id_people"' in response.content.decode()
        assert 'aria-invalid="true"' in response.content.decode()


def test_what_contradicts_another_step_is_shown_at_its_own_question(visitor: Client, draft: Draft) -> None:
    send(visitor, url(draft, LOAD), {"longest": ("100,000", "tokens")})
    typed = {"source": "catalog", "model": "Llama-3-8B"}  # reads 8,192 tokens
    send(visitor, url(draft, "model-document-chat"), typed)
    check = visitor.get(url(draft, "check")).content.decode()
    assert f"{url(draft, LOAD)}?return=check#q-longest" in check
    assert "at most 8,192 tokens" in check
    assert "Show my proposal" not in check


def test_a_change_from_the_check_page_leads_back_to_it(visitor: Client, draft: Draft) -> None:
    response = send(visitor, url(draft, LOAD) + "?return=check", {"people": "50"})
    assert response.headers["Location"] == url(draft, "check")
    response = send(visitor, url(draft, LOAD) + "?return=check", {"people": "x"})
    assert response.headers["Location"] == url(draft, LOAD) + "?show=errors&return=check"


def test_i_do_not_know_is_kept_and_the_newest_change_wins(visitor: Client, draft: Draft) -> None:
    send(visitor, url(draft, LOAD), {"people": "77", "people_unknown": "on"})
    assert stored(draft)["people"] == {"unknown": True}
    page = read(visitor.get(url(draft, LOAD)))
    assert page.shown["people_unknown"] == "on"
    # The box stays ticked, but a number is typed beside it.
    visitor.post(url(draft, LOAD), {**page.shown, "people": "88"})
    assert stored(draft)["people"] == "88"


def test_expert_questions_appear_on_request_and_stay_when_answered(visitor: Client, draft: Draft) -> None:
    assert "ttft_s" not in read(visitor.get(url(draft, LOAD))).shown
    send(visitor, url(draft, LOAD), {}, go="expert:on")
    send(visitor, url(draft, LOAD), {"ttft_s": "0.5"}, go="expert:off")
    shown = read(visitor.get(url(draft, LOAD))).shown
    assert shown["ttft_s"] == "0.5"
    assert stored(draft)["ttft_s"] == "0.5"


def test_a_model_is_chosen_from_the_list_by_its_button(visitor: Client, draft: Draft) -> None:
    page = url(draft, "model-document-chat")
    visitor.post(page, {**read(visitor.get(page)).shown, "pick": "openai/gpt-oss-20b", "go": "stay"})
    shown = read(visitor.get(page)).shown
    assert (shown["source"], shown["model"]) == ("catalog", "gpt-oss-20b")


def test_changing_the_use_case_keeps_the_answers_of_the_other(visitor: Client, draft: Draft) -> None:
    send(visitor, url(draft, LOAD), {"people": "321"})
    response = send(visitor, url(draft, "use"), {"use_case": "speech"})
    assert response.headers["Location"] == url(draft, "model-speech")
    assert visitor.get(url(draft, LOAD)).headers["Location"] == url(draft, "use")
    send(visitor, url(draft, "use"), {"use_case": "document_chat"})
    assert read(visitor.get(url(draft, LOAD))).shown["people"] == "321"


# ── two tabs ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_two_tabs_on_different_steps_do_not_clash(visitor: Client, draft: Draft) -> None:
    load, data = read(visitor.get(url(draft, LOAD))).shown, read(visitor.get(url(draft, "data"))).shown
    assert visitor.post(url(draft, LOAD), {**load, "people": "321"}).status_code == 302
    assert visitor.post(url(draft, "data"), {**data, "copies": "3"}).status_code == 302
    assert (stored(draft)["people"], stored(draft, "data")["copies"]) == ("321", "3")


def test_two_tabs_on_one_step_show_what_changed(visitor: Client, draft: Draft) -> None:
    page = read(visitor.get(url(draft, LOAD))).shown
    visitor.post(url(draft, LOAD), {**page, "people": "321"})
    response = visitor.post(url(draft, LOAD), {**page, "people": "654"})
    assert response.status_code == 409
    assert stored(draft)["people"] == "321"
    text = response.content.decode()
    assert "321" in text
    kept = read(response).shown
    assert kept["people"] == "654"
    # Whoever goes on knows what is overwritten.
    assert visitor.post(url(draft, LOAD), kept).status_code == 302
    assert stored(draft)["people"] == "654"


def test_a_stale_tab_with_the_same_answers_is_no_clash(visitor: Client, draft: Draft) -> None:
    page = read(visitor.get(url(draft, LOAD))).shown
    visitor.post(url(draft, LOAD), {**page, "people": "321"})
    assert visitor.post(url(draft, LOAD), {**page, "people": "321"}).status_code == 302


# ── who may see what ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("path", ["", "check/", "load-document-chat/", "workload.json"])
def test_pages_of_a_plan_are_private(visitor: Client, draft: Draft, path: str) -> None:
    headers = visitor.get(f"/plan/{draft.token}/{path}").headers
    assert "no-store" in headers["Cache-Control"]
    assert "private" in headers["Cache-Control"]
    assert headers["X-Robots-Tag"] == "noindex, nofollow"
    assert headers["Referrer-Policy"] == "same-origin"


@pytest.mark.parametrize(
    "path", ["", "check/", "load-document-chat/", "workload.json", "nowhere/", "workload.xml"]
)
def test_a_wrong_or_expired_link_finds_nothing(visitor: Client, draft: Draft, path: str) -> None:
    assert visitor.get(f"/plan/{draft.token[::-1]}/{path}").status_code == 404
    if path in {"nowhere/", "workload.xml"}:
        assert visitor.get(f"/plan/{draft.token}/{path}").status_code == 404
    with time_machine.travel(timezone.now() + RETENTION + timedelta(days=1)):
        assert visitor.get(f"/plan/{draft.token}/{path}").status_code == 404
        assert visitor.post(f"/plan/{draft.token}/data/", {"copies": "3"}).status_code == 404


def test_a_change_prolongs_the_life_of_a_plan(visitor: Client, draft: Draft) -> None:
    with time_machine.travel(timezone.now() + RETENTION - timedelta(days=1)):
        send(visitor, url(draft, LOAD), {"people": "5"})
    draft.refresh_from_db()
    assert draft.expires_at > timezone.now() + RETENTION


def test_a_link_opens_in_the_language_of_the_plan_until_the_visitor_chooses(draft: Draft) -> None:
    friend = Client(headers={"accept-language": "nl"})
    assert '<html lang="en">' in friend.get(url(draft, LOAD)).content.decode()
    friend.cookies.load({"django_language": "nl"})
    assert '<html lang="nl">' in friend.get(url(draft, LOAD)).content.decode()


def test_numbers_survive_a_change_of_language(visitor: Client, draft: Draft) -> None:
    send(visitor, url(draft, "site"), {"electricity": "0.25", "power_kw": "1,234.5"}, go="language:nl")
    shown = read(visitor.get(url(draft, "site"))).shown
    assert (shown["electricity"], shown["power_kw"]) == ("0,25", "1.234,5")
    draft.refresh_from_db()
    assert draft.language == "nl"


# ── the plan as a whole ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_link_of_a_plan_is_shown(visitor: Client, draft: Draft) -> None:
    page = visitor.get(f"/plan/{draft.token}/").content.decode()
    assert f"http://testserver/plan/{draft.token}/" in page
    assert "mailto:?subject=" in page


def test_the_page_of_a_plan_leads_on_from_where_it_is(visitor: Client, draft: Draft) -> None:
    proposal = reverse("quotes:proposal", args=[draft.token])
    assert proposal not in visitor.get(f"/plan/{draft.token}/").content.decode()
    for slug in ("model-document-chat", LOAD, "data", "site", "plan"):
        send(visitor, url(draft, slug), {})
    assert proposal in visitor.get(f"/plan/{draft.token}/").content.decode()


@pytest.mark.parametrize(("form", "parse"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_the_workload_can_be_downloaded(visitor: Client, draft: Draft, form: str, parse: Any) -> None:
    response = visitor.get(f"/plan/{draft.token}/workload.{form}")
    assert response.headers["Content-Disposition"] == f'attachment; filename="workload.{form}"'
    workload = Workload.model_validate(parse(response.content))
    assert workload.services[0].name == "document_chat"


def test_a_download_without_a_workload_leads_to_what_is_missing(visitor: Client, draft: Draft) -> None:
    send(visitor, url(draft, LOAD), {"people": "0"}, go="back")
    assert visitor.get(f"/plan/{draft.token}/workload.json").headers["Location"] == url(draft, "check")


def test_a_variant_is_a_plan_of_its_own(visitor: Client, draft: Draft) -> None:
    send(visitor, url(draft, "plan"), {"title": "Town hall"})
    assert visitor.get(f"/plan/{draft.token}/copy/").status_code in (404, 405)
    response = visitor.post(f"/plan/{draft.token}/copy/")
    variant = Draft.objects.exclude(pk=draft.pk).get()
    assert response.headers["Location"] == f"/plan/{variant.token}/"
    assert variant.title == "Town hall (variant)"
    send(visitor, url(variant, LOAD), {"people": "5"})
    assert "people" not in stored(draft)


def test_every_step_is_reached_and_named(visitor: Client, draft: Draft) -> None:
    slugs = ["use", "model-document-chat", LOAD, "data", "site", "plan", "check"]
    titles = [read(visitor.get(url(draft, slug))).title for slug in slugs]
    assert len(set(titles)) == len(slugs)
    assert not any(title.startswith("Error") for title in titles)
