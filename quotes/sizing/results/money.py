"""The money of one system over time, owned or rented. Euro without VAT."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Literal

from catalog.quantity import Frozen, Message
from quotes.sizing.trace import Figure, Finding


class CostYears(Frozen):
    """Euro without VAT, one entry per month from month 0 (purchase); cumulative, the residual value off at the end."""

    months: tuple[int, ...]
    own_eur: tuple[float, ...]
    cloud_eur: tuple[float, ...] = ()
    lease_eur: tuple[float, ...] = ()  # the cheapest lease whose rate is known


class CloudAlternative(Frozen):
    offer: str  # SKU
    provider: str
    region: str
    accelerator: str
    instances: int
    plan: str
    hourly_eur: Decimal
    hours_per_month: float
    monthly_eur: Decimal
    priced_on: date | None
    reason: Message
    once_eur: Decimal = Decimal(0)  # what runs a single time
    once_hours: float = 0
    storage_eur_month: Decimal = Decimal(0)  # and what leaves; within `monthly_eur`
    instance_hours_month: float = 0  # all loads together
    once_instance_hours: float = 0
    estimated: bool = False  # the price is another offer's, less an assumed discount
    gpus_each: int = 1  # of one instance

    @property
    def machine(self) -> str:
        """What one instance brings: `8 × H200 SXM5 141GB`, or the name of its only accelerator."""
        return f"{self.gpus_each} × {self.accelerator}" if self.gpus_each > 1 else self.accelerator


class RentPlan(Frozen):
    """The same work rented in one way. `cloud` None: not possible or not known, as `note` says."""

    plan: Literal["on_demand", "reserved_1y", "reserved_3y", "spot"]
    cloud: CloudAlternative | None = None
    total_eur: Decimal | None = None  # over the horizon
    break_even_month: float | None = None  # None = not within the horizon
    note: Message | None = None


class Lease(Frozen):
    """The own system, leased over the horizon. Amounts are None while the lessor's rate is not known."""

    kind: Literal["financial", "operational"]  # owned in the end, or given back
    monthly_eur: Decimal | None = None  # to the lessor
    final_eur: Decimal = Decimal(0)  # the last payment, after which it is owned
    total_eur: Decimal | None = (
        None  # over the horizon, with running cost, less the residual value of what is owned
    )


class TokenCost(Frozen):
    """Per million tokens, of a workload that language services are all of."""

    input_m_month: float  # millions a month
    output_m_month: float
    own_eur_per_m: Decimal  # of the own system, in and out together, at this use
    api_eur_month: Decimal | None = None  # None: no price known
    api_total_eur: Decimal | None = None


class OwnedShare(Frozen):
    """One choice between owning and renting peaks: euro a month over the horizon."""

    gpus_owned: int
    own_eur: float
    rent_eur: float

    @property
    def total_eur(self) -> float:
        return self.own_eur + self.rent_eur


class UseCurve(Frozen):
    """The load-duration curve: load as a share of the peak, in equal parts of all hours, busiest first."""

    shares: tuple[float, ...]
    mean_fraction: float
    busy_fraction: float  # of all hours, not idle
    counted_hours: int = 0  # hours that the customer counted; 0: after a profile of ours
    words: tuple[Message, ...] = ()


class Economics(Frozen):
    horizon_years: int
    purchase_eur: Decimal
    yearly_eur: Mapping[str, Decimal]  # energy, housing, administration, support, spares …
    total_eur: Decimal  # over the horizon, residual value deducted
    residual_eur: Decimal = Decimal(0)
    cloud: CloudAlternative | None = None
    cloud_total_eur: Decimal | None = None
    break_even_month: float | None = None  # None = not within the horizon
    break_even_low: float | None = None
    break_even_high: float | None = None
    hybrid_gpus_owned: int | None = None
    hybrid_total_eur: Decimal | None = None
    hybrid_choices: tuple[OwnedShare, ...] = ()  # from owning nothing to owning all
    leases: tuple[Lease, ...] = ()
    rents: tuple[RentPlan, ...] = ()  # empty when nothing may be rented
    tokens: TokenCost | None = None
    curve: CostYears
    figures: tuple[Figure, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def ends_in_total(self) -> bool:
        """Whether the residual value is off the end of the curve; in the first issued quotes it was not."""
        return abs(self.curve.own_eur[-1] - float(self.total_eur)) < 1
