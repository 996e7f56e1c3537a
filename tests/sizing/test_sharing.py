"""Several services on one accelerator: only where it saves one, within memory and time, or the reason why not."""

from collections import defaultdict
from functools import cache

import pytest

from catalog.specs import AcceleratorSpec, CatalogSnapshot
from configurator.workload import (
    Domain,
    LanguageService,
    LanguageTraining,
    LoadProfile,
    Method,
    ModelRef,
    RateService,
    Service,
    Workload,
)
from quotes.sizing.candidates import accelerators_needed, combinations
from quotes.sizing.engine import size
from quotes.sizing.knowledge import shipped
from quotes.sizing.loads import option_table
from quotes.sizing.portions import part_of, portions_of
from quotes.sizing.results import Placed, Refusal, SizedSystem, Sizing
from quotes.sizing.sharing import part_tables
from quotes.sizing.trace import Badge
from tests.sizing.hardware import ASSUMPTIONS, DAY, changed, named, seed

CARDS = ("L4", "L40S", "H100 NVL 94GB", "RTX PRO 6000 Blackwell Server Edition", "Instinct MI300X")
DIVIDED = [one for one in seed().accelerators if one.mig_profiles]
SIZES = (0.2, 0.5, 1, 1.7, 3, 6)
NIGHT = LanguageTraining(
    name="night",
    model=ModelRef(params_b=8),
    method=Method.LORA,
    tokens=5e6,
    deadline_h=8,
    runs_per_month=20,
    window=LoadProfile.NIGHTS,
)


def services(demand: float = 1, *, spare: bool = False, profile: str = "office_hours") -> tuple[Service, ...]:
    """A chat model, embeddings, a reranker and speech."""
    common = {"availability": "n_plus_1" if spare else "single", "profile": profile}
    chat = LanguageService(
        name="chat",
        model=ModelRef(params_b=8),
        concurrent_requests=6 * demand,
        prompt_tokens=2000,
        output_tokens=300,
        ttft_p95_s=2,
        tokens_s_per_user=15,
        **common,
    )
    rest = (
        ("embedding", Domain.EMBEDDING, "bge-large", 20),
        ("rerank", Domain.RERANK, "Cross-encoder (BERT-Large)", 40),
        ("speech", Domain.SPEECH, "Whisper large-v3", 5),
    )
    return chat, *(
        RateService(name=name, domain=domain, model=model, items_s=items * demand, **common)
        for name, domain, model, items in rest
    )


@cache
def few(*cards: str) -> CatalogSnapshot:
    return changed(accelerators=tuple(named(name) for name in cards or CARDS))


@cache
def sized(workload: Workload, *cards: str) -> Sizing:
    return size(workload, few(*cards), ASSUMPTIONS, shipped(), on=DAY)


WORKLOADS = {
    "small": Workload(services=services()),
    "smallest": Workload(services=services(0.2)),
    "spare": Workload(services=services(spare=True)),
    "night": Workload(services=services(), jobs=(NIGHT,)),
    "always": Workload(services=services(spare=True, profile="always"), jobs=(NIGHT,)),
    "large": Workload(services=services(6)),
}
SYSTEMS = [
    pytest.param(system, card, id=f"{name} {card} {system.tier}")
    for name, workload in WORKLOADS.items()
    for card in CARDS
    for system in sized(workload, card).systems
]


def fewest(workload: Workload, card: str, *, sharing: bool) -> int:
    """Accelerators of one kind for all loads, as the search counts them."""
    accelerator = named(card)
    limits = {accelerator.sku: 8}
    tables = [
        option_table(part, (accelerator,), limits, seed(), ASSUMPTIONS, shipped(), (1.0,))
        for part in (*workload.services, *workload.jobs)
    ]
    parts = (
        part_tables(workload, tables, (accelerator,), seed(), ASSUMPTIONS, shipped(), (1.0,))
        if sharing
        else []
    )
    ways = combinations(tables, accelerator.sku, (1.0,), workload, 1, parts)
    return min(accelerators_needed(loads, workload) for loads in ways)


# ── how many ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize("spare", [False, True])
def test_sharing_never_takes_more_and_more_load_never_fewer(card: str, spare: bool) -> None:
    before = 0
    for demand in SIZES:
        workload = Workload(services=services(demand, spare=spare))
        shared, apart = (fewest(workload, card, sharing=sharing) for sharing in (True, False))
        assert before <= shared <= apart
        before = shared


