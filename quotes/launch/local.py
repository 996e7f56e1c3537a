"""llama.cpp instead of the engine that was sized: for a model on one GPU that few people use at once.

No service is sized for llama.cpp. It is what people run on workstations and edge modules, so its command is given
beside the other one where the same context for the same requests fits in its formats, and the reader is told that the
speed is not the one that was sized.
"""

from collections.abc import Mapping
from math import ceil

from catalog.quantity import Message, Quantity, noop
from configurator.workload import LanguageService
from quotes.launch.nouns import Command, LaunchFile, Setting, Word, note
from quotes.launch.shell import start_script
from quotes.sizing.architecture import FORMATS
from quotes.sizing.results import LoadOption
from quotes.sizing.trace import Finding

FEW_REQUESTS = 4  # at once; above that an engine that shares its cache among requests is the better one
STACKS = frozenset({"cuda", "jetpack", "rocm"})
GGUF: Mapping[str, tuple[str, float]] = {
    "bf16": ("BF16", 1.0),
    "fp8": ("Q8_0", FORMATS["q8_0"].bytes_per_weight / FORMATS["fp8"].bytes_per_weight),
    "int8": ("Q8_0", FORMATS["q8_0"].bytes_per_weight / FORMATS["int8"].bytes_per_weight),
    "int4": ("Q4_K_M", FORMATS["q4_k_m"].bytes_per_weight / FORMATS["int4"].bytes_per_weight),
    "nf4": ("Q4_K_M", FORMATS["q4_k_m"].bytes_per_weight / FORMATS["nf4"].bytes_per_weight),
    "nvfp4": ("Q4_K_M", FORMATS["q4_k_m"].bytes_per_weight / FORMATS["nvfp4"].bytes_per_weight),
    "mxfp4": ("MXFP4", 1.0),
}
"""By sized format: the nearest of llama.cpp, and at most how many times as large its weights are."""
CACHE: Mapping[str, tuple[str, float]] = {"bf16": ("f16", 1.0), "fp8": ("q8_0", 1.0625)}
EVERY_LAYER = 999  # on the GPU; any number above the layers means all
FILE = "llama-server.sh"


def local_way(
    name: str, option: LoadOption, part: LanguageService, port: int
) -> tuple[LaunchFile, Finding] | None:
    """The file that starts llama.cpp, and what differs; None where it is no alternative or does not fit."""
    memory, settings = option.memory, option.settings
    weights, cache = GGUF.get(option.precision), CACHE.get(option.kv_precision)
    whole = option.gpus_per_replica == 1 and option.portion is None and option.stack in STACKS
    if memory is None or settings is None or weights is None or cache is None or not whole:
        return None
    slots = max(1, ceil(part.concurrent_requests / max(1, option.replicas - option.spare_replicas) - 1e-9))
    if slots > FEW_REQUESTS or memory.kv_bytes_per_token is None:
        return None
    weights_gib = memory.weights_gib * weights[1]
    cache_gib = slots * settings.context_tokens * memory.kv_bytes_per_token * cache[1] / 2**30
    if weights_gib + cache_gib + memory.activations_gib + memory.runtime_gib > memory.total_gib:
        return None
    text = noop(
        "With {count} at once llama.cpp is an alternative, if there is a GGUF file of the model: {file} starts it with "
        "the same longest request, for {format} of about {size}, and for this machine alone unless LISTEN names "
        "another address. The speed was calculated for another engine and does not hold for it: measure before you "
        "choose."
    )
    finding = note(
        Message.of(
            text,
            count=Quantity(value=slots, unit="requests", digits=2),
            file=FILE,
            format=weights[0],
            size=Quantity(value=weights_gib, unit="GiB", digits=2),
        )
    )
    return LaunchFile(
        name=FILE, text=start_script(_command(name, slots, settings.context_tokens, cache[0], port))
    ), finding


def _command(name: str, slots: int, context_tokens: int, cache: str, port: int) -> Command:
    """`--ctx-size` is divided among the slots when their number is given."""
    words: list[Word] = ["llama-server"]
    words += ["--model", Setting(name="GGUF", hint="give the GGUF file of the model")]
    words += ["--alias", name]
    words += [
        "--host",
        Setting(name="LISTEN", default="127.0.0.1"),
    ]  # no container around it, and no password
    words += ["--port", Setting(name="PORT", default=str(port))]
    words += ["--n-gpu-layers", str(EVERY_LAYER), "--flash-attn", "on"]
    words += ["--ctx-size", str(slots * context_tokens), "--parallel", str(slots)]
    words += ["--cache-type-k", cache, "--cache-type-v", cache]
    return Command(words=tuple(words))
