"""Fitting the factors of training on published runs: few, physical, per GPU generation and software family.

The fit is a robust damped least squares on logarithms with weak priors at the textbook values; rows of one model, GPU
and software share their weight, so that a table with many variants does not outvote a single careful measurement.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quotes.sizing.evaluation.training_least_squares import Matrix, Prior, derivatives, least_squares
from quotes.sizing.evaluation.training_run import Run
from quotes.sizing.training.calibration import GenerationRates
from quotes.sizing.training.hardware import share_of_peak
from quotes.sizing.training.memory import Batch, Split
from quotes.sizing.training.model import TrainedModel, trained_model
from quotes.sizing.training.speed import Chip, SpeedFactors, TokenTime, Work, token_time

type Vector = NDArray[np.float64]


SPEED_PRIORS = (
    Prior("launch_us", 20, 0.8), Prior("logit_bytes", 10, 0.8), Prior("selective_recompute", 0.5, 0.5),
    Prior("tensor_parallel", 1.0, 0.6), Prior("context_parallel", 1.0, 1.0), Prior("sharding", 1.0, 0.6),
    Prior("overlap_power", 3.5, 0.4), Prior("bubble", 1.0, 0.3), Prior("head_stage", 0.3, 0.7),
    Prior("power", 0.7, 0.12), Prior("step_s_per_doubling", 0.01, 1.0),
    Prior("expert_width_half", 500, 0.8), Prior("head_half", 30, 0.8), Prior("window_skipped", 0.5, 0.4),
    Prior("routing_passes", 6.0, 0.8), Prior("all_to_all", 1.0, 0.8), Prior("expert_sharding", 1.0, 0.5),
    Prior("mixer_passes", 30, 1.0), Prior("dequantise", 1.0, 0.8), Prior("software_pct_per_month", 0.5, 0.7),
    Prior("expert_software_pct_per_month", 3.0, 0.5),
)  # fmt: skip
REPEATS_PRODUCTS = frozenset(
    {"torchtitan", "fsdp_compiled"}
)  # whose selective recomputation repeats products
PRODUCTS = 0.65  # share of the 16-bit peak, every generation
PRECISIONS = {"bf16": 1.0, "fp8": 0.85, "mxfp8": 0.8, "nvfp4": 0.55}  # of that share
ATTENTION = 0.35
MOVED = 3.0
STEP_S = 0.02


class Table(NamedTuple):
    """Runs as arrays, ready for `token_time`."""

    model: TrainedModel
    hardware: Mapping[str, Vector]
    split: Split
    batch: Batch
    work: Work
    gpus: Vector
    batch_tokens: Vector
    generations: tuple[str, ...]
    precisions: tuple[str, ...]
    stacks: tuple[str, ...]


def stack_models(models: Sequence[TrainedModel]) -> TrainedModel:
    """One TrainedModel whose fields are arrays, an entry per run."""
    return TrainedModel._make(np.array(field, float) for field in zip(*models, strict=True))


def table_of(runs: Sequence[Run]) -> Table:
    def column(get: Callable[[Run], float]) -> Vector:
        return np.array([get(run) for run in runs], float)

    hardware = {
        "peak": column(lambda run: run.hardware.peak_tflops(run.precision) * 1e12),
        "bf16": column(lambda run: run.hardware.bf16_tflops * 1e12),
        "memory": column(lambda run: run.hardware.memory_bandwidth_gb_s * 1e9),
        "link": column(lambda run: run.hardware.peer_gb_s * 1e9),
        "server": column(lambda run: run.hardware.server_gb_s * 1e9),
        "domain": column(lambda run: run.hardware.link_domain or 1),
        "fabric": column(lambda run: run.hardware.fabric_gbit_s / 8 * 1e9),
        "node": column(lambda run: run.hardware.node_gpus),
        "power": column(lambda run: run.hardware.power_share),
    }
    return Table(
        model=stack_models([trained_model(run.arch) for run in runs]),
        hardware=hardware,
        split=Split(
            tp=column(lambda run: run.tp), pp=column(lambda run: run.pp), cp=column(lambda run: run.cp),
            dp=column(lambda run: run.dp), ep=column(lambda run: run.ep),
            virtual_stages=column(lambda run: run.virtual_stages),
        ),
        batch=Batch(
            sequence_tokens=column(lambda run: run.sequence_tokens), micro_batch=column(lambda run: run.micro_batch),
            recompute=column(lambda run: run.recompute == "full"),
            selective=column(lambda run: run.recompute == "selective" and run.stack in REPEATS_PRODUCTS),
        ),
        work=Work(
            frozen=column(lambda run: run.frozen), base_bytes=column(lambda run: run.base_bytes), moved_passes=1.0,
            software_age_months=column(lambda run: run.software_age_months),
            full_sharding=column(lambda run: run.sharding == "fsdp"),
            gradient_sharding=column(lambda run: run.sharding == "zero2"),
            shard_ranks=column(lambda run: run.shard_ranks),
        ),
        gpus=column(lambda run: run.gpus),
        batch_tokens=column(lambda run: run.global_batch_tokens),
        generations=tuple(run.hardware.generation for run in runs),
        precisions=tuple(run.precision for run in runs),
        stacks=tuple(run.stack for run in runs),
    )  # fmt: skip


def time_table(
    table: Table, products: Vector, attention: Vector, moved: Vector, step: Vector, factors: SpeedFactors
) -> TokenTime:
    """Seconds per token and GPU of every run, from efficiencies given per run."""
    hardware = table.hardware
    chip = Chip(
        matrix_flops_s=hardware["peak"] * share_of_peak(products, hardware["power"], factors.power),
        attention_flops_s=hardware["bf16"] * share_of_peak(attention, hardware["power"], factors.power),
        memory_b_s=hardware["memory"],
        link_b_s=hardware["link"],
        domain=hardware["domain"],
        server_b_s=hardware["server"],
        fabric_b_s=hardware["fabric"],
        node_gpus=hardware["node"],
    )
    work = table.work._replace(moved_passes=moved, step_s=step)
    return token_time(
        table.model, chip, table.split, table.batch, work, factors,
        gpus=table.gpus, global_batch_tokens=table.batch_tokens,
    )  # fmt: skip


# ── speed ───────────────────────────────────────────────────────────────────────────────────────────────────────


class SpeedFit(NamedTuple):
    """A parameter vector (logarithms) with names, for prediction and for writing down."""

    names: tuple[str, ...]
    point: Vector
    where: Mapping[str, int]

    def value(self, name: str, default: float) -> float:
        index = self.where.get(name)
        return default if index is None else float(np.exp(self.point[index]))


def _parameters(table: Table) -> tuple[tuple[str, ...], Vector, Vector]:
    """Names, priors and spreads: shared values with room for each generation, precision and software to differ."""
    generations, stacks = sorted(set(table.generations)), sorted(set(table.stacks))
    pairs = sorted(set(zip(table.generations, table.precisions, strict=True)))
    priors = [
        Prior("attention", ATTENTION, 0.4),
        *(Prior(f"attention:{name}", 1, 0.3) for name in generations),
        *(Prior(f"products:{name}", PRODUCTS, 0.3) for name in generations),
        *(Prior(f"precision:{kind}", value, 0.25) for kind, value in PRECISIONS.items() if kind != "bf16"),
        *(Prior(f"products:{name}:{kind}", 1, 0.1) for name, kind in pairs),
        *(Prior(f"moved:{name}", MOVED, 0.5) for name in stacks),
        *(Prior(f"step:{name}", STEP_S, 1.0) for name in stacks),
        *(Prior(f"kernels:{name}", 1.0, 0.25) for name in stacks),
        *SPEED_PRIORS,
    ]
    return (
        tuple(prior.name for prior in priors),
        np.log([prior.value for prior in priors]),
        np.array([prior.spread for prior in priors]),
    )


def product_share(fit: SpeedFit, generation: str, precision: str) -> float:
    """Fitted share of peak of matrix products; unmeasured pairs follow from generation and precision."""
    return (
        fit.value(f"products:{generation}", PRODUCTS)
        * fit.value(f"precision:{precision}", PRECISIONS[precision])
        * fit.value(f"products:{generation}:{precision}", 1.0)
    )


def attention_share(fit: SpeedFit, generation: str) -> float:
    return fit.value("attention", ATTENTION) * fit.value(f"attention:{generation}", 1.0)


def speed_seconds(table: Table, fit: SpeedFit) -> TokenTime:
    """Predicted times of the table's runs. Generations or software that the fit lacks take the prior."""

    def spread(keys: Sequence[Any], value: Callable[..., float]) -> Vector:
        known = {key: value(*key) for key in set(keys)}
        return np.array([known[key] for key in keys])

    pairs = list(zip(table.generations, table.precisions, strict=True))
    products = spread(pairs, lambda generation, kind: product_share(fit, generation, kind))
    attention = spread([(name,) for name in table.generations], lambda name: attention_share(fit, name))
    attention = attention * spread(
        [(name,) for name in table.stacks], lambda name: fit.value(f"kernels:{name}", 1.0)
    )
    moved = spread([(name,) for name in table.stacks], lambda name: fit.value(f"moved:{name}", MOVED))
    step = spread([(name,) for name in table.stacks], lambda name: fit.value(f"step:{name}", STEP_S))
    factors = SpeedFactors(**{prior.name: fit.value(prior.name, prior.value) for prior in SPEED_PRIORS})
    return time_table(table, products, attention, moved, step, factors)


