"""Language services timed as arrays: what users of a replica see, and the most that it holds within its targets."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from configurator.workload import LanguageService
from quotes.sizing.arrays import Numbers
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.serving.batching import Load, Steady, steady_state, tokens_per_step
from quotes.sizing.serving.fleet import Fleet
from quotes.sizing.serving.queueing import utilisation, wait_quantile_seconds

type Values = NDArray[np.float64]

COARSE, FINE = 9, 5  # loads tried per way


@dataclass(frozen=True, slots=True)
class Targets:
    """What must hold at the peak, and how requests vary. Stated wishes count at the cautious end of the interval,
    defaults at the middle."""

    ttft_s: float
    ttft_stated: bool
    tokens_s: float
    tokens_stated: bool
    rho: float
    variation: float
    drafts: float = 0.0  # tokens guessed per step
    accepted: float = 1.0  # tokens that a step yields

    @classmethod
    def of(cls, service: LanguageService, assumptions: Assumptions) -> "Targets":
        return cls(
            ttft_s=service.ttft_p95_s or assumptions.default_ttft_s,
            ttft_stated=service.ttft_p95_s is not None,
            tokens_s=service.tokens_s_per_user or assumptions.default_tokens_s_per_user,
            tokens_stated=service.tokens_s_per_user is not None,
            rho=assumptions.prompt_utilisation_limit_fraction,
            variation=assumptions.prompt_variation,
            drafts=assumptions.draft_tokens_count,
            accepted=float(
                tokens_per_step(assumptions.draft_tokens_count, assumptions.draft_acceptance_fraction)
            ),
        )


# ── one replica under load ──────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Served:
    """What users of one replica see at a load."""

    steady: Steady
    ttft_p95_s: Values
    tokens_s: Values  # per user, while the answer is written
    rho: Values
    wait_p95_s: Values  # for prompts of others


def serve(fleet: Fleet, service: LanguageService, concurrency: Numbers, targets: Targets) -> Served:
    """Time every way of `fleet` with `concurrency` requests in flight per replica."""
    load = Load(
        concurrency,
        service.prompt_tokens,
        service.output_tokens,
        fleet.capacity,
        targets.drafts,
        targets.accepted,
    )
    variation = targets.variation
    steady = shifted(
        steady_state(fleet.shape, fleet.machine, fleet.over, fleet.sched, fleet.spread, load), fleet, load
    )
    requests_s = steady.output_tokens_s / service.output_tokens
    # A prompt that enters shares its steps with those that decode, one chunk at a time.
    turn = steady.prompt_batched_s + steady.step_s * np.minimum(
        1.0, service.prompt_tokens / np.asarray(fleet.sched.chunk_tokens, float)
    )
    wait = wait_quantile_seconds(requests_s, turn, variation)
    usual = fleet.sched.first_s + fleet.sched.first_gpu_s * (fleet.spread.gpus - 1)
    usual = usual + fleet.sched.first_steps * steady.step_s + steady.prompt_s
    longer = 1.645 * variation * steady.prompt_s  # a long prompt among the slowest 5 %
    return Served(
        steady=steady,
        ttft_p95_s=fleet.ttft_x * (usual + np.hypot(wait, longer)),
        tokens_s=1 / steady.tpot_s,
        rho=utilisation(requests_s, turn),
        wait_p95_s=wait,
    )


def shifted(steady: Steady, fleet: Fleet, load: Load) -> Steady:
    """`steady` with the times that measured runs of the same model and GPU suggest."""
    ttft, tpot = steady.ttft_s * fleet.ttft_x, steady.tpot_s * fleet.tpot_x
    concurrency, output = np.asarray(load.concurrency, float), np.asarray(load.output, float)
    taken = steady.ttft_s + output * steady.tpot_s
    waiting = concurrency * output / steady.output_tokens_s - taken
    return replace(
        steady,
        ttft_s=ttft,
        tpot_s=tpot,
        step_s=steady.step_s * fleet.tpot_x,
        output_tokens_s=concurrency * output / (ttft + output * tpot + waiting * fleet.tpot_x),
    )


def strain(served: Served, fleet: Fleet, targets: Targets) -> Mapping[str, Values]:
    """How near each target is to being missed, by name: below 1 it holds."""
    ttft = served.ttft_p95_s * (fleet.ttft_high if targets.ttft_stated else 1.0)
    tokens = served.tokens_s / (fleet.tpot_high if targets.tokens_stated else 1.0)
    return {
        "ttft": ttft / targets.ttft_s,
        "tokens": targets.tokens_s / tokens,
        "rho": served.rho / targets.rho,
    }


@dataclass(frozen=True, slots=True)
class Largest:
    """The most requests in flight that one replica of each way holds; 0 when not even one."""

    load: Values
    alone: Served  # with one request in flight
    strain_alone: Mapping[str, Values]
    strain_above: Mapping[str, Values]  # at the next larger load that was tried


def largest_load(fleet: Fleet, service: LanguageService, targets: Targets, ceiling: float) -> Largest:
    """Try loads from one request up to `ceiling` or the cache's capacity, then a few inside the gap where the first
    target fails, and interpolate in between."""
    top = np.log(np.maximum(np.minimum(fleet.capacity, ceiling), 1.0))
    coarse = np.linspace(0, 1, COARSE)[:, None] * top
    served, each, worst = _try(fleet, service, targets, coarse)
    alone = Served(
        steady=_steady_row(served.steady, 0),
        ttft_p95_s=_row(served.ttft_p95_s, 0),
        tokens_s=_row(served.tokens_s, 0),
        rho=_row(served.rho, 0),
        wait_p95_s=_row(served.wait_p95_s, 0),
    )
    low, high = _gap(coarse, worst)[:2]
    fine = low + np.linspace(0, 1, FINE)[:, None] * (high - low)
    _, each, worst = _try(fleet, service, targets, fine)
    low, high, at = _gap(fine, worst)
    columns = np.arange(len(top))
    before, after = worst[np.maximum(at - 1, 0), columns], worst[at, columns]
    share = np.clip((1 - before) / np.maximum(after - before, 1e-9), 0.0, 1.0)
    best = np.where(after <= 1, high, low + share * (high - low))
    strain_alone = strain(alone, fleet, targets)
    possible = (np.maximum.reduce(list(strain_alone.values())) <= 1) & (fleet.capacity >= 1)
    above = {name: value[at, columns] for name, value in each.items()}
    return Largest(np.where(possible, np.exp(best), 0.0), alone, strain_alone, above)


def _gap(log_load: Values, worst: Values) -> tuple[Values, Values, NDArray[np.intp]]:
    """Loads around the first miss of each column, and the row of the upper one (the last row when none misses)."""
    missed = worst > 1
    at = np.where(missed.any(axis=0), missed.argmax(axis=0), len(log_load) - 1)
    columns = np.arange(log_load.shape[1])
    return log_load[np.maximum(at - 1, 0), columns], log_load[at, columns], at


def _try(
    fleet: Fleet, service: LanguageService, targets: Targets, log_load: Values
) -> tuple[Served, Mapping[str, Values], Values]:
    served = serve(fleet, service, np.exp(log_load), targets)
    each = strain(served, fleet, targets)
    return served, each, np.maximum.reduce(list(each.values()))


def _row(value: Values, number: int) -> Values:
    """Row `number` of an array of several loads; what does not depend on the load has only one."""
    return value[number] if value.ndim == 2 else value


def _steady_row(steady: Steady, number: int) -> Steady:
    return Steady(*(_row(getattr(steady, field.name), number) for field in fields(Steady)))


def serve_rows(
    fleet: Fleet, rows: NDArray[np.intp], service: LanguageService, concurrency: Values, targets: Targets
) -> Served:
    """Time some rows of `fleet` at their own loads (at least one request in flight)."""
    return serve(fleet.take(rows), service, np.maximum(concurrency, 1.0), targets)
