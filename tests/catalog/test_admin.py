"""The catalog in the admin: every page, who may do what, and what a sales person does with it."""

import json
import re
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.admin import site
from django.contrib.admin.utils import quote
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.forms import BooleanField
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from catalog.admin import models as admin_models
from catalog.models import Accelerator, AiModel, Article, Margin, Price, Rack, Server

TABLES = [table for table in site._registry if table._meta.app_label == "catalog"]
FORMS = [table for table in TABLES if table is not Article]

type ClientOf = Callable[[User], Client]


def address(table: Any, page: str, *args: Any) -> str:
    return reverse(f"admin:catalog_{table._meta.model_name}_{page}", args=args)


def first(table: Any) -> Any:
    return table.objects.order_by("pk").first()


@pytest.fixture(autouse=True)
def _in_english(settings: Any) -> None:
    settings.LANGUAGE_CODE = "en"


def test_every_table_has_a_page() -> None:
    assert {table.__name__ for table in TABLES} == {
        "Accelerator", "Accessory", "AiModel", "Article", "Cable", "CloudOffer", "CoolingUnit", "Cpu", "Drive",
        "Margin", "MemoryModule", "NetworkCard", "Pdu", "Price", "Rack", "Server", "Service", "StorageSystem",
        "Switch",
    }  # fmt: skip


def inline_code(response: HttpResponse) -> list[str]:
    """What a strict content security policy would block."""
    html = response.content.decode()
    return re.findall(r"<[^>]+\s(?:on\w+|style)=|<script(?![^>]*\bsrc=)[^>]*>|<style", html)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_lists_open_search_and_carry_no_inline_code(
    catalog: None, ada: User, client_of: ClientOf, table: Any
) -> None:
    client = client_of(ada)
    for query in ("", "?q=a"):
        response = client.get(address(table, "changelist") + query)
        assert response.status_code == 200
        assert inline_code(response) == []


@pytest.mark.parametrize("table", FORMS, ids=lambda table: table.__name__)
def test_forms_and_histories_open(catalog: None, ada: User, client_of: ClientOf, table: Any) -> None:
    client = client_of(ada)
    row = first(table)
    for page in (
        address(table, "add"),
        address(table, "change", quote(row.pk)),
        address(table, "history", quote(row.pk)),
    ):
        response = client.get(page)
        assert response.status_code == 200, page
        assert inline_code(response) == []
    record = row.history.latest()
    assert client.get(address(table, "simple_history", row.pk, record.pk)).status_code == 200


@pytest.mark.parametrize("table", FORMS, ids=lambda table: table.__name__)
def test_a_row_can_be_saved_as_it_is(catalog: None, ada: User, client_of: ClientOf, table: Any) -> None:
    """Whatever the seed holds passes the form: nothing is lost on the way and nothing counts as edited."""
    client = client_of(ada)
    row = first(table)
    before = row.seed_digest, row.flat() if hasattr(row, "flat") else {}
    page = address(table, "change", quote(row.pk))
    response = client.get(page)
    data = _form_data(response)
    response = client.post(page, data)
    assert response.status_code == 302, _errors(response)
    row = table.objects.get(pk=row.pk)
    assert (row.seed_digest, row.flat() if hasattr(row, "flat") else {}) == before


def _form_data(response: Any) -> dict[str, Any]:
    form = response.context["adminform"].form
    data: dict[str, Any] = {}
    for name, field in form.fields.items():
        value = form[name].value()
        if value is None or (value is False and type(field) is BooleanField):
            continue
        value = field.prepare_value(value)
        value = "on" if value is True and type(field) is BooleanField else value
        data[name] = [getattr(each, "pk", each) for each in value] if isinstance(value, list) else value
    for formset in response.context["inline_admin_formsets"]:
        management = formset.formset.management_form
        data |= {management.add_prefix(name): management[name].value() for name in management.fields}
        for inline in formset.formset.initial_forms:
            data[inline.add_prefix("id")] = inline.instance.pk
            data[inline.add_prefix("article")] = inline.instance.article_id
    return data


def _errors(response: Any) -> Any:
    return response.context["adminform"].form.errors if response.context else response


