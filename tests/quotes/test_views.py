"""The pages of proposals and quotes: what they show, to whom, and that they survive anything."""

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from io import BytesIO
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl import load_workbook

from catalog.models import Price
from configurator.models import Draft
from quotes import services
from quotes.management.commands.make_demo import read_demo
from quotes.models import Quote, QuoteStatus, Seller, VatRate
from quotes.proposal import Proposal
from quotes.services.drafting import REQUESTS_OPEN_MAX
from quotes.services.frozen import frozen
from quotes.sizing.results import Tier
from tests.quotes.conftest import CONTACT

SCENARIOS = ["municipality", "factory", "university", "law-firm", "software-house"]
PLANS = {plan["scenario"]: plan["answers"] for plan in read_demo()["plans"]}
INTERNAL = ("cost_eur", "internal_note", "margin_pct", "inkoop", "marge")

type MakePlan = Callable[..., Draft]


@pytest.fixture
def make_plan(catalog: None) -> MakePlan:
    """`make_plan("factory", site={"power_kw": "1"})`: the plan of a scenario, with some answers changed."""

    def make(scenario: str = "municipality", **changes: dict[str, Any]) -> Draft:
        answers = {slug: dict(stored) for slug, stored in PLANS[scenario].items()}
        for slug, more in changes.items():
            answers.setdefault(slug.replace("_", "-"), {}).update(more)
        return Draft.objects.create(language="nl", title=scenario, answers=answers, revision=9)

    return make


@pytest.fixture
def english_client() -> Client:
    client = Client()
    client.cookies.load({"django_language": "en"})
    return client


def page(name: str, *args: Any) -> str:
    return reverse(f"quotes:{name}", args=args)


def text_of(response: HttpResponse) -> str:
    return re.sub(r"\s+", " ", response.content.decode())


def assert_private(response: HttpResponse) -> None:
    assert "no-store" in response.headers["Cache-Control"]
    assert "private" in response.headers["Cache-Control"]
    assert response.headers["X-Robots-Tag"] == "noindex, nofollow"
    policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy


def assert_nothing_internal(response: HttpResponse) -> None:
    found = [word for word in INTERNAL if word in response.content.decode(errors="ignore")]
    assert not found


# ── the living estimate ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_estimate_says_what_the_answers_come_to(english_client: Client, make_plan: MakePlan) -> None:
    draft = make_plan()
    response = english_client.get(page("estimate", draft.token), headers={"hx-request": "true"})
    body = text_of(response)
    assert response.status_code == 200
    assert_private(response)
    assert re.search(r"\d server · \d × ", body)
    assert "limited by" in body
    assert "€" in body
    assert "kW" in body
    assert '<svg class="bar' in body
    assert 'id="estimate-status"' in body
    assert 'hx-swap-oob="innerHTML"' in body  # the region stays, so that its words are read out
    assert "answers are still our assumption" in body


def test_the_estimate_counts_what_was_just_typed_and_saves_nothing(english_client: Client, make_plan) -> None:
    draft = make_plan()
    before = text_of(english_client.get(page("estimate", draft.token)))
    typed = {
        "step": "load-document-chat", "people": "3000", "at_once": "900", "prompt": "3000", "prompt_unit": "tokens",
        "output": "400", "output_unit": "tokens", "pace": "normal", "profile": "office_hours",
    }  # fmt: skip
    after = text_of(english_client.post(page("estimate", draft.token), typed))
    assert after != before
    assert text_of(english_client.get(page("estimate", draft.token))) == before


@pytest.mark.parametrize(
    ("scenario", "changes", "sentence"),
    [
        ("municipality", {"site": {"power_kw": "0.5"}}, "Nothing fits yet"),
        ("municipality", {"load_document_chat": {"at_once": {"raw": "many"}}}, "No estimate yet"),
    ],
)
def test_the_estimate_is_polite_when_there_is_none(
    english_client: Client, make_plan, scenario: str, changes: dict[str, Any], sentence: str
) -> None:
    response = english_client.get(page("estimate", make_plan(scenario, **changes).token))
    assert response.status_code == 200
    assert sentence in text_of(response)


