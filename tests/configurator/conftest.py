"""What the tests of the questionnaire share."""

from collections.abc import Iterator
from datetime import date

import pytest
from django.utils import translation

from catalog.seed import seed_snapshot
from catalog.specs import CatalogSnapshot

DAY = date(2026, 12, 1)


@pytest.fixture(scope="session")
def seed() -> CatalogSnapshot:
    """The seed catalog on a fixed day, without a database."""
    return seed_snapshot(DAY)


@pytest.fixture
def english() -> Iterator[None]:
    with translation.override("en"):
        yield


@pytest.fixture
def dutch() -> Iterator[None]:
    with translation.override("nl"):
        yield