# ── roles ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("table", FORMS, ids=lambda table: table.__name__)
def test_what_sales_and_the_editor_may_do(
    catalog: None, saskia: User, carlo: User, client_of: ClientOf, table: Any
) -> None:
    row = first(table)
    own = table not in (AiModel, Margin)
    for user, page, status in [
        (saskia, address(table, "changelist"), 200),
        (saskia, address(table, "change", quote(row.pk)), 200),
        (saskia, address(table, "add"), 200 if own else 403),
        (saskia, address(table, "delete", quote(row.pk)), 403),
        (carlo, address(table, "changelist"), 200),
        (carlo, address(table, "add"), 200),
        (carlo, address(table, "delete", quote(row.pk)), 200),
    ]:
        assert client_of(user).get(page).status_code == status, (user.username, page)


def test_sales_cannot_change_a_margin(catalog: None, saskia: User, client_of: ClientOf) -> None:
    response = client_of(saskia).post(
        address(Margin, "change", "cpu"), {"margin_pct": 50, "minimum_margin_pct": 1}
    )
    assert response.status_code == 403
    assert Margin.objects.get(pk="cpu").margin_pct == 8


def test_a_stranger_sees_nothing(catalog: None, client: Client) -> None:
    for table in TABLES:
        response = client.get(address(table, "changelist"))
        assert response.status_code == 302
        assert response["Location"].startswith("/admin/login/")


# ── what a sales person does ────────────────────────────────────────────────────────────────────────────────────


def test_labels_carry_units_and_help(catalog: None, saskia: User, client_of: ClientOf) -> None:
    html = client_of(saskia).get(address(Accelerator, "change", "l40s")).content.decode()
    assert "Memory as the driver reports it (MiB)" in html
    assert "Dense tensor rate: half of a figure" in html


def test_the_admin_speaks_dutch(catalog: None, saskia: User, client_of: ClientOf, settings: Any) -> None:
    settings.LANGUAGE_CODE = "nl"
    html = (
        client_of(saskia)
        .get(address(Accelerator, "changelist"), headers={"accept-language": "nl"})
        .content.decode()
    )
    assert "beschikbaarheid" in html.lower()
    said = client_of(saskia).get(reverse("admin:jsi18n"), headers={"accept-language": "nl"}).content.decode()
    assert "Gisteren (%(date)s)" in said


def test_a_price_is_changed_in_the_list(catalog: None, saskia: User, client_of: ClientOf) -> None:
    client = client_of(saskia)
    page = address(Price, "changelist") + "?q=l40s"
    price = Price.objects.get(article_id="l40s")
    price.stated_on = date(2026, 1, 1)
    price.save()
    formset = client.get(page).context["cl"].formset
    data: dict[str, Any] = {
        name: value for name, value in _formset_data(formset).items() if value is not None
    }
    data[f"{_prefix_of(formset, price)}-amount"] = "8950.00"
    response = client.post(page, {**data, "_save": "Save"})
    assert response.status_code == 302
    price.refresh_from_db()
    assert price.amount == 8950
    assert price.stated_on == timezone.localdate()
    latest = price.history.latest()
    assert (latest.history_user, latest.amount) == (saskia, 8950)


def _formset_data(formset: Any) -> dict[str, Any]:
    management = formset.management_form
    data = {management.add_prefix(name): management[name].value() for name in management.fields}
    for form in formset.forms:
        data |= {form.add_prefix(name): form[name].value() for name in form.fields}
        data |= {form.add_initial_prefix(name): form[name].value() for name in form.fields}
        data[form.add_prefix("id")] = form.instance.pk
    return data


def _prefix_of(formset: Any, price: Price) -> str:
    return next(form.prefix for form in formset.forms if form.instance.pk == price.pk)


def test_a_list_leaves_alone_what_a_colleague_changed_since(
    catalog: None, saskia: User, client_of: ClientOf
) -> None:
    client = client_of(saskia)
    page = address(Price, "changelist")
    formset = client.get(page).context["cl"].formset
    mine, theirs = (form.instance for form in formset.forms[:2])
    data = {name: value for name, value in _formset_data(formset).items() if value is not None}
    theirs.amount += 1
    theirs.save()
    data[f"{_prefix_of(formset, mine)}-amount"] = "8950.00"
    assert client.post(page, {**data, "_save": "Save"}).status_code == 302
    assert Price.objects.get(pk=mine.pk).amount == 8950
    assert Price.objects.get(pk=theirs.pk).amount == theirs.amount


