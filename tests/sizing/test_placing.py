"""How many servers, and who sits where."""

import pytest

from quotes.sizing.hardware.placing import Shape, demands, holds, seat, sharing, smallest_shape
from tests.sizing.hardware import serving, training

H200 = "H200 SXM5 141GB"
STEPS = (1, 2, 4, 8, 10)


@pytest.mark.parametrize(
    ("gpus", "joined", "shape"),
    [
        (1, 1, Shape(1, 1)),
        (3, 1, Shape(1, 4)),
        (12, 4, Shape(2, 8)),
        (20, 4, Shape(3, 8)),  # two servers of ten hold four groups of four, not five
        (10, 2, Shape(1, 10)),
    ],
)
def test_the_fewest_servers_then_the_smallest(gpus: int, joined: int, shape: Shape) -> None:
    assert smallest_shape(gpus, demands((serving(H200, gpus, joined),), gpus), STEPS) == shape


def test_spare_accelerators_may_be_too_scattered_for_a_replica() -> None:
    """Two servers of ten hold four groups of four and leave four places, two in each."""
    shape = Shape(2, 10)
    assert holds((serving(H200, 16, 4),), 16, shape)
    assert not holds((serving(H200, 20, 4),), 20, shape)
    assert holds((serving(H200, 16, 4), serving(H200, 4, 2, name="small")), 20, shape)


def test_a_group_that_is_too_large_has_no_shape() -> None:
    assert smallest_shape(16, demands((serving(H200, 16, 16),), 16), STEPS) is None


def test_a_job_shares_the_services_accelerators_when_it_was_counted_so() -> None:
    loads = (serving(H200, 8, 8), training(H200, 8))
    assert sharing(loads, 8)
    assert not sharing(loads, 16)
    assert smallest_shape(8, demands(loads, 8), (8,)) == Shape(1, 8)
    assert smallest_shape(16, demands(loads, 16), (8,)) == Shape(2, 8)


def test_replicas_spread_over_servers() -> None:
    seats = seat((serving(H200, 8, 4, spare=1),), 8, Shape(2, 8))
    assert {place.node for place in seats} == {0, 1}


def test_jobs_follow_one_another_on_the_jobs_own_accelerators() -> None:
    loads = (serving(H200, 8, 8), training(H200, 8, name="large"), training(H200, 4, 4, name="small"))
    seats = {place.load: place for place in seat(loads, 16, Shape(2, 8))}
    assert seats["chat"].node != seats["large"].node
    assert seats["small"].node == seats["large"].node


def test_a_shared_job_is_marked() -> None:
    seats = seat((serving(H200, 8, 8), training(H200, 8)), 8, Shape(1, 8))
    assert [place.shared for place in seats] == [False, True]


def test_what_does_not_fit_is_an_error() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        seat((serving(H200, 8, 8),), 8, Shape(1, 4))
