"""The figures of a chosen training option: recomputed by the functions that chose it, so that they cannot drift."""

import numpy as np

from catalog.quantity import Message, Quantity, noop
from catalog.specs import AcceleratorSpec, ModelArchitecture
from configurator.workload import LanguageTraining
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.results import LoadOption
from quotes.sizing.trace import Badge, Figure, Input
from quotes.sizing.training.calibration import TrainingCalibration
from quotes.sizing.training.evidence import nearest_runs
from quotes.sizing.training.goodput import goodput
from quotes.sizing.training.hardware import TrainingGpu
from quotes.sizing.training.layouts import Grid
from quotes.sizing.training.memory import GIB
from quotes.sizing.training.model import adapter_params
from quotes.sizing.training.plan import (
    FULL,
    STACK,
    Plan,
    gpu_of,
    grid_of,
    machines_of,
    memory_of,
    memory_shift,
    memory_spread,
    plan_of,
    run_hours,
    speed_spread,
    states_of,
    subject_of_plan,
    time_of,
)
from quotes.sizing.training.speed import mfu_fraction, model_flops_per_token

_CATALOG = "catalog"
_ANSWER = "answer"
_CALIBRATION = "calibration"


def explain_training(
    option: LoadOption,
    job: LanguageTraining,
    arch: ModelArchitecture,
    accelerator: AcceleratorSpec,
    assumptions: Assumptions,
    calibration: TrainingCalibration,
) -> LoadOption:
    """`option` with its figures: memory by component, FLOPs per token, speed with evidence, goodput and hours."""
    plan = plan_of(job, arch, assumptions)
    gpu = gpu_of(accelerator, option, assumptions)
    layout = grid_of(option)
    figures = (
        *_memory_figures(plan, layout, option, gpu, calibration),
        *_speed_figures(plan, layout, option, gpu, accelerator, calibration),
        *_time_figures(plan, option, assumptions),
    )
    recipe = option.recipe
    if recipe and recipe.recompute == "selective":
        slower = _recomputing_all_h(plan, layout, gpu, assumptions, calibration)
        recipe = recipe.model_copy(update={"recomputing_all_h": slower})
    return option.model_copy(update={"figures": figures, "recipe": recipe})


def _recomputing_all_h(
    plan: Plan, layout: Grid, gpu: TrainingGpu, assumptions: Assumptions, calibration: TrainingCalibration
) -> float:
    """Hours of a run in software that recomputes everything or nothing, at the cautious end."""
    machines = machines_of([gpu], plan.job.precision, calibration)
    time = time_of(plan, layout._replace(recompute=np.array([float(FULL)])), machines, calibration)
    low = speed_spread(plan, machines, calibration).low
    return float(run_hours(plan, layout.gpus, time.total / low, assumptions)[0])


def _input(
    name: str,
    value: float | str,
    unit: str = "",
    *,
    source: str = "",
    digits: int = 3,
    assumption: str | None = None,
) -> Input:
    shown = value if isinstance(value, str) else Quantity(value=float(value), unit=unit, digits=digits)
    return Input(name=Message.of(name), value=shown, source=source, assumption=assumption)


