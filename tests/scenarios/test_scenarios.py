"""The five workloads through the real engine on the seed catalog, against figures worked out by hand.

Bounds follow from physics and from what the customer asked, not from what the engine said: better calibration may move
a result inside them, a mistake in a formula moves it out.
"""

from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from itertools import pairwise
from math import isclose

import pytest

from catalog.quantity import Money
from catalog.specs import Price
from configurator.workload import LanguageService, LanguageTraining, RateService, Workload
from quotes.pricing.lines import price
from quotes.proposal import propose
from quotes.sizing.candidates import accelerators_needed
from quotes.sizing.engine import size
from quotes.sizing.hardware.placing import Shape, holds
from quotes.sizing.knowledge import shipped
from quotes.sizing.results import LoadOption, SizedSystem, Sizing, Tier
from tests.scenarios import SCENARIOS, load_workload
from tests.sizing.hardware import ASSUMPTIONS, DAY, changed, seed

GIB = 2**30
every_scenario = pytest.mark.parametrize("name", SCENARIOS)


@cache
def sized(name: str) -> Sizing:
    return size(load_workload(name), seed(), ASSUMPTIONS, shipped(), on=DAY)


def chosen(name: str) -> SizedSystem:
    """The cheapest proposal: what the figures below are about."""
    return sized(name).systems[0]


def only_load(system: SizedSystem) -> LoadOption:
    (load,) = system.candidate.loads
    return load


def systems_with_parts(name: str) -> Iterator[tuple[SizedSystem, LoadOption, object]]:
    workload = load_workload(name)
    asked = {part.name: part for part in (*workload.services, *workload.jobs)}
    for system in sized(name).systems:
        for load in system.candidate.loads:
            yield system, load, asked[load.load]


# ── laws of every sizing ────────────────────────────────────────────────────────────────────────────────────────


@every_scenario
def test_every_accelerator_is_proposed_or_refused_with_a_reason(name: str) -> None:
    sizing = sized(name)
    proposed = {system.candidate.accelerator for system in sizing.systems}
    refused = [refusal.subject for refusal in sizing.refusals]
    assert len(refused) == len(set(refused))
    assert not proposed & set(refused)
    assert proposed | set(refused) == {accelerator.sku for accelerator in seed().accelerators}
    assert all(str(refusal.reason).strip() for refusal in sizing.refusals)


@every_scenario
def test_no_proposal_exceeds_a_limit_of_the_site(name: str) -> None:
    site = load_workload(name).site
    for system in sized(name).systems:
        build = system.candidate.system
        if site.power_available_kw is not None:
            assert build.power.provision_w <= site.power_available_kw * 1000
        assert {rack.cooling for rack in build.racks} <= site.cooling
        assert build.node.cooling in site.cooling


@every_scenario
def test_every_promise_holds_at_its_cautious_end(name: str) -> None:
    for _system, load, asked in systems_with_parts(name):
        speed = load.speed
        if isinstance(asked, LanguageService):
            assert speed.ttft_p95_s
            assert speed.tokens_s_per_user
            assert speed.ttft_p95_s.high <= asked.ttft_p95_s
            assert speed.tokens_s_per_user.low >= asked.tokens_s_per_user
        elif isinstance(asked, RateService):
            assert speed.items_s_per_gpu
            assert speed.items_s_per_gpu.low * (load.replicas - load.spare_replicas) >= asked.items_s
        else:
            assert speed.run_hours
            assert speed.run_hours.high <= asked.deadline_h


