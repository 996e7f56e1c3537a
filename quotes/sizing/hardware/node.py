"""One server: from chassis, accelerators and demand to its bill, watts and price, or the rule that stops it."""

from catalog.quantity import noop
from catalog.specs import AcceleratorSpec, ServerRole, ServerSpec, ServerStatus
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.hardware.bill import Broken, Line, bill_lines, fixed_eur, longest_lead
from quotes.sizing.hardware.cards import nic_rules
from quotes.sizing.hardware.chassis import (
    accelerator_rules,
    count_rules,
    counts_allowed,
    server_rules,
    supply_rules,
)
from quotes.sizing.hardware.demand import NodeBrief, NodeDemand, NodeRecipe
from quotes.sizing.hardware.fitting import recipe_rules
from quotes.sizing.hardware.node_findings import NodePlan, node_findings, small_plug
from quotes.sizing.hardware.parts import Parts
from quotes.sizing.hardware.recipe import choose_recipe
from quotes.sizing.results import LineRole, NodeBuild, Power

GROUP = "node"


def plan_node(brief: NodeBrief, recipe: NodeRecipe | None = None) -> NodePlan | Broken:
    """The cheapest legal server, or the one that `recipe` describes; the first broken rule otherwise."""
    wrong = pairing(brief.server, brief.accelerator, brief.parts)
    if wrong is None and brief.accelerator is not None:
        wrong = next(count_rules(brief.server, brief.accelerator, brief.gpus), None)
    return wrong or plan_parts(brief, recipe)


def pairing(server: ServerSpec, accelerator: AcceleratorSpec | None, parts: Parts) -> Broken | None:
    """The first rule that server and accelerator break whatever their number; None when they go together."""

    def check() -> Broken | None:
        wrong = next(server_rules(server, parts), None)
        if wrong is None and accelerator is not None:
            wrong = next(accelerator_rules(server, accelerator, parts), None)
        return wrong

    return parts.remember(("pairing", parts.key_of(server), parts.key_of(accelerator)), check)


def plan_parts(brief: NodeBrief, recipe: NodeRecipe | None = None) -> NodePlan | Broken:
    """As `plan_node`, for a server and a number of accelerators that are known to go together."""
    if brief.server.status is ServerStatus.COMPLETE_SYSTEM:
        return _complete(brief)
    if recipe is not None:
        wrong = next(recipe_rules(brief, recipe), None)
        return wrong or _supplied(brief, recipe)
    parts = brief.parts
    key = (
        "node",
        parts.key_of(brief.server),
        parts.key_of(brief.accelerator),
        brief.gpus,
        brief.demand,
        parts.number_of(brief.assumptions),
    )
    return parts.remember(key, lambda: _by_rule(brief))


def _by_rule(brief: NodeBrief) -> NodePlan | Broken:
    """The cheapest parts; where the supplies do not carry them, the ones that draw less."""
    answer = _with_chosen(brief, frugal=False)
    if isinstance(answer, NodePlan) or answer.rule != "supply":
        return answer
    frugal = _with_chosen(brief, frugal=True)
    return frugal if isinstance(frugal, NodePlan) else answer


def _with_chosen(brief: NodeBrief, *, frugal: bool) -> NodePlan | Broken:
    chosen = choose_recipe(brief, frugal=frugal)
    if isinstance(chosen, Broken):
        return chosen
    # what is chosen by rule keeps the other rules by construction; a test holds it
    wrong = next(nic_rules(brief, chosen), None)
    return wrong or _supplied(brief, chosen)


def _supplied(brief: NodeBrief, recipe: NodeRecipe) -> NodePlan | Broken:
    """The server with these parts, if its supplies carry it after the failure they must survive."""
    dc_w, estimated = _dc_watts(brief, recipe)
    surviving = brief.server.psu_surviving_w
    if surviving is None or dc_w > surviving:
        fits = _count_that_fits(brief, recipe, surviving or 0)
        return next(supply_rules(brief.server, brief.accelerator, dc_w, fits))
    return _composed(brief, recipe, dc_w, estimated)


def _count_that_fits(brief: NodeBrief, recipe: NodeRecipe, surviving_w: float) -> int:
    """The largest allowed smaller number of accelerators that the supplies carry with these parts; 0 when none."""
    smaller = [n for n in counts_allowed(brief.server, brief.accelerator) if n < brief.gpus]
    return max((n for n in smaller if _dc_watts(brief._replace(gpus=n), recipe)[0] <= surviving_w), default=0)


