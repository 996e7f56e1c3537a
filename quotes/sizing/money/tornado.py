"""What moves the outcome most: one input at a time to either end of its stated band, through the same `economics`.

The outcome is what owning saves against renting over the horizon, where renting is compared; else what owning costs a
month.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from catalog.quantity import Message, Quantity, noop
from catalog.specs import CatalogSnapshot
from configurator.workload import Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.money.economics import economics
from quotes.sizing.money.running_costs import (
    ADMINISTRATION,
    busy_fraction,
    electricity_eur_per_kwh,
    energy_kwh_per_year,
    housing_key,
    pue,
    pue_key,
)
from quotes.sizing.results import Candidate, Economics, LoadOption, Swing, Tornado

WORTH_SHOWING = 0.002  # of the largest swing; less is no bar on paper
YEARS_MOST = 5


class Case(NamedTuple):
    """Everything that `economics` reads."""

    candidate: Candidate
    workload: Workload
    catalog: CatalogSnapshot
    assumptions: Assumptions
    on: date
    cloud_options: Mapping[str, tuple[LoadOption, ...]]

    def worked_out(self) -> Economics:
        return economics(
            self.candidate,
            self.workload,
            self.catalog,
            self.assumptions,
            purchase_eur=self.candidate.price_eur,
            on=self.on,
            cloud_options=self.cloud_options,
        )

    def assuming(self, **changed: float) -> "Case":
        return self._replace(assumptions=self.assumptions.model_copy(update=changed))

    def scaled(self, keys: tuple[str, ...], factor: float) -> "Case":
        return self.assuming(**{key: getattr(self.assumptions, key) * factor for key in keys})


class Lever(NamedTuple):
    """An input: its name, what it is at the lower and at the upper end, and the case there (−1 and 1)."""

    key: str
    label: Message
    ends: tuple[Quantity, Quantity]
    at: Callable[[int], Case]


def tornado(case: Case) -> Tornado | None:
    """The outcome at both ends of every input, widest first. None when no input moves it."""
    base = case.worked_out()
    swings = []
    for lever in levers(case):
        below, above = lever.at(-1).worked_out(), lever.at(1).worked_out()
        swings.append(
            Swing(
                key=lever.key,
                label=lever.label,
                low=lever.ends[0],
                high=lever.ends[1],
                low_eur=outcome(below),
                high_eur=outcome(above),
                low_month=below.break_even_month,
                high_month=above.break_even_month,
            )
        )
    widest = max((swing.width_eur for swing in swings), default=0)
    shown = [swing for swing in swings if swing.width_eur > WORTH_SHOWING * widest]
    if not shown:
        return None
    found = Tornado(
        compares=base.cloud is not None,
        base_eur=outcome(base),
        base_month=base.break_even_month,
        years=base.horizon_years,
        swings=tuple(sorted(shown, key=lambda swing: -swing.width_eur)),
    )
    return found.model_copy(update={"words": tuple(_words(found))})


def outcome(money: Economics) -> float:
    """Euro that owning saves over the horizon; without a cloud to compare, what it costs a month."""
    if money.cloud_total_eur is not None:
        return float(money.cloud_total_eur - money.total_eur)
    return float(money.total_eur) / (12 * money.horizon_years)


# ── the inputs ──────────────────────────────────────────────────────────────────────────────────────────────────


def levers(case: Case) -> Iterator[Lever]:
    """Every input with a band that this case has."""
    given = case.assumptions
    rents = case.cloud_options and case.workload.placement.cloud_allowed and not case.workload.is_confidential
    yield Lever(
        "use",
        Message.of(noop("How much it is used")),
        _percent(given.utilisation_band_pct),
        lambda side: _cloud_price(
            case.scaled(("load_factor_fraction",), _factor(side, given.utilisation_band_pct)),
            _factor(side, given.utilisation_band_pct),
        ),
    )
    if rents:
        yield Lever(
            "cloud_price",
            Message.of(noop("Price of the cloud")),
            _percent(given.cloud_price_band_pct),
            lambda side: _cloud_price(case, _factor(side, given.cloud_price_band_pct)),
        )
    yield Lever(
        "purchase",
        Message.of(noop("Purchase price")),
        _percent(given.estimate_band_fraction * 100),
        lambda side: _purchase(case, _factor(side, given.estimate_band_fraction * 100)),
    )
    yield from _own_levers(case)
    years, more = case.workload.growth.horizon_years, round(given.horizon_band_years)
    ends = max(1, years - more), min(YEARS_MOST, years + more)
    yield Lever(
        "horizon",
        Message.of(noop("Years of use")),
        (Quantity(value=ends[0], unit="years", digits=1), Quantity(value=ends[1], unit="years", digits=1)),
        lambda side: _horizon(case, ends[side > 0]),
    )


def _own_levers(case: Case) -> Iterator[Lever]:
    """What owning costs beside the purchase."""
    given = case.assumptions

    def electricity(side: int) -> Case:
        return _electricity(case, _factor(side, given.electricity_band_pct))

    yield Lever(
        "electricity",
        Message.of(noop("Price of electricity")),
        (_kwh_price(electricity(-1)), _kwh_price(electricity(1))),
        electricity,
    )
    used = pue(case.workload, given)
    efficient = max(1.0, used - given.pue_band), used + given.pue_band
    yield Lever(
        "pue",
        Message.of(noop("Energy for cooling (PUE)")),
        (Quantity(value=efficient[0], digits=3), Quantity(value=efficient[1], digits=3)),
        lambda side: _pue(case, efficient[side > 0]),
    )
    hours = tuple({key for keys in ADMINISTRATION.values() for key in keys})
    yield Lever(
        "administration",
        Message.of(noop("Hours of administration")),
        _percent(given.administration_band_pct),
        lambda side: case.scaled(hours, _factor(side, given.administration_band_pct)),
    )
    residual = (
        max(0.0, given.residual_pct - given.residual_band_points),
        given.residual_pct + given.residual_band_points,
    )
    yield Lever(
        "residual",
        Message.of(noop("Residual value")),
        (Quantity(value=residual[0], unit="%", digits=2), Quantity(value=residual[1], unit="%", digits=2)),
        lambda side: case.assuming(residual_pct=residual[side > 0]),
    )
    rate = (
        max(0.0, given.capital_pct_per_year - given.capital_band_points),
        given.capital_pct_per_year + given.capital_band_points,
    )
    yield Lever(
        "capital",
        Message.of(noop("Cost of capital a year")),
        (Quantity(value=rate[0], unit="%", digits=2), Quantity(value=rate[1], unit="%", digits=2)),
        lambda side: case.assuming(capital_pct_per_year=rate[side > 0]),
    )
    key = housing_key(case.workload)
    yield Lever(
        "housing",
        Message.of(noop("Price of housing")),
        _around(getattr(given, key), given.housing_band_pct, "EUR/kW"),
        lambda side: case.scaled((key,), _factor(side, given.housing_band_pct)),
    )


def _factor(side: int, band_pct: float) -> float:
    return 1 + side * band_pct / 100


def _percent(band: float) -> tuple[Quantity, Quantity]:
    return Quantity(value=-band, unit="%", digits=2), Quantity(value=band, unit="%", digits=2)


def _around(value: float, band_pct: float, unit: str) -> tuple[Quantity, Quantity]:
    low, high = (value * _factor(side, band_pct) for side in (-1, 1))
    return Quantity(value=low, unit=unit, digits=2), Quantity(value=high, unit=unit, digits=2)


def _cloud_price(case: Case, factor: float) -> Case:
    """Every offer at `factor` times its price; more use is more hours at the same price."""
    share = Decimal(repr(factor))
    offers = tuple(
        offer.model_copy(update={"hourly_eur": offer.hourly_eur * share})
        for offer in case.catalog.cloud_offers
    )
    return case._replace(catalog=case.catalog.model_copy(update={"cloud_offers": offers}))


def _purchase(case: Case, factor: float) -> Case:
    price = case.candidate.price_eur * Decimal(repr(factor))
    return case._replace(candidate=case.candidate.model_copy(update={"price_eur": price}))


def _horizon(case: Case, years: int) -> Case:
    growth = case.workload.growth.model_copy(update={"horizon_years": years})
    return case._replace(workload=case.workload.model_copy(update={"growth": growth}))


def _electricity(case: Case, factor: float) -> Case:
    """The price, whether it comes from a contract, an answer or an assumption; energy tax stays."""
    if case.assumptions.electricity_contract_eur_per_kwh > 0:
        return case.scaled(("electricity_contract_eur_per_kwh",), factor)
    answered = case.workload.site.electricity_eur_kwh
    if answered is None:
        return case.scaled(("electricity_eur_per_kwh",), factor)
    return _site(case, electricity_eur_kwh=answered * Decimal(repr(factor)))


def _kwh_price(case: Case) -> Quantity:
    busy = busy_fraction(case.workload, case.candidate.loads, case.assumptions)
    kwh = energy_kwh_per_year(case.candidate.system.power.wall_w, busy, case.workload, case.assumptions)
    price = electricity_eur_per_kwh(case.workload, case.assumptions, kwh)
    return Quantity(value=price, unit="EUR/kWh", digits=2)


def _pue(case: Case, value: float) -> Case:
    if case.workload.site.pue is None:
        return case.assuming(**{pue_key(case.workload): value})
    return _site(case, pue=value)


def _site(case: Case, **changed: object) -> Case:
    site = case.workload.site.model_copy(update=changed)
    return case._replace(workload=case.workload.model_copy(update={"site": site}))


# ── words ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _words(found: Tornado) -> Iterator[Message]:
    """What moves it most, and what could turn the outcome."""
    most = found.swings[0]
    low, high = sorted((most.low_eur, most.high_eur))
    if not found.compares:
        text = noop("Most of all: {input}. Owning then costs between {low} and {high} a month.")
    elif low >= 0:
        text = noop("Most of all: {input}. Owning then saves between {low} and {high}.")
    elif high <= 0:
        text = noop("Most of all: {input}. Owning then costs between {low} and {high} more.")
        low, high = -high, -low
    else:
        text = noop("Most of all: {input}. Owning then costs {low} more or saves {high}.")
        low = -low
    yield Message.of(text, input=most.label, low=_euro(low), high=_euro(high))
    if not found.compares:
        return
    turning = [swing.label for swing in found.swings if (swing.low_eur > 0) != (swing.high_eur > 0)]
    if turning:
        yield Message.of(noop("Alone enough to turn the outcome: {input}."), input=Message.listed(turning))
    elif found.base_eur > 0:
        yield Message.of(noop("No single one of these makes renting cheaper."))
    else:
        yield Message.of(noop("No single one of these makes owning cheaper."))


def _euro(value: float) -> Quantity:
    return Quantity(value=value, unit="EUR", digits=2)
