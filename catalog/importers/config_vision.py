"""The vision encoder beside a language model: its parameters and the largest image it takes."""

from collections.abc import Mapping

from catalog.importers.config_fields import Config

LARGEST_MERGED_IMAGE = 16_384  # tokens: the pixel limit of Qwen's processors, in merged patches
LARGEST_KIMI_IMAGE = 4096  # 16,384 patches merged two by two


def encoder_params(config: Config) -> float:
    """Transformer layers, patch embedding, positions and the projection into the text model; 0 without an encoder."""
    vision = config.vision
    width = _number(vision, "hidden_size", "vt_hidden_size", "width", "embed_dim")
    layers = _number(vision, "num_hidden_layers", "depth", "vt_num_hidden_layers", "layers")
    if not width or not layers:
        return 0.0
    inner = _number(vision, "intermediate_size", "vt_intermediate_size") or 4 * width
    gated = str(vision.get("hidden_act", "")) == "silu"
    heads = _number(vision, "qkv_hidden_size") or width
    body = layers * (4 * width * heads + (3 if gated else 2) * width * inner)
    patch = _number(vision, "patch_size") or 14
    patches = 3 * patch**2 * (_number(vision, "temporal_patch_size") or 1) * width
    positions = _number(vision, "num_position_embeddings", "position_embedding_size") * width
    merged = (
        width * (_number(vision, "spatial_merge_size") or (2 if vision.get("merge_kernel_size") else 1)) ** 2
    )
    projector = merged * merged + merged * config.hidden if merged > width else width * config.hidden
    deep = vision.get("deepstack_visual_indexes")
    return float(body + patches + positions + projector * (1 + (len(deep) if isinstance(deep, list) else 0)))


def largest_image_tokens(config: Config) -> int:
    """Tokens of the largest image that an engine must be ready for; 0 when the config does not tell."""
    vision = config.vision
    if not vision:
        return 0
    stated = _number(config.outer, "vision_soft_tokens_per_image", "mm_tokens_per_image", "image_seq_length")
    if stated:
        return stated
    if vision.get("spatial_merge_size"):
        return LARGEST_MERGED_IMAGE
    return LARGEST_KIMI_IMAGE if vision.get("merge_kernel_size") else 0


def _number(part: Mapping[str, object], *names: str) -> int:
    for name in names:
        found = part.get(name)
        if isinstance(found, int | float) and not isinstance(found, bool):
            return int(found)
    return 0
