"""Which parts go together in one server: CPU, memory, drives; network cards and bridges by `cards`.

The rules check a recipe made by hand or by `recipe.choose_recipe`; each yields what it breaks, in words, with the
nearest that works. `docs/sizing/hardware.md` lists them by key.
"""

from collections.abc import Iterator
from typing import Any

from catalog.quantity import Quantity, noop
from catalog.specs import CpuSpec, DriveSpec, ServerSpec
from quotes.sizing.hardware.bill import Broken, broken, unpriced
from quotes.sizing.hardware.cards import bridge_rules, nic_rules
from quotes.sizing.hardware.chassis import watts
from quotes.sizing.hardware.demand import (
    TB,
    NodeBrief,
    NodeRecipe,
    drives_needed,
)
from quotes.sizing.hardware.parts import Parts, fillings, fits_bay, takes_mrdimm


def recipe_rules(brief: NodeBrief, recipe: NodeRecipe) -> Iterator[Broken]:
    """Everything that is wrong with a recipe, in the order of a builder."""
    yield from _cpu_rules(brief, recipe)
    yield from _memory_rules(brief, recipe)
    yield from _drive_rules(brief, recipe)
    yield from nic_rules(brief, recipe)
    yield from bridge_rules(brief, recipe)


# ── CPU and memory ──────────────────────────────────────────────────────────────────────────────────────────────


def _cpu_rules(brief: NodeBrief, recipe: NodeRecipe) -> Iterator[Broken]:
    server, parts = brief.server, brief.parts
    cpu = next((cpu for cpu in parts.cpus if cpu.sku == recipe.cpu), None)
    if cpu is None:
        yield unpriced("cpu_price", recipe.cpu, parts)
        return
    yield from _cpu_fits(server, cpu, parts)
    if recipe.cpus != server.cpu_sockets:
        yield broken(
            "cpu_count",
            noop("{server} has {sockets} CPU sockets, all to be filled; {count} CPUs were chosen."),
            noop("Take {sockets}."),
            server=server.name,
            sockets=server.cpu_sockets,
            count=recipe.cpus,
        )
    if cpu.cores * recipe.cpus < brief.cores_needed:
        yield broken(
            "cpu_cores_few",
            noop("{cores} CPU cores are fewer than the {needed} that {count} accelerators ask for."),
            noop("Choose CPUs with more cores."),
            cores=cpu.cores * recipe.cpus,
            needed=round(brief.cores_needed),
            count=brief.gpus,
        )


def _cpu_fits(server: ServerSpec, cpu: CpuSpec, parts: Parts) -> Iterator[Broken]:
    """Socket, generation, power, and whether it works beside another."""
    fitting = parts.cpus_for(server)
    common: dict[str, Any] = {
        "cpu": cpu.name,
        "server": server.name,
        "near": fitting[0].name if fitting else "",
    }
    change = noop("{near} fits.") if fitting else ""
    if cpu.socket != server.cpu_socket:
        yield broken(
            "cpu_socket",
            noop("{cpu} has socket {socket}; {server} has {board}."),
            change,
            socket=cpu.socket,
            board=server.cpu_socket,
            **common,
        )
    elif not {cpu.generation, cpu.name} & server.cpu_families:
        yield broken(
            "cpu_generation",
            noop(
                "{cpu} fits the socket of {server}, but its generation {generation} is not on the maker's list."
            ),
            change,
            generation=cpu.generation,
            **common,
        )
    if cpu.power_w is None:
        yield broken("cpu_power_unknown", noop("The power of {cpu} is not known."), change, **common)
    elif server.cpu_power_max_w is not None and cpu.power_w > server.cpu_power_max_w:
        yield broken(
            "cpu_power",
            noop("{cpu} draws {power}; {server} allows {limit} per CPU."),
            change,
            power=watts(cpu.power_w),
            limit=watts(server.cpu_power_max_w),
            **common,
        )
    if cpu.sockets_max < server.cpu_sockets:
        yield broken(
            "cpu_single",
            noop("{cpu} works alone only; {server} has {sockets} sockets."),
            change,
            sockets=server.cpu_sockets,
            **common,
        )


def _memory_rules(brief: NodeBrief, recipe: NodeRecipe) -> Iterator[Broken]:
    server, parts = brief.server, brief.parts
    spec = next((memory for memory in parts.memory if memory.sku == recipe.memory), None)
    cpu = next((cpu for cpu in parts.cpus if cpu.sku == recipe.cpu), None)
    if spec is None or cpu is None:
        yield unpriced("memory_price", recipe.memory, parts)
        return
    even = tuple(fillings(server, cpu).values())
    total = spec.capacity_gb * recipe.modules
    common: dict[str, Any] = {
        "server": server.name,
        "memory": spec.name,
        "cpu": cpu.name,
        "count": recipe.modules,
    }
    if recipe.modules > server.dimm_slots:
        yield broken(
            "memory_slots",
            noop("{server} has {slots} memory slots; {count} modules do not fit."),
            noop("Take larger modules."),
            slots=server.dimm_slots,
            **common,
        )
    elif recipe.modules not in even:
        near = min(even, key=lambda number: abs(number - recipe.modules), default=0)
        yield broken(
            "memory_channels",
            noop("{count} modules leave memory channels unequally filled."),
            noop("Take {near}: the same number in every channel."),
            near=near,
            **common,
        )
    if spec.kind == "MRDIMM" and not takes_mrdimm(cpu):
        yield broken(
            "memory_kind",
            noop("{memory} is of a kind that {cpu} does not take."),
            noop("Take registered modules (RDIMM)."),
            **common,
        )
    yield from _memory_size(brief, cpu, recipe.cpus, total)


