"""What we filled in for the customer, as the appendix lists it: every path of `Workload.assumed`, none left out."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from catalog.quantity import noop
from configurator import formats
from configurator.wizard.forms import StepForm
from configurator.wizard.presets import load_title
from configurator.wizard.questions.data import DataForm
from configurator.wizard.questions.model import LanguageModelForm, RateModelForm
from configurator.wizard.questions.plan import PlanForm
from configurator.wizard.questions.service import LanguageServiceForm, RateServiceForm
from configurator.wizard.questions.site import SiteForm
from configurator.wizard.questions.training import LanguageTrainingForm, RateTrainingForm
from configurator.workload import Workload
from quotes.documents.answers import model_name

LOADS = (
    LanguageModelForm, RateModelForm, LanguageServiceForm, RateServiceForm, LanguageTrainingForm, RateTrainingForm
)  # fmt: skip
AROUND = (SiteForm, DataForm, PlanForm)


class Asked(NamedTuple):
    """What a path is called on paper, the question whose answer fills it, and the unit of its value."""

    label: str
    name: str
    unit: str = ""
    nothing: str = noop("not checked")  # what no answer leads to


GENERAL: dict[str, Asked] = {
    "site.kind": Asked(noop("Site"), "site_kind"),
    "site.power_available_kw": Asked(noop("Power available"), "power_kw", "kW"),
    "site.cooling": Asked(noop("Cooling of the site"), "cooling"),
    "site.rack_units_free": Asked(noop("Free rack units"), "rack_units", "U"),
    "site.feed_amps": Asked(noop("Feed of a rack"), "feed", "A"),
    "site.feeds_redundant": Asked(noop("Two separate feeds"), "feeds_redundant"),
    "site.noise_sensitive": Asked(noop("People work in the same room"), "noise"),
    "site.electricity_eur_kwh": Asked(
        noop("Price of electricity"), "electricity", "EUR/kWh", noop("see the assumptions below")
    ),
    "site.rack_power_max_kw": Asked(noop("Largest power per rack"), "rack_power_kw", "kW"),
    "site.floor_load_kg_m2": Asked(noop("Largest floor load"), "floor_load", "kg/m²"),
    "site.pue": Asked(
        noop("Energy overhead of the room (PUE)"), "pue", nothing=noop("see the assumptions below")
    ),
    "data.dataset_tb": Asked(noop("Data"), "data_size", "TB"),
    "data.copies": Asked(noop("Copies of the data"), "copies", "×"),
    "data.existing_storage": Asked(noop("Fast storage present"), "existing_storage"),
    "data.growth_pct_per_year": Asked(noop("Growth of the data a year"), "data_growth", "%"),
    "placement.preference": Asked(noop("Owning or renting"), "preference"),
    "placement.cloud_allowed": Asked(noop("A part may run in a cloud in the EU"), "cloud_allowed"),
    "placement.software_stack": Asked(noop("Software that it must work with"), "stack"),
    "growth.load_pct_per_year": Asked(noop("Growth of the use a year"), "growth_pct", "%"),
    "growth.horizon_years": Asked(noop("Horizon"), "horizon", "years"),
    "budget.max_eur": Asked(noop("Budget"), "budget", "EUR", noop("no limit")),
    "delivery.start_on": Asked(
        noop("Wanted from"), "start_on", nothing=noop("as soon as it can be delivered")
    ),
    "delivery.installation": Asked(noop("Installation"), "installation"),
    "delivery.support": Asked(noop("Support"), "support"),
}
OF_A_LOAD: dict[str, Asked] = {
    "model": Asked(noop("Model"), "source"),
    "precision": Asked(noop("Precision of the weights"), "precision"),
    "kv_precision": Asked(noop("Precision of the KV cache"), "kv_precision"),
    "engine": Asked(noop("Engine"), "engine"),
    "method": Asked(noop("Way of training"), "method"),
    "optimizer": Asked(noop("Optimizer"), "optimizer"),
    "sequence_tokens": Asked(noop("Sequence length of training"), "sequence", "tokens"),
    "lora_rank": Asked(noop("LoRA rank"), "lora_rank"),
    "users": Asked(noop("People who may use it"), "people", "people"),
    "concurrent_requests": Asked(noop("Requests at once at the peak"), "at_once", "requests"),
    "prompt_tokens": Asked(noop("Length of a request"), "prompt", "tokens"),
    "output_tokens": Asked(noop("Length of an answer"), "output", "tokens"),
    "context_tokens": Asked(noop("Longest request with its answer"), "longest", "tokens"),
    "ttft_p95_s": Asked(noop("First word within"), "pace", "s"),
    "tokens_s_per_user": Asked(noop("Writing speed per person"), "tokens_s", "tokens/s"),
    "profile": Asked(noop("Hours of use"), "profile"),
    "availability": Asked(noop("May it stand still when a part fails"), "availability"),
    "items_s": Asked(noop("Items a second at the peak"), "items_s"),
    "streams": Asked(noop("Streams at once"), "streams"),
    "at_edge": Asked(noop("Assessed on the spot"), "at_edge"),
    "latency_ms": Asked(noop("Answer within"), "latency_ms", "ms"),
    "steps": Asked(noop("Steps per image"), "steps"),
    "tokens": Asked(noop("Text of one run, passes included"), "train_tokens", "tokens"),
    "samples": Asked(noop("Samples"), "train_data", "samples"),
    "epochs": Asked(noop("Passes over the data"), "epochs"),
    "sample_kb": Asked(noop("Size of a sample"), "sample_kb", "kB"),
    "deadline_h": Asked(noop("One run ready within"), "deadline", "hours"),
    "runs_per_month": Asked(noop("Runs a month"), "runs", "×"),
    "window": Asked(noop("Hours of training"), "window"),
    "confidential": Asked(noop("Confidential: the data stays in the house"), "confidential"),
}


class AssumedAnswer(NamedTuple):
    label: str
    value: str


def assumed_answers(workload: Workload) -> list[AssumedAnswer]:
    """Label and value of everything that the customer did not know, in the language that is active."""
    general = [path for path in GENERAL if path in workload.assumed]
    of_loads = sorted(workload.assumed - GENERAL.keys())
    return [_said(path, workload) for path in (*of_loads, *general)]


def _said(path: str, workload: Workload) -> AssumedAnswer:
    head, _dot, rest = path.partition(".")
    if head in {"services", "jobs"} and rest:
        index, _dot, name = rest.partition(".")
        part = getattr(workload, head)[int(index)]
        asked = OF_A_LOAD.get(name)
        value = model_name(part) if name == "model" else _value(getattr(part, name), asked, LOADS)
        return AssumedAnswer(f"{load_title(part.name)}: {_(asked.label) if asked else name}", value)
    if path not in GENERAL:
        return AssumedAnswer(_("What the system does with the model"), _use(workload))
    asked = GENERAL[path]
    value = getattr(getattr(workload, head), rest)
    return AssumedAnswer(_(asked.label), _value(value, asked, AROUND))


def _use(workload: Workload) -> str:
    if workload.services and workload.jobs:
        return _("training and use")
    return _("use") if workload.services else _("training")


def _choices(name: str, forms: Iterable[type[StepForm]]) -> dict[str, Any]:
    """The answers that a question of these forms offers, by value; empty for a number."""
    found = (form.base_fields.get(name) for form in forms)
    return dict(getattr(next((field for field in found if field is not None), None), "choices", ()))


def _value(value: Any, asked: Asked | None, forms: Iterable[type[StepForm]]) -> str:
    if value is None:  # no limit, or not known: what we do then
        return _(asked.nothing) if asked else "–"
    if isinstance(value, bool):
        return formats.say(value)
    if isinstance(value, int | float | Decimal):
        return formats.quantity(value, asked.unit if asked else "", 4)
    choices = _choices(asked.name, forms) if asked else {}
    if isinstance(value, frozenset):
        return ", ".join(sorted(str(choices.get(one, one)) for one in value))
    return str(choices.get(str(value), value))
