"""The plan of a whole system: every decision made, nothing written out yet. Cheap, for searches.

From the inside out: servers, where their data stands, the cluster network, the networks around it, racks, bill.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from catalog.quantity import noop
from catalog.specs import AcceleratorSpec, ServerRole, ServerSpec, ServerStatus
from configurator.workload import Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.hardware.bill import Broken, Line, broken, fixed_eur, longest_lead, merged, total_eur
from quotes.sizing.hardware.cards import runs_infiniband
from quotes.sizing.hardware.chassis import counts_allowed
from quotes.sizing.hardware.demand import NodeBrief, NodeDemand, NodeRecipe, demand_of
from quotes.sizing.hardware.extras import rack_lines, service_lines
from quotes.sizing.hardware.fabric import Fabric, plan_fabric
from quotes.sizing.hardware.facility import Box, Layout, Limits, lay_out, server_box, stands_alone
from quotes.sizing.hardware.networks import Networks, boxes, plan_networks
from quotes.sizing.hardware.node import pairing, plan_parts
from quotes.sizing.hardware.node_findings import NodePlan
from quotes.sizing.hardware.parts import Parts
from quotes.sizing.hardware.placing import Shape, demands, is_job, smallest_shape
from quotes.sizing.hardware.site import limits_for, server_site_rules, total_rules
from quotes.sizing.hardware.storage import StorageNeed, Store, local_tb, plan_store, storage_need
from quotes.sizing.refusals import nearest
from quotes.sizing.results import LoadOption

FEWER_MAY_HELP = frozenset(
    {
        "supply", "cpu_cores", "memory_most", "nic_slots", "front_nic_none", "drive_capacity",
        "site_rack_power", "site_feed", "site_cord",
    }
)  # fmt: skip
"""Rules that a server with fewer accelerators may keep."""


class SystemRecipe(NamedTuple):
    """What is chosen by hand; None is left to the rules. `storage`: SKU and number of units."""

    node: NodeRecipe | None = None
    management: NodeRecipe | None = None
    storage: tuple[str, int] | None = None
    local_storage: bool | None = None  # True: all data on the servers' own drives


class Wish:
    """What the loads ask of any server: worked out once, read for every server that a search looks at."""

    def __init__(
        self, needed: int, loads: Sequence[LoadOption], workload: Workload, assumptions: Assumptions
    ) -> None:
        self.needed, self.loads = needed, loads
        self.workload, self.assumptions = workload, assumptions
        self.demand = demand_of(loads)
        self.joined = max((load.gpus_in_one_node for load in loads), default=1)
        self.fabric_gbit_s = max((load.host.fabric_gbit_s_per_gpu for load in loads), default=0)
        self._groups = demands(loads, needed)
        self._widest = max((self._width(load) for load in loads), default=0)
        self._shapes: dict[tuple[int, ...], Shape | None] = {}
        self._storage: dict[int, StorageNeed] = {}

    @staticmethod
    def _width(load: LoadOption) -> int:
        """Accelerators that work as one: of a job all."""
        return load.gpus if is_job(load) else load.gpus_per_replica

    def shape(self, allowed: tuple[int, ...]) -> Shape | None:
        """The smallest that holds the loads with one of the `allowed` numbers per server."""
        if allowed not in self._shapes:
            self._shapes[allowed] = smallest_shape(self.needed, self._groups, allowed)
        return self._shapes[allowed]

    def crosses(self, shape: Shape) -> bool:
        """Whether a load needs more than one server at a time."""
        return self._widest > shape.gpus

    def storage(self, training_gpus: int) -> StorageNeed:
        if training_gpus not in self._storage:
            self._storage[training_gpus] = storage_need(
                self.workload, self.loads, training_gpus, self.assumptions
            )
        return self._storage[training_gpus]


class SystemPlan(NamedTuple):
    """Everything decided, nothing yet written out."""

    node: NodePlan
    nodes: int
    demand: NodeDemand
    fabric: Fabric | None
    networks: Networks | None
    need: StorageNeed
    store: Store | None
    layout: Layout | None
    cluster: bool
    around: tuple[Line, ...]  # the bill without the servers
    wall_w: float
    provision_w: float
    units: float
    eur: Decimal
    missing: tuple[str, ...]  # purposes of services that the catalog does not have

    def lines(self) -> list[Line]:
        """The whole bill, one line per article and group."""
        return merged([*(line.times(self.nodes) for line in self.node.lines), *self.around])

    def lead_weeks(self, parts: Parts) -> int | None:
        """Of the article that takes longest; None when no lead time is known."""
        around = longest_lead(self.around, parts)[0]
        return max((weeks for weeks in (self.node.lead_weeks, around) if weeks is not None), default=None)


class _Stored(NamedTuple):
    """A server composed for where its data stands; `store` None: on its own drives, or on storage that is there."""

    node: NodePlan
    demand: NodeDemand
    store: Store | None


def plan_system(
    accelerator: AcceleratorSpec | None,
    server: ServerSpec,
    wish: Wish,
    parts: Parts,
    recipe: SystemRecipe | None = None,
) -> SystemPlan | Broken:
    """The fewest servers that hold the loads; with fewer accelerators in each where supplies or site ask for it."""
    if wrong := pairing(server, accelerator, parts):
        return wrong
    builder = _Builder(accelerator, server, wish, parts, recipe or SystemRecipe())
    if accelerator is None:
        return builder.plan(Shape(max(wish.needed, 1), 0))
    allowed = counts_allowed(server, accelerator)
    desktop = ServerRole.WORKSTATION in server.roles
    failed: list[Broken] = []
    while allowed:
        shape = wish.shape(allowed)
        if shape is None:
            break
        plan = builder.plan(shape) if shape.nodes == 1 or not desktop else _desktops(server, shape)
        if isinstance(plan, SystemPlan):
            return plan
        failed.append(plan)
        if plan.rule not in FEWER_MAY_HELP:
            break
        allowed = tuple(count for count in allowed if count < shape.gpus)
    return nearest(failed) if failed else _too_large(server, accelerator, wish, allowed)


def _desktops(server: ServerSpec, shape: Shape) -> Broken:
    return broken(
        "desktop_alone",
        noop("It would take {nodes} × {server}; desktop systems do not work together."),
        noop("Possible with fewer or smaller loads, or in servers of a rack."),
        off=(shape.nodes, 1),
        nodes=shape.nodes,
        server=server.name,
    )


def _too_large(
    server: ServerSpec, accelerator: AcceleratorSpec, wish: Wish, allowed: Sequence[int]
) -> Broken:
    return broken(
        "group_size",
        noop("The loads join {joined} accelerators in one server; {server} holds {most}."),
        noop("Choose a server that holds more {accelerator}, or split the model over fewer accelerators."),
        joined=wish.joined,
        server=server.name,
        most=max(allowed, default=0),
        accelerator=accelerator.name,
    )


class _Builder:
    """One attempt per shape; holds what does not change between attempts."""

    def __init__(
        self,
        accelerator: AcceleratorSpec | None,
        server: ServerSpec,
        wish: Wish,
        parts: Parts,
        recipe: SystemRecipe,
    ) -> None:
        self.accelerator, self.server, self.wish = accelerator, server, wish
        self.parts, self.recipe = parts, recipe
        self.workload, self.assumptions = wish.workload, wish.assumptions

    def plan(self, shape: Shape) -> SystemPlan | Broken:
        """From the inside out: server, storage, cluster network, the networks around it, racks, bill."""
        link = self.wish.fabric_gbit_s if self.wish.crosses(shape) else 0
        if wrong := self._networked(shape, link):
            return wrong
        need = self.wish.storage(shape.nodes * shape.gpus if link else 0)
        best, *others = self._stored(shape, need, link)
        plan = self._around(shape, need, link, best)
        for other in others:
            if isinstance(plan, SystemPlan):
                break
            second = self._around(shape, need, link, other)
            plan = second if isinstance(second, SystemPlan) else nearest((plan, second))
        return plan

    def _networked(self, shape: Shape, link: float) -> Broken | None:
        """What is sold complete joins a cluster network by the ports it is known to have."""
        server, accelerator = self.server, self.accelerator
        wish = self.workload.placement.cluster_network
        if link and accelerator and wish == "infiniband" and not runs_infiniband(accelerator):
            return broken(
                "fabric_wanted",
                noop("Servers with {accelerator} join over Ethernet; InfiniBand was asked for."),
                noop("Allow Ethernet, or choose NVIDIA accelerators."),
                accelerator=accelerator.name,
            )
        if ServerRole.RACK in server.roles and (link or shape.nodes >= self.assumptions.cluster_nodes_count):
            return broken(
                "rack_cluster",
                noop(
                    "{nodes} × {server} need networks between their trays, which the catalog does not have."
                ),
                noop("Stay within one complete rack, choose servers, or ask us for a project."),
                nodes=shape.nodes,
                server=server.name,
            )
        if (
            link
            and server.status is ServerStatus.COMPLETE_SYSTEM
            and server.onboard_fabric_count < shape.gpus
        ):
            return broken(
                "fabric_complete",
                noop(
                    "{server} comes complete, and a cluster network port per accelerator is not known of it."
                ),
                noop("Choose a server that takes network cards, or one whose board brings the ports."),
                server=server.name,
            )
        return None

    def _around(
        self, shape: Shape, need: StorageNeed, link: float, stored: "_Stored | Broken"
    ) -> SystemPlan | Broken:
        if isinstance(stored, Broken):
            return stored
        node, demand, store = stored
        fabric = None
        if link and self.accelerator:
            plan = plan_fabric(
                shape.nodes,
                self.accelerator,
                shape.gpus,
                self._port(node, link),
                self.parts,
                self.assumptions,
                ethernet=self.workload.placement.cluster_network == "ethernet",
            )
            if isinstance(plan, Broken):
                return plan
            fabric = plan
        alone = stands_alone(self.server)
        cluster = not alone and (fabric is not None or shape.nodes >= self.assumptions.cluster_nodes_count)
        standing = self._standing(node, shape.nodes, fabric, store, cluster)
        if isinstance(standing, Broken):
            return standing
        layout, networks = standing
        return self._total(node, shape.nodes, demand, fabric, networks, need, store, layout, cluster)

    def _port(self, node: NodePlan, link: float) -> float:
        """Speed of the ports that are there: on board, or of the card chosen."""
        if node.recipe.fabric_nics:
            return float(self.parts.items[node.recipe.fabric_nic].port_gbit_s)  # type: ignore[attr-defined]
        return self.server.onboard_fabric_gbit_s or max(link, self.assumptions.fabric_gbit_s_per_gpu)

    def _node(self, shape: Shape, demand: NodeDemand) -> NodePlan | Broken:
        brief = NodeBrief(self.server, self.accelerator, shape.gpus, demand, self.parts, self.assumptions)
        return plan_parts(brief, self.recipe.node)

    def _stored(self, shape: Shape, need: StorageNeed, link: float) -> list["_Stored | Broken"]:
        """The servers and where their data stands, cheapest first: on their own drives, or on shared storage.

        Own drives: every server holds all, so no job may cross servers and the servers must be few, or boxes that
        stand alone.
        """
        few = stands_alone(self.server) or (
            shape.nodes < self.assumptions.cluster_nodes_count and not self.wish.crosses(shape)
        )
        have = self.workload.data.existing_storage
        local = few and not have and not self.recipe.storage
        if self.recipe.local_storage is not None:
            local = self.recipe.local_storage
        answers = [self._inside(shape, need, link)] if local else []
        if self.recipe.local_storage or (local and not need.tb):
            return answers
        answers.append(self._beside(shape, need, link, have))
        if len(answers) == 1:
            return answers
        return sorted(answers, key=lambda answer: self._eur(shape, answer))

    def _eur(self, shape: Shape, answer: "_Stored | Broken") -> Decimal:
        """Servers and storage together; what cannot be built comes last."""
        if isinstance(answer, Broken):
            return Decimal("Infinity")
        lines = answer.store.lines if answer.store else ()
        return shape.nodes * answer.node.eur + fixed_eur(lines, self.parts)

    def _inside(self, shape: Shape, need: StorageNeed, link: float) -> "_Stored | Broken":
        demand = self.wish.demand._replace(
            fabric_gbit_s=link,
            kept_tb=local_tb(need, self.assumptions),
            kept_fraction=self.assumptions.local_usable_fraction,
            nvme_read_gb_s=need.read_gb_s,
        )
        node = self._node(shape, demand)
        return node if isinstance(node, Broken) else _Stored(node, demand, None)

    def _beside(self, shape: Shape, need: StorageNeed, link: float, have: bool) -> "_Stored | Broken":
        demand = self.wish.demand._replace(fabric_gbit_s=link)
        store = None if have else plan_store(need, self.parts, self.assumptions, self.recipe.storage)
        if isinstance(store, Broken):
            return store
        if store or (have and need.read_gb_s):
            demand = demand._replace(read_gb_s=need.read_gb_s / shape.nodes)
            if shape.nodes >= self.assumptions.cluster_nodes_count or link:
                demand = demand._replace(front_gbit_s=self.assumptions.cluster_front_gbit_s)
        node = self._node(shape, demand)
        return node if isinstance(node, Broken) else _Stored(node, demand, store)

    def _standing(
        self, node: NodePlan, nodes: int, fabric: Fabric | None, store: Store | None, cluster: bool
    ) -> tuple[Layout | None, Networks | None] | Broken:
        """Racks, and the networks whose ports depend on what stands in them. No load has a say in it."""
        parts = self.parts
        key = (
            "standing",
            *(parts.key_of(part) for part in (node, fabric, store)),
            nodes,
            cluster,
            parts.number_of(self.workload.site),
            parts.number_of(self.assumptions),
            self.recipe.management,
        )
        return parts.remember(key, lambda: self._stand(node, nodes, fabric, store, cluster))

    def _stand(
        self, node: NodePlan, nodes: int, fabric: Fabric | None, store: Store | None, cluster: bool
    ) -> tuple[Layout | None, Networks | None] | Broken:
        site, parts, assumptions = self.workload.site, self.parts, self.assumptions
        box = server_box(node, "node")
        limits = limits_for(box, site, parts, assumptions)
        if isinstance(limits, Broken):
            return limits
        if wrong := server_site_rules(node, nodes, box, site, limits, assumptions):
            return wrong
        if stands_alone(node.server):
            return None, None
        own = site.rack_units_free is not None or not (cluster or box.liquid)
        if not cluster:
            others = boxes(fabric, None, store, parts, assumptions)
            layout = lay_out(node.server, box, nodes, others, limits, own, parts)
            return layout if isinstance(layout, Broken) else (layout, None)
        return self._cluster(node, box, nodes, fabric, store, limits, own)

    def _cluster(
        self,
        node: NodePlan,
        box: Box,
        nodes: int,
        fabric: Fabric | None,
        store: Store | None,
        limits: Limits,
        own: bool,
    ) -> tuple[Layout | None, Networks | None] | Broken:
        """Power strips want management ports, whose switches want racks, which want strips: settled in two rounds."""
        parts, assumptions, feeds, switches = self.parts, self.assumptions, 0, -1
        layout: Layout | Broken | None = None
        networks: Networks | None = None
        for _ in range(3):
            made = plan_networks(
                node, nodes, fabric, store, feeds, parts, assumptions, self.recipe.management
            )
            if isinstance(made, Broken):
                return made
            networks = made
            if made.out_of_band_count == switches:
                break  # the racks hold the same as before
            switches = made.out_of_band_count
            others = boxes(fabric, networks, store, parts, assumptions)
            layout = lay_out(node.server, box, nodes, others, limits, own, parts)
            if isinstance(layout, Broken):
                return layout
            feeds = layout.pdus + sum(number for plan, number in layout.racks if plan.cooling == "rear_door")
        return layout, networks  # type: ignore[return-value]  # a Broken layout was returned above

    def _total(
        self,
        node: NodePlan,
        nodes: int,
        demand: NodeDemand,
        fabric: Fabric | None,
        networks: Networks | None,
        need: StorageNeed,
        store: Store | None,
        layout: Layout | None,
        cluster: bool,
    ) -> SystemPlan | Broken:
        cooled = rack_lines(layout, cluster, self.parts)
        others_w = (store.wall_w if store else 0) + cooled.wall_w
        wall_w = nodes * node.wall_w + others_w + sum(part.wall_w for part in (fabric, networks) if part)
        most_w = (
            nodes * node.provision_w + others_w + sum(part.provision_w for part in (fabric, networks) if part)
        )
        units = sum(
            box.units * number for plan, number in (layout.racks if layout else ()) for box in plan.boxes
        )
        if wrong := total_rules(most_w, units, node, nodes, self.workload.site, self.assumptions):
            return wrong
        services, missing = service_lines(
            node, nodes, fabric, layout, cluster, self.workload.delivery, self.parts, self.assumptions
        )
        around = (
            *(fabric.lines if fabric else ()),
            *(networks.lines if networks else ()),
            *(store.lines if store else ()),
            *cooled.lines,
            *services,
        )
        return SystemPlan(
            node, nodes, demand, fabric, networks, need, store, layout, cluster, around, wall_w, most_w, units,
            total_eur(around, self.parts, nodes * node.eur), missing,
        )  # fmt: skip
