"""Start commands on the proposal page, as files, and with an issued quote."""

import zipfile
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from configurator.models import Draft
from quotes import services
from quotes.management.commands.make_demo import read_demo
from quotes.models import Quote

PLANS = {plan["scenario"]: plan["answers"] for plan in read_demo()["plans"]}


def page(name: str, *args: Any) -> str:
    return reverse(f"quotes:{name}", args=args)


@pytest.fixture
def plan(catalog: None) -> Draft:
    return Draft.objects.create(language="en", title="law-firm", answers=PLANS["law-firm"], revision=9)


def names_in(body: bytes) -> set[str]:
    with zipfile.ZipFile(BytesIO(body)) as opened:
        return set(opened.namelist())


def test_the_engineer_sees_the_command_and_every_file(client: Client, plan: Draft) -> None:
    client.cookies.load({"django_language": "en"})
    shown = client.get(page("proposal", plan.token)).content.decode()
    assert "Ready to run" in shown
    assert escape("vllm serve meta-llama/Meta-Llama-3.1-70B") in shown
    assert 'tabindex="0" role="region" aria-label="Start command of' in shown
    for name in ("start.sh", "train.yaml", "accelerate.yaml", "slurm.sbatch", "kubernetes.yaml"):
        folder = "fine-tune-training"
        address = page("launch_file", plan.token, "lean", folder, name)
        answer = client.get(address)
        assert answer.status_code == 200
        assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
        assert answer["Content-Type"].startswith("text/plain")
        assert "no-store" in answer["Cache-Control"]


def test_the_archive_holds_the_chosen_proposal(client: Client, plan: Draft) -> None:
    answer = client.get(page("launch", plan.token, "lean"))
    assert answer.status_code == 200
    assert {"README.md", "fine-tune/start.sh", "fine-tune-training/train.yaml"} <= names_in(answer.content)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("launch", ("nonsense",)),
        ("launch_file", ("lean", "fine-tune", "secrets.txt")),
        ("launch_file", ("lean", "nobody", "start.sh")),
        ("launch_file", ("nonsense", "fine-tune", "start.sh")),
    ],
)
def test_what_is_not_there_is_not_found(
    client: Client, plan: Draft, name: str, more: tuple[str, ...]
) -> None:
    assert client.get(page(name, plan.token, *more)).status_code == 404


def test_only_who_has_the_link_gets_the_files(client: Client, plan: Draft) -> None:
    assert client.get(page("launch", "x" * 43, "lean")).status_code == 404
    assert client.get(page("quote_launch", "x" * 43)).status_code == 404
    assert client.post(page("launch", plan.token, "lean")).status_code == 405


def test_an_issued_quote_starts_what_was_quoted(client: Client, make_quote: Callable[..., Quote]) -> None:
    quote = make_quote("issued", language="nl")
    address = page("quote_launch", quote.token)
    assert address in client.get(page("quote", quote.token)).content.decode()
    answer = client.get(address)
    assert answer.status_code == 200
    with zipfile.ZipFile(BytesIO(answer.content)) as opened:
        assert "Klaar om te starten" in opened.read("README.md").decode()
        frozen = quote.issued_copy["proposal"]["sizing"]["systems"][0]["candidate"]["loads"][0]
        started = opened.read("document-chat/start.sh").decode()
        assert f"--max-model-len {frozen['settings']['context_tokens']}" in started


def test_a_preview_and_an_old_quote_have_no_commands(
    client: Client, make_quote: Callable[..., Quote], monkeypatch: pytest.MonkeyPatch
) -> None:
    preview = make_quote()
    assert (
        page("quote_launch", preview.token) not in client.get(page("quote", preview.token)).content.decode()
    )
    assert client.get(page("quote_launch", preview.token)).status_code == 404
    old = make_quote("issued")
    copy = old.issued_copy
    for system in copy["proposal"]["sizing"]["systems"]:
        for load in system["candidate"]["loads"]:
            for field in ("settings", "model", "stack"):
                load.pop(field)
    document = services.document_of(old)
    frozen = type(document).model_validate(copy)
    monkeypatch.setattr(services, "document_of", lambda _quote: frozen)
    assert page("quote_launch", old.token) not in client.get(page("quote", old.token)).content.decode()
    assert client.get(page("quote_launch", old.token)).status_code == 404
