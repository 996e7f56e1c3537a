"""The cost as a spreadsheet: its formulas, worked out by a small reader of them, give the totals of the proposal."""

import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from io import BytesIO
from math import ceil
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook

from catalog.seed import seed_snapshot
from configurator.workload import OwnFigure, Workload
from quotes.documents.cost_sheet import render_costs
from quotes.proposal import Proposal, propose
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.knowledge import shipped
from quotes.sizing.results import SizedSystem
from tests.quotes.conftest import DAY, sized, workload_of

TOKEN = re.compile(
    r"\s*(?:(?P<ref>'[^']+'!\$?[A-Z]+\$?\d+(?::\$?[A-Z]+\$?\d+)?|\$?[A-Z]{1,2}\$?\d+(?::\$?[A-Z]{1,2}\$?\d+)?)"
    r"|(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?)|(?P<name>[A-Z]+)(?=\()|(?P<text>\"[^\"]*\")|(?P<sign><=|>=|<>|[-+*/^(),<>=]))"
)


class Reader:
    """Works formulas out by recursive descent, IF lazily; raises on anything that our sheets do not use."""

    def __init__(self, content: bytes) -> None:
        self.book: Workbook = load_workbook(BytesIO(content))

    def cell(self, sheet: str, name: str) -> Any:
        content = self.book[sheet][name.replace("$", "")].value
        if isinstance(content, str) and content.startswith("="):
            return _Formula(self, sheet, content[1:]).result()
        return 0.0 if content is None else float(content) if isinstance(content, int | float) else content

    def span(self, sheet: str, text: str) -> list[Any]:
        first, last = text.replace("$", "").split(":")
        return [
            self.cell(sheet, cell.coordinate) for row in self.book[sheet][f"{first}:{last}"] for cell in row
        ]

    def beside(self, words: str, column: str) -> Any:
        """The amount in `column` of the row whose first cell says `words`."""
        for sheet in self.book.worksheets:
            for row in sheet.iter_rows(max_col=1):
                if row[0].value == words:
                    return self.cell(sheet.title, f"{column}{row[0].row}")
        raise LookupError(words)


class _Formula:
    def __init__(self, reader: Reader, sheet: str, text: str) -> None:
        self.reader, self.sheet = reader, sheet
        self.tokens: list[tuple[str, str]] = []
        at = 0
        while at < len(text):
            found = TOKEN.match(text, at)
            assert found, text[at:]
            self.tokens.append((str(found.lastgroup), found[str(found.lastgroup)]))
            at = found.end()
        self.at = 0

    def result(self) -> Any:
        make = self.compared()
        assert self.at == len(self.tokens), self.tokens[self.at :]
        return make()

    def take(self, *signs: str) -> str:
        if self.at < len(self.tokens) and self.tokens[self.at][1] in signs:
            self.at += 1
            return self.tokens[self.at - 1][1]
        return ""

    def compared(self) -> Callable[[], Any]:
        left = self.added()
        if sign := self.take("<=", ">=", "<", ">", "="):
            right = self.added()
            compare: dict[str, Callable[[Any, Any], bool]] = {
                "<=": lambda a, b: a <= b,
                ">=": lambda a, b: a >= b,
                "<": lambda a, b: a < b,
                ">": lambda a, b: a > b,
                "=": lambda a, b: a == b,
            }
            return lambda: compare[sign](left(), right())
        return left

    def added(self) -> Callable[[], Any]:
        made = self.multiplied()
        while sign := self.take("+", "-"):
            left, right = made, self.multiplied()
            made = (lambda a=left, b=right: a() + b()) if sign == "+" else (lambda a=left, b=right: a() - b())
        return made

    def multiplied(self) -> Callable[[], Any]:
        made = self.raised()
        while sign := self.take("*", "/"):
            left, right = made, self.raised()
            made = (lambda a=left, b=right: a() * b()) if sign == "*" else (lambda a=left, b=right: a() / b())
        return made

    def raised(self) -> Callable[[], Any]:
        base = self.signed()
        if self.take("^"):
            power = self.signed()
            return lambda: base() ** power()
        return base

    def signed(self) -> Callable[[], Any]:
        if self.take("-"):
            inner = self.signed()
            return lambda: -inner()
        return self.atom()

    def atom(self) -> Callable[[], Any]:
        kind, text = self.tokens[self.at]
        self.at += 1
        match kind:
            case "number":
                return lambda: float(text)
            case "text":
                return lambda: text.strip('"')
            case "ref":
                sheet, _, name = text.rpartition("!")
                where = sheet.strip("'") or self.sheet
                if ":" in name:
                    return lambda: self.reader.span(where, name)
                return lambda: self.reader.cell(where, name)
            case "name":
                assert self.take("(")
                given = [self.compared()]
                while self.take(","):
                    given.append(self.compared())
                assert self.take(")")
                return lambda: FUNCTIONS[text](given)
        assert text == "("
        inner = self.compared()
        assert self.take(")")
        return inner


def half_up(value: float, places: float) -> float:
    return float(Decimal(repr(value)).quantize(Decimal(1).scaleb(-int(places)), ROUND_HALF_UP))


FUNCTIONS: dict[str, Callable[[list[Callable[[], Any]]], Any]] = {
    "IF": lambda given: given[1]() if given[0]() else given[2](),
    "ROUND": lambda given: half_up(given[0](), given[1]()),
    "ROUNDUP": lambda given: float(ceil(given[0]())),
    "MAX": lambda given: max(one() for one in given),
    "MIN": lambda given: min(one() for one in given),
    "SUM": lambda given: sum(given[0]()),
}

