"""Which services share accelerators: as few as possible, only where it saves one, every target checked on the part.

A service may have a part of an accelerator when one part carries all of it (and one each of its spares). Training never
shares with a service at the same time.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence

from catalog.quantity import Message, noop
from catalog.specs import AcceleratorSpec, CatalogSnapshot
from configurator.workload import LanguageService, Service, Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.knowledge import Knowledge
from quotes.sizing.loads import OptionTable, option_table
from quotes.sizing.portions import PartSpec, as_part, part_of, portions_of
from quotes.sizing.results import LoadOption, Placed, Refusal
from quotes.sizing.trace import Finding, Severity

type Known = dict[Hashable, OptionTable]
"""Tables by what they depend on, within one catalog, one set of assumptions and what is measured."""

# ── every service on every part ─────────────────────────────────────────────────────────────────────────────────


def part_tables(
    workload: Workload,
    tables: Sequence[OptionTable],
    accelerators: Sequence[AcceleratorSpec],
    catalog: CatalogSnapshot,
    assumptions: Assumptions,
    knowledge: Knowledge,
    goals: Sequence[float],
    of_before: Known | None = None,
) -> list[OptionTable]:
    """For each service, by SKU: the parts of one accelerator that carry it, smallest first, or why none does.

    Empty for fewer than two services. Of `accelerators`, those are left out that cannot carry some load at all, or of
    which one board carries all without sharing. `of_before` keeps tables for the next call, and `tables` among them.
    """
    if len(workload.services) < 2:
        return []
    able = {one.sku: one for one in accelerators if _fewest(one.sku, tables) > one.board_count}
    known: dict[str, list[PartSpec]] = {}

    def parts_of(accelerator: AcceleratorSpec) -> Sequence[PartSpec]:
        if accelerator.sku not in known:
            known[accelerator.sku] = divided(accelerator, assumptions)
        return known[accelerator.sku]

    kept = {} if of_before is None else of_before
    found: list[OptionTable] = []
    for service, table in zip(workload.services, tables, strict=False):
        key = "parts", id(table), service, tuple(goals), tuple(able)
        if key not in kept:
            kept[key] = part_table(service, table, able, parts_of, catalog, assumptions, knowledge, goals)
        found.append(kept[key])
    return found


def _fewest(sku: str, tables: Sequence[OptionTable]) -> int:
    """Accelerators for all loads without sharing, at most; 0 when some load cannot run on them."""
    answers = [table.get(sku) for table in tables]
    found = [
        min(option.gpus for option in answer) for answer in answers if isinstance(answer, tuple) and answer
    ]
    return sum(found) if len(found) == len(tables) else 0


def divided(accelerator: AcceleratorSpec, assumptions: Assumptions) -> list[PartSpec]:
    """The parts of an accelerator, smallest first."""
    return [part_of(accelerator, portion, assumptions) for portion in portions_of(accelerator)]


def part_table(
    service: Service,
    table: OptionTable,
    accelerators: Mapping[str, AcceleratorSpec],
    parts_of: Callable[[AcceleratorSpec], Sequence[PartSpec]],
    catalog: CatalogSnapshot,
    assumptions: Assumptions,
    knowledge: Knowledge,
    goals: Sequence[float],
) -> OptionTable:
    """One service, see `part_tables`; `table`: its options on whole accelerators."""
    answers: dict[str, tuple[LoadOption, ...] | Refusal] = {}
    large_enough: dict[str, list[PartSpec]] = {}
    for sku, accelerator in accelerators.items():
        tried = _tried(service, table[sku], parts_of, accelerator)
        if isinstance(tried, Refusal):
            answers[sku] = tried
        else:
            large_enough[sku] = tried
    specs = [part for tried in large_enough.values() for part in tried]
    limits = {part.sku: 1 for part in specs}
    tried_for = (1.0, max(goals)) if isinstance(service, LanguageService) else (1.0,)
    found = option_table(service, specs, limits, catalog, assumptions, knowledge, tried_for) if specs else {}
    for sku, tried in large_enough.items():
        options = tuple(option for part in tried for option in _alone(found[part.sku], part, assumptions))
        largest = found[tried[-1].sku]
        if not options and isinstance(largest, Refusal):
            answers[sku] = largest.model_copy(update={"subject": sku})
        else:
            answers[sku] = options or _too_busy(service, accelerators[sku])
    return answers


def _tried(
    service: Service,
    wholes: tuple[LoadOption, ...] | Refusal,
    parts_of: Callable[[AcceleratorSpec], Sequence[PartSpec]],
    accelerator: AcceleratorSpec,
) -> list[PartSpec] | Refusal:
    """The parts that are large enough for what the service keeps busy; or why it needs no look at them."""
    single = [option for option in wholes if isinstance(option, LoadOption) and option.gpus_per_replica == 1]
    if not single:
        return Refusal.of(
            accelerator,
            "speed",
            Message.of(noop("One replica takes more than one accelerator.")),
            load=service.name,
        )
    parts = parts_of(accelerator)
    if not parts:
        text = noop("{accelerator} cannot be divided: it has neither MIG nor MPS.")
        return Refusal.of(
            accelerator, "speed", Message.of(text, accelerator=accelerator.name), load=service.name
        )
    measured = [option for option in single if option.kind == "rate_serving"]
    busy = min((option.busy_fraction * _working(option) for option in measured), default=0)
    return [part for part in parts if part.rate_fraction >= busy] or _too_busy(service, accelerator)


def _working(option: LoadOption) -> int:
    return option.replicas - option.spare_replicas


def _too_busy(service: Service, accelerator: AcceleratorSpec) -> Refusal:
    return Refusal.of(
        accelerator,
        "speed",
        Message.of(noop("It keeps more than a part of an accelerator busy at the peak.")),
        load=service.name,
    )


def _alone(
    answer: tuple[LoadOption, ...] | Refusal, part: PartSpec, assumptions: Assumptions
) -> list[LoadOption]:
    """The options of which one part carries all, under the name of the whole accelerator."""
    if isinstance(answer, Refusal):
        return []
    fitting = [option for option in answer if _working(option) == 1]
    best = max(fitting, key=lambda option: option.capacity_factor, default=None)
    return [as_part(best, part, assumptions)] if best else []


# ── who shares ──────────────────────────────────────────────────────────────────────────────────────────────────


def shared_loads(
    wholes: Sequence[LoadOption],
    parts: Sequence[Sequence[LoadOption]],
    count: Callable[[tuple[LoadOption, ...]], int],
    below: int,
) -> tuple[LoadOption, ...] | None:
    """One option per load that together count fewer than `below`, or None.

    `wholes`: each load on whole accelerators; `parts`: its parts that carry enough, smallest first, none when it cannot
    share. As few loads share as the saving allows, on the smallest parts: see `widened`.
    """
    smallest = tuple(options[0] if options else whole for whole, options in zip(wholes, parts, strict=True))
    if sum(bool(options) for options in parts) < 2:
        return None
    least = count(smallest)
    if least >= below:
        return None
    current = smallest
    sharing = [index for index, options in enumerate(parts) if options]
    for index in sorted(sharing, key=lambda index: -parts[index][0].portion.compute_fraction):  # type: ignore[union-attr]
        trial = (*current[:index], wholes[index], *current[index + 1 :])
        if count(trial) <= least:
            current = trial
    return current


def widened(
    loads: tuple[LoadOption, ...],
    parts: Sequence[Sequence[LoadOption]],
    count: Callable[[tuple[LoadOption, ...]], int],
    most: int,
) -> tuple[LoadOption, ...]:
    """Larger parts, the load with the least headroom first, while no more than `most` are counted."""
    current, growing = loads, [index for index, load in enumerate(loads) if load.portion]
    while growing:
        index = min(growing, key=lambda index: current[index].capacity_factor)
        larger = parts[index][parts[index].index(current[index]) + 1 :]
        trial = (*current[:index], larger[0], *current[index + 1 :]) if larger else None
        if trial and count(trial) <= most:
            current = trial
        else:
            growing.remove(index)
    return current


# ── what the reader must know ───────────────────────────────────────────────────────────────────────────────────


def sharing_findings(
    loads: Sequence[LoadOption],
    tables: Sequence[OptionTable],
    accelerator: AcceleratorSpec,
    placement: Sequence[Placed],
) -> list[Finding]:
    """The risk of what is shared, and for each service that shares nothing the reason. `tables`: see `part_tables`."""
    found = []
    divided = [load for load in loads if load.portion]
    if divided and divided[0].portion:
        severity, risk, remedy = _RISKS[divided[0].portion.kind]
        found.append(_finding(severity, risk, remedy, loads=_named([load.load for load in divided])))
    for job in dict.fromkeys(row.load for row in placement if row.outside_hours):
        if _on_divided(job, placement):
            found.append(_finding(Severity.WARNING, _LIFTED, load=job))
    for load, table in zip(loads, tables, strict=False):
        if load.portion:
            continue
        answer = table.get(accelerator.sku)
        reason = answer.reason if isinstance(answer, Refusal) else Message.of(_NO_GAIN)
        text = noop("{load} has whole accelerators of its own. {reason}")
        found.append(_finding(Severity.INFO, text, load=load.load, reason=reason))
    return found


_RISKS = {
    "mps": (
        Severity.WARNING,
        noop(
            "Without walls between them (MPS) these share accelerators: {loads}. A fault in one stops the others on "
            "the same accelerator, and when all are busy they compete for memory bandwidth."
        ),
        noop("Where that is too great a risk, choose an accelerator that MIG divides, or one for each."),
    ),
    "mig": (
        Severity.INFO,
        noop(
            "Divided by the hardware (MIG) these share accelerators: {loads}. Each has memory and processors of its "
            "own; to change the division, all on that accelerator must stop."
        ),
        "",
    ),
}
_LIFTED = noop(
    "{load} needs whole accelerators outside the hours of the services: each time the division by MIG is lifted and "
    "made again, which stops all that share them."
)
_NO_GAIN = noop("Sharing would not save an accelerator here.")


def _on_divided(job: str, placement: Sequence[Placed]) -> bool:
    """Whether a job runs where MIG divides an accelerator by day."""
    divided = {(row.server, row.first) for row in placement if row.portion and row.portion.kind == "mig"}
    return any(
        (row.server, number) in divided
        for row in placement
        if row.load == job
        for number in range(row.first, row.first + row.accelerators)
    )


def _named(names: Sequence[str]) -> Message:
    *others, last = names
    said = Message.of(noop("{load}"), load=last)
    for name in reversed(others):
        said = Message.of(noop("{load}, {next}"), load=name, next=said)
    return said


def _finding(severity: Severity, text: str, remedy: str = "", **params: str | Message) -> Finding:
    return Finding(
        severity=severity,
        message=Message.of(text, **params),
        remedy=Message.of(remedy) if remedy else None,
        about="sharing",
    )
