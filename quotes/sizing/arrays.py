"""The type of an argument that is one number or an array of them, so that a formula is written once for both."""

from typing import Any

from numpy.typing import NDArray

type Numbers = float | NDArray[Any]
"""A scalar or an array of integers, floats or booleans. Arrays in one call have one length, or broadcast."""
