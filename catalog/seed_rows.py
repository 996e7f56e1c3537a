"""What the data files hold, once read, and the checks that need more than one row."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

from pydantic import Field

from catalog.kinds import Kind, overlap
from catalog.quantity import Frozen


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong with a data file, and where."""

    file: str
    line: int
    field: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}, {self.field}: {self.sentence}"


class SeedError(ValueError):
    """The data files cannot be used; `mistakes` tells all of them."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(map(str, self.mistakes)))


class Bookkeeping(Frozen):
    """What a row of any kind may say beside its figures and their provenance."""

    category: str = ""  # of price and margin
    part_number: str = ""
    active: bool = True
    inactive_reason: str = ""
    notes: str = ""


class SeedPrice(Frozen):
    """A row of prices.csv."""

    sku: str
    currency: str = "EUR"
    amount: Decimal = Field(ge=0)
    valid_from: date | None = None
    valid_until: date | None = None
    stated_on: date | None = None
    source: str
    indicative: bool = True
    demonstration: bool = True
    lead_time_weeks: int | None = Field(default=None, ge=0)
    lead_time_stated_on: date | None = None
    notes: str = ""


class SeedMargin(Frozen):
    """A row of margins.csv: internal, never in a snapshot. Percentages of the list price."""

    category: str
    margin_pct: Decimal = Field(ge=0, lt=100)
    minimum_margin_pct: Decimal = Field(ge=0, lt=100)
    notes: str = ""


@dataclass(frozen=True, slots=True)
class SeedRow:
    """One article or model. `values` holds every column, typed; `spec` is None only for an incomplete inactive row."""

    kind: Kind
    values: Mapping[str, Any]
    spec: Any
    file: str
    line: int

    @property
    def identifier(self) -> str:
        return str(self.values[self.kind.identifier])

    @property
    def active(self) -> bool:
        return bool(self.values["active"])


@dataclass(slots=True)
class Seed:
    """Everything in the data files."""

    rows: list[SeedRow] = field(default_factory=list)
    prices: list[SeedPrice] = field(default_factory=list)
    margins: list[SeedMargin] = field(default_factory=list)
    version: str = ""

    def of(self, kind: str) -> list[SeedRow]:
        return [row for row in self.rows if row.kind.key == kind]


# ── checks across rows ──────────────────────────────────────────────────────────────────────────────────────────

REFERENCES = {
    ("server", "accelerators"): "accelerator",
    ("accessory", "accelerators"): "accelerator",
    ("cloud_offer", "accelerator_sku"): "accelerator",
    ("storage_system", "licence_sku"): "service",
}


def cross_check(
    seed: Seed, prices: list[tuple[int, SeedPrice]], refused: set[tuple[str, str]]
) -> Iterator[Mistake]:
    """What contradicts itself across rows. Rows that were refused exist all the same: one mistake is told once."""
    seen: dict[str, SeedRow] = {}
    for row in seed.rows:
        name = row.identifier.lower()
        if name in seen:
            first = seen[name]
            yield Mistake(
                row.file, row.line, row.kind.identifier,
                f"'{row.identifier}' is taken by {first.file}, line {first.line}",
            )  # fmt: skip
        seen[name] = row
    skus = {(row.kind.key, row.identifier) for row in seed.rows} | refused
    for row in seed.rows:
        for (key, name), target in REFERENCES.items():
            if row.kind.key != key or not row.values[name]:
                continue
            named = [row.values[name]] if isinstance(row.values[name], str) else sorted(row.values[name])
            for sku in named:
                if (target, sku) not in skus:
                    yield Mistake(row.file, row.line, name, f"there is no {target} '{sku}'")
    categories = {margin.category for margin in seed.margins} | {""}
    for row in seed.rows:
        if row.values["category"] not in categories:
            yield Mistake(
                row.file, row.line, "category", f"margins.csv has no category '{row.values['category']}'"
            )
    yield from _check_prices(prices, {sku for key, sku in skus if key != "ai_model"})


def _check_prices(prices: list[tuple[int, SeedPrice]], skus: set[str]) -> Iterator[Mistake]:
    earlier: dict[tuple[str, str], list[tuple[int, SeedPrice]]] = {}
    for line, price in prices:
        if price.sku not in skus:
            yield Mistake("prices.csv", line, "sku", f"there is no article '{price.sku}'")
        if price.valid_from and price.valid_until and price.valid_until < price.valid_from:
            yield Mistake("prices.csv", line, "valid_until", "the last day lies before the first")
        others = earlier.setdefault((price.sku, price.currency), [])
        for other_line, other in others:
            if overlap(price.valid_from, price.valid_until, other.valid_from, other.valid_until):
                yield Mistake(
                    "prices.csv", line, "valid_from", f"the price of line {other_line} holds on the same days"
                )
        others.append((line, price))
