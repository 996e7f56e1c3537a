"""The measured table that ships with the product: ratios, devices outside the catalog, and the rows behind them."""

import csv
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from catalog.quantity import Quantity
from quotes.sizing.rates.devices import Device
from quotes.sizing.rates.effects import (
    NOISE,
    SPREAD,
    Level,
    LogRate,
    Ratios,
    bound_by,
    features_of_device,
    features_of_situation,
    prior_mean,
    summed,
)
from quotes.sizing.rates.situation import Situation
from quotes.sizing.results import Estimate
from quotes.sizing.trace import Badge, Evidence

DATA = Path(__file__).parent.parent / "data"
INTERVAL = "interval"  # the kind under which the file keeps the widths of intervals
SEEN, UNSEEN = (
    "seen",
    "unseen",
)  # devices of which runs bounded by the same resource were measured, and others
SPREAD_MAX = 1.1  # uncertainty of a logarithm beyond which a rate is no basis for a proposal
SPREAD_FAR = 0.65  # and beyond which it lies outside what was measured
FAR_POWER = 2.0  # how much faster than the uncertainty errors grow beyond that


class MeasuredRow(NamedTuple):
    """The median of published rows of one situation; `rate` of one accelerator, in the unit of `unit`."""

    model: str
    variant: str
    task: str
    unit: str
    device: str
    precision: str
    engine: str
    scenario: str
    rows: int
    rate: float
    source: str


class RateTable(NamedTuple):
    """Everything that turns a situation on a device into a rate with its evidence."""

    ratios: Ratios
    widths: Mapping[
        str, float
    ]  # scales of half widths: UNSEEN, SEEN, or software under which the device was measured
    rows: Mapping[str, Sequence[MeasuredRow]]  # by model
    classes: frozenset[tuple[str, str]]  # (device, resource that bounds) of which runs were measured
    software: frozenset[tuple[str, str]]  # (device, engine), the same

    def estimate(
        self, base: "Base", device: Device, log: LogRate, *, with_evidence: bool = False
    ) -> Estimate:
        """Rate of one accelerator with its 80 % interval; the rows behind it only when asked, for they take time.

        `log` is `base.on(device)`.
        """
        half = self.half_width(base.situation, device, log)
        near = self.nearest(base.situation, device) if with_evidence else []
        roof = arithmetic_roof(base.situation, device)
        return Estimate(
            value=min(math.exp(log.value), roof),
            low=min(math.exp(log.value - half), roof),
            high=min(math.exp(log.value + half), roof),
            badge=self.badge(base.situation, device, log),
            evidence=tuple(evidence(row) for row in near[:5]),
            evidence_count=sum(row.rows for row in near),
        )

    def promised(self, base: "Base", device: Device, *, with_evidence: bool = False) -> Estimate | None:
        """`estimate`, or None where no measurement is near enough. Without evidence worked out once per device: the
        parts of an accelerator have one rate."""
        if not with_evidence and device in base.known:
            return base.known[device]
        log = base.on(device, self.ratios)
        near = log.spread <= SPREAD_MAX
        rate = self.estimate(base, device, log, with_evidence=with_evidence) if near else None
        if not with_evidence:
            base.known[device] = rate
        return rate

    def half_width(self, situation: Situation, device: Device, log: LogRate) -> float:
        """Half of the 80 % interval of the logarithm. One table by one hand tells more of its other models on a device
        than submissions of many do of each other."""
        if not self.measured_in_class(situation, device):
            return self.widths[UNSEEN] * reach(log.spread)
        own = situation.engine if (device.name, situation.engine) in self.software else SEEN
        return self.widths.get(own, self.widths[SEEN]) * reach(log.spread)

    def measured_in_class(self, situation: Situation, device: Device) -> bool:
        """Whether this device ran anything that the same resource bounds."""
        return (device.name, bound_by(situation.family)) in self.classes

    def badge(self, situation: Situation, device: Device, log: LogRate) -> Badge:
        """Measured: this model and task on this device. Interpolated: both were measured, though not together."""
        rows = [row for row in self.rows.get(situation.model, ()) if row.task == situation.task]
        if any(row.device == device.name for row in rows):
            return Badge.MEASURED
        near = self.knows(situation) and self.measured_in_class(situation, device)
        return Badge.INTERPOLATED if near and log.spread <= SPREAD_FAR else Badge.EXTRAPOLATED

    def without_accelerator(self, models: Iterable[str]) -> MeasuredRow | None:
        """The fastest measured run of one of `models` on a server without accelerators."""
        rows = [row for model in models for row in self.rows.get(model, ()) if row.device.startswith("CPU")]
        return max(rows, key=lambda row: row.rate, default=None)

    def knows(self, situation: Situation) -> bool:
        """Whether anything was measured of this model in this unit."""
        kind = "sized model" if situation.gmacs else "model"
        return f"{situation.model}|{situation.unit}" in self.ratios[kind]

    def nearest(self, situation: Situation, device: Device) -> list[MeasuredRow]:
        """Rows of the same model, nearest first: same device, then same task, engine, precision and scenario."""
        return sorted(
            (row for row in self.rows.get(situation.model, ()) if row.unit == situation.unit),
            key=lambda row: (
                row.task != situation.task,
                row.device != device.name,
                row.variant != situation.variant,
                row.precision != situation.precision,
                row.engine != situation.engine,
                row.scenario != situation.scenario,
                -row.rows,
            ),
        )


