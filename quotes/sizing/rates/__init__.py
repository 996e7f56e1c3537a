"""Everything that is no language model, sized from measured rates.

A published row of the same model, times the ratio of the resource that bounds its class, times measured ratios of
software, precision and chip; the interval comes from rows that were left out. Docs: docs/sizing/rates.md.
"""

from collections.abc import Mapping

from configurator.workload import Domain
from quotes.sizing.rates.explain import explain_rates
from quotes.sizing.rates.jobs import rate_training_options
from quotes.sizing.rates.needs import NotMeasured
from quotes.sizing.rates.offered import MODELS, RateModel
from quotes.sizing.rates.options import rate_service_options
from quotes.sizing.rates.table import RateTable, load_rates


def rate_models(rates: RateTable) -> Mapping[Domain, tuple[RateModel, ...]]:
    """The offered models per domain, of which the table has measured rows."""
    measured = [model for model in MODELS if rates.rows.get(model.run.model)]
    return {domain: tuple(model for model in measured if model.domain is domain) for domain in Domain}


__all__ = [
    "NotMeasured",
    "RateModel",
    "RateTable",
    "explain_rates",
    "load_rates",
    "rate_models",
    "rate_service_options",
    "rate_training_options",
]
