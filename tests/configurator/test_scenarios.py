"""The five scenarios, typed into the pages, become the Workloads of tests/scenarios."""

from pathlib import Path

import pytest
import yaml
from django.test import Client

from configurator.models import Draft
from configurator.wizard.answers import assess, build_workload
from configurator.wizard.plan_views import as_plain
from configurator.workload import Workload
from tests.configurator.pages import walk
from tests.configurator.scenario_answers import SCENARIOS

FILES = Path(__file__).resolve().parent.parent / "scenarios"


def expected(name: str) -> Workload:
    return Workload.model_validate(yaml.safe_load((FILES / f"{name}.yaml").read_text()))


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_a_customer_types_becomes_the_workload(client: Client, catalog: None, seed, name: str) -> None:
    client.cookies.load({"django_language": "nl"})
    check = walk(client, SCENARIOS[name])
    draft = Draft.objects.get()
    assert check == f"/plan/{draft.token}/check/"
    assert as_plain(build_workload(draft.answers, seed)) == as_plain(expected(name))
    assert client.get(check).status_code == 200


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_files_are_valid_and_written_as_the_site_writes_them(name: str) -> None:
    text = (FILES / f"{name}.yaml").read_text()
    assert yaml.safe_load(text) == as_plain(expected(name))


@pytest.mark.parametrize("name", SCENARIOS)
def test_everything_that_was_not_known_is_stated(client: Client, catalog: None, seed, name: str) -> None:
    client.cookies.load({"django_language": "nl"})
    walk(client, SCENARIOS[name])
    assessment = assess(Draft.objects.get().answers, seed)
    assert assessment.workload
    assert all(assumed.reason for assumed in assessment.assumed)
    for path in assessment.workload.assumed:
        assert path.partition(".")[0] in Workload.model_fields
