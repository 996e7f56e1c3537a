"""The figures behind one serving option, made by the functions that chose it."""

import numpy as np

from catalog.quantity import Message, Quantity, noop
from catalog.specs import AcceleratorSpec, ModelArchitecture
from configurator.workload import LanguageService
from quotes.sizing.architecture import FORMATS, active_params, parameters
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.results import Estimate, LoadOption, Speed
from quotes.sizing.serving.calibration import Calibration
from quotes.sizing.serving.evidence import Badges, Run, nearest_evidence
from quotes.sizing.serving.fleet import Fleet, Memory, fleet_of, memory_of_ways, run_of
from quotes.sizing.serving.intervals import Interval
from quotes.sizing.serving.layouts import Way
from quotes.sizing.serving.memory import (
    EngineMemory,
    Pool,
    Split,
    activation_parts_gib,
    engine_memory,
    graphs_gib,
    planned_batch,
    weight_parts_gib,
)
from quotes.sizing.serving.option import badges_of, estimate
from quotes.sizing.serving.search import spare_replicas
from quotes.sizing.serving.speed import Served, Targets, largest_load, serve
from quotes.sizing.trace import Badge, Figure, Input

CATALOG = "catalog"
ANSWER = "answer"
COMPUTED = "computed"
CALIBRATED = "calibration"


def explain_serving(
    option: LoadOption,
    service: LanguageService,
    arch: ModelArchitecture,
    accelerator: AcceleratorSpec,
    assumptions: Assumptions,
    calibration: Calibration,
) -> LoadOption:
    """`option` with its figures and with speeds for the replicas it now has."""
    way = Way(
        accelerator=0,
        form=FORMATS[option.precision],
        kv_format=option.kv_precision,
        tp=option.layout.tp,
        dp=option.layout.dp,
        ep=option.layout.ep,
    )
    engine = engine_memory(service.engine, assumptions)
    occupancy = assumptions.kv_occupancy_limit_fraction
    memory = memory_of_ways([way], service, arch, [accelerator], engine, occupancy)
    fleet = fleet_of([way], memory.capacity, service, arch, [accelerator], calibration)
    targets = Targets.of(service, assumptions)
    working = option.replicas - option.spare_replicas
    load = service.concurrent_requests / working
    served = serve(fleet, service, np.array([max(load, 1.0)]), targets)
    run = run_of(way, service, arch, accelerator, load)
    badges = badges_of(run, fleet.choices[0], arch, calibration)
    most = largest_load(fleet, service, targets, max(4.0, 4.0 * load))
    speeds = _SpeedFigures(service, fleet, served, run, badges, calibration, targets.variation)
    figures = (
        *_memory_figures(arch, way, memory, engine, accelerator, service),
        *speeds.all(arch, load, way.gpus),
        _replica_figure(option, service, float(most.load[0]), working, spare_replicas(service)),
    )
    speed = Speed(
        ttft_p95_s=speeds.of(float(served.ttft_p95_s[0]), "ttft"),
        ttft_s=speeds.of(float(served.steady.ttft_s[0]), "ttft"),
        tokens_s_per_user=speeds.of(float(served.tokens_s[0]), "tpot"),
        output_tokens_s_per_gpu=speeds.of(speeds.rate(load, way.gpus), "throughput"),
    )
    return option.model_copy(update={"figures": figures, "speed": speed})


def given(
    name: str, value: float | str, unit: str = "", source: str = COMPUTED, assumption: str | None = None
) -> Input:
    quantity = value if isinstance(value, str) else Quantity(value=value, unit=unit, digits=digits_of(value))
    return Input(name=Message.of(name), value=quantity, source=source, assumption=assumption)


def digits_of(value: float) -> int:
    """Whole numbers as they are, others so that the reader can calculate along."""
    return 15 if float(value).is_integer() else 4


