"""Numbers and sentences in both languages, exactly as they are printed."""

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal

import pytest
from django.utils.translation import override
from hypothesis import given
from hypothesis import strategies as st

from catalog.quantity import Message, Money, Quantity, Span, noop
from configurator import formats

T = "\u202f"  # narrow no-break space, before a unit
N = "\u00a0"  # no-break space, after the euro sign in Dutch


@pytest.fixture(autouse=True)
def _language() -> Iterator[None]:
    with override("en"):
        yield


@pytest.mark.parametrize(
    ("value", "digits", "dutch", "english"),
    [
        (0, 3, "0", "0"),
        (1234.5, None, "1.234,5", "1,234.5"),
        (1_234_567, None, "1.234.567", "1,234,567"),
        (1_234_567, 3, "1.230.000", "1,230,000"),
        (0.000123456, 3, "0,000123", "0.000123"),
        (12.0, 3, "12", "12"),
        (0.1 + 0.2, 15, "0,3", "0.3"),
        (-4.25, 2, "-4,2", "-4.2"),
        (Decimal("9.999"), 3, "10", "10"),
        (float("inf"), 3, "∞", "∞"),
    ],
)
def test_number(value: float, digits: int | None, dutch: str, english: str) -> None:
    assert formats.number(value, digits) == english
    with override("nl"):
        assert formats.number(value, digits) == dutch


@pytest.mark.parametrize("value", [None, float("nan")])
def test_unknown_is_a_word_and_never_zero(value: float | None) -> None:
    assert formats.number(value) == formats.quantity(value, "kW") == formats.percent(value) == "unknown"
    assert formats.money(None) == formats.day(None) == formats.say(None) == "unknown"


@given(value=st.floats(min_value=1e-9, max_value=1e15), digits=st.integers(1, 8))
def test_never_more_digits_than_known(value: float, digits: int) -> None:
    with override("nl"):
        text = formats.number(value, digits)
    figures = re.sub(r"\D", "", text).lstrip("0")
    assert len(figures.rstrip("0")) <= digits
    back = float(text.replace(".", "").replace(",", "."))
    assert back == pytest.approx(value, rel=0.5 * 10 ** (1 - digits) * 1.0001)


@pytest.mark.parametrize(
    ("value", "unit", "digits", "dutch", "english"),
    [
        (12.5, "kW", 3, f"12,5{T}kW", f"12.5{T}kW"),
        (81559, "MiB", 5, f"81.559{T}MiB", f"81,559{T}MiB"),
        (37.6, "tokens/s", 2, f"38{T}tokens/s", f"38{T}tokens/s"),
        (71, "%", 2, f"71{T}%", "71%"),
        (1, "servers", 3, f"1{T}server", f"1{T}server"),
        (3, "servers", 3, f"3{T}servers", f"3{T}servers"),
        (0.96, "days", 1, f"1{T}dag", f"1{T}day"),
        (1, "tokens/s", 3, f"1{T}tokens/s", f"1{T}tokens/s"),
        (8, "GPUs", 3, f"8{T}GPU's", f"8{T}GPUs"),
        (14, "days", 3, f"14{T}dagen", f"14{T}days"),
        (2, "h", 3, f"2{T}u", f"2{T}h"),
        (50_000, "kWh/year", 3, f"50.000{T}kWh/jaar", f"50,000{T}kWh/year"),
        (5, "", 3, "5", "5"),
        (412_345, "EUR", 3, f"€{N}412.000", "€412,000"),
        (2.85, "EUR/hour", 3, f"€{N}2,85/uur", "€2.85/hour"),
        (1234, "EUR/month", 2, f"€{N}1.200/maand", "€1,200/month"),
    ],
)
def test_quantity(value: float, unit: str, digits: int, dutch: str, english: str) -> None:
    assert formats.quantity(value, unit, digits) == english
    assert formats.say(Quantity(value=value, unit=unit, digits=digits)) == english
    with override("nl"):
        assert formats.quantity(value, unit, digits) == dutch


@pytest.mark.parametrize(
    ("low", "high", "unit", "digits", "dutch", "english"),
    [
        (31.2, 43.8, "tokens/s", 2, f"31–44{T}tokens/s", f"31–44{T}tokens/s"),
        (5.24, 6.08, "kW", 2, f"5,2–6,1{T}kW", f"5.2–6.1{T}kW"),
        (180_000, 210_400, "EUR", 2, f"€{N}180.000–210.000", "€180,000–210,000"),
        (1.401, 1.399, "s", 2, f"1,4{T}s", f"1.4{T}s"),
        (2, 3, "", 2, "2–3", "2–3"),
    ],
)
def test_span(low: float, high: float, unit: str, digits: int, dutch: str, english: str) -> None:
    assert formats.span(low, high, unit, digits) == english
    with override("nl"):
        assert formats.span(low, high, unit, digits) == dutch
    if low <= high:
        assert formats.say(Span(low=low, high=high, unit=unit, digits=digits)) == english


