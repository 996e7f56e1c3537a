"""Every way in which one language service could run on each accelerator, before anything is timed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from catalog.specs import AcceleratorSpec, ModelArchitecture
from configurator.workload import LanguageService, Precision
from quotes.sizing.architecture import FORMATS, KV_BYTES, WeightFormat, legal_tp
from quotes.sizing.serving.kernels import generation
from quotes.sizing.serving.machines import FP4_GENERATIONS, FP8_GENERATIONS, supports

DP_DEGREES = (4, 8)  # data-parallel attention over so many GPUs, where the cache cannot be split


@dataclass(frozen=True, slots=True)
class Way:
    """One accelerator, weight format and layout of a replica. `wish`: not offered, only named as a change."""

    accelerator: int  # index
    form: WeightFormat
    kv_format: str
    tp: int
    dp: int
    ep: int
    wish: bool = False

    @property
    def gpus(self) -> int:
        return self.tp * self.dp


def weight_formats(
    service: LanguageService, arch: ModelArchitecture, accelerator: AcceleratorSpec
) -> tuple[WeightFormat, ...]:
    """Formats to consider: the customer's choice, else the published one and, for a 16-bit model, FP8 where the GPU
    computes in it. Four bits are never chosen for a model that was not published so: that loss is the customer's
    decision."""
    if service.precision is not Precision.AUTO:
        wanted: tuple[WeightFormat, ...] = (FORMATS[service.precision.value],)
    else:
        native = FORMATS.get(arch.native_format, FORMATS["bf16"])
        wanted = (native,)
        if native.key == "bf16" and accelerator.fp8_tflops and generation(accelerator) in FP8_GENERATIONS:
            wanted = (native, FORMATS["fp8"])
    return tuple(form for form in wanted if supports(accelerator, form))


def smaller_format(form: WeightFormat, accelerator: AcceleratorSpec) -> WeightFormat | None:
    """The format to name as a change when weights in `form` do not fit."""
    if form.bytes_per_weight < 0.9:
        return None
    return FORMATS["nvfp4" if generation(accelerator) in FP4_GENERATIONS else "int4"]


def kv_format_for(kv_precision: str, engine: str, form: WeightFormat) -> str:
    """KV precision under 'auto': engines follow the checkpoint, and published NVFP4 checkpoints (and FP8 ones for
    TensorRT-LLM) carry scales for an FP8 cache; elsewhere 16 bit."""
    if kv_precision != "auto":
        return kv_precision
    return "fp8" if form.key == "nvfp4" or (engine == "trtllm" and form.key == "fp8") else "bf16"


def kv_bytes(kv_format: str) -> float:
    return KV_BYTES[kv_format]


def expert_groups(arch: ModelArchitecture, gpus: int, tp: int) -> int:
    """Expert parallelism of a replica: experts are split by width over the GPUs where that divides, else spread."""
    if not arch.is_moe or gpus == 1:
        return 1
    divides = tp == gpus and arch.expert_width % (gpus * 64) == 0
    return 1 if divides or arch.experts % gpus else gpus


def layouts(
    arch: ModelArchitecture, accelerator: AcceleratorSpec, node_limit: int
) -> Iterator[tuple[int, int, int]]:
    """(tp, dp, ep) of one replica inside one server: tensor parallelism within the link domain, or over PCIe for
    cards; data-parallel attention with spread experts for latent caches, which tensor parallelism copies."""
    limit = node_limit
    if accelerator.link_kind in ("switch", "mesh") and accelerator.link_max_count:
        limit = min(limit, accelerator.link_max_count)
    degrees = legal_tp(arch, limit)
    for tp in degrees:
        yield tp, 1, expert_groups(arch, tp, tp)
    if arch.is_mla and arch.is_moe and accelerator.link_kind in ("switch", "mesh"):
        for dp in DP_DEGREES:
            if dp <= limit and arch.experts % dp == 0:
                yield 1, dp, dp


def ways(
    service: LanguageService,
    arch: ModelArchitecture,
    accelerators: Sequence[AcceleratorSpec],
    usable: Sequence[int],
    max_in_node: Mapping[str, int],
) -> list[Way]:
    """All ways on the accelerators with index in `usable`, wishes included."""
    found = []
    for index in usable:
        accelerator = accelerators[index]
        shapes = tuple(layouts(arch, accelerator, max_in_node.get(accelerator.sku, 1)))
        forms = weight_formats(service, arch, accelerator)
        for form in forms:
            kv = kv_format_for(service.kv_precision, service.engine, form)
            found += [Way(index, form, kv, tp, dp, ep) for tp, dp, ep in shapes]
        if forms:
            widest = shapes[-1] if shapes[-1][1] == 1 else next(s for s in reversed(shapes) if s[1] == 1)
            found += _wishes(service, forms[-1], accelerator, index, widest)
    return found


def _wishes(
    service: LanguageService,
    form: WeightFormat,
    accelerator: AcceleratorSpec,
    index: int,
    shape: tuple[int, int, int],
) -> Iterator[Way]:
    kv = kv_format_for(service.kv_precision, service.engine, form)
    if kv != "fp8":
        yield Way(index, form, "fp8", *shape, wish=True)
    smaller = smaller_format(form, accelerator)
    if smaller is not None and supports(accelerator, smaller):
        yield Way(index, smaller, "fp8", *shape, wish=True)
