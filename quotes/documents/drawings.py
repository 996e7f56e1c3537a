"""Drawings of a proposal as SVG text: racks, network, memory, cost over time, who sits where.

Pure: the same strings go into the page and the PDF. Each drawing carries a title and a description that say what it
shows; meaning never rests on colour alone. The caller marks the result safe; every word in it is escaped here.
"""

from collections.abc import Sequence
from itertools import groupby

from catalog.quantity import Message, Quantity, noop
from quotes.documents.charts import cost_curve, interval_bar, memory_bar
from quotes.documents.network_drawing import network_topology
from quotes.documents.staircase import staircase
from quotes.documents.svg import ENGLISH, SMALL, TEXT, Words, clip, drawing, hatch, line, rect, text
from quotes.documents.tornado_chart import end_name, tornado_chart
from quotes.documents.use_chart import use_chart
from quotes.sizing.hardware.placing import Seat, Shape
from quotes.sizing.results import RackPlacement

UNIT = 12.0  # height of one rack unit, px
FACE = 482.6 / 44.45 * UNIT  # a 19-inch front plate at the same scale
POST = 14.0  # the rack's posts beside it


# ── racks ───────────────────────────────────────────────────────────────────────────────────────────────────────


def rack_elevation(racks: Sequence[RackPlacement], words: Words = ENGLISH, *, key: str = "racks") -> str:
    """Racks from the front, every part at its true height; equal racks are drawn once with their number."""
    if not racks:
        return ""
    alike = [(rack, len(list(group))) for rack, group in groupby(racks)]
    most = max(rack.units_total for rack, _ in alike)
    top, bottom = 34.0, 48.0
    pitch = FACE + 2 * POST + 56
    height = top + most * UNIT + 2 * POST + bottom
    marks = [
        _rack(rack, number, 32 + index * pitch, top + (most - rack.units_total) * UNIT, words)
        for index, (rack, number) in enumerate(alike)
    ]
    title = words.say(Message.of(noop("Racks from the front")))
    description = " ".join(_rack_sentence(rack, number, words) for rack, number in alike)
    return drawing(key, 32 + len(alike) * pitch - 24, height, title, description, marks)


def _rack(rack: RackPlacement, number: int, x: float, y: float, words: Words) -> str:
    inner = rack.units_total * UNIT
    left, floor = x + POST, y + POST + inner
    heading = words.say(Message.of(noop("Rack that is there") if rack.own else noop("Rack")))
    if number > 1:
        heading = words.say(Message.of(noop("{number} racks like this"), number=number))
    marks = [
        text(x, y - 10, heading, bold=True),
        rect(x, y, FACE + 2 * POST, inner + 2 * POST, "paper-sunk", "ink", thick=1.5),
        rect(left, y + POST, FACE, inner, "paper", "line"),
    ]
    for unit in (1, *range(5, rack.units_total + 1, 5)):
        at = floor - unit * UNIT
        marks.append(text(x - 4, at + UNIT - 3, str(unit), size=8, anchor="end", colour="ink-quiet"))
        marks.append(line(left, at, left + FACE, at, "line", thick=0.5, dash="1 3"))
    for label, units, kind in rack.items:
        if not units:  # a door behind the rack is not seen from the front
            continue
        floor -= units * UNIT
        marks.append(_front(left, floor, units * UNIT, label, kind))
    facts = [words.amount(rack.power_w / 1000, "kW")]
    if rack.weight_kg is not None:
        facts.append(words.amount(rack.weight_kg, "kg"))
    if rack.floor_kg_m2 is not None and not rack.own:
        facts.append(words.amount(rack.floor_kg_m2, "kg/m²"))
    under = y + inner + 2 * POST
    marks.append(text(x, under + 18, " · ".join(facts), colour="ink"))
    marks.append(text(x, under + 34, _cooling_name(rack.cooling, words), colour="ink-quiet"))
    return "".join(marks)


def _front(x: float, y: float, height: float, label: str, kind: str) -> str:
    """A part as one recognises it: servers solid, switches with ports, storage with drives."""
    solid = kind == "node"
    marks = [f"<g><title>{_escape(label)}</title>"]
    marks.append(
        rect(x + 1, y + 0.75, FACE - 2, height - 1.5, "accent" if solid else "paper", "ink", thick=0.75)
    )
    right = x + FACE - 8
    if kind in {"fabric", "network"}:
        marks += [rect(right - 4 * index, y + height / 2 - 2, 2.5, 4, "ink") for index in range(6)]
    elif kind == "storage":
        marks += [
            line(right - 3 * index, y + 3, right - 3 * index, y + height - 3, "ink") for index in range(8)
        ]
    elif kind == "cooling":
        marks.append(hatch(right - 20, y + 2, 20, height - 4, "ink", 4))
    elif solid and height > 3 * UNIT:
        marks += [
            line(
                x + 8,
                y + height - 8 - 4 * index,
                x + FACE - 8,
                y + height - 8 - 4 * index,
                "paper",
                thick=0.75,
            )
            for index in range(min(int(height / 12), 5))
        ]
    room = FACE - 12 - (0 if solid else 30)
    size = 9 if height < 1.5 * UNIT else SMALL
    marks.append(
        text(
            x + 6,
            y + min(height / 2 + 3.5, 16),
            clip(label, room, size),
            size=size,
            colour="paper" if solid else "ink",
        )
    )
    return "".join(marks) + "</g>"


