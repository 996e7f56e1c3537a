"""Reading answers, with an account of what was assumed and of what is wrong."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError

from configurator.wizard.fields import UNKNOWN, Question, Stored, is_unknown, raw_of
from configurator.wizard.presets import Default, Text
from configurator.wizard.situation import Situation
from configurator.wizard.steps import FORMS, Step
from configurator.workload import UseCase


class Problem(NamedTuple):
    """What stands in the way, in the customer's language, and where it can be mended."""

    step: str
    field: str
    message: str


class Assumed(NamedTuple):
    """What we filled in: `path` in the Workload, the question's label, the value in words, reason and source."""

    step: str
    field: str
    path: str
    label: Text
    value: str
    reason: Text
    source: Text
    expert: bool


@dataclass
class Book:
    """Reads answers and keeps account: what was assumed, what is wrong, and which question fills which path."""

    situation: Situation
    problems: list[Problem] = field(default_factory=list)
    assumed: list[Assumed] = field(default_factory=list)
    paths: dict[str, tuple[str, str]] = field(default_factory=dict)

    def page(self, kind: str, use_case: UseCase | None = None) -> "Page":
        return Page(self, Step(kind, use_case), self.situation.of(use_case))


@dataclass
class Page:
    """The answers of one step."""

    book: Book
    step: Step
    situation: Situation

    @property
    def use_case(self) -> UseCase:
        """The use case of a step that belongs to one."""
        if self.step.use_case is None:
            raise ValueError(f"{self.step.slug} belongs to no use case")
        return self.step.use_case

    def stored(self, name: str) -> Stored:
        return self.step.stored(self.situation.answers).get(name, UNKNOWN)

    def question(self, name: str) -> Question:
        """The question of this name that the situation asks, expert view or not."""
        found = (form.base_fields.get(name) for form in FORMS[self.step.kind])
        return next(
            question
            for question in found
            if isinstance(question, Question) and (question.when is None or question.when(self.situation))
        )

    def get(self, name: str, path: str = "") -> Any:
        """The value of the answer, or of what we take instead, which is then noted as assumed for `path`."""
        question, stored = self.question(name), self.stored(name)
        if path:
            self.book.paths[path] = (self.step.slug, name)
        raw = raw_of(stored)
        if raw is not None:
            try:
                value = question.read(raw, self.situation)
                return value if value is None else question.load(question.store(value))
            except ValidationError as error:
                self.problem(name, error.messages[0])
                return self._default(question, name).value
        if not is_unknown(stored) and question.accepts(stored):
            return stored if stored is None else question.load(stored)
        default = self._default(question, name)
        if path:
            self.assume(
                name, path, question.say(default.stored, self.situation) if default.stored else "", default
            )
        return default.value

    def says(self, name: str) -> bool:
        """Whether the customer gave a real answer to this question."""
        stored = self.stored(name)
        return raw_of(stored) is None and not is_unknown(stored) and self.question(name).accepts(stored)

    def _default(self, question: Question, name: str) -> "Taken":
        default = self.situation.default(name)
        if default.value is None or default.value == "unknown":
            return Taken(None, None, default)
        return Taken(question.load(default.value), default.value, default)

    def assume(self, name: str, path: str, value: str, default: "Taken") -> None:
        question = self.question(name)
        self.book.assumed.append(
            Assumed(
                self.step.slug,
                name,
                path,
                str(question.label),
                value,
                default.why.reason,
                default.why.source,
                question.expert,
            )
        )

    def is_wrong(self, *names: str) -> bool:
        """Whether an answer to one of these questions was found wrong already."""
        return any(one.step == self.step.slug and one.field in names for one in self.book.problems)

    def problem(self, name: str, message: str) -> None:
        self.book.problems.append(Problem(self.step.slug, name, message))


class Taken(NamedTuple):
    """A default: its value, as stored, and why."""

    value: Any
    stored: Stored
    why: Default
