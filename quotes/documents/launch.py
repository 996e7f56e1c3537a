"""Start commands as files to download: text or YAML, and all of them in one archive with directions."""

import json
import zipfile
from collections.abc import Iterator
from io import BytesIO
from typing import Any, NamedTuple

import yaml
from django.utils.translation import gettext as _

from configurator.formats import say
from configurator.wizard.presets import load_title
from quotes.launch import LaunchFile, LaunchPlan, LoadLaunch
from quotes.launch.shell import body
from quotes.sizing.trace import Finding, Severity

MADE_AT = (1980, 1, 1, 0, 0, 0)  # equal plans give equal archives
RUNS, READS = 0o755, 0o644


class Shown(NamedTuple):
    """One load on the page."""

    launch: LoadLaunch
    name: str
    command: str  # with what it asks for, to copy as it stands
    warnings: tuple[Finding, ...]
    notes: tuple[Finding, ...]


def shown(plan: LaunchPlan) -> list[Shown]:
    """The loads of a plan with their commands as they are typed."""
    return [
        Shown(
            load,
            load_title(load.load),
            body(load.command, prefix="") if load.command else "",
            warnings=tuple(found for found in load.findings if found.severity is Severity.WARNING),
            notes=tuple(found for found in load.findings if found.severity is Severity.INFO),
        )
        for load in plan.loads
    ]


def content(file: LaunchFile) -> str:
    """A file as it is downloaded."""
    if not file.documents:
        return file.text
    documents = [_plain(document) for document in file.documents]
    return yaml.safe_dump_all(documents, sort_keys=False, allow_unicode=True, width=10_000)


def _plain(value: Any) -> Any:
    """Copies of what is repeated: YAML would write a reference to the first one."""
    return json.loads(json.dumps(value))


def archive(plan: LaunchPlan, title: str) -> bytes:
    """A ZIP with one folder per load and a README in the active language."""
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive_file:
        _add(archive_file, "README.md", readme(plan, title), READS)
        for load in plan.loads:
            for file in load.files:
                mode = RUNS if file.name.endswith((".sh", ".sbatch")) else READS
                _add(archive_file, f"{load.folder}/{file.name}", content(file), mode)
    return made.getvalue()


def _add(archive_file: zipfile.ZipFile, name: str, text: str, mode: int) -> None:
    entry = zipfile.ZipInfo(name, MADE_AT)
    entry.external_attr = mode << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive_file.writestr(entry, text.encode())


def readme(plan: LaunchPlan, title: str) -> str:
    """Directions in Markdown."""
    lines = [
        f"# {_('Ready to run')}: {_line(title)}" if title else f"# {_('Ready to run')}",
        _(
            "These files start every service and job of the proposal with the settings that it was sized with."
        ),
        _(
            "Try them on a test machine first. Change a setting and the memory and speed of the proposal may no longer "
            "hold."
        ),
        f"## {_('How to use them')}",
        "\n".join(f"{number}. {step}" for number, step in enumerate(_steps(plan), 1)),
        *(_of_load(load) for load in plan.loads),
    ]
    return "\n\n".join(lines) + "\n"


def _steps(plan: LaunchPlan) -> Iterator[str]:
    """In the order in which they are taken."""
    kinds = {load.kind for load in plan.loads}
    yield _("Read the remarks about each service and job below: they say what is still to be chosen or made.")
    yield _("Where a version of an image must be chosen, the file says CHOOSE-A-VERSION.")
    yield _(
        "There is no password or token in these files. Give your own to the machine that downloads the model, never to "
        "a file that you share."
    )
    yield _(
        "Keep downloaded models on a volume that the containers share: every new one would download them again."
    )
    if "service" in kinds:
        yield _("Start the services, each from its own folder, in one of these ways:") + _ways()
        yield _(
            "Loading takes minutes. A service is ready when it answers at /health on its port; send it one question "
            "then."
        )
    if "job" in kinds:
        yield (
            _("Start the jobs in the same way, when their remarks do not ask to stop a service first.")
            if "service" in kinds
            else _("Start the jobs, each from its own folder, in one of these ways:") + _ways()
        )
    yield _("Measure with your own work, and compare with the figures of the proposal.")


def _ways() -> str:
    ways = (
        _("By hand: open a folder and run `bash start.sh`. It says what is still to be filled in."),
        _("With Slurm: open a folder and run `sbatch slurm.sbatch`."),
        _(
            "With Kubernetes: run `kubectl create configmap NAME --from-file=FOLDER` with the name of the "
            "folder twice, fill in the empty values, and run `kubectl apply -f kubernetes.yaml`."
        ),
    )
    return "".join(f"\n   - {way}" for way in ways)


def _of_load(load: LoadLaunch) -> str:
    rows = [
        f"## {load.folder}",
        _line(load_title(load.load)),
        *(f"- {_line(say(finding.message))}" for finding in load.findings),
    ]
    rows += [f"- `{file.name}`" for file in load.files]
    return "\n".join((*rows[:1], "", rows[1], "", *rows[2:]))


def _line(text: str) -> str:
    """On one line: a name may not add lines of its own."""
    return " ".join(text.split())
