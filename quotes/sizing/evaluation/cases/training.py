"""Worked cases about training: what fits, how much memory, how fast, how long.

A case is turned into the same typed run as a published row.
"""

import re
from collections.abc import Mapping
from typing import Literal

from configurator.workload import LanguageTraining, Method, ModelRef
from quotes.sizing.evaluation.cases.answers import Answer, Case, Inputs, Ranged, Value, answer
from quotes.sizing.evaluation.cases.serving import size_in_name
from quotes.sizing.evaluation.names import OutOfScope, find_accelerator, find_model
from quotes.sizing.evaluation.training_memory_rows import memory_run
from quotes.sizing.evaluation.training_predict import Predicted, fits, peaks, rates
from quotes.sizing.evaluation.training_rows import throughput_run
from quotes.sizing.evaluation.training_run import NotInScope, Run, subject_model
from quotes.sizing.results import LoadOption, Refusal
from quotes.sizing.training.calibration import load_training_calibration
from quotes.sizing.training.memory import GIB, STATES, States
from quotes.sizing.training.model import trained_model
from quotes.sizing.training.option import HOST_BYTES_PER_PARAM, HOST_BYTES_PURE
from quotes.sizing.training.search import training_options
from quotes.sizing.training.speed import model_flops_per_token

SHARE_THAT_FITS = {"fits": 1.0, "tight": 0.5, "oom": 0.0}
MOST_GPUS = 4096
ONE_SERVER = 8
WORKLOADS = frozenset(
    {"finetune", "fine-tune", "fine-tuning", "finetuning", "pretrain", "pretraining", "training"}
)


def is_about_training(inputs: Inputs) -> bool:
    about_states = not inputs.get("workload") and inputs.keys() & {"sharding", "optimizer", "tokens_trained"}
    return inputs.get("workload") in WORKLOADS or bool(about_states)


# ── a case as a run ─────────────────────────────────────────────────────────────────────────────────────────────

_METHODS = {"full": "full_ft", "lora": "lora", "qlora": "qlora"}
METHODS = {"full_ft": Method.FULL, "lora": Method.LORA, "qlora": Method.QLORA}


def _method(inputs: Inputs) -> str:
    if str(inputs.get("workload")).startswith("pretrain"):
        return "pretrain"
    named = str(inputs.get("method", "full")).lower().replace("-", "").replace("_", "")
    return _METHODS.get(named, "full_ft")


def _cells(case: Case) -> dict[str, str]:
    """The inputs of a case in the columns of a published row."""
    row, inputs = case.row, case.inputs
    source = row.get("source_locator", "")
    method = _method(inputs)
    degrees = " ".join(f"{key}={inputs[key]}" for key in ("tp", "pp", "dp", "ep", "vpp") if key in inputs)
    offload = " CPU offload" if inputs.get("offload") else ""
    recompute = inputs.get("activation_checkpointing")
    model = str(inputs.get("model", ""))
    sharding = str(inputs.get("sharding", ""))
    if not sharding and not degrees and float(inputs.get("gpu_count", 1)) > 1:
        sharding = "FSDP"  # nothing said: the usual way to spread one job over several GPUs
    return {
        "id": row["id"], "source_locator": source, "source_title": source, "date": "",
        "model": model, "params_b": str(inputs.get("params_b") or size_in_name(model) or ""),
        "active_params_b": str(inputs.get("active_b", "")),
        "method": method, "precision": str(inputs.get("dtype") or inputs.get("weight_dtype") or "bf16"),
        "optimizer": str(inputs.get("optimizer", "")), "lora_rank": str(inputs.get("rank", "")),
        "gpu": str(inputs.get("gpu", "")), "gpu_count": str(inputs.get("gpu_count", 1)), "nodes": "",
        "sharding": f"{sharding} {degrees}{offload}".strip(),
        "zero_stage_or_fsdp": sharding, "tp": str(inputs.get("tp", "")),
        "pp": str(inputs.get("pp", "")), "dp": str(inputs.get("dp", "")), "ep": str(inputs.get("ep", "")),
        "seq_len": str(_sequence(inputs)), "global_batch": str(_global_batch(case, method)),
        "micro_batch": str(inputs.get("batch") or inputs.get("micro_batch") or (1 if method == "pretrain" else 2)),
        "activation_checkpointing": {True: "full", False: "none"}.get(recompute, "") if recompute is not None else "",
        "metric": "tokens_s_per_gpu", "value": "0", "tokens_trained": str(inputs.get("tokens", "")),
        "peak_mem_gib_per_gpu": "", "outcome": "",
        "notes": f"unit=GiB; {inputs.get('network', '')} per node;vp={inputs.get('vpp', 1)}",
    }  # fmt: skip


