"""What sales does with quotes in the admin, and who may not."""

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from quotes import services
from quotes.admin.steps import STEPS
from quotes.models import AssumptionOverride, Quote, QuoteLine, QuoteStatus, Seller, TermsDocument, VatRate
from quotes.sizing.assumptions import Assumptions
from tests.quotes.conftest import CONTACT, sized

type ClientOf = Callable[[User], Client]


@pytest.fixture(autouse=True)
def _in_english(settings: Any) -> None:
    settings.LANGUAGE_CODE = "en"


@pytest.fixture
def sales(client_of: ClientOf, saskia: User) -> Client:
    return client_of(saskia)


def list_page() -> str:
    return reverse("admin:quotes_quote_changelist")


def form_page(quote: Quote) -> str:
    return reverse("admin:quotes_quote_change", args=[quote.pk])


def step_page(quote: Quote, name: str) -> str:
    return reverse("admin:quotes_quote_step", args=[quote.pk, name])


def text_of(response: HttpResponse) -> str:
    return re.sub(r"\s+", " ", response.content.decode())


def filled(response: HttpResponse) -> dict[str, Any]:
    """What a browser would send for the form on a page of the admin, untouched."""
    context: Any = response.context
    data: dict[str, Any] = {"_seen": context["seen"]}
    forms = [context["adminform"].form]
    for inline in context["inline_admin_formsets"]:
        forms += [inline.formset.management_form, *inline.formset.forms]
    for form in forms:
        for name in form.fields:
            value = form[name].value()
            if value is not None and value is not False:
                data[form.add_prefix(name)] = value
    return data


# ── the list ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, {"A", "B", "C"}),
        ({"status__exact": "draft"}, {"A"}),
        ({"status__exact": "issued"}, {"B", "C"}),
        ({"value": "50000"}, {"A"}),
        ({"value": "250000"}, {"B"}),
        ({"value": "more"}, {"C"}),
        ({"value": "nonsense"}, {"A", "B", "C"}),
        ({"customer": "B"}, {"B"}),
        ({"q": "c@customer.example"}, {"C"}),
        ({"created_at__year": "1999"}, set()),
    ],
)
def test_finding_a_quote(sales: Client, make_quote, query: dict[str, str], expected: set[str]) -> None:
    for name, status, unit in (("A", "draft", 100), ("B", "issued", 100_000), ("C", "issued", 2_000_000)):
        quote = make_quote(organisation=name, email=f"{name.lower()}@customer.example")
        quote.lines.exclude(position=1).delete()
        quote.lines.update(quantity=1, unit_eur=unit)
        services.refresh_total(quote)
        if status == "issued":
            services.issue(quote, User.objects.get(username="saskia"))
    response = sales.get(list_page(), query)
    assert response.status_code == 200
    assert {quote.organisation for quote in response.context["cl"].result_list} == expected


def test_many_quotes_are_never_deleted_together(sales: Client, make_quote) -> None:
    response = sales.get(list_page())
    assert "delete_selected" not in text_of(response)


# ── one quote ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("status", QuoteStatus.values)
def test_the_page_of_a_quote_opens_in_every_status(sales: Client, make_quote, status: str) -> None:
    quote = make_quote(status)
    response = sales.get(form_page(quote))
    assert response.status_code == 200
    shown = {step["url"] for step in response.context["quote_steps"]}
    for name, step in STEPS.items():
        assert (step_page(quote, name) in shown) == step.allowed(quote)