def reach[T: (float, NDArray[np.float64])](spread: T) -> T:
    """What half widths are proportional to: the uncertainty, and more outside what was measured."""
    return spread * np.maximum(1.0, spread / SPREAD_FAR) ** FAR_POWER


def arithmetic_roof(situation: Situation, device: Device) -> float:
    """Items a second that the device's tensor units allow; infinite where the work per item is not known.

    Data sheets of consumer cards state the 16-bit rate with either width of the sum, so the higher one counts.
    """
    rate = device.tensor_rate(situation.precision)
    if not situation.gmacs or not rate:
        return math.inf
    if situation.precision == "fp16":
        rate = max(rate, (device.int8_tops or 0) / 2)
    return rate * 1e12 / (2 * situation.gmacs * 1e9)


@dataclass(frozen=True, slots=True)
class Base:
    """What is the same for every device, summed once; and the rates of those that were looked at."""

    situation: Situation
    summed: LogRate
    known: dict[Device, Estimate | None] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, situation: Situation, ratios: Ratios) -> "Base":
        return cls(situation, summed(features_of_situation(situation), ratios))

    def on(self, device: Device, ratios: Ratios) -> LogRate:
        own = summed(features_of_device(self.situation, device), ratios)
        value = prior_mean(self.situation, device) + self.summed.value + own.value
        return LogRate(value, math.hypot(self.summed.spread, own.spread, NOISE))


UNITS = {"infer": "items/s", "train": "samples/s", "time": "accelerator-minutes"}


def evidence(row: MeasuredRow) -> Evidence:
    how = ", ".join(filter(None, (row.variant, row.precision, row.engine, row.scenario)))
    return Evidence(
        description=f"{row.model} · {row.device} · {how}",
        value=Quantity(value=row.rate, unit=UNITS[row.task], digits=3),
        source=row.source,
    )


# ── files ───────────────────────────────────────────────────────────────────────────────────────────────────────


@cache
def load_rates() -> RateTable:
    """The files beside this package, read once. Raises ValueError on a damaged file."""
    ratios: dict[str, dict[str, Level]] = {kind: {} for kind in SPREAD}
    widths: dict[str, float] = {}
    for row in _read("rates_ratios.csv"):
        if row["kind"] == INTERVAL:
            widths[row["level"]] = float(row["ln_ratio"])
            continue
        ratios[row["kind"]][row["level"]] = Level(float(row["ln_ratio"]), float(row["groups"]))
    rows: dict[str, list[MeasuredRow]] = defaultdict(list)
    sources = {row["key"]: row["source"] for row in _read("rates_sources.csv")}
    for row in _read("rates.csv"):
        rows[row["model"]].append(
            MeasuredRow(
                row["model"], row["variant"], row["task"], row["unit"], row["device"], row["precision"],
                row["engine"], row["scenario"], int(row["rows"]), float(row["rate"]), sources[row["source"]],
            )
        )  # fmt: skip
    classes = {tuple(level.split("|")) for level in ratios["device family"]}
    ran = frozenset((device, bound_by(family)) for device, family in classes)
    software = frozenset((row.device, row.engine) for found in rows.values() for row in found)
    return RateTable(ratios, widths, dict(rows), ran, software)


@cache
def fitted_rows() -> frozenset[str]:
    """Names of the published rows that the shipped ratios were fitted on."""
    found = set()
    for row in _read("rates_fitted.csv"):
        prefix, digits = row["prefix"], int(row["digits"])
        found |= {f"{prefix}{n:0{digits}d}" for n in range(int(row["first"]), int(row["last"]) + 1)}
    return frozenset(found)


@cache
def load_devices() -> Mapping[str, Device]:
    """Devices that measured rows name and the catalog does not sell."""

    def figure(row: Mapping[str, str], column: str) -> float | None:
        return float(row[column]) if row[column] else None

    return {
        row["name"]: Device(
            row["name"],
            row["architecture"],
            figure(row, "bf16_tflops"),
            figure(row, "int8_tops"),
            figure(row, "fp8_tflops"),
            figure(row, "fp32_tflops"),
            figure(row, "memory_bandwidth_gb_s"),
        )
        for row in _read("rates_devices.csv")
    }


def _read(name: str) -> Iterable[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)
