"""Language models by the token: what tokens of the own system cost, and the same ones bought from a provider."""

from collections.abc import Sequence
from typing import NamedTuple

from configurator.workload import LanguageService, Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.money.hybrid import busy_load
from quotes.sizing.money.renting import busy_hours_per_month
from quotes.sizing.results import LoadOption

SECONDS_PER_HOUR = 3600
MILLION = 1e6


class Tokens(NamedTuple):
    """Millions of tokens a month, all services together."""

    input_m: float
    output_m: float

    @property
    def all_m(self) -> float:
        return self.input_m + self.output_m

    def price_eur(self, assumptions: Assumptions) -> float | None:
        """A month from a provider per token; None while one of its prices is not known."""
        prices = (assumptions.token_input_eur_per_million, assumptions.token_output_eur_per_million)
        if min(prices) <= 0:
            return None
        return self.input_m * prices[0] + self.output_m * prices[1]


def tokens_per_month(
    workload: Workload, loads: Sequence[LoadOption], assumptions: Assumptions
) -> Tokens | None:
    """Tokens of a workload that consists of language services only; None for any other, and when a speed is missing.

    Requests a second at the peak are those in flight over the time that one takes (first word and the writing of its
    answer) at the pace that is asked for: a faster system is not asked more, so the same work costs the same elsewhere
    whichever system it is compared with. Over a month they follow the load profile through the busy hours.
    """
    if workload.jobs or not all(isinstance(service, LanguageService) for service in workload.services):
        return None
    options = {load.load: load for load in loads}
    input_m = output_m = 0.0
    for service in workload.services:
        option = options.get(service.name)
        if not isinstance(service, LanguageService) or option is None:
            return None
        seconds = _seconds(service, option)
        if seconds is None:
            return None
        busy = busy_hours_per_month(service, assumptions) * float(busy_load(service).mean())
        requests = service.concurrent_requests / seconds * busy * SECONDS_PER_HOUR
        input_m += requests * service.prompt_tokens / MILLION
        output_m += requests * service.output_tokens / MILLION
    return Tokens(input_m, output_m)


def _seconds(service: LanguageService, option: LoadOption) -> float | None:
    """How long one request is in flight at the pace that is asked for; where none is, as expected at the peak."""
    expected, pace = option.speed.ttft_s or option.speed.ttft_p95_s, option.speed.tokens_s_per_user
    first_s = service.ttft_p95_s or (expected.value if expected else None)
    tokens_s = service.tokens_s_per_user or (pace.value if pace else 0)
    if first_s is None or tokens_s <= 0:
        return None
    return first_s + service.output_tokens / tokens_s
