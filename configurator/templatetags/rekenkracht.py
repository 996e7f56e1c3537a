"""Template tags and filters of the design system; docs/design.md lists them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from django import template
from django.forms import BaseForm, BoundField, CheckboxInput, CheckboxSelectMultiple, RadioSelect
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy, pgettext_lazy

from catalog.quantity import Money
from configurator import bars, formats
from configurator.palette import SERIES

register = template.Library()

# ── numbers and sentences ───────────────────────────────────────────────────────────────────────────────────────


@register.filter
def say(value: Any) -> str:
    return formats.say(value)


@register.filter
def money(amount: Money | Decimal | int | None, style: formats.MoneyStyle = "exact") -> str:
    return formats.money(amount, style)


@register.filter
def money_round(amount: Money | Decimal | int | None) -> str:
    return formats.money(amount, "round")


@register.filter
def about(amount: Decimal | float | None) -> str:
    """An estimate in euros, to the three digits that are known."""
    return formats.quantity(amount, "EUR")


@register.filter
def num(value: formats.Number | None, digits: int | None = None) -> str:
    return formats.number(value, digits)


@register.filter
def pct(fraction: formats.Number | None, digits: int = 2) -> str:
    return formats.percent(fraction, digits)


@register.filter
def unit(value: formats.Number | None, name: str) -> str:
    """`{{ watts|unit:"W" }}`: a bare number with its unit. Counts and decimals, such as a discount, keep every digit;
    others three.

    A Quantity needs only `say`.
    """
    return formats.quantity(value, name, 15 if isinstance(value, int | Decimal) else 3)


@register.filter
def day(value: date | None) -> str:
    return formats.day(value)


@register.filter
def told(finding: Any) -> str:
    """What was found and what helps, in one go."""
    return " ".join(formats.say(part) for part in (finding.message, finding.remedy) if part)


@register.filter
def halves(items: Sequence[Any]) -> list[Sequence[Any]]:
    """The items in two columns of about equal length, in reading order; one column for a single item."""
    lengths = [_said_length(item) for item in items]
    cut = min(
        range(1, len(items)),
        key=lambda at: (max(sum(lengths[:at]), sum(lengths[at:])), -at),
        default=len(items),
    )
    return [half for half in (items[:cut], items[cut:]) if half]


def _said_length(item: Any) -> int:
    if isinstance(item, str):
        return len(item)
    if isinstance(item, (tuple, list)):
        return sum(_said_length(part) for part in item)
    return len(told(item) if hasattr(item, "remedy") else formats.say(item))


@register.simple_tag
def span(low: formats.Number, high: formats.Number, unit: str = "", digits: int = 2) -> str:
    return formats.span(low, high, unit, digits)


# ── forms ───────────────────────────────────────────────────────────────────────────────────────────────────────


@register.inclusion_tag("parts/field.html")
def field(bound: BoundField, **extra: Any) -> dict[str, Any]:
    """One question: `unit`, `why`, `assumption`, `question` (large label) come from arguments or the form field.

    `unknown` is the bound checkbox 'I don't know'; without it, a form field named `<name>_unknown` is used.
    """
    given = {
        name: extra.get(name) or getattr(bound.field, name, "")
        for name in ("unit", "why", "assumption", "question")
    }
    unknown = extra.get("unknown")
    if unknown is None and f"{bound.name}_unknown" in bound.form.fields:
        unknown = bound.form[f"{bound.name}_unknown"]
    widget = bound.field.widget
    group = isinstance(widget, RadioSelect | CheckboxSelectMultiple)
    check = isinstance(widget, CheckboxInput)
    notes = [
        f"{bound.auto_id}_{note}"
        for note, present in (
            ("helptext", bound.help_text),
            ("unit", given["unit"]),
            ("assumption", unknown and given["assumption"]),
            ("error", bound.errors),
        )
        if present
    ]
    described = " ".join(notes)
    return {
        **given,
        "field": bound,
        "unknown": unknown,
        "group": group,
        "check": check,
        "described": described,
        "options": _options(bound) if group else (),
        "control": ""
        if group
        else bound.as_widget(attrs={"aria-describedby": described} if described else None),
    }


@register.inclusion_tag("parts/cards.html")
def cards(bound: BoundField, **extra: Any) -> dict[str, Any]:
    """A radio or checkbox group as cards; `question` makes the legend large."""
    notes = [f"{bound.auto_id}_{note}" for note in ("helptext",) if bound.help_text]
    notes += [f"{bound.auto_id}_error"] if bound.errors else []
    return {
        "field": bound,
        "options": _options(bound),
        "described": " ".join(notes),
        "question": extra.get("question") or getattr(bound.field, "question", ""),
        "why": extra.get("why") or getattr(bound.field, "why", ""),
    }


def _options(bound: BoundField) -> list[dict[str, Any]]:
    """Each choice with its rendered input, and the description and icon that the form field has for its value."""
    descriptions: Mapping[str, Any] = getattr(bound.field, "descriptions", {})
    icons: Mapping[str, str] = getattr(bound.field, "icons", {})
    options = []
    for subwidget in bound:
        value = str(subwidget.data["value"])
        options.append(
            {
                "id": subwidget.id_for_label,
                "input": subwidget.tag(),
                "label": subwidget.choice_label,
                "description": descriptions.get(value, ""),
                "icon": icons.get(value, ""),
            }
        )
    return options


@register.inclusion_tag("parts/error_summary.html")
def error_summary(*forms: BaseForm) -> dict[str, Any]:
    errors: list[dict[str, str]] = []
    for form in forms:
        errors += [{"text": str(text), "label": "", "target": ""} for text in form.non_field_errors()]
        for bound in form:
            first = next((sub.id_for_label for sub in bound.subwidgets), "") or bound.id_for_label
            errors += [
                {"text": str(text), "label": str(bound.label), "target": first} for text in bound.errors
            ]
    return {"errors": errors}


# ── navigation ──────────────────────────────────────────────────────────────────────────────────────────────────


@register.inclusion_tag("parts/steps.html")
def steps(steps: Sequence[Any]) -> dict[str, Any]:
    """`steps` have `title`, `url` (or none) and `state` (done, current, todo), as attributes or keys."""

    def read(step: Any, name: str) -> Any:
        return step.get(name, "") if isinstance(step, Mapping) else getattr(step, name, "")

    number = next((i for i, step in enumerate(steps, 1) if read(step, "state") == "current"), 0)
    return {
        "steps": steps,
        "number": number,
        "total": len(steps),
        "title": read(steps[number - 1], "title") if number else "",
    }


# ── results ─────────────────────────────────────────────────────────────────────────────────────────────────────

BADGES = {
    "measured": gettext_lazy("measured"),
    "interpolated": gettext_lazy("between measurements"),
    "extrapolated": gettext_lazy("outside measurements"),
    "computed": gettext_lazy("calculated"),
    "estimated": gettext_lazy("planning estimate"),
    "fits": gettext_lazy("fits"),
    "tight": gettext_lazy("tight"),
    "oom": gettext_lazy("does not fit"),
}
FINDING_ICONS = {"info": "info", "warning": "warning", "refusal": "refusal", "good": "good"}
FINDING_NAMES = {
    "info": gettext_lazy("Note"),
    "warning": gettext_lazy("Mind"),
    "refusal": gettext_lazy("Not possible"),
    "good": gettext_lazy("Good"),
}


SOURCES = {
    "above": pgettext_lazy("source", "above"),
    "answer": pgettext_lazy("source", "answer"),
    "assumption": pgettext_lazy("source", "assumption"),
    "bill of materials": pgettext_lazy("source", "bill of materials"),
    "calibration": pgettext_lazy("source", "calibration"),
    "catalog": pgettext_lazy("source", "catalog"),
    "cheapest of all": pgettext_lazy("source", "cheapest of all"),
    "computed": pgettext_lazy("source", "computed"),
    "figure above": pgettext_lazy("source", "figure above"),
    "load profile": pgettext_lazy("source", "load profile"),
    "measured rows": pgettext_lazy("source", "measured rows"),
    "sizing": pgettext_lazy("source", "sizing"),
    "sizing on the rented accelerator": pgettext_lazy("source", "sizing on the rented accelerator"),
    "planning value of docs/sizing/rates.md": pgettext_lazy(
        "source", "planning value of docs/sizing/rates.md"
    ),
}
ENGINES = {"vllm": "vLLM", "sglang": "SGLang", "trtllm": "TensorRT-LLM"}


@register.filter
def origin(source: str) -> str:
    """Where an input of a figure comes from; the name of a publication stays as it is."""
    return str(SOURCES.get(source, source))


@register.filter
def formula(text: str) -> str:
    """A formula with its words in the reader's language."""
    return gettext(text)


