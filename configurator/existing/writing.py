"""The clean copy of a paste: what is kept, in a form that a customer can read and that `read_paste` reads again."""

import re
from collections.abc import Iterator, Sequence

from configurator.existing.cells import UNIQUE
from configurator.workload import ExistingGpu, ExistingMachine

HEADER = (
    "count", "name", "memory.total [MiB]", "memory.used [MiB]", "utilization.gpu [%]", "temperature.gpu",
    "power.draw [W]", "power.limit [W]", "ecc.errors.uncorrected.volatile.total", "mig.mode.current", "held_back_by",
    "state", "article", "driver_version",
)  # fmt: skip
SERIAL = re.compile(r"(?i)\b(?:serial|uuid|pdi|guid|process|pid)\b")


def write_machines(machines: Sequence[ExistingMachine]) -> str:
    """One block of lines per machine."""
    return "\n\n".join("\n".join(_lines(machine)) for machine in machines)


def _lines(machine: ExistingMachine) -> Iterator[str]:
    yield f"machine: {machine.name}".rstrip()
    yield ", ".join(HEADER)
    for gpu in machine.gpus:
        yield ", ".join(_cells(gpu, machine.driver))


def _cells(gpu: ExistingGpu, driver: str) -> Iterator[str]:
    yield str(gpu.count)
    yield gpu.name or "N/A"
    for value in (
        gpu.memory_mib, gpu.memory_used_mib, gpu.utilisation_pct, gpu.temperature_c, gpu.power_w, gpu.power_cap_w,
        gpu.ecc_errors_count,
    ):  # fmt: skip
        yield "N/A" if value is None else f"{value:.11g}"
    yield "Enabled" if gpu.divided else "Disabled"
    yield " ".join(sorted(gpu.throttled_by)) or "none"
    yield "failing" if gpu.failing else "ok"
    yield gpu.sku or "N/A"
    yield driver or "N/A"


def scrubbed(text: str, longest: int) -> str:
    """The beginning of a text that was not understood, without unique ids and without lines that carry such things."""
    kept = (line for line in text[: 20 * longest].splitlines() if not SERIAL.search(line))
    return UNIQUE.sub("…", "\n".join(kept))[:longest]
