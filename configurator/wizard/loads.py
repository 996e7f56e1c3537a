"""Services and jobs from pages of answers: the plain values of `LanguageService`, `RateTraining` and so on.

What cannot be is noted as a problem at the question where it can be mended, and the building goes on, so that the
customer hears of everything at once.
"""

from decimal import Decimal
from math import ceil
from typing import Any, cast

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from catalog.specs import ModelArchitecture
from configurator import formats
from configurator.wizard.fields import raw_of
from configurator.wizard.number_fields import AmountField, Share
from configurator.wizard.presets import PRESETS, Default, load_name
from configurator.wizard.questions.service import PACES, TOKENS_PER_PAGE
from configurator.wizard.reading import Page, Taken
from configurator.wizard.situation import MODEL
from configurator.workload import Domain, Method, UseCase

RUNS_PER_MONTH = {"once": 0.0, "daily": 365 / 12, "weekly": 52 / 12, "monthly": 1.0, "quarterly": 1 / 3}
TOKENS_PER_PIECE = 450  # of a document in an index
RECORDED_HOURS = 8  # of a day in which recordings are worked off
HOURS_PER_MONTH = 730


# ── language models ─────────────────────────────────────────────────────────────────────────────────────────────


def _model(page: Page, path: str) -> tuple[dict[str, Any], ModelArchitecture | None]:
    """The ModelRef of a step, and the architecture behind it when it is known."""
    source = page.situation.choice(MODEL, "source")
    page.book.paths[path] = (page.step.slug, "source")
    catalog = page.situation.catalog
    names = {"catalog": "model", "size": "params_b", "config": "config"}
    name = names.get(source)
    if name is None:
        return _advised(page, path)
    if not page.says(name):
        page.problem(name, _mistake(page, name))
        return {}, None
    value = page.get(name)
    if source == "size":
        return {"params_b": float(value)}, None
    if source == "config":
        return {"architecture": value}, value
    if value not in catalog.models_by_key:
        page.problem("model", _("Our catalog no longer has this model. Choose another."))
    return {"key": value}, catalog.models_by_key.get(value)


def _mistake(page: Page, name: str) -> str:
    """What is wrong with an answer that is none."""
    try:
        page.question(name).read(raw_of(page.stored(name)) or "", page.situation)
    except ValidationError as error:
        return str(error.messages[0])
    return page.question(name).missing()


def _advised(page: Page, path: str) -> tuple[dict[str, Any], ModelArchitecture | None]:
    advised = page.situation.advised
    preset = PRESETS[page.use_case]
    if advised is None:  # a catalog without any of the models that we advise
        size = Default("8", _("a model that fits on one GPU"))
        page.assume("source", path, _("a model of 8 billion parameters"), Taken(None, None, size))
        return {"params_b": 8}, None
    reason = Default(advised.key, preset.advice_reason, _("model card of {name}").format(name=advised.name))
    page.assume("source", path, advised.name, Taken(None, None, reason))
    return {"key": advised.key}, advised


def language_service(model: Page, load: Page, path: str) -> dict[str, Any]:
    reference, architecture = _model(model, f"{path}.model")
    prompt = ceil(load.get("prompt", f"{path}.prompt_tokens"))
    output = ceil(load.get("output", f"{path}.output_tokens"))
    longest = load.get("longest", f"{path}.context_tokens")
    context = max(ceil(longest), prompt + output) if longest else None
    _check_context(load, architecture, prompt, output, context)
    return {
        "kind": "language",
        "name": load_name(load.use_case, training=False),
        "model": reference,
        "precision": model.get("precision", f"{path}.precision"),
        "kv_precision": model.get("kv_precision", f"{path}.kv_precision"),
        "engine": model.get("engine", f"{path}.engine"),
        "prompt_tokens": prompt,
        "output_tokens": output,
        "context_tokens": context,
        **_demand(load, path, output),
        **_habits(load, path),
    }


