"""The customer's own figures on the proposal page: changed, marked, kept, refused at the field, and taken back."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from openpyxl import load_workbook

from configurator.models import Draft
from quotes import services
from quotes.models import AssumptionOverride, Quote
from quotes.views import XLSX
from tests.quotes.conftest import CONTACT
from tests.quotes.test_views import english_client, make_plan, page, text_of

__all__ = ["english_client", "make_plan"]

type MakePlan = Callable[..., Draft]


@pytest.fixture
def draft(make_plan: MakePlan) -> Draft:
    return make_plan("factory", data={"confidential": "no"})


@pytest.fixture
def change(english_client: Client, draft: Draft) -> Callable[..., HttpResponse]:
    """Post some fields of the form, as the page would."""

    def post(client: Client | None = None, **fields: Any) -> HttpResponse:
        prefixed = {name if name == "reset" else f"cost-{name}": value for name, value in fields.items()}
        prefixed.setdefault("cost-horizon", "3")
        return (client or english_client).post(page("costs", draft.token), prefixed)

    return post


def total(client: Client, draft: Draft) -> Any:
    return client.get(page("proposal", draft.token)).context["chosen"].economics.total_eur


def test_every_input_has_a_label_a_value_and_a_source(english_client: Client, draft: Draft) -> None:
    form = english_client.get(page("proposal", draft.token)).context["cost_form"]
    rows = [row.field for group in form.groups() for row in group.rows]
    assert {"horizon", "electricity", "pue", "load_factor_fraction", "capital_pct_per_year"} <= {
        row.name for row in rows
    }
    for row in rows:
        assert row.label
        assert row.value() not in (None, "")
        assert "Source: " in row.help_text


def test_a_figure_is_kept_counted_and_marked(
    english_client: Client, draft: Draft, change: Callable[..., HttpResponse]
) -> None:
    before = total(english_client, draft)
    response = change(capital_pct_per_year="9,5", residual_pct="10")
    assert response.status_code == 302
    draft.refresh_from_db()
    assert draft.answers["costs"] == {"capital_pct_per_year": "9.5"}
    body = text_of(english_client.get(response.headers["Location"]))
    assert total(english_client, draft) > before
    assert 'id="costs" open>' in body
    assert "one figure is yours" in body  # the term was answered as well, as we suggest it
    assert body.count("your figure") >= 3  # at the field, in a figure, in the assumptions


def test_what_the_questionnaire_asks_as_well_is_kept_there(
    english_client: Client, draft: Draft, change: Callable[..., HttpResponse]
) -> None:
    change(electricity="0.31", pue="1.2", horizon="5")
    draft.refresh_from_db()
    assert (draft.answers["site"]["electricity"], draft.answers["site"]["pue"]) == ("0.31", "1.2")
    assert draft.answers["plan"]["horizon"] == "5"
    assert "costs" not in draft.answers
    money = english_client.get(page("proposal", draft.token)).context["chosen"].economics
    assert money.horizon_years == 5


@pytest.mark.parametrize(
    ("name", "typed", "said"),
    [
        ("residual_pct", "999", "Fill in at most 60"),
        ("residual_pct", "-1", "at least 0"),
        ("residual_pct", "ten", "not a number we understand"),
        ("pue", "0.5", "at least 1"),
        ("electricity", "1e99", "Fill in at most 10"),
        ("horizon", "99", "valid choice"),
        ("capital_pct_per_year", "=1+1", "not a number we understand"),
        ("capital_pct_per_year", "9" * 500, "not a number we understand"),
    ],
)
def test_bad_input_is_said_at_the_field_and_nothing_is_kept(
    draft: Draft, change: Callable[..., HttpResponse], name: str, typed: str, said: str
) -> None:
    before = Draft.objects.get(pk=draft.pk).answers
    response = change(**{"spares_pct_per_year": "3", name: typed})
    assert response.status_code == 422
    assert said in str(response.context["cost_form"].errors[name])
    assert f'id="id_cost-{name}_error"' in response.content.decode()
    assert Draft.objects.get(pk=draft.pk).answers == before


@pytest.mark.parametrize(("wanted", "left"), [("residual_pct", {"spares_pct_per_year": "4"}), ("all", {})])
def test_figures_go_back_to_ours(
    draft: Draft, change: Callable[..., HttpResponse], wanted: str, left: dict[str, str]
) -> None:
    change(residual_pct="20", spares_pct_per_year="4")
    change(reset=wanted)
    draft.refresh_from_db()
    assert draft.answers["costs"] == left


def test_all_takes_back_what_no_longer_counts_too(
    make_plan: MakePlan, change: Callable[..., HttpResponse], draft: Draft
) -> None:
    draft.answers = {**draft.answers, "costs": {"colocation_eur_per_kw_month": "90", "dropped_since": "1"}}
    draft.save()
    change(reset="all")
    draft.refresh_from_db()
    assert draft.answers["costs"] == {}


def test_an_empty_field_means_ours(draft: Draft, change: Callable[..., HttpResponse]) -> None:
    change(residual_pct="20", electricity="0.3")
    change(residual_pct="", electricity="")
    draft.refresh_from_db()
    assert draft.answers["costs"] == {}
    assert draft.answers["site"]["electricity"] == {"unknown": True}


def test_dutch_decimals_are_understood(draft: Draft, change: Callable[..., HttpResponse]) -> None:
    client = Client()
    client.cookies.load({"django_language": "nl"})
    change(client, load_factor_fraction="0,6")
    draft.refresh_from_db()
    assert draft.answers["costs"] == {"load_factor_fraction": "0.6"}


def test_the_sellers_value_is_ours_with_its_own_source(english_client: Client, draft: Draft) -> None:
    AssumptionOverride.objects.create(key="residual_pct", value=15, source="our second-hand desk")
    form = english_client.get(page("proposal", draft.token)).context["cost_form"]
    assert form["residual_pct"].value() == "15"
    assert "our second-hand desk" in form["residual_pct"].help_text


def test_another_plan_keeps_its_own_figures(
    make_plan: MakePlan, draft: Draft, change: Callable[..., HttpResponse]
) -> None:
    other = make_plan("municipality")
    change(residual_pct="20")
    other.refresh_from_db()
    assert "costs" not in other.answers


def test_the_figures_stand_on_the_quote(
    english_client: Client, draft: Draft, change: Callable[..., HttpResponse], seller: Any
) -> None:
    from quotes.documents.pdf import render_html  # noqa: PLC0415

    change(residual_pct="20")
    tier = english_client.get(page("proposal", draft.token)).context["chosen"].tier.value
    sent = english_client.post(
        page("request", draft.token, tier), {**CONTACT, "country": "NL", "consent": "on"}
    )
    quote = Quote.objects.get(token=sent.headers["Location"].rstrip("/").split("/")[-1])
    document = services.document_of(quote)
    assert [(one.key, one.value) for one in document.proposal.sizing.workload.own_figures] == [
        ("residual_pct", 20)
    ]
    html = render_html(document)
    assert "your figure" in html
    assert "What we filled in for you" in html


@pytest.mark.parametrize("data", [{}, {"reset": "nothing"}, {"tier": "no-such", "cost-horizon": ""}])
def test_a_strange_post_is_answered(english_client: Client, draft: Draft, data: dict[str, str]) -> None:
    assert english_client.post(page("costs", draft.token), data).status_code in {302, 422}
    assert english_client.get(page("costs", draft.token)).status_code == 405
    assert english_client.post(page("costs", "no-such-plan"), data).status_code == 404


# ── the spreadsheet and the dates ───────────────────────────────────────────────────────────────────────────────


def test_the_cost_is_there_as_a_spreadsheet(
    english_client: Client, draft: Draft, make_quote: Callable[..., Quote]
) -> None:
    tier = english_client.get(page("proposal", draft.token)).context["chosen"].tier.value
    quote = make_quote("issued")
    for address in (page("proposal_costs_xlsx", draft.token, tier), page("costs_xlsx", quote.token)):
        response = english_client.get(address)
        assert response.headers["Content-Type"] == XLSX
        assert "no-store" in response.headers["Cache-Control"]
        assert len(load_workbook(BytesIO(response.content)).sheetnames) == 4
    for address in (page("proposal_costs_xlsx", draft.token, "no-such"), page("costs_xlsx", "no-such")):
        assert english_client.get(address).status_code == 404


def test_staff_find_the_spreadsheet_with_the_quote(
    client_of: Callable[[Any], Client], ada: Any, make_quote: Callable[..., Quote]
) -> None:
    quote = make_quote("issued")
    client = client_of(ada)
    address = reverse("admin:quotes_quote_costs", args=[quote.pk])
    assert address in client.get(reverse("admin:quotes_quote_change", args=[quote.pk])).content.decode()
    assert client.get(address).headers["Content-Type"] == XLSX
    assert Client().get(address).status_code == 302


def test_dates_and_names_are_in_the_readers_language(make_plan: MakePlan) -> None:
    draft = make_plan("factory", plan={"start_on": "2027-03-01"})
    english, dutch = Client(), Client()
    english.cookies.load({"django_language": "en"})
    dutch.cookies.load({"django_language": "nl"})
    said = {
        language: client.get(page("proposal", draft.token))
        for language, client in (("en", english), ("nl", dutch))
    }
    assert "decides the date" in text_of(said["en"])
    assert "bepaalt de datum" in text_of(said["nl"])
    for language, response in said.items():
        plan = response.context["delivery"]
        assert [row.name for row in response.context["arrivals"]] == [
            arrival.name_in(language) for arrival in plan.arrivals[:6]
        ]
        assert plan.order_by is not None
