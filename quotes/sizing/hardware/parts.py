"""The catalog as a builder looks at it: only what has a price, sorted by price, looked up by what it must fit.

One `Parts` per snapshot, made once and kept as long as the snapshot lives; everything in it is derived.
"""

import re
import weakref
from collections.abc import Callable, Hashable, Iterable
from decimal import Decimal
from itertools import count
from typing import Any, NamedTuple

from catalog.specs import (
    AcceleratorSpec,
    AccessorySpec,
    CableSpec,
    CatalogSnapshot,
    CoolingSpec,
    CpuSpec,
    DriveSpec,
    Item,
    MemorySpec,
    PduSpec,
    RackSpec,
    ServerSpec,
    ServerStatus,
    ServiceSpec,
)

MEMO_LIMIT = 20_000
NUMBERED_LIMIT = 100
EFFICIENCY_CORES = re.compile(r"E-core|\bXeon 6\d{3}E\b|6700E|6900E")
LAN = re.compile(r"(\d+)x\s*(\d+(?:\.\d+)?)\s*G")


class MemoryChoice(NamedTuple):
    """Identical modules in every channel. `speed_mt_s` is what they run at; None when the CPU's figure is unknown."""

    spec: MemorySpec
    modules: int
    gb: int
    eur: Decimal
    speed_mt_s: int | None


