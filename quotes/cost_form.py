"""The customer's own figures in the cost of a proposal: a field for each input, beside ours and its source."""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple, cast

from django import forms
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from catalog.snapshot import snapshot
from configurator import formats
from configurator.models import Draft
from configurator.wizard import numbers
from configurator.wizard.fields import UNKNOWN, Question, Stored, is_unknown, raw_of, tidy
from configurator.wizard.number_fields import NumberField
from configurator.wizard.questions.plan import PlanForm
from configurator.wizard.questions.site import SiteForm
from configurator.wizard.situation import COSTS, PLAN, SITE, Situation
from configurator.wizard.steps import situation_of
from configurator.workload import Workload
from quotes.proposal import Proposal
from quotes.sizing.assumptions import Assumptions, described
from quotes.sizing.assumptions.own import may_be_owned
from quotes.sizing.money.renting import BUSY_HOURS, busy_hours_key
from quotes.sizing.money.running_costs import (
    ADMINISTRATION,
    administration_keys,
    busy_fraction,
    housing_key,
    pue_key,
)
from quotes.sizing.results import SizedSystem

GROUPS = {
    "use": gettext_lazy("Term and use"),
    "energy": gettext_lazy("Energy"),
    "housing": gettext_lazy("Housing"),
    "people": gettext_lazy("People"),
    "upkeep": gettext_lazy("Upkeep and residual value"),
    "financing": gettext_lazy("Financing"),
    "cloud": gettext_lazy("Renting instead"),
    "tokens": gettext_lazy("Paying per token instead"),
}
SYMBOLS = {"EUR": "€", "EUR/kWh": "€/kWh"}


class Answer(NamedTuple):
    """An input that the questionnaire asks for as well: it is stored there, and nowhere else."""

    group: str
    step: str
    question: Question


ANSWERS = {
    "horizon": Answer("use", PLAN, cast(Question, PlanForm.base_fields["horizon"])),
    "electricity": Answer("energy", SITE, cast(Question, SiteForm.base_fields["electricity"])),
    "pue": Answer("energy", SITE, cast(Question, SiteForm.base_fields["pue"])),
}


class Figure(NumberField):
    """A number in the place of ours; an empty field means ours."""

    def read(self, text: Any, situation: Situation) -> Any:
        return self.parse(tidy(text), situation) if tidy(text) else None


class Row(NamedTuple):
    """One field, and whether what it holds is the customer's."""

    field: forms.BoundField
    is_own: bool


class Group(NamedTuple):
    name: str
    title: str
    rows: list[Row]


class Ours(NamedTuple):
    """What we count with where the customer says nothing."""

    value: float
    source: str
    year: int | None


