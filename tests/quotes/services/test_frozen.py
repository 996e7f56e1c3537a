"""What an earlier version froze stays readable, or at least its PDF does."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext
from pydantic import BaseModel

from catalog.quantity import Message
from configurator.formats import say
from quotes import services
from quotes.document_data import IssuedDocument
from quotes.models import Quote
from quotes.proposal import Proposal
from quotes.services.frozen import thawed

pytestmark = pytest.mark.usefixtures("english")

COPIES = sorted((Path(__file__).parent / "frozen").glob("*.json.gz"))


@pytest.mark.parametrize("path", COPIES, ids=lambda path: path.name)
def test_every_copy_that_a_version_froze_can_be_read(path: Path) -> None:
    copy = json.loads(gzip.decompress(path.read_bytes()))
    document = thawed(IssuedDocument, copy)
    assert document.full_number == copy["number"]
    assert str(document.prices.totals.gross) == copy["prices"]["totals"]["gross"]
    assert document.system.candidate.key


def spoil(quote: Quote, change: Any) -> Quote:
    """The quote as if an earlier version had frozen it."""
    copy = json.loads(json.dumps(quote.issued_copy))
    proposal = json.loads(json.dumps(quote.proposal))
    change(copy["proposal"])
    change(proposal)
    QuerySet(Quote).filter(pk=quote.pk).update(issued_copy=copy, proposal=proposal)
    return Quote.objects.get(pk=quote.pk)


def drop_an_assumption(proposal: dict[str, Any]) -> None:
    """The earlier version had a field that this one has not."""
    proposal["assumptions"]["phase_of_the_moon"] = 0.5
    proposal["sizing"]["colour"] = "blue"


def need_a_field(proposal: dict[str, Any]) -> None:
    """The earlier version lacked a field that this one needs."""
    for system in proposal["sizing"]["systems"]:
        del system["answer"]


def messages_in(value: Any) -> Iterator[Message]:
    if isinstance(value, Message):
        yield value
    elif isinstance(value, BaseModel):
        for _name, part in value:
            yield from messages_in(part)
    elif isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from messages_in(part)


@pytest.mark.parametrize("status", ["draft", "issued"])
def test_sentences_that_were_reworded_since_stay_dutch(
    make_quote, ada: User, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither an issued quote nor a draft, nor a revision of it, turns to English when the site words things anew."""
    quote = make_quote(status)
    with translation.override("nl"):
        before = [say(message) for message in messages_in(services.document_of(quote))]
        monkeypatch.setattr(
            "configurator.formats.gettext", lambda text: text if "{" in text else gettext(text)
        )
        assert len(before) > 100
        assert [say(message) for message in messages_in(services.document_of(quote))] == before
        if status == "issued":
            again = services.issue(services.new_revision(quote, ada), ada)
            assert [say(message) for message in messages_in(services.document_of(again))] == before
    with translation.override("en"):
        first = next(messages_in(services.document_of(quote)))
        assert say(first) == say(first.model_copy(update={"text_nl": ""}))


def test_what_was_dropped_since_is_left_out(make_quote) -> None:
    quote = make_quote("issued")
    before = services.document_of(quote)
    assert services.document_of(spoil(quote, drop_an_assumption)) == before


def test_a_copy_that_cannot_be_read_still_has_its_pdf_and_its_decision(make_quote, client_of, ada) -> None:
    quote = make_quote("issued")
    pdf = services.pdf_of(quote)
    quote = spoil(quote, need_a_field)
    with pytest.raises(services.Unreadable, match="earlier version"):
        services.document_of(quote)
    client = Client()
    page = client.get(quote.get_absolute_url())
    assert page.status_code == 200
    assert reverse("quotes:pdf", args=[quote.token]) in page.content.decode()
    assert quote.terms.text in page.content.decode()
    assert client.get(reverse("quotes:pdf", args=[quote.token])).content == pdf
    assert client_of(ada).get(reverse("admin:quotes_quote_change", args=[quote.pk])).status_code == 200
    accepted = services.accept(quote, name="Jan", function="Hoofd")
    assert accepted.status == "accepted"
    assert services.pdf_of(accepted) == pdf
    assert services.export_contact(quote.email)["quotes"][0]["totals"]


def test_a_draft_of_a_proposal_that_cannot_be_read_says_so(make_quote, ada) -> None:
    quote = make_quote()
    proposal = json.loads(json.dumps(quote.proposal))
    need_a_field(proposal)
    quote.proposal = proposal
    quote.save()
    for step in (services.reprice, services.issue):
        with pytest.raises(services.Unreadable):
            step(quote, ada)


def test_thawing_gives_back_what_was_frozen(proposal: Proposal) -> None:
    assert thawed(Proposal, proposal.model_dump(mode="json")) == proposal
