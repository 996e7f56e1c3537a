"""The placement table: which replica on which accelerators of which server, what it holds there and how busy it is."""

from collections.abc import Sequence

from catalog.specs import AcceleratorSpec
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.hardware.placing import Seat, Shape, is_job, seat
from quotes.sizing.portions import busy_of_whole
from quotes.sizing.results import LoadOption, Placed


def placed(
    loads: Sequence[LoadOption],
    needed: int,
    shape: Shape,
    accelerator: AcceleratorSpec,
    assumptions: Assumptions,
) -> tuple[Placed, ...]:
    """A row per replica and server, by server and accelerator; empty when the loads do not fit the shape by our rules.

    `needed`: accelerators that were counted for all loads together, see `placing.sharing`.
    """
    try:
        seats = seat(loads, needed, shape)
    except ValueError:
        return ()
    by_name = {load.load: load for load in loads}
    return tuple(
        _row(place, by_name[place.load], accelerator, assumptions)
        for place in sorted(seats, key=lambda place: (place.node, place.first, place.shared, place.start))
    )


def _row(place: Seat, load: LoadOption, accelerator: AcceleratorSpec, assumptions: Assumptions) -> Placed:
    used = load.memory.total_gib - load.memory.free_gib if load.memory else None
    whole = accelerator.memory_gib
    return Placed(
        server=place.node + 1,
        first=place.first + 1,
        accelerators=place.size,
        load=place.load,
        replica=place.replica + 1,
        portion=place.portion,
        memory_gib=used,
        memory_fraction=used / whole if used is not None and whole else None,
        busy_fraction=None if is_job(load) else busy_of_whole(place.portion, load.busy_fraction, assumptions),
        outside_hours=place.shared,
    )


def seats_of(placement: Sequence[Placed]) -> tuple[Seat, ...]:
    """The seats that a placement table tells of."""
    seats: list[Seat] = []
    before: dict[tuple[int, int], float] = {}
    for row in placement:
        accelerator = row.server, row.first
        start = before.get(accelerator, 0.0) if row.portion else 0.0
        if row.portion:
            before[accelerator] = start + row.portion.compute_fraction
        seats.append(
            Seat(
                row.server - 1,
                row.first - 1,
                row.accelerators,
                row.load,
                row.replica - 1,
                row.outside_hours,
                row.portion,
                start,
            )
        )
    return tuple(seats)
