"""The one door to WeasyPrint: an IssuedDocument in, a tagged PDF out. Nothing is fetched from anywhere else."""

import gc
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, NamedTuple

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.translation import override
from weasyprint import CSS, HTML
from weasyprint.text.fonts import FontConfiguration
from weasyprint.urls import URLFetcher, URLFetcherResponse

from quotes.document_data import IssuedDocument
from quotes.documents.context import document_context, in_accent
from quotes.documents.fonts import FILES, WEIGHTS, common_letters
from quotes.documents.sheet import Sheet, sheet_context

SCHEME = "resource:"
LOGO = "data:image/svg+xml;base64,"
SHEETS = ("tokens.css", "document.css")
CUTS = {f"{SCHEME}fonts/common-{weight}.ttf": weight for weight in WEIGHTS}
TYPES = {".css": "text/css", ".ttf": "font/ttf", ".svg": "image/svg+xml"}


class OwnFiles(URLFetcher):
    """Serves `resource:css/…` and `resource:fonts/…` from the product and its packages, and refuses all else.

    The seller's logo comes along in the document itself, as a data address.
    """

    def fetch(self, url: str, headers: dict[str, str] | None = None) -> URLFetcherResponse:
        if url.startswith(LOGO):
            body = b64decode(url.removeprefix(LOGO))
            return URLFetcherResponse(url, body=body, headers={"Content-Type": TYPES[".svg"]})
        if url in CUTS:
            body = common_letters(CUTS[url])
            return URLFetcherResponse(url, body=body, headers={"Content-Type": TYPES[".ttf"]})
        kind, _slash, name = url.removeprefix(SCHEME).lstrip("/").partition("/")
        roots = {"css": settings.BASE_DIR / "static" / "css", "fonts": FILES}
        if not url.startswith(SCHEME) or kind not in roots or "/" in name or name.startswith("."):
            raise ValueError(f"a document loads nothing from {url}")
        path = roots[kind] / name
        return URLFetcherResponse(url, body=path.read_bytes(), headers={"Content-Type": TYPES[path.suffix]})


class Press(NamedTuple):
    """What every document is printed with."""

    files: OwnFiles
    fonts: FontConfiguration
    sheets: tuple[CSS, ...]


@cache
def press() -> Press:
    """Fonts and style sheets, found and parsed once per process; that costs half as much as a document."""
    files, fonts = OwnFiles(), FontConfiguration()
    sheets = (CSS(url=f"{SCHEME}css/{name}", url_fetcher=files, font_config=fonts) for name in SHEETS)
    return Press(files, fonts, tuple(sheets))


ONE_AT_A_TIME = Lock()
"""Threads share the fonts, which WeasyPrint does not promise to survive; rendering is bound to one core anyway."""


def render_html(document: IssuedDocument) -> str:
    """The document as HTML, in its own language; `resource:css/` is the product's static/css."""
    with override(document.language):
        html = render_to_string("quotes/document/document.html", document_context(document))
    return in_accent(html, document.seller.accent)


def render_pdf(document: IssuedDocument, **options: Any) -> bytes:
    """PDF/UA-1 with embedded fonts, in the document's language; equal documents give equal bytes."""
    return _printed(render_html(document), document.full_number or "preview", **options)


def render_sheet(sheet: Sheet, **options: Any) -> bytes:
    """The site sheet, printed like a quote."""
    with override(sheet.language):
        html = render_to_string("quotes/document/sheet.html", sheet_context(sheet))
    return _printed(in_accent(html, sheet.accent), f"site {sheet.number}".strip(), **options)


@contextmanager
def _without_collecting() -> Iterator[None]:
    """A document makes a million objects and frees none before it is done: looking for garbage meanwhile costs a third
    of the time in a process that holds a catalog, and finds nothing."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _printed(text: str, identifier: str, **options: Any) -> bytes:
    with ONE_AT_A_TIME, _without_collecting():
        files, fonts, sheets = press()
        html = HTML(string=text, base_url=SCHEME, url_fetcher=files)
        pdf: bytes = html.write_pdf(
            pdf_variant="pdf/ua-1",
            pdf_identifier=identifier.encode(),
            font_config=fonts,
            stylesheets=sheets,
            **options,
        )
    return pdf
