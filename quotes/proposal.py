"""What pages, documents and the API see: a sizing with its prices on a day. Frozen; an issued quote keeps a copy."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal

from catalog.quantity import Frozen
from catalog.specs import CatalogSnapshot
from configurator.workload import Workload
from quotes.pricing.lines import PricedSystem, price
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.assumptions.own import with_own
from quotes.sizing.engine import size
from quotes.sizing.existing import ExistingReport, report_existing, rest_of, settled, with_energy
from quotes.sizing.knowledge import Knowledge
from quotes.sizing.results import SizedSystem, Sizing, Tier


class Proposal(Frozen):
    sizing: Sizing
    prices: Mapping[Tier, PricedSystem]
    assumptions: Assumptions
    priced_on: date
    demonstration_prices: bool
    existing: ExistingReport | None = None  # what the customer's own machines do of it, where there are any

    @property
    def recommended(self) -> SizedSystem | None:
        return self.sizing.recommended

    def system(self, tier: Tier) -> SizedSystem | None:
        return next((system for system in self.sizing.systems if system.tier == tier), None)


def propose(
    workload: Workload,
    catalog: CatalogSnapshot,
    assumptions: Assumptions,
    knowledge: Knowledge,
    *,
    on: date,
    vat_rate_pct: Decimal,
    weigh_concessions: bool = False,
    in_full: bool = False,
) -> Proposal:
    """Size `workload` against `catalog` and price the systems that come out. Infeasible is a normal answer.

    The workload's own figures take the place of `assumptions`; the proposal keeps the assumptions it was made with.
    Where the customer wants existing machines counted in, the systems carry what these leave, and `sizing.workload` is
    that rest; nothing is proposed when nothing is left.
    """
    assumptions, refused = with_own(assumptions, workload.own_figures)
    existing = report_existing(workload, catalog, assumptions, knowledge)
    rest: Workload | None = workload
    if existing and workload.count_existing:
        rest, counted = rest_of(workload, catalog, assumptions, knowledge)
        existing = settled(existing, counted, counted=True)
        existing = existing.model_copy(update={"carries_all": rest is None})
    if rest is None:
        sizing = Sizing(workload=workload, catalog_version=catalog.version, calculated_on=on)
    else:
        sizing = size(
            rest,
            catalog,
            assumptions,
            knowledge,
            on=on,
            weigh_concessions=weigh_concessions,
            in_full=in_full,
        )
    if refused:
        sizing = sizing.model_copy(update={"findings": refused + sizing.findings})
    if existing:
        existing = with_energy(existing, sizing, workload, catalog, assumptions)
        if existing.counted and existing.allotted:
            alone = size(workload, catalog, assumptions, knowledge, on=on)
            pair = [_cheapest_eur(one, catalog, vat_rate_pct) for one in (alone, sizing)]
            existing = existing.model_copy(update={"alone_eur": pair[0], "beside_eur": pair[1]})
    prices = {row.tier: price(row.candidate.system, catalog, vat_rate_pct) for row in sizing.systems}
    return Proposal(
        sizing=sizing,
        prices=prices,
        assumptions=assumptions,
        priced_on=catalog.taken_on,
        demonstration_prices=any(line.demonstration for system in prices.values() for line in system.lines),
        existing=existing,
    )


def _cheapest_eur(sizing: Sizing, catalog: CatalogSnapshot, vat_rate_pct: Decimal) -> float | None:
    """Net price of the cheapest proposal: like is compared with like, whatever is recommended. None without any."""
    nets = [price(row.candidate.system, catalog, vat_rate_pct).totals.net for row in sizing.systems]
    return float(min(nets)) if nets else None
