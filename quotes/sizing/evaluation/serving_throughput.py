"""Reading published throughput and latency tables as questions to the same speed model.

Vendor tables run an engine flat out with tuned settings; MLPerf also within latency limits, on its own data sets.
What a row leaves open (batch, layout, lengths of a data set) is searched for or taken from the benchmark's rules.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from catalog.specs import ModelArchitecture
from quotes.sizing.architecture import FORMATS, WeightFormat, legal_tp
from quotes.sizing.evaluation.base import Context, Row
from quotes.sizing.evaluation.conditions import Conditions
from quotes.sizing.evaluation.names import OutOfScope, find_accelerator
from quotes.sizing.evaluation.serving_rows import (
    Run,
    published_architecture,
)
from quotes.sizing.serving.layouts import expert_groups, kv_format_for
from quotes.sizing.serving.machines import MissingFigure, machine_for, supports
from quotes.sizing.serving.memory import Split, weights_gib

type Values = NDArray[np.float64]

TUNED = "trtllm_tuned"
OFFLINE_CHUNK = 16_384  # tokens per step of a tuned offline run

BEAMS = 4  # GPT-J of MLPerf searches with four beams: four answers are computed for each one given
# Data sets of MLPerf Inference: mean prompt and answer, tokens (inference rules and reference implementations).
MLPERF_LENGTHS: Mapping[str, tuple[float, float]] = {
    "llama2-70b": (290, 294),
    "mixtral-8x7b": (300, 145),
    "llama3.1-405b": (9428, 685),
    "llama3.1-8b": (800, 128),
    "gptj": (778, 69 * BEAMS),
    "deepseek-r1": (800, 3880),
}
UNSTATED = ("gpt-oss-120b",)  # benchmarks whose prompts have no published length
# 99th percentile limits, seconds to first token and milliseconds per token: (server), (interactive).
MLPERF_LIMITS: Mapping[str, tuple[tuple[float, float], tuple[float, float]]] = {
    "llama2-70b": ((2.0, 200), (0.45, 40)),
    "mixtral-8x7b": ((2.0, 200), (2.0, 200)),
    "llama3.1-405b": ((6.0, 175), (4.5, 80)),
    "llama3.1-8b": ((2.0, 100), (0.5, 30)),
    "gptj": ((20.0, 1000), (20.0, 1000)),
    "deepseek-r1": ((2.0, 80), (1.5, 15)),
    "gpt-oss-120b": ((3.0, 80), (2.0, 20)),
}


class Question(NamedTuple):
    """What a row asks: of one run in several layouts, at a load that is fixed, searched or follows from a rate."""

    row: Row
    metric: str
    scenario: str
    runs: tuple[Run, ...]  # one per layout that is tried
    replicas: tuple[float, ...]
    requests: float | None = None  # in flight; None = as many as pay
    rate_s: float | None = None  # arriving per second
    prompts: float | None = None  # all sent at once
    limits: tuple[float, float] | None = None  # seconds to first token, milliseconds per token


def questions_of(rows: Iterable[Row], context: Context) -> tuple[list["Question"], list[tuple[Row, str]]]:
    """What can be predicted, and (row, reason) of the rest."""
    questions: list[Question] = []
    refused: list[tuple[Row, str]] = []
    for row in rows:
        try:
            questions.append(question_of(row, context))
        except MissingFigure as missing:
            refused.append((row, str(missing.message)))
        except OutOfScope as reason:
            refused.append((row, str(reason)))
        except (KeyError, ValueError, TypeError) as error:
            refused.append((row, f"The row cannot be read: {error}."))
    return questions, refused


# ── reading a row ───────────────────────────────────────────────────────────────────────────────────────────────


def question_of(row: Row, context: Context) -> Question:
    """Raises OutOfScope with a sentence when the row is about something else or leaves too much open."""
    model_name = row["model"]
    engine = _engine(row["engine"])
    _refuse_outdated(row)
    accelerator = find_accelerator(row["gpu"], context.catalog)
    precision = _precision(row, model_name)
    arch = published_architecture(model_name, precision, context)
    form = _form(precision, arch)
    if not supports(accelerator, form):
        raise OutOfScope(f"{accelerator.name} does not compute in {precision}.")
    if (row["pp"] or "1") != "1":
        raise OutOfScope("Pipeline parallelism is not offered for serving.")
    prompt, output = _lengths(row)
    gpus = int(row["gpu_count"] or row["tp"] or 1)
    base = Run(
        id=row["id"], model=model_name, gpu=row["gpu"], arch=arch, accelerator=accelerator, form=form,
        kv_format=_kv_format(row, engine, form), engine=engine, era=_era(row, engine), tp=1, dp=1, ep=1,
        prompt=prompt, output=output, concurrency=1.0,
        conditions=Conditions(
            burst=row["scenario"] == "online" and "rate" not in row["concurrency_or_batch"],
            chunk_tokens=OFFLINE_CHUNK if row["scenario"] == "offline" else 8192,
        ),
    )  # fmt: skip
    layouts = [int(row["tp"])] if row["tp"] else _possible(arch, form, accelerator.memory_gib or 0, gpus)
    if not layouts:
        raise OutOfScope(f"{model_name} does not fit on {gpus} × {accelerator.name}.")
    load = _load(row)
    runs = tuple(_layouts(base, layouts, row, searched=load == {"requests": None}))
    for run in runs:
        machine_for(accelerator, arch, form, 1.0, engine, run.tp * run.dp, context.calibration)
    return Question(
        row=row, metric=row["metric"], scenario=row["scenario"], runs=runs,
        replicas=tuple(gpus / (run.tp * run.dp) for run in runs), limits=_limits(row), **load,
    )  # fmt: skip


def _engine(name: str) -> str:
    text = name.lower()
    if text.startswith(("tensorrt", "nim")):
        return "trtllm"
    if "vllm" in text or not text or text.startswith(("pytorch", "llm-d", "mango", "rocm")):
        return "vllm"
    raise OutOfScope(f"The engine {name} is not offered.")


def _era(row: Row, engine: str) -> str:
    """The engine's benchmark program and tuned submissions do without the server's own time."""
    tables = row["source_title"].startswith(("TensorRT-LLM", "MLPerf"))
    return TUNED if engine == "trtllm" and tables else engine


def _refuse_outdated(row: Row) -> None:
    """The product sizes for today's releases. Kernels for AMD GPUs came to vLLM with 0.6.4 (November 2024)."""
    if "unoptimi" in row["notes"]:
        raise OutOfScope("By the row's own note the checkpoint ran without optimised kernels.")
    day = row["date"].strip("~")
    if "vllm" in row["engine"].lower() and "mi3" in row["gpu"].lower() and "" < day < "2024-11":
        raise OutOfScope("Releases of vLLM from before it had kernels for this GPU are not sized.")


