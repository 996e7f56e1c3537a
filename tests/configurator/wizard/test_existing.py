"""Machines that are there already: pasted or chosen by hand, kept clean, and part of the Workload."""

from typing import Any

import pytest
from django.test import Client

from catalog.specs import CatalogSnapshot
from configurator.existing import PASTE_MAX
from configurator.models import Draft
from configurator.wizard.answers import assess
from configurator.workload import Workload
from tests.configurator.existing import pastes
from tests.configurator.pages import read, send

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("catalog", "english")]

USE = {"use": {"use_case": "document_chat"}}


@pytest.fixture
def draft() -> Draft:
    return Draft.objects.create(answers=USE, language="en")


def answer(client: Client, draft: Draft, **typed: Any) -> str:
    """Post the site step; the address that the answer leads to."""
    client.cookies["django_language"] = "en"
    response = send(client, f"/plan/{draft.token}/site/", {"has_gpus": "yes", **typed})
    assert response.status_code == 302
    draft.refresh_from_db()
    return response.headers["Location"]


def workload(draft: Draft, seed: CatalogSnapshot) -> Workload:
    found = assess(draft.answers, seed)
    assert found.workload is not None, found.problems
    return found.workload


def test_a_paste_becomes_machines(client: Client, draft: Draft, seed: CatalogSnapshot) -> None:
    assert answer(client, draft, gpu_paste=pastes.A100_TWICE, count_gpus="yes").endswith("/plan/")
    found = workload(draft, seed)
    (machine,) = found.existing
    assert (machine.name, machine.driver, machine.pasted, found.count_existing) == (
        "gpu01",
        "550.54.15",
        True,
        True,
    )
    assert [(gpu.sku, gpu.memory_used_mib) for gpu in machine.gpus] == [
        ("a100-pcie-40gb", 4),
        ("a100-pcie-40gb", 38120),
    ]


def test_nothing_private_reaches_the_database(client: Client, draft: Draft) -> None:
    for text in (*pastes.ALL.values(), f"not a GPU {pastes.UUID}\nSerial: {pastes.SERIAL}"):
        answer(client, draft, gpu_paste=text)
        for private in (pastes.UUID, pastes.SERIAL, "secret", "4711", "jan@"):
            assert private not in str(draft.answers)


def test_the_page_shows_the_clean_copy_and_saving_it_again_changes_nothing(
    client: Client, draft: Draft
) -> None:
    answer(client, draft, gpu_paste=pastes.QUERY)
    kept, revision = draft.answers["site"]["gpu_paste"], draft.revision
    page = read(client.get(f"/plan/{draft.token}/site/"))
    assert page.shown["gpu_paste"].strip() == kept
    answer(client, draft)
    assert (draft.answers["site"]["gpu_paste"], draft.revision) == (kept, revision)


