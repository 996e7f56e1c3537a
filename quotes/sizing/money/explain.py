"""The figures behind owning and renting, unfolded. They repeat what `economics` computed; they decide nothing."""

from collections.abc import Iterator, Mapping

from catalog.quantity import Message, Quantity, noop
from configurator.workload import Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.money.hybrid import Split
from quotes.sizing.money.inputs import assumed, euros, given, given_or_assumed
from quotes.sizing.money.renting import Rented, busy_hours_key
from quotes.sizing.money.running_costs import (
    administered_nodes,
    administration_keys,
    busy_fraction,
    electricity_eur_per_kwh,
    energy_kwh_per_year,
    housing_key,
    liquid_racks,
    pue,
    pue_key,
    support_contract_eur,
)
from quotes.sizing.results import Candidate
from quotes.sizing.trace import Figure, Input


def figures(
    candidate: Candidate,
    workload: Workload,
    assumptions: Assumptions,
    yearly: Mapping[str, float],
    rent: Rented | None,
    even: float | None,
    split: Split | None,
) -> tuple[Figure, ...]:
    found = [
        _energy_figure(candidate, workload, assumptions, yearly),
        _administration_figure(candidate, assumptions, yearly),
        *_upkeep_figures(candidate, workload, assumptions, yearly),
        _total_figure(candidate, workload, assumptions, yearly),
    ]
    if rent:
        found.append(_rent_figure(rent, workload, assumptions))
    if rent and even is not None:
        found.append(_even_figure(candidate, yearly, rent, even, assumptions))
    if split:
        found.append(_hybrid_figure(split))
    return tuple(found)


def _energy_figure(
    candidate: Candidate, workload: Workload, assumptions: Assumptions, yearly: Mapping[str, float]
) -> Figure:
    answered = workload.site.electricity_eur_kwh is not None
    wall_w = candidate.system.power.wall_w
    busy = busy_fraction(workload, candidate.loads, assumptions)
    kwh = energy_kwh_per_year(wall_w, busy, workload, assumptions)
    price = electricity_eur_per_kwh(workload, assumptions, kwh)
    contract = assumptions.electricity_contract_eur_per_kwh
    prices = (
        (
            assumed(noop("contract price"), contract, "EUR/kWh", "electricity_contract_eur_per_kwh"),
            assumed(
                noop("use of the site before"),
                assumptions.site_use_mwh_per_year,
                "MWh",
                "site_use_mwh_per_year",
            ),
            *(
                assumed(name, getattr(assumptions, key), "EUR/kWh", key)
                for name, key in (
                    (noop("energy tax to 10 MWh"), "energy_tax_to_10_mwh_eur"),
                    (noop("energy tax to 50 MWh"), "energy_tax_to_50_mwh_eur"),
                    (noop("energy tax to 10 GWh"), "energy_tax_to_10_gwh_eur"),
                    (noop("energy tax above 10 GWh"), "energy_tax_above_10_gwh_eur"),
                )
            ),
            given(noop("energy tax on average"), price - contract, "EUR/kWh", "computed"),
        )
        if contract
        else (
            given_or_assumed(
                noop("price of electricity"), price, "EUR/kWh", answered, "electricity_eur_per_kwh"
            ),
        )
    )
    return Figure(
        key="energy_eur_per_year",
        label=Message.of(noop("Energy a year")),
        value=euros(yearly["energy"]),
        formula=noop(
            "power × (busy × working + (1 − busy) × waiting) × 8760 h × PUE × (contract_price + energy_tax)"
        )
        if contract
        else noop("power × (busy × working + (1 − busy) × waiting) × 8760 h × PUE × price"),
        inputs=(
            given(noop("power at the wall"), wall_w / 1000, "kW", "catalog"),
            given(noop("busy: share of the hours of a year"), round(busy, 3), "", "computed"),
            assumed(
                noop("working: load factor"), assumptions.load_factor_fraction, "", "load_factor_fraction"
            ),
            assumed(noop("waiting: load factor"), assumptions.idle_power_fraction, "", "idle_power_fraction"),
            given_or_assumed(
                noop("PUE"), pue(workload, assumptions), "", workload.site.pue is not None, pue_key(workload)
            ),
            *prices,
        ),
    )


