"""The fitted constants of serving speed, their residuals and the measured rows behind them: one versioned file.

`manage.py calibrate` writes `data/serving.json`; nothing else does. The file is read once by `load_calibration`.
"""

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from catalog.quantity import Frozen
from quotes.sizing.kernels import TABULATED, Curve, CurveTable

PATH = Path(__file__).parent / "data" / "serving.json"

type Metric = Literal["ttft", "tpot", "throughput"]


class EngineConstants(Frozen):
    """What one engine adds to its kernels; see docs/sizing/serving.md for the role of each."""

    kernel_us: float
    prompt_x: float = 1
    interference: float
    burst_fraction: float
    first_ms: float
    first_gpu_ms: float
    first_steps: float


class SharedConstants(Frozen):
    """Constants that hold for every engine and GPU."""

    attention_share: float
    all_reduce_wait: float
    step_ms: float
    step_sequence_us: float
    dp_step_ms: float
    queueing: float
    full_wait: float
    chunk_tokens: float


class GenerationFactors(Frozen):
    """Corrections of a generation that borrows the curves of another; each multiplies a time except `memory`, which
    multiplies a bandwidth."""

    memory: float = 1
    compute: float = 1
    small: float = 1
    all_reduce: float = 1
    rows: int = 0
    source: str = ""


class Residual(Frozen):
    """80 % interval of measured / predicted on rows left out of the fit (split-conformal)."""

    metric: Literal["ttft", "tpot", "throughput"]
    engine: str  # "" = all
    low: float
    high: float
    rows: int


class Widening(Frozen):
    """Factors on the logarithmic width of an interval outside what was measured."""

    pair_unseen: float
    generation_borrowed: float
    structure_unknown: float
    pcie_parallel: float


class MeasuredRow(Frozen):
    """A measured run, kept as evidence. Rows stand sorted by `shape` and `gpu`."""

    shape: str  # signature of the model's dimensions
    model: str
    gpu: str
    engine: str
    precision: str
    tp: int
    dp: int
    prompt: int
    output: int
    concurrency: float
    ttft_ms: float
    tpot_ms: float
    source: str


@dataclass(frozen=True, slots=True)
class EvidenceTable:
    """Columns of the measured rows; `logs` = natural logarithms of prompt, output and concurrency, (rows, 3).
    `groups` gives the rows (start, stop) of one (shape, GPU)."""

    shape: NDArray[np.object_]
    gpu: NDArray[np.object_]
    engine: NDArray[np.object_]
    precision: NDArray[np.object_]
    gpus: NDArray[np.float64]
    logs: NDArray[np.float64]
    groups: Mapping[tuple[str, str], tuple[int, int]]

    def rows_of(self, shape: str, gpu: str) -> int:
        """How many runs of this model on this GPU were measured."""
        start, stop = self.groups.get((shape, gpu), (0, 0))
        return stop - start


class Calibration(Frozen):
    version: int
    data_sha256: str
    counts: Mapping[str, int]
    shared: SharedConstants
    engines: Mapping[str, EngineConstants]
    generations: Mapping[str, GenerationFactors]
    residuals: tuple[Residual, ...]
    widening: Widening
    sources: Mapping[str, str] = {}
    curves: tuple[Curve, ...]
    evidence_columns: tuple[str, ...] = ()
    evidence_rows: tuple[tuple[str | float, ...], ...] = ()

    @cached_property
    def curve_table(self) -> CurveTable:
        return CurveTable(self.curves)

    @cached_property
    def machines(self) -> dict[Hashable, Any]:
        """Kernel rates already looked up with these constants; filled by `machines.machine_for`."""
        return {}

    @cached_property
    def evidence(self) -> tuple[MeasuredRow, ...]:
        return tuple(
            MeasuredRow.model_validate(dict(zip(self.evidence_columns, row, strict=True)))
            for row in self.evidence_rows
        )

    @cached_property
    def evidence_table(self) -> "EvidenceTable":
        """The evidence as arrays, to search in."""
        columns = dict(zip(self.evidence_columns, zip(*self.evidence_rows, strict=True), strict=False))
        names = ("shape", "gpu", "engine", "precision")
        shape, gpu, engine, precision = (np.array(columns.get(name, ()), object) for name in names)
        logs = np.log(
            np.array([columns.get(name, ()) for name in ("prompt", "output", "concurrency")], float).T
        )
        gpus = np.array(columns.get("tp", ()), float) * np.array(columns.get("dp", ()), float)
        groups: dict[tuple[str, str], tuple[int, int]] = {}
        for number, key in enumerate(zip(shape, gpu, strict=True)):
            groups[key] = (groups.get(key, (number, 0))[0], number + 1)
        return EvidenceTable(shape, gpu, engine, precision, gpus, logs, groups)

    def engine(self, name: str) -> EngineConstants:
        return self.engines[name if name in self.engines else "vllm"]

    def factors(self, generation: str) -> GenerationFactors:
        return self.generations.get(generation, GenerationFactors())

    def residual(self, metric: Metric, engine: str) -> Residual:
        """The interval of `engine`, or of all engines together when it has none of its own."""
        rows = [row for row in self.residuals if row.metric == metric]
        return next((row for row in rows if row.engine == engine), rows[0])

    def is_tabulated(self, generation: str) -> bool:
        """Whether the kernels of this generation were measured."""
        return generation in TABULATED


@cache
def load_calibration(path: Path = PATH) -> Calibration:
    """Read the shipped file, once."""
    return Calibration.model_validate(json.loads(path.read_text(encoding="utf-8")))
