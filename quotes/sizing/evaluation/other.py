"""Predicting the rows of `other_workloads`: every published rate of something that is no language model.

Rows that the shipped ratios were fitted on are predicted by a fit without their model on their accelerator, so that
no figure here is in-sample; all others by the shipped ratios. A fit takes about a minute.
"""

import math
from collections.abc import Iterator, Mapping

from quotes.sizing.evaluation.base import Context, PredictedRow, Row
from quotes.sizing.evaluation.other_fit import catalog_devices, sample_of, untuned
from quotes.sizing.rates.effects import LogRate, predict
from quotes.sizing.rates.fitting import Sample, fit
from quotes.sizing.rates.situation import value_of
from quotes.sizing.rates.table import SPREAD_FAR, SPREAD_MAX, RateTable, fitted_rows, load_rates
from quotes.sizing.trace import Badge

METRIC = "value"


def predict_rows(rows: list[dict[str, str]], context: Context) -> Iterator[PredictedRow]:
    """One prediction or refusal per row."""
    table = load_rates()
    catalog = catalog_devices(context.catalog.accelerators)
    samples: dict[str, Sample] = {}
    for row in rows:
        try:
            samples[row["id"]] = sample_of(row, catalog)
        except ValueError as error:
            yield _refused(row, f"The row cannot be read: {error}.")
    known = fitted_rows()
    left_out = _left_out({name: sample for name, sample in samples.items() if name in known})
    for row in rows:
        if sample := samples.get(row["id"]):
            log = left_out.get(row["id"]) or predict(sample.situation, sample.device, table.ratios)
            yield _predicted(row, sample, log, table)


def _left_out(samples: Mapping[str, Sample]) -> dict[str, LogRate]:
    """By row: the prediction of a fit that has not seen its model on its accelerator."""
    if not samples:
        return {}
    result = fit(tuple(samples.values()))
    residual = result.left_out(lambda sample: sample.group)
    spread = result.spread_left_out(lambda sample: sample.group)
    return {
        name: LogRate(sample.log_rate - float(error), float(width))
        for (name, sample), error, width in zip(samples.items(), residual, spread, strict=True)
    }


def _predicted(row: Row, sample: Sample, log: LogRate, table: RateTable) -> PredictedRow:
    if untuned(sample.situation):
        return _refused(row, "By the row's own note nobody tuned the code for the accelerator.")
    if log.spread > SPREAD_MAX:
        return _refused(row, _why(sample, table))
    situation = sample.situation
    half = table.half_width(situation, sample.device, log)
    ends = sorted(value_of(log.value + side * half, situation) for side in (-1, 1))
    return PredictedRow(
        id=row["id"],
        metric=METRIC,
        measured=float(row["value"]),
        predicted=value_of(log.value, situation),
        low=ends[0],
        high=ends[1],
        badge=_badge(sample, log, table),
        model=row["model"],
        gpu=row["accelerator"],
    )


def _badge(sample: Sample, log: LogRate, table: RateTable) -> Badge:
    """The pair itself was not seen by the fit that predicts it."""
    badge = table.badge(sample.situation, sample.device, log)
    if badge is Badge.MEASURED:
        return Badge.INTERPOLATED if log.spread <= SPREAD_FAR else Badge.EXTRAPOLATED
    return badge


def _why(sample: Sample, table: RateTable) -> str:
    situation = sample.situation
    if not sample.device.known and sample.device.name not in table.ratios["unmeasurable"]:
        return "No figures of this accelerator are known and nothing was measured on it."
    if not table.knows(situation):
        return "Nothing was measured of this model, and its work per item is not stated."
    return "The measurements are too far away to say more than the order of magnitude."


def _refused(row: Row, reason: str) -> PredictedRow:
    measured = float(row["value"]) if row["value"] else math.nan
    return PredictedRow(
        id=row["id"],
        metric=METRIC,
        measured=measured,
        refused=reason,
        model=row["model"],
        gpu=row["accelerator"],
    )