def _memory_figures(
    plan: Plan, layout: Grid, option: LoadOption, gpu: TrainingGpu, calibration: TrainingCalibration
) -> tuple[Figure, ...]:
    factors = calibration.memory_factors(STACK)
    memory = memory_of(plan, layout, calibration, option.recipe.loss if option.recipe else "eager")
    states = states_of(plan, option.layout.sharding)
    spread = memory_spread(
        memory, memory_shift(plan, gpu, calibration), calibration, known=plan.arch.standard_structure
    )
    device = float(memory.device(factors)[0]) / GIB
    trained = float(adapter_params(plan.model, plan.job.lora_rank)) if plan.frozen else plan.model.params
    peak = Figure(
        key="training.memory",
        label=Message.of(noop("Memory of one GPU at the worst moment")),
        value=Quantity(value=device * float(spread.middle[0]), unit="GiB"),
        low=device * float(spread.low[0]),
        high=device * float(spread.high[0]),
        formula=noop(
            "max(states + gathered + kept + max(logits, layer at work), states + gradients + step) + cache + runtime"
        ),
        inputs=(
            _input(noop("weights"), float(memory.weights[0]) / GIB, "GiB"),
            _input(noop("gradients"), float(memory.gradients[0]) / GIB, "GiB"),
            _input(noop("optimiser states"), float(memory.optimizer[0]) / GIB, "GiB"),
            _input(noop("activations kept"), float(memory.activations[0] - memory.working[0]) / GIB, "GiB"),
            _input(noop("layer at work"), float(memory.working[0]) / GIB, "GiB"),
            _input(noop("logits"), float(memory.logits[0]) / GIB, "GiB"),
            _input(noop("layers gathered"), float(memory.gathered[0]) / GIB, "GiB"),
            _input(noop("runtime"), float(factors.runtime_gib), "GiB", source=_CALIBRATION),
            _input(noop("GPU memory"), gpu.memory_gib, "GiB", source=_CATALOG),
        ),
        badge=Badge.INTERPOLATED,
        **nearest_runs(calibration.evidence, "memory", subject_of_plan(plan, gpu, option.precision)),
    )
    per_parameter = Figure(
        key="training.states",
        label=Message.of(noop("Bytes per trained parameter between steps")),
        value=Quantity(value=states.resident, unit="bytes", digits=3),
        formula=noop("weights + gradients + optimiser states"),
        inputs=(
            _input(noop("weights"), float(states.weights), "bytes"),
            _input(noop("gradients"), float(states.gradients), "bytes"),
            _input(noop("optimiser states"), float(states.optimizer), "bytes"),
            _input(noop("trained parameters"), trained / 1e9, "billion"),
            _input(noop("recipe"), plan.job.optimizer, source=_ANSWER),
        ),
    )
    return peak, per_parameter


def _speed_figures(
    plan: Plan, layout: Grid, option: LoadOption, gpu: TrainingGpu, accelerator: AcceleratorSpec,
    calibration: TrainingCalibration,
) -> tuple[Figure, ...]:  # fmt: skip
    machines = machines_of([gpu], plan.job.precision, calibration)
    time = time_of(plan, layout, machines, calibration)
    low, middle, high = (float(factor[0]) for factor in speed_spread(plan, machines, calibration))
    bare = 1 / float(time.total[0])
    rate = bare * middle
    needed = model_flops_per_token(plan.model, plan.job.sequence_tokens, frozen=plan.frozen)
    mfu = float(mfu_fraction(
        plan.model, plan.job.sequence_tokens, 1 / rate, gpu.bf16_tflops * 1e12, frozen=plan.frozen
    ))  # fmt: skip
    run = option.speed.run_hours
    badge = run.badge if run else Badge.EXTRAPOLATED
    shares = {
        noop("matrix products"): time.products + time.experts,
        noop("attention"): time.attention,
        noop("moving data in memory"): time.moved + time.dequantise,
        noop("kernel starts"): time.launches,
        noop("exchange between GPUs"): time.tensor_parallel + time.expert_exchange + time.exposed,
        noop("pipeline bubble"): time.bubble,
        noop("once per step"): time.per_step,
        **({noop("host memory"): time.host} if float(np.sum(time.host)) else {}),
    }
    total = float(time.total[0])
    flops = Figure(
        key="training.flops_per_token",
        label=Message.of(noop("Computation per token")),
        value=Quantity(value=needed / 1e9, unit="GFLOP", digits=3),
        formula=noop("4 × active parameters + 3 × attention")
        if plan.frozen
        else noop("6 × active parameters + 3 × attention"),
        inputs=(
            _input(noop("active parameters"), plan.model.active_flops / 2e9, "billion"),
            _input(noop("sequence length"), plan.job.sequence_tokens, "tokens", source=_ANSWER, digits=6),
        ),
    )
    speed = Figure(
        key="training.tokens_s_per_gpu",
        label=Message.of(noop("Tokens per second and GPU")),
        value=Quantity(value=rate, unit="tokens/s"),
        low=bare * low,
        high=bare * high,
        formula=noop("1 / time per token"),
        inputs=tuple(
            _input(name, 100 * float(np.asarray(part).ravel()[0]) / total, "%", digits=2)
            for name, part in shares.items()
        ),
        badge=badge,
        **nearest_runs(calibration.evidence, "speed", subject_of_plan(plan, gpu, option.precision)),
    )
    utilisation = Figure(
        key="training.mfu",
        label=Message.of(noop("Share of the GPU's 16-bit peak that the training needs (MFU)")),
        value=Quantity(value=100 * mfu, unit="%", digits=2),
        low=100 * mfu * low / middle,
        high=100 * mfu * high / middle,
        formula=noop("tokens/s × FLOP per token / peak"),
        inputs=(
            _input(noop("tokens per second and GPU"), rate, "tokens/s"),
            _input(
                noop("peak"), accelerator.bf16_tflops or gpu.bf16_tflops, "TFLOPS", source=_CATALOG, digits=4
            ),
        ),
        badge=badge,
    )
    return flops, speed, utilisation


