"""Configs of 36 published models against their true parameter counts, and what is no config."""

import contextlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.importers.model_config import NotAConfig, read_model_config
from catalog.specs import ModelArchitecture
from quotes.sizing.architecture import active_params, parameters

CONFIGS: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "model_configs.json").read_text(encoding="utf-8")
)
COUNTED = sorted(name for name, entry in CONFIGS.items() if "total_b" in entry)
UNUSUAL = {
    "deepseek-ai/DeepSeek-V4-Flash",
    "moonshotai/Kimi-K3",
}  # structures whose parts no source tells exactly


@cache
def read(name: str) -> ModelArchitecture:
    entry = CONFIGS[name]
    quantisation = json.dumps(entry["quantisation"]) if "quantisation" in entry else ""
    return read_model_config(json.dumps(entry["config"]), key=name, quantisation=quantisation)


@pytest.mark.parametrize("name", COUNTED)
def test_counts_are_within_half_a_percent(name: str) -> None:
    arch, entry = read(name), CONFIGS[name]
    tolerance = 0.06 if name in UNUSUAL else 0.005
    assert arch.total_params_b == pytest.approx(entry["total_b"], rel=0.005)
    assert arch.active_params_b == pytest.approx(entry["active_b"], rel=tolerance)


@pytest.mark.parametrize("name", [name for name in COUNTED if read(name).standard_structure])
def test_the_dimensions_alone_give_the_same_counts(name: str) -> None:
    """What sizing computes from the dimensions, without the published total."""
    bare = read(name).model_copy(update={"total_params_b": None, "active_params_b": None})
    assert parameters(bare).total / 1e9 == pytest.approx(CONFIGS[name]["total_b"], rel=0.005)
    indexers = 0.03 if bare.sparse_top_k else 0.005  # whose size the dimensions do not tell
    assert active_params(bare) / 1e9 == pytest.approx(CONFIGS[name]["active_b"], rel=indexers)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "Qwen/Qwen3-VL-8B-Instruct",
            {"kv_heads": 8, "head_dim": 128, "multimodal": True, "image_tokens_max": 16384},
        ),
        (
            "deepseek-ai/DeepSeek-R1",
            {"kv_rank": 512, "rope_dim": 64, "dense_layers": 3, "shared_expert_width": 2048},
        ),
        ("deepseek-ai/DeepSeek-V3.2", {"sparse_top_k": 2048, "mtp_layers": 1}),
        (
            "google/gemma-4-26B-A4B",
            {"sliding_layers": 25, "sliding_kv_heads": 8, "kv_heads": 2, "head_dim": 512},
        ),
        (
            "openai/gpt-oss-120b",
            {"sliding_layers": 18, "sliding_window": 128, "experts": 128, "expert_width": 2880},
        ),
        ("Qwen/Qwen3.5-27B", {"linear_layers": 48, "recurrent_state_elements": 48 * 48 * 128 * 128}),
        (
            "nvidia/Nemotron-H-56B-Base-8K",
            {
                "linear_layers": 54,
                "attentionless_layers": 54,
                "feed_forward_layers": 54,
                "gated_feed_forward": False,
            },
        ),
        ("nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-FP8", {"expert_latent": 1024, "experts_per_token": 22}),
        ("meta-llama/Llama-4-Scout-17B-16E-Instruct", {"experts": 16, "shared_expert_width": 8192}),
        ("XiaomiMiMo/MiMo-V2-Flash", {"sliding_layers": 39, "sliding_kv_heads": 8, "value_dim": 128}),
        ("moonshotai/Kimi-K2.5", {"dense_layers": 1, "kv_rank": 512, "experts": 384}),
    ],
)
def test_every_kind_of_layer_is_recognised(name: str, expected: dict[str, object]) -> None:
    arch = read(name)
    assert {field: getattr(arch, field) for field in expected} == expected


@pytest.mark.parametrize(
    ("name", "form", "wide"),
    [
        ("meta-llama/Meta-Llama-3.1-70B", "bf16", set()),
        ("nvidia/Llama-3.1-70B-Instruct-FP8", "fp8", set()),
        ("deepseek-ai/DeepSeek-R1", "fp8", set()),
        ("openai/gpt-oss-20b", "mxfp4", {"attention"}),
        ("moonshotai/Kimi-K2.5", "int4", {"attention", "dense", "shared"}),
        ("nvidia/DeepSeek-V3.1-NVFP4", "nvfp4", {"attention"}),
        ("nvidia/Gemma-4-31B-IT-NVFP4", "nvfp4", {"attention"}),
        ("deepseek-ai/DeepSeek-V4-Flash", "mxfp4", set()),
    ],
)
def test_the_checkpoint_says_its_format_and_what_stays_in_16_bit(
    name: str, form: str, wide: set[str]
) -> None:
    arch = read(name)
    assert arch.native_format == form
    assert arch.sixteen_bit == wide