def test_four_small_services_share() -> None:
    assert fewest(WORKLOADS["smallest"], "L40S", sharing=False) == 4
    assert fewest(WORKLOADS["smallest"], "L40S", sharing=True) <= 2
    assert fewest(WORKLOADS["smallest"], "Instinct MI300X", sharing=True) == 4  # it has neither MIG nor MPS


def test_one_service_alone_has_nobody_to_share_with() -> None:
    alone = Workload(services=services(0.2)[:1])
    assert all(load.portion is None for system in sized(alone).systems for load in system.candidate.loads)


# ── who sits where ──────────────────────────────────────────────────────────────────────────────────────────────


def resident(system: SizedSystem) -> dict[tuple[int, int], list[Placed]]:
    """What runs on each accelerator in the hours of the services."""
    found = defaultdict(list)
    for row in system.candidate.system.placement:
        for number in range(row.first, row.first + row.accelerators):
            if not row.outside_hours:
                found[row.server, number].append(row)
    return found


@pytest.mark.parametrize(("system", "card"), SYSTEMS)
def test_no_accelerator_holds_more_than_it_can(system: SizedSystem, card: str) -> None:
    build, accelerator = system.candidate.system, named(card)
    options = {load.load: load for load in system.candidate.loads}
    held = resident(system)
    assert max(server for server, _ in held) <= build.nodes
    assert max(number for _, number in held) <= build.node.accelerators
    for rows in held.values():
        if len(rows) == 1:
            continue
        assert all(row.portion for row in rows), "whole accelerators are not shared"
        assert len({row.load for row in rows}) == len(rows)
        assert sum(row.memory_gib or 0 for row in rows) <= accelerator.memory_gib
        assert sum(row.portion.memory_fraction for row in rows if row.portion) <= 1
        assert sum(row.portion.compute_fraction for row in rows if row.portion) <= 1
        assert sum(row.busy_fraction or 0 for row in rows) <= ASSUMPTIONS.mig_compute_fraction
        for row in rows:
            assert row.portion
            most = accelerator.memory_gib * row.portion.memory_fraction * ASSUMPTIONS.part_memory_fraction
            assert row.memory_gib <= most + 1e-6
    for load in options.values():
        rows = [row for row in build.placement if row.load == load.load]
        assert {row.replica for row in rows} == set(range(1, load.replicas + 1))
        if load.spare_replicas and load.portion:
            assert len({(row.server, row.first) for row in rows}) == load.replicas


@pytest.mark.parametrize(("system", "card"), SYSTEMS)
def test_targets_hold_on_the_part(system: SizedSystem, card: str) -> None:
    asked = {service.name: service for service in services()}
    for load in system.candidate.loads:
        if load.portion is None:
            continue
        assert load.capacity_factor >= 1
        assert load.memory
        assert load.memory.free_gib >= 0
        if load.speed.ttft_p95_s:
            assert load.speed.ttft_p95_s.high <= asked["chat"].ttft_p95_s * 1.001
            assert load.speed.tokens_s_per_user.low >= asked["chat"].tokens_s_per_user / 1.001
        estimates = [getattr(load.speed, name) for name in type(load.speed).model_fields]
        badges = {estimate.badge for estimate in estimates if hasattr(estimate, "badge")}
        assert Badge.MEASURED not in badges, "nobody measured a part"


def test_a_part_is_at_most_its_share_of_the_whole() -> None:
    """Half a card carries no more than half of what the card carries."""
    card = named("L40S")
    halves = [portion for portion in portions_of(card) if portion.compute_fraction == 0.5]
    spec = part_of(card, halves[0], ASSUMPTIONS)
    for service in services(0.1)[1:]:
        whole, part = (
            option_table(service, (one,), {one.sku: 1}, seed(), ASSUMPTIONS, shipped(), (1.0,))[one.sku]
            for one in (card, spec)
        )
        assert isinstance(whole, tuple)
        assert isinstance(part, tuple)
        best = [max(option.capacity_factor / option.replicas for option in found) for found in (whole, part)]
        assert best[1] <= 0.5 * best[0]


def test_training_has_accelerators_of_its_own_while_services_answer() -> None:
    for system in sized(WORKLOADS["always"], "L40S").systems:
        rows = system.candidate.system.placement
        night = [row for row in rows if row.load == "night"]
        assert not any(row.outside_hours for row in night)
        mine = {(row.server, row.first) for row in night}
        assert not mine & {(row.server, row.first) for row in rows if row.load != "night"}


# ── what is said ────────────────────────────────────────────────────────────────────────────────────────────────