def test_sales_changes_quantities_prices_and_discount_of_a_draft(sales: Client, make_quote) -> None:
    quote = make_quote()
    data = filled(sales.get(form_page(quote)))
    data |= {
        "discount_pct": "10", "lines-0-quantity": "3", "lines-0-unit_eur": "1000.00", "lines-1-DELETE": "on",
        "title": "Better title",
    }  # fmt: skip
    before = quote.lines.count()
    response = sales.post(form_page(quote), data)
    assert response.status_code == 302, response.context and response.context["errors"]
    quote.refresh_from_db()
    first = quote.lines.order_by("position").first()
    assert quote.title == "Better title"
    assert (first.quantity, first.unit_eur) == (3, 1000)
    assert quote.lines.count() == before - 1
    net = sum((line.net_eur for line in services.lines_of(quote)[0]), Decimal(0))
    assert quote.net_eur == net
    shown = text_of(sales.get(form_page(quote)))
    assert f"€{net:,.2f}" in shown


def test_a_draft_follows_its_language_but_keeps_prices_and_own_words(sales: Client, make_quote) -> None:
    quote = make_quote(language="nl")
    install = quote.lines.get(sku="svc-os-install")
    own = quote.lines.exclude(pk=install.pk).first()
    own.text = "Eigen woorden"
    own.save()
    before = list(quote.lines.values_list("sku", "quantity", "unit_eur", "discount_pct", "cost_eur"))
    response = sales.post(
        form_page(quote), filled(sales.get(form_page(quote))) | {"language": "en"}, follow=True
    )
    assert "words of your own, which we did not translate: “Eigen woorden”" in text_of(response)
    quote.refresh_from_db()
    install.refresh_from_db()
    assert install.text == "Operating system and driver installation"
    assert quote.lines.get(pk=own.pk).text == "Eigen woorden"
    assert list(quote.lines.values_list("sku", "quantity", "unit_eur", "discount_pct", "cost_eur")) == before
    document = services.document_of(quote)
    assert (document.language, document.terms.title) == ("en", "Terms")
    assert services.follow_language(quote, "nl")[0].text == "Eigen woorden"


def test_a_vat_number_is_kept_in_one_form_and_keeps_its_check(sales: Client, make_quote) -> None:
    quote = make_quote(country="DE", vat_id="DE123456789", vat_id_checked_on=date(2026, 11, 1))
    page = filled(sales.get(form_page(quote)))
    refused = sales.post(form_page(quote), page | {"vat_id": "DE12"})
    assert "vat_id" in refused.context["adminform"].form.errors
    assert sales.post(form_page(quote), page | {"vat_id": "de 123.456.789"}).status_code == 302
    quote.refresh_from_db()
    assert (quote.vat_id, quote.vat_id_checked_on) == ("DE123456789", date(2026, 11, 1))


@pytest.mark.parametrize(("day", "after"), [("2026-11-01", None), ("2026-11-30", date(2026, 11, 30))])
def test_another_vat_number_has_to_be_checked_anew(
    sales: Client, make_quote, day: str, after: date | None
) -> None:
    quote = make_quote(country="DE", vat_id="DE123456789", vat_id_checked_on=date(2026, 11, 1))
    typed = {"vat_id": "DE987654321", "vat_id_checked_on": day}
    assert sales.post(form_page(quote), filled(sales.get(form_page(quote))) | typed).status_code == 302
    quote.refresh_from_db()
    assert (quote.vat_id, quote.vat_id_checked_on) == ("DE987654321", after)


@pytest.mark.parametrize(("title", "after"), [("AI-systeem", "AI system"), ("Ons plan", "Ons plan")])
def test_only_our_own_title_follows_the_language(make_quote, title: str, after: str) -> None:
    quote = make_quote(language="nl", title=title)
    quote.language = "en"
    services.follow_language(quote, "nl")
    assert quote.title == after


