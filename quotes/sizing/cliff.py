"""The cliff map: what the chosen accelerator in the chosen server costs for more and for fewer users.

Cost over demand is a staircase: up to a certain demand nothing changes, and then one accelerator or server more is due.
Each step is found by the functions of the search, one step per try: a system that carries `h` carries all below it.
"""

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from math import ceil, floor, log10
from typing import Any, Self

from catalog.quantity import Message, Quantity, noop
from catalog.specs import AcceleratorSpec, CatalogSnapshot, ServerSpec
from configurator.workload import (
    Domain,
    Job,
    LanguageService,
    LanguageTraining,
    RateService,
    RateTraining,
    Service,
    Workload,
)
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.candidates import (
    Draft,
    accelerators_needed,
    best_backed,
    combinations,
    headroom,
    spread,
    with_working,
)
from quotes.sizing.choosing import expected_demand, targets
from quotes.sizing.hardware.compose import Wish, screen_system
from quotes.sizing.hardware.demand import ram_floor_gb
from quotes.sizing.hardware.placing import Shape
from quotes.sizing.knowledge import Knowledge
from quotes.sizing.loads import OptionTable, option_table, parts
from quotes.sizing.rates.needs import model_of
from quotes.sizing.results import Candidate, CliffMap, CliffStep, LoadOption, Refusal, readable_rate
from quotes.sizing.sharing import divided, part_table

FIRST = 0.25  # of today's demand
STEPS_MAX = 40
TRIES_MAX = 120  # alike systems one after another count as one step
WAYS_TRIED = 24  # demands at which the ways to serve a language model are looked up
JUST_ABOVE = 1 + 1e-6
SAME_EUR = Decimal("0.005")
HALVINGS = 12  # of a step within which the price changes; leaves 1/4096 of it

type Tables = Callable[[float], list[OptionTable]]
"""Options at a multiple of today's demand; their capacity factors are multiples of *that* demand."""


def cliff_map(
    candidate: Candidate,
    workload: Workload,
    catalog: CatalogSnapshot,
    assumptions: Assumptions,
    knowledge: Knowledge,
) -> CliffMap | None:
    """Cheapest system of the candidate's accelerator and server for every demand around today's.

    Services grow together; jobs only when there are no services. Guarantee: from today's demand up the price, servers
    and accelerators that a search over this accelerator and this server finds; below it never dearer. Within a per
    cent or so of a step of a language model the two may differ, because a search interpolates load anew at each
    demand. None without an accelerator, or when nothing is found.
    """
    most = 1.6 * max(expected_demand(workload), candidate.headroom_factor, 1.25)
    walk = Walk.of(candidate, workload, catalog, assumptions, knowledge, most)
    if walk is None:
        return None
    steps = tuple(walk.steps(most))
    if not steps:
        return None
    drawn = CliffMap(today=demand_of(workload), first=FIRST, steps=steps, last=walk.refused)
    return drawn.model_copy(update={"words": tuple(_words(drawn, candidate))})


