"""Growth in phases, checked against what would be built: what the first order must leave room for, and what would not
plug in later.

A later phase is the cheapest system for its demand on the same accelerator and server, composed in full. It plugs in
when everything of the first order is in it again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from math import ceil

from catalog.quantity import Message, Quantity, noop
from catalog.specs import ServerSpec
from configurator.workload import Workload
from quotes.sizing.cliff import Walk
from quotes.sizing.hardware.compose import build_system
from quotes.sizing.placements import Shop
from quotes.sizing.results import Candidate, GrowthPhase, LineRole, Refusal, SystemBuild

NOT_PARTS = frozenset({LineRole.SERVICE, LineRole.LICENCE})
NAMED_MOST = 3  # articles that would have to be replaced


def phased(
    candidate: Candidate, workload: Workload, growth: Iterable[GrowthPhase], shop: Shop
) -> tuple[GrowthPhase, ...]:
    """`growth` with what each phase adds, what it asks of the first order, and what stands in its way.

    Phases that the system carries as it is stay as they are.
    """
    phases = tuple(growth)
    walk = Walk.of(candidate, workload, shop.catalog, shop.assumptions, shop.knowledge)
    if walk is None:
        return phases
    done: list[GrowthPhase] = []
    for phase in phases:
        if phase.demand_factor <= candidate.headroom_factor * (1 + 1e-6):
            done.append(phase)
            continue
        before = done[-1] if done else phases[0]
        later = _built(walk, phase.demand_factor, workload, shop)
        done.append(
            _impossible(phase, before, walk.refused)
            if later is None
            else _checked(phase, before, candidate.system, later, walk.server)
        )
    return tuple(done)


def _built(walk: Walk, demand: float, workload: Workload, shop: Shop) -> SystemBuild | None:
    draft = walk.cheapest(demand)
    if draft is None:
        return None
    count = draft.screened.accelerators
    built = build_system(
        walk.accelerator, walk.server, count, draft.loads, workload, shop.catalog, shop.assumptions
    )
    return None if isinstance(built, Refusal) else built


def _impossible(phase: GrowthPhase, before: GrowthPhase, reason: Message | None) -> GrowthPhase:
    words = Message.of(noop("This system cannot grow so far. {reason}"), reason=reason or Message.of(""))
    return phase.model_copy(
        update={
            "gpus": before.gpus,
            "nodes": before.nodes,
            "note": Message.of(noop("Plan a second place, or rent what is missing.")),
            "obstacles": (words,),
        }
    )


def _checked(
    phase: GrowthPhase, before: GrowthPhase, first: SystemBuild, later: SystemBuild, server: ServerSpec
) -> GrowthPhase:
    grows = (later.nodes, later.accelerators) != (before.nodes, before.gpus)
    return phase.model_copy(
        update={
            "gpus": later.accelerators,
            "nodes": later.nodes,
            "note": _note(later, before),
            "reserve": tuple(_reserve(first, later)) if grows else (),
            "obstacles": tuple(_obstacles(first, later)) if grows else (),
        }
    )


def _note(later: SystemBuild, before: GrowthPhase) -> Message:
    servers, cards = later.nodes - before.nodes, later.accelerators - before.gpus
    if servers == 1:
        return Message.of(noop("Add one server."))
    if servers > 1:
        return Message.of(noop("Add {count} servers."), count=servers)
    if cards == 1:
        return Message.of(noop("Add one accelerator to the servers."))
    if cards > 1:
        return Message.of(noop("Add {count} accelerators to the servers."), count=cards)
    return Message.of(noop("Nothing to add."))


# ── what the first order must leave room for ────────────────────────────────────────────────────────────────────


def _reserve(first: SystemBuild, later: SystemBuild) -> Iterator[Message]:
    per_server = later.node.accelerators - first.node.accelerators
    if per_server > 0:
        yield Message.of(
            noop("a chassis with {count} free places for accelerators in each server"), count=per_server
        )
    units = ceil(_units(later) - _units(first))
    if units > 0:
        yield Message.of(noop("{count} free rack units"), count=units)
    power_w = later.power.provision_w - first.power.provision_w
    if power_w > 0:
        yield Message.of(
            noop("{power} more power and cooling"), power=Quantity(value=power_w / 1000, unit="kW", digits=2)
        )
    links = later.fabric.node_links - first.fabric.node_links
    if links > 0:
        yield Message.of(noop("{count} free ports in the cluster network"), count=links)
    racks = len(later.racks) - len(first.racks)
    if racks > 0:
        yield Message.of(
            noop("floor space for {racks}"), racks=Quantity(value=racks, unit="racks", digits=15)
        )
    servers = later.nodes - first.nodes
    if servers > 0 and links <= 0:
        yield Message.of(
            noop("network ports for {servers}"), servers=Quantity(value=servers, unit="servers", digits=15)
        )


def _units(system: SystemBuild) -> float:
    return sum(units for rack in system.racks for _label, units, _kind in rack.items)


# ── what would not plug in ──────────────────────────────────────────────────────────────────────────────────────


def _obstacles(first: SystemBuild, later: SystemBuild) -> Iterator[Message]:
    """Articles of the first order that the later system has fewer of: they would be replaced, not added to."""
    have, names = _parts(first)
    then, _names = _parts(later)
    gone = [(count - then[sku], names[sku]) for sku, count in have.items() if count > then[sku]]
    if not gone:
        return
    listed = [
        Message.of(noop("{count} × {article}"), count=count, article=article)
        for count, article in gone[:NAMED_MOST]
    ]
    if len(gone) > NAMED_MOST:
        listed.append(Message.of(noop("{count} other kinds of parts"), count=len(gone) - NAMED_MOST))
    yield Message.of(
        noop("Would be replaced, not added to: {parts}. Order them for the later phase now."),
        parts=Message.listed(listed),
    )


def _parts(system: SystemBuild) -> tuple[Counter[str], dict[str, str]]:
    lines = [line for line in system.lines if line.role not in NOT_PARTS]
    counts = Counter[str]()
    for line in lines:
        counts[line.sku] += line.quantity
    return counts, {line.sku: line.name for line in lines}
