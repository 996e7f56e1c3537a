"""What do you want to do?"""

from django.utils.translation import gettext_lazy as _

from configurator.wizard.fields import ChoiceQuestion, ManyQuestion
from configurator.wizard.forms import StepForm
from configurator.wizard.presets import PRESETS
from configurator.workload import UseCase

CARDS = [(use_case.value, preset.title) for use_case, preset in PRESETS.items()]


class UseForm(StepForm):
    use_case = ChoiceQuestion(
        _("What do you want to do?"),
        CARDS,
        descriptions={use_case.value: preset.description for use_case, preset in PRESETS.items()},
        icons={use_case.value: use_case.value for use_case in PRESETS},
        help_text=_("Choose what comes closest. You can change everything later, and nothing is ordered."),
        why=_("Your choice fills in sensible values, so that you only change what is different for you."),
        can_skip=False,
    )
    what = ChoiceQuestion(
        _("What kind of model is it?"),
        [("language", _("A language model")), ("rate", _("Something else"))],
        descriptions={
            "language": _("reads and writes text or code, perhaps looks at images"),
            "rate": _("images, speech, tables, recommendations, scans, simulation"),
        },
        why=_("Language models are calculated from their structure, the others from published measurements."),
        shown_if=("use_case", frozenset({UseCase.CUSTOM})),
    )
    also = ManyQuestion(
        _("What else should the same system do?"),
        [card for card in CARDS if card[0] != UseCase.CUSTOM],
        help_text=_("Each choice gets its own two pages of questions."),
        why=_("Tasks that share a system are often cheaper together: one is busy by day, another at night."),
        optional=True,
        can_skip=False,
    )
