"""What holds for every composition: screening equals building, bills are orderable, limits are limits."""

from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from catalog.specs import ServerStatus
from configurator.workload import DataNeeds, Delivery, Site
from quotes.pricing.lines import price
from quotes.sizing.hardware.bill import Broken
from quotes.sizing.hardware.compose import ScreenedSystem, build_system, screen_systems
from quotes.sizing.hardware.demand import NodeBrief, NodeDemand
from quotes.sizing.hardware.fitting import recipe_rules
from quotes.sizing.hardware.node import NodePlan, plan_node
from quotes.sizing.hardware.parts import parts_of
from quotes.sizing.hardware.placing import Shape, seat
from quotes.sizing.results import Refusal, SystemBuild
from tests.sizing.hardware import ASSUMPTIONS, seed, serve, serving, train, training

ORDERABLE = [a for a in seed().accelerators if parts_of(seed()).servers_for.get(a.sku)]
ids = st.sampled_from(ORDERABLE)
WATER = frozenset({"air", "rear_door", "liquid"})

sites = st.builds(
    Site,
    power_available_kw=st.none() | st.floats(1, 400),
    cooling=st.sampled_from([frozenset({"air"}), frozenset({"air", "rear_door"}), WATER]),
    rack_units_free=st.none() | st.integers(1, 200),
    rack_power_max_kw=st.none() | st.floats(1, 150),
    floor_load_kg_m2=st.none() | st.floats(200, 2000),
    feed_amps=st.sampled_from([16.0, 32.0, 63.0]),
    feed_phases=st.sampled_from([1, 3]),
    feeds_redundant=st.booleans(),
)
needs = st.builds(
    DataNeeds,
    dataset_tb=st.sampled_from([0, 1, 30, 400]),
    copies=st.integers(1, 3),
    existing_storage=st.booleans(),
)


@st.composite
def wishes(draw):
    """An accelerator, loads on it, and a workload around them."""
    accelerator = draw(ids)
    joined = draw(st.sampled_from([1, 2, 4, 8]))
    jobs = draw(st.booleans())
    if jobs:
        loads = (training(accelerator.name, joined * draw(st.integers(1, 6)), joined, nvme_tb_per_node=1),)
    else:
        loads = (serving(accelerator.name, joined * draw(st.integers(1, 6)), joined, nvme_tb_per_node=0.5),)
    common = {"site": draw(sites), "data": draw(needs)}
    return accelerator, loads, train(**common) if jobs else serve(**common)


def screened(wish):
    accelerator, loads, workload = wish
    return screen_systems(accelerator, loads[0].gpus, loads, workload, seed(), ASSUMPTIONS)


def build(wish, server: str):
    accelerator, loads, workload = wish
    chassis = parts_of(seed()).servers[server]
    return build_system(accelerator, chassis, loads[0].gpus, loads, workload, seed(), ASSUMPTIONS)


@given(wishes(), st.data())
def test_screening_equals_building(wish, data) -> None:
    answers = screened(wish)
    assert len(answers) == len(parts_of(seed()).servers_for[wish[0].sku])
    answer = data.draw(st.sampled_from(answers))
    if isinstance(answer, Refusal):
        again = build(wish, answer.subject)
        assert isinstance(again, Refusal)
        assert again == answer
        return
    system = build(wish, answer.server)
    assert isinstance(system, SystemBuild)
    assert system.nodes == answer.nodes
    assert system.accelerators == answer.accelerators >= wish[1][0].gpus
    assert system.power.wall_w == answer.wall_w
    assert system.lead_time_weeks == answer.lead_time_weeks
    assert price(system, seed(), Decimal(21)).totals.net == answer.price_eur
    assert sum(units for rack in system.racks for _, units, _ in rack.items) == pytest.approx(
        answer.rack_units
    )


