"""Language services: the server arguments that run what was sized, one renderer per engine.

Flags and values are documented by the engines; the list with its sources is checked in beside the tests.
"""

from collections.abc import Callable, Mapping

from catalog.quantity import Message, Quantity, noop
from quotes.launch.containers import container_of
from quotes.launch.nouns import Command, LaunchFile, Setting, Way, Word, note
from quotes.sizing.results import EngineSettings, LoadOption, ModelToRun
from quotes.sizing.trace import Finding

PORT = Setting(name="PORT", default="8000")
MODEL = Setting(name="MODEL", hint="give the folder or the name of the checkpoint that was sized")
LOADS_AS: Mapping[str, frozenset[tuple[str, str]]] = {
    "vllm": frozenset({("bf16", "fp8")}),
    "sglang": frozenset({("bf16", "fp8")}),
}
"""By engine: (checkpoint, sized) formats that it converts while loading."""

type Renderer = Callable[[str, LoadOption, ModelToRun, EngineSettings], Way]


def service_way(name: str, option: LoadOption) -> Way:
    """How a replica of a language service is started; without a command when its engine or accelerator has none."""
    if option.settings is None or option.model is None:
        text = noop("This was sized by an earlier version, which did not keep the settings of the engine.")
        return Way(findings=(note(Message.of(text), warns=True),))
    renderer = ENGINES.get(option.engine)
    if renderer is None or not option.stack:
        text = noop("No start command is known for this engine on this accelerator.")
        return Way(findings=(note(Message.of(text), warns=True),))
    way = renderer(name, option, option.model, option.settings)
    return way.model_copy(
        update={"findings": (*_remarks(option, option.model, option.settings), *way.findings)}
    )


def checkpoint(option: LoadOption, model: ModelToRun) -> Word:
    """The published checkpoint where it is what was sized, or where the engine makes it so; else a setting."""
    same = option.precision == model.checkpoint_format
    return model.hub_id if model.hub_id and (same or _converts(option, model)) else MODEL


def _converts(option: LoadOption, model: ModelToRun) -> bool:
    """Whether the engine makes the sized format itself: it reads the weights in 16 bit first, which must fit."""
    known = (model.checkpoint_format, option.precision) in LOADS_AS.get(option.engine, ())
    memory, settings = option.memory, option.settings
    if not known or memory is None or settings is None:
        return False
    return 2 * memory.weights_gib <= settings.memory_fraction * memory.total_gib


def _remarks(option: LoadOption, model: ModelToRun, settings: EngineSettings) -> tuple[Finding, ...]:
    """What is true whatever the engine."""
    found = []
    if not model.hub_id:
        text = noop("No published model was named: set MODEL to the checkpoint that you want to run.")
        found.append(note(Message.of(text), warns=True))
    elif checkpoint(option, model) is MODEL:
        text = noop(
            "Sized in {precision}; {model} is published in {format}. Set MODEL to a checkpoint in {precision}."
        )
        formats = {"precision": option.precision.upper(), "format": model.checkpoint_format.upper()}
        found.append(note(Message.of(text, model=model.hub_id, **formats), warns=True))
    if settings.draft_tokens:
        text = noop(
            "The speed counts on {count} guessed tokens per step. How to guess depends on the model: switch it on "
            "as the engine describes, or expect fewer tokens per second."
        )
        guessed = Quantity(value=settings.draft_tokens, digits=2)
        found.append(note(Message.of(text, count=guessed), warns=True))
    if option.replicas > 1:
        text = noop(
            "Start {count} replicas, each with its own GPUs and port, and put a load balancer before them."
        )
        found.append(note(Message.of(text, count=option.replicas)))
    return tuple(found)


# ── vLLM ────────────────────────────────────────────────────────────────────────────────────────────────────────


