"""The pages of the questionnaire. Every post saves first and then redirects; nothing depends on a script."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from catalog.snapshot import snapshot
from configurator.models import Draft
from configurator.templatetags.rekenkracht import error_summary
from configurator.wizard import review
from configurator.wizard.answers import Assessment, assess, with_step
from configurator.wizard.config_fields import bring, said_in
from configurator.wizard.fields import raw_of
from configurator.wizard.forms import StepForm
from configurator.wizard.page import (
    RECENT,
    find_draft,
    in_language,
    language_of,
    nav_items,
    private,
    quotes_url,
    remember,
    title_of,
)
from configurator.wizard.questions.model import LanguageModelForm, models_by_size, size_of
from configurator.wizard.reading import Problem
from configurator.wizard.saving import save_step
from configurator.wizard.situation import CHECK, USE, Answers
from configurator.wizard.steps import Step, after, before, find_step, situation_of, steps_for

# ── start ───────────────────────────────────────────────────────────────────────────────────────────────────────


@require_http_methods(["GET", "HEAD", "POST"])
@private
def start(request: HttpRequest) -> HttpResponse:
    """The first question makes a new plan. Earlier plans of this browser stay, and are offered here."""
    step, catalog = Step(USE), snapshot()
    chosen = _data(request)
    answers: Answers = with_step({}, step, chosen, catalog, expert=False) if chosen else {}
    if request.method == "POST":
        go = request.POST.get("go", "")
        if language := language_of(go):
            kept = {key: chosen.getlist(key) for key in ("use_case", "what", "also") if key in chosen}
            return in_language(redirect(f"{reverse('wizard:start')}?{urlencode(kept, doseq=True)}"), language)
        problems = assess(answers, catalog).problems
        if not any(problem.step == USE for problem in problems):
            draft = Draft(language=translation.get_language() or settings.LANGUAGE_CODE)
            draft.change(USE, answers[USE])
            draft.save()
            remember(request, draft)
            return redirect("wizard:step", draft.token, after(step, draft.answers).slug)
    forms = step.forms(situation_of(answers, catalog), check=request.method == "POST")
    if request.method == "POST":
        _add_problems(forms, assess(answers, catalog).problems, USE)
    recent = Draft.objects.alive().filter(pk__in=request.session.get(RECENT, []))
    context = {
        "step": step,
        "forms": forms,
        "nav": nav_items(None, {}, step),
        "recent": [
            {"url": draft.get_absolute_url(), "title": title_of(draft), "on": draft.updated_at}
            for draft in recent
        ],
        "save_form": "questions",
        **_errors(forms),
    }
    return render(request, "wizard/start.html", context)


LEAVING = frozenset(
    {"back", "step", "plan", "restart"}
)  # buttons that lead away whatever is wrong on the page


# ── one step ────────────────────────────────────────────────────────────────────────────────────────────────────


@require_http_methods(["GET", "HEAD", "POST"])
@private
def step(request: HttpRequest, token: str, slug: str) -> HttpResponse:
    draft = find_draft(request, token)
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
        "nav": nav_items(draft.token, draft.answers, asked),
        **_errors(forms),
        "save_form": "questions",
        "has_expert_questions": _has_expert_questions(draft, asked),
        "back": before(asked, draft.answers).slug != asked.slug,
        "return_to": CHECK if _data(request).get("return") == CHECK else "",
        "estimate_url": quotes_url("estimate", draft.token),
        "is_new": draft.revision == 1,
        "is_multipart": any(form.is_multipart() for form in forms),
        "config_said": said_in(asked.stored(draft.answers).get("config")),
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
    catalog, go = snapshot(), request.POST.get("go", "")
    with translation.override(language_of(go) or translation.get_language()):  # of what there may be to say
        brought = bring(
            _with_pick(request.POST),
            request.FILES,
            asked.stored(draft.answers),
            catalog,
            asker=request.session.session_key or draft.token,
        )
    seen = request.POST.get("revision", "")
    saved = save_step(
        draft.token,
        asked,
        brought.data,
        int(seen) if seen.isdecimal() and len(seen) < 10 else draft.revision,
        catalog,
    )
    draft = saved.draft
    if saved.clash:
        return _clash_page(request, draft, asked, saved.clash, brought.data)
    if brought.problems and (language := language_of(go)):
        translation.activate(language)
        return in_language(_refused_page(request, draft, asked, brought.problems), language)
    if brought.problems and go.partition(":")[0] not in LEAVING:
        return _refused_page(request, draft, asked, brought.problems)
    return _jump(request, draft, asked, assess(draft.answers, catalog))


def _with_pick(posted: QueryDict) -> QueryDict:
    """A button of the list of models stands for having typed its name."""
    if not posted.get("pick"):
        return posted
    data = posted.copy()
    data["source"], data["model"] = "catalog", posted.get("pick", "")
    return data


def _refused_page(
    request: HttpRequest, draft: Draft, asked: Step, problems: Mapping[str, str]
) -> HttpResponse:
    """A file or a name brought no config: every other answer is saved, and the page says why and what to do."""
    stored = dict(asked.stored(draft.answers))
    stored |= {name: request.POST[name] for name in problems if name in request.POST}
    situation = situation_of({**draft.answers, asked.slug: stored}, snapshot(), expert=draft.expert)
    forms = asked.forms(situation, check=True)
    for form in forms:
        form.errors.pop("config", None)  # what was to bring it says what is wrong
    _add_problems(forms, tuple(Problem(asked.slug, *one) for one in problems.items()), asked.slug)
    return render(request, "wizard/step.html", _step_context(request, draft, asked, forms), status=422)


def _clash_page(
    request: HttpRequest, draft: Draft, asked: Step, clash: tuple[str, ...], data: QueryDict
) -> HttpResponse:
    """Another tab answered this step meanwhile: show both, save neither unseen."""
    situation = situation_of(draft.answers, snapshot(), expert=draft.expert).of(asked.use_case)
    theirs = []
    for name, question in asked.questions(situation).items():
        stored = asked.stored(draft.answers).get(name)
        if name in clash and question.accepts(stored) and stored:
            theirs.append((question.label, question.say(stored, situation)))
    forms = asked.forms(situation, data)
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
        case "language" if language := language_of(go):
            Draft.objects.filter(pk=draft.pk).update(language=language)
            return in_language(HttpResponseRedirect(here + suffix), language)
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
        "proposal_url": quotes_url("proposal", draft.token),
    }
    return render(request, "wizard/check.html", context)
