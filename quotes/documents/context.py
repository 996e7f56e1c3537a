"""What the document's templates get: the same arrangement as the proposal page, for paper."""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from catalog.quantity import Message, Quantity, Span
from configurator import formats
from configurator.palette import LIGHT
from configurator.wizard.presets import load_title
from quotes.document_data import Address, IssuedDocument
from quotes.documents import drawings
from quotes.documents.answers import answers, asked
from quotes.documents.assumed import assumed_answers
from quotes.presentation.delivery import delivery_page
from quotes.presentation.facts import LONG_HOURS, Column, speeds
from quotes.presentation.outlook import outlook_page
from quotes.presentation.proposal import Reason, Stage, bill, proposal_page
from quotes.presentation.room import READER, check_groups, watts
from quotes.sizing.results import Economics, LoadOption
from quotes.sizing.trace import Evidence, Figure, Severity

COLUMN = 600  # of a drawing over the whole column, px; printed there, its text measures 9.5 and 8 pt
BAR = 240  # of a drawing in the right-hand column of a table
DESCRIPTION = re.compile(r"</title><desc[^>]*>(.*?)</desc>")
ACCENTED = re.compile(r'<[^>]*class="[^"]*(?:fill|stroke)-accent[^>]*>')


class Cell(NamedTuple):
    value: str
    quoted: bool


class Row(NamedTuple):
    """One property of the proposals side by side."""

    label: str
    cells: tuple[Cell, ...]
    differs: bool


class Promise(NamedTuple):
    """One speed: what is promised, within which bounds, and both drawn beside what was asked for."""

    label: str
    promise: str
    bounds: str
    drawing: SafeString


class Behind(NamedTuple):
    """A figure behind the sizing and what went into it."""

    label: str
    value: str
    inputs: str
    evidence: str


class Alike(NamedTuple):
    """Accelerators that are refused by one and the same rule; with different figures, those of the nearest miss."""

    names: str
    reason: str


def document_context(document: IssuedDocument) -> dict[str, Any]:
    """Template context of one document. Call it in the document's language."""
    page = proposal_page(document.proposal, document.tier)
    kind = _("Preview of a quote") if document.is_preview else _("Quote")
    discounted = any(line.discount_pct for line in (*document.prices.lines, *document.options))
    workload, build = document.proposal.sizing.workload, document.system.candidate.system
    return {
        **page,
        "document": document,
        "kind": kind,
        "stamp": (document.issued_at or document.issued_on).isoformat(),
        "running": " · ".join(
            filter(None, (f"{kind} {document.full_number}".strip(), document.customer.organisation))
        ),
        "logo": logo(document.seller.logo_svg),
        "own_accent": document.seller.accent if document.seller.accent.lower() != LIGHT["accent"] else "",
        "seller_lines": address_lines(document.seller.address),
        "customer_lines": address_lines(document.customer.address),
        "bill": bill(document.prices),
        "loads": [_load(load, document, number) for number, load in enumerate(page["loads"], 1)],
        # One load that fills every server needs no map.
        "placement_drawing": drawn(page["placement_drawing"]) if len(page["loads"]) > 1 else "",
        "placement": page["placement"] if len(page["loads"]) > 1 else [],
        "checks": check_groups(build, document.proposal.assumptions, document.customer.address.country),
        "rack_drawing": drawn(page["rack_drawing"]),
        # One server joins switches that are there: the site sheet draws that.
        "network_drawing": drawn(page["network_drawing"]) if build.nodes > 1 else "",
        "growth": document.system.growth if _grows(document) else (),
        "answer": glued(formats.say(answer(document))),
        "cost_chart": cost_chart(document.system.economics),
        **printed_outlook(document),
        "findings": [found for found in document.proposal.sizing.findings if found.severity != Severity.INFO],
        "notes": [found for found in document.proposal.sizing.findings if found.severity == Severity.INFO],
        "comparison": comparison(page["columns"], document),
        "key_figures": key_figures(document),
        "answers": answers(workload),
        "assumed_answers": assumed_answers(workload),
        **delivery_page(
            document.prices.lines,
            document.proposal.assumptions,
            ordered_on=document.issued_on,
            wished_on=workload.delivery.start_on,
            valid_until=document.valid_until,
        ),
        "refused": refused(page["stages"]),
        "has_discount": discounted,
        "price_columns": 4 if discounted else 3,
    }


