"""From an accelerator of the catalog to the kernel rates of one model and number format on it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from catalog.quantity import Message, noop
from catalog.specs import AcceleratorSpec, FormFactor, ModelArchitecture
from quotes.sizing.architecture import WeightFormat
from quotes.sizing.arrays import Numbers
from quotes.sizing.serving.batching import Scheduling
from quotes.sizing.serving.calibration import Calibration, EngineConstants, SharedConstants
from quotes.sizing.serving.forward import Machine, Overheads
from quotes.sizing.serving.kernels import generation, link_of, moving_rate

PCIE_GB_S_PER_LANE: Mapping[int, float] = {
    3: 0.985,
    4: 1.97,
    5: 3.94,
    6: 7.56,
}  # one direction, PCI-SIG line rates
PCIE_CURVE_GENERATION: Mapping[int, str] = {3: "ada", 4: "ada", 5: "blackwell_rtx", 6: "blackwell_rtx"}
FP8_GENERATIONS = frozenset(
    {"ada", "hopper", "blackwell", "blackwell_rtx", "blackwell_edge", "cdna", "gaudi"}
)
FP4_GENERATIONS = frozenset({"blackwell", "blackwell_rtx", "blackwell_edge"})


class MissingFigure(LookupError):
    """A figure that sizing needs and the catalog does not have."""

    def __init__(self, figure: str) -> None:
        super().__init__(figure)
        self.message = Message.of(
            noop("The catalog lacks a figure that sizing needs: {figure}."), figure=Message.of(figure)
        )


_FIGURES = {
    "memory_mib": noop("usable memory"),
    "memory_bandwidth_gb_s": noop("memory bandwidth"),
    "bf16_tflops": noop("BF16 rate"),
}


def require_figures(accelerator: AcceleratorSpec) -> None:
    """Raises MissingFigure for the first figure without which nothing can be said."""
    for field, label in _FIGURES.items():
        if not getattr(accelerator, field):
            raise MissingFigure(label)


def one_way_gb_s(accelerator: AcceleratorSpec, gpus: int) -> tuple[float, str]:
    """Link bandwidth of one GPU in one direction when `gpus` work together, and its kind: nvlink, mesh or pcie.

    A mesh of direct links (xGMI) offers only the links to the peers that take part.
    """
    inside = accelerator.link_gb_s and gpus <= accelerator.link_max_count
    if inside and accelerator.link_kind == "mesh":
        peers = max(1, accelerator.link_max_count - 1)
        return accelerator.link_gb_s / 2 * (gpus - 1) / peers, "mesh"  # type: ignore[operator]
    if inside:
        return accelerator.link_gb_s / 2, "nvlink"  # type: ignore[operator]
    lane = PCIE_GB_S_PER_LANE.get(accelerator.pcie_generation or 4, 1.97)
    return lane * (accelerator.pcie_lanes or 16), "pcie"


def supports(accelerator: AcceleratorSpec, form: WeightFormat) -> bool:
    """Whether engines run `form` on this GPU, natively or by expanding the weights to 16 bit."""
    family = generation(accelerator)
    if family is None:
        return False
    if form.key == "fp8":
        return family in FP8_GENERATIONS or family == "ampere"  # Ampere expands FP8 weights (Marlin)
    if form.key == "nvfp4":
        return family in FP4_GENERATIONS or family in {"ampere", "ada", "hopper"}  # elsewhere weights only
    if form.key in {"int4", "mxfp4"}:
        return True
    return True


def compute_formats(
    arch: ModelArchitecture, form: WeightFormat, accelerator: AcceleratorSpec
) -> tuple[str, str, float, float]:
    """Curve formats of dense and expert products with their peak rates, TFLOPS.

    Published FP8 checkpoints are block-quantised; FP8 made after the fact is scaled per channel.
    """
    family = generation(accelerator)
    bf16 = accelerator.bf16_tflops or 0.0
    fp8, fp4 = accelerator.fp8_tflops, accelerator.fp4_tflops
    if form.key == "fp8" and fp8 and family in FP8_GENERATIONS:
        block = "fp8_block" if arch.native_format == "fp8" else "fp8"
        return block, block, fp8, fp8
    if form.key == "int8" and accelerator.int8_tops and accelerator.int8_tops > bf16:
        return "fp8", "fp8", accelerator.int8_tops, accelerator.int8_tops
    if form.key == "nvfp4" and fp4 and family in FP4_GENERATIONS:
        return "nvfp4", "nvfp4", fp4, fp4
    if form.key == "mxfp4":
        return "bfloat16", "w4a8_mxfp4_mxfp8" if fp4 else "w4a16_mxfp4", bf16, bf16
    if form.key in {"int4", "nvfp4", "nf4", "q4_k_m", "q4_0"}:
        return "bfloat16", "int4_wo", bf16, bf16
    return "bfloat16", "bfloat16", bf16, bf16


@dataclass(frozen=True, slots=True)
class Choice:
    """A machine and how well its kernels are known."""

    machine: Machine
    generation: str
    exact: bool  # every curve was measured for this generation and format
    link: str


def machine_for(
    accelerator: AcceleratorSpec,
    arch: ModelArchitecture,
    form: WeightFormat,
    kv_bytes: float,
    engine: str,
    gpus: int,
    calibration: Calibration,
) -> Choice:
    """Kernel rates of `arch` in `form` on `accelerator`, `gpus` of which share each layer.

    Raises MissingFigure for a blank in the catalog and LookupError when nothing comparable was measured.
    """
    require_figures(accelerator)
    family = generation(accelerator)
    if family is None:
        raise LookupError(accelerator.architecture)
    link = one_way_gb_s(accelerator, gpus)
    formats = compute_formats(arch, form, accelerator)
    key = (family, accelerator.memory_bandwidth_gb_s, accelerator.bf16_tflops, accelerator.pcie_generation,
           formats, link, kv_bytes, engine, arch.is_mla, arch.is_moe)  # fmt: skip
    if key not in calibration.machines:
        calibration.machines[key] = _machine(
            accelerator, arch, family, formats, link, kv_bytes, engine, calibration
        )
    return calibration.machines[key]


def _machine(
    accelerator: AcceleratorSpec,
    arch: ModelArchitecture,
    family: str,
    formats: tuple[str, str, float, float],
    link_rate: tuple[float, str],
    kv_bytes: float,
    engine: str,
    calibration: Calibration,
) -> Choice:
    table, factor = calibration.curve_table, calibration.factors(family)
    bandwidth = float(accelerator.memory_bandwidth_gb_s or 0) * factor.memory
    bf16 = float(accelerator.bf16_tflops or 0) / factor.compute
    dense_format, expert_format, dense_peak, expert_peak = formats
    kv_format = "fp8" if kv_bytes <= 1 else "bfloat16"
    attention = "mla" if arch.is_mla else "attention"
    gemm, exact_gemm = table.find("gemm", family, dense_format)
    wide, _ = table.find("gemm", family, "bfloat16")
    moe, exact_moe = table.find("moe", family, expert_format, engine)
    decode, exact_decode = table.find(f"{attention}_decode", family, kv_format)
    prompt, _ = table.find(f"{attention}_context", family, kv_format)
    link_gb_s, link_kind = link_rate
    link_family = (
        PCIE_CURVE_GENERATION.get(accelerator.pcie_generation or 4, "ada") if link_kind == "pcie" else family
    )
    reduce, _ = table.find("allreduce", link_family, "")
    narrow_rate = moving_rate(gemm, bandwidth, dense_peak / factor.compute)
    wide_rate = moving_rate(wide, bandwidth, bf16)
    expert_rate = moving_rate(moe, bandwidth, expert_peak / factor.compute)
    decode_rate = moving_rate(decode, bandwidth, bf16)
    prompt_rate = moving_rate(prompt, bandwidth, bf16)
    link = link_of(reduce, link_gb_s)
    slower = factor.all_reduce if link_kind != "pcie" else calibration.factors("pcie").all_reduce
    machine = Machine(
        bandwidth=bandwidth * 1e9,
        narrow_bytes_s=narrow_rate.bytes_s,
        narrow_flops_s=narrow_rate.flops_s,
        narrow_p=narrow_rate.p,
        narrow_half=narrow_rate.extra,
        wide_bytes_s=wide_rate.bytes_s,
        wide_flops_s=wide_rate.flops_s,
        wide_p=wide_rate.p,
        wide_half=wide_rate.extra,
        expert_t0_s=expert_rate.t0_s,
        expert_bytes_s=expert_rate.bytes_s,
        expert_flops_s=expert_rate.flops_s,
        expert_p=expert_rate.p,
        expert_pad=expert_rate.extra,
        expert_act=expert_rate.act_x,
        decode_t0_s=decode_rate.t0_s,
        decode_bytes_s=decode_rate.bytes_s,
        decode_flops_s=decode_rate.flops_s,
        decode_p=decode_rate.p,
        prompt_t0_s=prompt_rate.t0_s,
        prompt_flops_s=prompt_rate.flops_s,
        prompt_half=prompt_rate.extra,
        link_a_s=link.a_s * slower,
        link_c_s=link.c_s * slower,
        link_bytes_s=link.bytes_s / slower,
        kv_bytes=kv_bytes,
    )
    exact = exact_gemm and exact_decode and (exact_moe or not arch.is_moe)
    return Choice(machine, family, exact, link_kind)


def overheads_for(engine: EngineConstants, shared: SharedConstants, small_factor: Numbers = 1.0) -> Overheads:
    """`small_factor` multiplies the time of small kernels, by generation."""
    return Overheads(
        kernel_s=engine.kernel_us * np.asarray(small_factor, float) * 1e-6,
        attention_share=shared.attention_share,
        all_reduce_wait=shared.all_reduce_wait,
        step_s=shared.step_ms * 1e-3,
        step_sequence_s=engine.step_sequence_us * 1e-6,
        dp_step_s=shared.dp_step_ms * 1e-3,
        prompt_x=engine.prompt_x,
    )


def scheduling_for(
    engine: EngineConstants, shared: SharedConstants, *, burst: bool = False, wait_steps: Numbers = 0.0
) -> Scheduling:
    """`burst`: as in a benchmark that sends its first wave at once; live requests arrive one by one."""
    return Scheduling(
        interference=engine.interference,
        burst=engine.burst_fraction if burst else 0.0,
        queueing=shared.queueing,
        first_s=engine.first_ms * 1e-3,
        first_gpu_s=engine.first_gpu_ms * 1e-3,
        first_steps=engine.first_steps,
        wait_steps=wait_steps,
        full_wait=shared.full_wait,
        chunk_tokens=shared.chunk_tokens,
    )


# ── names of measured GPUs ──────────────────────────────────────────────────────────────────────────────────────

_SILICON = re.compile(
    r"\b(gb300|gb200|gh200|gb10|b300|b200|h200|h100|h800|h20|a100|a800|l40s|l40|l4|l20|l2|a10|a16|a30|a40|a2|t4|"
    r"mi\s?\d{3}[xpa]?|rtx pro \d{4}|rtx \d{4} sff ada|rtx \d{4} ada|rtx a\d{4}|rtx \d{4}(?: ti)?|"
    r"gaudi \d|arc pro b\d0|jetson [a-z]+ [a-z]+|r9700)\b"
)
_BOARDS = frozenset({"h100", "h200", "h800", "a100", "b200", "b300", "a800"})


@lru_cache(maxsize=1024)
def silicon(name: str, form_factor: FormFactor | None = None) -> str:
    """A key for the same GPU under the names of catalogs and benchmarks: 'h100_sxm', 'mi300x', 'l40s'."""
    text = name.lower().replace("-", " ").replace("_", " ").replace("geforce ", "")
    found = _SILICON.search(text)
    if found is None:
        return "_".join(text.split())
    key = found.group(1).replace(" ", "" if found.group(1).startswith("mi") else "_")
    if key in _BOARDS:
        variant = (
            "nvl" if "nvl" in text else "pcie" if "pcie" in text or form_factor is FormFactor.PCIE else "sxm"
        )
        return f"{key}_{variant}"
    return key


def tabled_silicon(calibration: Calibration) -> frozenset[str]:
    """The GPUs, as `silicon` keys them, whose published throughput tables are known."""
    known = calibration.machines
    if "tabled" not in known:
        known["tabled"] = frozenset(silicon(pair.split("|")[1]) for pair in calibration.fitted_pairs)
    found: frozenset[str] = known["tabled"]
    return found


def shape_signature(arch: ModelArchitecture) -> str:
    """Equal for models of one shape under different names (base, instruct, requantised)."""
    return f"{arch.layers}x{arch.hidden}x{arch.query_heads}x{arch.experts}"
