"""Storage systems, racks, power distribution, cooling, services."""

from decimal import Decimal
from typing import ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from catalog.models.base import Article
from catalog.models.fields import count, figure, not_negative, number

PURPOSES = [
    ("os_install", _("operating system and drivers")),
    ("rack_small", _("rack and stack, up to 4U")),
    ("rack_large", _("rack and stack, 5U and higher")),
    ("burn_in", _("burn-in")),
    ("rack_build", _("building a rack")),
    ("cluster_software", _("cluster software")),
    ("cluster_acceptance", _("acceptance test of a cluster")),
    ("fabric_manager", _("fabric manager licence")),
    ("file_system", _("file system licence")),
    ("project_day", _("project management day")),
    ("training_day", _("training day")),
    ("installation_day", _("installation day")),
    ("loop_commissioning", _("commissioning of a liquid loop")),
    ("support_nbd_3y", _("support, next business day, 3 years")),
    ("support_24x7_3y", _("support, 24×7, 3 years")),
]


class Service(Article):
    kind_key = "service"

    unit = models.CharField(_("sold per"), max_length=30, help_text=_("server, rack, GPU, day, 3 years, …"))
    purpose = models.CharField(
        _("used for"),
        max_length=30,
        choices=PURPOSES,
        blank=True,
        help_text=_("What sizing adds this for by itself. One service per purpose."),
    )
    applies_to = models.CharField(_("applies to"), max_length=40, default="all")
    pct_of_hardware = models.DecimalField(
        _("share of the hardware price (%)"),
        max_digits=5,
        decimal_places=2,
        null=True,
        blank=True,
        validators=[MinValueValidator(Decimal(0)), MaxValueValidator(Decimal(100))],
        help_text=_("Takes the place of a price of its own."),
    )

    history = HistoricalRecords()

    class Meta:
        verbose_name = _("service or licence")
        verbose_name_plural = _("services and licences")
        constraints = [
            models.CheckConstraint(
                condition=Q(pct_of_hardware__isnull=True)
                | Q(pct_of_hardware__gte=0, pct_of_hardware__lte=100),
                name="catalog_service_share",
                violation_error_code="pct_of_hardware",
                violation_error_message=_("The share lies between 0 and 100."),
            ),
            models.UniqueConstraint(
                fields=["purpose"],
                condition=~Q(purpose=""),
                name="catalog_service_one_per_purpose",
                violation_error_code="purpose",
                violation_error_message=_("Another service is already used for this."),
            ),
        ]


TIERS = [("hot", _("hot: feeds training directly")), ("capacity", _("capacity: disks"))]


class StorageSystem(Article):
    kind_key = "storage_system"

    usable_tb = figure(_("usable capacity (TB)"), _("10¹² bytes, after erasure coding."))
    raw_tb = figure(_("raw capacity (TB)"))
    read_gb_s = figure(_("read (GB/s)"))
    write_gb_s = figure(_("write (GB/s)"))
    ports = count(_("network ports"))
    port_gbit_s = figure(_("speed of a port (Gbit/s)"))
    rack_units = figure(_("height (U)"))
    max_power_w = figure(_("highest power (W)"))
    weight_kg = figure(_("weight (kg)"))
    scale_out = models.BooleanField(
        _("several together"),
        default=False,
        help_text=_("Capacity and speed grow with every one that is added."),
    )
    minimum_count = models.PositiveIntegerField(_("at least"), default=1, validators=[MinValueValidator(1)])
    tier = models.CharField(_("tier"), max_length=10, choices=TIERS, default="hot")
    nic_ports_needed = number(
        _("network ports to order with each"), help_text=_("0: its network cards are inside.")
    )
    licence = models.ForeignKey(
        Service,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="storage_systems",
        verbose_name=_("licence per usable TB"),
    )

    columns_of: ClassVar = {**Article.columns_of, "licence_sku": "licence_id"}

    history = HistoricalRecords()

    class Meta:
        verbose_name = _("storage system")
        verbose_name_plural = _("storage systems")
        constraints = [
            not_negative(
                "catalog_storage_figures",
                (
                    "usable_tb", "raw_tb", "read_gb_s", "write_gb_s", "port_gbit_s", "rack_units", "max_power_w",
                    "weight_kg",
                ),
            ),
            models.CheckConstraint(
                condition=Q(usable_tb__isnull=True) | Q(raw_tb__isnull=True) | Q(usable_tb__lte=F("raw_tb")),
                name="catalog_storage_usable_within_raw",
                violation_error_code="usable_tb",
                violation_error_message=_("The usable capacity cannot exceed the raw capacity."),
            ),
            models.CheckConstraint(
                condition=Q(minimum_count__gte=1),
                name="catalog_storage_at_least_one",
                violation_error_code="minimum_count",
                violation_error_message=_("At least one is ordered."),
            ),
        ]  # fmt: skip


