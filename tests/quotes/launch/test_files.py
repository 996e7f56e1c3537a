"""Files that a machine reads: Bash, YAML and an archive. A hostile name stays a name."""

import os
import stat
import subprocess
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.utils.translation import override
from hypothesis import given
from hypothesis import strategies as st

from configurator.workload import Workload
from quotes.documents.launch import archive, content, readme
from quotes.launch import LaunchPlan, launch_plan
from quotes.launch.kubernetes import literal
from quotes.launch.nouns import Command, Setting
from quotes.launch.plan import folder_names
from quotes.launch.shell import HEAD, STRICT, asked, body, start_script
from quotes.sizing.results import SizedSystem
from tests.quotes.launch.plans import planned, systems, words
from tests.quotes.launch.test_commands import DOCUMENTED, every_scenario, served, trained
from tests.scenarios import load_workload

HOSTILE = (
    "$(touch hacked)", "`touch hacked`", "a; touch hacked", "it's \"quoted\"", "new\nline: yes", "--port", "$PATH",
    "${HOME}", "*", "~", "#", "a\\b", "- x: &y", "模型", "{{ x }}", "",
)  # fmt: skip
BASH = ("bash", "--noprofile", "--norc")


def bash(text: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[bytes]:
    (folder / "run.sh").write_text(text)
    environment = {"PATH": f"{folder}:{os.environ['PATH']}", **settings}
    return subprocess.run([*BASH, "run.sh"], cwd=folder, env=environment, capture_output=True, check=False)


@pytest.fixture
def echo(tmp_path: Path) -> Path:
    """A folder with a program `engine` that writes its words, each ended by a null."""
    program = tmp_path / "engine"
    program.write_text("#!/bin/sh\nprintf '%s\\0' \"$@\"\n")
    program.chmod(0o755)
    return tmp_path


def test_bash_reads_back_every_hostile_name(echo: Path) -> None:
    said = bash(start_script(Command(words=("engine", "serve", *HOSTILE))), echo)
    assert said.stdout.decode().split("\0")[:-1] == ["serve", *HOSTILE]
    assert not said.stderr
    assert {path.name for path in echo.iterdir()} == {"engine", "run.sh"}


def test_a_setting_is_its_value_its_default_or_a_stop(echo: Path) -> None:
    command = Command(
        words=(
            "engine",
            Setting(name="PORT", default="8000"),
            "--model",
            Setting(name="MODEL", hint="give one"),
        ),
    )
    script = start_script(command)
    given = bash(script, echo, MODEL="a $(touch hacked) b")
    assert given.stdout == b"8000\0--model\0a $(touch hacked) b\0"
    missing = bash(script, echo)
    assert missing.returncode != 0
    assert b"MODEL: give one" in missing.stderr
    assert not (echo / "hacked").exists()


@pytest.mark.parametrize("text", ["$(touch hacked)", "a}b", "`x`", "a\nb", '"'])
def test_a_default_that_bash_would_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="safely"):
        asked(Setting(name="PORT", default=text))
    with pytest.raises(ValueError, match="safely"):
        asked(Setting(name=f"A{text}", default="1"))


def test_kubernetes_expands_settings_and_nothing_else() -> None:
    assert literal(Setting(name="MODEL")) == "$(MODEL)"
    assert literal("a$(MODEL)b") == "a$$(MODEL)b"


@given(st.lists(st.text(max_size=60), max_size=6))
def test_every_name_gets_its_own_folder(names: list[str]) -> None:
    found = folder_names(names)
    assert len(set(found)) == len(names)
    for folder in found:
        assert folder[0].isascii() and folder[0].islower() and folder[0].isalpha()  # noqa: PT018
        assert set(folder) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
        assert len(folder) <= 63
        assert not folder.endswith("-")


# ── whole systems ───────────────────────────────────────────────────────────────────────────────────────────────


def documents(text: str) -> list[Any]:
    return list(yaml.safe_load_all(text))