class CostForm(forms.Form):
    """The inputs that count for one system of a plan. `site` are the assumptions without the customer's figures."""

    use_required_attribute = False

    def __init__(
        self,
        draft: Draft,
        proposal: Proposal,
        system: SizedSystem,
        site: Assumptions,
        sources: Mapping[str, str],
        data: Any = None,
    ) -> None:
        super().__init__(data, prefix="cost")
        self.draft, self.site, self.sources = draft, site, sources
        self.workload = proposal.sizing.workload
        self.own = {
            figure.key: figure.value for figure in self.workload.own_figures if may_be_owned(figure.key)
        }
        self.situation = situation_of(draft.answers, snapshot(), expert=True)
        self.order: dict[str, list[str]] = {name: [] for name in GROUPS}
        for name, answer in ANSWERS.items():
            self._add(name, answer.group, self._answer_field(name, answer))
        for key in asked(system, self.workload):
            self._add(key, group_of(key), self._figure_field(key))

    # ── fields ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _add(self, name: str, group: str, field: forms.Field) -> None:
        self.fields[name] = field
        self.order[group].append(name)

    def _figure_field(self, key: str) -> Figure:
        facts = described(self.site, key)
        ours = self._ours(key)
        value = self.own.get(key, ours.value)
        return self._field(facts, ours, facts["low"], facts["high"], numbers.write(_exact(value)))

    def _field(self, facts: Mapping[str, Any], ours: Ours, low: Any, high: Any, initial: str) -> Figure:
        unit = facts["unit"]
        field = Figure(
            capfirst(_(facts["label"])),
            why="",
            low=_exact(low),
            high=_exact(high),
            unit=SYMBOLS.get(unit, formats.unit_name(unit)) if unit else "",
            help_text=_("Ours: %(value)s. Source: %(source)s.")
            % {"value": formats.quantity(ours.value, unit, 6), "source": _dated(ours)},
            can_skip=False,
        )
        field.situation, field.initial = self.situation, initial
        return field

    def _answer_field(self, name: str, answer: Answer) -> forms.Field:
        if name == "horizon":
            question = answer.question
            return forms.ChoiceField(
                label=_("Years that the cost is counted over"),
                choices=[pair for pair in question.choices if pair[0] != "unknown"],  # type: ignore[attr-defined]
                initial=str(self.workload.growth.horizon_years),
                help_text=_("Ours: %(value)s. Source: %(source)s.")
                % {
                    "value": formats.quantity(int(self.situation.default(name).value), "years", 2),
                    "source": self.situation.default(name).reason,
                },
            )
        key = "electricity_eur_per_kwh" if name == "electricity" else pue_key(self.workload)
        ours, stored = self._ours(key), self._stored(name)
        bounds: NumberField = answer.question  # type: ignore[assignment]
        value = bounds.load(stored) if self.is_own(name) else _exact(ours.value)
        return self._field(described(self.site, key), ours, bounds.low, bounds.high, numbers.write(value))

    def _ours(self, key: str) -> Ours:
        facts = described(self.site, key)
        if key in self.sources:
            return Ours(facts["value"], self.sources[key], None)
        return Ours(facts["value"], _(facts["source"]), facts["year"])

    # ── what the page shows ─────────────────────────────────────────────────────────────────────────────────────

    def groups(self) -> Iterator[Group]:
        for group, title in GROUPS.items():
            if names := self.order[group]:
                yield Group(group, str(title), [Row(self[name], self.is_own(name)) for name in names])

    def is_own(self, name: str) -> bool:
        """Whether the customer's figure stands in the place of ours."""
        if name not in ANSWERS:
            return name in self.own
        stored = self._stored(name)
        if name == "horizon" and stored == str(self.situation.default(name).value):
            return False  # the questionnaire suggests it, and going on there leaves it as it was
        return raw_of(stored) is None and not is_unknown(stored) and ANSWERS[name].question.accepts(stored)

    def known(self) -> set[str]:
        """Every input that can go back to ours: also one that was changed and counts for this system no more."""
        return {*self.fields, *self.draft.answers.get(COSTS, {})}

    @property
    def own_count(self) -> int:
        return sum(self.is_own(name) for name in self.fields)

    def _stored(self, name: str) -> Stored:
        return self.draft.answers.get(ANSWERS[name].step, {}).get(name, UNKNOWN)

    # ── what was posted ─────────────────────────────────────────────────────────────────────────────────────────

    def changes(self) -> dict[str, dict[str, Stored | None]]:
        """By step of the plan: what to store, and None for what falls back to ours. Call it when the form is valid."""
        changed: dict[str, dict[str, Stored | None]] = {}
        for name, value in self.cleaned_data.items():
            if self.add_prefix(name) not in self.data:
                continue
            step = ANSWERS[name].step if name in ANSWERS else COSTS
            stored = self._to_store(name, value)
            if stored != (
                self._stored(name) if name in ANSWERS else self.draft.answers.get(COSTS, {}).get(name)
            ):
                changed.setdefault(step, {})[name] = stored
        return changed

    def _to_store(self, name: str, value: Any) -> Stored | None:
        if name == "horizon":
            kept = str(self.workload.growth.horizon_years) == value
            return self._stored(name) if kept else value
        key = {"electricity": "electricity_eur_per_kwh", "pue": pue_key(self.workload)}.get(name, name)
        # What we fill in ourselves is not the customer's figure for being sent back.
        if value is None or (not self.is_own(name) and float(value) == self._ours(key).value):
            return dict(UNKNOWN) if name in ANSWERS else None
        return f"{Decimal(value).normalize():f}"


def reset(names: Iterable[str]) -> dict[str, dict[str, Stored | None]]:
    """What to store so that these inputs are ours again."""
    changed: dict[str, dict[str, Stored | None]] = {}
    for name in names:
        step = ANSWERS[name].step if name in ANSWERS else COSTS
        changed.setdefault(step, {})[name] = dict(UNKNOWN) if name in ANSWERS else None
    return changed


def asked(system: SizedSystem, workload: Workload) -> list[str]:
    """The assumptions that count for this system, in the order in which they are declared."""
    hours = {busy_hours_key(service) for service in workload.services}
    left_out = {
        *{key for keys in ADMINISTRATION.values() for key in keys} - {*administration_keys(system.candidate)},
        *{"colocation_eur_per_kw_month", "own_room_eur_per_kw_month"} - {housing_key(workload)},
        *set(BUSY_HOURS.values()) - hours,
    }
    if busy_fraction(workload, system.candidate.loads, Assumptions()) == 1:
        left_out.add("idle_power_fraction")
    if not any(rack.cooling == "liquid" for rack in system.candidate.system.racks):
        left_out.add("coolant_eur_per_rack_year")
    money = system.economics
    if money and money.cloud is None:
        left_out |= {key for key in Assumptions.model_fields if group_of(key) in {"cloud", "tokens"}}
    if money and money.tokens is None:
        left_out |= {key for key in Assumptions.model_fields if group_of(key) == "tokens"}
    if workload.services:
        left_out.add("spot_useful_fraction")
    return [key for key in Assumptions.model_fields if may_be_owned(key) and key not in left_out]


def group_of(key: str) -> str:
    """Where the page asks for an assumption; empty when it does not."""
    return str(described(Assumptions(), key).get("group", ""))


def _exact(value: float | Decimal) -> Decimal:
    return value if isinstance(value, Decimal) else Decimal(repr(value))


def _dated(ours: Ours) -> str:
    return f"{ours.source} ({ours.year})" if ours.year else ours.source
