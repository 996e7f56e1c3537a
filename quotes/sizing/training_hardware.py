"""An accelerator as training sees it: rates, links and the generation whose fitted efficiencies apply."""

from catalog.quantity import Frozen
from catalog.specs import AcceleratorSpec, FormFactor


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
    power_share: float = 1.0  # of the power that the data-sheet rate of its class is reached at

    def peak_tflops(self, precision: str) -> float:
        """Dense peak of `precision`; the next wider format when the chip lacks it."""
        if precision == "nvfp4" and self.fp4_tflops:
            return self.fp4_tflops
        if precision in {"fp8", "mxfp8", "nvfp4"} and self.fp8_tflops:
            return self.fp8_tflops
        return self.bf16_tflops


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
