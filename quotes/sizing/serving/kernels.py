"""Time of single GPU kernels, as curves over a data sheet.

A curve is measured on some GPUs of a generation and transferred to another by its bandwidth, peak rate and link.
Source of the curves: medians per generation of the kernel tables of aiconfigurator 0.12 (Apache-2.0). All times in
seconds, bytes and FLOPs absolute, every argument a scalar or an array.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from catalog.quantity import Frozen
from catalog.specs import AcceleratorSpec, FormFactor
from quotes.sizing.arrays import Numbers

type Values = NDArray[np.float64]

MESSAGE_KNEE_BYTES = 64 * 1024  # below it an all-reduce waits for its peers less than in proportion


class Columns:
    """Base of dataclasses whose fields are numbers, or arrays of one length once stacked."""

    @classmethod
    def stack(cls, rows: Sequence[Self]) -> Self:
        """One object with an array per field."""
        names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        return cls(**{name: np.array([getattr(row, name) for row in rows], float) for name in names})

    def take(self, index: NDArray[np.intp]) -> Self:
        """The rows `index` of a stacked object."""
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        return type(self)(**{name: getattr(self, name)[index] for name in names})


class Curve(Frozen):
    """Fitted constants of one operator on one generation. Fields that the operator has no use for stay 0."""

    operator: Literal[
        "gemm", "moe", "attention_decode", "attention_context", "mla_decode", "mla_context", "allreduce"
    ]
    generation: str
    engine: str = ""  # "" = median over the engines
    dtype: str = ""
    t0_us: float = 0
    mem_eff: float = 1
    flop_eff: float = 1
    p: float = Field(default=1, ge=1)
    m_half: float = 0
    pad_rows: float = 0
    act_x: float = 0
    len_half: float = 0
    a_us: float = 0
    c_us_per_peer: float = 0
    link_eff: float = 1
    rows: int = 0
    median_err_pct: float | None = None


def smooth_max(memory_s: Numbers, compute_s: Numbers, p: Numbers) -> Values:
    """(m^p + c^p)^(1/p): the sum of both for p = 1, the larger one for large p."""
    memory_s, compute_s = np.asarray(memory_s, float), np.asarray(compute_s, float)
    largest = np.maximum(np.maximum(memory_s, compute_s), 1e-30)
    ratio = np.minimum(memory_s, compute_s) / largest
    return np.asarray(largest * (1 + ratio**p) ** (1 / np.asarray(p, float)), float)


@dataclass(frozen=True, slots=True)
class Rate(Columns):
    """A curve on one GPU: bytes and FLOPs per second that the kernel reaches, and its fixed part."""

    t0_s: Numbers
    bytes_s: Numbers
    flops_s: Numbers
    p: Numbers
    extra: Numbers = 0  # m_half (GEMM), pad_rows (experts), len_half (prefill attention)
    act_x: Numbers = 0

    def seconds(self, bytes_: Numbers, flops: Numbers) -> Values:
        """Without the fixed part, which callers count per launch."""
        return smooth_max(np.divide(bytes_, self.bytes_s), np.divide(flops, self.flops_s), self.p)


@dataclass(frozen=True, slots=True)
class Link(Columns):
    """The all-reduce of one GPU: fixed part, waiting per peer, bytes per second in one direction."""

    a_s: Numbers
    c_s: Numbers
    bytes_s: Numbers

    def all_reduce_seconds(self, gpus: Numbers, message_bytes: Numbers) -> Values:
        """Of `message_bytes` over `gpus` GPUs; 0 for one GPU."""
        gpus = np.asarray(gpus, float)
        message = np.asarray(message_bytes, float)
        waiting = self.c_s * (gpus - 1) * np.sqrt(np.minimum(1.0, message / MESSAGE_KNEE_BYTES))
        moving = 2 * (gpus - 1) / gpus * message / np.maximum(self.bytes_s, 1.0)
        return np.where(gpus > 1, self.a_s + waiting + moving, 0.0)

    def send_seconds(self, gpus: Numbers, message_bytes: Numbers) -> Values:
        """Of `message_bytes` that each of `gpus` GPUs sends to others; 0 for one GPU."""
        gpus = np.asarray(gpus, float)
        message = np.asarray(message_bytes, float)
        waiting = self.c_s * (gpus - 1) * np.sqrt(np.minimum(1.0, message / MESSAGE_KNEE_BYTES))
        moving = (gpus - 1) / gpus * message / np.maximum(self.bytes_s, 1.0)
        return np.where(gpus > 1, self.a_s + waiting + moving, 0.0)


# ── which curve for which GPU ───────────────────────────────────────────────────────────────────────────────────

# Catalog architecture → generation of the curves. Superchips share the silicon of their board GPUs.
GENERATIONS: Mapping[str, str] = {
    "Ampere": "ampere",
    "Ada Lovelace": "ada",
    "Hopper": "hopper",
    "Grace Hopper": "hopper",
    "Blackwell": "blackwell",
    "Blackwell Ultra": "blackwell",
    "Grace Blackwell": "blackwell",
    "Grace Blackwell Ultra": "blackwell",
    "Rubin": "blackwell",
    "CDNA2": "cdna",
    "CDNA3": "cdna",
    "CDNA4": "cdna",
    "RDNA4": "ada",
    "Gaudi2": "gaudi",
    "Gaudi3": "gaudi",
    "Xe2 Battlemage": "xe2",
}
# Generations without kernel tables borrow the nearest measured one; their own factors come from measured serving rows.
BORROWED: Mapping[str, str] = {"cdna": "hopper", "gaudi": "hopper", "blackwell_edge": "blackwell_rtx"}

# Order in which a missing number format is replaced by a measured one of the same arithmetic.
_DTYPE_FALLBACK: Mapping[str, tuple[str, ...]] = {
    "fp8_block": ("fp8", "bfloat16"),
    "fp8": ("fp8_block", "bfloat16"),
    "nvfp4": ("w4a16_mxfp4", "int4_wo", "bfloat16"),
    "w4a8_mxfp4_mxfp8": ("w4a16_mxfp4", "int4_wo", "bfloat16"),
    "w4a16_mxfp4": ("int4_wo", "bfloat16"),
    "int4_wo": ("w4a16_mxfp4", "bfloat16"),
    "int8_wo": ("bfloat16",),
}


def generation(accelerator: AcceleratorSpec) -> str | None:
    """Key of the curves for `accelerator`, or None when nothing comparable was measured (TPU, NPU, edge chips)."""
    key = GENERATIONS.get(accelerator.architecture)
    if key == "blackwell" and accelerator.form_factor in (FormFactor.PCIE, FormFactor.SYSTEM):
        # GB300 in a desk-side system is the data-centre die; cards are the graphics die.
        return "blackwell" if accelerator.memory_gb_label > 200 else "blackwell_rtx"
    if key == "blackwell" and accelerator.form_factor is FormFactor.EDGE:
        return "blackwell_edge"
    return key


class CurveTable:
    """Curves by operator, generation, engine and number format, with an order of substitutes."""

    def __init__(self, curves: Sequence[Curve]) -> None:
        self._by_key: dict[tuple[str, str, str, str], Curve] = {
            (c.operator, c.generation, c.engine, c.dtype): c for c in curves
        }
        self._found: dict[tuple[str, str, str, str], tuple[Curve, bool]] = {}

    def find(self, operator: str, generation_key: str, dtype: str, engine: str = "") -> tuple[Curve, bool]:
        """The curve and whether it was measured for just this generation and format. LookupError when none is."""
        key = (operator, generation_key, dtype, engine)
        if key not in self._found:
            self._found[key] = self._search(*key)
        return self._found[key]

    def _search(self, operator: str, generation_key: str, dtype: str, engine: str) -> tuple[Curve, bool]:
        own = BORROWED.get(generation_key, generation_key)
        exact = own == generation_key
        for candidate in (own, *(g for g in ("hopper", "blackwell", "ampere") if g != own)):
            for number, form in enumerate((dtype, *_DTYPE_FALLBACK.get(dtype, ()))):
                for who in (engine, "") if exact else ("", engine):  # engines tune their own kernels per GPU
                    curve = self._by_key.get((operator, candidate, who, form))
                    if curve is not None:
                        return curve, exact and candidate == own and number == 0
        raise LookupError(f"no curve for {operator} {generation_key} {dtype}")


def moving_rate(curve: Curve, bandwidth_gb_s: float, peak_tflops: float) -> Rate:
    """`curve` of a GEMM, an expert block or decode attention on a GPU with this data sheet."""
    return Rate(
        t0_s=curve.t0_us * 1e-6,
        bytes_s=bandwidth_gb_s * 1e9 * curve.mem_eff,
        flops_s=peak_tflops * 1e12 * curve.flop_eff,
        p=curve.p,
        extra=curve.m_half or curve.pad_rows or curve.len_half,
        act_x=curve.act_x,
    )


def link_of(curve: Curve, link_one_way_gb_s: float) -> Link:
    return Link(
        a_s=curve.a_us * 1e-6,
        c_s=curve.c_us_per_peer * 1e-6,
        bytes_s=link_one_way_gb_s * 1e9 * curve.link_eff,
    )
