"""The answer to a step that is not allowed."""

from django.core.exceptions import ValidationError


class Refused(ValidationError):
    """The step is not allowed now; the message says why and what to do."""

    @property
    def sentence(self) -> str:
        return " ".join(self.messages)


class TooMany(Refused):
    """The step was asked for too often; it may be asked for again later."""


class Unreadable(Refused):
    """A frozen copy of an older version that this one cannot take apart any more. Its PDF is kept as it was sent."""
