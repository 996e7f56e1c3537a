"""Every way to run a language service as rows of arrays: its memory, its kernel rates, its intervals."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from catalog.specs import AcceleratorSpec, ModelArchitecture
from configurator.workload import LanguageService
from quotes.sizing.architecture import FORMATS
from quotes.sizing.serving.batching import Scheduling
from quotes.sizing.serving.calibration import Calibration
from quotes.sizing.serving.evidence import NOTHING_MEASURED, Run, shift_of
from quotes.sizing.serving.forward import Machine, Overheads, Spread
from quotes.sizing.serving.intervals import Interval, intervals_of
from quotes.sizing.serving.kernels import Columns
from quotes.sizing.serving.layouts import Way, kv_bytes
from quotes.sizing.serving.machines import (
    Choice,
    machine_for,
    overheads_for,
    scheduling_for,
    shape_signature,
    silicon,
)
from quotes.sizing.serving.memory import (
    EngineMemory,
    MemoryBudget,
    Split,
    kv_capacity_sequences,
    kv_gib_of_sequence,
    largest_context_tokens,
    memory_budget,
    planned_batch,
)
from quotes.sizing.serving.model_shape import ModelShape, model_shape

type Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory of every way, one array element each."""

    budget: MemoryBudget
    needed_gib: Values  # one request of the longest length
    mean_gib: Values  # one request of the usual length at its end
    half_gib: Values  # one request halfway through its answer
    capacity: Values  # usual requests per replica: that the cache holds and the engine runs together
    seats: Values  # requests per replica that the engine runs together, whatever the cache holds
    largest_context: Values

    @property
    def fits(self) -> NDArray[np.bool_]:
        """Whether the longest request and at least one usual request find their place."""
        return (self.budget.kv_pool_gib >= self.needed_gib) & (self.capacity >= 1)

    def of_rows(self, index: NDArray[np.intp]) -> "Memory":
        budget = MemoryBudget(*(getattr(self.budget, name)[index] for name in MemoryBudget.__slots__))
        return Memory(budget, *(getattr(self, name)[index] for name in Memory.__slots__[1:]))


@dataclass(frozen=True, slots=True)
class Fleet:
    """Ways that fit, ready to be timed: stacked arrays of one length."""

    shape: ModelShape
    machine: Machine
    over: Overheads
    sched: Scheduling
    spread: Spread
    capacity: Values
    ttft_x: Values  # factors from measured runs of the same model and GPU; 1 without any
    tpot_x: Values
    ttft_high: Values  # interval factors
    tpot_high: Values
    choices: tuple[Choice, ...]
    intervals: tuple[tuple[Interval, Interval, Interval], ...]  # TTFT, TPOT, throughput

    def take(self, rows: NDArray[np.intp]) -> "Fleet":
        """Some of the ways, in the order of `rows`, as often as they occur there."""
        over = (getattr(self.over, field.name) for field in fields(Overheads))
        return Fleet(
            shape=self.shape.take(rows),
            machine=self.machine.take(rows),
            over=Overheads(*(np.broadcast_to(value, self.capacity.shape)[rows] for value in over)),
            sched=self.sched,
            spread=self.spread.take(rows),
            capacity=self.capacity[rows],
            ttft_x=self.ttft_x[rows],
            tpot_x=self.tpot_x[rows],
            ttft_high=self.ttft_high[rows],
            tpot_high=self.tpot_high[rows],
            choices=tuple(self.choices[row] for row in rows),
            intervals=tuple(self.intervals[row] for row in rows),
        )


