"""Measurements from a table in the shape of published serving runs, checked by the form that people fill in."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from catalog.importers.tabular import read_table, to_day, to_decimal
from catalog.models import AiModel
from catalog.snapshot import snapshot
from catalog.specs import CatalogSnapshot
from quotes.admin.measurement_form import MeasurementForm
from quotes.models import Measurement
from quotes.sizing.evaluation.names import OutOfScope, find_accelerator, find_model

MOST_ROWS = 500
NUMBERS = {
    "tp": "tp", "dp": "dp", "input_tokens": "input_tokens", "output_tokens": "output_tokens",
    "concurrency": "concurrency", "ttft_ms": "ttft_ms", "tpot_ms": "tpot_ms",
    "output_tokens_s_per_gpu": "tokens_s_per_gpu",
}  # fmt: skip
WORDS = {
    "engine": "engine", "engine_version": "engine_version", "weights_precision": "precision",
    "kv_precision": "kv_precision", "source": "source", "notes": "notes",
}  # fmt: skip
WITHOUT_GUESSES = ("", "none", "no", "off", "0")


class ReadLine(NamedTuple):
    """One row of the file: the entries of the form, and the sentences that say why it cannot be used."""

    line: int
    entries: Mapping[str, Any]
    mistakes: tuple[str, ...]
    form: MeasurementForm | None = None


def read_measurements(content: bytes, name: str) -> list[ReadLine]:
    """Every row of the file, usable or not; nothing is stored. Raises UnreadableTable."""
    catalog = snapshot()
    return list(_distinct(_read(line, cells, catalog) for line, cells in read_table(content, name)))


def _distinct(lines: Iterator[ReadLine]) -> Iterator[ReadLine]:
    seen: dict[tuple[Any, ...], int] = {}
    for number, read in enumerate(lines):
        key = tuple(sorted(read.entries.items()))
        first = seen.setdefault(key, read.line)
        if number >= MOST_ROWS:
            yield ReadLine(
                read.line, {}, (_("The file has more than %(count)d rows.") % {"count": MOST_ROWS},)
            )
            return
        if first != read.line and read.form:
            yield ReadLine(read.line, {}, (_("The same as line %(line)d.") % {"line": first},))
        else:
            yield read


def _read(line: int, cells: Mapping[str, Any], catalog: CatalogSnapshot) -> ReadLine:
    try:
        entries = _entries(cells, catalog)
    except ValueError as error:
        return ReadLine(line, {}, (str(error),))
    form = MeasurementForm(entries)
    if form.is_valid():
        return ReadLine(line, entries, (), form)
    return ReadLine(line, entries, tuple(_sentences(form)))


def _sentences(form: MeasurementForm) -> Iterator[str]:
    for field, mistakes in form.errors.items():
        label = form.fields[field].label if field in form.fields else ""
        yield from (f"{label}: {mistake}" if label else str(mistake) for mistake in mistakes)


def _entries(cells: Mapping[str, Any], catalog: CatalogSnapshot) -> dict[str, Any]:
    """What somebody would enter in the form. Raises ValueError with a sentence."""
    if str(cells.get("spec_decode", "")).lower() not in WITHOUT_GUESSES:
        raise ValueError(_("Runs that guess tokens ahead cannot be compared."))
    if str(cells.get("pp", "1")) not in ("1", "1.0"):
        raise ValueError(_("Pipeline parallelism cannot be compared."))
    flags = str(cells.get("flags", "")).split()
    if "saturated" in flags or "mtp_inferred" in flags:
        raise ValueError(_("The flags say that this run cannot be compared."))
    entries: dict[str, Any] = {"tp": 1, "dp": 1, "kv_precision": "auto", "burst": True, "active": True}
    entries |= {ours: _number(cells[theirs]) for theirs, ours in NUMBERS.items() if theirs in cells}
    entries |= {ours: str(cells[theirs]) for theirs, ours in WORDS.items() if theirs in cells}
    entries |= {
        ours: entries[ours].lower() for ours in ("engine", "precision", "kv_precision") if ours in entries
    }
    if "ttft_queueing" in flags:  # a wait in a queue, not the time to a first token
        entries.pop("ttft_ms", None)
    if "measured_on" in cells:
        entries["measured_on"] = to_day(cells["measured_on"]).isoformat()
    return entries | _named(cells, catalog)


def _number(cell: Any) -> float:
    """Files of programs write 1.851 for less than two; only what that does not explain is read as people write."""
    try:
        return float(cell)
    except ValueError:
        return float(to_decimal(cell))


def _named(cells: Mapping[str, Any], catalog: CatalogSnapshot) -> dict[str, Any]:
    """The accelerator and the model that the row names, as the form knows them."""
    for title in ("model", "gpu"):
        if title not in cells:
            raise ValueError(_("The column '%(name)s' is missing or empty.") % {"name": title})
    gpu, model = str(cells["gpu"]), str(cells["model"])
    known = {one.sku for one in catalog.accelerators}
    try:
        sku = gpu if gpu in known else find_accelerator(gpu, catalog).sku
    except OutOfScope:
        sku = ""
    try:
        key = find_model(model, catalog).key
    except OutOfScope:
        key = ""
    row = AiModel.objects.filter(key=key).first()
    if sku not in known:
        raise ValueError(_("There is no accelerator '%(text)s'.") % {"text": gpu})
    if row is None:
        raise ValueError(_("There is no model '%(text)s'.") % {"text": model})
    return {"accelerator": sku, "model": row.pk}


@transaction.atomic
def store_measurements(rows: Sequence[Mapping[str, Any]], user: User) -> list[Measurement]:
    """All of `rows`, entries as `read_measurements` gave them, or none. Raises ValidationError."""
    stored = []
    for entries in rows:
        form = MeasurementForm(entries)
        if not form.is_valid():
            raise form.errors.as_data()[next(iter(form.errors))][0]
        form.instance.entered_by = user
        form.instance._change_reason = "file"
        stored.append(form.save())
    return stored
