"""The figures behind owning and renting, unfolded. They repeat what `economics` computed; they decide nothing."""

from collections.abc import Mapping

from catalog.quantity import Message, Quantity, noop
from configurator.workload import Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.money.hybrid import Split
from quotes.sizing.money.renting import Rented
from quotes.sizing.money.running_costs import electricity_eur_per_kwh, pue, pue_key
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
        _total_figure(candidate, workload, assumptions, yearly),
    ]
    if rent:
        found.append(_rent_figure(rent, assumptions))
    if rent and even is not None:
        found.append(_even_figure(candidate, yearly, rent, even, assumptions))
    if split:
        found.append(_hybrid_figure(split))
    return tuple(found)


def _energy_figure(
    candidate: Candidate, workload: Workload, assumptions: Assumptions, yearly: Mapping[str, float]
) -> Figure:
    answered = workload.site.electricity_eur_kwh is not None
    price = electricity_eur_per_kwh(workload, assumptions)
    return Figure(
        key="energy_eur_per_year",
        label=Message.of(noop("Energy a year")),
        value=_money(yearly["energy"]),
        formula=noop("power × load_factor × 8760 h × PUE × price"),
        inputs=(
            _input(noop("power at the wall"), candidate.system.power.wall_w / 1000, "kW", "catalog"),
            _assumed(noop("load factor"), assumptions.load_factor_fraction, "", "load_factor_fraction"),
            _input_or_assumed(
                noop("PUE"), pue(workload, assumptions), "", workload.site.pue is not None, pue_key(workload)
            ),
            _input_or_assumed(
                noop("price of electricity"), price, "EUR/kWh", answered, "electricity_eur_per_kwh"
            ),
        ),
    )


def _administration_figure(
    candidate: Candidate, assumptions: Assumptions, yearly: Mapping[str, float]
) -> Figure:
    cluster = candidate.system.fabric.kind != "none"
    key = "administration_cluster_h_per_month" if cluster else "administration_h_per_month"
    return Figure(
        key="administration_eur_per_year",
        label=Message.of(noop("Administration a year")),
        value=_money(yearly["administration"]),
        formula=noop("(base + servers × hours_each) × 12 × price_per_hour"),
        inputs=(
            _assumed(noop("base, hours a month"), getattr(assumptions, key), "h", key),
            _input(noop("servers"), candidate.system.nodes, "", "sizing"),
            _assumed(
                noop("hours each a month"),
                assumptions.administration_extra_h_per_node,
                "h",
                "administration_extra_h_per_node",
            ),
            _assumed(
                noop("price an hour"),
                assumptions.administration_eur_per_h,
                "EUR",
                "administration_eur_per_h",
            ),
        ),
    )


def _total_figure(
    candidate: Candidate, workload: Workload, assumptions: Assumptions, yearly: Mapping[str, float]
) -> Figure:
    years, price = workload.growth.horizon_years, float(candidate.price_eur)
    residual = price * assumptions.residual_pct / 100
    return Figure(
        key="own_total_eur",
        label=Message.of(noop("Owning, over the years")),
        value=_money(price + sum(yearly.values()) * years - residual),
        formula=noop("purchase + running_cost × years − residual_value"),
        inputs=(
            _input(noop("purchase"), price, "EUR", "bill of materials"),
            _input(noop("running cost a year"), sum(yearly.values()), "EUR", "above"),
            _input(noop("years"), years, "", "answer"),
            _assumed(noop("residual value"), assumptions.residual_pct, "%", "residual_pct"),
            _assumed(noop("spare parts a year"), assumptions.spares_pct_per_year, "%", "spares_pct_per_year"),
        ),
    )


def _rent_figure(rent: Rented, assumptions: Assumptions) -> Figure:
    return Figure(
        key="cloud_eur_per_month",
        label=Message.of(noop("The same work in the cloud, a month")),
        value=_money(rent.monthly_eur),
        formula=noop("instances × hours × price_per_hour + administration"),
        inputs=(
            _input(noop("instances"), rent.instances, "", "sizing on the rented accelerator"),
            _input(noop("hours a month"), rent.hours_per_month, "h", "load profile"),
            _input(noop("price an hour"), float(rent.offer.hourly_eur), "EUR", rent.offer.provenance.source),
            _assumed(noop("hours in a month"), assumptions.hours_per_month, "h", "hours_per_month"),
            _assumed(
                noop("administration"),
                assumptions.cloud_administration_h_per_month,
                "h",
                "cloud_administration_h_per_month",
            ),
        ),
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
            _input(noop("purchase"), float(candidate.price_eur), "EUR", "bill of materials"),
            _input(noop("cloud, once"), rent.once_eur, "EUR", "above"),
            _input(noop("cloud a month"), rent.monthly_eur, "EUR", "above"),
            _input(noop("running cost a month"), sum(yearly.values()) / 12, "EUR", "above"),
            _assumed(noop("band of the use"), assumptions.utilisation_band_pct, "%", "utilisation_band_pct"),
            _assumed(
                noop("band of the cloud price"),
                assumptions.cloud_price_band_pct,
                "%",
                "cloud_price_band_pct",
            ),
            _assumed(
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
        value=_money(split.monthly_eur),
        formula=noop("least over n of n × own_each + rented_hours(n) × price_per_hour"),
        inputs=(
            _input(noop("replicas owned"), split.owned, "", "cheapest of all"),
            _input(noop("replicas at the peak"), split.replicas, "", "sizing"),
            _input(noop("rented replica hours a month"), split.rented_hours_per_month, "h", "load profile"),
        ),
    )


def _money(value: float) -> Quantity:
    return Quantity(value=value, unit="EUR", digits=3)


def _input(name: str, value: float, unit: str, source: str) -> Input:
    return Input(name=Message.of(name), value=Quantity(value=value, unit=unit, digits=4), source=source)


def _assumed(name: str, value: float, unit: str, key: str) -> Input:
    return Input(
        name=Message.of(name),
        value=Quantity(value=value, unit=unit, digits=4),
        source="assumption",
        assumption=key,
    )


def _input_or_assumed(name: str, value: float, unit: str, answered: bool, key: str) -> Input:
    return _input(name, value, unit, "answer") if answered else _assumed(name, value, unit, key)
