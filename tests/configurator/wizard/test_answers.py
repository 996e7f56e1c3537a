"""Impossible wishes get an answer at the right question; what is unknown is assumed and said."""

from typing import Any

import pytest
from django.http import QueryDict
from django.utils import translation

from catalog.specs import CatalogSnapshot
from configurator.models import Draft
from configurator.wizard.answers import AnswersInvalid, assess, build_workload, merged, with_step
from configurator.wizard.fields import UNKNOWN
from configurator.wizard.steps import find_step
from configurator.workload import Method

CHAT = {"use": {"use_case": "document_chat"}}
LOAD, MODEL = "load-document-chat", "model-document-chat"


def post(answers: dict[str, Any], slug: str, catalog: CatalogSnapshot, **typed: Any) -> dict[str, Any]:
    """The answers after `typed` was posted for step `slug`."""
    data = QueryDict(mutable=True)
    for name, value in typed.items():
        data.setlist(name, value if isinstance(value, list) else [value])
    step = find_step(slug, answers)
    assert step is not None
    return with_step(answers, step, data, catalog, expert=True)


@pytest.mark.parametrize(
    ("slug", "typed", "name", "sentence"),
    [
        (LOAD, {"people": "0"}, "people", "at least 1"),
        (LOAD, {"people": "-5"}, "people", "at least 1"),
        (LOAD, {"people": "1000000000"}, "people", "at most 100 million"),
        (LOAD, {"people": "1e30"}, "people", "at most 100 million"),
        (LOAD, {"people": "two"}, "people", "‘two’ is not a number"),
        (LOAD, {"people": "1.5"}, "people", "whole number"),
        (LOAD, {"people": ""}, "people", "tick ‘I don't know’"),
        (LOAD, {"people": "300", "at_once": "400"}, "at_once", "more people at once"),
        (LOAD, {"at_once": "0%"}, "at_once", "more than 0"),
        (LOAD, {"at_once": "101%"}, "at_once", "at most 100"),
        (LOAD, {"at_once": "%"}, "at_once", "not a number"),
        (LOAD, {"prompt": "200000", "prompt_unit": "tokens"}, "prompt", "at most 131,072 tokens"),
        (LOAD, {"longest": "1000", "longest_unit": "pages"}, "longest", "at most 131,072 tokens"),
        (LOAD, {"prompt": "3000", "prompt_unit": "parsecs"}, "prompt", "Choose a unit"),
        (LOAD, {"pace": "warp"}, "pace", "Choose one of the answers"),
        (LOAD, {"ttft_s": "0"}, "ttft_s", "at least 0.01"),
        (MODEL, {"source": "catalog", "model": ""}, "model", "Choose a model"),
        (MODEL, {"source": "catalog", "model": "Llama-9"}, "model", "Do you mean Llama"),
        (MODEL, {"source": "catalog", "model": "zzzzzzzz"}, "model", "We do not know this model"),
        (MODEL, {"source": "size", "params_b": ""}, "params_b", "Fill this in"),
        (MODEL, {"source": "size", "params_b": "30000"}, "params_b", "at most 20,000"),
        (MODEL, {"task": "both", "sequence": "500000"}, "sequence", "at most 131,072"),
        ("data", {"data_size": "-1", "data_size_unit": "tb"}, "data_size", "at least 0"),
        ("data", {"copies": "11"}, "copies", "at most 10"),
        ("site", {"power_kw": "0", "cooling": ["air"]}, "power_kw", "at least 0.01"),
        ("site", {"cooling": []}, "cooling", "at least one"),
        ("site", {"cooling": ["air", "ice"]}, "cooling", "Choose from the answers"),
        ("plan", {"budget": "-1000"}, "budget", "at least 1"),
        ("plan", {"budget": "1e12"}, "budget", "at most 100 billion"),
        ("plan", {"start_on": "2020-01-01"}, "start_on", "has passed"),
        ("plan", {"start_on": "tomorrow"}, "start_on", "day-month-year"),
        ("plan", {"preference": "cloud", "cloud_allowed": "no"}, "cloud_allowed", "Change one of the two"),
        ("plan", {"title": "x" * 81}, "title", "at most 80"),
    ],
)
def test_an_impossible_wish_is_answered(
    seed: CatalogSnapshot, english: None, slug: str, typed: dict[str, Any], name: str, sentence: str
) -> None:
    assessment = assess(post(CHAT, slug, seed, **typed), seed)
    assert assessment.workload is None
    assert [(problem.step, problem.field) for problem in assessment.problems] == [(slug, name)]
    assert sentence in assessment.problems[0].message


def test_the_sentence_is_in_the_language_of_the_reader(seed: CatalogSnapshot) -> None:
    with translation.override("nl"):
        answers = post(CHAT, LOAD, seed, people="1e30")
        assert "hoogstens 100 miljoen" in assess(answers, seed).problems[0].message
    with translation.override("en"):
        assert "at most 100 million" in assess(answers, seed).problems[0].message


