"""Worked cases about money: total cost of ownership, break-even, energy. Each is answered by the product's formulas.

Ranges are taken at the end that the unit names, else in their middle. Euros and dollars are one: no case mixes them.
"""

import re
from collections.abc import Callable

from quotes.sizing.evaluation.cases.answers import Answer, Case, answer
from quotes.sizing.evaluation.cases.stated import middle, numbers
from quotes.sizing.evaluation.cases.units import HOURS_PER_YEAR
from quotes.sizing.evaluation.names import OutOfScope
from quotes.sizing.money.break_even import break_even_hours, break_even_month
from quotes.sizing.money.owning import cumulative_eur, value_left_eur

HOURS_PER_DAY = 24
SECONDS_PER_HOUR = 3600
MONTHS = 12


def _value(case: Case, name: str) -> float:
    """An input at the end of its range that the unit names."""
    ends = numbers(case.inputs[name])
    if re.search(r"\blow|\bmin", case.row["unit"].lower()):
        return min(ends)
    if re.search(r"\bhigh|\bmax", case.row["unit"].lower()):
        return max(ends)
    return middle(case.inputs[name])


def _has(case: Case, *names: str) -> bool:
    return set(names) <= case.inputs.keys()


def _month_hours(case: Case) -> float:
    return float(case.inputs.get("month_hours") or case.context.assumptions.hours_per_month)


def _duration_h(case: Case) -> float:
    """Of what is asked about. Raises OutOfScope."""
    inputs = case.inputs
    for name, each in (
        ("hours", 1.0),
        ("days", 24.0),
        ("months", _month_hours(case)),
        ("years", HOURS_PER_YEAR),
    ):
        if inputs.get(name):
            return float(inputs[name]) * each
    raise OutOfScope("The case does not state over how long.")


# ── renting ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _rent_per_h(case: Case) -> float:
    """Of all that is rented."""
    for name in ("cloud_usd_per_h", "usd_per_h", "instance_usd_per_h"):
        if name in case.inputs:
            return _value(case, name)
    for name in ("cloud_usd_per_gpu_h", "usd_per_gpu_h"):
        if name in case.inputs:
            if not isinstance(case.inputs.get("gpu_count"), int | float):
                raise OutOfScope("The case does not state how many GPUs are rented.")
            return _value(case, name) * float(case.inputs["gpu_count"])
    if "usd_per_month" in case.inputs:
        return _value(case, "usd_per_month") / _month_hours(case)
    raise OutOfScope("The case does not state what renting costs.")


def _is_rented(case: Case) -> bool:
    return bool(
        case.inputs.keys()
        & {
            "cloud_usd_per_h",
            "usd_per_h",
            "instance_usd_per_h",
            "cloud_usd_per_gpu_h",
            "usd_per_gpu_h",
            "cloud_usd",
        }
    )


def rented(case: Case) -> float:
    if "cloud_usd" in case.inputs:
        return _value(case, "cloud_usd")
    if _has(case, "gpu_hours", "usd_per_gpu_h"):
        return float(case.inputs["gpu_hours"]) * _value(case, "usd_per_gpu_h")
    return _rent_per_h(case) * _duration_h(case)


# ── owning ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _running_per_h(case: Case) -> float:
    """What an own system costs by the hour after it is bought: as stated, else of its parts that are stated."""
    inputs = case.inputs
    if "onprem_opex_usd_per_h" in inputs:
        return _value(case, "onprem_opex_usd_per_h")
    if "onprem_opex_usd_per_year" in inputs:
        return _value(case, "onprem_opex_usd_per_year") / HOURS_PER_YEAR
    if _has(case, "colo_usd_per_kw_month", "power_kw"):
        assumed = case.context.assumptions
        monthly = float(inputs["power_kw"]) * _value(case, "colo_usd_per_kw_month")
        monthly += assumed.administration_h_per_month * assumed.administration_eur_per_h
        return monthly / _month_hours(case)
    if "elec_usd_per_kwh" in inputs:
        return _kilowatts(case) * _value(case, "elec_usd_per_kwh")
    raise OutOfScope("The case does not state what running the own system costs.")


def _residual(case: Case) -> float:
    if "residual_usd" in case.inputs:
        return _value(case, "residual_usd")
    return (
        value_left_eur(_value(case, "capex_usd"), _value(case, "residual_pct"))
        if _has(case, "residual_pct")
        else 0.0
    )


def owned(case: Case) -> float:
    """Over the whole time: purchase and running cost, less what is left where the case states that."""
    if "onprem_usd" in case.inputs:
        return _value(case, "onprem_usd")
    months = _duration_h(case) / HOURS_PER_YEAR * MONTHS
    running = _running_per_h(case) if _running_is_stated(case) else 0.0
    by_month = running * HOURS_PER_YEAR / MONTHS
    return cumulative_eur(_value(case, "capex_usd"), by_month, months) - _residual(case)


def _running_is_stated(case: Case) -> bool:
    return bool(
        case.inputs.keys()
        & {"onprem_opex_usd_per_h", "onprem_opex_usd_per_year", "colo_usd_per_kw_month", "elec_usd_per_kwh"}
    )


