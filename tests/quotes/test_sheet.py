"""The site sheet: every figure a room is approved by, the same as on the page, and unknown where nobody knows."""

import re
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from catalog.quantity import Message
from configurator.workload import Site
from quotes import services
from quotes.documents.pdf import render_pdf, render_sheet
from quotes.documents.sheet import Sheet, sheet_of
from quotes.models import Quote
from quotes.presentation.room import positions, rack_table, room_facts
from quotes.sizing.hardware.checklist import checklist
from quotes.sizing.results import RackPlacement, RoomNeeds, SiteAlternative, SiteLimits, SystemBuild
from tests.quotes.samples import document, reader, words
from tests.quotes.test_views import MakePlan, make_plan  # noqa: F401
from tests.sizing.hardware import ASSUMPTIONS
from tests.sizing.test_facility import B200, cluster

FORBIDDEN = re.compile(r"None\b|\bnan\b|%\(|\{\w+\}|€")


def sheet(scenario: str = "municipality", language: Any = "nl", build: SystemBuild | None = None) -> Sheet:
    made = sheet_of(document(scenario, language))
    if build is None:
        return made
    candidate = made.system.candidate.model_copy(update={"system": build})
    return made._replace(system=made.system.model_copy(update={"candidate": candidate}))


def plain(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(("scenario", "language"), [("municipality", "nl"), ("university", "en")])
def test_every_fact_and_every_check_is_on_the_sheet(scenario: str, language: Any) -> None:
    one = sheet(scenario, language)
    printed = render_sheet(one)
    text = words(printed)
    build = one.system.candidate.system
    with translation.override(language):
        facts = [value for fact in room_facts(build, one.assumptions) for value in (fact.label, fact.value)]
    assert not [value for value in facts if plain(value) not in text]
    assert not FORBIDDEN.findall(text)
    assert not re.findall(r"\b(?:je|jij|jouw|jullie)\b", text, re.IGNORECASE)
    assert "2026-0042" in text
    catalog = reader(printed).trailer["/Root"]
    assert catalog["/MarkInfo"]["/Marked"]
    assert catalog["/Lang"] == language


def test_racks_that_differ_have_a_column_each_and_one_for_all() -> None:
    water = frozenset({"air", "rear_door"})
    build = cluster(Site(feed_amps=63, cooling=water), 16, "SYS-822GS-NBRT", B200)
    with translation.override("en"):
        table = rack_table(build)
    assert table is not None
    assert table.heads == ("Racks 1–8, each", "Rack 9", "All racks")
    rows = {row.label: row.cells for row in table.rows}
    assert plain(rows["Feeds"][0]) == "2 × (3 × 63 A)"
    assert (
        plain(rows["Outlets on each side"][0]) == "6 × C19, 1 × C13"
    )  # two servers, and the fans of the door
    assert plain(rows["Weight, filled"][0]) == "at least 436 kg"  # nobody knows what the door weighs
    assert all(len(cells) == len(table.heads) for cells in rows.values())
    each, last = [float(plain(cell).split()[0]) for cell in rows["To provide"][:2]]
    assert 8 * each + last == pytest.approx(build.power.provision_w / 1000, rel=0.01)


def test_a_technician_reads_where_each_part_stands() -> None:
    """Counted from below as the drawing is, written from above; nothing for racks that are there."""
    build = cluster(Site(feed_amps=63))
    with translation.override("en"):
        places = tuple(positions(build))
    rack = next(place.rack for place in places if "SYS-821GE" in place.parts)
    assert [(place.units, place.parts) for place in places if place.rack == rack][-1] == (
        "1–16",
        "2 × SYS-821GE-TNHR",
    )
    one = next(iter(build.racks)).model_copy(update={"own": True})
    assert not tuple(positions(build.model_copy(update={"racks": (one,)})))


def test_a_copy_from_before_the_room_was_worked_out_says_unknown() -> None:
    build = document().system.candidate.system
    kept = RackPlacement.model_fields.keys() & {
        "units_total", "items", "power_w", "weight_kg", "floor_kg_m2", "cooling",
    }  # fmt: skip
    racks = tuple(RackPlacement(**{name: getattr(rack, name) for name in kept}) for rack in build.racks)
    old = build.model_copy(update={"room": RoomNeeds(), "racks": racks})
    assert checklist(old, ASSUMPTIONS) == ()
    text = words(render_sheet(sheet(build=old)))
    assert "Voedingen en groepen onbekend" in text
    assert not FORBIDDEN.findall(text)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"heaviest_kg": None}, "weight of one server is not known"),
        ({"own_racks": True}, "free in the racks that are there"),
        ({"redundant": False}, "They carry the fullest rack"),
        ({"water_l_min": 80.0}, "a leak raises an alarm"),
        ({"noise": "closed_room"}, "nobody works in it"),
        ({"rack_height_units": 48}, "racks of 48 U pass upright"),
    ],
)
def test_the_check_list_is_made_for_the_system(changes: dict[str, Any], says: str) -> None:
    build = cluster(Site(feed_amps=63))
    changed = build.model_copy(update={"room": build.room.model_copy(update=changes)})
    assert says in " ".join(str(check) for group in checklist(changed, ASSUMPTIONS) for check in group.checks)