def weights_of(runs: Sequence[Run]) -> Vector:
    """Rows of one model, GPU, software and method together count as the square root of their number."""
    groups = [(run.model, run.gpu, run.stack, run.method) for run in runs]
    size = Counter(groups)
    return np.array([size[group] ** -0.5 for group in groups])


def fit_speed(
    runs: Sequence[Run], rates: Vector, *, start: SpeedFit | None = None, iterations: int = 60,
    keep: NDArray[np.bool_] | None = None, table: Table | None = None, jacobian: Matrix | None = None,
) -> SpeedFit:  # fmt: skip
    """Fit on measured `rates` (tokens/s per GPU). `keep` leaves rows out; `start` warms the search up, and with the
    derivatives there (`speed_derivatives`) a fit takes a moment."""
    table = table or table_of(runs)
    names, prior, spread = _parameters(table)
    where = {name: index for index, name in enumerate(names)}
    weights = weights_of(runs) * (1.0 if keep is None else keep)
    first = prior if start is None else start.point
    target = -np.log(rates)

    def residuals(point: Vector) -> Vector:
        return np.log(speed_seconds(table, SpeedFit(names, point, where)).total) - target

    best = least_squares(residuals, first, prior, spread, weights, iterations=iterations, jacobian=jacobian)
    return SpeedFit(names, best, where)


