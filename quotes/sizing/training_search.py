"""The search behind `training_options`: layouts, memory and time of a job on every accelerator at once.

Per accelerator the smallest number of GPUs, and the layout on them, that holds the job in memory and meets its
deadline at the cautious end of the predicted interval; then a few faster alternatives. One pass over NumPy arrays
for all accelerators together; `training_explain.explain_training` recomputes the chosen one with its figures.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from catalog.quantity import Message, Quantity, noop
from catalog.specs import AcceleratorSpec, Availability, ModelArchitecture
from configurator.workload import LanguageTraining, LoadProfile, Method
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.goodput import goodput
from quotes.sizing.results import (
    Estimate,
    HostNeed,
    Layout,
    LoadOption,
    MemoryBreakdown,
    Refusal,
    Speed,
    TrainingRecipe,
    Verdict,
)
from quotes.sizing.trace import Badge, Finding, Severity
from quotes.sizing.training_calibration import Residual, TrainingCalibration
from quotes.sizing.training_evidence import Subject
from quotes.sizing.training_hardware import TrainingGpu, training_gpu
from quotes.sizing.training_layouts import RECOMPUTES, SHARDINGS, SIZES_ABOVE_NEED, Grid, gpu_counts, grid
from quotes.sizing.training_memory import (
    GIB,
    LOSSES,
    STATES,
    Adapter,
    Batch,
    Loss,
    Split,
    States,
    TrainingMemory,
    in_flight_layers,
    training_memory,
)
from quotes.sizing.training_model import TrainedModel, adapter_params, trained_model
from quotes.sizing.training_speed import (
    Chip,
    TokenTime,
    Work,
    mfu_fraction,
    model_flops_per_token,
    token_time,
)

type Vector = NDArray[np.float64]

HOURS_PER_WEEK = 168
ALTERNATIVES = 3
FASTER = 1.1  # an alternative must beat the one before it by so much
STACK = "typical"
METHODS = {Method.PRE_TRAIN: "pretrain", Method.FULL: "full", Method.LORA: "lora", Method.QLORA: "qlora"}
BASE_BYTES = {Method.QLORA: 0.53}  # NF4 with double quantisation, absmax in 8 bit
BEST_CASE_UTILISATION = 0.9  # of the peak: sizes that miss the deadline even so are not looked at
TRAINING_STACKS = frozenset({"cuda", "rocm", "gaudi", "tpu", "neuron"})


class Plan(NamedTuple):
    """A job in numbers, the same on every accelerator."""

    job: LanguageTraining
    arch_key: str
    model: TrainedModel
    tokens: float
    step_tokens: float
    frozen: bool
    base_bytes: float
    software_age_months: float  # of the customer's software against the newest measured
    available_h: float  # wall clock that the run may take, its window respected

    @property
    def regimes(self) -> tuple[str, ...]:
        kind = "expert" if self.model.experts else "dense"
        return (f"{kind} {self.job.method}", kind)


def plan_of(job: LanguageTraining, arch: ModelArchitecture, assumptions: Assumptions) -> Plan:
    model = trained_model(arch)
    if job.method is Method.PRE_TRAIN:
        step = max(assumptions.pretrain_batch_tokens, job.sequence_tokens)
    else:
        step = assumptions.finetune_batch_sequences * job.sequence_tokens
    return Plan(
        job=job,
        arch_key=arch.key,
        model=model,
        tokens=job.tokens,
        step_tokens=min(step, max(job.tokens, job.sequence_tokens)),
        frozen=job.method in {Method.LORA, Method.QLORA},
        base_bytes=BASE_BYTES.get(job.method, 2.0),
        software_age_months=assumptions.training_software_age_months,
        available_h=available_hours(job.deadline_h, job.window, assumptions),
    )


def available_hours(deadline_h: float, window: LoadProfile, assumptions: Assumptions) -> float:
    """Hours within `deadline_h` in which a job may run. One undisturbed stretch counts whole; a longer job is paused
    between stretches and gets its share of the week."""
    night = assumptions.training_night_h
    stretch, weekly = {
        LoadProfile.ALWAYS: (deadline_h, HOURS_PER_WEEK),
        LoadProfile.NIGHTS: (night, HOURS_PER_WEEK - assumptions.training_office_h_per_week),
        LoadProfile.OFFICE_HOURS: (10, assumptions.training_office_h_per_week),
        LoadProfile.EXTENDED: (15, assumptions.training_extended_h_per_week),
    }[window]
    return min(deadline_h, max(stretch, deadline_h * weekly / HOURS_PER_WEEK))


# ── arrays over candidates ──────────────────────────────────────────────────────────────────────────────────────


def split_of(layout: Grid) -> Split:
    sharded = layout.sharding == SHARDINGS.index("fsdp")
    optimizer = sharded | (layout.sharding == SHARDINGS.index("zero1"))
    return Split(
        tp=layout.tp, pp=layout.pp, dp=layout.dp, ep=layout.ep,
        weight_shards=np.where(sharded, layout.dp, 1), gradient_shards=np.where(sharded, layout.dp, 1),
        optimizer_shards=np.where(optimizer, layout.dp, 1),
    )  # fmt: skip


def batch_of(plan: Plan, layout: Grid, split: Split, loss: Loss) -> Batch:
    tokens = layout.micro_batch * plan.job.sequence_tokens
    micro_batches = np.maximum(plan.step_tokens / (layout.dp * tokens), 1.0)
    return Batch(
        sequence_tokens=plan.job.sequence_tokens,
        micro_batch=layout.micro_batch,
        recompute=(layout.recompute == 2).astype(float),
        selective=(layout.recompute == 1).astype(float),
        loss=LOSSES.index(loss),
        in_flight=np.minimum(in_flight_layers(split), np.maximum(micro_batches, 1.0)),
    )


def states_of(plan: Plan, sharding: str) -> States:
    """Optimiser states by recipe: the choice that changes memory more than the model does."""
    if plan.job.optimizer == "adamw_8bit" and not plan.frozen:
        return STATES["adamw_8bit"]
    return STATES["adamw_main_gradients" if sharding == "zero1" else "adamw"]


def memory_of(plan: Plan, layout: Grid, calibration: TrainingCalibration, loss: Loss) -> TrainingMemory:
    """Peak memory of every candidate."""
    factors = calibration.memory_factors(STACK)
    split = split_of(layout)
    batch = batch_of(plan, layout, split, loss)
    adapter = Adapter(float(plan.frozen), plan.base_bytes, plan.job.lora_rank)
    zero1 = layout.sharding == SHARDINGS.index("zero1")
    states = States(
        *(
            np.where(zero1, main, everywhere)
            for main, everywhere in zip(states_of(plan, "zero1"), states_of(plan, "fsdp"), strict=True)
        )
    )
    return training_memory(plan.model, states, split, batch, factors, adapter)


class Machines(NamedTuple):
    """Figures of the accelerators as columns, gathered per candidate by `chip`."""

    gpus: tuple[TrainingGpu, ...]
    precisions: tuple[str, ...]
    columns: Mapping[str, Vector]

    def chip(self, which: NDArray[np.int64]) -> Chip:
        return Chip(**{name: column[which] for name, column in self.columns.items()})


def machines_of(gpus: Sequence[TrainingGpu], precision: str, calibration: TrainingCalibration) -> Machines:
    used = tuple(precision if gpu.fp8_tflops else "bf16" for gpu in gpus)
    rates = [calibration.rates(gpu.generation) for gpu in gpus]
    columns = {
        "matrix_flops_s": [
            gpu.peak_tflops(kind) * 1e12 * rate.product(kind)
            for gpu, kind, rate in zip(gpus, used, rates, strict=True)
        ],
        "attention_flops_s": [
            gpu.bf16_tflops * 1e12 * rate.attention for gpu, rate in zip(gpus, rates, strict=True)
        ],
        "memory_b_s": [gpu.memory_bandwidth_gb_s * 1e9 for gpu in gpus],
        "link_b_s": [(gpu.link_gb_s / 2 or gpu.pcie_gb_s) * 1e9 for gpu in gpus],
        "domain": [gpu.link_domain if gpu.link_gb_s else 1 for gpu in gpus],
        "fabric_b_s": [gpu.fabric_gbit_s / 8 * 1e9 for gpu in gpus],
        "node_gpus": [gpu.node_gpus for gpu in gpus],
    }
    return Machines(tuple(gpus), used, {name: np.array(values, float) for name, values in columns.items()})


def subject_of_plan(plan: Plan, gpu: TrainingGpu, precision: str) -> Subject:
    """The planned run as evidence sees it: modern software of no particular family, one server."""
    return Subject(
        model=plan.arch_key, params_b=plan.model.params / 1e9, expert=plan.model.experts > 0, gpu=gpu.name,
        generation=gpu.generation, stack=STACK, method=METHODS[plan.job.method], precision=precision,
        sequence_tokens=plan.job.sequence_tokens, gpus=gpu.node_gpus,
    )  # fmt: skip


def time_of(plan: Plan, layout: Grid, machines: Machines, calibration: TrainingCalibration) -> TokenTime:
    """Seconds per token and GPU of every candidate."""
    split = split_of(layout)
    work = Work(
        frozen=float(plan.frozen), base_bytes=plan.base_bytes, moved_passes=calibration.stacks[STACK].moved,
        step_s=calibration.stacks[STACK].step_s, software_age_months=plan.software_age_months,
        full_sharding=(layout.sharding == SHARDINGS.index("fsdp")).astype(float),
    )  # fmt: skip
    return token_time(
        plan.model, machines.chip(layout.accelerator), split, batch_of(plan, layout, split, "eager"), work,
        calibration.speed, gpus=layout.gpus, global_batch_tokens=plan.step_tokens,
    )  # fmt: skip


def checkpoint_bytes(plan: Plan, assumptions: Assumptions) -> float:
    """A checkpoint to resume from: states of what is trained (a full one is 6–7 × the 16-bit weights)."""
    trained = float(adapter_params(plan.model, plan.job.lora_rank)) if plan.frozen else plan.model.params
    return trained * assumptions.checkpoint_bytes_per_param


def run_hours(plan: Plan, gpus: Vector, seconds: Vector, assumptions: Assumptions) -> Vector:
    """Wall clock of one run, with failures, checkpoints and the start."""
    kept = goodput(
        gpus,
        gpu_mtbf_h=assumptions.training_gpu_mtbf_h,
        write_h=assumptions.checkpoint_stall_s / 3600,
        restart_h=assumptions.training_restart_h,
    )
    compute = plan.tokens * seconds / gpus / 3600
    return compute / (kept.fraction * assumptions.training_goodput_fraction) + assumptions.training_start_h


# ── from candidates to options ──────────────────────────────────────────────────────────────────────────────────


class Found(NamedTuple):
    """Candidates that survive, with what was computed of them."""

    layout: Grid
    hours: Vector
    seconds: Vector
    device_bytes: Vector
    chunked_loss: NDArray[np.bool_]


def training_options(
    job: LanguageTraining,
    arch: ModelArchitecture,
    accelerators: Sequence[AcceleratorSpec],
    *,
    max_in_node: Mapping[str, int],
    assumptions: Assumptions,
    calibration: TrainingCalibration,
) -> Mapping[str, tuple[LoadOption, ...] | Refusal]:
    """By accelerator SKU: the smallest sufficient option first, then up to three faster ones; or why there is none."""
    plan = plan_of(job, arch, assumptions)
    answers: dict[str, tuple[LoadOption, ...] | Refusal] = {}
    usable: list[tuple[AcceleratorSpec, TrainingGpu]] = []
    for accelerator in accelerators:
        node = max(1, max_in_node.get(accelerator.sku, 8))
        answer = _admitted(accelerator, node, job, arch, assumptions)
        if isinstance(answer, Refusal):
            answers[accelerator.sku] = answer
        else:
            usable.append((accelerator, answer))
    if not usable:
        return answers
    machines = machines_of([gpu for _, gpu in usable], job.precision, calibration)
    speed = calibration.interval("speed", *plan.regimes)
    memory = calibration.interval("memory", *plan.regimes)
    counts = [
        _counts(plan, gpu, kind, assumptions)
        for gpu, kind in zip(machines.gpus, machines.precisions, strict=True)
    ]
    layout = grid(arch, job.method, machines.gpus, counts)
    layout = layout.take(layout.dp * layout.micro_batch * job.sequence_tokens <= plan.step_tokens)
    found = _survivors(plan, layout, machines, calibration, assumptions, memory)
    cautious = found.hours / speed.low
    order = np.lexsort((found.hours, found.layout.gpus, found.layout.accelerator))
    for index, (accelerator, gpu) in enumerate(usable):
        mine = order[found.layout.accelerator[order] == index]
        chosen = _choose(found, cautious, mine, plan)
        answers[accelerator.sku] = (
            tuple(
                option_of(
                    plan, accelerator, gpu, machines.precisions[index], found, row, assumptions, calibration
                )
                for row in chosen
            )
            if chosen
            else _refused(
                plan, accelerator, gpu, found, cautious, mine, counts[index], assumptions, calibration
            )
        )
    return answers


def _admitted(
    accelerator: AcceleratorSpec,
    node: int,
    job: LanguageTraining,
    arch: ModelArchitecture,
    assumptions: Assumptions,
) -> TrainingGpu | Refusal:
    """The accelerator as a training GPU, or why it cannot train at all."""
    if arch.max_context and job.sequence_tokens > arch.max_context:
        return _refusal(
            accelerator, job, "catalog",
            Message.of(
                noop("Sequences of {asked} tokens are longer than the model takes."), asked=_tokens(job.sequence_tokens)
            ),
            Message.of(noop("Possible with sequences of at most {most} tokens."), most=_tokens(arch.max_context)),
        )  # fmt: skip
    if accelerator.availability is Availability.EDGE:
        return _refusal(
            accelerator, job, "stack", Message.of(noop("An edge module runs models; it does not train them."))
        )
    if accelerator.software_stack and not accelerator.software_stack & TRAINING_STACKS:
        return _refusal(accelerator, job, "stack", Message.of(noop("There is no training software for it.")))
    gpu = _surrounded(accelerator, node, assumptions)
    if gpu is None:
        return _refusal(
            accelerator, job, "catalog",
            Message.of(noop("Its memory, bandwidth or 16-bit compute rate is not known, so training cannot be sized.")),
        )  # fmt: skip
    return gpu


def _surrounded(accelerator: AcceleratorSpec, node: int, assumptions: Assumptions) -> TrainingGpu | None:
    pcie5 = (accelerator.pcie_generation or 4) >= 5
    return training_gpu(
        accelerator,
        node_gpus=node,
        fabric_gbit_s=assumptions.training_fabric_gbit_s,
        pcie_gb_s=assumptions.training_pcie5_gb_s if pcie5 else assumptions.training_pcie4_gb_s,
    )


def gpu_of(accelerator: AcceleratorSpec, option: LoadOption, assumptions: Assumptions) -> TrainingGpu:
    """The accelerator of an option as the search saw it. ValueError when its figures are unknown."""
    gpu = _surrounded(accelerator, option.gpus_in_one_node, assumptions)
    if gpu is None:
        raise ValueError(f"{accelerator.sku} has no figures to train on")
    return gpu


def grid_of(option: LoadOption) -> Grid:
    """The candidate that an option came from, as arrays of one entry."""
    layout, recipe = option.layout, option.recipe or TrainingRecipe()
    values = (
        0, option.gpus, layout.tp, layout.pp, layout.dp, layout.ep, SHARDINGS.index(layout.sharding),
        recipe.micro_batch, RECOMPUTES.index(recipe.recompute),
    )  # fmt: skip
    return Grid(*(np.array([value]) for value in values))


def _counts(plan: Plan, gpu: TrainingGpu, precision: str, assumptions: Assumptions) -> tuple[int, ...]:
    """GPU counts that could do it at best, and a few above."""
    rate = gpu.peak_tflops(precision) * 1e12 * BEST_CASE_UTILISATION
    needed = model_flops_per_token(plan.model, plan.job.sequence_tokens, frozen=plan.frozen)
    for_deadline = plan.tokens * needed / rate / 3600 / plan.available_h
    states = plan.base_bytes if plan.frozen else STATES["adamw_8bit"].resident
    for_memory = 1 if plan.frozen else plan.model.params * states / (gpu.memory_gib * GIB)
    least = max(for_deadline, for_memory)
    all_counts = gpu_counts(gpu.node_gpus, assumptions.training_gpus_max)
    return tuple(count for count in all_counts if count >= least)[:SIZES_ABOVE_NEED]


def _survivors(
    plan: Plan, layout: Grid, machines: Machines, calibration: TrainingCalibration, assumptions: Assumptions,
    interval: Residual,
) -> Found:  # fmt: skip
    """Candidates that fit at the cautious end of the memory interval, with their run time. A fused or chunked loss
    comes in only where the plain one does not fit."""
    factors = calibration.memory_factors(STACK)
    capacity = np.array([gpu.memory_gib for gpu in machines.gpus]) * GIB
    limit = capacity[layout.accelerator] * (1 - assumptions.training_memory_reserve_fraction)
    plain = memory_of(plan, layout, calibration, "eager").device(factors)
    chunked = memory_of(plan, layout, calibration, "chunked").device(factors)
    fits_plain = plain * interval.high <= limit
    fits = chunked * interval.high <= limit
    kept = layout.take(fits)
    device = np.where(fits_plain, plain, chunked)[fits]
    seconds = time_of(plan, kept, machines, calibration).total
    return Found(kept, run_hours(plan, kept.gpus, seconds, assumptions), seconds, device, ~fits_plain[fits])


def _choose(found: Found, cautious: Vector, mine: NDArray[np.int64], plan: Plan) -> list[int]:
    """Row numbers: the fastest layout of the smallest size in time, then of larger sizes that are clearly faster.
    `mine` is sorted by size and time."""
    sizes = found.layout.gpus[mine]
    first_of_size = mine[np.unique(sizes, return_index=True)[1]]
    chosen: list[int] = []
    for row in first_of_size:
        if cautious[row] > plan.available_h:
            continue
        if chosen and found.hours[row] * FASTER > found.hours[chosen[-1]]:
            continue
        chosen.append(int(row))
        if len(chosen) > ALTERNATIVES:
            break
    return chosen


def option_of(
    plan: Plan, accelerator: AcceleratorSpec, gpu: TrainingGpu, precision: str, found: Found, row: int,
    assumptions: Assumptions, calibration: TrainingCalibration,
) -> LoadOption:  # fmt: skip
    """The candidate of one row as a load option."""
    job, layout = plan.job, found.layout.take(np.array([row]))
    gpus, sharding = int(layout.gpus[0]), SHARDINGS[int(layout.sharding[0])]
    interval = calibration.interval("speed", *plan.regimes)
    hours = float(found.hours[row])
    run = Estimate(
        value=hours, low=hours / interval.high, high=hours / interval.low, badge=_badge(gpu, calibration)
    )
    memory = breakdown(plan, layout, gpu, calibration, "chunked" if found.chunked_loss[row] else "eager")
    mfu = mfu_fraction(
        plan.model, job.sequence_tokens, found.seconds[row], gpu.bf16_tflops * 1e12, frozen=plan.frozen
    )
    tight = memory.free_gib < assumptions.training_tight_fraction * memory.total_gib
    return LoadOption(
        load=job.name, kind="training", accelerator=accelerator.sku,
        layout=Layout(
            tp=int(layout.tp[0]), pp=int(layout.pp[0]), dp=int(layout.dp[0]), ep=int(layout.ep[0]), sharding=sharding
        ),
        precision=precision,
        recipe=TrainingRecipe(
            micro_batch=int(layout.micro_batch[0]), recompute=RECOMPUTES[int(layout.recompute[0])],
            loss="chunked" if found.chunked_loss[row] else "eager", optimizer=job.optimizer,
        ),
        gpus_per_replica=gpus, replicas=1, gpus=gpus,
        gpus_in_one_node=min(gpus, gpu.node_gpus), capacity_factor=plan.available_h / run.high, busy_fraction=1.0,
        gpu_hours_per_month=job.runs_per_month * gpus * hours,
        shares_pool=shares_pool(job, run.high, assumptions), memory=memory,
        verdict=Verdict.TIGHT if tight else Verdict.FITS, speed=Speed(run_hours=run, mfu_fraction=float(mfu)),
        limited_by=_limit(plan, run, gpus), host=host_need(plan, accelerator, gpu, gpus, assumptions),
        findings=_findings(plan, layout, gpu, precision, bool(found.chunked_loss[row]), tight),
    )  # fmt: skip


def breakdown(
    plan: Plan, layout: Grid, gpu: TrainingGpu, calibration: TrainingCalibration, loss: Loss
) -> MemoryBreakdown:
    """One GPU's memory in the parts that a memory bar shows; they add up to the total."""
    factors = calibration.memory_factors(STACK)
    memory = memory_of(plan, layout, calibration, loss)
    device, weights = float(memory.device(factors)[0]) / GIB, float(memory.weights[0]) / GIB
    optimizer = float(memory.optimizer[0] + memory.gradients[0]) / GIB
    runtime = float(factors.runtime_gib)
    rest = max(device - weights - optimizer - runtime, 0.0)
    optimizer = min(optimizer, max(device - weights - runtime, 0.0))
    return MemoryBreakdown(
        total_gib=gpu.memory_gib,
        weights_gib=weights,
        optimizer_gib=optimizer,
        activations_gib=rest,
        runtime_gib=runtime,
        free_gib=gpu.memory_gib - weights - optimizer - rest - runtime,
    )


