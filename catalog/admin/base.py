"""What the admin pages of all catalog tables share: history, sources, warnings, copying."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Any
from urllib.parse import urlencode

from babel.numbers import format_currency, format_decimal
from django.contrib import admin, messages
from django.contrib.admin import ActionLocation
from django.db import models
from django.db.models import OuterRef, Subquery
from django.forms import CheckboxSelectMultiple, Field, FloatField, ModelForm, model_to_dict
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.text import capfirst
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from catalog.admin.changes import ChangesInWords
from catalog.admin.filters import FiguresFilter, PriceStateFilter, holding_now
from catalog.admin.newest import NewestOnly
from catalog.completeness import missing
from catalog.models import Price
from catalog.models.fields import TicksFormField

type Fieldset = tuple[Any, dict[str, Any]]


def reader_locale() -> str:
    return (get_language() or "en").replace("-", "_")


def money(amount: Decimal, currency: str = "EUR") -> str:
    """An amount in the reader's language."""
    return format_currency(amount, currency, locale=reader_locale())


@cache
def column(field: str, title: Any) -> Any:
    """A column of a list under a short title, such as the unit of the figure."""

    @admin.display(description=title, ordering=field, empty_value="–")
    def show(row: Any) -> Any:
        value = getattr(row, field)
        is_figure = isinstance(value, int | float) and not isinstance(value, bool)
        return format_decimal(value, locale=reader_locale()) if is_figure else value

    show.__name__ = field  # names the cell for the style sheet
    return show


class PlainFloatField(FloatField):
    """Shows 8 as 8 and not as 8.0."""

    def prepare_value(self, value: Any) -> Any:
        return int(value) if isinstance(value, float) and value.is_integer() else value


def warning(text: str) -> str:
    """`text` marked as something to look at; the sign says so without the colour."""
    return format_html('<span class="catalog-warning">⚠ {}</span>', text)


class CatalogAdmin(NewestOnly):
    """A table with a history that anybody can read; nobody undoes unseen what a colleague saved."""

    object_history_template = "catalog/admin/history.html"
    object_history_list_template = "catalog/admin/history_list.html"
    formfield_overrides: Mapping[type[models.Field], Mapping[str, Any]] = {
        models.FloatField: {"form_class": PlainFloatField}
    }
    list_per_page = 50

    def get_action_choices(
        self,
        request: HttpRequest,
        default_choices: Any = None,
        action_location: ActionLocation = ActionLocation.CHANGE_LIST,
    ) -> Any:
        return super().get_action_choices(request, [("", _("Choose what to do"))], action_location)

    def get_history_queryset(
        self, request: HttpRequest, history_manager: Any, pk_name: str, object_id: Any
    ) -> models.QuerySet[Any]:
        # The package's own asks for every related row without naming one, which Django no longer wants.
        return history_manager.filter(**{pk_name: object_id}).select_related("history_user")

    def get_historical_record_context_helper(
        self, request: HttpRequest, historical_record: Any
    ) -> ChangesInWords:
        return ChangesInWords(self.model, historical_record)

    class Media:
        css = {"all": ["catalog/admin.css"]}


