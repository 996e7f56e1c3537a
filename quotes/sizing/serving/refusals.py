"""Why a language service does not run on an accelerator, in plain words, with the smallest change that would help."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from catalog.quantity import Message, Quantity, noop
from catalog.specs import AcceleratorSpec, ModelArchitecture
from configurator.workload import LanguageService, Precision
from quotes.sizing.results import Refusal
from quotes.sizing.serving.layouts import Way

if TYPE_CHECKING:
    from quotes.sizing.serving.fleet import Memory
    from quotes.sizing.serving.speed import Targets


class Shortfall(NamedTuple):
    """The best that a single request gets, at the end of the interval that counts."""

    ttft_s: float
    tokens_s: float
    misses_ttft: bool
    misses_tokens: bool
    gpus: int


def context_refusal(
    accelerator: AcceleratorSpec, service: LanguageService, arch: ModelArchitecture
) -> Refusal:
    """Beyond the positions that the model was trained for."""
    limit = Quantity(value=float(arch.max_context or 0), unit="tokens", digits=7)
    return Refusal(
        subject=accelerator.sku,
        subject_name=accelerator.name,
        stage="memory",
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
    return Refusal(
        subject=accelerator.sku,
        subject_name=accelerator.name,
        stage="catalog",
        kind="unknown",
        load=service.name,
        reason=reason,
    )


def unmeasured_refusal(accelerator: AcceleratorSpec, service: LanguageService) -> Refusal:
    return Refusal(
        subject=accelerator.sku,
        subject_name=accelerator.name,
        stage="stack",
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
    return Refusal(
        subject=accelerator.sku,
        subject_name=accelerator.name,
        stage="server",
        load=service.name,
        reason=Message.of(noop("The catalog has no complete server that takes it.")),
    )


def memory_refusal(
    accelerator: AcceleratorSpec,
    service: LanguageService,
    arch: ModelArchitecture,
    number: int,
    found: Sequence[Way],
    memory: "Memory",
    fits: NDArray[np.bool_],
) -> Refusal:
    """By how much the best layout misses, and the smallest change: FP8 cache, shorter requests, smaller weights."""
    mine = [at for at, way in enumerate(found) if way.accelerator == number]
    offered = [at for at in mine if not found[at].wish]
    if not offered:
        return Refusal(
            subject=accelerator.sku,
            subject_name=accelerator.name,
            stage="stack",
            load=service.name,
            reason=Message.of(
                noop("It does not compute in {precision}, the precision of this model."),
                precision=(
                    arch.native_format if service.precision is Precision.AUTO else service.precision
                ).upper(),
            ),
        )
    pool, needed = memory.budget.kv_pool_gib, memory.needed_gib
    best = max(offered, key=lambda at: (pool[at] - needed[at], -found[at].gpus))
    gpus = Quantity(value=found[best].gpus, unit="GPUs", digits=4)
    short = Quantity(value=float(needed[best] - pool[best]), unit="GiB")
    if pool[best] <= 0:
        reason = Message.of(
            noop("The weights take {weights} on each of {gpus}, more than there is: {short} are missing per GPU."),
            weights=Quantity(value=float(memory.budget.weights_gib[best]), unit="GiB"), gpus=gpus, short=short,
        )  # fmt: skip
    else:
        reason = Message.of(
            noop("The weights fit on {gpus}, but one request of {tokens} needs {short} more per GPU than is left."),
            tokens=Quantity(value=service.longest_request_tokens, unit="tokens", digits=7), gpus=gpus, short=short,
        )  # fmt: skip
    return Refusal(
        subject=accelerator.sku,
        subject_name=accelerator.name,
        stage="memory",
        load=service.name,
        reason=reason,
        change=_memory_change(mine, offered, found, memory, fits, service),
    )


def _memory_change(
    mine: Sequence[int],
    offered: Sequence[int],
    found: Sequence[Way],
    memory: "Memory",
    fits: NDArray[np.bool_],
    service: LanguageService,
) -> Message | None:
    wishes = [at for at in mine if found[at].wish and fits[at]]
    cache_only = [at for at in wishes if found[at].form == found[offered[-1]].form]
    if cache_only:
        return Message.of(noop("Fits with an FP8 KV cache."))
    longest = float(max(memory.largest_context[at] for at in offered))
    if longest >= service.prompt_tokens + service.output_tokens:
        return Message.of(
            noop("Fits with requests up to {tokens}."),
            tokens=Quantity(value=longest, unit="tokens", digits=3),
        )
    if wishes:
        way = found[wishes[-1]]
        return Message.of(
            noop("Fits with weights in {precision}, at some loss of quality."), precision=way.form.key.upper()
        )
    return Message.of(noop("Needs a GPU with more memory, or a smaller model."))


def part_refusal(accelerator: AcceleratorSpec, service: LanguageService) -> Refusal:
    """A part of an accelerator is too small; whether the whole would do is another question."""
    return Refusal(
        subject=accelerator.sku,
        subject_name=accelerator.name,
        stage="memory",
        load=service.name,
        reason=Message.of(noop("It does not fit in the memory of a part of an accelerator.")),
    )


def speed_refusal(
    accelerator: AcceleratorSpec, service: LanguageService, targets: "Targets", short: Shortfall
) -> Refusal:
    """No number of replicas helps: a single request is too slow already."""
    if short.misses_tokens:
        reason = Message.of(
            noop(
                "A single user may get no more than {speed} on {gpus}, below the {target} that you ask for."
            ),
            speed=Quantity(value=short.tokens_s, unit="tokens/s", digits=2),
            gpus=Quantity(value=short.gpus, unit="GPUs", digits=4),
            target=Quantity(value=targets.tokens_s, unit="tokens/s", digits=2),
        )
        change = Message.of(
            noop("Possible with a target of {speed}, a lower precision or a faster GPU."),
            speed=Quantity(value=short.tokens_s, unit="tokens/s", digits=2),
        )
    elif short.misses_ttft:
        reason = Message.of(
            noop(
                "The first token of a single request may take {time} on {gpus}, above the {target} that you ask for."
            ),
            time=Quantity(value=short.ttft_s, unit="s", digits=2),
            gpus=Quantity(value=short.gpus, unit="GPUs", digits=4),
            target=Quantity(value=targets.ttft_s, unit="s", digits=2),
        )
        change = Message.of(
            noop("Possible with a target of {time}, shorter prompts or a faster GPU."),
            time=Quantity(value=short.ttft_s, unit="s", digits=2),
        )
    else:
        reason = Message.of(noop("A single request keeps one replica busy reading its prompt."))
        change = Message.of(noop("Possible with shorter prompts or a faster GPU."))
    return Refusal(
        subject=accelerator.sku, subject_name=accelerator.name, stage="speed", load=service.name,
        reason=reason, change=change,
    )  # fmt: skip
