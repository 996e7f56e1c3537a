"""Three ways to hand over a model's config.json: its text, the file, or the model's name on a hub."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from catalog.importers.config_sources import MAX_BYTES, MAX_TEXT, architecture_of, text_of_file
from catalog.importers.hub import fetch_config, hub_name, tidy_name
from catalog.specs import CatalogSnapshot, ModelArchitecture
from configurator import formats
from configurator.wizard.fields import Question, Stored, tidy
from configurator.wizard.situation import Situation

TEXT, FILE, NAME = "config", "config_file", "hub_model"  # the names of the three questions
FETCH = "stay:fetch"  # the button beside the name: to stay on the page, with what the name leads to


class ConfigField(Question):
    """The text of a model's config.json. Stored as it is; its value is a ModelArchitecture."""

    raw_limit = MAX_TEXT + 1  # so that what was too long still is

    def __init__(self, label: Any, **rest: Any) -> None:
        widget = forms.Textarea({"rows": 8, "autocomplete": "off", "spellcheck": "false", "wrap": "off"})
        super().__init__(label, widget=widget, can_skip=False, **rest)

    def parse(self, text: Any, situation: Situation) -> str:
        # Browsers send other line ends than files have: the same config is stored the same.
        unified = str(text).replace("\r\n", "\n")
        architecture_of(unified)
        return unified

    def missing(self) -> str:
        return gettext(
            "Choose the file config.json or paste what is in it, or name the model in another way."
        )

    def load(self, stored: Stored) -> ModelArchitecture:
        if not isinstance(stored, str):
            raise ValueError(stored)
        return architecture_of(stored)

    def accepts(self, stored: Stored) -> bool:
        try:
            self.load(stored)
        except (ValueError, ValidationError):
            return False
        return True

    def say(self, stored: Stored, situation: Situation) -> str:
        return said(self.load(stored))


def said(model: ModelArchitecture) -> str:
    """`Qwen3-30B-A3B, 30.5 billion parameters, of which 3.35 billion per token`."""
    parts = [model.name]
    if model.total_params_b:
        parts.append(
            gettext("{number} billion parameters").format(number=formats.number(model.total_params_b, 3))
        )
    if model.is_moe and model.active_params_b:
        parts.append(
            gettext("of which {number} billion per token").format(
                number=formats.number(model.active_params_b, 3)
            )
        )
    if not model.standard_structure:
        parts.append(gettext("of a structure that we do not know exactly, so that our margins are wider"))
    return ", ".join(parts)


def said_in(stored: Stored) -> str:
    """What we read in a stored config; empty when there is none, or none that can be read."""
    try:
        return said(architecture_of(stored)) if isinstance(stored, str) else ""
    except ValidationError:
        return ""


class WayToConfig(Question):
    """Brings the text of ConfigField when a page is saved (`bring`); is itself no answer and not kept."""

    is_kept = False

    def __init__(self, label: Any, **rest: Any) -> None:
        super().__init__(label, can_skip=False, **rest)

    def read(self, text: Any, situation: Situation) -> Any:
        return None

    def load(self, stored: Stored) -> str:
        if not isinstance(stored, str):
            raise ValueError(stored)
        return stored


class ConfigFileField(WayToConfig):
    def __init__(self, label: Any, **rest: Any) -> None:
        given = {"accept": ".json,application/json", "data-into": f"id_{TEXT}", "data-most": MAX_BYTES}
        super().__init__(label, widget=forms.FileInput(given), **rest)


class NameToFetch(forms.TextInput):
    """A name, and beside it the button that fetches what it names."""

    def render(self, *args: Any, **kwargs: Any) -> SafeString:
        button = '{}<button class="button" type="submit" name="go" value="{}">{}</button>'
        return format_html(button, super().render(*args, **kwargs), FETCH, gettext("Fetch"))


class HubNameField(WayToConfig):
    def __init__(self, label: Any, **rest: Any) -> None:
        given = {"maxlength": 250, "autocomplete": "off", "autocapitalize": "off", "spellcheck": "false"}
        super().__init__(label, widget=NameToFetch(given), **rest)


class Brought(NamedTuple):
    """What was posted, with the text of the config in the place of what leads to it; or, by question, why not."""

    data: QueryDict
    problems: Mapping[str, str]


def bring(
    posted: QueryDict,
    files: MultiValueDict[str, UploadedFile],
    stored: Mapping[str, Stored],
    catalog: CatalogSnapshot,
    asker: str,
) -> Brought:
    """Read the file or look up the name that was posted. A file counts before a text, a new text before a name; but
    whoever presses the button beside the name means the name.

    A model that the catalog has is taken from there, where its figures were checked.
    """
    if posted.get("source") != TEXT:
        return Brought(posted, {})
    file, name, fetches = files.get(FILE), tidy(posted.get(NAME)), posted.get("go") == FETCH
    data, way = posted.copy(), FILE
    try:
        if file is not None and not fetches:
            text = text_of_file(file)
        elif hub_name() and (fetches or (name and not _is_new(posted.get(TEXT), stored.get(TEXT)))):
            way = NAME
            known = {model.key.casefold(): model.key for model in catalog.models}
            if key := known.get(tidy_name(name).casefold()):
                data["source"], data["model"] = "catalog", key
                return Brought(data, {})
            text = fetch_config(name, asker=asker)
        else:
            return Brought(posted, {})
        architecture_of(text)
    except ValidationError as error:
        return Brought(posted, {way: error.messages[0]})
    data[TEXT] = text
    return Brought(data, {})


def _is_new(text: Any, stored: Stored) -> bool:
    """Whether somebody put another text into the box than the page showed."""
    shown = stored.get("raw") if isinstance(stored, Mapping) else stored
    return bool(tidy(text)) and tidy(text).split() != str(shown or "").split()
