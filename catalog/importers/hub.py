"""A model's `config.json` by its name, from the model hub that the administrator chose; without one, nothing is asked.

Only that hub is asked, only over HTTPS, without cookies: a name can lead nowhere else, nor can a redirect. Answers are
kept for a day, refusals for a minute, and how often may be asked is limited.
"""

import hashlib
import http.client
import json
import re
import time
from typing import Any
from urllib import request
from urllib.error import HTTPError
from urllib.parse import urlsplit

from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from catalog.importers.config_sources import MAX_BYTES, MAX_TEXT, text_of_bytes

WAIT_S = 5  # for each step of an answer
WAIT_ALL_S = 10  # for the whole of it
KEEP_S = 24 * 3600
KEEP_REFUSAL_S = 60
WINDOW_S = 3600
ASKS_EACH = 20  # in a window, by one visitor
ASKS_ALL = 200  # by all together: the hub counts them by our address

_PART = r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?"
_NAME = re.compile(rf"{_PART}/{_PART}")

REFUSALS = {
    "name": gettext_noop("Write the name as organisation/model, such as Qwen/Qwen3-8B."),
    "unknown": gettext_noop(
        "{hub} shows no model of this name. Check the name; if the model is not public, upload or paste its"
        " config.json instead."
    ),
    "closed": gettext_noop(
        "{hub} shows this model only to who agreed to its licence. Upload or paste its config.json instead."
    ),
    "without": gettext_noop("This model has no config.json on {hub}. Say how large it is instead."),
    "size": gettext_noop(
        "What {hub} has for this model is too large for a config.json. Say how large the model is instead."
    ),
    "text": gettext_noop(
        "What {hub} has for this model cannot be read. Upload or paste its config.json instead."
    ),
    "silent": gettext_noop(
        "{hub} does not answer at the moment. Try again later, or upload or paste the config.json instead."
    ),
    "often": gettext_noop(
        "Many models were looked up in a short time. Try again in an hour, or upload or paste the config.json"
        " instead."
    ),
}


class Refusal(ValidationError):
    """No config; the sentence says why and what to do. `code` is a key of REFUSALS."""

    def __init__(self, code: str) -> None:
        super().__init__(_(REFUSALS[code]).format(hub=hub_name()), code=code)


def hub_name() -> str:
    """The host of the hub, as people know it; empty when there is none and names cannot be looked up."""
    return urlsplit(settings.MODEL_HUB_URL).hostname or ""


def tidy_name(text: str) -> str:
    """The name in `text`, which may be the address of the model's page. Raises Refusal."""
    name = text.strip().removesuffix("/")
    for beginning in (settings.MODEL_HUB_URL, hub_name()):
        name = name.removeprefix(f"{beginning}/")
    if not _NAME.fullmatch(name) or ".." in name or "--" in name:
        raise Refusal("name")
    return name


def address_of(name: str, file: str = "config.json") -> str:
    return f"{settings.MODEL_HUB_URL}/{name}/resolve/main/{file}"


def fetch_config(text: str, *, asker: str) -> str:
    """The config of the model that `text` names, with that name in it. `asker` tells visitors apart.

    A separate file with the checkpoint's number format becomes part of it. Raises Refusal.
    """
    name = tidy_name(text)
    key = "hub-config:" + _digest(address_of(name))
    kept = cache.get(key)
    if kept is None:
        if not _may_ask(asker):
            raise Refusal("often")
        try:
            kept = {"config": _config(name)}
            cache.set(key, kept, KEEP_S)
        except Refusal as refusal:
            kept = {"refusal": refusal.code}
            cache.set(key, kept, KEEP_REFUSAL_S)
    if "refusal" in kept:
        raise Refusal(kept["refusal"])
    return str(kept["config"])


def _config(name: str) -> str:
    opener = make_opener()
    config = _object(_fetch(opener, address_of(name)))
    if not config.get("quantization_config"):
        try:
            extra = _object(_fetch(opener, address_of(name, "hf_quant_config.json")))
        except Refusal as refusal:
            if refusal.code not in {"unknown", "without"}:
                raise
        else:
            config["quantization_config"] = extra.get("quantization")
    text = json.dumps({**config, "_name_or_path": name}, indent=2)
    if len(text) > MAX_TEXT:
        raise Refusal("size")
    return text


def _object(content: bytes) -> dict[str, Any]:
    try:
        data = json.loads(text_of_bytes(content))
    except (ValidationError, ValueError, RecursionError):
        raise Refusal("text") from None
    if not isinstance(data, dict):
        raise Refusal("text")
    return data


# ── asking the hub ──────────────────────────────────────────────────────────────────────────────────────────────


class SameOrigin(request.HTTPRedirectHandler):
    """Hubs send on to another path of their own; another host, port or scheme is refused."""

    max_redirections = 3

    def redirect_request(
        self, req: request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> request.Request | None:
        if _origin(newurl) != _origin(req.full_url):
            return None
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()


def make_opener(*more: request.BaseHandler) -> request.OpenerDirector:
    """Speaks HTTPS and nothing else: no plain HTTP, files or FTP, no cookies, no passwords."""
    opener = request.OpenerDirector()
    handlers = (
        request.ProxyHandler(),
        request.HTTPSHandler(),
        request.HTTPDefaultErrorHandler(),
        request.HTTPErrorProcessor(),
        request.UnknownHandler(),
        SameOrigin(),
    )
    for handler in (*handlers, *more):
        opener.add_handler(handler)
    opener.addheaders = [("User-Agent", "rekenkracht"), ("Accept", "application/json")]
    return opener


def _fetch(opener: request.OpenerDirector, url: str) -> bytes:
    """The file at `url`. Raises Refusal."""
    wanted = request.Request(url)  # noqa: S310  the settings admit https only, and the opener speaks nothing else
    if settings.MODEL_HUB_TOKEN:
        wanted.add_header("Authorization", f"Bearer {settings.MODEL_HUB_TOKEN}")
    ends = time.monotonic() + WAIT_ALL_S
    try:
        with opener.open(wanted, timeout=WAIT_S) as answer:
            content = b""
            while part := answer.read1(64 * 1024):
                content += part
                if len(content) > MAX_BYTES:
                    raise Refusal("size")
                if time.monotonic() > ends:
                    raise Refusal("silent")
            return content
    except HTTPError as error:
        with error:
            raise Refusal(_why(error.code, error.headers.get("X-Error-Code") or "")) from None
    except (OSError, http.client.HTTPException, ValueError):
        raise Refusal("silent") from None


def _why(status: int, said: str) -> str:
    """What a status means. Hugging Face hides private models behind 401, and says in a header what it meant."""
    if said == "GatedRepo":
        return "closed"
    if said == "EntryNotFound":
        return "without"
    if said == "RepoNotFound" or status == 404:
        return "unknown"
    return "closed" if status in {401, 403} else "silent"


def _may_ask(asker: str) -> bool:
    return _counted(asker, ASKS_EACH) and _counted("all", ASKS_ALL)


def _counted(who: str, most: int) -> bool:
    key = "hub-asks:" + _digest(who)
    if cache.add(key, 1, WINDOW_S):
        return True
    try:
        return cache.incr(key) <= most
    except ValueError:  # it ran out just now
        return True


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
