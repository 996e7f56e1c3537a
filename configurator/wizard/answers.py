"""From answers to a Workload, with everything that was assumed and everything that is wrong.

Answers are read once, here, into domain types. What the customer does not know (or has not reached yet) is taken from
the presets and stated; what is impossible comes back as a Problem at the step and question where it can be mended.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pydantic
from django.utils.translation import gettext as _

from catalog.specs import CatalogSnapshot
from configurator.wizard.building import workload_of
from configurator.wizard.fields import Stored
from configurator.wizard.reading import Assumed, Book, Problem
from configurator.wizard.situation import USE, Answers, chosen_use_cases
from configurator.wizard.steps import FORMS, Step, find_step, situation_of
from configurator.workload import Workload

if TYPE_CHECKING:
    from configurator.models import Draft


@dataclass(frozen=True)
class Assessment:
    """What the answers come to."""

    workload: Workload | None  # None when there are problems
    problems: tuple[Problem, ...]
    assumed: tuple[Assumed, ...]


class AnswersInvalid(ValueError):
    """The answers do not make a Workload; `problems` say why, never empty."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = problems


def build_workload(answers: Answers, snapshot: CatalogSnapshot) -> Workload:
    """The Workload that `answers` describe. Raises AnswersInvalid. Sentences are in the active language."""
    assessment = assess(answers, snapshot)
    if assessment.workload is None:
        raise AnswersInvalid(assessment.problems)
    return assessment.workload


def merged(
    draft: "Draft", step: str, post_data: Any, snapshot: CatalogSnapshot
) -> tuple[Answers, tuple[Problem, ...]]:
    """The draft's answers with what was posted for `step` in their place (nothing is saved), and that step's problems.

    An unknown step changes nothing.
    """
    found = find_step(step, draft.answers)
    if found is None or not FORMS[found.kind]:
        return draft.answers, ()
    answers = with_step(draft.answers, found, post_data, snapshot, expert=draft.expert)
    problems = assess(answers, snapshot).problems
    return answers, tuple(problem for problem in problems if problem.step == found.slug)


def with_step(
    answers: Answers, step: Step, post_data: Any, snapshot: CatalogSnapshot, *, expert: bool
) -> dict[str, Any]:
    """`answers` with what was posted for `step` in the place of that step's answers."""
    collected: dict[str, Stored] = dict(step.stored(answers))
    for form in step.forms(situation_of(answers, snapshot, expert=expert), post_data):
        collected |= form.collect()
    return {**answers, step.slug: collected}


# ── assessing ────────────────────────────────────────────────────────────────────────────────────────────────────


def assess(answers: Answers, snapshot: CatalogSnapshot) -> Assessment:
    """Everything that can be said about `answers`: the Workload, or the problems; and all assumptions."""
    book = Book(situation_of(answers, snapshot))
    chosen = chosen_use_cases(answers)
    if not chosen:
        message = _("Choose one of the answers.")
        return Assessment(None, (Problem(USE, "use_case", message),), ())
    wanted = workload_of(book, chosen)
    workload = None
    if not book.problems:
        try:
            workload = Workload.model_validate(wanted)
        except pydantic.ValidationError as error:
            book.problems += _mapped(error, book)
    return Assessment(workload, tuple(dict.fromkeys(book.problems)), tuple(book.assumed))


def _mapped(error: pydantic.ValidationError, book: Book) -> Iterator[Problem]:
    """A mistake that no question caught, at the question that fills the refused path."""
    message = _("We cannot calculate with this answer. Change it, or say that you don't know.")
    for detail in error.errors(include_url=False, include_input=False, include_context=False):
        path = ".".join(str(part) for part in detail["loc"] if part not in {"language", "rate"})
        step, name = book.paths.get(path, (USE, "use_case"))
        yield Problem(step, name, message)
