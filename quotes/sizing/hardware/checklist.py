"""What must be there before a system can be delivered and switched on: a list to tick, made for this system."""

from collections.abc import Iterator
from typing import NamedTuple

from catalog.quantity import Message, Quantity, noop
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.results import RackPlacement, SystemBuild

LIFT_KG = 40  # from here on two people and a lift
SMALL_CONNECTION_W = 3 * 80 * 230  # the largest connection that grid operators call small
SAVING_DUTY_KWH = 50_000  # a year and site, all uses together: Besluit activiteiten leefomgeving
REPORTING_W = 500_000  # of computing equipment at one site: Directive (EU) 2023/1791, article 12
HOURS_A_YEAR = 8760


class Checks(NamedTuple):
    """Checks that one person walks through together."""

    title: str
    checks: tuple[Message, ...]


def checklist(build: SystemBuild, assumptions: Assumptions, country: str = "NL") -> tuple[Checks, ...]:
    """By subject, in the order in which one prepares a room. Empty for a system whose room was never worked out.

    `country` (ISO 3166) is the customer's: Dutch rules are kept from who is elsewhere.
    """
    if build.room.standing is None:
        return ()
    subjects = (
        (noop("The way in"), _way_in(build)),
        (noop("Place and floor"), _place(build)),
        (noop("Power and earthing"), _power(build, country)),
        (noop("Cooling"), _cooling(build, assumptions)),
        (noop("Network and safety"), _network(build)),
        (noop("Rules that may apply"), _rules(build, country)),
    )
    found = (Checks(title, tuple(checks)) for title, checks in subjects)
    return tuple(group for group in found if group.checks)


def kw(watts: float) -> Quantity:
    return Quantity(value=watts / 1000, unit="kW", digits=3)


def _way_in(build: SystemBuild) -> Iterator[Message]:
    room = build.room
    if room.heaviest_kg is None:
        yield Message.of(
            noop("The weight of one server is not known: ask for it before the way in is checked.")
        )
    elif room.deepest_mm is None:
        yield Message.of(
            noop("Doors, lift and floors on the way carry a piece of {kg} and its pallet."),
            kg=Quantity(value=room.heaviest_kg, unit="kg"),
        )
    else:
        yield Message.of(
            noop("Doors, lift and floors on the way carry a piece of {kg}, {depth} deep, and its pallet."),
            kg=Quantity(value=room.heaviest_kg, unit="kg"),
            depth=Quantity(value=room.deepest_mm, unit="mm", digits=4),
        )
    if room.standing == "racks" and (room.heaviest_kg or 0) > LIFT_KG:
        yield Message.of(noop("Two people and a server lift are there to place the servers."))
    if room.rack_height_units:
        yield Message.of(
            noop("{count} racks of {units} U pass upright through every door and lift.")
            if len(build.racks) > 1
            else noop("A rack of {units} U passes upright through every door and lift."),
            count=len(build.racks),
            units=room.rack_height_units,
        )
    if room.standing == "whole_racks":
        yield Message.of(
            noop("The rack arrives complete and upright: the mover knows its weight and height.")
        )
    yield Message.of(noop("There is a dry place to unpack, and someone takes the packaging away."))


