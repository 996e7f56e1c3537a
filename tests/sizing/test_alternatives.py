"""What a facility manager hears when the site is too small: in phases, with a cap, elsewhere; each at its price."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from catalog.specs import CatalogSnapshot
from configurator.workload import LanguageService, LanguageTraining, Site, Workload
from quotes.sizing.alternatives import CAPPABLE, WORTH_TELLING, capped, part_of, speed_floor
from quotes.sizing.engine import size
from quotes.sizing.knowledge import shipped
from quotes.sizing.results import SiteAlternative, Sizing
from tests.sizing.hardware import ASSUMPTIONS, named, seed

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"
LIQUID = "SYS-422GS-NBRT-LCC"


@cache
def workload(name: str) -> Workload:
    """A scenario, with time enough for training that the cheapest system of all is cooled by air."""
    asked = Workload.model_validate(yaml.safe_load((SCENARIOS / f"{name}.yaml").read_text()))
    jobs = tuple(job.model_copy(update={"deadline_h": 1.2 * job.deadline_h}) for job in asked.jobs)
    return asked.model_copy(update={"jobs": jobs})


def sized(name: str, site: Site, catalog: CatalogSnapshot | None = None) -> Sizing:
    asked = workload(name).model_copy(update={"site": site})
    found = catalog or seed()
    return size(asked, found, ASSUMPTIONS, shipped(), on=found.taken_on, in_full=True)


def ways(sizing: Sizing) -> dict[str, SiteAlternative]:
    assert sizing.site_limits is not None
    return {row.kind: row for row in sizing.site_limits.alternatives}


@dataclass(frozen=True)
class Manager:
    """A facility manager, what the site is short of, and which ways are open."""

    who: str
    scenario: str
    site: dict[str, Any]
    exceeded: str
    possible: frozenset[str]
    all_closed: bool = True  # no system fits


MANAGERS = [
    Manager("12 kW left", "university", {"power_available_kw": 12}, "14.5 kW; the site has 12 kW",
            frozenset({"phased", "power_cap", "colocation"})),
    Manager("6 kW left", "university", {"power_available_kw": 6}, "the site has 6 kW",
            frozenset({"phased", "colocation"})),
    Manager("6 kW left, serving", "software-house", {"power_available_kw": 6}, "10.5 kW; the site has 6 kW",
            frozenset({"phased", "power_cap", "colocation"})),
    Manager("half a kW left", "university", {"power_available_kw": 0.5}, "the site has 0.5 kW",
            frozenset({"colocation"})),
    Manager("2 U free", "university", {"rack_units_free": 2}, "takes 10 U; 2 U are free",
            frozenset({"phased", "colocation"})),
    Manager("250 kg/m²", "university", {"floor_load_kg_m2": 250}, "the floor carries 250",
            frozenset({"phased", "colocation"})),
    Manager("250 kg/m², serving", "software-house", {"floor_load_kg_m2": 250}, "292 kg/m²; the floor carries 250",
            frozenset({"colocation"}), all_closed=False),
    Manager("16 A feeds", "university", {"feed_amps": 16, "feed_phases": 1}, "a breaker trips at 16 A",
            frozenset({"power_cap", "colocation"}), all_closed=False),
]  # fmt: skip


@pytest.mark.parametrize("manager", MANAGERS, ids=lambda manager: manager.who)
def test_each_way_around_a_limit_has_its_price_and_its_price_in_speed(manager: Manager) -> None:
    sizing = sized(manager.scenario, Site(**manager.site))
    assert bool(sizing.systems) is not manager.all_closed
    assert manager.exceeded in str(sizing.site_limits.exceeded if sizing.site_limits else "")
    rows = ways(sizing)
    assert {kind for kind, row in rows.items() if row.possible} == manager.possible
    for kind, row in rows.items():
        if not row.possible:
            assert row.price_eur is None
            assert "Not possible" in str(row.said)
            continue
        assert row.price_eur
        assert row.in_speed
        assert row.power_kw
        if kind != "colocation":  # stands at the site, so keeps its limits
            assert row.power_kw <= manager.site.get("power_available_kw", 1e9)
    assert rows["colocation"].speed_low == rows["colocation"].speed_high == 1
    assert rows["colocation"].monthly_eur == round(
        (rows["colocation"].power_kw or 0) * ASSUMPTIONS.colocation_eur_per_kw_month
    )
    assert "colocation_eur_per_kw_month" in sizing.assumptions_used


@pytest.mark.parametrize(
    "site", [{}, {"floor_load_kg_m2": 500}, {"rack_units_free": 8}, {"power_available_kw": 15}]
)
def test_limits_that_cost_nothing_are_not_talked_about(site: dict[str, Any]) -> None:
    sizing = sized("university", Site(**site))
    assert sizing.systems
    assert sizing.site_limits is None


def test_no_liquid_cooling_where_only_liquid_would_do() -> None:
    catalog = seed()
    kept = tuple(
        server for server in catalog.servers if not server.accelerators or server.sku == named(LIQUID).sku
    )
    only = catalog.model_copy(update={"servers": kept, "version": "liquid only"})
    rows = ways(sized("university", Site(), only))
    assert {kind for kind, row in rows.items() if row.possible} == {"colocation"}
    assert sized("university", Site(cooling=frozenset({"air", "liquid"})), only).site_limits is None


def test_a_phase_is_the_largest_part_that_fits_and_names_what_is_left() -> None:
    phased = ways(sized("university", Site(power_available_kw=13)))["phased"]
    assert phased.speed_low == 0.75
    assert phased.later_eur
    assert "1.3 × as long" in str(phased.in_speed)
    assert "75 % of the peak" not in str(phased.in_speed)  # a job is not refused, it takes longer


def test_a_phase_would_rather_be_smaller_than_rest_on_nothing_measured() -> None:
    limits = [Site(power_available_kw=kw) for kw in (8, 10, 12, 13)]
    phases = [ways(sized("university", limit)).get("phased") for limit in limits]
    first = {phase.accelerator_name for phase in phases if phase and phase.possible}
    assert first
    assert not any("Gaudi" in name for name in first)  # nobody published a training run of this one


def test_a_phase_of_services_and_jobs_speaks_of_both() -> None:
    mixed = workload("university").model_copy(update={"services": workload("software-house").services})
    asked = mixed.model_copy(update={"site": Site(power_available_kw=9)})
    found = size(asked, seed(), ASSUMPTIONS, shipped(), on=seed().taken_on, in_full=True)
    assert "of the peak load, and a run takes" in str(ways(found)["phased"].in_speed)


def test_where_something_fits_only_what_is_cheaper_is_told() -> None:
    sizing = sized("software-house", Site(floor_load_kg_m2=250))
    inside = min(system.candidate.price_eur for system in sizing.systems)
    assert list(ways(sizing)) == ["colocation"]
    assert (ways(sizing)["colocation"].price_eur or 0) <= inside * WORTH_TELLING


def test_without_the_wish_nothing_is_searched() -> None:
    asked = workload("university").model_copy(update={"site": Site(power_available_kw=6)})
    assert size(asked, seed(), ASSUMPTIONS, shipped(), on=seed().taken_on).site_limits is None


# ── the cap ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_cap_lowers_cards_boards_slots_and_planning_figures() -> None:
    low = {item.sku: item for item in (*capped(seed(), 0.7).accelerators, *capped(seed(), 0.7).servers)}
    for one in seed().accelerators:
        if one.power_w:
            share = 0.7 if one.form_factor in CAPPABLE else 1
            assert low[one.sku].power_w == pytest.approx(one.power_w * share)
    hgx = named("SYS-A21GE-NBRT")
    assert low[hgx.sku].planning_power_w == pytest.approx(14_500 - 8 * 0.3 * 1000)
    narrow = next(server for server in seed().servers if server.accelerator_power_max_w == 450)
    assert low[narrow.sku].accelerator_power_max_w == pytest.approx(315)


@given(st.floats(0.4, 1), st.floats(0.4, 1))
def test_a_tighter_cap_is_never_faster_and_no_cap_costs_nothing(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= speed_floor(low, ASSUMPTIONS) <= speed_floor(high, ASSUMPTIONS) <= 1
    assert speed_floor(high, ASSUMPTIONS) <= high  # idle power buys nothing
    assert speed_floor(1, ASSUMPTIONS) == 1


@given(st.floats(0.1, 0.95))
def test_a_part_asks_less_of_services_and_gives_jobs_longer(share: float) -> None:
    for name in ("software-house", "university"):
        whole, part = workload(name), part_of(workload(name), share)
        for before, after in zip(whole.services, part.services, strict=True):
            if isinstance(before, LanguageService) and isinstance(after, LanguageService):
                assert after.concurrent_requests <= before.concurrent_requests
        for was, now in zip(whole.jobs, part.jobs, strict=True):
            assert now.deadline_h == pytest.approx(was.deadline_h / share)
            if isinstance(was, LanguageTraining) and isinstance(now, LanguageTraining):
                assert now.tokens == was.tokens