def check_plan(plan: LaunchPlan, folder: Path) -> None:
    """Bash parses every script, YAML every configuration, and Kubernetes asks for the GPUs of each unit."""
    scripts = []
    for load in plan.loads:
        for file in load.files:
            text = content(file)
            if file.name.endswith((".sh", ".sbatch")):
                scripts.append(folder / f"{load.folder}-{file.name}")
                scripts[-1].write_text(text)
            else:
                assert all(isinstance(document, dict) for document in documents(text))
            if file.name == "slurm.sbatch":
                options = [line.removeprefix("#SBATCH --").split("=")[0] for line in text.splitlines()
                           if line.startswith("#SBATCH")]  # fmt: skip
                assert set(options) <= set(DOCUMENTED["slurm"]["options"])
                assert f"--gpus-per-node={load.resources.gpus}\n" in text
                assert f"srun --cpus-per-task={load.resources.cpus} " in text  # not inherited since 22.05
            if file.name == "kubernetes.yaml":
                first = documents(text)[0]
                pod = first["spec"]["template"]["spec"]["containers"][0]
                assert pod["resources"]["limits"] == {load.resources.gpu_resource: str(load.resources.gpus)}
                assert (
                    first["spec"]["template"]["spec"]["enableServiceLinks"] is False
                )  # or VLLM_PORT may be set
                units = first["spec"].get("replicas") or first["spec"]["completions"]
                assert units == load.resources.units
                assert first["metadata"]["name"] == load.folder
    for script in scripts:
        checked = subprocess.run([*BASH, "-n", str(script)], capture_output=True, check=False)
        assert checked.returncode == 0, (script.name, checked.stderr)


@every_scenario
def test_every_file_of_a_proposal_parses(name: str, tmp_path: Path) -> None:
    plans = [LaunchPlan(loads=loads) for _, loads in planned(name)]
    check_plan(plans[0], tmp_path)
    for plan in plans:
        assert plan.loads


def test_a_job_on_several_servers_meets_on_the_first() -> None:
    (option,) = systems("university")[0].candidate.loads
    wide = option.model_copy(
        update={"gpus": 16, "gpus_per_replica": 16, "gpus_in_one_node": 8,
                "layout": option.layout.model_copy(update={"dp": 16, "tp": 1, "pp": 1, "ep": 1})}
    )  # fmt: skip
    candidate = systems("university")[0].candidate.model_copy(update={"loads": (wide,)})
    system = systems("university")[0].model_copy(update={"candidate": candidate})
    (load,) = launch_plan(system, load_workload("university")).loads
    files = {file.name: content(file) for file in load.files}
    assert "#SBATCH --nodes=2\n" in files["slurm.sbatch"]
    assert 'NODE_RANK="$SLURM_NODEID" exec bash start.sh' in files["slurm.sbatch"]
    job, address = documents(files["kubernetes.yaml"])
    pod = job["spec"]["template"]["spec"]
    environment = {row["name"]: row.get("value") for row in pod["containers"][0]["env"]}
    assert (job["spec"]["completions"], job["spec"]["completionMode"]) == (2, "Indexed")
    assert pod["subdomain"] == address["metadata"]["name"]
    assert environment["MASTER_ADDR"] == f"{job['metadata']['name']}-0.{address['metadata']['name']}"
    assert environment["NNODES"] == "2"
    assert address["spec"]["clusterIP"] == "None"


@pytest.mark.parametrize(("scenario", "told"), [("municipality", True), ("software-house", False)])
def test_who_starts_a_chat_is_told_of_versions_that_only_complete_text(scenario: str, told: bool) -> None:
    for _system, (load,) in planned(scenario):
        assert any("Instruct" in str(one.message) for one in load.findings) is told


def test_services_that_share_a_server_get_ports_of_their_own() -> None:
    one = systems("law-firm")[0].candidate.loads[0]
    two = tuple(one.model_copy(update={"load": name}) for name in ("a", "b"))
    candidate = systems("law-firm")[0].candidate.model_copy(update={"loads": two})
    workload = load_workload("law-firm")
    services = tuple(workload.services[0].model_copy(update={"name": name}) for name in ("a", "b"))
    first, second = launch_plan(
        systems("law-firm")[0].model_copy(update={"candidate": candidate}),
        workload.model_copy(update={"services": services}),
    ).loads
    assert '"${PORT:=8100}"' in content(second.files[0])
    assert "${PORT:-8100}" in next(content(file) for file in second.files if file.name == "slurm.sbatch")
    # Each pod has an address of its own.
    addresses = [documents(content(load.files[-1]))[1]["spec"]["ports"] for load in (first, second)]
    assert addresses == [[{"port": 8000, "targetPort": 8000}]] * 2


def test_replicas_that_share_a_server_get_ports_of_their_own() -> None:
    (load,) = next(loads for _, loads in planned("software-house") if loads[0].resources.units > 1)
    slurm = next(content(file) for file in load.files if file.name == "slurm.sbatch")
    assert f"#SBATCH --array=0-{load.resources.units - 1}\n" in slurm
    assert "PORT=$((${PORT:-8000} + ${SLURM_ARRAY_TASK_ID:-0}))" in slurm


