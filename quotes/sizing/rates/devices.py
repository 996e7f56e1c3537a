"""The figures of an accelerator that decide how fast it runs a model: tensor rates and memory bandwidth."""

from typing import NamedTuple

from catalog.specs import AcceleratorSpec, FormFactor
from quotes.sizing.portions import whole_of

COMPUTE_CHIP_RATIO = (
    0.13  # fp32 vector rate over bf16 tensor rate: 0.06 on A100, 0.25 and more on graphics chips
)
GENERATIONS = {
    "Blackwell Ultra": "Blackwell",
    "Grace Blackwell": "Blackwell",
    "Grace Blackwell Ultra": "Blackwell",
    "Grace Hopper": "Hopper",
}
"""Catalog architectures that run the same kernels."""


EDGE = " edge"  # ends the generation of edge modules


class Device(NamedTuple):
    """Dense rates in TFLOPS or TOPS, bandwidth in GB/s; None when no figure is known."""

    name: str
    architecture: str
    bf16_tflops: float | None = None
    int8_tops: float | None = None
    fp8_tflops: float | None = None
    fp32_tflops: float | None = None
    bandwidth_gb_s: float | None = None

    @property
    def known(self) -> bool:
        return bool(self.bf16_tflops and self.bandwidth_gb_s)

    @property
    def chip(self) -> str:
        """Generation and kind: chips made for computing carry far more tensor than vector units. Edge modules of one
        generation are of one kind: their ratio lies about the border, now on this side and now on that."""
        if not self.bf16_tflops or not self.fp32_tflops or self.architecture.endswith(EDGE):
            return self.architecture
        computes = self.fp32_tflops / self.bf16_tflops < COMPUTE_CHIP_RATIO or self.architecture == "Hopper"
        return f"{self.architecture} {'compute' if computes else 'graphics'}"

    def tensor_rate(self, precision: str) -> float | None:
        """The rate that bounds matrix work; a format without units of its own runs in the next wider one."""
        half = self.bf16_tflops
        if half is None:
            return None
        narrow = max(self.int8_tops or 0, self.fp8_tflops or 0, half)
        if precision == "int8":
            return self.int8_tops if (self.int8_tops or 0) >= half else narrow
        if precision in {"fp8", "fp4"}:
            return self.fp8_tflops or (narrow if self.architecture in {"Blackwell", "Hopper"} else half)
        if precision == "tf32":
            return half / 2
        if precision == "fp32":
            return self.fp32_tflops or half / 4
        return half

    def scaled(self, name: str, share: float) -> "Device":
        """A slice of this device."""
        figures = (self.bf16_tflops, self.int8_tops, self.fp8_tflops, self.fp32_tflops, self.bandwidth_gb_s)
        return Device(name, self.architecture, *(None if f is None else f * share for f in figures))


V100 = Device("V100", "Volta", 125.0, 62.8, None, 15.7, 900.0)
"""Measured rows do not tell the versions of this card apart, and its FP16 rate has no column in the catalog. The same
figures as in `rates_devices.csv`."""


def device_of(accelerator: AcceleratorSpec) -> Device:
    """A catalog accelerator under its catalog name, which is also the name that measured rows use; of a part, the
    whole, on which it was measured."""
    accelerator, _ = whole_of(accelerator)
    if accelerator.architecture == V100.architecture and accelerator.name.startswith(V100.name):
        return V100
    generation = GENERATIONS.get(accelerator.architecture, accelerator.architecture)
    edge = accelerator.form_factor is FormFactor.EDGE
    return Device(
        accelerator.name,
        f"{generation}{EDGE}" if edge else generation,
        accelerator.bf16_tflops or (accelerator.int8_tops / 2 if accelerator.int8_tops else None),
        accelerator.int8_tops,
        accelerator.fp8_tflops,
        accelerator.fp32_tflops,
        accelerator.memory_bandwidth_gb_s,
    )
