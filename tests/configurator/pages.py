"""A browser without scripts, just enough of it: what a page's form would send, and where its buttons lead."""

from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any

from django.http import HttpResponse
from django.test import Client

from tests.configurator.scenario_answers import Typed, posted


class FormReader(HTMLParser):
    """Collects the successful controls of the form with id `questions`, as the HTML standard lists them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.shown: dict[str, Any] = {}
        self.errors: list[str] = []
        self._inside = False
        self._select = self._textarea = ""
        self._heading: list[str] | None = None
        self.title = ""
        self._in_title = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._inside = given.get("id") == "questions"
        self._in_title = tag == "title"
        if "field__error" in given.get("class", ""):
            self.errors.append("")
        if not self._inside or (tag != "option" and not given.get("name")):
            return
        name, value = given.get("name", ""), given.get("value", "")
        match tag, given.get("type", "text"):
            case "input", "radio" | "checkbox":
                self._tick(name, value or "on", given, single=given["type"] == "radio")
            case "input", _:
                self.shown[name] = value
            case "select", _:
                self._select = name
            case "option", _ if self._select and ("selected" in given or self._select not in self.shown):
                self.shown[self._select] = value
            case "textarea", _:
                self._textarea = name
                self.shown[name] = ""

    def _tick(self, name: str, value: str, given: Mapping[str, str], *, single: bool) -> None:
        is_box = name.endswith("_unknown")
        if "checked" not in given:
            if is_box:
                self.shown.setdefault(name, "")
            return
        if single or is_box:
            self.shown[name] = value
        else:
            self.shown.setdefault(name, []).append(value)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._inside = False
        if tag == "select":
            self._select = ""
        if tag == "textarea":
            self._textarea = ""
        if tag == "title":
            self._in_title = False

    def handle_data(self, data: str) -> None:
        if self._textarea:
            self.shown[self._textarea] += data
        if self._in_title:
            self.title += data


def read(response: HttpResponse) -> FormReader:
    return FormReader(response.content.decode())


def send(client: Client, url: str, typed: Mapping[str, Any], go: str = "next") -> HttpResponse:
    """Open `url`, fill in `typed`, press the button `go`. The answer is not followed."""
    page = read(client.get(url))
    return client.post(url, {**posted(typed, page.shown), "go": go})


def walk(client: Client, typed: Typed) -> str:
    """Answer every step in turn, from the start to the check page; the address of that page."""
    response = send(client, "/", typed["use"])
    while response.status_code == 302:
        url = response.headers["Location"]
        slug = url.rstrip("/").rpartition("/")[2]
        if slug == "check":
            return url
        assert "show=errors" not in url, read(client.get(url)).title
        response = send(client, url, typed.get(slug, {}))
    raise AssertionError(f"{response.status_code}: {read(response).title}")
