"""The choice: three systems, and the answer that holds them."""

from datetime import date
from decimal import Decimal
from enum import StrEnum

from catalog.quantity import Frozen, Message
from configurator.workload import Workload
from quotes.sizing.results.loads import LoadOption
from quotes.sizing.results.money import Economics, UseCurve
from quotes.sizing.results.outlook import CliffMap, GrowthPhase, PlacedWay, SiteLimits, SplitLayout, Tornado
from quotes.sizing.results.refusals import Refusal
from quotes.sizing.results.systems import SystemBuild
from quotes.sizing.trace import Figure, Finding


class Tier(StrEnum):
    LEAN = "lean"
    BALANCED = "balanced"
    ROOM_TO_GROW = "room_to_grow"


class Candidate(Frozen):
    """A complete, legal, sized and priced system."""

    key: str
    accelerator: str | None
    accelerator_name: str
    loads: tuple[LoadOption, ...]
    system: SystemBuild
    price_eur: Decimal  # list, hardware and services, without VAT
    headroom_factor: float  # least capacity_factor of the loads
    expected_w: float


class SizedSystem(Frozen):
    """One of the three proposals."""

    tier: Tier
    recommended: bool = False
    candidate: Candidate
    economics: Economics | None = None
    growth: tuple[GrowthPhase, ...] = ()
    placements: tuple[PlacedWay, ...] = ()  # cheapest first; only in a proposal that was worked out in full
    leads_with: str = "own"  # key of the way that the customer prefers, where it is possible
    use: UseCurve | None = None  # of a workload of one service
    tornado: Tornado | None = None  # only in a proposal that was worked out in full
    cliff: CliffMap | None = None  # only in a proposal that was worked out in full
    splits: tuple[SplitLayout, ...] = ()  # of services that could be; only in a proposal worked out in full
    pros: tuple[Message, ...] = ()
    cons: tuple[Message, ...] = ()
    answer: Message  # the one sentence
    figures: tuple[Figure, ...] = ()

    @property
    def leading_way(self) -> PlacedWay | None:
        """Where the customer would rather have the work done, when that is not all at home."""
        return next((way for way in self.placements if way.key == self.leads_with != "own"), None)


class Sizing(Frozen):
    """The answer to a workload. No systems = infeasible, which `findings` and `refusals` explain."""

    workload: Workload
    catalog_version: str
    calculated_on: date
    systems: tuple[SizedSystem, ...] = ()
    refusals: tuple[Refusal, ...] = ()  # one per accelerator that is not offered
    findings: tuple[Finding, ...] = ()
    assumptions_used: tuple[str, ...] = ()  # keys of Assumptions
    candidates_considered: int = 0
    site_limits: SiteLimits | None = None  # only in a proposal that was worked out in full

    @property
    def recommended(self) -> SizedSystem | None:
        return next((system for system in self.systems if system.recommended), None)
