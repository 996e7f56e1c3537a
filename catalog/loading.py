"""Writing the seed rows into the database.

A row belongs to the data files until a person edits it. Each row keeps a digest of its values as last loaded: when
the row no longer matches its digest, somebody changed it, and loading leaves it alone and says so (`overwrite` takes
it back). Rows that only the database has are never touched; rows are switched off, not deleted.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any, Literal

from django.db import models, transaction

from catalog.kinds import KINDS, overlap
from catalog.models import TABLES, CatalogVersion, Margin, Price, Sourced
from catalog.seed_rows import Seed, SeedRow
from catalog.snapshot import flat_rows

REASON = "data file"
type Outcome = Literal["added", "changed", "kept", "unchanged"]

# An accelerator must stand before what names it, a service before the storage that needs its licence.
ORDER = ("accelerator", "service", *(key for key in KINDS if key not in ("accelerator", "service")))


@dataclass
class Report:
    """What loading did, or would do."""

    counts: Counter[tuple[str, Outcome]] = field(default_factory=Counter)
    kept: list[str] = field(default_factory=list)
    """Rows that a person edited, with the columns in which they differ from the file."""
    extra: list[str] = field(default_factory=list)
    """Rows that were once loaded and are in no file any more."""

    def note(self, kind: str, outcome: Outcome) -> None:
        self.counts[kind, outcome] += 1

    def total(self, outcome: Outcome) -> int:
        return sum(count for (_kind, each), count in self.counts.items() if each == outcome)

    @property
    def changes(self) -> int:
        return self.total("added") + self.total("changed")


class Rehearsal(Exception):
    """Raised inside the transaction so that nothing of a rehearsal remains."""


def load(seed: Seed, *, overwrite: bool = False, rehearse: bool = False) -> Report:
    """Add and update the rows of `seed`, all or nothing. With `rehearse` only report what would happen."""
    report = Report()
    try:
        with transaction.atomic():
            _load_margins(seed, report, overwrite)
            for key in ORDER:
                _load_kind(key, seed.of(key), report, overwrite)
            _load_prices(seed, report, overwrite)
            if rehearse:
                raise Rehearsal
    except Rehearsal:
        pass
    return report


def digest(values: Mapping[str, Any]) -> str:
    """A fingerprint of flat values that does not depend on the order of sets or the writing of numbers."""
    text = json.dumps({name: _plain(value) for name, value in sorted(values.items())}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    match value:
        case Enum():
            return value.value
        case Decimal():
            return str(value.normalize() + 0)
        case bool() | str() | None:
            return value
        case int() | float():
            return float(value)
        case date():
            return value.isoformat()
        case frozenset() | set():
            return sorted(_plain(each) for each in value)
        case list() | tuple():
            return [_plain(each) for each in value]
    return str(value)


def _comparable(key: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Flat values with sets sorted, whichever side they come from."""
    sets = {name for name, value in _empty(key).items() if isinstance(value, frozenset)}
    return {
        name: sorted(_plain(value) or []) if name in sets else _plain(value or None if value == "" else value)
        for name, value in values.items()
    }


def _empty(key: str) -> dict[str, Any]:
    return {
        name: info.get_default(call_default_factory=True)
        for name, info in KINDS[key].spec.model_fields.items()
    }


# ── articles and models ─────────────────────────────────────────────────────────────────────────────────────────


def _load_kind(key: str, rows: Iterable[SeedRow], report: Report, overwrite: bool) -> None:
    table, identifier = TABLES[key], KINDS[key].identifier
    stored = {flat[identifier]: _comparable(key, flat) for flat in flat_rows(key)}
    digests = dict(table.objects.values_list(identifier, "seed_digest"))
    seen = set()
    for row in rows:
        seen.add(row.identifier)
        wanted = _comparable(
            key, {name: value for name, value in row.values.items() if name in _columns(key, row)}
        )
        mark = digest(wanted)
        present = stored.get(row.identifier)
        if present == wanted:
            if digests[row.identifier] != mark:
                table.objects.filter(**{identifier: row.identifier}).update(seed_digest=mark)
            report.note(key, "unchanged")
        elif present is None:
            _write(table(), row, mark)
            report.note(key, "added")
        elif overwrite or digest(present) == digests[row.identifier]:
            _write(table.objects.get(**{identifier: row.identifier}), row, mark)
            report.note(key, "changed")
        else:
            differing = sorted(name for name in wanted if wanted[name] != present.get(name))
            report.kept.append(f"{key} {row.identifier}: {', '.join(differing)}")
            report.note(key, "kept")
    report.extra += [f"{key} {name}" for name in stored if name not in seen and digests[name]]


