"""How fast a model runs on a device: what was measured of that model, times measured ratios.

    ln rate = ln of the model's own measured level
            + shares × (ln tensor rate, ln bandwidth)          the resource that bounds its class
            + ratios of software, precision, batch, scenario … the situation
            + ratios of the chip and the device in its class   what catalog figures do not tell

Each ratio belongs to a level ("engine: mlperf tensorrt"); measured rows pull it away from one, and `SPREAD` says how
far such ratios usually lie from one, so that a level with few rows stays near it. Docs: docs/sizing/rates.md.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from quotes.sizing.rates.devices import Device
from quotes.sizing.rates.situation import Situation

REFERENCE_TENSOR_TFLOPS = 500.0
REFERENCE_BANDWIDTH_GB_S = 1500.0

SHARES = {"tensor": (0.8, 0.2), "mixed": (0.5, 0.6), "memory": (0.1, 1.0)}
"""How much of a gain in tensor rate and in bandwidth reaches the rate of a model, by what bounds its class."""

BOUND_BY = {
    "vit": "tensor",
    "bert": "tensor",
    "embedding": "tensor",
    "reranker": "tensor",
    "diffusion": "tensor",
    "mobile": "memory",
    "recommender": "memory",
    "graph": "memory",
    "analytics": "memory",
    "whisper": "memory",
    "rl_simulation": "memory",
}
"""The resource that bounds a family; the others are mixed."""

SIZE_SHARE = (
    0.9  # how much of a model's multiply-accumulates per item shows in its rate, before it was measured
)
REFERENCE_GMACS = (
    4.0  # of the usual convolutional network: below, starting kernels counts for more than their work
)

SPREAD: Mapping[str, float] = {
    # the model's own level
    "task": 3.0,
    "family": 1.5,
    "family task": 1.0,
    "model": 1.0,
    "series": 0.4,  # one design in several sizes
    "sized model": 0.3,  # of which the work per item is known
    "model task": 0.2,
    "item": 0.5,
    "size gain": 0.3,
    # the situation
    "engine": 1.0,
    "engine precision": 0.25,
    "engine family": 0.15,
    "engine model": 0.2,  # what its makers tuned it for
    "engine mode": 0.3,  # what starting kernels costs in it
    "round": 0.15,  # of MLPerf: software matures
    "precision": 0.2,
    "precision family": 0.15,
    "scenario": 0.6,
    "scenario family": 0.6,
    "scenario model": 0.5,
    "batch": 0.8,
    "batch family": 0.5,
    "batch item": 0.2,
    "flag": 0.25,
    "joined": 0.2,
    "joined family": 0.1,
    "joined device": 0.1,
    # the device
    "unmeasurable": 2.5,
    "class gain": 0.08,
    "chip scenario": 0.2,
    "chip class": 0.1,
    "device": 0.05,
    "device scenario": 0.1,
    "device family": 0.06,
}
"""Usual distance of each ratio from one, as a standard deviation of its logarithm."""

NOISE = 0.1
"""The same for two runs of the same situation on different days and machines."""

type Feature = tuple[str, str, float]
"""(kind, level, value): the logarithm of the level's ratio counts `value` times."""


def bound_by(family: str) -> str:
    return BOUND_BY.get(family, "mixed")


def prior_mean(s: Situation, device: Device) -> float:
    """What catalog figures and the model's size say before anything was measured."""
    resources = zip(SHARES[bound_by(s.family)], physics(s, device), strict=True)
    size = SIZE_SHARE * math.log(s.gmacs) if s.gmacs else 0.0
    return sum(share * figure for share, figure in resources) - size


def physics(s: Situation, device: Device) -> tuple[float, float]:
    """Logarithms of tensor rate and bandwidth against the reference; zero where no figure is known."""
    rate = device.tensor_rate(s.precision)
    if not device.known or not rate or not device.bandwidth_gb_s:
        return 0.0, 0.0
    tensor = math.log(rate / REFERENCE_TENSOR_TFLOPS)
    return tensor, math.log(device.bandwidth_gb_s / REFERENCE_BANDWIDTH_GB_S)


