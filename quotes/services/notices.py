"""E-mails about a quote: short, in the reader's language, sent after the transaction and never in its way.

An e-mail to a customer repeats nothing that a visitor typed: whoever fills in another's address sends a fixed text.
Whether it went out is an event of the quote; a failure is seen there and loses nothing.
"""

import logging
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.core.mail import EmailMessage
from django.db import transaction
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, override

from quotes.models import EventKind, Quote, QuoteStatus
from quotes.services.events import record
from quotes.services.refused import Refused
from quotes.services.seller import current_seller

log = logging.getLogger(__name__)
NO_MAIL = "django.core.mail.backends.dummy.EmailBackend"


class Notice(StrEnum):
    RECEIVED = "received"
    OFFERED = "offered"
    AGREED = "agreed"
    REQUESTED = "requested"
    ACCEPTED = "accepted"
    DECLINED = "declined"


class _Text(NamedTuple):
    subject: Promise
    body: Promise


TO_CUSTOMER = {
    Notice.RECEIVED: _Text(
        gettext_lazy("Your request for a quote"),
        gettext_lazy(
            "We received your request. The preview and later the quote are here; keep the link to yourself:\n\n"
            "%(link)s\n\nDid you not ask for this? Then you need do nothing."
        ),
    ),
    Notice.OFFERED: _Text(
        gettext_lazy("Your quote %(number)s"),
        gettext_lazy(
            "Your quote is ready. You can read, download, accept or decline it here; keep the link to yourself:\n\n"
            "%(link)s"
        ),
    ),
    Notice.AGREED: _Text(
        gettext_lazy("You accepted quote %(number)s"),
        gettext_lazy(
            "Thank you. You accepted our quote. The document stays here:\n\n%(link)s\n\n"
            "Did you not do this? Then tell us at once."
        ),
    ),
}
TO_SELLER = {
    Notice.REQUESTED: _Text(
        gettext_lazy("New request for a quote"),
        gettext_lazy("A customer asks for a quote:\n\n%(link)s"),
    ),
    Notice.ACCEPTED: _Text(
        gettext_lazy("Quote %(number)s accepted"), gettext_lazy("The customer accepted:\n\n%(link)s")
    ),
    Notice.DECLINED: _Text(
        gettext_lazy("Quote %(number)s declined"), gettext_lazy("The customer declined:\n\n%(link)s")
    ),
}


def mail_is_on() -> bool:
    """Whether this site sends e-mail at all (see SMTP_HOST in docs/operations.md)."""
    return settings.MAILERS["default"]["BACKEND"] != NO_MAIL


def tell_customer(quote: Quote, notice: Notice) -> None:
    """Send a notice to the customer in the quote's language, once the transaction is through."""
    link = settings.SITE_URL + quote.get_absolute_url()
    _after_commit(partial(_send, quote, notice, TO_CUSTOMER[notice], quote.email, quote.language, link))


def tell_seller(quote: Quote, notice: Notice) -> None:
    """Send a notice to the seller's own address in the site's language, once the transaction is through."""
    if address := current_seller().email:
        link = settings.SITE_URL + reverse("admin:quotes_quote_change", args=[quote.pk])
        _after_commit(partial(_send, quote, notice, TO_SELLER[notice], address, settings.LANGUAGE_CODE, link))


def send_link(quote: Quote, by: AbstractBaseUser) -> Quote:
    """Mail an issued quote's link to the customer. Raises Refused when it is not open or there is no e-mail."""
    if not mail_is_on():
        raise Refused(_("This site sends no e-mail. Copy the link and send it yourself."))
    if quote.status != QuoteStatus.ISSUED or quote.link_revoked:
        raise Refused(_("This quote is not open for a decision."))
    log.info("quote %s: link mailed by user %s", quote.pk, by.pk)
    tell_customer(quote, Notice.OFFERED)
    return quote


def _after_commit(send: Callable[[], None]) -> None:
    if mail_is_on():
        transaction.on_commit(send)


def _send(quote: Quote, notice: Notice, text: _Text, to: str, language: str, link: str) -> None:
    with override(language):
        given = {"number": quote.full_number, "link": link}
        message = EmailMessage(
            subject=str(text.subject) % given,
            body=str(text.body) % given,
            to=[to],
            reply_to=[address] if (address := current_seller().email) else None,
        )
    try:
        message.send()
    # Whatever is wrong, with the server or with the address (UnicodeError, ValueError), what was done stays done.
    except Exception as error:
        log.exception(
            "quote %s: the e-mail '%s' could not be sent (%s)", quote.pk, notice, type(error).__name__
        )
        record(quote, EventKind.NOT_MAILED, detail=notice.value)
    else:
        record(quote, EventKind.MAILED, detail=notice.value)