@given(wishes(), st.data())
def test_building_what_was_bought_gives_the_same_system(wish, data) -> None:
    """Boards and steps bring more accelerators than were asked for; asking for those changes nothing."""
    accelerator, loads, workload = wish
    fine = [answer for answer in screened(wish) if isinstance(answer, ScreenedSystem)]
    assume(fine)
    answer = data.draw(st.sampled_from(fine))
    server = parts_of(seed()).servers[answer.server]
    again = build_system(accelerator, server, answer.accelerators, loads, workload, seed(), ASSUMPTIONS)
    assert isinstance(again, SystemBuild)
    assert (again.nodes, again.accelerators) == (answer.nodes, answer.accelerators)
    assert price(again, seed(), Decimal(21)).totals.net == answer.price_eur


@given(wishes(), st.data())
def test_every_line_can_be_ordered(wish, data) -> None:
    fine = [answer for answer in screened(wish) if isinstance(answer, ScreenedSystem)]
    assume(fine)
    system = build(wish, data.draw(st.sampled_from(fine)).server)
    for line in (*system.lines, *system.node.lines):
        assert line.quantity > 0
        assert line.sku in seed().items
        assert line.pct_of_hardware is not None or seed().price_eur(line.sku) is not None
    assert len({(line.sku, line.group) for line in system.lines}) == len(system.lines)


@given(wishes(), st.data())
def test_no_limit_of_the_site_is_exceeded(wish, data) -> None:
    fine = [answer for answer in screened(wish) if isinstance(answer, ScreenedSystem)]
    assume(fine)
    system, site = build(wish, data.draw(st.sampled_from(fine)).server), wish[2].site
    assert system.power.provision_w <= (site.power_available_kw or 1e9) * 1000 + 1e-6
    assert sum(units for rack in system.racks for _, units, _ in rack.items) <= (site.rack_units_free or 1e9)
    for rack in system.racks:
        assert rack.power_w <= (site.rack_power_max_kw or 1e9) * 1000 + 1e-6
        assert sum(units for _, units, _ in rack.items) <= rack.units_total
        if rack.floor_kg_m2 is not None and site.floor_load_kg_m2 is not None:
            assert rack.floor_kg_m2 <= site.floor_load_kg_m2 + 1e-6
        assert rack.cooling == "air" or site.cooling & {"rear_door", "liquid"}
    if "liquid" not in site.cooling:
        assert system.node.cooling == "air" or not system.racks
    carried = ASSUMPTIONS.feed_load_fraction * site.feed_amps
    warned = any("busiest phase" in str(found.message) for found in system.findings)
    assert system.amps_per_phase <= (site.feed_amps if warned else carried) + 1e-6 or not system.racks


@given(wishes(), st.data())
def test_the_racks_add_up_to_the_system(wish, data) -> None:
    fine = [answer for answer in screened(wish) if isinstance(answer, ScreenedSystem)]
    assume(fine)
    system = build(wish, data.draw(st.sampled_from(fine)).server)
    assume(system.racks)
    assert sum(rack.wall_w or 0 for rack in system.racks) == pytest.approx(system.power.wall_w)
    assert sum(rack.feeds or 0 for rack in system.racks) == system.room.feeds
    assert system.room.rack_units == sum(rack.units_used for rack in system.racks)
    assert all((rack.wall_w or 0) <= rack.power_w * 1.02 + 50 for rack in system.racks)


LIMITS = {
    "power_available_kw": (lambda system: system.power.provision_w, st.floats(1, 400)),
    "rack_units_free": (
        lambda system: sum(u for rack in system.racks for _, u, _ in rack.items),
        st.integers(1, 300),
    ),
    "rack_power_max_kw": (
        lambda system: max((rack.power_w for rack in system.racks), default=0),
        st.floats(1, 150),
    ),
    "floor_load_kg_m2": (
        lambda system: max((rack.floor_kg_m2 or 0 for rack in system.racks), default=0),
        st.floats(200, 2000),
    ),
}