def drawn(svg: str) -> SafeString:
    """A drawing whose title also says what its description says: WeasyPrint reads only the title aloud."""
    return SafeString(DESCRIPTION.sub(r": \1</title>", svg))


def in_accent(html: str, accent: str) -> str:
    """The marks of drawings that have the accent's class, in the seller's colour: no style sheet reaches them."""
    return ACCENTED.sub(lambda mark: mark[0].replace(LIGHT["accent"], accent), html)


def logo(svg: str) -> str:
    """The seller's logo as an address of an image; empty without one."""
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}" if svg else ""


def address_lines(address: Address) -> list[str]:
    """Street, postcode and city, and the country when it is not the Netherlands."""
    country = formats.locale().territories.get(address.country, address.country)
    lines = [
        address.street,
        f"{address.postcode} {address.city}".strip(),
        "" if address.country == "NL" else country,
    ]
    return [line for line in lines if line]


def answer(document: IssuedDocument) -> Message:
    """The one sentence, with the price of this quote instead of the list price that it was sized with."""
    return _requoted(document.system.answer, float(document.net_eur))


def _requoted(said: Message, net_eur: float) -> Message:
    params: dict[str, Any] = {
        name: value.model_copy(update={"value": net_eur})
        if isinstance(value, Quantity) and value.unit == "EUR"
        else _requoted(value, net_eur)
        if isinstance(value, Message)
        else value
        for name, value in said.params.items()
    }
    return said.model_copy(update={"params": params})


def glued(sentence: str) -> str:
    """Keeps a number and its % on one line, and so much per second too."""
    return sentence.replace(" %", f"{formats.THIN}%").replace("/s", "/\N{WORD JOINER}s")


def _grows(document: IssuedDocument) -> bool:
    return any(phase.demand_factor != 1 for phase in document.system.growth)


# ── summary ─────────────────────────────────────────────────────────────────────────────────────────────────────


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
    """The three figures a manager remembers: price, power, when it pays or what the system does."""
    system = document.system
    figures = [
        (
            _("without VAT"),
            formats.money(document.prices.totals.net, "round"),
            _("purchase, installation and support as listed"),
        ),
        (
            _("at the wall, at most"),
            watts(system.candidate.system.power.wall_w, 2),
            _("%(power)s in daily use") % {"power": watts(system.candidate.system.power.expected_w, 2)},
        ),
    ]
    money = system.economics
    if money and money.break_even_month is not None:
        month = formats.quantity(round(money.break_even_month), "months", 3)
        figures.append((_("until it has paid for itself"), month, _("against renting the same work")))
    elif slowest := _slowest_run(system.candidate.loads):
        figures.append((_("one training run, at most"), slowest, _("at the cautious end")))
    else:
        factor = formats.quantity(system.candidate.headroom_factor, "×", 2)
        figures.append((_("today's peak load"), factor, _("is what the system carries")))
    return figures


def _slowest_run(loads: Sequence[LoadOption]) -> str:
    """How long the longest job takes, where there are only jobs; nothing is said of a peak then."""
    hours = [load.speed.run_hours.high for load in loads if load.speed.run_hours]
    if not hours or len(hours) < len(loads):
        return ""
    longest = max(hours)
    return (
        formats.quantity(longest / 24, "days", 2)
        if longest >= LONG_HOURS
        else formats.quantity(longest, "hours", 2)
    )


# ── sizing ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _load(load: Any, document: IssuedDocument, number: int) -> dict[str, Any]:
    """One service or job: what was asked, its memory drawn, its promises, and the figures behind them."""
    option = load.option
    part = next(
        (
            part
            for part in (*document.proposal.sizing.workload.services, *document.proposal.sizing.workload.jobs)
            if part.name == option.load
        ),
        None,
    )
    memory = option.memory
    bar = drawings.memory_bar(memory, READER, key=f"memory-{number}", width=COLUMN) if memory else ""
    return {
        "name": load_title(option.load),
        "option": option,
        "runs_on": load.runs_on,
        "asked": asked_of(part),
        "bar": drawn(bar),
        "promises": list(_promises(option, part, number)),
        "behind": [_behind(figure) for figure in option.figures],
    }


def asked_of(part: Any) -> str:
    return formats.say(asked(part)) if part is not None else ""


