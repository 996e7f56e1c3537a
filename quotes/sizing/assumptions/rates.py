"""Assumptions about workloads sized from measured rates."""

from catalog.quantity import Frozen


class RateAssumptions(Frozen):
    pass