@pytest.mark.parametrize(
    ("settings", "form"),
    [
        ({"quant_method": "awq", "bits": 4}, "int4"),
        ({"quant_method": "gptq", "bits": 8}, "int8"),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "nf4"),
        ({"quant_method": "compressed-tensors", "config_groups": {"g": {"weights": {"num_bits": 8, "type": "float"}}}},
         "fp8"),
        ({"quant_method": "compressed-tensors", "config_groups": {"g": {"weights": {"num_bits": 8, "type": "int"}}}},
         "int8"),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4"),
    ],
)  # fmt: skip
def test_quantisation_methods(settings: dict[str, object], form: str) -> None:
    config = CONFIGS["Qwen/Qwen3-8B"]["config"] | {"quantization_config": settings}
    assert read_model_config(json.dumps(config)).native_format == form


def test_an_unknown_type_is_read_and_says_so() -> None:
    config = CONFIGS["meta-llama/Meta-Llama-3.1-8B"]["config"] | {"model_type": "brand_new"}
    arch = read_model_config(json.dumps(config))
    assert not arch.standard_structure
    assert arch.total_params_b == pytest.approx(8.03, rel=0.005)


@pytest.mark.parametrize(
    "name", ["Qwen/Qwen3.5-27B", "nvidia/Llama-3_3-Nemotron-Super-49B-v1", "moonshotai/Kimi-K3"]
)
def test_structures_beyond_the_dimensions_say_so(name: str) -> None:
    assert not read(name).standard_structure


def test_a_window_that_is_switched_off_does_not_count() -> None:
    """Qwen2 configs name a window and do not use it."""
    config = CONFIGS["Qwen/Qwen3-8B"]["config"] | {
        "model_type": "qwen2", "sliding_window": 4096, "use_sliding_window": False,
    }  # fmt: skip
    assert read_model_config(json.dumps(config)).sliding_layers == 0


def test_a_number_below_zero_means_none() -> None:
    config = CONFIGS["mistralai/Mixtral-8x7B-v0.1"]["config"] | {
        "sliding_window": -1,
        "max_position_embeddings": -1,
    }
    arch = read_model_config(json.dumps(config))
    assert (arch.sliding_layers, arch.max_context) == (0, None)


def test_multi_query_attention_has_one_head() -> None:
    config = {
        "model_type": "falcon", "hidden_size": 4544, "num_attention_heads": 71, "num_hidden_layers": 32,
        "vocab_size": 65024, "multi_query": True,
    }  # fmt: skip
    arch = read_model_config(json.dumps(config))
    assert (arch.kv_heads, arch.head_dim, arch.gated_feed_forward) == (1, 64, False)
    assert arch.total_params_b == pytest.approx(6.92, rel=0.02)


def test_gated_attention_counts_where_the_type_implies_it() -> None:
    """Qwen3-Next projects its queries twice as wide, for a gate that its config does not mention."""
    config = CONFIGS["Qwen/Qwen3-8B"]["config"]
    said = read_model_config(json.dumps(config | {"attn_output_gate": True}))
    implied = read_model_config(
        json.dumps(config | {"model_type": "qwen3_next", "full_attention_interval": 1})
    )
    assert said.total_params_b == implied.total_params_b != read("Qwen/Qwen3-8B").total_params_b


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("meta/Llama/", "Llama"),
        ("\ud800\0", "llama"),
        ("x" * 5000, "x" * 120),
        ([], "llama"),
        ("a/ ", "llama"),
    ],
)
def test_a_name_can_stand_on_a_page(path: object, name: str) -> None:
    config = CONFIGS["meta-llama/Meta-Llama-3.1-8B"]["config"] | {"_name_or_path": path}
    assert read_model_config(json.dumps(config)).name == name


def test_endless_names_of_layers_are_read_in_no_time() -> None:
    names = {"quant_method": "fp8", "ignored_layers": ["mlp." * 60_000 + "gate"]}
    config = CONFIGS["Qwen/Qwen3-8B"]["config"] | {"quantization_config": names}
    assert read_model_config(json.dumps(config)).native_format == "fp8"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "null",
        '{"model_type": "bert"}',
        '{"hidden_size": 1, "vocab_size": 2}',
        "{}" + " " * 3_000_000,
    ],
)
def test_what_is_no_config_raises(text: str) -> None:
    with pytest.raises(NotAConfig):
        read_model_config(text)


@given(
    st.dictionaries(
        st.sampled_from(
            [
                "model_type",
                "hidden_size",
                "num_hidden_layers",
                "vocab_size",
                "num_attention_heads",
                "text_config",
                "layer_types",
                "quantization_config",
                "vision_config",
                "num_experts",
            ]
        ),
        st.none()
        | st.integers(-5, 5)
        | st.text(max_size=5)
        | st.lists(st.integers(0, 3), max_size=3)
        | st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
    )
)
def test_nonsense_raises_nothing_else(config: dict[str, object]) -> None:
    """A pasted file is either read or refused as the questionnaire expects."""
    with contextlib.suppress(NotAConfig):
        read_model_config(json.dumps(config))
