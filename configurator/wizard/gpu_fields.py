"""Two ways to name GPUs that are there already: the output of a tool, or rows chosen by hand."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from catalog.specs import AcceleratorSpec, Availability, CatalogSnapshot
from configurator import formats
from configurator.existing import (
    GPUS_MAX,
    MACHINES_MAX,
    PASTE_MAX,
    match,
    read_paste,
    scrubbed,
    write_machines,
)
from configurator.wizard.fields import Question, Stored
from configurator.workload import ExistingGpu, ExistingMachine

if TYPE_CHECKING:
    from configurator.wizard.situation import Situation

type Machines = tuple[ExistingMachine, ...]

KEPT = 2000  # characters of a text that was not understood
TOO_MUCH = "[…]"  # kept in the place of a text that was too long to keep
ROWS = 4
NEVER_THERE = frozenset({Availability.CLOUD_ONLY, Availability.ANNOUNCED})


def known(machines: Machines, catalog: CatalogSnapshot) -> Machines:
    """`machines` with each GPU as the accelerator of the catalog that it is; empty where the catalog has none."""
    there = {one.sku for one in catalog.accelerators}

    def named(gpu: ExistingGpu) -> ExistingGpu:
        sku = gpu.sku if gpu.sku in there else match(gpu.name, gpu.memory_mib, catalog.accelerators)
        return gpu.model_copy(update={"sku": sku})

    return tuple(one.model_copy(update={"gpus": tuple(map(named, one.gpus))}) for one in machines)


def joined(pasted: Machines, by_hand: Machines, catalog: CatalogSnapshot) -> Machines:
    """All machines, known to the catalog. A row that has the name of a pasted machine says which its unknown GPUs are;
    without a name that holds where one machine was pasted. What is no such answer is a machine of its own."""
    machines = list(known(pasted, catalog))
    rest: list[ExistingMachine] = []
    for row in known(by_hand, catalog):
        other: list[ExistingGpu] = []
        for gpu in row.gpus:
            meant = [
                at for at, one in enumerate(machines)
                if one.name == row.name and (one.name or len(machines) == 1) and _unknown_count(one) >= gpu.count
            ]  # fmt: skip
            if meant:
                machines[meant[0]] = _told(machines[meant[0]], gpu)
            else:
                other.append(gpu)
        if other:
            rest.append(row.model_copy(update={"gpus": tuple(other)}))
    return (*machines, *rest)


def _unknown_count(machine: ExistingMachine) -> int:
    return sum(gpu.count for gpu in machine.gpus if not gpu.sku)


def _told(machine: ExistingMachine, kind: ExistingGpu) -> ExistingMachine:
    """`machine` with as many of its unknown GPUs as `kind` counts being of that kind, their readings kept."""
    left = kind.count
    gpus: list[ExistingGpu] = []
    for gpu in machine.gpus:
        named = 0 if gpu.sku else min(left, gpu.count)
        left -= named
        if named:
            gpus.append(gpu.model_copy(update={"sku": kind.sku, "count": named}))
        if gpu.count > named:
            gpus.append(gpu.model_copy(update={"count": gpu.count - named}))
    return machine.model_copy(update={"gpus": tuple(gpus)})


def said(machines: Machines, catalog: CatalogSnapshot) -> str:
    """`gpu01: 2 × A100 PCIe 40GB; 4 × GeForce RTX 3090`."""
    return "; ".join(filter(None, (_machine(one, catalog) for one in known(machines, catalog))))


def _machine(machine: ExistingMachine, catalog: CatalogSnapshot) -> str:
    names = {one.sku: one.name for one in catalog.accelerators}
    counts: dict[str, int] = {}
    for gpu in machine.gpus:
        unknown = (
            gettext("unknown GPU ‘{name}’").format(name=gpu.name) if gpu.name else gettext("unknown GPU")
        )
        name = names.get(gpu.sku, unknown)
        counts[name] = counts.get(name, 0) + gpu.count
    listed = ", ".join(f"{formats.number(count)} × {name}" for name, count in counts.items())
    return f"{machine.name}: {listed}" if machine.name else listed


class PasteQuestion(Question):
    """The output of GPU tools, of one machine or of several. Stored as its clean copy: no more than that is kept."""

    raw_limit = KEPT

    def __init__(self, label: Any, **rest: Any) -> None:
        widget = forms.Textarea({"rows": 8, "autocomplete": "off", "spellcheck": "false", "wrap": "off"})
        super().__init__(label, widget=widget, can_skip=False, optional=True, **rest)

    def parse(self, text: Any, situation: "Situation") -> Machines:
        if text == TOO_MUCH:
            limits = gettext(
                "That was more than we can read: at most {machines} machines with {gpus} GPUs together."
            )
            raise ValidationError(limits.format(machines=MACHINES_MAX, gpus=formats.number(GPUS_MAX)))
        reading = read_paste(text)
        if reading.problem is not None:
            raise ValidationError(formats.say(reading.problem))
        return reading.machines

    def keep(self, text: Any) -> Any:
        """The beginning, where it is as little understood as the whole: the same sentence is said about both."""
        text = str(text)
        start = scrubbed(text, KEPT)
        same = len(text) <= KEPT or (len(text) <= PASTE_MAX and not read_paste(start).machines)
        return start if same else TOO_MUCH

    def store(self, value: Machines) -> str:
        return write_machines(value)

    def load(self, stored: Stored) -> Machines:
        if not isinstance(stored, str) or not (machines := read_paste(stored).machines):
            raise ValueError(stored)
        return machines

    def say(self, stored: Stored, situation: "Situation") -> str:
        return said(self.load(stored), situation.catalog)


# ── by hand ─────────────────────────────────────────────────────────────────────────────────────────────────────


class GpuRowsWidget(forms.MultiWidget):
    """Rows of machine, kind of GPU and number; a flat list of texts, three for each row."""

    use_fieldset = True

    def __init__(self) -> None:
        machine = {"maxlength": 63, "autocomplete": "off"}
        number = {"inputmode": "numeric", "autocomplete": "off", "maxlength": 4}
        widgets: dict[str, forms.Widget | type[forms.Widget]] = {}
        for row in range(ROWS):
            widgets |= {
                f"{row}_machine": forms.TextInput(machine),
                f"{row}_gpu": forms.Select(),
                f"{row}_count": forms.TextInput(number),
            }
        super().__init__(widgets)
        self.suffixes = [f"_{name}" for name in widgets]

    def offer(self, groups: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> None:
        for widget in self.widgets:
            if isinstance(widget, forms.Select):
                widget.choices = [("", "–"), *groups]

    def decompress(self, value: Any) -> list[Any]:
        return [*(value or ()), *([""] * 3 * ROWS)][: 3 * ROWS]

    def id_for_label(self, id_: str) -> str:
        return f"{id_}_0"

    def render(
        self, name: str, value: Any, attrs: Mapping[str, Any] | None = None, renderer: Any = None
    ) -> SafeString:
        values = value if isinstance(value, list) else self.decompress(value)
        values = self.decompress(values)
        given = dict(attrs or {})
        identifier = given.pop("id", f"id_{name}")
        cells = []
        for index, (widget, suffix) in enumerate(zip(self.widgets, self.suffixes, strict=True)):
            own = {**given, "id": f"{identifier}_{index}"}
            cells.append(
                (
                    own["id"],
                    _labels(index // 3 + 1)[index % 3],
                    widget.render(name + suffix, values[index], own),
                )
            )
        rows = [cells[start : start + 3] for start in range(0, len(cells), 3)]
        return format_html_join(
            "",
            '<div class="gpu-row">{}</div>',
            (
                (
                    format_html_join(
                        "", '<label for="{}"><span class="gpu-row__label">{}</span>{}</label>', row
                    ),
                )
                for row in rows
            ),
        )


def _labels(row: int) -> tuple[str, str, str]:
    """Texts of the labels of a row, in the active language."""
    return (
        gettext("Name of machine {number}").format(number=row),
        gettext("Kind of GPU"),
        gettext("Number"),
    )


def _name(machine: str) -> str:
    """A machine as people call it ('old server'), without the domain of a host."""
    text = " ".join(re.sub(r"[^\w .-]+", " ", machine).split())
    return (text if " " in text else text.partition(".")[0])[:63].strip()


class GpuRowsQuestion(Question):
    """Machines chosen by hand. Stored as a list of [machine, SKU, number]."""

    widget: GpuRowsWidget

    def __init__(self, label: Any, **rest: Any) -> None:
        super().__init__(label, widget=GpuRowsWidget(), can_skip=False, optional=True, **rest)

    def offer(self, catalog: CatalogSnapshot) -> None:
        """Let the customer choose from what the catalog knows, by maker."""
        makers: dict[str, list[tuple[str, str]]] = {}
        for one in sorted(catalog.accelerators, key=_order):
            if one.availability not in NEVER_THERE:
                makers.setdefault(one.vendor, []).append((one.sku, one.name))
        self.widget.offer(list(makers.items()))

    def posted(self, name: str, shown: Any) -> dict[str, Any]:
        values = self.widget.decompress(shown)
        return {name + suffix: value for suffix, value in zip(self.widget.suffixes, values, strict=True)}

    def read(self, text: Any, situation: "Situation") -> Any:
        texts = [str(part or "") for part in text] if isinstance(text, list) else []
        return super().read(texts if any(texts) else "", situation)

    def parse(self, text: Any, situation: "Situation") -> list[list[Any]]:
        there = {one.sku for one in situation.catalog.accelerators}
        rows: list[list[Any]] = []
        for start in range(0, 3 * ROWS, 3):
            machine, sku, count = [*text, "", "", ""][start : start + 3]
            if not machine and not sku and not count:
                continue
            if sku not in there:
                raise ValidationError(gettext("Choose the kind of GPU in every row that you fill in."))
            if (
                not (count or "1").isascii()
                or not (count or "1").isdecimal()
                or not 1 <= int(count or "1") <= GPUS_MAX
            ):
                limit = gettext("Fill in how many GPUs: a whole number from 1 to {number}.")
                raise ValidationError(limit.format(number=formats.number(GPUS_MAX)))
            rows.append([_name(machine), sku, int(count or "1")])
        return rows

    def load(self, stored: Stored) -> Machines:
        machines: dict[tuple[str, int], list[ExistingGpu]] = {}
        for index, (machine, sku, count) in enumerate(stored):
            gpu = ExistingGpu(name=str(sku)[:80], sku=str(sku), count=int(count))
            # Rows with one name are one machine; without a name each is a machine of its own.
            machines.setdefault((str(machine)[:63], 0 if machine else index), []).append(gpu)
        return tuple(ExistingMachine(name=name, gpus=tuple(gpus)) for (name, _row), gpus in machines.items())

    def write(self, stored: Stored, situation: "Situation") -> list[str]:
        return [str(part) for row in stored for part in row]

    def say(self, stored: Stored, situation: "Situation") -> str:
        return said(self.load(stored), situation.catalog)


def _order(one: AcceleratorSpec) -> tuple[bool, str, str]:
    return one.vendor != "NVIDIA", one.vendor, one.name
