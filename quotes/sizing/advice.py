"""What a careful seller would say: rules from the mistakes that buyers make, each with its reason.

A rule is a function from the chosen systems to a Finding or None; the registry is a list, in the order of weight.
"""

from collections.abc import Callable, Iterator, Sequence

from catalog.quantity import Message, Quantity, noop
from catalog.specs import AcceleratorSpec, CatalogSnapshot
from configurator.workload import (
    LanguageService,
    LanguageTraining,
    Method,
    Precision,
    RateService,
    RateTraining,
    Service,
    Workload,
)
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.candidates import is_backed, may_share
from quotes.sizing.choosing import expected_demand
from quotes.sizing.loads import STACK_NAMES
from quotes.sizing.money.renting import busy_hours_per_month
from quotes.sizing.results import LoadOption, SizedSystem, Verdict
from quotes.sizing.trace import Finding, Severity

type Rule = Callable[[Workload, SizedSystem, CatalogSnapshot, Assumptions], Finding | None]

NARROW_POWER_MARGIN = 0.9
POWER_WORTH_ASKING_W = 3000  # a single 16 A group carries less
IDLE_FRACTION = 0.3
OVERSIZED_FACTOR = 3  # times the load expected at the horizon
FAR_ABOVE_COUNTS = 5  # a peak within an hour is seldom more than this many times its average


def advice(
    workload: Workload, systems: Sequence[SizedSystem], catalog: CatalogSnapshot, assumptions: Assumptions
) -> Iterator[Finding]:
    """Findings about the recommended system, the weightiest first."""
    chosen = next((system for system in systems if system.recommended), None)
    if chosen is None:
        return
    for rule in RULES:
        found = rule(workload, chosen, catalog, assumptions)
        if found:
            yield found


def _services(system: SizedSystem) -> list[LoadOption]:
    return [load for load in system.candidate.loads if not load.kind.endswith("training")]


def unmeasured(
    workload: Workload, system: SizedSystem, catalog: CatalogSnapshot, assumptions: Assumptions
) -> Finding | None:
    """The speed rests on calculation alone. Where only the first word does, the proposal says so itself."""
    if is_backed(system.candidate.loads):
        return None
    return Finding(
        severity=Severity.WARNING,
        message=Message.of(noop("No measured runs back the speed of this system; its bounds are wide.")),
        remedy=Message.of(noop("Ask for a trial run with your own model and prompts before you order.")),
    )


def unknown_structure(
    workload: Workload, system: SizedSystem, catalog: CatalogSnapshot, assumptions: Assumptions
) -> Finding | None:
    """A config of the customer's own whose keys do not tell the whole model."""
    parts = (*workload.services, *workload.jobs)
    configs = [part.model.architecture for part in parts if not isinstance(part, RateService | RateTraining)]
    odd = next((one for one in configs if one and not one.standard_structure), None)
    if odd is None:
        return None
    return Finding(
        severity=Severity.WARNING,
        message=Message.of(
            noop(
                "The config of {model} tells of a structure that we do not know exactly: the bounds of memory and"
                " speed are wider."
            ),
            model=odd.name,
        ),
        remedy=Message.of(
            noop(
                "Compare the number of parameters with what its maker publishes, and try it before you order."
            )
        ),
    )


def tight_memory(
    workload: Workload, system: SizedSystem, catalog: CatalogSnapshot, assumptions: Assumptions
) -> Finding | None:
    if all(load.verdict is not Verdict.TIGHT for load in system.candidate.loads):
        return None
    return Finding(
        severity=Severity.WARNING,
        message=Message.of(
            noop("GPU memory is tight: a newer version of the model or longer texts may not fit.")
        ),
        remedy=Message.of(noop("The proposal with room to grow has more memory.")),
    )


def narrow_power(
    workload: Workload, system: SizedSystem, catalog: CatalogSnapshot, assumptions: Assumptions
) -> Finding | None:
    limit = workload.site.power_available_kw
    used = system.candidate.system.power.provision_w / 1000
    if limit is None or used < NARROW_POWER_MARGIN * limit:
        return None
    return Finding(
        severity=Severity.WARNING,
        message=Message.of(
            noop("The system needs {used} of the {limit} that your site has; nothing can be added."),
            used=Quantity(value=used, unit="kW", digits=2),
            limit=Quantity(value=limit, unit="kW", digits=3),
        ),
        about="site.power_available_kw",
        remedy=Message.of(noop("Ask early for more power, or plan the growth in a colocation.")),
    )


