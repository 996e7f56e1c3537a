"""A training job in numbers, and what each candidate layout of it costs: memory, seconds per token, hours.

The search over all accelerators and the explanation of one option both go through these functions.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from catalog.specs import AcceleratorSpec, ModelArchitecture
from configurator.workload import LanguageTraining, LoadProfile, Method
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.results import LoadOption, TrainingRecipe
from quotes.sizing.training.calibration import TrainingCalibration
from quotes.sizing.training.evidence import Subject, shift_of
from quotes.sizing.training.goodput import goodput
from quotes.sizing.training.hardware import TrainingGpu, share_of_peak, training_gpu
from quotes.sizing.training.layouts import RECOMPUTES, SHARDINGS, Grid
from quotes.sizing.training.memory import (
    LOSSES,
    OFFLOADS,
    STATE_SHARES,
    STATES,
    Adapter,
    Batch,
    Loss,
    Split,
    States,
    TrainingMemory,
    in_flight_layers,
    in_host_memory,
    states_level,
    training_memory,
)
from quotes.sizing.training.model import TrainedModel, adapter_params, trained_model
from quotes.sizing.training.speed import Chip, TokenTime, Work, model_flops_per_token, token_time

type Vector = NDArray[np.float64]

HOURS_PER_WEEK = 168
HOURS_PER_MONTH = 730
STACK = "typical"  # a customer's software is not known: the middle of the current families
USUAL_SERVER = 8  # GPUs
BASE_BYTES = {Method.QLORA: 0.53}  # NF4 with double quantisation, absmax in 8 bit
METHODS = {Method.PRE_TRAIN: "pretrain", Method.FULL: "full", Method.LORA: "lora", Method.QLORA: "qlora"}
FSDP, ZERO1 = SHARDINGS.index("fsdp"), SHARDINGS.index("zero1")
FULL, SELECTIVE = RECOMPUTES.index("full"), RECOMPUTES.index("selective")


class Plan(NamedTuple):
    """A job in numbers, the same on every accelerator."""

    job: LanguageTraining
    arch: ModelArchitecture
    model: TrainedModel
    trained_params: float
    token_flops: float  # that the mathematics needs per token
    tokens: float
    step_tokens: float
    frozen: bool
    base_bytes: float
    software_age_months: float  # of the customer's software against the newest measured
    available_h: float  # wall clock that the run may take, its window respected

    @property
    def method(self) -> str:
        return METHODS[self.job.method]

    @property
    def regimes(self) -> tuple[str, ...]:
        """Names of the residual regimes that describe it, the most special first."""
        kind = "expert" if self.model.experts else "dense"
        return (f"planned {kind} {self.method}", f"planned {kind}", "planned")


def plan_of(job: LanguageTraining, arch: ModelArchitecture, assumptions: Assumptions) -> Plan:
    if job.method is Method.PRE_TRAIN:
        step = max(assumptions.pretrain_batch_tokens, job.sequence_tokens)
    else:
        step = assumptions.finetune_batch_sequences * job.sequence_tokens
    model, frozen = trained_model(arch), job.method in {Method.LORA, Method.QLORA}
    return Plan(
        job=job,
        arch=arch,
        model=model,
        trained_params=float(adapter_params(model, job.lora_rank)) if frozen else model.params,
        token_flops=model_flops_per_token(model, job.sequence_tokens, frozen=frozen),
        tokens=job.tokens,
        step_tokens=min(step, max(job.tokens, job.sequence_tokens)),
        frozen=frozen,
        base_bytes=BASE_BYTES.get(job.method, 2.0),
        software_age_months=assumptions.training_software_age_months,
        available_h=available_hours(job.deadline_h, job.window, assumptions),
    )


def available_hours(deadline_h: float, window: LoadProfile, assumptions: Assumptions) -> float:
    """Hours within `deadline_h` in which a job may run. One undisturbed stretch counts whole; a longer job is paused
    between stretches and gets its share of the week."""
    office = assumptions.training_office_h_per_week
    stretch, weekly = {
        LoadProfile.ALWAYS: (deadline_h, HOURS_PER_WEEK),
        LoadProfile.NIGHTS: (assumptions.training_night_h, HOURS_PER_WEEK - office),
        LoadProfile.OFFICE_HOURS: (office / 5, office),
        LoadProfile.EXTENDED: (
            assumptions.training_extended_h_per_week / 6,
            assumptions.training_extended_h_per_week,
        ),
    }[window]
    return min(deadline_h, max(stretch, deadline_h * weekly / HOURS_PER_WEEK))


# ── accelerators ────────────────────────────────────────────────────────────────────────────────────────────────


def surrounded(accelerator: AcceleratorSpec, node_gpus: int, assumptions: Assumptions) -> TrainingGpu | None:
    """The accelerator in a server of `node_gpus`, on the assumed network; None when a needed figure is unknown."""
    pcie5 = (accelerator.pcie_generation or 4) >= 5
    return training_gpu(
        accelerator,
        node_gpus=node_gpus,
        # as if all traffic crossed the narrowest place; what stays on one leaf is faster
        fabric_gbit_s=assumptions.training_fabric_gbit_s / assumptions.cluster_blocking_factor,
        pcie_gb_s=assumptions.training_pcie5_gb_s if pcie5 else assumptions.training_pcie4_gb_s,
    )


class Machines(NamedTuple):
    """Figures of the accelerators as columns, gathered per candidate by `chip`."""

    gpus: tuple[TrainingGpu, ...]
    precisions: tuple[str, ...]
    columns: Mapping[str, Vector]

    def chip(self, which: NDArray[np.int64]) -> Chip:
        return Chip(**{name: column[which] for name, column in self.columns.items()})


def machines_of(gpus: Sequence[TrainingGpu], precision: str, calibration: TrainingCalibration) -> Machines:
    """`precision` where the chip has it, else 16 bit."""
    used = tuple(precision if gpu.fp8_tflops else "bf16" for gpu in gpus)
    rates = [calibration.rates(gpu.generation) for gpu in gpus]
    power = np.array([gpu.power_share for gpu in gpus])
    peaks = np.array([gpu.peak_tflops(kind) for gpu, kind in zip(gpus, used, strict=True)]) * 1e12
    products = np.array([rate.product(kind) for rate, kind in zip(rates, used, strict=True)])
    attention = np.array([rate.attention for rate in rates])
    columns = {
        "matrix_flops_s": peaks * share_of_peak(products, power, calibration.speed.power),
        "attention_flops_s": np.array([gpu.bf16_tflops for gpu in gpus])
        * 1e12
        * share_of_peak(attention, power, calibration.speed.power),
        "memory_b_s": [gpu.memory_bandwidth_gb_s * 1e9 for gpu in gpus],
        "link_b_s": [gpu.peer_gb_s * 1e9 for gpu in gpus],
        "domain": [gpu.link_domain if gpu.link_gb_s else 1 for gpu in gpus],
        "server_b_s": [gpu.server_gb_s * 1e9 for gpu in gpus],
        "fabric_b_s": [gpu.fabric_gbit_s / 8 * 1e9 for gpu in gpus],
        "node_gpus": [gpu.node_gpus for gpu in gpus],
        "host_b_s": [gpu.pcie_gb_s * 1e9 for gpu in gpus],
    }
    return Machines(tuple(gpus), used, {name: np.array(values, float) for name, values in columns.items()})


# ── what measurements say about the formula ─────────────────────────────────────────────────────────────────────


class Spread(NamedTuple):
    """Factors on a formula's value: the 80 % interval and the middle, published runs near the plan included."""

    low: Vector
    middle: Vector
    high: Vector