def speed_derivatives(table: Table, fit: SpeedFit) -> Matrix:
    """Of the logarithms of the predicted times with respect to the parameters of `fit`."""
    return derivatives(
        lambda point: np.log(speed_seconds(table, SpeedFit(fit.names, point, fit.where)).total), fit.point
    )


def observed_rate(run: Run) -> float:
    """Tokens/s per GPU that a row implies, whatever it prints. NaN when it prints something else."""
    match run.metric:
        case "tokens_s_per_gpu":
            return run.measured
        case "time_to_train_min":
            return run.tokens_trained / (run.measured * 60 * run.gpus)
        case "tflops_per_gpu":
            return run.measured * 1e12 / run.counted_flops
        case "mfu":
            return run.measured / 100 * run.hardware.bf16_tflops * 1e12 / run.counted_flops
    return float("nan")


def in_metric(run: Run, rate: float, *, project_fraction: float) -> float:
    """A predicted rate in the metric that the row prints."""
    match run.metric:
        case "time_to_train_min":
            return run.tokens_trained / (rate * 60 * run.gpus)
        case "tflops_per_gpu":
            return rate * run.counted_flops / 1e12
        case "mfu":
            return rate * run.counted_flops / (run.hardware.bf16_tflops * 1e12) * 100
        case "gpu_hours":
            return run.tokens_trained / (rate * 3600 * project_fraction)
    return rate


def generation_rates(fit: SpeedFit, runs: Sequence[Run]) -> Mapping[str, GenerationRates]:
    """The fitted efficiencies by generation, as the calibration file keeps them."""
    count = Counter(run.hardware.generation for run in runs)
    return {
        name: GenerationRates(
            products={kind: round(product_share(fit, name, kind), 4) for kind in PRECISIONS},
            attention=round(attention_share(fit, name), 4),
            rows=count[name],
            source="fitted on published runs",
        )
        for name in sorted(count)
    }