@pytest.mark.parametrize(
    ("expected_w", "provision_w", "rules"), [(5_000, 6_000, 0), (6_000, 8_000, 1), (400_000, 500_000, 2)]
)
def test_duties_are_named_from_their_thresholds(expected_w: float, provision_w: float, rules: int) -> None:
    build = cluster(Site(feed_amps=63))
    power = build.power.model_copy(
        update={"expected_w": expected_w, "wall_w": provision_w, "planning_w": provision_w}
    )
    groups = {
        group.title: group.checks
        for group in checklist(build.model_copy(update={"power": power}), ASSUMPTIONS)
    }
    assert len(groups.get("Rules that may apply", ())) == rules


def test_dutch_rules_are_for_the_netherlands() -> None:
    build = cluster(Site(feed_amps=63))
    power = build.power.model_copy(update={"expected_w": 400_000, "wall_w": 500_000, "planning_w": 500_000})
    large = build.model_copy(update={"power": power})
    said = {
        country: " ".join(
            str(check) for group in checklist(large, ASSUMPTIONS, country) for check in group.checks
        )
        for country in ("NL", "BE")
    }
    for rule in ("3 × 80 A", "50,000 kWh"):
        assert rule in said["NL"]
        assert rule not in said["BE"]
    assert "Directive (EU) 2023/1791" in said["BE"]


def test_what_the_limits_of_the_site_cost_is_in_the_quote() -> None:
    place = SiteAlternative(
        kind="colocation", said=Message.of("Place it elsewhere."), accelerator_name="B200", accelerators=8, nodes=1,
        price_eur=Decimal(455_633), monthly_eur=Decimal(2900), power_kw=14.5, in_speed=Message.of("No slower."),
    )  # fmt: skip
    capped = SiteAlternative(kind="power_cap", possible=False, said=Message.of("Not with a cap."))
    limits = SiteLimits(exceeded=Message.of("The floor is too weak."), alternatives=(capped, place))
    quote = document()
    sizing = quote.proposal.sizing.model_copy(update={"site_limits": limits})
    text = words(render_pdf(document(proposal=quote.proposal.model_copy(update={"sizing": sizing}))))
    for said in (
        "Wat de grenzen van de locatie kosten", "The floor is too weak.", "Not with a cap.", "In een datacenter",
        "1 server · 8 × B200", "€ 455.633, en € 2.900 per maand", "No slower.",
    ):  # fmt: skip
        assert said in text


# ── pages ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_sheet_of_a_proposal(client: Client, make_plan: MakePlan) -> None:  # noqa: F811
    plan = make_plan()
    page = client.get(reverse("quotes:proposal", args=[plan.token]))
    link = re.search(r'href="([^"]+site-sheet/[a-z_]+\.pdf)"', page.content.decode())
    assert link
    response = client.get(link[1])
    assert (response.status_code, response["Content-Type"]) == (200, "application/pdf")
    assert "no-store" in response["Cache-Control"]
    for tier in ("gold", "lean/../lean"):
        assert client.get(f"/quotes/proposal/{plan.token}/site-sheet/{tier}.pdf").status_code == 404
    assert client.get(link[1].replace(plan.token, "x" * 43)).status_code == 404


def test_the_sheet_of_a_quote(client: Client, make_quote: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Sheet] = []
    monkeypatch.setattr("quotes.services.paper._print_sheet", lambda sheet: seen.append(sheet) or b"%PDF")
    quote: Quote = make_quote("issued")
    response = client.get(reverse("quotes:sheet", args=[quote.token]))
    assert response.status_code == 200
    assert f"{quote.full_number}-site-sheet.pdf" in response["Content-Disposition"]
    assert (seen[0].number, seen[0].organisation) == (quote.full_number, quote.organisation)

    def unreadable(quote: Quote) -> None:
        raise services.Unreadable("made by an earlier version")

    monkeypatch.setattr("quotes.services.paper.document_of", unreadable)
    assert client.get(reverse("quotes:sheet", args=[quote.token])).status_code == 404


def test_a_site_that_is_too_small_hears_what_remains(client: Client, make_plan: MakePlan) -> None:  # noqa: F811
    plan = make_plan("university", site={"power_kw": "6"})
    text = plain(client.get(reverse("quotes:proposal", args=[plan.token])).content.decode())
    assert "Als de locatie te klein is" in text
    for name in ("In fasen", "Met een vermogensgrens", "In een datacenter"):
        assert name in text
    assert (
        "Niet mogelijk: zelfs bij 60\N{NARROW NO-BREAK SPACE}%"
        in client.get(reverse("quotes:proposal", args=[plan.token])).content.decode()
    )
