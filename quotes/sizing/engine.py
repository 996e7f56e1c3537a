"""Sizing, read as a table of contents: workload and catalog in, three explained systems and every refusal out."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from catalog.quantity import Message, noop
from catalog.specs import AcceleratorSpec, CatalogSnapshot, ServerSpec
from configurator.workload import Workload
from quotes.sizing import choosing
from quotes.sizing.advice import advice
from quotes.sizing.alternatives import Asked, Search, site_limits, used_assumptions
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.candidates import (
    Draft,
    accelerators_needed,
    beaten,
    best_backed,
    drafts,
    exclusion,
    first_refusal,
    node_limits,
    servers_for,
)
from quotes.sizing.hardware.compose import build_system
from quotes.sizing.hardware.placed import placed
from quotes.sizing.hardware.placing import Shape
from quotes.sizing.knowledge import Knowledge
from quotes.sizing.loads import OptionTable, UnknownModel, explained, option_table, parts
from quotes.sizing.money.budget import budget_advice
from quotes.sizing.money.economics import economics, growth_phases
from quotes.sizing.money.running_costs import busy_fraction, energy_eur_per_year
from quotes.sizing.outlook import with_outlook
from quotes.sizing.placements import Shop
from quotes.sizing.refusals import nearest
from quotes.sizing.results import (
    Candidate,
    LoadOption,
    Refusal,
    SizedSystem,
    Sizing,
    Tier,
)
from quotes.sizing.sharing import Known, part_tables, sharing_findings
from quotes.sizing.trace import Finding, Severity


def size(
    workload: Workload,
    catalog: CatalogSnapshot,
    assumptions: Assumptions,
    knowledge: Knowledge,
    *,
    on: date,
    weigh_concessions: bool = False,
    in_full: bool = False,
) -> Sizing:
    """Every legal system in the catalog, weighed; at most three proposed; each other accelerator refused with a reason.

    Guarantees: pure and deterministic for equal arguments; each accelerator of the catalog is either in a proposal or
    in `refusals`; a hard limit of the site is never exceeded. With `weigh_concessions` a budget that does not reach is
    answered with the smallest wish to relax, at the cost of up to `budget.CALLS_MAX` further searches. With
    `in_full` each system says what it would cost for more and for fewer users, and what moves its cost most, and
    limits of the site that cost much are answered with alternatives, at the cost of up to a dozen further searches.
    """
    servers = servers_for(catalog)
    goals = choosing.targets(workload, assumptions)
    try:
        tables = _tables(workload, catalog, assumptions, knowledge, servers, tuple(goals.values()))
    except UnknownModel as error:
        return _infeasible(
            workload, catalog, on, (Finding(severity=Severity.REFUSAL, message=error.message),), ()
        )
    found, refusals = _search(workload, catalog, assumptions, tables, servers, tuple(goals.values()))
    chosen = choosing.choose(
        found,
        goals,
        lambda draft: _running_cost(draft, workload, assumptions),
        assumptions.tier_step_factor,
        assumptions.needless_price_factor,
    )
    limits = None
    if in_full:
        asked = Asked(workload, catalog, assumptions, _searcher(tables, assumptions, knowledge, workload))
        limits = site_limits(chosen.get(Tier.LEAN), asked)
    if not chosen:
        nothing = Finding(
            severity=Severity.REFUSAL,
            message=Message.of(noop("No system in the catalog meets all your wishes.")),
            remedy=Message.of(
                noop("The table below shows per accelerator what stands in the way and what would help.")
            ),
        )
        empty = _infeasible(workload, catalog, on, (nothing,), refusals.values())
        used = tuple(sorted(used_assumptions(limits)))
        return empty.model_copy(update={"site_limits": limits, "assumptions_used": used})

    known: Known = {}

    def price_of(relaxed: Workload) -> Decimal | None:
        return _cheapest(relaxed, catalog, assumptions, knowledge, known)

    context = _Context(workload, catalog, assumptions, knowledge, on, tables, in_full)
    systems = _finish(chosen, context)
    proposed = {system.candidate.accelerator for system in systems}
    return Sizing(
        workload=workload,
        catalog_version=catalog.version,
        calculated_on=on,
        systems=systems,
        refusals=tuple(
            [refusals[a.sku] for a in catalog.accelerators if a.sku in refusals and a.sku not in proposed]
            + _beaten(found, proposed, chosen[Tier.LEAN])
        ),
        findings=tuple(advice(workload, systems, catalog, assumptions))
        + budget_advice(workload, chosen[Tier.LEAN].price_eur, price_of if weigh_concessions else None),
        assumptions_used=tuple(sorted({*_assumptions_used(systems), *used_assumptions(limits)})),
        candidates_considered=len(found),
        site_limits=limits,
    )


class _Tables(NamedTuple):
    """What each load takes on every accelerator that carries the loads before it: whole ones, and for several services
    also parts of one."""

    whole: list[OptionTable]
    parts: list[OptionTable]


def _searcher(tables: _Tables, assumptions: Assumptions, knowledge: Knowledge, workload: Workload) -> Search:
    """Legal systems at today's demand. What a load takes depends on neither site nor power: `tables` serve again."""

    def search(wanted: Workload, catalog: CatalogSnapshot) -> list[Draft]:
        servers = servers_for(catalog)
        same = (wanted.services, wanted.jobs) == (workload.services, workload.jobs)
        ways = tables if same else _tables(wanted, catalog, assumptions, knowledge, servers, (1.0,))
        return _search(wanted, catalog, assumptions, ways, servers, (1.0,))[0]

    return search