def _promises(option: LoadOption, part: Any, number: int) -> Iterator[Promise]:
    for index, (speed, bar) in enumerate(zip(speeds(option), _bars(option, part), strict=True)):
        picture = drawings.interval_bar(
            bar.low,
            bar.high,
            bar.wish,
            READER,
            unit=bar.unit,
            less_is_better=bar.less_is_better,
            key=f"speed-{number}-{index}",
            width=BAR,
        )
        yield Promise(speed.label, speed.promise, speed.bounds, drawn(picture))


class Bar(NamedTuple):
    """One speed as drawn: its interval and what was asked for, in one unit."""

    low: float
    high: float
    wish: float | None
    unit: str
    less_is_better: bool


def _bars(option: LoadOption, part: Any) -> Iterator[Bar]:
    """The speeds of a load in the order of `facts.speeds`."""
    speed = option.speed
    if found := speed.ttft_p95_s:
        yield Bar(found.low, found.high, getattr(part, "ttft_p95_s", None), "s", less_is_better=True)
    if found := speed.tokens_s_per_user:
        wish = getattr(part, "tokens_s_per_user", None)
        yield Bar(found.low, found.high, wish, "tokens/s", less_is_better=False)
    if found := speed.run_hours:
        hours, unit = (24, "days") if found.high >= LONG_HOURS else (1, "hours")
        wish = getattr(part, "deadline_h", None)
        yield Bar(
            found.low / hours, found.high / hours, wish / hours if wish else None, unit, less_is_better=True
        )
    if (found := speed.items_s_per_gpu) and option.kind == "rate_serving":
        working = option.gpus_per_replica * (option.replicas - option.spare_replicas)
        wish = getattr(part, "items_s", None)
        yield Bar(found.low * working, found.high * working, wish, option.rate_unit, less_is_better=False)


def _behind(figure: Figure) -> Behind:
    value = formats.say(figure.value)
    if figure.low is not None and figure.high is not None:
        value = formats.say(
            Span(low=figure.low, high=figure.high, unit=figure.value.unit, digits=min(figure.value.digits, 3))
        )
    parts = [
        f"{formats.say(item.name)} {formats.say(item.value) if isinstance(item.value, Quantity) else item.value}"
        for item in figure.inputs
    ]
    shown = figure.evidence[0] if figure.evidence else None
    evidence = f"{shown.description}: {formats.say(shown.value)} ({_origin(shown)})" if shown else ""
    return Behind(formats.say(figure.label), value, " · ".join(parts), evidence)


def _origin(shown: Evidence) -> str:
    return f"{_('own measurement')}: {shown.source}" if shown.own else shown.source


# ── money and refusals ──────────────────────────────────────────────────────────────────────────────────────────


def cost_chart(money: Economics | None) -> SafeString:
    """Cost over the years; flatter when there is nothing to compare with."""
    if money is None:
        return SafeString()
    band = None
    if money.break_even_low is not None and money.break_even_high is not None:
        band = (money.break_even_low, money.break_even_high)
    height = 220 if money.curve.cloud_eur else 180
    return drawn(
        drawings.cost_curve(
            money.curve, money.break_even_month, band, READER, key="costs", width=COLUMN, height=height
        )
    )


def printed_outlook(document: IssuedDocument) -> dict[str, Any]:
    """Other demands and other prices, drawn over the whole column."""
    page = outlook_page(document.system, COLUMN, flat=True)
    return {name: drawn(value) if name.endswith("_drawing") else value for name, value in page.items()}


def refused(stages: Iterable[Stage]) -> list[tuple[str, list[Alike]]]:
    """Why not …? One row per rule within a stage, so that the table stays readable."""
    return [(stage.name, _alike(stage)) for stage in stages]


def _alike(stage: Stage) -> list[Alike]:
    rows: dict[str, list[Reason]] = {}
    for row in stage.reasons:
        rows.setdefault(row.name if stage.each_its_own else row.reason.text, []).append(row)
    return [
        Alike(
            ", ".join(row.name for row in alike), _of_the_nearest([(row.name, _words(row)) for row in alike])
        )
        for alike in rows.values()
    ]


def _of_the_nearest(told: Sequence[tuple[str, str]]) -> str:
    (name, words), *others = told
    return f"{name}: {words}" if any(other != words for _, other in others) else words


def _words(row: Reason) -> str:
    return " ".join(formats.say(part) for part in (row.reason, row.change) if part is not None)
