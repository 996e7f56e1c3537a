"""The cost of a proposal as a spreadsheet that computes itself: inputs, cost a year, cumulative by month, totals.

Every amount outside the sheet of inputs is a formula, rounded where the proposal rounds, so that the totals are those
of the page to the cent; whoever changes an input sees what it does. Words stay words: nothing that a customer typed is
ever a formula.
"""

from collections.abc import Callable
from io import BytesIO
from itertools import pairwise
from typing import cast

from django.utils.translation import gettext as _
from django.utils.translation import override
from openpyxl import Workbook
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
from openpyxl.worksheet.worksheet import Worksheet

from configurator import formats
from quotes.documents.cells import EURO, amount, printable, text
from quotes.documents.cost_inputs import TAXES, Inputs
from quotes.presentation.names import cost_name
from quotes.presentation.ways import plan_name
from quotes.proposal import Proposal
from quotes.sizing.money.running_costs import HOURS_PER_YEAR, TAX_BRACKETS_KWH
from quotes.sizing.results import Economics, SizedSystem

NUMBER = "General"
BOLD = Font(bold=True)
HEAD = Font(bold=True, size=14)
RULE = Border(bottom=Side(style="thin"))
CHANGEABLE = PatternFill("solid", fgColor="EAF2F3")
MONTHS_MOST = 60


def render_costs(proposal: Proposal, system: SizedSystem, language: str) -> bytes:
    """An .xlsx of what `system` costs over the horizon, beside the other ways. Raises ValueError without economics."""
    if system.economics is None:
        raise ValueError("this system has no cost over time")
    with override(language):
        book = Workbook()
        Sheets(book, proposal, system, system.economics).fill()
        book.properties.title = printable(proposal.sizing.workload.title) or _("Cost over the years")
        book.properties.creator = "Rekenkracht"
    target = BytesIO()
    book.save(target)
    return target.getvalue()