def _memory_figures(
    arch: ModelArchitecture,
    way: Way,
    memory: Memory,
    engine: EngineMemory,
    accelerator: AcceleratorSpec,
    service: LanguageService,
) -> tuple[Figure, ...]:
    budget = memory.budget
    weights = float(budget.weights_gib[0])
    split = Split(way.tp, 1, way.dp, linked=bool(accelerator.link_gb_s))
    reported = float(accelerator.memory_gib or 0)
    tokens, sequences = (float(count) for count in planned_batch(engine, reported))
    parts = weight_parts_gib(arch, way.form, split)
    work = activation_parts_gib(arch, engine, split, service.longest_request_tokens, reported)
    collectives = engine.collectives_gib if way.gpus > 1 and split.linked else 0.0
    share_key = {
        Pool.SHARE_OF_TOTAL: "memory_utilisation_fraction",
        Pool.STATIC: "sglang_static_fraction",
        Pool.SHARE_OF_FREE: "trtllm_free_fraction",
    }[engine.pool]
    pool_formula = {
        Pool.SHARE_OF_TOTAL: noop("(reported − reserve) × share − weights − activations − runtime"),
        Pool.STATIC: noop("(reported − reserve) × share − weights"),
        Pool.SHARE_OF_FREE: noop("(reported − reserve − weights − activations − runtime) × share"),
    }[engine.pool]
    usual = service.prompt_tokens + service.output_tokens
    return (
        Figure(
            key="weights_gib",
            label=Message.of(noop("Weights per GPU")),
            value=Quantity(value=weights, unit="GiB"),
            formula=noop("layers + experts + embeddings_and_head + image_encoder, as much of each as one GPU holds"),
            inputs=(
                given(noop("Layers, router and shared experts"), float(parts.layers), "GiB"),
                given(noop("Experts, rounded up as the format asks"), float(parts.experts), "GiB"),
                given(noop("Embeddings and head"), float(parts.ends), "GiB"),
                given(noop("Image encoder"), float(parts.encoder), "GiB"),
                given(noop("Parameters"), parameters(arch).total / 1e9, "billion", CATALOG),
                given(noop("Weight format"), way.form.key.upper(), source=COMPUTED),
                given(noop("Bytes per parameter"), way.form.bytes_per_weight, "bytes", COMPUTED),
                given(noop("GPUs per replica"), way.gpus),
            ),
        ),
        Figure(
            key="activations_gib",
            label=Message.of(noop("Working memory for one batch")),
            value=Quantity(value=float(budget.activations_gib[0]), unit="GiB", digits=2),
            formula=noop(
                "max(sequences × vocabulary × bytes, widest_layer) + expert_workspace + image_reserve"
            ),
            inputs=(
                given(noop("Widest layer, for all tokens of a step"), float(work.layer), "GiB"),
                given(noop("Workspace of the experts"), float(work.workspace), "GiB"),
                given(noop("Reserve for images"), float(work.image), "GiB"),
                given(noop("Tokens per step"), tokens, "tokens", "assumption", "batched_tokens_count"),
                given(noop("Sequences"), sequences, "", "assumption", "sampled_sequences_count"),
                given(noop("Vocabulary"), arch.vocabulary, "tokens", CATALOG),
                given(noop("Bytes per entry"), engine.logit_bytes, "bytes", "assumption", "logit_bytes"),
            ),
        ),
        Figure(
            key="runtime_gib",
            label=Message.of(noop("Engine, collectives and graphs")),
            value=Quantity(value=float(budget.runtime_gib[0]), unit="GiB", digits=2),
            formula=noop("context + collectives + graphs"),
            inputs=(
                given(noop("Context"), engine.context_gib, "GiB", "assumption", "engine_context_gib"),
                given(noop("Collectives"), collectives, "GiB", "assumption",
                       "engine_collectives_gib"),
                given(noop("Graphs"), float(graphs_gib(arch, engine, split)), "GiB", "assumption", "graph_base_gib"),
            ),
        ),
        Figure(
            key="kv_pool_gib",
            label=Message.of(noop("KV cache per GPU")),
            value=Quantity(value=float(budget.kv_pool_gib[0]), unit="GiB"),
            formula=pool_formula,
            inputs=(
                given(noop("Memory reported by the driver"), reported, "GiB", CATALOG),
                given(noop("Reserve of the driver"), engine.driver_reserve_gib, "GiB", "assumption",
                       "driver_reserve_gib"),
                given(noop("Share for the engine"), engine.share_fraction, "", "assumption", share_key),
                given(noop("Weights"), weights, "GiB"),
                given(noop("Activations"), float(budget.activations_gib[0]), "GiB"),
                given(noop("Runtime"), float(budget.runtime_gib[0]), "GiB"),
            ),
            note=Message.of(
                noop("A change of {margin} in what the engine reserves is possible from one release to the next."),
                margin=Quantity(value=engine.margin_gib, unit="GiB", digits=2),
            ),
        ),
        Figure(
            key="kv_capacity_tokens",
            label=Message.of(noop("Tokens that fit in the KV cache of one replica")),
            value=Quantity(
                value=float(budget.kv_pool_gib[0] / memory.mean_gib[0]) * usual * way.dp, unit="tokens", digits=3
            ),
            formula=noop("kv_pool ÷ kv_per_request × tokens_per_request × attention_replicas"),
            inputs=(
                given(noop("KV cache of one usual request, per GPU"), float(memory.mean_gib[0]), "GiB"),
                given(noop("Tokens of a usual request"), usual, "tokens", ANSWER),
                given(noop("KV precision"), way.kv_format.upper()),
                given(noop("Attention replicas"), way.dp),
            ),
        ),
        Figure(
            key="largest_context_tokens",
            label=Message.of(noop("Longest request that fits")),
            value=Quantity(value=float(memory.largest_context[0]), unit="tokens", digits=3),
            formula=noop("min(kv_pool ÷ kv_per_token, positions_of_the_model)"),
            inputs=(
                given(noop("Positions of the model"), float(arch.max_context or 0), "tokens", CATALOG),
                given(noop("Longest request asked for"), service.longest_request_tokens, "tokens", ANSWER),
            ),
        ),
    )  # fmt: skip


