"""Which accelerators go into which server, how many, and whether its supplies carry them.

Each rule yields what it breaks, in words, with the nearest that works. A figure that the catalog does not know never
counts as zero: where a rule needs it, it refuses. `docs/sizing/hardware.md` lists the rules by key.
"""

from collections.abc import Iterator
from typing import Any

from catalog.quantity import Quantity, noop
from catalog.specs import AcceleratorSpec, Availability, FormFactor, ServerRole, ServerSpec, ServerStatus
from quotes.sizing.hardware.bill import Broken, broken
from quotes.sizing.hardware.parts import Parts

PCIE_STEPS = (1, 2, 4, 8, 10)
"""Card counts that load the CPUs and their PCIe switches evenly."""


def watts(value: float) -> Quantity:
    return Quantity(value=value, unit="W", digits=4)


# ── chassis and accelerators ────────────────────────────────────────────────────────────────────────────────────


def counts_allowed(server: ServerSpec, accelerator: AcceleratorSpec | None) -> tuple[int, ...]:
    """Accelerators per server, ascending: whole boards, even steps of cards, complete systems as they come."""
    if accelerator is None:
        return (0,)
    most = server.max_accelerators
    if server.status is ServerStatus.COMPLETE_SYSTEM:
        return (most,)
    if accelerator.board_count > 1:
        return tuple(range(accelerator.board_count, most + 1, accelerator.board_count))
    steps = {step for step in PCIE_STEPS if step <= most}
    return tuple(sorted(steps | ({most} if server.cpu_sockets == 1 and most else set())))


def server_rules(server: ServerSpec, parts: Parts) -> Iterator[Broken]:
    """Whether the server may be offered at all."""
    common: dict[str, Any] = {"stage": "catalog", "kind": "sale", "server": server.name}
    if server.status is ServerStatus.INCOMPLETE:
        yield broken(
            "server_incomplete",
            noop("{server} is not offered: figures are missing in the catalog."),
            noop("Complete its figures in the catalog."),
            **common,
        )
    if server.status is ServerStatus.SPECIAL_RACK:
        yield broken(
            "server_special_rack",
            noop("{server} only runs in a special rack with its own power shelf."),
            noop("Choose the version with its own power supplies."),
            **common,
        )
    if server.status is ServerStatus.PART_OF_RACK:
        yield broken(
            "server_part_of_rack",
            noop("{server} is only sold as part of a complete rack."),
            noop("Choose the complete rack."),
            **common,
        )
    if server.sku not in parts.price:
        yield broken(
            "server_price",
            noop("{server} has no valid price in the catalog."),
            noop("Enter its price."),
            **common,
        )


def accelerator_rules(server: ServerSpec, accelerator: AcceleratorSpec, parts: Parts) -> Iterator[Broken]:
    """Whether this accelerator may go into this server, whatever the number."""
    common: dict[str, Any] = {"server": server.name, "accelerator": accelerator.name}
    complete = server.status is ServerStatus.COMPLETE_SYSTEM
    if accelerator.sku not in server.accelerators:
        yield _not_listed(server, accelerator, parts)
    if not complete and accelerator.availability is Availability.PART_OF_SYSTEM:
        yield broken(
            "superchip_whole",
            noop("{accelerator} only comes inside whole systems, not as a part for {server}."),
            noop("Choose the complete tray or rack."),
            **common,
        )
    if not complete and accelerator.order_sku not in parts.price:
        yield broken(
            "accelerator_price",
            noop("{accelerator} has no valid price in the catalog."),
            noop("Enter the price of its card or board."),
            stage="catalog",
            kind="sale",
            **common,
        )
    if accelerator.power_w is None and not complete:
        yield broken(
            "accelerator_power_unknown",
            noop("The power of {accelerator} is not known, so no server can be composed with it."),
            noop("Enter its power in the catalog."),
            stage="catalog",
            kind="unknown",
            **common,
        )
    limit = server.accelerator_power_max_w
    if accelerator.power_w is not None and limit is not None and accelerator.power_w > limit:
        yield broken(
            "accelerator_power",
            noop("{accelerator} draws {power}; {server} cools and feeds at most {limit} per accelerator."),
            noop("Choose a server for higher power, or a variant of at most {limit}."),
            power=watts(accelerator.power_w),
            limit=watts(limit),
            **common,
        )
    if accelerator.cooling == {"liquid"} and server.cooling in {"air", "fanless"}:
        yield broken(
            "accelerator_liquid",
            noop("{accelerator} needs liquid cooling; {server} is cooled by air."),
            noop("Choose a liquid-cooled server."),
            **common,
        )


