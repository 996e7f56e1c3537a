"""Pages for each kind of article, and one list of all of them."""

import math
from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db import models
from django.db.models import OuterRef
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from catalog.admin.base import ArticleAdmin, money
from catalog.admin.filters import KindFilter, PriceStateFilter, holding_now
from catalog.models import (
    TABLES,
    Accelerator,
    Accessory,
    Article,
    Cable,
    CloudOffer,
    CoolingUnit,
    Cpu,
    Drive,
    MemoryModule,
    NetworkCard,
    Pdu,
    Rack,
    Server,
    Service,
    StorageSystem,
    Switch,
)
from catalog.specs import Availability, FormFactor, ServerStatus

MEASURES = gettext_lazy("Size and weight")
POWER = gettext_lazy("Power")
NETWORK = gettext_lazy("Network")
SPEED = gettext_lazy("Speed")

SOLD = (Availability.ORDERABLE, Availability.END_OF_SALE, Availability.EDGE)
MOST_FP8_OVER_BF16 = 2.03  # data sheets round


@admin.register(Accelerator)
class AcceleratorAdmin(ArticleAdmin):
    columns = (("memory_mib", "MiB"), ("memory_bandwidth_gb_s", "GB/s"), ("power_w", "W"), "availability")
    filters = ("availability", "architecture", "form_factor")
    figures = (
        (
            gettext_lazy("What it is"),
            [("architecture", "form_factor"), "availability", ("slots_wide", "cooling"), "software_stack"],
        ),
        (
            gettext_lazy("Memory"),
            [("memory_mib", "memory_gb_label"), "memory_bandwidth_gb_s", "device_count"],
        ),
        (
            gettext_lazy("Speed (dense)"),
            [("bf16_tflops", "fp8_tflops", "fp4_tflops"), ("int8_tops", "fp32_tflops")],
        ),
        (
            gettext_lazy("Links"),
            [("link_kind", "link_max_count", "link_gb_s"), ("pcie_generation", "pcie_lanes")],
        ),
        (POWER, ["power_w"]),
        (gettext_lazy("Further"), [("mig_count", "mig_profiles"), ("confidential_computing", "nvdec_count")]),
    )

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:
        places = Server.accelerators.through.objects.filter(
            accelerator=OuterRef("pk"), server__active=True
        ).exclude(server__status=ServerStatus.INCOMPLETE)
        return super().get_queryset(request).annotate(has_place=models.Exists(places))

    def warnings_of(self, row: Any) -> Iterable[str]:
        yield from super().warnings_of(row)
        if not row.active or row.availability not in SOLD:
            return
        bf16 = row.bf16_tflops or math.inf
        if (row.fp8_tflops or 0) > MOST_FP8_OVER_BF16 * bf16:
            yield _("FP8 is more than twice BF16: is it counted with sparsity?")
        if not getattr(row, "has_place", True):
            yield _("no server takes it: add it to the servers that it fits")

    def expects_price(self, row: Any) -> bool:
        # On a board the board has the price; what is not sold alone has none.
        alone = row.form_factor in (FormFactor.PCIE, FormFactor.EDGE)
        return alone and row.availability in SOLD


@admin.register(Accessory)
class AccessoryAdmin(ArticleAdmin):
    columns = ("kind", "count")
    filters = ("kind",)
    autocomplete_fields = ("accelerators",)
    figures = (
        (gettext_lazy("What it is"), ["kind", ("accelerators", "count"), "fabric_nic_count"]),
        (gettext_lazy("Figures"), [("rack_units", "max_power_w"), ("capacity_kw", "ports")]),
    )


@admin.register(Server)
class ServerAdmin(ArticleAdmin):
    columns = ("status", ("rack_units", "U"), ("max_accelerators", "GPU"), ("cpu_socket", "CPU"), "cooling")
    filters = ("status", "cooling", "cpu_socket")
    autocomplete_fields = ("accelerators",)
    figures = (
        (gettext_lazy("What it is"), ["status", "roles", "cooling"]),
        (MEASURES, [("rack_units", "depth_mm", "weight_kg")]),
        (
            gettext_lazy("Accelerators"),
            ["accelerators", ("max_accelerators", "accelerator_power_max_w")],
        ),
        (
            gettext_lazy("CPUs and memory"),
            [
                ("cpu_sockets", "cpu_socket"),
                ("cpu_families", "cpu_power_max_w"),
                ("dimm_slots", "memory_max_gb"),
            ],
        ),
        (gettext_lazy("Drives"), [("nvme_bays", "nvme_forms"), ("boot_m2_count", "hdd_bays")]),
        (
            NETWORK,
            [("free_x16_slots", "onboard_lan"), ("onboard_fabric_count", "onboard_fabric_gbit_s")],
        ),
        (
            POWER,
            [
                ("psu_count", "psu_w", "psu_redundancy"),
                ("base_power_w", "fan_pct"),
                ("planning_power_w", "inlet"),
                "rack_includes",
            ],
        ),
    )


