"""Who may not train, and why: what is missing, by how much it does not fit, and what would help."""

from collections.abc import Sequence

import numpy as np

from catalog.quantity import Message, Quantity, noop
from catalog.specs import AcceleratorSpec, Availability
from configurator.workload import Method
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.refusals import enough, ratio, telling_digits
from quotes.sizing.results import Kind, Refusal, Stage
from quotes.sizing.training.calibration import TrainingCalibration
from quotes.sizing.training.hardware import TrainingGpu
from quotes.sizing.training.layouts import SHARDINGS, Grid, context_degrees
from quotes.sizing.training.memory import GIB, TrainingMemory
from quotes.sizing.training.plan import FSDP, FULL, STACK, Plan, memory_of, memory_spread, surrounded

TRAINING_STACKS = frozenset({"cuda", "rocm", "gaudi", "tpu", "neuron"})
LONG_SEQUENCE = 2048


def admitted(
    accelerator: AcceleratorSpec, node_gpus: int, plan: Plan, assumptions: Assumptions
) -> TrainingGpu | Refusal:
    """The accelerator as a training GPU, or why it cannot train at all."""
    longest = plan.arch.max_context
    if longest and plan.job.sequence_tokens > longest:
        return _refusal(
            accelerator, plan, "catalog",
            Message.of(
                noop("Sequences of {asked} tokens are longer than the model takes."),
                asked=_tokens(plan.job.sequence_tokens),
            ),
            Message.of(noop("Possible with sequences of at most {most} tokens."), most=_tokens(longest)), "model",
        )  # fmt: skip
    if accelerator.availability is Availability.EDGE:
        text = noop("An edge module runs models; it does not train them.")
        return _refusal(accelerator, plan, "stack", Message.of(text))
    if accelerator.software_stack and not accelerator.software_stack & TRAINING_STACKS:
        return _refusal(accelerator, plan, "stack", Message.of(noop("There is no training software for it.")))
    gpu = surrounded(accelerator, node_gpus, assumptions)
    if gpu is None:
        text = noop("Its memory, bandwidth or 16-bit compute rate is not known, so training cannot be sized.")
        return _refusal(accelerator, plan, "catalog", Message.of(text), kind="unknown")
    return gpu


def refused_size(
    plan: Plan, accelerator: AcceleratorSpec, most: int, for_deadline: float, for_states: float
) -> Refusal:
    """It would take more than the `most` GPUs that are looked at: for the deadline, or to hold the training states."""
    count = Quantity(value=most, digits=5)
    if for_deadline >= for_states:
        return _refusal(
            accelerator, plan, "speed",
            Message.of(noop("It would take more than {count} GPUs to be ready in time."), count=count),
            Message.of(noop("Possible with a later deadline, fewer tokens or a smaller model.")),
            excess=ratio(for_deadline, most),
        )  # fmt: skip
    return _refusal(
        accelerator, plan, "memory",
        Message.of(noop("More than {count} GPUs would be needed to hold the training states."), count=count),
        Message.of(noop("Possible with a larger GPU, a smaller model, LoRA or QLoRA.")),
        excess=ratio(for_states, most),
    )  # fmt: skip


def refused_speed(plan: Plan, accelerator: AcceleratorSpec, gpus: int, hours: float) -> Refusal:
    """Too slow at every size that was looked at."""
    digits = telling_digits(hours, plan.available_h)
    reason = Message.of(
        noop("Even {count} GPUs need up to {hours}; there are {available}."),
        count=gpus,
        hours=enough(hours, "hours", digits),
        available=Quantity(value=plan.available_h, unit="hours", digits=3),
    )
    change = Message.of(
        noop("Possible within {deadline} instead of {asked}, with fewer tokens or a smaller model."),
        deadline=enough(plan.job.deadline_h * hours / plan.available_h, "hours", digits),
        asked=Quantity(value=plan.job.deadline_h, unit="hours", digits=4),
    )
    return _refusal(accelerator, plan, "speed", reason, change, excess=ratio(hours, plan.available_h))


