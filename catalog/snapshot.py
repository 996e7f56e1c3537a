"""From database rows to the catalog as the engine sees it, and nowhere else.

    from catalog.snapshot import snapshot
    catalog = snapshot()            # today
    catalog = snapshot(on=day)      # with the prices of that day

The result is kept per process for as long as the catalog's version does not change (`CatalogVersion`), so that a
request pays one small query. Changes through models and their query sets change the version; raw SQL and `loaddata`
do not: call `CatalogVersion.bump()` after them.
"""

import logging
from collections import defaultdict
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from typing import Any

from django.utils import timezone
from pydantic import ValidationError

from catalog.kinds import KINDS, PROVENANCE, PriceRow, assemble, build, prices_on
from catalog.models import TABLES, CatalogVersion, Price
from catalog.quantity import Money
from catalog.specs import CatalogSnapshot

logger = logging.getLogger(__name__)

BOOKKEEPING = ("active", "inactive_reason", "notes")
ARTICLE_BOOKKEEPING = ("category", "part_number")


def snapshot(on: date | None = None) -> CatalogSnapshot:
    """The active catalog with the prices of `on` (today when left out)."""
    day = on or timezone.localdate()
    return _snapshot(CatalogVersion.current(), day)


def flat_rows(kind_key: str, *, active_only: bool = False) -> Iterator[dict[str, Any]]:
    """Every row of a kind in flat form, bookkeeping included, the way `catalog.seed` reads it from a file."""
    table = TABLES[kind_key]
    columns = [*KINDS[kind_key].columns, *PROVENANCE, *BOOKKEEPING]
    if KINDS[kind_key].identifier == "sku":
        columns += ARTICLE_BOOKKEEPING
    many = {field.name for field in table._meta.many_to_many}
    attributes = {column: table.attribute(column) for column in columns if column not in many}
    linked = {name: _linked(kind_key, name) for name in many}
    rows = table.objects.filter(active=True) if active_only else table.objects.all()
    for row in rows.order_by("pk").values("pk", *attributes.values()):
        flat = {column: row[attribute] for column, attribute in attributes.items()}
        for name, targets in linked.items():
            flat[name] = targets[row["pk"]]
        flat["weaker_confidence"] = flat["weaker_confidence"] or None
        yield flat


def _linked(kind_key: str, name: str) -> dict[str, list[str]]:
    """The SKUs on the other side of a many-to-many field, by the SKU on this side."""
    field = TABLES[kind_key]._meta.get_field(name)
    through = field.remote_field.through  # type: ignore[union-attr]
    here, there = f"{field.m2m_field_name()}_id", f"{field.m2m_reverse_field_name()}_id"  # type: ignore[union-attr]
    found: dict[str, list[str]] = defaultdict(list)
    for one, other in through._default_manager.order_by(there).values_list(here, there):
        found[one].append(other)
    return found


def _specs(kind_key: str) -> Iterator[Any]:
    for flat in flat_rows(kind_key, active_only=True):
        try:
            yield build(KINDS[kind_key], flat)
        except ValidationError as error:
            # One bad row must not take the site down; forms and constraints keep this from happening.
            identifier = flat[KINDS[kind_key].identifier]
            logger.error("%s %s is left out of the catalog: %s", kind_key, identifier, error)


@lru_cache(maxsize=2)
def _undated(version: str) -> tuple[dict[str, list[Any]], list[PriceRow]]:
    """Active specs by kind, and all prices of active articles."""
    specs = {key: list(_specs(key)) for key in KINDS}
    names = ("amount", "currency", "article__category_id")
    kept = tuple(name for name in PriceRow.model_fields if name not in ("sku", "amount", "category"))
    rows = Price.objects.filter(article__active=True).values("article_id", *names, *kept)
    prices = [
        PriceRow(
            sku=row["article_id"],
            amount=Money(amount=row["amount"], currency=row["currency"]),
            category=row["article__category_id"] or "",
            **{name: row[name] for name in kept},
        )
        for row in rows
    ]
    return specs, prices


@lru_cache(maxsize=8)
def _snapshot(version: str, day: date) -> CatalogSnapshot:
    specs, prices = _undated(version)
    return assemble(version, specs, prices_on(day, prices), day)