def subject_of_plan(plan: Plan, gpu: TrainingGpu, precision: str) -> Subject:
    """The planned run as evidence sees it: software of no particular family, one server."""
    return Subject(
        model=plan.arch.key, params_b=plan.model.params / 1e9, expert=plan.model.experts > 0, gpu=gpu.name,
        generation=gpu.generation, stack=STACK, method=plan.method, precision=precision, sharding="fsdp",
        sequence_tokens=plan.job.sequence_tokens, gpus=USUAL_SERVER, software_age_months=plan.software_age_months,
    )  # fmt: skip


def is_known(plan: Plan, gpu: TrainingGpu, calibration: TrainingCalibration) -> bool:
    """Whether published runs cover the chip's generation and the kind of model."""
    return calibration.rates(gpu.generation).rows > 0 and plan.arch.standard_structure


def speed_spread(plan: Plan, machines: Machines, calibration: TrainingCalibration) -> Spread:
    """Per accelerator. A GPU generation that nobody published, or a model whose dimensions do not tell its structure,
    gets the interval of generations left out."""
    subjects = [
        subject_of_plan(plan, gpu, kind) for gpu, kind in zip(machines.gpus, machines.precisions, strict=True)
    ]
    shift = shift_of(calibration.evidence, "speed", subjects)
    usual, unseen = (
        calibration.interval("speed", *plan.regimes),
        calibration.interval("speed", "planned unseen"),
    )
    seen = np.array([is_known(plan, gpu, calibration) for gpu in machines.gpus])
    low = np.where(seen, usual.low, min(unseen.low, usual.low))
    high = np.where(seen, usual.high, max(unseen.high, usual.high))
    return Spread(shift * low, shift * usual.middle, shift * high)


