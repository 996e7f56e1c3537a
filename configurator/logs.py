"""Logging without personal data: links carry secrets, and what a database or a mail server says quotes its input."""

import logging
import re

MASKS = (
    # A run of URL-safe characters this long in a path or a query is a token, not a word.
    re.compile(r"(?<=[/=])[A-Za-z0-9_-]{20,}"),
    # Mail servers repeat the address that they refuse.
    re.compile(r"[\w.+%-]+@[\w-]+\.[\w.-]+"),
    # PostgreSQL repeats the row, or the value, that it refuses, on as many lines as it had.
    re.compile(r"((?<=DETAIL:  )|(?<=CONTEXT:  )).*?(?=\n\n(The above|During)|\Z)", re.S),
)


class MaskedFormatter(logging.Formatter):
    """Puts `…` in the place of secrets and personal data, in the message and in a traceback; keeps every record."""

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        for mask in MASKS:
            text = mask.sub("…", text)
        return text