def test_an_empty_plan_has_no_estimate(english_client: Client, catalog: None) -> None:
    draft = Draft.objects.create(language="nl")
    assert "No estimate yet" in text_of(english_client.get(page("estimate", draft.token)))


# ── the proposal ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("language", ["nl", "en"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_scenario_has_a_proposal_page(make_plan: MakePlan, scenario: str, language: str) -> None:
    client = Client()
    client.cookies.load({"django_language": language})
    draft = make_plan(scenario)
    response = client.get(page("proposal", draft.token))
    assert response.status_code == 200
    assert_private(response)
    assert_nothing_internal(response)
    found = response.context["proposal"]
    assert 1 <= len(found.sizing.systems) <= 3
    body = text_of(response)
    for system in found.sizing.systems:
        assert page("request", draft.token, system.tier) in body
    assert response.context["columns"][0].system == found.recommended
    levels = [int(level) for level in re.findall(r"<h([1-6])", body)]
    assert all(lower - upper <= 1 for upper, lower in itertools.pairwise(levels))
    assert body.count("<svg") >= 2
    assert 'id="manager"' in body
    assert 'id="engineer"' in body
    assert 'id="facility"' in body
    ids = re.findall(r'\bid="([^"]+)"', body)
    assert not [one for one, times in Counter(ids).items() if times > 1]
    assert sum(one.endswith("-split") for one in ids) == len(response.context["chosen"].splits)
    assert not re.search(r"(?<!\$)\{\w+\}|%\(\w+\)s", body)  # a start command may name ${PORT}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_accelerator_is_proposed_or_refused_with_a_reason(make_plan: MakePlan, scenario: str) -> None:
    response = Client().get(page("proposal", make_plan(scenario).token))
    shown = {row.name for stage in response.context["stages"] for row in stage.reasons}
    sizing = response.context["sizing"]
    proposed = {system.candidate.accelerator_name for system in sizing.systems}
    body = text_of(response)
    assert shown == {refusal.subject_name for refusal in sizing.refusals}
    assert not shown & proposed
    for stage in response.context["stages"]:  # each reason is told once, with everyone it holds for
        told = [(str(row.reason), str(row.change)) for row in stage.alike]
        assert len(set(told)) == len(told)
        assert Counter(name for row in stage.alike for name in row.names) == Counter(
            row.name for row in stage.reasons
        )
    assert all(name.replace("'", "&#x27;") in body for name in shown | proposed)


def test_another_proposal_can_be_looked_at_in_full(english_client: Client, make_plan: MakePlan) -> None:
    draft = make_plan()
    first = english_client.get(page("proposal", draft.token))
    assert first.context["chosen"] == first.context["recommended"]
    other = next(system for system in first.context["sizing"].systems if not system.recommended)
    second = english_client.get(page("proposal", draft.token), {"tier": other.tier.value})
    assert second.context["chosen"] == other
    assert second.context["recommended"] == first.context["recommended"]
    odd = english_client.get(page("proposal", draft.token), {"tier": "golden"})
    assert odd.context["chosen"] == first.context["recommended"]


def test_what_differs_between_proposals_is_bold(english_client: Client, make_plan: MakePlan) -> None:
    columns = english_client.get(page("proposal", make_plan().token)).context["columns"]
    for facts in zip(*(column.facts for column in columns), strict=True):
        assert len({fact.label for fact in facts}) == 1
        assert all(fact.differs for fact in facts) == (len({fact.value for fact in facts}) > 1)


def test_an_impossible_plan_explains_itself(english_client: Client, make_plan: MakePlan) -> None:
    response = english_client.get(page("proposal", make_plan(site={"power_kw": "0.5"}).token))
    body = text_of(response)
    assert response.status_code == 200
    assert "No system in the catalog does all of what you ask" in body
    assert "Request a quote" not in body
    assert response.context["stages"]


def test_a_plan_with_a_mistake_leads_back_to_it(english_client: Client, make_plan: MakePlan) -> None:
    draft = make_plan(load_document_chat={"at_once": {"raw": "many"}})
    response = english_client.get(page("proposal", draft.token))
    assert response.headers["Location"] == reverse("wizard:step", args=[draft.token, "check"])


