"""Which published runs stand nearest to a planned one."""

from collections.abc import Mapping
from math import log2
from typing import Any, NamedTuple

from catalog.quantity import Quantity
from quotes.sizing.trace import Evidence
from quotes.sizing.training_calibration import MeasuredRun, TrainingCalibration
from quotes.sizing.training_calibration import Quantity as Kind

SHOWN = 3
NEAR = 2.0  # distance within which a run counts as similar
ADAPTERS = frozenset({"lora", "qlora"})


class Subject(NamedTuple):
    """What a published or planned run is about."""

    generation: str
    gpu: str
    model: str
    params_b: float
    method: str
    precision: str
    sequence_tokens: float


def distance(run: MeasuredRun, plan: Subject) -> float:
    """How far a published run is from a planned one: 0 the same, 1 about one thing that matters changed."""
    same_kind = (run.method in ADAPTERS) == (plan.method in ADAPTERS)
    return (
        (0 if run.gpu == plan.gpu else 0.4 if run.generation == plan.generation else 1.5)
        + (0 if run.method == plan.method else 0.5 if same_kind else 1.5)
        + (0 if run.precision == plan.precision else 0.7)
        + (0 if run.model == plan.model else 0.3 + 0.25 * _octaves(run.params_b, plan.params_b))
        + 0.15 * _octaves(run.sequence_tokens, plan.sequence_tokens)
    )


def _octaves(one: float, other: float) -> float:
    return abs(log2(max(one, 1e-9) / max(other, 1e-9)))


def nearest_runs(calibration: TrainingCalibration, plan: Subject, quantity: Kind) -> Mapping[str, Any]:
    """Keyword arguments of a Figure: the nearest published runs and how many are similar."""
    ranked = sorted(
        (distance(run, plan), index)
        for index, run in enumerate(calibration.evidence)
        if run.quantity == quantity
    )
    unit = "tokens/s" if quantity == "speed" else "GiB"
    shown = tuple(
        Evidence(
            description=_description(calibration.evidence[index]),
            value=Quantity(value=calibration.evidence[index].value, unit=unit),
            source=calibration.evidence[index].source,
        )
        for _, index in ranked[:SHOWN]
    )
    return {"evidence": shown, "evidence_count": sum(far <= NEAR for far, _ in ranked)}


def _description(run: MeasuredRun) -> str:
    return f"{run.model}, {run.method}, {run.gpus} × {run.gpu}, {run.precision}, {run.sequence_tokens:,.0f} tokens"
