"""From a bill of materials to priced lines, groups and totals."""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Self

from pydantic import Field, model_validator

from catalog.quantity import Frozen, Message
from catalog.specs import CatalogSnapshot
from quotes.pricing.money import Totals, cents
from quotes.sizing.results import BillLine, LineRole, SystemBuild

SERVICES = frozenset({LineRole.SERVICE, LineRole.LICENCE})


class PricedLine(Frozen):
    """One line. `net_eur` = quantity × unit price less discount, in whole cents."""

    sku: str
    name: str
    name_nl: str = ""  # as the catalog had it; empty: `name` holds in Dutch too
    role: LineRole
    group: str
    quantity: int = Field(ge=1)
    unit_eur: Decimal = Field(ge=0)
    discount_pct: Decimal = Field(default=Decimal(0), ge=0, le=100)
    net_eur: Decimal
    reason: Message | None = None
    lead_time_weeks: int | None = None
    lead_time_stated_on: date | None = None
    demonstration: bool = False

    @classmethod
    def of(
        cls, *, quantity: int, unit_eur: Decimal, discount_pct: Decimal = Decimal(0), **rest: object
    ) -> Self:
        net = line_net(quantity, unit_eur, discount_pct)
        return cls.model_validate(
            {"quantity": quantity, "unit_eur": unit_eur, "discount_pct": discount_pct, "net_eur": net, **rest}
        )

    def name_in(self, language: str) -> str:
        """The name for a reader of `language` ("nl" or "en")."""
        return (language == "nl" and self.name_nl) or self.name

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if self.net_eur != line_net(self.quantity, self.unit_eur, self.discount_pct):
            raise ValueError("the line does not add up")
        return self


def line_net(quantity: int, unit_eur: Decimal, discount_pct: Decimal) -> Decimal:
    """Whole cents; the discount is taken from the line, not from the unit."""
    return cents(quantity * unit_eur * (100 - discount_pct) / 100)


class PricedSystem(Frozen):
    lines: tuple[PricedLine, ...]
    totals: Totals

    @model_validator(mode="after")
    def _lines_make_the_total(self) -> Self:
        if sum((line.net_eur for line in self.lines), Decimal(0)) != self.totals.net:
            raise ValueError("lines and total differ")
        return self

    @property
    def groups(self) -> dict[str, tuple[tuple[PricedLine, ...], Decimal]]:
        """Lines and subtotal per group, in the order of first appearance."""
        grouped: dict[str, list[PricedLine]] = {}
        for line in self.lines:
            grouped.setdefault(line.group, []).append(line)
        return {
            name: (tuple(rows), sum((row.net_eur for row in rows), Decimal(0)))
            for name, rows in grouped.items()
        }


class MissingPrice(LookupError):
    """An article on the bill has no list price on this day: it may not be quoted."""


def price(system: SystemBuild, catalog: CatalogSnapshot, vat_rate_pct: Decimal) -> PricedSystem:
    """List prices on the snapshot's day. Raises MissingPrice: a system with an unpriced article is not sellable."""
    return priced(price_lines(system.lines, catalog), vat_rate_pct)


def priced(lines: Iterable[PricedLine], vat_rate_pct: Decimal) -> PricedSystem:
    rows = tuple(lines)
    return PricedSystem(
        lines=rows, totals=Totals.of(sum((row.net_eur for row in rows), Decimal(0)), vat_rate_pct)
    )


def price_lines(bill: Iterable[BillLine], catalog: CatalogSnapshot) -> list[PricedLine]:
    """Fixed prices first, then the services that are a percentage of the hardware among them."""
    bill = tuple(bill)
    fixed = [_fixed(line, catalog) if line.pct_of_hardware is None else None for line in bill]
    hardware = sum((row.net_eur for row in fixed if row and row.role not in SERVICES), Decimal(0))
    return [row or _percentage(line, hardware, catalog) for line, row in zip(bill, fixed, strict=True)]


def _fixed(line: BillLine, catalog: CatalogSnapshot) -> PricedLine:
    entry = catalog.prices.get(line.sku)
    if entry is None or entry.amount.currency != "EUR":
        raise MissingPrice(line.sku)
    return _line(
        line,
        catalog,
        entry.amount.amount,
        lead_time_weeks=entry.lead_time_weeks,
        lead_time_stated_on=entry.lead_time_stated_on,
        demonstration=entry.demonstration,
    )


def _percentage(line: BillLine, hardware_eur: Decimal, catalog: CatalogSnapshot) -> PricedLine:
    unit = cents(hardware_eur * (line.pct_of_hardware or 0) / 100 / line.quantity)
    return _line(line, catalog, unit, demonstration=True)


def _line(
    line: BillLine,
    catalog: CatalogSnapshot,
    unit_eur: Decimal,
    *,
    demonstration: bool,
    lead_time_weeks: int | None = None,
    lead_time_stated_on: date | None = None,
) -> PricedLine:
    article = catalog.items.get(line.sku)
    return PricedLine.of(
        sku=line.sku,
        name=line.name,
        name_nl=article.name_nl if article else "",
        role=line.role,
        group=line.group,
        quantity=line.quantity,
        unit_eur=unit_eur,
        reason=line.reason,
        lead_time_weeks=lead_time_weeks,
        lead_time_stated_on=lead_time_stated_on,
        demonstration=demonstration,
    )
