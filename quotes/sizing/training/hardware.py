"""An accelerator as training sees it: rates, links and the generation whose fitted efficiencies apply."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from catalog.quantity import Frozen
from catalog.specs import AcceleratorSpec, FormFactor
from quotes.sizing.arrays import Numbers

# Watts per dense 16-bit TFLOPS of the part that stands for its generation (data sheets): A100 SXM, H100 SXM, B200, …
NOMINAL_WATTS: Mapping[str, float] = {
    "volta": 2.4, "turing": 1.08, "ampere": 1.28, "ada": 0.97, "hopper": 0.708, "blackwell": 0.444,
    "blackwell ultra": 0.5, "blackwell workstation": 1.28, "cdna3": 0.574, "cdna4": 0.56,
}  # fmt: skip
POWER_SHARE_RANGE = (0.4, 1.5)
MOST_OF_PEAK = 0.92  # no training kernel was seen to do better
FP8_OVER_BF16 = 2.05  # data sheets of some cards give four times, which holds for 16-bit accumulation only


class TrainingGpu(Frozen):
    """Data-sheet figures: dense TFLOPS, GB/s, GiB. `link_gb_s` is to all peers together, both directions."""

    name: str
    generation: str
    memory_gib: float
    bf16_tflops: float
    fp8_tflops: float | None = None
    fp4_tflops: float | None = None
    memory_bandwidth_gb_s: float
    link_gb_s: float = 0  # 0: peers are reached over PCIe
    link_domain: int = 0
    node_gpus: int = 8
    fabric_gbit_s: float = 400  # per GPU, to other servers
    pcie_gb_s: float = 25  # one direction, used when there is no link
    power_w: float | None = None

    @property
    def power_share(self) -> float:
        """Power per TFLOPS against the usual part of its generation: chips of one data-sheet rate differ in how long
        they hold it."""
        nominal = NOMINAL_WATTS.get(self.generation)
        if not nominal or not self.power_w:
            return 1.0
        least, most = POWER_SHARE_RANGE
        return min(max(self.power_w / self.bf16_tflops / nominal, least), most)

    @property
    def peer_gb_s(self) -> float:
        """To a peer that the link joins, one direction; over PCIe without a link."""
        return self.link_gb_s / 2 or self.pcie_gb_s

    @property
    def server_gb_s(self) -> float:
        """To any peer in the same server: bridges that join some cards leave PCIe to the others."""
        return self.peer_gb_s if self.link_domain >= self.node_gpus else self.pcie_gb_s

    def peak_tflops(self, precision: str) -> float:
        """Dense peak of `precision`; the next wider format when the chip lacks it."""
        if precision == "nvfp4" and self.fp4_tflops:
            return self.fp4_tflops
        if precision in {"fp8", "mxfp8", "nvfp4"} and self.fp8_tflops:
            return min(self.fp8_tflops, FP8_OVER_BF16 * self.bf16_tflops)
        return self.bf16_tflops


def share_of_peak(fitted: Numbers, power_share: Numbers, exponent: float) -> NDArray[np.float64]:
    """Share of the data-sheet rate that kernels reach: of the generation, corrected for the power of the part."""
    return np.minimum(np.asarray(fitted, float) * np.asarray(power_share, float) ** exponent, MOST_OF_PEAK)


def generation_of(accelerator: AcceleratorSpec) -> str:
    """The family of fitted efficiencies: architecture, with workstation Blackwell apart from data-centre Blackwell."""
    name = accelerator.architecture.lower().replace("grace ", "").replace(" lovelace", "").strip()
    pcie = accelerator.form_factor in {FormFactor.PCIE, FormFactor.EDGE, FormFactor.SYSTEM}
    return f"{name} workstation" if name == "blackwell" and pcie else name


def training_gpu(
    accelerator: AcceleratorSpec, *, node_gpus: int, fabric_gbit_s: float, pcie_gb_s: float
) -> TrainingGpu | None:
    """`accelerator` with the surroundings it would be trained in; None when a needed figure is unknown."""
    memory, rate, bandwidth = (
        accelerator.memory_gib,
        accelerator.bf16_tflops,
        accelerator.memory_bandwidth_gb_s,
    )
    if not memory or not rate or not bandwidth:
        return None
    return TrainingGpu(
        name=accelerator.name,
        generation=generation_of(accelerator),
        memory_gib=memory,
        bf16_tflops=rate,
        fp8_tflops=accelerator.fp8_tflops,
        fp4_tflops=accelerator.fp4_tflops,
        memory_bandwidth_gb_s=bandwidth,
        link_gb_s=(accelerator.link_gb_s or 0) if accelerator.link_max_count > 1 else 0,
        link_domain=accelerator.link_max_count,
        node_gpus=node_gpus,
        fabric_gbit_s=fabric_gbit_s,
        pcie_gb_s=pcie_gb_s,
        power_w=accelerator.power_w,
    )
