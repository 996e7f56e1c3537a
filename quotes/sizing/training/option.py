"""From a chosen candidate to a load option: memory bar, host, findings."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from catalog.quantity import Message, Quantity, noop
from catalog.specs import AcceleratorSpec
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.results import (
    Estimate,
    HostNeed,
    Layout,
    LoadOption,
    MemoryBreakdown,
    Speed,
    TrainingRecipe,
    Verdict,
)
from quotes.sizing.trace import Badge, Finding, Severity
from quotes.sizing.training.calibration import TrainingCalibration
from quotes.sizing.training.goodput import goodput
from quotes.sizing.training.hardware import TrainingGpu
from quotes.sizing.training.layouts import RECOMPUTES, SHARDINGS, Grid
from quotes.sizing.training.memory import GIB, OFFLOADS, Offload
from quotes.sizing.training.plan import (
    FSDP,
    FULL,
    STACK,
    Machines,
    Plan,
    checkpoint_bytes,
    checkpoint_write_gb_s,
    is_known,
    memory_of,
    memory_spread,
    shares_pool,
)
from quotes.sizing.training.speed import mfu_fraction

HOST_BYTES_PURE = 8  # per parameter offloaded with everything in 16 bit: weights, gradients, two moments
PINNED = 0.4  # share of host memory on top of the states: buffers that the GPUs read directly
HOST_BYTES_PER_PARAM = (
    25  # in mixed precision: 18, and 40 % for pinned buffers (DeepSpeed's estimator takes 50 %)
)
# Stages with several micro-batches under way fragment memory most: a published run of 59 GB ended so on an 80 GB card.
PIPELINE_FREE = 1 / 3
SAVED_AT_LEAST_H = (0.25, 4.0)  # nobody saves more often, or leaves more than half a working day unsaved
LEAST_NVME_TB = 0.5


type Vector = NDArray[np.float64]
type Vectors = tuple[Vector, Vector, Vector]
type Bools = NDArray[np.bool_]


class Chosen(NamedTuple):
    """A candidate that holds the job, as plain numbers: layout, run time with the ends of its interval, memory."""

    gpus: int
    tp: int
    pp: int
    dp: int
    ep: int
    sharding: int  # index in SHARDINGS
    micro_batch: int
    recompute: int  # index in RECOMPUTES
    cp: int
    offload: int  # index in OFFLOADS
    loss: Literal["eager", "chunked"]
    hours: float
    hopeful_h: float
    cautious_h: float
    mfu: float
    weights_gib: float
    states_gib: float  # gradients and optimiser
    device_gib: float  # what the driver is expected to report
    checkpoint_interval_h: float


def chosen_rows(
    plan: Plan, layout: Grid, chunked: Bools, machines: Machines, hours: Vectors, seconds: Vector, shift: float,
    assumptions: Assumptions, calibration: TrainingCalibration,
) -> list[Chosen]:  # fmt: skip
    """The chosen candidates of all accelerators at once; `hours` are expected, hopeful and cautious."""
    factors = calibration.memory_factors(STACK)
    needed = memory_of(plan, layout, calibration, "eager", "chunked")
    plain, pieces = needed.device(factors) * memory_spread(needed, shift, calibration).middle / GIB
    device = np.where(chunked, pieces, plain)
    peak = np.array([gpu.bf16_tflops for gpu in machines.gpus])[layout.accelerator] * 1e12
    kept = goodput(
        layout.gpus,
        gpu_mtbf_h=assumptions.training_gpu_mtbf_h,
        write_h=assumptions.checkpoint_stall_s / 3600,
        restart_h=assumptions.training_restart_h,
    )
    columns = (
        *(field.astype(int).tolist() for field in layout[1:]),
        ["chunked" if flag else "eager" for flag in chunked.tolist()],
        *(values.tolist() for values in hours),
        mfu_fraction(plan.model, plan.job.sequence_tokens, seconds, peak, frozen=plan.frozen).tolist(),
        (needed.weights / GIB).tolist(),
        ((needed.gradients + needed.optimizer) / GIB).tolist(),
        device.tolist(),
        kept.interval_h.tolist(),
    )
    return [Chosen(*row) for row in zip(*columns, strict=True)]


def option_of(
    plan: Plan, accelerator: AcceleratorSpec, gpu: TrainingGpu, precision: str, chosen: Chosen,
    assumptions: Assumptions, calibration: TrainingCalibration,
) -> LoadOption:  # fmt: skip
    job, gpus = plan.job, chosen.gpus
    seen = is_known(plan, gpu, calibration) and not chosen.offload
    badge = Badge.INTERPOLATED if seen else Badge.EXTRAPOLATED
    run = Estimate(value=chosen.hours, low=chosen.hopeful_h, high=chosen.cautious_h, badge=badge)
    parts = breakdown(chosen, gpu, calibration)
    free = assumptions.training_tight_fraction if chosen.pp == 1 else PIPELINE_FREE
    # Of runs with states in host memory few were published: they are never promised to fit.
    tight = parts.free_gib < free * parts.total_gib or chosen.offload > 0
    return LoadOption(
        load=job.name, kind="training", accelerator=accelerator.sku,
        layout=Layout(tp=chosen.tp, pp=chosen.pp, dp=chosen.dp, ep=chosen.ep, sharding=SHARDINGS[chosen.sharding],
                      cp=chosen.cp),
        recipe=TrainingRecipe(
            micro_batch=chosen.micro_batch, recompute=RECOMPUTES[chosen.recompute], loss=chosen.loss,
            optimizer=job.optimizer, step_sequences=plan.step_tokens / job.sequence_tokens,
            host_offload=OFFLOADS[chosen.offload],
        ),
        precision=precision, gpus_per_replica=gpus, replicas=1, gpus=gpus, gpus_in_one_node=min(gpus, gpu.node_gpus),
        capacity_factor=plan.available_h / run.high, busy_fraction=1.0,
        gpu_hours_per_month=job.runs_per_month * gpus * chosen.hours,
        shares_pool=shares_pool(job, run.high, assumptions), memory=parts,
        verdict=Verdict.TIGHT if tight else Verdict.FITS, speed=Speed(run_hours=run, mfu_fraction=chosen.mfu),
        chip_is_measured=calibration.rates(gpu.generation).rows > 0,
        limited_by=_limit(plan, run, gpus, parts), host=host_need(plan, accelerator, gpu, chosen, assumptions),
        findings=_findings(plan, chosen, precision, tight),
    )  # fmt: skip


def breakdown(chosen: Chosen, gpu: TrainingGpu, calibration: TrainingCalibration) -> MemoryBreakdown:
    """One GPU's memory in the parts that a memory bar shows; they and the free part add up to the total."""
    runtime = float(calibration.memory_factors(STACK).runtime_gib)
    room = max(chosen.device_gib - chosen.weights_gib - runtime, 0.0)
    states = min(chosen.states_gib, room)
    return MemoryBreakdown(
        total_gib=gpu.memory_gib,
        weights_gib=chosen.weights_gib,
        optimizer_gib=states,
        activations_gib=room - states,
        runtime_gib=runtime,
        free_gib=gpu.memory_gib - chosen.weights_gib - room - runtime,
    )