def test_who_saves_last_is_told_what_a_colleague_changed(
    sales: Client, client_of: ClientOf, ada: User, make_quote
) -> None:
    quote = make_quote()
    mine = filled(sales.get(form_page(quote)))
    colleague = client_of(ada)
    theirs = {"title": "Hers", "lines-0-quantity": "3", "lines-1-DELETE": "on"}
    assert (
        colleague.post(form_page(quote), filled(colleague.get(form_page(quote))) | theirs).status_code == 302
    )
    last = int(mine["lines-TOTAL_FORMS"]) - 1
    typed = {"title": "<b>Mine</b>", "lines-0-quantity": "7", f"lines-{last}-text": "My last line"}
    for _attempt in range(2):  # the second time as stubbornly as the first
        response = sales.post(form_page(quote), mine | typed)
        assert response.status_code == 200
        (told,) = response.context["adminform"].form.non_field_errors()
        for words in ("ada saved it", "→ Hers", "Changed Quantity for line", "Deleted line", "newer state"):
            assert words in told
        shown = text_of(response)
        assert "&lt;b&gt;Mine&lt;/b&gt;" in shown
        assert "My last line" in shown
        assert f'name="_seen" value="{mine["_seen"]}"' in shown
        quote.refresh_from_db()
        assert (quote.title, quote.lines.order_by("position")[0].quantity) == ("Hers", 3)
    newer = filled(sales.get(form_page(quote))) | {"title": "Mine"}
    assert sales.post(form_page(quote), newer).status_code == 302


@pytest.mark.parametrize("step", ["reprice", "issue", "withdraw"])
def test_a_step_of_a_colleague_overtakes_a_form_too(
    sales: Client, client_of: ClientOf, ada: User, make_quote, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    quote = make_quote()
    monkeypatch.setattr("quotes.services.drafting.proposal_for", lambda workload: sized("municipality"))
    data = filled(sales.get(form_page(quote)))
    assert client_of(ada).post(step_page(quote, step)).status_code == 302
    response = sales.post(form_page(quote), data | {"title": "Mine", "internal_note": "Called"})
    assert response.status_code == 200
    (told,) = response.context["adminform"].form.non_field_errors()
    assert "ada saved it" in told
    assert Quote.objects.get(pk=quote.pk).internal_note == ""


@pytest.mark.parametrize("name", ["issue", "withdraw"])
def test_a_step_is_refused_when_a_colleague_changed_what_its_page_showed(
    sales: Client, client_of: ClientOf, ada: User, make_quote, name: str
) -> None:
    quote = make_quote()
    page = sales.get(form_page(quote))
    button = f"{step_page(quote, name)}?_seen={page.context['seen']}"
    assert f'href="{button}"' in text_of(page)
    asked = sales.get(button)
    assert asked.status_code == 200
    sent = {"_seen": asked.context["seen"]}
    colleague = client_of(ada)
    assert (
        colleague.post(
            form_page(quote), filled(colleague.get(form_page(quote))) | {"title": "Hers"}
        ).status_code
        == 302
    )
    for response in (sales.post(step_page(quote, name), sent), sales.get(button)):
        assert "ada saved it" in text_of(response)
        assert "→ Hers" in text_of(response)
        assert "<form method" not in text_of(response).split("content-main")[1]
    quote.refresh_from_db()
    assert (quote.status, quote.number) == ("draft", None)
    newer = sales.get(step_page(quote, name)).context["seen"]
    assert sales.post(step_page(quote, name), {"_seen": newer}).status_code == 302


def queries_of(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as asked:
        client.get(address)
    return len(asked)


def test_pages_ask_the_database_no_more_for_longer_lists(sales: Client, make_quote) -> None:
    draft, issued = make_quote(), make_quote("issued")
    pages = (
        list_page(),
        form_page(draft),
        form_page(issued),
        *(reverse("quotes:quote", args=[quote.token]) for quote in (draft, issued)),
    )
    for page in pages:
        sales.get(page)  # what is worked out once per process
    before = [queries_of(sales, page) for page in pages]
    QuoteLine.objects.bulk_create(
        QuoteLine(
            quote=draft, position=90 + number, text="work", role="service", group="services", unit_eur=1
        )
        for number in range(5)
    )
    for _ in range(3):
        make_quote()
    assert [queries_of(sales, page) for page in pages] == before


def test_sales_adds_a_line(sales: Client, make_quote) -> None:
    quote = make_quote()
    data = filled(sales.get(form_page(quote)))
    number = int(data["lines-TOTAL_FORMS"])
    added = {
        "quantity": "2",
        "text": "Training on site",
        "unit_eur": "800",
        "discount_pct": "0",
        "position": "99",
    }
    data |= {f"lines-{number}-{name}": value for name, value in added.items()}
    data |= {f"lines-{number}-group": "services", f"lines-{number}-role": "service", f"lines-{number}-id": ""}
    data |= {f"lines-{number}-quote": quote.pk, "lines-TOTAL_FORMS": number + 1}
    before = quote.net_eur
    assert sales.post(form_page(quote), data).status_code == 302
    quote.refresh_from_db()
    assert quote.net_eur == before + 1600


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("discount_pct", "101"),
        ("lines-0-quantity", "0"),
        ("lines-0-quantity", "2147483647"),
        ("lines-0-unit_eur", "-1"),
        ("email", "nobody"),
    ],
)
def test_impossible_values_are_refused_on_the_page(sales: Client, make_quote, field: str, value: str) -> None:
    quote = make_quote()
    before = quote.net_eur
    response = sales.post(form_page(quote), filled(sales.get(form_page(quote))) | {field: value})
    assert response.status_code == 200
    assert response.context["errors"]
    quote.refresh_from_db()
    assert quote.net_eur == before


