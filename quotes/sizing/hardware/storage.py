"""Where the data stands: in the server, on fast shared storage, on a capacity tier, or on what the customer has.

Sized by capacity *and* by bandwidth: accelerators that wait for data cost more than storage. Terabytes are 10^12
bytes, bandwidths 10^9 bytes per second.
"""

from collections.abc import Sequence
from decimal import Decimal
from math import ceil
from typing import NamedTuple

from catalog.quantity import Message, Quantity, noop
from catalog.specs import NicSpec, StorageSystemSpec
from configurator.workload import Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.hardware.bill import Broken, Line, broken
from quotes.sizing.hardware.parts import Parts
from quotes.sizing.results import LineRole, LoadOption, StoragePlan
from quotes.sizing.trace import Figure, Input

GROUP = "storage"


class StorageNeed(NamedTuple):
    """Usable terabytes at the horizon, before room to breathe: read while training, and merely kept."""

    hot_tb: float = 0
    cold_tb: float = 0
    read_gb_s: float = 0
    write_gb_s: float = 0

    @property
    def tb(self) -> float:
        return self.hot_tb + self.cold_tb


class Store(NamedTuple):
    """Chosen shared storage; watts at the wall."""

    tiers: tuple[tuple[StorageSystemSpec, int], ...]
    nic: NicSpec | None
    nics: int
    lines: tuple[Line, ...]
    wall_w: float
    estimated: bool

    @property
    def units(self) -> int:
        return sum(number for _, number in self.tiers)


def storage_need(
    workload: Workload, loads: Sequence[LoadOption], training_gpus: int, assumptions: Assumptions
) -> StorageNeed:
    """`training_gpus`: accelerators that train over several servers, 0 when none do; they set the least bandwidth."""
    data, growth = workload.data, workload.growth
    factor = (1 + data.growth_pct_per_year / 100) ** growth.horizon_years
    dataset = data.dataset_tb * factor
    checkpoints = assumptions.checkpoints_kept_count * sum(load.host.checkpoint_tb for load in loads)
    hot = checkpoints
    if workload.jobs:
        wished = data.dataset_tb if data.hot_dataset_tb is None else min(data.hot_dataset_tb, data.dataset_tb)
        hot += wished * factor
    kept = dataset * data.copies - (hot - checkpoints)
    read = sum(load.host.storage_read_gb_s for load in loads)
    if not read and dataset:
        read = training_gpus * assumptions.storage_read_gb_s_per_gpu
    return StorageNeed(
        hot_tb=hot,
        cold_tb=max(kept, 0),
        read_gb_s=read,
        write_gb_s=max((load.host.storage_write_gb_s for load in loads), default=0),
    )


def local_tb(need: StorageNeed, assumptions: Assumptions) -> float:
    """Usable terabytes in the server that hold the data with room; `NodeDemand.raw_tb` adds mirror or parity."""
    return need.tb / fill_fraction(assumptions)


def fill_fraction(assumptions: Assumptions) -> float:
    """Share of usable storage that data may take: the rest is for snapshots and for room to breathe."""
    return assumptions.storage_fill_fraction * (1 - assumptions.storage_snapshot_fraction)


def units_needed(
    need: StorageNeed, usable_tb: float, read_gb_s: float, write_gb_s: float, least: int = 1, fill: float = 1
) -> int:
    """Units by the scarcest of capacity, read and write bandwidth; never fewer than `least`."""
    by = [least, ceil(need.tb / (usable_tb * fill) - 1e-9)]
    if need.read_gb_s:
        by.append(ceil(need.read_gb_s / read_gb_s - 1e-9))
    if need.write_gb_s:
        by.append(ceil(need.write_gb_s / write_gb_s - 1e-9))
    return max(by)


def plan_store(
    need: StorageNeed, parts: Parts, assumptions: Assumptions, fixed: tuple[str, int] | None = None
) -> Store | Broken | None:
    """Shared storage for `need`, cheapest tiers that carry it; `fixed`: one system and its number, chosen by hand."""
    if fixed:
        system = next((item for item in parts.storage_systems if item.sku == fixed[0]), None)
        if system is None:
            return _none(need)
        return _store(((system, fixed[1]),), parts, assumptions)
    if not need.tb and not need.read_gb_s and not need.write_gb_s:
        return None
    key = ("store", need, parts.number_of(assumptions))
    return parts.remember(key, lambda: _cheapest(need, parts, assumptions))


