"""Models, accelerators and services that the tests of serving share."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import cache

from catalog.seed import seed_snapshot
from catalog.specs import AcceleratorSpec, CatalogSnapshot, ModelArchitecture
from configurator.workload import LanguageService, ModelRef
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.results import LoadOption, Refusal
from quotes.sizing.serving import serving_options
from quotes.sizing.serving.calibration import Calibration, load_calibration

LLAMA_8B = "meta-llama/Meta-Llama-3.1-8B"
LLAMA_70B = "meta-llama/Meta-Llama-3.1-70B"
QWEN_32B = "Qwen/Qwen3-32B"
MIXTRAL = "mistralai/Mixtral-8x7B-v0.1"
R1 = "deepseek-ai/DeepSeek-R1"
GPT_OSS = "openai/gpt-oss-120b"
GPT_OSS_SMALL = "openai/gpt-oss-20b"


@cache
def catalog() -> CatalogSnapshot:
    return seed_snapshot(date(2026, 11, 30))


def model(key: str) -> ModelArchitecture:
    return catalog().models_by_key[key]


H100, H200, B200 = "h100-sxm5-80gb", "h200-sxm5-141gb", "b200-sxm-180gb"
A100, L40S, L4, MI300X = "a100-sxm4-80gb", "l40s", "l4", "instinct-mi300x"


@cache
def gpu(sku: str) -> AcceleratorSpec:
    return next(one for one in catalog().accelerators if one.sku == sku)


def service(**changes: object) -> LanguageService:
    """A chat service for twenty people at once."""
    usual: dict[str, object] = {
        "model": ModelRef(key=LLAMA_70B), "concurrent_requests": 20, "prompt_tokens": 2000, "output_tokens": 300,
    }  # fmt: skip
    return LanguageService.model_validate({**usual, **changes})


def sized(
    asked: LanguageService,
    arch: ModelArchitecture,
    accelerators: Sequence[AcceleratorSpec] = (),
    *,
    in_node: int = 8,
    factors: Sequence[float] = (1.0,),
    assumptions: Assumptions | None = None,
    calibration: Calibration | None = None,
) -> Mapping[str, tuple[LoadOption, ...] | Refusal]:
    """Options by SKU, on every accelerator of the seed catalog unless some are named."""
    found = accelerators or catalog().accelerators
    return serving_options(
        asked,
        arch,
        found,
        max_in_node={one.sku: in_node for one in found},
        assumptions=assumptions or Assumptions(),
        calibration=calibration or load_calibration(),
        demand_factors=factors,
    )


def options(
    asked: LanguageService, arch: ModelArchitecture, accelerator: AcceleratorSpec, **more: object
) -> tuple[LoadOption, ...]:
    """The options on one accelerator; fails when it is refused."""
    found = sized(asked, arch, [accelerator], **more)[accelerator.sku]  # type: ignore[arg-type]
    assert not isinstance(found, Refusal), str(found.reason)
    return found


def refusal(
    asked: LanguageService, arch: ModelArchitecture, accelerator: AcceleratorSpec, **more: object
) -> Refusal:
    """The refusal of one accelerator; fails when it has options."""
    found = sized(asked, arch, [accelerator], **more)[accelerator.sku]  # type: ignore[arg-type]
    assert isinstance(found, Refusal)
    return found


def fewest(found: Iterable[LoadOption]) -> int:
    return min(option.gpus for option in found)