class _SpeedFigures:
    """Speed figures of one way at one load; they share badge, interval and evidence."""

    def __init__(
        self,
        service: LanguageService,
        fleet: Fleet,
        served: Served,
        run: Run,
        badges: Badges,
        calibration: Calibration,
        variation: float,
    ) -> None:
        self.variation = variation
        self.service, self.fleet, self.served = service, fleet, served
        self.run, self.badges, self.calibration = run, badges, calibration
        self.intervals = dict(zip(("ttft", "tpot", "throughput"), fleet.intervals[0], strict=True))

    def of(self, value: float, metric: str) -> Estimate:
        evidence = nearest_evidence(self.run, self.calibration, metric)
        badge = self.badges.first if metric == "ttft" else self.badges.rate
        made = estimate(value, self.intervals[metric], badge, self.badges.runs, inverse=metric == "tpot")
        return made.model_copy(update={"evidence": evidence})

    def rate(self, load: float, gpus: int) -> float:
        return float(self.served.steady.output_tokens_s[0]) * min(load, 1.0) / gpus

    def figure(
        self, key: str, label: str, value: Estimate, unit: str, formula: str, inputs: tuple[Input, ...]
    ) -> Figure:
        return Figure(
            key=key,
            label=Message.of(label),
            value=Quantity(value=value.value, unit=unit, digits=2),
            low=value.low,
            high=value.high,
            formula=formula,
            inputs=inputs,
            badge=value.badge,
            evidence=value.evidence,
            evidence_count=value.evidence_count,
        )

    def all(self, arch: ModelArchitecture, load: float, gpus: int) -> tuple[Figure, ...]:
        steady, service = self.served.steady, self.service
        interval: Interval = self.intervals["tpot"]

        def plain(value: float, badge: Badge) -> Estimate:
            return Estimate(value=value, low=value * interval.low, high=value * interval.high, badge=badge)

        prompt_ms, step_ms = float(steady.prompt_s[0]) * 1e3, float(steady.step_s[0]) * 1e3
        tpot_ms = float(steady.tpot_s[0]) * 1e3
        batched_ms = float(steady.prompt_batched_s[0]) * 1e3
        scheduler = self.fleet.sched
        return (
            self.figure(
                "prompt_ms", noop("Reading one prompt"), plain(prompt_ms, self.badges.first), "ms",
                noop("layers × (matrix products + attention + experts + all-reduces + small kernels)"),
                (
                    given(noop("Prompt"), service.prompt_tokens, "tokens", ANSWER),
                    given(noop("Active parameters"), active_params(arch) / 1e9, "billion", CATALOG),
                    given(noop("Link between the GPUs"), self.fleet.choices[0].link, source=CATALOG),
                ),
            ),
            self.figure(
                "step_ms", noop("One decode step"), plain(step_ms, self.badges.rate), "ms",
                noop("weights ÷ bandwidth + KV ÷ bandwidth + all-reduces + launches + small kernels"),
                (
                    given(noop("Requests that write together"), float(steady.running[0])),
                    given(noop("Mean context"), service.prompt_tokens + service.output_tokens / 2, "tokens", ANSWER),
                ),
            ),
            self.figure(
                "ttft_p95_s", noop("Time to first token, 95 % of requests"),
                self.of(float(self.served.ttft_p95_s[0]), "ttft"), "s",
                noop(
                    "ratio × (fixed + fixed_per_gpu × (GPUs − 1) + steps × step + prompt"
                    " + √(wait₉₅² + (1.645 × spread × prompt)²))"
                ),
                (
                    given(noop("Fixed part"), float(scheduler.first_s) * 1e3, "ms", CALIBRATED),
                    given(noop("Fixed part per further GPU"), float(scheduler.first_gpu_s) * 1e3, "ms", CALIBRATED),
                    given(noop("GPUs per replica"), gpus),
                    given(noop("Steps before the first token"), float(scheduler.first_steps), "", CALIBRATED),
                    given(noop("Decode step"), step_ms, "ms"),
                    given(noop("Reading one prompt"), prompt_ms, "ms"),
                    given(noop("Share of time spent on prompts"), float(self.served.rho[0])),
                    given(noop("Waiting for other prompts, 95 %"), float(self.served.wait_p95_s[0]) * 1e3, "ms"),
                    given(noop("Ratio of nearby measurements"), float(self.fleet.ttft_x[0]), "", CALIBRATED),
                    given(noop("Spread of prompt lengths"), self.variation, "", "assumption", "prompt_variation"),
                ),
            ),
            self.figure(
                "tokens_s_per_user", noop("Output speed per user"), self.of(float(self.served.tokens_s[0]), "tpot"),
                "tokens/s",
                noop("1 ÷ (step + ratio × interference × (requests − 1) × batched_prompt ÷ answer)"),
                (
                    given(noop("Decode step"), step_ms, "ms"),
                    given(noop("Time per token with interference"), tpot_ms, "ms"),
                    given(noop("Requests per replica"), load, "", ANSWER),
                    given(noop("One prompt among others"), batched_ms, "ms"),
                    given(noop("Answer"), service.output_tokens, "tokens", ANSWER),
                    given(noop("Interference"), float(scheduler.interference), "", CALIBRATED),
                    given(noop("Ratio of nearby measurements"), float(self.fleet.tpot_x[0]), "", CALIBRATED),
                ),
            ),
            self.figure(
                "output_tokens_s_per_gpu", noop("Throughput per GPU"), self.of(self.rate(load, gpus), "throughput"),
                "tokens/s",
                noop("requests × answer ÷ (first_token + answer × time_per_token) ÷ GPUs"),
                (
                    given(noop("Requests per replica"), load, "", ANSWER),
                    given(noop("Time to first token"), float(steady.ttft_s[0]) * 1e3, "ms"),
                    given(noop("Time per token"), tpot_ms, "ms"),
                    given(noop("GPUs per replica"), gpus),
                ),
            ),
        )  # fmt: skip


def _replica_figure(
    option: LoadOption, service: LanguageService, most: float, working: int, spare: int
) -> Figure:
    return Figure(
        key="replicas",
        label=Message.of(noop("Replicas")),
        value=Quantity(value=option.replicas, digits=4),
        formula=noop("⌈requests ÷ requests_per_replica⌉ + spare"),
        inputs=(
            given(noop("Requests at once at the peak"), service.concurrent_requests, "", ANSWER),
            given(noop("Requests that one replica holds within every target"), most),
            given(noop("Spare replicas"), spare, "", ANSWER),
        ),
        note=Message.of(
            noop("One working replica carries {factor} times today's peak.")
            if working == 1
            else noop("{working} working replicas carry {factor} times today's peak."),
            working=working,
            factor=Quantity(value=option.capacity_factor, digits=2),
        ),
    )
