"""Whatever is posted, the site answers: a page, a redirect, not found, or a conflict; never an error of its own."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from configurator.models import Draft
from configurator.wizard.steps import FORMS
from configurator.workload import UseCase

NAMES = sorted({name for forms in FORMS.values() for form in forms for name in form.base_fields})
CHOICES = sorted(
    {
        value
        for forms in FORMS.values()
        for form in forms
        for question in form.base_fields.values()
        for value, _label in getattr(question, "choices", ())
    }
)
SLUGS = [
    "use",
    "data",
    "site",
    "plan",
    "check",
    "nowhere",
    "use-speech",
    "model-document-chat",
    "load-document-chat",
    "model-speech",
    "load-image-inspection",
    "load-fine-tune",
    "model-custom",
    "load-custom",
]
ODD = [
    "\n",
    "",
    "",
    "",
    "0",
    "-1",
    "1e99",
    "1e-9",
    "NaN",
    "∞",
    "12",
    "3,5",
    "1.000",
    "%",
    "50%",
    "\x00",
    "\N{RIGHT-TO-LEFT OVERRIDE}12",
    "on",
    "unknown",
    "2027-01-31",
    "99-99-9999",
    "{}",
    "[[[[",
    "tokens",
    "items",
    "70b\n",
]

texts = st.one_of(
    st.sampled_from(CHOICES),
    st.sampled_from([*ODD, "9" * 39]),
    st.text(max_size=30),
    st.integers().map(str),
    st.floats().map(str),
)
fields = st.one_of(
    st.sampled_from(NAMES),
    st.sampled_from(NAMES).map(lambda name: f"{name}_unknown"),
    st.sampled_from(NAMES).map(lambda name: f"{name}_unit"),
    st.sampled_from(["go", "return", "revision", "step", "pick"]),
)
posts = st.dictionaries(fields, st.lists(texts, min_size=1, max_size=3), max_size=12)
gos = st.sampled_from(
    [
        "next",
        "back",
        "stay",
        "plan",
        "restart",
        "expert:on",
        "language:nl",
        "step:load-speech",
        "estimate",
        "x",
    ]
)
FINE = {200, 302, 404, 409}


def words(stored: Any) -> Iterator[str]:
    """Every text in `stored`, however deep."""
    if isinstance(stored, str):
        yield stored
    elif isinstance(stored, dict):
        yield from (word for part in stored.values() for word in words(part))
    elif isinstance(stored, list):
        yield from (word for part in stored for word in words(part))


@pytest.mark.django_db
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    use=st.sampled_from(sorted(UseCase)),
    also=st.lists(st.sampled_from(sorted(UseCase)), max_size=2),
    steps=st.lists(st.tuples(st.sampled_from(SLUGS), posts, gos), min_size=1, max_size=4),
    expert=st.booleans(),
)
def test_any_post_is_answered(
    client: Client, catalog: None, use: str, also: list[str], steps: list[Any], expert: bool
) -> None:
    draft = Draft.objects.create(answers={"use": {"use_case": use, "also": also}}, expert=expert)
    for slug, data, go in steps:
        address = f"/plan/{draft.token}/{slug}/"
        assert client.post(address, {"go": go, **data}).status_code in FINE
        assert client.get(address).status_code in FINE
    for path in (
        *(f"{slug}/?show=errors&return=check" for slug, _data, _go in steps),
        "check/",
        "",
        "workload.json",
    ):
        assert client.get(f"/plan/{draft.token}/{path}").status_code in FINE
    draft.refresh_from_db()
    assert not {"\x00", "\N{RIGHT-TO-LEFT OVERRIDE}"} & set("".join(words(draft.answers)))


@pytest.mark.django_db
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=posts)
def test_any_start_is_answered(client: Client, catalog: None, data: dict[str, list[str]]) -> None:
    assert client.post("/", data).status_code in FINE
    assert client.get("/", data).status_code in FINE
