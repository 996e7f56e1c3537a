"""What the room must give, in words and figures: the same rows on the page, in the quote and on the site sheet."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from catalog.quantity import Message
from configurator import formats
from quotes.documents import drawings
from quotes.documents.svg import Words
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.hardware.checklist import checklist
from quotes.sizing.hardware.facility import BTU_PER_WATT_HOUR
from quotes.sizing.results import LineRole, RackPlacement, SystemBuild

READER = Words(say=formats.say, number=formats.quantity, unit=formats.unit_name)
"""How drawings write: in the language that is active when they are drawn."""

NONE = "–"  # does not apply


class Row(NamedTuple):
    """One property: per kind of rack, then in all."""

    label: str
    cells: tuple[str, ...]


class Table(NamedTuple):
    heads: tuple[str, ...]
    rows: tuple[Row, ...]


class Fact(NamedTuple):
    label: str
    value: str
    note: str = ""


def room_page(build: SystemBuild, assumptions: Assumptions, country: str = "NL") -> dict[str, Any]:
    """Template context: facts of the whole, a table per rack, the rack drawing, the check-list."""
    return {
        "room": tuple(room_facts(build, assumptions)),
        "racks": rack_table(build),
        "positions": tuple(positions(build)),
        "rack_kinds": len(list(groupby(build.racks))),
        "rack_drawing": SafeString(drawings.rack_elevation(build.racks, READER, key="racks-drawing")),
        "checks": check_groups(build, assumptions, country),
    }


def check_groups(
    build: SystemBuild, assumptions: Assumptions, country: str
) -> list[tuple[str, tuple[Message, ...]]]:
    """The check-list under its headings; `country` (ISO 3166) says whose rules may apply."""
    return [(_(group.title), group.checks) for group in checklist(build, assumptions, country)]


def watts(value_w: float | None, digits: int = 3) -> str:
    """`3,71 kW`, and `88 W` below a kilowatt."""
    if value_w is None:
        return formats.number(None)
    return (
        formats.quantity(value_w, "W", 2)
        if value_w < 1000
        else formats.quantity(value_w / 1000, "kW", digits)
    )


def heat(value_w: float | None) -> str:
    """`3,71 kW (12.700 BTU/h)`."""
    if value_w is None:
        return formats.number(None)
    return f"{watts(value_w)} ({formats.quantity(value_w * BTU_PER_WATT_HOUR, 'BTU/h')})"


def known_or_least(value: float | None, least: float | None, unit: str) -> str:
    """`303 kg`, `at least 284 kg` where a part's weight is not known, or unknown."""
    if value is None and least:
        return _("at least %(amount)s") % {"amount": formats.quantity(least, unit, 3)}
    return formats.quantity(value, unit, 3)


# ── the whole ───────────────────────────────────────────────────────────────────────────────────────────────────


def room_facts(build: SystemBuild, assumptions: Assumptions) -> Iterator[Fact]:
    """What the system asks of the room in all; what is not known says so."""
    room, power = build.room, build.power
    yield Fact(_("Power in daily use"), watts(power.expected_w))
    counted = any(line.role is LineRole.CPU for line in build.node.lines)
    yield Fact(
        _("Power at the wall, at most"),
        watts(power.wall_w),
        _("calculated") if counted else _("the maker's figure for the servers"),
    )
    yield Fact(
        _("Power to provide"),
        watts(power.provision_w),
        _("for feeds and breakers: the higher of calculated and the maker's figure"),
    )
    yield Fact(_("Heat to remove"), heat(power.wall_w))
    yield from _air_and_water(build, assumptions)
    yield from _feeds(build)
    if build.racks:
        yield Fact(_("Rack units in use"), formats.quantity(room.rack_units, "U"))
    own = any(rack.own for rack in build.racks)
    yield Fact(
        _("Weight in all"),
        known_or_least(room.weight_kg, room.weight_least_kg, "kg"),
        _("what is delivered, without the rack") if own else "",
    )
    if build.racks:
        loads = [rack.floor_kg_m2 for rack in build.racks]
        known = [load for load in loads if load is not None]
        heaviest = max(known) if len(known) == len(loads) else None
        least = max((rack.floor_least_kg_m2 or 0 for rack in build.racks), default=0)
        yield Fact(
            _("On the floor, under the heaviest rack"),
            known_or_least(heaviest, least, "kg/m²"),
            _("when that rack holds nothing else") if own else "",
        )
    yield Fact(
        _("Weight of one server"),
        formats.quantity(build.node.weight_kg, "kg", 3),
        _("with its cards, without packaging"),
    )
    yield Fact(_("Depth of one server"), formats.quantity(room.deepest_mm, "mm", 4))
    if build.node.rack_units:
        yield Fact(_("Height of one server"), formats.quantity(build.node.rack_units, "U"))
    yield Fact(_("Noise"), _noise(build), _("sound level in dB(A): unknown") if room.noise else "")


