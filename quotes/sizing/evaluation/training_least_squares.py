"""Robust damped least squares on logarithms, with weak priors."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

type Vector = NDArray[np.float64]
type Matrix = NDArray[np.float64]

PRIOR_WEIGHT = 0.01
STEP = 1e-4  # of finite differences
OUTLIER = 0.15  # log units beyond which a residual counts linearly


class Prior(NamedTuple):
    name: str
    value: float
    spread: float  # standard deviation of the logarithm


def derivatives(residuals: Callable[[Vector], Vector], point: Vector) -> Matrix:
    """By finite differences: a row per residual, a column per parameter."""
    now = residuals(point)
    columns = np.empty((now.size, point.size))
    for index in range(point.size):
        moved = point.copy()
        moved[index] += STEP
        columns[:, index] = (residuals(moved) - now) / STEP
    return columns


def least_squares(
    residuals: Callable[[Vector], Vector], start: Vector, prior: Vector, spread: Vector, weights: Vector,
    *, iterations: int = 60, jacobian: Matrix | None = None,
) -> Vector:  # fmt: skip
    """Minimise Huber-weighted squares plus the prior, by Levenberg–Marquardt.

    With a `jacobian` (derivatives near the answer) it is used throughout: fits that differ from another in a few rows
    need no other.
    """

    def cost(point: Vector) -> float:
        size = np.abs(residuals(point))
        loss = np.where(size < OUTLIER, size**2 / 2, OUTLIER * (size - OUTLIER / 2))
        return float((weights * loss).sum() + PRIOR_WEIGHT / 2 * (((point - prior) / spread) ** 2).sum())

    point, best, damping = start.copy(), cost(start), 1e-2
    for _ in range(iterations):
        now = residuals(point)
        slopes = derivatives(residuals, point) if jacobian is None else jacobian
        huber = weights * np.minimum(1.0, OUTLIER / np.maximum(np.abs(now), 1e-12))
        curvature = slopes.T @ (huber[:, None] * slopes) + np.diag(PRIOR_WEIGHT / spread**2)
        slope = slopes.T @ (huber * now) + PRIOR_WEIGHT * (point - prior) / spread**2
        gain = 0.0
        for _ in range(8):
            trial = point - np.linalg.solve(curvature + damping * np.diag(np.diag(curvature)), slope)
            value = cost(trial)
            if value < best:
                gain, point, best, damping = best - value, trial, value, max(damping / 3, 1e-6)
                break
            damping *= 4
        if gain <= 1e-6 * best:
            break
    return point
