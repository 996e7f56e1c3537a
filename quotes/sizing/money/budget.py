"""When the budget does not reach: which single wish to relax, and by how little."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import NamedTuple

from catalog.quantity import Message, Quantity, noop
from configurator.workload import LanguageService, RateService, Workload
from quotes.sizing.trace import Finding, Severity

type PriceOf = Callable[[Workload], Decimal | None]
"""Price of the cheapest system for a workload, or None when there is none. Called at most `CALLS_MAX` times."""

CALLS_MAX = 24
STEPS = (0.9, 0.75, 0.5, 0.25)  # of today's wish, tried from the smallest concession


class Relaxed(NamedTuple):
    """A workload with one wish relaxed: `concession` is the part given up, 0–1, to compare wishes with each other."""

    workload: Workload
    concession: float
    change: Message
    about: str


def budget_advice(workload: Workload, cheapest_eur: Decimal, price_of: PriceOf | None) -> tuple[Finding, ...]:
    """What the budget does buy: the smallest single concession that brings the price within it.

    Empty when the budget reaches or was not given. When no single concession suffices, the finding says so. Without
    `price_of` no concession is weighed: the shortfall alone is told.
    """
    limit = workload.budget.max_eur
    if limit is None or cheapest_eur <= limit:
        return ()
    message = Message.of(
        noop(
            "Your budget of {budget} does not reach: the cheapest system that does what you ask costs about {price}."
        ),
        budget=Quantity(value=float(limit), unit="EUR", digits=4),
        price=Quantity(value=float(cheapest_eur), unit="EUR", digits=3),
    )
    if price_of is None:
        return (Finding(severity=Severity.WARNING, message=message, about="budget.max_eur"),)
    by_concession = sorted(relaxations(workload), key=lambda one: one.concession)
    for relaxed in by_concession[:CALLS_MAX]:
        price = price_of(relaxed.workload)
        if price is not None and price <= limit:
            remedy = Message.of(
                noop("It reaches when you {change}: about {price}."),
                change=relaxed.change,
                price=Quantity(value=float(price), unit="EUR", digits=3),
            )
            return (Finding(severity=Severity.WARNING, message=message, about=relaxed.about, remedy=remedy),)
    may_rent = workload.placement.cloud_allowed and not workload.is_confidential
    remedy = Message.of(
        noop("Giving up one wish is not enough: choose a smaller model, or rent until the budget reaches.")
        if may_rent
        else noop("Giving up one wish is not enough: choose a smaller model, or begin with fewer people.")
    )
    return (Finding(severity=Severity.WARNING, message=message, about="budget.max_eur", remedy=remedy),)


def relaxations(workload: Workload) -> Iterator[Relaxed]:
    """Every single concession worth trying."""
    for index, service in enumerate(workload.services):
        if service.availability == "n_plus_1":
            changed = service.model_copy(update={"availability": "single"})
            change = Message.of(noop("do without a spare for {load}"), load=service.name)
            yield Relaxed(
                _with_service(workload, index, changed), 0.1, change, f"services.{index}.availability"
            )
        for step in STEPS:
            percent = Quantity(value=(1 - step) * 100, unit="%", digits=2)
            if isinstance(service, RateService):
                changed = service.model_copy(update={"items_s": service.items_s * step})
                change = Message.of(
                    noop("handle {percent} less with {load}"), percent=percent, load=service.name
                )
                yield Relaxed(
                    _with_service(workload, index, changed), 1 - step, change, f"services.{index}.items_s"
                )
                continue
            yield from _relaxed_language(workload, index, service, step, percent)
    for index, job in enumerate(workload.jobs):
        for step in STEPS:
            longer = job.model_copy(update={"deadline_h": job.deadline_h / step})
            jobs = (*workload.jobs[:index], longer, *workload.jobs[index + 1 :])
            change = Message.of(
                noop("give {load} {hours} for one run"),
                load=job.name,
                hours=Quantity(value=longer.deadline_h, unit="hours", digits=2),
            )
            yield Relaxed(
                workload.model_copy(update={"jobs": jobs}), 1 - step, change, f"jobs.{index}.deadline_h"
            )


def _relaxed_language(
    workload: Workload, index: int, service: LanguageService, step: float, percent: Quantity
) -> Iterator[Relaxed]:
    fewer = service.model_copy(update={"concurrent_requests": max(1.0, service.concurrent_requests * step)})
    change = Message.of(
        noop("serve {percent} fewer people at once with {load}"), percent=percent, load=service.name
    )
    where = f"services.{index}"
    yield Relaxed(_with_service(workload, index, fewer), 1 - step, change, f"{where}.concurrent_requests")
    if service.tokens_s_per_user:
        slower = service.model_copy(update={"tokens_s_per_user": service.tokens_s_per_user * step})
        change = Message.of(noop("let {load} write {percent} slower"), percent=percent, load=service.name)
        yield Relaxed(_with_service(workload, index, slower), 1 - step, change, f"{where}.tokens_s_per_user")
    if service.ttft_p95_s:
        later = service.model_copy(update={"ttft_p95_s": service.ttft_p95_s / step})
        seconds = Quantity(value=service.ttft_p95_s / step, unit="s", digits=2)
        change = Message.of(
            noop("allow {load} {seconds} for its first word"), seconds=seconds, load=service.name
        )
        yield Relaxed(_with_service(workload, index, later), 1 - step, change, f"{where}.ttft_p95_s")


def _with_service(workload: Workload, index: int, service: LanguageService | RateService) -> Workload:
    services = (*workload.services[:index], service, *workload.services[index + 1 :])
    return workload.model_copy(update={"services": services})
