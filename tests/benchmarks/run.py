"""`make bench`: what a visitor waits for, against its budget.

Prints the time on the clock (least and median of several runs) and the median of the processor time, which a busy
machine does not stretch. Budgets are goals on a quiet two-core machine: each row says whether its processor time keeps
the budget. The exit status is 1 only with `--strict` when one does not, so that a busy machine fails no build.
"""

import argparse
import os
import resource
import sys
from collections.abc import Callable
from datetime import date
from io import StringIO
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("SITE_MODE", "test")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

ON = date(2026, 11, 30)
MEMORY_MIB = 400


class Measured(NamedTuple):
    name: str
    minimum_ms: float
    median_ms: float
    processor_ms: float
    budget_ms: float

    @property
    def is_over(self) -> bool:
        return self.processor_ms > self.budget_ms

    def __str__(self) -> str:
        times = (
            f"{self.minimum_ms:10.1f}{self.median_ms:10.1f}{self.processor_ms:12.1f}{self.budget_ms:10.0f}"
        )
        return f"{self.name:40}{times}  {'OVER' if self.is_over else 'kept'}"


def measure(name: str, budget_ms: float, work: Callable[[], object], rounds: int = 15) -> Measured:
    """Time `work` after one warm-up round."""
    work()
    times, processor = [], []
    for _round in range(rounds):
        start, begun = perf_counter(), process_time()
        work()
        times.append((perf_counter() - start) * 1000)
        processor.append((process_time() - begun) * 1000)
    return Measured(name, min(times), median(times), median(processor), budget_ms)


def searches() -> list[Measured]:
    """The whole search over the seed catalog, per scenario; the last one as the first search after a catalog change,
    when nothing that depends on the catalog alone has been worked out."""
    from catalog.seed import seed_snapshot
    from configurator.workload import Workload
    from quotes.sizing.assumptions import Assumptions
    from quotes.sizing.engine import size
    from quotes.sizing.knowledge import shipped
    from tests.scenarios import SCENARIOS, load_workload
    from tests.sizing.test_sharing import NIGHT, services

    catalog, knowledge = seed_snapshot(ON), shipped()
    whole = load_workload("municipality")
    many = [services(80), services(40), services(20)]
    named = [
        one.model_copy(update={"name": f"{one.name} {n}"}) for n, some in enumerate(many) for one in some
    ]
    twelve = Workload(services=tuple(named))
    four, five = Workload(services=services()), Workload(services=services(), jobs=(NIGHT,))
    return [
        measure(
            f"search: {name}",
            100 if len(workload.services) + len(workload.jobs) == 1 else 200,
            lambda workload=workload: size(workload, catalog, Assumptions(), knowledge, on=ON),
        )
        for name, workload in ((name, load_workload(name)) for name in SCENARIOS)
    ] + [
        measure(
            "search: municipality, new catalog",
            250,
            lambda: size(whole, catalog.model_copy(), Assumptions(), knowledge, on=ON),
        ),
        measure("search: four services", 200, lambda: size(four, catalog, Assumptions(), knowledge, on=ON)),
        measure(
            "search: four services, one job",
            200,
            lambda: size(five, catalog, Assumptions(), knowledge, on=ON),
        ),
        measure(
            "search: twelve large loads, new catalog",
            2000,
            lambda: size(twelve, catalog.model_copy(), Assumptions(), knowledge, on=ON),
            rounds=3,
        ),
    ]


def money() -> list[Measured]:
    """What a proposal adds in full, per scenario: cost over time with its bands, what moves it, other demands."""
    from catalog.seed import seed_snapshot
    from quotes.sizing.assumptions import Assumptions
    from quotes.sizing.cliff import cliff_map
    from quotes.sizing.engine import cloud_options, size
    from quotes.sizing.knowledge import shipped
    from quotes.sizing.money.economics import economics
    from quotes.sizing.money.tornado import Case, tornado
    from tests.scenarios import SCENARIOS, load_workload

    catalog, knowledge, assumptions = seed_snapshot(ON), shipped(), Assumptions()
    rows = []
    for name in SCENARIOS:
        workload = load_workload(name)
        system = size(workload, catalog, assumptions, knowledge, on=ON).recommended
        assert system is not None
        candidate, rented = system.candidate, cloud_options(workload, catalog, assumptions, knowledge)

        def both(candidate=candidate, workload=workload, rented=rented) -> None:
            economics(
                candidate,
                workload,
                catalog,
                assumptions,
                purchase_eur=candidate.price_eur,
                on=ON,
                cloud_options=rented,
            )
            tornado(Case(candidate, workload, catalog, assumptions, ON, rented))
            cliff_map(candidate, workload, catalog, assumptions, knowledge)

        rows.append(measure(f"money and steps: {name}", 150, both))
    return rows


def pages() -> list[Measured]:
    """A step of the questionnaire, the living estimate, the proposal and the PDF, on a database in memory."""
    import django
    from django.core.management import call_command
    from django.test.utils import setup_databases, setup_test_environment

    django.setup()
    setup_test_environment()
    setup_databases(verbosity=0, interactive=False)
    for command in ("load_catalog", "make_demo"):
        call_command(command, stdout=StringIO())

    from django.contrib.auth.models import User
    from django.test import Client
    from django.urls import reverse

    from catalog.snapshot import snapshot
    from quotes import services
    from quotes.documents.pdf import render_pdf
    from quotes.models import Quote
    from quotes.services import proposals

    quote = Quote.objects.get(reference="DEMO-1")
    document, token, visitor = services.document_of(quote), quote.draft.token, Client()
    slug = "load-document-chat"
    step = reverse("wizard:step", args=[token, slug])
    estimate = reverse("quotes:estimate", args=[token])
    proposal = reverse("quotes:proposal", args=[token])
    change = reverse("admin:quotes_quote_change", args=[quote.pk])
    visitor.force_login(User.objects.get(username="demo-sales"))
    people = count(60)

    def get(address: str) -> None:
        assert visitor.get(address).status_code == 200

    def type_on() -> None:
        """Another number of people every time, so that no answer waits in the cache."""
        answer = visitor.post(estimate, {"step": slug, "at_once": str(next(people))})
        assert answer.status_code == 200

    def first_visit() -> None:
        proposals._proposal.cache_clear()
        get(proposal)

    return [
        measure("catalog snapshot, cached", 5, snapshot),
        measure("questionnaire step", 30, lambda: get(step)),
        measure("estimate after a change", 200, type_on),
        measure("proposal page, first visit", 500, first_visit),
        measure("proposal page, cached sizing", 100, lambda: get(proposal)),
        measure("quote in the admin", 120, lambda: get(change)),
        measure("PDF", 1500, lambda: render_pdf(document), rounds=5),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strict", action="store_true", help="exit 1 when a budget is exceeded")
    strict = parser.parse_args().strict
    rows = searches() + money() + pages()
    print(f"{'milliseconds':40}{'least':>10}{'median':>10}{'processor':>12}{'budget':>10}")
    print(*rows, sep="\n")
    memory_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    large = memory_mib > MEMORY_MIB
    print(
        f"{'memory of the process, at most (MiB)':40}{memory_mib:10.0f}{MEMORY_MIB:32}  {'OVER' if large else 'kept'}"
    )
    return 1 if strict and (large or any(row.is_over for row in rows)) else 0


if __name__ == "__main__":
    sys.exit(main())
