"""Logging without personal data: the links of drafts and quotes carry secrets, so paths are masked."""

import logging
import re

# A run of URL-safe characters this long in a path or a query is a token, not a word.
_TOKEN = re.compile(r"(?<=[/=])[A-Za-z0-9_-]{20,}")


class MaskSecrets(logging.Filter):
    """Replaces long tokens in the text of a log record by `…`; never drops a record."""

    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        masked = _TOKEN.sub("…", text)
        if masked != text:
            record.msg, record.args = masked, ()
        return True
