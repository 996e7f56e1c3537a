"""What every answer of the site carries."""

import logging
import sys
from urllib.parse import unquote

import pytest
from django.db import OperationalError
from django.test import Client
from django.urls import Resolver404, resolve

from configurator.logs import MaskedFormatter


@pytest.mark.django_db
def test_the_health_address_answers_without_a_session(client: Client) -> None:
    response = client.get("/healthz")
    assert response.json() == {"status": "ok"}
    assert "no-store" in response.headers["Cache-Control"]
    assert not response.cookies


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/healthz", "/", "/admin/login/", "/nowhere/"])
def test_every_answer_carries_the_security_headers(client: Client, path: str) -> None:
    headers = client.get(path).headers
    policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "camera=()" in headers["Permissions-Policy"]


@pytest.mark.django_db
def test_the_language_switch_sets_a_cookie(client: Client) -> None:
    response = client.post("/i18n/setlang/", {"language": "en", "next": "/healthz"})
    assert response.headers["Location"] == "/healthz"
    assert response.cookies["django_language"].value == "en"


@pytest.mark.parametrize(
    ("message", "arguments", "text"),
    [
        ("Not Found: %s", ("/plan/q1W2e3R4t5Y6u7I8o9P0aa/load/",), "Not Found: /plan/…/load/"),
        ('"%s" 200', ("GET /quotes/abcdefghijklmnopqrstuvwxyz HTTP/1.1",), '"GET /quotes/… HTTP/1.1" 200'),
        ("%d parts loaded", (412,), "412 parts loaded"),
        (
            "refused: {'%s': (550, b'no')}",
            ("jan.de.v+x@voorbeelddam.example",),
            "refused: {'…': (550, b'no')}",
        ),
    ],
)
def test_logs_mask_secrets_and_addresses(message: str, arguments: tuple[object, ...], text: str) -> None:
    record = logging.LogRecord("django.request", logging.WARNING, __file__, 1, message, arguments, None)
    assert MaskedFormatter().format(record) == text


def test_logs_mask_what_a_database_repeats_of_a_row() -> None:
    try:
        raise ValueError("null value violates it\nDETAIL:  Failing row contains (7, Jan, Raadhuisplein 1).")
    except ValueError:
        record = logging.LogRecord("django.request", logging.ERROR, __file__, 1, "500", (), sys.exc_info())
    written = MaskedFormatter().format(record)
    assert "null value violates it" in written
    assert "Jan" not in written


@pytest.mark.parametrize(
    "path", ["/plan/%00/", "/quotes/q/%00/", "/quotes/proposal/a%20b/", "/quotes/q/é/quote.pdf"]
)
def test_what_cannot_be_a_secret_never_reaches_the_database(path: str) -> None:
    with pytest.raises(Resolver404):
        resolve(unquote(path))


def test_a_form_that_is_too_large_gets_a_page_that_says_so(client: Client) -> None:
    client.raise_request_exception = False
    response = client.post("/i18n/setlang/", {"next": "x" * 3_000_000}, headers={"host": "testserver"})
    assert response.status_code == 413
    assert "Dit is te groot" in response.content.decode()
    assert "This is too large" in response.content.decode()


def test_a_wrong_host_gets_a_page_in_both_languages(client: Client) -> None:
    response = client.get("/admin/login/", headers={"host": "evil.example"})
    assert response.status_code == 400
    assert "Controleer het adres" in response.content.decode()
    assert "evil" not in response.content.decode()


@pytest.mark.parametrize(
    ("error", "status"), [(OperationalError("password for jan"), 503), (KeyError("jan"), 500)]
)
def test_an_error_is_a_page_that_gives_nothing_away(
    client: Client, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int
) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise error

    monkeypatch.setattr("configurator.health.connection.cursor", fail)
    monkeypatch.setattr("configurator.health.DatabaseError", ZeroDivisionError)
    client.raise_request_exception = False
    response = client.get("/healthz")
    assert response.status_code == status
    assert "try again" in response.content.decode()
    assert "jan" not in response.content.decode()
