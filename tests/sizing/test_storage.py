"""Storage by capacity and by bandwidth, in the server or beside it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from configurator.workload import DataNeeds, Growth
from quotes.sizing.hardware.bill import Broken
from quotes.sizing.hardware.compose import build_system
from quotes.sizing.hardware.demand import NodeDemand, drives_needed
from quotes.sizing.hardware.parts import parts_of
from quotes.sizing.hardware.storage import (
    StorageNeed,
    Store,
    local_tb,
    plan_store,
    storage_need,
    units_needed,
)
from quotes.sizing.results import SystemBuild
from tests.sizing.hardware import ASSUMPTIONS, named, seed, serve, serving, train, training

PARTS = parts_of(seed())
H200 = "H200 SXM5 141GB"


@pytest.mark.parametrize(("nodes", "pairs"), [(8, 2), (48, 12)])
def test_controllers_go_by_throughput(nodes: int, pairs: int) -> None:
    """Published: about 6 GB/s for a server of eight; a controller pair gives 25 GB/s."""
    assert units_needed(StorageNeed(read_gb_s=6 * nodes), 3000, 25, 10) == pairs


@pytest.mark.parametrize(
    ("need", "units"),
    [
        (StorageNeed(hot_tb=96), 6),  # the least that erasure coding takes
        (StorageNeed(hot_tb=577), 7),
        (StorageNeed(hot_tb=1, read_gb_s=241), 7),
        (StorageNeed(hot_tb=1, write_gb_s=109), 7),
    ],
)
def test_the_scarcest_of_three_decides(need: StorageNeed, units: int) -> None:
    assert units_needed(need, 96, 40, 18, least=6) == units


@given(st.floats(0, 5000), st.floats(0, 2000), st.floats(0, 500), st.integers(1, 8))
def test_units_carry_what_is_asked(tb: float, read: float, write: float, least: int) -> None:
    units = units_needed(StorageNeed(hot_tb=tb, read_gb_s=read, write_gb_s=write), 96, 40, 18, least, 0.85)
    assert units >= least
    assert units * 96 * 0.85 >= tb - 1e-6
    assert units * 40 >= read - 1e-6
    assert units * 18 >= write - 1e-6


def test_need_counts_copies_growth_and_checkpoints() -> None:
    workload = train(
        data=DataNeeds(dataset_tb=100, hot_dataset_tb=20, copies=2, growth_pct_per_year=10),
        growth=Growth(horizon_years=2),
    )
    need = storage_need(workload, (training(H200, 32, checkpoint_tb=1),), 32, ASSUMPTIONS)
    assert need.hot_tb == pytest.approx(20 * 1.21 + 3)
    assert need.cold_tb == pytest.approx((200 - 20) * 1.21)
    assert need.read_gb_s == 32  # 1 GB/s per accelerator where the load does not say


def test_what_the_load_says_goes_before_the_guideline() -> None:
    workload = train(data=DataNeeds(dataset_tb=100))
    need = storage_need(workload, (training(H200, 32, storage_read_gb_s=5),), 32, ASSUMPTIONS)
    assert need.read_gb_s == 5


def test_services_keep_their_data_on_the_capacity_tier() -> None:
    need = storage_need(serve(data=DataNeeds(dataset_tb=50)), (serving(H200, 8),), 0, ASSUMPTIONS)
    assert need.hot_tb == 0
    assert need.cold_tb == pytest.approx(50 * 1.2**3)
    assert need.read_gb_s == 0


def store(need: StorageNeed) -> Store:
    plan = plan_store(need, PARTS, ASSUMPTIONS)
    assert isinstance(plan, Store)
    return plan


def test_small_and_slow_is_one_appliance() -> None:
    plan = store(StorageNeed(cold_tb=60))
    assert [(system.name, number) for system, number in plan.tiers] == [("NFS appliance hybrid 100 TB", 1)]


def test_hot_data_never_lands_on_disks() -> None:
    plan = store(StorageNeed(hot_tb=50, read_gb_s=1))
    assert {system.tier for system, _ in plan.tiers} == {"hot"}


def test_large_and_fast_scales_out_with_licence_and_network_cards() -> None:
    plan = store(StorageNeed(hot_tb=400, read_gb_s=128))
    system, number = plan.tiers[0]
    assert system.scale_out
    assert number == 6
    by_name = {seed().items[line.sku].name: line.quantity for line in plan.lines}
    assert by_name["Parallel file system licence per TB 3 years"] == 576
    assert by_name["ConnectX-7 2x200G QSFP112"] == 6


def test_much_cold_data_goes_beside_little_hot_data() -> None:
    plan = store(StorageNeed(hot_tb=100, cold_tb=3000, read_gb_s=15))
    assert [system.tier for system, _ in plan.tiers] == ["hot", "capacity"]


@given(st.floats(0, 3000), st.floats(0, 9000), st.floats(0, 400))
def test_chosen_storage_carries_the_need(hot: float, cold: float, read: float) -> None:
    plan = plan_store(StorageNeed(hot, cold, read), PARTS, ASSUMPTIONS)
    if plan is None:
        assert hot == cold == read == 0
        return
    assert isinstance(plan, Store)
    fill = ASSUMPTIONS.storage_fill_fraction
    assert sum(number * system.usable_tb for system, number in plan.tiers) * fill >= hot + cold - 1e-6
    fast = [(system, number) for system, number in plan.tiers if system.tier == "hot"]
    if hot or read:
        assert max(number * system.read_gb_s for system, number in fast) >= read - 1e-6
        assert sum(number * system.usable_tb for system, number in fast) * fill >= hot - 1e-6


def test_nothing_asked_is_nothing_bought() -> None:
    assert plan_store(StorageNeed(), PARTS, ASSUMPTIONS) is None


def test_an_unknown_system_chosen_by_hand_is_refused() -> None:
    assert isinstance(plan_store(StorageNeed(), PARTS, ASSUMPTIONS, ("nothing", 1)), Broken)


def one_server(**data) -> SystemBuild:
    loads = (serving(H200, 8, 8),)
    system = build_system(
        named(H200), named("SYS-821GE-TNHR"), 8, loads, serve(data=DataNeeds(**data)), seed(), ASSUMPTIONS
    )
    assert isinstance(system, SystemBuild)
    return system


def test_a_single_server_keeps_its_data_inside_with_parity_and_room() -> None:
    system = one_server(dataset_tb=20, growth_pct_per_year=0)
    assert system.storage.system == ""
    assert system.storage.local_nvme_tb >= 20 / 0.75 / 0.85
    assert any("keep a copy elsewhere" in str(finding.message) for finding in system.findings)


def test_what_does_not_fit_inside_stands_beside() -> None:
    system = one_server(dataset_tb=2000)
    assert system.storage.system
    assert system.storage.usable_tb >= system.storage.needed_tb
    said = " ".join(str(finding.message) for finding in system.findings)
    assert "your own network" in said
    assert "copies stand on one storage system" not in said  # one copy was asked for
    two = one_server(dataset_tb=2000, copies=2)
    one_tier = len([line for line in two.lines if line.role == "storage"]) == 1
    told = any("All 2 copies stand on one storage system" in str(finding.message) for finding in two.findings)
    assert told == one_tier


def test_existing_storage_is_used_and_told_what_it_must_do() -> None:
    system = one_server(dataset_tb=20, existing_storage=True)
    assert system.storage.system == ""
    assert any("Your own storage must hold" in str(finding.message) for finding in system.findings)


def test_local_room_is_more_than_the_data() -> None:
    """85 % full at most, and a twentieth for snapshots."""
    assert local_tb(StorageNeed(cold_tb=51), ASSUMPTIONS) == pytest.approx(51 / 0.85 / 0.95)


@pytest.mark.parametrize(
    ("kept_tb", "size_tb", "number"),
    [
        (3, 3.84, 2),  # a mirror of two keeps 3.84 TB
        (4, 3.84, 3),  # parity over three keeps 7.68 TB
        (8, 3.84, 4),  # over four, three quarters: 11.5 TB
        (3, 1.92, 3),  # 3.84 TB; three quarters of 5.76 TB would be 4.32
        (4, 1.92, 4),
        (57.6, 7.68, 10),
    ],
)
def test_few_drives_keep_less_than_parity_over_many(kept_tb: float, size_tb: float, number: int) -> None:
    drive = named("PM9A3 3.84TB U.2").model_copy(update={"capacity_gb": size_tb * 1000})
    demand = NodeDemand(kept_tb=kept_tb, kept_fraction=0.75)
    assert drives_needed(drive, demand, 1) == number
    assert demand.raw_tb(1) == float("inf")  # one drive outlives nothing


@given(st.floats(0, 200), st.floats(0, 50), st.sampled_from([0.96, 1.92, 3.84, 7.68, 30.72]))
def test_what_must_be_kept_outlives_a_drive(kept_tb: float, cache_tb: float, size_tb: float) -> None:
    drive = named("PM9A3 3.84TB U.2").model_copy(update={"capacity_gb": size_tb * 1000})
    demand = NodeDemand(nvme_tb=cache_tb, kept_tb=kept_tb, kept_fraction=0.75)
    number = drives_needed(drive, demand, 2)
    left = number / 2 if number == 2 else number - 1
    assert kept_tb + cache_tb / number * left <= left * size_tb + 1e-6
    assert number == 2 or (number - 1) * size_tb < demand.raw_tb(number - 1) + 1e-6