@every_scenario
def test_the_loads_find_room_in_the_memory_and_in_the_servers(name: str) -> None:
    workload = load_workload(name)
    for system in sized(name).systems:
        loads, build = system.candidate.loads, system.candidate.system
        shape = Shape(build.nodes, build.accelerators // build.nodes)
        assert holds(loads, accelerators_needed(loads, workload), shape)
        for load in loads:
            assert load.memory
            used = load.memory
            parts = (
                used.weights_gib + used.kv_gib + used.activations_gib + used.optimizer_gib + used.runtime_gib
            )
            assert used.free_gib >= 0
            assert parts + used.free_gib == pytest.approx(used.total_gib)


@every_scenario
def test_decoding_is_no_faster_than_reading_the_weights_once_a_token(name: str) -> None:
    """Active weights over bandwidth is the floor of a decode step, whatever was measured."""
    for system, load, asked in systems_with_parts(name):
        if not isinstance(asked, LanguageService):
            continue
        model = seed().models_by_key[asked.model.key]
        card = seed().items[system.candidate.accelerator]
        active_share = (model.active_params_b or model.total_params_b) / model.total_params_b
        bytes_read = load.memory.weights_gib * GIB * active_share
        assert load.speed.tokens_s_per_user.high < card.memory_bandwidth_gb_s * 1e9 / bytes_read


@every_scenario
def test_training_does_no_more_arithmetic_than_the_silicon_can(name: str) -> None:
    for system, load, asked in systems_with_parts(name):
        if not isinstance(asked, LanguageTraining):
            continue
        params = (asked.model.params_b or seed().models_by_key[asked.model.key].total_params_b) * 1e9
        flops_per_token = 6 * params if asked.method in {"full", "pre_train"} else 4 * params
        peak = seed().items[system.candidate.accelerator].bf16_tflops * 1e12 * load.gpus
        share = flops_per_token * asked.tokens / (load.speed.run_hours.value * 3600 * peak)
        assert 0.1 < share < 0.65  # published runs: 14 to 60 %


@every_scenario
def test_proposals_differ_and_the_lean_one_is_the_cheapest(name: str) -> None:
    systems = sized(name).systems
    assert len(systems) >= 2
    assert [system.tier for system in systems] == [tier for tier in Tier if tier in {s.tier for s in systems}]
    assert systems[0].tier is Tier.LEAN
    assert len({(s.candidate.accelerator, s.candidate.system.accelerators) for s in systems}) == len(systems)
    assert min(system.candidate.price_eur for system in systems) == systems[0].candidate.price_eur
    headrooms = [system.candidate.headroom_factor for system in systems]
    for less, more in pairwise(headrooms):
        assert more >= ASSUMPTIONS.tier_step_factor * less - 1e-9
    assert [system.recommended for system in systems].count(True) == 1


@every_scenario
def test_the_price_is_the_sum_of_the_lines_to_the_cent(name: str) -> None:
    for system in sized(name).systems:
        build = system.candidate.system
        amounts = [
            line.quantity * seed().price_eur(line.sku) for line in build.lines if line.pct_of_hardware is None
        ]
        hardware = sum(
            line.quantity * seed().price_eur(line.sku)
            for line in build.lines
            if line.pct_of_hardware is None and line.role not in {"service", "licence"}
        )
        for line in build.lines:
            if line.pct_of_hardware is not None:
                amounts.append(
                    (hardware * line.pct_of_hardware / 100).quantize(Decimal("0.01"), "ROUND_HALF_UP")
                )
        assert sum(amounts) == system.candidate.price_eur
        assert price(build, seed(), Decimal(21)).totals.net == system.candidate.price_eur
        assert system.economics.purchase_eur == system.candidate.price_eur


@every_scenario
def test_the_same_question_gets_the_same_answer(name: str) -> None:
    again = size(load_workload(name), seed(), ASSUMPTIONS, shipped(), on=DAY)
    assert again.model_dump_json() == sized(name).model_dump_json()


@every_scenario
def test_it_survives_the_journey_through_json(name: str) -> None:
    """What an issued quote keeps is what was proposed."""
    proposal = propose(load_workload(name), seed(), ASSUMPTIONS, shipped(), on=DAY, vat_rate_pct=Decimal(21))
    assert type(proposal).model_validate_json(proposal.model_dump_json()) == proposal


# ── municipality: document chat on Llama 3.1 70B, 60 at once, 12 kW of air ──────────────────────────────────────


def test_municipality_holds_70_billion_parameters_and_60_conversations() -> None:
    """FP8 weights: 70.6e9 bytes; 2 × 128,256 × 8,192 parameters of embedding and head stay in 16 bit: 72.7e9 in all.

    KV cache of a token: 2 × 80 layers × 8 heads × 128 × 2 bytes = 327,680 bytes. 60 requests hold between 3,000 and
    3,400 tokens each: 55 to 62 GiB over all replicas.
    """
    load = only_load(chosen("municipality"))
    assert load.precision == "fp8"
    assert load.memory.weights_gib * GIB * load.gpus_per_replica == pytest.approx(72.7e9, rel=0.02)
    assert load.memory.kv_bytes_per_token * load.layout.tp == 327_680
    in_use_gib = load.memory.kv_gib * load.gpus
    assert 60 * 3000 * 327_680 / GIB <= in_use_gib <= 60 * 3400 * 327_680 / GIB


def test_municipality_fits_the_room_and_the_purse() -> None:
    """Bytes read once a step at 20 tokens/s set the floor; four to eight cards of 80 GB or more carry it."""
    for system in sized("municipality").systems:
        candidate = system.candidate
        assert candidate.system.power.wall_w < 12_000
        assert candidate.system.nodes <= 2  # superchip servers hold two
        assert 4 <= candidate.system.accelerators <= 8
        assert 120_000 <= candidate.price_eur <= 400_000
    assert chosen("municipality").candidate.system.nodes == 1
    assert chosen("municipality").candidate.price_eur <= 250_000


def test_municipality_keeps_its_data_at_home() -> None:
    money = chosen("municipality").economics
    assert money.cloud is None
    assert money.hybrid_total_eur is None
    assert any("may not leave" in str(finding.message) for finding in money.findings)


def test_municipality_less_power_refuses_what_draws_more() -> None:
    """With 4.5 kW only systems of at most 4.5 kW are left; with 1 kW none, and that is said."""
    workload = load_workload("municipality")
    some = _with_power(workload, 4.5)
    assert some.systems
    assert all(system.candidate.system.power.provision_w <= 4500 for system in some.systems)
    none = _with_power(workload, 1)
    assert not none.systems
    assert none.findings
    assert {refusal.subject for refusal in none.refusals} == {a.sku for a in seed().accelerators}


def _with_power(workload: Workload, kw: float) -> Sizing:
    site = workload.site.model_copy(update={"power_available_kw": kw})
    return size(workload.model_copy(update={"site": site}), seed(), ASSUMPTIONS, shipped(), on=DAY)


# ── factory: ViT-L on 40 cameras, trained on 2 TB every week overnight ──────────────────────────────────────────


def test_factory_keeps_up_with_40_cameras() -> None:
    """40 × 15 frames/s = 600 images/s at all hours, so that training needs accelerators of its own."""
    workload = load_workload("factory")
    assert workload.services[0].items_s == 600
    for system in sized("factory").systems:
        serving, training = system.candidate.loads
        assert serving.speed.items_s_per_gpu.low * serving.replicas >= 600
        assert system.candidate.system.accelerators >= serving.gpus + training.gpus


def test_factory_trains_overnight() -> None:
    """2 TB / 500 kB = 4 million images, 8 passes in 12 hours: 741 images/s. At 3 × 123 GFLOP an image (ViT-L/16 at
    224 pixels: 61.6 GMAC forward) that is 274 TFLOPS, so that the cards together must have more than that."""
    job = load_workload("factory").jobs[0]
    assert job.samples == 4_000_000
    needed = job.samples * job.epochs / (job.deadline_h * 3600)
    assert needed == pytest.approx(741, abs=1)
    for system in sized("factory").systems:
        training = system.candidate.loads[1]
        card = seed().items[system.candidate.accelerator]
        assert training.speed.run_hours.high <= 12
        assert training.speed.items_s_per_gpu.value * training.gpus >= needed
        assert training.gpus * card.bf16_tflops >= 274


def test_factory_is_a_single_server_that_a_factory_can_pay() -> None:
    candidate = chosen("factory").candidate
    assert candidate.system.nodes == 1
    assert 40_000 <= candidate.price_eur <= 160_000
    assert candidate.system.storage.usable_tb + candidate.system.storage.local_nvme_tb >= 2


# ── university: 8 billion parameters, 500 billion tokens, 60 days ───────────────────────────────────────────────


def test_university_does_2_4e22_operations_in_60_days() -> None:
    """6 × 8e9 × 5e11 = 2.4e22 FLOP in 60 × 86,400 s: 4.63 PFLOPS sustained; at 60 % of the peak at best 7.7 PFLOPS."""
    for system in sized("university").systems:
        load = only_load(system)
        peak = seed().items[system.candidate.accelerator].bf16_tflops * 1e12 * load.gpus
        assert peak >= 6 * 8e9 * 5e11 / (60 * 86_400) / 0.6
        assert load.speed.run_hours.high / 24 <= 60


def test_university_has_room_for_the_training_state() -> None:
    """Weights, gradients, master weights and two moments: 16 to 18 bytes for each of 8 billion parameters, spread."""
    load = only_load(chosen("university"))
    assert load.gpus * (load.memory.weights_gib + load.memory.optimizer_gib) * GIB >= 16 * 8e9


def test_university_should_know_that_renting_costs_less() -> None:
    """A single run pays for its own hours only: 2.4e22 FLOP on rented cards of known peak at 20 to 60 % of it."""
    sizing = sized("university")
    money = sizing.recommended.economics
    offer = seed().items[money.cloud.offer]
    card = seed().items[offer.accelerator_sku]
    peak = card.bf16_tflops * 1e12 * offer.accelerator_count * money.cloud.instances
    hours = float(money.cloud_total_eur / (money.cloud.instances * money.cloud.hourly_eur))
    assert 2.4e22 / (0.6 * peak) / 3600 <= hours <= 2.4e22 / (0.2 * peak) / 3600
    assert money.cloud_total_eur < money.total_eur
    assert money.break_even_month is None
    assert any("renting the same work" in str(finding.message) for finding in sizing.findings)


def test_university_nothing_cheaper_was_overlooked() -> None:
    """Every accelerator that works costs at least as much as the lean proposal, or no measured run backs it."""
    lean = chosen("university").candidate.price_eur
    for refusal in sized("university").refusals:
        if refusal.stage == "dominated":
            assert refusal.reason.params["price"].value >= float(lean)


# ── law firm: an adapter for 70B every week, and its use by 120 lawyers ─────────────────────────────────────────


def test_law_firm_trains_at_night_on_the_hardware_that_serves_by_day() -> None:
    for system in sized("law-firm").systems:
        serving, training = system.candidate.loads
        assert training.shares_pool
        assert system.candidate.system.accelerators < serving.gpus + training.gpus
        assert training.speed.run_hours.high <= 12


def test_law_firm_needs_the_arithmetic_of_an_adapter() -> None:
    """LoRA skips the weight gradients of frozen matrices: 4 × 70.6e9 × 2e7 = 5.6e18 FLOP; recomputing all adds 2.8e18.

    Two cards of 989 TFLOPS at 20 to 60 % do that in 1.3 to 5.9 hours.
    """
    load = chosen("law-firm").candidate.loads[1]
    peak = seed().items[chosen("law-firm").candidate.accelerator].bf16_tflops * 1e12 * load.gpus
    hours = load.speed.run_hours.value
    assert 5.6e18 / (0.6 * peak) / 3600 <= hours <= 8.5e18 / (0.2 * peak) / 3600


def test_law_firm_holds_frozen_weights_in_16_bit_while_training() -> None:
    load = chosen("law-firm").candidate.loads[1]
    held = load.memory.weights_gib * load.gpus * GIB
    assert held >= 70.6e9 * 2 * 0.99
    assert load.memory.optimizer_gib * load.gpus * GIB < 0.1 * held


# ── software house: gpt-oss-120b for 2,000 developers in office hours ───────────────────────────────────────────


def test_software_house_holds_a_model_in_four_bits() -> None:
    """117 billion parameters, experts in MXFP4 (4.25 bit), the rest in 16 bit: the checkpoint is 65 GB.

    Engines may pad rows and columns of 2,880 to 3,072, which makes (3,072 / 2,880)² = 1.14 times that.
    """
    load = only_load(chosen("software-house"))
    assert load.precision == "mxfp4"
    assert 0.97 * 65e9 <= load.memory.weights_gib * load.gpus_per_replica * GIB <= 1.03 * 1.14 * 65e9


def test_software_house_compares_owning_renting_and_a_mix() -> None:
    """Office hours: 45 of 168 hours a week, 195.5 hours a month of 730; and the data is kept at EUR 10 per TB."""
    kept = 10 * load_workload("software-house").data.dataset_tb
    for system in sized("software-house").systems:
        money = system.economics
        hours = 45 / 168 * 730
        month = money.cloud.instances * float(money.cloud.hourly_eur) * hours + 4 * 95 + kept
        assert float(money.cloud.monthly_eur) == pytest.approx(month, abs=0.01)
        assert float(money.cloud_total_eur) == pytest.approx(36 * month, abs=0.02)
        running = sum(money.yearly_eur.values()) * 3
        assert isclose(money.total_eur, money.purchase_eur + running - money.residual_eur, abs_tol=0.05)
        assert money.hybrid_total_eur <= min(money.total_eur, money.cloud_total_eur)
        assert money.curve.own_eur[0] == pytest.approx(float(money.purchase_eur))
        assert money.curve.cloud_eur[-1] == pytest.approx(float(money.cloud_total_eur), abs=0.02)


def test_software_house_running_cost_by_hand() -> None:
    """Energy: kW × (45 of 168 h at 0.75, the rest at 0.35) × 8,760 × 1.5 × 0.19; administration: 6 h × 12 × 95;
    spares: 1 % of the purchase; capital: 4 % of half the purchase and its residual value of 10 %."""
    system = chosen("software-house")
    money, build = system.economics, system.candidate.system
    assert build.nodes == 1
    kwh = build.power.wall_w / 1000 * (45 / 168 * 0.75 + 123 / 168 * 0.35) * 8760 * 1.5
    assert float(money.yearly_eur["energy"]) == pytest.approx(kwh * 0.19, abs=0.01)
    assert money.yearly_eur["administration"] == 6 * 12 * 95
    assert float(money.yearly_eur["spares"]) == pytest.approx(float(money.purchase_eur) / 100, abs=0.01)
    price, yearly = float(money.purchase_eur), sum(map(float, money.yearly_eur.values()))
    assert yearly == pytest.approx(kwh * 0.19 + 6840 + price * (0.01 + 1.1 / 2 * 0.04), abs=0.02)
    assert float(money.total_eur) == pytest.approx(price + 3 * yearly - price / 10, abs=0.02)
    assert money.curve.own_eur[-1] == pytest.approx(float(money.total_eur), abs=0.5)


# ── the catalog decides ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_cheaper_card_changes_the_proposal() -> None:
    """A card that works but was not proposed becomes the lean proposal when its list price drops far enough."""
    before = sized("municipality")
    beaten, sku = next(
        (refusal, sku)
        for refusal in before.refusals
        if refusal.stage == "dominated" and (sku := seed().items[refusal.subject].order_sku) in seed().prices
    )
    entry = seed().prices[sku]
    cheap = entry.model_copy(update={"amount": Money(amount=entry.amount.amount / 10)})
    after = _with_prices({**seed().prices, sku: cheap})
    assert after.systems[0].candidate.accelerator == beaten.subject
    assert after.systems[0].candidate.price_eur < before.systems[0].candidate.price_eur


def test_a_card_without_a_price_is_refused_for_that() -> None:
    card = chosen("municipality").candidate.accelerator
    order = seed().items[card].order_sku
    after = _with_prices({sku: entry for sku, entry in seed().prices.items() if sku != order})
    assert card not in {system.candidate.accelerator for system in after.systems}
    (reason,) = (str(refusal.reason) for refusal in after.refusals if refusal.subject == card)
    assert "no valid price" in reason


def _with_prices(prices: dict[str, Price]) -> Sizing:
    return size(load_workload("municipality"), changed(prices=prices), ASSUMPTIONS, shipped(), on=DAY)
