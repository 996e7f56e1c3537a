"""Worked cases about whole systems: switches, cables, racks and watts of published reference designs."""

import re
from collections.abc import Callable
from math import ceil
from typing import NamedTuple

from catalog.quantity import Message
from catalog.specs import AcceleratorSpec, ServerRole, ServerSpec
from configurator.workload import DataNeeds, Domain, RateTraining, Site, Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.evaluation.cases.answers import Answer, Case, Inputs, answer
from quotes.sizing.evaluation.names import OutOfScope, find_accelerator
from quotes.sizing.hardware.bill import Broken
from quotes.sizing.hardware.compose import build_system
from quotes.sizing.hardware.fabric import NoTopology, Topology, plan_topology, ports_down, spine_count
from quotes.sizing.hardware.facility import Box, fits_per_rack, usable_supply_kw
from quotes.sizing.hardware.parts import parts_of
from quotes.sizing.hardware.site import limits_for
from quotes.sizing.results import HostNeed, LoadOption, Refusal

MANAGER_LINKS = 4  # ports that a fabric manager takes in the published designs that have one
USUAL_RAILS, USUAL_PORTS = 8, 64
NIC_GBIT_S = {"NDR200": 200, "NDR400": 400}
RATIO = re.compile(r"([1-9]\d*)\s*:\s*([1-9]\d*)")  # links down to links up, "2:1"


# ── networks ────────────────────────────────────────────────────────────────────────────────────────────────────


class Planned(NamedTuple):
    plan: Topology
    rails: int
    gpus_per_node: int


def _planned(case: Case) -> Planned:
    inputs = case.inputs
    gpus_per_node = int(inputs.get("gpus_per_node") or inputs.get("nics_per_node") or USUAL_RAILS)
    rails = int(inputs.get("nics_per_node") or gpus_per_node)
    ports = int(inputs.get("switch_ports") or inputs.get("leaf_ports") or USUAL_PORTS)
    planes = int(inputs.get("planes", 1))
    ratio = RATIO.search(str(inputs.get("subscription") or inputs.get("oversubscription") or ""))
    blocking = max(1.0, float(ratio[1]) / float(ratio[2])) if ratio else 1.0
    managers = MANAGER_LINKS if inputs.get("ufm") else 0
    if planes > 1:  # each port of a switch splits into as many as there are planes
        ports *= planes
    for_managers = ceil(managers / rails)
    nodes = _nodes(
        inputs, ports_down(ports, blocking), gpus_per_node, for_managers, one_unit=bool(case.asked.per)
    )
    try:
        plan = plan_topology(
            nodes,
            rails,
            ports,
            manager_links=managers,
            planes=planes,
            links_per_cable=planes,
            blocking=blocking,
        )
    except NoTopology:
        raise OutOfScope("Three tiers of this switch do not reach so many ports.") from None
    return Planned(plan, rails, gpus_per_node)


def _nodes(
    inputs: Inputs, in_unit: int, gpus_per_node: int, for_managers: int, *, one_unit: bool = False
) -> int:
    """Stated, else by the GPUs or the scalable units, each of as many servers as a leaf has ports down."""
    if inputs.get("nodes"):
        return int(inputs["nodes"])
    if isinstance(inputs.get("gpu_count"), int | float):
        return ceil(inputs["gpu_count"] / gpus_per_node)
    if "scalable_units" not in inputs and not one_unit:
        raise OutOfScope("The case does not state how many servers there are.")
    return int(inputs.get("scalable_units", 1)) * in_unit - for_managers


def _of_network(count: Callable[[Planned], float]) -> Callable[[Case], float]:
    return lambda case: count(_planned(case))


def _most_servers(planned: Planned) -> float:
    return planned.plan.nodes_most - ceil(planned.plan.manager_links / planned.rails)


