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


def mean_wait_seconds(
    requests_s: Numbers, service_s: Numbers, variation: Numbers, servers: Numbers = 1
) -> Values:
    """Mean wait in front of `servers` that share one queue; infinite once they cannot keep up. `variation` = c,
    standard deviation of the service time over its mean.

    One server: Pollaczek–Khinchine, ρ·S·(1 + c²) / (2·(1 − ρ)). Several: Sakasegawa (1977), of which that is the case
    of one.
    """
    rho, late = _late_share(requests_s, service_s, servers)
    kept = late * service_s * (1 + np.square(variation)) / 2 / servers / np.maximum(1 - rho, 1e-9)
    return np.asarray(np.where(rho < 1, kept, np.inf), float)


def wait_quantile_seconds(
    requests_s: Numbers,
    service_s: Numbers,
    variation: Numbers,
    quantile: float = 0.95,
    servers: Numbers = 1,
) -> Values:
    """The wait that a share `quantile` of requests stays under: an exponential tail with the mean of
    `mean_wait_seconds`, which only those feel that find all servers busy; 0 when they are fewer than 1 − `quantile`."""
    rho, late = _late_share(requests_s, service_s, servers)
    mean = mean_wait_seconds(requests_s, service_s, variation, servers)
    with np.errstate(divide="ignore", invalid="ignore"):
        tail = mean / late * np.log(np.maximum(late, 1e-12) / (1 - quantile))
    return np.asarray(
        np.where(rho >= 1, np.inf, np.where(late > 1 - quantile, np.maximum(tail, 0), 0.0)), float
    )


def _late_share(requests_s: Numbers, service_s: Numbers, servers: Numbers) -> tuple[Values, Values]:
    """ρ of each server, and the share of requests that find all of them busy."""
    rho = utilisation(requests_s, service_s) / servers
    return rho, np.asarray(rho ** (np.sqrt(2 * (np.asarray(servers, float) + 1)) - 1), float)


def required_replicas(peak: Numbers, per_replica: Numbers) -> Values:
    """Whole replicas for `peak` requests in flight when each holds its targets up to `per_replica`; infinite if
    none does."""
    per_replica = np.asarray(per_replica, float)
    with np.errstate(divide="ignore"):
        needed = np.ceil(np.asarray(peak, float) / per_replica - 1e-9)
    return np.asarray(np.where(per_replica > 0, np.maximum(1.0, needed), np.inf), float)
