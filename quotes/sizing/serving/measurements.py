"""Measurements of one's own as evidence: how far they lie from what the model says by itself."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field

from catalog.quantity import Frozen, Message, Quantity, noop
from catalog.specs import AcceleratorSpec, CatalogSnapshot, ModelArchitecture
from configurator.workload import LanguageService, ModelRef
from quotes.sizing.architecture import FORMATS, active_params, is_legal_tp
from quotes.sizing.serving.batching import Load, steady_state
from quotes.sizing.serving.calibration import Calibration, MeasuredRow
from quotes.sizing.serving.fleet import Fleet, fleet_of, run_of
from quotes.sizing.serving.kernels import generation
from quotes.sizing.serving.layouts import Way, expert_groups, kv_format_for
from quotes.sizing.serving.machines import MissingFigure, require_figures, scheduling_for, supports

UNLIMITED = 1e9  # requests that the cache holds: a run that was made ran
IMPLAUSIBLE = (
    10.0  # a measurement that lies further from the prediction than this factor is probably a mistake
)
CONTRADICTION = (
    1.5  # a stated throughput and the one that follows from the stated times may differ by this factor
)


def measured_row(
    way: Way,
    service: LanguageService,
    arch: ModelArchitecture,
    accelerator: AcceleratorSpec,
    calibration: Calibration,
    *,
    concurrency: float,
    tpot_ms: float | None = None,
    ttft_ms: float | None = None,
    source: int = 0,
    burst: bool = False,
) -> MeasuredRow:
    """`way` ran `service` on one replica with `concurrency` requests in flight; mean times in milliseconds. `burst`:
    all requests started together, as benchmark programs do.

    Give it to `Calibration.with_rows`; `source` counts within the sources given there. Raises MissingFigure or
    LookupError when the accelerator cannot be timed.
    """
    alone = _times(_fleet(way, service, arch, accelerator, calibration, burst), service, concurrency)
    run = run_of(way, service, arch, accelerator, concurrency)
    return MeasuredRow(
        shape=run.shape,
        gpu=run.gpu,
        model=arch.name,
        engine=run.engine,
        precision=run.precision,
        tp=way.tp,
        dp=way.dp,
        prompt=service.prompt_tokens,
        output=service.output_tokens,
        concurrency=concurrency,
        ttft_ms=ttft_ms or 0.0,
        tpot_ms=tpot_ms or 0.0,
        ttft_x=ttft_ms / alone.ttft_ms if ttft_ms else 0.0,
        tpot_x=tpot_ms / alone.tpot_ms if tpot_ms else 0.0,
        source=source,
    )


class Times(NamedTuple):
    """Mean times of a run, and what they come down to per GPU."""

    ttft_ms: float
    tpot_ms: float
    tokens_s_per_gpu: float


def _fleet(
    way: Way,
    service: LanguageService,
    arch: ModelArchitecture,
    accelerator: AcceleratorSpec,
    calibration: Calibration,
    burst: bool,
) -> Fleet:
    fleet = fleet_of([way], np.array([UNLIMITED]), service, arch, [accelerator], calibration)
    engine = calibration.engine(service.engine)
    return replace(fleet, sched=scheduling_for(engine, calibration.shared, burst=burst))


def _times(fleet: Fleet, service: LanguageService, concurrency: float, *, shifted: bool = False) -> Times:
    """By the model alone, or `shifted` by the measured runs that it knows."""
    load = Load(concurrency, service.prompt_tokens, service.output_tokens, UNLIMITED)
    steady = steady_state(fleet.shape, fleet.machine, fleet.over, fleet.sched, fleet.spread, load)
    ttft_ms, tpot_ms = float(steady.ttft_s[0]) * 1e3, float(steady.tpot_s[0]) * 1e3
    if shifted:
        ttft_ms, tpot_ms = ttft_ms * float(fleet.ttft_x[0]), tpot_ms * float(fleet.tpot_x[0])
    gpus = float(fleet.spread.gpus[0])
    return Times(ttft_ms, tpot_ms, _rate(concurrency, service.output_tokens, ttft_ms, tpot_ms, gpus))


def _rate(concurrency: float, output: float, ttft_ms: float, tpot_ms: float, gpus: float) -> float:
    """Output tokens per second and GPU: Little's law."""
    return concurrency * output / (ttft_ms + output * tpot_ms) * 1e3 / gpus


