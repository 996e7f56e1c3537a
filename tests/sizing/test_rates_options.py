"""Services and jobs sized from measured rates."""

from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.quantity import Quantity
from catalog.specs import AcceleratorSpec, FormFactor
from configurator.workload import Domain, LoadProfile, RateService, RateTraining, Workload
from quotes.sizing.engine import size
from quotes.sizing.knowledge import shipped
from quotes.sizing.rates import explain_rates, load_rates, rate_service_options, rate_training_options
from quotes.sizing.rates.jobs import network_gbit_s
from quotes.sizing.rates.offered import BY_NAME
from quotes.sizing.results import LoadOption, Refusal, Verdict, readable_rate
from quotes.sizing.trace import Badge

from .hardware import ASSUMPTIONS, DAY, named, seed

RATES = load_rates()
ACCELERATORS = seed().accelerators
EIGHT = {accelerator.sku: 8 for accelerator in ACCELERATORS}
INSPECTION = RateService(domain=Domain.VISION, model="ViT-L/16", items_s=40 * 15, streams=40)
WEEKLY = RateTraining(
    domain=Domain.VISION,
    model="ViT-L/16",
    samples=4e6,
    epochs=10,
    sample_kb=500,
    deadline_h=12,
    runs_per_month=4.3,
)


def serve(service: RateService, *names: str, factors=(1.0,)) -> dict[str, tuple[LoadOption, ...] | Refusal]:
    chosen = [named(name) for name in names] if names else ACCELERATORS
    found = rate_service_options(
        service, chosen, max_in_node=EIGHT, assumptions=ASSUMPTIONS, rates=RATES, demand_factors=factors
    )
    return {accelerator.name: found[accelerator.sku] for accelerator in chosen}


def train(job: RateTraining, *names: str) -> dict[str, tuple[LoadOption, ...] | Refusal]:
    chosen = [named(name) for name in names] if names else ACCELERATORS
    found = rate_training_options(job, chosen, max_in_node=EIGHT, assumptions=ASSUMPTIONS, rates=RATES)
    return {accelerator.name: found[accelerator.sku] for accelerator in chosen}


def refused(answer: object) -> Refusal:
    assert isinstance(answer, Refusal)
    return answer


def options(answer: object) -> tuple[LoadOption, ...]:
    assert isinstance(answer, tuple)
    assert answer
    return answer


def test_every_accelerator_gets_an_answer() -> None:
    for found in (serve(INSPECTION), train(WEEKLY)):
        assert set(found) == {accelerator.name for accelerator in ACCELERATORS}


def test_the_factory_runs_on_a_few_cards() -> None:
    """40 cameras at 15 frames a second with a ViT-L: one to three data-centre cards, two Jetson Thor, six Orin."""
    found = serve(INSPECTION)
    assert options(found["L40S"])[0].gpus == 1
    assert 2 <= options(found["L4"])[0].gpus <= 3
    assert 2 <= options(found["Jetson AGX Thor 128GB"])[0].gpus <= 4
    assert 4 <= options(found["Jetson AGX Orin 64GB"])[0].gpus <= 8


def test_what_is_bought_carries_the_peak_on_the_cautious_end() -> None:
    option = options(serve(INSPECTION, "L4")["L4"])[0]
    rate = option.speed.items_s_per_gpu
    assert rate is not None
    assert option.gpus == ceil(600 / (rate.low * ASSUMPTIONS.rate_use_fraction))
    assert option.capacity_factor >= 1


@given(
    items=st.floats(min_value=0.1, max_value=1e5),
    factor=st.floats(min_value=1, max_value=5),
    model=st.sampled_from(["ViT-L/16", "ResNet-50", "DINOv2 ViT-L/14 (518 px)"]),
    spare=st.sampled_from(["single", "n_plus_1"]),
)
def test_more_demand_never_takes_fewer(items: float, factor: float, model: str, spare: str) -> None:
    service = RateService(domain=Domain.VISION, model=model, items_s=items, availability=spare)
    now, later = serve(service, "L40S")["L40S"], serve(service, "L40S", factors=(factor,))["L40S"]
    assert options(now)[0].gpus <= options(later)[0].gpus
    assert options(later)[0].capacity_factor >= factor * (1 - 1e-9)
    assert options(now)[0].spare_replicas == (spare == "n_plus_1")


def test_factors_that_need_the_same_number_are_one_option() -> None:
    small = INSPECTION.model_copy(update={"items_s": 1.0})
    assert len(options(serve(small, "L40S", factors=(1.0, 1.3, 2.0))["L40S"])) == 1


def test_cameras_are_limited_by_decoders() -> None:
    """A GeForce has one video decoder: it could judge more frames than it can decode."""
    found = serve(INSPECTION, "GeForce RTX 4090", "L4")
    assert "decoders" in str(options(found["GeForce RTX 4090"])[0].limited_by)
    assert "tensor" in str(options(found["L4"])[0].limited_by)


