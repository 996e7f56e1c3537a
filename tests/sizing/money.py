"""A system by hand, for the tests about money and advice: its parts matter less than its price, watts and loads."""

from datetime import date
from decimal import Decimal
from typing import Any

from catalog.quantity import Message, Money
from catalog.specs import AcceleratorSpec, Availability, CatalogSnapshot, CloudOffer, FormFactor
from configurator.workload import Domain, LanguageService, LoadProfile, ModelRef, RateService, Workload
from quotes.sizing.results import (
    Candidate,
    Economics,
    FabricPlan,
    LoadOption,
    NodeBuild,
    Power,
    SizedSystem,
    SystemBuild,
    Tier,
)

DAY = date(2026, 11, 30)
PROFILES = [profile for profile in LoadProfile if profile is not LoadProfile.COUNTED]
WORDS = Message.of("…")
CHAT = LanguageService(
    name="chat", model=ModelRef(params_b=8), concurrent_requests=10, prompt_tokens=500, output_tokens=200
)
INSPECTION = RateService(domain=Domain.VISION, model="ViT-L/16", items_s=600)


def accelerator(**figures: Any) -> AcceleratorSpec:
    values = {
        "sku": "gpu",
        "vendor": "Maker",
        "name": "GPU",
        "architecture": "Hopper",
        "form_factor": FormFactor.PCIE,
        "availability": Availability.ORDERABLE,
        "software_stack": frozenset({"cuda"}),
    }
    return AcceleratorSpec(**(values | figures))


def offer(hourly_eur: str = "2", **figures: Any) -> CloudOffer:
    values = {
        "sku": "rent",
        "vendor": "Provider",
        "name": "instance",
        "region": "Amsterdam",
        "in_eu": True,
        "accelerator_sku": "gpu",
        "accelerator_count": 1,
        "hourly": Money(amount=Decimal(hourly_eur)),
        "hourly_eur": Decimal(hourly_eur),
        "priced_on": DAY,
    }
    return CloudOffer(**(values | figures))


def catalog(*offers: CloudOffer, **figures: Any) -> CatalogSnapshot:
    return CatalogSnapshot(
        version="1", taken_on=DAY, accelerators=(accelerator(**figures),), cloud_offers=offers
    )


def load(**figures: Any) -> LoadOption:
    values = {
        "load": "chat",
        "kind": "serving",
        "accelerator": "gpu",
        "gpus_per_replica": 1,
        "replicas": 4,
        "gpus": 4,
        "gpus_in_one_node": 1,
        "capacity_factor": 1.0,
        "limited_by": WORDS,
    }
    return LoadOption(**(values | figures))


def candidate(
    *loads: LoadOption,
    price: str = "100000",
    wall_w: float = 4000,
    nodes: int = 1,
    fabric: str = "none",
    **system: Any,
) -> Candidate:
    loads = loads or (load(),)
    power = Power(dc_w=wall_w * 0.95, wall_w=wall_w, expected_w=wall_w * 0.75)
    node = NodeBuild(
        server="server",
        accelerator="gpu",
        accelerators=4,
        lines=(),
        power=power,
        rack_units=4,
        weight_kg=30,
        cooling="air",
        list_price_eur=Decimal(price),
    )
    values = {
        "accelerator": "gpu",
        "accelerators": sum(one.gpus for one in loads),
        "nodes": nodes,
        "node": node,
        "lines": (),
        "power": power,
        "fabric": FabricPlan(kind=fabric),  # type: ignore[arg-type]
    }
    return Candidate(
        key="k",
        accelerator="gpu",
        accelerator_name="GPU",
        loads=loads,
        system=SystemBuild(**(values | system)),
        price_eur=Decimal(price),
        headroom_factor=min(one.capacity_factor for one in loads),
        expected_w=power.expected_w,
    )


def sized(made: Candidate, economics: Economics | None = None) -> SizedSystem:
    return SizedSystem(
        tier=Tier.BALANCED, recommended=True, candidate=made, economics=economics, answer=WORDS
    )


def workload(profile: LoadProfile = LoadProfile.ALWAYS, **parts: Any) -> Workload:
    values: dict[str, Any] = {"services": (CHAT.model_copy(update={"profile": profile}),)}
    return Workload(**(values | parts))