class Rack(Article):
    kind_key = "rack"

    rack_units = models.PositiveIntegerField(_("height (U)"), validators=[MinValueValidator(1)])
    width_mm = figure(_("width (mm)"))
    depth_mm = figure(_("depth (mm)"))
    weight_kg = figure(_("weight, empty (kg)"))
    load_max_kg = figure(_("highest load (kg)"), _("Standing, not rolling."))

    history = HistoricalRecords()

    class Meta:
        verbose_name = _("rack")
        verbose_name_plural = _("racks")
        constraints = [
            not_negative("catalog_rack_figures", ("width_mm", "depth_mm", "weight_kg", "load_max_kg")),
            models.CheckConstraint(
                condition=Q(rack_units__gte=1),
                name="catalog_rack_height",
                violation_error_code="rack_units",
                violation_error_message=_("A rack has at least one unit."),
            ),
        ]


class Pdu(Article):
    kind_key = "pdu"

    phases = models.PositiveIntegerField(_("phases"), choices=[(1, "1"), (3, "3")])
    amps = models.FloatField(_("current per phase (A)"), validators=[MinValueValidator(0.1)])
    volts = models.FloatField(
        _("voltage, phase to neutral (V)"), default=230, validators=[MinValueValidator(1)]
    )
    power_kw = figure(_("power (kW)"))
    outlets_c13 = number(_("C13 outlets"))
    outlets_c19 = number(_("C19 outlets"))
    rack_units = models.FloatField(
        _("height (U)"), default=0, validators=[MinValueValidator(0)], help_text=_("0: beside the units.")
    )

    history = HistoricalRecords()

    class Meta:
        verbose_name = _("power distribution unit")
        verbose_name_plural = _("power distribution units")
        constraints = [
            not_negative("catalog_pdu_figures", ("power_kw", "rack_units")),
            models.CheckConstraint(
                condition=Q(phases__in=[1, 3], amps__gt=0, volts__gt=0),
                name="catalog_pdu_feed",
                violation_error_code="phases",
                violation_error_message=_(
                    "A power distribution unit has one or three phases, a current and a voltage."
                ),
            ),
        ]


COOLING_KINDS = [
    ("rear_door", _("rear door")),
    ("cdu", _("CDU in the rack")),
    ("in_row", _("CDU for several racks")),
    ("sidecar", _("liquid to air, beside the rack")),
    ("manifold", _("manifold")),
    ("leak_detection", _("leak detection")),
    ("loop", _("water loop of the building")),
]


class CoolingUnit(Article):
    kind_key = "cooling"

    kind = models.CharField(_("kind of cooling"), max_length=20, choices=COOLING_KINDS)
    capacity_kw = figure(_("capacity (kW)"))
    rack_units = figure(_("height (U)"))
    max_power_w = figure(_("own power (W)"))

    history = HistoricalRecords()

    class Meta:
        verbose_name = _("cooling unit")
        verbose_name_plural = _("cooling units")
        constraints = [not_negative("catalog_cooling_figures", ("capacity_kw", "rack_units", "max_power_w"))]
