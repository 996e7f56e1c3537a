"""What an own system costs to run, per year: energy, administration, spare parts, housing, support, capital.

Euro without VAT. The source of each default stands with its assumption.
"""

from collections.abc import Sequence
from itertools import pairwise

from configurator.workload import SiteKind, Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.money.renting import busy_hours_per_month
from quotes.sizing.results import Candidate, LoadOption

HOURS_PER_YEAR = 8760
TAX_BRACKETS_KWH = (0, 10_000, 50_000, 10_000_000, float("inf"))  # a year and connection (Dutch energy tax)


def electricity_eur_per_kwh(workload: Workload, assumptions: Assumptions, kwh_per_year: float) -> float:
    """What a kWh costs, taxes included, without VAT.

    A contract price without energy tax comes first, with the tax of the brackets that these `kwh_per_year` fall in, on
    top of what the site uses already. Else the price that the customer stated, else the assumption.
    """
    contract = assumptions.electricity_contract_eur_per_kwh
    if contract > 0:
        return contract + energy_tax_eur_per_kwh(assumptions, kwh_per_year)
    answered = workload.site.electricity_eur_kwh
    return float(answered) if answered is not None else assumptions.electricity_eur_per_kwh


def energy_tax_eur_per_kwh(assumptions: Assumptions, kwh_per_year: float) -> float:
    """Energy tax on average over `kwh_per_year` that come on top of what the site already uses."""
    rates = (
        assumptions.energy_tax_to_10_mwh_eur,
        assumptions.energy_tax_to_50_mwh_eur,
        assumptions.energy_tax_to_10_gwh_eur,
        assumptions.energy_tax_above_10_gwh_eur,
    )
    before = assumptions.site_use_mwh_per_year * 1000
    if kwh_per_year <= 0:
        return rates[0]
    taxed = [
        max(0.0, min(before + kwh_per_year, high) - max(before, low))
        for low, high in pairwise(TAX_BRACKETS_KWH)
    ]
    return sum(kwh * rate for kwh, rate in zip(taxed, rates, strict=True)) / kwh_per_year


def pue(workload: Workload, assumptions: Assumptions) -> float:
    """The site's own figure, else the assumption for its kind."""
    if workload.site.pue is not None:
        return workload.site.pue
    shared = workload.site.kind in {SiteKind.COLOCATION, SiteKind.DATA_HALL}
    return assumptions.pue_colocation if shared else assumptions.pue_own_room


def busy_fraction(workload: Workload, loads: Sequence[LoadOption], assumptions: Assumptions) -> float:
    """Share of the year in which a system works: the hours of its busiest service, and those of all jobs beside them.

    1 with a job that runs a single time, since nobody knows what the system does afterwards, and where the time of a
    run is not known.
    """
    hours = max((busy_hours_per_month(service, assumptions) for service in workload.services), default=0.0)
    run_hours = {load.load: load.speed.run_hours for load in loads}
    for job in workload.jobs:
        taken = run_hours.get(job.name)
        if not job.runs_per_month or taken is None:
            return 1.0
        hours += taken.high * job.runs_per_month
    return min(1.0, hours / assumptions.hours_per_month)


def energy_eur_per_year(wall_w: float, busy: float, workload: Workload, assumptions: Assumptions) -> float:
    """Energy and its price; `wall_w` is the maximum at the wall, `busy` the share of the year that it works."""
    kwh = energy_kwh_per_year(wall_w, busy, workload, assumptions)
    return kwh * electricity_eur_per_kwh(workload, assumptions, kwh)


def energy_kwh_per_year(wall_w: float, busy: float, workload: Workload, assumptions: Assumptions) -> float:
    """kW × average load × 8,760 h × PUE."""
    return wall_w / 1000 * average_load(busy, assumptions) * HOURS_PER_YEAR * pue(workload, assumptions)


def average_load(busy: float, assumptions: Assumptions) -> float:
    """Average power over the year as a share of the maximum: while it works, and while it waits. Never above 1."""
    working = min(1.0, assumptions.load_factor_fraction)
    return busy * working + (1 - busy) * min(assumptions.idle_power_fraction, working)


