"""What engines of the past reserved, for start-up logs that name their release. The product sizes for today's."""

import re
from dataclasses import replace

from quotes.sizing.assumptions import Assumptions
from quotes.sizing.serving.memory import EngineMemory, Pool, engine_memory


def version_of(text: str) -> tuple[int, ...]:
    """(0, 19, 0) for '0.19.0'; empty when none is stated."""
    return tuple(int(part) for part in re.findall(r"\d+", text.split("rc")[0])[:3])


def release(engine: str, version: str, assumptions: Assumptions) -> EngineMemory:
    """The habits of one release.

    vLLM: prompts were not cut into chunks before 0.6; windows were kept whole before 0.21; captured graphs come on top
    of the engine's share in 0.11–0.20; collectives took 0.55 GiB before 0.17 and 2.1 since; a start-up run took more
    before 0.17; images took twenty times as much before 0.12. llama.cpp takes what it needs.
    """
    name = engine.lower()
    memory = engine_memory(
        "sglang" if name == "sglang" else "trtllm" if "tensorrt" in name else "vllm", assumptions
    )
    if name.startswith("llama"):
        return replace(
            memory, pool=Pool.SHARE_OF_TOTAL, share_fraction=1.0, collectives_gib=0.0, graph_base_gib=0.0,
            graph_mib_per_layer=0.0, graph_experts_gib=0.0, batched_tokens=512, sampled_sequences=1,
            window_aware=False, image_reserve_mib_per_token=0.0,
        )  # fmt: skip
    found = version_of(version)
    if name != "vllm" or not found:
        return memory
    return replace(
        memory,
        chunked_prefill=found >= (0, 6),
        window_aware=found >= (0, 21),
        graphs_inside=not (0, 11) <= found < (0, 21),
        collectives_gib=memory.collectives_gib if found >= (0, 17) else 0.55,
        sampled_sequences=memory.sampled_sequences if found >= (0, 8) else 256,
        image_reserve_mib_per_token=memory.image_reserve_mib_per_token * (1 if found >= (0, 12) else 20),
    )
