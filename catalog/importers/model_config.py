"""From a Hugging Face `config.json` to the dimensions of a language model.

Reads flat and nested configs (`text_config`), grouped-query, multi-query and latent attention, sliding windows, linear
and state-space mixers, mixtures of experts, prediction layers, vision encoders and the quantisation of the checkpoint.
Parameters are counted exactly for the known model types; an unknown type is read as well as its keys allow and says
so in `standard_structure`.
"""

import json
from collections.abc import Mapping
from typing import Literal

from catalog.importers.config_counts import Counts, count
from catalog.importers.config_fields import Config
from catalog.importers.config_quantisation import native_format, sixteen_bit_parts
from catalog.importers.config_vision import encoder_params, largest_image_tokens
from catalog.specs import Confidence, ModelArchitecture, Provenance

MAX_CHARACTERS = 2_000_000
MAX_PARAMETERS = 1e15  # a thousand times the largest model there is: beyond it a config is a mistake

# Models that understand text and do not write it: their layers are counted otherwise, and they are not sized as these.
NOT_WRITING = frozenset(
    {"bert", "roberta", "xlm-roberta", "distilbert", "albert", "electra", "deberta", "deberta-v2", "modernbert",
     "mpnet", "nomic_bert", "clip", "siglip", "vit", "wav2vec2", "whisper", "t5", "mt5", "bart", "mbart", "marian"}
)  # fmt: skip

# Types whose structure the counting knows. Linear and state-space mixers are counted too, but the dimensions alone do
# not tell their speed, so they are not called standard.
STANDARD_TYPES = frozenset(
    {
        "llama", "mistral", "mistral3", "mixtral", "ministral", "qwen2", "qwen2_moe", "qwen2_vl", "qwen2_5_vl",
        "qwen2_5_vl_text", "qwen2_vl_text", "qwen3", "qwen3_moe", "qwen3_vl", "qwen3_vl_text", "qwen3_vl_moe",
        "qwen3_vl_moe_text", "gemma", "gemma2", "gemma3", "gemma3_text", "phi", "phi3", "gptj", "granite",
        "granitemoe", "deepseek_v2", "deepseek_v3", "kimi_k2", "kimi_k25", "glm4", "glm4_moe", "gpt_oss", "minimax_m2",
        "llama4", "llama4_text", "olmo2", "olmo3", "starcoder2", "falcon", "opt", "cohere", "cohere2", "mimo",
        "mimo_v2_flash", "step3p5", "step3p7", "stablelm", "internlm2", "internlm3", "exaone", "exaone4", "ernie4_5",
        "ernie4_5_moe", "smollm3", "yi", "baichuan", "gpt_neox", "deepseek_v32", "glm_moe_dsa", "minimax_m3",
        "minimax_m3_vl",
    }
)  # fmt: skip


class NotAConfig(ValueError):
    """Why a text describes no language model: it is no JSON object, one of another shape, or of a model of another
    kind."""

    def __init__(self, why: Literal["json", "shape", "kind"], detail: str = "") -> None:
        super().__init__(detail or why)
        self.why = why


def read_model_config(
    text: str, *, key: str = "custom", name: str = "", quantisation: str = "", source: str = ""
) -> ModelArchitecture:
    """The model that `text` describes; `quantisation` = the text of a separate `hf_quant_config.json`.

    Raises NotAConfig, whatever the text.
    """
    outer = _object(text)
    extra = _object(quantisation) if quantisation else {}
    if str(outer.get("model_type")) in NOT_WRITING or outer.get("is_encoder_decoder") is True:
        raise NotAConfig("kind")
    try:
        config = Config.of(outer)
        counts = count(config)
        if not 0 < counts.total < MAX_PARAMETERS:
            raise ValueError("no model has as many parameters")
        if config.experts.number and not config.experts.width:
            raise ValueError("the config has experts without a width")
        return ModelArchitecture.model_validate(
            {
                "key": key,
                "name": name or _name(config),
                "family": _shown(config.text_type)[:40],
                **dimensions(config, counts),
                "native_format": native_format(config, extra),
                "sixteen_bit": sixteen_bit_parts(config, extra),
                "provenance": Provenance(
                    source=source or "config.json of the model", confidence=Confidence.VENDOR
                ),
            }
        )
    except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError) as error:
        raise NotAConfig("shape", str(error)) from None


def _object(text: str) -> Mapping[str, object]:
    if len(text) > MAX_CHARACTERS:
        raise NotAConfig("json", "the file is too large for a config")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise NotAConfig("json") from None
    if not isinstance(data, dict):
        raise NotAConfig("shape", "the file holds no JSON object")
    return data


def _name(config: Config) -> str:
    path = str(config.outer.get("_name_or_path") or config.inner.get("_name_or_path") or "")
    return _shown(path.rstrip("/").split("/")[-1]) or _shown(config.model_type) or "model"


def _shown(text: str) -> str:
    """`text` as it can stand on a page: short, and without what no page can hold."""
    return "".join(sign for sign in text[:120] if sign.isprintable()).strip()


def dimensions(config: Config, counts: Counts) -> dict[str, object]:
    """The fields of ModelArchitecture that do not depend on the checkpoint's number format."""
    layers, attention, experts = config.layer_mix, config.attention, config.experts
    known = config.model_type in STANDARD_TYPES or config.text_type in STANDARD_TYPES
    plain = not layers.linear and not layers.empty and not config.is_nas
    return {
        "layers": layers.total,
        "hidden": config.hidden,
        "feed_forward": config.feed_forward if layers.dense or not experts.number else 0,
        "query_heads": attention.heads,
        "kv_heads": attention.kv_heads,
        "head_dim": attention.head_dim,
        "vocabulary": config.vocabulary,
        "tied_embeddings": config.tied,
        "gated_feed_forward": config.gated,
        "experts": experts.number,
        "experts_per_token": experts.per_token,
        "expert_width": experts.width,
        "shared_expert_width": experts.shared_width,
        "dense_layers": layers.dense if experts.number else 0,
        "expert_latent": experts.latent,
        "q_rank": attention.q_rank,
        "kv_rank": attention.kv_rank,
        "rope_dim": attention.rope_dim,
        "nope_dim": attention.nope_dim,
        "value_dim": attention.value_dim,
        "sliding_window": config.window if layers.sliding else 0,
        "sliding_layers": layers.sliding,
        "sliding_kv_heads": attention.sliding_kv_heads,
        "sliding_head_dim": attention.sliding_head_dim,
        "linear_layers": layers.linear,
        "recurrent_state_elements": layers.linear * config.mixer_state,
        "attentionless_layers": layers.empty,
        "feed_forward_layers": layers.feed_forward if layers.feed_forward != layers.total else None,
        "sparse_top_k": config.integer("index_topk"),
        "mtp_layers": config.prediction_layers,
        "multimodal": bool(config.vision),
        "image_tokens_max": largest_image_tokens(config),
        "encoder_params_b": encoder_params(config) / 1e9,
        "max_context": config.integer("max_position_embeddings", "n_positions", "max_sequence_length")
        or None,
        "total_params_b": counts.total / 1e9,
        "active_params_b": counts.active / 1e9,
        "standard_structure": known and plain,
    }