@pytest.mark.parametrize("status", [status for status in QuoteStatus.values if status != "draft"])
def test_of_an_issued_quote_only_our_notes_change(sales: Client, make_quote, status: str) -> None:
    quote = make_quote(status)
    response = sales.get(form_page(quote))
    assert set(response.context["adminform"].form.fields) == {"internal_note", "link_expires_on"}
    assert not response.context["inline_admin_formsets"][0].has_change_permission
    data = filled(response) | {"title": "Other", "internal_note": "Called", "lines-0-quantity": "9"}
    before = quote.lines.values_list("quantity", flat=True)
    assert sales.post(form_page(quote), data).status_code == 302
    fresh = Quote.objects.get(pk=quote.pk)
    assert (fresh.title, fresh.internal_note) == (quote.title, "Called")
    assert list(fresh.lines.values_list("quantity", flat=True)) == list(before)


def test_only_a_draft_can_be_deleted(sales: Client, make_quote) -> None:
    draft, issued = make_quote(), make_quote("issued")
    remove = reverse("admin:quotes_quote_delete", args=[issued.pk])
    assert sales.post(remove, {"post": "yes"}).status_code == 403
    assert (
        sales.post(reverse("admin:quotes_quote_delete", args=[draft.pk]), {"post": "yes"}).status_code == 302
    )
    assert list(Quote.objects.all()) == [issued]


def test_a_quote_is_not_made_by_hand(sales: Client, ada: User, client_of: ClientOf) -> None:
    assert client_of(ada).get(reverse("admin:quotes_quote_add")).status_code == 403


# ── steps ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_issuing_asks_once_more(sales: Client, make_quote) -> None:
    quote = make_quote()
    asked = sales.get(step_page(quote, "issue"))
    assert "cannot change any more" in text_of(asked)
    quote.refresh_from_db()
    assert quote.status == "draft"
    response = sales.post(step_page(quote, "issue"), follow=True)
    quote.refresh_from_db()
    assert quote.status == "issued"
    assert f"{quote.full_number} – {quote.organisation} has been issued." in text_of(response)


def test_what_stands_in_the_way_of_issuing_is_said_before_and_after(sales: Client, make_quote) -> None:
    quote = make_quote()
    Seller.objects.update(iban="")
    sentence = "First complete the seller&#x27;s details: IBAN."
    assert sentence in text_of(sales.get(form_page(quote)))
    assert sentence in text_of(sales.get(step_page(quote, "issue")))
    response = sales.post(step_page(quote, "issue"))
    assert response.status_code == 422
    assert sentence in text_of(response)


