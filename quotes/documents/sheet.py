"""The site sheet: what a facility manager needs of one system, without a price on it."""

from datetime import date
from typing import Any, NamedTuple

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from configurator import formats
from configurator.palette import LIGHT
from quotes.document_data import IssuedDocument
from quotes.documents import drawings
from quotes.documents.context import drawn
from quotes.presentation.facts import hardware
from quotes.presentation.room import READER, room_page, watts
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.results import SizedSystem


class Sheet(NamedTuple):
    """One system, and whose it is. `number` is empty before a quote is issued."""

    language: str
    title: str
    system: SizedSystem
    assumptions: Assumptions
    made_on: date
    seller: str
    accent: str = LIGHT["accent"]
    organisation: str = ""
    number: str = ""
    country: str = "NL"


def sheet_of(document: IssuedDocument) -> Sheet:
    """The sheet of a quote, with the figures that the quote was issued with."""
    return Sheet(
        language=document.language,
        title=document.title,
        system=document.system,
        assumptions=document.proposal.assumptions,
        made_on=document.issued_on,
        seller=document.seller.trade_name,
        accent=document.seller.accent,
        organisation=document.customer.organisation,
        number=document.full_number,
        country=document.customer.address.country,
    )


def sheet_context(sheet: Sheet) -> dict[str, Any]:
    """Template context. Call it in the sheet's language."""
    build = sheet.system.candidate.system
    page = room_page(build, sheet.assumptions, sheet.country)
    power = build.power
    return {
        **page,
        "sheet": sheet,
        "stamp": sheet.made_on.isoformat(),
        "own_accent": sheet.accent if sheet.accent.lower() != LIGHT["accent"] else "",
        "running": " · ".join(filter(None, (_("Site sheet"), sheet.number, sheet.organisation))),
        "summary": _("%(servers)s: at most %(wall)s, %(daily)s in daily use; provide %(provision)s.")
        % {
            "servers": hardware(sheet.system),
            "wall": watts(power.wall_w),
            "daily": watts(power.expected_w),
            "provision": watts(power.provision_w),
        },
        "servers": _servers(sheet.system),
        "rack_drawing": drawn(page["rack_drawing"]),
        "network_drawing": drawn(SafeString(drawings.network_topology(build, READER, key="network-drawing"))),
        "findings": build.findings,
    }


def _servers(system: SizedSystem) -> str:
    """`4 × SYS-821GE-TNHR`."""
    build = system.candidate.system
    names = {line.sku: line.name for line in build.lines}
    name = names.get(build.node.server, build.node.server)
    return f"{formats.number(build.nodes)} × {name}"
