"""Requests per hour, pasted from a spreadsheet or a log's summary: a time and a count on each line, and nothing else.

Only the counts are kept. A line that holds anything but a time and a number is refused and not stored, so that nobody
pastes names, addresses or texts by accident.
"""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext, ngettext

from configurator import formats
from configurator.wizard.fields import Question, Stored
from configurator.wizard.situation import Situation
from configurator.workload import HOURS_COUNTED

LONGEST = 600_000  # characters: a year of lines with time stamps
COUNT_MOST = 1e9
LEFT_OUT = "…"  # what is kept of a line that was refused
HEADER = re.compile(r"[^\d@]{1,60}$")
CLOCK = r"\d{1,2}:\d{2}(:\d{2}([.,]\d{1,6})?)?"
DAY = r"(\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})"
MOMENT = re.compile(rf"({DAY}([ T]{CLOCK})?|{CLOCK}|\d{{1,4}})(Z|[+-]\d{{2}}:?\d{{2}})?$")
NUMBER = re.compile(r"(\d{1,3}([.  ]\d{3})+|\d{1,12})([.,]\d{1,6})?$")


def read_counts(text: str) -> list[float]:
    """The counts of `text`, one for each hour of a day, a week or a year.

    Columns are divided by semicolons, tabs or commas; the first line may be a header. Raises ValidationError with a
    sentence that names the line.
    """
    lines = [line.strip() for line in text.splitlines()]
    rows = [(number, line) for number, line in enumerate(lines, 1) if line]
    if rows and HEADER.match(rows[0][1]):
        rows = rows[1:]
    counts = []
    for number, line in rows:
        count = _count(line)
        if count is None:
            message = gettext(
                "Line {number} holds something else than a time and a number. Paste only those two, no names or texts."
            )
            raise ValidationError(message.format(number=formats.number(number)))
        counts.append(count)
    if len(counts) not in HOURS_COUNTED:
        message = ngettext(
            "There is {number} count. Paste 24 (a day), 168 (a week) or 8,760 (a year): one for each hour.",
            "There are {number} counts. Paste 24 (a day), 168 (a week) or 8,760 (a year): one for each hour.",
            len(counts),
        )
        raise ValidationError(message.format(number=formats.number(len(counts))))
    if not max(counts):
        raise ValidationError(gettext("All counts are zero. Paste the hours in which it is used."))
    return counts


def _count(line: str) -> float | None:
    """The number on a line; None when there is anything else than a time and a number."""
    for divider in ("\t", ";"):
        if divider in line:
            moment, _divider, number = line.partition(divider)
            return _number(number) if MOMENT.match(_plain(moment)) else None
    moment, comma, number = line.rpartition(",")
    # '12,5' is a number with a decimal comma; '08:00,12' and '2026-01-31 08:00,12.5' are two columns.
    if comma and MOMENT.match(_plain(moment)) and not _plain(moment).isdecimal():
        return _number(number)
    return _number(line)


def _plain(cell: str) -> str:
    return cell.strip().strip('"').strip()


def _number(cell: str) -> float | None:
    found = NUMBER.match(_plain(cell))
    if found is None:
        return None
    whole = re.sub(r"\D", "", found[1])
    value = float(f"{whole}.{found[3][1:] if found[3] else 0}")
    return value if value <= COUNT_MOST else None


class CountsQuestion(Question):
    """Counts per hour. Stored as a list of numbers; of a text that was refused only the lines of numbers are kept."""

    def __init__(self, label: Any, **rest: Any) -> None:
        widget = forms.Textarea({"rows": 8, "autocomplete": "off", "spellcheck": "false"})
        super().__init__(label, widget=widget, can_skip=False, **rest)

    def parse(self, text: Any, situation: Situation) -> list[float]:
        if len(text) > LONGEST:
            raise ValidationError(
                gettext("This is too long. Paste one line for each hour of at most a year.")
            )
        return read_counts(str(text))

    def missing(self) -> str:
        return gettext("Paste the counts, or choose another answer to the question above.")

    def keep(self, text: Any) -> str:
        lines = str(text)[:LONGEST].splitlines()[: max(HOURS_COUNTED) + 2]
        return "\n".join(
            line if not line.strip() or _count(line.strip()) is not None else LEFT_OUT for line in lines
        )

    def load(self, stored: Stored) -> tuple[float, ...]:
        counts = tuple(float(count) for count in stored)
        if len(counts) not in HOURS_COUNTED or min(counts) < 0 or not 0 < max(counts) <= COUNT_MOST:
            raise ValueError(stored)
        return counts

    def write(self, stored: Stored, situation: Situation) -> str:
        return "\n".join(f"{count:g}" if count < 1e6 else f"{count:.0f}" for count in self.load(stored))

    def say(self, stored: Stored, situation: Situation) -> str:
        counts = self.load(stored)
        return gettext("{hours} hours, at most {most} in one hour").format(
            hours=formats.number(len(counts)), most=formats.number(max(counts), 3)
        )
