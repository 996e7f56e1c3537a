"""Why a language service does not run on an accelerator, in plain words, with the smallest change that would help."""

from collections.abc import Sequence

import numpy as np

from catalog.quantity import Message, Quantity, noop
from catalog.specs import AcceleratorSpec, ModelArchitecture
from configurator.workload import LanguageService, Precision
from quotes.sizing.refusals import at_most, either, enough, joined, ratio
from quotes.sizing.results import Refusal
from quotes.sizing.serving.fleet import Memory
from quotes.sizing.serving.layouts import Way
from quotes.sizing.serving.memory import EngineMemory, Pool
from quotes.sizing.serving.search import Asked, Shortfall
from quotes.sizing.serving.speed import Targets


def context_refusal(
    accelerator: AcceleratorSpec, service: LanguageService, arch: ModelArchitecture
) -> Refusal:
    """Beyond the positions that the model was trained for."""
    limit = Quantity(value=float(arch.max_context or 0), unit="tokens", digits=7)
    return Refusal.of(
        accelerator,
        "memory",
        kind="model",
        load=service.name,
        reason=Message.of(
            noop("{model} reads at most {limit}; you ask for {asked}."),
            model=arch.name,
            limit=limit,
            asked=Quantity(value=service.longest_request_tokens, unit="tokens", digits=7),
        ),
        change=Message.of(
            noop("Possible with requests up to {limit}, or with a model for longer texts."), limit=limit
        ),
    )


def missing_refusal(accelerator: AcceleratorSpec, service: LanguageService, reason: Message) -> Refusal:
    return Refusal.of(
        accelerator,
        "catalog",
        kind="unknown",
        load=service.name,
        reason=reason,
    )


def unmeasured_refusal(accelerator: AcceleratorSpec, service: LanguageService) -> Refusal:
    return Refusal.of(
        accelerator,
        "stack",
        kind="unknown",
        load=service.name,
        reason=Message.of(
            noop(
                "No language model was measured on anything comparable to {architecture}, so no speed can be promised."
            ),
            architecture=accelerator.architecture,
        ),
    )


def no_server_refusal(accelerator: AcceleratorSpec, service: LanguageService) -> Refusal:
    return Refusal.of(
        accelerator,
        "server",
        load=service.name,
        reason=Message.of(noop("The catalog has no complete server that takes it.")),
    )


def memory_refusal(asked: Asked, number: int, found: Sequence[Way], memory: Memory) -> Refusal:
    """By how much the best layout misses, and the smallest changes: a larger share of the memory for the engine, FP8
    cache, shorter requests, smaller weights."""
    accelerator, service, arch = asked.accelerators[number], asked.service, asked.arch
    occupancy = (
        asked.assumptions.kv_occupancy_limit_fraction
    )  # share of the cache for requests of the usual length
    mine = [at for at, way in enumerate(found) if way.accelerator == number]
    offered = [at for at in mine if not found[at].wish]
    if not offered:
        return _other_precision(accelerator, service, arch)
    pool = memory.budget.kv_pool_gib
    ranks = np.array([way.dp for way in found], float)
    usual = memory.mean_gib / occupancy / ranks
    needed = np.maximum(memory.needed_gib, usual)
    best = max(offered, key=lambda at: (pool[at] - needed[at], -found[at].gpus))
    gpus = Quantity(value=found[best].gpus, unit="GPUs", digits=4)
    short = Quantity(value=float(needed[best] - pool[best]), unit="GiB")
    if pool[best] <= 0:
        text = noop(
            "The weights take {weights} on each of {gpus}; with all that goes beside them, {short} more per GPU is "
            "needed than the engine may use of its {memory}."
        )
        if found[best].gpus == 1:
            text = noop(
                "The weights take {weights}; with all that goes beside them, {short} more is needed than the engine "
                "may use of the {memory} of one GPU."
            )
        reason = Message.of(
            text,
            weights=Quantity(value=float(memory.budget.weights_gib[best]), unit="GiB"), gpus=gpus, short=short,
            memory=Quantity(value=float(memory.budget.total_gib[best]), unit="GiB"),
        )  # fmt: skip
    else:
        reason = Message.of(
            noop("The weights fit on {gpus}, but one request of {tokens} needs {short} more per GPU than is left."),
            tokens=Quantity(value=service.longest_request_tokens, unit="tokens", digits=7), gpus=gpus, short=short,
        )  # fmt: skip
    total = float(memory.budget.total_gib[best])
    longest = _longest(offered, arch, memory, occupancy)
    share = _larger_share(memory, best, asked.engine, short.value)
    return Refusal.of(
        accelerator,
        "memory",
        load=service.name,
        reason=reason,
        change=_memory_change(mine, offered, found, memory, service, longest, share),
        excess=ratio(total + short.value, total),
    )


def _other_precision(
    accelerator: AcceleratorSpec, service: LanguageService, arch: ModelArchitecture
) -> Refusal:
    chosen = service.precision is not Precision.AUTO
    text = noop("It does not compute in {precision}, the precision of this model.")
    if chosen:
        text = noop("It does not compute in {precision}, which you chose.")
    return Refusal.of(
        accelerator,
        "stack",
        load=service.name,
        reason=Message.of(text, precision=(service.precision if chosen else arch.native_format).upper()),
        change=Message.of(noop("Possible in another precision.")),
    )


LARGEST_SHARE = 0.95  # start-up logs of 59 runs show engines that were given so much


