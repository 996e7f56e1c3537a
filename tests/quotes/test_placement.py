"""The placement table, the drawing that follows it, and the start of what shares an accelerator."""

from xml.etree import ElementTree

import pytest
from django.utils.translation import override

from configurator.wizard.presets import load_title
from quotes.documents.svg import ENGLISH
from quotes.launch import launch_plan
from quotes.presentation.placement import placement_page, rows, runs_on
from quotes.sizing.hardware.placed import seats_of
from quotes.sizing.results import Placed, SizedSystem
from tests.quotes.conftest import sized as proposal_of
from tests.sizing.test_sharing import WORKLOADS, sized

pytestmark = pytest.mark.usefixtures("english")


def shared(card: str) -> SizedSystem:
    return sized(WORKLOADS["smallest"], card).systems[0]


def test_every_replica_has_a_row_with_its_part_memory_and_load() -> None:
    system = shared("L40S")
    table = list(rows(system.candidate.system.placement))
    assert {row.work for row in table} == {"chat", "embedding", "rerank", "Speech"}
    assert any("(MPS)" in row.part for row in table)
    assert all("GiB" in row.memory and row.busy.endswith("%") for row in table)
    with override("nl"):
        assert any(
            row.part == "heel"
            for row in rows(sized(WORKLOADS["large"], "L4").systems[0].candidate.system.placement)
        )


def test_servers_alike_are_one_row() -> None:
    alike = [
        Placed(server=server, first=1, accelerators=8, load="train", replica=server, memory_gib=70)
        for server in range(1, 17)
    ]
    odd = Placed(server=17, first=1, accelerators=4, load="train", replica=17)
    first, last = rows([*alike, odd])
    assert (first.server, first.accelerator, first.replica) == ("1–16", "1–8", "1–16")
    assert (first.memory, first.busy) == ("70\u202fGiB", "fully, while it runs")
    assert (last.server, last.memory) == ("17", "unknown")


def test_accelerators_in_a_row_that_do_one_job_are_one_row() -> None:
    job = [Placed(server=1, first=first, accelerators=1, load="train", replica=1) for first in (2, 3, 4, 7)]
    services = [Placed(server=1, first=one, accelerators=1, load="chat", replica=one) for one in (5, 6)]
    table = [(row.accelerator, row.replica) for row in rows([*job, *services])]
    assert table == [("2–4", "1"), ("7", "1"), ("5", "5"), ("6", "6")]


def test_the_drawing_follows_the_table() -> None:
    system = shared("H100 NVL 94GB")
    page = placement_page(system, WORKLOADS["smallest"], ENGLISH)
    drawn = ElementTree.fromstring(page["placement_drawing"])  # noqa: S314
    said = " ".join(node.text or "" for node in drawn.iter())
    for load in system.candidate.loads:
        assert load_title(load.load) in said
    parts = [load for load in system.candidate.loads if load.portion]
    assert f"{load_title(parts[0].load)}: a part of 1 accelerators on 1 servers." in said
    assert len(page["placement"]) == len(seats_of(system.candidate.system.placement))
    assert [str(note.message) for note in page["sharing"]]


def test_one_load_on_one_server_needs_no_table() -> None:
    proposal = proposal_of("municipality")
    page = placement_page(proposal.sizing.recommended, proposal.sizing.workload, ENGLISH)
    assert page == {"placement": [], "placement_drawing": "", "sharing": ()}


def test_the_layout_says_that_it_is_a_part() -> None:
    said = {runs_on(load) for load in shared("H100 NVL 94GB").candidate.loads}
    assert any(words.startswith("a part of a GPU: ") and words.endswith("(MIG)") for words in said)


@pytest.mark.parametrize(
    ("card", "gres", "resource"),
    [("L40S", "mps:", "nvidia.com/gpu.shared"), ("H100 NVL 94GB", "gpu:", "nvidia.com/mig-")],
)
def test_what_shares_is_started_on_its_part(card: str, gres: str, resource: str) -> None:
    system = shared(card)
    launches = {launch.load: launch for launch in launch_plan(system, WORKLOADS["smallest"]).loads}
    for load in system.candidate.loads:
        launch = launches[load.load]
        if load.portion is None:
            assert not launch.resources.gres
            continue
        assert launch.resources.gres.startswith(gres)
        assert launch.resources.gpu_resource.startswith(resource)
        assert any(f"#SBATCH --gres={launch.resources.gres}" in file.text for file in launch.files)
        assert any("MIG" in str(note.message) or "MPS" in str(note.message) for note in launch.findings)
        if load.portion.kind == "mps" and launch.command:
            share = launch.command.environment["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"]
            assert int(share) == round(100 * load.portion.compute_fraction)


def test_engines_on_one_accelerator_do_not_ask_for_more_memory_than_there_is() -> None:
    for system in sized(WORKLOADS["smallest"], "L40S").systems:
        for load in system.candidate.loads:
            if load.portion and load.settings:
                assert load.settings.memory_fraction <= load.portion.memory_fraction