@admin.register(Cpu)
class CpuAdmin(ArticleAdmin):
    columns = ("generation", "socket", "cores", ("power_w", "W"))
    filters = ("generation", "socket")
    figures = (
        (gettext_lazy("What it is"), [("generation", "socket"), ("cores", "sockets_max"), "power_w"]),
        (
            gettext_lazy("Memory"),
            [("memory_channels", "memory_max_gb"), ("memory_speed_mt_s", "memory_speed_2dpc_mt_s")],
        ),
        ("PCIe", [("pcie_generation", "pcie_lanes")]),
    )


@admin.register(MemoryModule)
class MemoryModuleAdmin(ArticleAdmin):
    columns = (("capacity_gb", "GB"), ("speed_mt_s", "MT/s"), "kind")
    filters = ("capacity_gb", "speed_mt_s")
    figures = ((gettext_lazy("Figures"), [("kind", "capacity_gb"), ("speed_mt_s", "power_w")]),)


@admin.register(Drive)
class DriveAdmin(ArticleAdmin):
    columns = ("kind", "form", ("capacity_gb", "GB"), ("dwpd", "DWPD"))
    filters = ("kind", "form")
    figures = (
        (gettext_lazy("What it is"), [("kind", "form"), ("capacity_gb", "dwpd")]),
        (SPEED, [("read_gb_s", "write_gb_s")]),
        (POWER, ["power_w"]),
    )


@admin.register(NetworkCard)
class NetworkCardAdmin(ArticleAdmin):
    columns = ("kind", "ports", ("port_gbit_s", "Gbit/s"), "infiniband")
    filters = ("kind", "port_gbit_s", "infiniband")
    figures = (
        (gettext_lazy("What it is"), ["kind", ("ports", "port_gbit_s"), ("connector", "infiniband")]),
        (gettext_lazy("In the server"), [("pcie_lanes", "power_w")]),
    )


@admin.register(Switch)
class SwitchAdmin(ArticleAdmin):
    columns = ("fabric", "ports", ("port_gbit_s", "Gbit/s"), ("max_power_w", "W"))
    filters = ("fabric", "port_gbit_s")
    figures = (
        (
            NETWORK,
            [
                "fabric",
                ("ports", "port_gbit_s", "cages"),
                "connector",
                ("uplink_ports", "uplink_gbit_s"),
                "managed",
            ],
        ),
        (MEASURES, [("rack_units", "weight_kg")]),
        (POWER, [("typical_power_w", "max_power_w")]),
    )


@admin.register(Cable)
class CableAdmin(ArticleAdmin):
    columns = ("kind", ("gbit_s", "Gbit/s"), ("reach_m", "m"), "ports")
    filters = ("kind", "gbit_s")
    figures = (
        (gettext_lazy("Figures"), [("kind", "connector"), ("gbit_s", "ports"), ("reach_m", "power_w")]),
    )


@admin.register(StorageSystem)
class StorageSystemAdmin(ArticleAdmin):
    columns = (("usable_tb", "TB"), ("read_gb_s", gettext_lazy("read (GB/s)")), "tier")
    filters = ("tier", "scale_out")
    autocomplete_fields = ("licence",)
    figures = (
        (
            gettext_lazy("Capacity"),
            [("usable_tb", "raw_tb"), "tier", ("scale_out", "minimum_count"), "licence"],
        ),
        (SPEED, [("read_gb_s", "write_gb_s")]),
        (NETWORK, [("ports", "port_gbit_s"), "nic_ports_needed"]),
        (MEASURES, [("rack_units", "weight_kg")]),
        (POWER, ["max_power_w"]),
    )


