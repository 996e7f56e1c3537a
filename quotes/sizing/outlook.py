"""What a proposal adds when it is worked out in full: other places, other prices, other demands."""

from collections.abc import Iterator
from datetime import date
from typing import Any

from configurator.workload import Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.cliff import cliff_map
from quotes.sizing.loads import parts, split_in_two
from quotes.sizing.money.hybrid import use_curve
from quotes.sizing.money.renting import busy_hours_per_month
from quotes.sizing.money.tornado import Case, tornado
from quotes.sizing.phases import phased
from quotes.sizing.placements import Shop, leading, placements
from quotes.sizing.results import SizedSystem, SplitLayout, UseCurve


def with_outlook(system: SizedSystem, workload: Workload, shop: Shop, on: date) -> SizedSystem:
    """The same system with its staircase, its tornado, its load curve, its split layouts and the places where the work
    could be done."""
    candidate, money = system.candidate, system.economics
    catalog, assumptions = shop.catalog, shop.assumptions
    added: dict[str, Any] = {
        "growth": phased(candidate, workload, system.growth, shop),
        "use": _use(workload, assumptions),
        "tornado": tornado(Case(candidate, workload, catalog, assumptions, on, shop.options)),
        "splits": tuple(_splits(system, workload, shop)),
        "cliff": cliff_map(candidate, workload, catalog, assumptions, shop.knowledge),
    }
    if money is not None:
        ways = placements(candidate, money, workload, system.answer, shop)
        added |= {"placements": ways, "leads_with": leading(ways, workload)}
    return system.model_copy(update=added)


def _splits(system: SizedSystem, workload: Workload, shop: Shop) -> Iterator[SplitLayout]:
    """What each language service would do on its accelerators if these were split."""
    candidate, named = system.candidate, {part.name: part for part in parts(workload)}
    card = next((one for one in shop.catalog.accelerators if one.sku == candidate.accelerator), None)
    for option in candidate.loads:
        if card is None or option.load not in named:
            continue
        found = split_in_two(
            option,
            named[option.load],
            card,
            candidate.system.node.accelerators,
            shop.catalog,
            shop.assumptions,
            shop.knowledge,
        )
        if found:
            yield found


def _use(workload: Workload, assumptions: Assumptions) -> UseCurve | None:
    """How the load lies over the hours; several loads have no peak in common."""
    if len(workload.services) != 1 or workload.jobs:
        return None
    (service,) = workload.services
    return use_curve(service, busy_hours_per_month(service, assumptions) / assumptions.hours_per_month)