def _cheapest(need: StorageNeed, parts: Parts, assumptions: Assumptions) -> Store | Broken:
    """All on one hot system, or hot and cold apart, whichever costs less."""
    together = _tier(need, {"hot"}, parts, assumptions)
    hot = StorageNeed(need.hot_tb, 0, need.read_gb_s, need.write_gb_s)
    apart = _apart(hot, need.cold_tb, parts, assumptions)
    options = [tiers for tiers in (((together,) if together else None), apart) if tiers]
    if not options:
        return _none(need)
    return _store(min(options, key=lambda tiers: _eur(tiers, parts)), parts, assumptions)


def _apart(
    hot: StorageNeed, cold_tb: float, parts: Parts, assumptions: Assumptions
) -> tuple[tuple[StorageSystemSpec, int], ...] | None:
    fast = _tier(hot, {"hot"}, parts, assumptions) if hot.tb or hot.read_gb_s or hot.write_gb_s else None
    if fast is None and (hot.tb or hot.read_gb_s or hot.write_gb_s):
        return None
    slow = _tier(StorageNeed(cold_tb=cold_tb), {"hot", "capacity"}, parts, assumptions) if cold_tb else None
    if slow is None and cold_tb:
        return None
    return tuple(tier for tier in (fast, slow) if tier)


def _tier(
    need: StorageNeed, tiers: set[str], parts: Parts, assumptions: Assumptions
) -> tuple[StorageSystemSpec, int] | None:
    """The cheapest system that carries the need; one that does not scale out may not be multiplied."""
    found = []
    for system in parts.storage_systems:
        if system.tier not in tiers or not system.usable_tb or not system.read_gb_s:
            continue
        if need.write_gb_s and not system.write_gb_s:
            continue
        number = units_needed(
            need,
            system.usable_tb,
            system.read_gb_s,
            system.write_gb_s or 0,
            system.minimum_count,
            fill_fraction(assumptions),
        )
        if number == 1 or system.scale_out:
            found.append((system, number))
    return min(found, key=lambda pair: _eur((pair,), parts), default=None)


def _eur(tiers: Sequence[tuple[StorageSystemSpec, int]], parts: Parts) -> Decimal:
    return sum((parts.price[line.sku] * line.quantity for line in _lines(tiers, parts)), Decimal(0))


def _lines(tiers: Sequence[tuple[StorageSystemSpec, int]], parts: Parts) -> list[Line]:
    lines = []
    for system, number in tiers:
        why = noop("Shared storage: {usable} TB usable, {read} GB/s read.")
        params = {
            "usable": Quantity(value=number * (system.usable_tb or 0), digits=4),
            "read": Quantity(value=number * (system.read_gb_s or 0), digits=3),
        }
        lines.append(Line(system.sku, number, LineRole.STORAGE, GROUP, why, params))
        if system.licence_sku and system.licence_sku in parts.price:
            usable = ceil(number * (system.usable_tb or 0))
            lines.append(
                Line(system.licence_sku, usable, LineRole.LICENCE, GROUP, noop("Per usable terabyte."))
            )
        if nic := nic_for(system, parts):
            lines.append(
                Line(nic.sku, number, LineRole.NIC, GROUP, noop("Its network ports; not inside the unit."))
            )
    return lines


def nic_for(system: StorageSystemSpec, parts: Parts) -> NicSpec | None:
    """The card with the ports that a unit needs, as fast as the unit reads."""
    if not system.nic_ports_needed:
        return None
    return next(
        (
            nic
            for nic in parts.nics
            if nic.kind == "nic"
            and nic.ports >= system.nic_ports_needed
            and nic.ports * nic.port_gbit_s >= (system.read_gb_s or 0) * 8
        ),
        None,
    )


