"""What we fill in is an answer that its question accepts, with a reason, in both languages."""

import csv
from pathlib import Path

import pytest
from django.utils import translation

from configurator.wizard.answers import assess
from configurator.wizard.forms import StepForm
from configurator.wizard.presets import (
    DEFAULTS,
    DOMAIN_DEFAULTS,
    METHOD_DEFAULTS,
    PRESETS,
    RATE_MODELS,
    load_name,
    load_title,
)
from configurator.wizard.situation import Situation
from configurator.wizard.steps import FORMS, steps_for
from configurator.workload import Domain, UseCase

RATES = Path(__file__).resolve().parents[3] / "quotes" / "sizing" / "data" / "rates.csv"
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
@pytest.mark.parametrize("task", TASKS)
def test_a_use_case_alone_makes_a_workload(seed, use_case: UseCase, task: str) -> None:
    assessment = assess(answers_of(use_case, task), seed)
    assert not assessment.problems
    assert assessment.workload is not None
    assert bool(assessment.workload.services) == (task != "train")
    assert bool(assessment.workload.jobs) == (task != "serve")


@pytest.mark.parametrize("domain", Domain)
@pytest.mark.parametrize("task", TASKS)
def test_every_kind_of_model_can_be_chosen(seed, domain: Domain, task: str) -> None:
    model = next(f"{one.domain}:{one.name}" for one in RATE_MODELS if one.domain is domain)
    answers = answers_of(UseCase.CUSTOM, task, rate_model=model)
    answers["use"]["what"] = "rate"
    workload = assess(answers, seed).workload
    assert workload is not None
    assert {part.domain for part in (*workload.services, *workload.jobs)} == {domain}


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


@pytest.mark.skipif(not RATES.exists(), reason="there is no table of measured rates")
def test_the_models_that_are_offered_have_measured_rates() -> None:
    with RATES.open(newline="") as file:
        measured = {(row["domain"], row["model"]) for row in csv.DictReader(file)}
    assert {(str(one.domain), one.name) for one in RATE_MODELS} <= measured


@pytest.mark.parametrize("use_case", UseCase)
def test_names_of_loads_become_titles(use_case: UseCase) -> None:
    with translation.override("en"):
        assert load_title(load_name(use_case, training=False)) == PRESETS[use_case].title
        assert load_title(load_name(use_case, training=True)) == f"{PRESETS[use_case].title} (training)"
        assert load_title("a name of its own") == "a name of its own"