class Walk:
    """Up the stairs, one search per step."""

    def __init__(
        self,
        accelerator: AcceleratorSpec,
        server: ServerSpec,
        workload: Workload,
        catalog: CatalogSnapshot,
        assumptions: Assumptions,
        knowledge: Knowledge,
        most: float,
    ) -> None:
        self.accelerator, self.server, self.workload, self.catalog = accelerator, server, workload, catalog
        self.assumptions, self.knowledge, self.most = assumptions, knowledge, most
        self.refused: Message | None = None
        growing = workload.services or workload.jobs
        self.follows = any(isinstance(part, RateService | RateTraining) for part in growing)
        self.tables = [
            self._looked_up(part)
            if isinstance(part, LanguageService)
            else self._afresh(part, part in growing)
            for part in parts(workload)
        ]
        shares = len(workload.services) > 1
        self.parts = [self._shared(service) for service in workload.services] if shares else []

    def steps(self, most: float) -> Iterator[CliffStep]:
        """From `FIRST` up to `most` times today's demand, or until nothing is legal."""
        demand, found = FIRST, 0
        held: CliffStep | None = None
        for _try in range(TRIES_MAX):
            draft = self.cheapest(demand) if demand <= most and found < STEPS_MAX else None
            if draft is None:
                break
            for step in self._within(demand, draft):
                if held and not _alike(held, step):
                    found += 1
                    yield held
                held = step
            demand *= max(draft.headroom_factor, 1.0) * JUST_ABOVE
        if held:
            yield held

    def _within(self, demand: float, draft: Draft) -> Iterator[CliffStep]:
        """One step, or two where a part that follows the load (processors, storage) changes before the end."""
        end = demand * draft.headroom_factor
        last = self.cheapest(end * (1 - 1e-9)) if self.follows else draft
        if last is None or _same(draft, last):
            yield _step(end, draft)
            return
        low, high = demand, end
        for _halving in range(HALVINGS):
            middle = (low + high) / 2
            tried = self.cheapest(middle) or last
            low, high = (middle, high) if _same(draft, tried) else (low, middle)
        yield _step(low, draft)
        yield _step(end, last)

    def cheapest(self, demand: float) -> Draft | None:
        """The cheapest legal system at a multiple of today's demand; its headroom is a multiple of that."""
        tables = [table(demand) for table in self.tables]
        scaled = times(self.workload, demand)
        legal: list[Draft] = []
        refused = None
        parts = [part(demand) for part in self.parts]
        board = self.accelerator.board_count
        floor = ram_floor_gb(self.accelerator, self.assumptions)
        for loads in combinations(tables, self.accelerator.sku, (1.0,), scaled, board, parts, floor):
            draft = self._drafted(loads, scaled)
            if isinstance(draft, Draft):
                legal.append(draft)
            else:
                refused = draft
        self.refused = None if legal else refused
        return min(
            best_backed(legal), key=lambda draft: (draft.price_eur, draft.screened.wall_w), default=None
        )

    def _drafted(self, loads: tuple[LoadOption, ...], workload: Workload) -> Draft | Message:
        needed = accelerators_needed(loads, workload)
        if needed > self.assumptions.largest_system_count:
            return Message.of(noop("A larger system is a project of its own."))
        wish = Wish(needed, loads, workload, self.assumptions)
        screened = screen_system(self.accelerator, self.server, wish, self.catalog)
        if isinstance(screened, Refusal):
            return screened.reason
        filled = spread(loads, needed, Shape(screened.nodes, screened.accelerators // screened.nodes))
        return Draft(self.accelerator, filled, screened, headroom(filled))

    @classmethod
    def of(
        cls,
        candidate: Candidate,
        workload: Workload,
        catalog: CatalogSnapshot,
        assumptions: Assumptions,
        knowledge: Knowledge,
        most: float = 1.0,
    ) -> Self | None:
        """On the accelerator and in the server of `candidate`; None when it has none."""
        accelerator = catalog.items.get(candidate.accelerator or "")
        server = next((one for one in catalog.servers if one.sku == candidate.system.node.server), None)
        if not isinstance(accelerator, AcceleratorSpec) or server is None:
            return None
        most = max(most, expected_demand(workload))
        return cls(accelerator, server, workload, catalog, assumptions, knowledge, most)

    # ── options by demand ───────────────────────────────────────────────────────────────────────────────────────

    def _table(self, part: Service | Job, factors: Sequence[float]) -> OptionTable:
        limits = {self.accelerator.sku: self.server.max_accelerators}
        return option_table(
            part, (self.accelerator,), limits, self.catalog, self.assumptions, self.knowledge, factors
        )

    def _afresh(self, part: Service | Job, grows: bool) -> Callable[[float], OptionTable]:
        """Sized again for each demand: measured rates and jobs are quick to size."""
        if grows:
            return lambda demand: self._table(_part_times(part, demand), (1.0,))
        same = self._table(part, (1.0,))
        return lambda demand: same

    def _shared(self, service: Service) -> Callable[[float], OptionTable]:
        """The parts of an accelerator on which the service may share. What a part carries of a language model does not
        depend on how many people there are, so one look-up serves all demands."""
        sku = self.accelerator.sku
        parts = divided(self.accelerator, self.assumptions)

        def afresh(demand: float, most: float = 1.0) -> OptionTable:
            asked = _part_times(service, demand)
            return part_table(
                asked,
                self._table(asked, (1.0,)),
                {sku: self.accelerator},
                lambda _accelerator: parts,
                self.catalog,
                self.assumptions,
                self.knowledge,
                (1.0, most),
            )

        if not isinstance(service, LanguageService):
            return afresh
        found = afresh(FIRST, self.most / FIRST)[sku]
        options = () if isinstance(found, Refusal) else found
        return lambda demand: {
            sku: tuple(
                one.model_copy(update={"capacity_factor": one.capacity_factor * FIRST / demand})
                for one in options
            )
        }

    def _looked_up(self, service: LanguageService) -> Callable[[float], OptionTable]:
        """The ways that are best at some demand, each with as many replicas as a demand asks for.

        What one replica carries does not depend on how many people there are, so one look-up serves all demands. It
        tries as heavy loads as the search did, so that today's system has the same capacity in both.
        """
        top = max(*targets(self.workload, self.assumptions).values(), self.most / 2)
        factors = [FIRST * (top / FIRST) ** (step / (WAYS_TRIED - 1)) for step in range(WAYS_TRIED)]
        sku = self.accelerator.sku
        found = self._table(service, factors)[sku]
        if isinstance(found, Refusal):
            return lambda demand: {sku: found}
        ways = {(one.layout, one.precision, one.kv_precision): one for one in found}

        def at(demand: float) -> OptionTable:
            return {sku: tuple(_carrying(way, demand) for way in ways.values())}

        return at


def _carrying(way: LoadOption, demand: float) -> LoadOption:
    """`way` with the fewest replicas that carry `demand`; its capacity as a multiple of that demand."""
    each = way.capacity_factor / (way.replicas - way.spare_replicas)
    option = with_working(way, max(1, ceil(demand / each - 1e-9)))
    return option.model_copy(update={"capacity_factor": option.capacity_factor / demand})


def _same(one: Draft, other: Draft) -> bool:
    return (
        abs(one.price_eur - other.price_eur) < SAME_EUR
        and one.screened.nodes == other.screened.nodes
        and one.screened.accelerators == other.screened.accelerators
    )


def _alike(one: CliffStep, other: CliffStep) -> bool:
    return one.model_copy(update={"demand": other.demand}) == other


def _step(demand: float, draft: Draft) -> CliffStep:
    screened = draft.screened
    return CliffStep(
        demand=demand,
        nodes=screened.nodes,
        accelerators=screened.accelerators,
        price_eur=draft.price_eur,
    )


# ── demand ──────────────────────────────────────────────────────────────────────────────────────────────────────


def times(workload: Workload, demand: float) -> Workload:
    """The workload with `demand` times its load: its services, or its jobs when it has none."""
    if workload.services:
        services = tuple(_part_times(service, demand) for service in workload.services)
        return workload.model_copy(update={"services": services})
    return workload.model_copy(update={"jobs": tuple(_part_times(job, demand) for job in workload.jobs)})


def _part_times(part: Any, demand: float) -> Any:
    """More of the same: requests in flight, items a second, or tokens and samples in one run."""
    match part:
        case LanguageService():
            more = {"concurrent_requests": part.concurrent_requests * demand}
        case RateService():
            more = {"items_s": part.items_s * demand}
        case LanguageTraining():
            more = {"tokens": part.tokens * demand}
        case _:
            more = {"samples": part.samples * demand}
    return part.model_copy(update=more)


def demand_of(workload: Workload) -> Quantity:
    """Today's demand in the customer's terms; several loads together are one time today's."""
    growing = workload.services or workload.jobs
    (part, *others) = growing
    if others:
        return Quantity(value=1, unit="×")
    if isinstance(part, LanguageService):
        if part.users:
            return Quantity(value=part.users, unit="people", digits=15)
        return Quantity(value=part.concurrent_requests, unit="requests")
    if isinstance(part, RateService):
        if part.streams and part.domain in {Domain.VISION, Domain.DETECTION}:
            return Quantity(value=part.streams, unit="cameras", digits=15)
        known = model_of(part.model, part.domain)
        return readable_rate(part.items_s, known.unit if known else "items/s")
    amount, unit = (
        (part.tokens, "tokens") if isinstance(part, LanguageTraining) else (part.samples, "samples")
    )
    size, word = (1e9, "billion ") if amount >= 1e9 else (1e6, "million ") if amount >= 1e6 else (1, "")
    return Quantity(value=amount / size, unit=f"{word}{unit}")


def amount_at(today: Quantity, demand: float) -> Quantity:
    """A multiple of today's demand in the customer's terms, to two digits: more are not known.

    Rounded down, so that it is never promised too much.
    """
    value = today.value * demand
    if value <= 0:
        return today.model_copy(update={"value": 0})
    step = 10.0 ** (floor(log10(value)) - 1)
    if demand >= 1 and floor(value / step + 1e-6) * step < today.value:  # never below what is asked today
        step /= 10
    if today.digits == 15 or today.unit == "requests":  # whole people, requests and cameras
        step = max(step, 1.0)
    return today.model_copy(update={"value": round(floor(value / step + 1e-6) * step, 9)})


# ── words ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _words(drawn: CliffMap, candidate: Candidate) -> Iterator[Message]:
    """What stays as it is, and the next step."""
    up_to = amount_at(drawn.today, carried(drawn, candidate))
    if up_to.unit == "×":
        up_to = up_to.model_copy(update={"unit": "× today's load"})
    yield Message.of(noop("Up to {amount} nothing changes."), amount=up_to)
    larger = next_step(drawn, candidate)
    if larger is not None:
        yield _next(larger, candidate, up_to)
    elif drawn.last is not None:
        yield Message.of(noop("Above that, this system cannot grow: {reason}"), reason=drawn.last)


def carried(drawn: CliffMap, candidate: Candidate) -> float:
    """The most that the candidate carries. The search stops at a load that is more than enough; the map looks on."""
    return max([candidate.headroom_factor, *(step.demand for step in drawn.steps if _is_of(step, candidate))])


def _is_of(step: CliffStep, candidate: Candidate) -> bool:
    """Whether the step is what the candidate already is."""
    return (
        step.accelerators == candidate.system.accelerators
        and step.nodes == candidate.system.nodes
        and abs(step.price_eur - candidate.price_eur) < SAME_EUR
    )


def next_step(drawn: CliffMap, candidate: Candidate) -> CliffStep | None:
    """The first step that takes more than the candidate has; None when nothing more is possible or was tried."""
    have = candidate.system.accelerators, candidate.price_eur
    return next(
        (
            step
            for step in drawn.steps
            if step.demand > candidate.headroom_factor * JUST_ABOVE
            and step.accelerators >= have[0]
            and step.price_eur > have[1] + SAME_EUR
        ),
        None,
    )


def _next(larger: CliffStep, candidate: Candidate, up_to: Quantity) -> Message:
    servers = larger.nodes - candidate.system.nodes
    cards = larger.accelerators - candidate.system.accelerators
    price = Quantity(value=float(larger.price_eur - candidate.price_eur), unit="EUR", digits=2)
    if servers == 1:
        text = noop("One more server above {amount}: about {price} more.")
    elif servers > 1:
        text = noop("{servers} more servers above {amount}: about {price} more.")
    elif cards == 1:
        text = noop("One more accelerator in the same servers above {amount}: about {price} more.")
    elif cards > 1:
        text = noop("{cards} more accelerators in the same servers above {amount}: about {price} more.")
    else:
        text = noop("Other parts in the same servers above {amount}: about {price} more.")
    return Message.of(text, amount=up_to, price=price, servers=servers, cards=cards)
