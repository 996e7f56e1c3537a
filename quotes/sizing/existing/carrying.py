"""What a group of GPUs that is there already carries of one service or job, by the engine that sizes new systems."""

from collections.abc import Iterator, Sequence
from math import floor

from catalog.quantity import Message, Quantity, noop
from catalog.specs import AcceleratorSpec, CatalogSnapshot
from configurator.workload import (
    Job,
    LanguageService,
    LanguageTraining,
    RateService,
    RateTraining,
    Service,
    Workload,
)
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.existing.results import Carried, MachineLoad
from quotes.sizing.knowledge import Knowledge
from quotes.sizing.loads import STACK_NAMES, option_table
from quotes.sizing.results import LoadOption, Refusal
from quotes.sizing.serving.kernels import generation

SHARES = (1 / 64, 1 / 16, 1 / 4, 1 / 2, 1.0)
"""Parts of the demand for which the engine is asked for arrangements; the best of them decides."""
LATER = (1.25, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 48, 96)
"""Multiples of a deadline that are tried until a job is ready on the GPUs that there are."""
CAUTION = 0.97  # retried with so much less when an arrangement for a part of the demand does not come out
TRIES = 6
NOT_KNOWN = frozenset({"catalog", "evidence"})


class Bench:
    """The engine, set up to be asked about GPUs that are there: catalog, assumptions and measurements."""

    def __init__(
        self, workload: Workload, catalog: CatalogSnapshot, assumptions: Assumptions, knowledge: Knowledge
    ) -> None:
        self.workload, self.catalog = workload, catalog
        self.assumptions, self.knowledge = assumptions, knowledge
        self._known: dict[tuple[str, float | None, int, str], MachineLoad] = {}

    def carried(self, part: Service | Job, accelerator: AcceleratorSpec, gpus: int) -> MachineLoad:
        """What `gpus` GPUs in one machine carry of `part`. Raises UnknownModel."""
        key = (accelerator.sku, accelerator.memory_mib, gpus, part.name)
        if key not in self._known:
            self._known[key] = self._answer(part, accelerator, gpus)
        return self._known[key]

    def _answer(self, part: Service | Job, accelerator: AcceleratorSpec, gpus: int) -> MachineLoad:
        stack = self.workload.placement.software_stack
        if stack != "any" and stack not in accelerator.software_stack:
            text = noop("Your software needs {stack}, which this accelerator does not run.")
            return MachineLoad(
                load=part.name,
                carried=Carried.NONE,
                message=Message.of(text, stack=STACK_NAMES.get(stack, stack.upper())),
            )
        if isinstance(part, LanguageService | RateService):
            return self._service(part, accelerator, gpus)
        return self._job(part, accelerator, gpus)

    def options(
        self, part: Service | Job, accelerator: AcceleratorSpec, gpus: int, shares: Sequence[float] = (1.0,)
    ) -> tuple[LoadOption, ...] | Refusal:
        """Arrangements of `part` on this kind of GPU, `gpus` of which share a machine."""
        limited = self.assumptions.model_copy(update={"training_gpus_max": float(gpus)})
        table = option_table(
            part, (accelerator,), {accelerator.sku: gpus}, self.catalog, limited, self.knowledge, shares
        )
        return table[accelerator.sku]

    # ── services ────────────────────────────────────────────────────────────────────────────────────────────────

    def _service(
        self, part: LanguageService | RateService, accelerator: AcceleratorSpec, gpus: int
    ) -> MachineLoad:
        found = self.options(part, accelerator, gpus, SHARES)
        if isinstance(found, Refusal):
            return _refused(part, found, accelerator)
        whole = [one for one in found if one.gpus <= gpus and one.capacity_factor >= 1]
        if whole:
            option = min(whole, key=lambda one: (one.gpus, -one.capacity_factor))
            return MachineLoad(
                load=part.name,
                carried=Carried.WHOLE,
                fraction=1,
                message=_carries(part, option, 1),
                option=option,
            )
        share = max((_share(one, gpus) for one in found), default=0.0)
        for _try in range(TRIES):
            if (smaller := _less(part, share)) is None:
                break
            answer = self.options(smaller, accelerator, gpus)
            fitting = () if isinstance(answer, Refusal) else [one for one in answer if one.gpus <= gpus]
            if fitting:
                option = min(fitting, key=lambda one: (one.gpus, -one.capacity_factor))
                fraction = _of(smaller, part)
                return MachineLoad(
                    load=part.name,
                    carried=Carried.WHOLE if fraction >= 1 else Carried.PART,
                    fraction=fraction,
                    message=_carries(part, option, fraction),
                    option=option,
                )
            share *= CAUTION
        return _too_few(part, found, gpus)

    # ── jobs ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _job(
        self, part: LanguageTraining | RateTraining, accelerator: AcceleratorSpec, gpus: int
    ) -> MachineLoad:
        first = self.options(part, accelerator, gpus)
        if option := _quickest(first, gpus):
            return _run(part, option, Carried.WHOLE)
        answer = first
        for later in _later(part):
            answer = self.options(later, accelerator, gpus)
            if option := _quickest(answer, gpus):
                return _run(part, option, Carried.PART)
        return (
            _refused(part, answer, accelerator)
            if isinstance(answer, Refusal)
            else _too_few(part, answer, gpus)
        )


def _later(part: LanguageTraining | RateTraining) -> Iterator[LanguageTraining | RateTraining]:
    for factor in LATER:
        yield part.model_copy(update={"deadline_h": part.deadline_h * factor, "runs_per_month": 0})


