"""Own the base, rent the peaks: how many replicas to buy when the load is not always at its peak.

A replica that is busy for more hours than its yearly cost divided by the hourly rent is cheaper to own (the critical
fractile); `best_split` finds the same number by trying all, which a test compares.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from configurator.workload import LoadProfile

HOURS_PER_WEEK = 168

# Share of the peak by hour of the day while busy; own planning shapes after office and web traffic: two humps with a
# dip at noon in the office, an evening top for the extended day. Outside the busy hours a little is left.
_OFFICE_DAY = (0.6, 0.9, 1.0, 0.95, 0.6, 0.85, 1.0, 0.9, 0.6)  # 08–17
_LONG_DAY = (0.4, 0.6, 0.8, 0.9, 0.8, 0.8, 0.9, 0.9, 0.8, 0.9, 1.0, 0.7)  # 09–21
_IDLE = 0.03


def weekly_load(profile: LoadProfile) -> NDArray[np.float64]:
    """Load of each hour of a week (168 values, Monday first) as a share of the peak, 0–1, with 1 at the peak."""
    week = np.full((7, 24), _IDLE)
    match profile:
        case LoadProfile.OFFICE_HOURS:
            week[:5, 8:17] = _OFFICE_DAY
        case LoadProfile.EXTENDED:
            week[:, 9:21] = _LONG_DAY
        case LoadProfile.NIGHTS:
            week[:, 0:6] = 1.0
            week[:, 20:24] = 1.0
        case LoadProfile.ALWAYS:
            week[:, :] = 0.75 + 0.25 * np.sin(2 * np.pi * (np.arange(24) - 8) / 24)
    return week.reshape(HOURS_PER_WEEK)


class Split(NamedTuple):
    """`owned` of `replicas` bought; the rest rented for `rented_hours_per_month` replica hours a month."""

    owned: int
    replicas: int
    rented_hours_per_month: float
    monthly_eur: float


def rented_hours(load: NDArray[np.float64], replicas: int, owned: NDArray[np.int64]) -> NDArray[np.float64]:
    """Replica hours a week above `owned`, for each element of `owned`. A replica is rented whole, by the hour."""
    needed = np.ceil(load * replicas - 1e-9)
    return np.maximum(needed[None, :] - owned[:, None], 0).sum(axis=1)


def best_split(
    profile: LoadProfile,
    replicas: int,
    own_eur_month: float,
    rent_eur_hour: float,
    hours_per_month: float,
    rent_fixed_eur_month: float = 0,
) -> Split:
    """The cheapest number of replicas to own.

    `own_eur_month`: what one owned replica costs a month over the horizon, running cost included; `rent_eur_hour`: one
    rented replica for an hour; `rent_fixed_eur_month`: administration of rented machines, due when any is rented.
    """
    owned = np.arange(replicas + 1)
    hours = rented_hours(weekly_load(profile), replicas, owned) * hours_per_month / HOURS_PER_WEEK
    cost = owned * own_eur_month + hours * rent_eur_hour + np.where(hours > 0, rent_fixed_eur_month, 0)
    best = int(np.argmin(cost))
    return Split(best, replicas, float(hours[best]), float(cost[best]))


def critical_fractile(
    profile: LoadProfile, replicas: int, own_eur_month: float, rent_eur_hour: float, hours_per_month: float
) -> int:
    """The same number from the load-duration curve: own the n-th replica while it is busy long enough to pay."""
    needed = np.ceil(weekly_load(profile) * replicas - 1e-9)
    busy = np.array([(needed >= n).sum() for n in range(1, replicas + 1)]) * hours_per_month / HOURS_PER_WEEK
    return int((busy * rent_eur_hour > own_eur_month).sum())
