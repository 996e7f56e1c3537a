"""Assumptions about money over time."""

from catalog.quantity import Frozen, noop
from quotes.sizing.assumptions.base import assume

DUTCH_TAX = noop("Dutch energy tax of 2024 as an energy supplier (PZEM) publishes it; look up this year's")


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
    electricity_contract_eur_per_kwh: float = assume(
        0,
        unit="EUR/kWh",
        low=0,
        high=0.60,
        label=noop(
            "Contract price of electricity with grid, without energy tax; 0 counts the price with tax"
        ),
        source=noop("of your contract; the energy tax is then added by bracket"),
        group="energy",
    )
    site_use_mwh_per_year: float = assume(
        50,
        unit="MWh",
        low=0,
        high=1_000_000,
        label=noop("What the site already uses in a year; it decides the bracket of the energy tax"),
        source=noop("own planning value: a business with a server room"),
        group="energy",
    )
    energy_tax_to_10_mwh_eur: float = assume(
        0.10880,
        unit="EUR/kWh",
        low=0,
        high=0.5,
        label=noop("Energy tax on the first 10 MWh of a year, without VAT"),
        source=DUTCH_TAX,
        year=2024,
    )
    energy_tax_to_50_mwh_eur: float = assume(
        0.09037,
        unit="EUR/kWh",
        low=0,
        high=0.5,
        label=noop("Energy tax from 10 to 50 MWh a year, without VAT"),
        source=DUTCH_TAX,
        year=2024,
    )
    energy_tax_to_10_gwh_eur: float = assume(
        0.03943,
        unit="EUR/kWh",
        low=0,
        high=0.5,
        label=noop("Energy tax from 50 MWh to 10 GWh a year, without VAT"),
        source=DUTCH_TAX,
        year=2024,
    )
    energy_tax_above_10_gwh_eur: float = assume(
        0.00188,
        unit="EUR/kWh",
        low=0,
        high=0.5,
        label=noop("Energy tax above 10 GWh a year, without VAT"),
        source=DUTCH_TAX,
        year=2024,
    )
    electricity_band_pct: float = assume(
        25,
        unit="%",
        low=0,
        high=100,
        label=noop("Uncertainty of the electricity price, either way"),
        source=noop("band 0.15–0.25 EUR/kWh of planning guides of 2026"),
        group="energy",
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
        group="housing",
    )
    own_room_eur_per_kw_month: float = assume(
        0,
        unit="EUR",
        low=0,
        high=600,
        label=noop("Own server room per kW and month: space, cooling equipment and UPS, energy excluded"),
        source=noop("own choice: 0, the room is there already"),
        group="housing",
    )
    administration_h_per_month: float = assume(
        6,
        unit="h",
        low=0,
        high=400,
        label=noop("Administration of one GPU server, hours a month"),
        source=noop("own planning value, 4–10"),
        group="people",
    )
    administration_cluster_h_per_month: float = assume(
        24,
        unit="h",
        low=0,
        high=400,
        label=noop("Administration of a cluster, hours a month beside each server"),
        source=noop("own planning value"),
        group="people",
    )
    administration_extra_h_per_node: float = assume(
        2,
        unit="h",
        low=0,
        high=40,
        label=noop("Administration of each further server, hours a month"),
        source=noop("own planning value"),
        group="people",
    )
    administration_small_h_per_month: float = assume(
        2,
        unit="h",
        low=0,
        high=40,
        label=noop("Administration of one system beside a desk or on a machine, hours a month"),
        source=noop("own planning value: no cluster software, no queue, updates once a month"),
        group="people",
    )
    administration_small_extra_h_per_node: float = assume(
        0.5,
        unit="h",
        low=0,
        high=10,
        label=noop("Administration of each further such system, hours a month"),
        source=noop("own planning value: the same image on all"),
        group="people",
    )
    administration_eur_per_h: float = assume(
        95,
        unit="EUR",
        low=20,
        high=300,
        label=noop("Administration per hour, own staff"),
        source=noop("own planning value"),
        group="people",
    )
    cloud_administration_h_per_month: float = assume(
        4,
        unit="h",
        low=0,
        high=400,
        label=noop("Administration of rented machines, hours a month"),
        source=noop("own planning value"),
        group="cloud",
    )
    spares_pct_per_year: float = assume(
        1,
        unit="%",
        low=0,
        high=10,
        label=noop("Spare parts and repairs a year, of the purchase price"),
        source=noop("own planning value; the support contract covers the rest"),
        group="upkeep",
    )
    support_included_years: float = assume(
        3,
        unit="years",
        low=1,
        high=5,
        label=noop("Years of support in the purchase"),
        source=noop("the support contracts of the seed catalog"),
        group="upkeep",
    )
    coolant_eur_per_rack_year: float = assume(
        1450,
        unit="EUR",
        low=0,
        high=10_000,
        label=noop("Coolant and its yearly check, per liquid-cooled rack"),
        source=noop("demonstration price of the seed catalog"),
        group="upkeep",
    )
    residual_pct: float = assume(
        10,
        unit="%",
        low=0,
        high=60,
        label=noop("Residual value at the end, of the purchase price"),
        source=noop("planning value 0–20 % after four years"),
        group="upkeep",
    )
    capital_pct_per_year: float = assume(
        4,
        unit="%",
        low=0,
        high=25,
        label=noop("Cost of capital a year, over the money that is tied up on average"),
        source=noop("own planning value; your controller knows your rate"),
        group="financing",
    )
    lease_interest_pct_per_year: float = assume(
        0,
        unit="%",
        low=0,
        high=25,
        label=noop(
            "Interest a year of a financial lease over the whole term; 0: not known, ask for an offer"
        ),
        source=noop("of the lessor's offer; nobody publishes a rate for this"),
        group="financing",
    )
    lease_final_pct: float = assume(
        10,
        unit="%",
        low=0,
        high=60,
        label=noop("Last payment of a financial lease, of the purchase price"),
        source=noop("own planning value, as the residual value"),
        group="financing",
    )
    lease_operational_pct_per_month: float = assume(
        0,
        unit="%",
        low=0,
        high=20,
        label=noop("Operational lease a month, of the purchase price; 0: not known, ask for an offer"),
        source=noop("of the lessor's offer for this term; nobody publishes a rate for this"),
        group="financing",
    )
    cloud_reserved_1y_discount_pct: float = assume(
        21,
        unit="%",
        low=0,
        high=80,
        label=noop("Discount for reserving a year, where no such price is in the catalog"),
        source=noop("Lenovo Press LP2225: 77.43 instead of 98.32 an hour; others quote 41 %"),
        year=2025,
        group="cloud",
    )
    cloud_reserved_3y_discount_pct: float = assume(
        45,
        unit="%",
        low=0,
        high=80,
        label=noop("Discount for reserving three years, where no such price is in the catalog"),
        source=noop("Lenovo Press LP2225: 53.95 instead of 98.32 an hour; others quote 56 %"),
        year=2025,
        group="cloud",
    )
    spot_useful_fraction: float = assume(
        0.85,
        unit="",
        low=0.3,
        high=1,
        label=noop(
            "Share of the rented time that training really advances on machines that may be taken away"
        ),
        source=noop("own planning value: a checkpoint every half hour, taken away a few times a day"),
        group="cloud",
    )
    cloud_storage_eur_per_tb_month: float = assume(
        10,
        unit="EUR",
        low=0,
        high=200,
        label=noop("Storage in the cloud per TB and month"),
        source=noop(
            "Scaleway, questions about object storage in Amsterdam, undated: 0.01 per GB; others ask up to 0.05"
        ),
        group="cloud",
    )
    cloud_egress_tb_per_month: float = assume(
        0,
        unit="TB",
        low=0,
        high=100_000,
        label=noop("Data that leaves the cloud each month"),
        source=noop("own choice: answers in text are small; fill in what images, video or backups take"),
        group="cloud",
    )
    cloud_egress_eur_per_tb: float = assume(
        20,
        unit="EUR",
        low=0,
        high=300,
        label=noop("Price of a TB that leaves the cloud"),
        source=noop("Scaleway, questions about object storage in Amsterdam, undated: 0.02 per GB"),
        group="cloud",
    )
    token_input_eur_per_million: float = assume(
        0,
        unit="EUR",
        low=0,
        high=500,
        label=noop("A million tokens in at a provider per token; 0: not known"),
        source=noop("of the provider's price list"),
        group="tokens",
    )
    token_output_eur_per_million: float = assume(
        0,
        unit="EUR",
        low=0,
        high=2000,
        label=noop("A million tokens out at a provider per token; 0: not known"),
        source=noop("of the provider's price list"),
        group="tokens",
    )
    cloud_price_band_pct: float = assume(
        25,
        unit="%",
        low=0,
        high=80,
        label=noop("Uncertainty of the cloud price over the horizon, either way"),
        source=noop("list prices of one instance fell 44 % from 2023 to 2025; providers differ threefold"),
        group="cloud",
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
        group="use",
    )
    administration_band_pct: float = assume(
        50,
        unit="%",
        low=0,
        high=100,
        label=noop("Uncertainty of the hours of administration, either way"),
        source=noop("own planning value: 4–10 hours a month for a server of 6"),
        group="people",
    )
    pue_band: float = assume(
        0.2,
        unit="",
        low=0,
        high=1,
        label=noop("Uncertainty of the energy for cooling (PUE), either way"),
        source=noop("planning guide of September 2026: small sites 1.4–1.6, data centres 1.2–1.5"),
        group="energy",
    )
    residual_band_points: float = assume(
        10,
        unit="%",
        low=0,
        high=60,
        label=noop("Uncertainty of the residual value, points either way"),
        source=noop("planning value 0–20 % after four years"),
        group="upkeep",
    )
    capital_band_points: float = assume(
        2,
        unit="%",
        low=0,
        high=20,
        label=noop("Uncertainty of the cost of capital, points either way"),
        source=noop("own planning value"),
        group="financing",
    )
    housing_band_pct: float = assume(
        25,
        unit="%",
        low=0,
        high=100,
        label=noop("Uncertainty of the price of housing, either way"),
        source=noop("published indications run from EUR 150 to 450"),
        group="housing",
    )
    horizon_band_years: float = assume(
        1,
        unit="years",
        low=0,
        high=4,
        label=noop("Years of use more or fewer than planned"),
        source=noop("own planning value: hardware of this kind is replaced after three to five years"),
        group="use",
    )
    office_hours_per_week: float = assume(
        45,
        unit="h",
        low=1,
        high=168,
        label=noop("Busy hours a week: office hours"),
        source=noop("five days of nine hours"),
        group="use",
    )
    extended_hours_per_week: float = assume(
        84,
        unit="h",
        low=1,
        high=168,
        label=noop("Busy hours a week: days and evenings"),
        source=noop("seven days of twelve hours"),
        group="use",
    )
    night_hours_per_week: float = assume(
        60,
        unit="h",
        low=1,
        high=168,
        label=noop("Busy hours a week: nights"),
        source=noop("five nights of twelve hours"),
        group="use",
    )
    commissioning_days: float = assume(
        5,
        unit="days",
        low=0,
        high=120,
        label=noop("Days from the last delivery to the first day of use: placing, connecting, testing"),
        source=noop("own planning value"),
    )
    price_move_pct_per_month: float = assume(
        5.4,
        unit="%",
        low=0,
        high=50,
        label=noop("How much prices of AI hardware may change in a month"),
        source=noop("list price of the RTX PRO 6000, 87 % up in the year 2026"),
    )
    price_move_worth_saying_pct: float = assume(
        5,
        unit="%",
        low=0,
        high=100,
        label=noop("Change of prices within the validity of a quote from which we warn"),
        source=noop("own choice"),
    )
    hours_per_month: float = assume(
        730,
        unit="h",
        low=720,
        high=744,
        label=noop("Hours in a month"),
        source=noop("8,760 hours a year / 12"),
    )
