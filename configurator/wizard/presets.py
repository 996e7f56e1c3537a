"""What each use case is, and what we fill in until the customer knows better: one table, each value with its reason.

Values are as the questions store them. A default that no publication supports says so: its source is `OURS`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from configurator.workload import Domain, Method, UseCase

type Text = str | Promise

OURS = _("our planning value; no publication known")


class Default(NamedTuple):
    """`value` as stored (None: no wish, no limit), why we take it, and where it comes from."""

    value: Any
    reason: Text
    source: Text = OURS


# ── models sized from measured rates ────────────────────────────────────────────────────────────────────────────


class RateModel(NamedTuple):
    """A model of the table of measured rates (`quotes/sizing/rates`), and how a customer knows it."""

    domain: Domain
    name: str  # as that table names it
    hint: Text
    trains: bool = False  # its speed of training was measured as well
    item: Text = ""  # what it handles, where the customer says how many per second
    item_help: Text = ""
    peak: Default | None = None  # that many per second when the customer does not know


RATE_MODELS: tuple[RateModel, ...] = (
    RateModel(Domain.VISION, "ViT-L/16", _("large, finds subtle differences"), trains=True),
    RateModel(Domain.VISION, "ViT-B/16", _("medium"), trains=True),
    RateModel(Domain.VISION, "DINOv2 ViT-L/14 (518 px)", _("for defects of which there are few examples"), trains=True),
    RateModel(Domain.VISION, "ResNet-50", _("small and fast"), trains=True),
    RateModel(Domain.VISION, "ConvNeXt-B", _("medium, between the two"), trains=True),
    RateModel(Domain.VISION, "EfficientNet-B4", _("small, many kinds of things"), trains=True),
    RateModel(Domain.DETECTION, "YOLO26s", _("finds and counts objects, small and fast")),
    RateModel(Domain.DETECTION, "YOLO26m", _("finds and counts objects")),
    RateModel(Domain.DETECTION, "YOLO26x", _("finds small objects, most accurate")),
    RateModel(Domain.DETECTION, "RetinaNet", _("finds many kinds of objects in large images")),
    RateModel(Domain.DIFFUSION, "Stable Diffusion XL", _("1024 × 1024 pixels")),
    RateModel(Domain.DIFFUSION, "FLUX.1-dev", _("better pictures, slower")),
    RateModel(Domain.VIDEO, "Wan 2.2 A14B (720p, 5 s)", _("short video clips")),
    RateModel(Domain.VIDEO, "HunyuanVideo (720p, 5 s)", _("short video clips, slower")),
    RateModel(Domain.SPEECH, "Whisper large-v3", _("recordings, many languages")),
    RateModel(Domain.SPEECH, "Parakeet 0.6B (live)", _("live, with little delay")),
    RateModel(Domain.EMBEDDING, "bge-large", _("text to vectors, for search")),
    RateModel(Domain.EMBEDDING, "BERT-Large (384 tokens)", _("sorts short texts"), trains=True),
    RateModel(Domain.RERANK, "Cross-encoder (BERT-Large)", _("orders search results")),
    RateModel(
        Domain.RECOMMENDER, "DLRM v2", _("recommends items to people"),
        item=_("requests"), peak=Default("1000", _("a thousand visitors a second at the busiest moment")),
    ),
    RateModel(
        Domain.GRAPH, "R-GAT", _("networks of relations, such as fraud"),
        item=_("nodes"), peak=Default("1000", _("a thousand nodes a second at the busiest moment")),
    ),
    RateModel(
        Domain.GRAPH, "SE(3)-Transformer", _("properties of molecules, from their shape"), trains=True,
        item=_("molecules"), peak=Default("1000", _("a thousand molecules a second at the busiest moment")),
    ),
    RateModel(
        Domain.ANALYTICS, "XGBoost", _("predictions from tables"),
        item=_("rows × trees"), item_help=_("The rows, times the number of trees that each row goes through."),
        peak=Default("1000000", _("ten million rows through a hundred trees in about a quarter of an hour")),
    ),
    RateModel(
        Domain.ANALYTICS, "SQL and data frames (Spark RAPIDS)", _("queries over large tables"),
        item=_("gigabytes"), peak=Default("1", _("a terabyte in about a quarter of an hour")),
    ),
    RateModel(
        Domain.MEDICAL, "3D U-Net", _("outlines organs and tumours in 3D scans"),
        item=_("scans"), peak=Default("0.1", _("six scans a minute at the busiest moment")),
    ),
    RateModel(
        Domain.SIMULATION, "Isaac Lab (humanoid)", _("robots that learn in simulation"),
        item=_("simulation steps"), peak=Default("50000", _("fifty thousand simulated steps a second")),
    ),
)  # fmt: skip

RATE_MODELS_BY_KEY: Mapping[str, RateModel] = {f"{one.domain}:{one.name}": one for one in RATE_MODELS}

DOMAIN_NAMES: Mapping[Domain, Text] = {
    Domain.VISION: _("Judging images"),
    Domain.DETECTION: _("Finding objects in images"),
    Domain.DIFFUSION: _("Making images"),
    Domain.VIDEO: _("Making video"),
    Domain.SPEECH: _("Speech"),
    Domain.EMBEDDING: _("Embeddings"),
    Domain.RERANK: _("Ordering search results"),
    Domain.RECOMMENDER: _("Recommendations"),
    Domain.GRAPH: _("Graphs"),
    Domain.ANALYTICS: _("Tables and analytics"),
    Domain.MEDICAL: _("Medical images"),
    Domain.SIMULATION: _("Simulation"),
}

# ── use cases ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Preset:
    """One card. `kind` is how it is sized: language models by physics, the others from measured rates."""

    title: Text
    description: Text
    kind: str  # "language", "rate", or "" when the customer says which
    domains: tuple[Domain, ...] = ()
    advice: tuple[str, ...] = ()  # catalog keys of language models, the first that the catalog has
    advice_reason: Text = ""
    defaults: Mapping[str, Default] = field(default_factory=dict)


_OPEN_120B = ("openai/gpt-oss-120b", "openai/gpt-oss-20b")
_OPEN_120B_REASON = _(
    "an open model (Apache 2.0), fast because only 5 of its 117 billion parameters work on each token"
)
_CHAT_LENGTHS = {
    "prompt": Default(
        {"n": "3000", "unit": "tokens"}, _("a question with four or five pages of context found for it")
    ),
    "output": Default({"n": "400", "unit": "tokens"}, _("an answer of some 300 words")),
    "longest": Default(
        {"n": "16000", "unit": "tokens"}, _("now and then somebody pastes a report of 24 pages")
    ),
}

PRESETS: Mapping[UseCase, Preset] = {
    UseCase.DOCUMENT_CHAT: Preset(
        _("Chat with documents"),
        _("People ask questions and get answers from your own documents."),
        "language",
        advice=_OPEN_120B,
        advice_reason=_OPEN_120B_REASON,
        defaults=_CHAT_LENGTHS,
    ),
    UseCase.CODE_ASSISTANT: Preset(
        _("Code assistant"),
        _("Developers get help while they write, test and review software."),
        "language",
        advice=_OPEN_120B,
        advice_reason=_OPEN_120B_REASON,
        defaults={
            "at_once": Default("10%", _("developers read and think between two requests")),
            "prompt": Default({"n": "6000", "unit": "tokens"}, _("the open files travel along with every request")),
            "output": Default({"n": "500", "unit": "tokens"}, _("a function with its explanation")),
            "longest": Default({"n": "32000", "unit": "tokens"}, _("several source files at once")),
            "pace": Default("quick", _("somebody waits with the cursor in the line")),
        },
    ),
    UseCase.DOCUMENT_EXTRACTION: Preset(
        _("Data from documents"),
        _("Invoices, forms and letters become fields and summaries, in bulk."),
        "language",
        advice=("Qwen/Qwen3-VL-8B-Instruct", "Qwen/Qwen3-VL-32B-Instruct", "Qwen/Qwen3-8B"),
        advice_reason=_("an open model that reads pages as images and is small enough for bulk work"),
        defaults={
            "prompt": Default({"n": "2000", "unit": "tokens"}, _("one scanned page and the instruction")),
            "output": Default({"n": "300", "unit": "tokens"}, _("the fields of one page")),
            "longest": Default({"n": "16000", "unit": "tokens"}, _("a document of eight pages in one go")),
        },
    ),
    UseCase.IMAGE_INSPECTION: Preset(
        _("Image inspection"),
        _("Cameras or scans are judged: defects, counts, safety."),
        "rate",
        domains=(Domain.VISION, Domain.DETECTION, Domain.MEDICAL),
        defaults={
            "task": Default("both", _("a model for your own products has to be trained on your own images")),
            "rate_model": Default("vision:ViT-L/16", _("a large model is the safe choice for subtle defects")),
        },
    ),
    UseCase.SPEECH: Preset(
        _("Speech"),
        _("Conversations and recordings become text."),
        "rate",
        domains=(Domain.SPEECH,),
        defaults={
            "rate_model": Default("speech:Whisper large-v3", _("the usual open model, Dutch included")),
        },
    ),
    UseCase.IMAGE_GENERATION: Preset(
        _("Image generation"),
        _("Pictures or clips made from a description."),
        "rate",
        domains=(Domain.DIFFUSION, Domain.VIDEO),
        defaults={
            "rate_model": Default("diffusion:Stable Diffusion XL", _("an open model with many published measurements")),
            "profile": Default("office_hours", _("people ask for pictures while they work")),
        },
    ),
    UseCase.EMBEDDING_SEARCH: Preset(
        _("Embeddings and search"),
        _("Documents are indexed so that people and models find them by meaning."),
        "rate",
        domains=(Domain.EMBEDDING, Domain.RERANK),
        defaults={
            "rate_model": Default("embedding:bge-large", _("an open model with published measurements")),
        },
    ),
    UseCase.FINE_TUNE: Preset(
        _("Fine-tune an open model"),
        _("An existing model learns your language, style or task."),
        "language",
        advice=("meta-llama/Meta-Llama-3.1-8B", "Qwen/Qwen3-8B"),
        advice_reason=_("a small open model learns fast; try it before a large one"),
        defaults={
            **_CHAT_LENGTHS,
            "task": Default("both", _("a model that you fine-tune is a model that you want to use")),
            "people": Default("50", _("a first group of users")),
        },
    ),
    UseCase.PRE_TRAIN: Preset(
        _("Train from scratch"),
        _("A new language model, trained on your own body of text."),
        "language",
        advice=("meta-llama/Meta-Llama-3.1-8B", "Qwen/Qwen3-8B"),
        advice_reason=_("8 billion parameters is the size of most first models trained from scratch"),
        defaults={
            **_CHAT_LENGTHS,
            "task": Default("train", _("training comes first; add use when it is ready")),
            "method": Default("pre_train", _("that is what you chose")),
        },
    ),
    UseCase.ANALYTICS: Preset(
        _("Data analytics"),
        _("Tables, forecasts and scores, faster than on processors alone."),
        "rate",
        domains=(Domain.ANALYTICS, Domain.RECOMMENDER, Domain.GRAPH),
        defaults={
            "rate_model": Default("analytics:XGBoost", _("the usual method for predictions from tables")),
            "profile": Default("office_hours", _("analysts work in office hours")),
        },
    ),
    UseCase.EDGE: Preset(
        _("At the edge"),
        _("Small computers beside a machine, in a shop or a vehicle."),
        "rate",
        domains=(Domain.DETECTION, Domain.VISION, Domain.SPEECH),
        defaults={
            "rate_model": Default("detection:YOLO26s", _("finds objects, and runs on small computers")),
            "cameras": Default("4", _("one box usually serves a few cameras")),
            "at_edge": Default("edge", _("that is what you chose")),
            "site_kind": Default("edge", _("that is what you chose")),
        },
    ),
    UseCase.CUSTOM: Preset(
        _("Something else"),
        _("You choose the kind of model yourself, or you do not know yet."),
        "",
        domains=tuple(Domain),
        advice=_OPEN_120B,
        advice_reason=_OPEN_120B_REASON,
        defaults={
            **_CHAT_LENGTHS,
            "what": Default("language", _("most first plans are about a language model")),
        },
    ),
}  # fmt: skip

# ── defaults that follow from the method or the kind of model ───────────────────────────────────────────────────

METHOD_DEFAULTS: Mapping[Method, Mapping[str, Default]] = {
    Method.PRE_TRAIN: {
        "train_tokens": Default(
            "160000000000",
            _(
                "20 tokens for each parameter of a model of 8 billion: the best use of a given computing power"
            ),
            "Hoffmann et al., Training Compute-Optimal Large Language Models (2022)",
        ),
        "epochs": Default("1", _("training from scratch reads each text about once")),
        "deadline": Default({"n": "30", "unit": "days"}, _("a month is a usual slot for a large run")),
        "runs": Default("once", _("training from scratch is done once")),
        "window": Default("always", _("a long run does not stop for office hours")),
        "sequence": Default("4096", _("a usual sequence length in the bulk of training from scratch")),
    },
}

_IMAGE_EPOCHS = Default(
    "8",
    _("20,000 steps of 512 images are eight passes over ImageNet; a retraining starts from a trained model"),
    "Dosovitskiy et al., An Image is Worth 16x16 Words (2021), fine-tuning of ViT on ImageNet",
)

DOMAIN_DEFAULTS: Mapping[Domain, Mapping[str, Default]] = {
    Domain.VISION: {
        "epochs": _IMAGE_EPOCHS,
        "profile": Default("always", _("a line may run around the clock")),
    },
    Domain.DETECTION: {"profile": Default("always", _("cameras do not sleep"))},
    Domain.EMBEDDING: {"sample_kb": Default("2", _("a text of about 400 words"))},
}

# ── defaults for everybody ──────────────────────────────────────────────────────────────────────────────────────

_EDUCATED = _("the careful side: you can always loosen it")

DEFAULTS: Mapping[str, Default] = {
    # use
    "use_case": Default(None, ""),
    "also": Default([], _("one task")),
    # model
    "what": Default("language", _("most first plans are about a language model")),
    "task": Default("serve", _("most customers start with an existing model")),
    "source": Default("advise", _("then we propose one that suits the use")),
    **{name: Default(None, "") for name in ("model", "params_b", "config", "config_file", "hub_model")},
    "rate_model": Default("vision:ResNet-50", _("the most measured model there is")),
    "method": Default("lora", _("a small adapter learns most tasks in little memory"), "Hu et al., LoRA (2021)"),
    "precision": Default("auto", _("we choose what the GPU handles without known loss")),
    "kv_precision": Default("auto", _("we choose what the engine handles without known loss")),
    "engine": Default("vllm", _("open source and the most used")),
    "train_precision": Default("bf16", _("the usual precision for training")),
    "optimizer": Default("adamw", _("the usual optimiser")),
    "lora_rank": Default("16", _("a usual middle value")),
    "sequence": Default("4096", _("about six pages in one training example")),
    # load: language
    "people": Default("100", _("a department or a mid-sized organisation")),
    "at_once": Default("20%", _("one in five waits for an answer at the busiest moment, which is careful")),
    "pace": Default("normal", _("faster than people read"), _("reading speed 238 words a minute: Brysbaert (2019)")),
    "ttft_s": Default(None, _("the pace above decides")),
    "tokens_s": Default(None, _("the pace above decides")),
    "pages_day": Default("5000", _("a mail room of a mid-sized organisation")),
    "done_within": Default({"n": "8", "unit": "hours"}, _("one working day")),
    # load: rates
    "cameras": Default("10", _("one production line")),
    "fps": Default("15", _("a usual speed of inspection cameras")),
    "latency_ms": Default(None, _("no hard limit")),
    "at_edge": Default("server", _("a server room is easier to keep cool and safe")),
    "speech_mode": Default("recorded", _("most speech is worked out afterwards")),
    "streams": Default("20", _("a small contact centre at its busiest")),
    "audio_hours": Default("100", _("a day of a small contact centre")),
    "images_hour": Default("200", _("ten people who each try twenty pictures an hour")),
    "steps": Default(None, _("the usual number for the model")),
    "documents": Default("1000000", _("the archive of a mid-sized organisation")),
    "pages": Default("5", _("an average office document")),
    "index_within": Default({"n": "7", "unit": "days"}, _("the first filling may take a week")),
    "queries_s": Default("10", _("a hundred people who search hard")),
    "candidates": Default("50", _("a usual number of candidates")),
    "items_s": Default("1", _("a first guess, to see what it takes")),
    "availability": Default("single", _("one system; a repair takes a working day under the usual support")),
    "profile": Default("office_hours", _("most people work then")),
    "counts": Default(None, _("we have no counts of yours")),
    # training
    "train_tokens": Default("20000000", _("some 30,000 pages of your own text")),
    "train_data": Default({"n": "1", "unit": "tb"}, _("a first collection")),
    "sample_kb": Default("500", _("a photo of two megapixels as JPEG")),
    "epochs": Default("3", _("usual when fine-tuning"), _("the default of the training library Transformers")),
    "deadline": Default({"n": "12", "unit": "hours"}, _("one night")),
    "runs": Default("weekly", _("new data comes in all the time")),
    "window": Default("nights", _("by day the system works for people")),
    # data
    "data_size": Default({"n": "1", "unit": "tb"}, _("a first collection")),
    "hot_data": Default(None, _("everything that is trained on")),
    "confidential": Default("yes", _EDUCATED),
    "copies": Default("2", _("the data and one backup")),
    "data_growth": Default("20", _("data grows in most organisations")),
    "existing_storage": Default("no", _("then everything that is needed is in the proposal")),
    # site
    "site_kind": Default("server_room", _("most first systems stand there")),
    "power_kw": Default(None, _("we do not check the power; the proposal says what it needs")),
    "cooling": Default(["air"], _("every room has it")),
    "rack_units": Default(None, _("we do not check the space; the proposal says what it needs")),
    "feed": Default("3x32", _("a usual feed for a rack in the Netherlands")),
    "feeds_redundant": Default("yes", _("usual in a room meant for servers")),
    "noise": Default("no", _("servers normally have a room of their own")),
    "electricity": Default(None, _("we take the price from our list of assumptions")),
    "rack_power_kw": Default(None, _("we do not check the power per rack; the proposal says what it needs")),
    "floor_load": Default(None, _("we do not check the floor; the proposal says what it weighs")),
    "pue": Default(None, _("we take the value from our list of assumptions")),
    # machines that are there already
    "has_gpus": Default("no", _("then everything is new")),
    "gpu_paste": Default(None, _("we then know nothing of your machines")),
    "gpu_rows": Default(None, _("we then know nothing of your machines")),
    "count_gpus": Default("no", _("a new system that carries everything depends on nothing else")),
    # placement, growth, budget, delivery
    "preference": Default("cheapest", _("we compare and show all sides")),
    "cloud_allowed": Default("unknown", _("follows from whether the data is confidential")),
    "growth_pct": Default("20", _("use grows once people know it")),
    "horizon": Default("3", _("the usual term of support and depreciation")),
    "budget": Default(None, _("no limit; you see what it costs")),
    "start_on": Default(None, _("as soon as it can be delivered")),
    "installation": Default("yes", _("then you start with a working system")),
    "support": Default("nbd_3y", _("usual for a system that people rely on")),
    "stack": Default("any", _("then every make is compared")),
    "vendors_excluded": Default([], _("then every make is compared")),
    "cluster_network": Default("any", _("InfiniBand for NVIDIA, Ethernet for others; one server needs none")),
    "title": Default("", ""),
}  # fmt: skip


def default_for(
    name: str, use_case: UseCase | None = None, method: Method | None = None, model: RateModel | None = None
) -> Default:
    """What we take for question `name`: the use case decides, then the method or the model, then the general table."""
    tables = (
        PRESETS[use_case].defaults if use_case else {},
        METHOD_DEFAULTS.get(method, {}) if method else {},
        {"items_s": model.peak} if model and model.peak else {},
        DOMAIN_DEFAULTS.get(model.domain, {}) if model else {},
        DEFAULTS,
    )
    return next(table[name] for table in tables if name in table)


TRAINING = "_training"  # ends the name of a job


def load_name(use_case: UseCase, *, training: bool) -> str:
    """The name of a service or job in the Workload: the same in every language."""
    return use_case.value + (TRAINING if training else "")


def load_title(name: str) -> str:
    """A service or job in the reader's words: 'Chat with documents', 'Image inspection: training'."""
    base = name.removesuffix(TRAINING)
    if base not in set(UseCase) or UseCase(base) not in PRESETS:
        return name.replace("_", " ")
    title = str(PRESETS[UseCase(base)].title)
    return gettext("%(use)s: training") % {"use": title} if name.endswith(TRAINING) else title