# ── as somebody enters it ───────────────────────────────────────────────────────────────────────────────────────


class OwnMeasurement(Frozen):
    """What somebody measured on one replica, in the words of the catalog. At least one of the three figures is there.

    Means over the requests of a steady load, without speculative decoding.
    """

    accelerator_sku: str
    model_key: str
    engine: Literal["vllm", "sglang", "trtllm"]
    precision: str  # key of FORMATS
    kv_precision: Literal["auto", "bf16", "fp8"] = "auto"
    tp: int = Field(default=1, ge=1)
    dp: int = Field(default=1, ge=1)
    input_tokens: int = Field(ge=1)
    output_tokens: int = Field(ge=1)
    concurrency: float = Field(gt=0)
    burst: bool = True
    ttft_ms: float | None = Field(default=None, gt=0)
    tpot_ms: float | None = Field(default=None, gt=0)
    tokens_s_per_gpu: float | None = Field(default=None, gt=0)
    source: str


class Unusable(ValueError):
    """A measurement that sizing cannot use; `field` is the entry that is wrong."""

    def __init__(self, field: str, message: Message) -> None:
        super().__init__(field)
        self.field, self.message = field, message


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the model says, what was measured (None where nothing was) and what the model says with the measurement."""

    before: Times
    measured: tuple[float | None, float | None, float | None]
    after: Times

    @property
    def implausible(self) -> bool:
        """Whether a figure lies further from the prediction than `IMPLAUSIBLE`."""
        pairs = zip(self.measured, self.before, strict=True)
        return any(
            value is not None and not 1 / IMPLAUSIBLE <= value / said <= IMPLAUSIBLE for value, said in pairs
        )


def compare(own: OwnMeasurement, catalog: CatalogSnapshot, calibration: Calibration) -> Comparison:
    """Set `own` beside the prediction without and with it. Raises Unusable."""
    placed = _placed(own, catalog)
    row = _row(own, placed, calibration, 0)
    both = [
        _times(_fleet(*placed, known, own.burst), placed[1], own.concurrency, shifted=True)
        for known in (calibration, calibration.with_rows([row], [own.source], own=True))
    ]
    return Comparison(both[0], (own.ttft_ms, own.tpot_ms, own.tokens_s_per_gpu), both[1])


def with_own(
    calibration: Calibration, measurements: Sequence[OwnMeasurement], catalog: CatalogSnapshot
) -> Calibration:
    """`calibration` that knows `measurements` too. Those that `catalog` does not let one use are left out."""
    rows = []
    for number, own in enumerate(measurements):
        try:
            rows.append(_row(own, _placed(own, catalog), calibration, number))
        except Unusable:
            continue
    sources = [own.source for own in measurements]
    return calibration.with_rows(rows, sources, own=True) if rows else calibration


type Placed = tuple[Way, LanguageService, ModelArchitecture, AcceleratorSpec]


def _placed(own: OwnMeasurement, catalog: CatalogSnapshot) -> Placed:
    accelerator = next((one for one in catalog.accelerators if one.sku == own.accelerator_sku), None)
    arch = catalog.models_by_key.get(own.model_key)
    if accelerator is None:
        raise Unusable("accelerator", Message.of(noop("The catalog does not offer this accelerator.")))
    if arch is None:
        raise Unusable("model", Message.of(noop("The catalog does not have this model.")))
    form = FORMATS[own.precision]
    if generation(accelerator) is None:
        raise Unusable(
            "accelerator", Message.of(noop("Nothing comparable was measured on this kind of accelerator."))
        )
    try:
        require_figures(accelerator)
    except MissingFigure as missing:
        raise Unusable("accelerator", missing.message) from missing
    if not supports(accelerator, form):
        raise Unusable(
            "precision",
            Message.of(noop("{accelerator} does not compute in this format."), accelerator=accelerator.name),
        )
    if not is_legal_tp(arch, own.tp):
        raise Unusable(
            "tp",
            Message.of(
                noop("The attention heads of {model} do not divide over so many GPUs."), model=arch.name
            ),
        )
    if own.dp > 1 and not (arch.is_moe and arch.experts % (own.tp * own.dp) == 0):
        raise Unusable(
            "dp",
            Message.of(
                noop("Data-parallel attention is for mixtures of experts whose experts divide over the GPUs. Copies of"
                     " a model are replicas: enter one of them.")
            ),
        )  # fmt: skip
    way = Way(
        accelerator=0,
        form=form,
        kv_format=kv_format_for(own.kv_precision, own.engine, form),
        tp=own.tp,
        dp=own.dp,
        ep=own.dp * own.tp if own.dp > 1 else expert_groups(arch, own.tp, own.tp),
    )
    service = LanguageService(
        model=ModelRef(key=own.model_key),
        engine=own.engine,
        concurrent_requests=own.concurrency,
        prompt_tokens=own.input_tokens,
        output_tokens=own.output_tokens,
    )
    return way, service, arch, accelerator


def _row(own: OwnMeasurement, placed: Placed, calibration: Calibration, source: int) -> MeasuredRow:
    way, _service, arch, accelerator = placed
    alone = _times(_fleet(*placed, calibration, own.burst), placed[1], own.concurrency)
    tpot_ms = own.tpot_ms
    if own.tokens_s_per_gpu is not None:
        tpot_ms = _time_per_token(own, own.tokens_s_per_gpu, own.ttft_ms or alone.ttft_ms, way.gpus)
    bytes_read = active_params(arch) * way.form.bytes_per_weight / way.gpus
    floor_ms = bytes_read / (float(accelerator.memory_bandwidth_gb_s or 0) * 1e9) * 1e3
    if tpot_ms is not None and tpot_ms < floor_ms:
        raise Unusable(
            "tpot_ms" if own.tpot_ms is not None else "tokens_s_per_gpu",
            Message.of(
                noop("Reading the weights alone takes {floor} per token here, so this was faster than possible without"
                     " guessing tokens ahead."),
                floor=Quantity(value=floor_ms, unit="ms", digits=2),
            ),
        )  # fmt: skip
    return measured_row(
        *placed,
        calibration,
        concurrency=own.concurrency,
        tpot_ms=tpot_ms,
        ttft_ms=own.ttft_ms,
        source=source,
        burst=own.burst,
    )


def _time_per_token(own: OwnMeasurement, tokens_s_per_gpu: float, ttft_ms: float, gpus: int) -> float:
    """The stated time per token, or the one that follows from the stated throughput by Little's law."""
    field = "tokens_s_per_gpu"
    if own.tpot_ms is not None:
        follows = _rate(own.concurrency, own.output_tokens, ttft_ms, own.tpot_ms, gpus)
        if not 1 / CONTRADICTION <= tokens_s_per_gpu / follows <= CONTRADICTION:
            raise Unusable(
                field,
                Message.of(
                    noop("This contradicts the times: they come down to {rate} per GPU. Is it a total over the GPUs,"
                         " or does it count the prompt too?"),
                    rate=Quantity(value=follows, unit="tokens/s", digits=2),
                ),
            )  # fmt: skip
        return own.tpot_ms
    request_ms = own.concurrency * own.output_tokens / (tokens_s_per_gpu * gpus) * 1e3
    if request_ms <= ttft_ms:
        most = own.concurrency * own.output_tokens / ttft_ms * 1e3 / gpus
        raise Unusable(
            field,
            Message.of(
                noop(
                    "With so many requests in flight, reading the prompts alone allows no more than {rate} per GPU."
                ),
                rate=Quantity(value=most, unit="tokens/s", digits=2),
            ),
        )
    return (request_ms - ttft_ms) / own.output_tokens
