"""Models and GPUs that only published tables name: their dimensions, and the spellings of everything.

Source of the dimensions: the models' published configs and papers.
"""

from catalog.specs import AcceleratorSpec, Availability, FormFactor, ModelArchitecture

# Spelling in published tables (regular expression, lower case) → key. The first match counts.
PATTERNS: tuple[tuple[str, str], ...] = (
    (r"stable-diffusion", ""),
    (r"distill-llama-70b", "meta-llama/Meta-Llama-3.1-70B"),
    (r"distill-llama-8b", "meta-llama/Meta-Llama-3.1-8B"),
    (r"distill-qwen-(1\.5|7|14|32)b", "Qwen/Qwen2.5-{0}B"),
    (r"deepseek-?coder-?v2|deepseek-v2(?!-lite)", "deepseek-ai/DeepSeek-V2"),
    (r"deepseek-v2-lite", "deepseek-ai/DeepSeek-V2-Lite"),
    (r"deepseek-v4-(flash|pro)", "deepseek-ai/DeepSeek-V4-{0}"),
    (r"deepseek-coder-6\.7b", "deepseek-coder-6.7b"),
    (r"deepseek-v3\.2", "deepseek-ai/DeepSeek-V3.2"),
    (r"deepseek[- (]*(?:r1|v3)", "deepseek-ai/DeepSeek-R1"),
    (r"llama[- ]?(?:v)?3\.2-90b", "llama-3.2-90b-vision"),
    (r"llama[- ]?(?:v)?3\.2-(1|3)b", "meta-llama/Llama-3.2-{0}B"),
    (r"llama[- ]?4[- ](scout|maverick)", "meta-llama/Llama-4-{0}"),
    (r"code-?llama-(7|34)b", "codellama/CodeLlama-{0}b"),
    (r"^(?!nvidia).*llama-?3\.1-405b-instruct-fp8", "llama-3.1-405b-fp8"),
    (r"meta-llama-3-(8|70)b", "meta-llama/Meta-Llama-3-{0}B"),
    (r"llama[- v]*3(?:\.\d)?[- ](8|70|405) ?b|llama[- ]?3(?:\.\d)?-(8|70|405)b", "meta-llama/Meta-Llama-3.1-{0}B"),
    (r"llama[- ]?2[- ](7|13|70) ?b", "meta-llama/Llama-2-{0}b-hf"),
    (r"^llama (8|70|405)b$", "meta-llama/Meta-Llama-3.1-{0}B"),
    (r"^llama (7|13)b$", "meta-llama/Llama-2-{0}b-hf"),
    (r"mixtral[- ]8x(7|22)b", "mistralai/Mixtral-8x{0}B-v0.1"),
    (r"mistral-small-4", ""),
    (r"mistral-small|mistral-?3\.\d-24b", "mistral-small-24b"),
    (r"mistral[- ]large", "mistralai/Mistral-Large-Instruct-2411"),
    (r"mistral[- ]7b|zephyr-7b|openhermes-2\.5-mistral", "mistralai/Mistral-7B-Instruct-v0.2"),
    (r"gpt-?oss-(20|120)b", "openai/gpt-oss-{0}b"),
    (r"gpt-?j", "gpt-j-6b"),
    (r"falcon[- ]180b", "falcon-180b"),
    (r"opt-125m", "opt-125m"),
    (r"phi-2", "phi-2"),
    (r"phi-4", "microsoft/phi-4"),
    (r"gemma-?4-?(?:26b)", "google/gemma-4-26B-A4B"),
    (r"gemma-?4-?31b", "nvidia/Gemma-4-31B-IT-NVFP4"),
    (r"gemma-?4-?12b", "gemma-4-12b"),
    (r"gemma-?2-(2|9|27)b", "google/gemma-2-{0}b"),
    (r"gemma-?3-(1|4|12|27)b", "google/gemma-3-{0}b-it"),
    (r"gemma-(2|7)b", "gemma-{0}b"),
    (r"granite-vision-3\.\d-2b", "granite-vision-2b"),
    (r"granite-3\.\d-(2|8)b", "granite-3.1-{0}b"),
    (r"qwen1\.5-moe-a2\.7b", "qwen1.5-moe-a2.7b"),
    (r"qwen2(?:\.5)?-vl-72b", "qwen2.5-vl-72b"),
    (r"qwen2(?:\.5)?-vl-7b", "qwen2.5-vl-7b"),
    (r"kimi-dev-72b|qwen2-72b", "Qwen/Qwen2.5-72B"),
    (r"qwen2\.5-(?:coder-|math-)?(0\.5|1\.5|3|7|14|32|72)b", "Qwen/Qwen2.5-{0}B"),
    (r"qwq-32b", "Qwen/QwQ-32B"),
    (r"qwen3\.(?:5|6|8)-27b", "Qwen/Qwen3.5-27B"),
    (r"qwen3\.(?:5|6)-35b", "Qwen/Qwen3.5-35B-A3B"),
    (r"qwen3\.5-122b", "Qwen/Qwen3.5-122B-A10B"),
    (r"qwen3\.5-397b", "Qwen/Qwen3.5-397B-A17B"),
    (r"qwen3-coder-480b", "Qwen/Qwen3-Coder-480B-A35B-Instruct"),
    (r"qwen3-vl-235b", "Qwen/Qwen3-VL-235B-A22B-Instruct"),
    (r"qwen3-vl-(2|4|8|32)b", "Qwen/Qwen3-VL-{0}B-Instruct"),
    (r"qwen3-235b", "Qwen/Qwen3-235B-A22B"),
    (r"qwen3-(?:coder-|vl-)?30b", "Qwen/Qwen3-30B-A3B"),
    (r"qwen3-(0\.6|1\.7|4|8|14|32)b", "Qwen/Qwen3-{0}B"),
    (r"kimi-k2", "moonshotai/Kimi-K2.5"),
    (r"kimi-k3", "moonshotai/Kimi-K3"),
    (r"kimi-vl-a3b|moonlight", "kimi-vl-a3b"),
    (r"minimax-m2", "MiniMaxAI/MiniMax-M2.5"),
    (r"minimax-m3", "MiniMaxAI/MiniMax-M3"),
    (r"nemotron-?3?-? ?nano.*30b", "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"),
    (r"nemotron-3-super", "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-FP8"),
    (r"nemotron.*(?:super.*49b|49b)|nvidia nemotron super", "nvidia/Llama-3_3-Nemotron-Super-49B-v1"),
    (r"nemotron-70b", "meta-llama/Meta-Llama-3.1-70B"),
    (r"glm-4\.5(?!-air)", "glm-4.5"),
    (r"glm-5(?:\.1)?", "zai-org/GLM-5"),
    (r"step-3\.7", "stepfun-ai/Step-3.7-Flash"),
    (r"mimo-v2", "XiaomiMiMo/MiMo-V2-Flash"),
)  # fmt: skip


