"""One line per GPU: `nvidia-smi --query-gpu=… --format=csv`, `nvidia-smi -L`, and what people type themselves."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from configurator.existing import cells
from configurator.existing.book import Book

# Property names of `nvidia-smi --help-query-gpu`; the last four are of our own clean copy (`writing`).
PROPERTIES: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "name": ("name", cells.name),
    "gpu_name": ("name", cells.name),
    "driver_version": ("driver", str),
    "memory.total": ("memory_mib", lambda cell: cells.mib(cell) or None),
    "memory.used": ("memory_used_mib", cells.mib),
    "utilization.gpu": ("utilisation_pct", lambda cell: cells.number(cell, 0, 100)),
    "temperature.gpu": ("temperature_c", lambda cell: cells.number(cell, 0, 200)),
    "power.draw": ("power_w", lambda cell: cells.number(cell, 0, 10_000)),
    "power.draw.average": ("power_w", lambda cell: cells.number(cell, 0, 10_000)),
    "power.draw.instant": ("power_w", lambda cell: cells.number(cell, 0, 10_000)),
    "power.limit": ("power_cap_w", lambda cell: cells.positive(cell, 10_000)),
    "enforced.power.limit": ("power_cap_w", lambda cell: cells.positive(cell, 10_000)),
    "ecc.errors.uncorrected.volatile.total": ("ecc_errors_count", lambda cell: _whole(cell)),
    "mig.mode.current": ("divided", lambda cell: cell == "Enabled" or None),
    "count": ("count", lambda cell: int(cells.number(cell, 1, 1024) or 1)),
    "held_back_by": ("throttled_by", lambda cell: frozenset(cell.split()) & {"temperature", "power"}),
    "state": ("failing", lambda cell: cell == "failing" or None),
    "article": ("sku", lambda cell: cell if re.fullmatch(r"[a-z0-9][a-z0-9.-]{0,79}", cell) else ""),
}
REASONS: Mapping[str, str] = {
    "hw_thermal_slowdown": "temperature",
    "sw_thermal_slowdown": "temperature",
    "sw_power_cap": "power",
    "hw_power_brake_slowdown": "power",
}
BITS: Mapping[int, str] = {0x04: "power", 0x20: "temperature", 0x40: "temperature", 0x80: "power"}
"""Of `clocks_event_reasons.active`: nvml.h, nvmlClocksEventReason…"""

IDENTITY = frozenset({"index", "uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id"})
READINGS = frozenset({"memory.total", "utilization.gpu", "temperature.gpu", "power.draw"})
COLUMN = re.compile(r"[a-z][a-z0-9_.]{0,60}(?:\s*\[[^\]]{0,20}\])?")
MAKERS = re.compile(r"(?:NVIDIA|Tesla|Quadro|GeForce|GRID|AMD|Instinct)\b")


def _whole(cell: str) -> int | None:
    found = cells.number(cell, 0, 1e9)
    return None if found is None else int(found)


def _reasons(column: str, cell: str) -> frozenset[str]:
    """What holds the clock down: one column per reason, or all of them as bits."""
    table, _dot, reason = column.partition(".")
    if table not in {"clocks_event_reasons", "clocks_throttle_reasons"}:
        return frozenset()
    if reason == "active" and re.fullmatch(r"0x[0-9A-Fa-f]{1,16}", cell):
        return frozenset(kind for bit, kind in BITS.items() if int(cell, 16) & bit)
    return frozenset({REASONS[reason]}) if reason in REASONS and cell == "Active" else frozenset()


class Csv:
    """With or without its line of names; without it only names and the largest amount of memory can be told.

    A GPU that comes again under the same index or id was asked again: its newest readings count.
    """

    def __init__(self, book: Book) -> None:
        self.book = book
        self.columns: list[str] = []
        self.bare = False

    def feed(self, line: str) -> bool:
        row = [cell.strip() for cell in line.split(",")]
        if line.strip() == "name" or (len(row) > 1 and all(COLUMN.fullmatch(cell) for cell in row)):
            columns = [cell.partition("[")[0].strip() for cell in row]
            if {"name", "gpu_name", "count"} & {*columns} or READINGS & {*columns}:
                self.columns, self.bare = columns, False
                self.book.start("csv")
                return True
        if self.columns and len(row) == len(self.columns) and line.strip():
            self._row(row)
            return True
        self.columns = []
        self.bare = self._bare(row)
        return self.bare

    def _row(self, row: list[str]) -> None:
        fields: dict[str, Any] = {}
        for column, cell in zip(self.columns, row, strict=True):
            if column in PROPERTIES:
                field, read = PROPERTIES[column]
                if field == "driver":
                    self.book.driver(cell)
                elif (value := read(cell)) is not None:
                    fields[field] = value
                if cells.BROKEN.search(cell):
                    fields["failing"] = True
            elif held := _reasons(column, cell):
                fields["throttled_by"] = fields.get("throttled_by", frozenset()) | held
        known = [cell for column, cell in zip(self.columns, row, strict=True) if column in IDENTITY]
        if known:
            self.book.numbered(" ".join(known), **fields)
        else:
            self.book.gpu(**fields)

    def _bare(self, row: list[str]) -> bool:
        name = next((cell for cell in row[:3] if MAKERS.match(cell)), "")
        if len(row) < 2 or not name:
            return False
        if not self.bare:
            self.book.start("csv")
        amounts = [cells.mib(cell) or 0 for cell in row if re.fullmatch(r"\d+ MiB", cell)]
        self.book.gpu(name=cells.name(name), memory_mib=max(amounts, default=0) or None)
        return True


class Names:
    """`GPU 0: NVIDIA A100-PCIE-40GB (UUID: …)` of `nvidia-smi -L`, and `2 x RTX 3090` as people write it."""

    LISTED = re.compile(r"^\s*GPU\s+(\d{1,3}):\s+(\S[^(]{0,90})")
    SLICE = re.compile(r"^\s*MIG\s+\S+\s+Device\s+\d")
    BARE = re.compile(r"^\s*(?:NVIDIA|Tesla|Quadro|AMD)(?: [A-Za-z0-9.-]{1,20}){1,7}\s*$")
    CHIP = re.compile(r"\b(?:[ABGHLPTV]|GB|GH|MI|RTX |RTX A|RTX PRO |GTX )\d{1,4}[A-Za-z]{0,3}\b")
    TYPED = re.compile(r"^\s*(\d{1,4})\s*[x×*]\s*([A-Za-z][^,|:=]{1,60})$")
    TYPED_AFTER = re.compile(r"^\s*([A-Za-z][^,|:=]{1,60}?)\s+[x×*]\s*(\d{1,4})\s*$")

    def __init__(self, book: Book) -> None:
        self.book = book

    def feed(self, line: str) -> bool:
        if found := self.LISTED.match(line):
            if int(found[1]) == 0 or self.book.current.layout != "list" or self.book.host:
                self.book.start("list")
            self.book.gpu(name=cells.name(found[2]))
            return True
        if self.SLICE.match(line):
            self.book.add(divided=True)
            return True
        typed = self.TYPED.match(line)
        count, name = (typed[1], typed[2]) if typed else ("", "")
        if after := self.TYPED_AFTER.match(line):
            count, name = after[2], after[1]
        if not name and self.BARE.match(line) and self.CHIP.search(line):
            count, name = "1", line  # `--query-gpu=name --format=csv,noheader`
        if not name or not 1 <= int(count) <= 1024:
            return False
        if self.book.current.layout != "typed" or self.book.host:
            self.book.start("typed")
        self.book.gpu(name=cells.name(name), count=int(count))
        return True
