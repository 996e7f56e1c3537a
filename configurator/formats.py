"""Numbers, money, dates and sentences in the reader's language: the only place where they become text.

Every function writes for the active Django language; wrap a call in `django.utils.translation.override` to write a
document in *its* language. Units follow after a narrow no-break space, ranges have an en dash, and no more digits are
shown than are known.
"""

from collections.abc import Callable
from datetime import date
from decimal import ROUND_HALF_UP, Decimal, localcontext
from functools import cache, lru_cache
from math import isinf, isnan
from typing import Any, Literal

from babel import Locale
from babel.dates import format_date
from babel.numbers import format_currency, format_decimal
from django.utils.translation import get_language, gettext, ngettext

from catalog.quantity import ArticleName, Message, Money, Quantity, Span, noop
from configurator.wizard.presets import load_title

THIN = "\N{NARROW NO-BREAK SPACE}"
DASH = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"
LOCALES = {"nl": "nl_NL", "en": "en_GB"}

MILLION = 1_000_000
KNOWN_DIGITS = 4  # who asks for more wants the number itself
SMALL_KW = 0.1  # below, watts are easier to read

type Number = int | float | Decimal
type MoneyStyle = Literal["exact", "round"]


def locale() -> Locale:
    """CLDR locale of the active language; English when the language has none here."""
    return _locale_of(get_language() or "en")


@cache
def _locale_of(language: str) -> Locale:
    return Locale.parse(LOCALES.get(language.split("-")[0], LOCALES["en"]))


# ── numbers ─────────────────────────────────────────────────────────────────────────────────────────────────────


def rounded(value: Number, digits: int) -> Decimal:
    """`value` to `digits` significant digits, without trailing zeros behind the point."""
    number = Decimal(f"{Decimal(str(value)):.{digits - 1}e}")
    return Decimal(f"{number.normalize():f}")


def number(value: Number | None, digits: int | None = None) -> str:
    """`1.234,5`; with `digits`, no more significant digits than that. None and NaN are the word for unknown."""
    if value is None or isnan(value):
        return gettext("unknown")
    if isinf(value):
        return "∞" if value > 0 else MINUS + "∞"
    exact = rounded(value, digits) if digits else Decimal(f"{Decimal(str(value)).normalize():f}")
    return _written(str(exact), locale())


@lru_cache(maxsize=10_000)
def _written(exact: str, where: Locale) -> str:
    """Kept, because a page writes many hundreds of numbers and most of them again on the next one."""
    value = Decimal(exact)
    places = max(0, -int(value.as_tuple().exponent))
    with localcontext(prec=100):
        return format_decimal(value, format="#,##0." + "#" * places, locale=where)


def percent(fraction: Number | None, digits: int = 2) -> str:
    """A fraction as `71 %` (Dutch) or `71%` (English)."""
    return quantity(None if fraction is None else fraction * 100, "%", digits)


def _gap(unit: str) -> str:
    if unit == "%":
        return THIN if locale().language == "nl" else ""
    return THIN


# ── units ───────────────────────────────────────────────────────────────────────────────────────────────────────
# Symbols (GiB, kW, tokens/s) are written as they are; words are counted and translated.

