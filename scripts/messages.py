"""Translations: `update` the Dutch catalog from the source, `compile` it, `check` that it is complete.

Needs no GNU gettext: Babel extracts and compiles, and Django itself turns templates into something Babel can read.
English is the source language, so only Dutch has a catalog. Translations may also wait in locale/parts/*.po, one file
per part of the product; they count as soon as they are there, and `update` folds them into the catalog.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract, extract_python
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
DUTCH = ROOT / "locale" / "nl" / "LC_MESSAGES" / "django.po"
SCRIPTS = DUTCH.with_name("djangojs.po")  # by hand: what the scripts of Django's own admin lack in Dutch
PARTS = ROOT / "locale" / "parts"
PYTHON_FOLDERS = ("catalog", "configurator", "quotes")
TEMPLATE_SUFFIXES = {".html", ".txt", ".svg", ".xml"}

KEYWORDS: dict[str, Any] = {
    **dict.fromkeys(("_", "gettext", "gettext_lazy", "gettext_noop", "noop"), None),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), (1, 2)),
    **dict.fromkeys(("pgettext", "pgettext_lazy"), ((1, "c"), 2)),
    **dict.fromkeys(("npgettext", "npgettext_lazy"), ((1, "c"), 2, 3)),
}
PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|{\w*}|%[sd]")


def extract_template(source: str) -> Iterator[tuple[int, Any, Any, Any]]:
    """Messages of one Django template."""
    # Indentation means something to Python's tokenizer and nothing to a template.
    lines = "\n".join(line.lstrip() for line in templatize(source).splitlines())
    yield from extract_python(BytesIO(lines.encode()), KEYWORDS, ["Translators:"], {"encoding": "utf-8"})


def template_method(
    file: Any, keywords: Any, comment_tags: Any, options: Any
) -> Iterator[tuple[int, Any, Any, Any]]:
    yield from extract_template(file.read().decode())


def sources() -> Iterator[tuple[Path, Any]]:
    for folder in PYTHON_FOLDERS:
        yield from (
            (path, "python")
            for path in sorted((ROOT / folder).rglob("*.py"))
            if "migrations" not in path.parts
        )
    for folder in ("templates", *PYTHON_FOLDERS):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in TEMPLATE_SUFFIXES and (folder == "templates" or "templates" in path.parts):
                yield path, template_method


def from_source() -> Catalog:
    """Every message that the code and the templates mark, with the files (not the lines) that use it."""
    found = Catalog(locale="nl", project="Rekenkracht", charset="utf-8", fuzzy=False)
    for path, method in sources():
        name = path.relative_to(ROOT).as_posix()
        with path.open("rb") as file:
            for _line, text, comments, context in extract(method, file, KEYWORDS, ["Translators:"]):
                found.add(text, locations=[(name, 0)], auto_comments=comments, context=context)
    return found


def read_catalog(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale="nl", charset="utf-8", abort_invalid=True)


def is_translated(message: Message | None) -> bool:
    if message is None or message.fuzzy:
        return False
    strings = message.string if isinstance(message.string, list | tuple) else [message.string]
    return bool(strings) and all(strings)


def translations() -> tuple[Catalog, list[str]]:
    """What has been translated so far, and complaints about parts that contradict each other."""
    known = read_catalog(DUTCH) if DUTCH.exists() else Catalog(locale="nl", charset="utf-8")
    complaints = []
    for path in sorted(PARTS.glob("*.po")):
        for message in read_catalog(path):
            if not message.id or not is_translated(message):
                continue
            there = known.get(message.id, context=message.context)
            if there is not None and is_translated(there) and there.string != message.string:
                complaints.append(
                    f"{path.relative_to(ROOT)}: '{message.id}' is translated differently elsewhere"
                )
                continue
            known.delete(message.id, context=message.context)
            known.add(message.id, message.string, context=message.context)
    return known, complaints


def complete_catalog() -> tuple[Catalog, list[str]]:
    """The messages of the source, each with its translation where there is one."""
    known, complaints = translations()
    wanted = from_source()
    for message in wanted:
        there = known.get(message.id, context=message.context) if message.id else None
        if there is not None and is_translated(there):
            message.string = there.string
    return wanted, complaints


def update() -> int:
    wanted, complaints = complete_catalog()
    # No dates: the file changes only when a text does.
    wanted.header_comment = "# Generated by `make messages`; edit the translations, not the list."
    DUTCH.parent.mkdir(parents=True, exist_ok=True)
    buffer = BytesIO()
    write_po(buffer, wanted, sort_output=True, width=110, omit_header=False, include_lineno=False)
    DUTCH.write_bytes(re.sub(rb'^"(?:POT-|PO-|Generated-|Last-|Report-|Project-|Language-Team)[^\n]*\n', b"",
                             buffer.getvalue(), flags=re.M))  # fmt: skip
    missing = sum(not is_translated(message) for message in wanted if message.id)
    print("\n".join([*complaints, f"{len(wanted)} messages, {missing} without a Dutch translation"]))
    return 0


def translated_only(known: Catalog) -> Catalog:
    """`known` without holes: a plural with empty forms would be shown as nothing instead of in English."""
    catalog = Catalog(locale="nl", charset="utf-8", fuzzy=False)
    for message in known:
        if message.id and is_translated(message):
            catalog.add(message.id, message.string, context=message.context)
    return catalog


def compile_() -> int:
    known, _complaints = translations()
    for path, catalog in ((DUTCH, known), (SCRIPTS, read_catalog(SCRIPTS))):
        target = path.with_suffix(".mo")
        target.parent.mkdir(parents=True, exist_ok=True)
        buffer = BytesIO()
        write_mo(buffer, translated_only(catalog))
        # An unchanged file is left alone, so that a running server does not reload for nothing.
        if not target.exists() or target.read_bytes() != buffer.getvalue():
            target.write_bytes(buffer.getvalue())
    return 0


def placeholders(text: Any) -> set[str]:
    return set(PLACEHOLDER.findall(text))


def faults(message: Message) -> Iterator[str]:
    where = ", ".join(name for name, _line in message.locations[:2])
    if not is_translated(message):
        yield f"{where}: no Dutch for {message.id!r}"
        return
    singular, plural = message.id if isinstance(message.id, list | tuple) else (message.id, message.id)
    strings = message.string if isinstance(message.string, list | tuple) else [message.string]
    wanted = [placeholders(singular), placeholders(plural)]
    for string in strings:
        if placeholders(string) not in wanted:
            yield f"{where}: placeholders differ: {string!r} for {message.id!r}"


def check() -> int:
    wanted, complaints = complete_catalog()
    complaints += [fault for message in wanted if message.id for fault in faults(message)]
    listed = read_catalog(DUTCH) if DUTCH.exists() else Catalog(locale="nl")
    complaints += [
        f"{DUTCH.relative_to(ROOT)}: {message.id!r} is marked fuzzy"
        for message in listed
        if message.id and message.fuzzy
    ]
    if {(m.id, m.context) for m in listed if m.id} != {(m.id, m.context) for m in wanted if m.id}:
        complaints.append(
            f"{DUTCH.relative_to(ROOT)} does not list what the source holds; run `make messages`"
        )
    for complaint in complaints:
        print(complaint)
    print(f"{len(wanted)} messages, {len(complaints)} complaints")
    return 1 if complaints else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=["update", "compile", "check"])
    actions = {"update": update, "compile": compile_, "check": check}
    return actions[parser.parse_args().action]()


if __name__ == "__main__":
    sys.exit(main())