def test_a_form_that_a_colleague_overtook_is_not_stored(
    catalog: None, saskia: User, ada: User, client_of: ClientOf
) -> None:
    client = client_of(saskia)
    page = address(Accelerator, "change", "l40s")
    response = client.get(page)
    data = _form_data(response) | {"_seen": response.context["seen"]}
    assert f'name="_seen" value="{data["_seen"]}"' in response.content.decode()
    assert client_of(ada).post(page, data | {"name": "Hers"}).status_code == 302
    response = client.post(page, data | {"name": "Mine"})
    (told,) = response.context["adminform"].form.non_field_errors()
    assert "ada saved it" in told
    assert "→ Hers" in told
    assert Accelerator.objects.get(pk="l40s").name == "Hers"


def test_a_wrong_price_in_the_list_is_told_and_not_stored(
    catalog: None, saskia: User, client_of: ClientOf
) -> None:
    client = client_of(saskia)
    page = address(Price, "changelist") + "?q=l40s"
    price = Price.objects.get(article_id="l40s")
    formset = client.get(page).context["cl"].formset
    data = {name: value for name, value in _formset_data(formset).items() if value is not None}
    data[f"{_prefix_of(formset, price)}-amount"] = "-1"
    response = client.post(page, {**data, "_save": "Save"})
    assert "greater than or equal to 0" in response.content.decode()
    price.refresh_from_db()
    assert price.amount == 8600


NEW_PRICE = {
    "article": "l40s", "amount": "9100", "currency": "EUR", "valid_from": "2027-01-01", "indicative": "on",
    "source": "distributor", "stated_on": "2026-12-01",
}  # fmt: skip


def test_a_new_price_ends_the_one_that_holds(catalog: None, saskia: User, client_of: ClientOf) -> None:
    response = client_of(saskia).post(
        address(Price, "add"), {**NEW_PRICE, "replaces_open": "on", "lead_time_weeks": "6"}, follow=True
    )
    assert "now ends on" in response.content.decode()
    old, new = Price.objects.filter(article_id="l40s")
    assert (old.valid_until, new.amount) == (date(2026, 12, 31), 9100)
    assert new.lead_time_stated_on == new.stated_on  # a lead time is never without the day it was told


def test_a_new_price_that_shares_a_day_is_refused(catalog: None, saskia: User, client_of: ClientOf) -> None:
    response = client_of(saskia).post(address(Price, "add"), NEW_PRICE)
    assert "valid_from" in _errors(response)
    assert Price.objects.filter(article_id="l40s").count() == 1


def test_a_server_is_copied_as_new(catalog: None, saskia: User, client_of: ClientOf) -> None:
    client = client_of(saskia)
    response = client.post(
        address(Server, "changelist"), {"action": "copy_as_new", "_selected_action": "SYS-821GE-TNHR"}
    )
    assert response["Location"] == address(Server, "add") + "?copy_of=SYS-821GE-TNHR"
    response = client.get(response["Location"])
    data = _form_data(response)
    assert data["source"].startswith("ServeTheHome")
    assert "sku" not in data
    assert _errors(client.post(address(Server, "add"), {**data, "sku": ""})).keys() == {"sku"}
    response = client.post(address(Server, "add"), {**data, "sku": "SYS-821GE-NEW", "name": "SYS-821GE-NEW"})
    assert response.status_code == 302, _errors(response)
    copied = Server.objects.get(pk="SYS-821GE-NEW")
    original = Server.objects.get(pk="SYS-821GE-TNHR")
    assert copied.psu_w == original.psu_w
    assert copied.cpu_families == original.cpu_families
    assert set(copied.accelerators.all()) == set(original.accelerators.all())
    assert copied.seed_digest == ""


