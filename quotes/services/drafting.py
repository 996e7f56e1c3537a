"""A quote in draft: made from a proposal, with lines that sales may change, and its total."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import override

from catalog.models import Article
from catalog.quantity import Message
from configurator.models import Draft
from quotes.models import EventKind, Quote, QuoteLine, QuoteStatus
from quotes.pricing.lines import PricedLine, priced
from quotes.pricing.money import cents
from quotes.pricing.vat import mode_for
from quotes.proposal import Proposal
from quotes.services.events import record
from quotes.services.frozen import frozen, thawed
from quotes.services.notices import Notice, tell_customer, tell_seller
from quotes.services.proposals import proposal_for, today
from quotes.services.refused import Refused, TooMany
from quotes.services.seller import current_seller
from quotes.sizing.results import LineRole, Tier

SAME_REQUEST = timedelta(minutes=10)
# A form that anybody may fill in must not fill the shelf, nor somebody else's mailbox.
REQUESTS_OPEN_MAX = 5  # of one plan
REQUESTS_A_DAY_MAX = 10  # of one e-mail address, which is sent a confirmation of each


@transaction.atomic
def create_quote(
    proposal: Proposal,
    tier: Tier,
    contact: Mapping[str, Any],
    *,
    language: str,
    draft: Draft | None = None,
    now: datetime | None = None,
) -> Quote:
    """A quote in draft from one of the proposals, with its lines at list price.

    `contact` holds the customer's fields of a Quote; giving it counts as consent. Asking for exactly the same within
    minutes, as a double click does, gives the quote that is there already. Raises Refused when the proposal has no
    such tier, TooMany when too many requests of its plan are open or of this address were made today, ValidationError
    when a field is wrong.
    """
    if proposal.system(tier) is None:
        raise Refused(_("This proposal is no longer there. Look at the proposals again and choose one."))
    moment = now or timezone.now()
    if draft:
        # One request of a plan at a time, so that the second half of a double click finds what the first half made.
        list(Draft.objects.select_for_update().filter(pk=draft.pk))
    kept = frozen(proposal)
    same = Quote.objects.filter(
        draft=draft,
        tier=tier.value,
        status=QuoteStatus.DRAFT,
        created_at__gt=moment - SAME_REQUEST,
        **contact,
    )
    if draft and (again := next((quote for quote in same if quote.proposal == kept), None)):
        return again
    _refuse_too_many(draft, contact.get("email", ""), moment)
    quote = Quote(
        language=language,
        title=proposal.sizing.workload.title or _no_title(language),
        draft=draft,
        tier=tier.value,
        proposal=kept,
        consented_at=moment,
        valid_until=timezone.localdate(moment) + timedelta(days=current_seller().validity_days),
        **contact,
    )
    quote.vat_mode = mode_for(quote.country).value
    quote.full_clean(exclude=["draft", "proposal"])
    quote.save()
    QuoteLine.objects.bulk_create(_rows(quote, proposal.prices[tier].lines))
    refresh_total(quote)
    record(quote, EventKind.CREATED, by=quote.contact_name)
    tell_customer(quote, Notice.RECEIVED)
    tell_seller(quote, Notice.REQUESTED)
    return quote


def _refuse_too_many(draft: Draft | None, email: str, moment: datetime) -> None:
    if draft and Quote.objects.filter(draft=draft, status=QuoteStatus.DRAFT).count() >= REQUESTS_OPEN_MAX:
        raise TooMany(
            _(
                "We have several requests of this plan that we still have to answer. Is something missing? Contact us."
            )
        )
    day = moment - timedelta(days=1)
    if draft and Quote.objects.filter(email__iexact=email, created_at__gt=day).count() >= REQUESTS_A_DAY_MAX:
        raise TooMany(
            _("We received many requests from this e-mail address today. Come back tomorrow, or contact us.")
        )


def _rows(quote: Quote, lines: Iterable[PricedLine]) -> list[QuoteLine]:
    """New rows, with the articles named in the language of the quote."""
    lines = list(lines)
    margins = _margins(line.sku for line in lines)
    return [
        QuoteLine(
            quote=quote,
            position=position,
            sku=line.sku,
            text=line.name_in(quote.language),
            role=line.role.value,
            group=line.group,
            quantity=line.quantity,
            unit_eur=line.unit_eur,
            discount_pct=line.discount_pct,
            lead_time_weeks=line.lead_time_weeks,
            demonstration=line.demonstration,
            cost_eur=_cost(line.unit_eur, margins.get(line.sku)),
        )
        for position, line in enumerate(lines, 1)
    ]


def _margins(skus: Iterable[str]) -> dict[str, Decimal]:
    """Margin in per cent by SKU, where the article has a price category."""
    return dict(
        Article.objects.filter(sku__in=set(skus), category__isnull=False).values_list(
            "sku", "category__margin_pct"
        )
    )


def _cost(unit_eur: Decimal, margin_pct: Decimal | None) -> Decimal | None:
    """What the article costs us by the margin of its category; unknown stays unknown."""
    return None if margin_pct is None else cents(unit_eur * (100 - margin_pct) / 100)


def lines_of(quote: Quote) -> tuple[list[PricedLine], list[PricedLine]]:
    """The lines in the total, and the options apart; the quote's discount comes on top of each line's own."""
    reasons, stated = _reasons(quote), _stated(quote)
    firm: list[PricedLine] = []
    options: list[PricedLine] = []
    for row in quote.lines.all():
        line = PricedLine.of(
            sku=row.sku,
            name=row.text,
            role=LineRole(row.role),
            group=row.group,
            quantity=row.quantity,
            unit_eur=row.unit_eur,
            discount_pct=together(row.discount_pct, quote.discount_pct),
            lead_time_weeks=row.lead_time_weeks,
            demonstration=row.demonstration,
            reason=reasons.get((row.sku, row.group)),
            lead_time_stated_on=stated.get((row.sku, row.lead_time_weeks)),
        )
        (options if row.optional else firm).append(line)
    return firm, options


def together(first_pct: Decimal, second_pct: Decimal) -> Decimal:
    """One discount on top of another, in per cent: 10 and 10 make 19.

    In whole hundredths, like each of the two, so that who computes with the discount that is printed gets our amount.
    """
    return cents(100 - (100 - first_pct) * (100 - second_pct) / 100)


def _reasons(quote: Quote) -> dict[tuple[str, str], Message]:
    """Why each article is on the bill: the sizing said so, and its words are kept in the frozen proposal."""
    then = quote.proposal["prices"].get(quote.tier, {"lines": ()})
    return {
        (line["sku"], line["group"]): Message.model_validate(line["reason"])
        for line in then["lines"]
        if line["reason"]
    }


def _stated(quote: Quote) -> dict[tuple[str, int | None], str | None]:
    """On which day the supplier gave the lead time of an article; sales may have changed the weeks since."""
    then = quote.proposal["prices"].get(quote.tier, {"lines": ()})
    return {(line["sku"], line["lead_time_weeks"]): line.get("lead_time_stated_on") for line in then["lines"]}


def follow_language(quote: Quote, before: str) -> list[QuoteLine]:
    """Name the lines of a draft, and the quote itself, in its new language where they had our name in that of `before`.

    Prices and quantities stay. Returns the lines whose words are not ours, which stay as they are: somebody may want to
    translate them.
    """
    named = _names(quote)
    own = []
    for row in quote.lines.all():
        names = named.get(row.sku)
        if names is None or row.text not in names.values():
            own.append(row)
        elif row.text == names[before] and row.text != names[quote.language]:
            row.text = names[quote.language]
            row.save(update_fields=["text"])
    if quote.title == _no_title(before):
        quote.title = _no_title(quote.language)
        quote.save(update_fields=["title", "updated_at"])
    return own


def _names(quote: Quote) -> dict[str, dict[str, str]]:
    """What we call each article, by SKU and language: as the proposal froze it, else as the catalog has it today."""
    then = quote.proposal["prices"].get(quote.tier, {"lines": ()})
    pairs = list(
        Article.objects.filter(sku__in=quote.lines.values("sku")).values_list("sku", "name", "name_nl")
    )
    pairs += [(line["sku"], line["name"], line.get("name_nl", "")) for line in then["lines"]]
    return {sku: {"en": name, "nl": name_nl or name} for sku, name, name_nl in pairs}


def _no_title(language: str) -> str:
    """What a quote is called whose plan has no title."""
    with override(language):
        return _("AI system")


def refresh_total(quote: Quote) -> Decimal:
    """Recompute the stored total of a draft from its lines, for lists and filters."""
    firm, _options = lines_of(quote)
    quote.net_eur = priced(firm, Decimal(0)).totals.net
    quote.save(update_fields=["net_eur", "updated_at"])
    return quote.net_eur


@transaction.atomic
def reprice(quote: Quote, by: AbstractBaseUser) -> int:
    """Size and price a draft anew, with the catalog, prices and assumptions of today. Returns how many lines differ.

    The lines of the sizing are replaced and keep their discounts; lines that sales added stay. Raises Refused when the
    quote is no draft, or when the proposal no longer exists.
    """
    quote = Quote.objects.select_for_update().get(pk=quote.pk)
    if not quote.is_editable:
        raise Refused(_("This quote has been issued and cannot change; make a new revision."))
    before = thawed(Proposal, quote.proposal)
    tier = Tier(quote.tier)
    proposal = proposal_for(before.sizing.workload)
    if proposal.system(tier) is None:
        raise Refused(
            _("Today's catalog holds no such proposal any more. Make a new plan with the customer.")
        )
    known = {(line.sku, line.group) for line in before.prices[tier].lines}
    rows = list(quote.lines.all())
    added = [row for row in rows if (row.sku, row.group) not in known]
    discounts = {(row.sku, row.group): row.discount_pct for row in rows}
    fresh = _rows(quote, proposal.prices[tier].lines)
    for row in fresh:
        row.discount_pct = discounts.get((row.sku, row.group), Decimal(0))
    quote.lines.exclude(pk__in=[row.pk for row in added]).delete()
    QuoteLine.objects.bulk_create(fresh)
    for position, row in enumerate(added, len(fresh) + 1):
        row.position = position
        row.save(update_fields=["position"])
    quote.proposal = frozen(proposal)
    quote.save()
    refresh_total(quote)
    changed = _differing([row for row in rows if row not in added], fresh)
    record(quote, EventKind.REPRICED, by=str(by), detail=str(today()))
    return changed


def _differing(before: Iterable[QuoteLine], after: Iterable[QuoteLine]) -> int:
    def counted(rows: Iterable[QuoteLine]) -> Counter[tuple[Any, ...]]:
        return Counter((row.sku, row.group, row.quantity, row.unit_eur) for row in rows)

    gone, come = counted(before) - counted(after), counted(after) - counted(before)
    return max(gone.total(), come.total())
