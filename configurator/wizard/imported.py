"""A pasted config.json, read by the catalog's importer when the catalog has one."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import cast

from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from catalog.specs import ModelArchitecture

type Reader = Callable[[str], ModelArchitecture]
"""Takes the text of a config.json; raises ValueError when it describes no language model."""

IMPORTER = "catalog.importers.model_config"
READER: Reader | None = (
    cast(Reader, import_module(IMPORTER).read_model_config) if find_spec(IMPORTER) is not None else None
)


def read_config(text: str, reader: Reader | None = READER) -> ModelArchitecture:
    """The model that `text` describes. Raises ValidationError with a sentence for the customer."""
    try:
        if reader is None:
            raise ValueError("no importer")
        return reader(text)
    except (ValueError, KeyError, TypeError):
        raise ValidationError(
            gettext("We cannot read a language model from this. Paste the whole file, from { to }.")
        ) from None
