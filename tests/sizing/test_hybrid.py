"""Own the base, rent the peaks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from configurator.workload import LoadProfile
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.money.hybrid import (
    Load,
    best_split,
    busy_load,
    hours_busy,
    rented_hours,
    use_curve,
)
from quotes.sizing.money.renting import busy_hours_per_month

from .money import CHAT, PROFILES

A = Assumptions()


def using(profile: LoadProfile, *counts: float):
    return CHAT.model_copy(update={"profile": profile, "hourly_counts": counts})


def counted(*counts: float):
    return using(LoadProfile.COUNTED, *counts)


profiles = st.sampled_from(PROFILES).map(lambda profile: busy_load(using(profile)))
counts = st.lists(st.integers(0, 5000), min_size=24, max_size=24).filter(any)
loads = profiles | counts.map(lambda counts: busy_load(counted(*counts)))
prices = st.floats(0.01, 50)
monthly = st.floats(1, 20_000)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_has_a_peak_of_one_and_no_idle_hours(profile: LoadProfile) -> None:
    load = busy_load(using(profile))
    assert load.max() == pytest.approx(1)
    assert load.min() > 0


def test_counts_are_shares_of_their_peak_without_the_idle_hours() -> None:
    service = counted(*([0] * 20), 10, 20, 40, 20)
    assert busy_load(service) == pytest.approx([0.25, 0.5, 1, 0.5])
    assert busy_hours_per_month(service, A) == pytest.approx(730 * 4 / 24)


def test_two_replicas_through_an_office_day_by_hand() -> None:
    """Every hour asks for both, the quietest as well: 0.6 × 2 > 1."""
    load = busy_load(using(LoadProfile.OFFICE_HOURS))
    assert rented_hours(load, 2, np.array([0, 1, 2]), 90) == pytest.approx([180, 90, 0])


def test_a_counted_day_by_hand() -> None:
    """Four replicas at the peak: busy 4, 3, 2, 2 of four hours; with two owned one and two hours are rented."""
    load = busy_load(counted(*([0] * 20), 100, 75, 50, 26))
    assert hours_busy(load, 4, 4) == pytest.approx([4, 4, 2, 1])
    assert rented_hours(load, 4, np.array([0, 2, 4]), 4) == pytest.approx([11, 3, 0])


@given(load=loads, replicas=st.integers(1, 40))
def test_rented_hours_are_the_sum_over_the_hours(load: Load, replicas: int) -> None:
    """Brute force: hour by hour, what is needed above what is owned."""
    needed = np.ceil(load * replicas - 1e-9)
    for owned in range(replicas + 1):
        each = np.maximum(needed - owned, 0).sum() * 730 / len(load)
        assert rented_hours(load, replicas, np.array([owned]), 730)[0] == pytest.approx(each)


@given(load=loads, replicas=st.integers(1, 40), own=monthly, rent=prices)
def test_trying_all_agrees_with_the_critical_fractile(
    load: Load, replicas: int, own: float, rent: float
) -> None:
    """From the load-duration curve: own the n-th replica while it is busy long enough to pay."""
    split = best_split(load, replicas, own, rent, 730)
    fractile = int((hours_busy(load, replicas, 730) * rent > own).sum())
    hours = rented_hours(load, replicas, np.array([fractile]), 730)[0]
    assert split.monthly_eur == pytest.approx(fractile * own + hours * rent)
    assert split.monthly_eur == pytest.approx(
        min(own + rent for own, rent in zip(split.own_eur, split.rent_eur, strict=True))
    )


@given(load=loads, replicas=st.integers(1, 40), own=monthly, rent=prices, fixed=st.floats(0, 2000))
def test_a_split_is_never_dearer_than_owning_or_renting_all(
    load: Load, replicas: int, own: float, rent: float, fixed: float
) -> None:
    split = best_split(load, replicas, own, rent, 730, fixed)
    all_rented = replicas * 730 * rent + fixed
    assert split.monthly_eur <= min(replicas * own, all_rented) + 1e-6


@given(load=loads, replicas=st.integers(1, 40), own=monthly, rent=prices)
def test_dearer_rent_never_means_owning_less(load: Load, replicas: int, own: float, rent: float) -> None:
    cheap = best_split(load, replicas, own, rent, 730)
    dear = best_split(load, replicas, own, rent * 2, 730)
    assert dear.owned >= cheap.owned


# ── the curve that is drawn ─────────────────────────────────────────────────────────────────────────────────────


@given(counts=counts)
def test_the_curve_falls_from_the_peak_and_keeps_its_mean(counts: list[int]) -> None:
    service = counted(*counts)
    curve = use_curve(service, busy_hours_per_month(service, A) / 730)
    assert curve.shares[0] == pytest.approx(1)
    assert list(curve.shares) == sorted(curve.shares, reverse=True)
    assert curve.mean_fraction == pytest.approx(sum(counts) / 24 / max(counts))
    assert sum(curve.shares) / len(curve.shares) == pytest.approx(curve.mean_fraction, abs=0.03)
