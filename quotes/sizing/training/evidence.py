"""Published runs as evidence: which stand nearest to a planned one, and what they say about the formula's error.

The formula is fitted on all runs together; a run of the same model or GPU tells more than the average. The shift is
the similarity-weighted mean of the logarithmic errors of all published runs, drawn towards zero where little is near.
A measurement that a sales engineer enters is one more run in the table and counts the same way.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from catalog.quantity import Quantity
from quotes.sizing.trace import Evidence
from quotes.sizing.training.calibration import MeasuredRun
from quotes.sizing.training.calibration import Quantity as Kind

type Vector = NDArray[np.float64]

SHOWN = 3
NEAR = 2.5  # distance within which a run counts as similar
ADAPTERS = frozenset({"lora", "qlora"})

# How much each difference removes a run, in e-foldings of its weight. Chosen on runs left out of the fit; the result
# hardly depends on any single one.
STACK, MODEL, GPU, GENERATION, PRECISION, KIND, EXPERTS, SHARDING = 2.0, 1.2, 0.7, 1.0, 0.7, 1.0, 1.5, 0.5
OCTAVE_SEQUENCE, OCTAVE_GPUS, OCTAVE_SIZE, HALF_YEAR = 0.25, 0.15, 0.1, 0.3
# Memory is arithmetic: only a run that is nearly the same says something about it.
SHARPNESS: Mapping[Kind, float] = {"speed": 1.0, "memory": 4.0, "device": 4.0}
CAUTION = 0.4  # weight of 'no error' against the runs found
ERROR_MAX = 0.6  # a single run may claim no more, in logarithms


class Subject(NamedTuple):
    """What a published or planned run is about."""

    model: str
    params_b: float
    expert: bool
    gpu: str
    generation: str
    stack: str
    method: str
    precision: str
    sharding: str
    sequence_tokens: float
    gpus: float
    software_age_months: float = 0.0


class Table(NamedTuple):
    """Subjects as columns."""

    names: NDArray[
        np.int64
    ]  # model, gpu, generation, stack, precision, kind, expert, sharding: one row per subject
    numbers: Vector  # log2 sequence, log2 gpus, log2 params, months / 6


_NAME_WEIGHTS = np.array([MODEL, GPU, GENERATION, STACK, PRECISION, KIND, EXPERTS, SHARDING])
_NUMBER_WEIGHTS = np.array([OCTAVE_SEQUENCE, OCTAVE_GPUS, OCTAVE_SIZE, HALF_YEAR])


@lru_cache(maxsize=4096)
def _code(name: str) -> int:
    """A number that is equal where names are: comparing numbers is fast."""
    return crc32(name.encode())


def table_of(subjects: Sequence[Subject]) -> Table:
    names = [
        (
            s.model,
            s.gpu,
            s.generation,
            s.stack,
            s.precision,
            str(s.method in ADAPTERS),
            str(s.expert),
            s.sharding,
        )
        for s in subjects
    ]
    numbers = [(s.sequence_tokens, s.gpus, s.params_b) for s in subjects]
    logs = np.log2(np.maximum(np.array(numbers, float).reshape(len(subjects), 3), 1e-3))
    age = np.array([s.software_age_months / 6 for s in subjects], float).reshape(len(subjects), 1)
    codes = np.array([[_code(name) for name in row] for row in names], np.int64)
    return Table(codes.reshape(len(subjects), _NAME_WEIGHTS.size), np.hstack([logs, age]))


def distances(planned: Table, known: Table) -> Vector:
    """Distance of every known run (columns) from every planned one (rows)."""
    differs = (planned.names[:, None, :] != known.names[None, :, :]).astype(float)
    apart = np.abs(planned.numbers[:, None, :] - known.numbers[None, :, :])
    return differs @ _NAME_WEIGHTS + apart @ _NUMBER_WEIGHTS


def shifts(planned: Table, known: Table, errors: Vector, counts: Vector, quantity: Kind) -> Vector:
    """Logarithmic correction of each planned run from the errors (log of measured over formula) of known ones.

    `counts`: how many runs of one series stand behind each known run; a long series does not outvote a short one.
    """
    weights = np.exp(-SHARPNESS[quantity] * distances(planned, known)) * counts**-0.7
    clipped = np.clip(errors, -ERROR_MAX, ERROR_MAX)
    return (weights @ clipped) / (weights.sum(axis=1) + CAUTION)


# ── the evidence that ships ─────────────────────────────────────────────────────────────────────────────────────


def subject_of(run: MeasuredRun) -> Subject:
    return Subject(
        run.model, run.params_b, run.expert, run.gpu, run.generation, run.stack, run.method, run.precision,
        run.sharding, run.sequence_tokens, run.gpus, run.software_age_months,
    )  # fmt: skip


class Known(NamedTuple):
    runs: tuple[MeasuredRun, ...]
    table: Table
    errors: Vector
    counts: Vector


@lru_cache(maxsize=8)
def known_runs(evidence: tuple[MeasuredRun, ...], quantity: Kind) -> Known:
    """The evidence of one kind as arrays; cached, since the table is the same for every proposal."""
    runs = tuple(run for run in evidence if run.quantity == quantity)
    return Known(
        runs,
        table_of([subject_of(run) for run in runs]),
        np.log([run.ratio for run in runs]),
        np.array([run.series for run in runs], float),
    )


def shift_of(evidence: tuple[MeasuredRun, ...], quantity: Kind, subjects: Sequence[Subject]) -> Vector:
    """Factors by which published runs near each subject correct the formula."""
    known = known_runs(evidence, quantity)
    if not known.runs:
        return np.ones(len(subjects))
    return np.exp(shifts(table_of(subjects), known.table, known.errors, known.counts, quantity))


def nearest_runs(evidence: tuple[MeasuredRun, ...], quantity: Kind, subject: Subject) -> Mapping[str, Any]:
    """Keyword arguments of a Figure: the nearest published runs and how many are similar."""
    known = known_runs(evidence, quantity)
    if not known.runs:
        return {}
    far = distances(table_of([subject]), known.table)[0]
    # A planned run has no software family of its own: what all runs differ in does not make them less similar.
    far = far - STACK * (subject.stack not in {run.stack for run in known.runs})
    unit = "tokens/s" if quantity == "speed" else "GiB"
    shown = tuple(
        Evidence(
            description=_description(known.runs[index]),
            value=Quantity(value=known.runs[index].value, unit=unit),
            source=known.runs[index].source,
        )
        for index in np.argsort(far, kind="stable")[:SHOWN]
    )
    return {"evidence": shown, "evidence_count": int(known.counts[far <= NEAR].sum())}


def _description(run: MeasuredRun) -> str:
    return f"{run.model}, {run.method}, {run.gpus:g} × {run.gpu}, {run.precision}, {run.sequence_tokens:.0f} tokens"
