"""The cheapest parts that give a server what its loads ask: CPU, memory, boot and data drives, cards."""

from math import ceil

from catalog.quantity import noop
from catalog.specs import CpuSpec, DriveSpec, ServerSpec
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.hardware.bill import Broken, broken
from quotes.sizing.hardware.cards import choose_bridge, choose_nics
from quotes.sizing.hardware.chassis import counts_allowed
from quotes.sizing.hardware.demand import (
    MANY_DRIVES,
    NodeBrief,
    NodeDemand,
    NodeRecipe,
    drives_needed,
)
from quotes.sizing.hardware.parts import MemoryChoice, Parts


def choose_recipe(brief: NodeBrief, *, frugal: bool = False) -> NodeRecipe | Broken:
    """The cheapest parts that meet the demand; `frugal`: the CPU that draws least instead."""
    server, parts, assumptions = brief.server, brief.parts, brief.assumptions
    cpu = _choose_cpu(brief, frugal)
    if isinstance(cpu, Broken):
        return cpu
    memory = _choose_memory(server, cpu, brief.ram_needed_gb, parts)
    if isinstance(memory, Broken):
        return memory
    boot, boot_drives = _choose_boot(server, parts, assumptions)
    bays = (server.nvme_bays or 0) - (boot_drives if boot and boot.kind != "boot" else 0)
    drive = _choose_drives(brief, brief.roomy, bays)
    if isinstance(drive, Broken):
        drive = _choose_drives(brief, brief.demand, bays)
    if isinstance(drive, Broken):
        return drive
    nics = choose_nics(brief)
    if isinstance(nics, Broken):
        return nics
    fabric, fabric_nics, front = nics
    bridge = choose_bridge(brief)
    return NodeRecipe(
        cpu=cpu.sku,
        cpus=server.cpu_sockets,
        memory=memory.spec.sku,
        modules=memory.modules,
        boot=boot.sku if boot else "",
        boot_drives=boot_drives,
        drive=drive[0].sku if drive else "",
        drives=drive[1] if drive else 0,
        fabric_nic=fabric.sku if fabric else "",
        fabric_nics=fabric_nics,
        nics=front,
        bridge=bridge[0] if bridge else "",
        bridges=bridge[1] if bridge else 0,
    )


def _choose_cpu(brief: NodeBrief, frugal: bool) -> CpuSpec | Broken:
    server, count = brief.server, brief.gpus
    needed = brief.cores_needed / max(server.cpu_sockets, 1)
    fitting = brief.parts.cpus_for(server)
    enough = (cpu for cpu in fitting if cpu.cores >= needed)
    chosen = min(enough, key=lambda cpu: cpu.power_w or 0, default=None) if frugal else next(enough, None)
    if chosen:
        return chosen
    if not fitting:
        return broken(
            "cpu_none",
            noop("The catalog has no priced CPU that {server} takes."),
            noop("Add a CPU of this socket and generation with its price to the catalog."),
            server=server.name,
        )
    most = max(cpu.cores for cpu in fitting) * server.cpu_sockets
    asked = needed * server.cpu_sockets
    smaller = [number for number in counts_allowed(server, brief.accelerator) if number < count]
    fits = max((n for n in smaller if brief._replace(gpus=n).cores_needed <= most), default=0)
    return broken(
        "cpu_cores",
        noop("{count} accelerators in {server} ask for {needed} CPU cores; at most {most} fit."),
        noop("{most} cores are enough for {fits} accelerators.")
        if fits
        else noop("Choose a server with more cores."),
        off=(asked, most),
        count=count,
        server=server.name,
        needed=ceil(asked),
        most=most,
        fits=fits,
    )


def _choose_memory(server: ServerSpec, cpu: CpuSpec, needed_gb: float, parts: Parts) -> MemoryChoice | Broken:
    choices = parts.memory_for(server, cpu)
    chosen = next((choice for choice in choices if choice.gb >= needed_gb), None)
    most = max((choice.gb for choice in choices), default=0)
    return chosen or broken(
        "memory_most",
        noop("{server} holds at most {most} GB of memory in an even filling; {needed} GB is needed."),
        noop("Put fewer accelerators in one server, or choose a load that needs less host memory."),
        off=(needed_gb, most),
        server=server.name,
        most=most,
        needed=ceil(needed_gb),
    )


def _choose_boot(server: ServerSpec, parts: Parts, assumptions: Assumptions) -> tuple[DriveSpec | None, int]:
    """A mirrored pair: on M.2 places where there are two, else in two data bays."""
    if (server.boot_m2_count or 0) >= 2:
        return parts.boot_drive(assumptions.boot_drive_gb), 2
    in_bays = [drive for drive in parts.drives_for(server) if drive.capacity_gb >= assumptions.boot_drive_gb]
    if (server.nvme_bays or 0) > 2 and in_bays:
        return in_bays[0], 2
    return parts.boot_drive(assumptions.boot_drive_gb), min(server.boot_m2_count or 0, 1)


def _choose_drives(brief: NodeBrief, demand: NodeDemand, bays: int) -> tuple[DriveSpec, int] | Broken | None:
    """The cheapest set of equal drives; None when nothing is asked and the server has no bays."""
    server = brief.server
    least = min(int(brief.assumptions.nvme_drives_least_count), bays)
    best: tuple[float, DriveSpec, int] | None = None
    for drive, eur in brief.parts.drive_table(server):
        unwarranted = demand.nvme_write_tb_per_day and drive.dwpd is None
        if unwarranted or (demand.nvme_read_gb_s and not drive.read_gb_s):
            continue
        number = drives_needed(drive, demand, least)
        if 0 < number <= bays and (best is None or eur * number < best[0]):
            best = (eur * number, drive, number)
    if best:
        return best[1], best[2]
    if not (demand.nvme_tb or demand.kept_tb or demand.nvme_write_tb_per_day or demand.nvme_read_gb_s):
        return None
    return broken(
        "drive_capacity",
        noop(
            "The {bays} bays of {server} do not give {needed} TB, {daily} TB written a day and {read} GB/s."
        ),
        noop("Keep the data on shared storage instead of in the server."),
        server=server.name,
        bays=bays,
        needed=ceil(demand.raw_tb(MANY_DRIVES)),
        daily=ceil(demand.nvme_write_tb_per_day),
        read=ceil(demand.nvme_read_gb_s),
    )
