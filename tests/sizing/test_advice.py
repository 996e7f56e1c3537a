"""Each rule speaks when it should and is silent when it should."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from catalog.specs import CatalogSnapshot, ModelArchitecture
from configurator.workload import (
    Delivery,
    Growth,
    LanguageTraining,
    LoadProfile,
    Method,
    ModelRef,
    Placement,
    Precision,
    Site,
    Workload,
)
from quotes.sizing import advice
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.results import CostYears, Economics, Estimate, SizedSystem, Speed, Verdict
from quotes.sizing.trace import Badge

from .money import CHAT, DAY, INSPECTION, candidate, catalog, load, sized, workload

A = Assumptions()
TUNE = LanguageTraining(
    name="tune", model=ModelRef(params_b=8), method=Method.LORA, tokens=1e6, deadline_h=10, runs_per_month=4
)
TUNING = {"load": "tune", "kind": "training", "gpus": 2, "gpus_per_replica": 2, "replicas": 1}
ENOUGH_POWER = Site(power_available_kw=50)


def guessed(badge: Badge) -> Speed:
    return Speed(tokens_s_per_user=Estimate(value=30, low=20, high=40, badge=badge))


def costs(rent: int, own: int) -> Economics:
    return Economics(
        horizon_years=3,
        purchase_eur=Decimal(own),
        yearly_eur={},
        total_eur=Decimal(own),
        cloud_total_eur=Decimal(rent),
        curve=CostYears(months=(0,), own_eur=(0.0,)),
    )


office = workload(LoadProfile.OFFICE_HOURS)
both = Workload(services=(CHAT,), jobs=(TUNE,))
plain: dict[str, Any] = {"workload": workload(), "system": sized(candidate()), "catalog": catalog()}


def with_config(*, standard: bool) -> Workload:
    own = ModelArchitecture(
        key="custom", name="Own", layers=32, hidden=4096, feed_forward=14336, query_heads=32, kv_heads=8,
        head_dim=128, vocabulary=128256, standard_structure=standard,
    )  # fmt: skip
    return Workload(services=(CHAT.model_copy(update={"model": ModelRef(architecture=own)}), INSPECTION))


COUNTED = CHAT.model_copy(update={"profile": LoadProfile.COUNTED, "hourly_counts": (0.0,) * 23 + (3600.0,)})
TIMED = load(
    speed=Speed(
        ttft_s=Estimate(value=1, low=1, high=1), tokens_s_per_user=Estimate(value=20, low=20, high=20)
    )
)


def counts(most: float) -> Workload:
    """Ten at once were asked for; a request takes 1 s and 200 tokens at 20 a second: 11 s."""
    return Workload(services=(COUNTED.model_copy(update={"hourly_counts": (1.0,) * 23 + (most,)}),))


SPEAKS = [
    ("oversized", {"system": sized(candidate(load(capacity_factor=5.2)))}),
    ("full_precision", {"workload": Workload(services=(CHAT.model_copy(update={"precision": Precision.BF16}),))}),
    ("counted_otherwise", {"workload": counts(3600), "system": sized(candidate(TIMED))}),
    ("counted_otherwise", {"workload": counts(500), "system": sized(candidate(TIMED))}),
    (
        "counted_otherwise",
        {"workload": Workload(services=(INSPECTION.model_copy(
            update={"profile": LoadProfile.COUNTED, "hourly_counts": (1.0,) * 23 + (3_600_000.0,)}),))},
    ),
    ("unmeasured", {"system": sized(candidate(load(speed=guessed(Badge.EXTRAPOLATED))))}),
    ("tight_memory", {"system": sized(candidate(load(verdict=Verdict.TIGHT)))}),
    ("narrow_power", {"workload": workload(site=Site(power_available_kw=4.2))}),
    ("unknown_power", {"workload": workload()}),
    ("thin_interconnect", {"workload": both, "system": sized(candidate(load(), load(**TUNING)))}),
    ("other_software", {"catalog": catalog(software_stack=frozenset({"rocm"}))}),
    ("no_support", {"workload": workload(delivery=Delivery(support="none"))}),
    ("cheaper_to_rent", {"system": sized(candidate(), costs(10, 20))}),
    (
        "too_late",
        {
            "workload": workload(delivery=Delivery(start_on=date(2026, 12, 24))),
            "system": sized(candidate(lead_time_weeks=12, lead_time_line="GPU")),
        },
    ),
    ("no_room_to_grow", {"workload": workload(growth=Growth(load_pct_per_year=50))}),
    ("no_spare", {}),
    ("unknown_structure", {"workload": with_config(standard=False)}),
    (
        "training_beside_service",
        {"workload": Workload(services=office.services, jobs=(TUNE,)),
         "system": sized(candidate(load(), load(shares_pool=True, **TUNING)))},
    ),
    ("train_from_scratch", {"workload": Workload(jobs=(TUNE.model_copy(update={"method": Method.PRE_TRAIN}),))}),
    ("unprepared_data", {"workload": both}),
    ("mostly_idle", {"workload": office}),
]  # fmt: skip

SILENT = [
    ("unknown_structure", {"workload": both}),
    ("unknown_structure", {"workload": with_config(standard=True)}),
    ("oversized", {"system": sized(candidate(load(capacity_factor=2.9)))}),
    (
        "oversized",
        {
            "workload": workload(growth=Growth(load_pct_per_year=50)),
            "system": sized(candidate(load(capacity_factor=5.2))),
        },
    ),
    ("full_precision", {}),
    ("counted_otherwise", {"workload": counts(3000), "system": sized(candidate(TIMED))}),
    ("counted_otherwise", {"workload": counts(1000), "system": sized(candidate(TIMED))}),
    ("counted_otherwise", {"workload": counts(3600)}),
    ("counted_otherwise", {}),
    ("unmeasured", {"system": sized(candidate(load(speed=guessed(Badge.MEASURED))))}),
    ("tight_memory", {}),
    ("narrow_power", {"workload": workload(site=ENOUGH_POWER)}),
    ("narrow_power", {}),
    ("unknown_power", {"workload": workload(site=ENOUGH_POWER)}),
    ("unknown_power", {"system": sized(candidate(wall_w=900))}),
    (
        "thin_interconnect",
        {
            "workload": both,
            "system": sized(candidate(load(), load(**TUNING))),
            "catalog": catalog(link_max_count=8),
        },
    ),
    ("thin_interconnect", {}),
    ("other_software", {}),
    (
        "other_software",
        {
            "workload": workload(placement=Placement(software_stack="rocm")),
            "catalog": catalog(software_stack=frozenset({"rocm"})),
        },
    ),
    ("no_support", {}),
    ("cheaper_to_rent", {"system": sized(candidate(), costs(20, 10))}),
    ("cheaper_to_rent", {}),
    (
        "too_late",
        {
            "workload": workload(delivery=Delivery(start_on=date(2027, 12, 24))),
            "system": sized(candidate(lead_time_weeks=12)),
        },
    ),
    ("too_late", {}),
    ("no_room_to_grow", {}),
    (
        "no_room_to_grow",
        {
            "workload": workload(growth=Growth(load_pct_per_year=20)),
            "system": sized(candidate(load(capacity_factor=2.0))),
        },
    ),
    ("no_spare", {"system": sized(candidate(load(spare_replicas=1)))}),
    ("no_spare", {"system": sized(candidate(nodes=2))}),
    ("training_beside_service", {}),
    ("train_from_scratch", {"workload": both}),
    ("unprepared_data", {}),
    ("mostly_idle", {}),
    ("mostly_idle", {"workload": Workload(services=office.services, jobs=(TUNE,))}),
]


def answer(rule: str, given: dict[str, Any]) -> object:
    facts = plain | given
    wanted: Workload = facts["workload"]
    system: SizedSystem = facts["system"]
    shown: CatalogSnapshot = facts["catalog"]
    return getattr(advice, rule)(wanted, system, shown, A)


@pytest.mark.parametrize(("rule", "given"), SPEAKS, ids=[f"{rule} {n}" for n, (rule, _) in enumerate(SPEAKS)])
def test_a_rule_speaks(rule: str, given: dict[str, Any]) -> None:
    finding = answer(rule, given)
    assert finding is not None
    assert str(finding.message)  # type: ignore[attr-defined]  # every placeholder is filled
    assert str(finding.remedy)  # type: ignore[attr-defined]


@pytest.mark.parametrize(("rule", "given"), SILENT, ids=[f"{rule} {n}" for n, (rule, _) in enumerate(SILENT)])
def test_a_rule_is_silent(rule: str, given: dict[str, Any]) -> None:
    assert answer(rule, given) is None


def test_every_rule_is_tested_both_ways() -> None:
    rules = {rule.__name__ for rule in advice.RULES}
    assert rules == {rule for rule, _ in SPEAKS} == {rule for rule, _ in SILENT}


def test_only_the_recommended_system_is_advised_on() -> None:
    other = sized(candidate()).model_copy(update={"recommended": False})
    assert list(advice.advice(workload(), (other,), catalog(), A)) == []
    found = list(advice.advice(workload(), (sized(candidate()), other), catalog(), A))
    assert [str(finding.message) for finding in found] == list(dict.fromkeys(str(f.message) for f in found))
    assert catalog().taken_on == DAY