def _group(case: Case) -> tuple[int, int, int]:
    """Leaves of a group of Dragonfly+, the half of a switch's ports, and its spines: each leaf has links to all of
    them. Links of half a port's speed share a port."""
    count, _times, speed = str(case.inputs["nics"]).partition(" x ")
    share = NIC_GBIT_S["NDR400"] // NIC_GBIT_S.get(speed, NIC_GBIT_S["NDR400"])
    half = int(case.inputs.get("switch_ports", USUAL_PORTS)) // 2
    leaves = int(case.inputs["nodes"]) * int(count) // share // half
    return leaves, half, spine_count(leaves, half, half, half)[0]


def _subscription(case: Case) -> float:
    """Bandwidth down over bandwidth up."""
    inputs = case.inputs
    if {"leaf_downlinks", "leaf_uplinks"} <= inputs.keys():
        down, up = (
            float(inputs.get("nic_gbps", 1)),
            float(inputs.get("uplink_gbps") or inputs.get("nic_gbps", 1)),
        )
        leaf = Topology(
            1,
            node_links=round(inputs["leaf_downlinks"] * down),
            leaf_spine_links=round(inputs["leaf_uplinks"] * up),
        )
        return leaf.blocking_ratio
    return _planned(case).plan.blocking_ratio


# ── servers ─────────────────────────────────────────────────────────────────────────────────────────────────────

NOISE = frozenset(
    {
        "superpod",
        "basepod",
        "pod",
        "rack",
        "xdr",
        "ndr",
        "spectrum",
        "x",
        "cluster",
        "system",
        "server",
        "infiniband",
    }
)


def find_server(name: str, servers: tuple[ServerSpec, ...]) -> ServerSpec:
    """The server of the catalog that has all words of a published system's name. Raises OutOfScope."""
    wanted = frozenset(re.findall(r"[a-z0-9]+", name.lower())) - NOISE
    known = [(server, frozenset(re.findall(r"[a-z0-9]+", server.name.lower()))) for server in servers]
    found = [(server, words) for server, words in known if wanted and wanted <= words]
    if not found:
        raise OutOfScope(f"The catalog has no {name or 'such system'}.")
    return min(found, key=lambda one: (one[0].planning_power_w is None, len(one[1])))[0]


def _server(case: Case) -> ServerSpec:
    return find_server(str(case.inputs["system"]), case.context.catalog.servers)


def _node_w(case: Case) -> float:
    server = _server(case)
    if server.planning_power_w is None:
        raise OutOfScope(f"The catalog has no planning power of {server.name}.")
    return server.planning_power_w


def _cluster_w(case: Case) -> float:
    return _node_w(case) * float(case.inputs.get("nodes", 1))


def _rack_w(case: Case) -> float:
    """A complete rack, or as many servers as stand in one."""
    if ServerRole.RACK in _server(case).roles:
        return _node_w(case)
    count = case.inputs.get("nodes_per_rack")
    if count is None and {"nodes", "racks"} <= case.inputs.keys():
        count = ceil(float(case.inputs["nodes"]) / float(case.inputs["racks"]))
    if count is None:
        raise OutOfScope("The case does not state how many servers stand in a rack.")
    return _node_w(case) * float(count)


def _per_rack(case: Case) -> float:
    """Servers that a rack of the stated power holds, by power, height and weight."""
    server = _server(case)
    box = Box(server.name, "server", server.rack_units or 0, _node_w(case), server.weight_kg)
    site = Site(cooling=frozenset({"air", "rear_door"}))
    limits = limits_for(box, site, parts_of(case.context.catalog), case.context.assumptions)
    if isinstance(limits, Broken):
        raise OutOfScope(str(limits.refusal(server.sku, server.name).reason))
    return fits_per_rack(box, limits._replace(watts=float(case.inputs["rack_kw"]) * 1000))


