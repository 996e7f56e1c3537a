"""Price lists of distributors: CSV or Excel with at least an article and a price.

lines, mistakes = read_price_list(content, "list.xlsx", terms)
plan = plan_prices(lines)           # what would happen, nothing has
apply_prices(plan, user=...)        # all of it, or nothing
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Literal

from django.db import transaction
from django.utils.translation import gettext as _
from pydantic import Field

from catalog.importers.tabular import UnreadableTable, read_table, rename, to_day, to_decimal
from catalog.kinds import overlap
from catalog.models import Article, Price
from catalog.models.prices import CURRENCIES
from catalog.quantity import Frozen

TITLES: Mapping[str, str] = {
    title: name
    for name, titles in {
        "sku": ("sku", "article", "article number", "artikel", "artikelnummer", "artikelnr", "item", "item number",
                "part number", "partnumber", "part no", "mpn", "product code", "productcode"),
        "amount": ("price", "list price", "listprice", "list_price", "amount", "prijs", "lijstprijs", "adviesprijs",
                   "bruto prijs", "verkoopprijs", "unit price"),
        "currency": ("currency", "valuta", "munt"),
        "valid_from": ("valid from", "valid_from", "from", "geldig vanaf", "ingangsdatum", "vanaf"),
        "valid_until": ("valid until", "valid_until", "until", "valid to", "geldig tot", "geldig t/m", "einddatum"),
        "lead_time_weeks": ("lead time", "lead time (weeks)", "lead_time_weeks", "lead time weeks", "levertijd",
                            "levertijd (weken)", "levertijd weken"),
        "notes": ("notes", "note", "remark", "remarks", "opmerking", "opmerkingen"),
    }.items()
    for title in titles
}  # fmt: skip


class Terms(Frozen):
    """What holds for every line of the list that does not say otherwise."""

    source: str
    stated_on: date
    currency: str = "EUR"
    valid_from: date
    indicative: bool = False


class PriceLine(Frozen):
    """One price of the list, as it was read."""

    line: int
    sku: str
    amount: Decimal = Field(ge=0)
    currency: str
    valid_from: date
    valid_until: date | None = None
    lead_time_weeks: int | None = None
    notes: str = ""


@dataclass(frozen=True, slots=True)
class LineMistake:
    line: int
    sentence: str


type Step = Literal["add", "correct", "restate"]

LARGE_CHANGE_PCT = 50  # a price that moves this much is more often a slip of a point than a new price


class PlannedPrice(Frozen):
    """What becomes of one line. `article` is the SKU it was recognised as."""

    line: PriceLine
    step: Step
    article: str
    name: str
    present: Decimal | None = None
    present_id: int | None = None

    @property
    def change_pct(self) -> Decimal | None:
        """By how much the price moves, or None when there was none (or it was 0)."""
        if not self.present:
            return None
        return (self.line.amount / self.present - 1) * 100

    @property
    def doubt(self) -> str:
        """What to look at before this price is taken over; empty when it is as usual."""
        if self.line.currency != "EUR":
            return _("proposals count in euro: kept, not used")
        if abs(self.change_pct or Decimal(0)) > LARGE_CHANGE_PCT:
            return _("a large change: is the amount right?")
        return ""


class Plan(Frozen):
    terms: Terms
    prices: tuple[PlannedPrice, ...]

    def count(self, step: Step) -> int:
        return sum(planned.step == step for planned in self.prices)

    @property
    def doubtful_count(self) -> int:
        return sum(bool(planned.doubt) for planned in self.prices)


def read_price_list(content: bytes, name: str, terms: Terms) -> tuple[list[PriceLine], list[LineMistake]]:
    """The lines of a price list, and what is wrong with the lines that cannot be used.

    Raises UnreadableTable when the file is no table or lacks a column for the article or the price.
    """
    lines: list[PriceLine] = []
    mistakes: list[LineMistake] = []
    table = [(number, cells, rename(cells, TITLES)) for number, cells in read_table(content, name)]
    _demand_columns(table)
    for number, _cells, row in table:
        try:
            lines.append(_line(number, row, terms))
        except ValueError as error:
            mistakes.append(LineMistake(number, str(error)))
    return lines, mistakes


def _demand_columns(table: Sequence[tuple[int, Mapping[str, Any], Mapping[str, Any]]]) -> None:
    """UnreadableTable when no line has an article, or none a price."""
    sentences = {
        "sku": _("No article: the file needs a column such as 'SKU' or 'Artikelnummer'."),
        "amount": _("No price: the file needs a column such as 'Price' or 'Prijs'."),
    }
    for name, sentence in sentences.items():
        if table and not any(name in row for _number, _cells, row in table):
            titles = list(dict.fromkeys(title for _number, cells, _row in table for title in cells))
            told = _("The first line has: %(titles)s.") % {"titles": ", ".join(titles[:8])}
            raise UnreadableTable(f"{sentence} {told}")


def _line(number: int, row: Mapping[str, Any], terms: Terms) -> PriceLine:
    if "sku" not in row:
        raise ValueError(_("No article on this line."))
    if "amount" not in row:
        raise ValueError(_("No price on this line."))
    amount = to_decimal(row["amount"])
    if amount < 0:
        raise ValueError(_("A price cannot be negative."))
    if amount == 0:
        raise ValueError(_("A price of 0 is no price; leave the line out or enter it by hand."))
    currency = str(row.get("currency", terms.currency)).upper().replace("€", "EUR")
    if currency not in dict(CURRENCIES):
        raise ValueError(_("The currency '%(currency)s' is not used here.") % {"currency": currency})
    weeks = _weeks(row["lead_time_weeks"]) if "lead_time_weeks" in row else None
    first = to_day(row["valid_from"]) if "valid_from" in row else terms.valid_from
    last = to_day(row["valid_until"]) if "valid_until" in row else None
    if last and last < first:
        raise ValueError(_("The last day of a price lies before its first day."))
    return PriceLine(
        line=number,
        sku=str(row["sku"]),
        amount=amount.quantize(Decimal("0.01")),
        currency=currency,
        valid_from=first,
        valid_until=last,
        lead_time_weeks=weeks,
        notes=str(row.get("notes", "")),
    )


def _weeks(cell: Any) -> int:
    """A lead time; distributors write the unit too."""
    text = str(cell).lower().removesuffix("weken").removesuffix("weeks").removesuffix("wk").strip()
    if not re.fullmatch(r"\d{1,3}(\.0)?", text):
        raise ValueError(_("The lead time must be a whole number of weeks."))
    return int(float(text))


def plan_prices(lines: Iterable[PriceLine], terms: Terms) -> tuple[Plan, list[LineMistake]]:
    """What the lines would change. Articles are recognised by SKU, then by part number, then by name."""
    articles = _Recogniser()
    held: dict[tuple[str, str], list[Price]] = {}
    for price in Price.objects.all():
        held.setdefault((price.article_id, price.currency), []).append(price)
    planned: list[PlannedPrice] = []
    mistakes: list[LineMistake] = []
    seen: dict[tuple[str, str], int] = {}
    for line in lines:
        try:
            article = articles.find(line.sku)
            key = (article.pk, line.currency)
            first = seen.setdefault(key, line.line)
            if first != line.line:
                raise ValueError(_("This article already stands on line %(line)d.") % {"line": first})
            planned.append(_step(article, line, held.get(key, [])))
        except ValueError as error:
            mistakes.append(LineMistake(line.line, str(error)))
    return Plan(terms=terms, prices=tuple(planned)), mistakes


class _Recogniser:
    """Finds the article that a list means, in one query."""

    def __init__(self) -> None:
        self.by_sku: dict[str, Article] = {}
        self.others: dict[str, dict[str, Article]] = {}
        for article in Article.objects.all():
            self.by_sku[article.sku.lower()] = article
            for text in (article.part_number, article.name):
                if text:
                    self.others.setdefault(text.lower(), {})[article.sku] = article

    def find(self, text: str) -> Article:
        """The article, or ValueError with a sentence."""
        exact = self.by_sku.get(text.lower())
        if exact:
            return exact
        named = list(self.others.get(text.lower(), {}).values())
        if len(named) == 1:
            return named[0]
        if named:
            raise ValueError(_("'%(text)s' is the name of several articles; use the SKU.") % {"text": text})
        raise ValueError(_("There is no article '%(text)s'.") % {"text": text})


def _step(article: Article, line: PriceLine, held: Iterable[Price]) -> PlannedPrice:
    """The step for one line, given the prices the article has; ValueError when another price is in the way."""
    same_start, ending = None, None
    for price in held:
        if price.valid_from == line.valid_from:
            same_start = price
        elif not overlap(line.valid_from, line.valid_until, price.valid_from, price.valid_until):
            continue
        elif price.valid_until is None and (price.valid_from is None or price.valid_from < line.valid_from):
            ending = price
        else:
            raise ValueError(_("Another price holds on some of these days."))
    present = same_start or ending
    step: Step = "correct" if same_start else "add"
    same = present and (present.amount, present.valid_until) == (line.amount, line.valid_until)
    if present and same and not present.demonstration:
        step = "restate"  # a demonstration price of the same amount makes room for the real one
    return PlannedPrice(
        line=line,
        step=step,
        article=article.pk,
        name=str(article),
        present=present.amount if present else None,
        present_id=present.pk if present else None,
    )


@transaction.atomic
def apply_prices(plan: Plan, *, user: Any = None) -> int:
    """Carry out `plan` and return how many prices were added or corrected; all or nothing.

    A price that held until further notice ends the day before the new one starts; one that the list states again
    keeps its amount and gets the new date. ValidationError when the catalog changed so much since the plan was made
    that a price no longer fits.
    """
    for planned in plan.prices:
        line, terms = planned.line, plan.terms
        price = Price(article_id=planned.article, currency=line.currency, valid_from=line.valid_from)
        if planned.step != "add":
            price = Price.objects.get(pk=planned.present_id or 0)
        if planned.step != "restate":
            price.amount, price.valid_until, price.source = line.amount, line.valid_until, terms.source
            price.indicative, price.demonstration = terms.indicative, False
            price.notes = line.notes or price.notes
        price.stated_on = terms.stated_on
        if line.lead_time_weeks is not None:
            price.lead_time_weeks, price.lead_time_stated_on = line.lead_time_weeks, terms.stated_on
        price._history_user = user  # type: ignore[attr-defined]
        price._change_reason = "price list"  # type: ignore[attr-defined]
        if planned.step == "add":
            price.end_predecessor()
        price.full_clean()
        price.save()
    return plan.count("add") + plan.count("correct")
