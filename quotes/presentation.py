"""What the proposal page shows, arranged for its three readers; every figure comes from the proposal."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from catalog.quantity import Message, Quantity, Span
from configurator import formats
from configurator.wizard.answers import Assessment
from quotes.pricing.lines import PricedLine, PricedSystem
from quotes.proposal import Proposal
from quotes.sizing.assumptions import Assumptions, described
from quotes.sizing.results import Estimate, LoadOption, Refusal, SizedSystem, Tier
from quotes.sizing.trace import Badge


class Fact(NamedTuple):
    """One line of a comparison; `differs` when the proposals do not all say the same."""

    label: str
    value: str
    differs: bool = False


class Column(NamedTuple):
    """One proposal beside the others."""

    system: SizedSystem
    price: PricedSystem
    name: str
    facts: tuple[Fact, ...]


class Reason(NamedTuple):
    """One accelerator that is not proposed."""

    name: str
    vendor: str
    stage: str
    stage_name: str
    reason: Message
    change: Message | None


class Group(NamedTuple):
    name: str
    lines: tuple[PricedLine, ...]
    subtotal: Decimal


class Assumed(NamedTuple):
    label: str
    value: str
    source: str
    year: int
    changed: bool


def tier_name(tier: Tier) -> str:
    return {
        Tier.LEAN: _("Lean"),
        Tier.BALANCED: _("Balanced"),
        Tier.ROOM_TO_GROW: _("Room to grow"),
    }[tier]


def stage_name(stage: str) -> str:
    """What stood in the way, in two or three words."""
    return {
        "catalog": _("not for sale"),
        "stack": _("your software"),
        "memory": _("memory"),
        "speed": _("speed"),
        "server": _("no suitable server"),
        "site": _("your site"),
        "budget": _("your budget"),
        "evidence": _("not measured"),
        "dominated": _("works, costs more"),
    }[stage]


def proposal_page(proposal: Proposal) -> dict[str, Any]:
    """Template context of the proposal page."""
    sizing = proposal.sizing
    return {
        "sizing": sizing,
        "chosen": sizing.recommended,
        "columns": columns(proposal),
        "reasons": reasons(sizing.refusals),
        "assumptions": assumptions(proposal.assumptions, sizing.assumptions_used),
        **(_chosen_page(proposal, sizing.recommended) if sizing.recommended else {}),
    }


def _chosen_page(proposal: Proposal, chosen: SizedSystem) -> dict[str, Any]:
    price = proposal.prices[chosen.tier]
    power = chosen.candidate.system.power
    money = chosen.economics
    return {
        "bill": [
            Group(group_name(name), lines, subtotal) for name, (lines, subtotal) in price.groups.items()
        ],
        "totals": price.totals,
        "yearly": [(cost_name(key), amount) for key, amount in money.yearly_eur.items()] if money else [],
        "wall_kw": power.wall_w / 1000,
        "provision_kw": power.provision_w / 1000,
        "expected_kw": power.expected_w / 1000,
    }


def group_name(group: str) -> str:
    """Heading of a group of lines on the bill."""
    return {
        "node": _("Servers"),
        "system": _("System"),
        "fabric": _("Compute network"),
        "network": _("Network"),
        "storage": _("Storage"),
        "management": _("Management"),
        "racks": _("Racks, power and cooling"),
        "services": _("Services"),
    }.get(group, group)


def cost_name(key: str) -> str:
    """A running cost in words."""
    return {
        "energy": _("Energy"),
        "housing": _("Housing"),
        "administration": _("Administration"),
        "support": _("Support"),
        "spares": _("Spare parts"),
    }.get(key, key)


ESTIMATE_BAND = 0.08  # half the width of the price band beside the questionnaire; the quote itself is exact


def estimate_panel(assessment: Assessment, proposal: Proposal | None) -> dict[str, Any]:
    """Template context of the living estimate."""
    chosen = proposal.recommended if proposal else None
    if proposal is None or chosen is None:
        if assessment.problems:
            note = assessment.problems[0].message
        else:
            note = _("No system in the catalog does all of this. The proposal says what stands in the way.")
        return {"chosen": None, "headline": _("No estimate yet"), "explanation": note}
    build = chosen.candidate.system
    price = float(proposal.prices[chosen.tier].totals.net)
    return {
        "chosen": chosen,
        "headline": ngettext("%(count)s server", "%(count)s servers", build.nodes) % {"count": build.nodes}
        + f" · {build.accelerators} × {chosen.candidate.accelerator_name}",
        "low": price * (1 - ESTIMATE_BAND),
        "high": price * (1 + ESTIMATE_BAND),
        "power_kw": build.power.wall_w / 1000,
        "promises": {
            label: value for load in chosen.candidate.loads for label, value in load_facts(load).items()
        },
        "stated": sum(1 for row in assessment.assumed if not row.expert),
    }


def columns(proposal: Proposal) -> list[Column]:
    """The proposals side by side, with what differs marked."""
    systems = proposal.sizing.systems
    rows = [_facts(system) for system in systems]
    differing = {label for label in rows[0] if len({row.get(label) for row in rows}) > 1} if rows else set()
    return [
        Column(
            system,
            proposal.prices[system.tier],
            tier_name(system.tier),
            tuple(Fact(label, value, label in differing) for label, value in row.items()),
        )
        for system, row in zip(systems, rows, strict=True)
    ]


def _facts(system: SizedSystem) -> dict[str, str]:
    candidate = system.candidate
    build = candidate.system
    facts = {
        _("Accelerators"): f"{build.accelerators} × {candidate.accelerator_name}",
        _("Servers"): str(build.nodes),
        _("Room for growth"): formats.quantity(candidate.headroom_factor, "×", 2),
        _("Power, at most"): formats.quantity(build.power.wall_w / 1000, "kW", 2),
    }
    for load in candidate.loads:
        facts |= load_facts(load)
    if build.lead_time_weeks is not None:
        facts[_("Lead time")] = formats.quantity(build.lead_time_weeks, "weeks", 2)
    if system.economics:
        month = system.economics.break_even_month
        horizon = system.economics.horizon_years * 12
        facts[_("Paid back")] = (
            _("month %(month)s") % {"month": round(month)}
            if month is not None
            else (_("not within %(months)s months") % {"months": horizon} if system.economics.cloud else "–")
        )
    return facts


def load_facts(load: LoadOption) -> dict[str, str]:
    """The promises for one load: the cautious end, because these are promises."""
    speed = load.speed
    facts = {}
    if speed.ttft_p95_s:
        facts[_("First word, 95 %")] = _("within %(time)s") % {
            "time": formats.quantity(speed.ttft_p95_s.high, "s", 2)
        }
    if speed.tokens_s_per_user:
        facts[_("Writing speed per person")] = _("at least %(rate)s") % {
            "rate": formats.quantity(speed.tokens_s_per_user.low, "tokens/s", 2)
        }
    if speed.run_hours:
        hours = speed.run_hours.high
        value, unit = (hours / 24, "days") if hours >= 72 else (hours, "hours")
        facts[_("One run of %(load)s") % {"load": load.load}] = _("at most %(time)s") % {
            "time": formats.quantity(value, unit, 2)
        }
    if speed.items_s_per_gpu and load.kind == "rate_serving":
        rate = speed.items_s_per_gpu.low * (load.replicas - load.spare_replicas)
        facts[_("Rate of %(load)s") % {"load": load.load}] = _("at least %(rate)s") % {
            "rate": formats.quantity(rate, "items/s", 2)
        }
    return facts


def in_words(estimate: Estimate, unit: str) -> str:
    """'between 31 and 44 tokens/s; measured on 24 similar runs'."""
    span = formats.say(Span(low=estimate.low, high=estimate.high, unit=unit))
    if estimate.badge is Badge.MEASURED and estimate.evidence_count:
        return ngettext(
            "%(span)s, measured on one similar run",
            "%(span)s, measured on %(count)s similar runs",
            estimate.evidence_count,
        ) % {"span": span, "count": estimate.evidence_count}
    known = {
        Badge.MEASURED: _("%(span)s, measured nearby"),
        Badge.INTERPOLATED: _("%(span)s, between measurements"),
        Badge.EXTRAPOLATED: _("%(span)s, outside what was measured"),
        Badge.COMPUTED: _("%(span)s, computed"),
        Badge.ESTIMATED: _("%(span)s, estimated"),
    }
    return known[estimate.badge] % {"span": span}


def reasons(refusals: Iterable[Refusal]) -> list[Reason]:
    """Why not …? Nearest to working first, then by name."""
    order = ("dominated", "evidence", "budget", "site", "server", "speed", "memory", "stack", "catalog")
    return sorted(
        (
            Reason(
                refusal.subject_name,
                "",
                refusal.stage,
                stage_name(refusal.stage),
                refusal.reason,
                refusal.change,
            )
            for refusal in refusals
        ),
        key=lambda row: (order.index(row.stage), row.name),
    )


def assumptions(values: Assumptions, used: Iterable[str]) -> list[Assumed]:
    """The assumptions that a proposal rests on, with their sources."""
    return [_assumed(described(values, key)) for key in used if key in Assumptions.model_fields]


def _assumed(facts: Mapping[str, Any]) -> Assumed:
    return Assumed(
        label=_(facts["label"]),
        value=formats.say(Quantity(value=facts["value"], unit=facts["unit"], digits=4)),
        source=facts["source"],
        year=facts["year"],
        changed=facts["value"] != facts["default"],
    )
