"""Worked cases about money: total cost of ownership, break-even, energy. Each is answered by the product's formulas."""

from collections.abc import Callable, Mapping
from typing import Any

from quotes.sizing.evaluation.base import Context, PredictedRow, Row
from quotes.sizing.money.economics import break_even_hours
from quotes.sizing.money.running_costs import HOURS_PER_YEAR

METRIC = "numeric_expected"
DAYS_PER_YEAR = 365
SECONDS_PER_HOUR = 3600

type Inputs = Mapping[str, Any]


def predict_case(row: Row, inputs: Mapping[str, object], context: Context) -> PredictedRow | None:
    """None when the case is not about money."""
    for needed, answer in ANSWERS:
        if needed <= inputs.keys():
            value = answer(inputs, context)
            if value is None:
                return None
            return PredictedRow(
                id=row["id"],
                metric=METRIC,
                measured=float(row["numeric_expected"]),
                predicted=value,
                badge="computed",
                model="money",
            )
    return None


def _break_even(inputs: Inputs, context: Context) -> float | None:
    """Hours; years when the case says how many hours a day the machine is used."""
    hours = break_even_hours(inputs["capex_usd"], inputs["cloud_usd_per_h"], inputs["onprem_opex_usd_per_h"])
    if hours is None or "hours_per_day" not in inputs:
        return hours
    return hours / inputs["hours_per_day"] / DAYS_PER_YEAR


def _saving(inputs: Inputs, context: Context) -> float:
    """Percent of the cloud price per million tokens that owning saves."""
    return (1 - inputs["onprem_usd_per_mtok"] / inputs["cloud_usd_per_mtok"]) * 100


def _rented(inputs: Inputs, context: Context) -> float:
    return float(inputs["usd_per_h"] * inputs["hours"])


def _per_million_tokens(inputs: Inputs, context: Context) -> float:
    hourly = inputs["gpus"] * inputs["usd_per_gpu_h"]
    return float(hourly / (inputs["tokens_per_s"] * inputs["utilisation"] * SECONDS_PER_HOUR) * 1e6)


def _return_on_investment(inputs: Inputs, context: Context) -> float:
    return float((inputs["benefit_usd_m"] - inputs["invest_usd_m"]) / inputs["invest_usd_m"] * 100)


def _break_even_months(inputs: Inputs, context: Context) -> float | None:
    """Ranges are taken at their middle; a system at high use is rented for every hour of the month."""
    purchase, cloud = _middle(inputs["capex_usd"]), _middle(inputs["cloud_usd_per_gpu_h"])
    gpus = int(str(inputs["server"]).split()[0])
    running = inputs["power_kw"] * _middle(inputs["colo_usd_per_kw_month"])
    running += context.assumptions.administration_h_per_month * context.assumptions.administration_eur_per_h
    per_hour = running / context.assumptions.hours_per_month
    hours = break_even_hours(purchase, cloud * gpus, per_hour)
    return None if hours is None else hours / context.assumptions.hours_per_month


def _energy(inputs: Inputs, context: Context) -> float:
    kilowatts = inputs["gpus"] * inputs["gpu_kw"] + inputs["other_kw"]
    return float(kilowatts * inputs["pue"] * inputs["elec_usd_per_kwh"] * inputs["hours"])


def _rented_years(inputs: Inputs, context: Context) -> float:
    """Million at the low end of the rate."""
    low = min(_numbers(inputs["usd_per_gpu_h"]))
    return float(inputs["gpus"] * low * HOURS_PER_YEAR * inputs["years"] / 1e6)


def _numbers(value: object) -> list[float]:
    return [float(one) for one in value] if isinstance(value, list) else [float(str(value))]


def _middle(value: object) -> float:
    numbers = _numbers(value)
    return sum(numbers) / len(numbers)


ANSWERS: list[tuple[set[str], Callable[[Inputs, Context], float | None]]] = [
    ({"capex_usd", "onprem_opex_usd_per_h", "cloud_usd_per_h"}, _break_even),
    ({"capex_usd", "colo_usd_per_kw_month", "power_kw", "cloud_usd_per_gpu_h"}, _break_even_months),
    ({"onprem_usd_per_mtok", "cloud_usd_per_mtok"}, _saving),
    ({"usd_per_h", "hours"}, _rented),
    ({"gpus", "usd_per_gpu_h", "tokens_per_s", "utilisation"}, _per_million_tokens),
    ({"invest_usd_m", "benefit_usd_m"}, _return_on_investment),
    ({"gpus", "gpu_kw", "other_kw", "pue", "elec_usd_per_kwh", "hours"}, _energy),
    ({"gpus", "usd_per_gpu_h", "years"}, _rented_years),
]
"""What a case must state, and the formula that answers it; the first that fits."""
