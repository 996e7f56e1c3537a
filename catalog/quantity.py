"""Numbers with units, and sentences with numbers in them, free of any language.

Pure code never formats: it hands out `Quantity`, `Money` and `Message` objects. The edge (`configurator.formats`)
renders them in the reader's language.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field


def noop(text: str) -> str:
    """Mark `text` for translation without translating it; the message extractor looks for this name."""
    return text


class Frozen(BaseModel):
    """Base of every domain type: immutable, strict about unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")


class Quantity(Frozen):
    """A number, its unit and how many digits of it are known.

    `unit` is the printed symbol ("GiB", "kW", "tokens/s") or a word the edge translates ("days", "months",
    "servers"); empty for a bare number. `digits` is the count of significant digits to show.
    """

    value: float
    unit: str = ""
    digits: int = Field(default=3, ge=1, le=15)


class Span(Frozen):
    """An interval `low`–`high` in one unit, low <= high."""

    low: float
    high: float
    unit: str = ""
    digits: int = Field(default=2, ge=1, le=15)


class Money(Frozen):
    """An exact amount in one currency (ISO 4217)."""

    amount: Decimal
    currency: str = "EUR"


class ArticleName(Frozen):
    """What an article is called: by its maker, and in Dutch where that name is words."""

    name: str
    name_nl: str = ""

    def in_language(self, language: str) -> str:
        """The name for a reader of `language` ("nl" or "en")."""
        return (language == "nl" and self.name_nl) or self.name

    def __str__(self) -> str:
        return self.name


class Message(Frozen):
    """A translatable sentence: an English template marked with `noop`, and what fills its named placeholders.

    `text_nl` is the Dutch template as it was when the sentence was frozen with a quote; empty: look it up.
    """

    text: str
    text_nl: str = ""
    params: Mapping[str, "Quantity | Span | Money | Message | ArticleName | int | str"] = Field(
        default_factory=dict
    )

    @classmethod
    def of(cls, text: str, **params: "Quantity | Span | Money | Message | ArticleName | int | str") -> Self:
        return cls(text=text, params=params)

    @classmethod
    def listed(cls, messages: "Sequence[Message]") -> "Message":
        """One sentence's worth of several: 'a, b, c'. Needs at least one."""
        said = messages[0]
        for message in messages[1:]:
            said = cls.of(noop("{first}, {second}"), first=said, second=message)
        return said

    def __str__(self) -> str:
        """Plain English, for logs, tests and the command line; the site uses `configurator.formats.say`."""
        return self.text.format(**{name: _plain(value) for name, value in self.params.items()})


def _plain(value: Any) -> str:
    match value:
        case Quantity():
            return f"{significant(value.value, value.digits)} {value.unit}".strip()
        case Span():
            low, high = (significant(bound, value.digits) for bound in (value.low, value.high))
            return f"{low}–{high} {value.unit}".strip()
        case Money():
            return f"{value.currency} {value.amount:,.2f}"
        case _:
            return str(value)


def significant(value: float, digits: int) -> str:
    """`value` rounded to `digits` significant digits, thousands separated by commas, without exponent."""
    if value == 0:
        return "0"
    rounded = Decimal(f"{value:.{digits - 1}e}")
    return f"{rounded.quantize(Decimal(1)) if rounded == rounded.to_integral_value() else rounded.normalize():,f}"