def test_a_revision_opens_as_a_draft(sales: Client, make_quote) -> None:
    quote = make_quote("issued")
    response = sales.post(step_page(quote, "revise"))
    copy = Quote.objects.get(supersedes=quote)
    assert response.headers["Location"] == form_page(copy)
    assert f"draft of revision {copy.full_number}" in text_of(sales.get(form_page(copy)))


@pytest.mark.parametrize(
    ("step", "field", "value"), [("revoke", "link_revoked", True), ("withdraw", "status", "withdrawn")]
)
def test_other_steps(sales: Client, make_quote, step: str, field: str, value: Any) -> None:
    quote = make_quote("issued")
    assert sales.post(step_page(quote, step)).status_code == 302
    quote.refresh_from_db()
    assert getattr(quote, field) == value


def test_sales_enters_an_agreement_on_paper(sales: Client, make_quote) -> None:
    quote = services.revoke_link(make_quote("issued"), User.objects.get(username="saskia"))
    address = step_page(quote, "agree")
    assert sales.post(address, {"name": " ", "function": "Hoofd ICT"}).status_code == 422
    quote.refresh_from_db()
    assert quote.status == "issued"
    assert sales.post(address, {"name": "Jan", "function": "Hoofd ICT"}).status_code == 302
    quote.refresh_from_db()
    assert (quote.status, quote.decided_by, quote.decided_function) == ("accepted", "Jan", "Hoofd ICT")
    assert "entered by saskia" in text_of(sales.get(form_page(quote)))
    assert sales.post(address, {"name": "Piet", "function": "x"}).status_code == 422


def test_sales_enters_a_refusal(sales: Client, make_quote) -> None:
    quote = make_quote("issued")
    assert sales.post(step_page(quote, "lose"), {"name": "Jan", "reason": "Te duur"}).status_code == 302
    quote.refresh_from_db()
    assert (quote.status, quote.decline_reason) == ("declined", "Te duur")


def test_the_history_speaks_of_changes_in_words(sales: Client, make_quote) -> None:
    sales.cookies.load({"django_language": "nl"})
    page = text_of(sales.get(reverse("admin:quotes_quote_history", args=[make_quote("issued").pk])))
    assert "concept → uitgebracht" in page
    assert re.search(r"Uitgebracht op</strong>: – → \d+ \w+ \d{4} \d\d:\d\d", page)
    assert not re.search(r"\bNone\b|pk=|View history", page)


def test_an_unknown_step_is_refused(sales: Client, make_quote) -> None:
    assert sales.get(step_page(make_quote(), "celebrate")).status_code == 403


def test_the_pdf_is_there_even_when_the_link_is_revoked(sales: Client, make_quote, ada: User) -> None:
    quote = services.revoke_link(make_quote("issued"), ada)
    response = sales.get(reverse("admin:quotes_quote_pdf", args=[quote.pk]))
    assert response.headers["Content-Type"] == "application/pdf"
    assert quote.full_number in response.headers["Content-Disposition"]
    sheet = sales.get(reverse("admin:quotes_quote_xlsx", args=[quote.pk]))
    assert f"{quote.full_number}.xlsx" in sheet.headers["Content-Disposition"]
    assert sheet.content.startswith(b"PK")


# ── who may what ────────────────────────────────────────────────────────────────────────────────────────────────


def without(user: User, codename: str) -> User:
    """The same role without one permission."""
    granted = list(Permission.objects.filter(group__user=user).exclude(codename=codename))
    user.groups.clear()
    user.user_permissions.set(granted)
    return User.objects.get(pk=user.pk)


