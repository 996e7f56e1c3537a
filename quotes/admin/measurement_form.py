"""A measurement as people or files enter it, checked against what the model says."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.utils.translation import gettext as _

from catalog.models import Accelerator, AiModel
from configurator import formats
from quotes.models import Measurement
from quotes.services.measurements import compared
from quotes.sizing.serving.measurements import IMPLAUSIBLE, Comparison


class MeasurementForm(forms.ModelForm):
    """A measurement as people or files enter it, set beside what the model says (`comparison`, once valid)."""

    comparison: Comparison | None = None

    class Meta:
        model = Measurement
        fields = (
            "accelerator", "model", "engine", "engine_version", "precision", "kv_precision", "tp", "dp",
            "input_tokens", "output_tokens", "concurrency", "burst", "ttft_ms", "tpot_ms", "tokens_s_per_gpu",
            "measured_on", "source", "notes", "sure", "active",
        )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, rows in (("accelerator", Accelerator.objects), ("model", AiModel.objects)):
            chosen = getattr(self.instance, f"{name}_id")
            field = self.fields.get(name)
            if isinstance(field, forms.ModelChoiceField):
                field.queryset = rows.filter(Q(active=True) | Q(pk=chosen))

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]
        if self.errors:
            return
        try:
            self.comparison = compared(self.instance)
        except ValidationError as error:
            self.add_error(None, error)
            return
        if self.comparison.implausible and not self.cleaned_data["sure"]:
            self.add_error("sure", _far_off(self.comparison))


def _far_off(comparison: Comparison) -> str:
    """Which figures lie far off, and by how much."""
    names = (_("time to first token"), _("time per token"), _("throughput per GPU"))
    units = ("ms", "ms", "tokens/s")
    parts = [
        _("%(name)s: the model says %(said)s, you measured %(measured)s.")
        % {
            "name": name,
            "said": formats.quantity(said, unit, 2),
            "measured": formats.quantity(value, unit, 2),
        }
        for name, unit, said, value in zip(names, units, comparison.before, comparison.measured, strict=True)
        if value is not None and not 1 / IMPLAUSIBLE <= value / said <= IMPLAUSIBLE
    ]
    return " ".join([*parts, _("Check the units and the number of GPUs, or tick this.")])