def _time_figures(plan: Plan, option: LoadOption, assumptions: Assumptions) -> tuple[Figure, ...]:
    run = option.speed.run_hours
    kept = goodput(
        option.gpus,
        gpu_mtbf_h=assumptions.training_gpu_mtbf_h,
        write_h=assumptions.checkpoint_stall_s / 3600,
        restart_h=assumptions.training_restart_h,
    )
    lasting = Figure(
        key="training.goodput",
        label=Message.of(noop("Share of the time that failures and checkpoints leave")),
        value=Quantity(value=100 * float(kept.fraction), unit="%", digits=3),
        formula=noop("1 − write/interval − interval/(2·MTBF) − restart/MTBF, interval = √(2·write·MTBF)"),
        inputs=(
            _input(noop("time between failures of the whole system"), float(kept.mtbf_h), "h",
                   assumption="training_gpu_mtbf_h"),
            _input(noop("time between checkpoints"), float(kept.interval_h), "h"),
            _input(noop("time to write a checkpoint"), assumptions.checkpoint_stall_s, "s",
                   assumption="checkpoint_stall_s"),
        ),
    )  # fmt: skip
    saved = Figure(
        key="training.checkpoint",
        label=Message.of(noop("Size of one checkpoint")),
        value=Quantity(value=option.host.checkpoint_tb * 1e3, unit="GB", digits=3),
        formula=noop("trained parameters × bytes per parameter"),
        inputs=(_input(noop("bytes per parameter"), assumptions.checkpoint_bytes_per_param, "bytes",
                       assumption="checkpoint_bytes_per_param"),),
    )  # fmt: skip
    if run is None:
        return lasting, saved
    hours = Figure(
        key="training.run_hours",
        label=Message.of(noop("Duration of one run")),
        value=Quantity(value=run.value, unit="hours", digits=2),
        low=run.low,
        high=run.high,
        formula=noop("tokens / (GPUs × tokens/s per GPU × goodput) + start"),
        inputs=(
            _input(noop("tokens"), plan.tokens / 1e6, "million", source=_ANSWER, digits=4),
            _input(noop("GPUs"), option.gpus, ""),
            _input(noop("time that the run may take"), plan.available_h, "hours", source=_ANSWER),
            _input(noop("training time kept, failures apart"), 100 * assumptions.training_goodput_fraction, "%",
                   assumption="training_goodput_fraction"),
        ),
        badge=run.badge,
    )  # fmt: skip
    return hours, lasting, saved
