"""The seed catalog: readable files in `catalog/data`, read without a database.

`seed_snapshot` gives the engine and its tests a whole catalog; `manage.py load_catalog` writes the same rows into the
database. A CSV cell that is left empty, or a YAML key that is left out, is unknown or the usual value, never zero.
"""

import csv
import hashlib
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, get_origin

import yaml
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticUndefined

from catalog.kinds import KINDS, PROVENANCE, Kind, PriceRow, assemble, build, prices_on
from catalog.quantity import Frozen, Money
from catalog.seed_rows import (
    Bookkeeping,
    Mistake,
    Seed,
    SeedError,
    SeedMargin,
    SeedPrice,
    SeedRow,
    cross_check,
)
from catalog.specs import CatalogSnapshot, CloudOffer, Provenance

DATA = Path(__file__).parent / "data"


# ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and filled cells of each record of a CSV or YAML file."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream)
            for record in reader:
                yield reader.line_num, {name: cell for name, cell in record.items() if cell not in ("", None)}
        return
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(path.read_text(encoding="utf-8"))
    try:
        sequence = loader.get_single_node()
        for node in sequence.value if sequence else ():
            yield node.start_mark.line + 1, loader.construct_document(node)
    finally:
        loader.dispose()


@cache
def adapters(kind: Kind) -> Mapping[str, TypeAdapter[Any]]:
    """How to read each column of `kind`."""
    fields = {
        **kind.spec.model_fields,
        **Provenance.model_fields,
        **Bookkeeping.model_fields,
    }
    special: dict[str, Any] = {"hourly_amount": Decimal, "currency": str}
    names = (*kind.columns, *PROVENANCE, *Bookkeeping.model_fields)
    return {
        name: TypeAdapter(special[name] if name in special else fields[name].rebuild_annotation())
        for name in names
    }


def default(kind: Kind, name: str) -> Any:
    """What an empty cell of column `name` stands for; None when it must be filled."""
    for fields in (kind.spec.model_fields, Provenance.model_fields, Bookkeeping.model_fields):
        if name in fields:
            value = fields[name].get_default(call_default_factory=True)
            return None if value is PydanticUndefined else value
    return None


def _is_set(kind: Kind, name: str) -> bool:
    found = {**kind.spec.model_fields, **Provenance.model_fields}.get(name)
    return found is not None and get_origin(found.annotation) in (frozenset, tuple)


def parse(
    kind: Kind, record: Mapping[str, Any], file: str, line: int
) -> tuple[SeedRow | None, list[Mistake]]:
    """One record as a typed row, or the sentences that say why not."""
    known = adapters(kind)
    mistakes = [Mistake(file, line, name, "there is no such column") for name in record if name not in known]
    values: dict[str, Any] = {name: default(kind, name) for name in known}
    for name, cell in record.items():
        if name not in known:
            continue
        if isinstance(cell, str) and _is_set(kind, name):
            cell = [part.strip() for part in cell.split(";") if part.strip()]
        try:
            values[name] = known[name].validate_python(cell)
        except ValidationError as error:
            mistakes += [Mistake(file, line, name, detail["msg"]) for detail in error.errors()]
    if not values.get(kind.identifier):
        mistakes.append(Mistake(file, line, kind.identifier, "this must be filled"))
    if not values["active"] and not values["inactive_reason"]:
        mistakes.append(Mistake(file, line, "inactive_reason", "say why the row is not active"))
    if mistakes:
        return None, mistakes
    try:
        spec = build(kind, values)
    except ValidationError as error:
        if values["active"]:
            return None, [
                Mistake(file, line, ".".join(map(str, detail["loc"])) or kind.identifier, detail["msg"])
                for detail in error.errors()
            ]
        spec = None
    return SeedRow(kind, values, spec, file, line), []


def _read_plain[T: Frozen](path: Path, row_type: type[T], mistakes: list[Mistake]) -> list[tuple[int, T]]:
    rows = []
    for line, record in _records(path):
        try:
            rows.append((line, row_type.model_validate(record)))
        except ValidationError as error:
            mistakes += [
                Mistake(path.name, line, ".".join(map(str, detail["loc"])), detail["msg"])
                for detail in error.errors()
            ]
    return rows


def read_seed(directory: Path = DATA) -> Seed:
    """All data files of `directory`, checked one by one and against each other. SeedError names every mistake."""
    mistakes: list[Mistake] = []
    refused: set[tuple[str, str]] = set()
    seed = Seed(version=_fingerprint(directory))
    for kind in KINDS.values():
        for line, record in _records(directory / kind.file):
            row, found = parse(kind, record, kind.file, line)
            mistakes += found
            if row:
                seed.rows.append(row)
            else:
                refused.add((kind.key, str(record.get(kind.identifier))))
    prices = _read_plain(directory / "prices.csv", SeedPrice, mistakes)
    seed.prices = [price for _, price in prices]
    seed.margins = [margin for _, margin in _read_plain(directory / "margins.csv", SeedMargin, mistakes)]
    mistakes += cross_check(seed, prices, refused)
    if mistakes:
        raise SeedError(mistakes)
    return seed


def _fingerprint(directory: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(directory.iterdir()):
        if path.suffix in (".csv", ".yaml"):
            digest.update(path.read_bytes())
    return f"seed-{digest.hexdigest()[:16]}"


# ── the snapshot ────────────────────────────────────────────────────────────────────────────────────────────────


@cache
def seed() -> Seed:
    """The seed catalog of the project, read once."""
    return read_seed()


@cache
def seed_snapshot(on: date) -> CatalogSnapshot:
    """The seed catalog as the engine sees it on `on`, without a database; equal to the loaded database's snapshot."""
    catalog = seed()
    active = [row for row in catalog.rows if row.active]
    specs = {key: [row.spec for row in active if row.kind.key == key] for key in KINDS}
    category = {row.identifier: row.values["category"] for row in active if row.kind.spec is not CloudOffer}
    prices = [
        PriceRow(
            amount=Money(amount=price.amount, currency=price.currency),
            category=category[price.sku],
            **price.model_dump(include=set(PriceRow.model_fields) - {"amount", "category"}),
        )
        for price in catalog.prices
        if price.sku in category
    ]
    return assemble(catalog.version, specs, prices_on(on, prices), on)