def test_the_page_speaks_the_plans_language_until_the_visitor_chooses(make_plan: MakePlan) -> None:
    draft = make_plan()
    draft.language = "en"
    draft.save()
    assert 'lang="en"' in text_of(Client().get(page("proposal", draft.token)))


def test_the_proposal_as_data_is_the_whole_proposal(english_client: Client, make_plan: MakePlan) -> None:
    response = english_client.get(page("proposal_json", make_plan().token))
    assert response.headers["Content-Type"] == "application/json"
    found = Proposal.model_validate_json(response.content)
    assert len(found.sizing.systems) == 3
    assert_nothing_internal(response)
    assert_private(response)


def test_without_a_vat_rate_the_visitor_gets_a_page_and_staff_the_reason(
    english_client: Client, make_plan: MakePlan, client_of, ada
) -> None:
    VatRate.objects.all().delete()
    draft = make_plan()
    for name in ("proposal", "proposal_json", "estimate"):
        response = english_client.get(page(name, draft.token))
        assert response.status_code == 503
        assert "VAT" not in text_of(response)
    staff = client_of(ada)
    staff.cookies.load({"django_language": "en"})
    assert "There is no VAT rate" in text_of(staff.get(page("proposal", draft.token)))


# ── asking for a quote ──────────────────────────────────────────────────────────────────────────────────────────

FILLED = {**CONTACT, "country": "NL", "consent": "on"}


def ask(client: Client, draft: Draft, **changes: Any) -> HttpResponse:
    return client.post(page("request", draft.token, "lean"), {**FILLED, **changes})


def test_who_asks_gets_a_preview_at_once(english_client: Client, make_plan: MakePlan, seller, terms) -> None:
    draft = make_plan()
    assert english_client.get(page("request", draft.token, "lean")).status_code == 200
    response = ask(english_client, draft, customer_note="Kan het ook in mei?")
    quote = Quote.objects.get()
    assert response.headers["Location"] == quote.get_absolute_url()
    assert (quote.status, quote.language, quote.draft, quote.tier) == ("draft", "en", draft, "lean")
    assert quote.customer_note == "Kan het ook in mei?"
    shown = english_client.get(quote.get_absolute_url())
    assert "This is a preview" in text_of(shown)
    assert_private(shown)
    assert_nothing_internal(shown)
    pdf = english_client.get(page("pdf", quote.token))
    assert pdf.headers["Content-Type"] == "application/pdf"
    assert pdf.content.startswith(b"%PDF-")
    assert_private(pdf)


def test_too_many_open_requests_of_a_plan_are_answered_in_words(
    english_client: Client, make_plan: MakePlan, seller, terms
) -> None:
    draft = make_plan()
    for turn in range(REQUESTS_OPEN_MAX):
        assert ask(english_client, draft, reference=str(turn)).status_code == 302
    response = ask(english_client, draft, reference="one more")
    assert response.status_code == 429
    assert "several requests of this plan" in text_of(response)
    assert Quote.objects.count() == REQUESTS_OPEN_MAX


def test_one_address_is_not_flooded_from_many_plans(
    english_client: Client, make_plan: MakePlan, make_quote, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quotes.services.drafting.REQUESTS_A_DAY_MAX", 2)
    old, _recent = make_quote(), make_quote()
    response = ask(english_client, make_plan(), email=CONTACT["email"].upper())
    assert response.status_code == 429
    assert "many requests from this e-mail address" in text_of(response)
    Quote.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(hours=25))
    assert ask(english_client, make_plan()).status_code == 302


def test_the_quote_keeps_the_proposal_that_was_seen(english_client: Client, make_plan, seller, terms) -> None:
    draft = make_plan()
    seen = english_client.get(page("proposal", draft.token)).context["proposal"]
    ask(english_client, draft)
    quote = Quote.objects.get()
    assert quote.proposal == frozen(seen)  # as it was, with the Dutch of its sentences
    assert quote.net_eur == seen.prices[Tier.LEAN].totals.net


