"""The table of traps in docs/sizing/traps.md: every rule has tests that exist, and here are those of nobody else."""

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.importers.model_config import read_model_config
from configurator.workload import LoadProfile
from quotes.sizing.architecture import parameters
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.hardware.fabric import plan_topology
from quotes.sizing.results import Refusal
from quotes.sizing.serving.calibration import load_calibration
from quotes.sizing.serving.measurements import OwnMeasurement, compare
from quotes.sizing.training import plan
from tests.sizing.language import B200, H100, H200, LLAMA_70B, QWEN_32B, catalog, gpu, model, service, sized
from tests.sizing.money import candidate
from tests.sizing.money import workload as money_workload
from tests.sizing.test_economics import money

TESTS = Path(__file__).resolve().parent.parent
TABLE = TESTS.parent / "docs" / "sizing" / "traps.md"
ROW = re.compile(r"^\| (\d+) \| (.+?) \| (.+) \|$", re.MULTILINE)


@cache
def names_in(path: str) -> frozenset[str]:
    tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def table() -> dict[int, list[str]]:
    return {
        int(number): re.findall(r"`([^`]+::[^`]+)`", tests)
        for number, _rule, tests in ROW.findall(TABLE.read_text(encoding="utf-8"))
    }


def test_every_rule_has_a_test_that_exists() -> None:
    rules = table()
    assert list(rules) == list(range(1, 36))
    for number, named in rules.items():
        assert named, number
        for one in named:
            path, _, name = one.partition("::")
            assert name in names_in(path), one


# ── memory ──────────────────────────────────────────────────────────────────────────────────────────────────────

CONFIG = {
    "architectures": ["LlamaForCausalLM"], "hidden_size": 8192, "intermediate_size": 28672, "num_hidden_layers": 80,
    "num_attention_heads": 64, "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 131072,
    "model_type": "llama", "torch_dtype": "bfloat16",
}  # fmt: skip


@pytest.mark.parametrize(
    "packed",
    [
        {"quant_method": "awq", "bits": 4, "group_size": 128},
        {"quant_method": "gptq", "bits": 4, "group_size": 128},
        {"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": {
            "group_0": {"weights": {"num_bits": 4, "type": "int"}}}},
    ],
    ids=["awq", "gptq", "packed"],
)  # fmt: skip
def test_packing_does_not_change_the_count(packed: dict[str, object]) -> None:
    """Files of packed 4-bit weights hold an eighth as many elements; the dimensions tell the parameters."""
    plain = read_model_config(json.dumps(CONFIG))
    small = read_model_config(json.dumps({**CONFIG, "quantization_config": packed}))
    assert small.native_format == "int4"
    assert parameters(small).total == parameters(plain).total == pytest.approx(70.55e9, rel=0.001)


def test_128k_is_meant_to_the_token() -> None:
    """A model of 131,072 positions takes '128k' in both meanings, and not one token more."""
    arch = model(LLAMA_70B)
    assert arch.max_context == 131_072
    answers = {
        tokens: sized(service(context_tokens=tokens), arch, [gpu(H200)])[H200]
        for tokens in (128_000, 131_072, 131_073)
    }
    assert not isinstance(answers[128_000], Refusal)
    assert not isinstance(answers[131_072], Refusal)
    assert isinstance(answers[131_073], Refusal)


# ── speed ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("key", "sku"), [(LLAMA_70B, B200), (LLAMA_70B, H100), (QWEN_32B, H200)])
@pytest.mark.parametrize("load", [4, 32, 128])
def test_a_server_promises_less_than_a_tuned_benchmark(key: str, sku: str, load: int) -> None:
    """Constants of a vendor's own benchmark program exist, and proposals never use them."""
    shipped = load_calibration()
    tuned = shipped.changed(
        engines={**shipped.engines, "trtllm": shipped.engines["trtllm_tuned"]}, evidence_rows=()
    )
    entered = OwnMeasurement(
        accelerator_sku=sku, model_key=key, engine="trtllm", precision="fp8", tp=4, input_tokens=1000,
        output_tokens=1000, concurrency=load, burst=False, tpot_ms=50, source="any",
    )  # fmt: skip
    served, ceiling = (
        compare(entered, catalog(), known).before for known in (shipped.changed(evidence_rows=()), tuned)
    )
    assert served.tokens_s_per_gpu < ceiling.tokens_s_per_gpu


# ── network ─────────────────────────────────────────────────────────────────────────────────────────────────────


@settings(max_examples=60)
@given(st.integers(9, 255), st.sampled_from([4, 8]), st.sampled_from([32, 64]))
def test_one_spine_fewer_would_not_do(nodes: int, rails: int, ports: int) -> None:
    """Each smaller number of spines lacks ports for the uplinks or does not divide those of a leaf."""
    found = plan_topology(nodes, rails, ports)
    if not found.spines or found.cores:
        return
    up = found.leaf_spine_links // found.leaves
    for fewer in range(1, found.spines):
        assert up % fewer or fewer * ports < found.leaf_spine_links


# ── money ───────────────────────────────────────────────────────────────────────────────────────────────────────

A = Assumptions()


def test_an_hour_of_a_system_that_rests_costs_more() -> None:
    """Owning costs the same each month, whatever it does; renting goes with the hours. So use decides."""
    busy, resting = (
        money(candidate(price="20000"), money_workload(profile), "4")
        for profile in (LoadProfile.ALWAYS, LoadProfile.OFFICE_HOURS)
    )
    assert busy.cloud is not None
    assert resting.cloud is not None
    hours = busy.cloud.hours_per_month, resting.cloud.hours_per_month
    assert hours[0] > 3 * hours[1]
    own = [float(found.total_eur) / found.horizon_years / 12 for found in (busy, resting)]
    assert own[1] / hours[1] > 2.5 * own[0] / hours[0]
    assert busy.break_even_month is not None
    assert resting.break_even_month is None or resting.break_even_month > 2.5 * busy.break_even_month


@given(price=st.integers(1_000, 3_000_000), rent=st.floats(0.2, 40))
def test_no_break_even_after_the_life_of_the_hardware(price: int, rent: float) -> None:
    found = money(candidate(price=str(price)), None, f"{rent:.4f}")
    assert found.break_even_month is None or found.break_even_month <= found.horizon_years * 12


def test_a_month_has_730_hours_everywhere() -> None:
    assert A.hours_per_month == plan.HOURS_PER_MONTH == 8760 / 12
    found = money(None, money_workload(LoadProfile.ALWAYS), "1")
    named = {item.assumption: item.value for figure in found.figures for item in figure.inputs}
    assert named["hours_per_month"].value == 730