def _place(build: SystemBuild) -> Iterator[Message]:
    room = build.room
    if room.standing == "desk":
        yield Message.of(noop("There is a firm place with free air on all sides."))
    if room.standing == "edge":
        yield Message.of(noop("The boxes have a place to be mounted, dry and free of dust."))
    if room.own_racks and room.rack_units:
        yield Message.of(
            noop(
                "{units} are free in the racks that are there; a server of {depth} leaves room for cables behind it."
            )
            if room.deepest_mm
            else noop(
                "{units} are free in the racks that are there; the depth of the server is not known yet."
            ),
            units=Quantity(value=room.rack_units, unit="U"),
            depth=Quantity(value=room.deepest_mm or 0, unit="mm", digits=4),
        )
    heaviest = _heaviest(build.racks)
    if heaviest is not None and heaviest.own:
        yield Message.of(
            noop("Rack and floor carry {kg} more: {load} under a rack that was empty."),
            load=Quantity(value=heaviest.floor_kg_m2 or 0, unit="kg/m²", digits=3),
            kg=Quantity(value=heaviest.weight_kg or 0, unit="kg", digits=3),
        )
    elif heaviest is not None and heaviest.floor_kg_m2 is not None:
        yield Message.of(
            noop("The floor carries {load} under the heaviest rack, which weighs {kg} when filled."),
            load=Quantity(value=heaviest.floor_kg_m2, unit="kg/m²", digits=3),
            kg=Quantity(value=heaviest.weight_kg or 0, unit="kg", digits=3),
        )
    elif build.racks:
        least = max(rack.weight_least_kg or 0 for rack in build.racks)
        yield Message.of(
            noop(
                "The weight of a rack is not known in full, and at least {kg}: have the floor checked for it."
            )
            if least
            else noop("The weight of a rack is not known in full: have the floor checked when it is."),
            kg=Quantity(value=least, unit="kg", digits=3),
        )
    if room.noise == "closed_room":
        yield Message.of(
            noop(
                "The room is closed and nobody works in it: the servers are loud. Their sound level is unknown."
            )
        )


def _heaviest(racks: tuple[RackPlacement, ...]) -> RackPlacement | None:
    if not racks or any(rack.floor_kg_m2 is None for rack in racks):
        return None
    return max(racks, key=lambda rack: rack.floor_kg_m2 or 0)


def _power(build: SystemBuild, country: str) -> Iterator[Message]:
    room, provision = build.room, build.power.provision_w
    if not build.racks:
        yield Message.of(
            noop("A socket on a group of its own for each system: {amps} at {volts}."),
            amps=Quantity(value=build.amps_per_phase, unit="A", digits=2),
            volts=Quantity(value=room.volts or 0, unit="V"),
        )
        return
    size: dict[str, Message | Quantity | int] = {
        "feeds": room.feeds,
        "phases": room.phases or 0,
        "breaker": Quantity(value=room.breaker_a or 0, unit="A"),
        "amps": Quantity(value=build.amps_per_phase, unit="A", digits=3),
        "power": kw(max(rack.power_w for rack in build.racks)),
    }
    yield Message.of(
        noop(
            "{feeds} feeds of {phases} × {breaker} end at the racks: half from supply A, half from supply B."
        )
        if room.redundant
        else noop("{feeds} feeds of {phases} × {breaker} end at the racks."),
        **size,
    )
    yield Message.of(
        noop(
            "Side A alone carries the fullest rack, {power} and {amps} on the busiest phase; so does side B."
        )
        if room.redundant
        else noop("They carry the fullest rack: {power} and {amps} on the busiest phase."),
        **size,
    )
    if room.one_feed_carries is False:
        yield Message.of(
            noop(
                "It is agreed what happens when a feed fails: the supplies on the other do not carry a full load."
            )
        )
    if room.own_racks:
        yield _outlets(build.racks)
    yield Message.of(
        noop("The building has {power} to spare in all, at the hours when it uses most."), power=kw(provision)
    )
    if provision > SMALL_CONNECTION_W and country == "NL":
        yield Message.of(
            noop(
                "This alone is more than a connection of 3 × 80 A gives: the grid operator has confirmed the rest."
            )
        )
    yield Message.of(noop("Racks, strips and cable trays are bonded to the earth of the room."))
    yield Message.of(
        noop("A UPS or generator carries the system, or it is agreed that it stops when the power fails.")
    )


