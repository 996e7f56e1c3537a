"""What a sized load is started with: words of a command, files, and what the reader must know. All frozen."""

from collections.abc import Mapping
from typing import Any

from catalog.quantity import Frozen, Message
from quotes.sizing.trace import Finding, Severity


class Setting(Frozen):
    """A word that whoever starts the command fills in, as an environment variable. Without `default` it must be
    given; `hint` says what, in plain letters."""

    name: str
    default: str = ""
    hint: str = ""


type Word = str | Setting


class Command(Frozen):
    """A program and its words, never a line of shell: who writes it down quotes it."""

    words: tuple[Word, ...]
    environment: Mapping[str, str] = {}

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Each setting once, in order."""
        return tuple({word.name: word for word in self.words if isinstance(word, Setting)}.values())

    def with_default(self, name: str, default: str) -> "Command":
        """The same with another default for one setting."""
        words = (
            word.model_copy(update={"default": default})
            if isinstance(word, Setting) and word.name == name
            else word
            for word in self.words
        )
        return self.model_copy(update={"words": tuple(words)})


class LaunchFile(Frozen):
    """One file of a load. `documents` are written as YAML, one after the other; else `text` holds."""

    name: str
    text: str = ""
    documents: tuple[Mapping[str, Any], ...] = ()


class Container(Frozen):
    """An image, and the version whose behaviour was measured; empty: whoever runs it chooses."""

    image: str
    version: str = ""
    measured: str = ""  # where, for the documentation


CHOOSE = "CHOOSE-A-VERSION"


class Resources(Frozen):
    """What one started unit (a replica, or a job's part on one server) asks of the machine it runs on."""

    units: int  # replicas of a service, servers of a job
    gpus: int  # per unit
    gpu_resource: str  # name in Kubernetes; empty: none is known
    gres: str = ""  # of a part of a GPU, in Slurm's words; empty: whole GPUs
    cpus: int
    memory_gib: int


class LoadLaunch(Frozen):
    """How one service or job is started. Without a `command`, `findings` says why."""

    load: str
    folder: str  # of its files; also the name it is served under
    kind: str  # service or job
    tool: str = ""
    command: Command | None = None
    container: Container | None = None
    resources: Resources
    files: tuple[LaunchFile, ...] = ()
    findings: tuple[Finding, ...] = ()


class LaunchPlan(Frozen):
    """Every load of one system. Empty for a system that was sized before settings were kept."""

    loads: tuple[LoadLaunch, ...] = ()


class Way(Frozen):
    """What a tool's renderer says of a load."""

    tool: str = ""
    command: Command | None = None
    container: Container | None = None
    files: tuple[LaunchFile, ...] = ()  # that the command reads
    findings: tuple[Finding, ...] = ()


def note(message: Message, *, warns: bool = False) -> Finding:
    return Finding(severity=Severity.WARNING if warns else Severity.INFO, message=message)
