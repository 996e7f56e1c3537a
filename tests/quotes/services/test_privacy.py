"""What is kept of a person, for how long, and that erasing leaves nothing."""

import json
from datetime import timedelta

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.utils import timezone

from configurator.models import Draft
from quotes import services
from quotes.models import Quote, QuoteStatus
from quotes.services.privacy import ERASED_EMAIL, PERSONAL
from tests.quotes.conftest import CONTACT

pytestmark = pytest.mark.usefixtures("english")

SECRETS = [
    CONTACT["organisation"],
    CONTACT["contact_name"],
    CONTACT["email"],
    CONTACT["street"],
    "Documentchat",
]


def everything_about(quote: Quote) -> str:
    """All that the database still holds of a quote, as text."""
    rows = [
        Quote.objects.filter(pk=quote.pk).values(),
        quote.events.values(),
        quote.history.values(),
        quote.papers.values("kind", "pdf"),
    ]
    return json.dumps([list(row) for row in rows], default=str, ensure_ascii=False)


@pytest.mark.parametrize("status", ["declined", "expired", "withdrawn"])
def test_erasing_leaves_nothing_of_a_person_but_numbers_and_amounts(make_quote, status: str) -> None:
    quote = make_quote(status)
    number, net, lines = quote.number, quote.net_eur, quote.lines.count()
    assert all(secret in everything_about(quote) for secret in SECRETS)
    assert services.erase_contact(CONTACT["email"].upper()) == services.Erased(stripped=1)
    text = everything_about(quote)
    assert not [secret for secret in [*SECRETS, "Jan"] if secret in text]
    quote.refresh_from_db()
    assert (quote.number, quote.net_eur, quote.lines.count()) == (number, net, lines)
    assert quote.link_revoked
    assert services.document_of(quote).net_eur == net
    assert quote.events.last().kind == "erased"


@pytest.mark.parametrize("status", ["issued", "accepted"])
def test_open_and_accepted_quotes_are_kept(make_quote, status: str) -> None:
    quote = make_quote(status)
    before = everything_about(quote)
    assert services.erase_contact(CONTACT["email"]) == services.Erased(kept=1)
    assert everything_about(quote) == before


def test_drafts_are_deleted(make_quote) -> None:
    quote = make_quote()
    history = quote.history.model
    assert services.erase_contact(CONTACT["email"]) == services.Erased(deleted=1)
    assert not Quote.objects.exists()
    assert not history.objects.exists()


def test_another_person_is_left_alone(make_quote) -> None:
    other = make_quote("declined", email="ander@example.org")
    assert services.erase_contact(CONTACT["email"]) == services.Erased()
    other.refresh_from_db()
    assert other.contact_name == CONTACT["contact_name"]


def test_the_plan_goes_with_the_person_unless_somebody_else_needs_it(make_quote) -> None:
    alone, shared = Draft.objects.create(title="Jan"), Draft.objects.create()
    for plan, email in ((alone, None), (shared, None), (shared, "piet@voorbeelddam.example")):
        quote = make_quote(**({"email": email} if email else {}))
        Quote.objects.filter(pk=quote.pk).update(draft=plan)
    services.erase_contact(CONTACT["email"])
    assert list(Draft.objects.all()) == [shared]


def test_the_log_of_the_admin_forgets_who_it_was(make_quote, ada: User) -> None:
    draft, lost = make_quote(), make_quote("declined")
    LogEntry.objects.log_actions(ada.pk, [draft, lost], CHANGE)
    assert {entry.object_repr for entry in LogEntry.objects.all()} == {str(draft), str(lost)}
    services.erase_contact(CONTACT["email"])
    assert [entry.object_repr for entry in LogEntry.objects.all()] == [lost.full_number]


def test_an_erased_quote_is_no_lead_to_others(make_quote) -> None:
    make_quote("declined")
    services.erase_contact(CONTACT["email"])
    assert not Quote.objects.exclude(email=ERASED_EMAIL).exists()


def test_export_is_what_is_kept_of_this_person_and_no_cost(make_quote) -> None:
    quote = make_quote("accepted", internal_note="Lastige klant")
    make_quote("issued", email="ander@example.org")
    exported = services.export_contact(CONTACT["email"])
    assert [row["number"] for row in exported["quotes"]] == [quote.full_number]
    assert set(exported["quotes"][0]["personal"]) == set(PERSONAL)
    text = json.dumps(exported)
    assert "ander@example.org" not in text
    assert "cost" not in text
    assert "Lastige" not in text


# status → days after which nothing of the person is left; None: never by itself
KEPT = {
    "draft": 180,
    "issued": 14 + 365,
    "declined": 365,
    "expired": 365,
    "withdrawn": 365,
    "accepted": 7 * 366,
}


@pytest.mark.parametrize("status", QuoteStatus.values)
def test_retention_by_status(make_quote, ada: User, status: str) -> None:
    quote = make_quote(status)
    first = timezone.now()
    services.purge(first + timedelta(days=KEPT[status] - 20))
    if status == "issued":  # expires first, and is kept as a lost one from then on
        quote.refresh_from_db()
        assert quote.status == "expired"
    assert Quote.objects.filter(pk=quote.pk, email=CONTACT["email"]).exists()
    services.purge(first + timedelta(days=KEPT[status] + 20 + (365 if status == "issued" else 0)))
    assert not Quote.objects.filter(email=CONTACT["email"]).exists()
    assert Quote.objects.filter(pk=quote.pk).exists() == (status != "draft")


def test_purging_twice_strips_once(make_quote) -> None:
    make_quote("declined")
    later = timezone.now() + timedelta(days=1000)
    assert services.purge(later).stripped == 1
    assert services.purge(later + timedelta(days=1000)).stripped == 0