def test_a_double_click_asks_once(english_client: Client, make_plan: MakePlan, seller, terms) -> None:
    draft = make_plan()
    first, second = ask(english_client, draft), ask(english_client, draft)
    assert first.headers["Location"] == second.headers["Location"]
    ask(english_client, draft, reference="another")
    ask(english_client, make_plan())
    assert Quote.objects.count() == 3


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"consent": ""}, "consent"),
        ({"organisation": ""}, "organisation"),
        ({"contact_name": " "}, "contact_name"),
        ({"contact_name": "\N{ZERO WIDTH SPACE}"}, "contact_name"),
        ({"email": "nobody"}, "email"),
        ({"country": "XX"}, "country"),
        ({"country": ""}, "country"),
        ({"kvk_number": "123"}, "kvk_number"),
        ({"country": "DE"}, "vat_id"),
        ({"country": "DE", "vat_id": "NL123456782B01"}, "vat_id"),
        ({"organisation": "x" * 121}, "organisation"),
    ],
)
def test_a_mistake_in_the_form_is_said_and_makes_no_quote(
    english_client: Client, make_plan: MakePlan, changes: dict[str, str], field: str
) -> None:
    response = ask(english_client, make_plan(), **changes)
    assert response.status_code == 422
    assert set(response.context["form"].errors) == {field}
    assert 'class="error-summary"' in text_of(response)
    assert not Quote.objects.exists()


def test_names_turn_no_line_of_a_quote_around(english_client: Client, make_plan, seller, terms) -> None:
    ask(
        english_client,
        make_plan(),
        organisation="\N{RIGHT-TO-LEFT OVERRIDE}Example",
        contact_name="Jan\N{WORD JOINER} é",
    )
    quote = Quote.objects.get()
    assert (quote.organisation, quote.contact_name) == ("Example", "Jan é")


def test_a_business_elsewhere_gets_its_own_kind_of_vat(
    english_client: Client, make_plan, seller, terms
) -> None:
    ask(english_client, make_plan(), country="DE", vat_id="de 123456789")
    quote = Quote.objects.get()
    assert (quote.vat_id, quote.vat_mode) == ("DE123456789", "eu_business")
    assert services.document_of(quote).prices.totals.vat == 0


@pytest.mark.parametrize("tier", ["golden", "lean2", "LEAN"])
def test_a_tier_that_does_not_exist_leads_to_the_proposals(
    english_client: Client, make_plan, tier: str
) -> None:
    draft = make_plan()
    response = english_client.get(page("request", draft.token, tier))
    assert response.headers["Location"] == page("proposal", draft.token)


# ── the customer's page of a quote ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("status", QuoteStatus.values)
def test_the_page_of_a_quote_in_every_status(make_quote, english_client: Client, status: str) -> None:
    quote = make_quote(status)
    response = english_client.get(quote.get_absolute_url())
    body = text_of(response)
    assert response.status_code == 200
    assert_private(response)
    assert_nothing_internal(response)
    assert (page("accept", quote.token) in body) == (status == "issued")
    assert (page("decline", quote.token) in body) == (status == "issued")
    assert quote.full_number in body


@pytest.mark.parametrize("status", ["draft", "issued", "accepted"])
def test_the_price_table_as_a_spreadsheet_has_the_lines(
    make_quote, english_client: Client, status: str
) -> None:
    quote = make_quote(status)
    response = english_client.get(page("xlsx", quote.token))
    assert_private(response)
    sheet = load_workbook(BytesIO(response.content)).active
    cells = {cell.value for row in sheet.iter_rows() for cell in row}
    assert set(quote.lines.values_list("quantity", flat=True)) <= cells
    text = " ".join(str(value) for value in cells)
    assert not [word for word in INTERNAL if word in text]
    assert (quote.full_number in text) or status == "draft"


def test_terms_stand_above_the_button_that_agrees_to_them(make_quote, english_client: Client, terms) -> None:
    body = text_of(english_client.get(make_quote("issued").get_absolute_url()))
    assert body.index(terms.text) < body.index(terms.sha256) < body.index('name="accept-terms"')


