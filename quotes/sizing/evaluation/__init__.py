"""Checking every prediction against published measurements.

`EVALUATORS` maps the name of a reference file (without `.csv`) to the function that predicts its rows, named as
`module:function`, so that a module is loaded only when its file is there to be evaluated.
"""

from collections.abc import Mapping

from quotes.sizing.evaluation.base import Context, Evaluator, PredictedRow, Row

_HERE = "quotes.sizing.evaluation"

EVALUATORS: Mapping[str, str] = {
    "serving_measured": f"{_HERE}.serving_measured:predict_rows",
    "serving_measured_disagg": f"{_HERE}.serving_disagg:predict_rows",
    "serving_throughput": f"{_HERE}.serving_tables:predict_rows",
    "serving_memory": f"{_HERE}.serving_memory:predict_rows",
    "training_throughput": f"{_HERE}.training:predict_throughput_rows",
    "training_memory": f"{_HERE}.training:predict_memory_rows",
    "other_workloads": f"{_HERE}.other:predict_rows",
    "storage_reference": f"{_HERE}.storage_rows:predict_rows",
    "cases": f"{_HERE}.cases:predict_rows",
}

__all__ = ["EVALUATORS", "Context", "Evaluator", "PredictedRow", "Row"]
