"""The fitted factors of training, their residuals and the measured rows behind them: one versioned file.

`quotes.sizing.evaluation.training_fit.calibrate_training` writes `data/training_calibration.json`; nothing else does.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from catalog.quantity import Frozen
from quotes.sizing.training_memory import MemoryFactors
from quotes.sizing.training_speed import SpeedFactors

PATH = Path(__file__).parent / "data" / "training_calibration.json"

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


@cache
def load_training_calibration() -> TrainingCalibration:
    """The file that ships with the product, read once."""
    return TrainingCalibration(**json.loads(PATH.read_text(encoding="utf-8")))
