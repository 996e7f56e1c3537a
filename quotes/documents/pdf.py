"""The one door to WeasyPrint: an IssuedDocument in, a tagged PDF out. Nothing is fetched from anywhere else."""

from functools import cache
from pathlib import Path
from typing import Any

import fontpkg_source_sans_3
from django.conf import settings
from django.template.loader import render_to_string
from django.utils.translation import override
from weasyprint import HTML
from weasyprint.text.fonts import FontConfiguration
from weasyprint.urls import URLFetcher, URLFetcherResponse

from quotes.document_data import IssuedDocument
from quotes.documents.context import document_context

SCHEME = "resource:"
FONTS = Path(fontpkg_source_sans_3.__file__).parent / "files"
TYPES = {".css": "text/css", ".ttf": "font/ttf", ".svg": "image/svg+xml"}


class OwnFiles(URLFetcher):
    """Serves `resource:css/…` and `resource:fonts/…` from the product and its packages, and refuses all else."""

    def fetch(self, url: str, headers: dict[str, str] | None = None) -> URLFetcherResponse:
        kind, _slash, name = url.removeprefix(SCHEME).lstrip("/").partition("/")
        roots = {"css": settings.BASE_DIR / "static" / "css", "fonts": FONTS}
        if not url.startswith(SCHEME) or kind not in roots or "/" in name or name.startswith("."):
            raise ValueError(f"a document loads nothing from {url}")
        path = roots[kind] / name
        return URLFetcherResponse(url, body=path.read_bytes(), headers={"Content-Type": TYPES[path.suffix]})


@cache
def font_configuration() -> FontConfiguration:
    """Fonts are found once per process; that costs more than a whole document."""
    return FontConfiguration()


def render_html(document: IssuedDocument) -> str:
    """The document as HTML, in its own language."""
    with override(document.language):
        return render_to_string("quotes/document/document.html", document_context(document))


def render_pdf(document: IssuedDocument, **options: Any) -> bytes:
    """PDF/UA-1 with embedded fonts, in the document's language; equal documents give equal bytes."""
    html = HTML(string=render_html(document), base_url=SCHEME, url_fetcher=OwnFiles())
    return html.write_pdf(
        pdf_variant="pdf/ua-1",
        pdf_identifier=(document.full_number or "preview").encode(),
        font_config=font_configuration(),
        **options,
    )
