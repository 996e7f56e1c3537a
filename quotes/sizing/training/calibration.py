"""The fitted factors of training, their residuals and the measured rows behind them: one versioned file.

`quotes.sizing.evaluation.training_calibrate.calibrate` writes `data/training_calibration.json`; nothing else does.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from catalog.quantity import Frozen
from quotes.sizing.training.memory import MemoryFactors
from quotes.sizing.training.speed import SpeedFactors

PATH = Path(__file__).parent.parent / "data" / "training_calibration.json"

type Quantity = Literal["speed", "memory", "device"]


class GenerationRates(Frozen):
    """Share of the data-sheet rate that a GPU generation reaches in training kernels."""

    products: Mapping[str, float]  # by precision: bf16, fp8, mxfp8, nvfp4
    attention: float  # of the 16-bit rate
    rows: int = 0  # measured runs behind it; 0 = borrowed from kin
    source: str = ""

    def product(self, precision: str) -> float:
        """For `precision`, or the nearest narrower knowledge: an unmeasured 8-bit format counts as the other."""
        for key in (precision, *_KIN.get(precision, ()), "bf16"):
            if key in self.products:
                return self.products[key]
        return 0.4


_KIN = {"fp8": ("mxfp8",), "mxfp8": ("fp8",), "nvfp4": ("mxfp8", "fp8")}


class StackFactors(Frozen):
    """How one software family differs: times that moved elements cross memory, fixed time per optimiser step, and
    its attention kernels against the middle."""

    moved: float
    step_s: float = 0.02
    kernels: float = 1.0


class Residual(Frozen):
    """80 % interval and middle of measured / predicted on runs left out of the fit (split-conformal), one regime."""

    quantity: Quantity = "speed"
    regime: str
    low: float
    middle: float = 1.0
    high: float
    rows: int


class MeasuredRun(Frozen):
    """A published run, or a few that differ in little, kept as evidence: what it was, what it gave, and by how much
    the formula missed it."""

    id: str
    model: str
    params_b: float
    expert: bool = False  # a mixture of experts
    gpu: str
    generation: str
    stack: str
    method: str
    precision: str
    sharding: str = "none"
    gpus: float
    sequence_tokens: float
    software_age_months: float = 0
    value: float  # tokens/s per GPU, or GiB per GPU
    ratio: float  # measured / formula, the formula fitted on all runs
    series: int = 1  # published runs behind this entry
    source: str
    quantity: Quantity = "speed"

    def __hash__(self) -> int:  # hashing every field of every run would take longer than using them
        return hash(self.id)


class TrainingCalibration(Frozen):
    """What the formulas need beyond data sheets. Plain numbers, few enough to read."""

    version: str
    data_hash: str = ""
    rows: Mapping[str, int] = {}
    generations: Mapping[str, GenerationRates]
    stacks: Mapping[str, StackFactors]  # by software family
    speed: SpeedFactors = SpeedFactors()
    memory: Mapping[str, Mapping[str, float]]  # fields of MemoryFactors by software family
    residuals: tuple[Residual, ...] = ()
    evidence: tuple[MeasuredRun, ...] = ()
    fitted: Mapping[str, tuple[str, ...]] = {}  # ids of the published rows behind the factors, by quantity

    def rates(self, generation: str) -> GenerationRates:
        """Of a generation, or of the generic entry for one that nobody measured."""
        return self.generations.get(generation, self.generations["other"])

    def stack(self, name: str) -> StackFactors:
        """Of a software family, or of the middle of the current ones."""
        return self.stacks.get(name, self.stacks["typical"])

    def memory_factors(self, stack: str) -> MemoryFactors:
        return MemoryFactors(**self.memory.get(stack, self.memory["typical"]))

    def interval(self, quantity: Quantity, *regimes: str) -> Residual:
        """The residual quantiles of the first regime that has any; the general one is always there."""
        table = {residual.regime: residual for residual in self.residuals if residual.quantity == quantity}
        for regime in (*regimes, "all"):
            if regime in table:
                return table[regime]
        return Residual(quantity=quantity, regime="none", low=0.6, high=1.4, rows=0)


# ── the file ────────────────────────────────────────────────────────────────────────────────────────────────────


@cache
def load_training_calibration() -> TrainingCalibration:
    """The file that ships with the product, read once."""
    return loads(PATH.read_text(encoding="utf-8"))


def loads(text: str) -> TrainingCalibration:
    document = json.loads(text)
    table, sources = document.pop("evidence"), document.pop("sources")
    runs = (dict(zip(table["columns"], row, strict=True)) for row in table["rows"])
    evidence = tuple(MeasuredRun(**{**run, "source": sources[run["source"]]}) for run in runs)
    return TrainingCalibration(**document, evidence=evidence)


def dumps(calibration: TrainingCalibration) -> str:
    """JSON to read and to compare: an entry per line, the evidence as a table with its sources beside it."""
    document = calibration.model_dump(mode="json")
    runs = document.pop("evidence")
    sources = sorted({run["source"] for run in runs})
    place = {source: index for index, source in enumerate(sources)}
    columns = list(MeasuredRun.model_fields)
    rows = [[place[run[name]] if name == "source" else run[name] for name in columns] for run in runs]
    parts = [f'"{key}": {_lines(value)}' for key, value in {**document, "sources": sources}.items()]
    parts.append(f'"evidence": {{\n"columns": {_line(columns)},\n"rows": {_lines(rows)}\n}}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _lines(value: object) -> str:
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(map(_line, value)) + "\n]"
    if isinstance(value, dict) and any(isinstance(entry, dict) for entry in value.values()):
        return "{\n" + ",\n".join(f"{_line(key)}: {_line(entry)}" for key, entry in value.items()) + "\n}"
    return _line(value)


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
