"""Waiting before the first token when requests arrive at random.

Separate from speed: a prompt waits for the prompts that came before it. One replica computes prompts one after the
other (M/G/1); near saturation the wait explodes while each step is as fast as ever.
"""

import numpy as np
from numpy.typing import NDArray

from quotes.sizing.arrays import Numbers

type Values = NDArray[np.float64]


def utilisation(requests_s: Numbers, service_s: Numbers) -> Values:
    """ρ: the share of time that the prompt stage is busy."""
    return np.asarray(np.asarray(requests_s, float) * service_s, float)


def mean_wait_seconds(requests_s: Numbers, service_s: Numbers, variation: Numbers) -> Values:
    """Pollaczek–Khinchine: ρ·S·(1 + c²) / (2·(1 − ρ)); infinite from ρ = 1. `variation` = c, standard deviation of
    the service time over its mean."""
    rho = utilisation(requests_s, service_s)
    wait = rho * service_s * (1 + np.square(variation)) / 2 / np.maximum(1 - rho, 1e-9)
    return np.asarray(np.where(rho < 1, wait, np.inf), float)


def wait_quantile_seconds(
    requests_s: Numbers, service_s: Numbers, variation: Numbers, quantile: float = 0.95
) -> Values:
    """The wait that a share `quantile` of requests stays under: an exponential tail of weight ρ with the mean of
    Pollaczek–Khinchine; 0 when fewer than 1 − `quantile` wait at all."""
    rho = utilisation(requests_s, service_s)
    mean = mean_wait_seconds(requests_s, service_s, variation)
    with np.errstate(divide="ignore", invalid="ignore"):
        tail = mean / rho * np.log(np.maximum(rho, 1e-12) / (1 - quantile))
    return np.asarray(
        np.where(rho >= 1, np.inf, np.where(rho > 1 - quantile, np.maximum(tail, 0), 0.0)), float
    )


def required_replicas(peak: Numbers, per_replica: Numbers) -> Values:
    """Whole replicas for `peak` requests in flight when each holds its targets up to `per_replica`; infinite if
    none does."""
    per_replica = np.asarray(per_replica, float)
    with np.errstate(divide="ignore"):
        needed = np.ceil(np.asarray(peak, float) / per_replica - 1e-9)
    return np.asarray(np.where(per_replica > 0, np.maximum(1.0, needed), np.inf), float)
