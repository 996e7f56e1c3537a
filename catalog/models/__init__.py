"""The tables of the catalog, and which one holds which kind of row."""

from collections.abc import Mapping

from catalog.models.accelerators import Accelerator, Accessory
from catalog.models.ai_models import AiModel
from catalog.models.base import Article, CatalogVersion, Sourced
from catalog.models.cloud import CloudOffer
from catalog.models.components import Cable, Cpu, Drive, MemoryModule, NetworkCard, Switch
from catalog.models.facility import CoolingUnit, Pdu, Rack, Service, StorageSystem
from catalog.models.prices import Margin, Price
from catalog.models.servers import Server

TABLES: Mapping[str, type[Sourced]] = {
    table.kind_key: table
    for table in (
        Accelerator, Server, Cpu, MemoryModule, Drive, NetworkCard, Switch, Cable, StorageSystem, Rack, Pdu,
        CoolingUnit, Accessory, Service, CloudOffer, AiModel,
    )
}  # fmt: skip

__all__ = [
    "TABLES",
    "Accelerator",
    "Accessory",
    "AiModel",
    "Article",
    "Cable",
    "CatalogVersion",
    "CloudOffer",
    "CoolingUnit",
    "Cpu",
    "Drive",
    "Margin",
    "MemoryModule",
    "NetworkCard",
    "Pdu",
    "Price",
    "Rack",
    "Server",
    "Service",
    "Sourced",
    "StorageSystem",
    "Switch",
]
