"""Own measurements: entered in the admin or from a file, checked at the field, counted in proposals."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from catalog.models import Accelerator, AiModel
from catalog.snapshot import snapshot
from configurator.workload import Workload
from quotes import services
from quotes.models import Measurement
from quotes.services.measurements import compared, current_knowledge
from quotes.sizing.knowledge import shipped
from quotes.sizing.results import LoadOption
from quotes.sizing.trace import Badge

type ClientOf = Callable[[User], Client]

ADD = "admin:quotes_measurement_add"
LIST = "admin:quotes_measurement_changelist"
IMPORT = "admin:quotes_measurement_import"
LLAMA = "meta-llama/Meta-Llama-3.1-8B"


@pytest.fixture(autouse=True)
def _in_english(settings: Any) -> None:
    settings.LANGUAGE_CODE = "en"


@pytest.fixture
def sales(client_of: ClientOf, saskia: User) -> Client:
    return client_of(saskia)


def entries(**changes: Any) -> dict[str, Any]:
    """What somebody fills in: Llama 8B on one MI300X, of which nothing was published."""
    usual = {
        "accelerator": "instinct-mi300x", "model": AiModel.objects.get(key=LLAMA).pk, "engine": "vllm",
        "engine_version": "0.14.0", "precision": "bf16", "kv_precision": "auto", "tp": 1, "dp": 1,
        "input_tokens": 1500, "output_tokens": 400, "concurrency": 8, "burst": "on", "ttft_ms": "", "tpot_ms": 12,
        "tokens_s_per_gpu": "", "measured_on": "2026-11-20", "source": "our bench, run 7", "notes": "", "active": "on",
    }  # fmt: skip
    return {**usual, **changes}


def measured(**changes: Any) -> Measurement:
    fields = {name: value for name, value in entries(**changes).items() if value != ""}
    fields |= {"accelerator_id": fields.pop("accelerator"), "model_id": fields.pop("model")}
    return Measurement.objects.create(**{**fields, "burst": True, "active": True})


def text_of(response: HttpResponse) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def errors_of(response: HttpResponse) -> dict[str, list[str]]:
    return {field: list(found) for field, found in response.context["adminform"].form.errors.items()}  # type: ignore[attr-defined]


# ── the form ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_measurement_is_stored_with_who_and_says_what_it_changed(
    catalog: None, sales: Client, saskia: User
) -> None:
    response = sales.post(reverse(ADD), entries(), follow=True)
    row = Measurement.objects.get()
    assert (row.entered_by, row.tpot_ms, row.ttft_ms, row.active) == (saskia, 12.0, None, True)
    assert "the model said" in text_of(response)
    assert row.history.get().history_user == saskia
    page = sales.get(reverse("admin:quotes_measurement_change", args=[row.pk]))
    assert [each["measured"] for each in page.context["comparison"]] == ["–", "12\u202fms", "–"]


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"tpot_ms": ""}, "tpot_ms", "at least one"),
        ({"source": ""}, "source", "required"),
        ({"measured_on": "2099-01-01"}, "measured_on", "still to come"),
        ({"concurrency": 0}, "concurrency", "greater than or equal to 1"),
        ({"accelerator": "nothing"}, "accelerator", "valid choice"),
        ({"tp": 3}, "tp", "do not divide"),
        ({"tpot_ms": 0.2}, "tpot_ms", "faster than possible"),
        ({"tokens_s_per_gpu": 9000}, "tokens_s_per_gpu", "contradicts"),
        ({"tpot_ms": 900}, "sure", "the model says"),
        ({"tpot_ms": "fast"}, "tpot_ms", "number"),
    ],
)
def test_a_mistake_is_told_at_its_field_and_nothing_is_stored(
    catalog: None, sales: Client, changes: dict[str, Any], field: str, words: str
) -> None:
    response = sales.post(reverse(ADD), entries(**changes))
    assert words in " ".join(errors_of(response)[field])
    assert not Measurement.objects.exists()


def test_who_is_sure_may_store_what_lies_far_off(catalog: None, sales: Client) -> None:
    sales.post(reverse(ADD), entries(tpot_ms=900, sure="on"))
    assert Measurement.objects.get().sure


def test_the_same_measurement_is_not_stored_twice(catalog: None, sales: Client) -> None:
    sales.post(reverse(ADD), entries())
    response = sales.post(reverse(ADD), entries())
    assert "there already" in text_of(response)
    assert Measurement.objects.count() == 1


def test_looking_at_what_it_changes_stores_nothing_and_keeps_what_was_entered(
    catalog: None, sales: Client
) -> None:
    response = sales.post(reverse(ADD), entries(tpot_ms=13, source="look first", _preview="1"))
    assert "Nothing is stored yet" in text_of(response)
    assert [each["measured"] for each in response.context["comparison"]] == ["–", "13\u202fms", "–"]
    assert response.context["adminform"].form["source"].value() == "look first"
    assert not Measurement.objects.exists()
    row = measured()
    page = reverse("admin:quotes_measurement_change", args=[row.pk])
    response = sales.post(page, entries(tpot_ms=14, _preview="1"))
    assert response.context["adminform"].form["tpot_ms"].value() == 14
    row.refresh_from_db()
    assert row.tpot_ms == 12
    assert "at least one" in str(errors_of(sales.post(page, entries(tpot_ms="", _preview="1"))))


def test_the_form_speaks_dutch(catalog: None, sales: Client, settings: Any) -> None:
    settings.LANGUAGE_CODE = "nl"
    response = sales.post(reverse(ADD), entries(tpot_ms=900))
    assert "het rekenmodel zegt" in str(errors_of(response)["sure"])


def test_no_row_without_a_figure_or_a_source_reaches_the_database(catalog: None) -> None:
    for figure, source in ((None, "x"), (1.0, "")):
        with pytest.raises(IntegrityError), transaction.atomic():
            Measurement.objects.create(
                accelerator_id="l4", model=AiModel.objects.first(), input_tokens=1, output_tokens=1, concurrency=1,
                tpot_ms=figure, source=source,
            )  # fmt: skip


# ── who may ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_roles(catalog: None, client_of: ClientOf, saskia: User, carlo: User) -> None:
    row = measured()
    delete = reverse("admin:quotes_measurement_delete", args=[row.pk])
    assert client_of(saskia).get(delete).status_code == 403
    assert client_of(carlo).get(delete).status_code == 200
    nobody = User.objects.create_user("nobody", is_staff=True)
    for name in (ADD, LIST, IMPORT):
        assert client_of(nobody).get(reverse(name)).status_code == 403
        assert client_of(saskia).get(reverse(name)).status_code == 200
    look = client_of(nobody).post(reverse(ADD), entries(_preview="1"))
    assert look.status_code == 403
    assert Client().get(reverse(LIST)).status_code == 302


# ── what proposals know ─────────────────────────────────────────────────────────────────────────────────────────

CHAT = {
    "services": [{"kind": "language", "model": {"key": LLAMA}, "precision": "bf16", "concurrent_requests": 8,
                  "prompt_tokens": 1500, "output_tokens": 400}],
}  # fmt: skip


def on_mi300x(proposal: Any) -> LoadOption:
    return next(
        load
        for system in proposal.sizing.systems
        for load in system.candidate.loads
        if load.accelerator == "instinct-mi300x"
    )


def test_knowledge_is_the_shipped_one_until_somebody_measures(catalog: None) -> None:
    assert current_knowledge(snapshot()) is shipped()
    row = measured()
    known = current_knowledge(snapshot())
    assert known is current_knowledge(snapshot())
    assert len(known.serving.evidence_rows) == len(shipped().serving.evidence_rows) + 1
    row.active = False
    row.save()
    assert current_knowledge(snapshot()) is shipped()
    row.active = True
    row.save()
    Accelerator.objects.filter(sku=row.accelerator_id).update(active=False, inactive_reason="gone")
    assert current_knowledge(snapshot()) == shipped()


def test_a_measurement_counts_at_once_and_is_shown_while_a_quote_keeps_what_it_used(catalog: None) -> None:
    kept = Accelerator.objects.get(sku="instinct-mi300x")
    Accelerator.objects.exclude(pk=kept.pk).update(active=False, inactive_reason="test")
    workload = Workload.model_validate(CHAT)
    before = services.proposal_for(workload)
    frozen = before.model_dump(mode="json")
    quick = on_mi300x(before).speed.tokens_s_per_user
    for load in (1, 1.2, 1.5):  # one request per replica
        measured(concurrency=load, tpot_ms=1000 / quick.value * 1.5)
    after = on_mi300x(services.proposal_for(workload)).speed.tokens_s_per_user
    assert quick.badge is not Badge.MEASURED
    assert after.badge is Badge.MEASURED
    assert after.evidence_count == 3
    assert after.evidence[0].own
    assert "our bench, run 7" in after.evidence[0].source
    assert after.value < 0.8 * quick.value
    assert frozen == before.model_dump(mode="json")


def test_a_comparison_counts_the_other_measurements(catalog: None) -> None:
    first = measured()
    alone = compared(first)
    second = measured(concurrency=9)
    assert compared(second).before.tpot_ms != pytest.approx(alone.before.tpot_ms, rel=0.01)
    assert compared(first).after.tpot_ms == pytest.approx(compared(second).after.tpot_ms, rel=0.2)


# ── files ───────────────────────────────────────────────────────────────────────────────────────────────────────

HEAD = (
    "id,model,gpu,gpu_count,tp,pp,dp,ep,engine,engine_version,weights_precision,kv_precision,input_tokens,"
    "output_tokens,concurrency,ttft_ms,tpot_ms,measured_on,source,spec_decode,flags"
)
GOOD = f"a,{LLAMA},MI300X,1,1,1,1,1,vllm,0.14.0,bf16,,1500,400,8,120.123,12.345,2026-11-20,our bench,none,"


def upload(client: Client, *lines: str) -> HttpResponse:
    file = SimpleUploadedFile("runs.csv", "\n".join([HEAD, *lines]).encode())
    return client.post(reverse(IMPORT), {"file": file})


def test_a_file_is_shown_first_and_stored_when_confirmed(catalog: None, sales: Client, saskia: User) -> None:
    response = upload(sales, GOOD, GOOD.replace(",8,120.123", ",16,"), GOOD)
    assert not Measurement.objects.exists()
    assert [each["line"] for each in response.context["usable"]] == [2, 3]
    assert "The same as line 2" in text_of(response)
    response = sales.post(reverse(IMPORT), {"rows": response.context["signed"]}, follow=True)
    assert "2 measurements were stored" in text_of(response)
    rows = Measurement.objects.order_by("concurrency")
    assert [(row.ttft_ms, row.tpot_ms, row.entered_by) for row in rows] == [
        (120.123, 12.345, saskia),
        (None, 12.345, saskia),
    ]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("MI300X", "Abacus 9", "no accelerator 'Abacus 9'"),
        (LLAMA, "nobody/nothing", "no model 'nobody/nothing'"),
        (LLAMA, "", "'model' is missing"),
        (",none,", ",mtp,", "guess tokens ahead"),
        (",none,", ",none,saturated", "flags"),
        (",1,1,1,1,1,", ",2,1,2,1,1,", "Pipeline"),
        ("12.345", "900", "the model says"),
        ("12.345", "twelve", "not a number"),
        ("2026-11-20", "some day", "not a date"),
        ("vllm", "abacus", "valid choice"),
        (",1500,", ",0,", "greater than or equal"),
        ("our bench", "", "required"),
    ],
)
def test_a_line_that_cannot_be_used_says_why(
    catalog: None, sales: Client, before: str, after: str, words: str
) -> None:
    response = upload(sales, GOOD.replace(before, after, 1))
    assert "Line 2:" in text_of(response)
    assert words.replace("'", "&#x27;") in text_of(response)
    assert not response.context.get("usable")


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02" * 50, b"a;b\n1;2\n", b'"open\n'])
def test_a_file_that_is_no_table_of_measurements_is_told_so(
    catalog: None, sales: Client, content: bytes
) -> None:
    response = sales.post(reverse(IMPORT), {"file": SimpleUploadedFile("x.csv", content)})
    assert response.status_code == 200
    assert not response.context.get("usable")
    assert sales.post(reverse(IMPORT), {"rows": "forged"}, follow=True).status_code == 200
    assert not Measurement.objects.exists()


def test_a_file_is_stored_whole_or_not_at_all(catalog: None, sales: Client) -> None:
    response = upload(sales, GOOD, GOOD.replace(",8,120.123", ",16,"))
    measured(concurrency=16, ttft_ms="", tpot_ms=12.345)
    response = sales.post(reverse(IMPORT), {"rows": response.context["signed"]}, follow=True)
    assert "Nothing was stored" in text_of(response)
    assert Measurement.objects.count() == 1
