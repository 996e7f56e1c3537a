"""Which kind of VAT a sale falls under, and what a VAT number looks like."""

import pytest

from quotes.pricing.money import VatMode
from quotes.pricing.vat import EU_COUNTRIES, VAT_NUMBERS, allows, is_vat_id, mode_for, normal_vat_id


def test_the_union_has_27_members() -> None:
    assert len(EU_COUNTRIES) == 27


@pytest.mark.parametrize(
    ("country", "mode"),
    [("NL", "domestic"), ("BE", "eu_business"), ("GR", "eu_business"), ("GB", "export"), ("CH", "export")],
)
def test_the_usual_mode_of_a_country(country: str, mode: str) -> None:
    assert mode_for(country) is VatMode(mode)
    assert [one for one in VatMode if allows(one, country)] == [
        VatMode(mode),
        *([VatMode.REVERSE_CHARGE] if country == "NL" else []),
    ]


@pytest.mark.parametrize(
    ("text", "normal"),
    [("nl 1234.56.789 b01", "NL123456789B01"), ("BE-0123456789", "BE0123456789"), ("", "")],
)
def test_a_vat_number_is_brought_to_one_form(text: str, normal: str) -> None:
    assert normal_vat_id(text) == normal


def test_every_member_has_a_form_of_vat_number() -> None:
    assert VAT_NUMBERS.keys() == EU_COUNTRIES


@pytest.mark.parametrize(
    ("vat_id", "country", "good"),
    [
        ("NL123456782B01", "NL", True),
        ("DE123456789", "DE", True),
        ("EL123456789", "GR", True),
        ("GR123456789", "GR", False),
        ("NL123456782B01", "DE", False),
        ("IE1234567FA", "IE", True),
        ("DE", "DE", False),
        ("DE12", "DE", False),
        ("ATU12345678", "AT", True),
        ("AT123456789", "AT", False),
        ("BE123456789", "BE", False),
        ("FRIO123456789", "FR", False),
        ("SE123456789012", "SE", False),
        ("DE१२३४५६७८९", "DE", False),
        ("CHE123456789", "CH", False),
        ("NL004495445B01", "NL", True),
        ("NL002455799B11", "NL", True),
        ("NL004495446B01", "NL", False),
        ("NL002455799B12", "NL", False),
        ("NL123456782B00", "NL", False),
        ("DE1234 5678", "DE", False),
        ("", "DE", False),
        ("DE" + "1" * 20, "DE", False),
    ],
)
def test_the_form_of_a_vat_number(vat_id: str, country: str, good: bool) -> None:
    assert is_vat_id(vat_id, country) is good