def _memory_size(brief: NodeBrief, cpu: CpuSpec, cpus: int, total: int) -> Iterator[Broken]:
    """Not more than CPUs and board address, not less than the loads ask."""
    server = brief.server
    cpu_most = (cpu.memory_max_gb or float("inf")) * cpus
    if total > cpu_most:
        yield broken(
            "memory_cpu_most",
            noop("{total} GB is more than the {most} GB that the CPUs address."),
            noop("Take smaller modules."),
            total=total,
            most=round(cpu_most),
        )
    if server.memory_max_gb is not None and total > server.memory_max_gb:
        yield broken(
            "memory_server_most",
            noop("{total} GB is more than the {most} GB that {server} takes."),
            noop("Take smaller modules."),
            total=total,
            most=round(server.memory_max_gb),
            server=server.name,
        )
    if brief.demand.ram_gb_per_gpu and total < brief.ram_needed_gb:
        yield broken(
            "memory_needed",
            noop("{total} GB of host memory is less than the {needed} GB that the loads ask for."),
            noop("Take larger modules or fill both places of every channel."),
            total=total,
            needed=round(brief.ram_needed_gb),
        )


# ── drives ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _drive_rules(brief: NodeBrief, recipe: NodeRecipe) -> Iterator[Broken]:
    server, parts = brief.server, brief.parts
    drives = {drive.sku: drive for drive in parts.drives}
    boot, drive = drives.get(recipe.boot), drives.get(recipe.drive)
    if recipe.boot and boot is None:
        yield unpriced("boot_price", recipe.boot, parts)
    boot_in_bays = 0
    if boot and boot.form.startswith("M.2"):
        places = server.boot_m2_count or 0
        if recipe.boot_drives > places:
            yield broken(
                "boot_places",
                noop("{server} has {places} M.2 places; {count} boot drives do not fit."),
                noop("Mirror the boot drive in two data bays instead."),
                server=server.name,
                places=places,
                count=recipe.boot_drives,
            )
    elif boot:
        boot_in_bays = recipe.boot_drives
        if not fits_bay(boot, server):
            yield _wrong_bay("boot_form", boot, server, parts)
    if not recipe.drives:
        return
    if drive is None:
        yield unpriced("drive_price", recipe.drive, parts)
        return
    yield from _data_drive_rules(brief, drive, recipe.drives, boot_in_bays)


def _data_drive_rules(brief: NodeBrief, drive: DriveSpec, number: int, boot_in_bays: int) -> Iterator[Broken]:
    server, demand = brief.server, brief.demand
    if drive.kind != "nvme":
        yield broken(
            "drive_kind",
            noop("{drive} is too slow for data that accelerators read."),
            noop("Choose an NVMe drive."),
            drive=drive.name,
        )
    elif not fits_bay(drive, server):
        yield _wrong_bay("drive_form", drive, server, brief.parts)
    if number + boot_in_bays > (server.nvme_bays or 0):
        yield broken(
            "drive_bays",
            noop("{server} has {bays} drive bays; {count} drives do not fit."),
            noop("Take fewer, larger drives."),
            server=server.name,
            bays=server.nvme_bays or 0,
            count=number + boot_in_bays,
        )
    if number * drive.capacity_gb < demand.raw_tb(number) * TB - 1e-6:
        yield broken(
            "drive_size",
            noop("{count} × {drive} hold less than the {needed} TB that the loads keep on the server."),
            noop("Take {near} of them."),
            count=number,
            drive=drive.name,
            needed=Quantity(value=demand.raw_tb(max(number, 2)), digits=3),
            near=drives_needed(drive, demand, 1),
        )
    if demand.nvme_write_tb_per_day > number * drive.capacity_gb / TB * (drive.dwpd or 0) + 1e-9:
        yield broken(
            "drive_wear",
            noop(
                "{count} × {drive} would wear out early: {written} TB is written per day, {allowed} is warranted."
            ),
            noop("Take {near} of them, or a drive for mixed use."),
            count=number,
            drive=drive.name,
            written=Quantity(value=demand.nvme_write_tb_per_day, digits=2),
            allowed=Quantity(value=number * drive.capacity_gb / TB * (drive.dwpd or 0), digits=2),
            near=max(drives_needed(drive, demand, 1), number + 1),
        )
    if demand.nvme_read_gb_s > number * (drive.read_gb_s or 0) + 1e-9:
        yield broken(
            "drive_read",
            noop("{count} × {drive} read {have} GB/s; {needed} GB/s is needed."),
            noop("Take {near} of them."),
            count=number,
            drive=drive.name,
            have=Quantity(value=number * (drive.read_gb_s or 0), digits=3),
            needed=Quantity(value=demand.nvme_read_gb_s, digits=3),
            near=max(drives_needed(drive, demand, 1), number + 1),
        )


def _wrong_bay(rule: str, drive: DriveSpec, server: ServerSpec, parts: Parts) -> Broken:
    fitting = parts.drives_for(server)
    return broken(
        rule,
        noop("{drive} has form {form}; {server} has bays for {bays}."),
        noop("{near} fits.") if fitting else "",
        drive=drive.name,
        form=drive.form,
        server=server.name,
        bays=", ".join(sorted(server.nvme_forms)),
        near=fitting[0].name if fitting else "",
    )
