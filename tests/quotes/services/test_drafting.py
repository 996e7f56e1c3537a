"""Quotes in draft: lines equal groups equal totals, to the cent, whatever sales changes."""

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils import translation
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog.models import Article
from quotes import services
from quotes.models import Quote, QuoteLine
from quotes.models.quote import GROUPS, ROLES
from quotes.presentation.proposal import bill
from quotes.pricing.lines import PricedSystem
from quotes.proposal import Proposal
from quotes.services.drafting import together
from quotes.services.frozen import frozen, thawed
from quotes.sizing.results import Tier
from tests.quotes.conftest import CONTACT, sized

pytestmark = pytest.mark.usefixtures("english")

SCENARIOS = ["municipality", "university", "law-firm", "software-house"]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_quote_has_the_lines_of_its_proposal(make_quote, scenario: str) -> None:
    found = sized(scenario)
    assert found.recommended
    quote = make_quote(scenario=scenario, language="en")
    offered = thawed(PricedSystem, frozen(found.prices[found.recommended.tier]))
    kept = [line.model_copy(update={"name_nl": ""}) for line in offered.lines]  # a quote has one language
    firm, options = services.lines_of(quote)
    assert firm == kept
    assert options == []
    assert quote.net_eur == offered.totals.net
    assert services.document_of(quote).prices == offered.model_copy(update={"lines": tuple(kept)})


def test_lines_are_named_in_the_language_of_the_quote(make_quote) -> None:
    names = {line.sku: line.name for line in services.lines_of(make_quote(language="nl"))[0]}
    assert names["svc-os-install"] == "Installatie van besturingssysteem en drivers"
    assert names["h100-nvl-94gb"] == "H100 NVL 94GB"


@pytest.mark.parametrize(
    ("language", "name"), [("nl", "M.2 NVMe-opstartschijf 960 GB"), ("en", "M.2 NVMe boot 960GB")]
)
def test_articles_have_the_name_that_the_catalog_gives_them(make_quote, language: str, name: str) -> None:
    """On the proposal in the reader's language, on the quote in its own, whoever reads it."""
    found = sized("software-house")
    assert found.recommended
    with translation.override(language):
        shown = [line for group in bill(found.prices[found.recommended.tier]) for line in group.lines]
    assert {line.sku: line.name for line in shown}["m.2-nvme-boot-960gb"] == name
    quote = make_quote(scenario="software-house", language=language)
    for reader in ("nl", "en"):
        with translation.override(reader):
            shown = [line for group in bill(services.document_of(quote).prices) for line in group.lines]
        assert {line.sku: line.name for line in shown}["m.2-nvme-boot-960gb"] == name


def test_calculating_anew_takes_over_a_new_dutch_name(
    make_quote, ada: User, proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    quote = make_quote(language="nl")
    first = quote.lines.get(position=1)
    named = proposal.model_dump(mode="json")
    for line in named["prices"][quote.tier]["lines"]:
        if line["sku"] == first.sku:
            line["name_nl"] = "Server met acht kaarten"
    monkeypatch.setattr(
        "quotes.services.drafting.proposal_for", lambda workload: Proposal.model_validate(named)
    )
    assert services.reprice(quote, ada) == 0
    assert quote.lines.get(sku=first.sku, group=first.group).text == "Server met acht kaarten"


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_line_of_a_proposal_has_a_known_kind_and_group(scenario: str) -> None:
    lines = [line for price in sized(scenario).prices.values() for line in price.lines]
    assert {line.group for line in lines} <= {group for group, _label in GROUPS}
    assert {line.role.value for line in lines} <= {role for role, _label in ROLES}


def test_the_customers_words_are_checked(seller, proposal: Proposal) -> None:
    tier = proposal.sizing.systems[0].tier
    with pytest.raises(ValidationError) as error:
        services.create_quote(proposal, tier, CONTACT | {"email": "no address"}, language="nl")
    assert set(error.value.message_dict) == {"email"}
    assert not Quote.objects.exists()


def test_a_tier_that_is_not_proposed_is_refused(seller, proposal: Proposal) -> None:
    without = proposal.model_copy(update={"sizing": proposal.sizing.model_copy(update={"systems": ()})})
    with pytest.raises(services.Refused, match="no longer there"):
        services.create_quote(without, Tier.LEAN, CONTACT, language="nl")


@pytest.mark.parametrize(("country", "mode"), [("NL", "domestic"), ("DE", "eu_business"), ("US", "export")])
def test_the_country_decides_the_kind_of_vat(make_quote, seller, proposal, country: str, mode: str) -> None:
    tier = proposal.sizing.systems[0].tier
    quote = services.create_quote(proposal, tier, CONTACT | {"country": country}, language="nl")
    assert quote.vat_mode == mode


def test_costs_come_from_the_margin_of_the_articles_category(
    catalog: None, seller, proposal: Proposal
) -> None:
    tier = proposal.sizing.systems[0].tier
    quote = services.create_quote(proposal, tier, CONTACT, language="nl")
    for line in quote.lines.all():
        article = Article.objects.get(pk=line.sku)
        margin = article.category.margin_pct if article.category else None
        if margin is None:
            assert line.cost_eur is None
        else:
            exact = line.unit_eur * (100 - margin) / 100
            assert line.cost_eur == exact.quantize(Decimal("0.01"), ROUND_HALF_UP)


def test_what_a_customer_gets_holds_no_cost(catalog: None, seller, terms, proposal: Proposal) -> None:
    tier = proposal.sizing.systems[0].tier
    quote = services.create_quote(proposal, tier, CONTACT, language="nl")
    costs = {line.cost_eur for line in quote.lines.all() if line.cost_eur} - {
        line.unit_eur for line in quote.lines.all()
    }
    assert costs
    text = services.document_of(quote).model_dump_json()
    assert "cost_eur" not in text
    assert "margin_pct" not in text
    assert not [cost for cost in costs if f'"{cost}"' in text]


# ── money adds up ───────────────────────────────────────────────────────────────────────────────────────────────

cents = st.decimals(min_value=0, max_value=900_000, places=2)
percentages = st.decimals(min_value=0, max_value=100, places=2)
rows = st.lists(
    st.tuples(
        st.integers(1, 500), cents, percentages, st.booleans(), st.sampled_from([g for g, _ in GROUPS])
    ),
    min_size=1,
    max_size=12,
)


@given(rows=rows, discount=percentages)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_lines_make_groups_make_the_total(make_quote_once: Quote, rows: list[Any], discount: Decimal) -> None:
    quote = make_quote_once
    quote.lines.all().delete()
    quote.discount_pct = discount
    quote.save()
    QuoteLine.objects.bulk_create(
        QuoteLine(
            quote=quote, text="Part", sku=str(number), quantity=quantity, unit_eur=unit, discount_pct=off,
            optional=optional, group=group, role="service",
        )
        for number, (quantity, unit, off, optional, group) in enumerate(rows)
    )  # fmt: skip
    net = services.refresh_total(quote)
    document = services.document_of(quote)
    totals = document.prices.totals
    cent = Decimal("0.01")

    def printed(off: Decimal) -> Decimal:
        """The two discounts as one, as the quote shows it."""
        return (100 - (100 - off) * (100 - discount) / 100).quantize(cent, ROUND_HALF_UP)

    expected = sum(
        (
            (quantity * unit * (100 - printed(off)) / 100).quantize(cent, ROUND_HALF_UP)
            for quantity, unit, off, optional, _group in rows
            if not optional
        ),
        Decimal(0),
    )
    assert net == totals.net == expected
    assert sum((subtotal for _lines, subtotal in document.prices.groups.values()), Decimal(0)) == net
    assert totals.net + totals.vat == totals.gross
    assert len(document.options) == sum(optional for *_rest, optional, _group in rows)
    assert Quote.objects.get(pk=quote.pk).net_eur == net


@pytest.fixture
def make_quote_once(make_quote) -> Quote:
    return make_quote()


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        ("0", "0", "0"),
        ("10", "0", "10"),
        ("10", "10", "19"),
        ("100", "50", "100"),
        ("12.35", "7.77", "19.16"),
    ],
)
def test_one_discount_comes_on_top_of_the_other(first: str, second: str, both: str) -> None:
    assert together(Decimal(first), Decimal(second)) == Decimal(both)