class Sheets:
    """The four sheets, and where each input and each amount stands."""

    def __init__(self, book: Workbook, proposal: Proposal, system: SizedSystem, money: Economics) -> None:
        self.proposal, self.system, self.money = proposal, system, money
        self.workload = proposal.sizing.workload
        self.inputs = cast(Worksheet, book.active)
        self.inputs.title = _("Inputs")
        self.yearly, self.months, self.totals = (
            cast(Worksheet, book.create_sheet(name)) for name in (_("Cost a year"), _("Months"), _("Totals"))
        )
        self.at: dict[str, str] = {}  # key: an address that holds in every sheet

    def fill(self) -> None:
        self._fill_inputs()
        self._fill_yearly()
        self._fill_totals()
        self._fill_months()
        for sheet, widths in (
            (self.inputs, (62, 18, 12, 80)),
            (self.yearly, (46, 22, 22)),
            (self.months, (10, 20, 20, 20, 20)),
            (self.totals, (46, 22, 22, 22)),
        ):
            for letter, width in zip("ABCDE", widths, strict=False):
                sheet.column_dimensions[letter].width = width
            sheet.freeze_panes = "A4"
            sheet.page_setup.paperSize = sheet.PAPERSIZE_A4

    # ── inputs ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _fill_inputs(self) -> None:
        sheet = self.inputs
        text(sheet, 1, 1, self.workload.title or _("Cost over the years")).font = HEAD
        text(sheet, 2, 1, _("Change a shaded figure; everything follows. Euro without VAT."))
        heads(sheet, 3, (_("Input"), _("Value"), _("Unit"), _("Source")))
        for row, given in enumerate(Inputs(self.proposal, self.system, self.money).all(), 4):
            text(sheet, row, 1, given.label)
            cell = sheet.cell(row, 2, given.value)
            cell.fill = CHANGEABLE
            cell.number_format = EURO if given.unit == "EUR" else NUMBER
            text(sheet, row, 3, formats.unit_name(given.unit) if given.unit else "")
            text(sheet, row, 4, given.source)
            self.at[given.key] = address(sheet, "B", row)

    # ── cost a year ─────────────────────────────────────────────────────────────────────────────────────────────

    def _fill_yearly(self) -> None:
        """Energy and its price first, then every running cost, exact and in whole cents."""
        sheet, at = self.yearly, self.at
        text(sheet, 1, 1, _("Cost a year")).font = HEAD
        heads(sheet, 3, (_("Item"), _("Exact"), _("In whole cents")))
        working, waiting = at["load_factor_fraction"], at["idle_power_fraction"]
        average = f"({at['busy']}*{working}+(1-{at['busy']})*MIN({waiting},{working}))"
        kwh = f"{at['wall']}*{average}*{HOURS_PER_YEAR}*{at['pue']}"
        self._step("kwh", _("Energy, kWh a year"), kwh, NUMBER)
        before = f"({at['site_use_mwh_per_year']}*1000)"
        taxes = []
        for key, (low, high) in zip(TAXES, pairwise(TAX_BRACKETS_KWH), strict=True):
            most = (
                f"MIN({before}+{at['kwh']},{high:.0f})" if high < float("inf") else f"({before}+{at['kwh']})"
            )
            taxes.append(f"MAX(0,{most}-MAX({before},{low:.0f}))*{at[key]}")
        self._step("tax", _("Energy tax, euro a year"), "+".join(taxes))
        contract = at["electricity_contract_eur_per_kwh"]
        bought = f"IF({contract}>0,{at['kwh']}*{contract}+{at['tax']},{at['kwh']}*{at['price']})"
        costs: dict[str, str] = {
            "energy": bought,
            "housing": f"{at['provision']}*12*{at['housing']}",
            "administration": f"({at['administration']}+{at['nodes']}*{at['administration_each']})"
            f"*12*{at['administration_eur_per_h']}",
            "support": f"{at['support']}/{at['support_included_years']}"
            f"*MAX(0,{at['years']}-{at['support_included_years']})/{at['years']}",
            "spares": f"{at['purchase']}*{at['spares_pct_per_year']}/100",
            "coolant": f"{at['racks']}*{at['coolant_eur_per_rack_year']}",
            "capital": f"{at['purchase']}*(1+{at['residual_pct']}/100)/2*{at['capital_pct_per_year']}/100",
        }
        first = sheet.max_row + 1
        for key, formula in costs.items():
            self._step(key, cost_name(key), formula)
            row = sheet.max_row
            amount(sheet, row, 3, f"=ROUND(B{row},2)")
        last, row = sheet.max_row, sheet.max_row + 1
        text(sheet, row, 1, _("All together")).font = BOLD
        amount(sheet, row, 2, f"=SUM(B{first}:B{last})").font = BOLD
        amount(sheet, row, 3, f"=SUM(C{first}:C{last})").font = BOLD
        self.at["yearly"], self.at["yearly_cents"] = address(sheet, "B", row), address(sheet, "C", row)

    def _step(self, key: str, label: str, formula: str, shape: str = EURO) -> None:
        row = self.yearly.max_row + 1
        text(self.yearly, row, 1, label)
        amount(self.yearly, row, 2, f"={formula}").number_format = shape
        self.at[key] = address(self.yearly, "B", row)

    # ── totals ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _fill_totals(self) -> None:
        sheet, at = self.totals, self.at
        text(sheet, 1, 1, _("Totals")).font = HEAD
        heads(sheet, 3, (_("Way"), _("At once"), _("A month"), _("Over the years")))
        months, residual = f"({at['years']}*12)", f"ROUND({at['purchase']}*{at['residual_pct']}/100,2)"
        own = f"={at['purchase']}+{at['yearly_cents']}*{at['years']}-{residual}"
        self._way("own", _("Buying"), f"={at['purchase']}", f"={at['yearly']}/12", own)
        running = f"({at['yearly']}-{at['capital']})/12"
        rate = f"({at['lease_interest_pct_per_year']}/1200)"
        final = f"({at['purchase']}*{at['lease_final_pct']}/100)"
        pay = f"ROUND(({at['purchase']}-{final}*(1+{rate})^-{months})*{rate}/(1-(1+{rate})^-{months}),2)"
        known = f"{at['lease_interest_pct_per_year']}>0"
        total = f"{pay}*{months}+ROUND({final},2)+ROUND({running}*{months},2)-{residual}"
        self._way("financial", _("Financial lease"), "",
                  f'=IF({known},{pay}+{running},"")', f'=IF({known},{total},"")')  # fmt: skip
        share = at["lease_operational_pct_per_month"]
        pay = f"ROUND({at['purchase']}*{share}/100,2)"
        self._way("operational", _("Operational lease"), "",
                  f'=IF({share}>0,{pay}+{running},"")',
                  f'=IF({share}>0,{pay}*{months}+ROUND({running}*{months},2),"")')  # fmt: skip
        for plan in self.money.rents:
            if plan.cloud:
                self._rent(plan.plan, months)
        if self.money.tokens:
            self._tokens(months)
        if "on_demand" in at:
            row = sheet.max_row + 2
            text(sheet, row, 1, _("Owning has cost as much as renting by the hour after months")).font = BOLD
            once, month, own_month = at["on_demand.once_eur"], at["on_demand"], at["own.month"]
            even = f"MAX(0,({at['purchase']}-{once})/({month}-{own_month}))"
            sheet.cell(row, 2, f'=IF({month}>{own_month},{even},"")').number_format = "0.0"
            self.at["even"] = address(sheet, "B", row)

    def _rent(self, plan: str, months: str) -> None:
        at = self.at
        storage = (
            f"({at['dataset']}*{at['cloud_storage_eur_per_tb_month']}"
            f"+{at['cloud_egress_tb_per_month']}*{at['cloud_egress_eur_per_tb']})"
        )
        administration = f"{at['cloud_administration_h_per_month']}*{at['administration_eur_per_h']}"
        rate, hours, once = (at[f"{plan}.{part}"] for part in ("rate", "hours", "once"))
        run_h = self._run_hours(plan)
        kept = f"IF({hours}>0,0,{storage}*ROUNDUP({run_h!r}/{at['hours_per_month']},0))"
        month = f"IF({hours}>0,{hours}*{rate}+{administration}+{storage},0)"
        self._way(plan, plan_name(plan), f"={once}*{rate}+{kept}", f"={month}", "")
        row = self.totals.max_row
        self.at[f"{plan}.once_eur"] = address(self.totals, "B", row)
        amount(self.totals, row, 4, f"=ROUND(B{row}+C{row}*{months},2)")

    def _run_hours(self, plan: str) -> float:
        return next(one.cloud.once_hours for one in self.money.rents if one.plan == plan and one.cloud)

    def _tokens(self, months: str) -> None:
        at = self.at
        prices = at["token_input_eur_per_million"], at["token_output_eur_per_million"]
        month = f"ROUND({at['tokens_in']}*{prices[0]}+{at['tokens_out']}*{prices[1]},2)"
        known = f"MIN({prices[0]},{prices[1]})>0"
        if self.money.rents:  # what may not leave the house has no price elsewhere
            self._way("tokens", _("Per token, from a provider"), "",
                      f'=IF({known},{month},"")', f'=IF({known},{month}*{months},"")')  # fmt: skip
        row = self.totals.max_row + 2
        text(self.totals, row, 1, _("A million tokens on the own system, at this use"))
        amount(
            self.totals,
            row,
            2,
            f"=ROUND({at['own.total']}/(({at['tokens_in']}+{at['tokens_out']})*{months}),2)",
        )
        self.at["own_token"] = address(self.totals, "B", row)

    def _way(self, key: str, label: str, once: str, month: str, total: str) -> None:
        row = self.totals.max_row + 1
        text(self.totals, row, 1, label)
        for column, formula in enumerate((once, month, total), 2):
            if formula:
                amount(self.totals, row, column, formula)
        self.at[f"{key}.month"] = self.at[key] = address(self.totals, "C", row)
        self.at[f"{key}.total"] = address(self.totals, "D", row)

    # ── months ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _fill_months(self) -> None:
        """Cumulative by month, less the residual value in the last; months beyond the years stay empty."""
        sheet, at = self.months, self.at
        residual = f"{at['purchase']}*{at['residual_pct']}/100"
        text(sheet, 1, 1, _("Cumulative cost")).font = HEAD
        columns: list[tuple[str, Callable[[int], str]]] = [
            (
                _("Own system"),
                lambda row: (
                    f"{at['purchase']}+{at['own.month']}*A{row}-IF(A{row}={at['years']}*12,{residual},0)"
                ),
            ),
        ]
        if "on_demand" in at:
            columns.append((_("Rented"), lambda row: f"{at['on_demand.once_eur']}+{at['on_demand']}*A{row}"))
        heads(sheet, 3, (_("Month"), *(name for name, _formula in columns)))
        for month in range(MONTHS_MOST + 1):
            row = month + 4
            sheet.cell(row, 1, month)
            for column, (_name, formula) in enumerate(columns, 2):
                amount(sheet, row, column, f'=IF(A{row}<={at["years"]}*12,{formula(row)},"")')


# ── cells ───────────────────────────────────────────────────────────────────────────────────────────────────────


def heads(sheet: Worksheet, row: int, names: tuple[str, ...]) -> None:
    for column, name in enumerate(names, 1):
        cell = text(sheet, row, column, name)
        cell.font, cell.border = BOLD, RULE
        cell.alignment = Alignment(horizontal="left" if column == 1 else "right")


def address(sheet: Worksheet, column: str, row: int) -> str:
    return f"'{sheet.title}'!${column}${row}"