def features_of_situation(s: Situation) -> Iterator[Feature]:
    """What does not depend on the device."""
    task = f"{s.task} {s.unit}"
    item = f"{s.model}|{s.variant}"
    sized = "sized" if s.gmacs else "unsized"
    yield "task", f"{task}|{sized}", 1
    yield "family", f"{s.family}|{s.unit}|{sized}", 1
    yield "family task", f"{s.family}|{task}", 1
    yield "sized model" if s.gmacs else "model", f"{s.model}|{s.unit}", 1
    yield "model task", f"{s.model}|{s.task}", 1
    yield "item", item, 1
    if s.gmacs:
        yield "series", f"{s.series}|{s.unit}", 1
        size = math.log(s.gmacs / REFERENCE_GMACS)
        yield "size gain", f"{s.family}|{s.task}", size
        yield "size gain", _mode(s), size
        yield "size gain", f"{s.family}|{_mode(s)}", size
    yield "engine", s.engine, 1
    yield "engine precision", f"{s.engine}|{s.precision}", 1
    yield "engine family", f"{s.engine}|{s.family}", 1
    yield "engine model", f"{s.engine}|{s.model}|{s.task}", 1
    yield "engine mode", f"{s.engine}|{_mode(s)}", 1
    if s.version:
        yield "round", f"{s.version}|{s.family}", 1
    yield "precision", s.precision, 1
    yield "precision family", f"{s.precision}|{s.family}|{s.task}", 1
    if s.scenario:
        yield "scenario", s.scenario, 1
        yield "scenario family", f"{s.scenario}|{s.family}", 1
        yield "scenario model", f"{s.scenario}|{s.model}", 1
    for step, share in _batch_steps(s.batch):
        yield "batch", f"{step}|{s.task}", share
        yield "batch family", f"{step}|{s.family}|{s.task}", share
        yield "batch item", f"{step}|{item}|{s.task}", share
    for flag in s.flags:
        yield "flag", f"{flag}|{s.family}", 1
        yield "flag", f"{flag}|{s.model}", 1


def features_of_device(s: Situation, device: Device) -> Iterator[Feature]:
    """What depends on the device, or on it and the situation together."""
    if s.joined > 1:
        joined = math.log(s.joined)
        yield "joined", f"{s.task}|{s.engine}", joined
        yield "joined family", f"{s.family}|{s.task}", joined
        if s.task != "infer":
            yield "joined device", device.name, joined
    if not device.known:
        yield "unmeasurable", device.name, 1
    tensor, bandwidth = physics(s, device)
    mode = _mode(s)
    yield "class gain", f"tensor|{s.family}|{s.task}", tensor
    yield "class gain", f"tensor|{mode}", tensor
    yield "class gain", f"bandwidth|{mode}", bandwidth
    yield "class gain", f"bandwidth|{s.family}", bandwidth
    yield "chip scenario", f"{device.chip}|{s.scenario}", 1
    yield "chip class", f"{device.chip}|{s.family}|{s.task}|{s.precision}", 1
    yield "device", f"{device.name}|{mode}", 1
    yield "device scenario", f"{device.name}|{s.scenario}", 1
    yield "device family", f"{device.name}|{s.family}", 1


def features(s: Situation, device: Device) -> list[Feature]:
    return [*features_of_situation(s), *features_of_device(s, device)]


def _mode(s: Situation) -> str:
    return "one" if s.one_at_a_time else "many"


def _batch_steps(batch: float | None) -> Sequence[tuple[str, float]]:
    """The two nearest powers of eight and how near each is, so that neighbouring batches share what they learn."""
    if not batch:
        return (("unstated", 1.0),)
    position = min(max(math.log2(batch) / 3, 0.0), 8.0)
    lower = int(position)
    share = position - lower
    return tuple((f"{8**step}", part) for step, part in ((lower, 1 - share), (lower + 1, share)) if part > 0)


class Level(NamedTuple):
    """One fitted level: the logarithm of its ratio, and how many groups of rows (model on device) speak for it."""

    weight: float
    groups: float


type Ratios = Mapping[str, Mapping[str, Level]]
"""Fitted levels by kind and level. A level that is absent has ratio one."""

SCATTER = 0.3  # usual distance of one group of rows from what its levels say, for the uncertainty of a level


class LogRate(NamedTuple):
    """Natural logarithm of the rate of one accelerator, and the standard deviation of its error before calibration."""

    value: float
    spread: float

    def __add__(self, other: "LogRate") -> "LogRate":  # type: ignore[override]
        return LogRate(self.value + other.value, math.hypot(self.spread, other.spread))


def summed(found: Iterable[Feature], ratios: Ratios) -> LogRate:
    """The sum of the levels' weights, and how uncertain that sum is: levels with few groups count nearly in full."""
    total, variance = 0.0, 0.0
    for kind, name, value in found:
        prior = SPREAD[kind] ** 2
        level = ratios[kind].get(name)
        groups = 0.0
        if level is not None:
            total += level.weight * value
            groups = level.groups
        variance += value * value * prior / (1 + groups * prior / SCATTER**2)
    return LogRate(total, math.sqrt(variance))


def predict(s: Situation, device: Device, ratios: Ratios) -> LogRate:
    found = summed(features(s, device), ratios)
    return LogRate(prior_mean(s, device) + found.value, math.hypot(found.spread, NOISE))