def _model(key: str, dims: tuple[int, int, int, int, int, int, int], **more: object) -> ModelArchitecture:
    """`dims` = layers, hidden, feed-forward, query heads, KV heads, head width, vocabulary."""
    layers, hidden, feed_forward, heads, kv_heads, width, vocabulary = dims
    return ModelArchitecture.model_validate(
        {
            "key": key, "name": key, "layers": layers, "hidden": hidden, "feed_forward": feed_forward,
            "query_heads": heads, "kv_heads": kv_heads, "head_dim": width, "vocabulary": vocabulary, **more,
        }
    )  # fmt: skip


EXTRA_MODELS: tuple[ModelArchitecture, ...] = (
    _model("gpt-j-6b", (28, 4096, 16384, 16, 16, 256, 50400), gated_feed_forward=False, max_context=2048),
    _model("falcon-180b", (80, 14848, 59392, 232, 8, 64, 65024), gated_feed_forward=False, tied_embeddings=True,
           max_context=2048),
    _model("opt-125m", (12, 768, 3072, 12, 12, 64, 50272), gated_feed_forward=False, tied_embeddings=True,
           max_context=2048),
    _model("phi-2", (32, 2560, 10240, 32, 32, 80, 51200), gated_feed_forward=False, max_context=2048),
    _model("gemma-7b", (28, 3072, 24576, 16, 16, 256, 256_000), tied_embeddings=True, max_context=8192),
    _model("gemma-2b", (18, 2048, 16384, 8, 1, 256, 256_000), tied_embeddings=True, max_context=8192),
    _model("granite-3.1-2b", (40, 2048, 8192, 32, 8, 64, 49155), tied_embeddings=True, max_context=131_072),
    _model("granite-3.1-8b", (40, 4096, 12800, 32, 8, 128, 49155), tied_embeddings=True, max_context=131_072),
    _model("granite-vision-2b", (40, 2048, 8192, 32, 8, 64, 49156), tied_embeddings=True, max_context=131_072,
           multimodal=True, encoder_params_b=0.43),
    _model("mistral-small-24b", (40, 5120, 32768, 32, 8, 128, 131_072), max_context=131_072, multimodal=True,
           encoder_params_b=0.44),
    _model("deepseek-coder-6.7b", (32, 4096, 11008, 32, 32, 128, 32256), max_context=16_384),
    _model("qwen2.5-vl-72b", (80, 8192, 29568, 64, 8, 128, 152_064), max_context=128_000, multimodal=True,
           encoder_params_b=0.68, image_tokens_max=16_384),
    _model("qwen2.5-vl-7b", (28, 3584, 18944, 28, 4, 128, 152_064), max_context=128_000, multimodal=True,
           encoder_params_b=0.68, image_tokens_max=16_384),
    _model("llama-3.2-90b-vision", (100, 8192, 28672, 64, 8, 128, 128_256), max_context=131_072, multimodal=True,
           encoder_params_b=0.9),
    _model("qwen1.5-moe-a2.7b", (24, 2048, 0, 16, 16, 128, 151_936), experts=60, experts_per_token=4,
           expert_width=1408, shared_expert_width=5632, max_context=32_768),
    _model("kimi-vl-a3b", (27, 2048, 11264, 16, 16, 192, 163_840), experts=64, experts_per_token=6,
           expert_width=1408, shared_expert_width=2816, dense_layers=1, kv_rank=512, rope_dim=64, nope_dim=128,
           value_dim=128, max_context=131_072, multimodal=True, encoder_params_b=0.43),
    _model("glm-4.5", (92, 5120, 12288, 96, 8, 128, 151_552), experts=160, experts_per_token=8, expert_width=1536,
           shared_expert_width=1536, dense_layers=3, max_context=131_072, native_format="fp8"),
    _model("llama-3.1-405b-fp8", (126, 16384, 53248, 128, 8, 128, 128_256), max_context=131_072, native_format="fp8",
           sixteen_bit={"attention"}),
    _model("gemma-4-12b", (48, 3840, 15360, 16, 1, 512, 262_144), tied_embeddings=True, sliding_window=1024,
           sliding_layers=40, sliding_kv_heads=8, sliding_head_dim=256, max_context=262_144,
           standard_structure=False),
)  # fmt: skip


