"""The kinds of questions. Each field knows why it is asked, when it applies, and three forms of its answer:

the *text* that a person typed or an input shows, the *stored* value (JSON, the same in every language), and the *value*
that a Workload is built from. A stored value is one of: what the field's `store` gives; None, left empty on purpose;
`UNKNOWN`, the customer does not know; `{"raw": text}`, typed but not understood, kept so that nothing is lost.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import InvalidOperation
from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.forms.widgets import ChoiceWidget
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from configurator import formats

if TYPE_CHECKING:
    from configurator.wizard.situation import Situation

type Text = str | Promise
type Stored = Any
type Choices = Sequence[tuple[str, Text]]

UNKNOWN: Mapping[str, bool] = {"unknown": True}
DONT_KNOW = gettext_lazy("I don't know")
RAW_LIMIT = 200  # characters kept of a text that was not understood


def is_unknown(stored: Stored) -> bool:
    return isinstance(stored, Mapping) and stored.get("unknown") is True


def raw_of(stored: Stored) -> Any:
    """What was typed and not understood, or None."""
    return stored.get("raw") if isinstance(stored, Mapping) else None


class Question(forms.Field):
    """A form field that is a question of the questionnaire.

    `when` says from the other steps' answers whether it is asked at all. `shown_if` names a question of the same step
    and the answers to it under which this one counts. `expert` questions hide until the expert view is on.
    `units` may follow a number. `optional` questions may be left empty, which means: no wish.
    """

    asks_in_list = False  # 'I don't know' is one of the choices instead of a box beside the input
    is_kept = True  # False: no answer itself, but a way to another one
    raw_limit = RAW_LIMIT

    def __init__(
        self,
        label: Text,
        *,
        why: Text,
        help_text: Text = "",
        unit: Text = "",
        expert: bool = False,
        optional: bool = False,
        can_skip: bool = True,
        when: "Callable[[Situation], bool] | None" = None,
        shown_if: tuple[str, frozenset[str]] | None = None,
        widget: forms.Widget | None = None,
    ) -> None:
        # Django's stubs want their own class of lazy text; any lazy text does.
        super().__init__(
            label=cast(str, label), help_text=cast(str, help_text), required=not optional, widget=widget
        )
        self.why, self.unit, self.expert, self.can_skip = why, unit, expert, can_skip
        self.when, self.shown_if = when, shown_if
        self.assumption: Text = ""
        self.situation: Situation | None = None

    # ── what subclasses say ─────────────────────────────────────────────────────────────────────────────────────

    def parse(self, text: Any, situation: "Situation") -> Any:
        """The value that a non-empty `text` says; raises ValidationError with a sentence for the customer."""
        raise NotImplementedError

    def posted(self, name: str, shown: Any) -> dict[str, Any]:
        """The form data that a browser sends for what the input shows."""
        return {name: shown}

    def store(self, value: Any) -> Stored:
        return value

    def keep(self, text: Any) -> Any:
        """What is kept of a `text` that was not understood, so that nothing is lost."""
        limit = self.raw_limit
        return [str(part)[:limit] for part in text][:50] if isinstance(text, list) else str(text)[:limit]

    def load(self, stored: Stored) -> Any:
        """The value of what `store` gave. Raises ValueError for anything else."""
        raise NotImplementedError

    def write(self, stored: Stored, situation: "Situation") -> Any:
        """What the input shows for `stored` (which `load` accepts), in the active language."""
        return str(stored)

    def say(self, stored: Stored, situation: "Situation") -> str:
        """The answer in words, in the active language."""
        return str(self.write(stored, situation))

    # ── what all have in common ─────────────────────────────────────────────────────────────────────────────────

    def clean(self, text: Any) -> Any:
        if self.situation is None:
            raise RuntimeError("a question is cleaned by a StepForm, which gives it its situation")
        return self.read(text, self.situation)

    def read(self, text: Any, situation: "Situation") -> Any:
        """The value of `text`, None when empty and optional; raises ValidationError."""
        text = tidy(text)
        if not any(text) if isinstance(text, list) else not text:
            if not self.required:
                return None
            raise ValidationError(self.missing())
        return self.parse(text, situation)

    def missing(self) -> str:
        return gettext("Fill this in, or tick ‘I don't know’.") if self.can_skip else gettext("Fill this in.")

    def accepts(self, stored: Stored) -> bool:
        """Whether `stored` is a real answer: neither unknown, nor not understood, nor of another shape."""
        if stored is None:
            return not self.required
        try:
            self.load(stored)
        except (ValueError, TypeError, KeyError, AttributeError, InvalidOperation):
            return False
        return True


# NUL, soft hyphen, zero-width space, word joiner, byte order mark, and all that turns the direction of writing: they
# come along with a copy from elsewhere, hide in numbers, and turn the rest of a line of a quote around.
INVISIBLE = str.maketrans(
    "", "", "\0\u00ad\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
)


def tidy(text: Any) -> Any:
    """Text without what no database stores and no person types or sees."""
    if isinstance(text, list):
        return [tidy(part) for part in text]
    return (text or "").translate(INVISIBLE).strip() if isinstance(text, str | None) else text


# ── choices ─────────────────────────────────────────────────────────────────────────────────────────────────────


class ChoiceQuestion(Question):
    """One of `choices` (value, name); `descriptions` explain them under their names."""

    asks_in_list = True

    def __init__(
        self,
        label: Text,
        choices: Choices,
        *,
        descriptions: Mapping[str, Text] | None = None,
        icons: Mapping[str, str] | None = None,
        **rest: Any,
    ) -> None:
        super().__init__(label, widget=self.make_widget(), **rest)
        self.choices: list[tuple[str, Text]] = [*choices]
        if self.can_skip:
            self.choices.append(("unknown", DONT_KNOW))
        self.descriptions, self.icons = dict(descriptions or {}), dict(icons or {})
        self.widget.choices = self.choices

    def make_widget(self) -> ChoiceWidget:
        return forms.RadioSelect()

    def parse(self, text: Any, situation: "Situation") -> Any:
        if text not in dict(self.choices):
            raise ValidationError(gettext("Choose one of the answers."))
        return str(text)

    def missing(self) -> str:
        return gettext("Choose one of the answers.")

    def load(self, stored: Stored) -> Any:
        if stored not in dict(self.choices):
            raise ValueError(stored)
        return str(stored)

    def say(self, stored: Stored, situation: "Situation") -> str:
        return str(dict(self.choices)[stored])


class SelectQuestion(ChoiceQuestion):
    """One of many choices, which may come in named groups."""

    def __init__(self, label: Text, groups: Sequence[tuple[Text, Choices]], **rest: Any) -> None:
        super().__init__(label, [choice for _, choices in groups for choice in choices], **rest)
        grouped: list[Any] = [(name, choices) if name else choices for name, choices in groups]
        if len(groups) == 1 and not groups[0][0]:
            grouped = list(groups[0][1])
        self.widget.choices = [*grouped, *([("unknown", DONT_KNOW)] if self.can_skip else [])]

    def make_widget(self) -> ChoiceWidget:
        return forms.Select()


class ManyQuestion(ChoiceQuestion):
    """Any of `choices`. Stored as a list."""

    def make_widget(self) -> ChoiceWidget:
        return forms.CheckboxSelectMultiple()

    def parse(self, text: Any, situation: "Situation") -> tuple[str, ...]:
        if not set(text) <= set(dict(self.choices)):
            raise ValidationError(gettext("Choose from the answers."))
        return tuple(value for value, _ in self.choices if value in text)

    def missing(self) -> str:
        return gettext("Choose at least one answer.")

    def store(self, value: tuple[str, ...]) -> list[str]:
        return list(value)

    def load(self, stored: Stored) -> tuple[str, ...]:
        if not isinstance(stored, list) or not set(stored) <= set(dict(self.choices)):
            raise ValueError(stored)
        return tuple(stored)

    def write(self, stored: Stored, situation: "Situation") -> list[str]:
        return list(stored)

    def say(self, stored: Stored, situation: "Situation") -> str:
        return ", ".join(str(name) for value, name in self.choices if value in stored)


def yes_no(label: Text, *, yes: Text = "", no: Text = "", **rest: Any) -> ChoiceQuestion:
    """Yes or no, with an optional word of explanation to each; the value is the text `yes` or `no`."""
    choices = (("yes", gettext_lazy("Yes")), ("no", gettext_lazy("No")))
    notes = {key: text for key, text in (("yes", yes), ("no", no)) if text}
    return ChoiceQuestion(label, choices, descriptions=notes, **rest)


# ── text and dates ──────────────────────────────────────────────────────────────────────────────────────────────


class TextQuestion(Question):
    """A short text."""

    def __init__(self, label: Text, *, longest: int, **rest: Any) -> None:
        super().__init__(label, widget=forms.TextInput({"maxlength": longest, "autocomplete": "off"}), **rest)
        self.longest = longest

    def parse(self, text: Any, situation: "Situation") -> str:
        if len(text) > self.longest:
            raise ValidationError(gettext("Use at most {number} characters.").format(number=self.longest))
        return " ".join(text.split())

    def load(self, stored: Stored) -> str:
        if not isinstance(stored, str):
            raise ValueError(stored)
        return stored


class DateQuestion(Question):
    """A date, as the browser's own date input sends it (2027-01-31) or as people write it (31-1-2027)."""

    def __init__(self, label: Text, **rest: Any) -> None:
        super().__init__(label, widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"), **rest)

    def parse(self, text: Any, situation: "Situation") -> date:
        try:
            return forms.DateField(input_formats=["%Y-%m-%d", "%d-%m-%Y", "%d/%m/%Y"]).clean(text)
        except ValidationError:
            raise ValidationError(gettext("Write the date as day-month-year, such as 31-1-2027.")) from None

    def store(self, value: date) -> str:
        return value.isoformat()

    def load(self, stored: Stored) -> date:
        return date.fromisoformat(stored)

    def say(self, stored: Stored, situation: "Situation") -> str:
        return formats.day(self.load(stored))
