"""The proposal page, and the same arrangement for paper."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from decimal import Decimal
from typing import Any, NamedTuple

from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from catalog.quantity import Message, Quantity
from configurator import formats
from configurator.wizard.presets import load_title
from quotes.documents import drawings
from quotes.documents.launch import shown
from quotes.launch import launch_plan
from quotes.presentation.existing import existing_page
from quotes.presentation.facts import Speed, columns, outgrown, payback, speeds
from quotes.presentation.limits import alternatives
from quotes.presentation.names import COSTS, cost_name, group_name, tier_name
from quotes.presentation.outlook import outlook_page
from quotes.presentation.placement import placement_page, runs_on
from quotes.presentation.room import READER, room_page
from quotes.presentation.ways import ways
from quotes.pricing.lines import PricedLine, PricedSystem
from quotes.proposal import Proposal
from quotes.sizing.assumptions import Assumptions, described
from quotes.sizing.refusals import grouped_refusals
from quotes.sizing.results import (
    Economics,
    LoadOption,
    Refusal,
    SizedSystem,
    SplitLayout,
    Tier,
)
from quotes.sizing.trace import Figure


class Reason(NamedTuple):
    """One accelerator that is not proposed, and the smallest change that would admit it."""

    name: str
    reason: Message
    change: Message | None


class Alike(NamedTuple):
    """Accelerators that are refused for one and the same reason."""

    names: tuple[str, ...]
    reason: str
    change: str  # empty: nothing is known to help


class Stage(NamedTuple):
    """What stood in the way, and the accelerators it stood in the way of, nearest miss first."""

    name: str
    reasons: tuple[Reason, ...]
    each_its_own: bool  # it can be had: what each costs matters
    nearest: str = ""  # the accelerator that misses by least; empty where it is no matter of degree

    @property
    def alike(self) -> list[Alike]:
        """One entry for each reason."""
        rows: dict[tuple[str, str], list[Reason]] = {}
        for row in self.reasons:
            said = formats.say(row.reason), formats.say(row.change) if row.change else ""
            rows.setdefault(said, []).append(row)
        return [Alike(tuple(row.name for row in same), *said) for said, same in rows.items()]

    @property
    def can_be_helped(self) -> bool:
        return any(row.change for row in self.reasons)


class Group(NamedTuple):
    """Lines of the bill that belong together."""

    name: str
    lines: tuple[PricedLine, ...]
    subtotal: Decimal


class Split(NamedTuple):
    """The same service with its accelerators split into prompt and answer workers."""

    layout: SplitLayout
    speeds: tuple[tuple[Speed, Speed], ...]  # as proposed, and split
    figures: tuple[tuple[str, Figure], ...]


class Load(NamedTuple):
    """One service or job on the chosen system."""

    option: LoadOption
    name: str
    runs_on: str
    speeds: tuple[Speed, ...]
    figures: tuple[tuple[str, Figure], ...]  # with an id that no other figure on the page has
    split: Split | None = None


class Year(NamedTuple):
    """A row of the table behind the cost chart: cumulative euro at the end of a year."""

    year: int
    own_eur: float
    cloud_eur: float | None


class Assumed(NamedTuple):
    label: str
    value: str
    source: str
    year: int
    changed: bool  # by the seller
    own: bool  # the customer's figure


def proposal_page(proposal: Proposal, tier: Tier | None = None) -> dict[str, Any]:
    """Template context: the proposals side by side, and one of them in full: `tier`, or else the recommended one."""
    sizing = proposal.sizing
    chosen = (proposal.system(tier) if tier else None) or sizing.recommended
    own = frozenset(figure.key for figure in sizing.workload.own_figures)
    return {
        "proposal": proposal,
        "sizing": sizing,
        "recommended": sizing.recommended,
        "chosen": chosen,
        # The advice first: on a phone the proposals stand under each other.
        "columns": sorted(columns(proposal), key=lambda column: not column.system.recommended),
        "speaks": any(load.kind == "serving" for system in sizing.systems for load in system.candidate.loads),
        "site_limits": sizing.site_limits,
        "alternatives": alternatives(sizing.site_limits),
        "stages": stages(sizing.refusals),
        "refused_count": len(sizing.refusals),
        "assumptions": assumptions(proposal.assumptions, sizing.assumptions_used, own),
        "own_figures": own,
        "existing": existing_page(proposal.existing),
        **(system_page(chosen, proposal, proposal.prices[chosen.tier]) if chosen else {}),
        "launches": shown(launch_plan(chosen, sizing.workload)) if chosen else [],
    }


def system_page(chosen: SizedSystem, proposal: Proposal, price: PricedSystem) -> dict[str, Any]:
    """Template context of one system in full, for its three readers."""
    build = chosen.candidate.system
    return {
        "chosen_name": tier_name(chosen.tier),
        "outgrown": outgrown(chosen),
        "bill": bill(price),
        "totals": price.totals,
        **(money_page(chosen.economics) if chosen.economics else {}),
        **outlook_page(chosen),
        **room_page(build, proposal.assumptions),
        "loads": [_load(number, option, chosen) for number, option in enumerate(chosen.candidate.loads, 1)],
        "network_drawing": SafeString(drawings.network_topology(build, READER, key="network-drawing")),
        **placement_page(chosen, proposal.sizing.workload, READER),
    }


def bill(price: PricedSystem) -> list[Group]:
    """The lines by group, with articles in the reader's language where their names are words."""
    return [
        Group(group_name(name), tuple(map(_named, lines)), subtotal)
        for name, (lines, subtotal) in price.groups.items()
    ]


