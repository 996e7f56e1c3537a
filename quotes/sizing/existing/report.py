"""Each machine that the customer has: what it carries of this workload, and what to do with it."""

from collections.abc import Sequence
from functools import partial, reduce

from catalog.quantity import Message, Quantity, noop
from catalog.specs import CatalogSnapshot
from configurator.workload import (
    Domain,
    ExistingMachine,
    Job,
    LanguageService,
    RateService,
    Service,
    Workload,
)
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.existing.allotting import LEAST_SHARE, allot, settled
from quotes.sizing.existing.carrying import Bench
from quotes.sizing.existing.reading import findings_of, groups_of, held_up, readings_of, spec_of
from quotes.sizing.existing.results import (
    Carried,
    ExistingReport,
    GpuGroup,
    LoadTogether,
    MachineLoad,
    MachineReport,
    Use,
)
from quotes.sizing.knowledge import Knowledge
from quotes.sizing.loads import UnknownModel, parts
from quotes.sizing.trace import Finding, Severity

OTHER_WORK = RateService(name="embeddings", domain=Domain.EMBEDDING, model="bge-large", items_s=1)
"""What a machine is good for that carries nothing of the workload: a search index over documents."""
RANK = {Carried.WHOLE: 3, Carried.PART: 2, Carried.UNKNOWN: 1, Carried.NONE: 0}


def report_existing(
    workload: Workload, catalog: CatalogSnapshot, assumptions: Assumptions, knowledge: Knowledge
) -> ExistingReport | None:
    """What the machines of `workload` carry of it; None without machines, or when it names a model nobody knows.

    Guarantees: pure; every machine and every load has an answer. A machine is judged as if it did nothing else, on its
    working GPUs, with the engine and the assumptions that size new systems; unknown stays unknown.
    """
    if not workload.existing:
        return None
    bench = Bench(workload, catalog, assumptions, knowledge)
    try:
        machines = tuple(
            _machine(number, machine, workload, bench) for number, machine in enumerate(workload.existing, 1)
        )
    except UnknownModel:
        return None
    report = ExistingReport(
        machines=machines,
        loads=tuple(_together(part, machines) for part in parts(workload)),
        findings=tuple(_general(workload)),
    )
    return settled(report, allot(parts(workload), machines, partial(_on_groups, bench=bench)))


def _general(workload: Workload) -> list[Finding]:
    found = []
    if any(machine.pasted for machine in workload.existing):
        text = noop(
            "The readings are of one moment, and one moment is no average. Measure a week before you decide."
        )
        found.append(Finding(severity=Severity.INFO, message=Message.of(text), about="existing"))
    text = noop(
        "We judge the GPUs alone: whether processors, memory and network of these machines keep up is not looked at."
    )
    return [*found, Finding(severity=Severity.INFO, message=Message.of(text), about="existing")]


def _machine(number: int, machine: ExistingMachine, workload: Workload, bench: Bench) -> MachineReport:
    groups = groups_of(machine, bench.catalog)
    loads = tuple(_on_groups(part, groups, bench)[0] for part in parts(workload))
    readings = readings_of(machine)
    use, reason = _use(groups, loads, held_up(machine, bench.assumptions), bench)
    return MachineReport(
        number=number,
        name=machine.name,
        driver=machine.driver,
        groups=groups,
        readings=readings,
        loads=loads,
        use=use,
        reason=reason,
        findings=tuple(findings_of(machine, groups, bench.catalog, bench.assumptions)),
    )


def _on_groups(
    part: Service | Job, groups: Sequence[GpuGroup], bench: Bench
) -> tuple[MachineLoad, GpuGroup | None]:
    """The best that one group of equal GPUs does, and which; a load is never spread over kinds of GPUs."""
    answers = []
    for group in groups:
        spec = spec_of(group, bench.catalog)
        if spec is not None and group.working:
            answers.append((bench.carried(part, spec, group.working), group))
    if not answers:
        broken = any(group.sku for group in groups)
        text = noop("None of its GPUs works.") if broken else noop("We do not know its GPUs.")
        carried = Carried.NONE if broken else Carried.UNKNOWN
        return MachineLoad(load=part.name, carried=carried, message=Message.of(text)), None
    best, mine = max(answers, key=lambda one: (RANK[one[0].carried], one[0].fraction))
    if (
        len(answers) > 1 and RANK[best.carried] < RANK[Carried.PART]
    ):  # none does: each kind has its own reason
        each = [
            Message.of(
                noop("{count} × {name}: {reason}"),
                count=group.working,
                name=group.name,
                reason=answer.message,
            )
            for answer, group in answers
        ]
        told = reduce(lambda one, next: Message.of(noop("{answer} {then}"), answer=one, then=next), each)
        best = best.model_copy(update={"message": told, "change": None})
    return best, mine