# ── watts ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _dc_watts(brief: NodeBrief, recipe: NodeRecipe) -> tuple[float, bool]:
    """(all parts at their rated power + board) × (1 + fans), watts; and whether an estimate is inside.

    Source of the rule: vendors' planning guides; checked on twelve complete systems, see docs/sizing/hardware.md.
    """
    server, accelerator, parts, assumptions = brief.server, brief.accelerator, brief.parts, brief.assumptions
    total = server.base_power_w or 0
    guessed = server.base_power_w is None or server.fan_pct is None
    guessed |= bool({"base_power_w", "fan_pct"} & set(server.provenance.estimated_fields))
    if accelerator:
        total += (accelerator.power_w or 0) * brief.gpus
        guessed |= "power_w" in accelerator.provenance.estimated_fields
    for sku, number, default in (
        (recipe.cpu, recipe.cpus, 0.0),
        (recipe.memory, recipe.modules, assumptions.dimm_power_w),
        (recipe.boot, recipe.boot_drives, assumptions.part_power_unknown_w),
        (recipe.drive, recipe.drives, assumptions.part_power_unknown_w),
        (recipe.fabric_nic, recipe.fabric_nics, assumptions.part_power_unknown_w),
        *((sku, number, assumptions.part_power_unknown_w) for sku, number in recipe.nics),
    ):
        if not number:
            continue
        power_w = getattr(parts.items[sku], "power_w", None)
        guessed |= power_w is None or "power_w" in parts.items[sku].provenance.estimated_fields
        total += number * (default if power_w is None else power_w)
    return total * (1 + (server.fan_pct or 0) / 100), guessed


def planning_watts(server: ServerSpec, accelerator: AcceleratorSpec | None, count: int) -> float | None:
    """The maker's planning figure is for a full server: less the rated power of the accelerators left out."""
    if server.planning_power_w is None or accelerator is None:
        return server.planning_power_w
    left_out = (server.max_accelerators - count) * (accelerator.power_w or 0)
    return max(server.planning_power_w - left_out, 0)


# ── bill ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _composed(brief: NodeBrief, recipe: NodeRecipe, dc_w: float, estimated: bool) -> NodePlan:
    server, accelerator, count, parts = brief.server, brief.accelerator, brief.gpus, brief.parts
    lines = tuple(line for line in _lines(brief, recipe) if line.quantity)
    wall_w = dc_w / brief.assumptions.psu_efficiency_fraction
    return NodePlan(
        server=server,
        accelerator=accelerator,
        gpus=count,
        recipe=recipe,
        lines=lines,
        dc_w=dc_w,
        wall_w=wall_w,
        planning_w=planning_watts(server, accelerator, count),
        estimated=estimated,
        eur=fixed_eur(lines, parts),
        lead_weeks=longest_lead(lines, parts)[0],
        weight_kg=weight_with_cards_kg(server, count, brief.assumptions),
    )


def weight_with_cards_kg(server: ServerSpec, cards: int, assumptions: Assumptions) -> float | None:
    """Makers weigh a server for cards without them, and one for a board with it."""
    if server.weight_kg is None or ServerRole.GPU_PCIE not in server.roles:
        return server.weight_kg
    return server.weight_kg + cards * assumptions.card_weight_kg


