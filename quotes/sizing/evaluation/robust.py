"""Robust least squares on logarithms with priors: what the fits of serving speed have in common."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

type Vector = NDArray[np.float64]

OUTLIER = 0.15  # log units beyond which a residual counts linearly
STEP = 0.02  # finite difference, log units
LONGEST_MOVE = 0.7


def soft_cost(residuals: Vector, weights: Vector) -> float:
    """Soft-L1: squares near zero, absolute values far out."""
    return float((weights * 2 * OUTLIER**2 * (np.sqrt(1 + np.square(residuals / OUTLIER)) - 1)).sum())


def least_squares(
    residuals: Callable[[Vector], Vector],
    prior: Vector,
    spread: Vector,
    weights: Vector,
    *,
    start: Vector | None = None,
    prior_weight: float = 1e-5,
    iterations: int = 12,
) -> Vector:
    """Levenberg–Marquardt. `weights` of the squared residuals should sum to 1; `spread` = standard deviations of the
    prior, log units."""
    stiffness = prior_weight / np.square(spread)

    def cost(at: Vector) -> tuple[float, Vector]:
        residual = residuals(at)
        return soft_cost(residual, weights) + float((stiffness * np.square(at - prior)).sum()), residual

    point = (prior if start is None else start).copy()
    best, residual = cost(point)
    damping = 1e-3
    for _ in range(iterations):
        jacobian = np.empty((residual.size, point.size))
        for column in range(point.size):
            moved = point.copy()
            moved[column] += STEP
            jacobian[:, column] = (residuals(moved) - residual) / STEP
        inner = weights / np.sqrt(1 + np.square(residual / OUTLIER))
        curvature = jacobian.T @ (inner[:, None] * jacobian) + np.diag(stiffness)
        slope = jacobian.T @ (inner * residual) + stiffness * (point - prior)
        gain = 0.0
        for _ in range(6):
            move = np.linalg.solve(curvature + damping * np.diag(np.diag(curvature)), -slope)
            trial = point + np.clip(move, -LONGEST_MOVE, LONGEST_MOVE)
            value, trial_residual = cost(trial)
            if value < best:
                gain, best, point, residual = best - value, value, trial, trial_residual
                damping = max(damping / 5, 1e-6)
                break
            damping *= 5
        if gain <= 1e-6 * best:
            break
    return point
