"""The output of rocm-smi (its table and its lines `GPU[0] : …`), `amd-smi monitor` and `amd-smi static`.

Sources of the forms: rocm-smi(1) on manpages.ubuntu.com, AMD's documentation of ROCm SMI and AMD SMI
(rocm.docs.amd.com), and published outputs of ROCm 3 to 7. The tables name no product: `rocm-smi --showproductname` or
`amd-smi static` must be pasted as well, or the GPU chosen by hand.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from configurator.existing import cells
from configurator.existing.book import Book

FIELD = re.compile(r"^\s*GPU\[(\d{1,3})\]\s*:\s*([^:]{1,80}?)\s*:\s*(.{0,200})$")
PER_GPU: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "card series": ("name", cells.name),
    "temperature (sensor junction) (c)": ("temperature_c", lambda cell: cells.number(cell, 0, 200)),
    "average graphics package power (w)": ("power_w", lambda cell: cells.number(cell, 0, 10_000)),
    "current socket graphics package power (w)": ("power_w", lambda cell: cells.number(cell, 0, 10_000)),
    "max graphics package power (w)": ("power_cap_w", lambda cell: cells.positive(cell, 10_000)),
    "gpu use (%)": ("utilisation_pct", lambda cell: cells.number(cell, 0, 100)),
    "vram total memory (b)": ("memory_mib", lambda cell: cells.mib(cell, "b") or None),
    "vram total used memory (b)": ("memory_used_mib", lambda cell: cells.mib(cell, "b")),
}
ROW = re.compile(r"^\s*(\d{1,3})\s+\S")
HEAT = re.compile(r"(?<![\d.])(\d{1,3}(?:\.\d)?)\s?°?[cC](?![A-Za-z])")
WATT = re.compile(r"(?<![\d.])(\d{1,5}(?:\.\d{1,3})?)\s?W\b")
PART = re.compile(r"(\d[\d.]*)\s+(W|°C|MHz|%|GB|MB|RPM|V)(?=\s|$)")


class Rocm:
    """rocm-smi."""

    def __init__(self, book: Book) -> None:
        self.book, self.table = book, False

    def feed(self, line: str) -> bool:
        if found := FIELD.match(line):
            if read := PER_GPU.get(found[2].lower()):
                self._numbered(int(found[1]), **{read[0]: read[1](found[3])})
            return True
        if "PwrCap" in line and "GPU%" in line:
            self.table = True
            return True
        if self.table and (row := ROW.match(line)):
            self._row(int(row[1]), line)
            return True
        return False

    def _numbered(self, index: int, **fields: Any) -> None:
        """Readings of one GPU. What repeats a reading that is there already is of another machine."""
        there = self.book.current.numbered.get(index, {})
        again = any(value is not None and key in there for key, value in fields.items())
        if self.book.current.layout != "rocm" or self.book.host or again:
            self.book.start("rocm")
        self.book.numbered(index, **fields)

    def _row(self, index: int, line: str) -> None:
        last = line.split()
        heat, watts = HEAT.search(line), WATT.findall(line)
        self._numbered(
            index,
            temperature_c=cells.number(heat[1], 0, 200) if heat else None,
            power_w=cells.number(watts[0], 0, 10_000) if watts else None,
            power_cap_w=cells.positive(watts[-1], 10_000) if len(watts) > 1 else None,
            utilisation_pct=cells.number(last[-1], 0, 100) if last[-1].endswith("%") else None,
        )


class AmdSmi:
    """amd-smi."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self.columns: list[str] = []
        self.index: int | None = None
        self.in_vram = False

    def feed(self, line: str) -> bool:
        words = line.split()
        if words[:1] == ["GPU"] and "POWER" in words and {"GPU_T", "GFX%"} & {*words}:
            self._begin()
            self.columns = words
            return True
        if self.columns and ROW.match(line):
            return self._row(line)
        self.columns = []
        return self._static(line)

    def _begin(self) -> None:
        if self.book.current.layout != "amd-smi" or self.book.host:
            self.book.start("amd-smi")

    def _row(self, line: str) -> bool:
        parts = re.sub(r"/\s+", "/", PART.sub(r"\1\2", line)).split()
        if len(parts) != len(self.columns):
            return True
        row = dict(zip(self.columns, parts, strict=True))
        used, _slash, total = row.get("VRAM_USAGE", "").partition("/")
        self.book.numbered(
            int(row["GPU"]),
            power_w=cells.number(row["POWER"].rstrip("W"), 0, 10_000),
            power_cap_w=cells.positive(row.get("PWR_CAP", "").rstrip("W"), 10_000),
            temperature_c=cells.number(row.get("GPU_T", "").removesuffix("°C"), 0, 200),
            utilisation_pct=cells.number(row.get("GFX%", "").rstrip("%"), 0, 100),
            memory_used_mib=cells.mib(row.get("VRAM_USED", used), "gb"),
            memory_mib=cells.mib(row.get("VRAM_TOTAL", total), "gb") or None,
        )
        return True

    def _static(self, line: str) -> bool:
        key, colon, value = (part.strip() for part in line.partition(":"))
        if key == "GPU" and value.isascii() and value.isdecimal() and len(value) < 4:
            self._begin()
            self.index = int(value)
            self.book.numbered(self.index)
            return True
        if self.index is None:
            return False
        if not line[:1].isspace():
            self.index = None if line.strip() else self.index
            return False
        if colon and not value:
            self.in_vram = key == "VRAM"
        elif key == "MARKET_NAME":
            self.book.numbered(self.index, name=cells.name(value))
        elif key == "SIZE" and self.in_vram:
            self.book.numbered(self.index, memory_mib=cells.mib(value) or None)
        return True
