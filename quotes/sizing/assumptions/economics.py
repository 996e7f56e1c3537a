"""Assumptions about money over time."""

from catalog.quantity import Frozen, noop
from quotes.sizing.assumptions.base import assume


class EconomicAssumptions(Frozen):
    electricity_eur_per_kwh: float = assume(
        0.19,
        unit="EUR/kWh",
        low=0.05,
        high=0.60,
        label=noop("Electricity for a business, taxes and grid included, without VAT"),
        source=noop(
            "CBS table 81309NED, non-household 500–2,000 MWh: 0.177 in 2022; planning guides of 2026 use 0.15–0.25"
        ),
    )
    electricity_band_pct: float = assume(
        25,
        unit="%",
        low=0,
        high=100,
        label=noop("Uncertainty of the electricity price, either way"),
        source=noop("band 0.15–0.25 EUR/kWh of planning guides of 2026"),
    )
    pue_own_room: float = assume(
        1.5,
        unit="",
        low=1.0,
        high=3.0,
        label=noop("Energy for cooling and losses in an own server room (PUE)"),
        source=noop("planning guide of September 2026: small sites 1.4–1.6"),
    )
    pue_colocation: float = assume(
        1.3,
        unit="",
        low=1.0,
        high=2.0,
        label=noop("Energy for cooling and losses in a data centre (PUE)"),
        source=noop("Amsterdam requires 1.3 or better of data centres"),
    )
    colocation_eur_per_kw_month: float = assume(
        200,
        unit="EUR",
        low=50,
        high=600,
        label=noop("Colocation per kW and month, energy excluded"),
        source=noop("own planning value; published indications run from EUR 150 to 450"),
    )
    administration_h_per_month: float = assume(
        6,
        unit="h",
        low=0,
        high=400,
        label=noop("Administration of one GPU server, hours a month"),
        source=noop("own planning value, 4–10"),
    )
    administration_cluster_h_per_month: float = assume(
        24,
        unit="h",
        low=0,
        high=400,
        label=noop("Administration of a cluster, hours a month beside each server"),
        source=noop("own planning value"),
    )
    administration_extra_h_per_node: float = assume(
        2,
        unit="h",
        low=0,
        high=40,
        label=noop("Administration of each further server, hours a month"),
        source=noop("own planning value"),
    )
    administration_eur_per_h: float = assume(
        95,
        unit="EUR",
        low=20,
        high=300,
        label=noop("Administration per hour, own staff"),
        source=noop("own planning value"),
    )
    cloud_administration_h_per_month: float = assume(
        4,
        unit="h",
        low=0,
        high=400,
        label=noop("Administration of rented machines, hours a month"),
        source=noop("own planning value"),
    )
    spares_pct_per_year: float = assume(
        1,
        unit="%",
        low=0,
        high=10,
        label=noop("Spare parts and repairs a year, of the purchase price"),
        source=noop("own planning value; the support contract covers the rest"),
    )
    support_included_years: float = assume(
        3,
        unit="years",
        low=1,
        high=5,
        label=noop("Years of support in the purchase"),
        source=noop("the support contracts of the seed catalog"),
    )
    coolant_eur_per_rack_year: float = assume(
        1450,
        unit="EUR",
        low=0,
        high=10_000,
        label=noop("Coolant and its yearly check, per liquid-cooled rack"),
        source=noop("demonstration price of the seed catalog"),
    )
    residual_pct: float = assume(
        10,
        unit="%",
        low=0,
        high=60,
        label=noop("Residual value at the end, of the purchase price"),
        source=noop("planning value 0–20 % after four years"),
    )
    cloud_price_band_pct: float = assume(
        25,
        unit="%",
        low=0,
        high=80,
        label=noop("Uncertainty of the cloud price over the horizon, either way"),
        source=noop("list prices of one instance fell 44 % from 2023 to 2025; providers differ threefold"),
    )
    cloud_price_age_days: float = assume(
        180,
        unit="days",
        low=7,
        high=1000,
        label=noop("Age from which a cloud price counts as old"),
        source=noop("own choice; list prices of one instance moved 44 % in two years"),
    )
    utilisation_band_pct: float = assume(
        20,
        unit="%",
        low=0,
        high=80,
        label=noop("Uncertainty of how much the system is used, either way"),
        source=noop("own planning value"),
    )
    office_hours_per_week: float = assume(
        45,
        unit="h",
        low=1,
        high=168,
        label=noop("Busy hours a week: office hours"),
        source=noop("five days of nine hours"),
    )
    extended_hours_per_week: float = assume(
        84,
        unit="h",
        low=1,
        high=168,
        label=noop("Busy hours a week: days and evenings"),
        source=noop("seven days of twelve hours"),
    )
    night_hours_per_week: float = assume(
        60,
        unit="h",
        low=1,
        high=168,
        label=noop("Busy hours a week: nights"),
        source=noop("five nights of twelve hours"),
    )
    hours_per_month: float = assume(
        730,
        unit="h",
        low=720,
        high=744,
        label=noop("Hours in a month"),
        source=noop("8,760 hours a year / 12"),
    )
