"""What the answers so far say about which questions come next."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from catalog.specs import CatalogSnapshot, ModelArchitecture
from configurator.wizard.presets import PRESETS, RATE_MODELS_BY_KEY, Default, RateModel, default_for
from configurator.workload import Domain, Method, UseCase

type Answers = Mapping[str, Mapping[str, Any]]
"""Stored answers by step and question. A step owns its own questions: two steps can never overwrite each other."""

USE, MODEL, LOAD, DATA, SITE, PLAN, CHECK = "use", "model", "load", "data", "site", "plan", "check"
COSTS = "costs"  # no step: figures that the customer changed on the proposal page, by key


def slug_of(kind: str, use_case: UseCase | None) -> str:
    """A step's name in the address and in the answers: `data`, `model-document-chat`."""
    return f"{kind}-{use_case.value.replace('_', '-')}" if use_case else kind


def chosen_use_cases(answers: Answers) -> tuple[UseCase, ...]:
    """The main use case and what else the system does, each once; empty before the first choice."""
    step = answers.get(USE, {})
    also = step.get("also")
    names = [step.get("use_case"), *(also if isinstance(also, list) else ())]
    known = [UseCase(name) for name in names if isinstance(name, str) and name in set(UseCase)]
    return tuple(dict.fromkeys(known)) if known and known[0].value == names[0] else ()


@dataclass(frozen=True)
class Situation:
    """The answers, seen from one use case (or none, for the steps about everything)."""

    answers: Answers
    catalog: CatalogSnapshot
    use_case: UseCase | None = None
    expert: bool = False

    def of(self, use_case: UseCase | None) -> Self:
        return type(self)(self.answers, self.catalog, use_case, self.expert)

    def default(self, name: str) -> Default:
        # The method and the domain are answers themselves: asking for their default must not ask for them again.
        if self.use_case is None or name in {"what", "task", "source", "method", "rate_model"}:
            return default_for(name, self._case)
        return default_for(
            name,
            self._case,
            self.method if self.is_language and self.trains else None,
            None if self.is_language else self.rate_model,
        )

    def choice(self, kind: str, name: str) -> str:
        """The chosen value of a choice question, or what we take when it is not (or not properly) answered."""
        use_case = self.use_case if kind in {MODEL, LOAD} else None
        stored = self.answers.get(slug_of(kind, use_case), {}).get(name)
        return stored if isinstance(stored, str) and stored != "unknown" else str(self.default(name).value)

    @property
    def _case(self) -> UseCase | None:
        """General questions take their default from the main use case."""
        chosen = chosen_use_cases(self.answers)
        return self.use_case or (chosen[0] if chosen else None)

    # ── about one use case ──────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def is_language(self) -> bool:
        if self.use_case is None:
            return False
        kind = PRESETS[self.use_case].kind or (
            "language" if self.choice(USE, "what") == "language" else "rate"
        )
        return kind == "language"

    @cached_property
    def serves(self) -> bool:
        return self.choice(MODEL, "task") in {"serve", "both"}

    @cached_property
    def trains(self) -> bool:
        return self.choice(MODEL, "task") in {"train", "both"}

    @cached_property
    def method(self) -> Method:
        value = self.choice(MODEL, "method")
        return Method(value) if value in set(Method) else Method.LORA

    @cached_property
    def rate_model(self) -> RateModel:
        """The model of measured rates that was chosen, or that we take."""
        chosen = RATE_MODELS_BY_KEY.get(self.choice(MODEL, "rate_model"))
        return chosen or RATE_MODELS_BY_KEY[str(self.default("rate_model").value)]

    @property
    def domain(self) -> Domain:
        return self.rate_model.domain

    @cached_property
    def advised(self) -> ModelArchitecture | None:
        """The model that we advise for this use case: the first of its list that the catalog has."""
        keys = PRESETS[self.use_case].advice if self.use_case else ()
        return next(
            (self.catalog.models_by_key[key] for key in keys if key in self.catalog.models_by_key), None
        )

    # ── about everything ────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def any_training(self) -> bool:
        return any(self.of(use_case).trains for use_case in chosen_use_cases(self.answers))

    @cached_property
    def at_edge(self) -> bool:
        return UseCase.EDGE in chosen_use_cases(self.answers)
