"""E-mails about a quote: who gets which, in which language, and that a broken mail server harms nothing."""

from smtplib import SMTPRecipientsRefused
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.test import override_settings

from configurator.models import Draft
from quotes import services
from quotes.models import EventKind
from quotes.proposal import Proposal
from quotes.services.drafting import REQUESTS_OPEN_MAX
from tests.quotes.conftest import CONTACT

pytestmark = pytest.mark.usefixtures("english")

OFF = {"default": {"BACKEND": "django.core.mail.backends.dummy.EmailBackend"}}


def sent(action: Any, capture: Any) -> list[mail.EmailMessage]:
    mail.outbox.clear()
    with capture(execute=True):
        action()
    return list(mail.outbox)


def test_a_request_is_confirmed_to_the_customer_and_told_to_the_seller(
    make_quote: Any, seller: Any, django_capture_on_commit_callbacks: Any
) -> None:
    quotes: list[Any] = []
    messages = sent(lambda: quotes.append(make_quote(language="en")), django_capture_on_commit_callbacks)
    to_customer, to_seller = messages
    assert to_customer.to == [CONTACT["email"]]
    assert to_customer.subject == "Your request for a quote"
    assert quotes[0].get_absolute_url() in to_customer.body
    assert to_customer.reply_to == [seller.email]
    assert to_seller.to == [seller.email]
    assert f"/admin/quotes/quote/{quotes[0].pk}/" in to_seller.body
    assert quotes[0].token not in to_seller.body
    assert list(quotes[0].events.filter(kind=EventKind.MAILED).values_list("detail", flat=True)) == [
        "received",
        "requested",
    ]


def test_an_email_to_a_customer_repeats_nothing_that_a_visitor_typed(
    make_quote: Any, django_capture_on_commit_callbacks: Any
) -> None:
    typed = "Buy-cheap-pills.example"
    messages = sent(
        lambda: make_quote(organisation=typed, contact_name=typed, city=typed),
        django_capture_on_commit_callbacks,
    )
    assert messages[0].subject == "Uw offerteaanvraag"
    assert not any(typed in message.subject + message.body for message in messages)


def test_the_way_of_a_quote_in_emails(
    make_quote: Any, ada: User, django_capture_on_commit_callbacks: Any
) -> None:
    quote = make_quote("issued")
    offered = sent(lambda: services.send_link(quote, ada), django_capture_on_commit_callbacks)
    assert [message.subject for message in offered] == [f"Uw offerte {quote.full_number}"]
    agreed = sent(
        lambda: services.accept(quote, name="A. Klant", function="CIO"), django_capture_on_commit_callbacks
    )
    assert [message.subject for message in agreed] == [
        f"U hebt offerte {quote.full_number} geaccepteerd",
        f"Offerte {quote.full_number} geaccepteerd",
    ]
    declined = make_quote("issued")
    refused = sent(lambda: services.decline(declined, name="A. Klant"), django_capture_on_commit_callbacks)
    assert [message.subject for message in refused] == [f"Offerte {declined.full_number} afgewezen"]


@pytest.mark.parametrize(
    "error", [SMTPRecipientsRefused({}), ConnectionError(), UnicodeError("no such domain")]
)
def test_an_email_that_cannot_be_sent_is_an_event_and_loses_nothing(
    make_quote: Any,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
    error: Exception,
) -> None:
    def refuse(*_arguments: Any) -> int:
        raise error

    monkeypatch.setattr(EmailBackend, "send_messages", refuse)
    quotes: list[Any] = []
    assert not sent(lambda: quotes.append(make_quote()), django_capture_on_commit_callbacks)
    assert quotes[0].events.filter(kind=EventKind.NOT_MAILED).count() == 2
    assert quotes[0].status == "draft"


@override_settings(MAILERS=OFF)
def test_a_site_without_a_mail_server_says_so(make_quote: Any, ada: User) -> None:
    quote = make_quote("issued")
    with pytest.raises(services.Refused, match="sends no e-mail"):
        services.send_link(quote, ada)
    assert not quote.events.filter(kind__in=[EventKind.MAILED, EventKind.NOT_MAILED]).exists()


def test_only_an_open_quote_is_mailed(make_quote: Any, ada: User) -> None:
    for quote in (make_quote(), services.revoke_link(make_quote("issued"), ada)):
        with pytest.raises(services.Refused):
            services.send_link(quote, ada)


def test_one_plan_cannot_fill_the_shelf(seller: Any, proposal: Proposal) -> None:
    plan = Draft.objects.create()
    tier = proposal.recommended.tier  # type: ignore[union-attr]
    for turn in range(REQUESTS_OPEN_MAX):
        services.create_quote(proposal, tier, CONTACT | {"reference": str(turn)}, language="nl", draft=plan)
    with pytest.raises(services.Refused):
        services.create_quote(proposal, tier, CONTACT | {"reference": "more"}, language="nl", draft=plan)