class Parts:
    """Index of one catalog snapshot. Guarantee: every article it hands out has a list price in euro."""

    def __init__(self, catalog: CatalogSnapshot) -> None:
        self.price: dict[str, Decimal] = {
            sku: price.amount.amount
            for sku, price in catalog.prices.items()
            if price.amount.currency == "EUR"
        }
        self.lead: dict[str, int] = {
            sku: price.lead_time_weeks
            for sku, price in catalog.prices.items()
            if price.lead_time_weeks is not None
        }
        self.items = catalog.items
        self.names = {sku: item.name for sku, item in catalog.items.items()}
        self.servers = {server.sku: server for server in catalog.servers}
        self.servers_for: dict[str, tuple[ServerSpec, ...]] = {}
        for server in catalog.servers:
            for sku in server.accelerators:
                self.servers_for[sku] = (*self.servers_for.get(sku, ()), server)
        self.cpus = self._priced(catalog.cpus)
        self.memory = self._priced(catalog.memory)
        self.drives = self._priced(catalog.drives)
        self.nics = self._priced(catalog.nics)
        self.switches = self._priced(catalog.switches)
        self.cables = self._priced(catalog.cables)
        self.storage_systems = self._priced(catalog.storage_systems)
        self.racks = self._priced(catalog.racks)
        self.pdus = self._priced(catalog.pdus)
        self.cooling = self._priced(catalog.cooling)
        self.accessories = self._priced(catalog.accessories)
        self.services = {
            service.purpose: service
            for service in reversed(catalog.services)
            if service.purpose and (service.pct_of_hardware is not None or service.sku in self.price)
        }
        self._memo: dict[Hashable, Any] = {}
        self._kept: dict[int, object] = {}
        self._numbers: dict[Hashable, int] = {}
        self._numbered: dict[int, tuple[Hashable, int]] = {}
        self._next_number = count()

    def _priced[T: Item](self, items: Iterable[T]) -> tuple[T, ...]:
        return tuple(
            sorted((item for item in items if item.sku in self.price), key=lambda item: self.price[item.sku])
        )

    def remember[T](self, key: Hashable, make: Callable[[], T]) -> T:
        """`make()`, computed once per key. Specs stand in a key by `key_of`, what a search brings by `number_of`."""
        if key in self._memo:
            known: T = self._memo[key]
            return known
        if len(self._memo) > MEMO_LIMIT:
            for memory in (self._memo, self._kept, self._numbers, self._numbered):
                memory.clear()
        made = self._memo[key] = make()
        return made

    def key_of(self, value: object) -> int:
        """A cheap key for a frozen value: its identity, which it keeps as long as the memo does."""
        key = id(value)
        self._kept[key] = value
        return key

    def number_of(self, value: Hashable) -> int:
        """A cheap key for assumptions and answers: equal values have the same one, whichever search brings them."""
        known = self._numbered.get(id(value))
        if known is None:
            if len(self._numbered) > NUMBERED_LIMIT:
                self._numbered.clear()
            number = self._numbers.setdefault(value, next(self._next_number))
            known = self._numbered[id(value)] = (value, number)  # kept, so that its identity stays taken
        return known[1]

    # ── what goes into a server, cheapest first ──

    def cpus_for(self, server: ServerSpec) -> tuple[CpuSpec, ...]:
        """CPUs with known power that the server takes. Efficiency cores only where no accelerator sits beside them."""
        return self.remember(
            ("cpus", self.key_of(server)),
            lambda: tuple(
                cpu
                for cpu in self.cpus
                if cpu.power_w is not None
                and server.takes_cpu(cpu)
                and not (server.max_accelerators and is_efficiency(cpu))
            ),
        )

    def memory_for(self, server: ServerSpec, cpu: CpuSpec) -> tuple[MemoryChoice, ...]:
        """Every even filling: one module per channel, or two in all of them."""
        return self.remember(
            ("memory", self.key_of(server), self.key_of(cpu)), lambda: tuple(self._memory_for(server, cpu))
        )

    def _memory_for(self, server: ServerSpec, cpu: CpuSpec) -> list[MemoryChoice]:
        found = []
        most = min(
            server.memory_max_gb or float("inf"), (cpu.memory_max_gb or float("inf")) * server.cpu_sockets
        )
        for spec in self.memory:
            if spec.kind == "MRDIMM" and not takes_mrdimm(cpu):
                continue
            for per_channel, modules in fillings(server, cpu).items():
                if modules * spec.capacity_gb > most:
                    continue
                limit = cpu.memory_speed_mt_s if per_channel == 1 else cpu.memory_speed_2dpc_mt_s
                found.append(
                    MemoryChoice(
                        spec,
                        modules,
                        modules * spec.capacity_gb,
                        self.price[spec.sku] * modules,
                        min(limit, spec.speed_mt_s) if limit else None,
                    )
                )
        full_speed = [choice for choice in found if choice.spec.speed_mt_s >= (cpu.memory_speed_mt_s or 0)]
        return sorted(full_speed or found, key=lambda choice: (choice.eur, -choice.gb))

    def drives_for(self, server: ServerSpec) -> tuple[DriveSpec, ...]:
        """Data drives that fit the bays."""
        return self.remember(
            ("drives", self.key_of(server)),
            lambda: tuple(
                drive
                for drive in self.drives
                if drive.kind == "nvme" and fits_bay(drive, server) and drive.form != "M.2"
            ),
        )

    def drive_table(self, server: ServerSpec) -> tuple[tuple[DriveSpec, float], ...]:
        """`drives_for` with prices as plain numbers, for the search."""
        return self.remember(
            ("drive table", self.key_of(server)),
            lambda: tuple((drive, float(self.price[drive.sku])) for drive in self.drives_for(server)),
        )

    def boot_drive(self, least_gb: float) -> DriveSpec | None:
        return next(
            (drive for drive in self.drives if drive.kind == "boot" and drive.capacity_gb >= least_gb), None
        )

    def board_for(self, accelerator: AcceleratorSpec) -> AccessorySpec | None:
        return next(
            (item for item in self.accessories if item.kind == "board" and item.sku == accelerator.board_sku),
            None,
        )

    def bridge_for(self, accelerator: AcceleratorSpec, count: int) -> AccessorySpec | None:
        """The widest bridge that joins `count` cards without a rest."""
        fitting = [
            item
            for item in self.accessories
            if item.kind == "bridge"
            and accelerator.sku in item.accelerators
            and item.count
            and count % item.count == 0
        ]
        return max(fitting, key=lambda item: item.count, default=None)

    def as_joined(self, accelerator: AcceleratorSpec) -> AcceleratorSpec:
        """Cards with the link that the bridges of the catalog give them; without one they talk over PCIe."""
        if accelerator.link_kind != "bridge":
            return accelerator
        return self.remember(("joined", self.key_of(accelerator)), lambda: self._as_joined(accelerator))

    def _as_joined(self, accelerator: AcceleratorSpec) -> AcceleratorSpec:
        joins = [
            item.count or 1
            for item in self.accessories
            if item.kind == "bridge" and accelerator.sku in item.accelerators
        ]
        if not joins:
            return accelerator.model_copy(
                update={"link_kind": "none", "link_gb_s": None, "link_max_count": 0}
            )
        return accelerator.model_copy(update={"link_max_count": min(accelerator.link_max_count, max(joins))})

    def cord_for(self, inlet: str) -> CableSpec | None:
        """The power cord for a supply's inlet; None for direct current, busbars and unknown inlets."""
        wanted = "C19" if re.search(r"C19|C20", inlet) else "C13" if re.search(r"C13|C14", inlet) else ""
        if not wanted:
            return None
        fitting = [cable for cable in self.cables if cable.kind == "power" and wanted in cable.connector]
        return min(fitting, key=lambda cable: cable.reach_m is None, default=None)

    def cable(self, kind: str, connector: str, *, gbit_s: float = 0, reach_m: float = 0) -> CableSpec | None:
        """The cheapest cable of a kind whose connector starts so, fast and long enough."""
        return next(
            (
                cable
                for cable in self.cables
                if cable.kind == kind
                and cable.connector.startswith(connector)
                and (cable.gbit_s or 0) >= gbit_s
                and (cable.reach_m or 0) >= reach_m
            ),
            None,
        )

    # ── around the servers ──

    def service(self, purpose: str) -> ServiceSpec | None:
        return self.services.get(purpose)

    def cooling_items(self, kind: str) -> list[CoolingSpec]:
        return [item for item in self.cooling if item.kind == kind]

    def accessory(self, kind: str) -> AccessorySpec | None:
        return next((item for item in self.accessories if item.kind == kind), None)

    def rack(self, units: float, width_mm: float) -> RackSpec | None:
        """The cheapest rack at least so high and wide, else the largest there is."""
        fitting = [
            rack for rack in self.racks if rack.rack_units >= units and (rack.width_mm or 0) >= width_mm
        ]
        return fitting[0] if fitting else max(self.racks, key=lambda rack: rack.rack_units, default=None)

    def pdus_for(self, phases: int, amps: float) -> list[PduSpec]:
        return [pdu for pdu in self.pdus if pdu.phases == phases and pdu.amps <= amps]

    def offered_servers(self, role: str) -> list[ServerSpec]:
        """Buildable servers of a role with a price, cheapest chassis first."""
        rows = [
            server
            for server in self.servers.values()
            if role in server.roles and server.status is ServerStatus.BUILDABLE and server.sku in self.price
        ]
        return sorted(rows, key=lambda server: self.price[server.sku])


