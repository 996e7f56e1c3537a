"""Units and answers that several steps offer."""

from decimal import Decimal

from django.utils.translation import gettext_lazy as _

HOURS = {
    "hours": (_("hours"), Decimal(1)),
    "days": (_("days"), Decimal(24)),
    "weeks": (_("weeks"), Decimal(168)),
}
DATA = {
    "gb": (_("GB"), Decimal("0.001")),
    "tb": (_("TB"), Decimal(1)),
    "pb": (_("PB"), Decimal(1000)),
}
PROFILES = [
    ("office_hours", _("In office hours")),
    ("extended", _("From early till late, weekends as well")),
    ("always", _("Around the clock")),
    ("nights", _("At night")),
]
USE_PROFILES = [
    *PROFILES,
    ("seasonal", _("In office hours, with a few busy months a year")),
    ("counted", _("I have counts per hour")),
]
