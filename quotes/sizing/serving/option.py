"""One way that is offered, as an object: layout, memory, speed with its interval, what keeps it from being smaller."""

from catalog.quantity import Message, Quantity, noop
from catalog.specs import AcceleratorSpec, ModelArchitecture
from quotes.sizing.results import (
    EngineSettings,
    Estimate,
    HostNeed,
    Layout,
    LoadOption,
    MemoryBreakdown,
    Speed,
)
from quotes.sizing.serving.calibration import Calibration
from quotes.sizing.serving.evidence import Badges, Run, badges_for
from quotes.sizing.serving.fleet import run_of
from quotes.sizing.serving.intervals import Interval
from quotes.sizing.serving.machines import Choice, tabled_silicon
from quotes.sizing.serving.memory import margin_gib, planned_batch, verdict
from quotes.sizing.serving.search import Asked, Search, spare_replicas
from quotes.sizing.serving.speed import Served
from quotes.sizing.trace import Badge


def option_of(search: Search, row: int, replicas: int, served: Served, at: int) -> LoadOption:
    """Row `row` of the search with `replicas` working replicas; `at` is its place in `served`."""
    asked, way, memory, budget = search.asked, search.ways[row], search.memory, search.memory.budget
    service, arch, assumptions = asked.service, asked.arch, asked.assumptions
    accelerator = asked.accelerators[way.accelerator]
    spare = spare_replicas(service)
    per_replica = service.concurrent_requests / replicas
    ttft_x, tpot_x, rate_x = search.fleet.intervals[row]
    choice = search.fleet.choices[row]
    run = run_of(way, service, arch, accelerator, per_replica)
    badges = badges_of(run, choice, arch, asked.calibration)
    in_use = min(per_replica, memory.capacity[row]) / way.dp * memory.half_gib[row]
    pool, weights = float(budget.kv_pool_gib[row]), float(budget.weights_gib[row])
    state = verdict(pool, float(memory.needed_gib[row]), margin_gib(arch, asked.engine, weights))
    usual = service.prompt_tokens + service.output_tokens
    rate = float(served.steady.output_tokens_s[at]) * min(per_replica, 1.0) / way.gpus
    return LoadOption(
        load=service.name,
        kind="serving",
        accelerator=accelerator.sku,
        layout=Layout(tp=way.tp, dp=way.dp, ep=way.ep),
        precision=way.form.key,
        kv_precision=way.kv_format,
        engine=service.engine,
        settings=_settings(asked, accelerator),
        gpus_per_replica=way.gpus,
        replicas=replicas + spare,
        spare_replicas=spare,
        gpus=way.gpus * (replicas + spare),
        gpus_in_one_node=way.gpus,
        capacity_factor=float(search.most.load[row]) * replicas / service.concurrent_requests,
        busy_fraction=min(1.0, per_replica / float(search.most.load[row])),
        memory=MemoryBreakdown(
            total_gib=float(budget.total_gib[row]),
            weights_gib=weights,
            kv_gib=in_use,
            activations_gib=float(budget.activations_gib[row]),
            runtime_gib=float(budget.runtime_gib[row] + budget.held_back_gib[row]),
            free_gib=pool - in_use,
            kv_capacity_tokens=pool / float(memory.mean_gib[row]) * usual * way.dp,
            kv_bytes_per_token=float(memory.mean_gib[row]) * 2**30 / usual,
        ),
        verdict=state,
        speed=Speed(
            ttft_p95_s=estimate(float(served.ttft_p95_s[at]), ttft_x, badges.first, badges.runs),
            ttft_s=estimate(float(served.steady.ttft_s[at]), ttft_x, badges.first, badges.runs),
            tokens_s_per_user=estimate(
                float(served.tokens_s[at]), tpot_x, badges.rate, badges.runs, inverse=True
            ),
            output_tokens_s_per_gpu=estimate(rate, rate_x, badges.rate, badges.runs),
        ),
        chip_is_measured=_chip_is_measured(run, choice, asked.calibration),
        limited_by=_limit(search, row, replicas),
        host=HostNeed(
            cpu_cores_per_gpu=assumptions.serving_cores_per_gpu,
            ram_gb_per_gpu=assumptions.serving_ram_base_gb
            + assumptions.serving_ram_per_weight * weights * 2**30 / 1e9,
            nvme_tb_per_node=assumptions.model_versions_kept_count * weights * way.gpus * 2**30 / 1e12,
        ),
    )


def _settings(asked: Asked, accelerator: AcceleratorSpec) -> EngineSettings:
    tokens, sequences = planned_batch(asked.engine, accelerator.memory_gib or 0.0)
    return EngineSettings(
        memory_fraction=asked.engine.share_fraction,
        context_tokens=asked.service.longest_request_tokens,
        step_tokens=int(tokens),
        sequences=int(sequences),
        draft_tokens=asked.assumptions.draft_tokens_count,
    )


def estimate(
    value: float, interval: Interval, badge: Badge, count: int, *, inverse: bool = False
) -> Estimate:
    """`value` with its interval; `inverse` when the interval is of a time and the value a rate."""
    low, high = (1 / interval.high, 1 / interval.low) if inverse else interval
    return Estimate(value=value, low=value * low, high=value * high, badge=badge, evidence_count=count)


def badges_of(run: Run, choice: Choice, arch: ModelArchitecture, calibration: Calibration) -> Badges:
    """A figure without a measured run of its own stands between others when the model is built as measured ones are,
    and others were served on this generation with measured kernels, or throughput tables of this very GPU are known."""
    served = arch.standard_structure and choice.exact and choice.generation in calibration.serving_generations
    tabled = arch.standard_structure and run.gpu in tabled_silicon(calibration)
    return badges_for(run, calibration, served=served, tabled=served or tabled)


def _chip_is_measured(run: Run, choice: Choice, calibration: Calibration) -> bool:
    return choice.generation in calibration.serving_generations or run.gpu in tabled_silicon(calibration)


def _limit(search: Search, row: int, replicas: int) -> Message:
    """What keeps this option from being smaller."""
    above = {name: bool(values[row] > 1) for name, values in search.most.strain_above.items()}
    targets, peak = search.asked.targets, search.asked.service.concurrent_requests
    cautious = targets.ttft_stated if above["ttft"] else targets.tokens_stated
    largest = Quantity(value=float(search.most.load[row]), unit="", digits=2)
    if replicas == 1 and peak < 0.7 * search.most.load[row]:
        if search.ways[row].gpus == 1:
            return Message.of(
                noop("nothing: one GPU is the least there is, and it carries more than you ask.")
            )
        return Message.of(
            noop("memory: {gpus} together hold the model; the load alone would need less."),
            gpus=Quantity(value=search.ways[row].gpus, unit="GPUs", digits=4),
        )
    if above["ttft"]:
        text = (
            noop(
                "time to first token: one replica holds {count} requests at once, counted at the cautious end."
            )
            if cautious
            else noop("time to first token: one replica holds {count} requests at once.")
        )
    elif above["tokens"]:
        text = (
            noop(
                "output speed per user: one replica holds {count} requests at once, counted at the cautious end."
            )
            if cautious
            else noop("output speed per user: one replica holds {count} requests at once.")
        )
    elif above["rho"]:
        text = noop(
            "reading the prompts: one replica holds {count} requests at once before a queue builds up."
        )
    elif search.memory.capacity[row] >= search.memory.seats[row]:
        text = noop("the setting of the engine: one replica runs at most {count} requests at once.")
    else:
        text = noop("KV cache: the memory of one replica holds {count} requests at once.")
    return Message.of(text, count=largest)
