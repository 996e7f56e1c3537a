"""The networks of a system: cores, spines and leaves above the servers, data and management below them."""

from typing import NamedTuple

from catalog.quantity import Message, noop
from quotes.documents.svg import ENGLISH, SMALL, Words, drawing, line, rect, text
from quotes.sizing.results import FabricPlan, LineRole, NetworkPlan, SystemBuild

SHOWN = 8  # boxes drawn per row
WIDTH, STEP, BOX, LEFT, TOP = 720.0, 92.0, 26.0, 180.0, 24.0


class Row(NamedTuple):
    """Boxes of one kind; `links`: what joins them to the row below."""

    name: str
    number: int
    links: int = 0
    gbit_s: float = 0
    note: str = ""
    solid: bool = False
    dashed: bool = False  # not delivered


def network_topology(system: SystemBuild, words: Words = ENGLISH, *, key: str = "network") -> str:
    """Every network in rows of boxes; empty for a system whose networks are not known."""
    rows = [*_cluster(system.fabric), Row(noop("servers"), system.nodes, solid=True)]
    data = next((network for network in system.networks if network.kind == "in_band"), None)
    if data:
        mine = 2 * system.nodes if data.switches else data.links  # every server with a port on both switches
        rows[-1] = rows[-1]._replace(links=mine, gbit_s=data.link_gbit_s)
        rows += _data(data, data.links - mine, system)
    rows += [_management(network) for network in system.networks if network.kind == "management"]
    if len(rows) == 1:
        return ""
    marks: list[str] = []
    sentences: list[str] = []
    for index, row in enumerate(rows):
        below = rows[index + 1] if index + 1 < len(rows) else None
        drawn, said = _drawn(row, below, TOP + index * STEP, words)
        marks += drawn
        sentences.append(said)
    height = TOP + (len(rows) - 1) * STEP + BOX + 16
    title = words.say(Message.of(noop("Networks") if system.networks else noop("Cluster network")))
    return drawing(key, WIDTH, height, title, " ".join(sentences), marks)


def _cluster(fabric: FabricPlan) -> list[Row]:
    if fabric.kind == "none":
        return []
    note = noop("non-blocking") if fabric.blocking_ratio <= 1 else ""
    rows = (
        Row(noop("core switches"), fabric.cores, fabric.spine_core_links, fabric.link_gbit_s, note),
        Row(noop("spine switches"), fabric.spines, fabric.leaf_spine_links, fabric.link_gbit_s, note),
        Row(noop("leaf switches"), fabric.leaves, fabric.node_links, fabric.link_gbit_s),
    )
    return [row for row in rows if row.number]


def _data(network: NetworkPlan, links: int, system: SystemBuild) -> list[Row]:
    """The switches for data, and what hangs on them beside the servers."""
    others = sum(
        round(line.quantity)
        for line in system.lines
        if line.role is LineRole.STORAGE or (line.role is LineRole.SERVER and line.group == "management")
    )
    if not network.switches:
        return [Row(noop("switches that are there"), 1, dashed=True)]
    switches = Row(noop("data switches"), network.switches)
    if not others:
        return [switches]
    return [
        switches._replace(links=links or -1, gbit_s=network.link_gbit_s),
        Row(noop("storage, management"), others),
    ]


def _management(network: NetworkPlan) -> Row:
    note = noop("a port for each managed part")
    if not network.switches:
        return Row(
            noop("management switch"),
            1,
            links=network.links,
            gbit_s=network.link_gbit_s,
            note=note,
            dashed=True,
        )
    return Row(
        noop("management switches"),
        network.switches,
        links=network.links,
        gbit_s=network.link_gbit_s,
        note=note,
    )


def _drawn(row: Row, below: Row | None, y: float, words: Words) -> tuple[list[str], str]:
    """Marks of one row with the links under it, and the same in a sentence."""
    many = row.number > 1 or not row.dashed
    label = words.say(Message.of(row.name)) + (f": {words.amount(row.number, digits=6)}" if many else "")
    marks = [text(0, y + BOX / 2 + 4, label, bold=True)]
    said = label
    joined = below is not None and row.links and below.name not in {*MANAGED}
    if below is not None and joined:
        marks.append(_mesh(y + BOX, row.number, below.number))
    if row.links > 0:
        count = words.amount(row.links, digits=6)
        speed = f"{count} × {words.amount(row.gbit_s, 'Gbit/s')}"
        at = y + BOX + (STEP - BOX) / 2 + 4 if row.name not in MANAGED else y - 12
        marks.append(text(0, at - (6 if row.note else 0), speed, size=SMALL, colour="ink-quiet"))
        if row.note:
            note = words.say(Message.of(row.note))
            marks.append(text(0, at + 7, note, size=SMALL, colour="ink-quiet"))
            speed = f"{speed}, {note}"
        said = f"{label}, {speed}"
    if row.name in MANAGED:  # it reaches everything, so no single row
        marks.append(line(LEFT, y - 18, WIDTH, y - 18, "line", dash="2 3"))
        marks += [line(x, y - 18, x, y, "line", thick=0.75) for x in _places(row.number)]
    marks.append(_boxes(y, row))
    return marks, f"{said}."


MANAGED = {noop("management switch"), noop("management switches")}


def _places(number: int) -> list[float]:
    shown = min(number, SHOWN)
    pitch = (WIDTH - LEFT) / shown
    return [LEFT + pitch * (index + 0.5) for index in range(shown)]


def _boxes(y: float, row: Row) -> str:
    places = _places(row.number)
    half = min((WIDTH - LEFT) / len(places) / 2 - 6, 32)
    marks = []
    for index, middle in enumerate(places):
        if row.number > SHOWN and index == SHOWN - 2:
            marks.append(text(middle, y + BOX / 2 + 4, "…", anchor="middle", size=16))
            continue
        last = index == len(places) - 1
        marks.append(
            rect(
                middle - half, y, 2 * half, BOX, "accent" if row.solid else "paper", "ink",
                dash="4 3" if row.dashed else "",
            )
        )  # fmt: skip
        if not row.dashed:
            name = str(row.number if last else index + 1)
            colour = "paper" if row.solid else "ink"
            marks.append(text(middle, y + BOX / 2 + 4, name, anchor="middle", size=SMALL, colour=colour))
    return "".join(marks)


def _mesh(y: float, above: int, below: int) -> str:
    """Every box above to every box below, as far as both are drawn."""

    def ends(number: int) -> list[float]:
        return [x for index, x in enumerate(_places(number)) if number <= SHOWN or index != SHOWN - 2]

    return "".join(
        line(x1, y, x2, y + STEP - BOX, "line", thick=0.75) for x1 in ends(above) for x2 in ends(below)
    )
