"""Which accelerator of the catalog a GPU is, by the name that its driver gives it."""

import re
from collections.abc import Iterable, Mapping

from catalog.specs import AcceleratorSpec

MEMORY_TOLERANCE = 0.08  # error correction and older drivers take up to 7 % off what is reported

# Names as drivers write them (lower case, without maker and trademark), by SKU. The data-centre cards of one chip
# differ by their ending: "A100-SXM4-40GB", "A100 80GB PCIe"; the SXM module of H100 is "H100 80GB HBM3".
ALIASES: Mapping[str, str] = {
    "a100-sxm4-40gb": r"a100[ -]sxm4?[ -]40 ?gb",
    "a100-sxm4-80gb": r"a100[ -]sxm4?[ -]80 ?gb",
    "a100-pcie-40gb": r"a100[ -]pcie[ -]40 ?gb|a100 40 ?gb pcie|a100 pcie 40 ?gb",
    "a100-pcie-80gb": r"a100[ -]pcie[ -]80 ?gb|a100 80 ?gb pcie|a100 pcie 80 ?gb",
    "a800-sxm4-80gb": r"a800[ -]sxm4?[ -]80 ?gb",
    "h100-sxm5-80gb": r"h100 80 ?gb hbm3|h100[ -]sxm5?(?:[ -]80 ?gb)?",
    "h100-pcie-80gb": r"h100 pcie(?: 80 ?gb)?|h100 80 ?gb pcie",
    "h100-nvl-94gb": r"h100 nvl(?: 94 ?gb)?",
    "h200-sxm5-141gb": r"h200(?:[ -]sxm5?)?(?: 141 ?gb)?(?: hbm3e)?",
    "h200-nvl-141gb": r"h200 nvl(?: 141 ?gb)?",
    "h20-96gb": r"h20(?: 96 ?gb)?(?: hbm3)?",
    "b200-sxm-180gb": r"b200(?: sxm)?(?: 1[89]\d ?gb)?",
    "b300-sxm-288gb": r"b300(?: sxm\d?)?(?: ac)?(?: 2[78]\d ?gb)?",
    "gh200-96gb": r"gh200 480gb|gh200 96gb hbm3",
    "gh200-144gb": r"gh200 144g(?:b)? hbm3e",
    "gb200": r"gb200",
    "gb300": r"gb300",
    "gb10": r"gb10",
    "v100-sxm2-16gb": r"v100[ -]sxm2[ -]16gb",
    "v100-sxm2-32gb": r"v100[ -]sxm2[ -]32gb(?:[ -]ls)?",
    "v100-pcie-16gb": r"v100[ -]pcie[ -]16gb|v100 16gb pcie",
    "v100-pcie-32gb": r"v100[ -]pcie[ -]32gb|v100 32gb pcie",
    "p100-pcie-16gb": r"p100[ -]pcie[ -]16gb",
    "p40": r"p40",
    "rtx-a6000": r"rtx a6000",
    "rtx-6000-ada": r"rtx 6000 ada(?: generation)?",
    "rtx-5000-ada": r"rtx 5000 ada(?: generation)?",
    "rtx-4500-ada": r"rtx 4500 ada(?: generation)?",
    "rtx-4000-sff-ada": r"rtx 4000 sff ada(?: generation)?",
    "geforce-rtx-3090": r"(?:geforce )?rtx 3090",
    "geforce-rtx-4090": r"(?:geforce )?rtx 4090",
    "geforce-rtx-5090": r"(?:geforce )?rtx 5090",
    "rtx-pro-5000-72gb-blackwell": r"rtx pro 5000 72gb blackwell",
    "instinct-mi210": r"(?:instinct )?mi210",
    "instinct-mi250x": r"(?:instinct )?mi250x(?: */ *mi250)?(?: oam)?",
    "instinct-mi300x": r"(?:instinct )?mi300x(?: oam)?",
    "instinct-mi325x": r"(?:instinct )?mi325x(?: oam)?",
    "instinct-mi350x": r"(?:instinct )?mi350x(?: oam)?",
    "instinct-mi355x": r"(?:instinct )?mi355x(?: oam)?",
}
IN_FULL: Mapping[str, str] = {
    "h100-sxm5-80gb": "h100 80gb hbm3",
    "a100-pcie-80gb": "a100 80gb pcie",
    "gh200-96gb": "gh200 480gb",
    "gh200-144gb": "gh200 144g hbm3e",
    "rtx-6000-ada": "rtx 6000 ada generation",
    "rtx-5000-ada": "rtx 5000 ada generation",
    "rtx-4500-ada": "rtx 4500 ada generation",
    "rtx-4000-sff-ada": "rtx 4000 sff ada generation",
}
"""Where drivers write another name than the catalog: what a name that was cut off is the beginning of."""
_ALIASES = {sku: re.compile(pattern) for sku, pattern in ALIASES.items()}
_TYPED_MEMORY = re.compile(r"(.+?) (\d+) ?gb?")  # drivers do not write "RTX 3090 24GB", people do
_MAKER = re.compile(r"^(?:nvidia|amd|tesla|quadro(?= rtx a)|intel)\s+")


def plain(name: str) -> str:
    """Lower case, without maker and without the dots of a name that a table cut off."""
    text = " ".join(name.lower().replace("(r)", " ").replace("graphics", " ").split())
    for _maker in range(2):
        text = _MAKER.sub("", text)
    return text


def match(name: str, memory_mib: float | None, accelerators: Iterable[AcceleratorSpec]) -> str:
    """The SKU of the accelerator that `name` is; empty when it is unknown, cut off beyond recognition, or when the
    memory it reports is not that of the accelerator."""
    wanted = plain(name)
    for accelerator in accelerators:
        alias = _ALIASES.get(accelerator.sku)
        known = wanted == plain(accelerator.name) or bool(alias and alias.fullmatch(wanted))
        if known and _plausible(memory_mib, accelerator):
            return accelerator.sku
    if memory_mib is None and (typed := _TYPED_MEMORY.fullmatch(wanted)):
        return match(typed[1], float(typed[2]) * 1024, accelerators)
    return _by_memory(wanted, memory_mib, accelerators) if wanted.endswith("...") else ""


def _by_memory(cut: str, memory_mib: float | None, accelerators: Iterable[AcceleratorSpec]) -> str:
    """The one accelerator of this much memory whose name begins as the cut-off one does."""
    start = cut.rstrip(". ")
    if memory_mib is None or len(start) < 6:
        return ""
    found = [
        one.sku for one in accelerators
        if _begins(start, one) and one.memory_mib and _plausible(memory_mib, one)
    ]  # fmt: skip
    return found[0] if len(found) == 1 else ""


def _begins(start: str, accelerator: AcceleratorSpec) -> bool:
    letters = re.sub(r"[^a-z0-9]", "", start)
    full = IN_FULL.get(accelerator.sku, plain(accelerator.name))
    return re.sub(r"[^a-z0-9]", "", full).startswith(letters)


def _plausible(memory_mib: float | None, accelerator: AcceleratorSpec) -> bool:
    known = accelerator.memory_mib
    return memory_mib is None or known is None or abs(memory_mib / known - 1) <= MEMORY_TOLERANCE