def test_without_decoders_the_cpu_decodes_and_cores_are_asked_for() -> None:
    found = serve(INSPECTION, "Instinct MI325X", "L40S")
    assert (
        options(found["Instinct MI325X"])[0].host.cpu_cores_per_gpu
        > options(found["L40S"])[0].host.cpu_cores_per_gpu
    )


def test_photographs_ask_for_cores_and_storage() -> None:
    photos = RateService(domain=Domain.VISION, model="ResNet-50", items_s=5000)
    option = options(serve(photos, "L40S")["L40S"])[0]
    assert option.host.cpu_cores_per_gpu > 5000 / option.gpus / 1000
    assert option.host.storage_read_gb_s == pytest.approx(5000 * 110e3 / 1e9)
    assert "CPU" in str(option.limited_by)


def test_at_the_edge_only_what_fits_in_a_box() -> None:
    found = serve(INSPECTION.model_copy(update={"at_edge": True}))
    offered = {name for name, answer in found.items() if not isinstance(answer, Refusal)}
    assert {"Jetson AGX Orin 64GB", "L4"} <= offered
    assert not offered & {"L40S", "H100 SXM5 80GB", "GeForce RTX 4090"}
    assert "edge box" in str(refused(found["L40S"]).reason)


def test_memory_refuses_with_figures_and_a_way_out() -> None:
    film = RateService(domain=Domain.VIDEO, model="Wan 2.2 A14B (720p, 5 s)", items_s=0.01)
    answer = refused(serve(film, "L40S")["L40S"])
    assert answer.stage == "memory"
    assert "needs about 56.9 GiB" in str(answer.reason)  # 60 GB and what runs beside it
    assert answer.excess == pytest.approx(56.9 / 45, rel=0.01)
    assert answer.change is not None
    assert options(serve(film, "H200 SXM5 141GB")["H200 SXM5 141GB"])[0].verdict is Verdict.FITS


def test_latency_is_held_or_refused() -> None:
    strict = RateService(domain=Domain.DETECTION, model="YOLO26m", items_s=10, latency_ms=3.0)
    found = serve(strict, "L40S", "Jetson AGX Orin 64GB")
    assert options(found["L40S"])
    assert "3 ms" in str(refused(found["Jetson AGX Orin 64GB"]).reason)


def test_more_steps_cost_in_proportion() -> None:
    twenty = RateService(domain=Domain.DIFFUSION, model="Stable Diffusion XL", items_s=1, steps=20)
    forty = twenty.model_copy(update={"steps": 40})
    rates = [options(serve(s, "L40S")["L40S"])[0].speed.items_s_per_gpu for s in (twenty, forty)]
    assert rates[0].value == pytest.approx(2 * rates[1].value)


@pytest.mark.parametrize(
    "service",
    [
        RateService(domain=Domain.VISION, model="never heard of", items_s=1),
        RateService(domain=Domain.SPEECH, model="ViT-L/16", items_s=1),
    ],
)
def test_an_unknown_model_is_told_at_once(service: RateService) -> None:
    found = size(Workload(services=(service,)), seed(), ASSUMPTIONS, shipped(), on=DAY)
    assert not found.systems
    assert not found.refusals
    assert [
        str(one.message).startswith("There is no measured rate for the model") for one in found.findings
    ] == [True]


def test_what_is_unknown_stays_unknown() -> None:
    assert "not known" in str(refused(serve(INSPECTION, "Arc Pro B60")["Arc Pro B60"]).reason)
    assert refused(serve(INSPECTION, "RTX 6000D")["RTX 6000D"]).stage == "catalog"


def test_an_impossible_wish_gets_an_answer() -> None:
    endless = RateService(domain=Domain.DIFFUSION, model="FLUX.1-dev", items_s=1e9)
    assert all(isinstance(answer, Refusal) for answer in serve(endless).values())


def test_what_a_plain_server_does_is_said() -> None:
    graph = RateService(domain=Domain.GRAPH, model="R-GAT", items_s=1000)
    assert "without accelerators" in str(refused(serve(graph, "L40S")["L40S"]).change)
    trees = RateService(domain=Domain.ANALYTICS, model="XGBoost", items_s=1e6)
    assert any("without accelerators" in str(f.message) for f in explained("L40S", trees).findings)
    assert not explained("L40S", trees.model_copy(update={"items_s": 1e9})).findings


# ── jobs ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_run_ends_before_the_deadline() -> None:
    for answer in train(WEEKLY).values():
        if isinstance(answer, Refusal):
            continue
        for option in answer:
            assert option.speed.run_hours is not None
            assert option.speed.run_hours.high <= 12
            assert option.capacity_factor >= 1
            assert option.gpu_hours_per_month == pytest.approx(
                option.speed.run_hours.high * option.gpus * 4.3
            )


@given(deadline=st.floats(min_value=6, max_value=200), epochs=st.floats(min_value=1, max_value=30))
def test_a_longer_deadline_never_takes_more(deadline: float, epochs: float) -> None:
    job = WEEKLY.model_copy(update={"deadline_h": deadline, "epochs": epochs})
    longer = job.model_copy(update={"deadline_h": deadline * 2})
    now, later = (
        train(job, "H100 SXM5 80GB")["H100 SXM5 80GB"],
        train(longer, "H100 SXM5 80GB")["H100 SXM5 80GB"],
    )
    assert options(later)[0].gpus <= options(now)[0].gpus


