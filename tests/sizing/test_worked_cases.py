"""Worked cases as others state them: what is asked is read from the unit, and answered by the product's own rules."""

import json
from datetime import date
from typing import Any

import pytest

from catalog.seed import seed_snapshot
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.evaluation.base import Context, PredictedRow
from quotes.sizing.evaluation.cases import predict_rows
from quotes.sizing.evaluation.cases.units import Asked, asked
from quotes.sizing.serving.calibration import load_calibration

CONTEXT = Context(seed_snapshot(date(2026, 11, 30)), Assumptions(), load_calibration())


def answered(unit: str, inputs: dict[str, Any]) -> PredictedRow:
    row = {"id": "x", "unit": unit, "numeric_expected": "1", "inputs": json.dumps(inputs)}
    (found,) = predict_rows([row], CONTEXT)
    return found


# ── units ───────────────────────────────────────────────────────────────────────────────────────────────────────

SAME_QUESTION = [
    ("GiB weights per GPU", "GiB of weights on each GPU", "GiB/GPU weights"),
    (
        "output tokens/s per GPU",
        "tokens/s output per GPU",
        "output tok/s/GPU",
        "output tokens per second per GPU",
    ),
    ("million USD", "USD million", "M USD", "MUSD"),
    ("USD per M tokens", "USD per million tokens", "USD/Mtok", "EUR per 1M tokens"),
    ("GPU hours", "GPU-hours", "H800 GPU hours"),
    ("ms TTFT", "ms mean time to first token"),
    ("GPUs minimum", "minimum GPUs", "fewest GPUs", "GPUs needed"),
    ("leaf switches", "leaves switches"),
]


@pytest.mark.parametrize("units", SAME_QUESTION, ids=lambda units: units[0])
def test_one_question_has_many_spellings(units: tuple[str, ...]) -> None:
    assert len({asked(unit, 730)._replace(word="") for unit in units}) == 1


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("KiB per token", Asked("bytes", 1024, frozenset(), frozenset({"token"}), "kib")),
        ("Gb/s", Asked("bytes/s", 1.25e8, frozenset(), frozenset(), "gbit/s")),
        ("months", Asked("hours", 730, frozenset(), frozenset(), "month")),
        ("% MFU", Asked("share", 0.01, frozenset({"mfu"}), frozenset(), "%")),
        ("billion parameters", Asked("parameters", 1e9, frozenset(), frozenset(), "parameter")),
        ("fits (1/0)", Asked("flag", 1, frozenset({"fit"}), frozenset())),
        ("GiB on L40S 48GB", Asked("bytes", 2**30, frozenset({"on", "l40s", "48gb"}), frozenset(), "gib")),
    ],
)
def test_a_unit_is_a_measure_with_a_scale(unit: str, expected: Asked) -> None:
    assert asked(unit, 730) == expected


# ── answers ─────────────────────────────────────────────────────────────────────────────────────────────────────

