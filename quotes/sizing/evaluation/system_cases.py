"""Worked cases about whole systems: switches of a cluster network, watts of a published server."""

from collections.abc import Callable, Mapping
from typing import Any

from quotes.sizing.evaluation.base import Context, PredictedRow, Row
from quotes.sizing.hardware.fabric import NoTopology, Topology, plan_topology, spine_count

METRIC = "numeric_expected"
MANAGER_LINKS = 4  # ports that a fabric manager takes in the published designs that have one
NIC_GBIT_S = {"NDR200": 200, "NDR400": 400}

type Inputs = Mapping[str, Any]

COUNTS: Mapping[str, Callable[[Topology], float]] = {
    "compute switches": lambda plan: plan.switches,
    "leaf switches": lambda plan: plan.leaves,
    "spine switches": lambda plan: plan.spines,
    "core switches": lambda plan: plan.cores,
    "servers per stripe": lambda plan: plan.nodes_most,
    "compute cables": lambda plan: plan.node_cables + plan.spine_cables,
}


def predict_case(row: Row, inputs: Mapping[str, object], context: Context) -> PredictedRow | None:
    """None when the case is not about a network or a server."""
    if row["unit"] in COUNTS:
        return _network(row, inputs)
    if row["unit"] == "lower switches":
        return _answered(row, _lower_switches(inputs))
    if row["unit"].startswith("kW per node"):
        return _node(row, inputs, context)
    if not row["id"].startswith("K2"):
        return None
    return PredictedRow(
        row["id"],
        METRIC,
        float(row["numeric_expected"]),
        refused="The product has no formula for this figure of a published system.",
        model="system",
    )


def _network(row: Row, inputs: Inputs) -> PredictedRow:
    rails = int(inputs.get("nics_per_node") or inputs.get("gpus_per_node") or 8)
    ports = int(inputs.get("switch_ports") or inputs.get("leaf_ports") or 64)
    planes = int(inputs.get("planes", 1))
    nodes = int(inputs.get("nodes") or ports // 2)
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
        )
    except NoTopology:
        return PredictedRow(
            row["id"], METRIC, float(row["numeric_expected"]), refused="Beyond three tiers.", model="system"
        )
    return _answered(row, COUNTS[row["unit"]](plan))


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
        if server.name.lower() == name.lower() and server.planning_power_w:
            return _answered(row, server.planning_power_w / 1000)
    return PredictedRow(
        row["id"],
        METRIC,
        float(row["numeric_expected"]),
        refused=f"The catalog has no planning power of {name}.",
        model="system",
    )


def _answered(row: Row, value: float) -> PredictedRow:
    return PredictedRow(
        row["id"], METRIC, float(row["numeric_expected"]), value, badge="computed", model="system"
    )