def owned_per_h(case: Case) -> float:
    return owned(case) / _duration_h(case)


def saved(case: Case) -> float:
    return rented(case) - owned(case)


def saved_share(case: Case) -> float:
    """Of the price of renting."""
    if _has(case, "onprem_usd_per_mtok", "cloud_usd_per_mtok"):
        return 1 - _value(case, "onprem_usd_per_mtok") / _value(case, "cloud_usd_per_mtok")
    if _has(case, "on_demand_usd_per_h"):
        return 1 - _rent_per_h(case) / _value(case, "on_demand_usd_per_h")
    return 1 - owned(case) / rented(case)


def times_cheaper(case: Case) -> float:
    return 1 / (1 - saved_share(case))


def amount(case: Case) -> float:
    """Of the one thing that has a price in the case. Raises OutOfScope where that may be two."""
    owns, rents = bool(case.inputs.keys() & {"capex_usd", "onprem_usd"}), _is_rented(case)
    if owns and rents:
        raise OutOfScope("The unit does not say whether the own system or the rented one is meant.")
    if owns:
        return owned(case)
    return rented(case) if rents else energy(case)


def cost(case: Case) -> float:
    """Of the own system beside which renting is only compared."""
    return owned(case) if "capex_usd" in case.inputs else amount(case)


def amount_per(hours_of: Callable[[Case], float]) -> Callable[[Case], float]:
    """The same in a shorter time; what is only used for a while is not spread over the rest."""

    def spread(case: Case) -> float:
        if case.inputs.keys() & {"capex_usd", "onprem_usd"}:
            return owned_per_h(case) * hours_of(case)
        if _is_rented(case):
            return _rent_per_h(case) * hours_of(case)
        if _has(case, "colo_usd_per_kw_month", "power_kw"):
            by_kw = float(case.inputs["power_kw"]) * _value(case, "colo_usd_per_kw_month")
            return by_kw / _month_hours(case) * hours_of(case)
        hours = case.inputs.get("hours") if hours_of(case) == HOURS_PER_YEAR else None
        return _kilowatts(case) * _value(case, "elec_usd_per_kwh") * float(hours or hours_of(case))

    return spread


def per_gpu_hour(case: Case) -> float:
    """Of an own system or a rented one; what stands still costs all the same."""
    gpus = case.inputs.get("gpu_count")
    if not isinstance(gpus, int | float):
        raise OutOfScope("The case does not state the number of GPUs.")
    used = float(case.inputs.get("utilisation", 1))
    if case.inputs.keys() & {"capex_usd", "onprem_usd"}:
        return owned_per_h(case) / gpus / used
    return _rent_per_h(case) / gpus / used


# ── breaking even ───────────────────────────────────────────────────────────────────────────────────────────────


def break_even(case: Case) -> float:
    """Hours of use; asked in longer times, hours of the calendar, of which the machine works a share."""
    running = _running_per_h(case)
    hours = break_even_hours(_value(case, "capex_usd"), _rent_per_h(case), running)
    if hours is None:
        raise OutOfScope("Renting costs less than running the own system: it never breaks even.")
    if case.asked.word in {"hour", "h"}:
        return hours
    by_day = float(case.inputs.get("hours_per_day", HOURS_PER_DAY)) / HOURS_PER_DAY
    used = case.inputs.get("utilisation", 1)
    return hours / by_day / float(used)


def payback(case: Case) -> float:
    """Hours until what an investment brings in, evenly over the years, has paid for it."""
    by_month = _value(case, "benefit_usd") / (float(case.inputs["years"]) * MONTHS)
    months = break_even_month(_value(case, "invest_usd"), 0, by_month)
    if months is None:
        raise OutOfScope("The investment brings nothing in.")
    return months * HOURS_PER_YEAR / MONTHS


def least_use(case: Case) -> float:
    """Share of the time from which owning costs less: what owning costs an hour, over what an hour of renting costs."""
    if "onprem_usd_per_h" in case.inputs:
        return _value(case, "onprem_usd_per_h") / _rent_per_h(case)
    return owned_per_h(case) / _rent_per_h(case)


def return_on_investment(case: Case) -> float:
    return _value(case, "benefit_usd") / _value(case, "invest_usd") - 1


# ── energy and tokens ───────────────────────────────────────────────────────────────────────────────────────────


def _kilowatts(case: Case) -> float:
    """What is paid for: accelerators and the rest, at their load, with what the building takes."""
    inputs = case.inputs
    stated = {
        name: float(inputs[f"{name}_kw"])
        for name in ("gpu", "other", "power", "it")
        if f"{name}_kw" in inputs
    }
    for name in ("gpu", "other", "power"):
        if f"{name}_w" in inputs:
            stated.setdefault(name, float(inputs[f"{name}_w"]) / 1000)
    if "gpu" in stated:
        if not isinstance(inputs.get("gpu_count"), int | float):
            raise OutOfScope("The case does not state the number of GPUs.")
        stated["gpu"] *= inputs["gpu_count"]
    if not stated.keys() & {"gpu", "power", "it"}:
        raise OutOfScope("The case does not state a power.")
    return sum(stated.values()) * float(inputs.get("load_factor", 1)) * float(inputs.get("pue", 1))


