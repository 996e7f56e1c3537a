"""The pages of the questionnaire. Every post saves first and then redirects; nothing depends on a script."""

import json
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import yaml
from django.conf import settings
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse
from django.utils import translation
from django.utils.cache import patch_cache_control
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog.snapshot import snapshot
from configurator.models import Draft
from configurator.templatetags.rekenkracht import error_summary
from configurator.wizard import review
from configurator.wizard.answers import Assessment, Problem, assess, with_step
from configurator.wizard.fields import raw_of
from configurator.wizard.forms import StepForm
from configurator.wizard.presets import PRESETS
from configurator.wizard.questions.model import LanguageModelForm, models_by_size, size_of
from configurator.wizard.saving import save_step
from configurator.wizard.situation import CHECK, LOAD, MODEL, USE, Answers, chosen_use_cases, slug_of
from configurator.wizard.steps import FORMS, Step, after, before, find_step, situation_of, steps_for
from configurator.workload import Workload

type View = Callable[..., HttpResponse]

RECENT = "plans"  # key of the session: ids of the plans that this browser made
RECENT_MAX = 10


# ── what every page of a plan has ───────────────────────────────────────────────────────────────────────────────


def _private(view: View) -> View:
    """Kept out of caches and search engines: the address is the key."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = view(request, *args, **kwargs)
        patch_cache_control(response, private=True, no_store=True)
        response.headers["X-Robots-Tag"] = "noindex, nofollow"
        return response

    return guarded


def _find_draft(request: HttpRequest, token: str) -> Draft:
    """The living draft of this token, and its language for visitors who have not chosen one. Raises Http404."""
    draft = Draft.objects.alive().filter(token=token).first()
    if draft is None:
        raise Http404
    if settings.LANGUAGE_COOKIE_NAME not in request.COOKIES:
        translation.activate(draft.language)
        request.LANGUAGE_CODE = draft.language  # type: ignore[attr-defined]
    return draft


def _remember(request: HttpRequest, draft: Draft) -> None:
    mine = [pk for pk in request.session.get(RECENT, []) if pk != draft.pk]
    request.session[RECENT] = [draft.pk, *mine][:RECENT_MAX]


# ── start ───────────────────────────────────────────────────────────────────────────────────────────────────────


@require_http_methods(["GET", "HEAD", "POST"])
@_private
def start(request: HttpRequest) -> HttpResponse:
    """The first question makes a new plan. Earlier plans of this browser stay, and are offered here."""
    step, catalog = Step(USE), snapshot()
    chosen = _data(request)
    answers: Answers = with_step({}, step, chosen, catalog, expert=False) if chosen else {}
    if request.method == "POST":
        go = request.POST.get("go", "")
        if language := _language_of(go):
            kept = {key: chosen.getlist(key) for key in ("use_case", "what", "also") if key in chosen}
            return _in_language(
                redirect(f"{reverse('wizard:start')}?{urlencode(kept, doseq=True)}"), language
            )
        problems = assess(answers, catalog).problems
        if not any(problem.step == USE for problem in problems):
            draft = Draft(language=translation.get_language() or settings.LANGUAGE_CODE)
            draft.change(USE, answers[USE])
            draft.save()
            _remember(request, draft)
            return redirect("wizard:step", draft.token, after(step, draft.answers).slug)
    forms = step.forms(situation_of(answers, catalog), check=request.method == "POST")
    if request.method == "POST":
        _add_problems(forms, assess(answers, catalog).problems, USE)
    recent = Draft.objects.alive().filter(pk__in=request.session.get(RECENT, []))
    context = {
        "step": step,
        "forms": forms,
        "nav": _nav(None, {}, step),
        "recent": [
            {"url": draft.get_absolute_url(), "title": _title_of(draft), "on": draft.updated_at}
            for draft in recent
        ],
        "save_form": "questions",
        **_errors(forms),
    }
    return render(request, "wizard/start.html", context)


# ── one step ────────────────────────────────────────────────────────────────────────────────────────────────────


@require_http_methods(["GET", "HEAD", "POST"])
@_private
def step(request: HttpRequest, token: str, slug: str) -> HttpResponse:
    draft = _find_draft(request, token)
    asked = find_step(slug, draft.answers)
    if asked is None:
        raise Http404
    if request.method == "POST":
        return _post(request, draft, asked)
    if asked.slug not in {one.slug for one in steps_for(draft.answers)}:
        return redirect("wizard:step", token, USE)
    return _check_page(request, draft) if asked.kind == CHECK else _question_page(request, draft, asked)


def _question_page(request: HttpRequest, draft: Draft, asked: Step) -> HttpResponse:
    catalog = snapshot()
    situation = situation_of(draft.answers, catalog, expert=draft.expert)
    stored = asked.stored(draft.answers)
    is_shown = "show" in request.GET or any(raw_of(value) is not None for value in stored.values())
    forms = asked.forms(situation, check=is_shown)
    if is_shown:
        _add_problems(forms, assess(draft.answers, catalog).problems, asked.slug)
    return render(request, "wizard/step.html", _step_context(request, draft, asked, forms))


def _step_context(request: HttpRequest, draft: Draft, asked: Step, forms: list[StepForm]) -> dict[str, Any]:
    return {
        "draft": draft,
        "step": asked,
        "forms": forms,
        "nav": _nav(draft.token, draft.answers, asked),
        **_errors(forms),
        "save_form": "questions",
        "has_expert_questions": _has_expert_questions(draft, asked),
        "back": before(asked, draft.answers).slug != asked.slug,
        "return_to": CHECK if _data(request).get("return") == CHECK else "",
        "estimate_url": _quotes_url("estimate", draft.token),
        "is_new": draft.revision == 1,
        "groups": _model_groups() if any(isinstance(form, LanguageModelForm) for form in forms) else (),
    }


def _model_groups() -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "hint": hint,
            "models": [{"key": one.key, "name": one.name, "size": size_of(one)} for one in models],
        }
        for name, hint, models in models_by_size(snapshot())
    ]


def _errors(forms: list[StepForm]) -> dict[str, Any]:
    summary = error_summary(*forms) if any(form.is_bound for form in forms) else {"errors": []}
    return {**summary, "is_wrong": bool(summary["errors"])}


def _has_expert_questions(draft: Draft, asked: Step) -> bool:
    situation = situation_of(draft.answers, snapshot(), expert=True)
    return any(question.expert for question in asked.questions(situation).values())


def _data(request: HttpRequest) -> QueryDict:
    return request.POST if request.method == "POST" else request.GET


def _add_problems(forms: list[StepForm], problems: tuple[Problem, ...], slug: str) -> None:
    """Show what is wrong with this step's answers beside the questions."""
    for problem in problems:
        if problem.step != slug:
            continue
        form = next((form for form in forms if problem.field in form.fields), None)
        if form is not None and problem.message not in form.errors.get(problem.field, []):
            form.add_error(problem.field, problem.message)


