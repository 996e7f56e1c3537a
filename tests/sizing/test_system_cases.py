"""Worked cases of published systems, answered by the product's own rules."""

import json
from datetime import date
from typing import Any, NamedTuple

import pytest

from catalog.seed import seed_snapshot
from catalog.specs import CatalogSnapshot
from quotes.sizing.evaluation.system_cases import predict_case


class Lookup(NamedTuple):
    catalog: CatalogSnapshot


CONTEXT: Any = Lookup(seed_snapshot(date(2026, 11, 30)))
EXACT = [
    ("12", "compute switches", {"nodes": 31, "nics_per_node": 8, "switch_ports": 64, "ufm": True}),
    ("320", "compute switches", {"nodes": 512, "nics_per_node": 8, "switch_ports": 64}),
    ("18", "spine switches", {"nodes": 288, "nics_per_node": 8, "switch_ports": 144}),
    ("24", "compute switches", {"nodes": 64, "gpus": 512, "planes": 2}),
    ("4", "spine switches", {"nodes": 32, "nics_per_node": 8, "switch_ports": 64}),
    ("15", "lower switches", {"nodes": 240, "gpus_per_node": 4, "nics": "4 x NDR200"}),
    ("14.3", "kW per node maximum", {"system": "DGX B200"}),
    ("10.2", "kW per node maximum", {"system": "DGX H200"}),
    ("40", "switches", {"nodes": 95, "nics_per_node": 8, "switch_ports": 64, "ufm": True}),
    ("256", "leaf-spine cables", {"nodes": 31, "nics_per_node": 8, "switch_ports": 64, "ufm": True}),
    ("20", "compute switches", {"nodes": 96, "nics_per_node": 8, "subscription": "3:1"}),
    ("42", "servers per stripe", {"gpus_per_node": 8, "leaf_ports": 64, "subscription": "2 : 1"}),
]


NEAR = [  # with the tolerance of the published case
    ("38", "racks", {"system": "DGX H100 SuperPOD", "nodes": 127, "nics_per_node": 8}, 2),
    ("132", "kW usable", {"power_shelves": "8 x 33 kW"}, 0),
    ("2", "HA pairs", {"compute": "8 x DGX H100"}, 0),
    ("12", "HA pairs", {"compute": "48 x DGX H100"}, 0),
    ("124", "W idle", {"gpu": "H100 SXM 80GB"}, 0.2 * 124),
]


@pytest.mark.parametrize(("expected", "unit", "inputs", "within"), NEAR)
def test_racks_watts_and_controllers_come_out_within_the_published_tolerance(
    expected: str, unit: str, inputs: dict[str, Any], within: float
) -> None:
    row = {"id": "K2-00", "unit": unit, "numeric_expected": expected, "inputs": json.dumps(inputs)}
    answer = predict_case(row, inputs, CONTEXT)
    assert answer is not None
    assert not answer.refused
    assert isinstance(answer.predicted, float | int)
    assert abs(answer.predicted - float(expected)) <= within


@pytest.mark.parametrize(("expected", "unit", "inputs"), EXACT)
def test_published_systems_come_out_exactly(expected: str, unit: str, inputs: dict[str, Any]) -> None:
    row = {"id": "K2-00", "unit": unit, "numeric_expected": expected, "inputs": json.dumps(inputs)}
    answer = predict_case(row, inputs, CONTEXT)
    assert answer is not None
    assert answer.predicted == float(expected)


def test_what_no_rule_answers_is_refused_with_a_reason() -> None:
    row = {"id": "K2-00", "unit": "switch watts", "numeric_expected": "2"}
    answer = predict_case(row, {}, CONTEXT)
    assert answer is not None
    assert answer.predicted is None
    assert answer.refused


def test_other_cases_are_left_to_others() -> None:
    assert predict_case({"id": "K1-00", "unit": "KV tokens", "numeric_expected": "1"}, {}, CONTEXT) is None
