"""Worked cases about money: total cost of ownership, break-even, energy. Each is answered by the product's formulas.

A case is answered only where a formula has both what it states and the unit that it asks for: hours are no months.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from quotes.sizing.evaluation.base import Context, PredictedRow, Row
from quotes.sizing.money.economics import break_even_hours
from quotes.sizing.money.running_costs import HOURS_PER_YEAR

METRIC = "numeric_expected"
HOURS_PER_DAY = 24
SECONDS_PER_HOUR = 3600
COUNTED = {"million": 1e6, "m": 1e6, "thousand": 1e3, "k": 1e3}

type Inputs = Mapping[str, Any]


class Answer(NamedTuple):
    """What a case must state, the units that it may ask for, and the formula in the plain unit."""

    needed: frozenset[str]
    unit: str
    formula: Callable[[Inputs, str, Context], float | None]


def predict_case(row: Row, inputs: Mapping[str, object], context: Context) -> PredictedRow | None:
    """None when the case is not about money, or asks what no formula answers."""
    unit = re.sub(r"\b(eur|euros?|dollars?)\b", "usd", row["unit"].lower())
    divisor, unit = _scale(unit)
    stated = _stated(inputs)
    for answer in ANSWERS:
        if answer.needed <= stated.keys() and re.fullmatch(answer.unit, unit):
            value = answer.formula(stated, unit, context)
            if value is None:
                continue
            return PredictedRow(
                id=row["id"], metric=METRIC, measured=float(row["numeric_expected"]), predicted=value / divisor,
                badge="computed", model="money",
            )  # fmt: skip
    return None


def _scale(unit: str) -> tuple[float, str]:
    """What the figure is counted in, and the unit without it: 'million USD at the low rate' is 1e6 and the rest."""
    first, _, rest = unit.partition(" ")
    return (COUNTED[first], rest) if first in COUNTED and rest.startswith("usd") else (1.0, unit)


def _stated(inputs: Inputs) -> dict[str, Any]:
    """The inputs with euros under the names of dollars and prices per GPU as prices of the machine."""
    stated = {re.sub(r"(?<![a-z])eur(?![a-z])", "usd", key.replace("_", " ")).replace(" ", "_"): value
              for key, value in inputs.items()}  # fmt: skip
    for key in [key for key in stated if key.endswith("_m") and "usd" in key]:
        stated.setdefault(key.removesuffix("_m"), _middle(stated[key]) * 1e6)
    gpus = stated.get("gpus") or (re.match(r"\d+", str(stated.get("server", ""))) or [None])[0]
    if isinstance(gpus, str | int | float):
        stated["gpus"] = float(gpus)
        if "cloud_usd_per_gpu_h" in stated:
            stated.setdefault("cloud_usd_per_h", _middle(stated["cloud_usd_per_gpu_h"]) * stated["gpus"])
        if "tokens_per_s_per_gpu" in stated:
            stated.setdefault("tokens_per_s", stated["tokens_per_s_per_gpu"] * stated["gpus"])
    years = stated.get("years", stated.get("horizon_years"))
    if "hours" not in stated and years:
        stated["hours"] = float(years) * HOURS_PER_YEAR
    return stated


def _numbers(value: object) -> list[float]:
    return [float(one) for one in value] if isinstance(value, list) else [float(str(value))]


def _middle(value: object) -> float:
    numbers = _numbers(value)
    return sum(numbers) / len(numbers)


def _month_hours(inputs: Inputs, context: Context) -> float:
    return float(
        inputs.get("hours_per_month") or inputs.get("month_hours") or context.assumptions.hours_per_month
    )


def _calendar(hours: float | None, inputs: Inputs, unit: str, context: Context) -> float | None:
    """Hours of use in the unit asked for: longer times pass by the calendar, of which the machine works a share."""
    if hours is None or unit.startswith("hours"):
        return hours
    share = (
        float(inputs.get("utilisation", 1))
        * float(inputs.get("hours_per_day", HOURS_PER_DAY))
        / HOURS_PER_DAY
    )
    each = {"days": HOURS_PER_DAY, "months": _month_hours(inputs, context), "years": HOURS_PER_YEAR}
    return hours / share / each[unit.split()[0]]


def _break_even(inputs: Inputs, unit: str, context: Context) -> float | None:
    hours = break_even_hours(
        _middle(inputs["capex_usd"]), _middle(inputs["cloud_usd_per_h"]), inputs["onprem_opex_usd_per_h"]
    )
    return _calendar(hours, inputs, unit, context)


def _break_even_colocated(inputs: Inputs, unit: str, context: Context) -> float | None:
    """Ranges are taken at their middle; a system at high use is rented for every hour of the month."""
    running = inputs["power_kw"] * _middle(inputs["colo_usd_per_kw_month"])
    running += context.assumptions.administration_h_per_month * context.assumptions.administration_eur_per_h
    per_hour = running / _month_hours(inputs, context)
    hours = break_even_hours(_middle(inputs["capex_usd"]), inputs["cloud_usd_per_h"], per_hour)
    return _calendar(hours, inputs, unit, context)


def _owned(inputs: Inputs, unit: str, context: Context) -> float:
    return float(_middle(inputs["capex_usd"]) + inputs["onprem_opex_usd_per_h"] * inputs["hours"])


def _saving(inputs: Inputs, unit: str, context: Context) -> float:
    """Percent of the cloud price per million tokens that owning saves."""
    return (1 - inputs["onprem_usd_per_mtok"] / inputs["cloud_usd_per_mtok"]) * 100


def _saving_whole(inputs: Inputs, unit: str, context: Context) -> float:
    return float((1 - inputs["onprem_usd"] / inputs["cloud_usd"]) * 100)


def _times(inputs: Inputs, unit: str, context: Context) -> float:
    return float(inputs["cloud_usd_per_mtok"] / inputs["onprem_usd_per_mtok"])


def _discount(inputs: Inputs, unit: str, context: Context) -> float:
    return float((1 - inputs["usd_per_h"] / inputs["on_demand_usd_per_h"]) * 100)


def _rented(inputs: Inputs, unit: str, context: Context) -> float:
    return float(inputs["usd_per_h"] * inputs["hours"])


def _rented_cloud(inputs: Inputs, unit: str, context: Context) -> float | None:
    """None when a purchase is stated too and the unit does not say which of the two bills is meant."""
    if "capex_usd" in inputs and "cloud" not in unit:
        return None
    return float(_middle(inputs["cloud_usd_per_h"]) * inputs["hours"])


def _rented_month(inputs: Inputs, unit: str, context: Context) -> float:
    return float(inputs["usd_per_h"] * _month_hours(inputs, context))


def _rate_of_gpu(inputs: Inputs, unit: str, context: Context) -> float:
    return float(inputs["usd_per_h"] / inputs["gpus"])


def _rented_gpus(inputs: Inputs, unit: str, context: Context) -> float:
    """At the end of the range that the unit names, else in the middle."""
    rates = _numbers(inputs["usd_per_gpu_h"])
    rate = min(rates) if "low" in unit else max(rates) if "high" in unit else _middle(rates)
    return float(inputs["gpus"] * rate * inputs["hours"])


def _per_million_tokens(inputs: Inputs, unit: str, context: Context) -> float:
    hourly = inputs.get("usd_per_h") or inputs["gpus"] * inputs["usd_per_gpu_h"]
    return float(hourly / (inputs["tokens_per_s"] * inputs.get("utilisation", 1) * SECONDS_PER_HOUR) * 1e6)


def _return_on_investment(inputs: Inputs, unit: str, context: Context) -> float:
    return float((inputs["benefit_usd"] - inputs["invest_usd"]) / inputs["invest_usd"] * 100)


def _kilowatts(inputs: Inputs) -> float:
    used = inputs["gpus"] * inputs["gpu_kw"] if "gpu_kw" in inputs else inputs["power_kw"]
    return float((used + inputs.get("other_kw", 0)) * inputs.get("load_factor", 1) * inputs.get("pue", 1))


def _energy(inputs: Inputs, unit: str, context: Context) -> float:
    """Of the hours stated, else of a year; of one hour when the unit asks for that."""
    hours = 1 if unit.endswith("per hour") else inputs.get("hours", HOURS_PER_YEAR)
    return _kilowatts(inputs) * float(inputs.get("elec_usd_per_kwh", 1)) * float(hours)


def _answer(needed: str, unit: str, formula: Callable[[Inputs, str, Context], float | None]) -> Answer:
    return Answer(frozenset(needed.split()), unit, formula)


TIME = r"(hours|days|months|years)( .*)?"
AMOUNT = r"usd( (at|over|in|of|for|total|per year).*)?"

ANSWERS: tuple[Answer, ...] = (
    _answer("capex_usd onprem_opex_usd_per_h cloud_usd_per_h", TIME, _break_even),
    _answer("capex_usd colo_usd_per_kw_month power_kw cloud_usd_per_h", TIME, _break_even_colocated),
    _answer("capex_usd onprem_opex_usd_per_h hours", r"usd (on.?prem.*|owned)", _owned),
    _answer("cloud_usd_per_h hours", r"usd( (cloud|over|for|total|at).*)?", _rented_cloud),
    _answer("onprem_usd_per_mtok cloud_usd_per_mtok", r"%( saving.*| lower.*)?", _saving),
    _answer("onprem_usd_per_mtok cloud_usd_per_mtok", r"(times|factor|ratio).*", _times),
    _answer("onprem_usd cloud_usd", r"%( saving.*| lower.*)?", _saving_whole),
    _answer("on_demand_usd_per_h usd_per_h", r"%( discount.*| saving.*| lower.*)?", _discount),
    _answer("usd_per_h gpus", r"usd per gpu.?h(our)?", _rate_of_gpu),
    _answer("usd_per_h", r"usd per month", _rented_month),
    _answer("usd_per_h hours", AMOUNT, _rented),
    _answer("usd_per_h tokens_per_s", r"usd per m(illion)? ?tok(ens)?", _per_million_tokens),
    _answer("gpus usd_per_gpu_h tokens_per_s", r"usd per m(illion)? ?tok(ens)?", _per_million_tokens),
    _answer("invest_usd benefit_usd", r"%( roi| return.*)?", _return_on_investment),
    _answer("gpus gpu_kw elec_usd_per_kwh", r"usd( per (year|hour))?", _energy),
    _answer("power_kw elec_usd_per_kwh", r"usd( per (year|hour))?", _energy),
    _answer("gpus gpu_kw pue", r"kwh( per year)?", _energy),
    _answer("power_kw pue", r"kwh( per year)?", _energy),
    _answer("gpus usd_per_gpu_h hours", AMOUNT, _rented_gpus),
)
"""The first that fits counts."""