@admin.register(Rack)
class RackAdmin(ArticleAdmin):
    columns = (("rack_units", "U"), "width_mm", "depth_mm", "load_max_kg")
    figures = ((MEASURES, ["rack_units", ("width_mm", "depth_mm"), ("weight_kg", "load_max_kg")]),)


@admin.register(Pdu)
class PduAdmin(ArticleAdmin):
    columns = ("phases", ("amps", "A"), ("power_kw", "kW"), ("outlets_c19", "C19"))
    filters = ("phases", "amps")
    figures = (
        (gettext_lazy("Feed"), [("phases", "amps", "volts"), "power_kw"]),
        (gettext_lazy("Outlets"), [("outlets_c13", "outlets_c19"), "rack_units"]),
    )


@admin.register(CoolingUnit)
class CoolingUnitAdmin(ArticleAdmin):
    columns = ("kind", ("capacity_kw", "kW"))
    filters = ("kind",)
    figures = ((gettext_lazy("Figures"), ["kind", ("capacity_kw", "max_power_w"), "rack_units"]),)


@admin.register(Service)
class ServiceAdmin(ArticleAdmin):
    columns = ("unit", "purpose", ("pct_of_hardware", "%"))
    filters = ("purpose",)
    figures = ((gettext_lazy("What it is"), [("unit", "applies_to"), "purpose", "pct_of_hardware"]),)

    def expects_price(self, row: Any) -> bool:
        return row.pct_of_hardware is None


@admin.register(CloudOffer)
class CloudOfferAdmin(ArticleAdmin):
    columns = (
        "region",
        "in_eu",
        "offered_accelerator",
        ("accelerator_count", "GPU"),
        "hourly",
        "priced_on",
    )
    filters = ("in_eu", "plan", "historic")
    autocomplete_fields = ("offered_accelerator",)
    inlines = ()
    actions = ("copy_as_new",)
    heading = ("sku", ("vendor", "name"))
    list_select_related = ("offered_accelerator",)
    figures = (
        (gettext_lazy("Where"), [("region", "in_eu")]),
        (
            gettext_lazy("What it gives"),
            [("offered_accelerator", "accelerator_count"), ("vcpus", "memory_gib")],
        ),
        (
            gettext_lazy("Price"),
            [
                ("hourly_amount", "currency", "plan"),
                ("exchange_rate", "exchange_rate_on", "exchange_rate_source"),
                ("priced_on", "historic"),
            ],
        ),
    )

    def get_list_display(self, request: HttpRequest) -> tuple[Any, ...]:
        return ("name", "vendor", *self.figure_columns(), "warnings", "active")

    def get_list_filter(self, request: HttpRequest) -> tuple[Any, ...]:
        return tuple(each for each in super().get_list_filter(request) if each is not PriceStateFilter)

    def expects_price(self, row: Any) -> bool:
        return False

    @admin.display(description=gettext_lazy("price per hour"), ordering="hourly_amount")
    def hourly(self, row: Any) -> str:
        return "" if row.hourly_amount is None else money(row.hourly_amount, row.currency)


@admin.register(Article)
class AllArticlesAdmin(admin.ModelAdmin):
    """Everything with a SKU in one list; a row leads to the page of its kind."""

    list_display = ("name", "vendor", "sku", "kind", "list_price", "active")
    list_filter = (KindFilter, PriceStateFilter, "category", "vendor", "active")
    search_fields = ("sku", "name", "name_nl", "vendor", "part_number")
    list_per_page = 100

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Article]:
        now = holding_now().filter(article=models.OuterRef("pk"))
        return super().get_queryset(request).annotate(price_amount=models.Subquery(now.values("amount")[:1]))

    @admin.display(description=gettext_lazy("kind"), ordering="kind_name")
    def kind(self, row: Article) -> str:
        return str(TABLES[row.kind_name]._meta.verbose_name)

    @admin.display(description=gettext_lazy("list price"), ordering="price_amount")
    def list_price(self, row: Any) -> str:
        return "" if row.price_amount is None else money(row.price_amount)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        article = self.get_object(request, object_id)
        if article is None or not self.has_view_permission(request, article):
            return super().change_view(request, object_id, form_url, extra_context)
        table = TABLES[article.kind_name]._meta
        return HttpResponseRedirect(
            reverse(f"admin:{table.app_label}_{table.model_name}_change", args=[article.pk])
        )

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Article | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Article | None = None) -> bool:
        return False
