"""Which model, and what the system does with it."""

import difflib
import re
from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from catalog.importers.hub import hub_name
from catalog.specs import CatalogSnapshot, ModelArchitecture
from configurator import formats
from configurator.wizard.config_fields import ConfigField, ConfigFileField, HubNameField
from configurator.wizard.fields import ChoiceQuestion, Question, SelectQuestion, Stored
from configurator.wizard.forms import StepForm
from configurator.wizard.number_fields import NumberField
from configurator.wizard.presets import DOMAIN_NAMES, PRESETS, RATE_MODELS_BY_KEY
from configurator.wizard.situation import Situation
from configurator.workload import Domain, UseCase

MODEL_LIST = "models-of-the-catalog"

TRAINS = frozenset({"train", "both"})
SERVES = frozenset({"serve", "both"})


# ── one language model out of many ──────────────────────────────────────────────────────────────────────────────

SIZES = (
    (15.0, _("Small"), _("up to 15 billion parameters: quick and cheap, for plain tasks")),
    (80.0, _("Medium"), _("up to 80 billion: good answers, on one to four GPUs")),
    (float("inf"), _("Large"), _("more than 80 billion: the best answers, often a whole server")),
)


_SIZE_IN_NAME = re.compile(r"(\d+(?:\.\d+)?)[bB]\b")


def billions(model: ModelArchitecture) -> float:
    """Size in billions of parameters, to put models in order; from the name when the catalog states none."""
    if model.total_params_b is not None:
        return model.total_params_b
    in_name = _SIZE_IN_NAME.search(model.name)
    return float(in_name[1]) if in_name else 0


def size_of(model: ModelArchitecture) -> str:
    """`70,6 miljard parameters`, or nothing when the catalog does not say."""
    size = billions(model)
    return gettext("{number} billion parameters").format(number=formats.number(size, 3)) if size else ""


def models_by_size(catalog: CatalogSnapshot) -> list[tuple[Any, Any, list[ModelArchitecture]]]:
    """The catalog's language models in groups (name, hint, models), each from small to large."""
    known = sorted(catalog.models, key=lambda model: (billions(model), model.name.casefold()))
    groups, floor = [], 0.0
    for ceiling, name, hint in SIZES:
        groups.append((name, hint, [model for model in known if floor < billions(model) <= ceiling]))
        floor = ceiling
    groups.append((_("Other"), _("size not stated"), [model for model in known if not billions(model)]))
    return [group for group in groups if group[2]]


def _plain(name: str) -> str:
    """Letters and digits only: `Llama 3.1 70B` and `llama-3.1-70b` are the same."""
    return re.sub(r"[^a-z0-9]+", "", name.casefold())


def _names(model: ModelArchitecture) -> tuple[str, ...]:
    return model.key.rpartition("/")[2], model.key, model.name


class ModelField(Question):
    """A language model of the catalog, by its name or key. Stored as its key."""

    def __init__(self, label: Any, **rest: Any) -> None:
        # The page holds the list of names, which the browser offers while typing.
        widget = forms.TextInput({"list": MODEL_LIST, "autocomplete": "off", "spellcheck": "false"})
        super().__init__(label, widget=widget, can_skip=False, **rest)

    def parse(self, text: Any, situation: Situation) -> str:
        known = {_plain(name): model for model in situation.catalog.models for name in _names(model)}
        if found := known.get(_plain(text)):
            return found.key
        close = [known[name].name for name in difflib.get_close_matches(_plain(text), known, 6, 0.6)]
        if close:
            names = ", ".join(list(dict.fromkeys(close))[:3])
            raise ValidationError(
                gettext("We do not know this model. Do you mean {names}?").format(names=names)
            )
        raise ValidationError(
            gettext(
                "We do not know this model. Choose one from the list, say how large it is, or give its config.json."
            )
        )

    def missing(self) -> str:
        return gettext("Choose a model, or let us advise one.")

    def load(self, stored: Stored) -> str:
        if not isinstance(stored, str) or not stored:
            raise ValueError(stored)
        return stored

    def write(self, stored: Stored, situation: Situation) -> str:
        model = situation.catalog.models_by_key.get(stored)
        return model.name if model else str(stored)


# ── questions ───────────────────────────────────────────────────────────────────────────────────────────────────


def _is_language(situation: Situation) -> bool:
    return situation.is_language


