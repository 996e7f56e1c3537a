"""Reading a paste: any text in, machines with GPUs out, or a sentence that says why not. Never an exception.

Several machines may follow each other. A machine is named by a prompt (`jan@gpu01:~$ nvidia-smi`), by a line such as
`host: gpu01`, `=== gpu01 ===` or ansible's `gpu01 | CHANGED | rc=0 >>`, by pdsh's `gpu01: ` before every line, or by a
line with nothing but its name right above the output.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from catalog.quantity import Frozen, Message, noop
from configurator.existing import cells
from configurator.existing.amd import AmdSmi, AmdTable, Rocm
from configurator.existing.book import Book
from configurator.existing.lists import Csv, Names
from configurator.existing.nvidia import Log, Table
from configurator.workload import ExistingMachine

PASTE_MAX = 500_000  # characters: `nvidia-smi -q` of some fifty GPUs
LINES_MAX = 20_000
LINE_MAX = 400
MACHINES_MAX = 64
GPUS_MAX = 1024

PROMPT = re.compile(r"^\s*[(\[]?[\w.-]{1,40}@([\w.-]{1,255})[:\s\]][^$#%]{0,200}[$#%](?:\s|$)")
SAID = re.compile(
    r"^[\s#=*>-]{0,10}(?:host|hostname|machine|server|node)\s*[:=]\s*(\S{0,255})", re.IGNORECASE
)
FRAMED = re.compile(r"^\s*[#=*~-]{2,}\s*([A-Za-z0-9][\w.-]{0,254}?)\s*[#=*~-]*\s*$")
ANSIBLE = re.compile(r"^([\w.-]{1,255})\s+\|\s+(?:CHANGED|SUCCESS|FAILED)\s+\|\s+rc=\d+\s*>>")
PDSH = re.compile(
    r"^([A-Za-z][\w.-]{0,254}):\s"
    r"(?=[|+]|NVIDIA-SMI|=====|GPU \d|\s{4}\S.*:|(?:name|index|count|driver_version|uuid)(?:,|$))"
)
ALONE = re.compile(r"^[A-Za-z][A-Za-z0-9_-]{0,62}(?:\.[A-Za-z0-9_.-]{1,190})?$")
MISSING = re.compile(
    r"smi.{0,3}(?:command|opdracht) (?:not found|niet gevonden)|smi.? is not recognized|not found: \S*-smi"
)
UNREACHED = re.compile(
    r"couldn't communicate with the NVIDIA driver|Failed to initialize NVML|No devices were found"
    r"|No AMD GPUs? (?:specified|found)|amdgpu not found|Driver not initialized"
)
QUOTED = re.compile(r"^(?:[>#]\s?){1,3}(?=[|+=\s]|GPU|NVIDIA|Device)")


class Reading(Frozen):
    """What was read. `problem` says why there are no machines."""

    machines: tuple[ExistingMachine, ...] = ()
    problem: Message | None = None


class _Format(Protocol):
    def feed(self, line: str) -> bool: ...


def read_paste(text: str) -> Reading:
    """The machines in `text`, in order. Guarantees: no exception, and nothing of the text but names and readings."""
    lines = text[: PASTE_MAX + 1].splitlines()
    if len(text) > PASTE_MAX or len(lines) > LINES_MAX:
        problem = Message.of(noop("This is too long. Paste only the table that nvidia-smi prints."))
        return Reading(problem=problem)
    book = Book()
    formats: tuple[_Format, ...] = (
        AmdTable(book), Table(book), Log(book), Csv(book), Rocm(book), AmdSmi(book), Names(book),
    )  # fmt: skip
    for line in _by_host(lines):
        _feed(line.rstrip()[:LINE_MAX], book, formats)
    machines = book.done()
    if not machines:
        return Reading(problem=_why(text))
    if len(machines) > MACHINES_MAX or sum(machine.gpu_count for machine in machines) > GPUS_MAX:
        text = noop(
            "This is more than we can compare: at most {machines} machines with {gpus} GPUs together."
        )
        return Reading(problem=Message.of(text, machines=MACHINES_MAX, gpus=GPUS_MAX))
    return Reading(machines=machines)


def _by_host(lines: Sequence[str]) -> Iterator[str]:
    """The lines of each machine together, where pdsh or clush put names before them and mixed the machines up."""
    hosts = {found[1] for line in lines if (found := PDSH.match(line))}
    mixed: dict[str, list[str]] = {}
    for line in (*lines, "\0"):
        name, colon, rest = line.partition(": ")
        if colon and name in hosts:
            mixed.setdefault(name, []).append(rest)
            continue
        for host, own in mixed.items():
            yield from (f"host: {host}", *own)
        mixed.clear()
        yield line


def _why(text: str) -> Message:
    """Why no GPU was found, as far as the text says so itself."""
    if "<nvidia_smi_log" in text:
        return Message.of(noop("This is the XML form, which we do not read. Leave out -x and paste again."))
    if MISSING.search(text):
        missing = noop(
            "The tool was not found there. Run it on the machine that has the GPUs, or choose them by hand."
        )
        return Message.of(missing)
    if UNREACHED.search(text):
        unreached = noop(
            "The tool reached no GPU or no driver, so there is nothing to read. Have the driver looked at, or choose "
            "the GPUs by hand."
        )
        return Message.of(unreached)
    none = noop(
        "We find no GPU in this. Paste what nvidia-smi, rocm-smi or amd-smi prints, as it is, or choose the GPUs by "
        "hand."
    )
    return Message.of(none)


def _feed(line: str, book: Book, formats: tuple[_Format, ...]) -> None:
    line = line.replace("\N{NO-BREAK SPACE}", " ").replace("\t", "    ")
    line = QUOTED.sub("", line)
    for said in (PROMPT, SAID, FRAMED, ANSIBLE):
        if found := said.match(line):
            book.name(cells.host(found[1]))
            return
    if any(one.feed(line) for one in formats):
        return
    if ALONE.match(line):
        book.name(cells.host(line))