_made: dict[int, tuple[weakref.ref[CatalogSnapshot], Parts]] = {}


def parts_of(catalog: CatalogSnapshot) -> Parts:
    """The index of this snapshot, made at its first use."""
    known = _made.get(id(catalog))
    if known and known[0]() is catalog:
        return known[1]
    parts = Parts(catalog)
    key = id(catalog)
    _made[key] = (weakref.ref(catalog, lambda _: _made.pop(key, None)), parts)
    return parts


# ── what fits what ──────────────────────────────────────────────────────────────────────────────────────────────


def is_efficiency(cpu: CpuSpec) -> bool:
    return bool(EFFICIENCY_CORES.search(cpu.generation)) or cpu.name.endswith("E")


def takes_mrdimm(cpu: CpuSpec) -> bool:
    """Multiplexed-rank modules run only on the twelve-channel Xeon 6 platform."""
    return cpu.socket == "LGA7529"


def fillings(server: ServerSpec, cpu: CpuSpec) -> dict[int, int]:
    """Modules per channel to modules in all, for fillings that load every channel alike. Empty when unknown."""
    channels = (cpu.memory_channels or 0) * server.cpu_sockets
    if not channels or not server.dimm_slots:
        return {}
    return {
        per_channel: channels * per_channel
        for per_channel in (1, 2)
        if channels * per_channel <= server.dimm_slots
    }


BAY_TAKES = {"U.2": {"U.2", "U.3"}, "U.3": {"U.3"}}


def fits_bay(drive: DriveSpec, server: ServerSpec) -> bool:
    """A U.2 bay takes U.3 drives as well; other forms fit only their own bay. 'U.2/E3.S' is sold in either form."""
    accepted = set[str]().union(*(BAY_TAKES.get(form, {form}) for form in server.nvme_forms))
    return any(form in accepted for form in drive.form.split("/"))


def onboard_gbit_s(server: ServerSpec) -> float:
    """Ordinary network ports on the board, all together; fabric ports listed after a semicolon do not count."""
    found = LAN.findall(server.onboard_lan.split(";")[0])
    return sum(float(count) * float(speed) for count, speed in found)


def takes_aiom(server: ServerSpec) -> bool:
    return "AIOM" in server.onboard_lan
