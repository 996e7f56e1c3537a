"""The price table as a spreadsheet: its formulas give the quote's amounts to the cent."""

import re
from decimal import ROUND_HALF_UP, Decimal
from io import BytesIO
from typing import Any

import pytest
from django.utils import translation
from openpyxl import load_workbook
from openpyxl.worksheet.worksheet import Worksheet

from quotes.documents.spreadsheet import render_xlsx
from tests.quotes.samples import discounted, document, preview


def sheet_of(content: bytes) -> Worksheet:
    sheet = load_workbook(BytesIO(content)).active
    assert isinstance(sheet, Worksheet)
    return sheet


def value(sheet: Worksheet, name: str) -> Decimal:
    """What a spreadsheet program shows in a cell: enough of its language for our formulas."""
    content = sheet[name].value
    if not (isinstance(content, str) and content.startswith("=")):
        return Decimal(str(content or 0))
    if total := re.fullmatch(r"=SUM\(F(\d+):F(\d+)\)", content):
        return sum((value(sheet, f"F{row}") for row in range(int(total[1]), int(total[2]) + 1)), Decimal(0))
    expression = re.sub(r"([A-F]\d+)", lambda cell: f"cell('{cell[1]}')", content[1:])
    expression = re.sub(r"\b(\d+)\b(?!')", r"Decimal(\1)", expression)
    names = {"Decimal": Decimal, "cell": lambda other: value(sheet, other), "ROUND": half_up}
    result = eval(expression, {"__builtins__": {}}, names)  # noqa: S307 (our own formulas)
    assert isinstance(result, Decimal)
    return result


def half_up(number: Decimal, places: Decimal) -> Decimal:
    return number.quantize(Decimal(1).scaleb(-int(places)), ROUND_HALF_UP)


def row_of(sheet: Worksheet, words: str) -> int:
    return next(cell.row for row in sheet.iter_rows() for cell in row if cell.value == words)


@pytest.mark.parametrize(
    "quote",
    [document(), document("university", "en"), document("law-firm"), discounted("12.5"), discounted("33.33")],
    ids=["nl", "en", "law firm", "an eighth off", "a third off"],
)
def test_formulas_give_the_amounts_of_the_quote(quote: Any) -> None:
    sheet = sheet_of(render_xlsx(quote))
    dutch = quote.language == "nl"
    totals = quote.prices.totals
    net = row_of(sheet, "Totaal exclusief btw" if dutch else "Total without VAT")
    assert value(sheet, f"F{net}") == totals.net
    assert value(sheet, f"F{net + 1}") == totals.vat
    assert value(sheet, f"F{net + 2}") == totals.gross
    for line in quote.prices.lines:
        rows = [cell.row for cell in sheet["A"] if cell.value == line.sku]
        assert line.net_eur in {value(sheet, f"F{row}") for row in rows}
    formulas = [
        cell.value for cell in sheet["F"] if isinstance(cell.value, str) and cell.value.startswith("=")
    ]
    assert len(formulas) == len(quote.prices.lines) + len(quote.prices.groups) + 3


def test_a_changed_quantity_changes_the_totals() -> None:
    sheet = sheet_of(render_xlsx(document()))
    line = document().prices.lines[0]
    row = row_of(sheet, line.sku)
    sheet[f"C{row}"].value = line.quantity + 1
    net = row_of(sheet, "Totaal exclusief btw")
    assert value(sheet, f"F{net}") == document().net_eur + line.unit_eur


def test_options_count_for_nothing() -> None:
    quote = document()
    sheet = sheet_of(render_xlsx(quote.model_copy(update={"options": quote.prices.lines[:2]})))
    assert row_of(sheet, "Opties, niet in het totaal") > row_of(sheet, "Totaal inclusief btw")
    assert value(sheet, f"F{row_of(sheet, 'Totaal exclusief btw')}") == quote.net_eur


def test_words_that_look_like_formulas_stay_words() -> None:
    customer = document().customer.model_copy(update={"organisation": "=HYPERLINK(1)"})
    sheet = sheet_of(render_xlsx(document(customer=customer)))
    cell = next(cell for row in sheet.iter_rows() for cell in row if cell.value == "=HYPERLINK(1)")
    assert cell.data_type == "s"


def test_control_characters_are_left_out_of_the_workbook() -> None:
    customer = document().customer.model_copy(update={"organisation": "Bell\x07 B.V."})
    sheet = sheet_of(render_xlsx(document(customer=customer, title="Plan\x0b")))
    assert (sheet["A1"].value, sheet["B4"].value) == ("Plan", "Bell B.V.")


def test_the_sheet_speaks_the_language_of_the_quote() -> None:
    with translation.override("nl"):
        assert sheet_of(render_xlsx(document(language="en"))).title == "Quote"
    with translation.override("en"):
        sheet = sheet_of(render_xlsx(preview()))
    assert sheet.title == "Offerte"
    assert sheet["B2"].value == "concept, nog niet uitgebracht"
