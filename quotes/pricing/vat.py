"""Which VAT mode a sale falls under, and what that mode asks for. Rates and texts are data, see `quotes.models`."""

import re

from quotes.pricing.money import VatMode

SELLER_COUNTRY = "NL"
EU_COUNTRIES = frozenset(
    {
        "AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU", "IE", "IT", "LT", "LU",
        "LV", "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK",
    }
)  # fmt: skip
"""The 27 members (European Union, country profiles, 2026)."""

VAT_PREFIX = {"GR": "EL"}
"""VAT numbers start with the country's code, except where this says otherwise (Directive 2006/112/EC, art. 215)."""

VAT_NUMBER = re.compile(r"[A-Z]{2}[0-9A-Z+*]{2,12}")


def mode_for(country: str) -> VatMode:
    """The usual mode of a sale to a business in `country` (ISO 3166, two letters)."""
    if country == SELLER_COUNTRY:
        return VatMode.DOMESTIC
    return VatMode.EU_BUSINESS if country in EU_COUNTRIES else VatMode.EXPORT


def allows(mode: VatMode, country: str) -> bool:
    """Whether a sale to `country` can fall under `mode`."""
    usual = mode_for(country)
    return mode is usual or (mode is VatMode.REVERSE_CHARGE and usual is VatMode.DOMESTIC)


def normal_vat_id(text: str) -> str:
    """`nl 1234.56.789 b01` becomes `NL123456789B01`."""
    return re.sub(r"[\s.\-]", "", text).upper()


def is_vat_id(vat_id: str, country: str) -> bool:
    """Whether `vat_id` has the form of a VAT number of `country`; whether it exists is for VIES to say."""
    prefix = VAT_PREFIX.get(country, country)
    return bool(VAT_NUMBER.fullmatch(vat_id)) and vat_id.startswith(prefix)
