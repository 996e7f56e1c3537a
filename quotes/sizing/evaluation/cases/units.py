"""What a worked case asks for, read from its unit: a measure with its scale, what of, and per what.

`GiB weights per GPU` is bytes, by 2^30, of weights, per GPU. The order of words does not matter, nor do fillers and
plurals; a word that no answer knows makes the unit another one, so that a figure is never taken for a different one.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

HOURS_PER_YEAR = 8760

BYTES: Mapping[str, float] = {
    "b": 1, "byte": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "pb": 1e15,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
}  # fmt: skip
HOURS: Mapping[str, float] = {
    "us": 1 / 3.6e9, "ms": 1 / 3.6e6, "millisecond": 1 / 3.6e6, "s": 1 / 3600, "sec": 1 / 3600, "second": 1 / 3600,
    "minute": 1 / 60, "h": 1, "hour": 1, "day": 24, "week": 168, "year": HOURS_PER_YEAR,
}  # fmt: skip
MEASURES: Mapping[str, tuple[str, float]] = {
    **{name: ("bytes", scale) for name, scale in BYTES.items()},
    **{f"{name}/s": ("bytes/s", scale) for name, scale in BYTES.items()},
    **{name: ("hours", scale) for name, scale in HOURS.items()},
    "gbit/s": ("bytes/s", 1.25e8), "gbps": ("bytes/s", 1.25e8), "tbit/s": ("bytes/s", 1.25e11), "bit": ("bits", 1),
    "w": ("watts", 1), "watt": ("watts", 1), "kw": ("watts", 1e3), "mw": ("watts", 1e6),
    "wh": ("watt-hours", 1), "kwh": ("watt-hours", 1e3), "mwh": ("watt-hours", 1e6), "gwh": ("watt-hours", 1e9),
    "%": ("share", 0.01), "percent": ("share", 0.01), "share": ("share", 1), "fraction": ("share", 1),
    "ratio": ("ratio", 1), "time": ("ratio", 1), "x": ("ratio", 1), "factor": ("ratio", 1),
    "usd": ("usd", 1), "eur": ("usd", 1), "euro": ("usd", 1), "dollar": ("usd", 1), "$": ("usd", 1), "€": ("usd", 1),
    "gpu-hour": ("gpu-hours", 1), "parameter": ("parameters", 1), "param": ("parameters", 1),
    "token": ("tokens", 1), "tokens/s": ("tokens/s", 1), "requests/s": ("requests/s", 1),
    "flop": ("flops", 1), "kg": ("kg", 1), "u": ("rack units", 1),
}  # fmt: skip
COUNTED: Mapping[str, float] = {
    "billion": 1e9, "bn": 1e9, "million": 1e6, "mln": 1e6, "m": 1e6, "thousand": 1e3, "k": 1e3,
}  # fmt: skip

# Spellings → one word each, in this order.
PHRASES: tuple[tuple[str, str], ...] = (
    (r"\(1/0\)|\(yes/no\)", " flag "),
    (r"\([^)]*\)", " "),
    (r"(?:[a-z]+\d+ )?gpu[- ]?(?:hours?|h)\b", "gpu-hour"),
    (r"\bk(usd|eur)\b", r"thousand \1"),
    (r"\bm(usd|eur)\b", r"million \1"),
    (r"\b(?:per|/) ?(?:1 ?)?m(?:illion|ln)? ?tok(?:ens?)?\b", " per mtoken"),
    (r"([a-z]+) (?:per|/) ?s(?:ec(?:ond)?s?)?\b", r"\1/s"),
    (r"\btok(?:ens?)?/gpu/s", "tokens/s per gpu"),
    (r"(mean |median )?time to first token|first[- ]token (time|latency)", "ttft"),
    (r"time per (output )?token|inter-?token latency|\bitl\b|\bper output token", "tpot"),
    (r"\b(host|system|cpu) (ram|memory)", "hostmemory"),
    (r"\bon[- ]?prem(ises|ise)?\b|\bowned\b|\bowning\b|\bown\b", "owned"),
    (r"\bbreak[- ]?even\b", "breakeven"),
    (r"\bscalable units?\b", "su"),
    (r"\brack units?\b|\brack height\b", "u"),
    (r"\b(max|maximum|largest|longest|highest)\b", "most"),
    (r"\b(min|minimum|least|fewest|smallest|needed|required)\b", "least"),
    (r"\bon each\b", "per"),
    (r"\b(?:over|after|in|for)? ?(?:\d+|two|three|four|five)[- ]years?\b", " "),
)
SAME = {
    "leaves": "leaf", "switches": "switch", "node": "server", "system": "server", "gpus": "gpu", "accelerator": "gpu",
    "card": "gpu", "sequence": "request", "user": "request", "utilization": "utilisation", "optimizer": "optimiser",
    "states": "state", "token/s": "tokens/s", "tok/s": "tokens/s", "toks/s": "tokens/s", "request/s": "requests/s",
    "req/s": "requests/s", "cheaper": "saving", "return": "roi", "starts": "fit", "fits": "fit",
    "runs": "fit", "works": "fit", "loads": "fit", "gross": "total", "compute+ufm": "compute", "ufm": "compute",
}  # fmt: skip
FILLER = frozenset(
    {"of", "the", "a", "an", "mean", "average", "in", "to", "for", "and", "about", "that", "at", "one"}
)
NO_PLURAL = frozenset({"gbps", "ms", "us", "s", "gb/s", "bus"})


class Asked(NamedTuple):
    """`measure` in its base unit, which the case counts in steps of `scale`: an answer in the base over `scale` is the
    answer to the case. `word`: the unit of time as it was written. `measure` is "count" where none is named."""

    measure: str
    scale: float
    what: frozenset[str]
    per: frozenset[str]
    word: str = ""


def asked(unit: str, month_hours: float) -> Asked:
    """The question behind a unit. `month_hours`: hours in a month."""
    text = re.sub(r"\b([GTM])b(/s|ps)\b", lambda found: f"{found[1].lower()}bit/s", unit).lower()
    for spelling, word in PHRASES:
        text = re.sub(spelling, word, text)
    divided = re.findall(r"\S/(?!s\b)(\S+)", text)
    text = re.sub(r"/(?!s\b)\S+", "", text)
    head, _, below = re.sub(r"[,;:]", " ", text).partition(" per ")
    words, per = _words(head), _words(" ".join([below, *divided]))
    if "flag" in words:
        return Asked("flag", 1, frozenset(words) - {"flag"}, frozenset(per))
    measures = {**MEASURES, "month": ("hours", month_hours)}
    scale, named = 1.0, [word for word in words if word in measures]
    if not named:
        return Asked("count", 1, frozenset(words), frozenset(per))
    first = named[0]
    words.remove(first)
    for counted in [word for word in words if word in COUNTED]:
        scale *= COUNTED[counted]
        words.remove(counted)
    if first == "b" and "parameter" in words:
        first, scale = "parameter", 1e9
        words.remove("parameter")
    measure, base = measures[first]
    return Asked(measure, scale * base, frozenset(words), frozenset(per), first)


def _words(text: str) -> list[str]:
    found = []
    for word in re.findall(r"[^\s]+", text):
        plain = word.strip("-.")
        if plain in SAME:
            found.append(SAME[plain])
            continue
        if re.fullmatch(r"[a-z-]{2,}[a-rt-z]s", plain) and plain not in NO_PLURAL:
            plain = plain.removesuffix("s")
        if (plain := SAME.get(plain, plain)) and plain not in FILLER:
            found.append(plain)
    return found
