"""How many servers, and which replica sits on which: whole accelerators, joined groups never split over servers."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from quotes.sizing.hardware.packing import Piece, pack, pieces_of
from quotes.sizing.results import LoadOption, Portion

JOBS = frozenset({"training", "rate_training"})


class Group(NamedTuple):
    """Accelerators of one load that must sit in one server; or one accelerator with parts of several loads."""

    load: str
    size: int
    replica: int
    pieces: tuple[Piece, ...] = ()

    @property
    def loads(self) -> list[str]:
        return [piece.load for piece in self.pieces] or [self.load]


class Shape(NamedTuple):
    nodes: int
    gpus: int  # accelerators per server


def groups_of(load: LoadOption) -> list[Group]:
    """A load as the groups that tensor parallelism or a fast link ties to one server."""
    size = load.gpus_in_one_node
    per_replica = max(ceil(load.gpus_per_replica / size), 1)
    return [Group(load.load, size, index // per_replica) for index in range(ceil(load.gpus / size))]


def all_groups(loads: Sequence[LoadOption]) -> list[Group]:
    """Groups of whole accelerators, and the accelerators that loads share."""
    shared = [Group("", 1, 0, held) for held in pack(pieces_of(loads))]
    return [group for load in loads if load.portion is None for group in groups_of(load)] + shared


def is_job(load: LoadOption) -> bool:
    """A job runs and ends; a service holds its accelerators always."""
    return load.kind in JOBS


def sharing(loads: Sequence[LoadOption], needed: int) -> bool:
    """Whether jobs use the services' accelerators: then both together are more than was counted."""
    jobs = [load.gpus for load in loads if is_job(load)]
    if not jobs or len(jobs) == len(loads):
        return False
    return needed < resident_gpus(loads) + max(jobs)


def resident_gpus(loads: Sequence[LoadOption]) -> int:
    """Accelerators that the services hold always: whole ones, and those that they share."""
    whole, divided = 0, False
    for load in loads:
        if load.portion is not None:
            divided = True
        elif not is_job(load):
            whole += load.gpus
    return whole + len(pack(pieces_of(loads))) if divided else whole


type Groups = Mapping[int, int]
"""How many groups of each size."""


def standing(loads: Sequence[LoadOption]) -> tuple[Groups, list[tuple[int, int]]]:
    """What the services hold, and of each job (size, number) of its groups."""
    resident: dict[int, int] = {}
    jobs: list[tuple[int, int]] = []
    for load in loads:
        size = load.gpus_in_one_node
        number = ceil(load.gpus / size)
        if is_job(load):
            jobs.append((size, number))
        elif load.portion is None:
            resident[size] = resident.get(size, 0) + number
    if any(load.portion for load in loads):
        resident[1] = resident.get(1, 0) + len(pack(pieces_of(loads)))
    return resident, jobs


def together(resident: Groups, jobs: Sequence[tuple[int, int]], shared: bool) -> list[Groups]:
    """What must fit at the same time: services with the largest job, or, `shared`, each by itself."""
    if not jobs:
        return [resident]
    if not resident or shared:
        return [*([resident] if resident else []), *({size: number} for size, number in jobs)]
    return [{**resident, size: resident.get(size, 0) + number} for size, number in jobs]


def demands(loads: Sequence[LoadOption], needed: int) -> list[Groups]:
    """What must fit at the same time when `needed` accelerators were counted."""
    return together(*standing(loads), sharing(loads, needed))


def fits(groups: Groups, shape: Shape) -> bool:
    """Largest groups first, each into the server with least room that takes it."""
    if len(groups) == 1:
        ((size, number),) = groups.items()
        return shape.gpus // size * shape.nodes >= number
    room = Counter({shape.gpus: shape.nodes})
    for size in sorted(groups, reverse=True):
        left = groups[size]
        for capacity in sorted(room):
            per_server = capacity // size
            if not per_server or not left:
                continue
            used = min(room[capacity], ceil(left / per_server))
            placed = min(left, used * per_server)
            full, rest = divmod(placed, per_server)
            room[capacity] -= used
            room[capacity - per_server * size] += full
            if rest:
                room[capacity - rest * size] += 1
            left -= placed
        if left:
            return False
        room = +room
    return True