def facility_w(case: Case) -> float:
    return _kilowatts(case) * 1000


def energy(case: Case) -> float:
    """Price of the hours stated, else of a year."""
    hours = float(case.inputs.get("hours", HOURS_PER_YEAR))
    return _kilowatts(case) * _value(case, "elec_usd_per_kwh") * hours


def watt_hours(case: Case) -> float:
    if _has(case, "gpu_hours", "gpu_w"):
        return (
            float(case.inputs["gpu_hours"]) * float(case.inputs["gpu_w"]) * float(case.inputs.get("pue", 1))
        )
    return _kilowatts(case) * 1000 * float(case.inputs.get("hours", HOURS_PER_YEAR))


def _tokens_per_h(case: Case) -> float:
    inputs = case.inputs
    rate = inputs.get("tokens_per_s")
    if rate is None:
        rate = float(inputs["tokens_per_s_per_gpu"]) * float(inputs["gpu_count"])
    return float(rate) * float(inputs.get("utilisation", 1)) * SECONDS_PER_HOUR


def per_million_tokens(case: Case) -> float:
    """Of an own or a rented system, with what is put on top of it."""
    if not case.inputs.keys() & {"tokens_per_s", "tokens_per_s_per_gpu"}:
        raise OutOfScope("The case does not state how many tokens a second are made.")
    owns = "capex_usd" in case.inputs and not _is_rented(case)
    hourly = owned_per_h(case) if owns else _rent_per_h(case)
    share = float(case.inputs.get("overhead", 0) or float(case.inputs.get("overhead_pct", 0)) / 100)
    return hourly * (1 + share) / _tokens_per_h(case) * 1e6


def tokens_made(hours_of: Callable[[Case], float]) -> Callable[[Case], float]:
    return lambda case: _tokens_per_h(case) * hours_of(case)


def _hour(_case: Case) -> float:
    return 1.0


def _year(_case: Case) -> float:
    return HOURS_PER_YEAR


TERM = "total over rate low high most least cost price term"
TIME = "breakeven use usage payback until capacity"
ANSWERS: tuple[Answer, ...] = (
    answer("hours", break_even, may=TIME, needs="capex_usd"),
    answer("hours", payback, may="payback", needs="invest_usd benefit_usd years"),
    answer("share saving", saved_share, may="owned cloud cost"),
    answer("share lower", saved_share, may="owned cloud cost"),
    answer("share discount", saved_share, needs="on_demand_usd_per_h"),
    answer("share", saved_share, needs="onprem_usd_per_mtok cloud_usd_per_mtok"),
    answer("share", saved_share, needs="onprem_usd cloud_usd"),
    answer("share", return_on_investment, may="roi", needs="invest_usd benefit_usd"),
    answer("share utilisation", least_use, may="breakeven"),
    answer(
        "ratio", times_cheaper, may="saving cloud owned cost", needs="onprem_usd_per_mtok cloud_usd_per_mtok"
    ),
    answer("ratio", times_cheaper, may="saving cloud owned cost", needs="onprem_usd cloud_usd"),
    answer("usd residual", _residual, may="value", needs="capex_usd residual_pct"),
    answer("usd saving", saved, may=TERM),
    answer("usd saved", saved, may=TERM),
    answer("usd owned", owned, may=f"tco {TERM}"),
    answer("usd tco", owned, may=f"owned {TERM}"),
    answer("usd cost", cost, may=TERM),
    answer("usd cloud", rented, may=f"rental rented {TERM}"),
    answer("usd energy", energy, may=TERM, needs="elec_usd_per_kwh"),
    answer("usd energy / year", energy, may=TERM, needs="elec_usd_per_kwh"),
    answer("usd electricity / year", energy, may=TERM, needs="elec_usd_per_kwh"),
    answer("usd", amount, may=TERM),
    answer("usd / year", amount_per(_year), may=TERM),
    answer("usd / month", amount_per(_month_hours), may=TERM),
    answer("usd / hour", amount_per(_hour), may=TERM),
    answer("usd / h", amount_per(_hour), may=TERM),
    answer("usd / gpu-hour", per_gpu_hour, may="owned cloud cost"),
    answer("usd / mtoken", per_million_tokens, may="output cost generated"),
    answer("watt-hours", watt_hours, may="energy electricity"),
    answer("watt-hours / year", watt_hours, may="energy electricity"),
    answer("watts facility", facility_w, may="total"),
    answer("watts", facility_w, may="total", needs="it_kw pue"),
    answer("tokens / hour", tokens_made(_hour), needs="tokens_per_s"),
    answer("tokens / month", tokens_made(_month_hours), needs="tokens_per_s"),
    answer("tokens / year", tokens_made(_year), needs="tokens_per_s"),
)