def test_rows_chosen_by_hand(client: Client, draft: Draft, seed: CatalogSnapshot) -> None:
    rows = {
        "gpu_rows_0_machine": "werkplaats.example.nl", "gpu_rows_0_gpu": "geforce-rtx-3090", "gpu_rows_0_count": "4",
        "gpu_rows_1_machine": "werkplaats", "gpu_rows_1_gpu": "t4", "gpu_rows_1_count": "",
        "gpu_rows_3_machine": "oude <b>server</b>", "gpu_rows_3_gpu": "v100-pcie-32gb", "gpu_rows_3_count": "2",
    }  # fmt: skip
    answer(client, draft, **rows)
    found = workload(draft, seed)
    assert [(one.name, one.pasted, [(gpu.sku, gpu.count) for gpu in one.gpus]) for one in found.existing] == [
        ("werkplaats", False, [("geforce-rtx-3090", 4), ("t4", 1)]),
        ("oude b server b", False, [("v100-pcie-32gb", 2)]),
    ]
    shown = read(client.get(f"/plan/{draft.token}/site/")).shown
    assert [shown[f"gpu_rows_0_{part}"] for part in ("machine", "gpu", "count")] == [
        "werkplaats",
        "geforce-rtx-3090",
        "4",
    ]
    page = client.get(f"/plan/{draft.token}/check/").content.decode()
    assert "werkplaats: 4 × GeForce RTX 3090, 1 × T4; oude b server b: 2 × V100 PCIe 32GB" in page


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({}, "Paste what nvidia-smi prints, or choose your GPUs by hand."),
        ({"gpu_paste": "hello"}, "We find no GPU in this."),
        ({"gpu_paste": '<?xml version="1.0" ?>\n<nvidia_smi_log>\n' + "<a>1</a>\n" * 900}, "Leave out -x"),
        ({"gpu_paste": "\x00bash: nvidia-smi: command not found"}, "not found there"),
        ({"gpu_paste": "2 x L4\n" * 900}, "more than we can read"),
        ({"gpu_paste": "x" * (PASTE_MAX + 1)}, "more than we can read"),
        ({"gpu_paste": pastes.A100_TWICE + "\n" * 30_000 + "end"}, "more than we can read"),
        ({"gpu_rows_0_machine": "a"}, "Choose the kind of GPU"),
        ({"gpu_rows_0_gpu": "no-such", "gpu_rows_0_count": "1"}, "Choose the kind of GPU"),
        ({"gpu_rows_0_gpu": "t4", "gpu_rows_0_count": "many"}, "a whole number from 1"),
        ({"gpu_rows_0_gpu": "t4", "gpu_rows_0_count": "0"}, "a whole number from 1"),
        ({"gpu_rows_0_gpu": "t4", "gpu_rows_0_count": "900", "gpu_paste": "900 x L4"}, "At most 64 machines"),
    ],
)
def test_what_cannot_be_is_said_at_the_question(
    client: Client, draft: Draft, typed: dict[str, str], sentence: str
) -> None:
    location = answer(client, draft, **typed)
    assert "show=errors" in location
    page = client.get(location)
    assert sentence in page.content.decode()
    assert "field__error" in page.content.decode()


def test_without_machines_nothing_changes(client: Client, draft: Draft, seed: CatalogSnapshot) -> None:
    answer(client, draft, has_gpus="no", gpu_paste=pastes.A100_TWICE)
    found = workload(draft, seed)
    assert (found.existing, found.count_existing) == ((), False)


@pytest.mark.parametrize(
    ("name", "count", "wanted"),
    [
        ("gpu01", "2", [("gpu01", ["t4", "a10", "a10"])]),  # which the unknown ones are
        ("gpu01", "1", [("gpu01", ["t4", "a10", ""])]),
        ("gpu01", "3", [("gpu01", ["t4", "", ""]), ("gpu01", ["a10"])]),  # more than were pasted
        ("gpu02", "2", [("gpu01", ["t4", "", ""]), ("gpu02", ["a10"])]),
        ("", "2", [("gpu01", ["t4", "", ""]), ("", ["a10"])]),
    ],
)
def test_a_row_says_which_the_unknown_gpus_of_a_machine_are(
    client: Client,
    draft: Draft,
    seed: CatalogSnapshot,
    name: str,
    count: str,
    wanted: list[tuple[str, list[str]]],
) -> None:
    lines = "".join(f"{gpu}, 22 MiB, 40\n" for gpu in ("Tesla T4", "NVIDIA A10G", "NVIDIA A10G"))
    answer(
        client, draft, gpu_paste="host: gpu01\nname, memory.used [MiB], temperature.gpu\n" + lines,
        gpu_rows_0_machine=name, gpu_rows_0_gpu="a10", gpu_rows_0_count=count,
    )  # fmt: skip
    found = workload(draft, seed).existing
    assert [(one.name, [gpu.sku for gpu in one.gpus]) for one in found] == wanted
    assert [gpu.temperature_c for gpu in found[0].gpus] == [40, 40, 40]


def test_a_gpu_that_nobody_knows_stays_unknown(client: Client, draft: Draft, seed: CatalogSnapshot) -> None:
    answer(client, draft, gpu_paste="2 x Voodoo 5")
    assert [(gpu.name, gpu.sku) for gpu in workload(draft, seed).existing[0].gpus] == [("Voodoo 5", "")]
    assert "unknown GPU ‘Voodoo 5’" in client.get(f"/plan/{draft.token}/check/").content.decode()
