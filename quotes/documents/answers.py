"""What the customer asked for, in short: the appendix's list of answers and the line above each load."""

from django.utils.translation import gettext as _

from catalog.quantity import Message, Quantity, noop
from configurator import formats
from configurator.wizard.presets import load_title
from configurator.workload import (
    LanguageService,
    LanguageTraining,
    RateService,
    RateTraining,
    Workload,
)
from quotes.sizing.rates.needs import model_of

type Part = LanguageService | RateService | LanguageTraining | RateTraining


def answers(workload: Workload) -> list[tuple[str, str]]:
    """Label and value of everything that bounds the system. Call it in the reader's language."""
    rows = [
        (load_title(part.name), formats.say(asked(part))) for part in (*workload.services, *workload.jobs)
    ]
    site, growth = workload.site, workload.growth
    if site.power_available_kw is not None and "site.power_available_kw" not in workload.assumed:
        rows.append((_("Power available"), formats.quantity(site.power_available_kw, "kW", 3)))
    if workload.data.dataset_tb and "data.dataset_tb" not in workload.assumed:
        copies = formats.quantity(workload.data.copies, "×", 2)
        size = formats.quantity(workload.data.dataset_tb, "TB", 3)
        rows.append((_("Data"), f"{copies} {size}" if workload.data.copies > 1 else size))
    if growth.load_pct_per_year and "growth.load_pct_per_year" not in workload.assumed:
        rows.append((_("Growth a year"), formats.quantity(growth.load_pct_per_year, "%", 3)))
    if "growth.horizon_years" not in workload.assumed:
        rows.append((_("Horizon"), formats.quantity(growth.horizon_years, "years", 1)))
    if workload.budget.max_eur is not None:
        rows.append((_("Budget"), formats.money(workload.budget.max_eur, "round")))
    if workload.delivery.start_on is not None:
        rows.append((_("Wanted from"), formats.day(workload.delivery.start_on)))
    if workload.is_confidential:
        rows.append((_("Confidentiality"), _("the data stays in the house")))
    return rows


def asked(part: Part) -> Message:
    """One service or job in a line."""
    if isinstance(part, LanguageService):
        return Message.of(
            noop("{model}; {count} requests at once; {prompt} tokens in, {output} out"),
            model=_model(part),
            count=round(part.concurrent_requests),
            prompt=part.prompt_tokens,
            output=part.output_tokens,
        )
    if isinstance(part, LanguageTraining):
        return Message.of(
            noop("{model}; {tokens} tokens a run, within {time}"),
            model=_model(part),
            tokens=_large(part.tokens),
            time=_time(part.deadline_h),
        )
    if isinstance(part, RateService):
        known = model_of(part.model, part.domain)
        rate = Quantity(value=part.items_s, unit=known.unit if known else "items/s")
        return Message.of(noop("{model}; {rate}"), model=part.model, rate=rate)
    return Message.of(
        noop("{model}; {samples} samples, {epochs} passes, within {time}"),
        model=part.model,
        samples=_large(part.samples),
        epochs=Quantity(value=part.epochs),
        time=_time(part.deadline_h),
    )


def _large(value: float) -> Message | Quantity:
    """Millions and billions as words, because nobody counts zeros."""
    if value >= 1e9:
        return Message.of(noop("{number} billion"), number=Quantity(value=value / 1e9))
    if value >= 1e6:
        return Message.of(noop("{number} million"), number=Quantity(value=value / 1e6))
    return Quantity(value=value)


def _time(hours: float) -> Quantity:
    return Quantity(value=hours / 24, unit="days") if hours >= 72 else Quantity(value=hours, unit="hours")


def model_name(part: Part) -> str:
    """The model of a service or job, in the reader's language."""
    return formats.say(_model(part)) if isinstance(part, LanguageService | LanguageTraining) else part.model


def _model(part: LanguageService | LanguageTraining) -> Message | str:
    if part.model.architecture:
        return part.model.architecture.name
    if part.model.key:
        return part.model.key.split("/")[-1]
    return Message.of(
        noop("model of {size} billion parameters"), size=Quantity(value=part.model.params_b or 0)
    )
