"""A model's `config.json` as people hand it over, pasted or as a file: its text, and what it says or why not."""

from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from catalog.importers.model_config import NotAConfig, read_model_config
from catalog.specs import ModelArchitecture

MAX_BYTES = 1024 * 1024  # of a file; larger ones are not read
MAX_TEXT = 250_000  # characters that are kept; the largest published configs have a quarter of that

UNREADABLE = {
    "json": _("This is no JSON. Take the whole file config.json, from { to }."),
    "shape": _(
        "This does not describe a language model: its layers, width or vocabulary are missing. Of all files of the"
        " model, take config.json."
    ),
    "kind": _(
        "This model reads text or images and writes no text. It is not calculated as a language model; choose another"
        " use, such as search."
    ),
}
TOO_LARGE = _("This is too large for a config.json. Of all files of the model, take only that one.")
NO_TEXT = _("This file holds no text (UTF-8). Of all files of the model, take config.json.")


def architecture_of(text: str, *, key: str = "custom", source: str = "") -> ModelArchitecture:
    """The model that `text` describes. Raises ValidationError with a sentence for whoever handed it over."""
    if len(text) > MAX_TEXT:
        raise ValidationError(TOO_LARGE, code="size")
    try:
        return read_model_config(text, key=key, source=source)
    except NotAConfig as error:
        raise ValidationError(UNREADABLE[error.why], code=error.why) from None


def text_of_file(file: UploadedFile) -> str:
    """What `file` holds, as if it had been pasted. Raises ValidationError when that is no text of bearable size."""
    if file.size is None or file.size > MAX_BYTES:
        raise ValidationError(TOO_LARGE, code="size")
    return text_of_bytes(file.read())


def text_of_bytes(content: bytes) -> str:
    """Raises ValidationError when `content` is not UTF-8, or nothing."""
    try:
        text = content.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise ValidationError(NO_TEXT, code="text") from None
    if not text or "\0" in text:
        raise ValidationError(NO_TEXT, code="text")
    return text
