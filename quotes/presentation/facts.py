"""A system in short facts, and its speeds in plain words."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from catalog.quantity import Message, Span
from configurator import formats
from configurator.wizard.presets import load_title
from quotes.presentation.names import tier_name
from quotes.pricing.lines import PricedSystem
from quotes.proposal import Proposal
from quotes.sizing.hardware.placing import is_job
from quotes.sizing.results import Economics, Estimate, LoadOption, SizedSystem
from quotes.sizing.trace import Badge

LONG_HOURS = 72  # from here on, a run is told in days


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
    outgrown: Message | None  # when the load outgrows it, and what must be bought then


class Speed(NamedTuple):
    """One speed as a sentence: what is promised, between which bounds, on which evidence."""

    label: str
    promise: str
    bounds: str
    badge: Badge


def hardware(system: SizedSystem) -> str:
    """'1 server · 4 × H200 NVL 141GB'."""
    build = system.candidate.system
    servers = ngettext("%(count)s server", "%(count)s servers", build.nodes) % {
        "count": formats.number(build.nodes)
    }
    return f"{servers} · {formats.number(build.accelerators)} × {system.candidate.accelerator_name}"


def columns(proposal: Proposal) -> list[Column]:
    """The proposals side by side, with what differs marked."""
    systems = proposal.sizing.systems
    rows = [dict(facts(system)) for system in systems]
    if not any(system.economics and system.economics.cloud for system in systems):
        for row in rows:
            row.pop(_("Paid back"), None)  # against nothing
    labels = list(dict.fromkeys(label for row in rows for label in row))
    differing = {label for label in labels if len({row.get(label) for row in rows}) > 1}
    return [
        Column(
            system,
            proposal.prices[system.tier],
            tier_name(system.tier),
            tuple(Fact(label, row.get(label, "–"), label in differing) for label in labels),
            outgrown(system),
        )
        for system, row in zip(systems, rows, strict=True)
    ]


def outgrown(system: SizedSystem) -> Message | None:
    """When the load outgrows the system and what must be bought then; None when it never does."""
    then = system.answer.params.get("then")
    return then if isinstance(then, Message) else None


def facts(system: SizedSystem) -> Iterator[tuple[str, str]]:
    """What one compares proposals by, as label and value."""
    candidate, build = system.candidate, system.candidate.system
    yield _("Accelerators"), f"{formats.number(build.accelerators)} × {candidate.accelerator_name}"
    yield _("Servers"), formats.number(build.nodes)
    if any(not is_job(load) for load in candidate.loads):
        yield (
            _("Carries at least"),
            _("%(factor)s today's peak") % {"factor": formats.quantity(candidate.headroom_factor, "×", 2)},
        )
    yield from promises(candidate.loads)
    yield _("Power, at most"), formats.quantity(build.power.wall_w / 1000, "kW", 2)
    if build.lead_time_weeks is not None:
        yield _("Lead time"), formats.quantity(build.lead_time_weeks, "weeks", 2)
    if system.economics:
        yield _("Paid back"), payback(system.economics)


def payback(money: Economics) -> str:
    """When owning has cost less than renting."""
    if money.cloud is None:
        return _("no comparison")
    if money.break_even_month is None:
        return _("not within %(time)s") % {"time": formats.quantity(money.horizon_years * 12, "months", 3)}
    return _("in month %(month)s") % {"month": formats.number(round(money.break_even_month))}


def promises(loads: Sequence[LoadOption]) -> Iterator[tuple[str, str]]:
    """The cautious end of every speed, as label and value; with several loads of a sort the label says whose."""
    for load in loads:
        alike = [other for other in loads if is_job(other) == is_job(load)]
        for speed in speeds(load):
            label = f"{load_title(load.load)}: {speed.label.lower()}" if len(alike) > 1 else speed.label
            yield label, speed.promise


def speeds(load: LoadOption) -> Iterator[Speed]:
    """The speeds of one load. The promise is the cautious end of each interval."""
    speed = load.speed
    if found := speed.ttft_p95_s:
        promise = _("within %(time)s") % {"time": formats.quantity(found.high, "s", 2)}
        yield Speed(_("First word, in 95 of 100 cases"), promise, in_words(found, "s"), found.badge)
    if found := speed.tokens_s_per_user:
        promise = _("at least %(rate)s") % {"rate": formats.quantity(found.low, "tokens/s", 2)}
        yield Speed(_("Writing speed per person"), promise, in_words(found, "tokens/s"), found.badge)
    if found := speed.run_hours:
        scale, unit = (24, "days") if found.high >= LONG_HOURS else (1, "hours")
        promise = _("at most %(time)s") % {"time": formats.quantity(found.high / scale, unit, 2)}
        yield Speed(_("One training run"), promise, in_words(found, unit, scale), found.badge)
    if (found := speed.items_s_per_gpu) and load.kind == "rate_serving":
        carried = load.rate_in_all
        promise = _("at least %(rate)s") % {"rate": formats.say(carried)}
        yield Speed(
            _("Throughput of all together"),
            promise,
            in_words(found, carried.unit, found.low / carried.value),
            found.badge,
        )


def in_words(estimate: Estimate, unit: str, scale: float = 1) -> str:
    """'31–44 tokens/s, measured on 24 similar runs'; the interval is divided by `scale`."""
    span = formats.say(Span(low=estimate.low / scale, high=estimate.high / scale, unit=unit))
    if estimate.badge is Badge.MEASURED and estimate.evidence_count:
        return ngettext(
            "%(span)s, measured on one similar run",
            "%(span)s, measured on %(count)s similar runs",
            estimate.evidence_count,
        ) % {"span": span, "count": formats.number(estimate.evidence_count)}
    known = {
        Badge.MEASURED: _("%(span)s, measured nearby"),
        Badge.INTERPOLATED: _("%(span)s, between measurements"),
        Badge.EXTRAPOLATED: _("%(span)s, outside what was measured"),
        Badge.COMPUTED: _("%(span)s, calculated"),
        Badge.ESTIMATED: _("%(span)s, a planning estimate"),
    }
    return known[estimate.badge] % {"span": span}