def shares_pool(job: LanguageTraining, hours: float, assumptions: Assumptions) -> bool:
    """Whether the job can live on service GPUs outside office hours: it may run then, a run ends within the nights
    that its deadline holds, and the month's runs fit in the month's nights."""
    if job.window not in {LoadProfile.NIGHTS, LoadProfile.ALWAYS}:
        return False
    idle_share = 1 - assumptions.training_office_h_per_week / HOURS_PER_WEEK
    within = max(min(job.deadline_h, assumptions.training_night_h), job.deadline_h * idle_share)
    return hours <= within and job.runs_per_month * hours <= 730 * idle_share


def host_need(
    plan: Plan, accelerator: AcceleratorSpec, gpu: TrainingGpu, gpus: int, assumptions: Assumptions
) -> HostNeed:
    """What the servers and the storage around the GPUs must give."""
    nodes = -(-gpus // gpu.node_gpus)
    size = checkpoint_bytes(plan, assumptions)
    restored = size + (plan.model.params * 2 if plan.frozen else 0)
    kept = goodput(
        gpus,
        gpu_mtbf_h=assumptions.training_gpu_mtbf_h,
        write_h=assumptions.checkpoint_stall_s / 3600,
        restart_h=0,
    )
    per_day = 24 / min(max(float(kept.interval_h), 0.25), 4.0)
    memory_gb = accelerator.memory_gb_label or gpu.memory_gib * GIB / 1e9
    return HostNeed(
        cpu_cores_per_gpu=assumptions.training_cpu_cores_per_gpu,
        ram_gb_per_gpu=assumptions.training_ram_factor * memory_gb,
        nvme_tb_per_node=max(2 * restored / nodes / 1e12, 0.5),
        nvme_write_tb_per_day=size * per_day / nodes / 1e12,
        fabric_gbit_s_per_gpu=assumptions.training_fabric_gbit_s if nodes > 1 else 0,
        storage_read_gb_s=restored / assumptions.checkpoint_load_s / 1e9,
        storage_write_gb_s=size / assumptions.checkpoint_stall_s / 1e9,
        checkpoint_tb=size / 1e12,
    )


def _badge(gpu: TrainingGpu, calibration: TrainingCalibration) -> Badge:
    return Badge.INTERPOLATED if calibration.rates(gpu.generation).rows else Badge.EXTRAPOLATED


def _limit(plan: Plan, run: Estimate, gpus: int) -> Message:
    if run.high > 0.5 * plan.available_h and gpus > 1:
        return Message.of(
            noop("the deadline: {hours} of {available} at the cautious end"),
            hours=Quantity(value=run.high, unit="hours", digits=2),
            available=Quantity(value=plan.available_h, unit="hours", digits=2),
        )
    if gpus == 1:
        return Message.of(noop("nothing: one GPU is enough"))
    return Message.of(noop("GPU memory: fewer GPUs do not hold the model and its training states"))


def _findings(
    plan: Plan, layout: Grid, gpu: TrainingGpu, precision: str, chunked: bool, tight: bool
) -> tuple[Finding, ...]:
    found: list[Finding] = []
    if chunked:
        text = noop("Fits only with a loss computed in pieces (chunked or fused cross-entropy).")
        found.append(Finding(severity=Severity.WARNING, message=Message.of(text), about="memory"))
    if tight:
        text = noop("Memory is tight: watch fragmentation, or halve the micro-batch and accumulate.")
        found.append(Finding(severity=Severity.WARNING, message=Message.of(text), about="memory"))
    if plan.job.precision == "fp8" and precision == "bf16":
        text = noop("This accelerator has no 8-bit floating point: the run is sized in BF16.")
        found.append(Finding(severity=Severity.INFO, message=Message.of(text), about="precision"))
    if layout.recompute[0] == 2:
        text = noop(
            "Activations are recomputed in the backward pass, which costs about a quarter of the speed."
        )
        found.append(Finding(severity=Severity.INFO, message=Message.of(text), about="memory"))
    return tuple(found)


# ── refusals ────────────────────────────────────────────────────────────────────────────────────────────────────


def _refusal(
    accelerator: AcceleratorSpec,
    job: LanguageTraining,
    stage: str,
    reason: Message,
    change: Message | None = None,
) -> Refusal:
    return Refusal(
        subject=accelerator.sku, subject_name=accelerator.name, stage=stage, reason=reason, change=change,  # type: ignore[arg-type]
        load=job.name,
    )  # fmt: skip


def _tokens(count: float) -> Quantity:
    return Quantity(value=count, unit="", digits=6)


def _refused(
    plan: Plan, accelerator: AcceleratorSpec, gpu: TrainingGpu, found: Found, cautious: Vector,
    mine: NDArray[np.int64], counts: Sequence[int], assumptions: Assumptions, calibration: TrainingCalibration,
) -> Refusal:  # fmt: skip
    """Too slow, or too small: by how much, and what would help."""
    job = plan.job
    if mine.size:
        best = mine[np.argmin(cautious[mine])]
        return _refusal(
            accelerator, job, "speed",
            Message.of(
                noop("Even {count} GPUs need up to {hours}; there are {available}."),
                count=int(found.layout.gpus[best]), hours=Quantity(value=float(cautious[best]), unit="hours", digits=2),
                available=Quantity(value=plan.available_h, unit="hours", digits=2),
            ),
            Message.of(noop("Possible with a later deadline, fewer tokens or a smaller model.")),
        )  # fmt: skip
    if not counts:
        return _refusal(
            accelerator, job, "speed",
            Message.of(
                noop("It would take more than {count} GPUs to be ready in time."),
                count=int(assumptions.training_gpus_max),
            ),
            Message.of(noop("Possible with a later deadline, fewer tokens or a smaller model.")),
        )  # fmt: skip
    needed = _least_memory_gib(plan, gpu, counts[-1], calibration)
    return _refusal(
        accelerator, job, "memory",
        Message.of(
            noop("The job needs about {needed} per GPU even spread over {count}; the card has {available}."),
            needed=Quantity(value=needed, unit="GiB", digits=3), count=int(counts[-1]),
            available=Quantity(value=gpu.memory_gib, unit="GiB", digits=3),
        ),
        _knob(plan),
    )  # fmt: skip


def _least_memory_gib(plan: Plan, gpu: TrainingGpu, count: int, calibration: TrainingCalibration) -> float:
    one = np.array([0])
    sharding = SHARDINGS.index("fsdp" if count > 1 else "none")
    layout = Grid(one, one + count, one + 1, one + 1, one + count, one + 1, one + sharding, one + 1, one + 2)
    interval = calibration.interval("memory", *plan.regimes)
    device = memory_of(plan, layout, calibration, "chunked").device(calibration.memory_factors(STACK))
    return float(device[0]) / GIB * interval.high


def _knob(plan: Plan) -> Message:
    """The change that helps most when a job does not fit."""
    job = plan.job
    if job.sequence_tokens >= 16_384:
        return Message.of(noop("Possible with shorter sequences, or by splitting the sequence over GPUs."))
    if job.method is Method.QLORA:
        return Message.of(noop("Possible with a smaller model or a larger GPU."))
    if job.method is Method.LORA:
        return Message.of(noop("Possible with QLoRA: the frozen model in 4 bit takes about a quarter."))
    if job.optimizer == "adamw":
        return Message.of(
            noop(
                "Possible with an 8-bit optimiser, with LoRA, or with states kept in host memory at a loss of speed."
            )
        )
    return Message.of(
        noop("Possible with LoRA or QLoRA, which train a small addition instead of the whole model.")
    )