UNKNOWN_STRUCTURE = (
    1.05  # on the upper end of memory, for models whose dimensions do not tell their structure
)


def memory_shift(plan: Plan, gpu: TrainingGpu, calibration: TrainingCalibration) -> float:
    """What published runs near the plan say about its memory; the same on every accelerator."""
    return float(shift_of(calibration.evidence, "memory", [subject_of_plan(plan, gpu, "bf16")])[0])


def memory_spread(
    memory: TrainingMemory, shift: float, calibration: TrainingCalibration, *, known: bool = True
) -> Spread:
    """Per candidate: the more of its memory are states, which are arithmetic, the surer it is; `known`: the structure
    of the model is."""
    levels = states_level(memory)
    usual = [
        calibration.interval("memory", f"planned states {level}", "planned")
        for level in range(len(STATE_SHARES) + 1)
    ]
    low, middle, high = (
        shift * np.array(ends)[levels]
        for ends in zip(*((one.low, one.middle, one.high) for one in usual), strict=True)
    )
    return Spread(low, middle, high if known else UNKNOWN_STRUCTURE * high)


# ── candidates ──────────────────────────────────────────────────────────────────────────────────────────────────


def split_of(layout: Grid) -> Split:
    whole = layout.sharding == FSDP
    ranks = layout.dp * layout.cp  # those that divide a sequence hold the same weights: they share the states
    return Split(
        tp=layout.tp, pp=layout.pp, cp=layout.cp, dp=layout.dp, ep=layout.ep,
        weight_shards=np.where(whole, ranks, 1), gradient_shards=np.where(whole, ranks, 1),
        optimizer_shards=np.where(whole | (layout.sharding == ZERO1), ranks, 1),
        streamed=layout.offload == OFFLOADS.index("all"),
    )  # fmt: skip


def batch_of(plan: Plan, layout: Grid, split: Split, *losses: Loss) -> Batch:
    micro_batches = np.maximum(
        plan.step_tokens / (layout.dp * layout.micro_batch * plan.job.sequence_tokens), 1.0
    )
    return Batch(
        sequence_tokens=plan.job.sequence_tokens,
        micro_batch=layout.micro_batch,
        recompute=(layout.recompute == FULL).astype(float),
        selective=(layout.recompute == SELECTIVE).astype(float),
        loss=np.array([[LOSSES.index(loss)] for loss in losses])
        if len(losses) > 1
        else LOSSES.index(losses[0]),
        in_flight=np.minimum(in_flight_layers(split), micro_batches),
    )


def states_of(plan: Plan, sharding: str, offload: str = "none") -> States:
    """Optimiser states by recipe: the choice that changes memory more than the model does."""
    if offload != "none" and not plan.frozen:
        return STATES["adamw_deepspeed"]
    if plan.job.optimizer == "adamw_8bit" and not plan.frozen:
        return STATES["adamw_8bit"]
    return STATES["adamw_main_gradients" if sharding == "zero1" and not plan.frozen else "adamw"]


