"""The inputs of the cost sheet: each with its key in the formulas, its value, unit and source."""

from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from django.utils.translation import gettext as _

from quotes.presentation.ways import plan_name
from quotes.proposal import Proposal
from quotes.sizing.assumptions import described
from quotes.sizing.money.running_costs import (
    administered_nodes,
    administration_keys,
    busy_fraction,
    housing_key,
    liquid_racks,
    pue,
    pue_key,
    support_contract_eur,
)
from quotes.sizing.results import Economics, SizedSystem

TAXES = (
    "energy_tax_to_10_mwh_eur", "energy_tax_to_50_mwh_eur", "energy_tax_to_10_gwh_eur", "energy_tax_above_10_gwh_eur",
)  # fmt: skip


class Given(NamedTuple):
    """One input: its key in the formulas, and what the reader sees."""

    key: str
    label: str
    value: float | Decimal
    unit: str = ""
    source: str = ""


class Inputs:
    """Everything that the cost of one system rests on."""

    def __init__(self, proposal: Proposal, system: SizedSystem, money: Economics) -> None:
        self.workload, self.assumptions = proposal.sizing.workload, proposal.assumptions
        self.system, self.money = system, money

    def all(self) -> Iterator[Given]:
        """In the order of the sheet."""
        candidate, workload, power = self.system.candidate, self.workload, self.system.candidate.system.power
        bill, catalog, answer = _("bill of materials"), _("catalog"), _("answer")
        yield Given("purchase", _("Purchase at list price"), self.money.purchase_eur, "EUR", bill)
        yield Given(
            "support", _("of which the support contract"), support_contract_eur(candidate), "EUR", bill
        )
        yield Given(
            "years", _("Years that the cost is counted over"), workload.growth.horizon_years, "years", answer
        )
        yield Given("wall", _("Power at the wall, at most"), power.wall_w / 1000, "kW", catalog)
        yield Given("provision", _("Power to provide"), power.provision_w / 1000, "kW", catalog)
        busy = busy_fraction(workload, candidate.loads, self.assumptions)
        yield Given("busy", _("Share of the hours of a year in which it works"), busy, "", _("sizing"))
        yield self._assumed("load_factor_fraction")
        yield self._assumed("idle_power_fraction")
        yield self._answered("pue", _("Energy overhead of the room (PUE)"), pue(workload, self.assumptions), "",
                             answered=workload.site.pue is not None, key=pue_key(workload))  # fmt: skip
        price = workload.site.electricity_eur_kwh
        yield self._answered("price", _(described(self.assumptions, "electricity_eur_per_kwh")["label"]),
                             price if price is not None else self.assumptions.electricity_eur_per_kwh, "EUR/kWh",
                             answered=price is not None, key="electricity_eur_per_kwh")  # fmt: skip
        for key in ("electricity_contract_eur_per_kwh", "site_use_mwh_per_year", *TAXES):
            yield self._assumed(key)
        base, each = administration_keys(candidate)
        yield self._assumed(base, "administration")
        yield Given("nodes", _("Servers beside the base"), administered_nodes(candidate), "", _("sizing"))
        yield self._assumed(each, "administration_each")
        yield self._assumed("administration_eur_per_h")
        yield self._assumed("spares_pct_per_year")
        yield self._assumed(housing_key(workload), "housing")
        yield self._assumed("support_included_years")
        yield Given("racks", _("Liquid-cooled racks"), liquid_racks(candidate), "", _("sizing"))
        yield self._assumed("coolant_eur_per_rack_year")
        yield self._assumed("residual_pct")
        yield self._assumed("capital_pct_per_year")
        yield self._assumed("lease_interest_pct_per_year")
        yield self._assumed("lease_final_pct")
        yield self._assumed("lease_operational_pct_per_month")
        yield from self._rent()
        if tokens := self.money.tokens:
            yield Given(
                "tokens_in", _("Millions of tokens in a month"), tokens.input_m_month, "", _("load profile")
            )
            yield Given(
                "tokens_out",
                _("Millions of tokens out a month"),
                tokens.output_m_month,
                "",
                _("load profile"),
            )
            yield self._assumed("token_input_eur_per_million")
            yield self._assumed("token_output_eur_per_million")

    def _rent(self) -> Iterator[Given]:
        for plan in self.money.rents:
            cloud = plan.cloud
            if cloud is None:
                continue
            name, source = plan_name(plan.plan), f"{cloud.provider}, {cloud.region}"
            yield Given(
                f"{plan.plan}.rate",
                _("%(way)s: price of an hour") % {"way": name},
                cloud.hourly_eur,
                "EUR",
                source,
            )
            yield Given(f"{plan.plan}.hours", _("%(way)s: machine hours a month") % {"way": name},
                        cloud.instance_hours_month, "h", _("load profile"))  # fmt: skip
            yield Given(f"{plan.plan}.once", _("%(way)s: machine hours once") % {"way": name},
                        cloud.once_instance_hours, "h", _("sizing"))  # fmt: skip
        if any(plan.cloud for plan in self.money.rents):
            yield self._assumed("cloud_administration_h_per_month")
            yield self._assumed("cloud_storage_eur_per_tb_month")
            yield Given("dataset", _("Data"), self.workload.data.dataset_tb, "TB", _("answer"))
            yield self._assumed("cloud_egress_tb_per_month")
            yield self._assumed("cloud_egress_eur_per_tb")
            yield self._assumed("hours_per_month")

    def _assumed(self, key: str, name: str = "") -> Given:
        facts = described(self.assumptions, key)
        return Given(name or key, _(facts["label"]), facts["value"], facts["unit"], self._source(key))

    def _answered(
        self, name: str, label: str, value: float | Decimal, unit: str, *, answered: bool, key: str
    ) -> Given:
        return Given(name, label, value, unit, _("answer") if answered else self._source(key))

    def _source(self, key: str) -> str:
        if any(figure.key == key for figure in self.workload.own_figures):
            return _("your figure")
        facts = described(self.assumptions, key)
        if facts["value"] != facts["default"]:
            return _("changed by the seller")
        return f"{_(facts['source'])} ({facts['year']})"