def _post(request: HttpRequest, draft: Draft, asked: Step) -> HttpResponse:
    catalog, data = snapshot(), _with_pick(request.POST)
    seen = request.POST.get("revision", "")
    saved = save_step(
        draft.token,
        asked,
        data,
        int(seen) if seen.isdecimal() and len(seen) < 10 else draft.revision,
        catalog,
    )
    draft = saved.draft
    if saved.clash:
        return _clash_page(request, draft, asked, saved.clash)
    return _jump(request, draft, asked, assess(draft.answers, catalog))


def _with_pick(posted: QueryDict) -> QueryDict:
    """A button of the list of models stands for having typed its name."""
    if not posted.get("pick"):
        return posted
    data = posted.copy()
    data["source"], data["model"] = "catalog", posted["pick"]
    return data


def _clash_page(request: HttpRequest, draft: Draft, asked: Step, clash: tuple[str, ...]) -> HttpResponse:
    """Another tab answered this step meanwhile: show both, save neither unseen."""
    situation = situation_of(draft.answers, snapshot(), expert=draft.expert).of(asked.use_case)
    theirs = []
    for name, question in asked.questions(situation).items():
        stored = asked.stored(draft.answers).get(name)
        if name in clash and question.accepts(stored) and stored:
            theirs.append((question.label, question.say(stored, situation)))
    forms = asked.forms(situation, _with_pick(request.POST))
    context = {**_step_context(request, draft, asked, forms), "clash": True, "theirs": theirs}
    return render(request, "wizard/step.html", context, status=409)


# ── where a button leads ────────────────────────────────────────────────────────────────────────────────────────


def _jump(request: HttpRequest, draft: Draft, asked: Step, assessment: Assessment) -> HttpResponse:
    """The answers are saved; `go` says where to."""
    go, token = request.POST.get("go", "stay" if request.POST.get("pick") else "next"), draft.token
    here = reverse("wizard:step", args=[token, asked.slug])
    back_to_check = request.POST.get("return") == CHECK
    suffix = "?return=check" if back_to_check else ""
    kind, _colon, argument = go.partition(":")
    match kind:
        case "back":
            return redirect("wizard:step", token, before(asked, draft.answers).slug)
        case "step" if (wanted := find_step(argument, draft.answers)) is not None:
            return redirect("wizard:step", token, wanted.slug)
        case "language" if language := _language_of(go):
            Draft.objects.filter(pk=draft.pk).update(language=language)
            return _in_language(HttpResponseRedirect(here + suffix), language)
        case "expert":
            Draft.objects.filter(pk=draft.pk).update(expert=argument == "on")
            return HttpResponseRedirect(here + suffix)
        case "stay":
            return HttpResponseRedirect(here + suffix)
        case "plan":
            return redirect("wizard:plan", token)
        case "restart":
            return redirect("wizard:start")
    if any(problem.step == asked.slug for problem in assessment.problems):
        query = {"show": "errors", **({"return": CHECK} if back_to_check else {})}
        return HttpResponseRedirect(f"{here}?{urlencode(query)}")
    if kind == "estimate" or back_to_check:
        return redirect("wizard:step", token, CHECK)
    return redirect("wizard:step", token, after(asked, draft.answers).slug)