def _gpu(sku: str, name: str, architecture: str, mib: float, gb_s: float, tflops: float) -> AcceleratorSpec:
    return AcceleratorSpec(
        sku=sku, vendor="NVIDIA", name=name, architecture=architecture, form_factor=FormFactor.PCIE,
        availability=Availability.END_OF_SALE, memory_mib=mib, memory_gb_label=round(mib / 1024),
        memory_bandwidth_gb_s=gb_s, bf16_tflops=tflops, pcie_generation=4, pcie_lanes=16,
    )  # fmt: skip


# Cards that benchmarks use and the catalog does not sell; data sheet memory, GB/s and dense 16-bit TFLOPS.
EXTRA_GPUS: tuple[AcceleratorSpec, ...] = (
    _gpu("rtx-3070", "GeForce RTX 3070", "Ampere", 8192, 448, 40.6),
    _gpu("rtx-3080-ti", "GeForce RTX 3080 Ti", "Ampere", 12_288, 912, 68.2),
    _gpu("rtx-4060", "GeForce RTX 4060", "Ada Lovelace", 8188, 272, 60.5),
    _gpu("rtx-4080", "GeForce RTX 4080", "Ada Lovelace", 16_376, 717, 97.5),
    _gpu("rtx-5070-ti", "GeForce RTX 5070 Ti", "Blackwell", 16_303, 896, 87.9),
    _gpu("rtx-4000-ada", "RTX 4000 Ada", "Ada Lovelace", 20_475, 360, 106.9),
    _gpu("h800-sxm", "H800 SXM", "Hopper", 81_559, 3350, 989).model_copy(
        update={"form_factor": FormFactor.SXM, "fp8_tflops": 1979.0, "link_gb_s": 400.0, "link_max_count": 8,
                "link_kind": "switch"}
    ),
)  # fmt: skip