def energy_factor(use: float, busy: float, assumptions: Assumptions) -> float:
    """What `use` times the work takes, of the energy: more while the system works, the same while it waits."""
    working = assumptions.load_factor_fraction * use
    changed = assumptions.model_copy(update={"load_factor_fraction": working})
    return average_load(busy, changed) / average_load(busy, assumptions)


def yearly_costs(candidate: Candidate, workload: Workload, assumptions: Assumptions) -> dict[str, float]:
    """Running cost a year by kind, euro, averaged over the horizon.

    The support contract is a line of the purchase; only the years after it are running cost.
    """
    system = candidate.system
    busy = busy_fraction(workload, candidate.loads, assumptions)
    costs = {
        "energy": energy_eur_per_year(system.power.wall_w, busy, workload, assumptions),
        "administration": administration_h_per_month(candidate, assumptions)
        * 12
        * assumptions.administration_eur_per_h,
        "spares": float(candidate.price_eur) * assumptions.spares_pct_per_year / 100,
    }
    if housing := getattr(assumptions, housing_key(workload)):
        costs["housing"] = system.power.provision_w / 1000 * 12 * housing
    if renewed := renewed_support_eur_per_year(candidate, workload, assumptions):
        costs["support"] = renewed
    if racks := liquid_racks(candidate):
        costs["coolant"] = racks * assumptions.coolant_eur_per_rack_year
    if capital := tied_up_eur(candidate, assumptions) * assumptions.capital_pct_per_year / 100:
        costs["capital"] = capital
    return costs


def liquid_racks(candidate: Candidate) -> int:
    return sum(rack.cooling == "liquid" for rack in candidate.system.racks)


def tied_up_eur(candidate: Candidate, assumptions: Assumptions) -> float:
    """The money in the system on average: half way between its purchase and its residual value."""
    return float(candidate.price_eur) * (1 + assumptions.residual_pct / 100) / 2


def administration_h_per_month(candidate: Candidate, assumptions: Assumptions) -> float:
    """A cluster takes a base of its own, and a little for each server; single servers and small systems take theirs."""
    base, each = (getattr(assumptions, key) for key in administration_keys(candidate))
    return float(base + administered_nodes(candidate) * each)


def administered_nodes(candidate: Candidate) -> int:
    """Servers that take hours beside the base: each of a cluster, each further one otherwise."""
    nodes = candidate.system.nodes
    return nodes if candidate.system.fabric.kind != "none" else nodes - 1


def renewed_support_eur_per_year(candidate: Candidate, workload: Workload, assumptions: Assumptions) -> float:
    """The contract of the purchase goes on at the same price a year once it has ended."""
    included, horizon = assumptions.support_included_years, workload.growth.horizon_years
    return support_contract_eur(candidate) / included * max(0.0, horizon - included) / horizon


def support_contract_eur(candidate: Candidate) -> float:
    """The support contract within the purchase."""
    pct = sum(float(line.pct_of_hardware or 0) for line in candidate.system.lines)
    return float(candidate.price_eur) * pct / (100 + pct)


def housing_key(workload: Workload) -> str:
    """Name of the assumption that says what a kW of space costs a month."""
    return (
        "colocation_eur_per_kw_month"
        if workload.site.kind is SiteKind.COLOCATION
        else "own_room_eur_per_kw_month"
    )


ADMINISTRATION = {
    "cluster": ("administration_cluster_h_per_month", "administration_extra_h_per_node"),
    "servers": ("administration_h_per_month", "administration_extra_h_per_node"),
    "small": ("administration_small_h_per_month", "administration_small_extra_h_per_node"),
}
"""Names of the assumptions for the hours of administration: the base, and what each further server takes."""


def administration_keys(candidate: Candidate) -> tuple[str, str]:
    """Those of `ADMINISTRATION` that count; *small* stands beside a desk or on a machine."""
    small = candidate.system.room.standing in {"desk", "edge"}
    cluster = candidate.system.fabric.kind != "none"
    return ADMINISTRATION["cluster" if cluster else "small" if small else "servers"]


def pue_key(workload: Workload) -> str:
    """Name of the assumption that `pue` takes when the site does not say."""
    shared = workload.site.kind in {SiteKind.COLOCATION, SiteKind.DATA_HALL}
    return "pue_colocation" if shared else "pue_own_room"
