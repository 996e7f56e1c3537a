"""How the figures of a composed system came about, each to be unfolded."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from catalog.quantity import Message, Quantity, noop
from configurator.workload import Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.hardware.fabric import fabric_figure
from quotes.sizing.hardware.facility import (
    BTU_PER_WATT_HOUR,
    feed_capacity_w,
)
from quotes.sizing.hardware.room import amps_per_phase
from quotes.sizing.hardware.storage import storage_figure
from quotes.sizing.results import RackPlacement, RoomNeeds, StoragePlan
from quotes.sizing.trace import Badge, Figure, Input

if TYPE_CHECKING:
    from quotes.sizing.hardware.system import SystemPlan

# ── figures ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _input(
    label: str, value: float, unit: str = "", source: str = "", assumption: str | None = None
) -> Input:
    return Input(
        name=Message.of(label),
        value=Quantity(value=value, unit=unit, digits=4),
        source=source,
        assumption=assumption,
    )


def system_figures(
    plan: "SystemPlan",
    workload: Workload,
    storage: StoragePlan,
    racks: Sequence[RackPlacement],
    room: RoomNeeds,
    assumptions: Assumptions,
) -> tuple[Figure, ...]:
    figures = [
        _server_power(plan, assumptions),
        _power(plan, assumptions),
        _heat(plan),
        *_air_and_water(plan, racks, room, assumptions),
        _feeds(plan, workload, racks, assumptions),
    ]
    if racks:
        figures.append(_racks(plan, racks, assumptions))
    if storage.needed_tb or storage.system:
        figures.append(storage_figure(plan.need, storage, workload, assumptions))
    if plan.fabric:
        figures.append(fabric_figure(plan.fabric, plan.nodes, plan.node.gpus))
    return tuple(figures)


def _server_power(plan: "SystemPlan", assumptions: Assumptions) -> Figure:
    node = plan.node
    server = node.server
    gpu_w = (node.accelerator.power_w or 0) if node.accelerator else 0
    fans = 1 + (server.fan_pct or 0) / 100
    rest = node.dc_w / fans - (server.base_power_w or 0) - gpu_w * node.gpus
    composed = bool(node.recipe.cpu)
    inputs = (
        (
            _input(noop("accelerators"), node.gpus),
            _input(noop("power per accelerator"), gpu_w, "W", "catalog"),
            _input(noop("CPUs, memory, drives and network cards"), rest, "W", "catalog"),
            _input(noop("board and management"), server.base_power_w or 0, "W", "catalog"),
            _input(noop("fans"), server.fan_pct or 0, "%", "catalog"),
            _input(
                noop("supply efficiency"),
                assumptions.psu_efficiency_fraction,
                "",
                "assumption",
                "psu_efficiency_fraction",
            ),
        )
        if composed
        else (_input(noop("planning figure of the maker"), node.wall_w, "W", "catalog"),)
    )
    return Figure(
        key="server_power",
        label=Message.of(noop("Power of one server at the wall")),
        value=Quantity(value=node.wall_w, unit="W", digits=3),
        formula=(
            noop("(accelerators × power + parts + board) × (1 + fans) / efficiency")
            if composed
            else noop("as published")
        ),
        inputs=inputs,
        badge=Badge.ESTIMATED if node.estimated else Badge.COMPUTED,
    )


def _power(plan: "SystemPlan", assumptions: Assumptions) -> Figure:
    networks = plan.networks
    others = plan.wall_w - plan.nodes * plan.node.wall_w
    fabric_w = plan.fabric.wall_w if plan.fabric else 0
    network_w = networks.wall_w if networks else 0
    store_w = plan.store.wall_w if plan.store else 0
    return Figure(
        key="power",
        label=Message.of(noop("Power of the system at the wall")),
        value=Quantity(value=plan.wall_w / 1000, unit="kW", digits=3),
        formula=noop("servers × power per server + networks + storage + cooling"),
        inputs=(
            _input(noop("servers"), plan.nodes),
            _input(noop("power per server"), plan.node.wall_w, "W"),
            _input(noop("cluster network"), fabric_w, "W", "catalog"),
            _input(noop("other networks and management"), network_w, "W", "catalog"),
            _input(noop("storage"), store_w, "W", "catalog"),
            _input(
                noop("pumps and fans of the racks"), others - fabric_w - network_w - store_w, "W", "catalog"
            ),
            _input(noop("to be provisioned: the higher of computed and published"), plan.provision_w, "W"),
            _input(
                noop("usual load"), assumptions.load_factor_fraction, "", "assumption", "load_factor_fraction"
            ),
        ),
        badge=Badge.ESTIMATED if plan.node.estimated else Badge.COMPUTED,
    )


def _heat(plan: "SystemPlan") -> Figure:
    return Figure(
        key="heat",
        label=Message.of(noop("Heat")),
        value=Quantity(value=plan.wall_w * BTU_PER_WATT_HOUR, unit="BTU/h", digits=3),
        formula=noop("power × 3.412"),
        inputs=(_input(noop("power"), plan.wall_w, "W"),),
    )


def _air_and_water(
    plan: "SystemPlan", racks: Sequence[RackPlacement], room: RoomNeeds, assumptions: Assumptions
) -> Iterator[Figure]:
    if room.airflow_m3_h is not None:
        yield Figure(
            key="air",
            label=Message.of(noop("Air through the servers")),
            value=Quantity(value=room.airflow_m3_h, unit="m³/h", digits=2),
            formula=noop("power / (0.335 Wh per m³ and K × rise)"),
            inputs=(
                _input(noop("power"), plan.wall_w, "W"),
                _input(noop("rise"), assumptions.air_rise_k, "K", "assumption", "air_rise_k"),
            ),
            badge=Badge.ESTIMATED,
        )
    if room.water_l_min is not None:
        wet_w = sum(rack.wall_w or 0 for rack in racks if rack.cooling != "air")
        yield Figure(
            key="water",
            label=Message.of(noop("Cooling water of the building")),
            value=Quantity(value=room.water_l_min, unit="l/min", digits=2),
            formula=noop("power / (69.8 W per l/min and K × rise)"),
            inputs=(
                _input(noop("power of the racks with water"), wet_w, "W"),
                _input(noop("rise"), assumptions.water_rise_k, "K", "assumption", "water_rise_k"),
            ),
            badge=Badge.ESTIMATED,
        )


def _feeds(
    plan: "SystemPlan", workload: Workload, racks: Sequence[RackPlacement], assumptions: Assumptions
) -> Figure:
    site = workload.site
    volts = _input(noop("volts"), assumptions.feed_volts, "V", "assumption", "feed_volts")
    if not racks:
        return Figure(
            key="amps",
            label=Message.of(noop("Current of one system on a socket of its own")),
            value=Quantity(value=amps_per_phase(plan, (), assumptions), unit="A", digits=3),
            formula=noop("power / volts"),
            inputs=(_input(noop("power to be provisioned"), plan.node.provision_w, "W"), volts),
        )
    busiest = max(racks, key=lambda rack: rack.amps_per_phase or 0)
    sides = 2 if site.feeds_redundant else 1
    phase_w = (busiest.amps_per_phase or 0) * assumptions.feed_volts
    return Figure(
        key="amps",
        label=Message.of(noop("Current per phase of the busiest rack, one feed lost")),
        value=Quantity(value=busiest.amps_per_phase or 0, unit="A", digits=3),
        formula=noop("power of the cords on the busiest phase / volts; a cord is not divided over phases"),
        inputs=(
            _input(noop("power to be provisioned"), busiest.power_w, "W"),
            _input(noop("feeds that remain"), (busiest.feeds or 0) // sides),
            _input(noop("phases"), site.feed_phases, "", "answer"),
            _input(noop("power of the cords on the busiest phase"), phase_w, "W"),
            volts,
            _input(
                noop("one feed carries"),
                feed_capacity_w(site.feed_amps, site.feed_phases, assumptions),
                "W",
                "assumption",
                "feed_load_fraction",
            ),
        ),
    )


def _racks(plan: "SystemPlan", racks: Sequence[RackPlacement], assumptions: Assumptions) -> Figure:
    return Figure(
        key="racks",
        label=Message.of(noop("Racks")),
        value=Quantity(value=len(racks), unit="racks", digits=4),
        formula=noop("by the tightest of power, units, weight and floor load"),
        inputs=(
            _input(noop("rack units"), plan.units, "U", "catalog"),
            _input(noop("power of the busiest rack"), max(rack.power_w for rack in racks), "W"),
            _input(noop("limit of room air"), assumptions.rack_air_kw, "kW", "assumption", "rack_air_kw"),
            _input(
                noop("limit with rear doors"),
                assumptions.rack_rear_door_kw,
                "kW",
                "assumption",
                "rack_rear_door_kw",
            ),
        ),
    )