def _named(line: PricedLine) -> PricedLine:
    return line.model_copy(update={"name": line.name_in(get_language() or "en")})


def _load(number: int, option: LoadOption, chosen: SizedSystem) -> Load:
    split = next((one for one in chosen.splits if one.load == option.load), None)
    return Load(
        option,
        load_title(option.load),
        runs_on(option),
        tuple(speeds(option)),
        _figures(number, option.figures),
        _split(number, option, split) if split else None,
    )


def _split(number: int, option: LoadOption, split: SplitLayout) -> Split:
    divided = option.model_copy(update={"speed": split.speed})
    return Split(
        split, tuple(zip(speeds(option), speeds(divided), strict=True)), _figures(number, split.figures)
    )


def _figures(number: int, figures: Sequence[Figure]) -> tuple[tuple[str, Figure], ...]:
    return tuple((f"load-{number}-{figure.key}", figure) for figure in figures)


# ── money ───────────────────────────────────────────────────────────────────────────────────────────────────────


def money_page(money: Economics) -> dict[str, Any]:
    """Cost over the horizon, against the cloud where that is allowed."""
    band = None
    if money.break_even_low is not None and money.break_even_high is not None:
        band = (money.break_even_low, money.break_even_high)
    ordered = sorted(
        money.yearly_eur.items(), key=lambda pair: list(COSTS).index(pair[0]) if pair[0] in COSTS else 99
    )
    return {
        "ways": ways(money),
        "running_total_eur": sum(money.yearly_eur.values(), Decimal(0)) * money.horizon_years,
        "yearly": [(cost_name(key), amount) for key, amount in ordered],
        "payback": payback(money),
        "payback_band": band,
        "years": list(_years(money)),
        "cost_chart": SafeString(
            drawings.cost_curve(money.curve, money.break_even_month, band, READER, key="cost-drawing")
        ),
    }


def _years(money: Economics) -> Iterator[Year]:
    curve = money.curve
    for index, month in enumerate(curve.months):
        if month % 12 == 0:
            cloud = curve.cloud_eur[index] if curve.cloud_eur else None
            yield Year(month // 12, curve.own_eur[index], cloud)


# ── why not, and on what it rests ───────────────────────────────────────────────────────────────────────────────


def stages(refusals: Iterable[Refusal]) -> list[Stage]:
    """Why not …? Nearest to working first."""
    return [
        Stage(
            formats.say(group.title),
            tuple(Reason(refusal.subject_name, refusal.reason, refusal.change) for refusal in group.members),
            group.kind in ("dominated", "evidence"),
            group.members[0].subject_name if group.members[0].excess is not None else "",
        )
        for group in grouped_refusals(refusals)
    ]


def assumptions(values: Assumptions, used: Iterable[str], own: Set[str] = frozenset()) -> list[Assumed]:
    """The assumptions that a proposal rests on, with their sources; those in `own` are the customer's figures."""
    rows = [_assumed(described(values, key), own) for key in used if key in Assumptions.model_fields]
    return sorted(rows, key=lambda row: row.label.lower())


def _assumed(facts: Mapping[str, Any], own: Set[str]) -> Assumed:
    is_own = facts["key"] in own
    return Assumed(
        label=_(facts["label"]),
        value=formats.say(Quantity(value=facts["value"], unit=facts["unit"], digits=4)),
        source=_(facts["source"]),
        year=facts["year"],
        changed=facts["value"] != facts["default"] and not is_own,
        own=is_own,
    )
