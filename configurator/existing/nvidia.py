"""The output of nvidia-smi: its table, `-q`, `--query-gpu … --format=csv` and `-L`.

Sources of the forms: the manual nvidia-smi(1) of drivers 340 to 610 (manpages.ubuntu.com, man.archlinux.org), NVIDIA's
MIG user guide, and many published outputs. NVIDIA does not promise that the forms stay the same: what is not
recognised is left out, never guessed.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from configurator.existing import cells
from configurator.existing.book import Book

BUS = re.compile(r"\b[0-9A-F]{4,8}:[0-9A-F]{2}:[0-9A-F]{2}\.[0-9A-F]\b", re.IGNORECASE)

# ── the table ───────────────────────────────────────────────────────────────────────────────────────────────────

FIRST = re.compile(r"^\s*(\d{1,4})\s+(\S.{0,60}?)\s+(?:On|Off|N/A|TCC|WDDM|MCDM|ERR!)\s*$")
MEMORY = re.compile(r"(\d{1,8})\s*MiB\s*/\s*(\d{1,8})\s*MiB")
POWER = re.compile(r"([\d.]{1,9}|N/A|ERR!)\s*W?\s*/\s*([\d.]{1,9}|N/A|ERR!)\s*W?")
TEMPERATURE = re.compile(r"\b(\d{1,3})\s*C\b")
SHARE = re.compile(r"\b(\d{1,3})\s*%")
LOST = re.compile(r"unable to determine the device handle", re.IGNORECASE)


class Table:
    """Three lines of cells per GPU; the lists of MIG slices and of processes below them are passed over."""

    def __init__(self, book: Book) -> None:
        self.book, self.section = book, ""

    def feed(self, line: str) -> bool:
        if "NVIDIA-SMI" in line and "|" in line:
            version = line.partition("Driver Version")[2]
            self.book.start("table", version or line)
            self.section = "gpus"
            return True
        if LOST.search(line):
            self._begin()
            self.book.gpu(failing=True)
            return True
        if "|" not in line:
            return False
        if re.search(r"\b(?:Processes|processes|MIG devices):", line):
            self.section = "passed over"
            return True
        return self._row(line.partition("|")[2].split("|"))

    def _begin(self) -> None:
        """A line about a GPU: of the table that began above, or of one whose head was left out."""
        if not self.section or self.book.host or self.book.current.layout != "table":
            self.book.start("table")
        self.section = "gpus"

    def _row(self, row: list[str]) -> bool:
        first = FIRST.match(row[0]) if len(row) >= 3 else None
        if first and (BUS.search(row[1]) or row[1].split()[:1] == ["N/A"]):  # the GPU of a module has no bus
            self._begin()
            errors = cells.number(row[2]) if "." not in row[2] else None
            self.book.gpu(
                name=cells.name(first[2]),
                ecc_errors_count=None if errors is None else int(errors),
                failing=bool(cells.BROKEN.search("|".join(row))),
            )
        elif self.section == "gpus" and len(row) >= 3:
            self._readings(row)
        return self.section != ""

    def _readings(self, row: list[str]) -> None:
        broken = True if cells.BROKEN.search("|".join(row)) else None
        if memory := MEMORY.search(row[1]):
            power, heat, share = POWER.search(row[0]), TEMPERATURE.search(row[0]), SHARE.search(row[2])
            self.book.add(
                memory_used_mib=float(memory[1]),
                memory_mib=float(memory[2]) or None,
                temperature_c=cells.number(heat[1], 0, 200) if heat else None,
                power_w=cells.number(power[1], 0, 10_000) if power else None,
                power_cap_w=cells.positive(power[2], 10_000) if power else None,
                utilisation_pct=cells.number(share[1], 0, 100) if share else None,
                failing=broken,
            )
        elif "/" in row[0]:
            power, heat = POWER.search(row[0]), TEMPERATURE.search(row[0])
            self.book.add(
                temperature_c=cells.number(heat[1], 0, 200) if heat else None,
                power_w=cells.number(power[1], 0, 10_000) if power else None,
                power_cap_w=cells.positive(power[2], 10_000) if power else None,
                failing=broken,
            )
        elif row[2].strip() == "Enabled":
            self.book.add(divided=True)


# ── -q ──────────────────────────────────────────────────────────────────────────────────────────────────────────

POWER_SECTIONS = ("Power Readings", "GPU Power Readings")
VERSIONS = frozenset({"Driver Version", "KMD Version"})  # the latter since driver 610
HEAT = frozenset({"HW Thermal Slowdown", "SW Thermal Slowdown"})
CAPPED = frozenset({"SW Power Cap", "HW Power Brake Slowdown"})

type Read = tuple[str, Callable[[str], Any]]

LOG: Mapping[tuple[str, str], Read] = {
    ("FB Memory Usage", "Total"): ("memory_mib", lambda cell: cells.mib(cell) or None),
    ("FB Memory Usage", "Used"): ("memory_used_mib", cells.mib),
    ("Utilization", "Gpu"): ("utilisation_pct", lambda cell: cells.number(cell, 0, 100)),
    ("Utilization", "GPU"): ("utilisation_pct", lambda cell: cells.number(cell, 0, 100)),
    ("Temperature", "GPU Current Temp"): ("temperature_c", lambda cell: cells.number(cell, 0, 200)),
    ("Temperature", "Gpu"): ("temperature_c", lambda cell: cells.number(cell, 0, 200)),
    **{
        (section, key): ("power_w", lambda cell: cells.number(cell, 0, 10_000))
        for section in POWER_SECTIONS
        for key in ("Power Draw", "Average Power Draw", "Instantaneous Power Draw")
    },
    **{
        (section, key): ("power_cap_w", lambda cell: cells.positive(cell, 10_000))
        for section in POWER_SECTIONS
        for key in ("Power Limit", "Current Power Limit", "Enforced Power Limit")
    },
}


class Log:
    """Lines `key : value` under headings that are told apart by how far they are indented."""

    def __init__(self, book: Book) -> None:
        self.book, self.active = book, False
        self.path: list[tuple[int, str]] = []

    def feed(self, line: str) -> bool:
        if "NVSMI LOG" in line:
            self.book.start("log")
            self.active, self.path = True, []
            return True
        if not self.active or not line.strip():
            return self.active
        indent = len(line) - len(line.lstrip())
        if indent == 0 and line.startswith("GPU ") and BUS.search(line):
            self.book.gpu()
            self.path = []
            return True
        key, colon, value = line.strip().partition(": ")
        if indent == 0 and not (colon and " :" in line) and not line.startswith("vGPU "):
            self.active = False  # neither a line of the head nor a heading in it
            return False
        self.path = [(depth, heading) for depth, heading in self.path if depth < indent]
        if colon:
            self._reading(key.strip(), value.strip())
            return True
        self.path.append((indent, line.strip().rstrip(":").strip()))
        return True

    def _reading(self, key: str, value: str) -> None:
        section = self.path[-1][1] if self.path else ""
        headings = {heading for _depth, heading in self.path}
        if headings & {"MIG Device", "Processes"}:
            return  # of a slice or a program, not of the GPU
        if self.path and (cells.BROKEN.search(value) or (key, value) == ("Reset Required", "Yes")):
            self.book.add(failing=True)
        if key in VERSIONS and not self.path:
            self.book.driver(value)
        elif key == "Product Name":
            self.book.add(name=cells.name(value))
        elif (section, key) in LOG:
            name, read = LOG[section, key]
            self.book.add(**{name: read(value)})
        elif section == "MIG Mode" and key == "Current" and value == "Enabled":
            self.book.add(divided=True)
        elif headings & {"Clocks Event Reasons", "Clocks Throttle Reasons"} and value == "Active":
            throttled(self.book, key)
        elif "Volatile" in headings and (
            key.endswith("Uncorrectable") or (section == "Double Bit" and key == "Total")
        ):
            self._errors(value)

    def _errors(self, value: str) -> None:
        """Uncorrected errors are counted apart for the memories of the chip and of the card."""
        more, gpus = cells.number(value, 0, 1e9), self.book.current.gpus
        if more is not None and gpus:
            self.book.add(ecc_errors_count=int(more) + (gpus[-1].get("ecc_errors_count") or 0))


def throttled(book: Book, reason: str) -> None:
    """The driver names `reason` as what holds the clock of the GPU named last down."""
    kind = "temperature" if reason in HEAT else "power" if reason in CAPPED else ""
    if kind and book.current.gpus:
        book.add(throttled_by=book.current.gpus[-1].get("throttled_by", frozenset()) | {kind})