def _check_context(
    load: Page, architecture: ModelArchitecture | None, prompt: int, output: int, context: int | None
) -> None:
    most = architecture.max_context if architecture else None
    if architecture is None or most is None:
        return
    said = {"name": architecture.name, "most": formats.number(most)}
    if prompt + output > most:
        message = _(
            "{name} reads and writes at most {most} tokens in one go. "
            "Shorten the question or the answer, or choose a model that reads more."
        )
        load.problem("prompt", message.format(**said))
    elif context and context > most and load.says("longest"):
        message = _(
            "{name} reads and writes at most {most} tokens in one go. "
            "Fill in at most that, or choose a model that reads more."
        )
        load.problem("longest", message.format(**said))


def _demand(load: Page, path: str, output: int) -> dict[str, Any]:
    """How many requests at once, and how fast each must go."""
    ttft, speed = load.get("ttft_s"), load.get("tokens_s")
    if load.use_case is UseCase.DOCUMENT_EXTRACTION:
        pages = load.get("pages_day", f"{path}.concurrent_requests")
        seconds = load.get("done_within", f"{path}.concurrent_requests") * 3600
        # Little's law: pages per second times the seconds that one page takes at the normal pace.
        wait, rate = PACES["normal"]
        at_once = pages / seconds * ((ttft or wait) + output / (speed or rate))
        return {"concurrent_requests": float(max(at_once, 1)), **_speed(ttft, speed)}
    people = load.get("people", f"{path}.users")
    share = load.get("at_once", f"{path}.concurrent_requests")
    at_once = people * share / 100 if isinstance(share, Share) else share
    if not load.says("people"):
        people = max(people, ceil(at_once))
    if at_once > people and load.says("at_once"):
        load.problem("at_once", _("That is more people at once than may use it. Change one of the two."))
    pace = load.get("pace", f"{path}.ttft_p95_s")
    first, then = PACES.get(pace, (None, None))
    return {
        "users": int(people),
        "concurrent_requests": float(max(at_once, 1)),
        **_speed(ttft or first, speed or then),
    }


def _speed(ttft: Decimal | None, rate: Decimal | None) -> dict[str, Any]:
    return {"ttft_p95_s": float(ttft) if ttft else None, "tokens_s_per_user": float(rate) if rate else None}


def _habits(load: Page, path: str) -> dict[str, Any]:
    profile = load.get("profile", f"{path}.profile")
    counts: tuple[float, ...] = ()
    if profile == "counted":
        load.book.paths[f"{path}.hourly_counts"] = (load.step.slug, "counts")
        if load.says("counts"):
            counts = load.get("counts")
        else:
            load.problem("counts", _mistake(load, "counts"))
    return {
        "profile": profile,
        "hourly_counts": counts,
        "availability": load.get("availability", f"{path}.availability"),
    }


def language_training(model: Page, load: Page, path: str) -> dict[str, Any]:
    reference, architecture = _model(model, f"{path}.model")
    method = _method(model, path)
    sequence = int(model.get("sequence", f"{path}.sequence_tokens"))
    if (
        architecture
        and architecture.max_context
        and sequence > architecture.max_context
        and model.says("sequence")
    ):
        message = _("{name} was made for at most {most} tokens in a row. Fill in at most that.")
        model.problem(
            "sequence", message.format(name=architecture.name, most=formats.number(architecture.max_context))
        )
    tokens = load.get("train_tokens", f"{path}.tokens") * load.get("epochs", f"{path}.tokens")
    return {
        "kind": "language",
        "name": load_name(load.use_case, training=True),
        "model": reference,
        "method": method,
        "precision": model.get("train_precision", f"{path}.precision"),
        "optimizer": model.get("optimizer", f"{path}.optimizer"),
        "tokens": float(tokens),
        "sequence_tokens": sequence,
        **_adapter(model, path, method),
        **_schedule(load, path),
    }


def _method(model: Page, path: str) -> Method:
    if model.use_case is UseCase.PRE_TRAIN:
        return Method.PRE_TRAIN
    return Method(model.get("method", f"{path}.method"))


def _adapter(model: Page, path: str, method: Method) -> dict[str, Any]:
    if method not in {Method.LORA, Method.QLORA}:
        return {}
    return {"lora_rank": int(model.get("lora_rank", f"{path}.lora_rank"))}


