"""Where it will stand, and what that place can bear."""

from decimal import Decimal

from django.utils.translation import gettext_lazy as _

from configurator.wizard.fields import ChoiceQuestion, ManyQuestion, yes_no
from configurator.wizard.forms import StepForm
from configurator.wizard.number_fields import NumberField

# Amperes and phases of one feed.
FEEDS = {
    "1x16": (16, 1),
    "1x32": (32, 1),
    "3x16": (16, 3),
    "3x25": (25, 3),
    "3x32": (32, 3),
    "3x63": (63, 3),
}


class SiteForm(StepForm):
    site_kind = ChoiceQuestion(
        _("Where will it stand?"),
        [
            ("server_room", _("Own server room")),
            ("data_hall", _("Own data hall")),
            ("colocation", _("Rented space in a data centre")),
            ("edge", _("In a workshop, shop, vehicle or cabinet")),
        ],
        why=_("Power, cooling, noise and dust differ, and so does what may be put there."),
    )
    power_kw = NumberField(
        _("How much power is left there?"),
        low=Decimal("0.01"),
        high=1_000_000,
        unit="kW",
        why=_(
            "A server with eight GPUs takes 6 to 15 kW: more than many rooms have. We never propose more than fits."
        ),
    )
    cooling = ManyQuestion(
        _("Which cooling is there, or is possible?"),
        [
            ("air", _("Air")),
            ("rear_door", _("Cooled rear doors")),
            ("liquid", _("Liquid to the chips")),
        ],
        descriptions={
            "air": _("the usual way; racks stay well below the power that liquid can cool"),
            "rear_door": _("a radiator in the door of the rack"),
            "liquid": _("a loop with cooling water can be connected"),
        },
        why=_("The fastest GPUs exist with liquid cooling only, or need fewer racks with it."),
    )
    rack_units = NumberField(
        _("How many rack units are free?"),
        low=1,
        high=100_000,
        whole=True,
        unit="U",
        help_text=_("A full rack has 42 or 48. A server with eight GPUs takes 4 to 8."),
        why=_("What does not fit in the rack is not proposed, or comes with a rack of its own."),
    )
    feed = ChoiceQuestion(
        _("Which power feed does a rack have?"),
        [(key, f"{key.replace('x', ' × ')} A") for key in FEEDS],
        why=_("Amperes and phases decide how many servers go into one rack."),
    )
    feeds_redundant = yes_no(
        _("Are there two separate feeds (A and B)?"),
        yes=_("each must be able to carry everything"),
        why=_("With two feeds only half of the total can be used."),
    )
    noise = yes_no(
        _("Do people work in the same room?"),
        yes=_("then only quiet systems come into question"),
        why=_("A server with GPUs is as loud as a vacuum cleaner, all day."),
    )
    electricity = NumberField(
        _("What do you pay for electricity?"),
        low=0,
        high=10,
        unit=_("€ per kWh, without VAT"),
        units=("per kwh",),
        why=_("Over three years energy is a visible part of the total cost."),
    )
    rack_power_kw = NumberField(
        _("Largest power per rack"),
        low=Decimal("0.01"),
        high=1000,
        unit="kW",
        why=_("Cooling and feeds of one rack have their own limit."),
        expert=True,
    )
    floor_load = NumberField(
        _("Largest floor load"),
        low=1,
        high=100_000,
        unit="kg/m²",
        why=_("A full rack can weigh as much as a small car, on a square metre."),
        expert=True,
    )
    pue = NumberField(
        _("Energy overhead of the room (PUE)"),
        low=1,
        high=4,
        why=_("Cooling and losses come on top of what the servers take."),
        expert=True,
    )
