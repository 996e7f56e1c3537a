"""Reading tables that people send: CSV in any of the usual spellings, or the first sheet of a workbook."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from zipfile import BadZipFile

from django.utils.translation import gettext as _
from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

MAX_ROWS = 20_000
DAY_FORMATS = ("%Y-%m-%d", "%d-%m-%Y", "%d/%m/%Y", "%d.%m.%Y", "%Y/%m/%d")


class UnreadableTable(ValueError):
    """The file is no table that can be read; the sentence says why."""


def read_table(content: bytes, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and cells of every filled row, by the lower-case name of the column in the first row."""
    rows = _workbook_rows(content) if name.lower().endswith((".xlsx", ".xlsm")) else _csv_rows(content)
    header: list[str] | None = None
    for line, row in enumerate(rows, start=1):
        if line > MAX_ROWS:
            raise UnreadableTable(_("The file has more than %(count)d rows.") % {"count": MAX_ROWS})
        cells = [cell.strip() if isinstance(cell, str) else cell for cell in row]
        if all(cell in (None, "") for cell in cells):
            continue
        if header is None:
            header = [str(cell or "").lower() for cell in cells]
            continue
        yield (
            line,
            {
                title: cell
                for title, cell in zip(header, cells, strict=False)
                if title and cell not in (None, "")
            },
        )
    if header is None:
        raise UnreadableTable(_("The file is empty."))


def _workbook_rows(content: bytes) -> Iterator[Sequence[Any]]:
    try:
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    except (BadZipFile, InvalidFileException, KeyError, ValueError, OSError) as error:
        raise UnreadableTable(_("The workbook cannot be opened.")) from error
    try:
        sheet = book.worksheets[0]
        yield from sheet.iter_rows(values_only=True)
    finally:
        book.close()


def _csv_rows(content: bytes) -> Iterator[Sequence[Any]]:
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            text = content.decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    else:
        raise UnreadableTable(_("The file is no text; save it as CSV in UTF-8."))
    first = text.split("\n", 1)[0]
    delimiter = max(";,\t", key=first.count)
    try:
        yield from csv.reader(io.StringIO(text), delimiter=delimiter, strict=True)
    except csv.Error as error:
        raise UnreadableTable(_("The file is no CSV: %(reason)s.") % {"reason": error}) from error


def rename(row: Mapping[str, Any], titles: Mapping[str, str]) -> dict[str, Any]:
    """`row` with the titles that `titles` knows replaced by our names; other columns are left out."""
    return {titles[title]: cell for title, cell in row.items() if title in titles}


def to_decimal(cell: Any) -> Decimal:
    """A number as people write it in Dutch or English. ValueError with a sentence when it can be read in two ways."""
    if isinstance(cell, int | float | Decimal) and not isinstance(cell, bool):
        text = format(Decimal(str(cell)), "f")
    else:
        text = re.sub(r"[€$\s\u00a0]", "", str(cell)).removesuffix(",-")
    if re.fullmatch(r"[+-]?\d{1,15}", text):
        return Decimal(text)
    if re.fullmatch(r"[+-]?[1-9]\d{0,2}[.,]\d{3}", text) and isinstance(cell, str):
        raise ValueError(
            _("'%(cell)s' can mean two numbers; write it without a sign for thousands.") % {"cell": cell}
        )
    for thousands, decimals in ((",", "."), (".", ",")):
        grouped = rf"[+-]?([1-9]\d{{0,2}}(\{thousands}\d{{3}})+|\d{{1,15}})(\{decimals}\d{{1,15}})?"
        if len(text) < 40 and re.fullmatch(grouped, text):
            return Decimal(text.replace(thousands, "").replace(decimals, "."))
    raise ValueError(_("'%(cell)s' is not a number.") % {"cell": cell})


def to_day(cell: Any) -> date:
    """A day as people write it, day before month. ValueError with a sentence otherwise."""
    if isinstance(cell, datetime):
        return cell.date()
    if isinstance(cell, date):
        return cell
    for form in DAY_FORMATS:
        try:
            return datetime.strptime(str(cell), form).date()  # noqa: DTZ007 - a day has no time zone
        except ValueError:
            continue
    raise ValueError(_("'%(cell)s' is not a date; write it as 2026-11-30.") % {"cell": cell})
