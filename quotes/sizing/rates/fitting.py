"""Fitting the ratios on measured rows: ridge regression on logarithms, robust against odd rows.

Equal to the posterior mean of independent effects with the spreads of `effects.SPREAD`. Leaving rows out needs no new
fit: their residuals follow from the inverse that the fit has made.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from quotes.sizing.rates.devices import Device
from quotes.sizing.rates.effects import NOISE, SPREAD, Level, Ratios, features, prior_mean, summed
from quotes.sizing.rates.situation import Situation

type Vector = NDArray[np.float64]

ROUNDS = 4  # of reweighting
TAIL = 3.0  # degrees of freedom of the error: small = heavy tails


class Sample(NamedTuple):
    """One measured row."""

    situation: Situation
    device: Device
    log_rate: float

    @property
    def group(self) -> Hashable:
        """Rows of one model on one device: what is kept apart together."""
        return self.situation.model, self.situation.named


class Fit(NamedTuple):
    """`inverse` and `pull` (inverse × target) answer every leave-out question."""

    samples: Sequence[Sample]
    ratios: Ratios
    inverse: Vector
    pull: Vector

    def left_out(self, key: Callable[[Sample], Hashable]) -> Vector:
        """Per row: measured − predicted (logarithms) by a fit without the rows that share its `key`."""
        together: dict[Hashable, list[int]] = defaultdict(list)
        for index, sample in enumerate(self.samples):
            together[key(sample)].append(index)
        residual = np.zeros(len(self.samples))
        for rows in together.values():
            residual[rows] = np.linalg.solve(self.inverse[np.ix_(rows, rows)], self.pull[rows])
        return residual

    def spread_left_out(self, key: Callable[[Sample], Hashable]) -> Vector:
        """Per row: the uncertainty that `effects.predict` would state had the rows of its `key` never been seen."""
        speaks: dict[tuple[str, str], dict[Hashable, set[Hashable]]] = defaultdict(lambda: defaultdict(set))
        found = [features(sample.situation, sample.device) for sample in self.samples]
        for sample, row in zip(self.samples, found, strict=True):
            for kind, name, _ in row:
                speaks[kind, name][key(sample)].add(sample.group)
        counted = {level: sum(map(len, keys.values())) for level, keys in speaks.items()}
        spreads = []
        for sample, row in zip(self.samples, found, strict=True):
            levels: dict[str, dict[str, Level]] = {kind: {} for kind in SPREAD}
            for kind, name, _ in row:
                own = len(speaks[kind, name][key(sample)])
                levels[kind][name] = Level(0, counted[kind, name] - own)
            spreads.append(np.hypot(summed(row, levels).spread, NOISE))
        return np.array(spreads)


def fit(samples: Sequence[Sample]) -> Fit:
    """Fit all ratios. Memory and time grow with the square and the cube of the number of rows."""
    found = [features(sample.situation, sample.device) for sample in samples]
    columns: dict[tuple[str, str], int] = {}
    for row in found:
        for kind, name, _ in row:
            columns.setdefault((kind, name), len(columns))
    design = np.zeros((len(samples), len(columns)), dtype=np.float32)
    for index, row in enumerate(found):
        for kind, name, value in row:
            design[index, columns[kind, name]] += value * SPREAD[kind]
    target = np.array([s.log_rate - prior_mean(s.situation, s.device) for s in samples])
    inverse, pull = _solve(design, target)
    weights = design.T.astype(np.float64) @ pull
    groups: dict[tuple[str, str], set[Hashable]] = defaultdict(set)
    for sample, row in zip(samples, found, strict=True):
        for kind, name, _ in row:
            groups[kind, name].add(sample.group)
    ratios: dict[str, dict[str, Level]] = {kind: {} for kind in SPREAD}
    for (kind, name), column in columns.items():
        weight = float(weights[column]) * SPREAD[kind]
        ratios[kind][name] = Level(weight, len(groups[kind, name]))
    return Fit(samples, ratios, inverse, pull)


def _solve(design: NDArray[np.float32], target: Vector) -> tuple[Vector, Vector]:
    covariance = (design @ design.T).astype(np.float64)
    diagonal = np.diag_indices(len(target))
    share = np.ones(len(target))  # of the usual noise variance, per row
    for final in [False] * (ROUNDS - 1) + [True]:
        noisy = covariance.copy()
        noisy[diagonal] += NOISE**2 * share
        inverse = np.linalg.inv(noisy)
        pull = inverse @ target
        if not final:
            error = NOISE * share * pull
            share = np.clip((TAIL + error**2) / (TAIL + 1), 0.6, 100)
    return inverse, pull
