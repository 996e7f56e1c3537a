"""The translation tool finds what Django will look up, and refuses what would be shown wrongly."""

from pathlib import Path

import pytest
from babel.messages.catalog import Message
from django.contrib import admin

from scripts.messages import SCRIPTS, extract_template, faults, is_translated, read_catalog


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ('{% translate "Next" %}', ["Next"]),
        ("{% translate 'It is 50 % full' %}", ["It is 50 %% full"]),
        ('<a title="it\'s">{% translate "Next" as word %}</a>', ["Next"]),
        ("{% blocktranslate with n=x.y %}About {{ n }} kW{% endblocktranslate %}", ["About %(n)s kW"]),
        ("{% blocktranslate trimmed %}\n    One\n  line\n{% endblocktranslate %}", ["One line"]),
        (
            "{% blocktranslate count n=n %}One server{% plural %}{{ n }} servers{% endblocktranslate %}",
            [("One server", "%(n)s servers")],
        ),
        ('{% include "part.html" with label=_("Users") %}', ["Users"]),
        ('  <p>\n      text with \'quotes "\n   {% translate "Next" %}', ["Next"]),
        ('{# {% translate "No" %} #}{% comment %}{% translate "No" %}{% endcomment %}', []),
    ],
)
def test_templates_are_read_as_django_reads_them(template: str, expected: list[object]) -> None:
    found = []
    for _line, _function, text, _comments in extract_template(template):
        # A plural carries its count as a third argument that is no text.
        found.append(tuple(part for part in text if part) if isinstance(text, tuple) else text)
    assert found == expected


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        (Message("Next", "Volgende"), None),
        (Message("Next", ""), "no Dutch"),
        (Message("Next", "Volgende", flags=["fuzzy"]), "no Dutch"),
        (Message("{count} servers", "{count} servers"), None),
        (Message("{count} servers", "{aantal} servers"), "placeholders differ"),
        (Message("About %(n)s kW", "Ongeveer kW"), "placeholders differ"),
        (Message(("One server", "%(n)s servers"), ("Eén server", "%(n)s servers")), None),
        (Message(("One server", "%(n)s servers"), ("Eén server", "")), "no Dutch"),
        (Message(("One server", "%(n)s servers"), ("Eén server", "%(m)s servers")), "placeholders differ"),
    ],
)
def test_wrong_translations_are_named(message: Message, fault: str | None) -> None:
    found = list(faults(message))
    assert len(found) == (fault is not None)
    assert fault is None or fault in found[0]


def test_the_scripts_of_the_admin_speak_dutch() -> None:
    """What Django's own Dutch lacks, ours has."""
    theirs = read_catalog(Path(admin.__path__[0]) / "locale" / "nl" / "LC_MESSAGES" / "djangojs.po")
    ours = read_catalog(SCRIPTS)
    lacking = [message for message in theirs if message.id and not is_translated(message)]
    assert [message.id for message in lacking if not is_translated(ours.get(message.id))] == []
    assert [fault for message in ours if message.id for fault in faults(message)] == []


def test_no_message_is_no_translation() -> None:
    assert not is_translated(None)
