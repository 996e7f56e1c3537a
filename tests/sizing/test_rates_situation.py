"""What a published row says, read into one vocabulary."""

import math

import pytest

from quotes.sizing.rates.situation import log_rate, read_situation, value_of

ROW = {
    "id": "R1",
    "source_title": "MLPerf Inference v4.1 (closed)",
    "domain": "detection",
    "model": "RetinaNet ResNeXt50-32x4d FPN",
    "gmacs_or_tflops_per_item": "",
    "input": "800x800 OpenImages",
    "precision": "int8",
    "framework_or_engine": "TensorRT 10.2.0, CUDA 12.4",
    "accelerator": "H100 NVL 94GB",
    "accelerator_count": "4",
    "batch": "",
    "metric": "images_s",
    "value": "5438.57",
    "notes": "MLPerf v4.1 Offline; benchmark id retinanet; suite datacenter",
}


def row(**changed: str) -> dict[str, str]:
    return ROW | changed


def test_a_row_names_its_situation() -> None:
    found = read_situation(row())
    assert (found.model, found.device, found.engine) == (
        "retinanet resnext50-32x4d fpn",
        "H100 NVL 94GB",
        "mlperf tensorrt",
    )
    assert (found.scenario, found.version, found.precision, found.joined) == ("Offline", "4.1", "int8", 4)
    assert not found.one_at_a_time


@pytest.mark.parametrize(
    ("changed", "attribute", "expected"),
    [
        ({"precision": "FP32/TF32", "accelerator": "H100 SXM5 80GB"}, "precision", "tf32"),
        ({"precision": "FP32/TF32", "accelerator": "V100 16GB"}, "precision", "fp32"),
        ({"precision": "clip1:fp32,clip2:fp32,unet:fp8,vae:fp32"}, "precision", "fp8"),
        ({"precision": "fp8,fp16,int8"}, "precision", "fp8"),
        ({"precision": "AMP fp16"}, "precision", "fp16"),
        ({"accelerator": "V100 32GB"}, "device", "V100"),
        ({"accelerator": "A100 (variant not stated)"}, "device", "A100 SXM4 80GB"),
        ({"metric": "minutes_to_train"}, "task", "time"),
        ({"metric": "train_images_s"}, "task", "train"),
        ({"notes": "training; row name"}, "task", "train"),
        ({"batch": "global 256"}, "batch", 64),
        ({"batch": "64k per GPU"}, "batch", 65536),
        ({"gmacs_or_tflops_per_item": "17.58 GMACs"}, "gmacs", 17.58),
        ({"gmacs_or_tflops_per_item": "20 GFLOPs"}, "gmacs", 10),
        ({"model": "YOLO11s"}, "family", "yolo"),
        ({"model": "YOLO11s"}, "series", "yolo11"),
        ({"model": "yolov8m"}, "series", "yolov8"),
        ({"model": "tf_efficientnetv2_s"}, "series", "efficientnetv2"),
        ({"model": "efficientnet-b4"}, "series", "efficientnet"),
        ({"model": "resnet101"}, "series", "resnet"),
        ({"domain": "edge"}, "family", "detection"),
        ({"model": "SSD300 (ResNet-50)", "domain": "vision_training"}, "family", "detection"),
        ({"model": "Stable Diffusion XL 1.0", "domain": "edge"}, "family", "diffusion"),
        ({"notes": "MLPerf v4.1 SingleStream; suite edge"}, "joined", 1),
        ({"notes": "MLPerf v4.1 MultiStream; suite edge"}, "joined", 1),
        (
            {"notes": "MLPerf v6.0 SingleStream", "model": "Wan2.2-T2V-A14B", "domain": "diffusion"},
            "joined",
            4,
        ),
        ({"accelerator": "A100-SXM-80GB (1x1g.10gb MIG)"}, "joined", 1),
        ({"model": "vit_large_patch16_224"}, "family", "vit"),
        ({"model": "BERT-Large (SQuAD v1.1)", "domain": "embedding"}, "family", "bert"),
        ({"notes": "inference; Sequence Length=128"}, "variant", "800x800 OpenImages seq128"),
        ({"notes": "MLPerf v6.0 SingleStream; MaxQ power-limited"}, "scenario", "SingleStream"),
        ({"notes": "rate sustained under the MLPerf server latency bound"}, "scenario", ""),
    ],
)
def test_the_same_thing_gets_one_name(changed: dict[str, str], attribute: str, expected: object) -> None:
    assert getattr(read_situation(row(**changed)), attribute) == expected


def test_a_rate_is_kept_per_accelerator_and_comes_back_for_all() -> None:
    found = read_situation(row())
    assert math.exp(log_rate(row(), found)) == pytest.approx(5438.57 / 4)
    assert value_of(log_rate(row(), found), found) == pytest.approx(5438.57)


def test_minutes_to_train_become_accelerator_minutes() -> None:
    timed = row(metric="minutes_to_train", value="13.2", accelerator_count="8")
    found = read_situation(timed)
    assert math.exp(-log_rate(timed, found)) == pytest.approx(13.2 * 8)
    assert value_of(log_rate(timed, found), found) == pytest.approx(13.2)


@pytest.mark.parametrize("changed", [{"value": "0"}, {"value": "-1"}, {"value": "nan"}, {"value": ""}])
def test_a_row_without_a_rate_is_refused(changed: dict[str, str]) -> None:
    broken = row(**changed)
    with pytest.raises(ValueError, match=r".+"):
        log_rate(broken, read_situation(broken))


def test_a_row_without_an_accelerator_is_refused() -> None:
    with pytest.raises(ValueError, match="accelerator"):
        read_situation(row(accelerator=""))