def test_numbers_are_stored_the_same_in_every_language(seed: CatalogSnapshot) -> None:
    with translation.override("nl"):
        dutch = post(CHAT, "site", seed, electricity="0,25", power_kw="1.500,5")
    with translation.override("en"):
        assert dutch == post(CHAT, "site", seed, electricity="0.25", power_kw="1,500.5")


def test_confidential_data_stays_at_home(seed: CatalogSnapshot, english: None) -> None:
    answers = post(post(CHAT, "data", seed, confidential="yes"), "plan", seed, preference="hybrid")
    assert [problem.field for problem in assess(answers, seed).problems] == ["preference"]


def test_who_wants_to_rent_and_does_not_know_is_not_held_to_the_careful_side(
    seed: CatalogSnapshot, english: None
) -> None:
    answers = post(post(CHAT, "data", seed, confidential="unknown"), "plan", seed, preference="hybrid")
    workload = build_workload(answers, seed)
    assert not workload.is_confidential
    assert workload.placement.cloud_allowed
    assert "services.0.confidential" in workload.assumed


@pytest.mark.parametrize(("confidential", "allowed"), [("yes", False), ("no", True)])
def test_whether_a_cloud_is_allowed_follows_from_the_data(
    seed: CatalogSnapshot, english: None, confidential: str, allowed: bool
) -> None:
    answers = post(CHAT, "data", seed, confidential=confidential)
    assert build_workload(answers, seed).placement.cloud_allowed is allowed


def test_everything_unknown_is_assumed_and_said(seed: CatalogSnapshot, english: None) -> None:
    assessment = assess(CHAT, seed)
    assert assessment.workload is not None
    said = {one.path for one in assessment.assumed}
    assert {
        "services.0.prompt_tokens",
        "services.0.model",
        "site.power_available_kw",
        "budget.max_eur",
    } <= said
    assert all(str(one.reason) for one in assessment.assumed)
    # What only one of the two tables knows would be printed without a value, or used without being printed.
    assert {path for path in said if path != "confidential"} <= assessment.workload.assumed | {"services"}


def test_an_answer_is_not_an_assumption(seed: CatalogSnapshot, english: None) -> None:
    answers = post(CHAT, LOAD, seed, people="300", at_once="60")
    workload = build_workload(answers, seed)
    assert not {"services.0.users", "services.0.concurrent_requests"} & workload.assumed


@pytest.mark.parametrize(
    ("people", "at_once", "requests"),
    [("300", "60", 60), ("300", "20%", 60), ("3", "10 %", 1), ("2,000", "0.5%", 10)],
)
def test_requests_at_once_are_people_times_their_share(
    seed: CatalogSnapshot, english: None, people: str, at_once: str, requests: float
) -> None:
    answers = post(CHAT, LOAD, seed, people=people, at_once=at_once)
    [service] = build_workload(answers, seed).services
    assert service.concurrent_requests == requests


@pytest.mark.parametrize(
    ("text", "unit", "tokens"), [("3000", "tokens", 3000), ("300", "words", 400), ("3", "pages", 2000)]
)
def test_words_and_pages_become_tokens(
    seed: CatalogSnapshot, english: None, text: str, unit: str, tokens: int
) -> None:
    answers = post(CHAT, LOAD, seed, prompt=text, prompt_unit=unit)
    [service] = build_workload(answers, seed).services
    assert service.prompt_tokens == tokens


def test_pages_of_a_day_become_requests_at_once(seed: CatalogSnapshot, english: None) -> None:
    """Little's law: 28,800 pages in 8 hours is one a second, and each takes 2 s + 300 tokens at 20 a second."""
    use = {"use": {"use_case": "document_extraction"}}
    answers = post(
        use, "load-document-extraction", seed, pages_day="28,800", done_within="8", done_within_unit="hours"
    )
    [service] = build_workload(answers, seed).services
    assert service.concurrent_requests == pytest.approx(17)
    assert service.ttft_p95_s is None


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ({"source": "catalog", "model": "llama 3.1 70b"}, "meta-llama/Meta-Llama-3.1-70B"),
        ({"source": "catalog", "model": "openai/gpt-oss-20b"}, "openai/gpt-oss-20b"),
        ({"source": "advise"}, "openai/gpt-oss-120b"),
        ({"source": "size", "params_b": "70B"}, None),
    ],
)
def test_a_model_is_found_by_name_by_size_or_by_advice(
    seed: CatalogSnapshot, english: None, typed: dict[str, str], expected: str | None
) -> None:
    [service] = build_workload(post(CHAT, MODEL, seed, **typed), seed).services
    assert service.model.key == expected
    assert expected or service.model.params_b == 70
    assert ("services.0.model" in build_workload(post(CHAT, MODEL, seed, **typed), seed).assumed) == (
        typed["source"] == "advise"
    )


def test_a_model_that_left_the_catalog_is_named_as_a_problem(seed: CatalogSnapshot, english: None) -> None:
    answers = post(CHAT, MODEL, seed, source="catalog", model="gpt-oss-120b")
    without = CatalogSnapshot(version="", taken_on=seed.taken_on, models=seed.models[:3])
    assert [problem.field for problem in assess(answers, without).problems] == ["model"]


