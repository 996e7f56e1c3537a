"""The output of rocm-smi (its table and its lines `GPU[0] : …`) and of amd-smi (its table and three subcommands).

Sources of the forms: rocm-smi(1) on manpages.ubuntu.com, AMD's documentation of ROCm SMI and AMD SMI
(rocm.docs.amd.com), and published outputs of ROCm 3 to 7. Only the table of amd-smi 26 (ROCm 7) names the product:
beside the others `rocm-smi --showproductname` or `amd-smi static` must be pasted as well, or the GPU chosen by hand.
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
PARTITION = re.compile(r"\bNPS\d+,\s*(SPX|DPX|TPX|QPX|CPX),\s*(\d{1,3})\b")
WATT = re.compile(r"(?<![\d.])(\d{1,5}(?:\.\d{1,3})?)\s?W\b")
PART = re.compile(r"(\d[\d.]*)\s+(W|°C|MHz|%|GB|MB|RPM|V)(?=\s|$)")


class Rocm:
    """rocm-smi."""

    def __init__(self, book: Book) -> None:
        self.book, self.table = book, False
        self.parts: set[int] = set()  # further parts of a GPU that is divided; they are numbered as GPUs

    def feed(self, line: str) -> bool:
        if found := FIELD.match(line):
            if (read := PER_GPU.get(found[2].lower())) and int(found[1]) not in self.parts:
                self._numbered(int(found[1]), **{read[0]: read[1](found[3])})
            return True
        if "PwrCap" in line and "GPU%" in line:
            self.table, self.parts = True, set()
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
        last, part = line.split(), PARTITION.search(line)
        if part and int(part[2]):
            self.parts.add(index)
            return
        heat, watts = HEAT.search(line), WATT.findall(line)
        self._numbered(
            index,
            temperature_c=cells.number(heat[1], 0, 200) if heat else None,
            power_w=cells.number(watts[0], 0, 10_000) if watts else None,
            power_cap_w=cells.positive(watts[-1], 10_000) if len(watts) > 1 else None,
            utilisation_pct=cells.number(last[-1], 0, 100) if last[-1].endswith("%") else None,
            divided=True if part and part[1] != "SPX" else None,
        )


class AmdTable:
    """The table that amd-smi prints without arguments: two lines of cells per GPU, the list of processes below."""

    HEAD = re.compile(r"\|\s*AMD-SMI\s+\d.*?amdgpu version:(.*?)(?:ROCm|\|)")
    NAMED = re.compile(
        r"^\s*([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2})\.[0-9a-f]\s+(\S.{0,60}?)\s*$", re.IGNORECASE
    )
    STATE = re.compile(
        r"^\s*(?:N/A|\d+ *%)\s+(N/A|\d{1,3} *°?C)\s+(\d{1,9}|N/A)\s+(\d{1,5}|N/A)/(\d{1,5}|N/A) *W"
    )
    USED = re.compile(r"(\d{1,8})/(\d{1,8}) *MB")

    def __init__(self, book: Book) -> None:
        self.book, self.active, self.bus = book, False, ""

    def feed(self, line: str) -> bool:
        if head := self.HEAD.search(line):
            self.book.start("amd-smi-table", head[1])
            self.active, self.bus = True, ""
            return True
        self.active = self.active and line.lstrip()[:1] in {"|", "+"} and "NVIDIA-SMI" not in line
        if not self.active or "|" not in line:
            return self.active
        row = line.partition("|")[2].split("|")
        if named := self.NAMED.match(row[0]):
            again, self.bus = named[1] == self.bus, named[1]
            if again:  # a further part of a GPU that is divided
                self.book.add(divided=True)
            else:
                self.book.gpu(name=cells.name(named[2].lstrip(".")))
                self._state(row[1])
        elif self.bus and len(row) > 1 and (used := self.USED.search(row[1])):
            share = row[1].split("%")[0] if "%" in row[1][:10] else ""
            self.book.add(
                memory_used_mib=float(used[1]), memory_mib=float(used[2]) or None,
                utilisation_pct=cells.number(share, 0, 100),
                divided=True if re.search(r"\b[DTQC]PX/", row[0]) else None,
            )  # fmt: skip
        return True

    def _state(self, cell: str) -> None:
        if state := self.STATE.match(cell):
            errors = cells.number(state[2])
            self.book.add(
                temperature_c=cells.number(state[1], 0, 200),
                ecc_errors_count=None if errors is None else int(errors),
                power_w=cells.number(state[3], 0, 10_000),
                power_cap_w=cells.positive(state[4], 10_000),
            )


FIELDS: Mapping[tuple[str, str], tuple[str, Callable[[str], Any]]] = {
    ("ASIC", "MARKET_NAME"): ("name", cells.name),
    ("VRAM", "SIZE"): ("memory_mib", lambda cell: cells.mib(cell) or None),
    ("USAGE", "GFX_ACTIVITY"): ("utilisation_pct", lambda cell: cells.number(cell, 0, 100)),
    ("POWER", "SOCKET_POWER"): ("power_w", lambda cell: cells.number(cell, 0, 10_000)),
    ("TEMPERATURE", "HOTSPOT"): ("temperature_c", lambda cell: cells.number(cell, 0, 200)),
    ("MEM_USAGE", "TOTAL_VRAM"): ("memory_mib", lambda cell: cells.mib(cell) or None),
    ("MEM_USAGE", "USED_VRAM"): ("memory_used_mib", cells.mib),
}
"""By section and key of `amd-smi static` and `amd-smi metric`."""


class AmdSmi:
    """amd-smi with a subcommand."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self.columns: list[str] = []
        self.index: int | None = None
        self.section = ""

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
            self.section = key
        elif read := FIELDS.get((self.section, key)):
            self.book.numbered(self.index, **{read[0]: read[1](value)})
        return True