def test_a_rack_gets_a_dutch_name_and_is_found_by_it(
    catalog: None, saskia: User, client_of: ClientOf
) -> None:
    client = client_of(saskia)
    page = address(Rack, "change", "AR3357")
    response = client.get(page)
    assert "For Dutch proposals and quotes." in response.content.decode()
    response = client.post(page, {**_form_data(response), "name_nl": "Serverkast van APC"})
    assert response.status_code == 302, _errors(response)
    assert Rack.objects.get(pk="AR3357").name_nl == "Serverkast van APC"
    for table in (Rack, Article):
        found = client.get(address(table, "changelist") + "?q=serverkast").context["cl"].queryset
        assert [each.pk for each in found] == ["AR3357"]


def test_a_sku_that_is_taken_is_told_at_its_field(catalog: None, saskia: User, client_of: ClientOf) -> None:
    client = client_of(saskia)
    data = _form_data(client.get(address(Server, "add") + "?copy_of=SYS-821GE-TNHR"))
    response = client.post(address(Server, "add"), {**data, "sku": "l40s"})
    assert "sku" in _errors(response)
    assert Article.objects.get(pk="l40s").kind_name == "accelerator"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"memory_mib": "99999"}, "memory_mib"),
        ({"power_w": "-1"}, "power_w"),
        ({"link_kind": "bridge"}, "link_max_count"),
        ({"active": None}, "inactive_reason"),
        ({"checked_on": "soon"}, "checked_on"),
    ],
)
def test_a_mistake_stands_at_its_field(
    catalog: None, saskia: User, client_of: ClientOf, changes: dict[str, Any], field: str
) -> None:
    client = client_of(saskia)
    page = address(Accelerator, "change", "l40s")
    data = {**_form_data(client.get(page)), **changes}
    response = client.post(page, {name: value for name, value in data.items() if value is not None})
    assert set(_errors(response)) == {field}


def test_a_saved_row_tells_what_it_still_misses(catalog: None, saskia: User, client_of: ClientOf) -> None:
    client = client_of(saskia)
    page = address(Accelerator, "change", "l40s")
    data = {**_form_data(client.get(page)), "power_w": ""}
    html = client.post(page, data, follow=True).content.decode()
    assert "missing: power (W)" in html


def test_a_new_card_is_told_what_keeps_it_out_of_proposals(
    catalog: None, saskia: User, client_of: ClientOf
) -> None:
    client = client_of(saskia)
    page = address(Accelerator, "add") + "?copy_of=l40s"
    data = {**_form_data(client.get(page)), "sku": "card-x", "checked_on": "2026-12-01", "fp8_tflops": "1466"}
    assert "is the SKU of" in str(_errors(client.post(page, {**data, "sku": "L40S"}))["sku"])
    html = client.post(page, data, follow=True).content.decode()
    assert {"no price", "counted with sparsity", "no server takes it"} <= set(
        re.findall("no price|counted with sparsity|no server takes it", html)
    )


def shown(response: Any) -> set[Any]:
    return {row.pk for row in response.context["cl"].result_list}


def test_missing_figures_are_found(catalog: None, saskia: User, client_of: ClientOf) -> None:
    client = client_of(saskia)
    missing = shown(client.get(address(Accelerator, "changelist") + "?figures=missing"))
    assert "tpu-v6e" in missing
    assert "l40s" not in missing
    estimated = shown(client.get(address(Accelerator, "changelist") + "?figures=estimated"))
    assert ("instinct-mi325x" in estimated, "l40s" in estimated) == (True, False)
    Accelerator.objects.filter(pk="l40s").update(power_w=None)
    response = client.get(address(Accelerator, "changelist") + "?figures=missing&q=l40s")
    assert shown(response) == {"l40s"}
    assert "missing: power (W)" in response.content.decode()


def test_articles_without_a_fresh_price_are_found(catalog: None, saskia: User, client_of: ClientOf) -> None:
    client = client_of(saskia)
    old = timezone.localdate() - timedelta(days=61)
    Price.objects.exclude(article_id="AR3357").update(stated_on=timezone.localdate())
    Price.objects.filter(article_id="AR3357").update(stated_on=old)
    Price.objects.filter(article_id="server-rack-42u-600x1200").delete()
    racks = address(Rack, "changelist")
    assert shown(client.get(racks + "?price_state=stale")) == {"AR3357"}
    assert shown(client.get(racks + "?price_state=none")) == {"server-rack-42u-600x1200"}
    html = client.get(racks).content.decode()
    assert "stale price" in html
    assert "no price" in html
    prices = shown(client.get(address(Price, "changelist") + "?freshness=stale"))
    assert prices == {Price.objects.get(article_id="AR3357").pk}