def _racks(case: Case) -> float:
    """By servers in a rack where they are stated; else the whole cluster, built by the rules, in racks that take as
    many servers as the published design: four.

    Four servers of 10.2 kW are 41 kW behind a rear door, on feeds loaded to their breakers: both above our defaults.
    """
    inputs, context = case.inputs, case.context
    if "nodes_per_rack" in inputs:
        return ceil(float(inputs["nodes"]) / float(inputs["nodes_per_rack"]))
    server = _server(case)
    accelerator = _inside(server, str(inputs["system"]), context.catalog.accelerators)
    gpus = int(inputs.get("gpus_per_node") or server.max_accelerators)
    nodes = _nodes(inputs, ports_down(USUAL_PORTS, 1), gpus, 0)
    job = LoadOption(
        load="job", kind="training", accelerator=accelerator.sku, gpus_per_replica=nodes * gpus, replicas=1,
        gpus=nodes * gpus, gpus_in_one_node=gpus, limited_by=Message(text="published design"),
        host=HostNeed(fabric_gbit_s_per_gpu=NIC_GBIT_S["NDR400"]),
    )  # fmt: skip
    limit = inputs.get("rack_kw")
    site = Site(feed_amps=63, cooling=frozenset({"air", "rear_door"}), rack_power_max_kw=limit)
    anything = RateTraining(
        domain=Domain.VISION, model="any", samples=1, deadline_h=1
    )  # racks do not ask what
    workload = Workload(jobs=(anything,), site=site, data=DataNeeds(existing_storage=True))
    denser = Assumptions(rack_rear_door_kw=42, feed_load_fraction=1)
    system = build_system(accelerator, server, nodes * gpus, (job,), workload, context.catalog, denser)
    if isinstance(system, Refusal):
        raise OutOfScope(str(system.reason))
    return len(system.racks)


def _inside(server: ServerSpec, name: str, accelerators: tuple[AcceleratorSpec, ...]) -> AcceleratorSpec:
    """Of those that the server takes the one that the name of the system tells."""
    words = re.findall(r"[a-z]+\d+", name.lower())
    fitting = [one for one in accelerators if one.sku in server.accelerators]
    named = [one for one in fitting if any(one.sku.startswith(word) for word in words)]
    if not named:
        raise OutOfScope(f"The catalog has no accelerator of {name}.")
    return named[0]


def _figure(field: str, label: str) -> Callable[[Case], float]:
    """A figure of the maker that the catalog holds."""

    def of_server(case: Case) -> float:
        server = _server(case)
        value = getattr(server, field)
        if value is None:
            raise OutOfScope(f"The catalog has no {label} of {server.name}.")
        return float(value)

    return of_server


def _gpus(case: Case) -> float:
    each = case.inputs.get("gpus_per_node") or _server(case).max_accelerators
    return float(case.inputs.get("nodes", 1)) * float(each)


# ── power ───────────────────────────────────────────────────────────────────────────────────────────────────────

SUPPLIES = re.compile(r"(\d+) ?[x×] ?([\d.]+) ?kW(?:.*?(\d+ ?\+ ?\d+))?", re.IGNORECASE)


def _supplies(case: Case) -> re.Match[str]:
    text = str(case.inputs.get("power_shelves") or case.inputs.get("psu") or case.inputs.get("psus") or "")
    found = SUPPLIES.match(text)
    if found is None:
        raise OutOfScope("The case does not state its power supplies.")
    return found


def _usable_w(case: Case) -> float:
    """With the redundancy that is stated; of shelves without one, half."""
    found = _supplies(case)
    count, each_w = int(found[1]), float(found[2]) * 1000
    if not found[3]:
        return usable_supply_kw(count, each_w / 1000) * 1000
    any_server = case.context.catalog.servers[0]
    supplied = any_server.model_copy(update={"psu_count": count, "psu_w": each_w, "psu_redundancy": found[3]})
    return float(supplied.psu_surviving_w or 0)


def _installed_w(case: Case) -> float:
    found = _supplies(case)
    return int(found[1]) * float(found[2]) * 1000


def _rated_w(case: Case) -> float:
    one = find_accelerator(str(case.inputs["gpu"]), case.context.catalog)
    if not one.power_w:
        raise OutOfScope(f"The catalog has no power of {one.name}.")
    return one.power_w * float(case.inputs.get("gpu_count", 1))


def _idle_w(case: Case) -> float:
    return _rated_w(case) * case.context.assumptions.accelerator_idle_fraction