def test_a_customer_accepts(make_quote, english_client: Client) -> None:
    quote = make_quote("issued")
    given = {"accept-name": "Jan de Vries", "accept-function": "Hoofd ICT", "accept-terms": "on"}
    response = english_client.post(page("accept", quote.token), given)
    assert response.headers["Location"] == quote.get_absolute_url()
    quote.refresh_from_db()
    assert (quote.status, quote.decided_by, quote.decided_function) == (
        "accepted",
        "Jan de Vries",
        "Hoofd ICT",
    )
    body = text_of(english_client.get(quote.get_absolute_url()))
    assert "Jan de Vries (Hoofd ICT) accepted this quote" in body
    assert english_client.get(page("pdf", quote.token)).content.endswith(b"Jan de Vries")


@pytest.mark.parametrize("missing", ["accept-name", "accept-function", "accept-terms"])
def test_accepting_asks_for_everything(make_quote, english_client: Client, missing: str) -> None:
    quote = make_quote("issued")
    given = {"accept-name": "Jan", "accept-function": "Hoofd", "accept-terms": "on"}
    response = english_client.post(page("accept", quote.token), {**given, missing: ""})
    assert response.status_code == 422
    assert set(response.context["accept_form"].errors) == {missing.removeprefix("accept-")}
    quote.refresh_from_db()
    assert quote.status == "issued"


def test_a_customer_declines(make_quote, english_client: Client) -> None:
    quote = make_quote("issued")
    english_client.post(page("decline", quote.token), {"decline-name": "Jan", "decline-reason": "Te duur"})
    quote.refresh_from_db()
    assert (quote.status, quote.decided_by, quote.decline_reason) == ("declined", "Jan", "Te duur")


@pytest.mark.parametrize("status", [status for status in QuoteStatus.values if status != "issued"])
@pytest.mark.parametrize("step", ["accept", "decline"])
def test_only_an_open_quote_can_be_decided_on(
    make_quote, english_client: Client, status: str, step: str
) -> None:
    quote = make_quote(status)
    given = {f"{step}-name": "Piet", f"{step}-function": "Hoofd", f"{step}-terms": "on"}
    response = english_client.post(page(step, quote.token), given)
    assert response.status_code == 422
    assert response.context["problem"]
    quote.refresh_from_db()
    assert quote.status == status
    assert quote.decided_by != "Piet"


def test_the_day_after_its_validity_a_quote_says_so(
    make_quote, english_client: Client, time_machine_at
) -> None:
    quote = make_quote("issued")
    time_machine_at(quote.valid_until + timedelta(days=1))
    response = english_client.get(quote.get_absolute_url())
    assert response.context["status"] == "expired"
    given = {"accept-name": "Jan", "accept-function": "Hoofd", "accept-terms": "on"}
    refused = english_client.post(page("accept", quote.token), given)
    assert "This quote has expired" in text_of(refused)


@pytest.fixture
def time_machine_at() -> Any:
    import time_machine  # noqa: PLC0415 (a plugin of pytest would travel in every test)

    travellers = []

    def travel(day: Any) -> None:
        traveller = time_machine.travel(
            timezone.make_aware(timezone.datetime.combine(day, timezone.datetime.min.time()))
        )
        traveller.start()
        travellers.append(traveller)

    yield travel
    for traveller in travellers:
        traveller.stop()


def test_a_later_revision_is_pointed_to_for_the_same_person_only(
    make_quote, english_client: Client, ada
) -> None:
    first = make_quote("issued")
    second = services.issue(services.new_revision(first, ada), ada)
    body = text_of(english_client.get(first.get_absolute_url()))
    assert second.full_number in body
    assert second.token in body
    third = services.new_revision(second, ada)
    third.email = "iemand@anders.example"
    third.save()
    third = services.issue(third, ada)
    assert third.token not in text_of(english_client.get(first.get_absolute_url()))


def test_a_quote_keeps_its_language(make_quote) -> None:
    quote = make_quote("issued", language="en")
    assert 'lang="en"' in text_of(Client().get(quote.get_absolute_url()))
    assert services.document_of(quote).language == "en"


# ── whose is what ───────────────────────────────────────────────────────────────────────────────────────────────

