"""The seller's name, logo and colour on every page."""

from base64 import b64encode
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from quotes.models import Seller
from quotes.models.seller import DEFAULT_ACCENT
from quotes.services.seller import current_seller


def brand(request: HttpRequest) -> dict[str, Any]:
    """Context of every page: `site_name`, and what differs from the default look."""
    seller = current_seller()
    return {
        "site_name": seller.product_name,
        "brand_logo": logo_address(seller),
        "brand_accent": own_accent(seller),
    }


def own_accent(seller: Seller) -> str:
    """The seller's accent colour when it is not the one that the style sheets have already."""
    return "" if seller.accent.lower() == DEFAULT_ACCENT else seller.accent.lower()


def logo_address(seller: Seller) -> str:
    """The logo as an address for an image, in which a browser runs no scripts; empty without a logo."""
    if not seller.logo_svg:
        return ""
    return "data:image/svg+xml;base64," + b64encode(seller.logo_svg.encode()).decode()


@require_safe
@cache_control(max_age=300)
def accent_css(request: HttpRequest) -> HttpResponse:
    """The seller's accent colour as a style sheet: the dark scheme's shades are mixed from it."""
    return render(
        request, "quotes/accent.css", {"accent": own_accent(current_seller())}, content_type="text/css"
    )
