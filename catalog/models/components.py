"""What goes into a server: CPUs, memory, drives, network cards."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from catalog.models.base import Article
from catalog.models.fields import count, figure, not_negative, number


class Cpu(Article):
    kind_key = "cpu"

    generation = models.CharField(
        _("family"), max_length=40, help_text=_("As servers list it: EPYC 9005, Xeon 5th gen, Xeon 6700P, …")
    )
    socket = models.CharField(_("socket"), max_length=30)
    cores = models.PositiveIntegerField(_("cores"), validators=[MinValueValidator(1)])
    power_w = figure(_("power (W)"), _("TDP."))
    memory_channels = count(_("memory channels"))
    memory_speed_mt_s = count(_("memory speed, one module per channel (MT/s)"))
    memory_speed_2dpc_mt_s = count(_("memory speed, two modules per channel (MT/s)"))
    memory_max_gb = figure(_("most memory (GB)"), _("Per socket."))
    pcie_generation = count(_("PCIe generation"))
    pcie_lanes = count(_("PCIe lanes"))
    sockets_max = models.PositiveIntegerField(
        _("most sockets in one system"), default=2, validators=[MinValueValidator(1), MaxValueValidator(8)]
    )

    history = HistoricalRecords()

    class Meta:
        verbose_name = _("CPU")
        verbose_name_plural = _("CPUs")
        constraints = [
            not_negative("catalog_cpu_figures", ("power_w", "memory_max_gb")),
            models.CheckConstraint(
                condition=Q(cores__gte=1, sockets_max__gte=1, sockets_max__lte=8),
                name="catalog_cpu_counts",
                violation_error_code="cores",
                violation_error_message=_("A CPU has at least one core and goes into one to eight sockets."),
            ),
        ]


MEMORY_KINDS = [("RDIMM", "RDIMM"), ("MRDIMM", "MRDIMM"), ("UDIMM", "UDIMM"), ("LRDIMM", "LRDIMM")]


class MemoryModule(Article):
    kind_key = "memory"

    capacity_gb = models.PositiveIntegerField(_("capacity (GB)"), validators=[MinValueValidator(1)])
    speed_mt_s = models.PositiveIntegerField(_("speed (MT/s)"), validators=[MinValueValidator(1)])
    kind = models.CharField(_("kind of module"), max_length=10, choices=MEMORY_KINDS, default="RDIMM")
    power_w = figure(_("power (W)"))

    history = HistoricalRecords()

    class Meta:
        verbose_name = _("memory module")
        verbose_name_plural = _("memory modules")
        constraints = [
            not_negative("catalog_memory_figures", ("power_w",)),
            models.CheckConstraint(
                condition=Q(capacity_gb__gte=1, speed_mt_s__gte=1),
                name="catalog_memory_size",
                violation_error_code="capacity_gb",
                violation_error_message=_("A memory module has a capacity and a speed."),
            ),
        ]


DRIVE_KINDS = [
    ("nvme", "NVMe"),
    ("sata_ssd", _("SATA SSD")),
    ("hdd", _("hard disk")),
    ("boot", _("boot drive")),
]


class Drive(Article):
    kind_key = "drive"

    capacity_gb = models.FloatField(
        _("capacity (GB)"), validators=[MinValueValidator(1)], help_text=_("10⁹ bytes, as on the label.")
    )
    form = models.CharField(
        _("form"),
        max_length=20,
        help_text=_("As the bays of servers name it: U.2, E1.S, E3.S, M.2, 3.5-inch."),
    )
    kind = models.CharField(_("kind of drive"), max_length=10, choices=DRIVE_KINDS, default="nvme")
    dwpd = figure(_("endurance (drive writes per day)"), _("Over the warranty."))
    read_gb_s = figure(_("read (GB/s)"), _("Sequential."))
    write_gb_s = figure(_("write (GB/s)"), _("Sequential."))
    power_w = figure(_("power (W)"))

    history = HistoricalRecords()

    class Meta:
        verbose_name = _("drive")
        verbose_name_plural = _("drives")
        constraints = [
            not_negative("catalog_drive_figures", ("dwpd", "read_gb_s", "write_gb_s", "power_w")),
            models.CheckConstraint(
                condition=Q(capacity_gb__gt=0),
                name="catalog_drive_size",
                violation_error_code="capacity_gb",
                violation_error_message=_("A drive has a capacity."),
            ),
        ]


NIC_KINDS = [
    ("nic", _("network card")),
    ("dpu", _("DPU")),
    ("aiom", _("AIOM or OCP card, takes no PCIe slot")),
]


class NetworkCard(Article):
    kind_key = "nic"

    ports = models.PositiveIntegerField(_("ports"), validators=[MinValueValidator(1)])
    port_gbit_s = models.FloatField(_("speed of a port (Gbit/s)"), validators=[MinValueValidator(0.001)])
    connector = models.CharField(_("connector"), max_length=80, blank=True)
    kind = models.CharField(_("kind of card"), max_length=10, choices=NIC_KINDS, default="nic")
    infiniband = models.BooleanField(_("runs InfiniBand as well"), default=False)
    pcie_lanes = count(_("PCIe lanes"))
    power_w = figure(_("power (W)"), _("Without optics."))

    history = HistoricalRecords()

    class Meta:
        verbose_name = _("network card")
        verbose_name_plural = _("network cards")
        constraints = [
            not_negative("catalog_nic_figures", ("power_w",)),
            models.CheckConstraint(
                condition=Q(ports__gte=1, port_gbit_s__gt=0),
                name="catalog_nic_ports",
                violation_error_code="ports",
                violation_error_message=_("A network card has at least one port with a speed."),
            ),
        ]


FABRICS = [("infiniband", "InfiniBand"), ("ethernet", "Ethernet")]


class Switch(Article):
    kind_key = "switch"

    ports = models.PositiveIntegerField(_("ports"), validators=[MinValueValidator(1)])
    port_gbit_s = models.FloatField(_("speed of a port (Gbit/s)"), validators=[MinValueValidator(0.001)])
    cages = count(_("cages"), _("Places for optics, when one place carries two ports."))
    fabric = models.CharField(_("network"), max_length=12, choices=FABRICS, default="ethernet")
    connector = models.CharField(_("connector"), max_length=80, blank=True)
    uplink_ports = number(_("faster ports beside them"))
    uplink_gbit_s = figure(_("speed of a faster port (Gbit/s)"))
    managed = models.BooleanField(
        _("runs a subnet manager"),
        null=True,
        blank=True,
        help_text=_("InfiniBand only. No: only for networks with fabric managers."),
    )
    rack_units = figure(_("height (U)"))
    max_power_w = figure(_("highest power (W)"), _("With optics."))
    typical_power_w = figure(_("typical power (W)"), _("Without optics."))
    weight_kg = figure(_("weight (kg)"))

    history = HistoricalRecords()

    class Meta:
        verbose_name = _("switch")
        verbose_name_plural = _("switches")
        constraints = [
            not_negative(
                "catalog_switch_figures",
                ("uplink_gbit_s", "rack_units", "max_power_w", "typical_power_w", "weight_kg"),
            ),
            models.CheckConstraint(
                condition=Q(ports__gte=1, port_gbit_s__gt=0),
                name="catalog_switch_ports",
                violation_error_code="ports",
                violation_error_message=_("A switch has at least one port with a speed."),
            ),
            models.CheckConstraint(
                condition=Q(cages__isnull=True) | Q(cages__lte=models.F("ports")),
                name="catalog_switch_cages",
                violation_error_code="cages",
                violation_error_message=_("A switch cannot have more cages than ports."),
            ),
            models.CheckConstraint(
                condition=Q(typical_power_w__isnull=True)
                | Q(max_power_w__isnull=True)
                | Q(typical_power_w__lte=models.F("max_power_w")),
                name="catalog_switch_power",
                violation_error_code="typical_power_w",
                violation_error_message=_("The typical power cannot exceed the highest power."),
            ),
        ]


CABLE_KINDS = [
    ("dac", _("copper with ends (DAC)")),
    ("aoc", _("optical with ends (AOC)")),
    ("fibre", _("fibre")),
    ("copper", _("copper (RJ45)")),
    ("optic", _("optic (transceiver)")),
    ("power", _("power cord")),
]


class Cable(Article):
    kind_key = "cable"

    kind = models.CharField(_("kind of cable"), max_length=10, choices=CABLE_KINDS)
    connector = models.CharField(_("connector"), max_length=80, blank=True)
    gbit_s = figure(_("speed of one link (Gbit/s)"))
    reach_m = figure(_("reach (m)"))
    ports = models.PositiveIntegerField(
        _("links"),
        default=1,
        validators=[MinValueValidator(1)],
        help_text=_("2: a twin optic or a splitter."),
    )
    power_w = figure(_("power (W)"), _("Of one piece."))

    history = HistoricalRecords()

    class Meta:
        verbose_name = _("cable or optic")
        verbose_name_plural = _("cables and optics")
        constraints = [
            not_negative("catalog_cable_figures", ("gbit_s", "reach_m", "power_w")),
            models.CheckConstraint(
                condition=Q(ports__gte=1),
                name="catalog_cable_links",
                violation_error_code="ports",
                violation_error_message=_("A cable carries at least one link."),
            ),
        ]
