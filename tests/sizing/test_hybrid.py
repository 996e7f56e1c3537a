"""Own the base, rent the peaks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from configurator.workload import LoadProfile
from quotes.sizing.money.hybrid import best_split, busy_load, critical_fractile, rented_hours

profiles = st.sampled_from(list(LoadProfile))
prices = st.floats(0.01, 50)
monthly = st.floats(1, 20_000)


@pytest.mark.parametrize("profile", list(LoadProfile))
def test_a_profile_has_a_peak_of_one_and_no_idle_hours(profile: LoadProfile) -> None:
    load = busy_load(profile)
    assert load.max() == pytest.approx(1)
    assert load.min() > 0


def test_two_replicas_through_an_office_day_by_hand() -> None:
    """Every hour asks for both, the quietest as well: 0.6 × 2 > 1."""
    assert rented_hours(LoadProfile.OFFICE_HOURS, 2, np.array([0, 1, 2]), 90) == pytest.approx([180, 90, 0])


@given(profile=profiles, replicas=st.integers(1, 40), own=monthly, rent=prices)
def test_trying_all_agrees_with_the_critical_fractile(
    profile: LoadProfile, replicas: int, own: float, rent: float
) -> None:
    split = best_split(profile, replicas, own, rent, 730)
    fractile = critical_fractile(profile, replicas, own, rent, 730)
    hours = rented_hours(profile, replicas, np.array([fractile]), 730)[0]
    assert split.monthly_eur == pytest.approx(fractile * own + hours * rent)


@given(profile=profiles, replicas=st.integers(1, 40), own=monthly, rent=prices, fixed=st.floats(0, 2000))
def test_a_split_is_never_dearer_than_owning_or_renting_all(
    profile: LoadProfile, replicas: int, own: float, rent: float, fixed: float
) -> None:
    split = best_split(profile, replicas, own, rent, 730, fixed)
    all_rented = replicas * 730 * rent + fixed
    assert split.monthly_eur <= min(replicas * own, all_rented) + 1e-6


@given(profile=profiles, replicas=st.integers(1, 40), own=monthly, rent=prices)
def test_dearer_rent_never_means_owning_less(
    profile: LoadProfile, replicas: int, own: float, rent: float
) -> None:
    cheap = best_split(profile, replicas, own, rent, 730)
    dear = best_split(profile, replicas, own, rent * 2, 730)
    assert dear.owned >= cheap.owned
