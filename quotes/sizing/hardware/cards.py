"""Network cards and bridges of one server: which are chosen, and the rules that they must keep."""

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Any

from catalog.quantity import noop
from catalog.specs import AcceleratorSpec, FormFactor, NicSpec
from quotes.sizing.hardware.bill import Broken, broken, unpriced
from quotes.sizing.hardware.demand import NodeBrief, NodeRecipe
from quotes.sizing.hardware.parts import Parts, onboard_gbit_s, takes_aiom

# ── choice ──────────────────────────────────────────────────────────────────────────────────────────────────────


def runs_infiniband(accelerator: AcceleratorSpec | None) -> bool:
    """NVIDIA clusters get InfiniBand, all others Ethernet with RDMA."""
    return accelerator is not None and "cuda" in accelerator.software_stack


def choose_nics(
    brief: NodeBrief,
) -> tuple[NicSpec | None, int, tuple[tuple[str, int], ...]] | Broken:
    """Fabric card and count, and the cards for everything else."""
    demand, fabric, cards = brief.demand, None, 0
    if demand.fabric_gbit_s and brief.fabric_onboard < brief.gpus:
        fabric = _fabric_nic(brief.accelerator, demand.fabric_gbit_s, brief.parts)
        if fabric is None:
            return broken(
                "fabric_nic_none",
                noop("The catalog has no cluster network card of {speed} Gbit/s for this accelerator."),
                speed=round(demand.fabric_gbit_s),
            )
        cards = brief.gpus
    front = _front_nic(brief)
    if isinstance(front, Broken):
        return front
    return fabric, cards, front


def _fabric_nic(accelerator: AcceleratorSpec | None, gbit_s: float, parts: Parts) -> NicSpec | None:
    infiniband = runs_infiniband(accelerator)
    return next(
        (
            nic
            for nic in parts.nics
            if nic.kind == "nic"
            and nic.ports == 1
            and nic.port_gbit_s >= gbit_s
            and nic.infiniband == infiniband
        ),
        None,
    )


def _front_nic(brief: NodeBrief) -> tuple[tuple[str, int], ...] | Broken:
    """Two ports for data and users. A DPU beside NVIDIA boards, the ports on the board where they suffice."""
    server, accelerator, demand = brief.server, brief.accelerator, brief.demand
    needed = brief.front_gbit_s
    on_board = accelerator is not None and accelerator.form_factor in {FormFactor.SXM, FormFactor.OAM}
    if not on_board and not demand.front_gbit_s and onboard_gbit_s(server) >= max(needed, 10):
        return ()
    with_dpu = on_board and runs_infiniband(accelerator)
    port_least = demand.front_gbit_s
    if with_dpu:
        port_least = max(port_least, 400 if brief.fabric_onboard else 200)
    wanted: Sequence[NicSpec] = [
        nic
        for nic in brief.parts.nics
        if nic.ports >= 2
        and nic.port_gbit_s >= port_least
        and nic.ports * nic.port_gbit_s >= needed
        and (nic.kind == "dpu") == with_dpu
        and (nic.kind != "aiom" or takes_aiom(server))
        and nic.connector != "RJ45"
    ]
    if not wanted:
        return broken(
            "front_nic_none",
            noop("The catalog has no network card that gives {server} {needed} Gbit/s for data and users."),
            server=server.name,
            needed=ceil(needed),
        )
    if takes_aiom(server):  # a place of its own, so the slots stay free
        wanted = [nic for nic in wanted if nic.kind == "aiom"] or wanted
    return ((wanted[0].sku, 1),)


