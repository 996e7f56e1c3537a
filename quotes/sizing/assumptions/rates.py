"""Assumptions about workloads sized from measured rates."""

from typing import Any

from catalog.quantity import Frozen, noop
from quotes.sizing.assumptions.base import assume

OWN = noop("own planning value")


def _value(default: float, low: float, high: float, unit: str, label: str, source: str) -> Any:
    return assume(default, unit=unit, low=low, high=high, label=label, source=source)


class RateAssumptions(Frozen):
    rate_use_fraction: float = _value(
        0.65, 0.3, 1, "", noop("Share of a measured rate that a service may use at the peak"), OWN
    )
    speech_use_fraction: float = _value(
        0.6, 0.3, 1, "", noop("Share of a measured speech rate that a service may use at the peak"), OWN
    )
    rate_runtime_gib: float = _value(
        1.0, 0.2, 4, "GiB", noop("Memory of driver, libraries and graphs beside a model"), OWN
    )
    rate_tight_fraction: float = _value(
        0.1, 0.02, 0.4, "", noop("Free memory below which a model counts as tight"), OWN
    )
    jpeg_mpixels_s_per_core: float = _value(
        100,
        20,
        300,
        "Mpixel/s",
        noop("JPEG decoding per CPU core"),
        noop("imread-benchmark 2026: 540–860 photographs of about 0.2 megapixel a second per x86 thread"),
    )
    augmentation_factor: float = _value(
        2.5,
        1,
        6,
        "",
        noop("CPU work of preparing a training image, as a multiple of decoding it"),
        noop("own planning value, 2–3"),
    )
    host_cores_per_gpu_max_count: float = _value(
        16, 4, 64, "cores", noop("CPU cores per accelerator that a server can spend on preparing data"), OWN
    )
    video_fps_per_decoder: float = _value(
        350,
        60,
        1000,
        "frames/s",
        noop("Video decoding per hardware decoder, 1080p"),
        noop("about 2,500 frames/s for the seven decoders of an H100 (low confidence)"),
    )
    video_fps_per_core: float = _value(
        60,
        10,
        200,
        "frames/s",
        noop("Video decoding per CPU core, 1080p, where there is no hardware decoder"),
        OWN,
    )
    training_scaling_fraction: float = _value(
        0.95,
        0.7,
        1,
        "",
        noop("Speed kept at each doubling of accelerators in one server"),
        noop("range 0.9–0.97 per server"),
    )
    training_scaling_between_fraction: float = _value(
        0.9, 0.6, 1, "", noop("Speed kept at each doubling of servers"), OWN
    )
    evaluation_share_fraction: float = _value(
        0.05, 0, 0.5, "", noop("Time for evaluation and saving, of the training time"), OWN
    )
    training_batch_per_gpu_count: float = _value(
        128, 8, 4096, "", noop("Samples per accelerator and step when image models are trained"), OWN
    )
    rate_nodes_max_count: float = _value(
        32, 1, 512, "servers", noop("Servers that one job of this kind may span at most"), OWN
    )
    edge_card_w_max: float = _value(
        75,
        30,
        350,
        "W",
        noop("Power of a card up to which it may go into an edge box"),
        noop("cards fed by the slot alone"),
    )
