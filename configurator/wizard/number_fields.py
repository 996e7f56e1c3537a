"""Questions whose answer is a number: plain, money, a share of another answer, an amount in a unit of choice."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import Truncator
from django.utils.translation import gettext, gettext_lazy

from configurator import formats
from configurator.wizard import numbers
from configurator.wizard.fields import Choices, Question, Stored, Text

if TYPE_CHECKING:
    from configurator.wizard.situation import Situation

TINY = Decimal("0.000001")
COUNTS = (Decimal(1), Decimal(10) ** 12)  # how many of something
WHOLE = frozenset({"tokens", "items"})  # units that come whole


class NumberField(Question):
    """A number between `low` and `high`, both allowed. Stored as text with a decimal point."""

    def __init__(
        self,
        label: Text,
        *,
        low: int | Decimal,
        high: int | Decimal,
        whole: bool = False,
        units: Sequence[str] = (),
        **rest: Any,
    ) -> None:
        widget = forms.TextInput({"inputmode": "numeric" if whole else "decimal", "autocomplete": "off"})
        super().__init__(label, widget=widget, **rest)
        self.low, self.high, self.whole, self.units = Decimal(low), Decimal(high), whole, tuple(units)

    def parse(self, text: Any, situation: "Situation") -> Any:
        return self.within(self.number(text, self.units, whole=self.whole), self.low, self.high)

    def number(self, text: str, units: Sequence[str], *, whole: bool = False) -> Decimal:
        try:
            return numbers.parse(text, (*units, str(self.unit)), whole=whole)
        except numbers.NotANumber:
            example = formats.number(Decimal(1500) if self.whole else Decimal("1500.5"))
            raise ValidationError(
                gettext("‘{text}’ is not a number we understand. Write it like {example}.").format(
                    text=Truncator(text).chars(30), example=example
                )
            ) from None

    def within(self, value: Decimal, low: Decimal, high: Decimal) -> Decimal:
        if value < low and 0 < low <= TINY:
            raise ValidationError(gettext("This must be more than 0."))
        if value < low:
            raise ValidationError(gettext("This must be at least {low}.").format(low=numbers.write(low)))
        if value > high:
            raise ValidationError(
                gettext("This is more than we can calculate with. Fill in at most {high}.").format(
                    high=numbers.write(high)
                )
            )
        if self.whole and value != value.to_integral_value():
            raise ValidationError(gettext("Fill in a whole number, without decimals."))
        return value if value == value.to_integral_value() else value.quantize(TINY)

    def store(self, value: Any) -> Stored:
        return f"{value.normalize():f}"

    def load(self, stored: Stored) -> Decimal:
        value = Decimal(stored)
        if not isinstance(stored, str) or not value.is_finite():
            raise ValueError(stored)
        return value

    def write(self, stored: Stored, situation: "Situation") -> Any:
        return numbers.write(self.load(stored))

    def say(self, stored: Stored, situation: "Situation") -> str:
        return _with_unit(self.write(stored, situation), self.unit)


class MoneyField(NumberField):
    """Whole euros."""

    def say(self, stored: Stored, situation: "Situation") -> str:
        return formats.money(self.load(stored), "round")


class Share(Decimal):
    """A part of a whole, in hundredths of it; a plain Decimal is a number of its own."""


class ShareField(NumberField):
    """A number, or a percentage of another answer when a % follows. Stored as `60` or `20%`."""

    def parse(self, text: Any, situation: "Situation") -> Decimal:
        if text.endswith("%"):
            pct = self.within(self.number(text[:-1].strip(), ()), TINY, Decimal(100))
            return Share(pct)
        return self.within(self.number(text, self.units, whole=True), self.low, self.high)

    def store(self, value: Decimal) -> str:
        return super().store(value) + ("%" if isinstance(value, Share) else "")

    def load(self, stored: Stored) -> Decimal:
        return Share(super().load(stored[:-1])) if stored.endswith("%") else super().load(stored)

    def write(self, stored: Stored, situation: "Situation") -> str:
        value = self.load(stored)
        return formats.percent(value / 100, 4) if isinstance(value, Share) else numbers.write(value)

    def say(self, stored: Stored, situation: "Situation") -> str:
        return (
            self.write(stored, situation)
            if isinstance(self.load(stored), Share)
            else super().say(stored, situation)
        )


class AmountWidget(forms.MultiWidget):
    """A number and its unit, as one question with one label."""

    use_fieldset = False

    def __init__(self, choices: Choices, whole: bool) -> None:
        number = forms.TextInput({"inputmode": "numeric" if whole else "decimal", "autocomplete": "off"})
        unit = forms.Select({"aria-label": gettext_lazy("Unit")}, choices)
        super().__init__({"": number, "unit": unit})

    def id_for_label(self, id_: str) -> str:
        return f"{id_}_0"

    def decompress(self, value: Any) -> list[Any]:
        return list(value or ("", None))


class AmountField(NumberField):
    """A number in a unit of the customer's choice; the value is in the base unit, whose factor is 1.

    `measures` gives each unit its name and how many base units it is worth. `low` and `high` are in base units. A unit
    worth 0 measures something else (a count beside an amount of data): `is_count` tells, and the value is the number.
    """

    def __init__(self, label: Text, *, measures: Mapping[str, tuple[Text, Decimal]], **rest: Any) -> None:
        super().__init__(label, **rest)
        self.measures = measures
        self.widget = AmountWidget([(key, name) for key, (name, _) in measures.items()], self.whole)

    def parse(self, text: Any, situation: "Situation") -> tuple[Decimal, str]:
        typed, measure = text
        if measure not in self.measures:
            raise ValidationError(gettext("Choose a unit."))
        if not typed:
            raise ValidationError(self.missing())
        name, factor = self.measures[measure]
        number = self.number(typed, [str(name), measure], whole=self.whole or measure in WHOLE)
        low, high = (self.low / factor, self.high / factor) if factor else COUNTS
        return self.within(number, Decimal(f"{low:.6g}"), Decimal(f"{high:.6g}")), measure

    def read(self, text: Any, situation: "Situation") -> Any:
        typed = [str(part or "") for part in text] if isinstance(text, list) else [str(text or "")]
        text = [*typed, "", ""][:2]
        return super().read(text if text[0].strip() else "", situation)

    def store(self, value: Any) -> Stored:
        return {"n": super().store(value[0]), "unit": value[1]}

    def load(self, stored: Stored) -> Decimal:
        number, (_, factor) = NumberField.load(self, stored["n"]), self.measures[stored["unit"]]
        return number * factor if factor else number

    def posted(self, name: str, shown: Any) -> dict[str, Any]:
        number, unit = [*(shown or ()), "", ""][:2]
        return {name: number, f"{name}_unit": unit}

    def is_count(self, stored: Stored) -> bool:
        return not self.measures[stored["unit"]][1]

    def write(self, stored: Stored, situation: "Situation") -> list[str]:
        return [numbers.write(NumberField.load(self, stored["n"])), stored["unit"]]

    def say(self, stored: Stored, situation: "Situation") -> str:
        return _with_unit(self.write(stored, situation)[0], self.measures[stored["unit"]][0])


def _with_unit(text: str, unit: Text) -> str:
    return f"{text}{formats.THIN}{unit}" if unit else text
