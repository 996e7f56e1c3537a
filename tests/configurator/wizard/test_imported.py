"""A pasted config.json becomes an architecture, or a sentence that says what to do."""

import pytest
from django.core.exceptions import ValidationError

from catalog.specs import CatalogSnapshot, ModelArchitecture
from configurator.wizard.imported import read_config


def test_the_importer_of_the_catalog_is_used(seed: CatalogSnapshot) -> None:
    model = seed.models[0]
    assert read_config("{}", lambda text: model) is model


@pytest.mark.parametrize("error", [ValueError("no JSON"), KeyError("hidden_size"), TypeError("a list")])
def test_what_cannot_be_read_is_answered(english: None, error: Exception) -> None:
    def reader(text: str) -> ModelArchitecture:
        raise error

    with pytest.raises(ValidationError, match="Paste the whole file"):
        read_config("[]", reader)


def test_without_an_importer_nothing_is_read(english: None) -> None:
    with pytest.raises(ValidationError):
        read_config("{}", None)