def test_cost_and_margin_are_for_who_may_see_them(client_of: ClientOf, saskia: User, make_quote) -> None:
    quote = make_quote()
    quote.lines.update(cost_eur=Decimal("123.45"))
    assert "123.45" in text_of(client_of(saskia).get(form_page(quote)))
    blind = client_of(without(saskia, "see_margin"))
    response = blind.get(form_page(quote))
    assert "123.45" not in text_of(response)
    assert "cost and margin" not in text_of(response).lower()
    assert "lines-0-cost_eur" not in text_of(response)
    data = filled(response) | {"lines-0-cost_eur": "1.00"}
    assert blind.post(form_page(quote), data).status_code == 302
    assert set(quote.lines.values_list("cost_eur", flat=True)) == {Decimal("123.45")}


def test_issuing_needs_its_own_permission(client_of: ClientOf, saskia: User, make_quote) -> None:
    quote = make_quote()
    clerk = client_of(without(saskia, "issue_quote"))
    assert step_page(quote, "issue") not in text_of(clerk.get(form_page(quote)))
    assert [clerk.post(step_page(quote, name)).status_code for name in ("issue", "agree")] == [403, 403]
    quote.refresh_from_db()
    assert quote.status == "draft"


def test_the_catalog_editor_sees_no_quotes(client_of: ClientOf, carlo: User, make_quote) -> None:
    quote = make_quote("issued")
    editor = client_of(carlo)
    pages = [list_page(), form_page(quote), step_page(quote, "withdraw")]
    pages += [reverse(f"admin:quotes_quote_{kind}", args=[quote.pk]) for kind in ("pdf", "xlsx")]
    assert [editor.get(address).status_code for address in pages] == [403] * len(pages)


def test_nobody_gets_in_without_logging_in(make_quote) -> None:
    quote = make_quote("issued")
    for address in (list_page(), form_page(quote), step_page(quote, "withdraw")):
        assert Client().get(address).headers["Location"].startswith("/admin/login/")


@pytest.mark.parametrize("model", ["seller", "vatrate", "termsdocument"])
def test_sales_reads_what_only_administrators_change(sales: Client, make_quote, model: str) -> None:
    row = {"seller": Seller, "vatrate": VatRate, "termsdocument": TermsDocument}[model].objects.first()
    address = reverse(f"admin:quotes_{model}_change", args=[row.pk])
    assert sales.get(address).status_code == 200
    assert sales.post(address, {}).status_code == 403
    assert sales.get(reverse(f"admin:quotes_{model}_add")).status_code == 403


# ── privacy ─────────────────────────────────────────────────────────────────────────────────────────────────────


def act(client: Client, action: str, *quotes: Quote, **more: str) -> HttpResponse:
    chosen = [quote.pk for quote in quotes]
    return client.post(list_page(), {"action": action, "_selected_action": chosen, **more})


def test_exporting_a_contact(sales: Client, make_quote) -> None:
    response = act(sales, "export_contacts", make_quote("issued"), make_quote())
    assert response.headers["Content-Type"] == "application/json"
    (person,) = response.json()
    assert person["email"] == CONTACT["email"]
    assert len(person["quotes"]) == 2


def test_erasing_a_contact_asks_once_more(client_of: ClientOf, ada: User, make_quote) -> None:
    admin = client_of(ada)
    kept, lost, draft = make_quote("accepted"), make_quote("declined"), make_quote()
    asked = act(admin, "erase_contacts", lost)
    assert CONTACT["email"] in text_of(asked)
    lost.refresh_from_db()
    assert lost.email == CONTACT["email"]
    act(admin, "erase_contacts", lost, confirmed="yes")
    lost.refresh_from_db()
    kept.refresh_from_db()
    assert lost.email != CONTACT["email"]
    assert kept.email == CONTACT["email"]
    assert not Quote.objects.filter(pk=draft.pk).exists()


def test_sales_does_not_erase(sales: Client, make_quote) -> None:
    quote = make_quote("declined")
    act(sales, "erase_contacts", quote, confirmed="yes")
    quote.refresh_from_db()
    assert quote.email == CONTACT["email"]


# ── around the quote ────────────────────────────────────────────────────────────────────────────────────────────


