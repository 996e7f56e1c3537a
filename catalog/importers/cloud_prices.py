"""Cloud prices in the layout of the SkyPilot catalogs (`vms.csv` of one cloud).

Columns are found by their header, because their order differs per cloud. The files state no currency, so that the
caller must. A price per hour is of the whole instance; GCP lists hosts without their accelerators, and accelerators
without an instance, which are offers of one accelerator.
"""

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.text import slugify
from django.utils.translation import gettext as _

from catalog.importers.tabular import read_table, rename, to_decimal
from catalog.models import Accelerator, CloudOffer
from catalog.quantity import Frozen

TITLES: Mapping[str, str] = {
    "instancetype": "instance",
    "acceleratorname": "accelerator",
    "acceleratorcount": "accelerator_count",
    "vcpus": "vcpus",
    "memorygib": "memory_gib",
    "price": "price",
    "region": "region",
    "gpuinfo": "gpu_info",
}

# Name in the catalogs, memory of one device in MiB rounded to GB where the name leaves it open: our SKU.
ACCELERATORS: Mapping[str, str] = {
    "A10": "a10",
    "A100": "a100-sxm4-40gb",
    "A100-80GB": "a100-pcie-80gb",  # the slower of the two forms that this name covers
    "A100-80GB-SXM": "a100-sxm4-80gb",
    "B200": "b200-sxm-180gb",
    "B300": "b300-sxm-288gb",
    "GB200": "gb200",
    "GH200": "gh200-96gb",
    "H100": "h100-sxm5-80gb",
    "H100-SXM": "h100-sxm5-80gb",
    "H100-NVL": "h100-nvl-94gb",
    "H100-PCIe": "h100-pcie-80gb",
    "H200": "h200-sxm5-141gb",
    "H200-SXM": "h200-sxm5-141gb",
    "L4": "l4",
    "L40S": "l40s",
    "MI300X": "instinct-mi300x",
    "RTX6000-Ada": "rtx-6000-ada",
    "RTX6000Ada": "rtx-6000-ada",
    "RTXPRO6000": "rtx-pro-6000-blackwell-server-edition",
    "T4": "t4",
    "tpu-v5litepod-1": "tpu-v5e",
    "tpu-v6e-1": "tpu-v6e",
}

# Region names start with these where they lie in the European Union.
EU_REGIONS = (
    "eu-central", "eu-north", "eu-south", "eu-west-1", "eu-west-3", "eu-west1", "eu-north1", "europe-west1",
    "europe-west3", "europe-west4", "europe-west8", "europe-west9", "europe-north", "europe-southwest",
    "europe-central", "westeurope", "northeurope", "francecentral", "germanywestcentral", "swedencentral",
    "polandcentral", "italynorth", "spaincentral", "FIN-", "EU-NL", "EU-FR", "EU-SE", "EU-CZ", "fr-par", "nl-ams",
    "pl-waw", "it-",
)  # fmt: skip


class CloudTerms(Frozen):
    """What the file itself does not say."""

    provider: str
    currency: str
    exchange_rate: Decimal = Decimal(1)
    exchange_rate_on: date | None = None
    exchange_rate_source: str = ""
    priced_on: date | None = None
    source: str


@dataclass
class CloudReport:
    """What an import did, or would do."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: int = 0
    mistakes: list[str] = field(default_factory=list)
    without_price: int = 0
    without_accelerator: int = 0


def read_offers(
    content: bytes, name: str, terms: CloudTerms, *, only_eu: bool = False
) -> tuple[dict[str, dict[str, Any]], CloudReport]:
    """Flat offers by SKU (the cheapest zone of a region counts), and a report of what could not be used.

    UnreadableTable when the file is no table.
    """
    offers: dict[str, dict[str, Any]] = {}
    report = CloudReport()
    for line, cells in read_table(content, name):
        row = rename(cells, TITLES)
        if "price" not in row:
            report.without_price += 1
            continue
        if "accelerator" not in row:
            report.without_accelerator += 1
            continue
        try:
            offer = _offer(row, terms)
        except ValueError as error:
            report.mistakes.append(_("Line %(line)d: %(sentence)s") % {"line": line, "sentence": error})
            continue
        if only_eu and not offer["in_eu"]:
            continue
        cheapest = offers.get(offer["sku"])
        if cheapest is None or offer["hourly_amount"] < cheapest["hourly_amount"]:
            offers[offer["sku"]] = offer
    return offers, report


def _offer(row: Mapping[str, Any], terms: CloudTerms) -> dict[str, Any]:
    region = str(row.get("region", ""))
    if not region:
        raise ValueError(_("there is no region"))
    accelerator = str(row["accelerator"])
    count = to_decimal(row.get("accelerator_count", 1))
    if count < 1 or count != count.to_integral_value():
        raise ValueError(_("a part of an accelerator is not compared"))
    instance = str(row.get("instance") or accelerator)
    sku = ACCELERATORS.get(accelerator)
    if sku == "a100-pcie-80gb" and "sxm" in instance.lower():
        sku = "a100-sxm4-80gb"
    memory = to_decimal(row["memory_gib"]) if "memory_gib" in row else None
    return {
        "sku": _sku(terms.provider, region, instance),
        "vendor": terms.provider,
        "name": instance,
        "region": region,
        "in_eu": region.startswith(EU_REGIONS),
        "offered_accelerator_id": sku,
        "accelerator_count": int(count),
        "vcpus": int(to_decimal(row["vcpus"])) if "vcpus" in row else None,
        "memory_gib": None if memory is None else float(memory),
        "hourly_amount": to_decimal(row["price"]),
        "currency": terms.currency,
        "exchange_rate": terms.exchange_rate,
        "exchange_rate_on": terms.exchange_rate_on,
        "exchange_rate_source": terms.exchange_rate_source,
        "priced_on": terms.priced_on,
        "source": terms.source,
        "notes": _device_memory(row.get("gpu_info")),
    }


def _sku(*parts: str) -> str:
    """`slugify` would join 'p5.48xlarge' to 'p548xlarge': dots stay."""
    return "-".join(".".join(slugify(piece) for piece in re.split(r"\.", part)) for part in parts if part)


def _device_memory(gpu_info: Any) -> str:
    """What the catalog says of the memory of a device; the cell is a Python literal, not JSON."""
    if not gpu_info:
        return ""
    try:
        found = ast.literal_eval(str(gpu_info))
        mib = found["Gpus"][0]["MemoryInfo"]["SizeInMiB"]
    except (ValueError, SyntaxError, KeyError, IndexError, TypeError):
        return ""
    return f"{mib} MiB per accelerator as listed by the cloud."


@transaction.atomic
def apply_offers(
    offers: Iterable[Mapping[str, Any]], report: CloudReport, *, rehearse: bool = False
) -> CloudReport:
    """Add new offers and update those whose figures moved; with `rehearse` only report."""
    known = set(Accelerator.objects.values_list("pk", flat=True))
    for offer in offers:
        values = dict(offer)
        if values["offered_accelerator_id"] not in known:
            values["offered_accelerator_id"] = None
        present = CloudOffer.objects.filter(pk=values["sku"]).first()
        moved = [name for name, value in values.items() if present is None or getattr(present, name) != value]
        if not moved:
            report.unchanged += 1
            continue
        (report.changed if present else report.added).append(values["sku"])
        if rehearse:
            continue
        row = present or CloudOffer()
        for name, value in values.items():
            setattr(row, name, value)
        row._change_reason = "cloud prices"  # type: ignore[attr-defined]
        row.full_clean(exclude=["kind_name"])
        row.save()
    return report
