"""Assumptions about training."""

from catalog.quantity import Frozen


class TrainingAssumptions(Frozen):
    pass
