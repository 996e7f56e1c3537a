"""Cells of tool output as numbers and names; whatever is no reading (N/A, [Not Supported], ERR!) is None."""

import re

NUMBER = re.compile(r"(?<![\w.])(\d{1,9}(?:\.\d{1,6})?)(?![\d.])")
UNIQUE = re.compile(
    r"(?:GPU|MIG|UUID)?[-:]?\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b(?:/\d+)*", re.IGNORECASE
)
BROKEN = re.compile(r"ERR!|unknown error|gpu is lost|fallen off", re.IGNORECASE)
UNNAMEABLE = re.compile(r"[^A-Za-z0-9 .+_()/&-]+")
HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62})")
UNITS_MIB = {"b": 1 / 2**20, "kib": 1 / 1024, "kb": 1 / 1024, "mib": 1, "mb": 1, "gib": 1024, "gb": 1024}
"""ROCm tools write MB and GB and mean MiB and GiB: an MI300X shows as 196592 MB, which is 192 GiB."""


def number(cell: str, low: float = 0, high: float = 1e8) -> float | None:
    """The first number in `cell` within `low` and `high`; None when there is none."""
    found = NUMBER.search(cell[:80])
    value = round(float(found[1]), 2) if found else None
    return value if value is not None and low <= value <= high else None


def positive(cell: str, high: float = 1e8) -> float | None:
    """As `number`; a tool that writes 0 for a size or a cap does not know it."""
    return number(cell, 0, high) or None


def mib(cell: str, default: str = "mib") -> float | None:
    """An amount of memory in MiB; a bare number is in `default`."""
    found = re.search(r"(\d{1,15}(?:\.\d{1,6})?)\s*(B|[KMG]i?B)?\b", cell[:80], re.IGNORECASE)
    if not found:
        return None
    value = round(float(found[1]) * UNITS_MIB[(found[2] or default).lower()], 2)
    return value if value <= 1e8 else None


def name(cell: str) -> str:
    """The name of a GPU, free of unique ids and of characters that no product has; empty when nothing is left."""
    text = UNNAMEABLE.sub(" ", UNIQUE.sub(" ", cell[:300]))
    text = " ".join(text.split())[:80].strip()
    return "" if text.upper() in {"N/A", "ERR", "[N/A]", "UNKNOWN"} else text


def host(text: str) -> str:
    """The name of a machine without its domain; empty when `text` has none."""
    found = HOST.match(text.strip())
    return found[0] if found else ""


def driver(text: str) -> str:
    """A version such as 550.54.15; empty when `text` has none."""
    found = re.search(r"\b\d{1,4}(?:\.\d{1,4}){1,3}\b", text[:80])
    return found[0] if found else ""
