"""Pages for AI models."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.core import signing
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from catalog.admin.base import SourcedAdmin
from catalog.admin.filters import FiguresFilter
from catalog.importers.config_sources import architecture_of, text_of_file
from catalog.importers.hub import address_of, fetch_config, hub_name, tidy_name
from catalog.models import AiModel
from catalog.specs import ModelArchitecture

FIGURES_SALT = "catalog.model-config"
FIGURES_HOURS = 4


class ConfigForm(forms.Form):
    """Which model, and its config.json: a file, its text, or neither where a hub knows the name."""

    key = forms.CharField(
        label=gettext_lazy("hub name"),
        max_length=120,
        help_text=gettext_lazy("organisation/model, as published."),
        widget=forms.TextInput({"class": "vTextField"}),
    )
    file = forms.FileField(
        label=gettext_lazy("the file config.json"),
        required=False,
        widget=forms.FileInput({"accept": ".json,application/json"}),
    )
    text = forms.CharField(
        label=gettext_lazy("or its contents"),
        required=False,
        widget=forms.Textarea({"class": "vLargeTextField", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, asker: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.asker = asker
        if hub_name():
            text = _(
                "organisation/model, as published. Without a file and contents we fetch it from %(hub)s."
            )
            self.fields["key"].help_text = text % {"hub": hub_name()}

    def clean_key(self) -> str:
        key = str(self.cleaned_data["key"]).strip()
        if hub_name() and "://" in key:
            key = tidy_name(key)  # the address of its page
        if AiModel.objects.filter(key__iexact=key).exists():
            raise forms.ValidationError(_("The catalog has this model already; change it there."))
        return key

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if self.errors:
            return cleaned
        try:
            self.cleaned_data["model"] = self._read()
        except forms.ValidationError as error:
            self.add_error(self._way(), error)
        return cleaned

    def _way(self) -> str:
        """The field that the config comes from."""
        if self.cleaned_data.get("file"):
            return "file"
        return "key" if hub_name() and not self.cleaned_data.get("text") else "text"

    def _read(self) -> ModelArchitecture:
        key, way = self.cleaned_data["key"], self._way()
        source = "config.json"
        if way == "file":
            text = text_of_file(self.cleaned_data["file"])
        elif way == "key":
            text, source = fetch_config(key, asker=self.asker), address_of(key)
        else:
            text = self.cleaned_data["text"]
            if not text:
                raise forms.ValidationError(_("Choose the file, or paste its contents."))
        return architecture_of(text, key=key, source=source)


@admin.register(AiModel)
class AiModelAdmin(SourcedAdmin):
    list_display = (
        "name", "family", "total_params_b", "active_params_b", "native_format", "max_context", "warnings", "active",
    )  # fmt: skip
    list_filter = ("family", "native_format", "multimodal", FiguresFilter, "standard_structure", "active")
    search_fields = ("key", "name", "family")
    change_list_template = "catalog/admin/ai_model_change_list.html"
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
    # ── from a config.json ──────────────────────────────────────────────────────────────────────────────────────

    def get_urls(self) -> list[URLPattern]:
        own = [path("import/", self.admin_site.admin_view(self.import_view), name="catalog_aimodel_import")]
        return [*own, *super().get_urls()]

    def import_view(self, request: HttpRequest) -> HttpResponse:
        """Read a config.json and open the form for a new model, filled with its figures; nothing is stored yet."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = ConfigForm(request.POST or None, request.FILES or None, asker=f"staff {request.user.pk}")
        if request.method == "POST" and form.is_valid():
            model: ModelArchitecture = form.cleaned_data["model"]
            self.message_user(request, _("Nothing is stored yet: check the figures, then save."))
            if not model.standard_structure:
                text = _(
                    "We do not know this structure exactly: compare the parameters with those published."
                )
                self.message_user(request, text, messages.WARNING)
            figures = signing.dumps(figures_of(model), salt=FIGURES_SALT, compress=True)
            address = reverse("admin:catalog_aimodel_add")
            return HttpResponseRedirect(f"{address}?{urlencode({'figures': figures})}")
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Add a model from its config.json"),
            "form": form,
            "media": self.media,
        }
        return TemplateResponse(request, "catalog/admin/model_config.html", context)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        if "figures" not in request.GET:
            return super().get_changeform_initial_data(request)
        try:
            found = signing.loads(request.GET["figures"], salt=FIGURES_SALT, max_age=FIGURES_HOURS * 3600)
        except signing.BadSignature:
            self.message_user(request, _("The figures are too old; read the config again."), messages.ERROR)
            return {}
        return {**found, "checked_on": timezone.localdate()}


def figures_of(model: ModelArchitecture) -> dict[str, Any]:
    """The entries of the form for `model`, named after the last part of its hub name."""
    said = model.model_dump(mode="json")
    columns = {field.name for field in AiModel._meta.get_fields()}
    figures = {name: value for name, value in said.items() if name in columns and value is not None}
    counts = ("total_params_b", "active_params_b", "encoder_params_b")
    return {
        **figures,
        **{name: round(figures[name], 3) for name in counts if name in figures},
        "name": model.key.rpartition("/")[2],
        "sixteen_bit": sorted(model.sixteen_bit),
        "source": model.provenance.source,
        "confidence": model.provenance.confidence.value,
    }