def memory_of(plan: Plan, layout: Grid, calibration: TrainingCalibration, *losses: Loss) -> TrainingMemory:
    """Peak memory of every candidate, before the spread; with several losses, one row for each."""
    split = split_of(layout)
    recipes = [states_of(plan, "fsdp"), states_of(plan, "zero1"), states_of(plan, "fsdp", "all")]
    kinds = [layout.offload == 0, (layout.offload == 0) & (layout.sharding == ZERO1), layout.offload > 0]
    memory = training_memory(
        plan.model, States(*(np.select(kinds[::-1], fields[::-1]) for fields in zip(*recipes, strict=True))), split,
        batch_of(plan, layout, split, *losses), calibration.memory_factors(STACK),
        Adapter(float(plan.frozen), plan.base_bytes, plan.job.lora_rank),
    )  # fmt: skip
    return in_host_memory(memory, layout.offload) if np.any(layout.offload) else memory


def time_of(plan: Plan, layout: Grid, machines: Machines, calibration: TrainingCalibration) -> TokenTime:
    """Seconds per token and GPU of every candidate, before the spread."""
    split, stack = split_of(layout), calibration.stack(STACK)
    work = Work(
        frozen=float(plan.frozen), base_bytes=plan.base_bytes, moved_passes=stack.moved, step_s=stack.step_s,
        software_age_months=plan.software_age_months, full_sharding=(layout.sharding == FSDP).astype(float),
        offload=layout.offload,
    )  # fmt: skip
    return token_time(
        plan.model, machines.chip(layout.accelerator), split, batch_of(plan, layout, split, "eager"), work,
        calibration.speed, gpus=layout.gpus, global_batch_tokens=plan.step_tokens,
    )  # fmt: skip


def run_hours(plan: Plan, gpus: Vector, seconds: Vector, assumptions: Assumptions) -> Vector:
    """Wall clock of one run from seconds per token and GPU, with failures, checkpoints and the start."""
    kept = goodput(
        gpus,
        gpu_mtbf_h=assumptions.training_gpu_mtbf_h,
        write_h=assumptions.checkpoint_stall_s / 3600,
        restart_h=assumptions.training_restart_h,
    )
    compute = plan.tokens * seconds / gpus / 3600
    return compute / (kept.fraction * assumptions.training_goodput_fraction) + assumptions.training_start_h


def checkpoint_bytes(trained_params: float, assumptions: Assumptions) -> float:
    """A checkpoint to resume from: states of what is trained (a full one is 6–7 × the 16-bit weights)."""
    return trained_params * assumptions.checkpoint_bytes_per_param


def checkpoint_write_gb_s(size_bytes: float, assumptions: Assumptions) -> float:
    """Bandwidth that writes a checkpoint in the time that training may wait for it."""
    return size_bytes / assumptions.checkpoint_stall_s / 1e9


def shares_pool(job: LanguageTraining, hours: float, assumptions: Assumptions) -> bool:
    """Whether the job can live on service GPUs outside office hours: it may run then, a run ends within the nights
    that its deadline holds, and the month's runs fit in the month's nights."""
    if job.window not in {LoadProfile.NIGHTS, LoadProfile.ALWAYS}:
        return False
    idle_share = 1 - assumptions.training_office_h_per_week / HOURS_PER_WEEK
    within = max(min(job.deadline_h, assumptions.training_night_h), job.deadline_h * idle_share)
    return hours <= within and job.runs_per_month * hours <= HOURS_PER_MONTH * idle_share


# ── from an option back to its candidate ────────────────────────────────────────────────────────────────────────


def gpu_of(accelerator: AcceleratorSpec, option: LoadOption, assumptions: Assumptions) -> TrainingGpu:
    """The accelerator of an option as the search saw it. ValueError when its figures are unknown."""
    gpu = surrounded(accelerator, option.gpus_in_one_node, assumptions)
    if gpu is None:
        raise ValueError(f"{accelerator.sku} has no figures to train on")
    return gpu


def grid_of(option: LoadOption) -> Grid:
    """The candidate that an option came from, as arrays of one entry."""
    layout, recipe = option.layout, option.recipe or TrainingRecipe()
    values = (
        option.gpus, layout.tp, layout.pp, layout.dp, layout.ep, SHARDINGS.index(layout.sharding),
        recipe.micro_batch, RECOMPUTES.index(recipe.recompute), layout.cp, OFFLOADS.index(recipe.host_offload),
    )  # fmt: skip
    return Grid(np.array([0]), *(np.array([float(value)]) for value in values))
