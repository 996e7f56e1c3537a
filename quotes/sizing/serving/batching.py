"""The steady state of one replica under a closed load: continuous batching of prompts between decode steps.

With C requests in flight, at most B run; the rest wait for room in the KV pool. Prompts that enter stretch the decode
steps of those that run (interference), and those who run stretch the wait of those who enter. Times in seconds.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quotes.sizing.arrays import Numbers
from quotes.sizing.serving.forward import Machine, Overheads, Spread, decode_seconds, prefill_seconds
from quotes.sizing.serving.kernels import Columns
from quotes.sizing.serving.model_shape import ModelShape

type Values = NDArray[np.float64]

ITERATIONS = 4
BUSIEST = 0.9  # cap on the share of time for prompts in the waiting formula: a closed load cannot exceed 1


@dataclass(frozen=True, slots=True)
class Scheduling(Columns):
    """Habits of one engine's scheduler: fitted, except `chunk_tokens` and `wait_steps`, which are settings."""

    interference: Numbers  # share of a prompt's time that stretches the decode steps of the others
    burst: Numbers  # share of the requests that start together, as a benchmark's first wave does
    queueing: Numbers  # share of the textbook wait for other prompts
    first_s: Numbers  # fixed part of the time to first token
    first_gpu_s: Numbers  # the same, per further GPU of the replica
    first_steps: Numbers  # decode steps before the first token leaves
    wait_steps: Numbers  # further steps that a setting lets a request wait
    full_wait: Numbers  # share of the wait for room in a full KV pool that a mean shows
    chunk_tokens: Numbers  # prompt tokens computed together


@dataclass(frozen=True, slots=True)
class Load(Columns):
    """C requests in flight, each of `prompt` tokens in and `output` out; the pool holds `capacity` of them.

    Speculative decoding: each step checks `drafts` guessed tokens per sequence and yields `accepted` tokens.
    """

    concurrency: Numbers
    prompt: Numbers
    output: Numbers
    capacity: Numbers
    drafts: Numbers = 0.0
    accepted: Numbers = 1.0


def tokens_per_step(drafts: Numbers, acceptance: Numbers) -> Values:
    """Tokens that one step of speculative decoding yields when each guess is right with probability `acceptance`
    given those before it: 1 + a + a² + … (Leviathan, Kalman, Matias 2023)."""
    drafts, acceptance = np.asarray(drafts, float), np.minimum(np.asarray(acceptance, float), 0.999)
    return np.asarray((1 - acceptance ** (drafts + 1)) / (1 - acceptance), float)


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
    fixed = sched.first_s + sched.first_gpu_s * (spread.gpus - 1) + one
    others = seats - 1
    for _ in range(ITERATIONS):
        running = np.maximum(1.0, seats * share)
        step = decode_seconds(shape, machine, over, spread, running, context, load.drafts)
        tpot = step / load.accepted + sched.interference * share * others * batched / output
        alone = fixed + (np.asarray(sched.first_steps, float) + sched.wait_steps) * step
        busy = np.minimum(BUSIEST, seats * batched / (alone + output * tpot))
        queued = alone + sched.queueing * busy * one / (2 * (1 - busy)) * others / seats
        share = output * tpot / (queued + output * tpot)
    ttft = queued + np.asarray(sched.burst, float) * others / 2 * batched
    waiting = np.maximum(0.0, concurrency - seats) / seats * output * tpot
    return Steady(
        ttft_s=ttft + sched.full_wait * waiting,
        tpot_s=tpot,
        step_s=step,
        prompt_s=one,
        prompt_batched_s=batched,
        running=running,
        output_tokens_s=concurrency * output / (ttft + waiting + output * tpot),
    )
