"""What every page of the questionnaire has: privacy, its plan, its language, its list of steps."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import NoReverseMatch, reverse
from django.utils import translation
from django.utils.cache import patch_cache_control
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from configurator.models import Draft
from configurator.wizard.presets import PRESETS
from configurator.wizard.situation import LOAD, MODEL, Answers, chosen_use_cases
from configurator.wizard.steps import Step, steps_for

type View = Callable[..., HttpResponse]

RECENT = "plans"  # key of the session: ids of the plans that this browser made
RECENT_MAX = 10


# ── what every page of a plan has ───────────────────────────────────────────────────────────────────────────────


def private(view: View) -> View:
    """Kept out of caches and search engines: the address is the key."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = view(request, *args, **kwargs)
        patch_cache_control(response, private=True, no_store=True)
        response.headers["X-Robots-Tag"] = "noindex, nofollow"
        return response

    return guarded


def find_draft(request: HttpRequest, token: str) -> Draft:
    """The living draft of this token, and its language for visitors who have not chosen one. Raises Http404."""
    draft = Draft.objects.alive().filter(token=token).first()
    if draft is None:
        raise Http404
    if settings.LANGUAGE_COOKIE_NAME not in request.COOKIES:
        translation.activate(draft.language)
        request.LANGUAGE_CODE = draft.language
    return draft


def remember(request: HttpRequest, draft: Draft) -> None:
    mine = [pk for pk in request.session.get(RECENT, []) if pk != draft.pk]
    request.session[RECENT] = [draft.pk, *mine][:RECENT_MAX]


def language_of(go: str) -> str:
    code = go.removeprefix("language:") if go.startswith("language:") else ""
    return code if code in dict(settings.LANGUAGES) else ""


def in_language(response: HttpResponse, language: str) -> HttpResponse:
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        max_age=settings.LANGUAGE_COOKIE_AGE,
        path=settings.LANGUAGE_COOKIE_PATH,
        domain=settings.LANGUAGE_COOKIE_DOMAIN,
        secure=settings.LANGUAGE_COOKIE_SECURE,
        httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
        samesite=cast(Any, settings.LANGUAGE_COOKIE_SAMESITE),
    )
    return response


def quotes_url(name: str, token: str) -> str:
    """An address that the quotes serve; the questionnaire knows no more of them than the name."""
    try:
        return reverse(f"quotes:{name}", args=[token])
    except NoReverseMatch:
        return ""


def nav_items(token: str | None, answers: Answers, current: Step) -> list[dict[str, str]]:
    """The list of steps, as `{% steps %}` wants it, each with the value of the button that leads there."""
    way = steps_for(answers)
    if not chosen_use_cases(answers):
        way = [way[0], Step(MODEL), Step(LOAD), *way[1:]]
    slugs = [one.slug for one in way]
    here = slugs.index(current.slug) if current.slug in slugs else 0
    items = []
    for index, one in enumerate(way):
        state = "current" if index == here else "done" if one.slug in answers or index < here else "todo"
        items.append({"title": one.title, "state": state, "go": f"step:{one.slug}" if token else ""})
    proposal = {"title": pgettext("step", "Proposal"), "state": "todo", "go": ""}
    return [*items, proposal]


def title_of(draft: Draft) -> str:
    if draft.title:
        return draft.title
    return ", ".join(str(PRESETS[use_case].title) for use_case in chosen_use_cases(draft.answers)) or _(
        "Plan"
    )
