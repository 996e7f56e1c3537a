"""The fitted constants of serving speed, their residuals and the measured rows behind them: one versioned file.

`manage.py calibrate` writes `data/serving.json`; nothing else does. The file is read once by `load_calibration`.
"""

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from catalog.quantity import Frozen
from quotes.sizing.serving.kernels import Curve, CurveTable

PATH = Path(__file__).parent.parent / "data" / "serving.json"

type Metric = Literal["ttft", "tpot", "throughput"]


class EngineConstants(Frozen):
    """What one engine adds to its kernels; see docs/sizing/serving.md for the role of each."""

    kernel_us: float
    step_sequence_us: float = 5
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


class Residual(Frozen):
    """80 % interval of measured / predicted on rows left out of the fit (split-conformal)."""

    metric: Literal["ttft", "tpot", "throughput"]
    engine: str = ""  # "" = all, "tables" = published throughput tables
    seen: bool = False  # other runs of the same model on the same GPU were measured
    low: float
    high: float
    rows: int


class Widening(Frozen):
    """Factors on the logarithmic width of an interval outside what was measured."""

    generation_unserved: float  # only tables of its throughput, or only kernels, were measured
    generation_unmeasured: float  # nothing was
    structure_unknown: float
    pcie_parallel: float


class MeasuredRow(Frozen):
    """A measured run, kept as evidence. Rows stand sorted by `shape` and `gpu`."""

    shape: str  # signature of the model's dimensions
    gpu: str
    model: str
    engine: str
    precision: str
    tp: int
    dp: int
    prompt: int
    output: int
    concurrency: float
    ttft_ms: float
    tpot_ms: float
    ttft_x: float  # measured over predicted; 0 when the run says nothing about it (a queue, not measured)
    tpot_x: float
    source: int  # index into the calibration's `sources`


NO_ROWS = np.zeros(0, np.intp)


@dataclass(frozen=True, slots=True)
class EvidenceTable:
    """Columns of the measured rows; `logs` = natural logarithms of prompt, output and concurrency, (rows, 3).
    `groups` gives the rows (start, stop) of one (shape, GPU)."""

    engine: NDArray[np.object_]
    precision: NDArray[np.object_]
    gpus: NDArray[np.float64]
    logs: NDArray[np.float64]
    ttft_ms: NDArray[np.float64]
    tpot_ms: NDArray[np.float64]
    ttft_x: NDArray[np.float64]
    tpot_x: NDArray[np.float64]
    groups: Mapping[tuple[str, str], tuple[int, int]]

    def rows_of(self, shape: str, gpu: str) -> int:
        """How many runs of this model on this GPU were measured."""
        start, stop = self.groups.get((shape, gpu), (0, 0))
        return stop - start

    def part(self, shape: str, gpu: str, engine: str, precision: str) -> NDArray[np.intp]:
        """Indices of the runs of one model, GPU, engine and weight format."""
        start, stop = self.groups.get((shape, gpu), (0, 0))
        if start == stop:
            return NO_ROWS
        rows = slice(start, stop)
        same = (self.engine[rows] == engine) & (self.precision[rows] == precision)
        return np.flatnonzero(same) + start


NO_FACTORS = GenerationFactors()


