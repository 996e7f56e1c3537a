"""Figures without which an article cannot be sized, composed or planned for.

An empty one is no error: it is shown to whoever keeps the catalog, and the article stays out of what needs it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q


@dataclass(frozen=True, slots=True)
class Needed:
    """Columns that ought to be filled, and the rows that need them: those whose `column` is one of `values`."""

    columns: tuple[str, ...]
    column: str = ""
    values: tuple[str, ...] = ()

    def concerns(self, row: Any) -> bool:
        return not self.column or getattr(row, self.column) in self.values


NEEDED: Mapping[str, tuple[Needed, ...]] = {
    "accelerator": (
        Needed(("memory_mib", "memory_bandwidth_gb_s", "bf16_tflops", "power_w")),
        Needed(("slots_wide",), "form_factor", ("pcie",)),
    ),
    "server": (
        Needed(("rack_units", "weight_kg"), "status", ("buildable", "complete_system")),
        Needed(
            ("depth_mm", "cpu_power_max_w", "memory_max_gb", "boot_m2_count", "inlet"),
            "status",
            ("buildable",),
        ),
        Needed(("planning_power_w",), "status", ("complete_system",)),
    ),
    "cpu": (Needed(("power_w", "memory_channels", "memory_speed_mt_s", "pcie_lanes")),),
    "memory": (Needed(("power_w",)),),
    "drive": (Needed(("read_gb_s", "write_gb_s", "power_w")), Needed(("dwpd",), "kind", ("nvme",))),
    "nic": (Needed(("pcie_lanes", "power_w")),),
    "switch": (Needed(("rack_units", "max_power_w", "weight_kg")),),
    "cable": (Needed(("gbit_s", "reach_m", "power_w"), "kind", ("optic", "dac", "aoc")),),
    "storage_system": (Needed(("usable_tb", "read_gb_s", "write_gb_s", "rack_units", "max_power_w")),),
    "rack": (Needed(("width_mm", "depth_mm", "weight_kg", "load_max_kg")),),
    "pdu": (Needed(("power_kw",)),),
    "cooling": (Needed(("capacity_kw",), "kind", ("rear_door", "cdu", "in_row", "sidecar")),),
    "accessory": (
        Needed(("capacity_kw",), "kind", ("ups",)),
        Needed(("max_power_w",), "kind", ("power_supply",)),
    ),
    "cloud_offer": (Needed(("offered_accelerator_id", "hourly_amount", "priced_on")),),
    "ai_model": (Needed(("max_context",)),),
}


def missing(kind_key: str, row: Any) -> list[str]:
    """Columns that `row` ought to have filled and has not."""
    return [
        column
        for needed in NEEDED.get(kind_key, ())
        if needed.concerns(row)
        for column in needed.columns
        if getattr(row, column) in (None, "")
    ]


def is_incomplete(kind_key: str) -> Q:
    """The rows of a kind that miss a needed figure."""
    found = Q(pk__in=[])
    for needed in NEEDED.get(kind_key, ()):
        empty = Q()
        for column in needed.columns:
            empty |= Q(**{f"{column}__isnull": True})
            if column == "inlet":
                empty |= Q(inlet="")
        found |= empty & Q(**{f"{needed.column}__in": needed.values}) if needed.column else empty
    return found
