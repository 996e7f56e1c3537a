"""Machines with GPUs that the customer has already."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from configurator.wizard.fields import Stored, yes_no
from configurator.wizard.forms import StepForm
from configurator.wizard.gpu_fields import GpuRowsQuestion, PasteQuestion
from configurator.wizard.situation import Situation

HAS = ("has_gpus", frozenset({"yes"}))


class ExistingForm(StepForm):
    title = _("Machines you have already")

    has_gpus = yes_no(
        _("Do you have machines with GPUs already?"),
        yes=_("then we say what they can still do, and whether they are worth keeping"),
        why=_("Perhaps you need less than you think, or a machine uses more electricity than it is worth."),
        can_skip=False,
    )
    gpu_paste = PasteQuestion(
        _("What does nvidia-smi print on them?"),
        help_text=_(
            "Paste the output here, of several machines one after the other, each with its name on a line above it. "
            "Every form of nvidia-smi but XML will do; rocm-smi and amd-smi as well. We keep names of machines, and "
            "names and readings of GPUs: serial numbers, unique ids and names of programs are removed before anything "
            "is saved."
        ),
        why=_(
            "It says exactly which GPUs there are, how busy and how hot they were, and how much power they may take."
        ),
        shown_if=HAS,
    )
    gpu_rows = GpuRowsQuestion(
        _("Or choose them by hand"),
        help_text=_(
            "Also for GPUs that we do not recognise in the output: give the machine the same name as there."
        ),
        why=_("Without readings we cannot say how busy they are; what they could do we can."),
        shown_if=HAS,
    )
    count_gpus = yes_no(
        _("Shall we count them in?"),
        yes=_(
            "the new system carries only what they leave; busy machines and those not worth keeping do not count"
        ),
        no=_("the new system carries everything; we only compare"),
        why=_("Counting on old machines makes the new system smaller, and the whole depend on both."),
        can_skip=False,
        shown_if=HAS,
    )

    def __init__(
        self, situation: Situation, stored: Mapping[str, Stored], data: Any = None, *, check: bool = False
    ) -> None:
        super().__init__(situation, stored, data, check=check)
        rows = self.fields.get("gpu_rows")
        if isinstance(rows, GpuRowsQuestion):
            rows.offer(situation.catalog)
