"""What the tests of start commands share: every option of the seed catalog for a few loads, as chosen options are."""

from collections.abc import Iterator
from functools import cache
from typing import Literal

from catalog.specs import CatalogSnapshot
from configurator.workload import (
    Job,
    LanguageService,
    LanguageTraining,
    Method,
    ModelRef,
    Precision,
    Service,
)
from quotes.launch import LoadLaunch, launch_plan
from quotes.launch.nouns import Command, Setting
from quotes.sizing.candidates import node_limits, servers_for
from quotes.sizing.engine import size
from quotes.sizing.knowledge import shipped
from quotes.sizing.loads import explained, option_table
from quotes.sizing.results import LoadOption, Refusal, SizedSystem
from tests.scenarios import load_workload
from tests.sizing.hardware import ASSUMPTIONS, DAY, seed

MODELS = (
    "meta-llama/Meta-Llama-3.1-8B",
    "meta-llama/Meta-Llama-3.1-70B",
    "Qwen/Qwen3-235B-A22B",
    "deepseek-ai/DeepSeek-V3",
    "deepseek-ai/DeepSeek-V3.2",
    "openai/gpt-oss-120b",
    "nvidia/Qwen3-235B-A22B-NVFP4",
)
ACCELERATORS = (
    "l40s", "a100-sxm4-80gb", "h100-nvl-94gb", "h200-sxm5-141gb", "b200-sxm-180gb", "instinct-mi300x",
    "rtx-pro-6000-blackwell-server-edition", "gaudi-3-oam", "gb200",
)  # fmt: skip


@cache
def systems(scenario: str) -> tuple[SizedSystem, ...]:
    return size(load_workload(scenario), seed(), ASSUMPTIONS, shipped(), on=DAY).systems


def planned(scenario: str) -> Iterator[tuple[SizedSystem, tuple[LoadLaunch, ...]]]:
    workload = load_workload(scenario)
    for system in systems(scenario):
        yield system, launch_plan(system, workload).loads


def options_of(part: Service | Job) -> Iterator[LoadOption]:
    """Every option that sizing offers for `part` on a few accelerators, with what is kept of chosen ones."""
    catalog = _few()
    table = option_table(
        part,
        catalog.accelerators,
        node_limits(catalog, servers_for(catalog)),
        catalog,
        ASSUMPTIONS,
        shipped(),
        (1.0,),
    )
    for accelerator in catalog.accelerators:
        found = table[accelerator.sku]
        if not isinstance(found, Refusal):
            for option in found:
                yield explained(option, part, accelerator, catalog, ASSUMPTIONS, shipped())


@cache
def _few() -> CatalogSnapshot:
    kept = tuple(one for one in seed().accelerators if one.sku in ACCELERATORS)
    return seed().model_copy(update={"accelerators": kept})


def services() -> Iterator[LanguageService]:
    for engine in ("vllm", "sglang", "trtllm"):
        for key in (MODELS[1], *MODELS[4:]):
            yield _service(key, engine, 40)
        yield _service(MODELS[3], engine, 4000)  # many at once: attention in parallel
    for precision in (Precision.FP8, Precision.INT4, Precision.BF16):
        yield _service(MODELS[1], "vllm", 20).model_copy(
            update={"precision": precision, "kv_precision": "fp8"}
        )


def _service(key: str, engine: Literal["vllm", "sglang", "trtllm"], requests: float) -> LanguageService:
    return LanguageService(
        model=ModelRef(key=key),
        engine=engine,
        concurrent_requests=requests,
        prompt_tokens=3000,
        output_tokens=500,
    )


def jobs() -> Iterator[LanguageTraining]:
    for key in MODELS[:4]:
        for method in Method:
            tokens = 2e10 if method is Method.PRE_TRAIN else 5e7
            yield LanguageTraining(model=ModelRef(key=key), method=method, tokens=tokens, deadline_h=96)


def words(command: Command) -> list[str]:
    """The words, with settings as `$NAME`."""
    return [f"${word.name}" if isinstance(word, Setting) else word for word in command.words]


def values(command: Command) -> dict[str, str]:
    """What follows each option; empty for a switch."""
    found, said = {}, words(command)
    for at, word in enumerate(said):
        if word.startswith("--"):
            after = said[at + 1] if at + 1 < len(said) else ""
            found[word] = "" if after.startswith("--") else after
    return found