def test_modules_at_the_edge_do_not_train() -> None:
    found = train(WEEKLY)
    edge = [a.name for a in ACCELERATORS if a.form_factor is FormFactor.EDGE]
    assert edge
    assert all("not for training" in str(refused(found[name]).reason) for name in edge)


def test_training_was_not_measured_for_every_model() -> None:
    job = RateTraining(domain=Domain.DIFFUSION, model="FLUX.1-dev", samples=1e5, deadline_h=100)
    assert "No training" in str(refused(train(job, "L40S")["L40S"]).reason)


def test_large_photographs_are_bound_by_the_cpu() -> None:
    small = WEEKLY.model_copy(update={"sample_kb": 110, "model": "ResNet-50"})
    large = small.model_copy(update={"sample_kb": 5000})
    fast, slow = (options(train(job, "H100 SXM5 80GB")["H100 SXM5 80GB"])[0] for job in (small, large))
    assert "CPU" in str(slow.limited_by)
    assert slow.gpus >= fast.gpus


def test_a_job_that_cannot_end_in_time_says_how_long_it_takes() -> None:
    hopeless = WEEKLY.model_copy(update={"samples": 1e12, "deadline_h": 1})
    answer = refused(train(hopeless, "L40S")["L40S"])
    assert answer.stage == "speed"
    assert "hours" in str(answer.reason)


def test_only_several_servers_need_a_network() -> None:
    model = BY_NAME["ViT-L/16"]
    assert network_gbit_s(model, 500, 8, 8, ASSUMPTIONS) == 0
    # 2 × 304 M × 2 bytes each 128/5000 s, over 8 accelerators
    assert network_gbit_s(model, 5000, 16, 8, ASSUMPTIONS) == pytest.approx(
        2 * 304.3e6 * 2 * 8 / 1e9 / (128 / 5000) / 8
    )


def test_a_nightly_job_may_use_what_serves_by_day() -> None:
    night, any_time = WEEKLY, WEEKLY.model_copy(update={"window": LoadProfile.ALWAYS})
    assert options(train(night, "L40S")["L40S"])[0].shares_pool
    assert not options(train(any_time, "L40S")["L40S"])[0].shares_pool


# ── explaining ──────────────────────────────────────────────────────────────────────────────────────────────────


def explained(accelerator: str, part: RateService | RateTraining) -> LoadOption:
    found = serve(part, accelerator) if isinstance(part, RateService) else train(part, accelerator)
    chip: AcceleratorSpec = named(accelerator)
    return explain_rates(options(found[accelerator])[0], part, chip, ASSUMPTIONS, RATES)


@pytest.mark.parametrize("part", [INSPECTION, WEEKLY], ids=["service", "job"])
def test_the_explanation_agrees_with_the_option(part: RateService | RateTraining) -> None:
    option = explained("L40S", part)
    figures = {figure.key: figure for figure in option.figures}
    rate = option.speed.items_s_per_gpu
    assert rate is not None
    assert figures["rate_per_gpu"].value.value == pytest.approx(rate.value)
    assert figures["rate_per_gpu"].evidence
    assert figures["rate_per_gpu"].evidence_count > 0
    if isinstance(part, RateService):
        assert figures["accelerators"].value.value == option.gpus
        assert figures["capacity_items_s"].value.value == pytest.approx(option.capacity_factor * part.items_s)
    else:
        assert option.speed.run_hours is not None
        assert figures["run_hours"].value.value == pytest.approx(option.speed.run_hours.high)


def test_assumptions_are_named_in_the_inputs() -> None:
    named_keys = {i.assumption for figure in explained("L40S", INSPECTION).figures for i in figure.inputs}
    assert {"rate_use_fraction", "rate_runtime_gib"} <= named_keys
    assert named_keys - {None} <= set(type(ASSUMPTIONS).model_fields)


def test_a_guess_about_memory_is_marked_as_one() -> None:
    figures = {figure.key: figure for figure in explained("L40S", INSPECTION).figures}
    assert figures["memory_free_gib"].badge is Badge.ESTIMATED


def test_a_wide_interval_is_a_warning() -> None:
    live = RateService(domain=Domain.SPEECH, model="Parakeet 0.6B (live)", items_s=20, streams=20)
    assert explained("Gaudi 3", live).findings
    assert not explained("L40S", INSPECTION).findings


def test_what_a_service_carries_is_told_as_people_count_and_never_rounded_up() -> None:
    option = explained("L40S", INSPECTION)
    assert option.items_s_in_all == pytest.approx(INSPECTION.items_s * option.capacity_factor)
    told = option.rate_in_all
    assert option.items_s_in_all * 0.9 <= told.value <= option.items_s_in_all
    assert readable_rate(0.2, "images/s") == Quantity(value=720, unit="images/hour")
    assert readable_rate(71_100_000, "rows × trees/s") == Quantity(value=71.1, unit="million rows × trees/s")