COUNTED: dict[str, Callable[[int], str]] = {
    "years": lambda n: ngettext("year", "years", n),
    "months": lambda n: ngettext("month", "months", n),
    "weeks": lambda n: ngettext("week", "weeks", n),
    "days": lambda n: ngettext("day", "days", n),
    "hours": lambda n: ngettext("hour", "hours", n),
    "minutes": lambda n: ngettext("minute", "minutes", n),
    "servers": lambda n: ngettext("server", "servers", n),
    "nodes": lambda n: ngettext("node", "nodes", n),
    "racks": lambda n: ngettext("rack", "racks", n),
    "switches": lambda n: ngettext("switch", "switches", n),
    "cards": lambda n: ngettext("card", "cards", n),
    "users": lambda n: ngettext("user", "users", n),
    "people": lambda n: ngettext("person", "people", n),
    "requests": lambda n: ngettext("request", "requests", n),
    "images": lambda n: ngettext("image", "images", n),
    "samples": lambda n: ngettext("sample", "samples", n),
    "frames": lambda n: ngettext("frame", "frames", n),
    "clips": lambda n: ngettext("clip", "clips", n),
    "seconds of audio": lambda n: ngettext("second of audio", "seconds of audio", n),
    "hours of audio": lambda n: ngettext("hour of audio", "hours of audio", n),
    "texts": lambda n: ngettext("text", "texts", n),
    "pairs": lambda n: ngettext("pair", "pairs", n),
    "scans": lambda n: ngettext("scan", "scans", n),
    "rows": lambda n: ngettext("row", "rows", n),
    "gigabytes": lambda n: ngettext("gigabyte", "gigabytes", n),
    "simulation steps": lambda n: ngettext("simulation step", "simulation steps", n),
    "documents": lambda n: ngettext("document", "documents", n),
    "cameras": lambda n: ngettext("camera", "cameras", n),
    "replicas": lambda n: ngettext("replica", "replicas", n),
    "layers": lambda n: ngettext("layer", "layers", n),
    "parameters": lambda n: ngettext("parameter", "parameters", n),
    "runs": lambda n: ngettext("run", "runs", n),
    "measurements": lambda n: ngettext("measurement", "measurements", n),
    "cores": lambda n: ngettext("core", "cores", n),
    "ports": lambda n: ngettext("port", "ports", n),
    "GPUs": lambda n: ngettext("GPU", "GPUs", n),
    "tokens": lambda n: ngettext("token", "tokens", n),
    "sequences": lambda n: ngettext("sequence", "sequences", n),
    "items": lambda n: ngettext("item", "items", n),
    "versions": lambda n: ngettext("version", "versions", n),
    "bytes": lambda n: ngettext("byte", "bytes", n),
    "units": lambda n: ngettext("unit", "units", n),
}
WORDS = frozenset(
    {
        noop("h"), noop("million"), noop("billion"), noop("million tokens"), noop("billion tokens"),
        noop("million samples"), noop("billion samples"), noop("× today's load"),
        noop("rows × trees"),
    }
)  # the same for one and for many  # fmt: skip
_SINGULAR = {word[:-1]: word for word in COUNTED if word.endswith("s")}


def unit_name(unit: str, value: Number = 2) -> str:
    """The unit in the reader's language, in the number of `value`; 'kWh/year' is translated part by part."""
    head, *rest = unit.split("/")
    per = [_word(part, 1) for part in rest]
    # A rate stays plural: '1 tokens/s'.
    return "/".join([_word(head, 1 if value == 1 and not per else 2), *per])


def _word(word: str, count: int) -> str:
    if word in WORDS:
        return gettext(word)
    if word.startswith("million "):
        return f"{gettext('million')} {_word(word.removeprefix('million '), 2)}"
    if word in _SINGULAR:
        return COUNTED[_SINGULAR[word]](1)
    return COUNTED[word](count) if word in COUNTED else word


def quantity(value: Quantity | Number | None, unit: str = "", digits: int = 3) -> str:
    """`5,6 kW`, `3 servers`, `71 %`, `€ 1.200/maand`; a Quantity brings its own unit and digits."""
    if isinstance(value, Quantity):
        return quantity(value.value, value.unit, value.digits)
    if value is None or isnan(value):
        return number(None)
    if isinf(value):
        return number(value)
    if _is_euro(unit):
        return _euro(value, digits) + _per(unit)
    if unit == "kW" and 0 < value < SMALL_KW:
        return quantity(value * 1000, "W", digits)
    if unit and value >= MILLION and digits <= KNOWN_DIGITS:
        return f"{number(value / MILLION, digits)} {gettext('million')}{_gap(unit)}{unit_name(unit)}"
    text = number(value, digits)
    return f"{text}{_gap(unit)}{unit_name(unit, rounded(value, digits))}" if unit else text


def span(low: Number, high: Number, unit: str = "", digits: int = 2) -> str:
    """`31–44 tokens/s`, `€ 180.000–210.000`; one number when both ends round to the same."""
    first, last = number(low, digits), number(high, digits)
    if first == last:
        return quantity(high, unit, digits)
    if _is_euro(unit):
        return _euro(low, digits) + DASH + _bare_euro(high, digits) + _per(unit)
    return f"{first}{DASH}{last}" + (f"{_gap(unit)}{unit_name(unit)}" if unit else "")


