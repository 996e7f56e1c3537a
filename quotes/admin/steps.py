"""Steps in the life of a quote, as buttons on its page in the admin."""

from collections.abc import Callable
from typing import Any, NamedTuple

from django import forms
from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from quotes import services
from quotes.models import Quote, QuoteStatus

ISSUE = "quotes.issue_quote"
CHANGE = "quotes.change_quote"
WIDE = forms.TextInput({"class": "vTextField"})


class AgreedForm(forms.Form):
    """Who agreed, as it stands under the signature."""

    name = forms.CharField(label=gettext_lazy("who agreed"), max_length=120, widget=WIDE)
    function = forms.CharField(label=gettext_lazy("in which function"), max_length=120, widget=WIDE)


class LostForm(forms.Form):
    """Who said no, and why as far as known."""

    name = forms.CharField(label=gettext_lazy("who said no"), max_length=120, widget=WIDE)
    reason = forms.CharField(label=gettext_lazy("reason"), max_length=300, required=False, widget=WIDE)


class Step(NamedTuple):
    """A button on the page of a quote that asks once more and then does it."""

    title: Promise
    question: Promise
    permission: str
    allowed: Callable[[Quote], bool]
    perform: Callable[..., Any]  # the quote, who does it, and what the form holds
    done: Promise
    form: type[forms.Form] = forms.Form


def _reprice(quote: Quote, by: User) -> Quote:
    services.reprice(quote, by)
    return quote


def _agree(quote: Quote, by: User, *, name: str, function: str) -> Quote:
    return services.accept(quote, name=name, function=function, entered_by=by)


def _lose(quote: Quote, by: User, *, name: str, reason: str) -> Quote:
    return services.decline(quote, name=name, reason=reason, entered_by=by)


def _is_open(quote: Quote) -> bool:
    return quote.status == QuoteStatus.ISSUED and not quote.is_expired(timezone.now())


STEPS: dict[str, Step] = {
    "issue": Step(
        gettext_lazy("Issue"),
        gettext_lazy(
            "The quote gets its number and cannot change any more. The customer may then accept it."
        ),
        ISSUE,
        lambda quote: quote.is_editable,
        services.issue,
        gettext_lazy("%(quote)s has been issued."),
    ),
    "send": Step(
        gettext_lazy("E-mail the link"),
        gettext_lazy("The customer gets the link to this quote by e-mail."),
        ISSUE,
        lambda quote: quote.status == QuoteStatus.ISSUED and not quote.link_revoked and services.mail_is_on(),
        services.send_link,
        gettext_lazy(
            "The link of %(quote)s goes to the customer; what happened below says whether it went out."
        ),
    ),
    "agree": Step(
        gettext_lazy("Customer agreed"),
        gettext_lazy(
            "For an agreement that came in another way than by the link, such as a signed copy. It binds just as much, "
            "and the record says that you entered it."
        ),
        ISSUE,
        _is_open,
        _agree,
        gettext_lazy("%(quote)s has been accepted."),
        AgreedForm,
    ),
    "lose": Step(
        gettext_lazy("Customer declined"),
        gettext_lazy("For a refusal that came in another way than by the link. There is no way back."),
        CHANGE,
        _is_open,
        _lose,
        gettext_lazy("%(quote)s has been declined."),
        LostForm,
    ),
    "reprice": Step(
        gettext_lazy("Calculate anew"),
        gettext_lazy(
            "The system is sized and priced with today's catalog, prices and assumptions. Quantities and prices that "
            "you changed in its lines are replaced; discounts and lines that you added stay."
        ),
        CHANGE,
        lambda quote: quote.is_editable,
        _reprice,
        gettext_lazy("%(quote)s has been calculated anew."),
    ),
    "revise": Step(
        gettext_lazy("New revision"),
        gettext_lazy(
            "You get a draft under the same number. This revision stays as it is until you issue that one."
        ),
        CHANGE,
        lambda quote: (
            quote.number is not None
            and quote.status not in {QuoteStatus.DRAFT, QuoteStatus.ACCEPTED}
            and not Quote.objects.filter(supersedes=quote).exists()
        ),
        services.new_revision,
        gettext_lazy("Here is the new revision, as a draft."),
    ),
    "withdraw": Step(
        gettext_lazy("Withdraw"),
        gettext_lazy("The customer can no longer accept this quote. There is no way back."),
        CHANGE,
        lambda quote: quote.status in {QuoteStatus.DRAFT, QuoteStatus.ISSUED},
        services.withdraw,
        gettext_lazy("%(quote)s has been withdrawn."),
    ),
    "revoke": Step(
        gettext_lazy("Revoke the link"),
        gettext_lazy("The customer's link then leads nowhere."),
        CHANGE,
        lambda quote: not quote.link_revoked,
        services.revoke_link,
        gettext_lazy("The link of %(quote)s no longer works."),
    ),
    "restore": Step(
        gettext_lazy("Restore the link"),
        gettext_lazy("The customer's link works again."),
        CHANGE,
        lambda quote: quote.link_revoked,
        services.restore_link,
        gettext_lazy("The link of %(quote)s works again."),
    ),
}
