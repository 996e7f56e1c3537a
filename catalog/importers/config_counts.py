"""Counting the parameters of a language model from its config, layer kind by layer kind."""

from typing import NamedTuple

from catalog.importers.config_fields import BIAS_TYPES, Config


class Counts(NamedTuple):
    """Parameters of the text model without prediction layers. `active` = those that one token passes through, with
    embedding and head."""

    total: float
    active: float


QUERY_NORM_TYPES = ("qwen3", "gemma3", "gemma4", "minimax", "glm4_moe", "olmo")


def count(config: Config) -> Counts:
    layers, experts = config.layer_mix, config.experts
    embedding = config.vocabulary * config.hidden
    fixed = embedding * (1 if config.tied else 2) + config.hidden
    mixers = attention_params(config) + layers.linear * mixer_params(config)
    norms = layers.total * 2 * config.hidden
    dense = dense_params(config)
    body = fixed + mixers + norms + dense
    if not experts.number:
        return Counts(float(body), float(body))
    sparse = layers.feed_forward - layers.dense
    always = router_params(config) + feed_forward_params(config, config.hidden, experts.shared_width)
    each = feed_forward_params(config, experts.latent or config.hidden, experts.width)
    if config.text_type == "gpt_oss":
        each += 2 * experts.width + config.hidden
    if config.integer("shared_expert_intermediate_size"):
        always += config.hidden  # the gate of the shared expert
    total = body + sparse * (always + experts.number * each)
    active = body + sparse * (always + experts.per_token * each)
    return Counts(float(total), float(active))


def feed_forward_params(config: Config, hidden: int, width: int) -> int:
    return (3 if config.gated else 2) * hidden * width


def dense_params(config: Config) -> int:
    """Plain feed-forward parts of all layers."""
    if config.is_nas:
        return sum(feed_forward_params(config, config.hidden, width) for width in config.block_widths)
    return config.layer_mix.dense * feed_forward_params(config, config.hidden, config.feed_forward)


def router_params(config: Config) -> int:
    experts = config.experts
    return config.hidden * experts.number + 2 * config.hidden * experts.latent


def attention_params(config: Config) -> int:
    """All layers with attention."""
    layers = config.layer_mix
    full = layers.total - layers.sliding - layers.linear - layers.empty
    if config.text_type == "deepseek_v4":
        return layers.total * _grouped_output(config)
    if config.attention.kv_rank:
        return full * latent_params(config)
    whole = full * grouped_params(config, sliding=False)
    return whole + layers.sliding * grouped_params(config, sliding=True)


def grouped_params(config: Config, *, sliding: bool) -> int:
    """Projections of one layer with grouped queries."""
    attention, hidden = config.attention, config.hidden
    kv_heads, width = attention.kv_heads, attention.head_dim
    if sliding:
        kv_heads = attention.sliding_kv_heads or kv_heads
        width = attention.sliding_head_dim or width
    value = attention.value_dim or width
    queries, keys, values = attention.heads * width, kv_heads * width, kv_heads * value
    if config.value("attention_k_eq_v") is True and not sliding:
        values = 0  # keys serve as values
    gated = config.value("attn_output_gate") is True or config.text_type == "qwen3_next"
    gate = attention.heads * width if gated else 0
    found = hidden * (queries + gate + keys + values) + attention.heads * value * hidden
    if config.value("attention_bias") is True or config.text_type in BIAS_TYPES:
        found += queries + keys + values + (hidden if config.value("attention_bias") is True else 0)
    if config.text_type.startswith(QUERY_NORM_TYPES):
        found += 2 * width
    return found


def latent_params(config: Config) -> int:
    """Projections of one layer with latent attention, its indexer included."""
    attention, hidden = config.attention, config.hidden
    queries = attention.heads * (attention.nope_dim + attention.rope_dim)
    rank = attention.q_rank
    found = hidden * rank + rank * queries + rank if rank else hidden * queries
    found += hidden * (attention.kv_rank + attention.rope_dim) + attention.kv_rank
    found += attention.kv_rank * attention.heads * (attention.nope_dim + attention.value_dim)
    found += attention.heads * attention.value_dim * hidden
    if config.value("mla_use_output_gate") is True:
        found += hidden * attention.heads * attention.value_dim
    if config.integer("index_n_heads"):
        heads, width = config.integer("index_n_heads"), config.integer("index_head_dim")
        found += rank * heads * width + hidden * width + hidden * heads + 2 * width
    return found


def _grouped_output(config: Config) -> int:
    """DeepSeek V4: low-rank queries, one shared key-value head, output projected group by group."""
    hidden, rank = config.hidden, config.integer("q_lora_rank")
    queries = config.attention.heads * config.attention.head_dim
    output = config.integer("o_groups") * config.integer("o_lora_rank")
    found = hidden * rank + rank * queries + hidden * config.attention.head_dim
    return found + queries * config.integer("o_lora_rank") + output * hidden


def mixer_params(config: Config) -> int:
    """One linear-attention or state-space layer."""
    hidden = config.hidden
    if nested := config.mapping("linear_attn_config"):
        inner = int(nested["num_heads"]) * int(nested["head_dim"])  # type: ignore[call-overload]
        gate = hidden * inner if nested.get("use_full_rank_gate") else 2 * hidden * int(nested["head_dim"])  # type: ignore[call-overload]
        return 4 * hidden * inner + gate + 2 * hidden * int(nested["head_dim"])  # type: ignore[call-overload]
    if state := config.integer("ssm_state_size", "mamba_d_state"):
        heads = config.integer("mamba_num_heads", "mamba_n_heads")
        inner = heads * config.integer("mamba_head_dim", "mamba_d_head")
        groups = 2 * config.integer("n_groups", "mamba_n_groups") * state
        kernel = config.integer("conv_kernel", "mamba_d_conv") or 4
        into = hidden * (2 * inner + groups + heads)
        return into + (inner + groups) * (kernel + 1) + inner * hidden + 3 * heads + inner
    keys = config.integer("linear_num_key_heads") * config.integer("linear_key_head_dim")
    heads = config.integer("linear_num_value_heads")
    values = heads * config.integer("linear_value_head_dim")
    kernel = config.integer("linear_conv_kernel_dim") or 4
    into = hidden * (2 * keys + 2 * values + 2 * heads)
    return (
        into
        + (2 * keys + values) * kernel
        + values * hidden
        + 2 * heads
        + config.integer("linear_value_head_dim")
    )
