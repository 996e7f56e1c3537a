"""What was run when a rate was measured, read from one row of a table of published measurements.

The columns are those of the reference table: model, input, precision, framework_or_engine, accelerator,
accelerator_count, batch, metric, value, notes … A row becomes a `Situation`, and its value the natural logarithm of
the rate of one accelerator.
"""

import math
import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

type Row = Mapping[str, str]


class Situation(NamedTuple):
    """One way of running one model. Names are lower case; levels that differ only by version are one level."""

    model: str
    variant: str  # input size, sequence length, number of steps: what changes the work per item
    task: Literal["infer", "train", "time"]  # "time": minutes of one accelerator for a whole training run
    unit: str  # "items", "tokens_s", "audio_s_per_s", "gb_s" or "minutes"
    family: str
    device: str  # canonical name
    named: str  # the name as published
    precision: str  # fp32, tf32, fp16, fp8, int8, fp4, int4
    engine: str
    scenario: str = ""  # of MLPerf inference: Offline, Server, SingleStream, MultiStream
    batch: float | None = None  # items per accelerator
    joined: float = 1  # accelerators that the published value counts together
    gmacs: float | None = None  # 10^9 multiply-accumulates per item
    version: str = ""  # of MLPerf
    flags: frozenset[str] = frozenset()

    @property
    def series(self) -> str:
        """The design that a model comes from in several sizes: convnext_base is of convnext, YOLO26s of YOLO26."""
        found = SERIES.match(self.model)
        return found.group(1) if found else self.model

    @property
    def one_at_a_time(self) -> bool:
        return self.task == "infer" and (self.batch == 1 or self.scenario == "SingleStream")


SERIES = re.compile(r"(?:tf_)?(yolov?\d+|[a-z]+?(?:v\d+)?(?=[^a-z]|$))")

FAMILIES = (
    ("vit", r"(vit_|deit_|beit|eva02|samvit)"),
    ("swin", r"swin"),
    ("hybrid", r"(coatnet|maxvit|mobilevit|levit|fastvit|efficientvit)"),
    ("convnext", r"convnext"),
    ("mobile", r"(mobilenet|efficientnet|tf_efficientnet)"),
    ("resnet", r"(resnet|seresnet|wide_resnet|resnext|regnet)"),
    ("cnn", r"(densenet|hrnet|inception|vgg)"),
    ("detection", r"(retinanet|ssd300|ssd-mobilenet|mask r-cnn|efficientdet|rt-detr|rf-detr)"),
    ("medical_3d", r"(3d u-net|u-net|v-net|nnu-net)"),
    ("diffusion", r"(stable diffusion|flux|wan2)"),
    ("speech", r"rnn-t"),
)
"""Models by the kind of layer that bounds them, wherever they ran: a detector is one on a server, at the edge and in
training, whatever the table that tells of it is about."""

SAME_DEVICE = {
    "A100 (AWS p4d)": "A100 SXM4 40GB",
    "A100 (variant not stated)": "A100 SXM4 80GB",
    "A100 80GB (form factor not stated)": "A100 SXM4 80GB",
    "A100/A800": "A100 SXM4 80GB",
    "A100-SXM-80C": "A100 SXM4 80GB",
    "A10-24Q": "A10",
    "GH200": "GH200 96GB",
    "GH200 80GB": "GH200 96GB",
    "H100 (AWS p5.4xlarge)": "H100 SXM5 80GB",
    "H100 (variant not stated)": "H100 SXM5 80GB",
    "H100-80C": "H100 PCIe 80GB",
    "H100-SXM5-96GB": "H100 SXM5 80GB",
    "H100/H800": "H100 SXM5 80GB",
    "Jetson AGX Orin": "Jetson AGX Orin 64GB",
    "Jetson Orin Nano": "Jetson Orin Nano 8GB",
    "Jetson Xavier NX": "Jetson Xavier NX 8GB",
    "RTX 4000 Ada": "RTX 4000 Ada 20GB",
    "TPU v5e (8 chips)": "TPU v5e",
    "V100 16GB": "V100",
    "V100 32GB": "V100",
    "Virtualized NVIDIA H200-SXM-141GB": "H200 SXM5 141GB",
}
"""Published names of virtual, renamed or unstated variants, and the device they are taken for."""

GMACS = {
    "resnet-50 v1.5": 4.1,
    "yolo26n": 2.7, "yolo26s": 10.35, "yolo26m": 34.1, "yolo26l": 43.2, "yolo26x": 96.95,
    "yolo11n": 3.25, "yolo11s": 10.75, "yolo11m": 34.0, "yolo11l": 43.45, "yolo11x": 97.45,
    "yolov8n": 4.35, "yolov8s": 14.3, "yolov8m": 39.45, "yolov8l": 82.6, "yolov8x": 128.9,
    "yolov9m": 38.2, "yolov10n": 3.35, "yolov10s": 10.8, "yolov10m": 29.55, "yoloxs": 13.4,
}  # fmt: skip
"""10^9 multiply-accumulates per item (detectors: 640 × 640) of models of which not every row states them; as published
with the models."""

WITHOUT_TF32 = ("V100", "T4", "TITAN RTX", "Quadro RTX", "GeForce GTX", "CPU")


