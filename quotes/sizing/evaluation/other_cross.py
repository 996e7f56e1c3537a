"""How well measured rates are predicted for an accelerator, or a model, of which the fit has seen nothing."""

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from quotes.sizing.evaluation.accuracy import Cross
from quotes.sizing.evaluation.base import Context, Row
from quotes.sizing.evaluation.other_fit import catalog_devices, sample_of, untuned
from quotes.sizing.evaluation.report import Errors
from quotes.sizing.rates.fitting import fit
from quotes.sizing.rates.table import SPREAD_MAX

GOAL = (20.0, 60.0)


def cross_validation(rows: Sequence[Row], context: Context) -> list[Cross]:
    """Errors with everything on an accelerator left out, and with everything of a model whose work per item is known.
    Rates that would be refused, as too uncertain or of code that nobody tuned, are left out. A fit takes a minute."""
    catalog = catalog_devices(context.catalog.accelerators)
    samples = []
    for row in rows:
        with suppress(ValueError):  # rows that the evaluation refuses, with the reason
            samples.append(sample_of(row, catalog))
    fitted = fit(samples)
    tuned = np.array([not untuned(sample.situation) for sample in samples])
    known = tuned & np.array([sample.device.known for sample in samples])
    sized = tuned & np.array([bool(sample.situation.gmacs) for sample in samples])
    found = []
    for name, key, chosen in (
        ("accelerator", lambda sample: sample.device.name, known),
        ("model, work per item known", lambda sample: sample.situation.model, sized),
    ):
        answered = chosen & (fitted.spread_left_out(key) <= SPREAD_MAX)
        off = 100 * (np.exp(-fitted.left_out(key)[answered]) - 1)
        if not off.size:
            continue
        errors = Errors(
            rows=off.size,
            median_pct=float(np.median(np.abs(off))),
            p90_pct=float(np.percentile(np.abs(off), 90)),
            bias_pct=float(np.median(off)),
            coverage_pct=None,
        )
        found.append(Cross(name, "other workloads", errors, GOAL))
    return found
