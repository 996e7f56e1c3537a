"""How one assumption is declared, and how it describes itself."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field
from pydantic.config import JsonDict


def assume(
    default: float,
    *,
    unit: str,
    low: float,
    high: float,
    label: str,
    source: str,
    year: int = 2026,
    group: str = "",
) -> Any:
    """Declare one assumption; `label` is English marked with `noop`, `source` says where the default comes from.

    `group`: where the proposal page asks for it. A customer may put a figure of their own in the place of an assumption
    that has one, and of no other.
    """
    extra: JsonDict = {"unit": unit, "label": label, "source": source, "year": year, "low": low, "high": high}
    if group:
        extra["group"] = group
    return Field(default=default, ge=low, le=high, json_schema_extra=extra)


def described(assumptions: BaseModel, key: str) -> Mapping[str, Any]:
    """`key, value, default, unit, label, source, year, low, high`, and `group` where it has one, of one assumption."""
    info = type(assumptions).model_fields[key]
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    return {"key": key, "value": getattr(assumptions, key), "default": info.default, **extra}