def _chooses_method(situation: Situation) -> bool:
    return situation.is_language and situation.use_case is not UseCase.PRE_TRAIN


def _from(source: str) -> tuple[str, frozenset[str]]:
    return ("source", frozenset({source}))


_TASK_WHY = _("Training asks for other hardware than use: more memory, for hours or weeks at a stretch.")


class LanguageModelForm(StepForm):
    task = ChoiceQuestion(
        _("What should the system do with the model?"),
        [("serve", _("Use it")), ("train", _("Train or fine-tune it")), ("both", _("Both, on one system"))],
        descriptions={
            "serve": _("people or programs put questions to it"),
            "train": _("it learns from your own texts"),
            "both": _("it learns, for instance at night, and is used by day"),
        },
        why=_TASK_WHY,
        when=_is_language,
    )
    method = ChoiceQuestion(
        _("How should it learn?"),
        [
            ("lora", _("Fine-tune with an adapter (LoRA)")),
            ("qlora", _("Fine-tune with an adapter, in as little memory as possible (QLoRA)")),
            ("full", _("Fine-tune the whole model")),
            ("pre_train", _("Train from scratch")),
        ],
        descriptions={
            "lora": _("a small addition learns, the model itself stays as it is"),
            "qlora": _("the same, with the model compressed to four bits while learning"),
            "full": _("every parameter learns: four to eight times the memory"),
            "pre_train": _("a new model; weeks on many GPUs"),
        },
        why=_("The method decides how much memory training takes, often by a factor of ten."),
        when=_chooses_method,
        shown_if=("task", TRAINS),
    )
    source = ChoiceQuestion(
        _("Which model?"),
        [
            ("advise", _("Advise me")),
            ("catalog", _("I know which model")),
            ("size", _("I only know how large it is")),
            ("config", _("Another model, by its config.json")),
        ],
        descriptions={
            "catalog": _("choose from the models in our catalog"),
            "size": _("for example 70 billion parameters"),
            "config": _(
                "the file that comes with a model on Hugging Face, for models that our catalog lacks"
            ),
        },
        why=_(
            "The size and structure of the model decide how much GPU memory is needed, and how fast answers come."
        ),
        can_skip=False,
        when=_is_language,
    )
    model = ModelField(
        _("Name of the model"),
        help_text=_("Type a part of the name and choose from the list."),
        why=_(
            "From the name we know its layers, its memory per conversation and the longest text that it can read."
        ),
        when=_is_language,
        shown_if=_from("catalog"),
    )
    params_b = NumberField(
        _("How large is the model?"),
        low=0,
        high=20_000,
        units=("b", "bn", "billion", "miljard", "mld"),
        unit=_("billion parameters"),
        help_text=_("The B in its name: a 70B model has 70 billion parameters."),
        why=_("With the size alone we assume a usual structure, and our margins get wider."),
        can_skip=False,
        when=_is_language,
        shown_if=_from("size"),
    )
    hub_model = HubNameField(
        _("Name on a model hub"),
        help_text=_("Organisation and model, such as Qwen/Qwen3-8B. We fetch its config.json."),
        why=_("That file holds its exact structure. We ask for nothing else, and say nothing about you."),
        when=lambda situation: situation.is_language and bool(hub_name()),
        shown_if=_from("config"),
    )
    config_file = ConfigFileField(
        _("The file config.json"),
        why=_("It stands beside the model, with its exact structure. We keep what is in it with your plan."),
        when=_is_language,
        shown_if=_from("config"),
    )
    config = ConfigField(
        _("Contents of config.json"),
        help_text=_("Choose the file above, or paste here what is in it."),
        why=_("It holds the exact structure, so that we count its memory instead of guessing it."),
        when=_is_language,
        shown_if=_from("config"),
    )
    precision = ChoiceQuestion(
        _("Precision of the weights when used"),
        [
            ("auto", _("Best choice per GPU")),
            *((value, value.upper()) for value in ("bf16", "fp8", "int8", "int4", "mxfp4", "nvfp4")),
        ],
        why=_("Fewer bits take less memory and bandwidth, at some loss of quality."),
        expert=True,
        when=_is_language,
        shown_if=("task", SERVES),
    )
    kv_precision = ChoiceQuestion(
        _("Precision of the KV cache"),
        [("auto", _("Best choice per engine")), ("bf16", "BF16"), ("fp8", "FP8")],
        why=_("The KV cache is the working memory per conversation; FP8 halves it."),
        expert=True,
        when=_is_language,
        shown_if=("task", SERVES),
    )
    engine = ChoiceQuestion(
        _("Serving engine"),
        [("vllm", "vLLM"), ("sglang", "SGLang"), ("trtllm", "TensorRT-LLM")],
        why=_("Engines differ in speed and in how much memory they keep for themselves."),
        expert=True,
        when=_is_language,
        shown_if=("task", SERVES),
    )
    train_precision = ChoiceQuestion(
        _("Precision while training"),
        [("bf16", "BF16"), ("fp8", "FP8")],
        why=_("FP8 is faster on recent GPUs, and asks for more care."),
        expert=True,
        when=_is_language,
        shown_if=("task", TRAINS),
    )
    optimizer = ChoiceQuestion(
        _("Optimiser"),
        [("adamw", "AdamW"), ("adamw_8bit", _("AdamW in 8 bits"))],
        why=_("The state of the optimiser is the largest part of the memory of full training."),
        expert=True,
        when=_is_language,
        shown_if=("task", TRAINS),
    )
    sequence = NumberField(
        _("Sequence length while training"),
        low=1,
        high=10_000_000,
        whole=True,
        unit=_("tokens"),
        why=_("Longer examples take more memory for activations."),
        expert=True,
        when=_is_language,
        shown_if=("task", TRAINS),
    )
    lora_rank = NumberField(
        _("LoRA rank"),
        low=1,
        high=4096,
        whole=True,
        why=_("The rank decides how many parameters the adapter has."),
        expert=True,
        when=_chooses_method,
        shown_if=("method", frozenset({"lora", "qlora"})),
    )

    def __init__(
        self, situation: Situation, stored: Mapping[str, Stored], data: Any = None, *, check: bool = False
    ) -> None:
        super().__init__(situation, stored, data, check=check)
        source = self.fields.get("source")
        if isinstance(source, ChoiceQuestion) and situation.use_case and situation.advised:
            said = gettext("we propose {name}: {reason}")
            reason = PRESETS[situation.use_case].advice_reason
            advice = said.format(name=situation.advised.name, reason=reason)
            source.descriptions = {**source.descriptions, "advise": advice}
        if name := self.fields.get("hub_model"):
            name.label = gettext("Name on {hub}").format(hub=hub_name())


