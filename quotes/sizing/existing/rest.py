"""What a new system must still carry when the customer wants existing machines counted in."""

from collections.abc import Sequence
from typing import NamedTuple

from catalog.specs import CatalogSnapshot
from configurator.workload import Job, LanguageService, RateService, Service, Workload
from quotes.sizing import choosing
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.existing.report import report_existing
from quotes.sizing.existing.results import Allotted
from quotes.sizing.knowledge import Knowledge
from quotes.sizing.loads import parts


class Rest(NamedTuple):
    """`workload` is None when nothing is left."""

    workload: Workload | None
    counted: tuple[Allotted, ...]


def rest_of(
    workload: Workload, catalog: CatalogSnapshot, assumptions: Assumptions, knowledge: Knowledge
) -> Rest:
    """What is left of `workload` after its machines did what they can.

    Only machines worth keeping count, each of their GPUs for one load. A service leaves the part of its *largest*
    demand (the one that the proposal with room to grow carries) that the machines do not carry: the smaller proposals
    come out cautiously large. A job leaves nothing or everything. An N+1 service finds its spare on each machine by
    itself.
    """
    grown = workload.model_copy(
        update={"services": tuple(_grown(part, workload, assumptions) for part in workload.services)}
    )
    report = report_existing(grown, catalog, assumptions, knowledge)
    counted = report.allotted if report else ()
    left: list[Service | Job] = []
    for part in parts(workload):
        remaining = 1 - sum(one.fraction for one in counted if one.load == part.name)
        if remaining > 1e-9:
            left.append(_scaled(part, remaining))
    rest = workload.model_copy(update=_split(left) | {"assumed": _assumed(workload, left)}) if left else None
    return Rest(rest, counted)


def _assumed(workload: Workload, left: Sequence[Service | Job]) -> frozenset[str]:
    """The paths of `workload.assumed` as they are in the rest: a part that is gone takes its paths along."""
    moved: dict[str, str] = {}
    rest = _split(left)
    for head, before in (("services", workload.services), ("jobs", workload.jobs)):
        places = {part.name: place for place, part in enumerate(rest[head])}
        moved |= {f"{head}.{at}": f"{head}.{places.get(part.name, '')}" for at, part in enumerate(before)}
    kept = set()
    for path in workload.assumed:
        head, *name = path.split(".", 2)
        place = moved.get(".".join([head, *name[:1]]), "")
        if not place:
            kept.add(path)
        elif not place.endswith("."):
            kept.add(".".join([place, *name[1:]]))
    return frozenset(kept)


def _grown(part: Service, workload: Workload, assumptions: Assumptions) -> Service:
    return _scaled(part, max(choosing.targets(workload, assumptions).values()))


def _scaled[Part: Service | Job](part: Part, factor: float) -> Part:
    if isinstance(part, LanguageService):
        return part.model_copy(update={"concurrent_requests": part.concurrent_requests * factor})
    if isinstance(part, RateService):
        return part.model_copy(update={"items_s": part.items_s * factor})
    return part


def _split(left: Sequence[Service | Job]) -> dict[str, tuple[Service | Job, ...]]:
    return {
        "services": tuple(part for part in left if isinstance(part, LanguageService | RateService)),
        "jobs": tuple(part for part in left if not isinstance(part, LanguageService | RateService)),
    }