PORTS = {"nics_per_node": 8, "switch_ports": 64}
STRIPE = {"gpus_per_node": 8, "leaf_ports": 64}
POD = {"system": "DGX H100 SuperPOD", "nodes": 31, "ufm": True, **PORTS}
LARGE = {"system": "DGX B200 SuperPOD", "nodes": 512, **PORTS}
POD_XDR = {"nodes": 288, "nics_per_node": 8, "switch_ports": 144}
GROUP = {"nodes": 240, "gpus_per_node": 4, "nics": "4 x NDR200"}
AIPOD = {"compute": "48 x DGX H100", "storage": "AFF A900"}
OWNED = {"capex_usd": 833806, "onprem_opex_usd_per_h": 0.87, "cloud_usd_per_h": 98.32}
COLOCATED = {
    "server": "8 x H100", "capex_usd": [300000, 350000], "colo_usd_per_kw_month": [150, 250], "power_kw": 10.2,
    "cloud_usd_per_gpu_h": [3.0, 4.5], "years": 3,
}  # fmt: skip
POWER = {"gpus": 8, "gpu_kw": 0.7, "other_kw": 2.0, "pue": 1.4, "elec_usd_per_kwh": 0.1, "hours": 8760}
MTOK = {"onprem_usd_per_mtok": 4.74, "cloud_usd_per_mtok": 29.09}
RENTED = {"usd_per_h": 43.16, "hours": 26280, "gpus": 8}
RATES = {"gpus": 8, "usd_per_gpu_h": [15, 30], "years": 3}
SERVED = {"gpus": 4, "usd_per_gpu_h": 2.5, "tokens_per_s": 3400}
LLAMA_8B = {"workload": "inference", "model": "Llama-3.1-8B", "kv_dtype": "bf16"}
BLOOM = {"checkpoint_gb": 2300, "checkpoint_seconds": 40, "gpus": 384}
CASES: list[tuple[str, dict[str, Any], float, float]] = [  # the last is how far off it may be, relative
    # Reference architectures of DGX SuperPOD (H100, B200, B300), Juniper, JUPITER.
    ("compute switches", POD, 12, 0),
    ("compute cables", POD, 252, 0),
    ("spine-leaf cables", POD, 256, 0),
    ("cables", LARGE, 3 * 4096, 0),
    ("compute switches", LARGE, 320, 0),
    ("core switches", LARGE, 64, 0),
    ("nodes per scalable unit", {"ufm": True, **PORTS}, 31, 0),
    ("switches", {"scalable_units": 3, "ufm": True, **PORTS}, 40, 0),
    ("spine switches", POD_XDR, 18, 0),
    ("node-leaf cables", POD_XDR, 2304, 0),
    ("compute switches", {"nodes": 64, "gpus": 512, "planes": 2}, 24, 0),
    ("compute switches", {"nodes": 96, "nics_per_node": 8, "subscription": "3:1"}, 20, 0),
    ("spine switches", {"nodes": 32, **PORTS}, 4, 0),
    ("servers per stripe", STRIPE, 32, 0),
    ("servers per stripe", {**STRIPE, "subscription": "2 : 1"}, 42, 0),
    ("GPUs per stripe", STRIPE, 256, 0),
    ("lower switches", GROUP, 15, 0),
    ("upper switches", GROUP, 16, 0),
    ("oversubscription ratio", {"leaf_downlinks": 16, "leaf_uplinks": 8, "nic_gbps": 400}, 2, 0),
    # Power, racks and figures of makers.
    ("kW per node maximum", {"system": "DGX B200"}, 14.3, 0),
    ("kW per node maximum", {"system": "DGX H200"}, 10.2, 0),
    ("kW per rack", {"system": "DGX B300", "nodes_per_rack": 4}, 56, 0.05),
    ("kW per rack", {"system": "GB300 NVL72"}, 132, 0.06),
    ("kW", {"system": "DGX H100 SuperPOD", "nodes": 32}, 330, 0.02),
    ("nodes per rack", {"system": "DGX B200", "rack_kw": 20}, 1, 0),
    ("nodes per rack", {"system": "DGX H100", "rack_kw": 45}, 4, 0),
    ("racks", {"system": "DGX H100 SuperPOD", "nodes": 127, "nics_per_node": 8}, 38, 0.06),
    ("racks", {"system": "DGX H100", "nodes": 32, "nodes_per_rack": 4}, 8, 0),
    ("kW usable", {"power_shelves": "8 x 33 kW"}, 132, 0),
    ("kW usable", {"system": "DGX B200", "psu": "6 x 3.3 kW, 5+1"}, 16.5, 0),
    ("rack units", {"system": "DGX B200"}, 10, 0),
    ("W idle", {"gpu": "H100 SXM 80GB"}, 124, 0.2),
    ("MiB on H100 80GB", {"gpus": ["H100 80GB", "L4 24GB"]}, 81_559, 0),
    # Storage: checkpoints of MLPerf Storage and BLOOM, NetApp AIPod, what MLPerf Storage asks of one accelerator.
    ("GB checkpoint", {"workload": "pretrain", "model": "Llama-3.1-70B"}, 912, 0.1),
    ("TB checkpoint", {"workload": "pretrain", "model": "Llama-3.1-405B"}, 5.29, 0.1),
    ("GB/s write", BLOOM, 57.5, 0),
    ("GB/s per GPU", BLOOM, 0.15, 0.01),
    ("seconds", {"checkpoint_tb": 2.3, "write_gb_s": 57.5}, 40, 0),
    ("HA pairs", AIPOD, 12, 0),
    ("controllers", AIPOD, 24, 0),
    ("GB/s read", {"workload": "unet3d", "accelerator": "H100", "accelerator_count": 36}, 99, 0.05),
    # Total cost of ownership, with the right value where the publication erred.
    ("hours", OWNED, 8556, 0.001),
    ("months", OWNED | {"month_hours": 720}, 11.88, 0.001),
    ("years", OWNED | {"utilisation": 0.3}, 3.256, 0.001),
    ("years", OWNED | {"cloud_usd_per_h": 33.0, "hours_per_day": 12}, 5.92, 0.01),
    ("USD saving", OWNED | {"horizon_years": 5}, 3_434_504, 0.001),
    ("USD on-premises", OWNED | {"years": 5}, 871_912, 0.001),
    ("million USD cloud", OWNED | {"years": 5}, 4.306, 0.001),
    ("hours", {"capex_eur": 5e4, "onprem_opex_eur_per_h": 1, "cloud_eur_per_h": 6}, 10_000, 0.001),
    ("months", COLOCATED, 16, 0.25),
    ("USD residual value", {"capex_usd": 300000, "residual_pct": [25, 35]}, 90_000, 0),
    ("USD per GPU hour", {"capex_usd": 280000, "gpus": 8, "years": 3}, 1.33, 0.01),
    ("% utilisation", {"capex_usd": 280000, "gpus": 8, "years": 3, "cloud_usd_per_gpu_h": 5.03}, 26.5, 0.01),
    ("years payback", {"invest_usd_m": 1.96, "benefit_usd_m": 25.9, "years": 4}, 0.303, 0.01),
    ("%", {"invest_usd_m": 1.96, "benefit_usd_m": 25.9, "years": 4}, 1221, 0.01),
    ("% saving", MTOK, 83.7, 0.01),
    ("times", MTOK, 6.137, 0.001),
    ("USD", RENTED, 1_134_245, 0.001),
    ("USD per GPU hour", RENTED, 5.395, 0.001),
    ("million USD at the low rate", RATES, 3.15, 0.01),
    ("million USD at the high rate", RATES, 6.307, 0.001),
    ("million USD", {"workload": "pretrain", "gpu_hours": 2.788e6, "usd_per_gpu_h": 2}, 5.576, 0.001),
    ("USD per M tokens", SERVED, 0.817, 0.01),
    ("USD per M tokens", SERVED | {"overhead": 0.3}, 1.06, 0.01),
    ("USD per year", POWER, 9321, 0.001),
    ("USD per hour", POWER, 1.064, 0.001),
    ("kWh per year", POWER, 93_206, 0.001),
    # Language models: caches and memory as papers, logs and issues print them.
    ("GiB KV per request", LLAMA_8B | {"max_context": 131_072}, 16, 0),
    ("GiB KV pool per GPU", LLAMA_8B | {"gpu": "H100 80GB", "engine": "vLLM 0.19.0", "mem_util": 0.95}, 58.11, 0.02),
    ("bytes per token", {"arch": {"layers": 32, "kv_heads": 8, "head_dim": 128}, "kv_dtype": "fp16"}, 131_072, 0),
    ("bits per weight", {"model": "Llama-3.1-8B", "quant": "Q4_K_M"}, 4.83, 0.02),
    ("fits (1/0)", {"model": "DeepSeek-V3", "weight_dtype": "fp8", "gpu": "H20 141GB", "gpu_count": 8}, 1, 0),
    ("largest valid TP", {"cases": [{"heads": 28}], "gpu_count": 8}, 7, 0),
    ("GB optimizer states", {"workload": "finetune", "model": "Llama-2-7B", "params_b": 7}, 84, 0.05),
    ("bytes per parameter", {"workload": "finetune", "optimizer": "AdamW, 18 bytes"}, 18, 0),
    ("MFU %", {"workload": "pretrain", "model": "32B dense", "gpu": "A800 80GB", "gpu_count": 256, "tp": 8}, 47, 0.1),
    ("GPU hours", {"workload": "pretrain", "model": "Llama-2-70B", "tokens": 2e12, "gpu": "A100 80GB"}, 1.72e6, 0.15),
    ("FLOPs", {"workload": "pretrain", "model": "Llama-3-70B", "tokens": 15e12}, 6.3e24, 0.05),
]  # fmt: skip