_PRECISIONS = {
    "fp8": "fp8", "bf16": "bf16", "fp16": "bf16", "f16": "bf16", "fp4": "nvfp4", "nvfp4": "nvfp4", "mxfp4": "mxfp4",
    "int8": "int8", "int4": "int4", "uint4": "int4", "fp32": "nvfp4", "q4_k_m": "q4_k_m",
}  # fmt: skip


def _precision(row: Row, model: str) -> str:
    """The weight format; labels of gpt-oss name the arithmetic, its checkpoint is MXFP4. MLPerf v4.1 logs leave it
    out: FP8 where the GPU computes in it, as its submissions did."""
    if "gpt-oss" in model:
        return "mxfp4"
    text = row["quantization"].lower().split(" ")[0].split(",")[0].split("/")[0]
    if text == "awq":
        return "int4"
    if not text:
        return "int8" if re.search(r"a100|a30|a10\b|jetson", row["gpu"].lower()) else "fp8"
    if "mi3" in row["gpu"].lower() and text == "fp4":
        return "mxfp4"
    if text not in _PRECISIONS:
        raise OutOfScope(f"Weights in {row['quantization']} are not sized.")
    return _PRECISIONS[text]


def _form(precision: str, arch: ModelArchitecture) -> WeightFormat:
    form = FORMATS[precision]
    return replace(form, experts_only=False) if precision == "mxfp4" and not arch.is_moe else form


