"""Pages for AI models."""

from typing import Any

from django.contrib import admin
from django.utils.translation import gettext_lazy

from catalog.admin.base import SourcedAdmin
from catalog.admin.filters import FiguresFilter
from catalog.models import AiModel


@admin.register(AiModel)
class AiModelAdmin(SourcedAdmin):
    list_display = (
        "name", "family", "total_params_b", "active_params_b", "native_format", "max_context", "warnings", "active",
    )  # fmt: skip
    list_filter = ("family", "native_format", "multimodal", FiguresFilter, "standard_structure", "active")
    search_fields = ("key", "name", "family")
    heading: Any = ("key", ("name", "family"), "licence")
    figures = (
        (
            gettext_lazy("Shape"),
            [
                ("layers", "hidden", "feed_forward"),
                ("query_heads", "kv_heads", "head_dim"),
                ("vocabulary", "max_context"),
                ("tied_embeddings", "gated_feed_forward", "standard_structure"),
            ],
        ),
        (
            gettext_lazy("Published size"),
            [
                ("total_params_b", "active_params_b", "encoder_params_b"),
                ("native_format", "sixteen_bit", "quantised_from"),
            ],
        ),
        (
            gettext_lazy("Experts"),
            [
                ("experts", "experts_per_token", "expert_width"),
                ("shared_expert_width", "dense_layers", "expert_latent"),
            ],
        ),
        (
            gettext_lazy("Latent attention (MLA)"),
            [("kv_rank", "q_rank"), ("rope_dim", "nope_dim", "value_dim")],
        ),
        (
            gettext_lazy("Layers that differ"),
            [
                ("sliding_layers", "sliding_window"),
                ("sliding_kv_heads", "sliding_head_dim"),
                ("linear_layers", "recurrent_state_elements"),
                ("attentionless_layers", "feed_forward_layers"),
                ("sparse_top_k", "mtp_layers"),
            ],
        ),
        (gettext_lazy("Images and sound"), [("multimodal", "image_tokens_max")]),
    )
