"""A model's config.json from a file or by name is stored as if it had been pasted; what goes wrong is told in place."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from catalog.importers.hub import Refusal, tidy_name
from configurator.models import Draft
from configurator.wizard import config_fields
from tests.configurator.pages import read, send

pytestmark = pytest.mark.django_db
MODEL = "model-document-chat"
CONFIG = {
    "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "intermediate_size": 14336,
    "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "_name_or_path": "org/Own-8B",
}  # fmt: skip
TEXT = json.dumps(CONFIG, indent=2)


@pytest.fixture
def visitor(client: Client, catalog: None) -> Client:
    client.cookies.load({"django_language": "en"})
    return client


@pytest.fixture
def draft(visitor: Client) -> Draft:
    send(visitor, "/", {"use_case": "document_chat"})
    return Draft.objects.get()


@pytest.fixture
def looked_up(settings: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that were looked up on a hub that knows one model."""
    settings.MODEL_HUB_URL = "https://hub.example"
    names: list[str] = []

    def fetch(name: str, *, asker: str) -> str:
        names.append(tidy_name(name))
        if name != "org/Own-8B":
            raise Refusal("unknown")
        return TEXT

    monkeypatch.setattr(config_fields, "fetch_config", fetch)
    return names


def url(draft: Draft, slug: str = MODEL) -> str:
    return f"/plan/{draft.token}/{slug}/"


def stored(draft: Draft) -> dict[str, Any]:
    draft.refresh_from_db()
    return draft.answers.get(MODEL, {})