def _schedule(load: Page, path: str) -> dict[str, Any]:
    deadline_h = load.get("deadline", f"{path}.deadline_h")
    runs = load.get("runs", f"{path}.runs_per_month")
    if RUNS_PER_MONTH[runs] and deadline_h > HOURS_PER_MONTH / RUNS_PER_MONTH[runs] and load.says("deadline"):
        message = _(
            "The next training would start before this one is done. Shorten the time, or train less often."
        )
        load.problem("deadline", message)
    return {
        "deadline_h": float(deadline_h),
        "runs_per_month": RUNS_PER_MONTH[runs],
        "window": load.get("window", f"{path}.window"),
    }


# ── models sized from measured rates ────────────────────────────────────────────────────────────────────────────


def _rate_model(model: Page, path: str) -> dict[str, Any]:
    domain, _colon, name = model.get("rate_model", f"{path}.model").partition(":")
    return {"domain": domain, "model": name}


def rate_service(model: Page, load: Page, path: str) -> dict[str, Any]:
    domain = load.situation.domain
    at_edge = False
    if domain in {Domain.VISION, Domain.DETECTION, Domain.SPEECH}:
        at_edge = load.get("at_edge", f"{path}.at_edge") == "edge"
    latency = (
        load.get("latency_ms") if domain in {Domain.VISION, Domain.DETECTION, Domain.RECOMMENDER} else None
    )
    return {
        "kind": "rate",
        "name": load_name(load.use_case, training=False),
        **_rate_model(model, path),
        **_items(load, path, domain),
        "latency_ms": float(latency) if latency else None,
        "at_edge": at_edge,
        **_habits(load, path),
    }


def _items(load: Page, path: str, domain: Domain) -> dict[str, Any]:
    """Items per second at the peak, in the item of the domain."""
    rate = f"{path}.items_s"
    match domain:
        case Domain.VISION | Domain.DETECTION:
            cameras = load.get("cameras", f"{path}.streams")
            return {"items_s": float(cameras * load.get("fps", rate)), "streams": int(cameras)}
        case Domain.SPEECH:
            if load.get("speech_mode", rate) == "live":
                streams = load.get("streams", f"{path}.streams")
                return {"items_s": float(streams), "streams": int(streams)}
            return {"items_s": float(load.get("audio_hours", rate) / RECORDED_HOURS)}
        case Domain.DIFFUSION | Domain.VIDEO:
            steps = load.get("steps")
            return {
                "items_s": float(load.get("images_hour", rate) / 3600),
                "steps": int(steps) if steps else None,
            }
        case Domain.EMBEDDING:
            pieces = (
                load.get("documents", rate) * load.get("pages", rate) * TOKENS_PER_PAGE / TOKENS_PER_PIECE
            )
            seconds = load.get("index_within", rate) * 3600
            return {"items_s": float(pieces / seconds + load.get("queries_s", rate))}
        case Domain.RERANK:
            return {"items_s": float(load.get("queries_s", rate) * load.get("candidates", rate))}
        case _:
            return {"items_s": float(load.get("items_s", rate))}


def rate_training(model: Page, load: Page, path: str) -> dict[str, Any]:
    if not load.situation.rate_model.trains:
        message = _(
            "Nobody published how fast {name} trains. Choose to use it only, or choose another model."
        )
        model.problem("task", message.format(name=load.situation.rate_model.name))
    sample_kb = load.get("sample_kb", f"{path}.sample_kb")
    load.get("train_data", f"{path}.samples")  # notes it when it is assumed
    _terabytes, samples = training_data(load, sample_kb)
    return {
        "kind": "rate",
        "name": load_name(load.use_case, training=True),
        **_rate_model(model, path),
        "samples": float(samples),
        "epochs": float(load.get("epochs", f"{path}.epochs")),
        "sample_kb": float(sample_kb),
        **_schedule(load, path),
    }


def training_data(load: Page, sample_kb: Decimal) -> tuple[Decimal, Decimal]:
    """(terabytes, number of examples) of the training data."""
    question = cast(AmountField, load.question("train_data"))
    stored = load.stored("train_data")
    if not load.says("train_data"):
        stored = load.situation.default("train_data").value
    amount = question.load(stored)
    if question.is_count(stored):
        return amount * sample_kb / Decimal(10) ** 9, amount
    return amount, amount * Decimal(10) ** 9 / sample_kb
