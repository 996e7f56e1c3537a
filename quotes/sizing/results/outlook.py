"""What a proposal worked out in full adds: other places, other demands, other prices, other limits."""

from decimal import Decimal
from typing import Literal

from pydantic import Field

from catalog.quantity import Frozen, Message, Quantity
from quotes.sizing.results.loads import Layout, Speed
from quotes.sizing.trace import Figure


class PlacedWay(Frozen):
    """The whole work, done at home, in the cloud, or divided. Euro over the horizon."""

    key: Literal["own", "cloud", "as_needed", "peaks", "jobs_out", "services_out"]
    label: Message
    purchase_eur: Decimal  # of what is owned
    own_eur: Decimal  # what is owned, running cost included and residual value deducted
    rent_eur: Decimal
    sentence: Message  # the answer, for whoever chooses this way

    @property
    def total_eur(self) -> Decimal:
        return self.own_eur + self.rent_eur


class CliffStep(Frozen):
    """One system for all demands from the step before up to `demand`, a multiple of today's."""

    demand: float
    nodes: int
    accelerators: int
    price_eur: Decimal


class CliffMap(Frozen):
    """What one accelerator in one kind of server costs for smaller and larger demands."""

    today: Quantity  # the demand at the peak in the customer's own terms
    first: float  # the least multiple of it that was tried
    steps: tuple[CliffStep, ...]  # demand rises
    last: Message | None = None  # why there is nothing beyond the last step; None: it was not tried
    words: tuple[Message, ...] = ()  # what stays the same, and the next step


class Swing(Frozen):
    """One input at the lower and at the upper end of its band, and the outcome there."""

    key: str
    label: Message
    low: Quantity
    high: Quantity
    low_eur: float
    high_eur: float
    low_month: float | None = None  # break-even; None = not within the horizon
    high_month: float | None = None

    @property
    def width_eur(self) -> float:
        return abs(self.high_eur - self.low_eur)


class Tornado(Frozen):
    """What moves the outcome, widest first. One input moves at a time; the others stay."""

    compares: bool  # True: euro that owning saves over the horizon; False: euro that owning costs a month
    base_eur: float
    base_month: float | None = None
    years: int
    swings: tuple[Swing, ...]
    words: tuple[Message, ...] = ()


class GrowthPhase(Frozen):
    year: int
    demand_factor: float
    gpus: int
    nodes: int
    note: Message
    reserve: tuple[Message, ...] = ()  # what the first order must leave room for
    obstacles: tuple[Message, ...] = ()  # what would not plug in


class SplitLayout(Frozen):
    """The GPUs of one language service as workers that only read prompts and workers that only write answers: an extra
    layout on the same hardware, never the one that a proposal is sized on."""

    load: str
    prompt_workers: int = Field(ge=1)
    prompt_layout: Layout
    answer_workers: int = Field(ge=1)
    answer_layout: Layout
    speed: Speed
    worth: bool  # at the cautious ends
    said: Message
    reason: Message
    figures: tuple[Figure, ...] = ()


class SiteAlternative(Frozen):
    """One way around a limit of the site, with its price and its price in speed."""

    kind: Literal["phased", "power_cap", "colocation"]
    possible: bool = True
    said: Message  # what to do, or why it is not possible
    accelerator: str | None = None
    accelerator_name: str = ""
    accelerators: int = 0
    nodes: int = 0
    price_eur: Decimal | None = None  # list, without VAT; of the first phase
    later_eur: Decimal | None = None  # of the rest, when it is bought in phases
    monthly_eur: Decimal | None = None  # for the place, when it is rented
    power_kw: float | None = None  # to provide
    speed_low: float | None = None  # share of what was asked
    speed_high: float | None = None
    in_speed: Message | None = None


class SiteLimits(Frozen):
    """What the limits of the site stand in the way of, and the alternatives."""

    exceeded: Message
    alternatives: tuple[SiteAlternative, ...]
