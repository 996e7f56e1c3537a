"""GPUs and other accelerators, and the articles that go with them."""

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from catalog.models.base import Article
from catalog.models.fields import WordsField, count, figure, not_negative, number
from catalog.specs import Availability, FormFactor

FORM_FACTORS = [
    (FormFactor.SXM.value, _("SXM – on a board of 4 or 8")),
    (FormFactor.OAM.value, _("OAM – on a board of 8")),
    (FormFactor.PCIE.value, _("PCIe card")),
    (FormFactor.SUPERCHIP.value, _("superchip – whole trays or racks")),
    (FormFactor.EDGE.value, _("edge module")),
    (FormFactor.SYSTEM.value, _("desktop system")),
    (FormFactor.CLOUD.value, _("cloud only")),
]
AVAILABILITY = [
    (Availability.ORDERABLE.value, _("orderable")),
    (Availability.END_OF_SALE.value, _("end of sale, while stock lasts")),
    (Availability.CLOUD_ONLY.value, _("cloud only")),
    (Availability.EDGE.value, _("edge module")),
    (Availability.ANNOUNCED.value, _("announced")),
    (Availability.NOT_IN_EU.value, _("not sold in the EU")),
    (Availability.NOT_SOLD.value, _("no longer sold")),
    (Availability.PART_OF_SYSTEM.value, _("only inside a complete system")),
]
LINKS = [
    ("none", _("none: PCIe only")),
    ("bridge", _("bridge between cards")),
    ("switch", _("switch on the board")),
    ("mesh", _("every one to every other")),
]
COOLING = [("air", _("air")), ("liquid", _("liquid"))]
FIGURES = (
    "memory_mib", "memory_gb_label", "memory_bandwidth_gb_s", "bf16_tflops", "fp8_tflops", "fp4_tflops", "int8_tops",
    "fp32_tflops", "link_gb_s", "power_w",
)  # fmt: skip


class Accelerator(Article):
    kind_key = "accelerator"

    architecture = models.CharField(_("architecture"), max_length=40)
    form_factor = models.CharField(_("form factor"), max_length=10, choices=FORM_FACTORS)
    availability = models.CharField(
        _("availability"), max_length=15, choices=AVAILABILITY, default=Availability.ORDERABLE.value
    )
    memory_mib = figure(
        _("memory as the driver reports it (MiB)"),
        _("From nvidia-smi, rocm-smi or hl-smi. Empty: unknown, and then the accelerator is not sized."),
    )
    memory_gb_label = models.FloatField(
        _("memory on the label (GB)"),
        default=0,
        help_text=_("The size in the name; never used to calculate."),
    )
    memory_bandwidth_gb_s = figure(_("memory bandwidth (GB/s)"), _("10⁹ bytes per second."))
    bf16_tflops = figure(_("BF16 (TFLOPS)"), _("Dense tensor rate: half of a figure 'with sparsity'."))
    fp8_tflops = figure(_("FP8 (TFLOPS)"), _("Dense. Empty: the accelerator has no FP8."))
    fp4_tflops = figure(_("FP4 (TFLOPS)"), _("Dense. Empty: the accelerator has no FP4."))
    int8_tops = figure(_("INT8 (TOPS)"), _("Dense."))
    fp32_tflops = figure(_("FP32 (TFLOPS)"))
    link_gb_s = figure(
        _("link to the other accelerators (GB/s)"),
        _("To all others together, both directions, as on the data sheet."),
    )
    link_max_count = number(_("accelerators that the link joins"), help_text=_("0: PCIe only."))
    link_kind = models.CharField(_("kind of link"), max_length=10, choices=LINKS, default="none")
    pcie_generation = count(_("PCIe generation"))
    pcie_lanes = count(_("PCIe lanes"))
    power_w = figure(_("power (W)"), _("Maximum that the vendor states (TDP)."))
    slots_wide = count(_("slots wide"), _("Of a card."))
    cooling = WordsField(_("cooling"), words=COOLING)
    mig_count = count(_("MIG instances"), _("Most partitions of one accelerator; 0: none."))
    mig_profiles = WordsField(
        _("MIG profiles"),
        help_text=_(
            "As the driver names them, without the whole card: 1g.18gb; 2g.35gb. Empty: not divided by MIG."
        ),
    )
    confidential_computing = models.BooleanField(_("confidential computing"), null=True, blank=True)
    nvdec_count = count(_("video decoders"))
    software_stack = WordsField(
        _("software"), help_text=_("Separated by semicolons: cuda; tensorrt or rocm or gaudi.")
    )
    device_count = number(
        _("devices on one card"),
        1,
        _("More than 1: software sees them apart, and the card is not sized as one."),
    )

    history = HistoricalRecords()

    class Meta:
        verbose_name = _("accelerator")
        verbose_name_plural = _("accelerators")
        constraints = [
            not_negative("catalog_accelerator_figures", FIGURES),
            models.CheckConstraint(
                condition=Q(memory_mib__isnull=True)
                | Q(memory_gb_label=0)
                | Q(memory_mib__lte=F("memory_gb_label") * 1024),
                name="catalog_accelerator_memory_within_label",
                violation_error_code="memory_mib",
                violation_error_message=_(
                    "The driver cannot report more memory than the label says: check MiB (driver) and GB (label)."
                ),
            ),
            models.CheckConstraint(
                condition=Q(link_kind="none", link_max_count=0)
                | (~Q(link_kind="none") & Q(link_max_count__gte=2)),
                name="catalog_accelerator_link_joins_two",
                violation_error_code="link_max_count",
                violation_error_message=_(
                    "A link joins at least two accelerators; without a link the number is 0."
                ),
            ),
            models.CheckConstraint(
                condition=Q(device_count=1) | Q(device_count__gt=1, memory_mib__isnull=True),
                name="catalog_accelerator_devices_apart",
                violation_error_code="memory_mib",
                violation_error_message=_(
                    "A card with several devices has no memory as one space: leave the memory as the driver reports "
                    "it empty."
                ),
            ),
        ]


ACCESSORIES = [
    ("board", _("accelerator board")),
    ("bridge", _("bridge between cards")),
    ("power_supply", _("power supply")),
    ("ups", _("UPS")),
    ("kvm", _("console")),
    ("rack_accessory", _("rack accessory")),
]


class Accessory(Article):
    kind_key = "accessory"

    kind = models.CharField(_("kind of accessory"), max_length=20, choices=ACCESSORIES)
    accelerators = models.ManyToManyField(
        Accelerator,
        blank=True,
        related_name="accessories",
        verbose_name=_("accelerators"),
        help_text=_("Board: the one it carries. Bridge: those it can join."),
    )
    count = number(_("accelerators on it or joined by it"))
    rack_units = figure(_("height (U)"))
    max_power_w = figure(_("highest power (W)"), _("Of a power supply: what it delivers."))
    capacity_kw = figure(_("capacity (kW)"), _("Of a UPS."))
    ports = number(_("ports"))
    fabric_nic_count = number(
        _("fabric network cards on the board"), help_text=_("They need not be ordered apart (HGX B300: 8).")
    )

    history = HistoricalRecords()

    class Meta:
        verbose_name = _("accessory")
        verbose_name_plural = _("accessories")
        constraints = [
            not_negative("catalog_accessory_figures", ("rack_units", "max_power_w", "capacity_kw")),
            models.CheckConstraint(
                condition=~Q(kind__in=["board", "bridge"]) | Q(count__gte=2),
                name="catalog_accessory_joins_two",
                violation_error_code="count",
                violation_error_message=_("A board carries, and a bridge joins, at least two accelerators."),
            ),
        ]
