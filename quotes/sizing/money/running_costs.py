"""What an own system costs to run, per year: energy, administration, spare parts, housing, support.

Euro without VAT. The source of each default stands with its assumption.
"""

from configurator.workload import SiteKind, Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.results import Candidate

HOURS_PER_YEAR = 8760


def electricity_eur_per_kwh(workload: Workload, assumptions: Assumptions) -> float:
    """The customer's contract price, else the assumption."""
    answered = workload.site.electricity_eur_kwh
    return float(answered) if answered is not None else assumptions.electricity_eur_per_kwh


def pue(workload: Workload, assumptions: Assumptions) -> float:
    """The site's own figure, else the assumption for its kind."""
    if workload.site.pue is not None:
        return workload.site.pue
    shared = workload.site.kind in {SiteKind.COLOCATION, SiteKind.DATA_HALL}
    return assumptions.pue_colocation if shared else assumptions.pue_own_room


def energy_eur_per_year(wall_w: float, workload: Workload, assumptions: Assumptions) -> float:
    """kW × load factor × 8,760 h × PUE × €/kWh; `wall_w` is the maximum at the wall."""
    kwh = wall_w / 1000 * assumptions.load_factor_fraction * HOURS_PER_YEAR * pue(workload, assumptions)
    return kwh * electricity_eur_per_kwh(workload, assumptions)


def yearly_costs(candidate: Candidate, workload: Workload, assumptions: Assumptions) -> dict[str, float]:
    """Running cost a year by kind, euro, averaged over the horizon.

    The support contract is a line of the purchase; only the years after it are running cost.
    """
    system = candidate.system
    costs = {
        "energy": energy_eur_per_year(system.power.wall_w, workload, assumptions),
        "administration": administration_h_per_month(candidate, assumptions)
        * 12
        * assumptions.administration_eur_per_h,
        "spares": float(candidate.price_eur) * assumptions.spares_pct_per_year / 100,
    }
    if workload.site.kind is SiteKind.COLOCATION:
        costs["housing"] = system.power.provision_w / 1000 * 12 * assumptions.colocation_eur_per_kw_month
    if renewed := renewed_support_eur_per_year(candidate, workload, assumptions):
        costs["support"] = renewed
    liquid_racks = sum(rack.cooling == "liquid" for rack in system.racks)
    if liquid_racks:
        costs["coolant"] = liquid_racks * assumptions.coolant_eur_per_rack_year
    return costs


def administration_h_per_month(candidate: Candidate, assumptions: Assumptions) -> float:
    """A cluster takes a base of its own, and a little for each server; single servers take theirs."""
    nodes = candidate.system.nodes
    if candidate.system.fabric.kind != "none":
        return (
            assumptions.administration_cluster_h_per_month
            + nodes * assumptions.administration_extra_h_per_node
        )
    return assumptions.administration_h_per_month + (nodes - 1) * assumptions.administration_extra_h_per_node


def renewed_support_eur_per_year(candidate: Candidate, workload: Workload, assumptions: Assumptions) -> float:
    """The contract of the purchase goes on at the same price a year once it has ended."""
    pct = sum(float(line.pct_of_hardware or 0) for line in candidate.system.lines)
    included, horizon = assumptions.support_included_years, workload.growth.horizon_years
    supported_eur = float(candidate.price_eur) * pct / (100 + pct)
    return supported_eur / included * max(0.0, horizon - included) / horizon


def pue_key(workload: Workload) -> str:
    """Name of the assumption that `pue` takes when the site does not say."""
    shared = workload.site.kind in {SiteKind.COLOCATION, SiteKind.DATA_HALL}
    return "pue_colocation" if shared else "pue_own_room"
