"""The appendix lists everything that we filled in for the customer."""

from itertools import batched

import pytest
from django.utils.translation import override

from catalog.seed import seed_snapshot
from configurator.wizard.answers import assess
from configurator.workload import UseCase
from quotes.documents.assumed import GENERAL, OF_A_LOAD, assumed_answers
from tests.quotes.conftest import DAY

ALL = [use_case.value for use_case in UseCase]
TRAINED = {f"model-{name.replace('_', '-')}": {"task": "both"} for name in ALL}


@pytest.mark.parametrize("language", ["nl", "en"])
@pytest.mark.parametrize("several", list(batched(ALL, 3)), ids="+".join)
def test_no_assumption_of_the_questionnaire_is_left_out(several: tuple[str, ...], language: str) -> None:
    first, *also = several
    use = {"use": {"use_case": first, "also": also}}
    with override(language):
        # Some are never trained here; their plan is made without.
        plans = (assess(answers, seed_snapshot(DAY)).workload for answers in (use | TRAINED, use))
        workload = next(filter(None, plans), None)
        assert workload is not None
        rows = assumed_answers(workload)
    names = {
        path.split(".")[-1] if path.split(".")[0] in {"services", "jobs"} else path
        for path in workload.assumed
    }
    assert names - {"services"} <= GENERAL.keys() | OF_A_LOAD.keys()
    assert len(rows) == len(workload.assumed)
    assert all(row.label and row.value not in {"", "None", "–"} for row in rows)
