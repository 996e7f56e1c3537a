"""What the document's templates get: the same arrangement as the proposal page, for paper."""

from typing import Any, NamedTuple

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from catalog.quantity import Message, noop
from configurator import formats
from configurator.workload import LanguageService, LanguageTraining, RateService, Workload
from quotes.document_data import IssuedDocument
from quotes.documents import drawings
from quotes.presentation.facts import Column
from quotes.presentation.names import load_name
from quotes.presentation.proposal import READER, bill, proposal_page
from quotes.sizing.trace import Severity

PAPER_WIDTH = 660  # of a drawing over the whole column


class Cell(NamedTuple):
    value: str
    quoted: bool


class Row(NamedTuple):
    """One property of the proposals side by side."""

    label: str
    cells: tuple[Cell, ...]
    differs: bool


def document_context(document: IssuedDocument) -> dict[str, Any]:
    """Template context of one document. Call it in the document's language."""
    page = proposal_page(document.proposal, document.tier)
    kind = _("Preview of a quote") if document.is_preview else _("Quote")
    customer = document.customer.organisation
    discounted = any(line.discount_pct for line in document.prices.lines)
    return {
        **page,
        "document": document,
        "kind": kind,
        "stamp": (document.issued_at or document.issued_on).isoformat(),
        "running": f"{kind} {document.full_number} · {customer}"
        if document.full_number
        else f"{kind} · {customer}",
        "bill": bill(document.prices),
        "loads": [_with_bar(load, number) for number, load in enumerate(page["loads"], 1)],
        "findings": [found for found in document.proposal.sizing.findings if found.severity != Severity.INFO],
        "comparison": comparison(page["columns"], document),
        "key_figures": key_figures(document),
        "answers": answers(document.proposal.sizing.workload),
        "has_discount": discounted,
        "price_columns": 4 if discounted else 3,
    }


def _with_bar(load: Any, number: int) -> dict[str, Any]:
    memory = load.option.memory
    bar = drawings.memory_bar(memory, READER, key=f"memory-{number}", width=PAPER_WIDTH) if memory else ""
    return {**load._asdict(), "bar": SafeString(bar)}


def comparison(columns: list[Column], document: IssuedDocument) -> list[Row]:
    """The facts of all proposals, turned to one row per fact."""
    return [
        Row(
            fact.label,
            tuple(Cell(column.facts[index].value, column.system.tier is document.tier) for column in columns),
            fact.differs,
        )
        for index, fact in enumerate(columns[0].facts)
    ]


def key_figures(document: IssuedDocument) -> list[tuple[str, str, str]]:
    """The three figures a manager remembers: price, power, when it pays or how much it carries."""
    system = document.system
    power = system.candidate.system.power
    figures = [
        (
            _("without VAT"),
            formats.money(document.prices.totals.net, "round"),
            _("purchase, installation and support as listed"),
        ),
        (
            _("at the wall, at most"),
            formats.quantity(power.wall_w / 1000, "kW", 2),
            _("%(power)s in daily use") % {"power": formats.quantity(power.expected_w / 1000, "kW", 2)},
        ),
    ]
    money = system.economics
    if money and money.break_even_month is not None:
        month = formats.number(round(money.break_even_month))
        figures.append((_("months until it has paid for itself"), month, _("against renting the same work")))
    else:
        factor = formats.quantity(system.candidate.headroom_factor, "×", 2)
        figures.append((_("today's peak load"), factor, _("is what the system carries")))
    return figures


def answers(workload: Workload) -> list[tuple[str, str]]:
    """What the customer asked for, in short."""
    rows = [
        (load_name(part.name), formats.say(_asked(part))) for part in (*workload.services, *workload.jobs)
    ]
    site = workload.site
    if site.power_available_kw is not None:
        rows.append((_("Power available"), formats.quantity(site.power_available_kw, "kW", 3)))
    if workload.data.dataset_tb:
        rows.append((_("Data"), formats.quantity(workload.data.dataset_tb, "TB", 3)))
    if workload.growth.load_pct_per_year:
        rows.append((_("Growth a year"), formats.quantity(workload.growth.load_pct_per_year, "%", 3)))
    rows.append((_("Horizon"), formats.quantity(workload.growth.horizon_years, "years", 1)))
    if workload.budget.max_eur is not None:
        rows.append((_("Budget"), formats.money(workload.budget.max_eur, "round")))
    if workload.is_confidential:
        rows.append((_("Confidentiality"), _("the data stays in the house")))
    return rows


def _asked(part: Any) -> Message:
    if isinstance(part, LanguageService):
        text = noop("{model}; {count} requests at once; {prompt} tokens in, {output} out")
        return Message.of(
            text,
            model=_model(part),
            count=round(part.concurrent_requests),
            prompt=part.prompt_tokens,
            output=part.output_tokens,
        )
    if isinstance(part, LanguageTraining):
        text = noop("{model}; {tokens} tokens a run, within {hours} hours")
        return Message.of(
            text,
            model=_model(part),
            tokens=formats.number(part.tokens, 3),
            hours=formats.number(part.deadline_h, 3),
        )
    if isinstance(part, RateService):
        return Message.of(
            noop("{model}; {rate} items a second"), model=part.model, rate=formats.number(part.items_s, 3)
        )
    text = noop("{model}; {samples} samples, {epochs} passes, within {hours} hours")
    return Message.of(
        text,
        model=part.model,
        samples=formats.number(part.samples, 3),
        epochs=formats.number(part.epochs, 3),
        hours=formats.number(part.deadline_h, 3),
    )


def _model(part: LanguageService | LanguageTraining) -> str:
    if part.model.architecture:
        return part.model.architecture.name
    if part.model.key:
        return part.model.key.split("/")[-1]
    return _("model of %(size)s billion parameters") % {"size": formats.number(part.model.params_b, 3)}