def holds(loads: Sequence[LoadOption], needed: int, shape: Shape) -> bool:
    """Whether everything that runs at the same time finds a place."""
    return all(fits(groups, shape) for groups in demands(loads, needed))


def smallest_shape(needed: int, wanted: Sequence[Groups], allowed: Sequence[int]) -> Shape | None:
    """The fewest servers, then the fewest accelerators in each, that hold each of `wanted` (see `demands`); None when
    a group is too large."""
    largest = max((size for groups in wanted for size in groups), default=1)
    usable = [count for count in allowed if count >= largest]
    if not usable:
        return None
    total = max(needed, 1)
    nodes = ceil(total / usable[-1])
    while True:
        for count in usable:
            shape = Shape(nodes, count)
            if count * nodes >= total and all(fits(groups, shape) for groups in wanted):
                return shape
        nodes += 1


class Seat(NamedTuple):
    """Accelerators `first` … `first + size - 1` of server `node`, all counted from 0."""

    node: int
    first: int
    size: int
    load: str
    replica: int
    shared: bool  # a job on accelerators of a service, outside its hours
    portion: Portion | None = None  # of the one accelerator, when others have the rest
    start: float = 0  # fraction of the accelerator's computing before this part


def seat(loads: Sequence[LoadOption], needed: int, shape: Shape) -> tuple[Seat, ...]:
    """Every group on its server, replicas of one service spread over servers where there is a choice.

    Guarantee: groups that run at the same time never overlap, unless each has a portion, which then fit together; a
    group never crosses a server. Jobs run one after another, on accelerators of their own or of the services. Raises
    ValueError when they do not fit.
    """
    jobs = sorted((load for load in loads if is_job(load)), key=lambda job: -job.gpus)
    resident = [load for load in loads if not is_job(load)]
    shared = sharing(loads, needed)
    if jobs and not shared:
        resident.append(jobs.pop(0))
    seats = _all_seats(resident, _empty(shape), shared=False)
    for job in jobs:
        after = resident[-1] if not shared else None
        places = _empty(shape) if after is None else _places(seats, after.load, shape)
        seats += _all_seats([job], places, shared=shared)
    return tuple(seats)


def _empty(shape: Shape) -> list[list[int]]:
    return [list(range(shape.gpus)) for _ in range(shape.nodes)]


def _places(seats: Iterable[Seat], load: str, shape: Shape) -> list[list[int]]:
    places: list[list[int]] = [[] for _ in range(shape.nodes)]
    for item in seats:
        if item.load == load:
            places[item.node] += range(item.first, item.first + item.size)
    return places


def _all_seats(loads: Sequence[LoadOption], free: list[list[int]], *, shared: bool) -> list[Seat]:
    groups = sorted(all_groups(loads), key=lambda group: (-group.size, not group.pieces))
    for spread in (True, False):  # spreading wastes room at times; tight is what `fits` promised
        seats = _try_seats(groups, [list(places) for places in free], spread, shared)
        if seats is not None:
            return seats
    raise ValueError("the groups do not fit on the servers")


def _try_seats(
    groups: Iterable[Group], free: list[list[int]], spread: bool, shared: bool
) -> list[Seat] | None:
    seats: list[Seat] = []
    taken: Counter[tuple[str, int]] = Counter()
    for group in groups:
        able = [node for node, places in enumerate(free) if len(places) >= group.size]
        if not able:
            return None
        node = min(
            able,
            key=lambda index: (
                sum(taken[load, index] for load in group.loads) if spread else 0,
                len(free[index]),
                index,
            ),
        )
        taken.update((load, node) for load in group.loads)
        if group.pieces:  # at the end, where jobs that borrow accelerators come last
            seats += _parts_at(group, node, free[node].pop())
        else:
            seats.append(Seat(node, free[node][0], group.size, group.load, group.replica, shared))
            del free[node][: group.size]
    return seats


def _parts_at(group: Group, node: int, first: int) -> list[Seat]:
    seats, start = [], 0.0
    for piece in group.pieces:
        seats.append(Seat(node, first, 1, piece.load, piece.replica, False, piece.portion, start))
        start += piece.portion.compute_fraction
    return seats