KNOWN = {
    "lease_interest_pct_per_year": 6.5,
    "lease_operational_pct_per_month": 3.1,
    "token_input_eur_per_million": 0.4,
    "token_output_eur_per_million": 1.6,
    "electricity_contract_eur_per_kwh": 0.13,
    "own_room_eur_per_kw_month": 80,
    "cloud_egress_tb_per_month": 3,
}


def open_plan(name: str, *, years: int = 3, **figures: float) -> Proposal:
    """A scenario whose data may go anywhere, over these years, with figures of the customer's."""
    found = workload_of(name)
    update = {
        "services": tuple(one.model_copy(update={"confidential": False}) for one in found.services),
        "jobs": tuple(one.model_copy(update={"confidential": False}) for one in found.jobs),
        "placement": found.placement.model_copy(update={"cloud_allowed": True}),
        "growth": found.growth.model_copy(update={"horizon_years": years}),
        "own_figures": tuple(OwnFigure(key=key, value=value) for key, value in figures.items()),
    }
    wanted: Workload = found.model_copy(update=update)
    return propose(wanted, seed_snapshot(DAY), Assumptions(), shipped(), on=DAY, vat_rate_pct=Decimal(21))


PLANS: dict[str, Callable[[], Proposal]] = {
    "municipality": lambda: open_plan("municipality"),
    "municipality, five years, all known": lambda: open_plan("municipality", years=5, **KNOWN),
    "university, once": lambda: open_plan("university"),
    "factory, one year": lambda: open_plan("factory", years=1, **KNOWN),
    "law firm, as it is": lambda: sized("law-firm"),
}


@cache
def plan_of(name: str) -> Proposal:
    return PLANS[name]()


WAYS = {
    "on_demand": "Renting by the hour",
    "reserved_1y": "Renting, reserved for a year",
    "reserved_3y": "Renting, reserved for three years",
    "spot": "Renting what may be taken away (spot)",
}


def recommended(plan: Proposal) -> SizedSystem:
    assert plan.recommended is not None
    return plan.recommended


@pytest.mark.parametrize("name", PLANS)
def test_the_formulas_give_the_totals_of_the_page(name: str) -> None:
    plan = plan_of(name)
    system = recommended(plan)
    money = system.economics
    assert money is not None
    sheet = Reader(render_costs(plan, system, "en"))

    def same(words: str, column: str, expected: object) -> None:
        assert sheet.beside(words, column) == pytest.approx(float(str(expected)), abs=0.006), words

    same("Buying", "D", money.total_eur)
    same("All together", "C", sum(money.yearly_eur.values()))
    for lease in money.leases:
        words = f"{lease.kind.capitalize()} lease"
        if lease.total_eur is None:
            assert sheet.beside(words, "D") == ""
        else:
            same(words, "D", lease.total_eur)
    for rent in money.rents:
        if rent.cloud and rent.total_eur is not None:
            same(WAYS[rent.plan], "D", rent.total_eur)
            same(WAYS[rent.plan], "C", rent.cloud.monthly_eur)
    if money.tokens:
        same("A million tokens on the own system, at this use", "B", money.tokens.own_eur_per_m)
        if money.tokens.api_total_eur is not None:
            same("Per token, from a provider", "D", money.tokens.api_total_eur)
    if money.break_even_month is not None:
        found = sheet.beside("Owning has cost as much as renting by the hour after months", "B")
        assert found == pytest.approx(money.break_even_month, rel=1e-9)


@pytest.mark.parametrize("language", ["nl", "en"])
def test_the_months_are_those_of_the_chart(language: str) -> None:
    plan = plan_of("municipality")
    money = recommended(plan).economics
    assert money is not None
    reader = Reader(render_costs(plan, recommended(plan), language))
    name = reader.book.sheetnames[2]
    for month in (0, 1, 17, 36):
        assert reader.cell(name, f"B{month + 4}") == pytest.approx(money.curve.own_eur[month])
        assert reader.cell(name, f"C{month + 4}") == pytest.approx(money.curve.cloud_eur[month])
    assert reader.cell(name, "B41") == ""  # month 37 lies beyond the years


def test_another_figure_in_the_sheet_moves_the_total() -> None:
    plan = plan_of("municipality")
    reader = Reader(render_costs(plan, recommended(plan), "en"))
    before = reader.beside("Buying", "D")
    inputs = reader.book.worksheets[0]
    row = next(row[0].row for row in inputs.iter_rows(max_col=1) if row[0].value == "Purchase at list price")
    inputs[f"B{row}"].value += 1000
    share = Assumptions()
    grown = 1000 * (1 + 3 * share.spares_pct_per_year / 100 - share.residual_pct / 100)
    grown += 3 * 1000 * (1 + share.residual_pct / 100) / 2 * share.capital_pct_per_year / 100
    assert reader.beside("Buying", "D") - before == pytest.approx(grown, abs=0.03)


@pytest.mark.parametrize(
    "title", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", '=HYPERLINK("http://x")']
)
def test_words_of_a_customer_are_never_a_formula(title: str) -> None:
    plan = sized("municipality")
    wanted = plan.sizing.workload.model_copy(update={"title": title})
    typed = plan.model_copy(update={"sizing": plan.sizing.model_copy(update={"workload": wanted})})
    book = load_workbook(BytesIO(render_costs(typed, recommended(typed), "nl")))
    cell = book.worksheets[0]["A1"]
    assert (cell.value, cell.data_type, cell.quotePrefix) == (title, "s", True)


def test_a_system_without_cost_has_no_sheet() -> None:
    plan = sized("municipality")
    with pytest.raises(ValueError, match="no cost"):
        render_costs(plan, recommended(plan).model_copy(update={"economics": None}), "en")
