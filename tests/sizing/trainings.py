"""Jobs, models and published rows that the tests of training share."""

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from catalog.specs import AcceleratorSpec, ModelArchitecture
from configurator.workload import LanguageTraining, ModelRef
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.results import Estimate, LoadOption, MemoryBreakdown, Refusal
from quotes.sizing.training import load_training_calibration, training_options
from tests.sizing.language import catalog, model

PUBLISHED = Path(__file__).parent / "published"
ASSUMPTIONS = Assumptions()
CALIBRATION = load_training_calibration()


def rows(name: str) -> list[dict[str, str]]:
    with (PUBLISHED / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def row_by_id(name: str) -> Mapping[str, Mapping[str, str]]:
    return {row["id"]: row for row in rows(name)}


def job(**changes: object) -> LanguageTraining:
    """Full fine-tuning on fifty million tokens, ready tomorrow."""
    usual: dict[str, object] = {
        "model": ModelRef(params_b=8), "method": "full", "tokens": 5e7, "sequence_tokens": 4096, "deadline_h": 24,
    }  # fmt: skip
    return LanguageTraining.model_validate({**usual, **changes})


def planned(
    asked: LanguageTraining,
    arch: ModelArchitecture | str,
    accelerators: Sequence[AcceleratorSpec] = (),
    *,
    in_node: int = 8,
    assumptions: Assumptions = ASSUMPTIONS,
) -> Mapping[str, tuple[LoadOption, ...] | Refusal]:
    """Options by SKU, on every accelerator of the seed catalog unless some are named."""
    chosen = accelerators or catalog().accelerators
    return training_options(
        asked, model(arch) if isinstance(arch, str) else arch, chosen,
        max_in_node={one.sku: in_node for one in chosen}, assumptions=assumptions, calibration=CALIBRATION,
    )  # fmt: skip


def fitting(answer: tuple[LoadOption, ...] | Refusal) -> tuple[LoadOption, ...]:
    assert not isinstance(answer, Refusal), answer.reason
    return answer


def refused(answer: tuple[LoadOption, ...] | Refusal) -> Refusal:
    assert isinstance(answer, Refusal)
    return answer


def run_of(option: LoadOption) -> Estimate:
    assert option.speed.run_hours is not None
    return option.speed.run_hours


def memory_of(option: LoadOption) -> MemoryBreakdown:
    assert option.memory is not None
    return option.memory
