"""Assumptions about serving language models."""

from catalog.quantity import Frozen, noop
from quotes.sizing.assumptions.base import assume

_LOGS = noop("59 start-up logs of vLLM 0.19 on H100 (llm-d-planner, accuracy results)")


class ServingAssumptions(Frozen):
    # memory
    memory_utilisation_fraction: float = assume(
        0.90,
        unit="",
        low=0.5,
        high=0.98,
        label=noop("Share of GPU memory that the serving engine may use"),
        source=noop("default of vLLM (gpu_memory_utilization)"),
    )
    sglang_static_fraction: float = assume(
        0.87,
        unit="",
        low=0.5,
        high=0.95,
        label=noop("Share of GPU memory that SGLang gives to weights and KV cache"),
        source=noop("default of SGLang on data-centre GPUs (mem-fraction-static)"),
    )
    trtllm_free_fraction: float = assume(
        0.90,
        unit="",
        low=0.5,
        high=0.98,
        label=noop("Share of the memory left after loading that TensorRT-LLM gives to the KV cache"),
        source=noop("default of TensorRT-LLM (free_gpu_memory_fraction)"),
    )
    driver_reserve_gib: float = assume(
        0.45,
        unit="GiB",
        low=0,
        high=2,
        label=noop("Memory that the driver reports but no program gets"),
        source=noop("79.19 of 79.65 GiB on H100, 23.58 of 24.00 on RTX 3090, 31.37 of 31.84 on RTX 5090"),
    )
    engine_context_gib: float = assume(
        0.25,
        unit="GiB",
        low=0,
        high=4,
        label=noop("Engine context on one GPU"),
        source=noop(
            "59 start-up logs of vLLM 0.19 on H100 (llm-d-planner, accuracy results)"
            ", 0.24–0.46 GiB on one GPU"
        ),
    )
    engine_collectives_gib: float = assume(
        1.85,
        unit="GiB",
        low=0,
        high=6,
        label=noop("Collective buffers when several linked GPUs serve one model"),
        source=noop(
            "59 start-up logs of vLLM 0.19 on H100 (llm-d-planner, accuracy results)"
            ", 2.06–2.17 GiB in all with two or four GPUs"
        ),
    )
    graph_base_gib: float = assume(
        0.35,
        unit="GiB",
        low=0,
        high=4,
        label=noop("Captured graphs, fixed part"),
        source=_LOGS,
    )
    graph_mib_per_layer: float = assume(
        18,
        unit="MiB",
        low=0,
        high=100,
        label=noop("Captured graphs, per layer of the model"),
        source=noop("59 start-up logs of vLLM 0.19 on H100 (llm-d-planner, accuracy results), 0.5–1.9 GiB"),
    )
    graph_experts_gib: float = assume(
        0.4,
        unit="GiB",
        low=0,
        high=4,
        label=noop("Captured graphs of a mixture of experts, on top"),
        source=noop(
            "59 start-up logs of vLLM 0.19 on H100 (llm-d-planner, accuracy results)"
            ", 0.1–0.7 GiB more than a dense model with as many layers"
        ),
    )
    batched_tokens_count: float = assume(
        8192,
        unit="tokens",
        low=256,
        high=131_072,
        label=noop("Tokens that the engine computes in one step at most"),
        source=noop("defaults of vLLM for a server on a data-centre GPU (max_num_batched_tokens)"),
    )
    sampled_sequences_count: float = assume(
        1024,
        unit="sequences",
        low=1,
        high=4096,
        label=noop("Sequences for which the engine reserves sampling memory"),
        source=noop("defaults of vLLM for a server on a data-centre GPU (max_num_seqs)"),
    )
    logit_bytes: float = assume(
        15.3,
        unit="bytes",
        low=2,
        high=40,
        label=noop("Memory per sampled sequence and vocabulary entry"),
        source=noop(
            "59 start-up logs of vLLM 0.19 on H100 (llm-d-planner, accuracy results)"
            ", 14.9–15.9 bytes over six vocabularies"
        ),
    )
    small_gpu_batch_fraction: float = assume(
        0.25,
        unit="",
        low=0.05,
        high=1,
        label=noop("Tokens per step and sequences on GPUs below 70 GiB, as a share of those above"),
        source=noop(
            "defaults of vLLM: 2048 tokens and 256 sequences below 70 GiB, 8192 and 1024 from there on"
        ),
    )
    image_reserve_mib_per_token: float = assume(
        0.2,
        unit="MiB",
        low=0,
        high=8,
        label=noop("Reserve for the largest image, per image token"),
        source=noop(
            "start-up logs of a 27B vision model, 0.03–0.27 MiB; older releases took twenty times as much"
        ),
    )
    memory_margin_gib: float = assume(
        1.0,
        unit="GiB",
        low=0,
        high=10,
        label=noop("Memory that may turn out to be missing before a fit is called tight"),
        source=noop(
            "largest difference between releases of one engine for the same model, outside full prompts"
        ),
    )
    window_aware_fraction: float = assume(
        1,
        unit="",
        low=0,
        high=1,
        label=noop("Engine keeps only the window of sliding-window layers (1) or their whole context (0)"),
        source=noop(
            "vLLM since 0.21 and SGLang keep the window; llama.cpp and older engines reserve the full length"
        ),
    )
    # speed and queueing
    draft_tokens_count: float = assume(
        0,
        unit="tokens",
        low=0,
        high=8,
        label=noop("Tokens guessed ahead in each step (speculative decoding); 0 is off"),
        source=noop("own choice: off, since the gain depends on the text and shrinks under load"),
    )
    draft_acceptance_fraction: float = assume(
        0.6,
        unit="",
        low=0,
        high=0.95,
        label=noop("Share of guessed tokens that turn out right, each given those before it"),
        source=noop(
            "fits 72 published runs of DeepSeek-R1 with two guesses; prose is easier to guess than code"
        ),
    )
    prompt_utilisation_limit_fraction: float = assume(
        0.85,
        unit="",
        low=0.3,
        high=0.98,
        label=noop("Share of time that a replica may spend on prompts at the peak"),
        source=noop("own choice: beyond it the wait for the first token grows without bound"),
    )
    prompt_variation: float = assume(
        0.5,
        unit="",
        low=0,
        high=3,
        label=noop("Spread of prompt lengths: standard deviation over mean"),
        source=noop("own choice: half of the mean; measure your own traffic when you can"),
    )
    kv_occupancy_limit_fraction: float = assume(
        0.90,
        unit="",
        low=0.3,
        high=1,
        label=noop("Share of the KV cache that may be in use at the peak"),
        source=noop("own choice: above it engines push requests out and compute them again"),
    )
    default_tokens_s_per_user: float = assume(
        8,
        unit="tokens/s",
        low=0.5,
        high=100,
        label=noop("Output speed per user when none is asked for"),
        source=noop("a little faster than people read (about 250 words a minute, 1.3 tokens a word)"),
    )
    default_ttft_s: float = assume(
        10,
        unit="s",
        low=0.2,
        high=600,
        label=noop("Time to first token when none is asked for, 95 % of requests"),
        source=noop("own choice: what a person waits for with a progress sign"),
    )
    # host
    serving_cores_per_gpu: float = assume(
        8,
        unit="cores",
        low=1,
        high=64,
        label=noop("Processor cores per GPU for serving"),
        source=noop("scheduler, tokeniser and API server of one engine, two to four processes per GPU"),
    )
    serving_ram_per_weight: float = assume(
        1.5,
        unit="",
        low=0.2,
        high=4,
        label=noop("Host memory for serving, as a multiple of the weights"),
        source=noop("weights in the page cache while loading, and half as much for everything else"),
    )
    serving_ram_base_gb: float = assume(
        16,
        unit="GB",
        low=0,
        high=256,
        label=noop("Host memory for serving per GPU besides the weights"),
        source=noop("engine processes, pinned buffers and operating system"),
    )
    model_versions_kept_count: float = assume(
        3,
        unit="versions",
        low=1,
        high=50,
        label=noop("Versions of a model kept on local drives"),
        source=noop("own choice: current, previous, next"),
    )
    # prompts and answers on workers of their own
    split_handover_s: float = assume(
        0.15,
        unit="s",
        low=0,
        high=2,
        label=noop("Handing a prompt over to the worker that writes the answer, besides moving its cache"),
        source=noop(
            "48 published runs with separate workers at a low load (InferenceX, 2025–2026):"
            " half between 0.06 and 0.26 s more than reading and writing take"
        ),
    )
