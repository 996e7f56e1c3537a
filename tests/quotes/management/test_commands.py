"""The commands: size from a file, the trial site, schemas that are current, and letting go."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command
from django.test import Client
from pypdf import PdfReader

from catalog.seed import seed_snapshot
from configurator.models import Draft
from configurator.wizard.answers import build_workload
from configurator.wizard.plan_views import as_plain
from configurator.workload import Workload
from quotes.management.commands.make_demo import read_demo
from quotes.management.commands.write_schemas import FOLDER, schemas
from quotes.models import Quote, Seller, TermsDocument
from quotes.proposal import Proposal
from tests.quotes.conftest import DAY, SCENARIOS, workload_of

NAMES = ["municipality", "factory", "university", "law-firm", "software-house"]


def run(*arguments: Any) -> str:
    out = StringIO()
    call_command(*[str(argument) for argument in arguments], stdout=out)
    return out.getvalue()


# ── size ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", NAMES)
def test_size_prints_the_proposal_as_data(catalog: None, name: str) -> None:
    found = Proposal.model_validate_json(run("size", SCENARIOS / f"{name}.yaml", "--json"))
    assert found.sizing.workload == workload_of(name)
    assert found.recommended is not None


def test_size_reads_json_as_well(catalog: None, tmp_path: Path) -> None:
    path = tmp_path / "workload.json"
    path.write_text(json.dumps(as_plain(workload_of("municipality"))))
    from_json = run("size", path, "--json")
    assert Proposal.model_validate_json(from_json) == Proposal.model_validate_json(
        run("size", SCENARIOS / "municipality.yaml", "--json")
    )


@pytest.mark.parametrize(("language", "words"), [("en", "Our advice"), ("nl", "€")])
def test_size_tells_a_summary(catalog: None, language: str, words: str) -> None:
    text = run("size", SCENARIOS / "municipality.yaml", "--language", language)
    assert words in text
    assert "kW" in text


def test_size_says_what_the_machines_do_that_are_there(catalog: None, tmp_path: Path) -> None:
    path = tmp_path / "workload.json"
    gpus = [{"name": "H200", "sku": "h200-sxm5-141gb", "count": 8, "temperature_c": 41}]
    there = {"existing": [{"name": "gpu01", "gpus": gpus, "pasted": True}], "count_existing": True}
    path.write_text(json.dumps(as_plain(workload_of("law-firm")) | there))
    text = run("size", path, "--explain")
    for words in (
        "What you have already",
        "gpu01: 8 × H200 SXM5 141GB → keep",
        "there is nothing to buy",
        "at most 41",
        "100% on 4",
        "the cheapest proposal costs about €",
    ):
        assert words in text
    assert "8 × H200" in run("size", path, "--language", "nl")


def test_size_explains_every_figure_and_refusal(catalog: None) -> None:
    path = SCENARIOS / "municipality.yaml"
    found = Proposal.model_validate_json(run("size", path, "--json"))
    text = run("size", path, "--explain")
    for figure in found.recommended.candidate.loads[0].figures:
        assert figure.formula in text
    assert all(refusal.subject_name in text for refusal in found.sizing.refusals)
    assert "Why not …?" in text


@pytest.mark.parametrize("language", ["nl", "en"])
def test_size_writes_a_pdf(catalog: None, tmp_path: Path, language: str) -> None:
    out = tmp_path / "proposal.pdf"
    run("size", SCENARIOS / "municipality.yaml", "--pdf", out, "--language", language)
    reader = PdfReader(out)
    assert "Documentchat gemeente" in reader.pages[0].extract_text()
    assert reader.root_object["/Lang"].startswith(language)


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("none.yaml", None, "cannot be read"),
        ("bad.json", "{", "no valid JSON or YAML"),
        ("bad.yaml", "a: [", "no valid JSON or YAML"),
        ("binary.yaml", b"\xff\xfe\x00", "no valid JSON or YAML"),
        ("empty.yaml", "", "is no workload"),
        ("list.yaml", "- 1", "is no workload"),
        ("nothing.yaml", "title: x", "a workload needs at least one service or job"),
        ("odd.yaml", "services: [{kind: language, model: {params_b: -1}}]", "services.0.language.model"),
        ("more.yaml", "colour: blue", "colour"),
    ],
)
def test_size_says_what_is_wrong_with_a_file(
    catalog: None, tmp_path: Path, name: str, text: str | bytes | None, sentence: str
) -> None:
    path = tmp_path / name
    if isinstance(text, bytes):
        path.write_bytes(text)
    elif text is not None:
        path.write_text(text)
    with pytest.raises(CommandError, match=sentence):
        run("size", path)


def test_size_of_the_impossible_explains_and_prints_nothing(catalog: None, tmp_path: Path) -> None:
    wanted = as_plain(workload_of("municipality"))
    wanted["site"]["power_available_kw"] = 0.2
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(wanted))
    assert "REFUSAL" in run("size", path)
    with pytest.raises(CommandError, match="nothing to print"):
        run("size", path, "--pdf", tmp_path / "none.pdf")


def test_size_needs_a_catalog(db: None) -> None:
    with pytest.raises(CommandError, match="load_catalog"):
        run("size", SCENARIOS / "municipality.yaml")


# ── the trial site ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("plan", read_demo()["plans"], ids=lambda plan: plan["scenario"])
def test_the_plans_of_the_trial_are_the_scenarios(plan: dict[str, Any]) -> None:
    found = build_workload(plan["answers"], seed_snapshot(DAY))
    assert as_plain(found) == as_plain(workload_of(plan["scenario"]))


def test_the_trial_has_what_a_newcomer_looks_for_and_is_made_once(catalog: None, paper: list[Any]) -> None:
    first = run("make_demo")
    assert Draft.objects.count() == 6
    assert sorted(Quote.objects.values_list("status", flat=True)) == ["accepted", "draft", "issued", "issued"]
    assert Seller.objects.get().missing == []
    assert {terms.language for terms in TermsDocument.objects.all()} == {"nl", "en"}
    for account in read_demo()["accounts"]:
        assert authenticate(username=account["name"], password=account["password"]).is_staff
        assert account["password"] in first
    printed = len(paper)
    before = list(Quote.objects.order_by("pk").values("pk", "updated_at"))
    assert run("make_demo") == first
    assert list(Quote.objects.order_by("pk").values("pk", "updated_at")) == before
    assert len(paper) == printed
    for quote in Quote.objects.all():
        assert quote.get_absolute_url() in first
        assert Client().get(quote.get_absolute_url()).status_code == 200


def test_the_trial_keeps_what_somebody_changed(catalog: None, paper: list[Any]) -> None:
    run("make_demo")
    Seller.objects.update(trade_name="Mijn bedrijf")
    run("make_demo")
    assert Seller.objects.get().trade_name == "Mijn bedrijf"


def test_the_trial_is_refused_in_production(catalog: None, settings: Any) -> None:
    settings.PRODUCTION = True
    with pytest.raises(CommandError, match="production"):
        run("make_demo")
    assert not Quote.objects.exists()


def test_the_trial_needs_a_catalog(db: None) -> None:
    with pytest.raises(CommandError, match="load_catalog"):
        run("make_demo")


# ── schemas ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["workload.json", "proposal.json"])
def test_the_schemas_are_current(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert text == schemas()[name], "run `manage.py write_schemas`"


def test_the_schema_of_a_workload_names_every_field() -> None:
    schema = json.loads(schemas()["workload.json"])
    assert set(schema["properties"]) == set(Workload.model_fields)


def test_checking_schemas_writes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("quotes.management.commands.write_schemas.FOLDER", tmp_path)
    with pytest.raises(CommandError, match=r"workload\.json, proposal\.json"):
        run("write_schemas", "--check")
    assert list(tmp_path.iterdir()) == []
    run("write_schemas")
    assert {path.name for path in tmp_path.iterdir()} == set(schemas())
    run("write_schemas", "--check")


# ── letting go ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_purging_says_what_it_did(make_quote) -> None:
    make_quote("issued")
    assert run("purge_quotes") == "0 quotes expired, 0 drafts deleted, 0 quotes stripped of personal data.\n"