def test_all_articles_lead_to_the_page_of_their_kind(
    catalog: None, saskia: User, client_of: ClientOf
) -> None:
    response = client_of(saskia).get(address(Article, "change", quote("SYS-821GE-TNHR")))
    assert response["Location"] == address(Server, "change", "SYS-821GE-TNHR")


def test_accelerators_are_chosen_by_typing(catalog: None, saskia: User, client_of: ClientOf) -> None:
    query = "app_label=catalog&model_name=server&field_name=accelerators&term=h200-"
    response = client_of(saskia).get(f"{reverse('admin:autocomplete')}?{query}")
    assert {each["id"] for each in response.json()["results"]} == {
        "gh200-144gb", "gh200-96gb", "h200-nvl-141gb", "h200-sxm5-141gb",
    }  # fmt: skip


def test_a_model_with_a_slash_in_its_name_has_a_history(
    catalog: None, carlo: User, client_of: ClientOf
) -> None:
    row = AiModel.objects.get(key="openai/gpt-oss-120b")
    html = client_of(carlo).get(address(AiModel, "history", row.pk)).content.decode()
    assert address(AiModel, "simple_history", row.pk, row.history.get().pk) in html


# ── a model from its config.json ────────────────────────────────────────────────────────────────────────────────

CONFIG = {
    "model_type": "qwen3_moe", "hidden_size": 2048, "num_hidden_layers": 48, "num_attention_heads": 32,
    "num_key_value_heads": 4, "head_dim": 128, "vocab_size": 151936, "num_experts": 128, "num_experts_per_tok": 8,
    "moe_intermediate_size": 768, "intermediate_size": 6144, "decoder_sparse_step": 1, "tie_word_embeddings": False,
    "quantization_config": {"quant_method": "fp8", "modules_to_not_convert": ["self_attn.q_proj"]},
}  # fmt: skip


def config_file(content: bytes = json.dumps(CONFIG).encode()) -> SimpleUploadedFile:
    return SimpleUploadedFile("config.json", content)


def test_a_model_is_added_from_its_config(catalog: None, carlo: User, client_of: ClientOf) -> None:
    client = client_of(carlo)
    page = address(AiModel, "import")
    assert page in client.get(address(AiModel, "changelist")).content.decode()
    assert inline_code(client.get(page)) == []
    response = client.post(page, {"key": "own/Model-30B", "file": config_file()})
    assert response.status_code == 302, response.context["form"].errors
    assert not AiModel.objects.filter(key="own/Model-30B").exists()
    data = _form_data(client.get(response["Location"]))
    saved = client.post(address(AiModel, "add"), data)
    assert saved.status_code == 302, _errors(saved)
    row = AiModel.objects.get(key="own/Model-30B")
    assert (row.name, row.total_params_b, row.active_params_b) == ("Model-30B", 30.532, 3.353)
    assert (row.native_format, row.sixteen_bit, row.gated_feed_forward) == ("fp8", ["attention"], True)
    assert row.checked_on == timezone.localdate()


@pytest.mark.parametrize(
    ("entries", "field", "sentence"),
    [
        ({"key": "own/New", "file": config_file(b"{")}, "file", "This is no JSON"),
        ({"key": "own/New", "text": '{"vocab": 1}'}, "text", "does not describe a language model"),
        ({"key": "own/New"}, "text", "Choose the file, or paste its contents."),
        ({"key": "qwen/qwen3-8b", "text": json.dumps(CONFIG)}, "key", "The catalog has this model already"),
    ],
)
def test_a_config_that_is_none_is_told_at_its_field(
    catalog: None, carlo: User, client_of: ClientOf, entries: dict[str, Any], field: str, sentence: str
) -> None:
    errors = client_of(carlo).post(address(AiModel, "import"), entries).context["form"].errors
    assert list(errors) == [field]
    assert sentence in errors[field][0]


