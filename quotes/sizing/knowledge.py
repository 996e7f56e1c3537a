"""What was measured: the calibrated parameters and the table of measured rates that ship with the product."""

from functools import cache
from typing import NamedTuple

from quotes.sizing.rates import RateTable, load_rates
from quotes.sizing.serving.calibration import Calibration, load_calibration
from quotes.sizing.training import TrainingCalibration, load_training_calibration


class Knowledge(NamedTuple):
    serving: Calibration
    training: TrainingCalibration
    rates: RateTable


@cache
def shipped() -> Knowledge:
    """The versioned files beside this package, read once."""
    return Knowledge(load_calibration(), load_training_calibration(), load_rates())