def refused_memory(
    plan: Plan, accelerator: AcceleratorSpec, gpu: TrainingGpu, counts: Sequence[int], shift: float,
    assumptions: Assumptions, calibration: TrainingCalibration,
) -> Refusal:  # fmt: skip
    """It does not fit on any of `counts` GPUs with everything recomputed: by how much, and what would help."""
    gpus = np.array(counts, float)
    one = np.ones(gpus.size)
    # The sequence over as many GPUs as there are; the same sequences then reach more of them.
    degrees = np.array(context_degrees(plan.job.sequence_tokens), float)
    cp = np.array([degrees[(degrees <= count) & (count % degrees == 0)].max() for count in gpus])
    sharding = np.where(gpus > 1, float(FSDP), float(SHARDINGS.index("none")))
    layout = Grid(
        np.zeros(gpus.size, int), gpus, one, one, gpus / cp, one, sharding, one, FULL * one, cp, 0 * one
    )
    memory = memory_of(plan, layout, calibration, "chunked")
    needed = (
        memory.device(calibration.memory_factors(STACK))
        / GIB
        * memory_spread(memory, shift, calibration, known=plan.arch.standard_structure).high
    )
    # More GPUs than sequences in a step have nothing to do.
    sequences = plan.step_tokens / plan.job.sequence_tokens
    busy = np.flatnonzero(gpus / cp <= sequences)
    chosen = int(busy[needed[busy].argmin()]) if busy.size else 0
    usable = gpu.memory_gib * (1 - assumptions.training_memory_reserve_fraction)
    reason = Message.of(
        noop("The job needs about {needed} per GPU even spread over {count} GPUs; each offers {available}."),
        needed=Quantity(value=float(needed[chosen]), unit="GiB", digits=3),
        count=counts[chosen],
        available=Quantity(value=usable, unit="GiB", digits=3),
    )
    enough = np.flatnonzero(needed <= usable)
    if enough.size and needed[chosen] > usable:
        text = noop(
            "Possible with {count} sequences per optimiser step, so that more GPUs share the training states."
        )
        change = Message.of(text, count=counts[int(enough[0])])
    else:
        change = _saving(plan, memory, chosen)
    return _refusal(accelerator, plan, "memory", reason, change, excess=ratio(float(needed[chosen]), usable))


def _saving(plan: Plan, memory: TrainingMemory, index: int) -> Message:
    """The change that saves most; it depends on what takes the memory of that entry."""
    job = plan.job
    states = float((memory.weights + memory.gradients + memory.optimizer)[index])
    working, gathered = float((memory.activations + memory.logits)[index]), float(memory.gathered[index])
    if working >= max(states, gathered) and job.sequence_tokens >= LONG_SEQUENCE:
        text = noop("Less is needed with shorter sequences.")
    elif gathered >= max(states, working) and not plan.frozen:
        text = noop("Less is needed on GPUs with a fast link, over which one layer can be split.")
    elif job.method is Method.QLORA:
        text = noop("Possible with a smaller model or a larger GPU.")
    elif job.method is Method.LORA:
        text = noop("Less is needed with QLoRA: the frozen model in 4 bit takes about a quarter.")
    elif job.optimizer == "adamw":
        text = noop(
            "Less is needed with an 8-bit optimiser or LoRA; states in host memory do not make it fit."
        )
    else:
        text = noop(
            "Less is needed with LoRA or QLoRA, which train a small addition instead of the whole model."
        )
    return Message.of(text)


def _refusal(
    accelerator: AcceleratorSpec, plan: Plan, stage: Stage, reason: Message, change: Message | None = None,
    kind: Kind | None = None, excess: float | None = None,
) -> Refusal:  # fmt: skip
    return Refusal.of(accelerator, stage, reason, change, load=plan.job.name, kind=kind, excess=excess)


def _tokens(count: float) -> Quantity:
    return Quantity(value=count, digits=6)