def training_beside_service(
    workload: Workload, system: SizedSystem, catalog: CatalogSnapshot, assumptions: Assumptions
) -> Finding | None:
    jobs = [load for load in system.candidate.loads if load.kind.endswith("training")]
    if not jobs or not may_share(jobs, workload):
        return None
    return Finding(
        severity=Severity.INFO,
        message=Message.of(
            noop("Training and the service share the accelerators: training runs outside the busy hours.")
        ),
        remedy=Message.of(noop("Whoever also works at night should order accelerators for training apart.")),
    )


def no_spare(
    workload: Workload, system: SizedSystem, catalog: CatalogSnapshot, assumptions: Assumptions
) -> Finding | None:
    services = _services(system)
    if not services or any(load.spare_replicas for load in services) or system.candidate.system.nodes > 1:
        return None
    return Finding(
        severity=Severity.INFO,
        message=Message.of(noop("When the server stops, the service stops. Nothing takes over.")),
        about="services.availability",
        remedy=Message.of(noop("Ask for a spare (N+1) when people cannot do without.")),
    )


def train_from_scratch(
    workload: Workload, system: SizedSystem, catalog: CatalogSnapshot, assumptions: Assumptions
) -> Finding | None:
    jobs = [job for job in workload.jobs if isinstance(job, LanguageTraining)]
    if all(job.method is not Method.PRE_TRAIN for job in jobs):
        return None
    return Finding(
        severity=Severity.INFO,
        message=Message.of(
            noop(
                "Training from scratch costs many times more than fine-tuning an open model, and needs clean data."
            )
        ),
        about="jobs.method",
        remedy=Message.of(
            noop(
                "Try fine-tuning an open model first, or a smaller or quantised one: that takes days on this hardware."
            )
        ),
    )


def oversized(
    workload: Workload, system: SizedSystem, catalog: CatalogSnapshot, assumptions: Assumptions
) -> Finding | None:
    """Far more than the load will ever ask, because accelerators or boards come in large pieces."""
    carries, demand = system.candidate.headroom_factor, expected_demand(workload)
    if not workload.services or carries < OVERSIZED_FACTOR * demand:
        return None
    return Finding(
        severity=Severity.INFO,
        message=Message.of(
            noop("This system can do {factor} today's peak; most of it will stand idle."),
            factor=Quantity(value=carries, unit="×", digits=2),
        ),
        about="services",
        remedy=Message.of(
            noop("Share it with other work, or ask us about smaller accelerators or renting.")
            if workload.placement.cloud_allowed
            else noop("Share it with other work, or ask us about smaller accelerators.")
        ),
    )


def full_precision(
    workload: Workload, system: SizedSystem, catalog: CatalogSnapshot, assumptions: Assumptions
) -> Finding | None:
    """The customer asked for 16 bits where fewer would do."""
    index = next(
        (
            index
            for index, service in enumerate(workload.services)
            if isinstance(service, LanguageService) and service.precision is Precision.BF16
        ),
        None,
    )
    if index is None:
        return None
    return Finding(
        severity=Severity.INFO,
        message=Message.of(
            noop(
                "You asked for 16 bits a weight. With 8 bits the same model takes half the memory, with 4 a quarter."
            )
        ),
        about=f"services.{index}.precision",
        remedy=Message.of(
            noop("Let us choose the precision, and test the quantised model on questions of your own.")
        ),
    )


def mostly_idle(
    workload: Workload, system: SizedSystem, catalog: CatalogSnapshot, assumptions: Assumptions
) -> Finding | None:
    """Only services that rest most of the week, and no jobs at night."""
    if workload.jobs or not workload.services:
        return None
    busiest = max(busy_hours_per_month(service, assumptions) for service in workload.services)
    hours = busiest / assumptions.hours_per_month * 168
    if hours / 168 > IDLE_FRACTION:
        return None
    return Finding(
        severity=Severity.INFO,
        message=Message.of(
            noop("The accelerators are busy {hours} of the 168 hours in a week."),
            hours=Quantity(value=hours, digits=3),
        ),
        remedy=Message.of(noop("Nights and weekends are free for fine-tuning or for batches that can wait.")),
    )


