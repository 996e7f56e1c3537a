"""Owning or renting, growth, money and time."""

from django.utils.translation import gettext_lazy as _

from configurator.wizard.fields import ChoiceQuestion, DateQuestion, ManyQuestion, TextQuestion, yes_no
from configurator.wizard.forms import StepForm
from configurator.wizard.number_fields import MoneyField, NumberField


class PlanForm(StepForm):
    preference = ChoiceQuestion(
        _("Do you want to own or to rent?"),
        [
            ("own", _("Own: hardware of your own")),
            ("hybrid", _("Both: own what is always busy, rent the peaks")),
            ("cloud", _("Rent: everything in the cloud")),
            ("cheapest", _("Whatever is cheapest")),
        ],
        why=_("Owning pays when a system is busy; renting when it often stands idle."),
    )
    cloud_allowed = yes_no(
        _("May a part run in a cloud inside the European Union?"),
        why=_("Laws, contracts or your own policy may forbid it."),
    )
    growth_pct = NumberField(
        _("How much does the use grow per year?"),
        low=-90,
        high=1000,
        unit=_("% per year"),
        units=("%",),
        why=_("So that you buy a system that can grow, instead of one that is full within a year."),
    )
    horizon = ChoiceQuestion(
        _("Over how many years do you calculate?"),
        [
            ("1", _("1 year")),
            ("2", _("2 years")),
            ("3", _("3 years")),
            ("4", _("4 years")),
            ("5", _("5 years")),
        ],
        why=_("Cost and growth are compared over this term."),
    )
    budget = MoneyField(
        _("What may it cost at most?"),
        low=1,
        high=100_000_000_000,
        unit=_("€, without VAT"),
        why=_("We say what this buys, and what you would have to give up when it is not enough."),
    )
    start_on = DateQuestion(
        _("When do you want to start?"),
        why=_("Some parts take months to come; we say when you must order at the latest."),
    )
    installation = yes_no(
        _("Shall we install it?"),
        yes=_("placing, cabling, first start and test"),
        why=_("It is a line on the quote."),
    )
    support = ChoiceQuestion(
        _("Which support do you want?"),
        [
            ("nbd_3y", _("Repaired on the next working day, three years")),
            ("24x7_3y", _("Day and night, three years")),
            ("none", _("None, apart from the legal warranty")),
        ],
        why=_("Support decides how long a breakdown lasts."),
    )
    stack = ChoiceQuestion(
        _("Which software must it work with?"),
        [("any", _("Any")), ("cuda", _("CUDA (NVIDIA)")), ("rocm", _("ROCm (AMD)"))],
        why=_("Software written for CUDA does not run on every GPU without work."),
        expert=True,
    )
    vendors_excluded = ManyQuestion(
        _("Which makes should be left out?"),
        [(name, name) for name in ("NVIDIA", "AMD", "Intel")],
        why=_("Some organisations have agreements or bad experiences."),
        optional=True,
        can_skip=False,
        expert=True,
    )
    cluster_network = ChoiceQuestion(
        _("Which network may join servers that train together?"),
        [
            ("any", _("What suits the GPUs best")),
            ("infiniband", _("InfiniBand")),
            ("ethernet", _("Ethernet (RoCE)")),
        ],
        why=_("A network that your people know already is easier to manage."),
        expert=True,
    )
    title = TextQuestion(
        _("What shall we call this plan?"),
        longest=80,
        optional=True,
        can_skip=False,
        help_text=_("It is printed on the quote, for instance: Document chat for the town hall."),
        why=_("A name tells your plans and their variants apart."),
    )