PLAN_PAGES = ("estimate", "proposal", "proposal_json")
QUOTE_PAGES = ("quote", "pdf", "xlsx")


@pytest.mark.parametrize("token", ["x", "a" * 43, "../../admin", "%00", "é"])
def test_a_guessed_address_leads_nowhere(db, token: str) -> None:
    for name in (*PLAN_PAGES, *QUOTE_PAGES):
        try:
            address = page(name, token)
        except Exception:  # noqa: S112 (an address that cannot be written cannot be asked for)
            continue
        assert Client().get(address).status_code == 404


def test_tokens_of_plans_and_quotes_open_only_their_own_kind(make_quote, make_plan: MakePlan) -> None:
    quote, draft = make_quote("issued"), make_plan()
    client = Client()
    assert [client.get(page(name, quote.token)).status_code for name in PLAN_PAGES] == [404] * 3
    assert [client.get(page(name, draft.token)).status_code for name in QUOTE_PAGES] == [404] * 3


def test_an_expired_plan_is_gone(make_plan: MakePlan) -> None:
    draft = make_plan()
    Draft.objects.filter(pk=draft.pk).update(
        created_at=timezone.now() - timedelta(days=9), expires_at=timezone.now() - timedelta(days=1)
    )
    assert [Client().get(page(name, draft.token)).status_code for name in PLAN_PAGES] == [404] * 3


@pytest.mark.parametrize("status", QuoteStatus.values)
def test_a_revoked_or_expired_link_is_gone(make_quote, ada, status: str) -> None:
    quote = services.revoke_link(make_quote(status), ada)
    client = Client()
    given = {"accept-name": "Jan", "accept-function": "Hoofd", "accept-terms": "on"}
    assert [client.get(page(name, quote.token)).status_code for name in QUOTE_PAGES] == [404] * 3
    assert client.post(page("accept", quote.token), given).status_code == 404
    services.restore_link(quote, ada)
    assert client.get(quote.get_absolute_url()).status_code == 200
    Quote.objects.filter(pk=quote.pk).update(link_expires_on=timezone.localdate() - timedelta(days=1))
    assert client.get(quote.get_absolute_url()).status_code == 404


def test_no_page_holds_anything_of_another_customer(
    english_client: Client, make_plan: MakePlan, make_quote
) -> None:
    theirs = make_quote("issued", organisation="Ander Bedrijf", email="ander@example.org", title="Hun plan")
    other_plan = make_plan("law-firm")
    secrets = ["Ander Bedrijf", "ander@example.org", "Hun plan", theirs.token, other_plan.token]
    mine, draft = make_quote("issued"), make_plan()
    pages = [page(name, draft.token) for name in PLAN_PAGES] + [
        page(name, mine.token) for name in QUOTE_PAGES
    ]
    for address in [*pages, page("request", draft.token, "lean"), "/", "/admin/login/"]:
        body = english_client.get(address).content.decode(errors="ignore")
        assert not [secret for secret in secrets if secret in body], address


def test_pages_that_change_something_are_asked_by_post_with_a_token(make_quote) -> None:
    quote = make_quote("issued")
    strict = Client(enforce_csrf_checks=True)
    for step in ("accept", "decline"):
        assert strict.get(page(step, quote.token)).status_code == 405
        lost = strict.post(
            page(step, quote.token), headers={"referer": f"http://testserver{quote.get_absolute_url()}"}
        )
        assert lost.status_code == 403
        assert f'href="http://testserver{quote.get_absolute_url()}"' in lost.content.decode()
        elsewhere = strict.post(page(step, quote.token), headers={"referer": "https://elsewhere.example/"})
        assert "elsewhere" not in elsewhere.content.decode()
    assert Client().post(quote.get_absolute_url()).status_code == 405