# ── calculated anew ─────────────────────────────────────────────────────────────────────────────────────────────


def dearer(proposal: Proposal, sku: str, factor: int) -> Proposal:
    """The proposal with another price for one article."""
    prices = {}
    for tier, price in proposal.prices.items():
        lines = [
            type(line).of(**line.model_dump(exclude={"net_eur", "unit_eur"}), unit_eur=line.unit_eur * factor)
            if line.sku == sku
            else line
            for line in price.lines
        ]
        net = sum((line.net_eur for line in lines), Decimal(0))
        totals = type(price.totals).of(net, price.totals.vat_rate_pct)
        prices[tier] = price.model_copy(update={"lines": tuple(lines), "totals": totals})
    return proposal.model_copy(update={"prices": prices})


def test_a_draft_can_be_calculated_anew(
    make_quote, ada: User, proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    quote = make_quote()
    first = quote.lines.order_by("position").first()
    first.discount_pct, first.quantity = Decimal(10), 7
    first.save()
    QuoteLine.objects.create(quote=quote, text="Training", unit_eur=1000, position=99)
    monkeypatch.setattr(
        "quotes.services.drafting.proposal_for", lambda workload: dearer(proposal, first.sku, 2)
    )
    assert services.reprice(quote, ada) == 1
    quote.refresh_from_db()
    again = quote.lines.get(sku=first.sku, group=first.group)
    assert (again.unit_eur, again.quantity, again.discount_pct) == (first.unit_eur * 2, 1, 10)
    assert quote.lines.get(text="Training").unit_eur == 1000
    assert quote.lines.order_by("position").last().text == "Training"
    assert quote.net_eur == services.refresh_total(quote)
    assert quote.events.last().kind == "repriced"
    assert quote.proposal == frozen(dearer(proposal, first.sku, 2))


def test_a_proposal_that_is_gone_is_not_calculated_anew(
    make_quote, ada: User, proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = proposal.model_copy(update={"sizing": proposal.sizing.model_copy(update={"systems": ()})})
    quote = make_quote()
    monkeypatch.setattr("quotes.services.drafting.proposal_for", lambda workload: nothing)
    with pytest.raises(services.Refused, match="no such proposal"):
        services.reprice(quote, ada)


# ── previews ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_preview_has_no_number_and_needs_no_terms(make_quote, terms) -> None:
    quote = make_quote()
    type(terms).objects.all().delete()
    document = services.document_of(quote)
    assert document.is_preview
    assert document.full_number == ""
    assert document.terms.text == ""


def test_the_document_says_why_each_article_is_there(make_quote) -> None:
    document = services.document_of(make_quote())
    assert all(line.reason for line in document.prices.lines)


def test_a_line_added_by_hand_has_no_reason(make_quote) -> None:
    quote = make_quote()
    QuoteLine.objects.create(quote=quote, text="Training", unit_eur=1000, sku="by-hand")
    added = next(line for line in services.document_of(quote).prices.lines if line.name == "Training")
    assert added.reason is None