def _store(tiers: tuple[tuple[StorageSystemSpec, int], ...], parts: Parts, assumptions: Assumptions) -> Store:
    nic = next((nic for system, _ in tiers if (nic := nic_for(system, parts))), None)
    nics = sum(number for system, number in tiers if system.nic_ports_needed)
    unknown = any(system.max_power_w is None for system, _ in tiers)
    wall_w = sum(number * (system.max_power_w or 0) for system, number in tiers)
    if nic:
        wall_w += nics * (nic.power_w or assumptions.part_power_unknown_w)
    return Store(tiers, nic, nics if nic else 0, tuple(_lines(tiers, parts)), wall_w, unknown)


def _none(need: StorageNeed) -> Broken:
    return broken(
        "storage_none",
        noop("The catalog has no storage for {tb} TB at {read} GB/s read and {write} GB/s write."),
        noop("Use storage you have, keep fewer copies, or enter a larger system in the catalog."),
        stage="catalog",
        kind="server",
        tb=Quantity(value=need.tb, digits=3),
        read=Quantity(value=need.read_gb_s, digits=3),
        write=Quantity(value=need.write_gb_s, digits=3),
    )


# ── results ─────────────────────────────────────────────────────────────────────────────────────────────────────


def storage_result(need: StorageNeed, store: Store | None, nvme_tb: float) -> StoragePlan:
    """`nvme_tb`: raw terabytes of data drives in all servers together."""
    tiers = store.tiers if store else ()
    return StoragePlan(
        usable_tb=sum(number * (system.usable_tb or 0) for system, number in tiers),
        raw_tb=sum(number * (system.raw_tb or system.usable_tb or 0) for system, number in tiers),
        read_gb_s=max((number * (system.read_gb_s or 0) for system, number in tiers), default=0),
        write_gb_s=max((number * (system.write_gb_s or 0) for system, number in tiers), default=0),
        needed_tb=need.tb,
        needed_read_gb_s=need.read_gb_s,
        needed_write_gb_s=need.write_gb_s,
        local_nvme_tb=nvme_tb,
        system=tiers[0][0].sku if tiers else "",
    )


def storage_figure(
    need: StorageNeed, plan: StoragePlan, workload: Workload, assumptions: Assumptions
) -> Figure:
    data = workload.data

    def given(label: str, value: float, unit: str, source: str, assumption: str | None = None) -> Input:
        return Input(
            name=Message.of(label),
            value=Quantity(value=value, unit=unit, digits=4),
            source=source,
            assumption=assumption,
        )

    return Figure(
        key="storage_needed",
        label=Message.of(noop("Storage needed at the horizon")),
        value=Quantity(value=need.tb, unit="TB", digits=3),
        formula=noop("data × copies × (1 + growth) ^ years + checkpoints × kept"),
        inputs=(
            given(noop("data"), data.dataset_tb, "TB", "answer"),
            given(noop("copies"), data.copies, "", "answer"),
            given(noop("growth per year"), data.growth_pct_per_year, "%", "answer"),
            given(noop("years"), workload.growth.horizon_years, "years", "answer"),
            given(noop("of which read while training"), need.hot_tb, "TB", "", "checkpoints_kept_count"),
            given(
                noop("share that data may take, the rest for room"),
                assumptions.storage_fill_fraction,
                "",
                "assumption",
                "storage_fill_fraction",
            ),
            given(
                noop("share kept for snapshots"),
                assumptions.storage_snapshot_fraction,
                "",
                "assumption",
                "storage_snapshot_fraction",
            ),
            *(
                one
                for one in (
                    given(
                        noop("read bandwidth needed"), need.read_gb_s, "GB/s", "", "storage_read_gb_s_per_gpu"
                    ),
                    given(noop("write bandwidth needed"), need.write_gb_s, "GB/s", ""),
                    given(noop("shared storage, usable"), plan.usable_tb, "TB", "catalog"),
                    given(noop("local drives, raw"), plan.local_nvme_tb, "TB", "catalog"),
                )
                if isinstance(one.value, Quantity) and one.value.value  # not what is not asked or not known
            ),
        ),
    )
