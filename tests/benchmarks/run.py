"""`make bench`: what a visitor waits for, against its budget. Prints minimum and median of several runs.

Budgets are goals on a quiet two-core machine; a figure above its budget is marked and makes the exit status 1 only with
`--strict`, so that a busy machine does not fail a build.
"""

import argparse
import os
import resource
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("SITE_MODE", "test")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

ON = date(2026, 11, 30)


class Measured(NamedTuple):
    name: str
    minimum_ms: float
    median_ms: float
    budget_ms: float


def measure(name: str, budget_ms: float, work: Callable[[], object], rounds: int = 15) -> Measured:
    """Time `work` after one warm-up round."""
    work()
    times = []
    for _round in range(rounds):
        start = perf_counter()
        work()
        times.append((perf_counter() - start) * 1000)
    return Measured(name, min(times), median(times), budget_ms)


def searches() -> list[Measured]:
    """The whole search over the seed catalog, per scenario."""
    from catalog.seed import seed_snapshot
    from quotes.sizing.assumptions import Assumptions
    from quotes.sizing.engine import size
    from quotes.sizing.knowledge import shipped
    from tests.scenarios import SCENARIOS, load_workload

    catalog, knowledge = seed_snapshot(ON), shipped()
    return [
        measure(
            f"search: {name}",
            100 if len(workload.services) + len(workload.jobs) == 1 else 200,
            lambda workload=workload: size(workload, catalog, Assumptions(), knowledge, on=ON),
        )
        for name, workload in ((name, load_workload(name)) for name in SCENARIOS)
    ]


def pages() -> list[Measured]:
    """A step of the questionnaire, the living estimate and the PDF, through Django on an in-memory database."""
    import django
    from django.core.management import call_command
    from django.test.utils import setup_databases, setup_test_environment

    django.setup()
    setup_test_environment()
    setup_databases(verbosity=0, interactive=False)
    call_command("load_catalog", verbosity=0)

    from django.test import Client
    from django.urls import reverse

    from catalog.snapshot import snapshot
    from configurator.models import Draft
    from quotes import services
    from quotes.documents.pdf import render_pdf
    from quotes.management.commands.make_demo import demo_quote
    from tests.configurator.scenario_answers import SCENARIO_ANSWERS

    draft = Draft.objects.create(answers=SCENARIO_ANSWERS["municipality"], language="nl")
    client = Client()
    step = reverse("wizard:step", args=[draft.token, "site"])
    proposal = reverse("quotes:proposal", args=[draft.token])
    document = services.document_of(demo_quote(draft))
    return [
        measure("catalog snapshot, cached", 5, snapshot),
        measure("questionnaire step", 30, lambda: client.get(step)),
        measure("proposal page, cached sizing", 150, lambda: client.get(proposal)),
        measure("PDF", 1500, lambda: render_pdf(document), rounds=5),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strict", action="store_true", help="exit 1 when a budget is exceeded")
    strict = parser.parse_args().strict
    rows = searches() + pages()
    print(f"{'':40}{'minimum':>10}{'median':>10}{'budget':>10}")
    for row in rows:
        mark = "" if row.median_ms <= row.budget_ms else "  over"
        print(f"{row.name:40}{row.minimum_ms:8.1f}ms{row.median_ms:8.1f}ms{row.budget_ms:8.0f}ms{mark}")
    memory_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{'memory of the process, at most':40}{memory_mib:8.0f}MiB")
    return 1 if strict and any(row.median_ms > row.budget_ms for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