class _Context:
    """What every stage after the search needs."""

    def __init__(
        self,
        workload: Workload,
        catalog: CatalogSnapshot,
        assumptions: Assumptions,
        knowledge: Knowledge,
        on: date,
        tables: _Tables,
        in_full: bool,
    ) -> None:
        self.workload, self.catalog, self.assumptions = workload, catalog, assumptions
        self.knowledge, self.on, self.tables, self.in_full = knowledge, on, tables, in_full
        self.servers = {server.sku: server for server in catalog.servers}
        self.parts = {part.name: part for part in parts(workload)}


def _tables(
    workload: Workload,
    catalog: CatalogSnapshot,
    assumptions: Assumptions,
    knowledge: Knowledge,
    servers: Mapping[str, Sequence[ServerSpec]],
    goals: Sequence[float],
    known: Known | None = None,
) -> _Tables:
    """`known`: of earlier searches in the same catalog, whose loads are not sized again."""
    known = {} if known is None else known
    limits, left = node_limits(catalog, servers), list(catalog.accelerators)
    whole: list[OptionTable] = []
    for part in parts(workload):
        key = part, tuple(goals), tuple(one.sku for one in left)
        if key not in known:
            known[key] = option_table(part, left, limits, catalog, assumptions, knowledge, goals)
        table = known[key]
        left = [one for one in left if isinstance(table[one.sku], tuple) and table[one.sku]]
        whole.append(table)
    offered = [one for one in catalog.accelerators if not exclusion(one, workload, servers[one.sku], catalog)]
    shared = part_tables(workload, whole, offered, catalog, assumptions, knowledge, goals, known)
    return _Tables(whole, shared)


def _search(
    workload: Workload,
    catalog: CatalogSnapshot,
    assumptions: Assumptions,
    tables: _Tables,
    servers: Mapping[str, Sequence[ServerSpec]],
    goals: Sequence[float],
) -> tuple[list[Draft], dict[str, Refusal]]:
    """All legal systems, and for each accelerator without one the reason that came closest to working."""
    found: list[Draft] = []
    refusals: dict[str, Refusal] = {}
    for accelerator in catalog.accelerators:
        refusal = exclusion(accelerator, workload, servers[accelerator.sku], catalog) or first_refusal(
            tables.whole, accelerator
        )
        if refusal:
            refusals[accelerator.sku] = refusal
            continue
        results = list(drafts(accelerator, tables.whole, goals, workload, catalog, assumptions, tables.parts))
        legal = [result for result in results if isinstance(result, Draft)]
        found += legal
        if not legal:
            refusals[accelerator.sku] = _nearest(results, accelerator)
    return found, refusals


def _nearest(results: Sequence[Draft | Refusal], accelerator: AcceleratorSpec) -> Refusal:
    """Of all servers and layouts the nearest miss."""
    refused = [result for result in results if isinstance(result, Refusal)]
    if not refused:
        text = Message.of(noop("No server in the catalog carries the needed number."))
        return Refusal.of(accelerator, "server", text)
    return nearest(refused).model_copy(update={"subject": accelerator.sku, "subject_name": accelerator.name})


def _running_cost(draft: Draft, workload: Workload, assumptions: Assumptions) -> float:
    """Energy over the horizon, euro."""
    busy = busy_fraction(workload, draft.loads, assumptions)
    yearly = energy_eur_per_year(draft.screened.wall_w, busy, workload, assumptions)
    return float(yearly) * workload.growth.horizon_years


def _finish(chosen: Mapping[Tier, Draft], context: _Context) -> tuple[SizedSystem, ...]:
    recommended = choosing.recommended_tier(chosen, context.workload)
    everyone = list(chosen.values())
    options = _smallest_options(context.catalog, context.tables.whole)
    systems = []
    for tier in Tier:
        if tier not in chosen:
            continue
        draft = chosen[tier]
        candidate = _candidate(draft, context)
        money = economics(
            candidate,
            context.workload,
            context.catalog,
            context.assumptions,
            purchase_eur=candidate.price_eur,
            on=context.on,
            cloud_options=options,
        )
        systems.append(
            SizedSystem(
                tier=tier,
                recommended=tier is recommended,
                candidate=candidate,
                economics=money,
                growth=growth_phases(candidate, context.workload, context.assumptions),
                pros=choosing.pros(draft, everyone, context.workload, tier is recommended),
                cons=choosing.cons(draft, everyone),
                answer=choosing.outgrown(
                    choosing.answer(candidate, money, context.workload), candidate, context.workload
                ),
            )
        )
    if context.in_full:
        shop = Shop(context.catalog, context.assumptions, context.knowledge, options)
        systems = [with_outlook(system, context.workload, shop, context.on) for system in systems]
    return tuple(systems)


