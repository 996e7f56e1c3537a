"""Which VAT mode a sale falls under, and what that mode asks for. Rates and texts are data, see `quotes.models`."""

import re
from collections.abc import Mapping

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

VAT_NUMBERS: Mapping[str, str] = {
    "AT": r"U\d{8}",
    "BE": r"[01]\d{9}",
    "BG": r"\d{9,10}",
    "CY": r"\d{8}[A-Z]",
    "CZ": r"\d{8,10}",
    "DE": r"[1-9]\d{8}",
    "DK": r"\d{8}",
    "EE": r"\d{9}",
    "ES": r"[0-9A-Z]\d{7}[0-9A-Z]",
    "FI": r"\d{8}",
    "FR": r"[0-9A-HJ-NP-Z]{2}\d{9}",
    "GR": r"\d{9}",
    "HR": r"\d{11}",
    "HU": r"\d{8}",
    "IE": r"\d{7}[A-W][A-I]?|\d[A-Z+*]\d{5}[A-W]",
    "IT": r"\d{11}",
    "LT": r"\d{9}(\d{3})?",
    "LU": r"\d{8}",
    "LV": r"\d{11}",
    "MT": r"\d{8}",
    "NL": r"\d{9}B\d{2}",
    "PL": r"\d{10}",
    "PT": r"\d{9}",
    "RO": r"[1-9]\d{1,9}",
    "SE": r"\d{10}01",
    "SI": r"[1-9]\d{7}",
    "SK": r"[1-9]\d{9}",
}
"""What follows the prefix, per member (European Commission, VIES, frequently asked questions, 2026)."""


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
    """Whether `vat_id` can be a VAT number of `country`, a member; whether it exists is for VIES to say."""
    prefix = VAT_PREFIX.get(country, country)
    if country not in VAT_NUMBERS or not re.fullmatch(f"{prefix}({VAT_NUMBERS[country]})", vat_id, re.ASCII):
        return False
    return country != SELLER_COUNTRY or _adds_up(vat_id)


def _adds_up(vat_id: str) -> bool:
    """The check digits of a Dutch number.

    Since 2020 sole traders have one in which letters count 10 to 35 and the whole leaves 1 when divided by 97;
    organisations keep theirs, with the elevenfold test of their RSIN (Belastingdienst, btw-identificatienummer).
    """
    whole = int("".join(str(int(sign, 36)) for sign in vat_id))
    rsin = [int(digit) for digit in vat_id[2:11]]
    weighed = sum(weight * digit for weight, digit in zip((9, 8, 7, 6, 5, 4, 3, 2, -1), rsin, strict=True))
    return whole % 97 == 1 or (weighed % 11 == 0 and any(rsin) and vat_id[-2:] != "00")