def _larger_share(memory: Memory, at: int, engine: EngineMemory, short_gib: float) -> Message | None:
    """The share of the memory with which the engine would have `short_gib` more, where that is within its reach."""
    if engine.pool is Pool.SHARE_OF_FREE:
        return None  # a share of what is free moves little when hardly anything is
    usable = float(memory.budget.total_gib[at]) - engine.driver_reserve_gib
    share = enough(engine.share_fraction + short_gib / usable, digits=2).value
    most = LARGEST_SHARE
    if engine.pool is Pool.STATIC:  # what is left must hold everything else
        outside = float(memory.budget.activations_gib[at] + memory.budget.runtime_gib[at])
        most = min(most, 1 - outside / usable)
    if share > most:
        return None
    return Message.of(
        noop("{share} of the memory for the engine, where {usual} is usual (tight)"),
        share=Quantity(value=100 * share, unit="%", digits=2),
        usual=Quantity(value=100 * engine.share_fraction, unit="%", digits=2),
    )


def _memory_change(
    mine: Sequence[int],
    offered: Sequence[int],
    found: Sequence[Way],
    memory: Memory,
    service: LanguageService,
    longest: float,
    share: Message | None,
) -> Message:
    """The smallest changes that make it fit, each enough by itself."""
    wishes = [at for at in mine if found[at].wish and memory.fits[at]]
    ways = [share] if share else []
    if any(found[at].form == found[offered[-1]].form for at in wishes):
        ways.append(Message.of(noop("an FP8 KV cache")))
        wishes = []
    if longest > service.output_tokens:
        ways.append(
            Message.of(noop("requests of at most {tokens}"), tokens=at_most(longest, "tokens", digits=3))
        )
    if wishes:
        smaller = found[wishes[-1]].form.key.upper()
        ways.append(Message.of(noop("weights in {precision}, at some loss of quality"), precision=smaller))
    if not ways:
        return Message.of(noop("Needs a GPU with more memory, or a smaller model."))
    return Message.of(noop("Fits with {ways}."), ways=either(ways))


def _longest(offered: Sequence[int], arch: ModelArchitecture, memory: Memory, occupancy: float) -> float:
    """Tokens of the longest request that fits; 0 when unknown. Where usual requests are too long already, they are to
    leave a share of the cache free, which is plain arithmetic only where every token takes as much as the last."""
    able = [float(memory.largest_context[at]) for at in offered if memory.capacity[at] >= 1]
    if able or arch.sliding_layers or arch.linear_layers:
        return max(able, default=0)
    return occupancy * max(float(memory.largest_context[at]) for at in offered)


def part_refusal(accelerator: AcceleratorSpec, service: LanguageService) -> Refusal:
    """A part of an accelerator is too small; whether the whole would do is another question."""
    return Refusal.of(
        accelerator,
        "memory",
        load=service.name,
        reason=Message.of(noop("It does not fit in the memory of a part of an accelerator.")),
    )


def speed_refusal(
    accelerator: AcceleratorSpec, service: LanguageService, targets: "Targets", short: Shortfall
) -> Refusal:
    """No number of replicas helps: a single request is too slow already."""
    late, slow = "ttft" in short.misses, "tokens" in short.misses
    time, speed = short.time_to_ask(targets), short.speed_to_ask(targets)
    worst = max(short.misses, key=lambda name: short.misses[name])
    if worst == "ttft":
        reason = _too_late(targets, short)
    elif worst == "tokens":
        reason = _too_slow(targets, short)
    else:
        reason = Message.of(noop("A single request keeps one replica busy reading its prompt."))
    reachable = [Message.of(noop("a first token within {time}"), time=time)] if late else []
    reachable += [Message.of(noop("{speed} per user"), speed=speed)] if slow else []
    change = Message.of(noop("Possible with shorter prompts or a faster GPU."))
    if reachable and "rho" not in short.misses:
        promised = (not late or short.ttft_s <= targets.ttft_s) and (
            not slow or short.tokens_s >= targets.tokens_s
        )
        text = noop("Enough for {targets}; a trial run may show more.")
        change = Message.of(text if promised else noop("Enough for {targets}."), targets=joined(reachable))
    return Refusal(
        subject=accelerator.sku, subject_name=accelerator.name, stage="speed", load=service.name,
        reason=reason, change=change, excess=short.misses[worst],
    )  # fmt: skip


def _too_late(targets: "Targets", short: Shortfall) -> Message:
    text = noop("On {gpus} the first token of a single request may take {time}; you ask for {target}.")
    if short.ttft_s <= targets.ttft_s:
        text = noop(
            "On {gpus} the first token takes about {usual}, but only {time} can be promised; "
            "you ask for {target}."
        )
    return Message.of(
        text,
        usual=Quantity(value=short.ttft_s, unit="s", digits=2),
        time=short.time_to_ask(targets),
        gpus=Quantity(value=short.gpus, unit="GPUs", digits=4),
        target=Quantity(value=targets.ttft_s, unit="s", digits=3),
    )


def _too_slow(targets: "Targets", short: Shortfall) -> Message:
    text = noop("On {gpus} a single user may get no more than {speed}; you ask for {target}.")
    if short.tokens_s >= targets.tokens_s:
        text = noop(
            "On {gpus} a single user gets about {usual}, but only {speed} can be promised; "
            "you ask for {target}."
        )
    return Message.of(
        text,
        usual=Quantity(value=short.tokens_s, unit="tokens/s", digits=2),
        speed=short.speed_to_ask(targets),
        gpus=Quantity(value=short.gpus, unit="GPUs", digits=4),
        target=Quantity(value=targets.tokens_s, unit="tokens/s", digits=3),
    )
