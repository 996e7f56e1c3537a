"""The way through the questionnaire. Which steps there are follows from the answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from catalog.specs import CatalogSnapshot
from configurator.wizard.fields import Question, Stored
from configurator.wizard.forms import StepForm, questions_asked
from configurator.wizard.presets import PRESETS
from configurator.wizard.questions.data import DataForm
from configurator.wizard.questions.existing import ExistingForm
from configurator.wizard.questions.model import LanguageModelForm, RateModelForm
from configurator.wizard.questions.plan import PlanForm
from configurator.wizard.questions.service import LanguageServiceForm, RateServiceForm
from configurator.wizard.questions.site import SiteForm
from configurator.wizard.questions.training import LanguageTrainingForm, RateTrainingForm
from configurator.wizard.questions.use import UseForm
from configurator.wizard.situation import (
    CHECK,
    DATA,
    LOAD,
    MODEL,
    PLAN,
    SITE,
    USE,
    Answers,
    Situation,
    chosen_use_cases,
    slug_of,
)
from configurator.workload import UseCase

FORMS: Mapping[str, tuple[type[StepForm], ...]] = {
    USE: (UseForm,),
    MODEL: (LanguageModelForm, RateModelForm),
    LOAD: (LanguageServiceForm, RateServiceForm, LanguageTrainingForm, RateTrainingForm),
    DATA: (DataForm,),
    SITE: (SiteForm, ExistingForm),
    PLAN: (PlanForm,),
    CHECK: (),
}

# Short for the list of steps, and in full as the heading of the page.
TITLES: Mapping[str, tuple[Any, Any]] = {
    USE: (pgettext_lazy("step", "Use"), _("What do you want to do?")),
    MODEL: (pgettext_lazy("step", "Model"), _("Which model?")),
    LOAD: (pgettext_lazy("step", "Load"), _("How much work is it?")),
    DATA: (pgettext_lazy("step", "Data"), _("Data and storage")),
    SITE: (pgettext_lazy("step", "Site"), _("Site and power")),
    PLAN: (pgettext_lazy("step", "Placement"), _("Placement, growth, budget and delivery")),
    CHECK: (pgettext_lazy("step", "Check"), _("Check your answers")),
}


@dataclass(frozen=True)
class Step:
    """One page. `slug` names it in the address and in the stored answers."""

    kind: str
    use_case: UseCase | None = None
    several: bool = False  # other use cases have a step of this kind as well

    @property
    def slug(self) -> str:
        return slug_of(self.kind, self.use_case)

    @property
    def title(self) -> str:
        """Short, for the list of steps; with several use cases each begins with its own name."""
        return self.about if self.kind == MODEL and self.about else str(TITLES[self.kind][0])

    @property
    def heading(self) -> str:
        return str(TITLES[self.kind][1])

    @property
    def about(self) -> str:
        """The use case, when there are several; empty otherwise."""
        return str(PRESETS[self.use_case].title) if self.use_case and self.several else ""

    def stored(self, answers: Answers) -> Mapping[str, Stored]:
        return answers.get(self.slug, {})

    def questions(self, situation: Situation) -> dict[str, Question]:
        """The questions that this step asks, over all its forms."""
        seen = situation.of(self.use_case)
        asked: dict[str, Question] = {}
        for form in FORMS[self.kind]:
            asked |= questions_asked(form, seen, self.stored(situation.answers))
        return asked

    def forms(self, situation: Situation, data: Any = None, *, check: bool = False) -> list[StepForm]:
        """The forms that ask anything, bound to `data`, or to the stored answers with `check`."""
        seen = situation.of(self.use_case)
        made = [
            form(seen, self.stored(situation.answers), data, check=check)
            for form in FORMS[self.kind]
            if questions_asked(form, seen, self.stored(situation.answers))
        ]
        return [form for form in made if form.fields]


def steps_for(answers: Answers) -> list[Step]:
    """Every step that these answers lead through, the check page last."""
    chosen = chosen_use_cases(answers)
    several = len(chosen) > 1
    middle = [Step(kind, use_case, several) for use_case in chosen for kind in (MODEL, LOAD)]
    return [Step(USE), *middle, Step(DATA), Step(SITE), Step(PLAN), Step(CHECK)]


def find_step(slug: str, answers: Answers) -> Step | None:
    """The step that `slug` names. A step of a use case that is not chosen (any more) exists all the same."""
    for step in steps_for(answers):
        if step.slug == slug:
            return step
    for kind in (MODEL, LOAD):
        for use_case in UseCase:
            if slug == slug_of(kind, use_case):
                return Step(kind, use_case)
    return None


def after(step: Step, answers: Answers) -> Step:
    """The step that follows. What is no longer part of the way leads back to its beginning."""
    way = steps_for(answers)
    slugs = [one.slug for one in way]
    if step.slug not in slugs:
        return way[1]
    return way[min(slugs.index(step.slug) + 1, len(way) - 1)]


def before(step: Step, answers: Answers) -> Step:
    way = steps_for(answers)
    slugs = [one.slug for one in way]
    return way[max(slugs.index(step.slug) - 1, 0)] if step.slug in slugs else way[0]


def situation_of(answers: Answers, catalog: CatalogSnapshot, *, expert: bool = False) -> Situation:
    return Situation(answers, catalog, expert=expert)