def test_a_catalog_without_models_still_gives_advice(seed: CatalogSnapshot, english: None) -> None:
    bare = CatalogSnapshot(version="", taken_on=seed.taken_on)
    workload = assess(CHAT, bare).workload
    assert workload is not None
    assert workload.services[0].model.params_b == 8


def test_who_does_not_know_how_many_people_may_still_say_how_many_at_once(
    seed: CatalogSnapshot, english: None
) -> None:
    [service] = build_workload(post(CHAT, LOAD, seed, at_once="400"), seed).services
    assert (service.users, service.concurrent_requests) == (400, 400)


def test_hybrid_is_a_service_and_a_job_on_one_model(seed: CatalogSnapshot, english: None) -> None:
    answers = post(CHAT, MODEL, seed, task="both", method="qlora", source="catalog", model="Qwen3-8B")
    workload = build_workload(answers, seed)
    [service], [job] = workload.services, workload.jobs
    assert service.model == job.model
    assert job.method is Method.QLORA
    assert service.name != job.name


def test_several_use_cases_share_one_system(seed: CatalogSnapshot, english: None) -> None:
    answers = {"use": {"use_case": "document_chat", "also": ["speech", "embedding_search", "fine_tune"]}}
    workload = build_workload(answers, seed)
    assert [service.name for service in workload.services] == [
        "document_chat", "speech", "embedding_search", "fine_tune",
    ]  # fmt: skip
    assert [job.name for job in workload.jobs] == ["fine_tune_training"]


def test_training_must_be_done_before_the_next_begins(seed: CatalogSnapshot, english: None) -> None:
    use = {"use": {"use_case": "fine_tune"}}
    typed = {"deadline": "10", "deadline_unit": "days", "runs": "weekly"}
    [problem] = assess(post(use, "load-fine-tune", seed, **typed), seed).problems
    assert (problem.field, problem.step) == ("deadline", "load-fine-tune")


@pytest.mark.parametrize(
    ("typed", "samples", "terabytes"),
    [
        ({"train_data": "2", "train_data_unit": "tb", "sample_kb": "500"}, 4_000_000, 2),
        ({"train_data": "4,000,000", "train_data_unit": "items", "sample_kb": "500"}, 4_000_000, 2),
        ({"train_data": "100", "train_data_unit": "gb", "sample_kb": "100"}, 1_000_000, 0.1),
    ],
)
def test_training_data_is_counted_in_bytes_or_in_examples(
    seed: CatalogSnapshot, english: None, typed: dict[str, str], samples: float, terabytes: float
) -> None:
    use = {"use": {"use_case": "image_inspection"}}
    workload = build_workload(post(use, "load-image-inspection", seed, **typed), seed)
    assert workload.jobs[0].samples == samples
    assert workload.data.hot_dataset_tb == terabytes
    assert workload.data.dataset_tb >= terabytes


def test_an_answer_to_a_question_that_no_longer_counts_does_no_harm(
    seed: CatalogSnapshot, english: None
) -> None:
    wrong = post(CHAT, MODEL, seed, source="size", params_b="many")
    assert assess(wrong, seed).problems
    right = post(wrong, MODEL, seed, source="advise", params_b="many")
    assert not assess(right, seed).problems


def test_a_step_with_two_forms_keeps_the_answers_of_both(seed: CatalogSnapshot, english: None) -> None:
    use = {"use": {"use_case": "image_inspection"}}
    first = post(use, "load-image-inspection", seed, cameras="many", epochs="10")
    second = post(first, "load-image-inspection", seed, cameras="40", epochs="20")
    workload = build_workload(second, seed)
    assert (workload.services[0].streams, workload.jobs[0].epochs) == (40, 20)


def test_an_impossible_workload_is_an_exception_only_for_programs(
    seed: CatalogSnapshot, english: None
) -> None:
    with pytest.raises(AnswersInvalid) as caught:
        build_workload({}, seed)
    assert [problem.field for problem in caught.value.problems] == ["use_case"]


def test_merged_answers_are_not_saved(seed: CatalogSnapshot, english: None) -> None:
    draft = Draft(answers=CHAT)
    answers, problems = merged(draft, LOAD, QueryDict("people=0&at_once=5"), seed)
    assert [problem.field for problem in problems] == ["people"]
    assert answers[LOAD]["at_once"] == "5"
    assert draft.answers == CHAT
    assert merged(draft, "nowhere", QueryDict("people=0"), seed) == (CHAT, ())


@pytest.mark.parametrize(
    "stored",
    [UNKNOWN, {"raw": "x"}, None, [], {}, 3, True, "9" * 500, {"n": "x", "unit": "tb"}, {"n": "1"}, ["a"]],
)
def test_answers_that_no_page_wrote_are_no_trouble(seed: CatalogSnapshot, english: None, stored: Any) -> None:
    """The database may hold what an older version wrote."""
    names = ("people", "prompt", "pace", "longest", "at_once")
    answers = {
        **CHAT,
        LOAD: dict.fromkeys(names, stored),
        "site": dict.fromkeys(("cooling", "feed", "power_kw"), stored),
    }
    assessment = assess(answers, seed)
    assert assessment.workload or assessment.problems
