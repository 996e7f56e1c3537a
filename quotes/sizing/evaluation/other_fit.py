"""Making the files of measured rates from a table of published rows."""

import csv
import io
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from statistics import median

import numpy as np
from numpy.typing import NDArray

from catalog.specs import AcceleratorSpec
from quotes.sizing.evaluation.base import Row
from quotes.sizing.rates.devices import Device, device_of
from quotes.sizing.rates.fitting import Fit, Sample, fit
from quotes.sizing.rates.offered import MODELS
from quotes.sizing.rates.situation import Situation, log_rate, read_situation
from quotes.sizing.rates.table import INTERVAL, SEEN, SPREAD_MAX, UNSEEN, load_devices, reach

COVERED = 0.8
GROUPS_PER_SOFTWARE = 30  # models on devices, before software gets a width of its own


def device_for(situation: Situation, catalog: Mapping[str, Device]) -> Device:
    """The figures of the device a row names; a device without figures when nobody knows them."""
    for name in (situation.named, situation.device):
        if found := load_devices().get(name) or catalog.get(name):
            return found
    return Device(situation.device, "CPU" if situation.device.startswith("CPU") else "unknown")


def catalog_devices(accelerators: Iterable[AcceleratorSpec]) -> Mapping[str, Device]:
    return {accelerator.name: device_of(accelerator) for accelerator in accelerators}


def sample_of(row: Row, catalog: Mapping[str, Device]) -> Sample:
    """Raises ValueError when the row states no accelerator or no positive value."""
    situation = read_situation(row)
    return Sample(situation, device_for(situation, catalog), log_rate(row, situation))


def untuned(situation: Situation) -> bool:
    """Whether the row is of reference code, or of a submission with rules of its own: its rate tells of that code."""
    return "unoptimised" in situation.flags


def calibrate(rows: Sequence[Row], accelerators: Sequence[AcceleratorSpec]) -> Mapping[str, str]:
    """File name → content, for `quotes/sizing/data`. Deterministic; takes a minute on five thousand rows.

    Raises ValueError on a row that cannot be read.
    """
    catalog = catalog_devices(accelerators)
    fitted = fit([sample_of(row, catalog) for row in rows])
    offered = {s.model for model in MODELS for s in (model.run, model.train) if s}
    offered |= {name for model in MODELS for name in model.without}
    aggregates, sources = _aggregated(rows, offered)
    return {
        "rates_ratios.csv": _ratios_csv(fitted),
        "rates.csv": _csv(AGGREGATE_COLUMNS, aggregates),
        "rates_fitted.csv": _csv(("prefix", "digits", "first", "last"), _spans(row["id"] for row in rows)),
        "rates_sources.csv": _csv(("key", "source"), [(key, source) for source, key in sources.items()]),
    }


def _spans(names: Iterable[str]) -> list[tuple[object, ...]]:
    """Row names such as OW00017 as unbroken ranges."""
    found: list[list[object]] = []
    for prefix, digits in sorted((re.match(r"(\D*)(\d+)$", name) or _bad(name)).groups() for name in names):
        last = found[-1] if found else None
        if last and last[:2] == [prefix, len(digits)] and last[3] == int(digits) - 1:
            last[3] = int(digits)
        else:
            found.append([prefix, len(digits), int(digits), int(digits)])
    return [tuple(span) for span in found]


def _bad(name: str) -> re.Match[str]:
    raise ValueError(f"a row name without a number: {name}")


def widths(fitted: Fit) -> Mapping[str, float]:
    """Scales of half widths so that 80 % of rows left out lie inside: with the whole device left out, and with the
    model on the device, there by software where enough was measured."""
    tells = np.array([sample.device.known and not untuned(sample.situation) for sample in fitted.samples])
    engines = np.array([sample.situation.engine for sample in fitted.samples])
    far = _relative(fitted, lambda s: s.device.name)
    near = _relative(fitted, lambda s: s.group)
    counted = {
        (sample.situation.engine, sample.group)
        for sample, tell, error in zip(fitted.samples, tells, near, strict=True)
        if tell and np.isfinite(error)
    }
    groups = Counter(engine for engine, _ in counted)
    own = sorted(engine for engine, count in groups.items() if count >= GROUPS_PER_SOFTWARE)
    parts = {UNSEEN: (far, True), SEEN: (near, ~np.isin(engines, own))}
    parts |= {engine: (near, engines == engine) for engine in own}
    return {
        name: float(np.nanquantile(np.where(tells & mask, errors, np.nan), COVERED))
        for name, (errors, mask) in parts.items()
    }


def _relative(fitted: Fit, key: Callable[[Sample], Hashable]) -> NDArray[np.float64]:
    """Errors of rows left out against what their uncertainty says; NaN where no rate would be promised."""
    spread = fitted.spread_left_out(key)
    return np.where(spread < SPREAD_MAX, np.abs(fitted.left_out(key)) / reach(spread), np.nan)


def _ratios_csv(fitted: Fit) -> str:
    lines: list[tuple[object, ...]] = [
        (INTERVAL, name, f"{width:.3f}", "") for name, width in widths(fitted).items()
    ]
    for kind, levels in fitted.ratios.items():
        for name, level in sorted(levels.items()):
            lines.append((kind, name, f"{level.weight:.3f}", int(level.groups)))
    return _csv(("kind", "level", "ln_ratio", "groups"), lines)


AGGREGATE_COLUMNS = (
    "model", "variant", "task", "unit", "device", "precision", "engine", "scenario", "rows", "rate", "source",
)  # fmt: skip


def _aggregated(rows: Sequence[Row], offered: set[str]) -> tuple[list[tuple[object, ...]], Mapping[str, str]]:
    """Medians per situation of the offered models, and the published tables they come from."""
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        s = read_situation(row)
        if s.model in offered and not s.flags & {"power_limited", "unoptimised"}:
            groups[s.model, s.variant, s.task, s.unit, s.device, s.precision, s.engine, s.scenario].append(
                row
            )
    sources: dict[str, str] = {}
    found: list[tuple[object, ...]] = []
    for key, members in sorted(groups.items()):
        each = [_each(row) for row in members]
        newest = max(members, key=lambda row: row["date"])
        source = sources.setdefault(_source(newest), f"S{len(sources) + 1}")
        found.append((*key, len(members), f"{median(each):.5g}", source))
    return found, sources


def _each(row: Row) -> float:
    """The rate of one accelerator; for a whole training run its accelerator-minutes."""
    situation = read_situation(row)
    log = log_rate(row, situation)
    return math.exp(-log if situation.task == "time" else log)


def _source(row: Row) -> str:
    """Table and date; the place inside it only where the table is one file."""
    locator = re.sub(
        r"\s*\(index ids?[^)]*\)|\(newest stored version[^)]*\)|\bline \d+\b", "", row["source_locator"]
    )
    if row["source_title"].startswith("MLPerf"):
        locator = " ".join(locator.split()[:1])
    return ", ".join(filter(None, (row["source_title"], row["date"], " ".join(locator.split()))))


def _csv(header: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(lines)
    return text.getvalue()