def _not_listed(server: ServerSpec, accelerator: AcceleratorSpec, parts: Parts) -> Broken:
    board = ServerRole.GPU_HGX in server.roles or ServerRole.GPU_OAM in server.roles
    on_board = accelerator.form_factor in {FormFactor.SXM, FormFactor.OAM}
    others = parts.servers_for.get(accelerator.sku, ())
    nearest = next((other.name for other in others if other.status is ServerStatus.BUILDABLE), "")
    change = noop("It goes into {nearest}, for example.") if nearest else ""
    names: dict[str, Any] = {"server": server.name, "accelerator": accelerator.name, "nearest": nearest}
    if on_board and not board:
        return broken(
            "form_factor",
            noop("{accelerator} comes on a board of its own; {server} takes cards."),
            change,
            **names,
        )
    if board and not on_board:
        return broken(
            "form_factor",
            noop("{server} takes accelerator boards; {accelerator} is a card."),
            change,
            **names,
        )
    return broken(
        "not_listed", noop("{accelerator} is not on the maker's list for {server}."), change, **names
    )


def count_rules(server: ServerSpec, accelerator: AcceleratorSpec, count: int) -> Iterator[Broken]:
    """How many accelerators one server may hold."""
    allowed = counts_allowed(server, accelerator)
    near = min(allowed, key=lambda number: abs(number - count), default=0)
    common: dict[str, Any] = {
        "server": server.name,
        "accelerator": accelerator.name,
        "count": count,
        "near": near,
    }
    if count > server.max_accelerators:
        yield broken(
            "count_most",
            noop("{server} holds at most {most} accelerators; {count} is too many."),
            noop("Take {near} per server and more servers."),
            most=server.max_accelerators,
            **common,
        )
    elif server.status is ServerStatus.COMPLETE_SYSTEM and count not in allowed:
        yield broken(
            "system_whole",
            noop("{server} is sold whole, with {near} accelerators; {count} is not possible."),
            noop("Take all {near}."),
            **common,
        )
    elif accelerator.board_count > 1 and count not in allowed:
        yield broken(
            "board_whole",
            noop("{accelerator} comes on boards of {board}; {count} is not possible."),
            noop("Take {near} per server."),
            board=accelerator.board_count,
            **common,
        )
    elif count not in allowed:
        yield broken(
            "card_steps",
            noop("{count} cards load the CPUs of {server} unevenly."),
            noop("Take {near} per server."),
            **common,
        )


# ── supplies ────────────────────────────────────────────────────────────────────────────────────────────────────


def supply_rules(
    server: ServerSpec, accelerator: AcceleratorSpec | None, dc_w: float, fits_count: int
) -> Iterator[Broken]:
    """`fits_count`: the largest allowed number of accelerators whose load the supplies carry."""
    surviving = server.psu_surviving_w
    if surviving is None:
        yield broken(
            "supply_unknown",
            noop("The power supplies of {server} are not known, so their load cannot be checked."),
            noop("Enter number, watts and redundancy in the catalog."),
            stage="catalog",
            kind="unknown",
            server=server.name,
        )
    elif dc_w > surviving:
        yield broken(
            "supply",
            noop(
                "The supplies of {server} carry {surviving} after a failure ({policy}); this build draws {load}."
            ),
            noop("With {fits} × {accelerator} it fits; or choose a server with larger supplies.")
            if fits_count and accelerator
            else noop("Choose a server with larger supplies, or parts that draw less."),
            off=(dc_w, surviving),
            server=server.name,
            surviving=watts(surviving),
            policy=server.psu_redundancy or "N",
            load=watts(dc_w),
            fits=fits_count,
            accelerator=accelerator.name if accelerator else "",
        )
