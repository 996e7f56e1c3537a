"""What every load is sized on: the accelerators as the catalog can deliver them."""

from typing import Any

import pytest

from catalog.specs import CatalogSnapshot
from configurator.workload import LanguageService, ModelRef
from quotes.sizing.hardware.parts import parts_of
from quotes.sizing.knowledge import shipped
from quotes.sizing.loads import option_table
from quotes.sizing.results import Refusal
from tests.sizing.hardware import ASSUMPTIONS, named, seed, without_price

NVL = "H200 NVL 141GB"
BRIDGES = ("nvlink-bridge-2-way-h200-nvl", "nvlink-bridge-4-way-h200-nvl")


@pytest.mark.parametrize(
    ("accelerator", "missing", "link"),
    [
        (NVL, (), ("bridge", 900, 4)),
        (NVL, BRIDGES[1:], ("bridge", 900, 2)),
        (NVL, BRIDGES, ("none", None, 0)),
        ("RTX A6000", (), ("none", None, 0)),  # made for a bridge, and the catalog has none
        ("H200 SXM5 141GB", BRIDGES, ("switch", 900, 8)),  # joined on its board
    ],
)
def test_cards_are_joined_by_the_bridges_of_the_catalog(
    accelerator: str, missing: tuple[str, ...], link: tuple[Any, ...]
) -> None:
    joined = parts_of(without_price(*missing)).as_joined(named(accelerator))
    assert (joined.link_kind, joined.link_gb_s, joined.link_max_count) == link


def test_cards_without_a_bridge_are_sized_over_pcie() -> None:
    """A model over four cards reaches its first word later where the cards talk over PCIe."""
    service = LanguageService(
        model=ModelRef(key="meta-llama/Meta-Llama-3.1-70B"), concurrent_requests=16, prompt_tokens=3000,
        output_tokens=300,
    )  # fmt: skip
    card = named(NVL)

    def first_word_s(catalog: CatalogSnapshot) -> float:
        found = option_table(service, [card], {card.sku: 4}, catalog, ASSUMPTIONS, shipped(), [1])[card.sku]
        assert not isinstance(found, Refusal), str(found.reason)
        four = next(option for option in found if option.gpus_per_replica == 4)
        assert four.speed.ttft_p95_s is not None
        return four.speed.ttft_p95_s.value

    assert first_word_s(without_price(*BRIDGES)) > 1.05 * first_word_s(seed())