class Calibration(Frozen):
    version: int
    data_sha256: str
    counts: Mapping[str, int]
    shared: SharedConstants
    engines: Mapping[str, EngineConstants]
    generations: Mapping[str, GenerationFactors]
    residuals: tuple[Residual, ...]
    widening: Widening
    serving_generations: tuple[str, ...] = ()  # on which serving runs were measured
    table_generations: tuple[str, ...] = ()  # of which throughput tables were published
    fitted_pairs: tuple[str, ...] = ()  # "model|GPU" of the throughput tables that were fitted
    sources: tuple[str, ...] = ()  # of the evidence
    first_own_source: int | None = (
        None  # from here on, `sources` are of whoever runs the site; never in the file
    )
    curves: tuple[Curve, ...]
    evidence_columns: tuple[str, ...] = ()
    evidence_rows: tuple[tuple[str | int | float, ...], ...] = ()

    @cached_property
    def curve_table(self) -> CurveTable:
        return CurveTable(self.curves)

    @cached_property
    def machines(self) -> dict[Hashable, Any]:
        """Kernel rates and intervals already looked up with these constants."""
        return {}

    def evidence(self, number: int) -> MeasuredRow:
        """Row `number` of the measured runs."""
        row = dict(zip(self.evidence_columns, self.evidence_rows[number], strict=True))
        return MeasuredRow.model_validate(row)

    @cached_property
    def evidence_table(self) -> "EvidenceTable":
        """The measured runs as arrays, to search in."""
        columns = dict(zip(self.evidence_columns, zip(*self.evidence_rows, strict=True), strict=False))

        def numbers(name: str) -> NDArray[np.float64]:
            return np.array(columns.get(name, ()), float)

        groups: dict[tuple[str, str], tuple[int, int]] = {}
        pairs = zip(columns.get("shape", ()), columns.get("gpu", ()), strict=True)
        for number, (shape, gpu) in enumerate(pairs):
            key = (str(shape), str(gpu))
            groups[key] = (groups.get(key, (number, 0))[0], number + 1)
        logs = np.log(np.array([numbers(name) for name in ("prompt", "output", "concurrency")]).T)
        return EvidenceTable(
            engine=np.array(columns.get("engine", ()), object),
            precision=np.array(columns.get("precision", ()), object),
            gpus=numbers("tp") * numbers("dp"),
            logs=logs,
            ttft_ms=numbers("ttft_ms"),
            tpot_ms=numbers("tpot_ms"),
            ttft_x=numbers("ttft_x"),
            tpot_x=numbers("tpot_x"),
            groups=groups,
        )

    @cached_property
    def shifts(self) -> dict[Hashable, Any]:
        """Shifts and nearest runs already found; kept small by `evidence`."""
        return {}

    def with_rows(
        self, rows: Sequence[MeasuredRow], sources: Sequence[str], *, own: bool = False
    ) -> "Calibration":
        """A copy with more measured runs, whose `source` counts within `sources`. `own`: made by whoever runs the
        site, and shown as such."""
        columns = self.evidence_columns or tuple(MeasuredRow.model_fields)
        more = [row.model_copy(update={"source": row.source + len(self.sources)}) for row in rows]
        added = [tuple(getattr(row, name) for name in columns) for row in more]
        where = columns.index("shape"), columns.index("gpu")
        together = sorted((*self.evidence_rows, *added), key=lambda row: (row[where[0]], row[where[1]]))
        return self.changed(
            evidence_columns=columns,
            evidence_rows=tuple(together),
            sources=(*self.sources, *sources),
            first_own_source=len(self.sources) if own else self.first_own_source,
        )

    def changed(self, **fields: object) -> "Calibration":
        """A copy with other constants; what was looked up with the old ones is forgotten."""
        copy = self.model_copy(update=fields)
        for cached in ("machines", "shifts", "evidence_table", "curve_table"):
            copy.__dict__.pop(cached, None)
        return copy

    def engine(self, name: str) -> EngineConstants:
        return self.engines[name if name in self.engines else "vllm"]

    def factors(self, generation: str) -> GenerationFactors:
        return self.generations.get(generation, NO_FACTORS)

    def residual(self, metric: Metric, engine: str, seen: bool = False) -> Residual:
        """The interval of `engine`, or of all engines together when it has none of its own."""
        rows = [row for row in self.residuals if row.metric == metric]
        order = ((engine, seen), (engine, False), ("", seen), ("", False))
        found = {(row.engine, row.seen): row for row in rows}
        return next(found[key] for key in order if key in found)


@cache
def load_calibration(path: Path = PATH) -> Calibration:
    """Read the shipped file, once."""
    return Calibration.model_validate(json.loads(path.read_text(encoding="utf-8")))
