"""What every page of questions does: show stored answers, read what was posted, lose nothing."""

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from configurator.wizard.fields import (
    DONT_KNOW,
    UNKNOWN,
    ChoiceQuestion,
    Question,
    Stored,
    is_unknown,
    raw_of,
    tidy,
)
from configurator.wizard.situation import Situation

UNKNOWN_BOX = "_unknown"


class StepForm(forms.Form):
    """A group of questions with one heading. Bound to what was posted, or to the stored answers to check them.

    `stored` are this step's answers. Questions that the situation does not ask are dropped; expert questions stay when
    the expert view is on or when they were answered.
    """

    title: Any = ""
    use_required_attribute = False

    def __init__(
        self, situation: Situation, stored: Mapping[str, Stored], data: Any = None, *, check: bool = False
    ) -> None:
        self.situation, self.stored = situation, stored
        asked = questions_asked(type(self), situation, stored)
        shown = {name: self._shown(name, question) for name, question in asked.items()}
        self.boxes = _boxes(asked, situation, stored)
        if data is None and check:
            data = _as_posted(asked, shown, self.boxes)
        super().__init__(data, initial={**shown, **self.boxes})
        self.fields = {name: question for name, question in self.fields.items() if name in asked}
        for name, question in list(self.questions()):
            question.situation = situation
            self._say_assumption(name, question)
            if question.can_skip and not question.asks_in_list:
                self.fields[name + UNKNOWN_BOX] = forms.BooleanField(required=False, label=DONT_KNOW)

    def _shown(self, name: str, question: Question) -> Any:
        stored = self.stored.get(name, UNKNOWN)
        raw = raw_of(stored)
        if raw is not None:
            return raw
        if question.asks_in_list and is_unknown(stored) and name in self.stored:
            return ["unknown"] if isinstance(question.widget, forms.CheckboxSelectMultiple) else "unknown"
        if not question.accepts(stored):
            stored = self.situation.default(name).value
        return "" if stored is None else question.write(stored, self.situation)

    def _say_assumption(self, name: str, question: Question) -> None:
        if not question.can_skip:
            return
        text = assumption_text(question, name, self.situation)
        if isinstance(question, ChoiceQuestion):
            question.descriptions = {**question.descriptions, "unknown": text}
        else:
            question.assumption = text

    def clean(self) -> None:
        """Forget mistakes in questions that do not count, or that the customer does not know."""
        for name, question in self.questions():
            if self.data.get(name + UNKNOWN_BOX) or not self._counts(question):
                self.errors.pop(name, None)

    def _counts(self, question: Question) -> bool:
        if question.shown_if is None or question.shown_if[0] not in self.fields:
            return True
        answer = self.cleaned_data.get(question.shown_if[0])
        return is_active(
            question, self.situation, {} if answer == "unknown" else {question.shown_if[0]: answer}
        )

    def wrappers(self) -> Iterator[tuple[forms.BoundField, str]]:
        """Each question with the classes that let the style sheet show it only when it counts."""
        for name, question in self.questions():
            yield self[name], self._classes(question)

    def _classes(self, question: Question) -> str:
        if question.shown_if is None:
            return ""
        deciding, values = question.shown_if
        taken = {*values} | ({"unknown"} if str(self.situation.default(deciding).value) in values else set())
        return " ".join(["when", *(f"when-{deciding}-{value}" for value in sorted(taken))])

    # ── reading what was posted ─────────────────────────────────────────────────────────────────────────────────

    def collect(self) -> dict[str, Stored]:
        """What was posted for the questions of this form. What was not understood is kept as it was typed."""
        collected: dict[str, Stored] = {}
        for name, question in self.questions():
            omitted = question.widget.value_omitted_from_data(self.data, {}, self.add_prefix(name))
            if omitted or not question.is_kept:
                continue
            answer = self._posted(name, question)
            if raw_of(answer) is not None and not is_active(
                question, self.situation, {**self.stored, **collected}
            ):
                continue  # a mistake in a question that does not count is nobody's concern
            collected[name] = answer
        return collected

    def questions(self) -> Iterator[tuple[str, Question]]:
        return ((name, field) for name, field in self.fields.items() if isinstance(field, Question))

    def _posted(self, name: str, question: Question) -> Stored:
        text = tidy(question.widget.value_from_datadict(self.data, {}, name))
        if self._is_unknown(name, question, text):
            return dict(UNKNOWN)
        try:
            value = question.read(text, self.situation)
        except ValidationError:
            return {"raw": question.keep(text)}
        return None if value is None else question.store(value)

    def _is_unknown(self, name: str, question: Question, text: Any) -> bool:
        if question.asks_in_list:
            return "unknown" in (text if isinstance(text, list) else [text])
        if not question.can_skip or not self.data.get(name + UNKNOWN_BOX):
            return False
        # Whoever types in a question whose box was ticked already means the newest of the two.
        return not (self.boxes[name + UNKNOWN_BOX] and self._typed(name, question, text))

    def _typed(self, name: str, question: Question, text: Any) -> bool:
        """Whether `text` is something, and not what the input showed."""
        number = text[0] if isinstance(text, list) else text
        return bool(number) and _texts(text) != _texts(self._shown(name, question))


def _texts(text: Any) -> list[str]:
    return [str(part) for part in (text if isinstance(text, list) else [text])]


def _as_posted(
    asked: Mapping[str, Question], shown: Mapping[str, Any], boxes: Mapping[str, bool]
) -> dict[str, Any]:
    """The form data that a browser would send for what is shown."""
    data: dict[str, Any] = {}
    for name, question in asked.items():
        data |= question.posted(name, shown[name])
    return {**data, **{name: "on" for name, ticked in boxes.items() if ticked}}


def _boxes(
    asked: Mapping[str, Question], situation: Situation, stored: Mapping[str, Stored]
) -> dict[str, bool]:
    """Which boxes 'I don't know' are ticked: also those of questions not yet answered that we cannot fill in either."""
    return {
        name + UNKNOWN_BOX: is_unknown(stored.get(name))
        or (name not in stored and question.required and situation.default(name).value is None)
        for name, question in asked.items()
        if question.can_skip and not question.asks_in_list
    }


# ── which questions are asked, and which count ──────────────────────────────────────────────────────────────────


def questions_asked(
    form: type[StepForm], situation: Situation, stored: Mapping[str, Stored]
) -> dict[str, Question]:
    """The questions of `form` that this situation shows; `stored` are the answers of the step."""
    return {
        name: question
        for name, question in form.base_fields.items()
        if isinstance(question, Question)
        and (question.when is None or question.when(situation))
        and (not question.expert or situation.expert or name in stored)
    }


def is_active(question: Question, situation: Situation, stored: Mapping[str, Stored]) -> bool:
    """Whether the question of the same step that decides about this one is answered so that this one counts."""
    if question.shown_if is None:
        return True
    name, values = question.shown_if
    answer = stored.get(name)
    return (answer if isinstance(answer, str) else str(situation.default(name).value)) in values


def assumption_text(question: Question, name: str, situation: Situation) -> str:
    """What 'I don't know' leads to, as the end of a sentence."""
    default = situation.default(name)
    if default.value is None or default.value == []:
        return str(default.reason)
    if default.value == "unknown":
        return str(default.reason)
    value = question.say(default.value, situation)
    return _("then we count on {value}: {reason}").format(
        value=f"‘{value}’" if question.asks_in_list else value, reason=default.reason
    )
