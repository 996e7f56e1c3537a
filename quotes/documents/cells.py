"""Cells of a spreadsheet: words that stay words, and amounts in euros that are formulas."""

from typing import cast

from openpyxl.cell import Cell
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.worksheet.worksheet import Worksheet

EURO = '"€" #,##0.00'


def printable(words: str) -> str:
    """`words` without the control characters that a workbook cannot hold."""
    return ILLEGAL_CHARACTERS_RE.sub("", words)


def text(sheet: Worksheet, row: int, column: int, words: str) -> Cell:
    """Words stay words: what begins with '=', '+', '-' or '@' is no formula."""
    cell = cast(Cell, sheet.cell(row, column))
    cell.value = printable(words)
    cell.data_type = "s"
    if words[:1] in {"=", "+", "-", "@"}:
        cell.quotePrefix = True
    return cell


def amount(sheet: Worksheet, row: int, column: int, formula: str) -> Cell:
    cell = sheet.cell(row, column, formula)
    cell.number_format = EURO
    return cell