def choose_bridge(brief: NodeBrief) -> tuple[str, int] | None:
    accelerator = brief.accelerator
    if not accelerator or accelerator.link_kind != "bridge" or brief.demand.joined < 2:
        return None
    bridge = brief.parts.bridge_for(accelerator, brief.gpus)
    return (bridge.sku, brief.gpus // bridge.count) if bridge else None


# ── rules ───────────────────────────────────────────────────────────────────────────────────────────────────────


def nic_rules(brief: NodeBrief, recipe: NodeRecipe) -> Iterator[Broken]:
    server, parts = brief.server, brief.parts
    cards = {nic.sku: nic for nic in parts.nics}
    for sku in [*([recipe.fabric_nic] if recipe.fabric_nics else []), *(sku for sku, _ in recipe.nics)]:
        if sku not in cards:
            yield unpriced("nic_price", sku, parts)
            return
    yield from _fabric_rules(brief, recipe, cards.get(recipe.fabric_nic))
    aioms = sum(number for sku, number in recipe.nics if cards[sku].kind == "aiom")
    if aioms and not takes_aiom(server):
        yield broken(
            "nic_aiom",
            noop("{server} has no AIOM place for {card}."),
            noop("Choose a PCIe card."),
            server=server.name,
            card=next(cards[sku].name for sku, _ in recipe.nics if cards[sku].kind == "aiom"),
        )
    slots = recipe.fabric_nics + sum(number for _, number in recipe.nics) - aioms
    if slots and server.free_x16_slots is None:
        yield broken(
            "nic_slots_unknown",
            noop("How many slots {server} leaves for network cards is not known."),
            noop("Enter it in the catalog."),
            server=server.name,
        )
    elif slots > (server.free_x16_slots or 0):
        yield broken(
            "nic_slots",
            noop("{server} leaves {slots} slots beside the accelerators; {count} network cards do not fit."),
            noop("Choose a server with more slots, or a card with more ports."),
            off=(slots, server.free_x16_slots or 0),
            server=server.name,
            slots=server.free_x16_slots or 0,
            count=slots,
        )


def _fabric_rules(brief: NodeBrief, recipe: NodeRecipe, card: NicSpec | None) -> Iterator[Broken]:
    accelerator, count, demand = brief.accelerator, brief.gpus, brief.demand
    onboard = brief.fabric_onboard
    if onboard and recipe.fabric_nics:
        yield broken(
            "fabric_onboard",
            noop(
                "The accelerator board brings its {onboard} cluster network ports; further cards are not needed."
            ),
            noop("Leave the {count} cards out."),
            onboard=onboard,
            count=recipe.fabric_nics,
        )
    if not demand.fabric_gbit_s:
        return
    if max(onboard, recipe.fabric_nics) < count:
        yield broken(
            "fabric_per_gpu",
            noop(
                "Training over several servers needs one cluster network port per accelerator: {count}, not {have}."
            ),
            noop("Take {count} cards."),
            count=count,
            have=max(onboard, recipe.fabric_nics),
        )
    if card and recipe.fabric_nics and card.port_gbit_s < demand.fabric_gbit_s:
        yield broken(
            "fabric_speed",
            noop("{card} gives {have} Gbit/s per accelerator; {needed} is needed."),
            noop("Choose a faster card."),
            card=card.name,
            have=round(card.port_gbit_s),
            needed=round(demand.fabric_gbit_s),
        )
    if card and recipe.fabric_nics and runs_infiniband(accelerator) and not card.infiniband:
        yield broken(
            "fabric_kind",
            noop("{card} does not run InfiniBand, which the cluster network of {accelerator} uses here."),
            noop("Choose a card that does."),
            card=card.name,
            accelerator=accelerator.name if accelerator else "",
        )


def bridge_rules(brief: NodeBrief, recipe: NodeRecipe) -> Iterator[Broken]:
    accelerator, count, parts = brief.accelerator, brief.gpus, brief.parts
    if not recipe.bridges:
        return
    bridge = next((item for item in parts.accessories if item.sku == recipe.bridge), None)
    if bridge is None or accelerator is None:
        yield unpriced("bridge_price", recipe.bridge, parts)
        return
    near = parts.bridge_for(accelerator, count)
    common: dict[str, Any] = {
        "bridge": bridge.name,
        "accelerator": accelerator.name,
        "near": near.name if near else "",
    }
    change = noop("{near} fits.") if near else ""
    if accelerator.sku not in bridge.accelerators:
        yield broken("bridge_kind", noop("{bridge} does not fit {accelerator}."), change, **common)
    elif bridge.count * recipe.bridges != count:
        yield broken(
            "bridge_count",
            noop("{bridges} × {bridge} join {joined} cards; there are {count}."),
            change,
            bridges=recipe.bridges,
            joined=bridge.count * recipe.bridges,
            count=count,
            **common,
        )
