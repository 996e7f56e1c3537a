"""The models that the questionnaire offers per domain: what an item is, how it is run, what memory it takes.

Memory figures: published or measured where the source of the measured rows states them, else planning values of
docs/sizing/rates.md; gigabytes of 10^9 bytes.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from catalog.quantity import noop
from configurator.workload import Domain
from quotes.sizing.rates.situation import Situation


class RateModel(NamedTuple):
    """One offered model.

    `run` and `train` are the situations that a production system would be in; their device is filled in when a rate is
    asked. `rate_to_items` turns the measured unit into the item of the questionnaire.
    """

    name: str
    domain: Domain
    item: str  # plural, marked for translation
    use: str  # marked for translation
    run: Situation
    memory_gb: float
    train: Situation | None = None
    training_memory_gb: float | None = None
    source: Literal["jpeg", "video", "none"] = "none"  # what the host decodes
    sample_kb: float = 0  # of one item as stored
    sample_pixels_m: float = 0  # megapixels of one stored item
    training_costs: float | None = (
        None  # inference items that one trained sample costs, where training was not measured
    )
    steps: int | None = None  # denoising steps in the measured rate
    params_m: float = 0  # millions, of models that are trained
    host_cores: float = 2  # CPU cores per accelerator beside decoding
    memory_source: str = ""
    without: tuple[str, ...] = ()  # measured models that do the same work without an accelerator
    rate_to_items: float = 1

    @property
    def unit(self) -> str:
        # As many hours of audio in an hour as seconds in a second, and people count recordings in hours.
        return f"{self.item}/hour" if self.item == AUDIO else f"{self.item}/s"


IMAGES = noop("images")
CLIPS = noop("clips")
AUDIO = noop("hours of audio")
TEXTS = noop("texts")
PAIRS = noop("pairs")
SAMPLES = noop("samples")
VOLUMES = noop("scans")
ROWS = noop("rows × trees")
GIGABYTES = noop("gigabytes")
STEPS = noop("simulation steps")

OWN = "planning value of docs/sizing/rates.md"
COMPILED = "pytorch 2.9.1 torch.compile"
EAGER = "pytorch 2.9.1 eager"
TRAINING_COSTS = 3.75  # inference over training rate of timm models in the same software, 3–4.4
ROUND = "4.1"  # of MLPerf: the latest in which many submitted each of these models
JPEG_KB, JPEG_MPIXELS = 110.0, 0.2  # an ImageNet photograph


def _run(
    model: str,
    variant: str,
    family: str,
    engine: str,
    precision: str,
    *,
    task: Literal["infer", "train"] = "infer",
    unit: str = "items",
    scenario: str = "",
    batch: float | None = None,
    joined: float = 1,
    gmacs: float | None = None,
) -> Situation:
    return Situation(
        model, variant, task, unit, family, "", "", precision, engine, scenario, batch, joined, gmacs
    )


def _timm(model: str, size: int, family: str, gmacs: float) -> Situation:
    return _run(model, f"{size}x{size}", family, COMPILED, "fp16", batch=1024.0, gmacs=gmacs)


def _training(run: Situation) -> Situation:
    """Plain software and a training batch; the rate is divided by `training_costs`."""
    return run._replace(engine=EAGER, batch=256.0)


def _vision(
    name: str,
    use: str,
    run: Situation,
    memory_gb: float,
    training_gb: float,
    params_m: float,
    train: Situation | None = None,
) -> RateModel:
    return RateModel(
        name, Domain.VISION, IMAGES, use, run, memory_gb, train or _training(run), training_gb,
        "jpeg", JPEG_KB, JPEG_MPIXELS, training_costs=None if train else TRAINING_COSTS, params_m=params_m,
        memory_source=OWN,
    )  # fmt: skip


def _yolo(name: str, use: str, gmacs: float, memory_gb: float) -> RateModel:
    run = _run(name.lower().replace(" ", ""), "640x640", "yolo", "tensorrt", "fp16", batch=1.0, gmacs=gmacs)
    return RateModel(
        name, Domain.DETECTION, IMAGES, use, run, memory_gb, source="video", sample_kb=200, sample_pixels_m=2.1,
        memory_source=OWN,
    )  # fmt: skip


def _mlperf(
    model: str,
    variant: str,
    family: str,
    precision: str,
    *,
    scenario: str = "Server",
    gmacs: float | None = None,
) -> Situation:
    run = _run(model, variant, family, "mlperf tensorrt", precision, scenario=scenario, gmacs=gmacs)
    return run._replace(version=ROUND)


INSPECTION = noop("Sorting photographs, finding defects, reading scenes")
EVERYDAY = noop("The everyday choice for classes of objects")
SMALL_OBJECTS = noop("Finding and counting objects in camera images, small and fast")

MODELS: tuple[RateModel, ...] = (
    _vision("ViT-L/16", INSPECTION, _timm("vit_large_patch16_224", 224, "vit", 61.6), 4, 20, 304.3),
    _vision("ViT-B/16", INSPECTION, _timm("vit_base_patch16_224", 224, "vit", 17.58), 3, 16, 86.6),
    _vision(
        "DINOv2 ViT-L/14 (518 px)",
        noop("Image features for defects without many examples"),
        _timm("vit_large_patch14_dinov2", 518, "vit", 507.15),
        6,
        40,
        304.4,
    ),
    _vision(
        "ResNet-50",
        EVERYDAY,
        _mlperf("resnet-50 v1.5", "224x224 ImageNet", "resnet", "int8", gmacs=4.1),
        2,
        12,
        25.6,
        _run(
            "resnet-50 v1.5",
            "224x224 ImageNet",
            "resnet",
            "pytorch (nvidia ngc, deeplearningexamples scripts)",
            "fp16",
            task="train",
            gmacs=4.1,
            batch=512.0,
        ),
    ),
    _vision("ConvNeXt-B", EVERYDAY, _timm("convnext_base", 224, "convnext", 15.38), 3, 18, 88.6),
    _vision(
        "EfficientNet-B4",
        noop("Small models for many classes"),
        _timm("efficientnet_b4", 320, "mobile", 3.13),
        2,
        14,
        19.3,
    ),
    _yolo("YOLO26s", SMALL_OBJECTS, 10.35, 1),
    _yolo("YOLO26m", noop("Finding and counting objects in camera images"), 34.1, 1.5),
    _yolo("YOLO26x", noop("Finding small objects in camera images, most accurate"), 96.95, 3),
    RateModel(
        "RetinaNet",
        Domain.DETECTION,
        IMAGES,
        noop("Finding many kinds of objects in large images"),
        _mlperf("retinanet resnext50-32x4d fpn", "800x800 OpenImages", "detection", "int8"),
        4,
        source="video",
        sample_kb=200,
        sample_pixels_m=2.1,
        memory_source=OWN,
    ),
    RateModel(
        "Stable Diffusion XL",
        Domain.DIFFUSION,
        IMAGES,
        noop("Images from text, 1024 × 1024"),
        _mlperf("stable diffusion xl 1.0", "1024x1024, 20 steps", "diffusion", "fp8"),
        16,
        steps=20,
        memory_source=OWN,
    ),
    RateModel(
        "FLUX.1-dev",
        Domain.DIFFUSION,
        IMAGES,
        noop("Images from text, 1024 × 1024, best quality"),
        _run(
            "flux.1-dev",
            "1024x1024, 28 steps",
            "diffusion",
            "xdit 1 gpu torch.compile",
            "fp16",
            batch=1.0,
        ),
        34,
        steps=28,
        memory_source="published memory of FLUX.1-dev in BF16",
    ),
    RateModel(
        "Wan 2.2 A14B (720p, 5 s)",
        Domain.VIDEO,
        CLIPS,
        noop("Short video clips from text"),
        _run(
            "wan2.2-t2v-a14b",
            "720p, 5 s clip, reference default steps",
            "diffusion",
            "wan reference (fsdp + ulysses for n>1)",
            "fp16",
            batch=1.0,
        ),
        60,
        memory_source="Wan2.2 computational efficiency table: peak memory per GPU with offload of the idle expert",
    ),
    RateModel(
        "HunyuanVideo (720p, 5 s)",
        Domain.VIDEO,
        CLIPS,
        noop("Short video clips from text"),
        _run(
            "hunyuanvideo",
            "1280x720, 129 frames, 50 steps",
            "diffusion",
            "xdit ulysses",
            "fp16",
            batch=1.0,
        ),
        60,
        memory_source="model card: about 60 GB per GPU at 720p",
    ),
    RateModel(
        "Whisper large-v3",
        Domain.SPEECH,
        AUDIO,
        noop("Speech to text in many languages, recordings"),
        _run(
            "whisper-large-v3",
            "LibriSpeech dev packed into <=30 s samples (1633 samples, ~10 h)",
            "whisper",
            "mlperf tensorrt",
            "fp16",
            scenario="Offline",
            unit="audio_s_per_s",
        ),
        6,
        host_cores=4,
        memory_source="published memory of Whisper large: 3–6 GB",
    ),
    RateModel(
        "Parakeet 0.6B (live)",
        Domain.SPEECH,
        AUDIO,
        noop("Live speech to text with low delay"),
        _run(
            "parakeet-0.6b-ctc",
            "streaming low-latency",
            "speech",
            "nvidia asr nim (riva/triton)",
            "fp16",
            batch=64.0,
            unit="audio_s_per_s",
        ),
        6,
        host_cores=4,
        memory_source=OWN,
    ),
    RateModel(
        "bge-large",
        Domain.EMBEDDING,
        TEXTS,
        noop("Search in documents: a vector for each passage of about 450 tokens"),
        _run(
            "bge-large-en-v1.5",
            "256 sentences / 115,000 tokens per request (avg 449 tokens)",
            "embedding",
            "infinity compile+fa2",
            "fp16",
            batch=256.0,
        ),
        4,
        memory_source=OWN,
    ),
    RateModel(
        "BERT-Large (384 tokens)",
        Domain.EMBEDDING,
        TEXTS,
        noop("Classifying or answering from texts of up to 384 tokens"),
        _mlperf("bert-large (squad v1.1)", "max seq 384", "bert", "int8"),
        3,
        _run(
            "bert-large squad fine-tuning",
            "seq 384",
            "bert",
            "pytorch (nvidia ngc, deeplearningexamples scripts)",
            "fp16",
            task="train",
            batch=64.0,
        ),
        16,
        params_m=340,
        memory_source=OWN,
    ),
    RateModel(
        "Cross-encoder (BERT-Large)",
        Domain.RERANK,
        PAIRS,
        noop("Putting search results in order: one pass over question and passage each"),
        _mlperf("bert-large (squad v1.1)", "max seq 384", "bert", "fp16"),
        4,
        memory_source=OWN,
    ),
    RateModel(
        "DLRM v2",
        Domain.RECOMMENDER,
        SAMPLES,
        noop("Recommending products; one sample is about 270 pairs of user and product"),
        _mlperf(
            "dlrm-dcnv2 (criteo multi-hot)",
            "1 MLPerf sample = 100-700 user-item pairs, mean 270",
            "recommender",
            "int8",
        ),
        60,
        memory_source=OWN,
    ),
    RateModel(
        "R-GAT",
        Domain.GRAPH,
        SAMPLES,
        noop("Graphs of customers, payments or molecules"),
        _run(
            "r-gat (igbh-full)",
            "node classification, graph 547M nodes / 5.8B edges",
            "graph",
            "mlperf dgl",
            "fp16",
            scenario="Offline",
        ),
        16,
        host_cores=16,
        memory_source=OWN,
        without=("r-gat (igbh-full)",),
    ),
    RateModel(
        "SE(3)-Transformer",
        Domain.GRAPH,
        SAMPLES,
        noop("Properties of molecules from their shape"),
        _run(
            "se(3)-transformer (qm9 molecules)",
            "QM9 molecule graph",
            "graph",
            "examples dgl",
            "fp16",
            batch=800.0,
        ),
        8,
        _run(
            "se(3)-transformer (qm9 molecules)",
            "QM9 molecule graph",
            "graph",
            "examples dgl",
            "fp16",
            task="train",
            batch=240.0,
        ),
        12,
        host_cores=8,
        memory_source=OWN,
    ),
    RateModel(
        "XGBoost",
        Domain.ANALYTICS,
        ROWS,
        noop("Boosted trees on tables; 100 trees of depth 10 count as 100 rows per row"),
        _run(
            "xgboost gpu hist 100 trees depth 10",
            "10000000 rows airline (about 8 columns, categorical)",
            "analytics",
            "xgboost gpu hist",
            "fp16",
        ),
        8,
        host_cores=8,
        memory_source="GBM-perf: about 6 GB for 100 million rows",
        without=("xgboost cpu hist 100 trees depth 10", "lightgbm cpu 100 trees depth 10"),
    ),
    RateModel(
        noop("SQL and data frames (Spark RAPIDS)"),
        Domain.ANALYTICS,
        GIGABYTES,
        noop("Queries over large tables on disk or object storage"),
        _run(
            "tpc-ds v2.4 104 queries",
            "SF1000, 1 TB Parquet on S3",
            "analytics",
            "spark 3.5.2 + rapids",
            "fp16",
            unit="gb_s",
            joined=4.0,
        ),
        20,
        host_cores=8,
        memory_source=OWN,
    ),
    RateModel(
        "3D U-Net",
        Domain.MEDICAL,
        VOLUMES,
        noop("Outlining organs and tumours in CT and MR scans"),
        _mlperf(
            "3d u-net (kits19)",
            "full KiTS19 volumes, 128^3 sliding window",
            "medical_3d",
            "int8",
            scenario="Offline",
        ),
        12,
        memory_source=OWN,
    ),
    RateModel(
        "Isaac Lab (humanoid)",
        Domain.SIMULATION,
        STEPS,
        noop("Training robots in simulation"),
        _run(
            "isaac-velocity-rough-g1-v0",
            "4096 environments per GPU",
            "rl_simulation",
            "isaac lab (physx), rl-games / rsl-rl",
            "fp16",
            batch=4096.0,
        ),
        7,
        host_cores=8,
        memory_source="Isaac Lab performance benchmarks: 6.1 GB",
    ),
)

BY_NAME: Mapping[str, RateModel] = {model.name: model for model in MODELS}