def _sequence(inputs: Inputs) -> float:
    return float(inputs.get("seq") or 2048)


def _global_batch(case: Case, method: str) -> str:
    """Sequences per step. Pre-training that does not state them takes as many tokens as usual on several servers."""
    stated = case.inputs.get("global_batch") or case.inputs.get("global_batch_size") or case.inputs.get("gbs")
    if stated or method != "pretrain" or float(case.inputs.get("gpu_count", 1)) <= ONE_SERVER:
        return str(stated or "")
    return f"{case.context.assumptions.pretrain_batch_tokens / _sequence(case.inputs):.0f}"


def _memory_run(case: Case) -> Run:
    return memory_run(_cells(case), case.context.catalog)


def _speed_run(case: Case) -> Run:
    return throughput_run(_cells(case), case.context.catalog)


def _changed(case: Case, **changes: object) -> Case:
    return case._replace(inputs={**case.inputs, **changes})


def _ranged(found: Predicted) -> Ranged:
    return Ranged(found.value, found.low, found.high, found.badge)


def _params(case: Case) -> float:
    return trained_model(subject_model(str(case.inputs.get("model", "")), _stated_size(case))[1]).params


def _stated_size(case: Case) -> float | None:
    size = case.inputs.get("params_b") or size_in_name(str(case.inputs.get("model", "")))
    return float(size) if size else None


# ── memory ──────────────────────────────────────────────────────────────────────────────────────────────────────


def peak_per_gpu(case: Case) -> Value:
    return _ranged(peaks([_memory_run(case)], load_training_calibration())[0]).times(GIB)


def _verdict(case: Case) -> str:
    return fits([_memory_run(case)], load_training_calibration())[0].verdict


def fits_case(case: Case) -> Value:
    host = case.inputs.get("host_ram_gb")
    return float(_verdict(case) != "oom" and (not host or host_bytes(case) <= float(host) * 1e9))


def share_that_fits(case: Case) -> Value:
    return SHARE_THAT_FITS[_verdict(case)]


def least_gpus(case: Case) -> Value:
    count = 1
    while count <= MOST_GPUS:
        if _verdict(_changed(case, gpu_count=count)) != "oom":
            return float(count)
        count *= 2
    raise NotInScope(f"The job does not fit on {MOST_GPUS} GPUs.")


def host_bytes(case: Case) -> float:
    """Host memory of offloaded states: 16-bit ones where the source keeps everything in 16 bit."""
    pure = "zero" not in str(case.inputs.get("sharding", "")).lower()
    return _params(case) * (HOST_BYTES_PURE if pure else HOST_BYTES_PER_PARAM)


def _states(case: Case) -> States:
    """As the case names its optimiser; unnamed it is Adam in mixed precision, the 16 bytes of the ZeRO paper."""
    named = str(case.inputs.get("optimizer", "")).lower()
    eight_bit = "8bit" in named.replace("-", "").replace(" ", "") and "8-bit moments" not in named
    if stated := re.search(r"(\d+) bytes", named):
        found = [one for one in STATES.values() if one.resident == float(stated[1])]
        if not found:
            raise NotInScope(f"No optimiser is known whose states take {stated[1]} bytes per parameter.")
        return found[0]
    if "paged" in named:
        return STATES["adamw_paged"]
    if eight_bit:
        return STATES["adamw_8bit"]
    if "pure" in named or "16-bit state" in named or "bf16 state" in named:
        return STATES["adamw_pure"]
    if "main gradient" in named or "megatron" in named:
        return STATES["adamw_main_gradients"]
    if not named or "adam" in named:
        return STATES["adamw_deepspeed"]
    raise NotInScope(f"The states of the optimiser {named} are not known.")


