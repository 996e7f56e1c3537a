"""The data that is kept on the system."""

from django.utils.translation import gettext_lazy as _

from configurator.wizard.fields import yes_no
from configurator.wizard.forms import StepForm
from configurator.wizard.number_fields import AmountField, NumberField
from configurator.wizard.questions.shared import DATA


class DataForm(StepForm):
    data_size = AmountField(
        _("How much data is kept on the system?"),
        measures=DATA,
        low=0,
        high=1_000_000,
        help_text=_("Documents, images, training data. The models themselves are counted by us."),
        why=_("Storage must hold it, its copies and its growth, and read it fast enough."),
    )
    confidential = yes_no(
        _("Is the data confidential?"),
        yes=_("it stays in your own house or your own rack; we never move this work to a cloud"),
        no=_("then a cloud may take over a part when that is cheaper"),
        why=_("Personal data, trade secrets and files of clients decide where it may be worked on."),
    )
    copies = NumberField(
        _("How many copies do you want to keep, the original included?"),
        low=1,
        high=10,
        whole=True,
        unit=_("copies"),
        why=_("A disk array survives a broken disk, but not a mistake or a fire."),
    )
    data_growth = NumberField(
        _("How much does the data grow per year?"),
        low=-90,
        high=1000,
        unit=_("% per year"),
        units=("%",),
        why=_("Storage should still be large enough at the end of the term."),
    )
    existing_storage = yes_no(
        _("Do you have fast storage already?"),
        yes=_("all-flash, with room and network ports to spare"),
        no=_("then storage is in the proposal"),
        why=_("GPUs that wait for data are expensive; slow storage is a common cause."),
    )
    hot_data = AmountField(
        _("How much of it is read again and again while training?"),
        measures=DATA,
        low=0,
        high=1_000_000,
        optional=True,
        help_text=_("Empty: everything that is trained on."),
        why=_("This part is kept on drives inside the servers."),
        expert=True,
        when=lambda situation: situation.any_training,
    )
