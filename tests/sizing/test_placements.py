"""Where the work is done: what may leave the house, what is cheapest, and what the customer prefers."""

from functools import cache
from itertools import product

import pytest

from catalog.specs import CatalogSnapshot
from configurator.workload import Workload
from quotes.sizing.engine import size
from quotes.sizing.knowledge import shipped
from quotes.sizing.placements import leading
from quotes.sizing.results import SizedSystem
from tests.scenarios import load_workload
from tests.sizing.hardware import ASSUMPTIONS, DAY, changed, seed

SKUS = {"rtx-6000-ada", "l40s", "h100-nvl-94gb", "h200-nvl-141gb", "h200-sxm5-141gb", "b200-sxm-180gb"}
BOTH = ("factory", "law-firm")  # a service and a job


@cache
def few() -> CatalogSnapshot:
    return changed(accelerators=tuple(one for one in seed().accelerators if one.sku in SKUS))


def workload(name: str, preference: str = "hybrid", *secret: str, allowed: bool = True) -> Workload:
    """A scenario in which only the named kinds of parts are confidential, and the preference was answered."""
    wanted = load_workload(name)

    def parts(kind: str) -> tuple[object, ...]:
        return tuple(
            part.model_copy(update={"confidential": kind in secret}) for part in getattr(wanted, kind)
        )

    placement = wanted.placement.model_copy(update={"preference": preference, "cloud_allowed": allowed})
    return wanted.model_copy(
        update={
            "services": parts("services"),
            "jobs": parts("jobs"),
            "placement": placement,
            "assumed": frozenset(),
        }
    )


@cache
def sized(wanted: Workload) -> SizedSystem:
    found = size(wanted, few(), ASSUMPTIONS, shipped(), on=DAY, in_full=True).recommended
    assert found
    return found


def keys(system: SizedSystem) -> set[str]:
    return {way.key for way in system.placements}


@pytest.mark.parametrize("name", ["municipality", *BOTH, "university"])
def test_the_best_mix_is_never_dearer_than_owning_or_renting_all(name: str) -> None:
    system = sized(workload(name))
    totals = {way.key: way.total_eur for way in system.placements}
    assert {"own", "cloud"} <= set(totals)
    assert system.placements[0].total_eur == min(totals.values())
    assert totals["own"] == system.economics.total_eur
    assert totals["cloud"] == system.economics.cloud_total_eur


def test_no_mix_of_owning_and_renting_is_cheaper_than_the_first_way() -> None:
    for name in ("municipality", "software-house"):
        system = sized(workload(name))
        months = 12 * system.economics.horizon_years
        cheapest = min(choice.total_eur for choice in system.economics.hybrid_choices) * months
        assert float(system.placements[0].total_eur) <= cheapest + 0.01


@pytest.mark.parametrize("name", BOTH)
def test_training_and_serving_may_be_in_different_places(name: str) -> None:
    system = sized(workload(name))
    assert {"jobs_out", "services_out"} <= keys(system)
    for way in system.placements:
        if way.key in {"jobs_out", "services_out"}:
            assert 0 < way.purchase_eur <= system.economics.purchase_eur
            assert way.rent_eur > 0


@pytest.mark.parametrize(
    ("secret", "left"),
    [
        (("services", "jobs"), {"own"}),
        (("services",), {"own", "jobs_out"}),
        (("jobs",), {"own", "services_out"}),
    ],
)
def test_what_is_confidential_never_leaves(secret: tuple[str, ...], left: set[str]) -> None:
    assert keys(sized(workload("factory", "hybrid", *secret))) == left


def test_without_leave_nothing_leaves() -> None:
    assert keys(sized(workload("factory", "cloud", allowed=False))) == {"own"}


@pytest.mark.parametrize(
    ("name", "preference"), [*product(("municipality", "factory"), ("own", "cloud", "hybrid", "cheapest"))]
)
def test_a_proposal_leads_with_what_the_customer_prefers(name: str, preference: str) -> None:
    system = sized(workload(name, preference))
    rented = next(way.key for way in system.placements if way.key in {"cloud", "as_needed"})
    wished = {"own": "own", "cloud": rented}.get(preference, system.placements[0].key)
    assert system.leads_with == wished
    assert (system.leading_way is None) is (wished == "own")
    assert "own" in keys(system), "the own system stays on the page"
    if system.leading_way:
        assert str(system.leading_way.sentence)


def test_a_wish_that_cannot_be_leads_with_the_own_system() -> None:
    system = sized(workload("factory", "cloud", "services", "jobs"))
    assert system.leads_with == "own"
    assert leading((), workload("factory")) == "own"


def test_who_did_not_say_gets_the_own_system() -> None:
    silent = workload("municipality", "cheapest").model_copy(
        update={"assumed": frozenset({"placement.preference"})}
    )
    assert sized(silent).leads_with == "own"
