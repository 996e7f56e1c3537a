"""Which replica runs on which accelerator of which server: the table, and the drawing that follows it."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from configurator import formats
from configurator.wizard.presets import load_title
from configurator.workload import Workload
from quotes.documents import drawings
from quotes.documents.svg import Words
from quotes.sizing.candidates import accelerators_needed
from quotes.sizing.hardware.placed import seats_of
from quotes.sizing.hardware.placing import Seat, Shape, seat
from quotes.sizing.results import LoadOption, Placed, Portion, SizedSystem


class Row(NamedTuple):
    """One load on one or more accelerators, alike on all servers that the row names."""

    server: str
    accelerator: str
    work: str
    replica: str
    part: str
    memory: str
    busy: str


def placement_page(chosen: SizedSystem, workload: Workload, words: Words) -> dict[str, Any]:
    """Template context; empty when one load has one server to itself."""
    build = chosen.candidate.system
    if len(chosen.candidate.loads) < 2 and build.nodes < 2:
        return {"placement": [], "placement_drawing": SafeString(), "sharing": ()}
    shape = Shape(build.nodes, build.node.accelerators)
    places = _seats(chosen, workload, shape)
    drawing = drawings.placement_map(places, shape, words, key="placement-drawing") if places else ""
    return {
        "placement": list(rows(build.placement)),
        "placement_drawing": SafeString(drawing),
        "sharing": build.sharing,
    }


def _seats(chosen: SizedSystem, workload: Workload, shape: Shape) -> Sequence[Seat]:
    """As the table says; for a quote from before there was one, by the rules of today."""
    loads = chosen.candidate.loads
    try:
        placement = chosen.candidate.system.placement
        places = (
            seats_of(placement) if placement else seat(loads, accelerators_needed(loads, workload), shape)
        )
    except ValueError:  # placed by other rules than ours: shown without this drawing
        return ()
    return [place._replace(load=load_title(place.load)) for place in places]


def rows(placement: Sequence[Placed]) -> Iterator[Row]:
    """Servers in a row that hold the same are one row per load, and so are accelerators in a row with one replica."""
    servers = [list(group) for _number, group in groupby(placement, key=lambda row: row.server)]
    for _alike, group in groupby(servers, key=lambda held: [_signature(row) for row in held]):
        held = list(zip(*group, strict=True))
        for _same, run in groupby(enumerate(held), key=lambda item: _run_of(item[0], item[1][0])):
            yield _row([place for _index, places in run for place in places])


def _signature(row: Placed) -> Placed:
    return row.model_copy(update={"server": 1, "replica": 1})


def _run_of(index: int, place: Placed) -> Placed:
    """Alike for places that follow each other on the accelerators of a server."""
    return place.model_copy(update={"first": place.first - index * place.accelerators})


def _row(places: Sequence[Placed]) -> Row:
    first, last = places[0], max(places, key=lambda place: place.first)
    return Row(
        server=_span([place.server for place in places]),
        accelerator=_span([first.first, last.first + last.accelerators - 1]),
        work=load_title(first.load),
        replica=_span([place.replica for place in places]),
        part=_part(first),
        memory=_memory(first),
        busy=formats.quantity(100 * first.busy_fraction, "%", 2)
        if first.busy_fraction is not None
        else _("fully, while it runs"),
    )


def _span(numbers: Sequence[int]) -> str:
    """'3', or '1–16'."""
    least, most = min(numbers), max(numbers)
    return formats.number(least) if least == most else f"{formats.number(least)}–{formats.number(most)}"


def _part(place: Placed) -> str:
    whole = part_name(place.portion) if place.portion else _("whole")
    return (
        _("%(part)s, outside the hours of the services") % {"part": whole} if place.outside_hours else whole
    )


def part_name(portion: Portion) -> str:
    """'2g.48gb (MIG)', '1/4 (MPS)'."""
    return f"{portion.name} ({portion.kind.upper()})"


def _memory(place: Placed) -> str:
    if place.memory_gib is None:
        return _("unknown")
    amount = formats.quantity(place.memory_gib, "GiB", 3)
    if place.memory_fraction is None:
        return amount
    return f"{amount} · {formats.quantity(100 * place.memory_fraction, '%', 2)}"


def runs_on(option: LoadOption) -> str:
    """What one replica has: '2 GPUs', 'a part of a GPU: 1/4 (MPS)'."""
    if option.portion:
        return _("a part of a GPU: %(part)s") % {"part": part_name(option.portion)}
    return formats.quantity(option.gpus_per_replica, "GPUs", 15)  # a count: every digit is known
