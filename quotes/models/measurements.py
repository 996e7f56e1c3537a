"""What the seller measured itself: evidence that counts beside the published runs."""

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from catalog.models.base import Versioned
from configurator.workload import Precision
from quotes.sizing.serving.measurements import OwnMeasurement

ENGINES = [("vllm", "vLLM"), ("sglang", "SGLang"), ("trtllm", "TensorRT-LLM")]
PRECISIONS = [
    (precision.value, precision.value.upper()) for precision in Precision if precision is not Precision.AUTO
]
KV_PRECISIONS = [("auto", _("as the engine chooses")), ("bf16", "BF16"), ("fp8", "FP8")]
FIGURES = ("ttft_ms", "tpot_ms", "tokens_s_per_gpu")


def _some(label: object, largest: int) -> models.PositiveIntegerField:
    limits = [MinValueValidator(1), MaxValueValidator(largest)]
    return models.PositiveIntegerField(label, validators=limits)  # type: ignore[arg-type]


def _measured(label: object, help_text: object) -> models.FloatField:
    return models.FloatField(
        label,  # type: ignore[arg-type]
        null=True,
        blank=True,
        validators=[MinValueValidator(0.001), MaxValueValidator(10_000_000)],
        help_text=help_text,  # type: ignore[arg-type]
    )


class Measurement(Versioned):
    """One run of a language model on one replica under a steady load. Sizing counts it while it is active."""

    accelerator = models.ForeignKey(
        "catalog.Accelerator", on_delete=models.PROTECT, related_name="+", verbose_name=_("accelerator")
    )
    model = models.ForeignKey(
        "catalog.AiModel", on_delete=models.PROTECT, related_name="+", verbose_name=_("model")
    )
    engine = models.CharField(_("engine"), max_length=10, choices=ENGINES)
    engine_version = models.CharField(_("version of the engine"), max_length=60)
    precision = models.CharField(_("weight format"), max_length=10, choices=PRECISIONS)
    kv_precision = models.CharField(
        _("format of the KV cache"), max_length=10, choices=KV_PRECISIONS, default="auto"
    )
    tp = models.PositiveSmallIntegerField(
        _("tensor parallelism"),
        default=1,
        validators=[MinValueValidator(1), MaxValueValidator(64)],
        help_text=_("GPUs that share each layer of one replica. Pipeline parallelism cannot be compared."),
    )
    dp = models.PositiveSmallIntegerField(
        _("data-parallel attention"),
        default=1,
        validators=[MinValueValidator(1), MaxValueValidator(64)],
        help_text=_(
            "Inside one replica whose experts are spread; 1 without. Of several replicas, enter one."
        ),
    )
    input_tokens = _some(_("tokens in the prompt"), 10_000_000)
    output_tokens = _some(_("tokens in the answer"), 1_000_000)
    concurrency = models.FloatField(
        _("requests in flight"),
        validators=[MinValueValidator(1), MaxValueValidator(100_000)],
        help_text=_("On this replica, on average."),
    )
    burst = models.BooleanField(
        _("started together"),
        default=True,
        help_text=_("Ticked for a benchmark program; not for requests that arrive by themselves."),
    )
    ttft_ms = _measured(_("time to first token (ms)"), _("Mean over the requests."))
    tpot_ms = _measured(
        _("time per token (ms)"), _("Mean after the first token, without guessing tokens ahead.")
    )
    tokens_s_per_gpu = _measured(
        _("throughput per GPU (tokens/s)"), _("Output tokens only, divided by the GPUs of the replica.")
    )
    measured_on = models.DateField(_("measured on"), default=timezone.localdate)
    source = models.CharField(
        _("source"),
        max_length=300,
        help_text=_(
            "Who measured, how, or an address. Customers see this beside the figure: name no customer."
        ),
    )
    notes = models.TextField(_("notes"), blank=True, help_text=_("For colleagues; customers never see it."))
    sure = models.BooleanField(
        _("I am sure"),
        default=False,
        help_text=_("Needed only when a figure lies more than ten times off what the model says."),
    )
    active = models.BooleanField(
        _("active"), default=True, help_text=_("Measurements that are not active do not count.")
    )
    entered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
        verbose_name=_("entered by"),
    )
    entered_at = models.DateTimeField(_("entered at"), auto_now_add=True)
    history = HistoricalRecords()

    class Meta:
        verbose_name = _("own measurement")
        verbose_name_plural = _("own measurements")
        ordering = ["-measured_on", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(ttft_ms__isnull=False)
                | Q(tpot_ms__isnull=False)
                | Q(tokens_s_per_gpu__isnull=False),
                name="quotes_measurement_has_a_figure",
                violation_error_code="tpot_ms",
                violation_error_message=_("Enter at least one of the three figures."),
            ),
            models.CheckConstraint(
                condition=~Q(source=""),
                name="quotes_measurement_has_a_source",
                violation_error_code="source",
                violation_error_message=_("Say where the figures come from."),
            ),
        ]

    def __str__(self) -> str:
        gpus = self.tp * self.dp
        return f"{self.model}, {gpus} × {self.accelerator}, {self.get_engine_display()}, {self.measured_on}"

    def clean(self) -> None:
        super().clean()
        if self.measured_on and self.measured_on > timezone.localdate():
            raise ValidationError({"measured_on": _("This day is still to come.")})
        if self._same().exists():
            raise ValidationError(_("The same measurement is there already."))

    def _same(self) -> models.QuerySet["Measurement"]:
        names = (
            "accelerator_id", "model_id", "engine", "precision", "kv_precision", "tp", "dp", "input_tokens",
            "output_tokens", "concurrency", "measured_on", *FIGURES,
        )  # fmt: skip
        return (
            models.QuerySet(Measurement)
            .filter(**{name: getattr(self, name) for name in names})
            .exclude(pk=self.pk)
        )

    def as_own(self) -> OwnMeasurement:
        """As sizing reads it. Raises pydantic's ValidationError."""
        return OwnMeasurement(
            accelerator_sku=self.accelerator_id,
            model_key=self.model.key,
            engine=self.engine,
            precision=self.precision,
            kv_precision=self.kv_precision,
            tp=self.tp,
            dp=self.dp,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            concurrency=self.concurrency,
            burst=self.burst,
            ttft_ms=self.ttft_ms,
            tpot_ms=self.tpot_ms,
            tokens_s_per_gpu=self.tokens_s_per_gpu,
            source=f"{self.source}, {self.measured_on}",
        )
