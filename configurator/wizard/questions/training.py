"""How much the model has to learn, within how much time and how often."""

from decimal import Decimal

from django.utils.translation import gettext_lazy as _

from configurator.wizard.fields import ChoiceQuestion
from configurator.wizard.forms import StepForm
from configurator.wizard.number_fields import AmountField, NumberField
from configurator.wizard.questions.shared import DATA, HOURS, PROFILES
from configurator.wizard.situation import Situation

RUNS = [
    ("once", _("Once")),
    ("daily", _("Every day")),
    ("weekly", _("Every week")),
    ("monthly", _("Every month")),
    ("quarterly", _("Every quarter")),
]


def _trains_language(situation: Situation) -> bool:
    return situation.is_language and situation.trains


def _trains_rate(situation: Situation) -> bool:
    return not situation.is_language and situation.trains


def epochs() -> NumberField:
    return NumberField(
        _("How many times does it go through the data?"),
        low=Decimal("0.01"),
        high=100_000,
        unit=_("times"),
        why=_("Each pass (an epoch) takes the same time again."),
    )


def deadline() -> AmountField:
    return AmountField(
        _("Within how much time must one training be done?"),
        measures=HOURS,
        low=Decimal("0.1"),
        high=24 * 366 * 3,
        why=_("Half the time is twice the GPUs."),
    )


def runs() -> ChoiceQuestion:
    return ChoiceQuestion(
        _("How often does it train?"),
        RUNS,
        why=_("For one training renting may be cheaper; for many, owning."),
    )


def window() -> ChoiceQuestion:
    return ChoiceQuestion(
        _("When may it train?"),
        PROFILES,
        why=_("Training at night can share the GPUs that serve people by day."),
    )


class LanguageTrainingForm(StepForm):
    title = _("When it learns")

    train_tokens = NumberField(
        _("How much text does it learn from?"),
        low=1,
        high=Decimal(10) ** 14,
        whole=True,
        units=("token",),
        unit=_("tokens"),
        help_text=_("You may write 20 million or 500 billion. A page is about 670 tokens."),
        why=_("Training time goes up in step with the amount of text."),
        when=_trains_language,
    )
    epochs = epochs()
    deadline = deadline()
    runs = runs()
    window = window()

    epochs.when = deadline.when = runs.when = window.when = _trains_language


class RateTrainingForm(StepForm):
    title = _("When it learns")

    train_data = AmountField(
        _("How much data does it learn from?"),
        measures={**DATA, "items": (_("examples"), Decimal(0))},
        low=Decimal("0.000001"),
        high=1_000_000,
        help_text=_("As an amount of data, or as a number of examples (images, rows, fragments)."),
        why=_("The number of examples decides the computing time, the amount of data the storage."),
        when=_trains_rate,
    )
    sample_kb = NumberField(
        _("How large is one example?"),
        low=Decimal("0.001"),
        high=100_000_000,
        unit=_("kB"),
        help_text=_("A photo is about 500 kB, a row of a table less than 1 kB."),
        why=_("It tells how many examples there are, and how fast the storage must be."),
        when=_trains_rate,
    )
    epochs = epochs()
    deadline = deadline()
    runs = runs()
    window = window()

    epochs.when = deadline.when = runs.when = window.when = _trains_rate
