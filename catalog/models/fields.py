"""Field kinds of the catalog: figures that may be unknown, and short lists of words."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

type Text = str | StrPromise


def figure(label: Text, help_text: Text = "") -> models.FloatField:
    """A measure that may be unknown: an empty cell is never zero."""
    return models.FloatField(
        label, null=True, blank=True, validators=[MinValueValidator(0)], help_text=help_text
    )


def count(label: Text, help_text: Text = "") -> models.PositiveIntegerField:
    """A number of things that may be unknown."""
    return models.PositiveIntegerField(label, null=True, blank=True, help_text=help_text)


def number(label: Text, default: int = 0, help_text: Text = "") -> models.PositiveIntegerField:
    """A number of things that is always known."""
    return models.PositiveIntegerField(label, default=default, help_text=help_text)


def not_negative(name: str, fields: Iterable[str]) -> models.CheckConstraint:
    """A database constraint: none of `fields` is below zero."""
    condition = Q()
    for field in fields:
        condition &= Q(**{f"{field}__isnull": True}) | Q(**{f"{field}__gte": 0})
    return models.CheckConstraint(
        condition=condition, name=name, violation_error_message=_("A figure cannot be negative.")
    )


class WordsField(models.JSONField):
    """A short list of words, kept in the order given. With `words`, only those; entered as ticks or with semicolons."""

    def __init__(self, *args: Any, words: Iterable[tuple[str, Text]] = (), **kwargs: Any) -> None:
        self.words = list(words)
        kwargs.setdefault("default", list)
        kwargs.setdefault("blank", True)
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()
        return name, path, args, kwargs  # `words` shape the form only: no migration follows from them

    def validate(self, value: Any, model_instance: Any) -> None:
        super().validate(value, model_instance)
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise ValidationError(_("Enter a list of words."))
        unknown = [word for word in value if word not in dict(self.words)] if self.words else []
        if unknown:
            raise ValidationError(
                _("%(word)s is not one of the choices."), params={"word": unknown[0]}, code="invalid_choice"
            )

    def formfield(self, **kwargs: Any) -> forms.Field:
        kwargs.pop("encoder", None)
        kwargs.pop("decoder", None)
        common = {
            "label": capfirst(self.verbose_name),
            "help_text": self.help_text,
            "required": not self.blank,
            **kwargs,
        }
        if self.words:
            common["widget"] = forms.CheckboxSelectMultiple
            return TicksFormField(choices=self.words, **common)
        common.pop("widget", None)
        return WordsFormField(**common)


class TicksFormField(forms.MultipleChoiceField):
    """Ticks whose value is a plain list."""

    def has_changed(self, initial: Any, data: Any) -> bool:
        return sorted(initial or []) != sorted(data or [])


class WordsFormField(forms.CharField):
    """Words separated by semicolons."""

    def prepare_value(self, value: Any) -> Any:
        return "; ".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        if isinstance(value, list):
            return value
        words = [word.strip() for word in (value or "").split(";")]
        return list(dict.fromkeys(word for word in words if word))

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.to_python(initial) != self.to_python(data))