@pytest.mark.parametrize(("unit", "inputs", "expected", "within"), CASES)
def test_published_cases_come_out(unit: str, inputs: dict[str, Any], expected: float, within: float) -> None:
    found = answered(unit, inputs)
    assert not found.refused, found.refused
    assert found.predicted == pytest.approx(expected, rel=within or 1e-9)


# ── refusals ────────────────────────────────────────────────────────────────────────────────────────────────────

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("bananas", {"model": "Llama-3.1-8B"}, "bananas"),
    ("hours per day", OWNED, "hours per day"),
    ("compute switches", PORTS, "how many servers"),
    ("USD", OWNED | {"years": 5}, "own system or the rented one"),
    ("USD", {"usd_per_h": 2}, "over how long"),
    ("years", OWNED | {"cloud_usd_per_h": 0.5}, "never breaks even"),
    ("GB/s read", {"system": "DGX H100", "tier": "best"}, "levels of another guideline"),
    ("GB/s read", {"workload": "weather", "gpu": "H100", "gpu_count": 8}, "not known"),
    ("HA pairs", {"compute": "8 x DGX H100", "storage": "Nobody 9000"}, "Nobody 9000"),
    ("kW per node maximum", {"system": "DGX Z9000"}, "DGX Z9000"),
    ("kW usable", {"system": "DGX B200"}, "power supplies"),
    ("fits (1/0)", {"model": "Nobody-7B", "gpu": "RTX 4090", "max_context": 32_768}, "depends on the cache"),
    ("output tokens/s", LLAMA_8B | {"gpu": "A100 64GB", "isl": 100, "osl": 100}, "64 GB"),
    ("ms TTFT", LLAMA_8B | {"gpu": "H100", "isl": 100, "osl": 100}, "in flight"),
    ("GiB", {"gpus": ["H100", "L4"]}, "model"),
    ("GPU hours", {"workload": "pretrain", "model": "Llama-2-7B", "gpu": "TPU v5e", "tokens": 1e12}, "TPU"),
]


@pytest.mark.parametrize(("unit", "inputs", "reason"), REFUSED)
def test_what_is_left_open_is_refused_with_a_reason(unit: str, inputs: dict[str, Any], reason: str) -> None:
    found = answered(unit, inputs)
    assert found.predicted is None
    assert reason in found.refused
