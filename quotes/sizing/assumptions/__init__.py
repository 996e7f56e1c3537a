"""Everything that is neither physics nor catalog: one typed object, one file per subject.

Each assumption has a name, unit, default, range, source and year. Sales engineers may override values in the admin; a
proposal prints the ones it used. Formulas take `Assumptions` as an argument and contain no number of their own.
"""

from quotes.sizing.assumptions.base import described
from quotes.sizing.assumptions.choosing import ChoosingAssumptions
from quotes.sizing.assumptions.economics import EconomicAssumptions
from quotes.sizing.assumptions.existing import ExistingAssumptions
from quotes.sizing.assumptions.hardware import HardwareAssumptions
from quotes.sizing.assumptions.rates import RateAssumptions
from quotes.sizing.assumptions.serving import ServingAssumptions
from quotes.sizing.assumptions.sharing import SharingAssumptions
from quotes.sizing.assumptions.training import TrainingAssumptions


class Assumptions(
    ServingAssumptions,
    TrainingAssumptions,
    RateAssumptions,
    HardwareAssumptions,
    EconomicAssumptions,
    ChoosingAssumptions,
    ExistingAssumptions,
    SharingAssumptions,
):
    """All assumptions, flat: every key is unique over the subjects."""


__all__ = ["Assumptions", "described"]
