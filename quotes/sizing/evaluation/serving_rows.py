"""Published serving runs as arrays that the speed model can time all at once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from catalog.specs import AcceleratorSpec, ModelArchitecture
from quotes.sizing.architecture import FORMATS, WeightFormat
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.evaluation.base import Context, Row
from quotes.sizing.evaluation.conditions import Conditions, conditions_of
from quotes.sizing.evaluation.names import OutOfScope, find_accelerator, find_model
from quotes.sizing.serving.batching import Load, Scheduling, Steady, steady_state
from quotes.sizing.serving.calibration import Calibration
from quotes.sizing.serving.forward import Machine, Overheads, Spread
from quotes.sizing.serving.layouts import kv_bytes, kv_format_for
from quotes.sizing.serving.machines import Choice, MissingFigure, machine_for, supports
from quotes.sizing.serving.memory import Split, engine_memory, kv_capacity_sequences, memory_budget
from quotes.sizing.serving.model_shape import ModelShape, model_shape

type Values = NDArray[np.float64]

RECEIVE_SHARE = 0.8  # of a receive interval that a request waits on average: half, and the step it is in
PREFILL_FIRST = "sglang_prefill_first"


class Run(NamedTuple):
    """One published run."""

    id: str
    model: str  # as published
    gpu: str
    arch: ModelArchitecture
    accelerator: AcceleratorSpec
    form: WeightFormat
    kv_format: str
    engine: str
    era: str  # key of the engine constants
    tp: int
    dp: int
    ep: int
    prompt: float  # nominal
    output: float
    concurrency: float
    conditions: Conditions = Conditions()
    ttft_ms: float | None = None
    tpot_ms: float | None = None
    source: str = ""
    campaign: str = ""
    alone: bool = False  # decode workers of their own: no prompts in between
    flags: frozenset[str] = frozenset()

    @property
    def pair(self) -> tuple[str, str]:
        return self.model, self.gpu


def published_architecture(name: str, precision: str, context: Context) -> ModelArchitecture:
    """The model as it was served: FP8 runs of a model that its maker also released in FP8 used that release."""
    arch = find_model(name, context.catalog)
    if precision == "fp8" and arch.native_format == "bf16":
        return context.catalog.models_by_key.get(f"{arch.key}-FP8", arch)
    return arch


def era_of(engine: str, version: str) -> str:
    """Constants for `engine`: SGLang before 0.5.9 ran all waiting prompts before any decode step. The one undivided run
    of 0.5.6 is as fast as later ones."""
    releases = ("0.4", "0.5.1.", "0.5.2", "0.5.3", "0.5.4", "0.5.5", "0.5.8")
    old = version.startswith(releases) or version == "0.5.1"
    return PREFILL_FIRST if engine == "sglang" and old else engine


def run_of_row(row: Row, context: Context) -> Run:
    """A row of serving_measured.csv. Raises OutOfScope with a sentence."""
    precision = row["weights_precision"]
    if precision not in FORMATS:
        raise OutOfScope(f"Weights in {precision or 'an unstated format'} are not sized.")
    if row["engine"] not in context.calibration.engines:
        raise OutOfScope(f"The engine {row['engine']} is not offered.")
    if int(row.get("pp") or 1) > 1:
        raise OutOfScope("Pipeline parallelism is not offered for serving.")
    arch = published_architecture(row["model"], precision, context)
    accelerator = find_accelerator(row["gpu"], context.catalog)
    conditions = conditions_of(row)
    form = FORMATS[precision]
    if not supports(accelerator, form):
        raise OutOfScope(f"{accelerator.name} does not compute in {precision}.")
    kv = row.get("kv_precision") or conditions.kv_format or kv_format_for("auto", row["engine"], form)
    flags = frozenset((row.get("flags") or "").split()) | {row.get("spec_decode") or "none"}
    return Run(
        id=row["id"], model=row["model"], gpu=row["gpu"], arch=arch, accelerator=accelerator, form=form,
        kv_format=kv, engine=row["engine"], era=era_of(row["engine"], row.get("engine_version") or ""),
        tp=int(row["tp"]), dp=int(row["dp"]), ep=int(row["ep"]), prompt=float(row["input_tokens"]),
        output=float(row["output_tokens"]), concurrency=float(row["concurrency"]), conditions=conditions,
        ttft_ms=_number(row.get("ttft_ms")), tpot_ms=_number(row.get("tpot_ms")), source=row.get("source", ""),
        campaign="|".join(row.get(k, "") for k in ("model", "gpu", "engine", "weights_precision", "engine_version")),
        flags=flags,
    )  # fmt: skip


def _number(text: str | None) -> float | None:
    return float(text) if text not in (None, "") else None


@dataclass(frozen=True, slots=True)
class Table:
    """Runs as columns; index i of every array is run i."""

    runs: tuple[Run, ...]
    shape: ModelShape
    machine: Machine
    spread: Spread
    load: Load
    nominal: Values  # output tokens as published
    eras: tuple[str, ...]  # the engines that occur
    era: NDArray[np.intp]  # index into `eras`, per run
    small: Values  # factor of the generation on small kernels
    chunk_tokens: Values
    wait_steps: Values
    burst: Values  # 1 when the first wave starts at once
    full_wait: Values  # share of the wait for cache room that the published mean shows
    alone: NDArray[np.bool_]
    choices: tuple[Choice, ...]


def table_of(runs: Sequence[Run], calibration: Calibration, assumptions: Assumptions) -> Table:
    """Stack `runs`. Raises MissingFigure when the catalog lacks a figure of one of their GPUs."""
    shapes: dict[tuple[str, str], ModelShape] = {}
    choices, capacities = [], []
    for run in runs:
        key = (run.arch.key, run.form.key)
        if key not in shapes:
            shapes[key] = model_shape(run.arch, run.form)
        choices.append(
            machine_for(
                run.accelerator,
                run.arch,
                run.form,
                kv_bytes(run.kv_format),
                run.engine,
                run.tp * run.dp,
                calibration,
            )
        )
        capacities.append(capacity_of(run, assumptions))
    factor = np.array([run.conditions.length_factor for run in runs])
    eras = tuple(sorted({run.era for run in runs}))
    return Table(
        runs=tuple(runs),
        shape=ModelShape.stack([shapes[run.arch.key, run.form.key] for run in runs]),
        machine=Machine.stack([choice.machine for choice in choices]),
        spread=Spread(*np.array([(run.tp, run.dp, run.ep) for run in runs], float).T),
        load=Load(
            concurrency=np.array([run.concurrency for run in runs]),
            prompt=np.array([run.prompt for run in runs]) * factor,
            output=np.array([run.output for run in runs]) * factor,
            capacity=np.array(capacities),
        ),
        nominal=np.array([run.output for run in runs]),
        eras=eras,
        era=np.array([eras.index(run.era) for run in runs]),
        small=np.array([calibration.factors(choice.generation).small for choice in choices]),
        chunk_tokens=np.array([run.conditions.chunk_tokens for run in runs]),
        wait_steps=np.array(
            [run.conditions.wait_steps + RECEIVE_SHARE * run.conditions.receive_interval for run in runs]
        ),
        burst=np.array([float(run.conditions.burst) for run in runs]),
        full_wait=np.array(
            [1.0 if run.conditions.wait_shown else calibration.shared.full_wait for run in runs]
        ),
        alone=np.array([run.alone for run in runs]),
        choices=tuple(choices),
    )


def capacity_of(run: Run, assumptions: Assumptions) -> float:
    """Requests that the replica's cache holds. Benchmarks tune the engine's share: a run that is published ran, so at
    least a third of what would be left with the leanest settings is granted."""
    split = Split(tp=run.tp, dp=run.dp)
    engine = engine_memory(run.engine if run.engine in ("sglang", "trtllm") else "vllm", assumptions)
    reported = float(run.accelerator.memory_gib or 0)
    budget = memory_budget(run.arch, run.form, split, reported, engine, run.prompt + run.output)
    lean = 0.97 * (reported - 0.5) - float(budget.weights_gib) - 1.5
    pool = max(float(budget.kv_pool_gib), lean / 3, 2.0)
    tokens = run.conditions.length_factor * (run.prompt + 0.75 * run.output)
    held = float(kv_capacity_sequences(run.arch, tokens, kv_bytes(run.kv_format), split, pool, engine))
    return max(1.0, min(held, run.conditions.seats))


@dataclass(frozen=True, slots=True)
class Constants:
    """The fitted constants as columns over the runs."""

    over: Overheads
    sched: Scheduling


def constants_for(table: Table, calibration: Calibration) -> Constants:
    engines = [calibration.engine(era) for era in table.eras]
    shared = calibration.shared

    def column(name: str) -> Values:
        return np.array([getattr(engine, name) for engine in engines], float)[table.era]

    return Constants(
        Overheads(
            kernel_s=column("kernel_us") * table.small * 1e-6,
            attention_share=shared.attention_share,
            all_reduce_wait=shared.all_reduce_wait,
            step_s=shared.step_ms * 1e-3,
            step_sequence_s=column("step_sequence_us") * 1e-6,
            dp_step_s=shared.dp_step_ms * 1e-3,
            prompt_x=column("prompt_x"),
        ),
        Scheduling(
            interference=column("interference"),
            burst=column("burst_fraction") * table.burst,
            queueing=shared.queueing,
            first_s=column("first_ms") * 1e-3,
            first_gpu_s=column("first_gpu_ms") * 1e-3,
            first_steps=column("first_steps"),
            wait_steps=table.wait_steps,
            full_wait=table.full_wait,
            chunk_tokens=table.chunk_tokens,
        ),
    )


class Predicted(NamedTuple):
    """Columns over the runs, in the units of the reference."""

    ttft_ms: Values
    tpot_ms: Values
    output_tokens_s_per_gpu: Values
    steady: Steady


def predict(table: Table, calibration: Calibration) -> Predicted:
    """Time every run. Throughput follows from the times by Little's law with the nominal lengths, as the reference
    has it."""
    constants = constants_for(table, calibration)
    steady = steady_state(
        table.shape, table.machine, constants.over, constants.sched, table.spread, table.load
    )
    tpot = np.where(table.alone, steady.step_s, steady.tpot_s)
    rate = throughput_per_gpu(
        np.asarray(table.load.concurrency), table.nominal, steady.ttft_s * 1e3, tpot * 1e3, table.spread.gpus
    )
    return Predicted(steady.ttft_s * 1e3, tpot * 1e3, rate, steady)


def throughput_per_gpu(
    concurrency: Values, output: Values, ttft_ms: Values, tpot_ms: Values, gpus: Values
) -> Values:
    """Output tokens per second and GPU of a closed load: Little's law."""
    return np.asarray(concurrency * output / (ttft_ms + output * tpot_ms) * 1e3 / gpus, float)


def parse_runs(
    rows: Iterable[Mapping[str, str]], context: Context
) -> tuple[list[Run], list[tuple[Row, str]]]:
    """Runs that can be predicted, and (row, reason) of those that cannot."""
    runs: list[Run] = []
    refused: list[tuple[Row, str]] = []
    for row in rows:
        try:
            run = run_of_row(row, context)
            machine_for(
                run.accelerator, run.arch, run.form, kv_bytes(run.kv_format), run.engine, run.tp * run.dp,
                context.calibration,
            )  # fmt: skip
            runs.append(run)
        except MissingFigure as missing:
            refused.append((row, str(missing.message)))
        except OutOfScope as reason:
            refused.append((row, str(reason)))
        except (KeyError, ValueError) as error:
            refused.append((row, f"The row cannot be read: {error}."))
    return runs, refused