def _noise(build: SystemBuild) -> str:
    names = {
        "quiet": _("suits a workplace or hall"),
        "closed_room": _("loud: a closed room without workplaces"),
    }
    return names[build.room.noise] if build.room.noise else formats.number(None)


def _air_and_water(build: SystemBuild, assumptions: Assumptions) -> Iterator[Fact]:
    room = build.room
    kind = _("direct liquid cooling") if build.node.cooling == "liquid" else _("air")
    yield Fact(_("Cooling of the servers"), kind)
    rise = formats.quantity(assumptions.air_rise_k, "K", 2)
    note = _("when it leaves %(rise)s warmer") % {"rise": rise} if room.airflow_m3_h is not None else ""
    if room.airflow_m3_h is None and build.node.cooling == "liquid":
        note = _("the part of the heat that stays in the air depends on the server")
    yield Fact(_("Air through the servers"), formats.quantity(room.airflow_m3_h, "m³/h", 2), note)
    if room.standing is None:
        return
    if room.water_l_min is None and room.standing == "racks":
        yield Fact(_("Cooling water of the building"), _("not needed"))
    elif room.water_l_min is not None:
        rise = formats.quantity(assumptions.water_rise_k, "K", 2)
        note = _("at most, when it returns %(rise)s warmer") % {"rise": rise}
        yield Fact(_("Cooling water of the building"), formats.quantity(room.water_l_min, "l/min", 2), note)


def _feeds(build: SystemBuild) -> Iterator[Fact]:
    room = build.room
    if room.standing in {"desk", "edge"}:
        volts = formats.quantity(room.volts, "V")
        yield Fact(_("Power connection"), _("a wall socket for each system, %(volts)s") % {"volts": volts})
        yield Fact(_("Current of each system"), formats.quantity(build.amps_per_phase, "A"))
        return
    yield Fact(_("Feeds and breakers"), feed_text(room.feeds, build), _feed_note(build))
    yield Fact(
        _("Current per phase, one feed lost") if room.redundant else _("Current per phase"),
        formats.quantity(build.amps_per_phase or None, "A"),
        _("busiest phase of the busiest rack, at %(volts)s and a power factor of 1")
        % {"volts": _volts(build)} if room.volts else "",
    )  # fmt: skip
    yield from _single_rack(build)


def _single_rack(build: SystemBuild) -> Iterator[Fact]:
    """What the table per rack tells when there are several."""
    if len(build.racks) == 1 and build.room.standing != "whole_racks":
        label = _("Outlets on each side") if build.room.redundant else _("Outlets")
        yield Fact(label, _outlets(build.racks[0]))


def _volts(build: SystemBuild) -> str:
    """`230/400 V` on three phases."""
    volts = build.room.volts or 0
    low = formats.number(volts, 3)
    return f"{low}/400{formats.THIN}V" if build.room.phases == 3 else formats.quantity(volts, "V")


def feed_text(feeds: int | None, build: SystemBuild) -> str:
    """`4 × 3 × 32 A`."""
    if feeds is None or build.room.breaker_a is None:
        return formats.number(None)
    breaker = f"{build.room.phases} × {formats.quantity(build.room.breaker_a, 'A')}"
    return f"{formats.number(feeds)} × ({breaker})"