# ── prices ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_new_price_changes_the_next_proposal_and_no_issued_quote(
    english_client: Client, make_plan: MakePlan, seller, terms, paper, client_of, ada
) -> None:
    draft = make_plan()
    ask(english_client, draft)
    quote = services.issue(Quote.objects.get(), ada)
    before = (
        english_client.get(page("proposal", draft.token)).context["proposal"].prices[Tier.LEAN].totals.net
    )
    sku = services.document_of(quote).prices.lines[0].sku
    price = Price.objects.get(article_id=sku)
    staff = client_of(ada)
    address = reverse("admin:catalog_price_change", args=[price.pk])
    form = staff.get(address).context["adminform"].form
    values = {name: form[name].value() for name in form.fields if form[name].value() not in (None, False)}
    response = staff.post(address, {**values, "amount": price.amount + 1000})
    assert response.status_code == 302
    after = english_client.get(page("proposal", draft.token)).context["proposal"].prices[Tier.LEAN].totals.net
    assert after > before
    frozen = services.document_of(Quote.objects.get(pk=quote.pk))
    assert frozen.net_eur == quote.net_eur == before


# ── anything may be posted ──────────────────────────────────────────────────────────────────────────────────────

ODD = ["", "0", "-1", "1e99", "NaN", "∞", "\x00", "on", "unknown", "<script>", "a" * 5000, "💥", "2026-99-99"]
FIELDS = [
    *FILLED, "vat_id", "kvk_number", "customer_note", "reference", "accept-name", "accept-function", "accept-terms",
    "decline-name", "decline-reason", "step", "people", "at_once", "prompt", "pace", "power_kw", "cooling", "go",
]  # fmt: skip


@given(
    given_=st.dictionaries(
        st.sampled_from(FIELDS), st.one_of(st.sampled_from(ODD), st.text(max_size=20)), max_size=8
    ),
    step=st.sampled_from(["use", "load-document-chat", "site", "plan", "check", "nowhere", "\x00"]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
def test_whatever_is_posted_there_is_an_answer(
    garden: tuple[Client, Draft, Quote], given_: dict[str, str], step: str
) -> None:
    client, draft, quote = garden
    assert client.post(page("estimate", draft.token), {"step": step, **given_}).status_code == 200
    assert client.post(page("request", draft.token, "lean"), given_).status_code in {302, 422}
    assert client.post(page("accept", quote.token), given_).status_code in {302, 422}
    assert client.get(page("proposal", draft.token), {"tier": given_.get("go", "")}).status_code == 200


@pytest.fixture
def garden(make_plan: MakePlan, make_quote, english_client: Client) -> tuple[Client, Draft, Quote]:
    return english_client, make_plan(), make_quote("issued")


# ── the seller's look ───────────────────────────────────────────────────────────────────────────────────────────


def test_the_seller_gives_every_page_its_name_logo_and_colour(client: Client, seller) -> None:
    plain = text_of(client.get("/"))
    assert "accent.css" not in plain
    logo = '<svg xmlns="http://www.w3.org/2000/svg"><rect width="9" height="9"/></svg>'
    Seller.objects.update(product_name="Rekenhuis", accent="#7a1f5c", logo_svg=logo)
    body = text_of(client.get("/"))
    assert "Rekenhuis" in body
    assert "data:image/svg+xml;base64," in body
    assert f"{page('accent')}?7a1f5c" in body
    sheet = client.get(page("accent"))
    assert sheet.headers["Content-Type"].startswith("text/css")
    assert "--accent: light-dark(#7a1f5c," in text_of(sheet)


def test_the_form_says_how_long_details_are_kept(english_client: Client, make_plan: MakePlan, seller) -> None:
    Seller.objects.update(keep_open_days=99, keep_lost_days=88, keep_won_years=9)
    body = text_of(english_client.get(page("request", make_plan().token, "lean")))
    assert "after 99 days" in body
    assert "after 88 days" in body
    assert "for 9 years" in body


def test_amounts_on_the_page_are_those_of_the_document(make_quote, english_client: Client) -> None:
    quote = make_quote("issued", discount_pct=Decimal("7.5"))
    context = english_client.get(quote.get_absolute_url()).context
    totals = context["totals"]
    assert sum((group.subtotal for group in context["bill"]), Decimal(0)) == totals.net == quote.net_eur
    frozen = json.loads(json.dumps(quote.issued_copy))
    assert Decimal(frozen["prices"]["totals"]["gross"]) == totals.gross