def said(workload: Workload, card: str) -> str:
    return " ".join(
        str(note.message)
        for system in sized(workload, card).systems
        for note in system.candidate.system.sharing
    )


def test_the_risk_is_said() -> None:
    assert "Without walls between them (MPS)" in said(WORKLOADS["smallest"], "L40S")
    assert "Divided by the hardware (MIG)" in said(WORKLOADS["smallest"], "H100 NVL 94GB")
    first = sized(WORKLOADS["smallest"], "L40S").systems[0]
    assert any("without walls" in str(con) for con in first.cons)


@pytest.mark.parametrize(
    ("workload", "card", "reason"),
    [
        (WORKLOADS["smallest"], "Gaudi 3 PCIe (HL-338)", "it has neither MIG nor MPS"),
        (WORKLOADS["large"], "L4", "It keeps more than a part of an accelerator busy"),
        (
            Workload(
                services=(services()[0].model_copy(update={"model": ModelRef(params_b=180)}), *services()[1:])
            ),
            "H100 NVL 94GB",
            "One replica takes more than one accelerator",
        ),
        (WORKLOADS["large"], "L40S", "Sharing would not save an accelerator"),
    ],
)
def test_who_shares_nothing_is_told_why(workload: Workload, card: str, reason: str) -> None:
    assert reason in said(workload, card)


def test_what_decodes_video_keeps_its_accelerator() -> None:
    cameras = RateService(
        name="cameras",
        domain=Domain.DETECTION,
        model="YOLO26s",
        items_s=100,
        streams=10,
        profile="office_hours",
    )
    workload = Workload(services=(cameras, *services(0.2)[1:]))
    limits = {named("L40S").sku: 8}
    tables = [
        option_table(part, (named("L40S"),), limits, seed(), ASSUMPTIONS, shipped(), (1.0,))
        for part in workload.services
    ]
    answer = part_tables(workload, tables, (named("L40S"),), seed(), ASSUMPTIONS, shipped(), (1.0,))[0]
    refusal = answer[named("L40S").sku]
    assert isinstance(refusal, Refusal)
    assert "decodes images or video" in str(refusal.reason)


# ── the catalog ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("accelerator", DIVIDED, ids=lambda one: one.name)
def test_profiles_of_the_catalog_are_parts(accelerator: AcceleratorSpec) -> None:
    parts = portions_of(accelerator)
    assert {part.name for part in parts} == accelerator.mig_profiles
    for part in parts:
        named_gb = float(part.name.split(".")[1].removesuffix("gb"))
        assert named_gb == pytest.approx(accelerator.memory_gb_label * part.memory_fraction, rel=0.08)


@pytest.mark.parametrize(
    ("card", "profile", "reported_gib"),
    [
        ("H100 SXM5 80GB", "1g.10gb", 9.75),
        ("H100 SXM5 80GB", "3g.40gb", 39.5),
        ("H200 SXM5 141GB", "1g.18gb", 16.0),
        ("RTX PRO 6000 Blackwell Server Edition", "1g.24gb", 23.62),
        ("A30", "1g.6gb", 5.81),
    ],
)
def test_a_part_counts_on_less_memory_than_the_driver_reports(
    card: str, profile: str, reported_gib: float
) -> None:
    portion = next(part for part in portions_of(named(card)) if part.name == profile)
    memory = part_of(named(card), portion, ASSUMPTIONS).memory_gib
    assert memory is not None
    assert 0.85 * reported_gib <= memory <= reported_gib


@pytest.mark.parametrize(
    "figures",
    [
        {"software_stack": frozenset({"rocm"})},
        {"memory_mib": None},
        {"memory_bandwidth_gb_s": None},
        {"form_factor": "edge"},
    ],
)
def test_what_is_not_known_is_not_divided(figures: dict[str, object]) -> None:
    card = AcceleratorSpec.model_validate({**named("H100 NVL 94GB").model_dump(), **figures})
    assert portions_of(card) == ()


def test_a_profile_that_cannot_be_read_leaves_mps() -> None:
    card = named("H100 NVL 94GB").model_copy(update={"mig_profiles": frozenset({"half of it"})})
    assert {part.kind for part in portions_of(card)} == {"mps"}


def test_a_shared_load_keeps_the_name_of_its_accelerator_and_explains_its_part() -> None:
    loads = sized(WORKLOADS["smallest"], "L40S").systems[0].candidate.loads
    shared = [load for load in loads if load.portion]
    assert len(shared) >= 2
    for load in shared:
        assert load.accelerator == named("L40S").sku
        assert any(figure.key == "part_of_accelerator" for figure in load.figures)
