"""What every answer of the site carries."""

import logging

import pytest
from django.test import Client

from configurator.logs import MaskSecrets


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
    ],
)
def test_logs_mask_the_secrets_of_links(message: str, arguments: tuple[object, ...], text: str) -> None:
    record = logging.LogRecord("django.request", logging.WARNING, __file__, 1, message, arguments, None)
    assert MaskSecrets().filter(record)
    assert record.getMessage() == text
