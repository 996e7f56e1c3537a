"""What was measured: the calibrated parameters and the table of measured rates that ship with the product."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from catalog.specs import CatalogSnapshot
from quotes.sizing.rates import RateTable, load_rates
from quotes.sizing.serving.calibration import Calibration, load_calibration
from quotes.sizing.serving.measurements import OwnMeasurement, with_own
from quotes.sizing.training import TrainingCalibration, load_training_calibration


class Knowledge(NamedTuple):
    serving: Calibration
    training: TrainingCalibration
    rates: RateTable


@cache
def shipped() -> Knowledge:
    """The versioned files beside this package, read once."""
    return Knowledge(load_calibration(), load_training_calibration(), load_rates())


def with_measurements(
    knowledge: Knowledge, measurements: Sequence[OwnMeasurement], catalog: CatalogSnapshot
) -> Knowledge:
    """`knowledge` with what the seller measured, as far as `catalog` knows its models and accelerators."""
    return knowledge._replace(serving=with_own(knowledge.serving, measurements, catalog))
