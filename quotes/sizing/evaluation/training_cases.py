"""Worked cases about training: what fits, how much memory, how fast, how long.

A case is turned into the same typed run as a published row, and answered in the unit that it asks for.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from quotes.sizing.assumptions import Assumptions
from quotes.sizing.evaluation.base import Context, PredictedRow, Row
from quotes.sizing.evaluation.training_memory_rows import memory_run
from quotes.sizing.evaluation.training_predict import Predicted, fits, peaks, rates
from quotes.sizing.evaluation.training_rows import throughput_run
from quotes.sizing.evaluation.training_run import NotInScope, Run, subject_model
from quotes.sizing.trace import Badge
from quotes.sizing.training.calibration import TrainingCalibration, load_training_calibration
from quotes.sizing.training.memory import STATES
from quotes.sizing.training.model import trained_model
from quotes.sizing.training.option import HOST_BYTES_PER_PARAM, HOST_BYTES_PURE
from quotes.sizing.training.speed import model_flops_per_token

SHARE_THAT_FITS = {"fits": 1.0, "tight": 0.5, "oom": 0.0}
MOST_GPUS = 4096

type Answer = Predicted | float | None
type Inputs = Mapping[str, Any]


def predict_case(row: Row, inputs: Inputs, context: Context) -> PredictedRow | None:
    """The answer to a case about training, None when it is about something else."""
    about_states = inputs.get("sharding") and not inputs.get("workload")
    if inputs.get("workload") not in {"finetune", "pretrain", "training"} and not about_states:
        return None
    measured = float(row["numeric_expected"]) if row["numeric_expected"] else None
    try:
        answer = _answer(row, inputs, context.assumptions)
        reason = "" if answer is not None else f"the unit {row['unit']!r} is not one that training answers"
    except NotInScope as refusal:
        answer, reason = None, str(refusal)
    value = answer.value if isinstance(answer, Predicted) else answer
    interval = (answer.low, answer.high) if isinstance(answer, Predicted) else (None, None)
    return PredictedRow(
        id=row["id"], metric="numeric_expected", measured=measured, predicted=value, low=interval[0],
        high=interval[1], badge=str(answer.badge) if isinstance(answer, Predicted) else str(Badge.COMPUTED),
        refused=reason, model=str(inputs.get("model", "")), gpu=str(inputs.get("gpu", "")),
    )  # fmt: skip


def _answer(row: Row, inputs: Inputs, assumptions: Assumptions) -> Answer:
    calibration = load_training_calibration()
    unit = row["unit"].lower()
    for pattern, answer in ANSWERS:
        if re.search(pattern, unit):
            return answer(row, inputs, calibration, assumptions)
    return None


# ── a case as a run ─────────────────────────────────────────────────────────────────────────────────────────────

_METHODS = {"full": "full_ft", "lora": "lora", "qlora": "qlora"}


def _cells(row: Row, inputs: Inputs) -> dict[str, str]:
    """The inputs of a case in the columns of a published row."""
    method = (
        "pretrain"
        if inputs.get("workload") == "pretrain"
        else _METHODS.get(str(inputs.get("method", "full")), "full_ft")
    )
    degrees = " ".join(f"{key}={inputs[key]}" for key in ("tp", "pp", "dp", "ep", "vpp") if key in inputs)
    offload = " CPU offload" if inputs.get("offload") else ""
    recompute = inputs.get("activation_checkpointing")
    model = str(inputs.get("model", ""))
    sharding = str(inputs.get("sharding", ""))
    if not sharding and not degrees and float(inputs.get("gpu_count", 1)) > 1:
        sharding = "FSDP"  # nothing said: the usual way to spread one job over several GPUs
    return {
        "id": row["id"], "source_locator": row["source_locator"], "source_title": row["source_locator"], "date": "",
        "model": model, "params_b": str(inputs.get("params_b") or _size(model) or ""), "active_params_b": "",
        "method": method, "precision": str(inputs.get("dtype") or inputs.get("weight_dtype") or "bf16"),
        "optimizer": str(inputs.get("optimizer", "")), "lora_rank": str(inputs.get("rank", "")),
        "gpu": str(inputs.get("gpu", "")), "gpu_count": str(inputs.get("gpu_count", 1)), "nodes": "",
        "sharding": f"{sharding} {degrees}{offload}".strip(),
        "zero_stage_or_fsdp": sharding, "tp": str(inputs.get("tp", "")),
        "pp": str(inputs.get("pp", "")), "dp": str(inputs.get("dp", "")), "ep": str(inputs.get("ep", "")),
        "seq_len": str(inputs.get("seq") or 2048), "global_batch": str(inputs.get("global_batch", "")),
        "micro_batch": str(inputs.get("batch") or inputs.get("micro_batch") or (1 if method == "pretrain" else 2)),
        "activation_checkpointing": {True: "full", False: "none"}.get(recompute, "") if recompute is not None else "",
        "metric": "tokens_s_per_gpu", "value": "0", "tokens_trained": str(inputs.get("tokens", "")),
        "peak_mem_gib_per_gpu": "", "outcome": "",
        "notes": f"unit={'GiB' if 'gib' in row['unit'].lower() else 'GB'}; {inputs.get('network', '')} per node;"
        f"vp={inputs.get('vpp', 1)}",
    }  # fmt: skip


def _size(model: str) -> float | None:
    found = re.search(r"([\d.]+) ?b\b", model.lower())
    return float(found[1]) if found else None


def _memory(row: Row, inputs: Inputs) -> Run:
    return memory_run(_cells(row, inputs))


def _peak(row: Row, inputs: Inputs, calibration: TrainingCalibration, assumptions: Assumptions) -> Answer:
    return peaks([_memory(row, inputs)], calibration)[0]


def _fits(row: Row, inputs: Inputs, calibration: TrainingCalibration, assumptions: Assumptions) -> Answer:
    verdict = fits([_memory(row, inputs)], calibration)[0].verdict
    enough_host = not inputs.get("host_ram_gb") or _host_gb(inputs) <= float(inputs["host_ram_gb"])
    return float(verdict != "oom" and enough_host)


def _share(row: Row, inputs: Inputs, calibration: TrainingCalibration, assumptions: Assumptions) -> Answer:
    return SHARE_THAT_FITS[fits([_memory(row, inputs)], calibration)[0].verdict]


def _least_gpus(
    row: Row, inputs: Inputs, calibration: TrainingCalibration, assumptions: Assumptions
) -> Answer:
    count = 1
    while count <= MOST_GPUS:
        run = _memory(row, {**inputs, "gpu_count": count})
        if fits([run], calibration)[0].verdict != "oom":
            return float(count)
        count *= 2
    return None


def _host_gb(inputs: Inputs) -> float:
    """Host memory of offloaded states: 16-bit ones where the source keeps everything in 16 bit."""
    per_param = (
        HOST_BYTES_PURE if "zero" not in str(inputs.get("sharding", "")).lower() else HOST_BYTES_PER_PARAM
    )
    return _params(inputs) * per_param / 1e9


def _params(inputs: Inputs) -> float:
    size = float(inputs["params_b"]) if inputs.get("params_b") else None
    return trained_model(subject_model(str(inputs.get("model", "")), size)[1]).params


def _host(row: Row, inputs: Inputs, calibration: TrainingCalibration, assumptions: Assumptions) -> Answer:
    return _host_gb(inputs)


def _states(row: Row, inputs: Inputs, calibration: TrainingCalibration, assumptions: Assumptions) -> Answer:
    """Of Adam in mixed precision, of the whole model; per GPU as far as the sharding divides them."""
    whole = _params(inputs) * STATES["adamw"].resident / 1e9
    if "per gpu" not in row["unit"].lower():
        return whole
    sharding, gpus = str(inputs.get("sharding", "")).lower(), float(inputs.get("gpu_count", 1))
    kept = next((share for name, share in KEPT_WHOLE.items() if name in sharding), 1.0)
    return whole * (kept + (1 - kept) / gpus)


# Of the sixteen bytes of a parameter, two are weights, two gradients and twelve the optimiser's.
KEPT_WHOLE = {"zero-1": 4 / 16, "zero-2": 2 / 16, "zero-3": 0.0, "fsdp": 0.0}


def _rate(row: Row, inputs: Inputs, calibration: TrainingCalibration) -> Predicted:
    return rates([throughput_run(_cells(row, inputs))], calibration)[0]


def _tokens_s_per_gpu(
    row: Row, inputs: Inputs, calibration: TrainingCalibration, assumptions: Assumptions
) -> Answer:
    return _rate(row, inputs, calibration)


def _tokens_s(row: Row, inputs: Inputs, calibration: TrainingCalibration, assumptions: Assumptions) -> Answer:
    rate, gpus = _rate(row, inputs, calibration), float(inputs.get("gpu_count", 1))
    return Predicted(rate.value * gpus, rate.low * gpus, rate.high * gpus, rate.badge)


def _mfu(row: Row, inputs: Inputs, calibration: TrainingCalibration, assumptions: Assumptions) -> Answer:
    pct = 100 / _rate_at_peak(row, inputs)
    if given := inputs.get("tokens_per_s_per_gpu"):
        return float(given) * pct
    rate = _rate(row, inputs, calibration)
    return Predicted(rate.value * pct, rate.low * pct, rate.high * pct, rate.badge)


def _rate_at_peak(row: Row, inputs: Inputs) -> float:
    """Tokens/s of one GPU that wasted nothing."""
    run = throughput_run(_cells(row, inputs))
    flops = model_flops_per_token(trained_model(run.arch), run.sequence_tokens, frozen=run.frozen)
    return run.hardware.bf16_tflops * 1e12 / flops


def _given_rate(row: Row, inputs: Inputs) -> float | None:
    """Tokens/s of one GPU where the case states them, or the utilisation that they follow from."""
    if given := inputs.get("tokens_per_s_per_gpu"):
        return float(given)
    if given := inputs.get("tokens_per_s"):
        return float(given) / float(inputs["gpu_count"])
    share = float(inputs.get("mfu") or inputs.get("mfu_pct") or 0)
    return _rate_at_peak(row, inputs) * (share / 100 if share > 1 else share) or None


def _million_hours(
    row: Row, inputs: Inputs, calibration: TrainingCalibration, assumptions: Assumptions
) -> Answer:
    hours = _hours(row, inputs, calibration, assumptions)
    if isinstance(hours, Predicted):
        return Predicted(hours.value / 1e6, hours.low / 1e6, hours.high / 1e6, hours.badge)
    return None if hours is None else hours / 1e6


def _hours(row: Row, inputs: Inputs, calibration: TrainingCalibration, assumptions: Assumptions) -> Answer:
    """GPU-hours of a whole project, or of a run whose rate is given."""
    tokens = float(inputs["tokens"])
    if given := _given_rate(row, inputs):
        return tokens / given / 3600
    whole = {"gpu_count": 512, "sharding": "FSDP", "seq": 8192, **inputs}
    rate = _rate(row, whole, calibration)
    low, middle, high = (
        tokens / (value * 3600 * assumptions.training_project_fraction)
        for value in (rate.high, rate.value, rate.low)
    )
    return Predicted(middle, low, high, rate.badge)


def _days(row: Row, inputs: Inputs, calibration: TrainingCalibration, assumptions: Assumptions) -> Answer:
    hours = _hours(row, inputs, calibration, assumptions)
    days = float(inputs["gpu_count"]) * 24
    if isinstance(hours, Predicted):
        return Predicted(hours.value / days, hours.low / days, hours.high / days, hours.badge)
    return None if hours is None else hours / days


ANSWERS: tuple[tuple[str, Callable[[Row, Inputs, TrainingCalibration, Assumptions], Answer]], ...] = (
    (r"host ram", _host),
    (r"model states", _states),
    (r"g(i)?b.*per gpu|g(i)?b peak", _peak),
    (r"fits \(1/0\)", _fits),
    (r"share of runs", _share),
    (r"gpus minimum", _least_gpus),
    (r"tokens/s per gpu", _tokens_s_per_gpu),
    (r"tokens/s", _tokens_s),
    (r"mfu", _mfu),
    (r"(million|m) gpu.?hours", _million_hours),
    (r"gpu.?hours", _hours),
    (r"days", _days),
)