@register.filter
def engine_name(engine: str) -> str:
    """An engine as its makers write it."""
    return ENGINES.get(engine, engine)


@register.inclusion_tag("parts/badge.html")
def badge(kind: str) -> dict[str, Any]:
    return {"kind": str(kind), "text": BADGES[str(kind)]}


@register.inclusion_tag("parts/finding.html")
def finding(kind: Any, text: Any = "", title: Any = "", remedy: Any = None) -> dict[str, Any]:
    """Takes a kind and a text, or one object with `severity`, `message` and `remedy`."""
    if hasattr(kind, "severity"):
        kind, text, remedy = kind.severity, kind.message, kind.remedy
    return {
        "kind": str(kind),
        "icon": FINDING_ICONS[str(kind)],
        "name": FINDING_NAMES[str(kind)],
        "text": text,
        "title": title,
        "remedy": remedy,
    }


@register.inclusion_tag("parts/figure.html", takes_context=True)
def figure(context: Mapping[str, Any], figure: Any, id: str = "") -> dict[str, Any]:
    """A `Figure` of the trace. `id` keeps it unfolded over swaps; give one when a page shows a key twice.

    Assumptions whose keys stand in the page's `own_figures` are marked as the customer's.
    """
    has_span = figure.low is not None and figure.high is not None
    shown = ""
    if has_span:
        shown = formats.span(figure.low, figure.high, figure.value.unit, min(figure.value.digits, 2))
    return {
        "figure": figure,
        "id": id or f"figure-{figure.key}",
        "span": shown,
        "assumptions": [item for item in figure.inputs if item.assumption],
        "inputs": [item for item in figure.inputs if not item.assumption],
        "own_figures": context.get("own_figures", ()),
    }


@register.simple_tag
def bar(
    parts: Iterable[bars.Part], total: float, unit: str = "GiB", label: str = "", small: bool = False
) -> SafeString:
    return bars.bar_svg(parts, total, unit, label, small)


@register.simple_tag
def memory_bar(memory: Any, label: str = "", small: bool = False) -> SafeString:
    """The bar of one GPU's `MemoryBreakdown`."""
    label = label or gettext("Memory of one GPU")
    return bars.bar_svg(bars.memory_parts(memory), memory.total_gib, "GiB", label, small)


@register.inclusion_tag("parts/legend.html")
def memory_legend(memory: Any) -> dict[str, Any]:
    return {
        "items": [
            {
                "swatch": bars.swatch_svg(name),
                "label": gettext(SERIES[name].label),
                "value": formats.quantity(amount, "GiB"),
            }
            for name, amount in bars.memory_parts(memory)
        ]
    }


@register.simple_tag
def icon(name: str) -> SafeString:
    """A file of templates/parts/icons, hidden from screen readers: put the meaning in text beside it."""
    return SafeString(render_to_string(f"parts/icons/{name}.svg"))