def _administration_figure(
    candidate: Candidate, assumptions: Assumptions, yearly: Mapping[str, float]
) -> Figure:
    base, each = administration_keys(candidate)
    return Figure(
        key="administration_eur_per_year",
        label=Message.of(noop("Administration a year")),
        value=euros(yearly["administration"]),
        formula=noop("(base + servers × hours_each) × 12 × price_per_hour"),
        inputs=(
            assumed(noop("base, hours a month"), getattr(assumptions, base), "h", base),
            given(noop("servers beside the base"), administered_nodes(candidate), "", "sizing"),
            assumed(noop("hours each a month"), getattr(assumptions, each), "h", each),
            assumed(
                noop("price an hour"),
                assumptions.administration_eur_per_h,
                "EUR",
                "administration_eur_per_h",
            ),
        ),
    )


def _upkeep_figures(
    candidate: Candidate, workload: Workload, assumptions: Assumptions, yearly: Mapping[str, float]
) -> Iterator[Figure]:
    """What else it costs a year to keep the system: only what is not zero."""
    price = given(noop("purchase"), float(candidate.price_eur), "EUR", "bill of materials")
    yield _yearly(
        "spares",
        noop("Spare parts a year"),
        noop("purchase × share"),
        yearly,
        (price, assumed(noop("share a year"), assumptions.spares_pct_per_year, "%", "spares_pct_per_year")),
    )
    if "housing" in yearly:
        key, kw = housing_key(workload), candidate.system.power.provision_w / 1000
        yield _yearly(
            "housing",
            noop("Housing a year"),
            noop("power × 12 × price_per_kW_and_month"),
            yearly,
            (
                given(noop("power to provide"), kw, "kW", "catalog"),
                assumed(noop("price of a kW a month"), getattr(assumptions, key), "EUR", key),
            ),
        )
    if "support" in yearly:
        years = assumptions.support_included_years
        yield _yearly(
            "support",
            noop("Support after the contract, a year on average"),
            noop("contract / years_included × (years − years_included) / years"),
            yearly,
            (
                given(noop("support contract"), support_contract_eur(candidate), "EUR", "bill of materials"),
                assumed(noop("years included"), years, "years", "support_included_years"),
                given(noop("years"), workload.growth.horizon_years, "", "answer"),
            ),
        )
    if "coolant" in yearly:
        each = assumptions.coolant_eur_per_rack_year
        yield _yearly(
            "coolant",
            noop("Coolant a year"),
            noop("racks × price_each"),
            yearly,
            (
                given(noop("liquid-cooled racks"), liquid_racks(candidate), "", "sizing"),
                assumed(noop("price each a year"), each, "EUR", "coolant_eur_per_rack_year"),
            ),
        )
    if "capital" in yearly:
        rate = assumptions.capital_pct_per_year
        yield _yearly(
            "capital",
            noop("Cost of capital a year"),
            noop("(purchase + residual_value) / 2 × rate"),
            yearly,
            (
                price,
                assumed(noop("residual value"), assumptions.residual_pct, "%", "residual_pct"),
                assumed(noop("rate"), rate, "%", "capital_pct_per_year"),
            ),
        )


def _yearly(
    kind: str, label: str, formula: str, yearly: Mapping[str, float], inputs: tuple[Input, ...]
) -> Figure:
    return Figure(
        key=f"{kind}_eur_per_year",
        label=Message.of(label),
        value=euros(yearly[kind]),
        formula=formula,
        inputs=inputs,
    )


def _total_figure(
    candidate: Candidate, workload: Workload, assumptions: Assumptions, yearly: Mapping[str, float]
) -> Figure:
    years, price = workload.growth.horizon_years, float(candidate.price_eur)
    residual = price * assumptions.residual_pct / 100
    return Figure(
        key="own_total_eur",
        label=Message.of(noop("Owning, over the years")),
        value=euros(price + sum(yearly.values()) * years - residual),
        formula=noop("purchase + running_cost × years − residual_value"),
        inputs=(
            given(noop("purchase"), price, "EUR", "bill of materials"),
            given(noop("running cost a year"), sum(yearly.values()), "EUR", "above"),
            given(noop("years"), years, "", "answer"),
            assumed(noop("residual value"), assumptions.residual_pct, "%", "residual_pct"),
        ),
    )