def _quickest(found: tuple[LoadOption, ...] | Refusal, gpus: int) -> LoadOption | None:
    """The arrangement on at most `gpus` GPUs that is ready first, at the cautious end."""
    fitting = (
        []
        if isinstance(found, Refusal)
        else [one for one in found if one.gpus <= gpus and one.speed.run_hours]
    )
    return min(fitting, key=_hours, default=None)


def _hours(option: LoadOption) -> float:
    return option.speed.run_hours.high if option.speed.run_hours else float("inf")


def _share(option: LoadOption, gpus: int) -> float:
    """The part of the demand that as many copies carry as find a place, the spare ones left out."""
    working = option.replicas - option.spare_replicas
    places = gpus // option.gpus_per_replica - option.spare_replicas
    return option.capacity_factor / working * max(0, places)


def _less(part: LanguageService | RateService, share: float) -> LanguageService | RateService | None:
    """`part` with `share` of its demand; None when that is less than one request at a time."""
    if isinstance(part, RateService):
        return part.model_copy(update={"items_s": part.items_s * share}) if share > 0 else None
    requests = part.concurrent_requests * share
    requests = float(floor(requests)) if part.concurrent_requests >= 1 else requests
    return part.model_copy(update={"concurrent_requests": requests}) if requests > 0 else None


def _of(smaller: LanguageService | RateService, part: LanguageService | RateService) -> float:
    """Which part of the demand `smaller` is."""
    if isinstance(smaller, RateService) and isinstance(part, RateService):
        return min(1.0, smaller.items_s / part.items_s)
    if isinstance(smaller, LanguageService) and isinstance(part, LanguageService):
        return min(1.0, smaller.concurrent_requests / part.concurrent_requests)
    raise TypeError(type(smaller))


# ── in words ────────────────────────────────────────────────────────────────────────────────────────────────────


def gpus_of(count: int) -> Quantity:
    return Quantity(value=count, unit="GPUs", digits=4)


def amount(part: LanguageService | RateService, option: LoadOption, fraction: float = 1) -> Quantity:
    """`fraction` of the demand of a service: requests at once, or items a second."""
    if isinstance(part, LanguageService):
        return Quantity(value=part.concurrent_requests * fraction, unit="requests", digits=3)
    return Quantity(value=part.items_s * fraction, unit=option.rate_unit, digits=2)


def _carries(part: LanguageService | RateService, option: LoadOption, fraction: float) -> Message:
    language = isinstance(part, LanguageService)
    if fraction >= 1:
        text = noop("Carries all of it: {whole} at once, on {gpus}.") if language else noop(
            "Carries all of it: {whole}, on {gpus}."
        )  # fmt: skip
        return Message.of(text, whole=amount(part, option), gpus=gpus_of(option.gpus))
    text = noop("Carries a part: {part} of the {whole} at once, on {gpus}.") if language else noop(
        "Carries a part: {part} of the {whole}, on {gpus}."
    )  # fmt: skip
    return Message.of(
        text, part=amount(part, option, fraction), whole=amount(part, option), gpus=gpus_of(option.gpus)
    )


def _run(part: LanguageTraining | RateTraining, option: LoadOption, carried: Carried) -> MachineLoad:
    taken = _hours(option)
    text = (
        noop("One run is ready within {hours}, and you have {deadline}; on {gpus}.")
        if carried is Carried.WHOLE
        else noop("One run takes up to {hours}, and you have {deadline}; on {gpus}.")
    )
    fraction = 1.0 if carried is Carried.WHOLE else min(0.99, part.deadline_h / taken)
    message = Message.of(
        text,
        hours=Quantity(value=taken, unit="hours", digits=2),
        deadline=Quantity(value=part.deadline_h, unit="hours", digits=3),
        gpus=gpus_of(option.gpus),
    )
    return MachineLoad(load=part.name, carried=carried, fraction=fraction, message=message, option=option)


def _refused(part: Service | Job, refusal: Refusal, accelerator: AcceleratorSpec) -> MachineLoad:
    """No for a reason, or unknown where nothing was measured or a figure is missing."""
    if accelerator.bf16_tflops is None and isinstance(part, LanguageService | LanguageTraining):
        text = noop("{name} does not compute in BF16, as we calculate language models. So we cannot say.")
        message = Message.of(text, name=accelerator.name)
        return MachineLoad(load=part.name, carried=Carried.UNKNOWN, message=message)
    unmeasured = isinstance(part, LanguageService) and generation(accelerator) is None
    unknown = unmeasured or refusal.stage in NOT_KNOWN
    return MachineLoad(
        load=part.name,
        carried=Carried.UNKNOWN if unknown else Carried.NONE,
        message=refusal.reason,
        change=refusal.change,
    )


def _too_few(part: Service | Job, found: Sequence[LoadOption], gpus: int) -> MachineLoad:
    """The smallest arrangement takes more GPUs than there are."""
    least = min(one.gpus_per_replica * (1 + one.spare_replicas) for one in found) if found else 0
    text = noop("It takes at least {needed}, with the spare that you ask for; there are {count}.") if any(
        one.spare_replicas for one in found
    ) else noop("It takes at least {needed}; there are {count}.")  # fmt: skip
    message = Message.of(text, needed=gpus_of(max(least, gpus + 1)), count=gpus)
    return MachineLoad(load=part.name, carried=Carried.NONE, message=message)