# ── what to do with it ──────────────────────────────────────────────────────────────────────────────────────────


def _use(
    groups: Sequence[GpuGroup], loads: Sequence[MachineLoad], obstacle: Message | None, bench: Bench
) -> tuple[Use, Message]:
    useful = [
        one for one in loads if one.carried in {Carried.WHOLE, Carried.PART} and one.fraction >= LEAST_SHARE
    ]
    if obstacle is not None:
        return Use.BUSY, obstacle
    if useful:
        return Use.REUSE, Message.of(noop("It carries all or a part of this work."))  # `settled` says of what
    known = [group for group in groups if group.sku]
    if not known:
        return Use.UNKNOWN, Message.of(noop("We do not know its GPUs, so we cannot say."))
    unsure = any(one.carried is Carried.UNKNOWN for one in loads)
    if rate := _other_work(known, bench):
        little = noop(
            "Too little for this work. Good for lighter work: as an index for searching documents it takes in {rate}."
        )
        perhaps = noop(
            "Nobody measured this work on it. Lighter work: as an index for searching documents it takes in {rate}."
        )
        return Use.OTHER, Message.of(perhaps if unsure else little, rate=rate)
    if unsure:
        text = noop("Nothing comparable was measured, so we cannot say what it still does.")
        return Use.UNKNOWN, Message.of(text)
    return Use.RETIRE, Message.of(noop("It carries nothing of this work, nor lighter work: it can go."))


def _other_work(groups: Sequence[GpuGroup], bench: Bench) -> Quantity | None:
    """How much of lighter work the machine does, cautiously; None when nothing comparable was measured."""
    best = 0.0
    for group in groups:
        spec = spec_of(group, bench.catalog)
        found = bench.options(OTHER_WORK, spec, group.working) if spec and group.working else ()
        if isinstance(found, tuple) and found and found[0].speed.items_s_per_gpu:
            best = max(best, found[0].speed.items_s_per_gpu.low * group.working)
    return Quantity(value=best, unit="texts/s", digits=2) if best else None


# ── all machines together ───────────────────────────────────────────────────────────────────────────────────────


def _together(part: Service | Job, machines: Sequence[MachineReport]) -> LoadTogether:
    """A service may be spread over machines, each with copies of its own; a job runs on one of them.

    Machines that are held up do not count.
    """
    every = [(machine, load) for machine in machines for load in machine.loads if load.load == part.name]
    answers = [load for machine, load in every if machine.use is not Use.BUSY]
    serves = isinstance(part, LanguageService | RateService)
    fractions = [one.fraction for one in answers]
    fraction = min(1.0, sum(fractions) if serves else max(fractions, default=0.0))
    if any(one.carried is Carried.WHOLE for one in answers) or (serves and fraction >= 1):
        carried, text = Carried.WHOLE, noop("What you have carries all of {load}.")
    elif fraction > 0:
        carried = Carried.PART
        text = noop("What you have carries about {share} of {load}.") if serves else noop(
            "What you have trains {load}, but takes longer than you ask."
        )  # fmt: skip
    elif any(load.fraction > 0 for _machine, load in every):
        carried, text = Carried.NONE, noop("What you have carries nothing of {load} as busy as it is now.")
    elif any(one.carried is Carried.UNKNOWN for one in answers):
        carried, text = Carried.UNKNOWN, noop("Whether what you have carries {load} we cannot say.")
    else:
        carried, text = Carried.NONE, noop("What you have carries nothing of {load}.")
    params: dict[str, Quantity | str] = {"load": part.name}
    if carried is Carried.PART and serves:
        params["share"] = Quantity(value=min(99.0, max(1.0, fraction * 100)), unit="%", digits=2)
    return LoadTogether(
        load=part.name, carried=carried, fraction=fraction, message=Message.of(text, **params)
    )