def host_need(
    plan: Plan, accelerator: AcceleratorSpec, gpu: TrainingGpu, chosen: Chosen, assumptions: Assumptions
) -> HostNeed:
    """What the servers and the storage around the GPUs must give."""
    nodes = -(-chosen.gpus // gpu.node_gpus)
    size = checkpoint_bytes(plan.trained_params, assumptions)
    restored = size + (plan.model.params * 2 if plan.frozen else 0)
    per_day = 24 / min(max(chosen.checkpoint_interval_h, SAVED_AT_LEAST_H[0]), SAVED_AT_LEAST_H[1])
    memory_gb = accelerator.memory_gb_label or gpu.memory_gib * GIB / 1e9
    return HostNeed(
        cpu_cores_per_gpu=assumptions.training_cpu_cores_per_gpu,
        ram_gb_per_gpu=assumptions.training_ram_factor * memory_gb
        + host_state_bytes(plan, OFFLOADS[chosen.offload]) / chosen.gpus / 1e9,
        nvme_tb_per_node=max(2 * restored / nodes / 1e12, LEAST_NVME_TB),
        nvme_write_tb_per_day=size * per_day / nodes / 1e12,
        fabric_gbit_s_per_gpu=assumptions.training_fabric_gbit_s if nodes > 1 else 0,
        storage_read_gb_s=restored / assumptions.checkpoint_load_s / 1e9,
        storage_write_gb_s=checkpoint_write_gb_s(size, assumptions),
        checkpoint_tb=size / 1e12,
    )


def host_state_bytes(plan: Plan, offload: Offload) -> float:
    """Host memory of the whole job for states that live there, pinned buffers included."""
    if offload == "none":
        return 0.0
    if plan.frozen:
        return plan.model.params * plan.base_bytes * (1 + PINNED)
    kept_on_gpu = 4 if offload == "optimizer" else 0  # 16-bit weights and gradients
    return plan.model.params * (HOST_BYTES_PER_PARAM - kept_on_gpu)


def _limit(plan: Plan, run: Estimate, gpus: int, memory: MemoryBreakdown) -> Message:
    """What keeps the job from fewer GPUs. On half of them each would hold twice the model and its states."""
    if gpus == 1:
        return Message.of(noop("nothing: one GPU is enough"))
    hours = Quantity(value=run.high, unit="hours", digits=2)
    available = Quantity(value=plan.available_h, unit="hours", digits=2)
    if run.high > 0.5 * plan.available_h:
        text = noop("the deadline: {hours} of {available} at the cautious end")
        return Message.of(text, hours=hours, available=available)
    on_half = memory.total_gib - memory.free_gib + memory.weights_gib + memory.optimizer_gib
    if on_half > memory.total_gib:
        return Message.of(noop("GPU memory: fewer GPUs do not hold the model and its training states"))
    text = noop("room for more: {hours} of {available} at the cautious end")
    return Message.of(text, hours=hours, available=available)


def _findings(plan: Plan, chosen: Chosen, precision: str, tight: bool) -> tuple[Finding, ...]:
    found: list[Finding] = []
    if chosen.loss == "chunked":
        text = noop("Fits only with a loss computed in pieces (chunked or fused cross-entropy).")
        found.append(Finding(severity=Severity.WARNING, message=Message.of(text), about="memory"))
    if tight:
        text = noop("Memory is tight: watch fragmentation, or halve the micro-batch and accumulate.")
        found.append(Finding(severity=Severity.WARNING, message=Message.of(text), about="memory"))
    if plan.base_bytes < 1 and chosen.sharding == FSDP:
        text = noop("The 4-bit base is divided over the GPUs, which not all training software can do.")
        found.append(Finding(severity=Severity.WARNING, message=Message.of(text), about="memory"))
    if plan.job.precision == "fp8" and precision == "bf16":
        text = noop("This accelerator has no 8-bit floating point: the run is sized in BF16.")
        found.append(Finding(severity=Severity.INFO, message=Message.of(text), about="precision"))
    if chosen.cp > 1:
        text = noop(
            "Each sequence is divided over {count} GPUs (context parallelism); not all training software can."
        )
        found.append(
            Finding(severity=Severity.INFO, message=Message.of(text, count=chosen.cp), about="memory")
        )
    if chosen.offload:
        text = noop(
            "Training states stay in host memory, about {ram} in all: steps are slower, and how much depends on the "
            "server."
        )
        ram = Quantity(value=host_state_bytes(plan, OFFLOADS[chosen.offload]) / 1e9, unit="GB", digits=2)
        found.append(Finding(severity=Severity.WARNING, message=Message.of(text, ram=ram), about="memory"))
    if chosen.recompute == FULL:
        text = noop(
            "Activations are recomputed in the backward pass, which costs about a quarter of the speed."
        )
        found.append(Finding(severity=Severity.INFO, message=Message.of(text), about="memory"))
    return tuple(found)