# Names of shardings → which parts of the states they divide over the GPUs.
DIVIDED: Mapping[str, frozenset[str]] = {
    "zero-1": frozenset({"optimizer"}),
    "zero-2": frozenset({"optimizer", "gradients"}),
    "zero-3": frozenset({"optimizer", "gradients", "weights"}),
    "fsdp": frozenset({"optimizer", "gradients", "weights"}),
}


def _part(case: Case, *parts: str) -> float:
    """Bytes of parts of the states; per GPU as far as the sharding divides them."""
    states, params = _states(case), _params(case)
    sharding = (
        str(case.inputs.get("sharding", "")).lower().replace("zero ", "zero-").replace("zero3", "zero-3")
    )
    divided = next((found for name, found in DIVIDED.items() if name in sharding), frozenset[str]())
    gpus = float(case.inputs.get("gpu_count", 1)) if case.asked.per else 1.0
    return sum(float(getattr(states, part)) * params / (gpus if part in divided else 1.0) for part in parts)


def states_bytes(case: Case) -> Value:
    return _part(case, "weights", "gradients", "optimizer")


def optimiser_bytes(case: Case) -> Value:
    return _part(case, "optimizer")


def gradient_bytes(case: Case) -> Value:
    return _part(case, "gradients")


def bytes_per_parameter(case: Case) -> Value:
    return _states(case).resident


# ── speed and time ──────────────────────────────────────────────────────────────────────────────────────────────


def rate_per_gpu(case: Case) -> Value:
    return _ranged(rates([_speed_run(case)], load_training_calibration())[0])


def rate(case: Case) -> Value:
    return _rate(case).times(float(case.inputs.get("gpu_count", 1)))


def _rate(case: Case) -> Ranged:
    return _ranged(rates([_speed_run(case)], load_training_calibration())[0])


def mfu(case: Case) -> Value:
    if given := case.inputs.get("tokens_per_s_per_gpu"):
        return float(given) / _rate_at_peak(case)
    return _rate(case).times(1 / _rate_at_peak(case))


def _flops_per_token(case: Case) -> float:
    _, arch = subject_model(str(case.inputs.get("model", "")), _stated_size(case))
    frozen = _method(case.inputs) in {"lora", "qlora"}
    return float(model_flops_per_token(trained_model(arch), _sequence(case.inputs), frozen=frozen))


def _rate_at_peak(case: Case) -> float:
    """Tokens/s of one GPU that wasted nothing."""
    run = _speed_run(case)
    return run.hardware.bf16_tflops * 1e12 / _flops_per_token(case)


def _given_rate(case: Case) -> float | None:
    """Tokens/s of one GPU where the case states them, or the utilisation or the FLOPS that they follow from."""
    inputs = case.inputs
    if given := inputs.get("tokens_per_s_per_gpu"):
        return float(given)
    if given := inputs.get("tokens_per_s"):
        return float(given) / float(inputs["gpu_count"])
    if given := inputs.get("tflops_per_gpu"):
        return float(given) * 1e12 / _flops_per_token(case)
    share = float(inputs.get("mfu") or inputs.get("mfu_pct") or 0)
    return _rate_at_peak(case) * (share / 100 if share > 1 else share) or None


def gpu_hours(case: Case) -> Value:
    """Of a run whose rate or whose layout is stated, else as the product would plan it."""
    tokens = float(case.inputs["tokens"])
    if given := _given_rate(case):
        return tokens / given / 3600
    if case.inputs.keys() & LAYOUT and "gpu_count" in case.inputs:
        found = _rate(case)
        kept = case.context.assumptions.training_goodput_fraction
        value, low, high = (tokens / (rate * 3600 * kept) for rate in (found.value, found.high, found.low))
        return Ranged(value, low, high, found.badge)
    return _planned_hours(case)


LAYOUT = frozenset({"sharding", "tp", "pp", "ep"})
FIRST_DEADLINE_H, LAST_DEADLINE_H = 720, 1e6  # deadlines are doubled until the product has a plan


