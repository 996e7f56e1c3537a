"""Worked cases about whole systems: switches, racks, watts, controllers of published reference designs."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from catalog.quantity import Message
from configurator.workload import DataNeeds, Domain, RateTraining, Site, Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.evaluation.base import Context, PredictedRow, Row
from quotes.sizing.hardware.compose import build_system
from quotes.sizing.hardware.fabric import NoTopology, Topology, plan_topology, ports_down, spine_count
from quotes.sizing.hardware.facility import usable_supply_kw
from quotes.sizing.hardware.storage import StorageNeed, units_needed
from quotes.sizing.results import HostNeed, LoadOption, Refusal

METRIC = "numeric_expected"
MANAGER_LINKS = 4  # ports that a fabric manager takes in the published designs that have one
NIC_GBIT_S = {"NDR200": 200, "NDR400": 400}
RATIO = re.compile(r"([1-9]\d*)\s*:\s*([1-9]\d*)")  # links down to links up, "2:1"
GB_S_PER_SERVER = 6
PAIR_GB_S, PAIR_TB = 25, 3000

type Inputs = Mapping[str, Any]

COUNTS: Mapping[str, Callable[[Topology], float]] = {
    "compute switches": lambda plan: plan.switches,
    "leaf switches": lambda plan: plan.leaves,
    "spine switches": lambda plan: plan.spines,
    "core switches": lambda plan: plan.cores,
    "servers per stripe": lambda plan: plan.nodes_most,
    "compute cables": lambda plan: plan.node_cables + plan.spine_cables,
    "node cables": lambda plan: plan.node_cables,
    "spine cables": lambda plan: plan.spine_cables,
    "leaves per stripe": lambda plan: plan.leaves,
}
SAME_COUNT = {
    "switches": "compute switches", "leaves": "leaf switches", "spines": "spine switches", "cores": "core switches",
    "leaf-spine cables": "spine cables", "spine-leaf cables": "spine cables", "node-leaf cables": "node cables",
    "nodes per stripe": "servers per stripe",
}  # fmt: skip


def predict_case(row: Row, inputs: Mapping[str, object], context: Context) -> PredictedRow | None:
    """None when the case is not about a network or a server."""
    count = COUNTS.get(SAME_COUNT.get(row["unit"], row["unit"]))
    if count and inputs.keys() & {"switch_ports", "leaf_ports", "nodes", "planes"}:
        return _network(row, inputs, count)
    if row["unit"] == "lower switches":
        return _answered(row, _lower_switches(inputs))
    if row["unit"].startswith("kW per node"):
        return _node(row, inputs, context)
    if answer := OTHERS.get(row["unit"]):
        return answer(row, inputs, context)
    if not row["id"].startswith("K2"):
        return None
    return PredictedRow(
        row["id"],
        METRIC,
        float(row["numeric_expected"]),
        refused="The product has no formula for this figure of a published system.",
        model="system",
    )


def _network(row: Row, inputs: Inputs, count: Callable[[Topology], float]) -> PredictedRow:
    rails = int(inputs.get("nics_per_node") or inputs.get("gpus_per_node") or 8)
    ports = int(inputs.get("switch_ports") or inputs.get("leaf_ports") or 64)
    planes = int(inputs.get("planes", 1))
    ratio = RATIO.search(str(inputs.get("subscription", "")))
    blocking = max(1.0, float(ratio[1]) / float(ratio[2])) if ratio else 1.0
    nodes = int(inputs.get("nodes") or ports_down(ports, blocking))
    if planes > 1:  # each port of a switch splits into as many as there are planes
        ports *= planes
    try:
        plan = plan_topology(
            nodes,
            rails,
            ports,
            manager_links=MANAGER_LINKS if inputs.get("ufm") else 0,
            planes=planes,
            links_per_cable=planes,
            blocking=blocking,
        )
    except NoTopology:
        return PredictedRow(
            row["id"], METRIC, float(row["numeric_expected"]), refused="Beyond three tiers.", model="system"
        )
    return _answered(row, count(plan))


def _lower_switches(inputs: Inputs) -> float:
    """Links of half a port's speed share a port; half of a leaf's ports go down."""
    count, _times, speed = str(inputs["nics"]).partition(" x ")
    share = NIC_GBIT_S["NDR400"] // NIC_GBIT_S.get(speed, NIC_GBIT_S["NDR400"])
    half = int(inputs.get("switch_ports", 64)) // 2
    leaves = int(inputs["nodes"]) * int(count) // share // half
    spine_count(leaves, half, half, half)
    return leaves


def _node(row: Row, inputs: Inputs, context: Context) -> PredictedRow:
    name = str(inputs.get("system", ""))
    for server in context.catalog.servers:
        family, _, models = server.name.lower().rpartition(" ")
        names = {
            f"{family.removesuffix(' /').rpartition(' ')[0]} {models}",
            *server.name.lower().split(" / "),
        }
        if name.lower() in {server.name.lower(), *names} and server.planning_power_w:
            return _answered(row, server.planning_power_w / 1000)
    return PredictedRow(
        row["id"],
        METRIC,
        float(row["numeric_expected"]),
        refused=f"The catalog has no planning power of {name}.",
        model="system",
    )


def _racks(row: Row, inputs: Inputs, context: Context) -> PredictedRow:
    """The whole cluster, built by the rules, in racks that take as many servers as the published design: four.

    Four servers of 10.2 kW are 41 kW behind a rear door, on feeds loaded to their breakers: both above our defaults.
    """
    name = " ".join(str(inputs.get("system", "")).split()[:2])
    chips = name.split()[-1].lower() if name else ""
    server = next(
        (
            one
            for one in context.catalog.servers
            if one.name.split()[:1] == name.split()[:1] and chips in one.name.lower()
        ),
        None,
    )
    gpus = int(inputs.get("nics_per_node", 8))
    accelerator = next(
        (
            one
            for one in context.catalog.accelerators
            if server and one.sku in server.accelerators and one.sku.startswith(chips)
        ),
        None,
    )
    if server is None or accelerator is None:
        return _refused(row, f"The catalog has no {name}.")
    nodes = int(inputs["nodes"])
    job = LoadOption(
        load="job", kind="training", accelerator=accelerator.sku, gpus_per_replica=nodes * gpus, replicas=1,
        gpus=nodes * gpus, gpus_in_one_node=gpus, limited_by=Message(text="published design"),
        host=HostNeed(fabric_gbit_s_per_gpu=NIC_GBIT_S["NDR400"]),
    )  # fmt: skip
    site = Site(feed_amps=63, cooling=frozenset({"air", "rear_door"}))
    anything = RateTraining(
        domain=Domain.VISION, model="any", samples=1, deadline_h=1
    )  # racks do not ask what
    workload = Workload(jobs=(anything,), site=site, data=DataNeeds(existing_storage=True))
    denser = Assumptions(rack_rear_door_kw=42, feed_load_fraction=1)
    system = build_system(accelerator, server, nodes * gpus, (job,), workload, context.catalog, denser)
    if isinstance(system, Refusal):
        return _refused(row, str(system.reason))
    return _answered(row, len(system.racks))


def _usable_supply(row: Row, inputs: Inputs, _context: Context) -> PredictedRow:
    shelves, _times, rest = str(inputs.get("power_shelves", "")).partition(" x ")
    if not rest:
        return _refused(row, "The case does not state its power shelves.")
    return _answered(row, usable_supply_kw(int(shelves), float(rest.split()[0])))


def _controllers(row: Row, inputs: Inputs, _context: Context) -> PredictedRow:
    """By throughput: 6 GB/s a server, of pairs that read 25 GB/s (twelve pairs: 300 GB/s, as published)."""
    servers = int(str(inputs["compute"]).partition(" x ")[0])
    need = StorageNeed(read_gb_s=GB_S_PER_SERVER * servers)
    return _answered(row, units_needed(need, PAIR_TB, PAIR_GB_S, PAIR_GB_S))


def _idle(row: Row, inputs: Inputs, context: Context) -> PredictedRow:
    name = str(inputs.get("gpu", ""))
    for one in context.catalog.accelerators:
        if one.power_w and all(word in one.name for word in name.split()[:2]) and "SXM" in one.name:
            return _answered(row, one.power_w * Assumptions().accelerator_idle_fraction)
    return _refused(row, f"The catalog has no power of {name}.")


OTHERS: Mapping[str, Callable[[Row, Inputs, Context], PredictedRow]] = {
    "racks": _racks,
    "kW usable": _usable_supply,
    "HA pairs": _controllers,
    "W idle": _idle,
}


def _refused(row: Row, why: str) -> PredictedRow:
    return PredictedRow(row["id"], METRIC, float(row["numeric_expected"]), refused=why, model="system")


def _answered(row: Row, value: float) -> PredictedRow:
    return PredictedRow(
        row["id"], METRIC, float(row["numeric_expected"]), value, badge="computed", model="system"
    )
