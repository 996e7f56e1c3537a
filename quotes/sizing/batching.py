"""The steady state of one replica under a closed load: continuous batching of prompts between decode steps.

With C requests in flight, at most B run; the rest wait for room in the KV pool. Prompts that enter stretch the decode
steps of those that run (interference), and those who run stretch the wait of those who enter. Times in seconds.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quotes.sizing.forward import Machine, ModelShape, Overheads, Spread, decode_seconds, prefill_seconds
from quotes.sizing.kernels import Columns

type Values = NDArray[np.float64]

ITERATIONS = 4


@dataclass(frozen=True, slots=True)
class Scheduling(Columns):
    """Fitted habits of one engine's scheduler."""

    alpha: ArrayLike  # share of a prompt's time that stretches the decode steps of the others
    beta: ArrayLike  # share of the running requests whose prompts arrive together
    first_s: ArrayLike  # fixed part of the time to first token
    first_steps: ArrayLike  # decode steps before the first token leaves
    full_wait: ArrayLike  # share of the wait for room in a full KV pool that a mean shows
    chunk_tokens: ArrayLike  # prompt tokens computed together


@dataclass(frozen=True, slots=True)
class Load(Columns):
    """C requests in flight, each of `prompt` tokens in and `output` out; the pool holds `capacity` of them."""

    concurrency: ArrayLike
    prompt: ArrayLike
    output: ArrayLike
    capacity: ArrayLike


@dataclass(frozen=True, slots=True)
class Steady:
    """Mean times and rates of one replica. `running` = sequences that decode together."""

    ttft_s: Values
    tpot_s: Values
    step_s: Values  # decode step without interference
    prompt_s: Values  # one prompt alone
    prompt_batched_s: Values  # one prompt among others
    running: Values
    output_tokens_s: Values

    @property
    def requests_s(self) -> Values:
        return self.output_tokens_s


def steady_state(
    shape: ModelShape, machine: Machine, over: Overheads, sched: Scheduling, spread: Spread, load: Load
) -> Steady:
    """Solve the fixed point of decode share and times by iteration."""
    concurrency = np.asarray(load.concurrency, float)
    prompt, output = np.asarray(load.prompt, float), np.asarray(load.output, float)
    seats = np.maximum(1.0, np.minimum(concurrency, load.capacity))
    one = prefill_seconds(shape, machine, over, spread, 1.0, prompt)
    together = np.clip(sched.chunk_tokens / prompt, 1.0, np.maximum(1.0, seats / spread.dp))
    batched = prefill_seconds(shape, machine, over, spread, together, prompt) / (together * spread.dp)
    context = prompt + output / 2
    share = np.ones(np.broadcast_shapes(seats.shape, one.shape))
    beta = np.asarray(sched.beta, float)
    for _ in range(ITERATIONS):
        running = np.maximum(1.0, seats * share)
        step = decode_seconds(shape, machine, over, spread, running, context)
        tpot = step + sched.alpha * np.maximum(1 - beta, 0.2) * (seats - 1) * batched / output
        ttft = sched.first_s + sched.first_steps * step + one + beta * (seats - 1) * batched
        share = output * tpot / (ttft + output * tpot)
    waiting = np.maximum(0.0, concurrency - seats) / seats * output * tpot
    life = ttft + waiting + output * tpot
    return Steady(
        ttft_s=ttft + sched.full_wait * waiting,
        tpot_s=tpot,
        step_s=step,
        prompt_s=one,
        prompt_batched_s=batched,
        running=running,
        output_tokens_s=concurrency * output / life,
    )