def counted_otherwise(
    workload: Workload, system: SizedSystem, catalog: CatalogSnapshot, assumptions: Assumptions
) -> Finding | None:
    """The counts per hour and the stated peak contradict each other: the system is too small, or far too large."""
    for index, service in enumerate(workload.services):
        if service.hourly_counts and (found := _against_counts(service, index, system)):
            return found
    return None


def _against_counts(service: Service, index: int, system: SizedSystem) -> Finding | None:
    """Little's law: requests a second times the seconds that each takes are in flight at once, on average."""
    most = max(service.hourly_counts)
    if isinstance(service, RateService):
        name, unit, stated, mean = "items_s", "items/s", service.items_s, most / 3600
    else:
        seconds = _seconds_of_request(service, system)
        if seconds is None:
            return None
        name, unit, stated = "concurrent_requests", "", service.concurrent_requests
        mean = most / 3600 * seconds
    severity = Severity.WARNING
    if mean > stated:
        text = noop(
            "Your busiest hour counts {most}: {mean} at once on average, more than the peak of {stated}."
        )
        remedy = noop("Raise the stated peak: the system is too small for your own counts.")
    elif mean * FAR_ABOVE_COUNTS < stated:
        severity = Severity.INFO
        text = noop(
            "Your busiest hour counts {most}: {mean} at once on average, far below the peak of {stated}."
        )
        remedy = noop("Check the stated peak: a smaller system may do.")
    else:
        return None
    return Finding(
        severity=severity,
        message=Message.of(
            text,
            most=Quantity(value=most),
            mean=Quantity(value=mean, unit=unit, digits=2),
            stated=Quantity(value=stated, unit=unit),
        ),
        about=f"services.{index}.{name}",
        remedy=Message.of(remedy),
    )


def _seconds_of_request(service: LanguageService, system: SizedSystem) -> float | None:
    """From the question to the last word at the peak."""
    load = next((load for load in system.candidate.loads if load.load == service.name), None)
    if load is None or load.speed.ttft_s is None or load.speed.tokens_s_per_user is None:
        return None
    return load.speed.ttft_s.value + service.output_tokens / load.speed.tokens_s_per_user.value


def cheaper_to_rent(
    workload: Workload, system: SizedSystem, catalog: CatalogSnapshot, assumptions: Assumptions
) -> Finding | None:
    money = system.economics
    if money is None or money.cloud_total_eur is None or money.cloud_total_eur >= money.total_eur:
        return None
    return Finding(
        severity=Severity.WARNING,
        message=Message.of(
            noop("Over {years} renting the same work costs about {rented}, owning about {owned}."),
            years=Quantity(value=money.horizon_years, unit="years", digits=1),
            rented=Quantity(value=float(money.cloud_total_eur), unit="EUR", digits=2),
            owned=Quantity(value=float(money.total_eur), unit="EUR", digits=2),
        ),
        about="placement.preference",
        remedy=Message.of(
            noop(
                "Buy when the data should stay in the house or the hardware has other work as well; else rent first."
            )
        ),
    )


def too_late(
    workload: Workload, system: SizedSystem, catalog: CatalogSnapshot, assumptions: Assumptions
) -> Finding | None:
    wished = workload.delivery.start_on
    weeks = system.candidate.system.lead_time_weeks
    if wished is None or weeks is None:
        return None
    if (wished - catalog.taken_on).days >= weeks * 7 + assumptions.commissioning_days:
        return None
    return Finding(
        severity=Severity.WARNING,
        message=Message.of(
            noop("{article} takes {weeks} to arrive: your start date is too early."),
            article=system.candidate.system.lead_time_article or Message.of(noop("The slowest part")),
            weeks=Quantity(value=weeks, unit="weeks", digits=2),
        ),
        about="delivery.start_on",
        remedy=Message.of(noop("Order now and plan a later start, or rent in the meantime.")),
    )


def no_room_to_grow(
    workload: Workload, system: SizedSystem, catalog: CatalogSnapshot, assumptions: Assumptions
) -> Finding | None:
    """The growth that the customer expects is more than the system carries."""
    years = workload.growth.horizon_years
    grown = (1 + workload.growth.load_pct_per_year / 100) ** years
    carries = system.candidate.headroom_factor
    if not workload.services or grown <= 1 or carries >= grown:
        return None
    return Finding(
        severity=Severity.INFO,
        message=Message.of(
            noop("In {years} your load is {grown} today's; this system carries {carries}."),
            years=Quantity(value=years, unit="years", digits=1),
            grown=Quantity(value=grown, unit="×", digits=2),
            carries=Quantity(value=carries, unit="×", digits=2),
        ),
        about="growth.load_pct_per_year",
        remedy=Message.of(noop("Keep rack space, power and network ports free for the next server.")),
    )


