"""The price table as a spreadsheet that computes its own totals, for Excel in any language."""

from datetime import UTC, datetime, time
from decimal import Decimal
from io import BytesIO
from typing import Any, cast

from django.utils.translation import gettext as _
from django.utils.translation import override, pgettext
from openpyxl import Workbook
from openpyxl.styles import Alignment, Border, Font, Side
from openpyxl.worksheet.properties import PageSetupProperties
from openpyxl.worksheet.worksheet import Worksheet

from quotes.document_data import IssuedDocument
from quotes.documents.cells import EURO, amount, printable, text
from quotes.presentation.proposal import bill
from quotes.pricing.lines import PricedLine

WIDTHS = {"A": 26, "B": 54, "C": 10, "D": 16, "E": 12, "F": 18}
LAST, TOTAL = "F", 6
BOLD = Font(bold=True)
RULE = Border(top=Side(style="thin"))


def render_xlsx(document: IssuedDocument) -> bytes:
    """One sheet: lines by group, subtotals, net, VAT and gross as formulas. Language and amounts of the document.

    Quantities, unit prices and discounts may be changed in the sheet; everything else follows, rounded to the cent
    like the quote itself.
    """
    with override(document.language):
        book = Workbook()
        sheet = cast(Worksheet, book.active)  # a new workbook has one sheet
        _fill(sheet, document)
        moment = document.issued_at or datetime.combine(document.issued_on, time(), UTC)
        book.properties.creator = printable(document.seller.trade_name)
        book.properties.title = printable(document.title)
        book.properties.created = book.properties.modified = moment.astimezone(UTC).replace(tzinfo=None)
    target = BytesIO()
    book.save(target)
    return target.getvalue()


def _fill(sheet: Worksheet, document: IssuedDocument) -> None:
    sheet.title = _("Quote")
    for letter, width in WIDTHS.items():
        sheet.column_dimensions[letter].width = width
    row = _head(sheet, document)
    sheet.freeze_panes = f"A{row + 1}"
    sheet.print_title_rows = f"{row}:{row}"
    subtotals = []
    for group in bill(document.prices):
        row += 1
        text(sheet, row, 1, group.name).font = BOLD
        subtotal, first = row, row + 1
        for line in group.lines:
            row += 1
            _line(sheet, row, line)
        amount(sheet, subtotal, TOTAL, f"=SUM({LAST}{first}:{LAST}{row})").font = BOLD
        subtotals.append(f"{LAST}{subtotal}")
    row = _totals(sheet, row + 2, subtotals, document.prices.totals.vat_rate_pct)
    if document.options:
        row += 2
        text(sheet, row, 1, _("Options, not in the total")).font = BOLD
        for line in document.options:
            row += 1
            _line(sheet, row, line)
    sheet.print_area = f"A1:{LAST}{row}"
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.paperSize = sheet.PAPERSIZE_A4
    sheet.page_setup.fitToHeight = 0
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)


def _head(sheet: Worksheet, document: IssuedDocument) -> int:
    """What the sheet is about, then the heads of the columns; the row of those heads."""
    number = document.full_number or _("preview, not yet issued")
    rows: list[tuple[str, Any]] = [
        (pgettext("document", "Number"), number),
        (pgettext("document", "Date"), document.issued_on),
        (pgettext("document", "For"), document.customer.organisation),
        (pgettext("document", "From"), document.seller.statutory_name),
    ]
    text(sheet, 1, 1, document.title).font = Font(bold=True, size=14)
    for row, (label, value) in enumerate(rows, 2):
        text(sheet, row, 1, label)
        if isinstance(value, str):
            text(sheet, row, 2, value)
        else:
            cell = sheet.cell(row, 2, value)
            cell.number_format, cell.alignment = "d mmmm yyyy", Alignment(horizontal="left")
    row = len(rows) + 2
    if document.proposal.demonstration_prices:
        text(sheet, row, 1, _("All prices in this document are demonstration prices and no offer."))
        row += 1
    row += 1
    names = (_("SKU"), _("Article"), _("Quantity"), _("Unit price"), _("Discount"), _("Total"))
    for column, name in enumerate(names, 1):
        cell = text(sheet, row, column, name)
        cell.font = BOLD
        cell.alignment = Alignment(horizontal="left" if column < 3 else "right")
        cell.border = Border(bottom=Side(style="thin"))
    return row


def _line(sheet: Worksheet, row: int, line: PricedLine) -> None:
    text(sheet, row, 1, line.sku)
    text(sheet, row, 2, line.name)
    sheet.cell(row, 3, line.quantity).number_format = "#,##0"
    sheet.cell(row, 4, line.unit_eur).number_format = EURO
    sheet.cell(row, 5, line.discount_pct / 100).number_format = "0.##%" if line.discount_pct else "0%"
    amount(sheet, row, TOTAL, f"=ROUND(C{row}*D{row}*(1-E{row}),2)")


def _totals(sheet: Worksheet, row: int, subtotals: list[str], rate_pct: Decimal) -> int:
    """Net, VAT and gross; the last row used."""
    net, vat, gross = row, row + 1, row + 2
    text(sheet, net, 2, _("Total without VAT")).font = BOLD
    amount(sheet, net, TOTAL, "=" + ("+".join(subtotals) or "0")).border = RULE
    text(sheet, vat, 2, _("VAT"))
    sheet.cell(vat, 5, rate_pct / 100).number_format = "0.##%" if rate_pct % 1 else "0%"
    amount(sheet, vat, TOTAL, f"=ROUND({LAST}{net}*E{vat},2)")
    text(sheet, gross, 2, _("Total with VAT")).font = BOLD
    total = amount(sheet, gross, TOTAL, f"={LAST}{net}+{LAST}{vat}")
    total.font, total.border = BOLD, RULE
    return gross
