"""Own the base, rent the peaks: how many replicas to buy when the load is not always at its peak.

A replica that is busy for more hours than its yearly cost divided by the hourly rent is cheaper to own (the critical
fractile); `best_split` finds the same number by trying all, which a test compares.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from catalog.quantity import Message, Quantity, noop
from configurator.workload import LoadProfile, Service
from quotes.sizing.results import UseCurve

type Load = NDArray[np.float64]
"""Load as a share of the peak in equal parts of the busy hours, above 0 to 1, with 1 at the peak."""

# Share of the peak by hour of the day while busy; own planning shapes after office and web traffic: two humps with a
# dip at noon in the office, an evening top for the extended day. Outside the busy hours nothing need be rented.
_OFFICE_DAY = (0.6, 0.9, 1.0, 0.95, 0.6, 0.85, 1.0, 0.9, 0.6)  # 08–17
_LONG_DAY = (0.4, 0.6, 0.8, 0.9, 0.8, 0.8, 0.9, 0.9, 0.8, 0.9, 1.0, 0.7)  # 09–21
_SEASONS = (1.0, 1.0, 0.7, 0.7, *(0.4,) * 8)  # by month; own planning shape
POINTS = 120  # of a drawn curve


def busy_load(service: Service) -> Load:
    """How the load of a service lies below its peak."""
    match service.profile:
        case LoadProfile.OFFICE_HOURS:
            return np.array(_OFFICE_DAY)
        case LoadProfile.EXTENDED:
            return np.array(_LONG_DAY)
        case LoadProfile.NIGHTS:
            return np.ones(1)
        case LoadProfile.ALWAYS:
            return 0.75 + 0.25 * np.sin(2 * np.pi * (np.arange(24) - 8) / 24)
        case LoadProfile.SEASONAL:
            return np.outer(_SEASONS, _OFFICE_DAY).ravel()
        case LoadProfile.COUNTED:
            share = np.array(service.hourly_counts) / max(service.hourly_counts)
            return share[share > 0]


def counted_share(service: Service) -> float:
    """Share of the counted hours that are not idle."""
    return len(busy_load(service)) / len(service.hourly_counts)


class Split(NamedTuple):
    """`owned` of `replicas` bought; the rest rented for `rented_hours_per_month` replica hours a month.

    The columns hold every choice, from owning none to owning all: what is owned and what is rented, euro a month.
    """

    owned: int
    replicas: int
    rented_hours_per_month: float
    monthly_eur: float
    own_eur: tuple[float, ...] = ()
    rent_eur: tuple[float, ...] = ()


def _needed(load: Load, replicas: int) -> NDArray[np.int64]:
    """Replicas that are needed in each part of the busy hours. A replica is rented whole, by the hour."""
    return np.ceil(load * replicas - 1e-9).astype(np.int64)


def rented_hours(
    load: Load, replicas: int, owned: NDArray[np.int64], busy_hours: float
) -> NDArray[np.float64]:
    """Replica hours above `owned`, for each element of `owned`."""
    busy = hours_busy(load, replicas, busy_hours)
    above = np.concatenate([np.cumsum(busy[::-1])[::-1], [0.0]])  # element n: hours of replicas n + 1 and up
    return above[np.minimum(owned, replicas)]


def hours_busy(load: Load, replicas: int, busy_hours: float) -> NDArray[np.float64]:
    """The load-duration curve in replicas: hours that the first, the second … of them is busy; falling."""
    parts = np.bincount(_needed(load, replicas), minlength=replicas + 1)
    return np.cumsum(parts[::-1])[::-1][1:] * busy_hours / len(load)


def best_split(
    load: Load,
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
    hours = rented_hours(load, replicas, owned, busy_hours_per_month)
    own = owned * own_eur_month
    rent = hours * rent_eur_hour + np.where(hours > 0, rent_fixed_eur_month, 0)
    best = int(np.argmin(own + rent))
    return Split(
        best,
        replicas,
        float(hours[best]),
        float(own[best] + rent[best]),
        tuple(map(float, own)),
        tuple(map(float, rent)),
    )


def use_curve(service: Service, busy_fraction: float) -> UseCurve:
    """The load-duration curve of a service, busiest hours first; `busy_fraction` of all hours are not idle."""
    load = np.sort(busy_load(service))[::-1]
    at = np.arange(POINTS) / POINTS
    place = np.minimum((at / max(busy_fraction, 1e-9) * len(load)).astype(np.int64), len(load) - 1)
    shares = np.where(at < busy_fraction, load[place], 0.0)
    mean = float(load.mean()) * busy_fraction
    return UseCurve(
        shares=tuple(map(float, shares)),
        mean_fraction=mean,
        busy_fraction=busy_fraction,
        counted_hours=len(service.hourly_counts),
        words=(
            Message.of(
                noop("On average {mean} of the peak is used; {busy} of all hours are not idle."),
                mean=Quantity(value=mean * 100, unit="%", digits=2),
                busy=Quantity(value=busy_fraction * 100, unit="%", digits=2),
            ),
        ),
    )
