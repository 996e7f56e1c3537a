"""A config.json as a file or by its name on a hub: its text, or a sentence that says what to do."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib import request

import pytest
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile

from catalog.importers import hub
from catalog.importers.config_sources import MAX_BYTES, MAX_TEXT, architecture_of, text_of_file

LLAMA = {
    "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "intermediate_size": 14336,
    "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "tie_word_embeddings": False,
}  # fmt: skip
TEXT = json.dumps(LLAMA)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "json"),
        ("{", "json"),
        ("[" * 100_000, "json"),
        ("[]", "shape"),
        ("{}", "shape"),
        (json.dumps(LLAMA | {"hidden_size": 10**300}), "shape"),
        (json.dumps(LLAMA | {"hidden_size": float("inf")}), "shape"),
        (json.dumps(LLAMA | {"num_attention_heads": 0}), "shape"),
        (json.dumps(LLAMA | {"num_hidden_layers": 10**12}), "shape"),
        (json.dumps(LLAMA | {"num_experts": 8, "intermediate_size": []}), "shape"),
        (json.dumps(LLAMA | {"model_type": "bert"}), "kind"),
        (json.dumps({"model_type": "t5", "is_encoder_decoder": True}), "kind"),
        (TEXT + " " * MAX_TEXT, "size"),
    ],
)
def test_what_is_no_config_is_told_apart(text: str, code: str) -> None:
    with pytest.raises(ValidationError) as caught:
        architecture_of(text)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"", "text"), (b"\xff\xfe{\x00}\x00", "text"), (b"{\x00}", "text"), (b" " * (MAX_BYTES + 1), "size")],
)
def test_a_file_that_holds_no_config_is_not_read(content: bytes, code: str) -> None:
    with pytest.raises(ValidationError) as caught:
        text_of_file(SimpleUploadedFile("config.json", content))
    assert caught.value.code == code


def test_a_file_reads_as_if_it_had_been_pasted() -> None:
    assert text_of_file(SimpleUploadedFile("config.json", b"\xef\xbb\xbf" + TEXT.encode() + b"\n")) == TEXT


# ── a hub of our own ────────────────────────────────────────────────────────────────────────────────────────────

type Answer = tuple[int, dict[str, str], bytes]


class Hub:
    """What it answers, by path (all else is not found), and what it was asked."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []


@pytest.fixture
def stub(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub on this machine; only the opener of the tests speaks plain HTTP."""
    stub = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            stub.asked.append(self.path)
            stub.headers.append(dict(self.headers))
            status, headers, body = stub.answers.get(self.path, (404, {}, b""))
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    settings.MODEL_HUB_URL = f"http://127.0.0.1:{server.server_port}"
    real = hub.make_opener
    monkeypatch.setattr(hub, "make_opener", lambda: real(request.HTTPHandler()))
    cache.clear()
    yield stub
    cache.clear()
    server.shutdown()
    server.server_close()


def path(file: str = "config.json") -> str:
    return f"/org/model/resolve/main/{file}"


def test_a_name_leads_to_the_config_once_a_day(stub: Hub) -> None:
    stub.answers[path()] = (200, {"Set-Cookie": "a=b"}, TEXT.encode())
    model = architecture_of(hub.fetch_config(" org/model ", asker="a"))
    assert (model.name, model.native_format) == ("model", "bf16")
    hub.fetch_config(hub.address_of("org/model", "").partition("/resolve")[0], asker="b")
    assert stub.asked == [path(), path("hf_quant_config.json")]
    assert not any({"Cookie", "Authorization"} & headers.keys() for headers in stub.headers)


def test_a_token_goes_to_the_hub_alone(stub: Hub, settings: Any) -> None:
    settings.MODEL_HUB_TOKEN = "hf_x"
    stub.answers[path()] = (307, {"Location": "/cache/config.json"}, b"")
    stub.answers["/cache/config.json"] = (
        200,
        {},
        json.dumps(LLAMA | {"quantization_config": {"bits": 8}}).encode(),
    )
    hub.fetch_config("org/model", asker="a")
    assert [headers["Authorization"] for headers in stub.headers] == ["Bearer hf_x"] * 2


def test_a_separate_file_says_the_number_format(stub: Hub) -> None:
    stub.answers[path()] = (200, {}, TEXT.encode())
    stub.answers[path("hf_quant_config.json")] = (200, {}, b'{"quantization": {"quant_algo": "FP8"}}')
    assert architecture_of(hub.fetch_config("org/model", asker="a")).native_format == "fp8"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ((404, {}, b""), "unknown"),
        ((401, {"X-Error-Code": "RepoNotFound"}, b""), "unknown"),
        ((404, {"X-Error-Code": "EntryNotFound"}, b""), "without"),
        ((401, {"X-Error-Code": "GatedRepo"}, b""), "closed"),
        ((403, {}, b""), "closed"),
        ((500, {}, b""), "silent"),
        ((307, {"Location": "http://localhost/config.json"}, b""), "silent"),
        ((302, {"Location": "file:///etc/passwd"}, b""), "silent"),
        ((302, {"Location": path()}, b""), "silent"),
        ((200, {}, b"<html>"), "text"),
        ((200, {}, b"\xff"), "text"),
        ((200, {}, b"[]"), "text"),
        ((200, {}, b" " * (MAX_BYTES + 1)), "size"),
    ],
)
def test_a_refusal_says_what_it_is(stub: Hub, answer: Answer, code: str) -> None:
    stub.answers[path()] = answer
    with pytest.raises(hub.Refusal) as caught:
        hub.fetch_config("org/model", asker="a")
    assert caught.value.code == code
    assert "{" not in caught.value.messages[0]


@pytest.mark.parametrize(
    "name",
    ["", "model", "a/b/c", "../x", "org/..", "./.", "org/a..b", "u:p@host/x", "127.0.0.1", "http://127.0.0.1/a/b",
     "org/mo del", "org/model?x", "org/model#x", "org/%2e%2e", "org\\model", "örg/model", "org/model\n/x",
     "//evil.example/x", "a" * 97 + "/b"],
)  # fmt: skip
def test_a_name_leads_nowhere_else(stub: Hub, name: str) -> None:
    with pytest.raises(hub.Refusal) as caught:
        hub.fetch_config(name, asker="a")
    assert caught.value.code == "name"
    assert stub.asked == []


def test_how_often_may_be_asked_is_limited(stub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "ASKS_EACH", 2)

    def code(name: str, asker: str) -> str:
        with pytest.raises(hub.Refusal) as caught:
            hub.fetch_config(name, asker=asker)
        return str(caught.value.code)

    assert [code(f"org/m{number}", "a") for number in range(3)] == ["unknown", "unknown", "often"]
    assert code("org/m9", "b") == "unknown"


def test_the_site_itself_speaks_https_only(settings: Any) -> None:
    cache.clear()
    settings.MODEL_HUB_URL = "http://127.0.0.1:9"
    assert not any(isinstance(one, request.HTTPHandler | request.FileHandler) for one in _handlers())
    with pytest.raises(hub.Refusal):
        hub.fetch_config("org/model", asker="a")
    cache.clear()


def _handlers() -> list[Any]:
    opener: Any = hub.make_opener()
    return list(opener.handlers)