class SourcedAdmin(CatalogAdmin):
    """A table whose rows say where their figures come from."""

    heading: Sequence[Any] = ()
    """Fields above all groups: what the row is."""
    figures: Sequence[tuple[Any, Sequence[Any]]] = ()
    """Groups of figures: title and fields."""

    actions: Sequence[str] = ("copy_as_new",)
    save_on_top = True

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> list[Fieldset]:
        return [
            (None, {"fields": [*self.heading, ("active", "inactive_reason")]}),
            *((title, {"fields": list(fields)}) for title, fields in self.figures),
            (_("Where the figures come from"), {"fields": ["source", ("checked_on", "confidence"), "notes"]}),
            (
                _("Estimates and weaker figures"),
                {
                    "classes": ["collapse"],
                    "fields": ["estimated_fields", "weaker_fields", "weaker_source", "weaker_confidence"],
                },
            ),
        ]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Field | None:
        if db_field.name in ("estimated_fields", "weaker_fields"):
            names = {
                field.name: field for field in self.model._meta.get_fields() if hasattr(field, "verbose_name")
            }
            choices = []
            for name in self.model.catalog_kind().columns:
                field = names.get(self.model.attribute(name).removesuffix("_id"))
                if field is not None:
                    choices.append((name, field.verbose_name))
            return TicksFormField(
                choices=choices,
                required=False,
                label=capfirst(db_field.verbose_name),
                help_text=db_field.help_text,
                widget=CheckboxSelectMultiple(attrs={"class": "catalog-ticks"}),
            )
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    @admin.display(description=gettext_lazy("to look at"))
    def warnings(self, row: Any) -> str:
        """What somebody should fill or refresh."""
        return format_html_join(" ", "{}", ((warning(text),) for text in self.warnings_of(row)))

    def warnings_of(self, row: Any) -> Iterable[str]:
        empty = missing(self.model.kind_key, row)
        if empty and row.active:
            labels = [
                str(self.model._meta.get_field(name.removesuffix("_id")).verbose_name) for name in empty
            ]
            yield _("missing: %(figures)s") % {"figures": ", ".join(labels)}

    @admin.action(
        description=gettext_lazy("Copy as new"),
        permissions=["add"],
        location=[ActionLocation.CHANGE_LIST, ActionLocation.CHANGE_FORM],
    )
    def copy_as_new(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> HttpResponse | None:
        """Open the form for a new row, filled with the figures of an existing one; nothing is stored yet."""
        if len(queryset) != 1:
            self.message_user(request, _("Choose one row to copy."), messages.WARNING)
            return None
        opts = self.model._meta
        address = reverse(f"admin:{opts.app_label}_{opts.model_name}_add")
        return HttpResponseRedirect(f"{address}?{urlencode({'copy_of': queryset[0].pk})}")

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        original = request.GET.get("copy_of")
        if not original:
            return super().get_changeform_initial_data(request)
        row = self.get_queryset(request).filter(pk=original).first()
        if row is None:
            return {}
        identifier = self.model.catalog_kind().identifier
        return model_to_dict(row, exclude=[identifier, "checked_on"])

    def save_model(self, request: HttpRequest, obj: Any, form: ModelForm, change: bool) -> None:
        super().save_model(request, obj, form, change)
        for text in self.warnings_of(self.get_queryset(request).get(pk=obj.pk)):
            self.message_user(request, f"{obj}: {text}", messages.WARNING)


class PriceInline(admin.TabularInline):
    """The prices of an article, to read; each has a page of its own."""

    model = Price
    extra = 0
    max_num = 0
    can_delete = False
    show_change_link = True
    fields = (
        "amount",
        "currency",
        "valid_from",
        "valid_until",
        "lead_time_weeks",
        "stated_on",
        "demonstration",
    )
    readonly_fields = fields

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ArticleAdmin(SourcedAdmin):
    """A table of one kind of article."""

    heading: Sequence[Any] = (("sku", "part_number"), ("vendor", "name"), "name_nl", "category")
    columns: Sequence[str | tuple[str, Any]] = ()
    """What the list shows of this kind between the name and the price: a field, or a figure and its short title."""
    filters: Sequence[Any] = ()
    inlines: Sequence[Any] = (PriceInline,)
    actions: Sequence[str] = ("copy_as_new", "add_price")
    search_fields = ("sku", "name", "name_nl", "vendor", "part_number")
    list_select_related = ("category",)

    def get_list_display(self, request: HttpRequest) -> Sequence[Any]:
        return ("name", "vendor", *self.figure_columns(), "list_price", "warnings", "active")

    def figure_columns(self) -> list[Any]:
        return [each if isinstance(each, str) else column(*each) for each in self.columns]

    def get_list_filter(self, request: HttpRequest) -> Sequence[Any]:
        return (*self.filters, "vendor", FiguresFilter, PriceStateFilter, "confidence", "active")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Sequence[str]:
        return ("sku",) if obj else ()

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:
        now = holding_now().filter(article=OuterRef("pk"))
        return (
            super()
            .get_queryset(request)
            .annotate(
                price_amount=Subquery(now.values("amount")[:1]),
                price_stated_on=Subquery(now.values("stated_on")[:1]),
            )
        )

    @admin.display(description=gettext_lazy("list price"), ordering="price_amount")
    def list_price(self, row: Any) -> str:
        return "" if row.price_amount is None else money(row.price_amount)

    def expects_price(self, row: Any) -> bool:
        """Whether a row without a price is something to look at."""
        return True

    def warnings_of(self, row: Any) -> Iterable[str]:
        yield from super().warnings_of(row)
        if not row.active or not hasattr(row, "price_amount"):
            return
        if row.price_amount is None:
            if self.expects_price(row):
                yield _("no price")
        elif Price(stated_on=row.price_stated_on).is_stale:
            yield _("stale price")

    @admin.action(
        description=gettext_lazy("Add a price"),
        location=[ActionLocation.CHANGE_LIST, ActionLocation.CHANGE_FORM],
    )
    def add_price(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> HttpResponse | None:
        if len(queryset) != 1:
            self.message_user(request, _("Choose one article."), messages.WARNING)
            return None
        query = urlencode({"article": queryset[0].pk})
        return HttpResponseRedirect(f"{reverse('admin:catalog_price_add')}?{query}")