def read_situation(row: Row) -> Situation:
    """The situation of one reference row. Raises ValueError when the row has no accelerator or no number."""
    if not row["accelerator"]:
        raise ValueError("no accelerator named")
    notes = row["notes"].lower()
    count = float(row["accelerator_count"] or 1)
    model = row["model"].lower()
    version = re.search(r"mlperf (?:training )?v(\d\.\d)", notes)
    found = re.search(r"(offline|server|singlestream|multistream)(?:;|$)", notes)
    scenario = SCENARIOS[found.group(1)] if version and found else ""
    family = _family(model, row["domain"])
    return Situation(
        model=model,
        variant=" ".join(filter(None, (row["input"], *_settings(notes)))),
        task=_task(row["metric"], notes),
        unit=_unit(row["metric"]),
        family=family,
        device=SAME_DEVICE.get(row["accelerator"], row["accelerator"]),
        named=row["accelerator"],
        precision=_precision(row),
        engine=_engine(row["framework_or_engine"], row["source_title"]),
        scenario=scenario,
        batch=_batch(row["batch"], count),
        joined=1 if _alone(row["accelerator"], scenario, family) else count,
        gmacs=_size(model, row),
        version=version.group(1) if version else "",
        flags=frozenset(flag for flag, words in FLAGS.items() if any(word in notes for word in words)),
    )


SCENARIOS = {
    "offline": "Offline",
    "server": "Server",
    "singlestream": "SingleStream",
    "multistream": "MultiStream",
}
FLAGS = {
    "power_limited": ("maxq",),
    "unoptimised": ("reference (unoptimised)", "open division", "reference implementations"),
    "strict": ("99.9%",),  # the stricter accuracy target
}


ONE_SLICE = re.compile(r"\(1x\S+ MIG\)")


def _alone(accelerator: str, scenario: str, family: str) -> bool:
    """Whether one accelerator, or one slice, made the published value, however many the machine holds.

    Whoever sends one query at a time keeps one accelerator busy: six L4 answer no faster than one. Only diffusion
    divides a single item over several.
    """
    one_query = scenario in {"SingleStream", "MultiStream"} and family != "diffusion"
    return one_query or bool(ONE_SLICE.search(accelerator))


def log_rate(row: Row, situation: Situation) -> float:
    """Natural logarithm of the rate of one accelerator; for a whole training run minus that of accelerator-minutes."""
    value = float(row["value"])
    if not value > 0:
        raise ValueError("the measured value is not positive")
    if situation.task == "time":
        return -math.log(value * situation.joined)
    return math.log(value / situation.joined)


def value_of(log_rate_each: float, situation: Situation) -> float:
    """The published value (all accelerators together) that belongs to a logarithmic rate of one accelerator."""
    if situation.task == "time":
        return math.exp(-log_rate_each) / situation.joined
    return math.exp(log_rate_each) * situation.joined


def _task(metric: str, notes: str) -> Literal["infer", "train", "time"]:
    if metric == "minutes_to_train":
        return "time"
    trains = metric == "train_images_s" or notes.startswith("training") or "; training" in notes
    return "train" if trains else "infer"


def _unit(metric: str) -> str:
    if metric == "minutes_to_train":
        return "minutes"
    return metric if metric in {"tokens_s", "audio_s_per_s", "gb_s"} else "items"


def _family(model: str, domain: str) -> str:
    for family, pattern in FAMILIES:
        if re.match(pattern, model):
            return family
    for name in ("yolo", "bert", "whisper"):
        if name in model and domain != "reranker":
            return name
    return domain


def _precision(row: Row) -> str:
    """One name per number format. Two formats in one model count as the one that carries most of the work."""
    text = row["precision"].lower()
    old = row["accelerator"].startswith(WITHOUT_TF32)
    if "clip" in text:  # a diffusion pipeline: the U-Net does the work
        return "fp8" if re.search(r"unet: ?fp8", text) else "int8"
    if text in {"fp32/tf32", "tf32"}:
        return "fp32" if old else "tf32"
    if text in {"fp32", "float32"}:
        return "fp32"
    for name, words in (
        ("fp4", ("fp4",)),
        ("int8", ("int8",)),
        ("fp8", ("fp8", "float8", "fp6", "autoquant")),
        ("int4", ("int4", "q5")),
    ):
        if any(word in text for word in words) and not text.startswith("fp8"):
            return name
    return "fp8" if text.startswith("fp8") else "fp16"


def _engine(engine: str, source: str) -> str:
    text = engine.lower()
    if source.startswith("MLPerf Training"):
        return "mlperf training tinygrad" if "tinygrad" in text else "mlperf training"
    if source.startswith("MLPerf Inference"):
        if "tensorrt" in text or text.startswith("cuda"):
            return "mlperf tensorrt"
        return "mlperf " + ("qaic" if "qualcomm" in text else re.split(r"[ ,:]", text)[0])
    if "DeepLearningExamples" in source:
        return "examples " + re.match(r"[a-z]*", text).group(0)  # type: ignore[union-attr]
    return re.sub(r"\s+v?[\d.]+$", "", text)


def _batch(text: str, count: float) -> float | None:
    found = re.search(r"(\d+)(k?)", text)
    if not found:
        return None
    size = float(found.group(1)) * (1024 if found.group(2) else 1)
    return size / count if "global" in text else size


def _size(model: str, row: Row) -> float | None:
    known = GMACS.get(model)
    if known is None:
        return _gmacs(row["gmacs_or_tflops_per_item"])
    return known * 4 if row["input"] == "1280x1280" else known


def _gmacs(text: str) -> float | None:
    if "GMACs" in text:
        return float(text.split()[0])
    return float(text.split()[0]) / 2 if "GFLOPs" in text else None


def _settings(notes: str) -> list[str]:
    """Settings that a source keeps in its notes although they change the work per item."""
    found = []
    for name, pattern in (
        ("seq", r"sequence length=\s*(\d+)"),
        ("size", r"model=([\w-]+)"),
        ("dim", r"dimension=\s*(\d+)"),
        ("res", r"resolution=\s*([\dx]+)"),
    ):
        match = re.search(pattern, notes)
        if match:
            found.append(name + match.group(1))
    if "torchscript, denoising" in notes:
        found.append("denoised")
    return found