def _escape(words: str) -> str:
    return words.replace("&", "&amp;").replace("<", "&lt;")


def _cooling_name(cooling: str, words: Words) -> str:
    names = {
        "air": noop("cooled by room air"),
        "rear_door": noop("with a rear-door heat exchanger"),
        "liquid": noop("with direct liquid cooling"),
    }
    return words.say(Message.of(names[cooling]))


def _rack_sentence(rack: RackPlacement, number: int, words: Words) -> str:
    counts = [
        f"{len(list(group))} × {label}" for label, group in groupby(sorted(item[0] for item in rack.items))
    ]
    return words.say(
        Message.of(
            noop("{number} × rack of {units} U, {power}, {cooling}: {parts}."),
            number=number,
            units=rack.units_total,
            power=Quantity(value=rack.power_w / 1000, unit="kW"),
            cooling=_cooling_name(rack.cooling, words),
            parts=", ".join(counts),
        )
    )


# ── who sits where ──────────────────────────────────────────────────────────────────────────────────────────────

SEAT_MARKS = ("accent", "kv", "activations", "optimizer", "runtime", "ink")


def placement_map(
    seats: Sequence[Seat], shape: Shape, words: Words = ENGLISH, *, key: str = "placement", most: int = 16
) -> str:
    """Servers as rows, accelerators as boxes; a letter tells the load, a frame the replica, a corner a shared job.

    A box that several loads share is divided as they divide its computing.
    """
    if not shape.gpus:
        return ""
    loads = list(dict.fromkeys(place.load for place in seats))
    letters = {load: chr(ord("A") + index % 26) for index, load in enumerate(loads)}
    shown = min(shape.nodes, most)
    box, gap, left = 60.0 if any(place.portion for place in seats) else 30.0, 4.0, 110.0
    marks = []
    for node in range(shown):
        y = 8 + node * (box + 12)
        label = words.say(Message.of(noop("server {number}"), number=node + 1))
        marks.append(text(0, y + box / 2 + 4, label))
        marks += [rect(left + gpu * (box + gap), y, box, box, "paper", "line") for gpu in range(shape.gpus)]
        for place in seats:
            if place.node == node:
                marks.append(_seat(place, left, y, box, gap, letters, loads))
    y = 8 + shown * (box + 12)
    if shape.nodes > shown:
        more = Message.of(noop("and {number} more servers"), number=shape.nodes - shown)
        marks.append(text(0, y + 10, words.say(more), colour="ink-quiet"))
        y += 20
    for index, load in enumerate(loads):
        shared = any(place.shared for place in seats if place.load == load)
        said = noop("{letter}: {load}, outside its hours") if shared else noop("{letter}: {load}")
        row = y + 16 + 18 * index
        marks.append(text(0, row, words.say(Message.of(said, letter=letters[load], load=load))))
    title = words.say(Message.of(noop("Placement on servers and accelerators")))
    width = left + shape.gpus * (box + gap) + 8
    return drawing(
        key,
        max(width, 320),
        y + 6 + 18 * len(loads),
        title,
        _placement_sentence(seats, loads, shape, words),
        marks,
    )


def _seat(
    place: Seat, left: float, y: float, box: float, gap: float, letters: dict[str, str], loads: Sequence[str]
) -> str:
    x = left + place.first * (box + gap) + place.start * box
    width = place.size * (box + gap) - gap
    if place.portion:
        width = box * place.portion.compute_fraction
    colour = SEAT_MARKS[loads.index(place.load) % len(SEAT_MARKS)]
    letter = letters[place.load]
    if place.shared:  # a small box in the corner of each accelerator it borrows
        return "".join(
            rect(left + gpu * (box + gap) + box - 11, y + box - 11, 10, 10, "paper", "ink")
            + text(left + gpu * (box + gap) + box - 6, y + box - 3, letter, size=8, anchor="middle")
            for gpu in range(place.first, place.first + place.size)
        )
    marks = [rect(x, y, width, box, colour, "ink")]
    marks.append(
        text(
            x + width / 2,
            y + min(box / 2 + 4, box - 14),  # above the corner of a shared job
            f"{letter}{place.replica + 1}",
            anchor="middle",
            colour="paper",
            bold=True,
            size=8 if width < box / 3 else TEXT,
        )
    )
    return "".join(marks)


def _placement_sentence(seats: Sequence[Seat], loads: Sequence[str], shape: Shape, words: Words) -> str:
    said = []
    for load in loads:
        mine = [place for place in seats if place.load == load]
        text_ = noop("{load}: {gpus} accelerators on {servers} servers.")
        if any(place.portion for place in mine):
            text_ = noop("{load}: a part of {gpus} accelerators on {servers} servers.")
        said.append(
            words.say(
                Message.of(
                    text_,
                    load=load,
                    gpus=sum(place.size for place in mine),
                    servers=len({place.node for place in mine}),
                )
            )
        )
    taken = sum(place.size for place in seats if not place.shared and not place.portion)
    taken += len({(place.node, place.first) for place in seats if place.portion})
    free = shape.nodes * shape.gpus - taken
    said.append(words.say(Message.of(noop("{gpus} accelerators are free."), gpus=free)))
    return " ".join(said)


__all__ = [
    "ENGLISH",
    "Words",
    "cost_curve",
    "end_name",
    "interval_bar",
    "memory_bar",
    "network_topology",
    "placement_map",
    "rack_elevation",
    "staircase",
    "tornado_chart",
    "use_chart",
]