def memory_of_ways(
    found: Sequence[Way],
    service: LanguageService,
    arch: ModelArchitecture,
    accelerators: Sequence[AcceleratorSpec],
    engine: EngineMemory,
    occupancy: float,
) -> Memory:
    """Memory of each way, in the order of `found`."""
    groups: dict[tuple[str, str], list[int]] = {}
    for number, way in enumerate(found):
        groups.setdefault((way.form.key, way.kv_format), []).append(number)
    columns = np.full((12, len(found)), np.nan)
    usual = service.prompt_tokens + service.output_tokens
    halfway = service.prompt_tokens + service.output_tokens / 2
    for numbers in groups.values():
        first = found[numbers[0]]
        split = Split(
            tp=np.array([float(found[n].tp) for n in numbers]),
            dp=np.array([float(found[n].dp) for n in numbers]),
            linked=np.array([bool(accelerators[found[n].accelerator].link_gb_s) for n in numbers]),
        )
        reported = np.array([float(accelerators[found[n].accelerator].memory_gib or 0) for n in numbers])
        budget = memory_budget(arch, first.form, split, reported, engine, service.longest_request_tokens)
        width = kv_bytes(first.kv_format)
        pool = budget.kv_pool_gib
        columns[:, numbers] = (
            budget.total_gib,
            budget.weights_gib,
            budget.activations_gib,
            budget.runtime_gib,
            budget.held_back_gib,
            pool,
            kv_gib_of_sequence(arch, service.longest_request_tokens, width, split, engine),
            kv_gib_of_sequence(arch, usual, width, split, engine),
            kv_gib_of_sequence(arch, halfway, width, split, engine),
            kv_capacity_sequences(arch, usual, width, split, pool * occupancy, engine),
            largest_context_tokens(arch, width, split, pool, engine),
            planned_batch(engine, reported)[1] * split.dp,
        )
    needed, mean, half, cached, context, seats = columns[6:]
    return Memory(MemoryBudget(*columns[:6]), needed, mean, half, np.minimum(cached, seats), seats, context)


def fleet_of(
    selected: Sequence[Way],
    capacity: Values,
    service: LanguageService,
    arch: ModelArchitecture,
    accelerators: Sequence[AcceleratorSpec],
    calibration: Calibration,
) -> Fleet:
    """Kernel rates and intervals of the ways that fit."""
    choices, intervals, shifts = [], [], []
    table, signature = calibration.evidence_table, shape_signature(arch)
    known = {
        number
        for number in {way.accelerator for way in selected}
        if table.rows_of(signature, silicon(accelerators[number].name, accelerators[number].form_factor))
    }
    for way in selected:
        accelerator = accelerators[way.accelerator]
        choice = machine_for(
            accelerator, arch, way.form, kv_bytes(way.kv_format), service.engine, way.gpus, calibration
        )
        shift = NOTHING_MEASURED
        if way.accelerator in known:
            shift = shift_of(run_of(way, service, arch, accelerator), calibration)
        choices.append(choice)
        shifts.append(shift)
        intervals.append(
            intervals_of(
                calibration,
                service.engine,
                choice,
                shift.rows > 0,
                arch.standard_structure,
                way.gpus,
                first_seen=shift.first_rows > 0,
            )
        )
    small = np.array([calibration.factors(choice.generation).small for choice in choices])
    return Fleet(
        shape=_stacked([way.form.key for way in selected], lambda key: model_shape(arch, FORMATS[key])),
        machine=_stacked([id(choice) for choice in choices], {id(c): c.machine for c in choices}.__getitem__),
        over=overheads_for(calibration.engine(service.engine), calibration.shared, small),
        sched=scheduling_for(calibration.engine(service.engine), calibration.shared),
        spread=Spread(*np.array([(way.tp, way.dp, way.ep) for way in selected], float).T),
        capacity=capacity,
        ttft_x=np.array([shift.ttft for shift in shifts]),
        tpot_x=np.array([shift.tpot for shift in shifts]),
        ttft_high=np.array([row[0].high for row in intervals]),
        tpot_high=np.array([row[1].high for row in intervals]),
        choices=tuple(choices),
        intervals=tuple(intervals),
    )


def _stacked[K: Hashable, T: Columns](keys: Sequence[K], make: Callable[[K], T]) -> T:
    """One row per key, made once per different key."""
    places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    rows = [make(key) for key in places]
    return type(rows[0]).stack(rows).take(np.array([places[key] for key in keys], np.intp))


def run_of(
    way: Way,
    service: LanguageService,
    arch: ModelArchitecture,
    accelerator: AcceleratorSpec,
    per_replica: float = 1.0,
) -> Run:
    """The way at a load, in the terms of measured runs."""
    return Run(
        shape=shape_signature(arch),
        gpu=silicon(accelerator.name, accelerator.form_factor),
        engine=service.engine,
        precision=way.form.key,
        tp=way.tp,
        dp=way.dp,
        prompt=service.prompt_tokens,
        output=service.output_tokens,
        concurrency=per_replica,
    )
