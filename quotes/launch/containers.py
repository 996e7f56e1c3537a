"""Images by tool and software stack, with the version whose start-up logs and speeds the calibration rests on."""

from collections.abc import Mapping

from quotes.launch.nouns import Container

CONTAINERS: Mapping[tuple[str, str], Container] = {
    ("vllm", "cuda"): Container(
        image="vllm/vllm-openai", version="v0.19.0", measured="59 start-up logs on H100"
    ),
    ("vllm", "rocm"): Container(image="vllm/vllm-openai-rocm"),
    ("sglang", "cuda"): Container(image="lmsysorg/sglang", version="v0.5.9", measured="108 runs"),
    ("sglang", "rocm"): Container(image="lmsysorg/sglang"),
    ("trtllm", "cuda"): Container(
        image="nvcr.io/nvidia/tensorrt-llm/release", version="1.0.0rc3", measured="394 runs"
    ),
    ("infinity", "cuda"): Container(image="michaelf34/infinity"),
    ("trl", "cuda"): Container(image="nvcr.io/nvidia/pytorch"),
    ("trl", "rocm"): Container(image="rocm/pytorch"),
    ("transformers", "cuda"): Container(image="nvcr.io/nvidia/pytorch"),
    ("transformers", "rocm"): Container(image="rocm/pytorch"),
    ("megatron", "cuda"): Container(image="nvcr.io/nvidia/pytorch"),
}

GPU_RESOURCES: Mapping[str, str] = {
    "cuda": "nvidia.com/gpu",
    "jetpack": "nvidia.com/gpu",  # modules need images of their own
    "rocm": "amd.com/gpu",
    "gaudi": "habana.ai/gaudi",
    "oneapi": "gpu.intel.com/xe",
}
"""How the device plugin of each vendor names a GPU in Kubernetes."""


def container_of(tool: str, stack: str) -> Container | None:
    return CONTAINERS.get((tool, stack))
