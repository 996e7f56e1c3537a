"""What the composition tests share: the seed catalog by name, loads by hand, catalogs with one thing changed."""

from datetime import date
from functools import cache
from typing import Any

from catalog.quantity import Message
from catalog.seed import seed_snapshot
from catalog.specs import CatalogSnapshot, Item
from configurator.workload import LanguageService, LanguageTraining, ModelRef, Workload
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.hardware.demand import NodeRecipe
from quotes.sizing.results import HostNeed, LoadOption, Refusal

DAY = date(2026, 11, 30)
ASSUMPTIONS = Assumptions()
SERVICE = LanguageService(
    model=ModelRef(params_b=8), concurrent_requests=10, prompt_tokens=500, output_tokens=200
)
JOB = LanguageTraining(model=ModelRef(params_b=8), method="full", tokens=1e12, deadline_h=1000)

KINDS = {
    "cpus": ("cpu", "cpus"),
    "memory": ("memory", "modules"),
    "accessories": ("bridge", "bridges"),
}


@cache
def seed() -> CatalogSnapshot:
    return seed_snapshot(DAY)


@cache
def names() -> dict[str, Item]:
    return {item.name: item for item in seed().items.values()}


def named(name: str) -> Any:
    """The article of the seed catalog with this name."""
    return names()[name]


def changed(catalog: CatalogSnapshot | None = None, **fields: Any) -> CatalogSnapshot:
    """A catalog with other rows or prices. Not `model_copy`: that would carry derived values along."""
    catalog = catalog or seed()
    values = {name: getattr(catalog, name) for name in CatalogSnapshot.model_fields}
    return CatalogSnapshot.model_construct(**{**values, **fields})


def without_price(*skus: str) -> CatalogSnapshot:
    return changed(prices={sku: price for sku, price in seed().prices.items() if sku not in skus})


def with_item(kind: str, item: Item, **figures: Any) -> CatalogSnapshot:
    """The seed catalog in which `item` has other figures."""
    rows = getattr(seed(), kind)
    other = item.model_copy(update=figures)
    return changed(**{kind: tuple(other if row.sku == item.sku else row for row in rows)})


def serving(
    accelerator: str, gpus: int, joined: int = 1, *, spare: int = 0, name: str = "chat", **host: float
) -> LoadOption:
    """A service of `gpus // joined` replicas, each of `joined` accelerators in one server."""
    return LoadOption(
        load=name,
        kind="serving",
        accelerator=named(accelerator).sku,
        gpus_per_replica=joined,
        replicas=gpus // joined,
        spare_replicas=spare,
        gpus=gpus,
        gpus_in_one_node=joined,
        limited_by=Message.of("test"),
        host=HostNeed(**host),
    )


def training(accelerator: str, gpus: int, joined: int = 8, name: str = "job", **host: float) -> LoadOption:
    """A job on `gpus` accelerators, `joined` in each server, over a 400 Gb/s cluster network where it crosses them."""
    return LoadOption(
        load=name,
        kind="training",
        accelerator=named(accelerator).sku,
        gpus_per_replica=gpus,
        replicas=1,
        gpus=gpus,
        gpus_in_one_node=joined,
        limited_by=Message.of("test"),
        host=HostNeed(**{"fabric_gbit_s_per_gpu": 400, **host}),
    )


def serve(**parts: Any) -> Workload:
    return Workload(services=(SERVICE,), **parts)


def train(**parts: Any) -> Workload:
    return Workload(jobs=(JOB,), **parts)


def recipe(parts: dict[str, int]) -> NodeRecipe:
    """A server's parts by name and number. Eight equal network cards are the cluster network."""
    chosen: dict[str, Any] = {}
    nics = []
    for name, number in parts.items():
        item = named(name)
        kind = next(
            kind
            for kind in ("cpus", "memory", "drives", "nics", "accessories")
            if item in getattr(seed(), kind)
        )
        if kind == "drives":
            kind = "boot" if item.kind == "boot" else "drive"
            chosen |= {kind: item.sku, f"{'boot_' if kind == 'boot' else ''}drives": number}
        elif kind != "nics":
            sku_field, number_field = KINDS[kind]
            chosen |= {sku_field: item.sku, number_field: number}
        elif number == 8:
            chosen |= {"fabric_nic": item.sku, "fabric_nics": number}
        else:
            nics.append((item.sku, number))
    return NodeRecipe(**chosen, nics=tuple(nics))


def refused(answer: object) -> Refusal:
    assert isinstance(answer, Refusal), f"not refused: {answer}"
    return answer
