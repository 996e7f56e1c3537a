"""The kinds of article, and the flat form that data files, database rows and forms share.

Flat: one value per column, named as in `catalog.specs`, with the provenance beside the figures and the price of a
cloud offer split into amount and currency. What one row cannot know (which board carries an accelerator) is joined
in `assemble`. Free of Django.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from operator import attrgetter
from typing import Any

from catalog.quantity import Frozen, Money
from catalog.specs import (
    AcceleratorSpec,
    AccessorySpec,
    CableSpec,
    CatalogSnapshot,
    CloudOffer,
    CoolingSpec,
    CpuSpec,
    DriveSpec,
    Item,
    MemorySpec,
    ModelArchitecture,
    NicSpec,
    PduSpec,
    Price,
    Provenance,
    RackSpec,
    ServerSpec,
    ServiceSpec,
    StorageSystemSpec,
    SwitchSpec,
)

PROVENANCE = tuple(Provenance.model_fields)
BOARD_FIELDS = ("board_sku", "board_count")  # told by the board's own row


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of row: its type, where the snapshot keeps it, and the file of its seed rows."""

    key: str
    spec: type[Item] | type[ModelArchitecture]
    snapshot_field: str
    file: str

    @property
    def identifier(self) -> str:
        return "sku" if "sku" in self.spec.model_fields else "key"

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the figures of this kind in flat form, without the provenance."""
        left_out = ("provenance", *BOARD_FIELDS, "hourly_eur")
        names = (name for name in self.spec.model_fields if name not in left_out)
        if self.spec is not CloudOffer:
            return tuple(names)
        return tuple(
            flat
            for name in names
            for flat in (("hourly_amount", "currency") if name == "hourly" else (name,))
        )


KINDS: Mapping[str, Kind] = {
    kind.key: kind
    for kind in (
        Kind("accelerator", AcceleratorSpec, "accelerators", "accelerators.csv"),
        Kind("server", ServerSpec, "servers", "servers.yaml"),
        Kind("cpu", CpuSpec, "cpus", "cpus.csv"),
        Kind("memory", MemorySpec, "memory", "memory.csv"),
        Kind("drive", DriveSpec, "drives", "drives.csv"),
        Kind("nic", NicSpec, "nics", "nics.csv"),
        Kind("switch", SwitchSpec, "switches", "switches.csv"),
        Kind("cable", CableSpec, "cables", "cables.csv"),
        Kind("storage_system", StorageSystemSpec, "storage_systems", "storage_systems.csv"),
        Kind("rack", RackSpec, "racks", "racks.csv"),
        Kind("pdu", PduSpec, "pdus", "pdus.csv"),
        Kind("cooling", CoolingSpec, "cooling", "cooling.csv"),
        Kind("accessory", AccessorySpec, "accessories", "accessories.csv"),
        Kind("service", ServiceSpec, "services", "services.csv"),
        Kind("cloud_offer", CloudOffer, "cloud_offers", "cloud_offers.csv"),
        Kind("ai_model", ModelArchitecture, "models", "models.yaml"),
    )
}


def build(kind: Kind, flat: Mapping[str, Any]) -> Item | ModelArchitecture:
    """The spec of one flat row. Keys that are no column of `kind` are ignored; pydantic's ValidationError if unfit."""
    values = {name: flat[name] for name in kind.columns if name in flat and flat[name] is not None}
    if kind.spec is CloudOffer:
        amount, currency = values.pop("hourly_amount", None), values.pop("currency", None)
        if amount is not None and currency:
            values["hourly"] = Money(amount=amount, currency=currency)
            rate = values.get("exchange_rate", Decimal(1))
            values["hourly_eur"] = (amount * rate).quantize(Decimal("0.0001"))
        values.setdefault("accelerator_sku", None)
    values["provenance"] = {name: flat[name] for name in PROVENANCE if flat.get(name) not in (None, "")}
    return kind.spec.model_validate(values)


# ── prices ──────────────────────────────────────────────────────────────────────────────────────────────────────


class PriceRow(Frozen):
    """A list price with the days it holds, both included; an open end is None."""

    sku: str
    amount: Money
    category: str = ""
    valid_from: date | None = None
    valid_until: date | None = None
    lead_time_weeks: int | None = None
    lead_time_stated_on: date | None = None
    demonstration: bool = True
    indicative: bool = True
    source: str = ""

    def holds_on(self, day: date) -> bool:
        return (self.valid_from is None or self.valid_from <= day) and (
            self.valid_until is None or day <= self.valid_until
        )


def overlap(first: date | None, last: date | None, other_first: date | None, other_last: date | None) -> bool:
    """Whether two spans of days share a day; both ends included, None is open."""
    return (last is None or other_first is None or other_first <= last) and (
        other_last is None or first is None or first <= other_last
    )


def prices_on(day: date, rows: Iterable[PriceRow]) -> dict[str, Price]:
    """The price of every SKU that has one on `day`, in euro when there is a choice, then the most recent."""
    chosen: dict[str, PriceRow] = {}
    for row in rows:
        if row.holds_on(day) and (row.sku not in chosen or _rank(row) > _rank(chosen[row.sku])):
            chosen[row.sku] = row
    return {sku: Price.model_validate(row.model_dump(exclude={"sku"})) for sku, row in sorted(chosen.items())}


def _rank(row: PriceRow) -> tuple[bool, date]:
    return row.amount.currency == "EUR", row.valid_from or date.min


# ── the whole ───────────────────────────────────────────────────────────────────────────────────────────────────


def assemble(
    version: str, specs: Mapping[str, Sequence[Any]], prices: Mapping[str, Price], day: date
) -> CatalogSnapshot:
    """A snapshot of active `specs` by kind, each sorted by SKU or key, and the `prices` of `day`."""
    sorted_specs = {
        key: tuple(sorted(rows, key=attrgetter(KINDS[key].identifier))) for key, rows in specs.items()
    }
    boards = [item for item in sorted_specs.get("accessory", ()) if item.kind == "board"]
    sorted_specs["accelerator"] = tuple(
        _on_board(item, boards) for item in sorted_specs.get("accelerator", ())
    )
    return CatalogSnapshot(
        version=version,
        taken_on=day,
        prices=prices,
        **{KINDS[key].snapshot_field: rows for key, rows in sorted_specs.items()},
    )


def _on_board(accelerator: AcceleratorSpec, boards: Iterable[AccessorySpec]) -> AcceleratorSpec:
    for board in boards:
        if accelerator.sku in board.accelerators:
            return accelerator.model_copy(update={"board_sku": board.sku, "board_count": board.count})
    return accelerator