def unknown_power(
    workload: Workload, system: SizedSystem, catalog: CatalogSnapshot, assumptions: Assumptions
) -> Finding | None:
    """Nobody said what power and cooling the site has, and it matters."""
    power = system.candidate.system.power
    if workload.site.power_available_kw is not None or power.provision_w < POWER_WORTH_ASKING_W:
        return None
    return Finding(
        severity=Severity.INFO,
        message=Message.of(
            noop("Not checked: whether your site has {power} of power and removes as much heat."),
            power=Quantity(value=power.provision_w / 1000, unit="kW", digits=2),
        ),
        about="site.power_available_kw",
        remedy=Message.of(noop("Ask whoever runs the building before you order.")),
    )


def thin_interconnect(
    workload: Workload, system: SizedSystem, catalog: CatalogSnapshot, assumptions: Assumptions
) -> Finding | None:
    """A language model trained over several cards that have no link of their own."""
    accelerator = _accelerator(system, catalog)
    joined = any(load.kind == "training" and load.gpus_per_replica > 1 for load in system.candidate.loads)
    if accelerator is None or not joined or accelerator.link_max_count > 1:
        return None
    return Finding(
        severity=Severity.WARNING,
        message=Message.of(
            noop(
                "{name} has no direct link to its neighbours: training over several of them waits for PCIe."
            ),
            name=accelerator.name,
        ),
        remedy=Message.of(noop("Accelerators with NVLink or a like link train large models much faster.")),
    )


def other_software(
    workload: Workload, system: SizedSystem, catalog: CatalogSnapshot, assumptions: Assumptions
) -> Finding | None:
    """The customer did not say which software, and the accelerator does not run the usual one."""
    accelerator = _accelerator(system, catalog)
    if accelerator is None or workload.placement.software_stack != "any":
        return None
    if not accelerator.software_stack or "cuda" in accelerator.software_stack:
        return None
    return Finding(
        severity=Severity.WARNING,
        message=Message.of(
            noop("{name} runs {stack}, not CUDA."),
            name=accelerator.name,
            stack=", ".join(sorted(STACK_NAMES.get(stack, stack) for stack in accelerator.software_stack)),
        ),
        about="placement.software_stack",
        remedy=Message.of(noop("Check that every program you use runs on it before you order.")),
    )


def unprepared_data(
    workload: Workload, system: SizedSystem, catalog: CatalogSnapshot, assumptions: Assumptions
) -> Finding | None:
    if not workload.jobs:
        return None
    return Finding(
        severity=Severity.INFO,
        message=Message.of(noop("Training can start once the data is collected, cleaned and labelled.")),
        about="data.dataset_tb",
        remedy=Message.of(noop("Plan that before delivery: the system costs the same while it waits.")),
    )


def no_support(
    workload: Workload, system: SizedSystem, catalog: CatalogSnapshot, assumptions: Assumptions
) -> Finding | None:
    """Price only: support left out of a system that people depend on."""
    if workload.delivery.support != "none" or not workload.services:
        return None
    return Finding(
        severity=Severity.WARNING,
        message=Message.of(
            noop("Without a support contract a broken part stops the service until you find one.")
        ),
        about="delivery.support",
        remedy=Message.of(noop("Take next-business-day support, or keep the vital parts in stock.")),
    )


def _accelerator(system: SizedSystem, catalog: CatalogSnapshot) -> AcceleratorSpec | None:
    item = catalog.items.get(system.candidate.accelerator or "")
    return item if isinstance(item, AcceleratorSpec) else None


RULES: list[Rule] = [
    cheaper_to_rent,
    unmeasured,
    unknown_structure,
    counted_otherwise,
    tight_memory,
    narrow_power,
    unknown_power,
    thin_interconnect,
    other_software,
    no_support,
    too_late,
    no_room_to_grow,
    no_spare,
    training_beside_service,
    train_from_scratch,
    unprepared_data,
    full_precision,
    oversized,
    mostly_idle,
]
