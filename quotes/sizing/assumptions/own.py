"""A customer's own figures in the place of assumptions, which say themselves whether that may be, and the bounds."""

from collections.abc import Iterable

from catalog.quantity import Message, noop
from configurator.workload import OwnFigure
from quotes.sizing.assumptions import Assumptions, described
from quotes.sizing.trace import Finding, Severity


def may_be_owned(key: str) -> bool:
    """Whether a customer may put a figure of their own in the place of this assumption."""
    return key in Assumptions.model_fields and bool(described(Assumptions(), key).get("group"))


def fits(key: str, value: float) -> bool:
    """Whether `value` may stand in the place of assumption `key`."""
    if not may_be_owned(key):
        return False
    facts = described(Assumptions(), key)
    return bool(facts["low"] <= value <= facts["high"])


def with_own(
    assumptions: Assumptions, figures: Iterable[OwnFigure]
) -> tuple[Assumptions, tuple[Finding, ...]]:
    """The assumptions with a customer's figures in their place, and a finding for each figure that cannot be used."""
    figures = tuple(figures)
    fitting = {figure.key: figure.value for figure in figures if fits(figure.key, figure.value)}
    adjusted = assumptions.model_copy(update=fitting) if fitting else assumptions
    return adjusted, tuple(_refused(figure.key) for figure in figures if figure.key not in fitting)


def _refused(key: str) -> Finding:
    return Finding(
        severity=Severity.WARNING,
        message=Message.of(
            noop("Your figure for ‘{name}’ cannot be used; we count with ours."), name=_name(key)
        ),
        about=f"own_figures.{key}",
        remedy=Message.of(noop("Change it under ‘Calculate with your own figures’.")),
    )


def _name(key: str) -> Message | str:
    known = key in Assumptions.model_fields
    return Message.of(described(Assumptions(), key)["label"]) if known else key
