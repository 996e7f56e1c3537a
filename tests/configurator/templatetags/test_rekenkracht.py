"""The parts of the design system as they reach the browser."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django import forms
from django.template import Context, Template
from django.test import Client, RequestFactory
from django.utils.translation import override

from catalog.quantity import Message, Quantity
from configurator.templatetags import rekenkracht
from quotes.sizing.results import Verdict
from quotes.sizing.trace import Badge, Evidence, Figure, Finding, Input, Severity

ICONS = Path(__file__).resolve().parents[3] / "templates" / "parts" / "icons"


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    with override("en"):
        yield


class Tags(HTMLParser):
    """Every start tag with its attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def ids(self) -> set[str]:
        return {value for _, attrs in self.found if (value := attrs.get("id"))}

    def first(self, tag: str) -> dict[str, str | None]:
        return next(attrs for name, attrs in self.found if name == tag)


def render(template: str, **context: Any) -> str:
    return Template("{% load rekenkracht %}" + template).render(Context(context))


class Questions(forms.Form):
    users = forms.IntegerField(label="Users", help_text="At once.", min_value=1)
    users_unknown = forms.BooleanField(label="No idea", required=False)
    place = forms.ChoiceField(
        label="Place", widget=forms.RadioSelect, choices=[("a", "Here"), ("b", "<There>")]
    )
    agree = forms.BooleanField(label="Agree", help_text="Both of us.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["users"].unit = "people"  # type: ignore[attr-defined]
        self.fields["users"].why = "Memory."  # type: ignore[attr-defined]
        self.fields["users"].assumption = "we assume 45"  # type: ignore[attr-defined]
        self.fields["place"].descriptions = {"a": "In this room"}  # type: ignore[attr-defined]


def test_a_field_names_everything_that_describes_it() -> None:
    form = Questions({"users": "0"})
    tags = Tags(render("{% field form.users %}", form=form))
    control = tags.first("input")
    assert control["aria-describedby"] == "id_users_helptext id_users_unit id_users_assumption id_users_error"
    assert control["aria-invalid"] == "true"
    assert set(str(control["aria-describedby"]).split()) <= tags.ids()
    assert tags.first("label")["for"] == "id_users"
    assert "id_users_unknown" in tags.ids()


def test_a_plain_field_describes_nothing() -> None:
    class Plain(forms.Form):
        note = forms.CharField(required=False)

    html = render("{% field form.note %}", form=Plain())
    assert "aria-describedby" not in html
    assert "(optional)" in html
    assert "<details" not in html


def test_arguments_win_over_what_the_field_carries() -> None:
    html = render('{% field form.users unit="staff" why="Because." %}', form=Questions())
    assert ">staff<" in html
    assert "Because." in html
    assert "Memory." not in html


def test_a_group_is_a_fieldset_whose_labels_name_their_inputs() -> None:
    tags = Tags(render("{% field form.place %}", form=Questions({"users": "5"})))
    assert tags.found[0][0] == "fieldset"
    assert tags.found[0][1]["aria-describedby"] == "id_place_error"
    inputs = [attrs["id"] for name, attrs in tags.found if name == "input"]
    assert (
        [attrs["for"] for name, attrs in tags.found if name == "label"]
        == inputs
        == ["id_place_0", "id_place_1"]
    )


def test_cards_show_their_descriptions_and_escape_their_labels() -> None:
    html = render("{% cards form.place %}", form=Questions(initial={"place": "b"}))
    assert "In this room" in html
    assert "&lt;There&gt;" in html
    assert html.count("checked") == 1


def test_a_lone_checkbox_keeps_its_hint() -> None:
    tags = Tags(render("{% field form.agree %}", form=Questions()))
    assert tags.first("input")["aria-describedby"] == "id_agree_helptext"
    assert "id_agree_helptext" in tags.ids()


def test_the_error_summary_leads_to_each_field() -> None:
    form = Questions({"users": "0", "place": "c"})
    form.add_error(None, "These do not go together.")
    page = render(
        "{% error_summary form %}{% field form.users %}{% cards form.place %}{% field form.agree %}",
        form=form,
    )
    tags = Tags(page)
    targets = [str(attrs["href"])[1:] for name, attrs in tags.found if name == "a"]
    assert targets == ["id_users", "id_place_0", "id_agree"]
    assert set(targets) <= tags.ids()
    assert "4 answers need attention" in page
    assert "These do not go together." in page


def test_no_summary_without_errors() -> None:
    assert render("{% error_summary form %}", form=Questions()).strip() == ""


@pytest.mark.parametrize("make", [dict, SimpleNamespace])
def test_steps_mark_where_you_are(make: type) -> None:
    steps = [
        make(title="Use", url="/use/", state="done"),
        make(title="Model", url="/model/", state="current"),
        make(title="Check", url="", state="todo"),
    ]
    html = render("{% steps steps %}", steps=steps)
    assert "Step 2 of 3" in html
    assert html.count("aria-current") == 1
    assert re.findall(r'href="([^"]*)"', html) == ["/use/"]


@pytest.mark.parametrize("kind", [*Badge, *Verdict])
def test_every_badge_has_a_name(kind: Badge | Verdict) -> None:
    assert f"badge--{kind}" in render("{% badge kind %}", kind=kind)


@pytest.mark.parametrize("severity", Severity)
def test_a_finding_is_told_in_words_too(severity: Severity) -> None:
    finding = Finding(
        severity=severity,
        message=Message.of("Only {left} left.", left=Quantity(value=12, unit="kW")),
        remedy=Message(text="Ask for more."),
    )
    html = render("{% finding finding %}", finding=finding)
    assert f"finding--{severity}" in html
    assert f"{rekenkracht.FINDING_NAMES[severity]}: </span>Only 12\u202fkW left." in html
    assert "Ask for more." in html


def test_a_figure_unfolds_into_all_it_knows() -> None:
    figure = Figure(
        key="ttft",
        label=Message(text="First word"),
        value=Quantity(value=1.43, unit="s", digits=2),
        low=1.1,
        high=1.9,
        formula="wait + prompt ÷ speed",
        inputs=(
            Input(
                name=Message(text="prompt"), value=Quantity(value=3000, unit="tokens"), source="your answer"
            ),
            Input(name=Message(text="spread"), value="0.8", source="traces", assumption="cv"),
        ),
        badge=Badge.MEASURED,
        evidence=(
            Evidence(description="4 × H200", value=Quantity(value=1.38, unit="s"), source="benchmark"),
        ),
        evidence_count=24,
        note=Message(text="At the peak."),
    )
    html = render("{% figure figure %}", figure=figure)
    for text in ("First word", "1.4\u202fs", "1.1–1.9\u202fs", "wait + prompt ÷ speed", "3,000\u202ftokens"):
        assert text in html
    for text in (
        "Assumptions",
        "0.8",
        "traces",
        "24 similar runs",
        "4 × H200",
        "At the peak.",
        "badge--measured",
    ):
        assert text in html


def test_an_exact_figure_claims_no_interval() -> None:
    figure = Figure(key="heat", label=Message(text="Heat"), value=Quantity(value=5.6, unit="kW"))
    html = render("{% figure figure %}", figure=figure)
    assert "cases out of ten" not in html
    assert "Formula" not in html


def test_every_icon_is_hidden_and_takes_the_colour_of_its_text() -> None:
    files = sorted(ICONS.glob("*.svg"))
    assert len(files) > 20
    for path in files:
        attributes = Tags(rekenkracht.icon(path.stem)).first("svg")
        assert attributes["aria-hidden"] == "true"
        assert not re.search(r'(?:fill|stroke)="(?!currentColor)#?\w+"', path.read_text())


@pytest.mark.parametrize("template", ["404.html", "403.html", "403_csrf.html", "500.html"])
@pytest.mark.parametrize("language", ["nl", "en"])
def test_error_pages_show_a_way_on(template: str, language: str, rf: RequestFactory) -> None:
    with override(language):
        context = {} if template == "500.html" else {"request": rf.get("/lost/")}
        html = Template(f'{{% extends "{template}" %}}').render(Context(context))
    tags = Tags(html)
    assert sum(name == "h1" for name, _ in tags.found) == 1
    assert any(
        name == "a" and attrs.get("href") == "/" and attrs.get("class") == "button button--primary"
        for name, attrs in tags.found
    )


@pytest.mark.django_db
def test_the_style_guide_shows_every_part(client: Client) -> None:
    html = client.get("/styleguide/", headers={"accept-language": "en"}).content.decode()
    for part in (
        "cards",
        "error-summary",
        "estimate",
        "figure",
        "finding--refusal",
        "legend",
        "pagination",
        "proposal",
        "steps",
    ):
        assert f'class="{part}' in html or f" {part}" in html
    ids = re.findall(r'\sid="([^"]+)"', html)
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("lengths", "columns"),
    [
        ([], []),
        ([5], [[5]]),
        ([5, 5], [[5], [5]]),
        ([9, 1, 1, 1], [[9], [1, 1, 1]]),
        ([1, 1, 1, 9], [[1, 1, 1], [9]]),
        ([3, 3, 3], [[3, 3], [3]]),
    ],
)
def test_halves_are_as_long_as_each_other_and_keep_the_order(lengths, columns):
    halved = rekenkracht.halves(["x" * length for length in lengths])

    assert [[len(item) for item in half] for half in halved] == columns


def test_halves_measure_what_the_reader_sees():
    long = Finding(severity=Severity.INFO, message=Message.of("short"), remedy=Message.of("a longer remedy"))
    short = Finding(severity=Severity.INFO, message=Message.of("brief"))

    assert rekenkracht.halves((long, short, short)) == [(long,), (short, short)]
    assert rekenkracht.told(long) == "short a longer remedy"