def _rent_figure(rent: Rented, workload: Workload, assumptions: Assumptions) -> Figure:
    """What a month costs, or the single run where nothing goes on after it."""
    price = given(noop("price an hour"), rent.hourly_eur, "EUR", rent.offer.provenance.source)
    count = given(noop("instances"), rent.instances, "", "sizing on the rented accelerator")
    if not rent.hours_per_month:
        return Figure(
            key="cloud_eur_once",
            label=Message.of(noop("The same work in the cloud, once")),
            value=euros(rent.once_eur),
            formula=noop("instances × hours × price_per_hour + storage"),
            inputs=(count, given(noop("hours of the run"), rent.once_hours, "h", "sizing"), price),
        )
    return Figure(
        key="cloud_eur_per_month",
        label=Message.of(noop("The same work in the cloud, a month")),
        value=euros(rent.monthly_eur),
        formula=noop("instances × hours × price_per_hour + administration + storage_and_transfer"),
        inputs=(
            count,
            given(noop("hours a month"), rent.hours_per_month, "h", "load profile"),
            *(
                assumed(noop("busy hours a week"), getattr(assumptions, key), "h", key)
                for key in sorted({busy_hours_key(service) for service in workload.services} - {""})
            ),
            price,
            given(noop("storage and transfer a month"), rent.storage_eur_month, "EUR", "above"),
            assumed(noop("hours in a month"), assumptions.hours_per_month, "h", "hours_per_month"),
            assumed(
                noop("administration"),
                assumptions.cloud_administration_h_per_month,
                "h",
                "cloud_administration_h_per_month",
            ),
            *_cloud_data(assumptions),
        ),
    )


def _cloud_data(assumptions: Assumptions) -> tuple[Input, ...]:
    return tuple(
        assumed(name, getattr(assumptions, key), unit, key)
        for name, unit, key in (
            (noop("storage a TB and month"), "EUR", "cloud_storage_eur_per_tb_month"),
            (noop("data that leaves a month"), "TB", "cloud_egress_tb_per_month"),
            (noop("price of a TB that leaves"), "EUR", "cloud_egress_eur_per_tb"),
        )
    )


def _even_figure(
    candidate: Candidate, yearly: Mapping[str, float], rent: Rented, even: float, assumptions: Assumptions
) -> Figure:
    return Figure(
        key="break_even_month",
        label=Message.of(noop("Paid back after")),
        value=Quantity(value=even, unit="months", digits=2),
        formula=noop("(purchase − cloud_once) / (cloud_a_month − running_cost_a_month)"),
        inputs=(
            given(noop("purchase"), float(candidate.price_eur), "EUR", "bill of materials"),
            given(noop("cloud, once"), rent.once_eur, "EUR", "above"),
            given(noop("cloud a month"), rent.monthly_eur, "EUR", "above"),
            given(noop("running cost a month"), sum(yearly.values()) / 12, "EUR", "above"),
            assumed(noop("band of the use"), assumptions.utilisation_band_pct, "%", "utilisation_band_pct"),
            assumed(
                noop("band of the cloud price"),
                assumptions.cloud_price_band_pct,
                "%",
                "cloud_price_band_pct",
            ),
            assumed(
                noop("band of the electricity price"),
                assumptions.electricity_band_pct,
                "%",
                "electricity_band_pct",
            ),
        ),
    )


def _hybrid_figure(split: Split) -> Figure:
    return Figure(
        key="hybrid_eur_per_month",
        label=Message.of(noop("Owning the base and renting the peaks, a month")),
        value=euros(split.monthly_eur),
        formula=noop("least over n of n × own_each + rented_hours(n) × price_per_hour"),
        inputs=(
            given(noop("replicas owned"), split.owned, "", "cheapest of all"),
            given(noop("replicas at the peak"), split.replicas, "", "sizing"),
            given(noop("rented replica hours a month"), split.rented_hours_per_month, "h", "load profile"),
        ),
    )