def _candidate(draft: Draft, context: _Context) -> Candidate:
    loads = tuple(
        explained(
            load,
            context.parts[load.load],
            draft.accelerator,
            context.catalog,
            context.assumptions,
            context.knowledge,
        )
        for load in draft.loads
    )
    system = build_system(
        draft.accelerator,
        context.servers[draft.screened.server],
        draft.screened.accelerators,
        loads,
        context.workload,
        context.catalog,
        context.assumptions,
    )
    if isinstance(system, Refusal):
        raise RuntimeError(f"screened but not buildable: {system.reason}")
    placement = placed(
        loads,
        accelerators_needed(loads, context.workload),
        Shape(system.nodes, system.node.accelerators),
        draft.accelerator,
        context.assumptions,
    )
    notes = sharing_findings(loads, context.tables.parts, draft.accelerator, placement)
    return Candidate(
        key=f"{draft.accelerator.sku}|{draft.screened.server}|{draft.screened.accelerators}",
        accelerator=draft.accelerator.sku,
        accelerator_name=draft.accelerator.name,
        loads=loads,
        system=system.model_copy(update={"placement": placement, "sharing": tuple(notes)}),
        price_eur=draft.price_eur,
        headroom_factor=draft.headroom_factor,
        expected_w=system.power.expected_w,
    )


def cloud_options(
    workload: Workload, catalog: CatalogSnapshot, assumptions: Assumptions, knowledge: Knowledge
) -> dict[str, tuple[LoadOption, ...]]:
    """What each load takes on every accelerator at today's demand, as `economics` wants it."""
    tables = _tables(workload, catalog, assumptions, knowledge, servers_for(catalog), (1.0,))
    return _smallest_options(catalog, tables.whole)


def _smallest_options(
    catalog: CatalogSnapshot, tables: Sequence[OptionTable]
) -> dict[str, tuple[LoadOption, ...]]:
    """By accelerator: the smallest option of each load, where every load has one (rented hardware included)."""
    found: dict[str, tuple[LoadOption, ...]] = {}
    for accelerator in catalog.accelerators:
        answers = [table.get(accelerator.sku) for table in tables]
        options = [answer for answer in answers if answer and not isinstance(answer, Refusal)]
        if len(options) == len(answers):
            found[accelerator.sku] = tuple(min(ways, key=lambda option: option.gpus) for ways in options)
    return found


def _beaten(found: Sequence[Draft], proposed: set[str | None], cheapest: Draft) -> list[Refusal]:
    best: dict[str, Draft] = {}
    for draft in found:
        sku = draft.accelerator.sku
        if sku not in proposed and (sku not in best or draft.price_eur < best[sku].price_eur):
            best[sku] = draft
    return [beaten(draft.accelerator, draft, cheapest) for draft in best.values()]


def _cheapest(
    workload: Workload,
    catalog: CatalogSnapshot,
    assumptions: Assumptions,
    knowledge: Knowledge,
    known: Known,
) -> Decimal | None:
    """Price of the cheapest system, by the search alone; None when there is none."""
    servers = servers_for(catalog)
    goals = (1.0,)
    tables = _tables(workload, catalog, assumptions, knowledge, servers, goals, known)
    found, _refusals = _search(workload, catalog, assumptions, tables, servers, goals)
    return min((draft.price_eur for draft in best_backed(found)), default=None)


def _assumptions_used(systems: Sequence[SizedSystem]) -> tuple[str, ...]:
    keys: set[str] = set()
    for system in systems:
        figures = [
            *system.figures,
            *system.candidate.system.figures,
            *(figure for load in system.candidate.loads for figure in load.figures),
            *(figure for split in system.splits for figure in split.figures),
            *(system.economics.figures if system.economics else ()),
        ]
        keys |= {item.assumption for figure in figures for item in figure.inputs if item.assumption}
        if system.candidate.system.lead_time_weeks is not None:
            keys.add("commissioning_days")
    return tuple(sorted(keys))


def _infeasible(
    workload: Workload,
    catalog: CatalogSnapshot,
    on: date,
    findings: Iterable[Finding],
    refusals: Iterable[Refusal],
) -> Sizing:
    return Sizing(
        workload=workload,
        catalog_version=catalog.version,
        calculated_on=on,
        refusals=tuple(refusals),
        findings=tuple(findings),
    )