def _planned_hours(case: Case) -> Ranged:
    inputs, catalog = case.inputs, case.context.catalog
    accelerator = find_accelerator(str(inputs.get("gpu", "")), catalog)
    _, arch = subject_model(str(inputs.get("model", "")), _stated_size(case))
    method = Method.PRE_TRAIN if _method(inputs) == "pretrain" else METHODS[_method(inputs)]
    job = LanguageTraining(
        model=ModelRef(architecture=arch), method=method, precision=_planned_precision(case),
        tokens=float(inputs["tokens"]), sequence_tokens=int(inputs.get("seq") or 4096), deadline_h=FIRST_DEADLINE_H,
    )  # fmt: skip
    found: tuple[LoadOption, ...] | Refusal = ()
    while job.deadline_h < LAST_DEADLINE_H:
        found = training_options(
            job, arch, (accelerator,), max_in_node={accelerator.sku: ONE_SERVER},
            assumptions=case.context.assumptions, calibration=load_training_calibration(),
        )[accelerator.sku]  # fmt: skip
        if not isinstance(found, Refusal):
            break
        job = job.model_copy(update={"deadline_h": job.deadline_h * 2})
    if isinstance(found, Refusal):
        raise NotInScope(str(found.reason))
    wanted = float(inputs.get("gpu_count") or found[0].gpus)
    option = min(found, key=lambda one: abs(one.gpus - wanted))
    hours = option.speed.run_hours
    if hours is None:
        raise NotInScope("The product has no run time for this job.")
    return Ranged(hours.value, hours.low, hours.high, hours.badge).times(option.gpus)


def _planned_precision(case: Case) -> Literal["bf16", "fp8"]:
    """As stated, else the one in which the model was published."""
    named = str(case.inputs.get("dtype") or case.inputs.get("weight_dtype") or "").lower()
    if named:
        return "fp8" if "fp8" in named else "bf16"
    try:
        published = find_model(str(case.inputs.get("model", "")), case.context.catalog).native_format
    except OutOfScope:
        published = "bf16"
    return "fp8" if published == "fp8" and _method(case.inputs) == "pretrain" else "bf16"


def wall_hours(case: Case) -> Value:
    found, gpus = gpu_hours(case), float(case.inputs["gpu_count"])
    return found.times(1 / gpus) if isinstance(found, Ranged) else found / gpus


def flops(case: Case) -> Value:
    return _flops_per_token(case) * float(case.inputs["tokens"])


def gpus_in_time(case: Case) -> Value:
    """GPUs that end the run in the days that are stated."""
    found, hours = gpu_hours(case), float(case.inputs["days"]) * 24
    return found.times(1 / hours) if isinstance(found, Ranged) else found / hours


MEMORY = "peak memory vram used gpu"
ANSWERS: tuple[Answer, ...] = (
    answer("bytes hostmemory", host_bytes, may="used total"),
    answer("bytes state", states_bytes, may="model total training"),
    answer("bytes state / gpu", states_bytes, may="model"),
    answer("bytes optimiser", optimiser_bytes, may="state total"),
    answer("bytes optimiser / gpu", optimiser_bytes, may="state"),
    answer("bytes gradient", gradient_bytes, may="total"),
    answer("bytes gradient / gpu", gradient_bytes),
    answer("bytes / parameter", bytes_per_parameter, may="state model training"),
    answer("bytes / gpu", peak_per_gpu, may=MEMORY),
    answer("bytes peak", peak_per_gpu, may=MEMORY),
    answer("bytes used", peak_per_gpu, may=MEMORY),
    answer("flag fit", fits_case),
    answer("share fit", share_that_fits, may="run"),
    answer("count gpu least", least_gpus),
    answer("count gpu", gpus_in_time, may="least", needs="days tokens"),
    answer("tokens/s / gpu", rate_per_gpu, may="training throughput"),
    answer("tokens/s", rate, may="training throughput total"),
    answer("share mfu", mfu),
    answer("flops", flops, may="total training compute", needs="tokens"),
    answer("gpu-hours", gpu_hours, may="total training", needs="tokens"),
    answer("hours", wall_hours, may="training wall-clock", needs="tokens gpu_count"),
)
