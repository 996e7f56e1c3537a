"""Predicting the rows of `storage_reference`: what training reads from storage, and how large checkpoints are.

What a storage system of some maker reaches is measured and not predicted. What the benchmark asks of it is: each
emulated accelerator reads samples at the pace of its training, and as many count as are kept busy enough.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from quotes.sizing.evaluation.base import Context, PredictedRow, Row
from quotes.sizing.evaluation.training_run import NotInScope, subject_model
from quotes.sizing.rates.needs import read_gb_s
from quotes.sizing.trace import Badge
from quotes.sizing.training.model import trained_model
from quotes.sizing.training.plan import checkpoint_bytes

READ, WRITE, CHECKPOINT = "read_gb_s", "write_gb_s", "checkpoint_gb"
CHECKPOINT_INTERVAL = (0.75, 1.1)  # frameworks keep between eleven and fourteen bytes a parameter
MIB_PER_MB = (
    2**20 / 1e6
)  # reports of the benchmark count in 2^20 bytes, a thousand of which stand for a gigabyte


class Emulated(NamedTuple):
    """One step of the benchmark on one accelerator, and the least share of time that it must compute."""

    samples: int
    sample_kb: float
    seconds: float
    least_busy: float

    @property
    def demand_gb_s(self) -> float:
        return read_gb_s(self.samples / self.seconds, self.sample_kb)


# github.com/mlcommons/storage, configs/dlio/workload: batch, record length, computation time, minimum utilisation.
MLPERF_STORAGE = {
    ("unet3d", "h100"): Emulated(7, 146_600.628, 0.323, 0.9),
    ("unet3d", "a100"): Emulated(7, 146_600.628, 0.636, 0.9),
    ("resnet50", "h100"): Emulated(400, 114.660_07, 0.224, 0.9),
    ("resnet50", "a100"): Emulated(400, 114.660_07, 0.435, 0.9),
    ("cosmoflow", "h100"): Emulated(1, 2_828.486, 0.003_5, 0.7),
    ("cosmoflow", "a100"): Emulated(1, 2_828.486, 0.005_51, 0.7),
}


def trained_params(model: str, params_b: float | None) -> float:
    """Of a named model, else as many as are stated. Raises NotInScope."""
    return float(trained_model(subject_model(model, params_b)[1]).params)


def predict_rows(rows: list[dict[str, str]], context: Context) -> Iterator[PredictedRow]:
    """One prediction or refusal per figure that a row has; a row without any is refused."""
    for row in rows:
        figures = [metric for metric in (READ, WRITE, CHECKPOINT) if row.get(metric)]
        for metric in figures:
            try:
                measured = float(row[metric])
                yield _answered(row, metric, measured, context)
            except NotInScope as reason:
                yield PredictedRow(
                    row["id"], metric, measured, refused=str(reason), gpu=row.get("accelerator", "")
                )
            except ValueError as error:
                yield PredictedRow(row["id"], metric, None, refused=f"The row cannot be read: {error}.")
        if not figures:
            yield PredictedRow(
                row["id"], READ, None, refused="The row has no figure that could be predicted."
            )


def _answered(row: Row, metric: str, measured: float, context: Context) -> PredictedRow:
    text = row["workload"].lower()
    scored = True
    if metric == READ:
        value, ends, scored = _read(row, text)
    elif metric == CHECKPOINT:
        value = _checkpoint_gb(row, text, context)
        ends = (value * CHECKPOINT_INTERVAL[0], value * CHECKPOINT_INTERVAL[1])
    else:
        value = _write(row)
        ends = (value, value)
        scored = False  # the size and the time are the row's own
    return PredictedRow(
        row["id"], metric, measured, value, ends[0], ends[1], str(Badge.COMPUTED), model=_group(text),
        gpu=row.get("accelerator", ""), scored=scored,
    )  # fmt: skip


def _group(text: str) -> str:
    return next((name for name, _ in MLPERF_STORAGE if name in text), "checkpoint")


def _read(row: Row, text: str) -> tuple[float, tuple[float, float], bool]:
    """As many accelerators as are counted, each as busy as it must be and no more: more of them would count else."""
    found = emulated(text, row.get("accelerator", ""))
    if found is None:
        raise NotInScope("What a storage system reaches is measured by its maker and not predicted.")
    demand = found.demand_gb_s * float(row.get("accelerator_count") or 1)
    if "definition" in text:
        return demand, (demand * found.least_busy, demand), False
    most = demand / MIB_PER_MB
    return most * found.least_busy, (most * found.least_busy, most), True


def emulated(benchmark: str, accelerator: str) -> Emulated | None:
    """What one accelerator does in the benchmark that is named, where it is defined for that accelerator."""
    text, gpu = benchmark.lower().replace("-", "").replace("3d unet", "unet3d"), accelerator.lower()
    return next((one for (name, chip), one in MLPERF_STORAGE.items() if name in text and chip in gpu), None)


def _checkpoint_gb(row: Row, text: str, context: Context) -> float:
    size = re.search(r"(?<![\d.])(\d+(?:\.\d+)?) ?(b|t)\b", text)
    if size is None:
        raise NotInScope("The row does not name the model or its size.")
    billions = float(size[1]) * (1000 if size[2] == "t" else 1)
    params = trained_params(row["workload"], billions)
    if "weights only" in text or ("weights" in text and "checkpoint" not in text):
        return params * 2 / 1e9
    return checkpoint_bytes(params, context.assumptions) / 1e9


def _write(row: Row) -> float:
    seconds = re.search(r"in ~?(\d+(?:\.\d+)?) ?s", row.get("notes", ""))
    if seconds is None or not row.get(CHECKPOINT):
        raise NotInScope("What a storage system reaches is measured by its maker and not predicted.")
    return float(row[CHECKPOINT]) / float(seconds[1])
