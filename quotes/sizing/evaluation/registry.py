"""Finding evaluators and calibrators by the names under which they are registered."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from quotes.sizing.evaluation import EVALUATORS
from quotes.sizing.evaluation.base import Context, Evaluator


def resolve(name: str) -> Callable[..., Any]:
    """The function behind `module:function`."""
    module, function = name.split(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found


def evaluator(file: str) -> Evaluator:
    """Who predicts the rows of reference file `file`. KeyError when nobody does."""
    return resolve(EVALUATORS[file])


type Tables = Mapping[str, list[dict[str, str]]]


class Calibrator(NamedTuple):
    """One that makes data files out of some reference files: `function` takes their rows, in order, and `more`."""

    files: tuple[str, ...]
    function: str
    more: Callable[[Context], tuple[object, ...]] = lambda context: ()

    def make(self, tables: Tables, context: Context) -> Mapping[str, str]:
        """File name → content, for `quotes/sizing/data`."""
        made: Mapping[str, str] = resolve(self.function)(
            *(tables[name] for name in self.files), *self.more(context)
        )
        return made


_HERE = "quotes.sizing.evaluation"

CALIBRATORS: Mapping[str, Calibrator] = {
    "serving": Calibrator(
        ("serving_measured", "serving_measured_disagg", "serving_throughput"),
        f"{_HERE}.serving_calibrate:calibrate",
        lambda context: (context,),
    ),
    "training": Calibrator(
        ("training_throughput", "training_memory"), f"{_HERE}.training_calibrate:calibrate"
    ),
    "rates": Calibrator(
        ("other_workloads",),
        f"{_HERE}.other_fit:calibrate",
        lambda context: (context.catalog.accelerators,),
    ),
}