def _feed_note(build: SystemBuild) -> str:
    room = build.room
    if room.breaker_a is None:
        return ""
    if not room.redundant:
        return _("not redundant: when a feed fails, what hangs on it stops")
    half = formats.number(room.feeds // 2)
    if room.one_feed_carries is False:
        return _(
            "%(half)s from supply A and %(half)s from supply B; the breakers of either side carry all,"
            " the supplies of the servers do not"
        ) % {"half": half}
    return _("%(half)s from supply A and %(half)s from supply B; either side carries all") % {"half": half}


# ── per rack ────────────────────────────────────────────────────────────────────────────────────────────────────


def rack_table(build: SystemBuild) -> Table | None:
    """A column for each kind of rack and one for the whole; None when there are no two racks to tell apart."""
    if len(build.racks) < 2:
        return None
    kinds = [(rack, len(list(alike))) for rack, alike in groupby(build.racks)]
    heads = tuple(_head(number, kinds[:index]) for index, (_rack, number) in enumerate(kinds))
    rows = [Row(label, (*cells, total)) for label, cells, total in _properties(build, [k for k, _n in kinds])]
    return Table((*heads, _("All racks")), tuple(rows))


def _head(number: int, before: Sequence[tuple[RackPlacement, int]]) -> str:
    """`Rack 1`, or `Racks 2–5, each`."""
    first = 1 + sum(count for _rack, count in before)
    if number == 1:
        return _("Rack %(number)s") % {"number": first}
    return _("Racks %(first)s–%(last)s, each") % {"first": first, "last": first + number - 1}


class Position(NamedTuple):
    """Where equal parts stand in one kind of rack, counted from below."""

    rack: str
    units: str
    parts: str


def positions(build: SystemBuild) -> Iterator[Position]:
    """From top to bottom, as one reads a rack; nothing for racks of the customer, whose places are not known."""
    kinds = [(rack, len(list(alike))) for rack, alike in groupby(build.racks)]
    for index, (rack, number) in enumerate(kinds):
        if rack.own or build.room.standing != "racks":
            continue
        found: list[Position] = []
        below = 0.0
        for label, alike in groupby((item for item in rack.items if item[1]), key=lambda item: item[0]):
            heights = [units for _label, units, _kind in alike]
            first, below = below + 1, below + sum(heights)
            many = f"{formats.number(len(heights))} × " if len(heights) > 1 else ""
            span = (
                formats.number(first)
                if first == below
                else f"{formats.number(first)}–{formats.number(below)}"
            )
            found.append(Position(_head(number, kinds[:index]), span, f"{many}{label}"))
        yield from reversed(found)


def _properties(build: SystemBuild, racks: Sequence[RackPlacement]) -> Iterator[tuple[str, list[str], str]]:
    room, power = build.room, build.power
    yield _("In daily use"), [watts(rack.expected_w) for rack in racks], watts(power.expected_w)
    yield _("At most (calculated)"), [watts(rack.wall_w) for rack in racks], watts(power.wall_w)
    yield _("To provide"), [watts(rack.power_w) for rack in racks], watts(power.provision_w)
    yield _("Heat"), [watts(rack.wall_w) for rack in racks], watts(power.wall_w)
    yield (
        _("Heat, BTU/h"),
        [formats.number(_btu(rack.wall_w), 3) for rack in racks],
        formats.number(_btu(power.wall_w), 3),
    )
    yield _("Cooling"), [_cooling(rack) for rack in racks], NONE
    air = [formats.quantity(rack.airflow_m3_h, "m³/h", 2) for rack in racks]
    yield _("Air"), air, formats.quantity(room.airflow_m3_h, "m³/h", 2)
    if any(rack.cooling != "air" for rack in racks):
        water = [
            NONE if rack.cooling == "air" else formats.quantity(rack.water_l_min, "l/min", 2)
            for rack in racks
        ]
        yield _("Cooling water"), water, formats.quantity(room.water_l_min, "l/min", 2)
    yield _("Feeds"), [feed_text(rack.feeds, build) for rack in racks], feed_text(room.feeds, build)
    yield (
        _("Current per phase"),
        [formats.quantity(rack.amps_per_phase, "A") for rack in racks],
        NONE,
    )
    if room.standing != "whole_racks":
        outlets = [_outlets(rack) for rack in racks]
        yield (_("Outlets on each side") if room.redundant else _("Outlets")), outlets, NONE
    yield (
        _("Rack units in use"),
        [f"{formats.number(rack.units_used)} / {formats.quantity(rack.units_total, 'U')}" for rack in racks],
        formats.quantity(room.rack_units, "U"),
    )
    weights = [known_or_least(rack.weight_kg, rack.weight_least_kg, "kg") for rack in racks]
    yield _("Weight, filled"), weights, known_or_least(room.weight_kg, room.weight_least_kg, "kg")
    floors = [known_or_least(rack.floor_kg_m2, rack.floor_least_kg_m2, "kg/m²") for rack in racks]
    yield _("On the floor"), floors, NONE


def _btu(value_w: float | None) -> float | None:
    return None if value_w is None else value_w * BTU_PER_WATT_HOUR


def _outlets(rack: RackPlacement) -> str:
    if rack.c13 is None or rack.c19 is None:
        return formats.number(None)
    parts = [f"{formats.number(n)} × {kind}" for n, kind in ((rack.c19, "C19"), (rack.c13, "C13")) if n]
    return ", ".join(parts) or NONE


def _cooling(rack: RackPlacement) -> str:
    names = {
        "air": _("air"),
        "rear_door": _("rear-door heat exchanger"),
        "liquid": _("direct liquid cooling"),
    }
    return names[rack.cooling]