def _lines(brief: NodeBrief, recipe: NodeRecipe) -> list[Line]:
    server, accelerator, parts = brief.server, brief.accelerator, brief.parts

    def line(sku: str, quantity: int, role: LineRole, why: str, **params: object) -> Line:
        return Line(sku, quantity, role, GROUP, why, params)

    lines = [
        line(server.sku, 1, LineRole.SERVER, noop("The chassis, with its fans and power supplies.")),
        line(
            recipe.cpu,
            recipe.cpus,
            LineRole.CPU,
            noop("One in every socket; the cheapest with cores enough."),
        ),
        line(
            recipe.memory,
            recipe.modules,
            LineRole.MEMORY,
            noop("The same number of modules in every memory channel."),
        ),
    ]
    if accelerator:
        boards = accelerator.board_count if accelerator.board_sku else 1
        why = (
            noop("One board with {boards} accelerators.")
            if boards > 1
            else noop("The accelerators that do the work.")
        )
        lines.append(
            line(accelerator.order_sku, brief.gpus // boards, LineRole.ACCELERATOR, why, boards=boards)
        )
    lines += [
        line(recipe.bridge, recipe.bridges, LineRole.ACCELERATOR, noop("Joins cards that work as one.")),
        line(
            recipe.boot, recipe.boot_drives, LineRole.DRIVE, noop("Operating system, mirrored where two fit.")
        ),
        line(
            recipe.drive,
            recipe.drives,
            LineRole.DRIVE,
            noop("Fast local store for models, data and checkpoints."),
        ),
        line(
            recipe.fabric_nic,
            recipe.fabric_nics,
            LineRole.NIC,
            noop("One cluster network port for each accelerator."),
        ),
        *(
            line(sku, number, LineRole.NIC, noop("Network for data, users and management."))
            for sku, number in recipe.nics
        ),
        *_front_cables(recipe, parts),
        *_cords(server, parts),
    ]
    return lines


def _front_cables(recipe: NodeRecipe, parts: Parts) -> list[Line]:
    """Copper for small plugs; larger ports depend on the switch they go to, see `node_findings`."""
    ports = sum(number * parts.items[sku].ports for sku, number in recipe.nics if small_plug(sku, parts))  # type: ignore[attr-defined]
    cable = parts.cable("dac", "SFP28") if ports else None
    if cable is None:
        return []
    return [Line(cable.sku, ports, LineRole.NETWORK, GROUP, noop("From the server to the switch above it."))]


def _cords(server: ServerSpec, parts: Parts) -> list[Line]:
    cord = parts.cord_for(server.inlet)
    if cord is None or not server.psu_count:
        return []
    return [Line(cord.sku, server.psu_count, LineRole.POWER, GROUP, noop("One power cord per supply."))]


def _complete(brief: NodeBrief) -> NodePlan | Broken:
    """A system sold with its accelerators inside: the maker's planning figure is its power."""
    server, accelerator, parts, assumptions = brief.server, brief.accelerator, brief.parts, brief.assumptions
    if server.planning_power_w is None:
        return next(supply_rules(server.model_copy(update={"psu_w": None}), accelerator, 0, 0))
    lines = [Line(server.sku, 1, LineRole.SERVER, GROUP, noop("Sold complete, accelerators inside."))]
    if ServerRole.EDGE in server.roles and server.boot_m2_count:
        boot = parts.boot_drive(assumptions.boot_drive_gb)
        patch = parts.cable("copper", "RJ45")
        lines += (
            [Line(boot.sku, 1, LineRole.DRIVE, GROUP, noop("Operating system and models."))] if boot else []
        )
        lines += [Line(patch.sku, 1, LineRole.NETWORK, GROUP, noop("To the network."))] if patch else []
    return NodePlan(
        server=server,
        accelerator=accelerator,
        gpus=brief.gpus,
        recipe=NodeRecipe(),
        lines=tuple(lines),
        dc_w=server.planning_power_w * assumptions.psu_efficiency_fraction,
        wall_w=server.planning_power_w,
        planning_w=server.planning_power_w,
        estimated="planning_power_w" in server.provenance.estimated_fields,
        eur=fixed_eur(lines, parts),
        lead_weeks=longest_lead(lines, parts)[0],
        weight_kg=server.weight_kg,
    )


# ── for the ones that are shown ─────────────────────────────────────────────────────────────────────────────────


def node_build(plan: NodePlan, demand: NodeDemand, parts: Parts, assumptions: Assumptions) -> NodeBuild:
    weeks, slowest = longest_lead(plan.lines, parts)
    return NodeBuild(
        server=plan.server.sku,
        accelerator=plan.accelerator.sku if plan.accelerator else None,
        accelerators=plan.gpus,
        lines=bill_lines(plan.lines, parts),
        power=node_power(plan, assumptions),
        rack_units=plan.server.rack_units,
        weight_kg=plan.weight_kg,
        cooling="liquid" if plan.server.cooling == "liquid" else "air",
        list_price_eur=plan.eur,
        lead_time_weeks=weeks,
        lead_time_line=slowest,
        findings=tuple(node_findings(plan, demand, parts, assumptions)),
    )


def node_power(plan: NodePlan, assumptions: Assumptions) -> Power:
    return Power(
        dc_w=plan.dc_w,
        wall_w=plan.wall_w,
        expected_w=plan.wall_w * assumptions.load_factor_fraction,
        surviving_psu_w=plan.server.psu_surviving_w,
        planning_w=plan.planning_w,
        estimated=plan.estimated,
    )
