"""From options per load to whole systems that could be delivered: who may take part, and what they add up to."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from decimal import Decimal
from functools import partial
from itertools import product
from math import ceil, prod
from typing import NamedTuple

from catalog.quantity import Message, Quantity, noop
from catalog.specs import (
    AcceleratorSpec,
    Availability,
    CatalogSnapshot,
    ServerSpec,
    ServerStatus,
)
from configurator.workload import LoadProfile, Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.hardware.compose import ScreenedSystem, screen_systems
from quotes.sizing.hardware.demand import ram_floor_gb
from quotes.sizing.hardware.placing import (
    JOBS,
    Shape,
    fits,
    is_job,
    resident_gpus,
    sharing,
    standing,
    together,
)
from quotes.sizing.hardware.site import stands_at
from quotes.sizing.loads import STACK_NAMES, OptionTable
from quotes.sizing.results import Estimate, LoadOption, Refusal
from quotes.sizing.sharing import shared_loads, widened
from quotes.sizing.trace import Badge

OFFERED = frozenset({ServerStatus.BUILDABLE, ServerStatus.COMPLETE_SYSTEM})
CLOUD_NODE_COUNT = (
    8  # accelerators of the largest common cloud instance; used only to size the cloud alternative
)
OPTIONS_PER_LOAD = 2
# A search ends in time whatever is asked; with up to six loads of usual size neither limit is met.
CHOICES_MAX = 64  # ways to choose one option per load
COMBINATIONS_MAX = 40  # systems of one accelerator
FRUGAL = 0.8  # of the host memory: from so much less on, fewer replicas on as many boards are a choice of their own


class Draft(NamedTuple):
    """A legal system before it is built in full: cheap enough to make thousands."""

    accelerator: AcceleratorSpec
    loads: tuple[LoadOption, ...]
    screened: ScreenedSystem
    headroom_factor: float

    @property
    def price_eur(self) -> Decimal:
        return self.screened.price_eur

    @property
    def is_backed(self) -> bool:
        return is_backed(self.loads)

    @property
    def backing(self) -> int:
        """How much published runs tell of the speed: 2 of this kind of work on this kind of accelerator, 1 of the
        accelerators alone (nobody can publish runs of a model of one's own), 0 not even those."""
        return 2 if self.is_backed else int(all(load.chip_is_measured for load in self.loads))


def best_backed(drafts: Sequence[Draft]) -> list[Draft]:
    """Those of whose speed published runs tell most."""
    most = max((draft.backing for draft in drafts), default=0)
    return [draft for draft in drafts if draft.backing == most]


def is_backed(loads: Iterable[LoadOption]) -> bool:
    """Whether measured runs of this kind of accelerator stand behind the rate of every load.

    The first token may be calculated: its interval is wider then, and its cautious end is what is promised.
    """
    return all(estimate.badge is not Badge.EXTRAPOLATED for load in loads for estimate in _rates(load))


def _rates(load: LoadOption) -> list[Estimate]:
    speed = load.speed
    return [found for found in (speed.tokens_s_per_user, speed.run_hours, speed.items_s_per_gpu) if found]


def servers_for(catalog: CatalogSnapshot) -> Mapping[str, tuple[ServerSpec, ...]]:
    """The servers that may be offered, by accelerator SKU."""
    offered = [server for server in catalog.servers if server.status in OFFERED]
    return {
        accelerator.sku: tuple(server for server in offered if accelerator.sku in server.accelerators)
        for accelerator in catalog.accelerators
    }


def node_limits(catalog: CatalogSnapshot, servers: Mapping[str, Sequence[ServerSpec]]) -> Mapping[str, int]:
    """How many of each accelerator one server can hold at most."""
    return {
        sku: max((server.max_accelerators for server in rows), default=CLOUD_NODE_COUNT)
        for sku, rows in servers.items()
    }


_NOT_SOLD = {
    Availability.CLOUD_ONLY: noop("It can only be rented in a cloud, not bought."),
    Availability.ANNOUNCED: noop("It has been announced but cannot be ordered yet."),
    Availability.NOT_SOLD: noop("It is no longer sold."),
    Availability.NOT_IN_EU: noop("It is not sold in the European Union."),
}


def exclusion(
    accelerator: AcceleratorSpec, workload: Workload, servers: Sequence[ServerSpec], catalog: CatalogSnapshot
) -> Refusal | None:
    """Why this accelerator may not take part at all, whatever it can do; None when it may."""
    stack = workload.placement.software_stack
    refusal = partial(Refusal.of, accelerator)
    if text := _NOT_SOLD.get(accelerator.availability):
        return refusal("catalog", Message.of(text), kind="sale")
    if accelerator.vendor in workload.placement.vendors_excluded:
        return refusal(
            "stack",
            Message.of(noop("You asked for no products of {vendor}."), vendor=accelerator.vendor),
            kind="wish",
        )
    if stack != "any" and stack not in accelerator.software_stack:
        return refusal(
            "stack",
            Message.of(
                noop("Your software needs {stack}, which this accelerator does not run."),
                stack=STACK_NAMES.get(stack, stack.upper()),
            ),
            Message.of(noop("Possible when your software also runs on another stack.")),
            kind="wish",
        )
    if servers and not any(stands_at(server, workload.site) for server in servers):
        return refusal(
            "server",
            Message.of(noop("It comes only in desktop systems; your site takes servers in a rack.")),
            Message.of(noop("Possible where a desktop system may stand, such as an office.")),
        )
    if not servers:
        return refusal("server", Message.of(noop("The catalog has no complete server that takes it.")))
    inside = any(server.status is ServerStatus.COMPLETE_SYSTEM for server in servers)
    if not inside and catalog.price_eur(accelerator.order_sku) is None:
        return refusal(
            "catalog", Message.of(noop("It has no valid price in the catalog today.")), kind="sale"
        )
    return None


# ── what the loads of a workload add up to on one accelerator ───────────────────────────────────────────────────


def combinations(
    tables: Sequence[OptionTable],
    sku: str,
    targets: Sequence[float],
    workload: Workload,
    board: int = 1,
    parts: Sequence[OptionTable] = (),
    ram_floor_gb: float = 0,
) -> list[tuple[LoadOption, ...]]:
    """Sensible choices of one option per load.

    For each demand target the few smallest options that carry it; of the combinations that need equally many boards of
    `board` accelerators the one with the most headroom when those are filled and, where another asks for much less
    host memory per accelerator (above `ram_floor_gb`, which every server gets), that one too: each replica brings its
    own weights. With the `parts` on which services may share, also the combinations that need fewer boards than any
    without sharing.
    """
    best: dict[tuple[bool, int], tuple[float, tuple[LoadOption, ...]]] = {}
    frugal: dict[tuple[float, int], tuple[float, float, tuple[LoadOption, ...]]] = {}
    counted: dict[tuple[int, ...], tuple[int, int]] = {}  # by identity: targets share most of their choices

    def count(loads: tuple[LoadOption, ...]) -> tuple[int, int]:
        """Accelerators and boards."""
        key = tuple(map(id, loads))
        if key not in counted:
            needed = accelerators_needed(loads, workload)
            counted[key] = needed, ceil(needed / board)
        return counted[key]

    def boards_of(loads: tuple[LoadOption, ...]) -> int:
        return count(loads)[1]

    def ram(loads: tuple[LoadOption, ...]) -> float:
        return max(ram_floor_gb, *(load.host.ram_gb_per_gpu for load in loads))

    def weigh(loads: tuple[LoadOption, ...], target: float, *, shares: bool) -> int:
        needed, boards = count(loads)
        filled = _headroom(_filled(loads, needed, Shape(boards, board)))
        if (shares, boards) not in best or filled > best[shares, boards][0]:
            best[shares, boards] = filled, loads
        asked = ram(loads), -filled
        if not shares and ((target, boards) not in frugal or asked < frugal[target, boards][:2]):
            frugal[target, boards] = *asked, loads
        return boards

    ways = [_ways(table.get(sku)) for table in parts]
    ways += [()] * (len(tables) - len(ways))
    for target in targets:
        choices = _few([_smallest(table[sku], target) for table in tables])
        fewest = min((weigh(loads, target, shares=False) for loads in product(*choices)), default=0)
        if parts and fewest > 1:
            small = [tuple(way for way in each if way.capacity_factor >= target) for each in ways]
            shared = shared_loads([options[0] for options in choices], small, boards_of, fewest)
            if shared:
                weigh(shared, target, shares=True)
    told = _telling({key: filled for key, (filled, _loads) in best.items()}, targets)
    found = [
        widened(loads, ways, boards_of, boards) if shares else loads
        for (shares, boards), (_, loads) in best.items()
        if (shares, boards) in told
    ]
    sparing = {
        tuple(map(id, loads)): loads
        for (_target, boards), (asked, _filled, loads) in frugal.items()
        if (False, boards) in told and asked < FRUGAL * ram(best[False, boards][1])
    }
    return found + list(sparing.values())


def _few(choices: list[list[LoadOption]]) -> list[list[LoadOption]]:
    """At most `CHOICES_MAX` ways to choose: the loads with most headroom do with their smallest option, since the
    tightest decides."""
    while prod(map(len, choices)) > CHOICES_MAX:
        several = [index for index, options in enumerate(choices) if len(options) > 1]
        ample = max(several, key=lambda index: choices[index][0].capacity_factor)
        choices = [options[:1] if index == ample else options for index, options in enumerate(choices)]
    return choices


def _telling(headrooms: Mapping[tuple[bool, int], float], targets: Sequence[float]) -> Set[tuple[bool, int]]:
    """Of numbers of boards (with and without sharing) with their headroom at most about `COMBINATIONS_MAX`: none that
    carries no more than a smaller one, the smallest for each target, and others at even distances."""
    if len(headrooms) <= COMBINATIONS_MAX:
        return headrooms.keys()
    rising: list[tuple[bool, int]] = []
    for key in sorted(headrooms, key=lambda key: (key[1], -headrooms[key])):
        if not rising or headrooms[key] > headrooms[rising[-1]]:
            rising.append(key)
    step = max((len(rising) - 1) / (COMBINATIONS_MAX - 1), 1)
    even = {rising[round(number * step)] for number in range(min(COMBINATIONS_MAX, len(rising)))}
    smallest = (next((key for key in rising if headrooms[key] >= target), rising[-1]) for target in targets)
    return even.union(smallest)


def _ways(options: tuple[LoadOption, ...] | Refusal | None) -> tuple[LoadOption, ...]:
    return options if isinstance(options, tuple) else ()


def _smallest(options: tuple[LoadOption, ...] | Refusal, target: float) -> list[LoadOption]:
    if isinstance(options, Refusal):
        return []
    carrying = [option for option in options if option.capacity_factor >= target or is_job(option)]
    ordered = sorted(carrying, key=lambda option: (option.gpus, -option.capacity_factor))[:OPTIONS_PER_LOAD]
    sizes = {(option.gpus, option.gpus_in_one_node): option for option in reversed(ordered)}
    return [option for option in ordered if option is sizes[option.gpus, option.gpus_in_one_node]]


def accelerators_needed(loads: Iterable[LoadOption], workload: Workload) -> int:
    """Accelerators for all loads together.

    Services hold theirs always. Jobs run one after another: on the services' accelerators when all services rest
    outside office hours and every job fits in that window, else on accelerators of their own.
    """
    loads = tuple(loads)
    services = resident_gpus(loads)
    jobs = [load for load in loads if load.kind in JOBS]
    if not jobs:
        return services
    largest = max(job.gpus for job in jobs)
    return max(services, largest) if may_share(jobs, workload) else services + largest


def may_share(jobs: Sequence[LoadOption], workload: Workload) -> bool:
    """Whether the jobs may use the services' accelerators when those are idle."""
    resting = {LoadProfile.OFFICE_HOURS, LoadProfile.EXTENDED, LoadProfile.SEASONAL}
    return bool(workload.services) and all(
        service.profile in resting for service in workload.services
    ) and all(job.shares_pool for job in jobs)  # fmt: skip


def spread(loads: tuple[LoadOption, ...], needed: int, shape: Shape) -> tuple[LoadOption, ...]:
    """Give accelerators that come along with whole boards and servers to the service with the least headroom.

    A replica is added only where it finds a place: what is left may be scattered over servers. Capacity grows with the
    number of working replicas; the speed figures are recomputed when the option is explained.
    """
    return tuple(one.option() for one in _filled(loads, needed, shape))


class _Filling:
    """A load while replicas are added."""

    __slots__ = ("busy", "capacity", "load", "working")

    def __init__(self, load: LoadOption) -> None:
        self.load, self.working = load, load.replicas - load.spare_replicas
        self.capacity, self.busy = load.capacity_factor, load.busy_fraction

    @property
    def gpus(self) -> int:
        load = self.load
        return load.gpus + load.gpus_per_replica * (self.working - load.replicas + load.spare_replicas)

    def add(self) -> None:
        more = self.working + 1
        self.capacity = self.capacity * more / self.working
        self.busy = min(1.0, self.busy * self.working / more)
        self.working = more

    def option(self) -> LoadOption:
        load = self.load
        if self.working == load.replicas - load.spare_replicas:
            return load
        return load.model_copy(
            update={
                "replicas": self.working + load.spare_replicas,
                "gpus": self.gpus,
                "capacity_factor": self.capacity,
                "busy_fraction": self.busy,
            }
        )


def _filled(loads: Sequence[LoadOption], needed: int, shape: Shape) -> list[_Filling]:
    """See `spread`."""
    all_loads = [_Filling(load) for load in loads]
    places = shape.nodes * shape.gpus
    if needed >= places:
        return all_loads
    resident, jobs = standing(loads)
    shared = sharing(loads, needed)  # stays as it is: both sides grow alike
    growing = [one for one in all_loads if not is_job(one.load) and one.load.portion is None]
    while growing:
        least = min(growing, key=lambda one: one.capacity)
        size, more = least.load.gpus_in_one_node, least.load.gpus_per_replica
        if needed + more <= places:
            groups = ceil((least.gpus + more) / size) - ceil(least.gpus / size)
            larger = {**resident, size: resident.get(size, 0) + groups}
            if all(fits(wanted, shape) for wanted in together(larger, jobs, shared)):
                resident, needed = larger, needed + more
                least.add()
                continue
        growing.remove(least)
    return all_loads


def with_working(load: LoadOption, count: int) -> LoadOption:
    """The same way of serving with `count` working replicas; its spare stays."""
    working = load.replicas - load.spare_replicas
    return load.model_copy(
        update={
            "replicas": count + load.spare_replicas,
            "gpus": load.gpus + load.gpus_per_replica * (count - working),
            "capacity_factor": load.capacity_factor * count / working,
            "busy_fraction": min(1.0, load.busy_fraction * working / count),
        }
    )


def headroom(loads: Sequence[LoadOption]) -> float:
    """Multiple of today's peak that the services carry; for jobs alone the slack in their deadline."""
    return _headroom([_Filling(load) for load in loads])


def _headroom(loads: Sequence[_Filling]) -> float:
    services = [one for one in loads if not is_job(one.load)]
    return min(one.capacity for one in (services or loads))


def drafts(
    accelerator: AcceleratorSpec,
    tables: Sequence[OptionTable],
    targets: Sequence[float],
    workload: Workload,
    catalog: CatalogSnapshot,
    assumptions: Assumptions,
    parts: Sequence[OptionTable] = (),
) -> Iterator[Draft | Refusal]:
    """Every legal system on this accelerator, and the refusals of the servers that cannot carry it."""
    floor = ram_floor_gb(accelerator, assumptions)
    for loads in combinations(
        tables, accelerator.sku, targets, workload, accelerator.board_count, parts, floor
    ):
        needed = accelerators_needed(loads, workload)
        if needed > assumptions.largest_system_count:
            yield _too_many(accelerator, needed, assumptions)
            continue
        filled: dict[Shape, tuple[LoadOption, ...]] = {}
        for screened in screen_systems(accelerator, needed, loads, workload, catalog, assumptions):
            if isinstance(screened, Refusal):
                yield screened
                continue
            shape = Shape(screened.nodes, screened.accelerators // screened.nodes)
            if shape not in filled:
                filled[shape] = spread(loads, needed, shape)
            yield Draft(accelerator, filled[shape], screened, headroom(filled[shape]))


def _too_many(accelerator: AcceleratorSpec, needed: int, assumptions: Assumptions) -> Refusal:
    return Refusal.of(
        accelerator,
        "server",
        Message.of(
            noop(
                "It would take {count} accelerators; we design systems of at most {most} without a project."
            ),
            count=Quantity(value=needed, digits=3),
            most=Quantity(value=assumptions.largest_system_count, digits=4),
        ),
        Message.of(noop("Ask us for a project of this size, or ask less at the peak.")),
        excess=needed / assumptions.largest_system_count,
    )


def first_refusal(tables: Sequence[OptionTable], accelerator: AcceleratorSpec) -> Refusal | None:
    """The reason of the first load that this accelerator cannot carry; the next ones are not sized on it."""
    for table in tables:
        answer = table.get(accelerator.sku)
        if isinstance(answer, Refusal):
            return answer
        if not answer:
            return Refusal.of(accelerator, "speed", Message.of(noop("No arrangement meets the targets.")))
    return None


def beaten(accelerator: AcceleratorSpec, best: Draft, winner: Draft) -> Refusal:
    """It works, but is not proposed: what it would cost, and what speaks against it."""
    facts: dict[str, Quantity | int | str] = {
        "count": best.screened.accelerators,
        "name": accelerator.name,
        "price": Quantity(value=float(best.price_eur), unit="EUR", digits=3),
    }
    if best.backing < winner.backing:
        return Refusal.of(
            accelerator,
            "evidence",
            Message.of(
                noop(
                    "It would work by calculation: {count} × {name} for about {price}. But no measured runs back it."
                ),
                **facts,
            ),
            Message.of(noop("Ask for a trial run, or share measurements of your own.")),
        )
    excess = float(best.price_eur / winner.price_eur)
    percent = Quantity(value=(excess - 1) * 100, unit="%", digits=2)
    text = noop("It works: {count} × {name} for about {price}, {percent} more than the cheapest proposal.")
    if excess <= 1:
        text = noop("It works: {count} × {name} for about {price}.")
    return Refusal.of(accelerator, "dominated", Message.of(text, percent=percent, **facts), excess=excess)
