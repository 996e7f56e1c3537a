"""The answers as the check page lists them."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from django.urls import reverse

from catalog.specs import CatalogSnapshot
from configurator.wizard.answers import Assessment
from configurator.wizard.fields import UNKNOWN, Question, Stored, is_unknown, raw_of
from configurator.wizard.forms import is_active
from configurator.wizard.presets import OURS
from configurator.wizard.reading import Assumed, Problem
from configurator.wizard.situation import Answers, Situation
from configurator.wizard.steps import Step, situation_of, steps_for


class Row(NamedTuple):
    label: str
    value: str
    state: str  # "given", "suggested" (as we filled it in), "assumed" or "wrong"
    url: str


class Section(NamedTuple):
    title: str
    about: str  # the use case, when there are several
    rows: list[Row]


def address(token: str, slug: str, name: str) -> str:
    """Where an answer is changed; from there the way leads back to the check page."""
    return f"{reverse('wizard:step', args=[token, slug])}?return=check#q-{name}"


def sections(token: str, answers: Answers, catalog: CatalogSnapshot, assessment: Assessment) -> list[Section]:
    """Every question that counts, by step, with its answer in the active language."""
    problems = {(problem.step, problem.field): problem for problem in assessment.problems}
    taken = {(one.step, one.field): one for one in reversed(assessment.assumed)}
    situation = situation_of(answers, catalog)
    made = []
    for step in steps_for(answers):
        seen, stored = situation.of(step.use_case), step.stored(answers)
        rows = [
            _row(token, step, name, question, seen, taken, problems)
            for name, question in step.questions(situation).items()
            if question.is_kept and is_active(question, seen, stored)
        ]
        if rows:
            made.append(Section(step.heading, step.about, rows))
    return made


def _row(
    token: str,
    step: Step,
    name: str,
    question: Question,
    seen: Situation,
    taken: Mapping[tuple[str, str], Assumed],
    problems: Mapping[tuple[str, str], Problem],
) -> Row:
    stored = step.stored(seen.answers).get(name, UNKNOWN)
    key, url = (step.slug, name), address(token, step.slug, name)
    raw = raw_of(stored)
    if key in problems or raw is not None:
        text = " ".join(part for part in (raw if isinstance(raw, list) else [raw]) if part)
        if raw is None and question.accepts(stored) and stored:
            text = question.say(stored, seen)
        return Row(str(question.label), text[:80] or "–", "wrong", url)
    default = seen.default(name).value
    if is_unknown(stored) or not question.accepts(stored):
        assumed = taken.get(key)
        value = assumed.value or str(assumed.reason) if assumed else _said(question, default, seen)
        return Row(str(question.label), value, "assumed", url)
    value = _said(question, stored, seen)
    if key in taken and taken[key].value:  # an answer such as 'advise me', and what it led to
        value = f"{value}: {taken[key].value}"
    return Row(str(question.label), value, "suggested" if stored == default and stored else "given", url)


def _said(question: Question, stored: Stored, seen: Situation) -> str:
    if stored is None or stored in ("", [], "unknown"):
        return "–"
    return question.say(stored, seen)


class AssumedRow(NamedTuple):
    assumed: Assumed
    source: str  # empty for a planning value of our own
    url: str


def assumptions(
    token: str, answers: Answers, catalog: CatalogSnapshot, assessment: Assessment
) -> tuple[list[AssumedRow], list[AssumedRow]]:
    """What we filled in, once per question, in the order of the questions: (plain ones, technical ones)."""
    situation = situation_of(answers, catalog, expert=True)
    order = {
        (step.slug, name): index
        for index, (step, name) in enumerate(
            (step, name) for step in steps_for(answers) for name in step.questions(situation)
        )
    }
    once = {(one.step, one.field): one for one in reversed(assessment.assumed)}
    rows = [
        AssumedRow(
            once[key],
            "" if once[key].source == OURS else str(once[key].source),
            address(token, *key),
        )
        for key in sorted(once, key=lambda key: order.get(key, 0))
    ]
    return [row for row in rows if not row.assumed.expert], [row for row in rows if row.assumed.expert]


def troubles(token: str, problems: tuple[Problem, ...]) -> Iterator[dict[str, str]]:
    for problem in problems:
        yield {"text": problem.message, "url": address(token, problem.step, problem.field)}
