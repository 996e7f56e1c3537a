"""Split-conformal intervals from residuals of rows that a fit has not seen."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

type Vector = NDArray[np.float64]

COVERED = 0.8
# Quantiles of residuals are taken a little wider than that, so that groups left out of the quantiles too are covered
# at 80 %: new groups differ more than rows of known ones. Found by leaving each pair of model and GPU out.
TAKEN = 0.84


def group_weights(groups: Sequence[str], power: float = 0.5) -> Vector:
    """Weights of rows by the size of their group: `power` 0 counts every row, 1 every group the same."""
    counts = Counter(groups)
    return np.array([counts[group] ** -power for group in groups])


def weighted_quantile(values: Vector, weights: Vector, quantile: float) -> float:
    """The value below which a share `quantile` of the weight lies."""
    order = np.argsort(values)
    reached = (np.cumsum(weights[order]) - weights[order] / 2) / weights.sum()
    return float(np.interp(quantile, reached, values[order]))


def interval(log_ratios: Vector, groups: Sequence[str], taken: float = TAKEN) -> tuple[float, float]:
    """Factors on a prediction between which a share `taken` of measured ÷ predicted lies, as much below as above.

    The interval holds the prediction itself. `log_ratios` = natural logarithms of measured ÷ predicted.
    """
    weights = group_weights(groups)
    low = weighted_quantile(log_ratios, weights, (1 - taken) / 2)
    high = weighted_quantile(log_ratios, weights, (1 + taken) / 2)
    return float(np.exp(min(low, -0.01))), float(np.exp(max(high, 0.01)))
