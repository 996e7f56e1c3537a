"""Worked cases about storage: checkpoints, the bandwidth that writes them, controllers."""

from math import inf
from typing import NamedTuple

from quotes.sizing.evaluation.cases import serving
from quotes.sizing.evaluation.cases.answers import Answer, Case, answer
from quotes.sizing.evaluation.cases.stated import words_of
from quotes.sizing.evaluation.cases.systems import find_server
from quotes.sizing.evaluation.names import OutOfScope
from quotes.sizing.evaluation.storage_rows import Emulated, emulated, trained_params
from quotes.sizing.hardware.storage import StorageNeed, units_needed
from quotes.sizing.training.plan import checkpoint_bytes, checkpoint_write_gb_s

LANGUAGE = {None, "finetune", "pretrain", "training", "inference"}
LEVELS = frozenset({"level", "tier", "class", "storage_class", "guideline", "performance"})


def _size(case: Case) -> float:
    """Bytes of a checkpoint: stated, of an adapter or a file of weights where the case says so, else a full one."""
    inputs = case.inputs
    for key, factor in (("checkpoint_gb", 1e9), ("checkpoint_tb", 1e12)):
        if inputs.get(key):
            return float(inputs[key]) * factor
    if not inputs.keys() & {"model", "params_b"}:
        raise OutOfScope("The case states neither a model nor the size of its checkpoint.")
    if inputs.get("workload") == "inference" or inputs.keys() & {"quant", "weight_dtype"}:
        return serving.weights(case)
    size_b = float(inputs["params_b"]) if inputs.get("params_b") else None
    return checkpoint_bytes(trained_params(str(inputs.get("model", "")), size_b), case.context.assumptions)


def _seconds(case: Case) -> float:
    found = case.inputs.get("checkpoint_seconds") or case.inputs.get("seconds")
    minutes = case.inputs.get("checkpoint_minutes") or case.inputs.get("minutes")
    return float(found or 60 * float(minutes or 0) or case.context.assumptions.checkpoint_stall_s)


def write_rate(case: Case) -> float:
    """Bytes a second that write a checkpoint in the time that is stated, else in what training may wait."""
    waiting = case.context.assumptions.model_copy(update={"checkpoint_stall_s": _seconds(case)})
    whole = checkpoint_write_gb_s(_size(case), waiting) * 1e9
    return whole / float(case.inputs["gpu_count"]) if "gpu" in case.asked.per else whole


def write_hours(case: Case) -> float:
    rate = case.inputs.get("write_gb_s") or float(case.inputs.get("write_tb_s", 0)) * 1000
    return _size(case) / (float(rate) * 1e9) / 3600


def share_spent_writing(case: Case) -> float:
    """Of the time, when training waits for each checkpoint."""
    interval_h = float(case.inputs.get("interval_hours") or float(case.inputs["interval_minutes"]) / 60)
    written = write_hours(case) if "write_gb_s" in case.inputs else _seconds(case) / 3600
    return written / interval_h


def read_rate(case: Case) -> float:
    """Of training on so many accelerators: what a benchmark asks that is named, what units of a published storage read,
    else what is counted with when nothing is known of the data. Levels of other guidelines differ."""
    if found := _benchmark(case):
        return found.demand_gb_s * found.least_busy * float(case.inputs.get("gpu_count", 1)) * 1e9
    if known := _published(case):
        return _units(case)[0] * known.read_gb_s * 1e9
    if case.inputs.keys() & LEVELS:
        raise OutOfScope("The product does not size storage by the levels of another guideline.")
    gpus = case.inputs.get("gpu_count")
    if not isinstance(gpus, int | float):
        server = find_server(str(case.inputs.get("system", "")), case.context.catalog.servers)
        gpus = server.max_accelerators * float(case.inputs.get("nodes", 1))
    return gpus * case.context.assumptions.storage_read_gb_s_per_gpu * 1e9


def _benchmark(case: Case) -> Emulated | None:
    """Raises OutOfScope for a workload that is none of those that are known."""
    inputs = case.inputs
    named = " ".join(str(inputs.get(key, "")) for key in ("benchmark", "workload", "model"))
    found = emulated(named, str(inputs.get("gpu", "")))
    if found is None and (
        "benchmark" in inputs or "mlperf" in named.lower() or inputs.get("workload") not in LANGUAGE
    ):
        raise OutOfScope("How much this workload reads on this accelerator is not known.")
    return found


def accelerators_fed(case: Case) -> float:
    """Accelerators that a read bandwidth keeps as busy as the benchmark wants."""
    found = _benchmark(case)
    if found is None:
        raise OutOfScope("The case names no benchmark whose reading is known.")
    return float(case.inputs["read_gb_s"]) / (found.demand_gb_s * found.least_busy)


class Published(NamedTuple):
    """A storage system as a published design counts with it: what a unit reads, and what it gives each server."""

    read_gb_s: float
    server_read_gb_s: float
    controllers: int


# NetApp AIPod (NVA-1173 and its sizing page): two HA pairs carry 8 DGX, twelve read 300 GB/s and carry 48.
PUBLISHED = {"a900": Published(25, 6, 2)}


def _published(case: Case) -> Published | None:
    named = words_of([case.inputs.get("storage", "")])
    return next((found for name, found in PUBLISHED.items() if name in named), None)


def _units(case: Case) -> tuple[int, int]:
    """Units of the storage that is named, and controllers in each."""
    named = words_of([case.inputs.get("storage", "")])
    servers = float(case.inputs["nodes"])
    if known := _published(case):
        need = StorageNeed(read_gb_s=known.server_read_gb_s * servers)
        return units_needed(need, inf, known.read_gb_s, inf), known.controllers
    for system in case.context.catalog.storage_systems:
        if named and named <= words_of([system.name]) and system.read_gb_s and system.usable_tb:
            need = StorageNeed(read_gb_s=read_rate(case) / 1e9)
            least = system.minimum_count
            return units_needed(need, system.usable_tb, system.read_gb_s, system.write_gb_s or inf, least), 1
    raise OutOfScope(
        f"Neither the catalog nor a published design has the storage {case.inputs.get('storage', '')}."
    )


def ha_pairs(case: Case) -> float:
    return _units(case)[0]


def controllers(case: Case) -> float:
    units, each = _units(case)
    return units * each


ANSWERS: tuple[Answer, ...] = (
    answer("bytes checkpoint", _size, may="training full model file"),
    answer("bytes/s write", write_rate, may="checkpoint bandwidth storage"),
    answer("bytes/s checkpoint", write_rate, may="bandwidth storage"),
    answer("bytes/s write / gpu", write_rate, may="checkpoint", needs="gpu_count"),
    answer("bytes/s / gpu", write_rate, may="write checkpoint", needs="gpu_count checkpoint_gb"),
    answer("bytes/s", write_rate, needs="checkpoint_seconds"),
    answer("hours", write_hours, may="write checkpoint stall wait", needs="write_gb_s"),
    answer("share time", share_spent_writing, may="checkpoint writing lost waiting stalled"),
    answer("bytes/s", read_rate, may="storage", needs="benchmark"),
    answer("count gpu", accelerators_fed, may="fed", needs="read_gb_s"),
    answer("bytes/s read", read_rate, may="storage bandwidth dataset"),
    answer("count pair ha", ha_pairs, may="storage", needs="nodes storage"),
    answer("count controller", controllers, may="storage", needs="nodes storage"),
)