def vllm(name: str, option: LoadOption, model: ModelToRun, settings: EngineSettings) -> Way:
    """Expert parallelism spans tensor times data parallelism, so one switch says it."""
    layout = option.layout
    eight = "fp8_inc" if option.stack == "gaudi" else "fp8"
    words: list[Word] = ["vllm", "serve", checkpoint(option, model)]
    words += ["--served-model-name", name, "--host", "0.0.0.0", "--port", PORT]  # noqa: S104  in a container
    words += ["--tensor-parallel-size", str(layout.tp)]
    if layout.pp > 1:
        words += ["--pipeline-parallel-size", str(layout.pp)]
    if layout.dp > 1:
        words += ["--data-parallel-size", str(layout.dp)]
    if layout.ep > 1:
        words += ["--enable-expert-parallel"]
    if _converts(option, model):
        words += ["--quantization", option.precision]
    words += ["--kv-cache-dtype", _cache(option, model, eight)]
    words += ["--max-model-len", str(settings.context_tokens)]
    words += ["--max-num-seqs", str(settings.sequences)]
    words += ["--max-num-batched-tokens", str(settings.step_tokens)]
    words += ["--gpu-memory-utilization", f"{settings.memory_fraction:g}"]
    return Way(tool="vllm", command=Command(words=tuple(words)), container=container_of("vllm", option.stack))


def _cache(option: LoadOption, model: ModelToRun, eight_bit: str) -> str:
    """16 bit is what engines take by themselves, except for checkpoints that bring 8-bit scales."""
    if option.kv_precision == "fp8":
        return eight_bit
    return "auto" if model.cache_format == "bf16" else "bfloat16"


# ── SGLang ──────────────────────────────────────────────────────────────────────────────────────────────────────


def sglang(name: str, option: LoadOption, model: ModelToRun, settings: EngineSettings) -> Way:
    """With data-parallel attention `--tp-size` counts all GPUs of the replica, and requests are counted together."""
    layout = option.layout
    words: list[Word] = ["python3", "-m", "sglang.launch_server"]
    words += ["--model-path", checkpoint(option, model), "--served-model-name", name]
    words += ["--host", "0.0.0.0", "--port", PORT]  # noqa: S104  in a container
    words += ["--tp-size", str(layout.tp * layout.dp)]
    if layout.pp > 1:
        words += ["--pp-size", str(layout.pp)]
    if layout.dp > 1:
        words += ["--dp-size", str(layout.dp), "--enable-dp-attention"]
    if layout.ep > 1:
        words += ["--ep-size", str(layout.ep)]
    if _converts(option, model):
        words += ["--quantization", option.precision]
    words += ["--kv-cache-dtype", _cache(option, model, "fp8_e4m3")]
    words += ["--context-length", str(settings.context_tokens)]
    words += ["--max-running-requests", str(settings.sequences * layout.dp)]
    words += ["--chunked-prefill-size", str(settings.step_tokens * layout.dp)]
    words += ["--mem-fraction-static", f"{settings.memory_fraction:g}"]
    return Way(
        tool="sglang", command=Command(words=tuple(words)), container=container_of("sglang", option.stack)
    )


# ── TensorRT-LLM ────────────────────────────────────────────────────────────────────────────────────────────────


def trtllm(name: str, option: LoadOption, model: ModelToRun, settings: EngineSettings) -> Way:
    """It quantises nothing while loading; what its flags do not cover stands in a file. A section in the file replaces
    all flags about the same, so the share of the memory stands beside the format of the cache. Served under the model's
    own name."""
    layout = option.layout
    words: list[Word] = ["trtllm-serve", checkpoint(option, model)]
    words += ["--host", "0.0.0.0", "--port", PORT]  # noqa: S104  in a container
    words += ["--tp_size", str(layout.tp * layout.dp)]
    if layout.pp > 1:
        words += ["--pp_size", str(layout.pp)]
    if layout.ep > 1:
        words += ["--ep_size", str(layout.ep)]
    words += ["--max_seq_len", str(settings.context_tokens)]
    words += ["--max_batch_size", str(settings.sequences)]
    words += ["--max_num_tokens", str(settings.step_tokens)]
    words += ["--extra_llm_api_options", "engine.yaml"]
    extra = {
        "enable_attention_dp": layout.dp > 1,
        "enable_chunked_prefill": True,
        "kv_cache_config": {
            "dtype": "fp8" if option.kv_precision == "fp8" else "auto",
            "free_gpu_memory_fraction": round(settings.memory_fraction, 4),
        },
    }
    return Way(
        tool="trtllm",
        command=Command(words=tuple(words)),
        container=container_of("trtllm", option.stack),
        files=(LaunchFile(name="engine.yaml", documents=(extra,)),),
    )


ENGINES: Mapping[str, Renderer] = {"vllm": vllm, "sglang": sglang, "trtllm": trtllm}
