"""Numbers are read and written as people of that language do."""

from contextlib import suppress
from decimal import Decimal

import pytest
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from configurator.wizard.numbers import LONGEST, NotANumber, parse, write


@pytest.mark.parametrize(
    ("language", "text", "value"),
    [
        ("nl", "1.500,5", "1500.5"),
        ("nl", "1.500", "1500"),
        ("nl", "1.234.567", "1234567"),
        ("nl", "1,5", "1.5"),
        ("nl", "1.5", "1.5"),  # only one reading makes sense
        ("nl", "0.500", "0.5"),  # thousands never start with a zero
        ("nl", "1,500.5", "1500.5"),
        ("nl", "1 500", "1500"),
        ("nl", "1\N{NARROW NO-BREAK SPACE}500", "1500"),
        ("nl", ",5", "0.5"),
        ("nl", "500 miljard", "500000000000"),
        ("nl", "20 mln", "20000000"),
        ("nl", "€ 200.000", "200000"),
        ("nl", "200k", "200000"),
        ("nl", "−3", "-3"),
        ("nl", "2 TB", "2"),
        ("en", "1,500.5", "1500.5"),
        ("en", "1,500", "1500"),
        ("en", "1,5", "1.5"),
        ("en", "1.500,5", "1500.5"),
        ("en", "1.500", "1.5"),
        ("en", "500B", "500000000000"),
        ("en", "1e9", "1000000000"),
        ("en", "EUR 5", "5"),
        ("en", "3 million", "3000000"),
    ],
)
def test_a_text_says_this_number(language: str, text: str, value: str) -> None:
    with translation.override(language):
        assert parse(text, ["TB"]) == Decimal(value)


@pytest.mark.parametrize("language", ["nl", "en"])
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2.000", "2000"),
        ("2,000", "2000"),
        ("1.234.567", "1234567"),
        ("0.500", "0.5"),
        ("2.50", "2.5"),
        ("1.500k", None),
    ],
)
def test_of_what_comes_whole_three_digits_are_thousands_in_any_language(
    language: str, text: str, value: str | None
) -> None:
    with translation.override(language):
        assert parse(text, whole=True) == (Decimal(value) if value else parse(text))


NO_NUMBERS = [
    "",
    " ",
    "abc",
    "1.2.3",
    "1..5",
    "10²",
    "٣",
    "½",
    "1 2",
    "12 cows",
    "0x10",
    "nan",
    "inf",
    "--1",
    "1,2,3",
]


@pytest.mark.parametrize("text", [*NO_NUMBERS, "1" * (LONGEST + 1)])
@pytest.mark.parametrize("language", ["nl", "en"])
def test_a_text_says_no_number(language: str, text: str) -> None:
    with translation.override(language), pytest.raises(NotANumber):
        parse(text, ["TB"])


@given(
    st.decimals(min_value=-(10**12), max_value=10**14, places=3, allow_nan=False, allow_infinity=False),
    st.sampled_from(["nl", "en"]),
)
def test_what_is_written_is_read_back(value: Decimal, language: str) -> None:
    with translation.override(language):
        assert parse(write(value)) == value
        assert parse(write(value // 1), whole=True) == value // 1


@given(st.text(max_size=60), st.sampled_from(["nl", "en"]))
def test_any_text_is_a_number_or_is_refused(text: str, language: str) -> None:
    with translation.override(language), suppress(NotANumber):
        assert parse(text).is_finite()


@pytest.mark.parametrize(
    ("language", "value", "text"),
    [
        ("nl", "500000000000", "500 miljard"),
        ("en", "20000000", "20 million"),
        ("nl", "1500.5", "1.500,5"),
        ("nl", "1234567", "1.234.567"),
        ("en", "999999", "999,999"),
    ],
)
def test_large_round_numbers_are_written_in_words(language: str, value: str, text: str) -> None:
    with translation.override(language):
        assert write(Decimal(value)) == text