def _kv_format(row: Row, engine: str, form: WeightFormat) -> str:
    text = row["kv_dtype"].lower()
    if text.startswith("fp8"):
        return "fp8"
    if text in ("bf16", "fp16", "f16"):
        return "bf16"
    return kv_format_for("auto", engine, form)


def _lengths(row: Row) -> tuple[float, float]:
    """Prompt and answer; unstated ones of a benchmark are those of its data set."""
    prompt, output = _number(row["input_len"]), _number(row["output_len"])
    benchmark = next((name for name in MLPERF_LENGTHS if row["model"].startswith(name)), "")
    if "MLPerf" in row["source_title"] and row["model"].startswith(UNSTATED):
        raise OutOfScope(
            "How long the prompts of this benchmark's data set are is not published with the row."
        )
    if "MLPerf" in row["source_title"] and benchmark:
        usual = MLPERF_LENGTHS[benchmark]
        return prompt or usual[0], output or usual[1]
    if row["metric"] in ("ttft_ms", "ttft_mean_ms", "ttft_s") and prompt:
        return prompt, output or 1.0
    if prompt is None and row["scenario"] == "latency" and output:
        return 128.0, output
    if prompt is None or output is None:
        raise OutOfScope("The row does not state the lengths of prompt and answer.")
    return prompt, output


def _number(text: str) -> float | None:
    found = re.search(r"\d+(?:\.\d+)?", text or "")
    return float(found.group()) if found else None


def _possible(arch: ModelArchitecture, form: WeightFormat, memory_gib: float, gpus: int) -> list[int]:
    """Tensor-parallel degrees that hold the weights with a fifth of the memory to spare."""
    return [
        tp
        for tp in legal_tp(arch, min(gpus, 8))
        if gpus % tp == 0 and float(weights_gib(arch, form, Split(tp=tp))) < 0.85 * memory_gib
    ]


def _layouts(run: Run, degrees: Sequence[int], row: Row, *, searched: bool) -> Iterator[Run]:
    """Tensor-parallel layouts; attention by data parallelism where the row says so, or where the best is searched and
    the model is a mixture of experts."""
    stated = "attention-DP" in row["notes"] or "attention data-parallel" in row["notes"]
    for tp in degrees:
        spreads = tp > 1 and run.arch.is_moe and run.arch.experts % tp == 0
        if not (stated and spreads):
            yield run._replace(tp=tp, ep=expert_groups(run.arch, tp, tp))
        if spreads and (stated or searched):
            yield run._replace(tp=1, dp=tp, ep=tp)


def _load(row: Row) -> dict[str, float | None]:
    text = row["concurrency_or_batch"].lower()
    number = _number(text)
    if "rate" in text and "inf" in text:
        if not row["metric"].startswith("tokens"):
            raise OutOfScope(
                "All requests came at once, and how many is not stated: the wait follows from that."
            )
        return {"requests": None}
    if "rate" in text:
        rate = re.search(r"rate[= ]*(\d+(?:\.\d+)?)", text)
        return {"rate_s": float(rate.group(1)) if rate else None}
    if "at once" in text or "prompts" in text or "requests" in text:
        return {"prompts": number}
    if "max" in text or number is None:
        return {"requests": None}
    return {"requests": number}


def _limits(row: Row) -> tuple[float, float] | None:
    benchmark = next((name for name in MLPERF_LIMITS if row["model"].startswith(name)), "")
    if row["scenario"] not in ("server", "interactive") or not benchmark:
        return None
    return MLPERF_LIMITS[benchmark][row["scenario"] == "interactive"]
