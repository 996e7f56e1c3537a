"""What every test may lean on: the cast of users, the seed catalog, and an order that keeps both honest."""

import gc
import os
from collections.abc import Callable
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command, get_commands
from django.test import Client
from hypothesis import settings as hypothesis_settings
from pytest_django.plugin import DjangoDbBlocker

from tests.cast import enter

# A slow machine is no failure; on a build server the same commit always sees the same examples.
hypothesis_settings.register_profile("house", deadline=None, derandomize="CI" in os.environ)
hypothesis_settings.load_profile("house")

# A catalog is a million objects that stay: looking through them for garbage as often as Python does takes a tenth of
# the time of all tests.
gc.set_threshold(50_000, 20, 100)

DATABASE_FIXTURES = {
    "db",
    "transactional_db",
    "django_db_reset_sequences",
    "django_db_serialized_rollback",
    "catalog",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--database-only", action="store_true", help="run only tests that touch the database (for PostgreSQL)"
    )


def _touches_database(item: pytest.Item) -> bool:
    fixtures = set(getattr(item, "fixturenames", ()))
    return bool(fixtures & DATABASE_FIXTURES) or item.get_closest_marker("django_db") is not None


def _rank(item: pytest.Item) -> int:
    """Pure tests first; then tables that are empty; then the seed catalog; then what flushes tables; browsers last.

    The seed catalog is committed once per session, so tests that count on empty tables must come before it, and
    tests that flush the tables after it. A browser's event loop stays in its thread, so nothing may follow it.
    """
    if item.get_closest_marker("browser"):
        return 4
    marker = item.get_closest_marker("django_db")
    fixtures = set(getattr(item, "fixturenames", ()))
    if "transactional_db" in fixtures or (marker is not None and marker.kwargs.get("transaction")):
        return 3
    if "catalog" in fixtures:
        return 2
    return 1 if _touches_database(item) else 0


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--database-only"):
        chosen = [item for item in items if _touches_database(item)]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
        items[:] = chosen
    items.sort(key=_rank)


@pytest.fixture(scope="session")
def _seed_catalog(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    if "load_catalog" not in get_commands():
        pytest.fail("manage.py load_catalog does not exist")
    with django_db_blocker.unblock():
        call_command("load_catalog", stdout=StringIO(), stderr=StringIO())


@pytest.fixture
def catalog(_seed_catalog: None, db: None) -> None:
    """The seed catalog is in the database; changes to it are undone after the test."""


@pytest.fixture
def saskia(db: None) -> User:
    """Sells: opens, changes and issues quotes."""
    return enter("saskia")


@pytest.fixture
def carlo(db: None) -> User:
    """Keeps the catalog: parts, prices and figures."""
    return enter("carlo")


@pytest.fixture
def ada(db: None) -> User:
    """Administers everything."""
    return enter("ada")


@pytest.fixture
def client_of() -> Callable[[User], Client]:
    """`client_of(saskia)` is a client in which that person is logged in."""

    def log_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return log_in
