"""Language models that can be sized by their dimensions."""

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from catalog.models.base import Sourced, sourced_constraints
from catalog.models.fields import WordsField, count, figure, not_negative, number

FORMATS = [
    (name, name)
    for name in ("fp32", "bf16", "fp16", "fp8", "int8", "int4", "mxfp4", "nvfp4", "nf4", "q4_k_m", "q8_0")
]
PARTS = [
    ("attention", _("attention")),
    ("dense", _("dense layers")),
    ("shared", _("shared experts")),
    ("experts", _("experts")),
    ("other", _("other")),
]


class AiModel(Sourced):
    kind_key = "ai_model"

    key = models.CharField(
        _("hub name"), max_length=120, unique=True, help_text=_("organisation/model, as published.")
    )
    name = models.CharField(_("name"), max_length=120)
    family = models.CharField(_("family"), max_length=40, blank=True)
    layers = models.PositiveIntegerField(
        _("layers"),
        validators=[MinValueValidator(1)],
        help_text=_("num_hidden_layers, without prediction layers."),
    )
    hidden = models.PositiveIntegerField(_("hidden size"), validators=[MinValueValidator(1)])
    feed_forward = number(_("feed-forward width"), help_text=_("0: every layer has experts."))
    query_heads = models.PositiveIntegerField(_("query heads"), validators=[MinValueValidator(1)])
    kv_heads = models.PositiveIntegerField(_("KV heads"), validators=[MinValueValidator(1)])
    head_dim = models.PositiveIntegerField(
        _("width of a head"),
        validators=[MinValueValidator(1)],
        help_text=_("head_dim of the config; not always hidden size divided by heads."),
    )
    vocabulary = models.PositiveIntegerField(_("vocabulary"), validators=[MinValueValidator(1)])
    tied_embeddings = models.BooleanField(_("embeddings tied"), default=False)
    gated_feed_forward = models.BooleanField(_("gated feed-forward"), default=True)
    experts = number(_("experts"))
    experts_per_token = number(_("experts per token"))
    expert_width = number(_("width of an expert"))
    shared_expert_width = number(_("width of the shared experts together"))
    dense_layers = number(_("dense layers in a model with experts"))
    expert_latent = number(_("latent width before the experts"))
    q_rank = number(_("query rank"), help_text=_("Latent attention (MLA): q_lora_rank."))
    kv_rank = number(
        _("KV rank"), help_text=_("Latent attention (MLA): kv_lora_rank; 0 = ordinary attention.")
    )
    rope_dim = number(_("rotary width"))
    nope_dim = number(_("width without rotation"))
    value_dim = number(_("width of a value"))
    sliding_window = number(_("sliding window (tokens)"))
    sliding_layers = number(_("layers with a sliding window"))
    linear_layers = number(_("layers with linear attention or state"))
    sliding_kv_heads = count(_("KV heads of sliding layers"))
    sliding_head_dim = count(_("width of a head in sliding layers"))
    recurrent_state_elements = models.PositiveBigIntegerField(
        _("recurrent state (elements)"), default=0, help_text=_("Per conversation, all layers together.")
    )
    attentionless_layers = number(_("layers without attention"))
    feed_forward_layers = count(_("layers with a feed-forward part"), _("Empty: every layer."))
    sparse_top_k = number(_("tokens read by sparse attention"))
    mtp_layers = number(_("prediction layers (MTP)"))
    multimodal = models.BooleanField(_("reads images or sound"), default=False)
    image_tokens_max = number(_("tokens of the largest image"))
    max_context = count(_("longest context (tokens)"))
    total_params_b = figure(_("parameters (billion)"), _("Of the text model, as published."))
    active_params_b = figure(_("active parameters (billion)"))
    encoder_params_b = models.FloatField(
        _("parameters of the encoders (billion)"), default=0, validators=[MinValueValidator(0)]
    )
    native_format = models.CharField(_("published format"), max_length=10, choices=FORMATS, default="bf16")
    sixteen_bit = WordsField(_("parts kept in 16 bit"), words=PARTS)
    quantised_from = models.CharField(_("quantised from"), max_length=120, null=True, blank=True)
    licence = models.CharField(_("licence"), max_length=80, blank=True)
    standard_structure = models.BooleanField(
        _("usual structure"),
        default=True,
        help_text=_("Off: the dimensions do not tell the whole structure, and intervals widen."),
    )

    history = HistoricalRecords()

    class Meta:
        verbose_name = _("AI model")
        verbose_name_plural = _("AI models")
        ordering = ["family", "name"]
        constraints = [
            *sourced_constraints,
            not_negative(
                "catalog_aimodel_figures", ("total_params_b", "active_params_b", "encoder_params_b")
            ),
            models.CheckConstraint(
                condition=Q(layers__gte=F("sliding_layers") + F("linear_layers") + F("attentionless_layers")),
                name="catalog_aimodel_layers_add_up",
                violation_error_code="layers",
                violation_error_message=_(
                    "There are more sliding, linear and attentionless layers than layers."
                ),
            ),
            models.CheckConstraint(
                condition=Q(experts=0) | Q(experts_per_token__gte=1, experts_per_token__lte=F("experts")),
                name="catalog_aimodel_experts_per_token",
                violation_error_code="experts_per_token",
                violation_error_message=_("A token uses at least one and at most all of the experts."),
            ),
            models.CheckConstraint(
                condition=Q(total_params_b__isnull=True)
                | Q(active_params_b__isnull=True)
                | Q(active_params_b__lte=F("total_params_b")),
                name="catalog_aimodel_active_within_total",
                violation_error_code="active_params_b",
                violation_error_message=_("The active parameters cannot exceed all parameters."),
            ),
            models.CheckConstraint(
                condition=Q(kv_heads__gte=1, kv_heads__lte=F("query_heads")),
                name="catalog_aimodel_heads",
                violation_error_code="kv_heads",
                violation_error_message=_("There are at most as many KV heads as query heads."),
            ),
            models.CheckConstraint(
                condition=Q(kv_rank=0) | Q(rope_dim__gte=1, nope_dim__gte=1, value_dim__gte=1),
                name="catalog_aimodel_latent_widths",
                violation_error_code="kv_rank",
                violation_error_message=_("Latent attention needs its rotary, unrotated and value widths."),
            ),
            models.CheckConstraint(
                condition=Q(sliding_layers=0) | Q(sliding_window__gte=1),
                name="catalog_aimodel_window",
                violation_error_code="sliding_window",
                violation_error_message=_("Layers with a sliding window need the size of the window."),
            ),
        ]

    def __str__(self) -> str:
        return self.name
