"""What we fill in is an answer that its question accepts, with a reason, in both languages."""

import pytest

from configurator.wizard.answers import assess
from configurator.wizard.forms import StepForm
from configurator.wizard.presets import (
    DEFAULTS,
    DOMAIN_DEFAULTS,
    METHOD_DEFAULTS,
    PRESETS,
    RATE_MODELS,
    RATE_MODELS_BY_KEY,
    load_name,
)
from configurator.wizard.situation import Situation
from configurator.wizard.steps import FORMS, steps_for
from configurator.workload import Domain, UseCase
from quotes.sizing.rates.offered import MODELS

ALL_FORMS: list[type[StepForm]] = [form for forms in FORMS.values() for form in forms]
TASKS = ("serve", "train", "both")


def answers_of(use_case: UseCase, task: str = "", **model: str) -> dict[str, dict[str, str]]:
    step = {**({"task": task} if task else {}), **model}
    return {"use": {"use_case": use_case.value}, f"model-{use_case.value.replace('_', '-')}": step}


def test_every_use_case_has_a_card() -> None:
    assert set(PRESETS) == set(UseCase)


@pytest.mark.parametrize("use_case", UseCase)
@pytest.mark.parametrize("task", TASKS)
def test_every_default_is_an_answer_to_its_question(seed, use_case: UseCase, task: str) -> None:
    answers = answers_of(use_case, task)
    situation = Situation(answers, seed, expert=True)
    for step in steps_for(answers):
        for name, question in step.questions(situation).items():
            default = situation.of(step.use_case).default(name)
            if default.value not in (None, "unknown"):
                assert question.accepts(default.value), (step.slug, name, default)
            if question.can_skip:
                assert default.reason, (step.slug, name)


@pytest.mark.parametrize("use_case", UseCase)
def test_a_use_case_alone_makes_a_workload(seed, use_case: UseCase) -> None:
    assessment = assess(answers_of(use_case), seed)
    assert not assessment.problems
    assert assessment.workload is not None


@pytest.mark.parametrize("use_case", [case for case in UseCase if PRESETS[case].kind == "language"])
@pytest.mark.parametrize("task", TASKS)
def test_the_task_decides_what_the_workload_holds(seed, use_case: UseCase, task: str) -> None:
    workload = assess(answers_of(use_case, task), seed).workload
    assert workload is not None
    assert bool(workload.services) == (task != "train")
    assert bool(workload.jobs) == (task != "serve")


@pytest.mark.parametrize("key", RATE_MODELS_BY_KEY)
@pytest.mark.parametrize("task", TASKS)
def test_every_measured_model_can_be_chosen(seed, key: str, task: str) -> None:
    model = RATE_MODELS_BY_KEY[key]
    answers = answers_of(UseCase.CUSTOM, task, rate_model=key)
    answers["use"]["what"] = "rate"
    assessment = assess(answers, seed)
    if task != "serve" and not model.trains:
        assert [problem.field for problem in assessment.problems] == ["task"]
        return
    assert assessment.workload is not None
    parts = (*assessment.workload.services, *assessment.workload.jobs)
    assert {(part.domain, part.model) for part in parts} == {(model.domain, model.name)}


def test_every_domain_has_a_model() -> None:
    assert {model.domain for model in RATE_MODELS} == set(Domain)


def test_every_question_has_a_default() -> None:
    tables = [
        DEFAULTS,
        *METHOD_DEFAULTS.values(),
        *DOMAIN_DEFAULTS.values(),
        *(preset.defaults for preset in PRESETS.values()),
    ]
    questions = {name for form in ALL_FORMS for name in form.base_fields}
    assert questions == set(DEFAULTS) | {name for table in tables for name in table if name in questions}
    assert {name for table in tables for name in table} <= questions


def test_every_question_says_why() -> None:
    for form in ALL_FORMS:
        for name, question in form.base_fields.items():
            assert question.why, name


@pytest.mark.parametrize("use_case", [case for case in UseCase if PRESETS[case].advice])
def test_the_catalog_has_a_model_to_advise(seed, use_case: UseCase) -> None:
    assert Situation({}, seed, use_case).advised is not None


def test_the_models_that_are_offered_have_measured_rates() -> None:
    measured = {(model.domain, model.name): model.train is not None for model in MODELS}
    assert {(one.domain, one.name): one.trains for one in RATE_MODELS} == measured


def test_services_and_jobs_have_names_of_their_own() -> None:
    names = [load_name(use_case, training=training) for use_case in UseCase for training in (False, True)]
    assert len(set(names)) == len(names)
