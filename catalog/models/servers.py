"""Chassis and complete systems."""

import re

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from catalog.models.accelerators import Accelerator
from catalog.models.base import Article
from catalog.models.fields import WordsField, count, figure, not_negative, number
from catalog.specs import ServerRole, ServerStatus

STATUS = [
    (ServerStatus.BUILDABLE.value, _("buildable")),
    (ServerStatus.COMPLETE_SYSTEM.value, _("complete system, accelerators inside")),
    (ServerStatus.INCOMPLETE.value, _("incomplete: never offered")),
    (ServerStatus.SPECIAL_RACK.value, _("needs a special rack")),
    (ServerStatus.PART_OF_RACK.value, _("part of a rack")),
]
ROLES = [
    (ServerRole.GPU_HGX.value, _("GPU server with SXM board")),
    (ServerRole.GPU_OAM.value, _("GPU server with OAM board")),
    (ServerRole.GPU_PCIE.value, _("GPU server with cards")),
    (ServerRole.GPU_SUPERCHIP.value, _("superchip server")),
    (ServerRole.WORKSTATION.value, _("workstation")),
    (ServerRole.COMPUTE.value, _("compute server")),
    (ServerRole.MANAGEMENT.value, _("management server")),
    (ServerRole.STORAGE.value, _("storage server")),
    (ServerRole.EDGE.value, _("edge system")),
    (ServerRole.RACK.value, _("whole rack")),
]
COOLING = [
    ("air", _("air")),
    ("liquid", _("liquid")),
    ("both", _("air or liquid")),
    ("fanless", _("fanless")),
]
RACK_PARTS = [
    ("power_shelves", _("power shelves")),
    ("nvlink_switches", _("NVLink switches")),
    ("management_switches", _("management switches")),
    ("cdu", _("coolant distribution")),
]
FIGURES = (
    "rack_units", "depth_mm", "weight_kg", "accelerator_power_max_w", "cpu_power_max_w", "memory_max_gb",
    "onboard_fabric_gbit_s", "psu_w", "planning_power_w", "base_power_w", "fan_pct",
)  # fmt: skip


class Server(Article):
    kind_key = "server"

    status = models.CharField(
        _("status"),
        max_length=20,
        choices=STATUS,
        default=ServerStatus.INCOMPLETE.value,
        help_text=_("Only buildable servers and complete systems are offered."),
    )
    roles = WordsField(_("roles"), words=ROLES)
    rack_units = figure(_("height (U)"))
    depth_mm = figure(_("depth (mm)"))
    weight_kg = figure(_("weight (kg)"), _("Filled with accelerators."))
    cooling = models.CharField(_("cooling"), max_length=10, choices=COOLING, default="air")
    accelerators = models.ManyToManyField(
        Accelerator, blank=True, related_name="servers", verbose_name=_("accelerators that fit")
    )
    max_accelerators = number(_("most accelerators"))
    accelerator_power_max_w = figure(_("highest power of one accelerator (W)"))
    cpu_sockets = number(_("CPU sockets"))
    cpu_socket = models.CharField(
        _("socket"), max_length=30, blank=True, help_text=_("As with the CPUs: SP5, LGA4677, LGA4710, …")
    )
    cpu_families = WordsField(
        _("CPU families"), help_text=_("Separated by semicolons; a family or the name of one CPU.")
    )
    cpu_power_max_w = figure(_("highest power of one CPU (W)"))
    dimm_slots = number(_("memory slots"))
    memory_max_gb = figure(_("most memory (GB)"))
    nvme_bays = count(_("NVMe bays"))
    nvme_forms = WordsField(
        _("forms of the NVMe bays"), help_text=_("Separated by semicolons: U.2; E1.S; E3.S.")
    )
    hdd_bays = number(_("3.5-inch bays"))
    boot_m2_count = count(_("M.2 places to boot from"))
    free_x16_slots = count(_("free x16 slots"), _("For network cards, after the accelerators."))
    onboard_lan = models.CharField(_("network on the board"), max_length=120, blank=True)
    onboard_fabric_count = number(_("fabric network cards on board"))
    onboard_fabric_gbit_s = figure(_("speed of each fabric card (Gbit/s)"))
    psu_count = count(_("power supplies"))
    psu_w = figure(_("power of each supply (W)"))
    psu_redundancy = models.CharField(
        _("redundancy"),
        max_length=20,
        blank=True,
        help_text=_("3+1 or N+1: the first number must carry the load. 'none': no redundancy."),
    )
    planning_power_w = figure(_("planning power of the full system (W)"), _("As the vendor publishes it."))
    base_power_w = figure(
        _("base power (W)"), _("Board, fans at rest and management, without CPUs and accelerators.")
    )
    fan_pct = figure(_("fans under load (%)"), _("Added to the power of all parts."))
    inlet = models.CharField(_("power inlet"), max_length=40, blank=True, help_text=_("C14, C19/C20, …"))
    rack_includes = WordsField(
        _("in the rack"),
        words=RACK_PARTS,
        help_text=_("Of a whole rack: what the maker delivers in it. Leave out what is not known."),
    )

    history = HistoricalRecords(m2m_fields=[accelerators])

    class Meta:
        verbose_name = _("server")
        verbose_name_plural = _("servers")
        constraints = [
            not_negative("catalog_server_figures", FIGURES),
            models.CheckConstraint(
                condition=~Q(status=ServerStatus.BUILDABLE.value)
                | Q(
                    cpu_sockets__gte=1,
                    dimm_slots__gte=1,
                    rack_units__isnull=False,  # a comparison alone would let an unknown figure pass
                    rack_units__gt=0,
                    psu_count__isnull=False,
                    psu_count__gte=1,
                    psu_w__isnull=False,
                    psu_w__gt=0,
                    base_power_w__isnull=False,
                    fan_pct__isnull=False,
                    nvme_bays__isnull=False,
                    free_x16_slots__isnull=False,
                )
                & ~Q(cpu_socket=""),
                name="catalog_server_buildable_is_complete",
                violation_error_code="status",
                violation_error_message=_(
                    "A buildable server needs its height, sockets, memory slots, bays, free slots, power supplies, "
                    "base power and fans. Choose the status 'incomplete' until they are known."
                ),
            ),
        ]

    def clean(self) -> None:
        """Refuse a redundancy that nothing can be counted with, or of another number of supplies."""
        super().clean()
        if self.psu_redundancy in ("", "none"):
            return
        found = re.fullmatch(r"(\d+|N)\+(\d+|N)", self.psu_redundancy)
        if not found:
            raise ValidationError({"psu_redundancy": _("Write it as 3+1, N+1 or 'none'.")})
        if "N" not in found.groups() and self.psu_count not in (None, sum(map(int, found.groups()))):
            raise ValidationError(
                {
                    "psu_redundancy": _("%(policy)s is another number of supplies than %(count)d.")
                    % {"policy": self.psu_redundancy, "count": self.psu_count}
                }
            )