def file(content: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile("config.json", content)


def test_a_file_is_stored_as_if_pasted(visitor: Client, draft: Draft) -> None:
    typed = {"source": "config", "config_file": file(b"\xef\xbb\xbf" + TEXT.encode())}
    assert send(visitor, url(draft), typed).headers["Location"] == url(draft, "load-document-chat")
    assert stored(draft)["config"] == TEXT
    assert "config_file" not in stored(draft)
    revision = draft.revision
    html = visitor.get(url(draft)).content.decode()
    assert 'enctype="multipart/form-data"' in html
    assert "What we read in it: Own-8B, 8.03 billion parameters." in html
    # A browser sends the box with line ends of its own: nothing changed.
    send(visitor, url(draft), {"config": TEXT.replace("\n", "\r\n")})
    assert stored(draft)["config"] == TEXT
    assert draft.revision == revision
    check = visitor.get(url(draft, "check")).content.decode()
    assert "Own-8B, 8.03 billion parameters" in check
    assert "The file config.json" not in check


@pytest.mark.parametrize(
    ("content", "english", "dutch"),
    [
        (b"\x89PNG\xff", "This file holds no text", "Dit bestand bevat geen tekst"),
        (b"model: x", "This is no JSON", "Dit is geen JSON"),
        (b" " * 1_100_000, "too large for a config.json", "te groot voor een config.json"),
    ],
)
def test_a_file_that_is_none_is_told_at_its_field(
    visitor: Client, draft: Draft, content: bytes, english: str, dutch: str
) -> None:
    send(visitor, url(draft), {"source": "config", "config": TEXT}, go="stay")
    for language, sentence in (("en", english), ("nl", dutch)):
        visitor.cookies.load({"django_language": language})
        response = send(visitor, url(draft), {"task": "both", "config_file": file(content)})
        page = read(response)
        assert response.status_code == 422
        assert len(page.errors) == 1
        assert sentence in response.content.decode().split('id="id_config_file_error"')[1][:400]
        assert stored(draft)["task"] == "both"
        assert page.shown["config"].strip() == stored(draft)["config"] == TEXT


def test_a_change_of_language_reads_the_old_and_answers_in_the_new(visitor: Client, draft: Draft) -> None:
    send(visitor, url(draft, "load-document-chat"), {"people": "1,234"}, go="language:nl")
    draft.refresh_from_db()
    assert draft.answers["load-document-chat"]["people"] == "1234"
    visitor.cookies.load({"django_language": "en"})
    typed = {"source": "config", "config_file": file(b"{")}
    response = send(visitor, url(draft), typed, go="language:nl")
    assert "Dit is geen JSON" in response.content.decode()
    assert "Welk model?" in response.content.decode()
    assert response.cookies["django_language"].value == "nl"


def test_leaving_is_possible_with_a_wrong_file(visitor: Client, draft: Draft) -> None:
    typed = {"source": "config", "config_file": file(b"{")}
    assert send(visitor, url(draft), typed, go="back").headers["Location"] == url(draft, "use")


def test_a_file_does_not_count_under_another_answer(visitor: Client, draft: Draft) -> None:
    send(visitor, url(draft), {"source": "advise", "config_file": file(b"{")})
    assert stored(draft)["source"] == "advise"
    assert not stored(draft).get("config")


def test_a_file_does_not_overwrite_another_tab_unseen(visitor: Client, draft: Draft) -> None:
    old = read(visitor.get(url(draft))).shown
    send(visitor, url(draft), {"source": "size", "params_b": "70"})
    response = visitor.post(
        url(draft), {**old, "source": "config", "config_file": file(TEXT.encode()), "go": "next"}
    )
    assert response.status_code == 409
    assert stored(draft)["source"] == "size"
    assert read(response).shown["config"].strip() == TEXT


# ── by name ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_without_a_hub_nothing_of_it_shows(visitor: Client, draft: Draft, settings: Any) -> None:
    assert settings.MODEL_HUB_URL == ""
    assert "hub_model" not in visitor.get(url(draft)).content.decode()
    send(visitor, url(draft), {"source": "config", "hub_model": "org/Own-8B"})
    assert "hub_model" not in stored(draft)


def test_a_name_becomes_its_config(visitor: Client, draft: Draft, looked_up: list[str]) -> None:
    assert "Name on hub.example" in visitor.get(url(draft)).content.decode()
    typed = {"source": "config", "hub_model": "org/Own-8B", "config": "half a text"}
    assert send(visitor, url(draft), typed, go="stay:fetch").headers["Location"] == url(draft)
    assert stored(draft)["config"] == TEXT
    send(visitor, url(draft), {})  # the page no longer holds the name: nothing is looked up again
    assert looked_up == ["org/Own-8B"]
    response = send(visitor, url(draft), {}, go="stay:fetch")
    assert "Write the name as organisation/model" in response.content.decode()


def test_a_name_that_leads_nowhere_stays_until_a_config_is_pasted(
    visitor: Client, draft: Draft, looked_up: list[str]
) -> None:
    response = send(visitor, url(draft), {"source": "config", "hub_model": "org/Nothing"})
    page = read(response)
    assert response.status_code == 422
    assert len(page.errors) == 1
    assert "hub.example shows no model of this name" in response.content.decode()
    assert page.shown["hub_model"] == "org/Nothing"
    assert "config" not in stored(draft) or not isinstance(stored(draft)["config"], str)
    data = {**page.shown, "config": TEXT, "go": "next"}
    assert visitor.post(url(draft), data).headers["Location"] == url(draft, "load-document-chat")
    assert stored(draft)["config"] == TEXT
    assert looked_up == ["org/Nothing"]


def test_what_the_catalog_has_is_taken_from_there(
    visitor: Client, draft: Draft, looked_up: list[str]
) -> None:
    send(visitor, url(draft), {"source": "config", "hub_model": "https://hub.example/qwen/qwen3-8b/"})
    assert (stored(draft)["source"], stored(draft)["model"]) == ("catalog", "Qwen/Qwen3-8B")
    assert looked_up == []


def test_the_estimate_looks_nothing_up(visitor: Client, draft: Draft, looked_up: list[str]) -> None:
    data = {"step": MODEL, "source": "config", "hub_model": "org/Own-8B"}
    assert visitor.post(f"/quotes/estimate/{draft.token}/", data).status_code == 200
    assert looked_up == []