# ── money ───────────────────────────────────────────────────────────────────────────────────────────────────────


def money(amount: Money | Decimal | int | None, style: MoneyStyle = "exact", currency: str = "EUR") -> str:
    """`€ 32.230,23` (nl) or `€32,230.23` (en); `round` gives whole euros, half up. Never from a float.

    What is owed back is written `−€ 5`, the sign where a reader of a column looks for it.
    """
    if amount is None:
        return number(None)
    if isinstance(amount, Money):
        return money(amount.amount, style, amount.currency)
    if amount < 0:
        return MINUS + money(-Decimal(amount), style, currency)
    where = locale()
    if style == "exact":
        cents = Decimal(amount).quantize(Decimal("0.01"), ROUND_HALF_UP)
        return format_currency(cents, currency, locale=where)
    whole = Decimal(amount).quantize(Decimal(1), ROUND_HALF_UP)
    return format_currency(whole, currency, format=_whole_pattern(where), currency_digits=False, locale=where)


def money_span(low: Decimal | Number, high: Decimal | Number, digits: int = 3) -> str:
    """A price band in whole euros, `€ 180.000–210.000`, to so many significant digits."""
    return span(low, high, "EUR", digits)


def _whole_pattern(where: Locale) -> str:
    return str(where.currency_formats["standard"].pattern).replace("0.00", "0")


def _is_euro(unit: str) -> bool:
    return unit.split("/")[0] == "EUR"


def _euro(value: Number, digits: int) -> str:
    """Below a hundred euros cents count (`€ 2,85` for an hour of cloud); above, whole euros to the digits known."""
    exact = rounded(value, digits)
    if exact < 0:
        return MINUS + _euro(-exact, digits)
    if exact < 1 and -int(exact.as_tuple().exponent) > 2:  # the price of a kWh, of a thousand tokens
        pattern = str(locale().currency_formats["standard"].pattern).replace("0.00", "0.00####")
        return format_currency(exact, "EUR", format=pattern, currency_digits=False, locale=locale())
    return money(exact, "exact" if exact != exact.to_integral_value() and exact < 100 else "round")


def _bare_euro(value: Number, digits: int) -> str:
    return _euro(value, digits).replace("€", "").strip("\N{NO-BREAK SPACE} ")


def _per(unit: str) -> str:
    _, *rest = unit.split("/")
    return "".join(f"/{_word(part, 1)}" for part in rest)


# ── dates and sentences ─────────────────────────────────────────────────────────────────────────────────────────


def day(value: date | None) -> str:
    """`30 november 2026` / `30 November 2026`."""
    return number(None) if value is None else format_date(value, "d MMMM y", locale=locale())


def _filled(name: str, value: Any) -> str:
    """What fills a placeholder; `{load}` takes the key of a service or job and shows its name."""
    return load_title(value) if name == "load" and isinstance(value, str) else say(value)


def _template(message: Message) -> str:
    """What a quote froze is told in the words of that day, also when the sentence was reworded since."""
    if message.text_nl and locale().language == "nl":
        return message.text_nl
    return gettext(message.text) if message.text else ""


def say(message: Any) -> str:
    """A domain value in the reader's language.

    Message: its sentence, translated, with the placeholders filled. Quantity, Span, Money, numbers and dates: as the
    functions above write them. None: the word for unknown. Anything else: `str()`.
    """
    match message:
        case Message():
            filled = {name: _filled(name, value) for name, value in message.params.items()}
            return _template(message).format(**filled)
        case Quantity():
            return quantity(message)
        case Span():
            return span(message.low, message.high, message.unit, message.digits)
        case Money():
            return money(message)
        case ArticleName():
            return message.in_language(locale().language)
        case bool():
            return gettext("yes") if message else gettext("no")
        case int() | float() | Decimal() | None:
            return number(message)
        case date():
            return day(message)
        case _:
            return str(message)