@pytest.mark.parametrize(
    ("amount", "style", "dutch", "english"),
    [
        ("32230.23", "exact", f"€{N}32.230,23", "€32,230.23"),
        ("0.005", "exact", f"€{N}0,01", "€0.01"),
        ("2.675", "exact", f"€{N}2,68", "€2.68"),
        ("-12.5", "exact", f"−€{N}12,50", "−€12.50"),
        ("412000.50", "round", f"€{N}412.001", "€412,001"),
        ("0", "exact", f"€{N}0,00", "€0.00"),
    ],
)
def test_money(amount: str, style: formats.MoneyStyle, dutch: str, english: str) -> None:
    assert formats.money(Money(amount=Decimal(amount)), style) == english
    with override("nl"):
        assert formats.money(Decimal(amount), style) == dutch


def test_money_keeps_its_currency() -> None:
    assert formats.money(Money(amount=Decimal(5), currency="USD")) == "US$5.00"


@given(cents=st.integers(-(10**12), 10**12))
def test_exact_money_loses_no_cent(cents: int) -> None:
    with override("nl"):
        text = formats.money(Decimal(cents) / 100)
    back = Decimal(re.sub(r"[^\d,−]", "", text).replace(",", ".").replace("−", "-"))
    assert back == Decimal(cents) / 100


def test_day() -> None:
    assert formats.day(date(2026, 11, 30)) == "30 November 2026"
    with override("nl"):
        assert formats.day(date(2026, 11, 30)) == "30 november 2026"


def test_percent() -> None:
    assert formats.percent(0.714) == "71%"
    with override("nl"):
        assert formats.percent(0.714) == f"71{T}%"


def test_say_fills_a_sentence() -> None:
    inner = Message.of(noop("{speed} each"), speed=Span(low=31, high=44, unit="tokens/s"))
    message = Message.of(
        noop("{name}: {users} people, {power}, {price}, {inner}"),
        name="H200 <NVL>",
        users=1200,
        power=Quantity(value=5.64, unit="kW", digits=2),
        price=Money(amount=Decimal(196000)),
        inner=inner,
    )
    assert formats.say(message) == f"H200 <NVL>: 1,200 people, 5.6{T}kW, €196,000.00, 31–44{T}tokens/s each"
    with override("nl"):
        assert f"1.200 people, 5,6{T}kW, €{N}196.000,00" in formats.say(message)


def test_say_translates_the_sentence() -> None:
    with override("nl"):
        assert formats.say(Message(text=noop("does not fit"))) == "past niet"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "yes"),
        (False, "no"),
        (7, "7"),
        (date(2026, 1, 2), "2 January 2026"),
        ("as is", "as is"),
        (Message(text=""), ""),
    ],
)
def test_say_takes_any_value(value: object, text: str) -> None:
    assert formats.say(value) == text


def test_a_language_without_formats_reads_english() -> None:
    with override("de"):
        assert formats.number(1234.5) == "1,234.5"


def test_a_load_is_named_in_the_readers_words() -> None:
    message = Message.of("without {load}", load="image_inspection_training")
    with override("en"):
        assert formats.say(message) == "without Image inspection: training"
    with override("nl"):
        assert formats.say(message) == "without Beeldinspectie (training)"


@pytest.mark.parametrize(
    ("value", "unit", "english", "dutch"),
    [
        (0.04, "kW", f"40{T}W", f"40{T}W"),
        (0.14, "kW", f"0.14{T}kW", f"0,14{T}kW"),
        (71_100_000, "rows × trees/s", f"71.1 million{T}rows × trees/s", f"71,1 miljoen{T}rijen × bomen/s"),
        (21.7, "hours of audio/hour", f"21.7{T}hours of audio/hour", f"21,7{T}uur audio/uur"),
    ],
)
def test_very_small_and_very_large_quantities_stay_readable(
    value: float, unit: str, english: str, dutch: str
) -> None:
    assert formats.quantity(value, unit) == english
    with override("nl"):
        assert formats.quantity(value, unit) == dutch