def hostile_system(name: str) -> tuple[SizedSystem, Workload]:
    """The law firm's system with a service, a job and a model of that name."""
    workload = load_workload("law-firm")
    system = systems("law-firm")[0]
    loads = tuple(
        load.model_copy(
            update={"load": f"{number}{name}", "model": load.model.model_copy(update={"hub_id": name})}
        )
        for number, load in enumerate(system.candidate.loads)
    )
    renamed = workload.model_copy(
        update={
            "services": tuple(part.model_copy(update={"name": f"0{name}"}) for part in workload.services),
            "jobs": tuple(part.model_copy(update={"name": f"1{name}"}) for part in workload.jobs),
        }
    )
    return system.model_copy(
        update={"candidate": system.candidate.model_copy(update={"loads": loads})}
    ), renamed


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_stays_a_name_in_every_file(name: str, echo: Path) -> None:
    plan = launch_plan(*hostile_system(name))
    assert [load.tool for load in plan.loads] == ["vllm", "trl"]
    check_plan(plan, echo)
    service = plan.loads[0]
    # A name that reads as an option is no name: then the model is asked for.
    used = "" if name.startswith("-") else name
    if used:
        assert words(service.command)[2] == name
        pod = documents(next(content(file) for file in service.files if file.name == "kubernetes.yaml"))[0]
        command = pod["spec"]["template"]["spec"]["containers"][0]["command"]
        assert command[2] == name.replace("$(", "$$(")
    (echo / "vllm").write_text((echo / "engine").read_text())
    (echo / "vllm").chmod(0o755)
    said = bash(next(content(file) for file in service.files if file.name == "start.sh"), echo, MODEL="m")
    assert said.stdout.decode().split("\0")[1] == (used or "m")
    assert not (echo / "hacked").exists()
    # Its README keeps every line its own, too.
    lines = readme(plan, f"{name}\n## mine").splitlines()
    assert lines[0].startswith("# ")
    assert "## mine" not in lines


def test_no_file_holds_or_asks_for_a_secret() -> None:
    for plan in (
        LaunchPlan(loads=loads) for name in ("law-firm", "university") for _, loads in planned(name)
    ):
        for load in plan.loads:
            text = "".join(content(file) for file in load.files).lower()
            assert not any(word in text for word in ("token:", "hf_token", "secret", "password", "api_key"))


def test_the_archive_is_the_same_each_time_and_scripts_can_run() -> None:
    _, loads = next(planned("law-firm"))
    plan = LaunchPlan(loads=loads)
    made = archive(plan, "Plan")
    assert made == archive(plan, "Plan")
    with zipfile.ZipFile(BytesIO(made)) as opened:
        assert opened.testzip() is None
        entries = {entry.filename: entry for entry in opened.infolist()}
        assert set(entries) == {"README.md"} | {
            f"{load.folder}/{file.name}" for load in loads for file in load.files
        }
        for name, entry in entries.items():
            executable = bool(entry.external_attr >> 16 & stat.S_IXUSR)
            assert executable == name.endswith((".sh", ".sbatch"))


def test_the_readme_says_the_order_of_steps() -> None:
    with override("en"):
        steps = readme(LaunchPlan(loads=next(planned("law-firm"))[1]), "Plan").split("## ")[1].splitlines()
        alone = readme(LaunchPlan(loads=next(planned("university"))[1]), "")
    numbered = [line for line in steps if line[:1].isdecimal()]
    assert [int(line.split(".")[0]) for line in numbered] == list(range(1, len(numbered) + 1))
    for earlier, later in (
        ("remarks", "CHOOSE"),
        ("CHOOSE", "Start the services"),
        ("/health", "Start the jobs"),
    ):
        assert [earlier in line for line in numbered].index(True) < [
            later in line for line in numbered
        ].index(True)
    assert "Start the services" not in alone
    assert "Start the jobs, each from its own folder" in alone


def test_the_readme_speaks_the_readers_language() -> None:
    _, loads = next(planned("factory"))
    plan = LaunchPlan(loads=loads)
    with override("nl"):
        assert "# Klaar om te starten: Plan" in readme(plan, "Plan")
        assert "geen startopdracht" in readme(plan, "Plan")
    with override("en"):
        assert "# Ready to run: Plan" in readme(plan, "Plan")


def test_commands_on_the_page_are_the_commands_in_the_files() -> None:
    for _, _option, way in (*served()[:5], *trained()[:5]):
        if way.command:
            typed, script = body(way.command, prefix=""), start_script(way.command)
            assert typed == script.removeprefix(HEAD + STRICT).replace("exec ", "")


def test_a_system_from_before_settings_were_kept_has_no_plan() -> None:
    system = systems("law-firm")[0]
    old = tuple(
        load.model_copy(update={"settings": None, "model": None, "stack": ""})
        for load in system.candidate.loads
    )
    frozen = system.model_copy(update={"candidate": system.candidate.model_copy(update={"loads": old})})
    assert launch_plan(frozen, load_workload("law-firm")) == LaunchPlan()