def _outlets(racks: tuple[RackPlacement, ...]) -> Message:
    c19, c13 = max(rack.c19 or 0 for rack in racks), max(rack.c13 or 0 for rack in racks)
    if not c19 and not c13:
        return Message.of(
            noop("How the servers connect is not known: ask before the power strips are chosen.")
        )
    text = noop("Each side has power strips with free outlets: {c19} × C19 and {c13} × C13.")
    if not c13:
        text = noop("Each side has power strips with free outlets: {c19} × C19.")
    elif not c19:
        text = noop("Each side has power strips with free outlets: {c13} × C13.")
    return Message.of(text, c19=c19, c13=c13)


def _cooling(build: SystemBuild, assumptions: Assumptions) -> Iterator[Message]:
    room, heat = build.room, build.power.wall_w
    if room.airflow_m3_h is not None and room.water_l_min is None:
        yield Message.of(
            noop("The cooling of the room removes {heat}, day and night, also with one unit out of service."),
            heat=kw(heat),
        )
        yield Message.of(
            noop("{air} of cool air reaches the front; it leaves {rise} warmer at the back."),
            air=Quantity(value=room.airflow_m3_h, unit="m³/h", digits=2),
            rise=Quantity(value=assumptions.air_rise_k, unit="K"),
        )
    if room.water_l_min is not None:
        wet = sum(rack.wall_w or 0 for rack in build.racks if rack.cooling != "air")
        yield Message.of(
            noop(
                "Cooling water of the building reaches the racks: {flow}, {rise} warmer on its way back, for {heat}."
            ),
            flow=Quantity(value=room.water_l_min, unit="l/min", digits=2),
            rise=Quantity(value=assumptions.water_rise_k, unit="K"),
            heat=kw(wet),
        )
        yield Message.of(
            noop("Temperature, pressure and quality of the water are what the maker of the cooling asks.")
        )
        yield Message.of(noop("Valves close off each rack, and a leak raises an alarm."))
        if any(rack.cooling == "liquid" for rack in build.racks):
            yield Message.of(
                noop(
                    "Part of the heat still goes into the air of the room: how much is unknown, so ask the maker."
                )
            )
    if build.racks:
        yield Message.of(
            noop("Air enters the servers between 10 and 35 °C (ASHRAE A2), better between 18 and 27 °C.")
        )
        yield Message.of(noop("Blanking panels close empty rack units, so that warm air does not return."))


def _network(build: SystemBuild) -> Iterator[Message]:
    if (room := build.room).data_ports:
        yield Message.of(
            noop(
                "Switches have {ports} ports of {speed} ({plug}) free for data, {management} for management."
            ),
            ports=room.data_ports,
            speed=Quantity(value=room.data_port_gbit_s or 0, unit="Gbit/s"),
            plug=room.data_plug,
            management=room.management_ports or 0,
        )
        yield Message.of(noop("Addresses and names are reserved, also for management."))
    else:
        yield Message.of(noop("Network connections, addresses and names are reserved, also for management."))
    if build.racks:
        yield Message.of(
            noop("Fire detection and extinguishing suit the power in the room; the insurer knows.")
        )
        yield Message.of(noop("Access is arranged for the engineers and locked for everybody else."))


def _rules(build: SystemBuild, country: str) -> Iterator[Message]:
    """Duties and schemes by their public thresholds; never part of a price."""
    yearly = build.power.expected_w / 1000 * HOURS_A_YEAR
    if yearly >= SAVING_DUTY_KWH and country == "NL":
        yield Message.of(
            noop(
                "About {energy} a year when used day and night, without cooling: from 50,000 kWh a site must carry out"
                " energy savings that pay back within five years (Besluit activiteiten leefomgeving)."
            ),
            energy=Quantity(value=yearly, unit="kWh", digits=2),
        )
    if build.power.provision_w >= REPORTING_W:
        yield Message.of(
            noop(
                "A data centre of 500 kW or more reports its energy use every year (Directive (EU) 2023/1791)."
            )
        )
    if any(line.role == "cooling" for line in build.lines) and country == "NL":
        yield Message.of(
            noop(
                "Cooling equipment may qualify for the energy investment allowance (EIA): see the list of the year."
            )
        )