def _columns(key: str, row: SeedRow) -> set[str]:
    left_out = set() if KINDS[key].identifier == "sku" else {"category", "part_number"}
    return set(row.values) - left_out


def _write(instance: Sourced, row: SeedRow, mark: str) -> None:
    table = type(instance)
    many = {each.name for each in table._meta.many_to_many}
    for name in _columns(row.kind.key, row):
        if name in many:
            continue
        attribute = table.attribute(name)
        setattr(
            instance,
            attribute,
            _storable(table._meta.get_field(attribute.removesuffix("_id")), row.values[name]),
        )
    instance.seed_digest = mark
    instance._change_reason = REASON  # type: ignore[attr-defined]
    instance.save()
    for name in many:
        getattr(instance, name).set(sorted(row.values[name]))
    if many:
        CatalogVersion.bump()


def _storable(column: Any, value: Any) -> Any:
    if isinstance(value, frozenset | set):
        return sorted(_plain(each) for each in value)
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Enum):
        return value.value
    if value is None and isinstance(column, models.CharField) and not column.null:
        return ""
    if value == "" and column.is_relation:
        return None
    return value


# ── prices and margins ──────────────────────────────────────────────────────────────────────────────────────────


def _load_margins(seed: Seed, report: Report, overwrite: bool) -> None:
    stored = {margin.category: margin for margin in Margin.objects.all()}
    for row in seed.margins:
        _settle("margin", stored.get(row.category), row.model_dump(), Margin, row.category, report, overwrite)


def _load_prices(seed: Seed, report: Report, overwrite: bool) -> None:
    stored = {(price.article_id, price.currency, price.valid_from): price for price in Price.objects.all()}
    by_article: dict[tuple[str, str], list[Price]] = {}
    for price in stored.values():
        by_article.setdefault((price.article_id, price.currency), []).append(price)
    for row in seed.prices:
        values = {"article_id": row.sku, **row.model_dump(exclude={"sku"})}
        present = stored.get((row.sku, row.currency, row.valid_from))
        if any(
            each is not present
            and overlap(row.valid_from, row.valid_until, each.valid_from, each.valid_until)
            for each in by_article.get((row.sku, row.currency), [])
        ):
            # A colleague has priced this article: the price of the file would contradict it on the same days.
            report.kept.append(f"price {row.sku}: another price holds")
            report.note("price", "kept")
            continue
        _settle("price", present, values, Price, row.sku, report, overwrite)


def _settle(
    kind: str,
    present: Any,
    wanted: Mapping[str, Any],
    table: type[Price] | type[Margin],
    name: str,
    report: Report,
    overwrite: bool,
) -> None:
    """Add, update, keep or leave one price or margin, by the rule of this module."""
    mark = digest(wanted)
    current = None if present is None else {column: getattr(present, column) for column in wanted}
    if current is not None and digest(current) == mark:
        report.note(kind, "unchanged")
    elif current is None or overwrite or digest(current) == present.seed_digest:
        instance: Any = present or table()
        for column, value in wanted.items():
            setattr(instance, column, value)
        instance.seed_digest = mark
        instance._change_reason = REASON
        instance.save()
        report.note(kind, "added" if present is None else "changed")
    else:
        differing = sorted(column for column in wanted if _plain(wanted[column]) != _plain(current[column]))
        report.kept.append(f"{kind} {name}: {', '.join(differing)}")
        report.note(kind, "kept")