def test_the_list_of_sellers_leads_to_the_seller(client_of: ClientOf, ada: User, seller: Seller) -> None:
    admin = client_of(ada)
    address = reverse("admin:quotes_seller_change", args=[seller.pk])
    assert admin.get(reverse("admin:quotes_seller_changelist")).headers["Location"] == address
    assert admin.get(reverse("admin:quotes_seller_add")).status_code == 403
    data = filled(admin.get(address)) | {"iban": "", "accent": "#7a1f5c"}
    response = admin.post(address, data, follow=True)
    assert "Before a quote can be issued, fill in: IBAN." in text_of(response)
    seller.refresh_from_db()
    assert seller.accent == "#7a1f5c"


def test_terms_in_use_are_refused_on_the_page(client_of: ClientOf, ada: User, make_quote, terms) -> None:
    make_quote("issued", language=terms.language)
    admin = client_of(ada)
    address = reverse("admin:quotes_termsdocument_change", args=[terms.pk])
    response = admin.post(address, filled(admin.get(address)) | {"text": "Other words"})
    assert "This version stands on a quote" in text_of(response)
    remove = reverse("admin:quotes_termsdocument_delete", args=[terms.pk])
    assert admin.post(remove, {"post": "yes"}).status_code == 403


def test_assumptions_are_shown_with_default_range_and_source(sales: Client) -> None:
    response = sales.get(reverse("admin:quotes_assumptionoverride_changelist"))
    assert {row["key"] for row in response.context["assumptions"]} == set(Assumptions.model_fields)
    assert "own choice: a quarter more than today&#x27;s peak (2026)" in text_of(response)


def test_sales_changes_an_assumption_within_its_range(sales: Client) -> None:
    add = reverse("admin:quotes_assumptionoverride_add")
    given = {"key": "balanced_headroom_factor", "value": "9", "source": "our own customers"}
    assert "Choose a value between 1 and 3." in text_of(sales.post(add, given))
    assert sales.post(add, {**given, "value": "1.5"}).status_code == 302
    assert services.current_assumptions().balanced_headroom_factor == 1.5
    row = AssumptionOverride.objects.get()
    change = reverse("admin:quotes_assumptionoverride_change", args=[row.pk])
    page = sales.get(change)
    assert "1–3" in text_of(page)
    assert sales.post(change, {"value": "2", "source": "measured"}).status_code == 302
    assert services.current_assumptions().balanced_headroom_factor == 2
    assert "changed, see above" in text_of(sales.get(reverse("admin:quotes_assumptionoverride_changelist")))


def test_an_assumption_that_was_dropped_since_is_shown_as_such(sales: Client) -> None:
    AssumptionOverride.objects.bulk_create([AssumptionOverride(key="dropped", value=1, source="x")])
    row = AssumptionOverride.objects.get()
    for address in (
        reverse("admin:quotes_assumptionoverride_changelist"),
        reverse("admin:quotes_assumptionoverride_change", args=[row.pk]),
    ):
        assert "no longer used" in text_of(sales.get(address))


@pytest.mark.parametrize("model", ["quote", "seller", "vatrate", "termsdocument"])
def test_history_can_be_read(client_of: ClientOf, ada: User, make_quote, model: str) -> None:
    make_quote("accepted")
    table = {"quote": Quote, "seller": Seller, "vatrate": VatRate, "termsdocument": TermsDocument}[model]
    row = table.objects.first()
    response = client_of(ada).get(reverse(f"admin:quotes_{model}_history", args=[row.pk]))
    assert response.status_code == 200


def test_the_history_of_a_quote_brings_nothing_back(client_of: ClientOf, ada: User, make_quote) -> None:
    quote = make_quote()
    version = quote.history.last()
    address = reverse("admin:quotes_quote_simple_history", args=[quote.pk, version.pk])
    admin = client_of(ada)
    assert 'name="_save"' not in text_of(admin.get(address))