def _language_of(go: str) -> str:
    code = go.removeprefix("language:") if go.startswith("language:") else ""
    return code if code in dict(settings.LANGUAGES) else ""


def _in_language(response: HttpResponse, language: str) -> HttpResponse:
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        max_age=settings.LANGUAGE_COOKIE_AGE,
        path=settings.LANGUAGE_COOKIE_PATH,
        domain=settings.LANGUAGE_COOKIE_DOMAIN,
        secure=settings.LANGUAGE_COOKIE_SECURE,
        httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
        samesite=settings.LANGUAGE_COOKIE_SAMESITE,
    )
    return response


def _quotes_url(name: str, token: str) -> str:
    """An address that the quotes serve; the questionnaire knows no more of them than the name."""
    try:
        return reverse(f"quotes:{name}", args=[token])
    except NoReverseMatch:
        return ""


def _nav(token: str | None, answers: Answers, current: Step) -> list[dict[str, str]]:
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


# ── check your answers ──────────────────────────────────────────────────────────────────────────────────────────


def _check_page(request: HttpRequest, draft: Draft) -> HttpResponse:
    catalog, asked = snapshot(), Step(CHECK)
    assessment = assess(draft.answers, catalog)
    plain, technical = review.assumptions(draft.token, draft.answers, catalog, assessment)
    context = {
        **_step_context(request, draft, asked, []),
        "sections": review.sections(draft.token, draft.answers, catalog, assessment),
        "plain": plain,
        "technical": technical,
        "troubles": list(review.troubles(draft.token, assessment.problems)),
        "proposal_url": _quotes_url("proposal", draft.token),
    }
    return render(request, "wizard/check.html", context)


# ── the plan as a whole ─────────────────────────────────────────────────────────────────────────────────────────


@require_safe
@_private
def plan(request: HttpRequest, token: str) -> HttpResponse:
    """The link to come back with, the way on, and what else can be done with a plan."""
    draft = _find_draft(request, token)
    chosen = chosen_use_cases(draft.answers)
    way = steps_for(draft.answers)
    next_step = next((one for one in way if one.slug not in draft.answers and FORMS[one.kind]), way[-1])
    context = {
        "draft": draft,
        "link": settings.SITE_URL + draft.get_absolute_url(),
        "use_cases": [PRESETS[use_case].title for use_case in chosen],
        "step": next_step,
        "save_form": "questions",
        "mail_subject": _title_of(draft),
        "is_complete": assess(draft.answers, snapshot()).workload is not None,
        "nav": _nav(draft.token, draft.answers, next_step),
    }
    return render(request, "wizard/plan.html", context)


WORKLOAD_FORMS: Mapping[str, tuple[str, Callable[[Any], str]]] = {
    "json": ("application/json", lambda value: json.dumps(value, indent=2, ensure_ascii=False) + "\n"),
    "yaml": ("application/yaml", lambda value: yaml.safe_dump(value, sort_keys=False, allow_unicode=True)),
}


def as_plain(wanted: Workload) -> dict[str, Any]:
    """The Workload in the shape of its JSON schema; sets, which have no order, sorted."""
    value = wanted.model_dump(mode="json")
    value["assumed"].sort()
    value["site"]["cooling"].sort()
    value["placement"]["vendors_excluded"].sort()
    return value


@require_safe
@_private
def workload(request: HttpRequest, token: str, form: str) -> HttpResponse:
    """The Workload as a file, for the command line and for colleagues. 409 when the answers make none yet."""
    draft = _find_draft(request, token)
    if form not in WORKLOAD_FORMS:
        raise Http404
    wanted = assess(draft.answers, snapshot()).workload
    if wanted is None:
        return redirect("wizard:step", token, CHECK)
    content_type, write = WORKLOAD_FORMS[form]
    response = HttpResponse(
        write(as_plain(wanted)), content_type=f"{content_type}; charset=utf-8"
    )
    response.headers["Content-Disposition"] = f'attachment; filename="workload.{form}"'
    return response


@require_POST
@_private
def copy(request: HttpRequest, token: str) -> HttpResponse:
    """A variant to compare with: the same answers under a link of its own."""
    with transaction.atomic():
        draft = _find_draft(request, token)
        variant = draft.variant(_("{title} (variant)").format(title=_title_of(draft)))
        plan_slug = slug_of("plan", None)
        variant.change(plan_slug, {**draft.answers.get(plan_slug, {}), "title": variant.title})
        variant.save()
    _remember(request, variant)
    return redirect("wizard:plan", variant.token)


def _title_of(draft: Draft) -> str:
    if draft.title:
        return draft.title
    return ", ".join(str(PRESETS[use_case].title) for use_case in chosen_use_cases(draft.answers)) or _(
        "Plan"
    )
