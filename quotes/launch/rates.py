"""Workloads sized from measured rates: a command only where the measured software is a well-known server."""

from collections.abc import Mapping

from catalog.quantity import Message, noop
from configurator.workload import RateService, RateTraining
from quotes.launch.containers import container_of
from quotes.launch.nouns import Command, Setting, Way, note
from quotes.sizing.results import LoadOption

PORT = Setting(name="PORT", default="8000")
DTYPES = {"fp16": "float16", "bf16": "bfloat16"}
EMBEDDERS: Mapping[str, str] = {"bge-large": "BAAI/bge-large-en-v1.5"}
"""By name in the table of rates: the model that was measured, as published."""


def rate_way(option: LoadOption, part: RateService | RateTraining) -> Way:
    """How what was measured is started, or that nobody documented it."""
    embedder = EMBEDDERS.get(part.model)
    if isinstance(part, RateService) and embedder and option.precision in DTYPES and option.stack == "cuda":
        words = ("infinity_emb", "v2", "--model-id", embedder, "--dtype", DTYPES[option.precision],
                 "--engine", "torch", "--device", "cuda", "--compile", "--port", PORT)  # fmt: skip
        return Way(
            tool="infinity", command=Command(words=words), container=container_of("infinity", option.stack)
        )
    if isinstance(part, RateTraining):
        text = noop(
            "The speed was measured with {software}. There is no start command for it here: give the command of your "
            "own training program."
        )
    else:
        text = noop(
            "The speed was measured with {software}. There is no well-known server that runs {model} that way, so no "
            "start command is given: give the command of your own program."
        )
        return Way(findings=(note(Message.of(text, software=option.engine, model=part.model), warns=True),))
    return Way(findings=(note(Message.of(text, software=option.engine), warns=True),))
