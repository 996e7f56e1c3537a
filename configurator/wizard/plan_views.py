"""The plan as a whole: its link, a file of it, a variant of it."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import yaml
from django.conf import settings
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from catalog.snapshot import snapshot
from configurator.wizard.answers import assess
from configurator.wizard.page import find_draft, nav_items, private, quotes_url, remember, title_of
from configurator.wizard.presets import PRESETS
from configurator.wizard.situation import CHECK, PLAN, chosen_use_cases, slug_of
from configurator.wizard.steps import FORMS, steps_for
from configurator.workload import Workload


@require_safe
@private
def plan(request: HttpRequest, token: str) -> HttpResponse:
    """The link to come back with, the way on, and what else can be done with a plan."""
    draft = find_draft(request, token)
    chosen = chosen_use_cases(draft.answers)
    way = steps_for(draft.answers)
    next_step = next((one for one in way if one.slug not in draft.answers and FORMS[one.kind]), way[-1])
    is_complete = assess(draft.answers, snapshot()).workload is not None
    context = {
        "draft": draft,
        "link": settings.SITE_URL + draft.get_absolute_url(),
        "use_cases": [PRESETS[use_case].title for use_case in chosen],
        "step": next_step,
        "save_form": "questions",
        "mail_subject": title_of(draft),
        "is_complete": is_complete,
        "proposal_url": quotes_url("proposal", token) if is_complete and next_step.kind == CHECK else "",
        "nav": nav_items(draft.token, draft.answers, next_step),
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
    for gpu in (gpu for machine in value["existing"] for gpu in machine["gpus"]):
        gpu["throttled_by"].sort()
    return value


@require_safe
@private
def workload(request: HttpRequest, token: str, form: str) -> HttpResponse:
    """The Workload as a file, for the command line and for colleagues. 409 when the answers make none yet."""
    draft = find_draft(request, token)
    if form not in WORKLOAD_FORMS:
        raise Http404
    wanted = assess(draft.answers, snapshot()).workload
    if wanted is None:
        return redirect("wizard:step", token, CHECK)
    content_type, write = WORKLOAD_FORMS[form]
    response = HttpResponse(write(as_plain(wanted)), content_type=f"{content_type}; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="workload.{form}"'
    return response


@require_POST
@private
def copy(request: HttpRequest, token: str) -> HttpResponse:
    """A variant to compare with: the same answers under a link of its own."""
    with transaction.atomic():
        draft = find_draft(request, token)
        variant = draft.variant(_("{title} (variant)").format(title=title_of(draft)))
        plan_slug = slug_of(PLAN, None)
        variant.change(plan_slug, {**draft.answers.get(plan_slug, {}), "title": variant.title})
        variant.save()
    remember(request, variant)
    return redirect("wizard:plan", variant.token)