def _gpu_memory(case: Case) -> float:
    """Bytes that the driver reports of a card that the unit names, else of the only one that the case lists."""
    names = case.inputs.get("gpus") or [case.inputs.get("gpu", "")]
    asked_for = re.search(r"\b(?:on|of) (?:an? |one |each )?(.+)", case.row["unit"])
    if not asked_for and len(names) > 1:
        raise OutOfScope("The case lists several GPUs, and its unit names none of them.")
    one = find_accelerator(asked_for[1] if asked_for else str(names[0]), case.context.catalog)
    if not one.memory_mib:
        raise OutOfScope(f"The catalog has no memory of {one.name}.")
    return one.memory_mib * 2**20


COMPUTE = "compute fabric infiniband total network least"
ANSWERS: tuple[Answer, ...] = (
    answer("count switch", _of_network(lambda one: one.plan.switches), may=COMPUTE),
    answer("count leaf", _of_network(lambda one: one.plan.leaves), may=f"switch {COMPUTE}"),
    answer("count spine", _of_network(lambda one: one.plan.spines), may=f"switch {COMPUTE}"),
    answer("count core", _of_network(lambda one: one.plan.cores), may=f"switch {COMPUTE}"),
    answer("count cable", _of_network(lambda one: one.plan.cables), may="total fabric"),
    answer("count cable compute", _of_network(lambda one: one.plan.node_cables)),
    answer("count cable server", _of_network(lambda one: one.plan.node_cables)),
    answer("count cable server-leaf", _of_network(lambda one: one.plan.node_cables)),
    answer("count cable node-leaf", _of_network(lambda one: one.plan.node_cables), may="node leaf"),
    answer("count cable spine", _of_network(lambda one: one.plan.spine_cables)),
    answer("count cable leaf-spine", _of_network(lambda one: one.plan.spine_cables)),
    answer("count cable spine-leaf", _of_network(lambda one: one.plan.spine_cables)),
    answer("count cable spine-core", _of_network(lambda one: one.plan.core_cables)),
    answer("count server / stripe", _of_network(lambda one: one.plan.nodes_most)),
    answer("count gpu / stripe", _of_network(lambda one: one.plan.nodes_most * one.gpus_per_node)),
    answer("count leaf / stripe", _of_network(lambda one: one.plan.leaves), may="switch"),
    answer("count server / su", _of_network(_most_servers)),
    answer("count server", _of_network(_most_servers), may="total most", needs="scalable_units"),
    answer("count gpu / su", _of_network(lambda one: _most_servers(one) * one.gpus_per_node)),
    answer("ratio oversubscription", _subscription),
    answer("ratio subscription", _subscription),
    answer("count switch lower", lambda case: _group(case)[0], needs="nics nodes"),
    answer("count switch upper", lambda case: _group(case)[2], needs="nics nodes"),
    answer("count gpu", _gpus, may="total", needs="system"),
    answer("count rack", _racks, may="total compute", needs="system"),
    answer("count server / rack", _per_rack, may="most", needs="system rack_kw"),
    answer("watts / server", _node_w, may="most planning peak", needs="system"),
    answer("watts / rack", _rack_w, may="most planning peak", needs="system"),
    answer("watts", _cluster_w, may="most planning peak total it", needs="system"),
    answer("watts usable", _usable_w, may="load"),
    answer("watts installed", _installed_w, may="supply"),
    answer("watts idle", _idle_w, may="gpu", needs="gpu"),
    answer("watts most", _rated_w, may="gpu rated", needs="gpu"),
    answer("watts tdp", _rated_w, may="gpu", needs="gpu"),
    answer("rack_units", _figure("rack_units", "height"), needs="system"),
    answer("kg", _figure("weight_kg", "weight"), may="server weight", needs="system"),
    answer("count psu", _figure("psu_count", "power supplies"), needs="system"),
    answer("bytes on", _gpu_memory, may="memory usable total reported"),
    answer("bytes usable", _gpu_memory, may="memory gpu on reported"),
    answer("bytes memory / gpu", _gpu_memory, may="usable", needs="gpu"),
)
