"""The whole Workload from pages of answers: its loads, and everything around them."""

from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from math import isfinite
from typing import Any

from django.utils.translation import gettext as _

from configurator.existing import GPUS_MAX, MACHINES_MAX
from configurator.wizard.gpu_fields import joined
from configurator.wizard.loads import (
    language_service,
    language_training,
    rate_service,
    rate_training,
    training_data,
)
from configurator.wizard.presets import Default
from configurator.wizard.questions.site import FEEDS
from configurator.wizard.reading import Book, Page, Taken
from configurator.wizard.situation import COSTS, DATA, LOAD, MODEL, PLAN, SITE, chosen_use_cases
from configurator.workload import UseCase

CONFIDENTIAL = "confidential"


def workload_of(book: Book, chosen: tuple[UseCase, ...]) -> dict[str, Any]:
    """The fields of the Workload for these use cases."""
    services: list[dict[str, Any]] = []
    jobs: list[dict[str, Any]] = []
    plan, confidential = book.page(PLAN), _confidential(book)
    for use_case in chosen:
        seen = book.situation.of(use_case)
        model, load = book.page(MODEL, use_case), book.page(LOAD, use_case)
        model.get("task", "services")
        make_service, make_job = (
            (language_service, language_training) if seen.is_language else (rate_service, rate_training)
        )
        if seen.serves:
            services.append(make_service(model, load, f"services.{len(services)}"))
        if seen.trains:
            jobs.append(make_job(model, load, f"jobs.{len(jobs)}"))
    for part in (*services, *jobs):
        part["confidential"] = confidential
    return {
        "title": plan.get("title") or "",
        "use_case": chosen[0],
        "services": services,
        "jobs": jobs,
        "data": _data(book),
        "site": _site(book.page(SITE)),
        **_existing(book.page(SITE)),
        **_plan(plan, confidential),
        "own_figures": _own_figures(book),
        "assumed": frozenset(_paths(book, len(services), len(jobs))),
    }


def _paths(book: Book, services: int, jobs: int) -> Iterator[str]:
    """Dotted paths of everything assumed; one answer about confidentiality goes for every part."""
    for assumed in book.assumed:
        if assumed.path == CONFIDENTIAL:
            yield from (f"services.{index}.{CONFIDENTIAL}" for index in range(services))
            yield from (f"jobs.{index}.{CONFIDENTIAL}" for index in range(jobs))
        else:
            yield assumed.path


def _own_figures(book: Book) -> list[dict[str, Any]]:
    """Figures in the place of our assumptions, as the proposal page stored them; what is no number is no figure."""
    figures = []
    for key, stored in sorted(book.situation.answers.get(COSTS, {}).items()):
        with suppress(TypeError, ValueError):
            if isfinite(value := float(stored)):
                figures.append({"key": key, "value": value})
    return figures


# ── everything around it ────────────────────────────────────────────────────────────────────────────────────────


def _confidential(book: Book) -> bool:
    """Who does not know whether the data is confidential, but wants a cloud, does not need the careful side."""
    data = book.page(DATA)
    if not data.says("confidential") and book.situation.choice(PLAN, "preference") in {"cloud", "hybrid"}:
        reason = Default("no", _("because you want to rent"))
        data.assume("confidential", CONFIDENTIAL, _("No"), Taken(None, None, reason))
        return False
    return bool(data.get("confidential", CONFIDENTIAL) == "yes")


def _data(book: Book) -> dict[str, Any]:
    page, training = book.page(DATA), _all_training_data(book)
    size, hot = (
        page.get("data_size", "data.dataset_tb"),
        page.get("hot_data") if book.situation.any_training else None,
    )
    if not page.says("data_size"):
        size = max(size, training)
    return {
        "dataset_tb": float(size),
        "hot_dataset_tb": float(hot) if hot is not None else (float(training) or None),
        "copies": int(page.get("copies", "data.copies")),
        "existing_storage": page.get("existing_storage", "data.existing_storage") == "yes",
        "growth_pct_per_year": float(page.get("data_growth", "data.growth_pct_per_year")),
    }


