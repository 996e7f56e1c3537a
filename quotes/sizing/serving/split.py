"""Prompts and answers computed by workers of their own (disaggregated serving): a closed network of two stations.

Requests circle: each is read by one of the prompt workers, which share a queue, then handed to an answer worker, where
as many write at once as there are. A fixed number of requests in flight ties the two together without any knowledge of
how prompts were spread: what is not written is read or waits to be. Times in seconds.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quotes.sizing.arrays import Numbers
from quotes.sizing.serving.queueing import mean_wait_seconds

type Values = NDArray[np.float64]

HALVINGS = 50  # near saturation the wait is a million times as steep as the batch
# Exponent on the intervals of undivided engines: with it 84 % of the published times per token lie inside.
WIDER = 1.25


@dataclass(frozen=True, slots=True)
class PromptStation:
    """Workers that only read. `prompt_s` = one prompt among others on one worker, `first_s` = from the arrival at an
    idle worker to the first token, without the steps of the answer worker."""

    workers: Numbers
    prompt_s: Numbers
    first_s: Numbers
    variation: Numbers = 0.0  # of the prompts' times: standard deviation over mean


@dataclass(frozen=True, slots=True)
class AnswerStation:
    """Workers that only write. `step` = seconds of one step with so many answers on one worker, never falling faster
    than their number; `most` = answers that one worker runs together."""

    workers: Numbers
    output: Numbers  # tokens of one answer
    step: Callable[[Values], Values]
    most: Numbers = np.inf
    first_steps: Numbers = 0.0  # before the first token leaves


@dataclass(frozen=True, slots=True)
class Circling:
    """Means of the steady state. Little's law holds: requests in flight = `requests_s` × (`ttft_s` + answer)."""

    batch: Values  # answers that one worker writes together
    step_s: Values
    requests_s: Values  # all workers together
    wait_s: Values  # before a prompt worker turns to a request
    ttft_s: Values  # with the wait for room on an answer worker that runs `most` already
    prompts_busy: Values  # share of the prompt workers' time


def circling(requests: Numbers, prompts: PromptStation, answers: AnswerStation) -> Circling:
    """The steady state with `requests` in flight, by bisection over the answers that one worker writes together: the
    more of them, the higher the rate, and the longer the queue for prompts."""
    requests = np.asarray(requests, float)
    high = np.minimum(requests / answers.workers, answers.most)
    low = np.zeros_like(high)
    for _ in range(HALVINGS):
        batch = (low + high) / 2
        step, rate, wait = _at(batch, prompts, answers)
        held = answers.workers * batch + rate * (prompts.first_s + answers.first_steps * step + wait)
        low, high = np.where(held < requests, batch, low), np.where(held < requests, high, batch)
    step, rate, wait = _at(low, prompts, answers)
    return Circling(
        batch=low,
        step_s=step,
        requests_s=rate,
        wait_s=wait,
        ttft_s=requests / rate - answers.output * step,
        prompts_busy=np.asarray(rate * prompts.prompt_s / prompts.workers, float),
    )


def _at(batch: Values, prompts: PromptStation, answers: AnswerStation) -> tuple[Values, Values, Values]:
    """Seconds of a step, requests per second, and the mean wait for a prompt worker."""
    step = answers.step(batch)
    rate = answers.workers * batch / (answers.output * step)
    return step, rate, mean_wait_seconds(rate, prompts.prompt_s, prompts.variation, prompts.workers)
