"""Lines of a bill while it grows: light tuples, turned into `BillLine`s only for the systems that are shown.

A search composes hundreds of systems; everything here is cheap on purpose.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from catalog.quantity import Message, Quantity, noop
from quotes.sizing.refusals import joined, ratio
from quotes.sizing.results import BillLine, Kind, LineRole, Refusal, Stage

if TYPE_CHECKING:
    from quotes.sizing.hardware.parts import Parts

SERVICES = frozenset({LineRole.SERVICE, LineRole.LICENCE})
CENT = Decimal("0.01")


class Line(NamedTuple):
    """`quantity` pieces of the article `sku`; `why` is an English template marked with `noop`."""

    sku: str
    quantity: int
    role: LineRole
    group: str
    why: str
    params: Mapping[str, Any] = {}
    percent: Decimal | None = None  # of the hardware, instead of a price

    def times(self, count: int, group: str | None = None) -> "Line":
        sku, quantity, role, old_group, why, params, percent = self  # quicker than _replace
        return Line(sku, quantity * count, role, group or old_group, why, params, percent)


class Broken(NamedTuple):
    """A rule that a combination breaks: the rule's key, what is wrong and what nearby would work."""

    rule: str
    reason: Message
    change: Message | None = None
    stage: Stage = "server"
    kind: Kind | None = None  # None: as the stage
    excess: float | None = None  # asked / available; None: off by kind, not by degree
    needs: Message | None = None  # of the site, so that it would keep this rule
    elsewhere: bool = False  # where a colocation may offer that

    def refusal(self, subject: str, name: str) -> Refusal:
        return Refusal(
            subject=subject,
            subject_name=name,
            stage=self.stage,
            kind=self.kind,
            excess=self.excess,
            reason=self.reason,
            change=self.change or (would_fit([self.needs], elsewhere=self.elsewhere) if self.needs else None),
        )


def broken(
    rule: str,
    reason: str,
    change: str = "",
    stage: Stage = "server",
    kind: Kind | None = None,
    off: tuple[float, float] | None = None,
    needs: Message | None = None,
    **params: Any,
) -> Broken:
    """Reason and change share `params`; both are English templates marked with `noop` by the caller.
    `off`: what is asked and what there is, where that is a matter of degree. `needs` is told
    where there is no change."""
    return Broken(
        rule,
        Message(text=reason, params=params),
        Message(text=change, params=params) if change else None,
        stage,
        kind,
        ratio(*off) if off else None,
        needs,
    )


def would_fit(needs: Sequence[Message], cap: Quantity | None = None, *, elsewhere: bool = False) -> Message:
    """What the site must offer, and that is enough. `cap`: share of the accelerators' power that is enough as well;
    `elsewhere`: the work may be done in a colocation."""
    text = noop("It would fit with {needs}.")
    if cap and elsewhere:
        text = noop(
            "It would fit with {needs}, as in a colocation; or capped at {cap} of its power, more slowly."
        )
    elif cap:
        text = noop("It would fit with {needs}; or capped at {cap} of its power, more slowly.")
    elif elsewhere:
        text = noop("It would fit with {needs}, as in a colocation.")
    return Message.of(text, needs=joined(needs), **({"cap": cap} if cap else {}))


def unpriced(rule: str, sku: str, parts: "Parts") -> Broken:
    """An article that may not be sold today."""
    return broken(
        rule,
        noop("{article} is not in the catalog or has no valid price."),
        noop("Enter it with its price."),
        stage="catalog",
        kind="sale",
        article=parts.names.get(sku, sku) or "?",
    )


def merged(lines: Iterable[Line]) -> list[Line]:
    """One line per article and group, in order of first appearance."""
    found: dict[tuple[str, str], Line] = {}
    for line in lines:
        key = (line.sku, line.group)
        seen = found.get(key)
        found[key] = line._replace(quantity=seen.quantity + line.quantity) if seen else line
    return list(found.values())


def fixed_eur(lines: Iterable[Line], parts: "Parts") -> Decimal:
    """List price of everything with a price of its own. Raises KeyError for an article without price."""
    price = parts.price
    return sum((price[line.sku] * line.quantity for line in lines if line.percent is None), Decimal(0))


def total_eur(lines: Iterable[Line], parts: "Parts", servers_eur: Decimal = Decimal(0)) -> Decimal:
    """Servers and lines; percentages are of what is neither service nor licence, rounded half up to the cent."""
    price = parts.price
    total = hardware = servers_eur
    percentages = []
    for line in lines:
        if line.percent is not None:
            percentages.append(line.percent)
            continue
        net = price[line.sku] * line.quantity
        total += net
        if line.role not in SERVICES:
            hardware += net
    return total + sum(
        ((hardware * percent / 100).quantize(CENT, ROUND_HALF_UP) for percent in percentages), Decimal(0)
    )


def longest_lead(lines: Iterable[Line], parts: "Parts") -> tuple[int | None, str]:
    """Weeks of the article that takes longest, and its name; (None, "") when no lead time is known."""
    weeks, slowest = None, ""
    for line in lines:
        lead = parts.lead.get(line.sku)
        if lead is not None and (weeks is None or lead > weeks):
            weeks, slowest = lead, line.sku
    return weeks, parts.names.get(slowest, "")


def bill_lines(lines: Iterable[Line], parts: "Parts") -> tuple[BillLine, ...]:
    return tuple(
        BillLine(
            sku=line.sku,
            name=parts.names[line.sku],
            quantity=line.quantity,
            role=line.role,
            group=line.group,
            reason=Message(text=line.why, params=dict(line.params)),
            pct_of_hardware=line.percent,
        )
        for line in lines
    )
