"""A pasted config.json, read by the catalog's importer."""

from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from catalog.specs import ModelArchitecture


def read_config(text: str) -> ModelArchitecture:
    """The model that `text` (the contents of a config.json) describes. Raises ValidationError with a sentence."""
    raise ValidationError(gettext("We cannot read this file yet."))
