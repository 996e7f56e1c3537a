"""Reading back what was frozen, perhaps by an earlier version of this site."""

from typing import Any

import pydantic
from django.utils.translation import gettext as _

from quotes.services.refused import Unreadable


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