def _all_training_data(book: Book) -> Decimal:
    """Terabytes that are read while training models other than language models, whose texts are small."""
    total = Decimal(0)
    for use_case in chosen_use_cases(book.situation.answers):
        load = book.page(LOAD, use_case)
        if load.situation.trains and not load.situation.is_language:
            total += training_data(load, load.get("sample_kb") or Decimal(1))[0]
    return total


def _site(page: Page) -> dict[str, Any]:
    amps, phases = FEEDS[page.get("feed", "site.feed_amps")]
    limits = {
        "power_available_kw": "power_kw",
        "rack_power_max_kw": "rack_power_kw",
        "floor_load_kg_m2": "floor_load",
        "pue": "pue",
    }
    units = page.get("rack_units", "site.rack_units_free")
    return {
        "kind": page.get("site_kind", "site.kind"),
        "cooling": frozenset(page.get("cooling", "site.cooling")),
        "rack_units_free": int(units) if units else None,
        "feed_amps": amps,
        "feed_phases": phases,
        "feeds_redundant": page.get("feeds_redundant", "site.feeds_redundant") == "yes",
        "electricity_eur_kwh": page.get("electricity", "site.electricity_eur_kwh"),
        "noise_sensitive": page.get("noise", "site.noise_sensitive") == "yes",
        **{
            key: float(value) if (value := page.get(name, f"site.{key}")) is not None else None
            for key, name in limits.items()
        },
    }


def _existing(page: Page) -> dict[str, Any]:
    """The machines that are there already: read from the output of a tool, and chosen by hand."""
    if page.get("has_gpus") != "yes":
        return {}
    pasted, by_hand = page.get("gpu_paste") or (), page.get("gpu_rows") or ()
    machines = joined(pasted, by_hand, page.situation.catalog)
    if not machines and not page.is_wrong("gpu_paste", "gpu_rows"):
        page.problem("gpu_paste", _("Paste what nvidia-smi prints, or choose your GPUs by hand."))
    if sum(machine.gpu_count for machine in machines) > GPUS_MAX or len(machines) > MACHINES_MAX:
        limits = _("At most {machines} machines with {gpus} GPUs together.")
        page.problem("gpu_paste", limits.format(machines=MACHINES_MAX, gpus=GPUS_MAX))
    return {
        "existing": tuple(one.model_dump() for one in machines),
        "count_existing": page.get("count_gpus") == "yes",
    }


def _plan(page: Page, confidential: bool) -> dict[str, Any]:
    preference = page.get("preference", "placement.preference")
    allowed = page.get("cloud_allowed", "placement.cloud_allowed")
    rents = preference in {"cloud", "hybrid"}
    if rents and allowed == "no":
        page.problem(
            "cloud_allowed", _("You want to rent, but nothing may run in a cloud. Change one of the two.")
        )
    elif rents and confidential:
        message = _(
            "You want to rent, but your data is confidential and stays in your own house. Change one of the two."
        )
        page.problem("preference", message)
    start = page.get("start_on", "delivery.start_on")
    if start and start < page.situation.catalog.taken_on:
        page.problem("start_on", _("This date has passed. Fill in a later one."))
    return {
        "placement": {
            "cloud_allowed": rents or not confidential if allowed in {None, "unknown"} else allowed == "yes",
            "preference": preference,
            "software_stack": page.get("stack", "placement.software_stack"),
            "vendors_excluded": frozenset(page.get("vendors_excluded") or ()),
            "cluster_network": page.get("cluster_network"),
        },
        "growth": {
            "load_pct_per_year": float(page.get("growth_pct", "growth.load_pct_per_year")),
            "horizon_years": int(page.get("horizon", "growth.horizon_years")),
        },
        "budget": {"max_eur": page.get("budget", "budget.max_eur")},
        "delivery": {
            "start_on": start,
            "installation": page.get("installation", "delivery.installation") == "yes",
            "support": page.get("support", "delivery.support"),
        },
    }
