"""Own the base, rent the peaks: how many replicas to buy when the load is not always at its peak.

A replica that is busy for more hours than its yearly cost divided by the hourly rent is cheaper to own (the critical
fractile); `best_split` finds the same number by trying all, which a test compares.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from configurator.workload import LoadProfile

# Share of the peak by hour of the day while busy; own planning shapes after office and web traffic: two humps with a
# dip at noon in the office, an evening top for the extended day. Outside the busy hours nothing need be rented.
_OFFICE_DAY = (0.6, 0.9, 1.0, 0.95, 0.6, 0.85, 1.0, 0.9, 0.6)  # 08–17
_LONG_DAY = (0.4, 0.6, 0.8, 0.9, 0.8, 0.8, 0.9, 0.9, 0.8, 0.9, 1.0, 0.7)  # 09–21


def busy_load(profile: LoadProfile) -> NDArray[np.float64]:
    """Load as a share of the peak in equal parts of the busy hours, 0–1, with 1 at the peak."""
    match profile:
        case LoadProfile.OFFICE_HOURS:
            return np.array(_OFFICE_DAY)
        case LoadProfile.EXTENDED:
            return np.array(_LONG_DAY)
        case LoadProfile.NIGHTS:
            return np.ones(1)
        case LoadProfile.ALWAYS:
            return 0.75 + 0.25 * np.sin(2 * np.pi * (np.arange(24) - 8) / 24)


class Split(NamedTuple):
    """`owned` of `replicas` bought; the rest rented for `rented_hours_per_month` replica hours a month."""

    owned: int
    replicas: int
    rented_hours_per_month: float
    monthly_eur: float


def rented_hours(
    profile: LoadProfile, replicas: int, owned: NDArray[np.int64], busy_hours: float
) -> NDArray[np.float64]:
    """Replica hours above `owned`, for each element of `owned`. A replica is rented whole, by the hour."""
    load = busy_load(profile)
    needed = np.ceil(load * replicas - 1e-9)
    return np.maximum(needed[None, :] - owned[:, None], 0).sum(axis=1) * busy_hours / len(load)


def best_split(
    profile: LoadProfile,
    replicas: int,
    own_eur_month: float,
    rent_eur_hour: float,
    busy_hours_per_month: float,
    rent_fixed_eur_month: float = 0,
) -> Split:
    """The cheapest number of replicas to own.

    `own_eur_month`: what one owned replica costs a month over the horizon, running cost included; `rent_eur_hour`: one
    rented replica for an hour; `rent_fixed_eur_month`: administration of rented machines, due when any is rented.
    Guarantee: never dearer than owning all, nor than renting all `replicas` through the busy hours.
    """
    owned = np.arange(replicas + 1)
    hours = rented_hours(profile, replicas, owned, busy_hours_per_month)
    cost = owned * own_eur_month + hours * rent_eur_hour + np.where(hours > 0, rent_fixed_eur_month, 0)
    best = int(np.argmin(cost))
    return Split(best, replicas, float(hours[best]), float(cost[best]))


def critical_fractile(
    profile: LoadProfile,
    replicas: int,
    own_eur_month: float,
    rent_eur_hour: float,
    busy_hours_per_month: float,
) -> int:
    """The same number from the load-duration curve: own the n-th replica while it is busy long enough to pay."""
    load = busy_load(profile)
    needed = np.ceil(load * replicas - 1e-9)
    busy = np.array([(needed >= n).sum() for n in range(1, replicas + 1)]) * busy_hours_per_month / len(load)
    return int((busy * rent_eur_hour > own_eur_month).sum())
