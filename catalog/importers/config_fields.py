"""The fields of a `config.json` under the many names that model types give them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

ABSURD = 2**53
NESTED = ("text_config", "llm_config", "language_config", "thinker_config")
UNGATED_TYPES = frozenset(
    {
        "gptj",
        "gpt2",
        "phi",
        "falcon",
        "opt",
        "starcoder2",
        "gpt_neox",
        "gpt_bigcode",
        "bloom",
        "mpt",
        "codegen",
    }
)
UNGATED_ACTIVATIONS = frozenset({"relu2", "relu_squared"})
BIAS_TYPES = frozenset({"qwen2", "qwen2_moe", "qwen2_vl", "qwen2_5_vl", "qwen2_vl_text", "qwen2_5_vl_text"})


class Attention(NamedTuple):
    """Of the layers that keep the whole context; latent attention when `kv_rank`."""

    heads: int
    kv_heads: int
    head_dim: int
    value_dim: int  # 0 = as `head_dim`
    q_rank: int
    kv_rank: int
    rope_dim: int
    nope_dim: int
    sliding_kv_heads: int | None
    sliding_head_dim: int | None


class Experts(NamedTuple):
    number: int
    per_token: int
    width: int
    shared_width: int
    latent: int


class LayerMix(NamedTuple):
    """Numbers of layers. `empty` = with a feed-forward part only; `dense` = with a plain feed-forward part."""

    total: int
    sliding: int
    linear: int
    empty: int
    feed_forward: int
    dense: int


@dataclass(frozen=True)
class Config:
    """`outer` = the file; `inner` = its text part, which is the same for flat configs."""

    outer: Mapping[str, object]
    inner: Mapping[str, object]

    @classmethod
    def of(cls, data: Mapping[str, object]) -> "Config":
        """Raises ValueError when the file has no decoder layers."""
        inner: Mapping[str, object] = data
        for name in NESTED:
            nested = data.get(name)
            if isinstance(nested, Mapping):
                found = nested.get("text_config")
                inner = found if isinstance(found, Mapping) else nested
                break
        config = cls(data, inner)
        if not (
            config.hidden
            and config.vocabulary
            and config.integer("num_hidden_layers", "n_layer", "num_layers")
        ):
            raise ValueError("the config has no layers, width or vocabulary")
        return config

    # ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────

    def value(self, *names: str) -> object:
        """The first of `names` that is set, in the text part before the file."""
        for part in (self.inner, self.outer):
            for name in names:
                if part.get(name) is not None:
                    return part[name]
        return None

    def integer(self, *names: str) -> int:
        """The first number under `names` in the text part; 0 when none is set, or one below zero, which says as much.

        Raises ValueError for an absurd one.
        """
        for name in names:
            found = self.inner.get(name)
            if isinstance(found, int | float) and not isinstance(found, bool):
                if not abs(found) < ABSURD:
                    raise ValueError(f"{name} is no number of a model")
                return max(0, int(found))
        return 0

    def sequence(self, *names: str) -> Sequence[object]:
        for name in names:
            found = self.inner.get(name)
            if isinstance(found, str) or (isinstance(found, list) and found):
                return found
        return ()

    def mapping(self, name: str) -> Mapping[str, object]:
        found = self.value(name)
        return found if isinstance(found, Mapping) else {}

    # ── single fields ───────────────────────────────────────────────────────────────────────────────────────────

    @property
    def model_type(self) -> str:
        return str(self.outer.get("model_type") or "")

    @property
    def text_type(self) -> str:
        return str(self.inner.get("model_type") or self.model_type)

    @property
    def hidden(self) -> int:
        return self.integer("hidden_size", "n_embd", "d_model", "dim")

    @property
    def vocabulary(self) -> int:
        return self.integer("vocab_size") or int(self.value("vocab_size") or 0)  # type: ignore[call-overload]

    @property
    def tied(self) -> bool:
        """Gemma and Cohere tie unless they say otherwise; elsewhere the outer file has the last word."""
        default = self.text_type.startswith(("gemma", "cohere", "opt", "falcon", "gpt2"))
        for part in (self.inner, self.outer):
            if "tie_word_embeddings" in part:
                return bool(part["tie_word_embeddings"])
        return default

    @property
    def activation(self) -> str:
        names = ("hidden_act", "hidden_activation", "mlp_hidden_act", "activation_function")
        return str(self.value(*names) or "")

    @property
    def gated(self) -> bool:
        return self.text_type not in UNGATED_TYPES and self.activation not in UNGATED_ACTIVATIONS

    @property
    def window(self) -> int:
        return self.integer("sliding_window", "sliding_window_size")

    @property
    def prediction_layers(self) -> int:
        return self.integer("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules")

    @property
    def is_nas(self) -> bool:
        """Every layer has dimensions of its own."""
        return bool(self.sequence("block_configs"))

    @property
    def vision(self) -> Mapping[str, object]:
        found = self.outer.get("vision_config") or self.outer.get("visual")
        return found if isinstance(found, Mapping) else {}

    @property
    def feed_forward(self) -> int:
        """Width of a dense feed-forward part; of layers that differ, the mean."""
        if self.is_nas:
            return round(sum(self.block_widths) / max(1, self.layer_mix.total))
        if self.text_type.startswith("llama4"):
            return self.integer("intermediate_size_mlp")
        if dense := self.integer("dense_intermediate_size"):
            return dense
        return self.integer("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size") or 4 * self.hidden

    # ── attention ───────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def attention(self) -> Attention:
        heads = self.integer("num_attention_heads", "n_head", "num_heads")
        if not heads:
            raise ValueError("the config has no attention heads")
        kv_rank = self.integer("kv_lora_rank")
        if kv_rank:
            rope, nope = self.integer("qk_rope_head_dim"), self.integer("qk_nope_head_dim")
            return Attention(
                heads, self._kv_heads(heads), rope + nope, self.integer("v_head_dim"), self.integer("q_lora_rank"),
                kv_rank, rope, nope, None, None,
            )  # fmt: skip
        width = self.integer("head_dim", "attention_head_dim") or self.hidden // heads
        kv_heads = self._kv_heads(heads)
        value = self.integer("v_head_dim")
        value = value if value != width else 0
        sliding_heads, sliding_width = self.integer("swa_num_key_value_heads"), self.integer("swa_head_dim")
        if wide := self.integer("global_head_dim"):
            sliding_heads, sliding_width = kv_heads, width
            kv_heads, width = self.integer("num_global_key_value_heads") or kv_heads, wide
        return Attention(
            heads, kv_heads, width, value, 0, 0, 0, 0, sliding_heads or None,
            sliding_width if sliding_width and sliding_width != width else None,
        )  # fmt: skip

    def _kv_heads(self, heads: int) -> int:
        if self.is_nas:
            groups = [
                int(found)
                for block in self.blocks("attention")
                if isinstance(found := block.get("n_heads_in_group"), int)
            ]
            return heads // groups[0] if groups else heads
        if self.value("multi_query") is True and not self.value("new_decoder_architecture"):
            return 1
        return self.integer("num_key_value_heads", "num_kv_heads", "n_head_kv") or heads

    # ── layers ──────────────────────────────────────────────────────────────────────────────────────────────────

    def blocks(self, part: str) -> list[Mapping[str, object]]:
        """Of a searched architecture: the description of `part` in every layer, {} where it is left out."""
        found = []
        for block in self.sequence("block_configs"):
            inner = block.get(part) if isinstance(block, Mapping) else None
            own = inner if isinstance(inner, Mapping) else {}
            found.append({} if own.get("no_op") or own.get("replace_with_linear") else own)
        return found

    @property
    def block_widths(self) -> list[int]:
        """Feed-forward widths of a searched architecture, layer by layer; rounded up to multiples of 256."""
        widths = []
        for block in self.blocks("ffn"):
            multiple = block.get("ffn_mult")
            if isinstance(multiple, int | float):
                width = int(2 * multiple * self.hidden / 3)
                widths.append(-(-width // 256) * 256)
            else:
                widths.append(int(block.get("intermediate_size") or 0))  # type: ignore[call-overload]
        return widths

    @cached_property
    def layer_mix(self) -> LayerMix:
        total = self.integer("num_hidden_layers", "n_layer", "num_layers")
        pattern = self.sequence("hybrid_override_pattern")
        if isinstance(pattern, str):
            plain, mixed = pattern.count("-"), pattern.count("E")
            linear = pattern.count("M")
            return LayerMix(len(pattern), 0, linear, plain + mixed, plain + mixed, plain)
        if self.is_nas:
            empty = sum(not block for block in self.blocks("attention"))
            return LayerMix(total, 0, 0, empty, sum(width > 0 for width in self.block_widths), total)
        if ratios := [_whole(ratio) for ratio in self.sequence("compress_ratios")[:total]]:
            return self._compressed(total, ratios)
        linear = self._linear_layers(total)
        sliding = 0 if linear == total else self._sliding_layers(total)
        return LayerMix(total, sliding, linear, 0, total, self._dense_layers(total))

    def _compressed(self, total: int, ratios: Sequence[int]) -> LayerMix:
        """Caches that keep one entry for several tokens, as the number of whole caches with as many entries (keys serve
        as values, so that a whole cache counts twice); the rest as layers without a growing cache."""
        entries = sum(1 / ratio for ratio in ratios if ratio > 1) / 2
        whole = max(1, round(entries + 0.5))
        sliding = sum(ratio == 0 for ratio in ratios)
        return LayerMix(total, sliding, total - sliding - whole, 0, total, self._dense_layers(total))

    def _linear_layers(self, total: int) -> int:
        kinds = [str(kind) for kind in self.sequence("layer_types", "layers_block_type")]
        found = sum(kind in ("linear_attention", "mamba", "recurrent", "conv") for kind in kinds[:total])
        if not found and isinstance(nested := self.value("linear_attn_config"), Mapping):
            layers = nested.get("kda_layers")
            found = len(layers) if isinstance(layers, list) else 0
        if not found and self.text_type == "qwen3_next":
            found = total - total // (self.integer("full_attention_interval") or 4)
        return found

    def _sliding_layers(self, total: int) -> int:
        kinds = [str(kind) for kind in self.sequence("layer_types")]
        if kinds:
            return sum(kind == "sliding_attention" for kind in kinds[:total])
        hybrid = self.sequence("hybrid_layer_pattern")
        if hybrid:
            return sum(bool(kind) for kind in hybrid[:total])
        if not self.window or self.value("use_sliding_window") is False or self.text_type.startswith("qwen2"):
            return 0
        if self.text_type == "gemma2":
            return total - total // 2
        every = self.integer("sliding_window_pattern") or (6 if self.text_type.startswith("gemma3") else 0)
        if every:
            return total - total // every
        return total if self.text_type in ("mistral", "mixtral", "starcoder2") else 0

    def _dense_layers(self, total: int) -> int:
        if not self.experts.number:
            return total
        frequency = self.value("moe_layer_freq")
        if isinstance(frequency, list):
            return sum(not item for item in frequency[:total])
        leading = self.integer("first_k_dense_replace")
        if self.text_type.startswith("llama4"):
            return total - total // max(1, self.integer("interleave_moe_layer_step"))
        only = self.sequence("mlp_only_layers")
        step = max(1, self.integer("decoder_sparse_step"))
        if step > 1:
            return total - total // step
        if isinstance(frequency, int) and frequency > 1:
            return leading + (total - leading) - (total - leading) // frequency
        return leading or len(only)

    # ── experts and mixers ──────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def experts(self) -> Experts:
        number = self.integer("num_experts", "n_routed_experts", "num_local_experts", "moe_num_experts")
        if number < 2 or self.value("enable_moe_block") is False:
            return Experts(0, 0, 0, 0, 0)
        per_token = self.integer(
            "num_experts_per_tok",
            "num_experts_per_token",
            "top_k_experts",
            "experts_per_token",
            "moe_k",
            "moe_topk",
        )
        width = self.integer("moe_intermediate_size", "expert_intermediate_size", "moe_ffn_hidden_size")
        width = width or self.integer("intermediate_size")
        return Experts(
            number, per_token or 1, width, self._shared_width(width),
            self.integer("moe_latent_size", "routed_expert_hidden_size"),
        )  # fmt: skip

    def _shared_width(self, width: int) -> int:
        if self.value("enable_moe_block") is True:
            return self.integer("intermediate_size")  # Gemma 4: a dense part beside the experts of each layer
        if self.text_type.startswith("llama4"):
            return width
        stated = self.integer("shared_expert_intermediate_size", "share_expert_dim")
        if stated:
            return stated
        each = self.integer("moe_shared_expert_intermediate_size", "shared_intermediate_size") or width
        return self.integer("n_shared_experts", "num_shared_experts", "moe_num_shared_experts") * each

    @property
    def mixer_state(self) -> int:
        """Elements of the recurrent state that one linear layer keeps per sequence."""
        if nested := self.mapping("linear_attn_config"):
            heads, width = _whole(nested.get("num_heads")), _whole(nested.get("head_dim"))
            return heads * width * width
        if self.integer("ssm_state_size", "mamba_d_state"):
            heads = self.integer("mamba_num_heads", "mamba_n_heads")
            width = self.integer("mamba_head_dim", "mamba_d_head")
            return heads * width * self.integer("ssm_state_size", "mamba_d_state")
        heads = self.integer("linear_num_value_heads")
        return heads * self.integer("linear_key_head_dim") * self.integer("linear_value_head_dim")


def _whole(value: object) -> int:
    return int(value) if isinstance(value, int | float) else 0
