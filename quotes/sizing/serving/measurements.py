"""A measurement of one's own as evidence: how far it lies from what the model says by itself."""

import numpy as np

from catalog.specs import AcceleratorSpec, ModelArchitecture
from configurator.workload import LanguageService
from quotes.sizing.serving.batching import Load, steady_state
from quotes.sizing.serving.calibration import Calibration, MeasuredRow
from quotes.sizing.serving.fleet import fleet_of, run_of
from quotes.sizing.serving.layouts import Way

UNLIMITED = 1e9  # requests that the cache holds: a run that was made ran


def measured_row(
    way: Way,
    service: LanguageService,
    arch: ModelArchitecture,
    accelerator: AcceleratorSpec,
    calibration: Calibration,
    *,
    concurrency: float,
    tpot_ms: float,
    ttft_ms: float | None = None,
    source: int = 0,
) -> MeasuredRow:
    """`way` ran `service` on one replica with `concurrency` requests in flight; mean times in milliseconds.

    Give it to `Calibration.with_rows`; `source` counts within the sources given there. Raises MissingFigure or
    LookupError when the accelerator cannot be timed.
    """
    fleet = fleet_of([way], np.array([UNLIMITED]), service, arch, [accelerator], calibration)
    load = Load(concurrency, service.prompt_tokens, service.output_tokens, UNLIMITED)
    alone = steady_state(fleet.shape, fleet.machine, fleet.over, fleet.sched, fleet.spread, load)
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
        tpot_ms=tpot_ms,
        ttft_x=ttft_ms / (float(alone.ttft_s[0]) * 1e3) if ttft_ms else 0.0,
        tpot_x=tpot_ms / (float(alone.tpot_s[0]) * 1e3),
        source=source,
    )
