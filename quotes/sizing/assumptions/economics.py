"""Assumptions about economics."""

from catalog.quantity import Frozen


class EconomicAssumptions(Frozen):
    pass
