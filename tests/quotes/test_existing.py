"""Machines that are there already, on the proposal page, in its data and on paper."""

import re
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from catalog.seed import seed_snapshot
from configurator import formats
from configurator.models import Draft
from configurator.wizard.answers import build_workload
from quotes.documents.pdf import render_html
from quotes.management.commands.make_demo import read_demo
from quotes.presentation.existing import existing_page, readings_in_words
from quotes.proposal import Proposal, propose
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.existing.results import Readings
from quotes.sizing.knowledge import shipped
from tests.quotes.conftest import DAY
from tests.quotes.samples import document

(EXAMPLE,) = read_demo()["examples"]


@pytest.fixture
def plan(catalog: None) -> Draft:
    return Draft.objects.create(language="nl", title="x", answers=EXAMPLE["answers"])


def shown(draft: Draft, language: str, **site: Any) -> str:
    draft.answers = {**draft.answers, "site": {**draft.answers["site"], **site}}
    draft.save()
    client = Client()
    client.cookies.load({"django_language": language})
    response = client.get(reverse("quotes:proposal", args=[draft.token]))
    assert response.status_code == 200
    return re.sub(r"\s+", " ", response.content.decode())


@pytest.mark.django_db
def test_the_page_says_what_each_machine_is_good_for(plan: Draft) -> None:
    page = shown(plan, "nl")
    assert "Wat je al hebt" in page
    for name in ("gpu01", "gpu02", "werkstation", "oude server", "2 × H200 SXM5 141GB", "4 × V100 PCIe 32GB"):
        assert name in page
    assert "gpu01 neemt" in page
    assert "knelpunt" in page
    assert "één moment is geen gemiddelde" in page
    assert "Dat is naast de machines die je al hebt." in page


@pytest.mark.django_db
def test_compared_only_the_page_says_so(plan: Draft) -> None:
    page = shown(plan, "en", count_gpus="no")
    assert "This is a comparison: the proposals carry everything." in page
    assert "gpu01 takes over" not in page
    assert "That is beside" not in page


@pytest.mark.django_db
def test_enough_already(plan: Draft) -> None:
    page = shown(
        plan, "en", gpu_paste="machine: big\n16 x H100 SXM5 80GB\n\nmachine: small\n2 x L4", gpu_rows=None
    )
    assert "Your own machines carry everything that you ask. There is nothing to buy." in page
    assert "No system in the catalog" not in page
    estimate = Client().post(reverse("quotes:estimate", args=[plan.token]))
    assert "Niets te kopen" in estimate.content.decode() or "Nothing to buy" in estimate.content.decode()


@pytest.mark.django_db
def test_without_machines_there_is_no_section(plan: Draft) -> None:
    assert "existing-title" not in shown(plan, "en", has_gpus="no")


@pytest.mark.django_db
def test_names_from_outside_are_text(plan: Draft) -> None:
    page = shown(plan, "en", gpu_rows=[["<b>x</b>", "l4", 2]])
    assert "<b>x</b>" not in page
    assert "&lt;b&gt;x" in page


@pytest.mark.django_db
def test_the_data_has_the_report_and_nothing_private(plan: Draft) -> None:
    data = Client().get(reverse("quotes:proposal_json", args=[plan.token])).json()
    assert [machine["use"] for machine in data["existing"]["machines"]] == ["reuse", "reuse", "busy", "other"]
    assert data["existing"]["counted"] is True


def test_the_example_is_a_plan_of_today() -> None:
    with translation.override("nl"):
        workload = build_workload(EXAMPLE["answers"], seed_snapshot(date(2026, 12, 1)))
    assert [machine.name for machine in workload.existing] == ["gpu01", "gpu02", "werkstation", "oude server"]


@cache
def example() -> Proposal:
    """The proposal of the example, without a database."""
    catalog = seed_snapshot(DAY)
    with translation.override("nl"):
        workload = build_workload(EXAMPLE["answers"], catalog)
    return propose(workload, catalog, Assumptions(), shipped(), on=DAY, vat_rate_pct=Decimal(21))


@pytest.mark.parametrize(("language", "heading"), [("nl", "Bestaande machines"), ("en", "Existing machines")])
def test_on_paper(language: Any, heading: str) -> None:
    proposal = example()
    assert proposal.recommended
    tier = proposal.recommended.tier
    quoted = document(language=language, proposal=proposal, tier=tier, prices=proposal.prices[tier])
    assert heading in render_html(quoted)
    assert "oude server" in render_html(quoted)
    assert heading not in render_html(document(language=language))


def test_every_sentence_can_be_said_in_dutch() -> None:
    with translation.override("nl"):
        found = existing_page(example().existing)
        assert found
        said = [
            *(formats.say(text) for text in found.together), *found.counted,
            *(formats.say(machine.reason) for machine in found.machines),
            *(formats.say(load.message) for machine in found.machines for load in machine.loads),
            *(formats.say(item.message) for machine in found.machines for item in machine.findings),
        ]  # fmt: skip
    assert not [text for text in said if "{" in text or "%(" in text]


def test_readings_in_words() -> None:
    with translation.override("en"):
        assert readings_in_words(None) == ""
        assert readings_in_words(Readings(memory_used_fraction=0.00003, temperature_c=31)) == (
            "memory 0% full, at most 31\N{NARROW NO-BREAK SPACE}°C"
        )