@given(wishes(), st.sampled_from(sorted(LIMITS)), st.data())
def test_a_limit_never_makes_a_system_larger_in_its_dimension(wish, limit, data) -> None:
    accelerator, loads, workload = wish
    free = workload.site.model_copy(update={limit: None})
    tight = workload.site.model_copy(update={limit: data.draw(LIMITS[limit][1])})
    loose_wish = (accelerator, loads, workload.model_copy(update={"site": free}))
    tight_wish = (accelerator, loads, workload.model_copy(update={"site": tight}))
    fine = [answer for answer in screened(tight_wish) if isinstance(answer, ScreenedSystem)]
    assume(fine)
    server = data.draw(st.sampled_from(fine)).server
    without, within = build(loose_wish, server), build(tight_wish, server)
    assume(isinstance(without, SystemBuild))
    if limit == "floor_load_kg_m2":  # racks with a part of unknown weight cannot be compared
        assume(all(rack.floor_kg_m2 is not None for rack in without.racks))
    size = LIMITS[limit][0]
    assert size(within) <= size(without) + 1e-6


@given(ids, st.integers(0, 60), st.sampled_from([0, 30, 400]), st.booleans())
def test_what_is_chosen_by_rule_keeps_every_rule(accelerator, tb, ram, joins) -> None:
    parts = parts_of(seed())
    demand = NodeDemand(nvme_tb=tb, ram_gb_per_gpu=ram, joined=2 if joins else 1, training=joins)
    for server in parts.servers_for[accelerator.sku]:
        count = server.max_accelerators
        brief = NodeBrief(server, accelerator, count, demand, parts, ASSUMPTIONS)
        plan = plan_node(brief)
        if isinstance(plan, Broken) or server.status is ServerStatus.COMPLETE_SYSTEM:
            continue
        assert isinstance(plan, NodePlan)
        assert not list(recipe_rules(brief, plan.recipe))
        assert plan.dc_w <= server.psu_surviving_w


@given(
    st.lists(st.tuples(st.sampled_from([1, 2, 4, 8]), st.integers(1, 5)), min_size=1, max_size=4),
    st.none() | st.integers(1, 4),
    st.booleans(),
)
def test_replicas_and_jobs_find_a_seat_on_what_was_bought(services, job, shares) -> None:
    loads = [
        serving("H200 SXM5 141GB", joined * replicas, joined, name=f"s{index}")
        for index, (joined, replicas) in enumerate(services)
    ]
    resident = sum(load.gpus for load in loads)
    needed = resident
    if job:
        loads.append(training("H200 SXM5 141GB", 8 * job, name="job"))
        needed = max(resident, 8 * job) if shares else resident + 8 * job
    answers = screen_systems(
        ORDERABLE_BY_NAME["H200 SXM5 141GB"], needed, tuple(loads), serve(site=BIG), seed(), ASSUMPTIONS
    )
    system = next(answer for answer in answers if isinstance(answer, ScreenedSystem))
    shape = Shape(system.nodes, system.accelerators // system.nodes)
    seats = seat(loads, needed, shape)
    taken: set[tuple[int, int]] = set()
    for place in seats:
        assert place.first + place.size <= shape.gpus
        spots = {(place.node, place.first + offset) for offset in range(place.size)}
        assert place.shared or not taken & spots
        if not place.shared:
            taken |= spots
    for load in loads:
        assert sum(place.size for place in seats if place.load == load.load) == load.gpus


ORDERABLE_BY_NAME = {a.name: a for a in ORDERABLE}
BIG = Site(feed_amps=63, cooling=WATER)


def test_support_and_installation_follow_the_delivery_wishes() -> None:
    accelerator = ORDERABLE_BY_NAME["L40S"]
    server = parts_of(seed()).servers["SYS-421GE-TNRT"]
    purposes = {}
    for delivery in (Delivery(), Delivery(installation=False, support="none"), Delivery(support="24x7_3y")):
        loads = (serving("L40S", 2),)
        system = build_system(accelerator, server, 2, loads, serve(delivery=delivery), seed(), ASSUMPTIONS)
        by_sku = {service.sku: service.purpose for service in seed().services}
        purposes[delivery] = [by_sku[line.sku] for line in system.lines if line.sku in by_sku]
    assert list(purposes.values()) == [
        ["os_install", "rack_small", "support_nbd_3y"],
        ["os_install"],
        ["os_install", "rack_small", "support_24x7_3y"],
    ]