def test_a_model_is_added_by_its_name_where_there_is_a_hub(
    catalog: None, carlo: User, client_of: ClientOf, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MODEL_HUB_URL = "https://hub.example"
    monkeypatch.setattr(admin_models, "fetch_config", lambda name, asker: json.dumps(CONFIG))
    client = client_of(carlo)
    assert "we fetch it from hub.example" in client.get(address(AiModel, "import")).content.decode()
    response = client.post(address(AiModel, "import"), {"key": "own/Model-30B"})
    data = _form_data(client.get(response["Location"]))
    assert data["source"] == "https://hub.example/own/Model-30B/resolve/main/config.json"


def test_who_may_not_add_models_reads_no_config(catalog: None, saskia: User, client_of: ClientOf) -> None:
    client = client_of(saskia)
    assert address(AiModel, "import") not in client.get(address(AiModel, "changelist")).content.decode()
    assert client.post(address(AiModel, "import"), {"key": "own/New"}).status_code == 403


def test_figures_cannot_be_made_up(catalog: None, carlo: User, client_of: ClientOf) -> None:
    html = client_of(carlo).get(address(AiModel, "add") + "?figures=made:up").content.decode()
    assert "read the config again" in html


# ── a price list ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def upload() -> Callable[[bytes], dict[str, Any]]:
    def build(content: bytes) -> dict[str, Any]:
        return {
            "file": SimpleUploadedFile("list.csv", content),
            "source": "Distributor, December",
            "stated_on": "2026-12-01",
            "valid_from": "2026-12-01",
            "currency": "EUR",
        }

    return build


IMPORT = "/admin/catalog/price/import/"


def test_a_price_list_is_shown_before_it_is_taken_over(
    catalog: None, saskia: User, client_of: ClientOf, upload: Callable[[bytes], dict[str, Any]]
) -> None:
    client = client_of(saskia)
    Price.objects.filter(article_id="l4").update(demonstration=False)
    assert client.get(IMPORT).status_code == 200
    response = client.post(IMPORT, upload(b"SKU;Price\nl40s;9000\nnothing;1\nl4;2950\n"))
    html = response.content.decode()
    assert inline_code(response) == []
    assert "1 new, 0 corrected, 1 stated again" in html
    assert "There is no article &#x27;nothing&#x27;." in html
    assert "+4.7 %" in html
    assert Price.objects.filter(article_id="l40s").count() == 1
    response = client.post(IMPORT, {"plan": response.context["signed"]}, follow=True)
    assert "1 price was changed." in response.content.decode()
    new = Price.objects.get(article_id="l40s", valid_from=date(2026, 12, 1))
    assert new.amount == Decimal(9000)
    assert new.history.get().history_user == saskia


def test_a_preview_cannot_be_tampered_with(catalog: None, saskia: User, client_of: ClientOf) -> None:
    html = client_of(saskia).post(IMPORT, {"plan": "eyJ9:made-up"}, follow=True).content.decode()
    assert "choose the list again" in html


def test_a_preview_that_the_catalog_overtook_changes_nothing(
    catalog: None, saskia: User, client_of: ClientOf, upload: Callable[[bytes], dict[str, Any]]
) -> None:
    client = client_of(saskia)
    response = client.post(IMPORT, upload(b"SKU;Price\nl4;3000\nl40s;9000\n"))
    signed = response.context["signed"]
    Price.objects.filter(article_id="l40s").update(valid_until=date(2027, 6, 30))
    html = client.post(IMPORT, {"plan": signed}, follow=True).content.decode()
    assert "Nothing was changed" in html
    assert Price.objects.get(article_id="l4").amount == 2950


def test_a_file_that_is_no_list_is_told_at_the_file(
    catalog: None, saskia: User, client_of: ClientOf, upload: Callable[[bytes], dict[str, Any]]
) -> None:
    response = client_of(saskia).post(IMPORT, upload(b"\x81\x8d\xff"))
    assert response.context["form"].errors["file"] == ["The file is no text; save it as CSV in UTF-8."]


def test_only_who_sets_prices_imports_them(catalog: None, client_of: ClientOf, db: None) -> None:
    viewer = User.objects.create_user("vera", is_staff=True)
    assert client_of(viewer).get(IMPORT).status_code == 403