def _rate_choices(domains: tuple[Domain, ...]) -> list[tuple[Any, list[tuple[str, Any]]]]:
    """Models by domain, as the groups of a select."""
    groups = []
    for domain in domains:
        models = [
            (key, format_lazy("{}: {}", _(model.name), model.hint))
            for key, model in RATE_MODELS_BY_KEY.items()
            if model.domain is domain
        ]
        groups.append((DOMAIN_NAMES[domain], models))
    return groups


class RateModelField(SelectQuestion):
    """A model of the table of measured rates, among those of the use case's domains."""

    def __init__(self, label: Any, **rest: Any) -> None:
        super().__init__(label, _rate_choices(tuple(Domain)), **rest)

    def offer(self, domains: tuple[Domain, ...]) -> None:
        self.widget.choices = [*_rate_choices(domains), ("unknown", self.choices[-1][1])]


class RateModelForm(StepForm):
    task = ChoiceQuestion(
        _("What should the system do with the model?"),
        [("serve", _("Use it")), ("train", _("Train it")), ("both", _("Both, on one system"))],
        descriptions={
            "serve": _("it judges, finds or makes things"),
            "train": _("it learns from your own examples"),
            "both": _("it learns, for instance at night, and is used by day"),
        },
        why=_TASK_WHY,
        when=lambda situation: not situation.is_language,
    )
    rate_model = RateModelField(
        _("Which model comes closest?"),
        help_text=_("Of these we have published measurements; yours may be a relative."),
        why=_("We calculate from measured speeds of this model on many GPUs."),
        when=lambda situation: not situation.is_language,
    )

    def __init__(
        self, situation: Situation, stored: Mapping[str, Stored], data: Any = None, *, check: bool = False
    ) -> None:
        super().__init__(situation, stored, data, check=check)
        field = self.fields.get("rate_model")
        if isinstance(field, RateModelField) and situation.use_case:
            field.offer(PRESETS[situation.use_case].domains)
