"""The number format of a checkpoint, and what its config leaves in 16 bit."""

import re
from collections.abc import Iterable, Mapping
from typing import Literal

from catalog.importers.config_fields import Config

type Part = Literal["attention", "dense", "shared", "experts", "other"]

# What a name in an ignore list means. Order matters: a shared expert is no routed one.
PARTS: tuple[tuple[str, Part], ...] = (
    (r"shared_expert", "shared"),
    (r"linear_attn|mixer\.(?:in|out)_proj|mamba|conv1d", "other"),
    (r"self_attn|\battn\b|attention|q_proj|kv_b_proj|q_b_proj", "attention"),
    (r"experts", "experts"),
    (r"\bmlp\b(?!.*(?:gate$|router))", "dense"),
)
LONGEST_NAME = 200  # characters of a layer's name that count
MOST = 0.5  # of the layers must be named before a part counts as left alone


def settings(config: Config, extra: Mapping[str, object]) -> Mapping[str, object]:
    """The quantisation settings: a separate file's before those in the config."""
    own = extra.get("quantization") if extra else None
    if isinstance(own, Mapping):
        return own
    return config.mapping("quantization_config")


def native_format(config: Config, extra: Mapping[str, object]) -> str:
    """A key of weight formats: bf16, fp8, int8, int4, nvfp4, mxfp4, nf4."""
    found = settings(config, extra)
    if str(config.value("expert_dtype") or "").lower() in ("fp4", "mxfp4"):
        return "mxfp4"
    if not found:
        return "fp32" if str(config.value("dtype", "torch_dtype")) == "float32" else "bf16"
    method = str(found.get("quant_method") or "").lower()
    algorithm = str(found.get("quant_algo") or "").upper()
    if algorithm:
        return _of_algorithm(algorithm, found)
    if method in ("fp8", "fbgemm_fp8", "mxfp4"):
        return "mxfp4" if method == "mxfp4" else "fp8"
    if method in ("awq", "gptq", "auto-round", "gptqmodel", "intel/auto-round"):
        return "int8" if found.get("bits") == 8 or found.get("w_bit") == 8 else "int4"
    if method == "bitsandbytes":
        return "nf4" if found.get("load_in_4bit") else "int8"
    return _of_groups(found)


def _of_algorithm(algorithm: str, found: Mapping[str, object]) -> str:
    if "NVFP4" in algorithm:
        return "nvfp4"
    if algorithm == "MIXED_PRECISION":
        return "nvfp4" if "NVFP4" in str(found.get("quantized_layers")) else "fp8"
    if algorithm.startswith("FP8"):
        return "fp8"
    return "int4" if "W4" in algorithm else "int8"


def _of_groups(found: Mapping[str, object]) -> str:
    """compressed-tensors: the bits and type of the first group."""
    groups = found.get("config_groups")
    for group in groups.values() if isinstance(groups, Mapping) else ():
        weights = group.get("weights") if isinstance(group, Mapping) else None
        if not isinstance(weights, Mapping):
            continue
        bits, kind = weights.get("num_bits"), weights.get("type")
        if kind == "float":
            micro = "mxfp4" in str(group.get("format") or found.get("format"))
            return "fp8" if bits == 8 else "mxfp4" if micro else "nvfp4"
        return "int8" if bits == 8 else "int4"
    return "bf16"


def sixteen_bit_parts(config: Config, extra: Mapping[str, object]) -> frozenset[Part]:
    """Parts that the ignore list names in most layers, or without a layer number."""
    found = settings(config, extra)
    if not found:
        return frozenset()
    names: list[str] = []
    for key in ("ignore", "ignored_layers", "modules_to_not_convert", "exclude_modules"):
        listed = found.get(key)
        names += [str(name)[:LONGEST_NAME] for name in listed] if isinstance(listed, list) else []
    return frozenset(_parts(names, config.layer_mix.total))


def _parts(names: Iterable[str], layers: int) -> Iterable[Part]:
    numbers: dict[Part, set[str]] = {}
    everywhere: set[Part] = set()
    for name in names:
        if re.search(r"vision|visual|mm_projector|embed|lm_head|router|^mtp|\.mtp", name):
            continue
        part = next((part for pattern, part in PARTS if re.search(pattern, name)), None)
        if part is None or re.search(r"\bgate\b(?!_)", name.replace("(gate|", "(")):
            continue
        numbered = re.search(r"layers\.(\d+)\.", name)
        if numbered:
            numbers.setdefault(part, set()).add(numbered.group(1))
        else:
            everywhere.add(part)
    return everywhere | {part for part, found in numbers.items() if len(found) >= MOST * layers}
