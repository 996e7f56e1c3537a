"""Freezing what a quote says, and reading it back, perhaps in a later version of this site."""

from typing import Any

import pydantic
from django.utils.translation import gettext as _
from django.utils.translation import override

from catalog.quantity import Message
from quotes.services.refused import Unreadable


def frozen(value: pydantic.BaseModel) -> Any:
    """`value` as JSON, each of its sentences with its Dutch of today; what was frozen with it before stays.

    A sentence that a later version words otherwise has no translation there any more.
    """
    copy = value.model_dump(mode="json")
    with override("nl"):
        _add_dutch(copy)
    return copy


def _add_dutch(value: Any) -> None:
    if isinstance(value, list):
        for part in value:
            _add_dutch(part)
    elif isinstance(value, dict):
        if value.keys() == Message.model_fields.keys() and value["text"] and not value["text_nl"]:
            value["text_nl"] = _(value["text"])
        for part in value.values():
            _add_dutch(part)


def thawed[T: pydantic.BaseModel](kind: type[T], copy: Any) -> T:
    """The domain value that `copy` was made from. What this version no longer knows is left out.

    Raises Unreadable when the rest does not make a value any more.
    """
    try:
        return kind.model_validate(copy, extra="ignore")
    except pydantic.ValidationError as error:
        raise Unreadable(
            _("This quote was made by an earlier version of this site. Its PDF is unchanged; open that.")
        ) from error
