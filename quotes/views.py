"""Pages of proposals and quotes. Whoever holds the secret link of a plan or a quote sees that one and no other."""

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.cache import patch_cache_control
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog.snapshot import snapshot
from configurator.models import Draft
from configurator.wizard.answers import Assessment, assess, merged
from quotes import services
from quotes.cost_form import CostForm, reset
from quotes.documents.cost_sheet import render_costs
from quotes.documents.launch import archive, content
from quotes.forms import AcceptForm, ContactForm, DeclineForm
from quotes.launch import LaunchPlan, launch_plan
from quotes.models import Quote, QuoteStatus
from quotes.presentation.delivery import delivery_page
from quotes.presentation.estimate import estimate_panel
from quotes.presentation.proposal import proposal_page
from quotes.presentation.quote import quote_page
from quotes.proposal import Proposal
from quotes.sizing.results import SizedSystem, Tier

type View = Callable[..., HttpResponse]

PDF, ZIP = "application/pdf", "application/zip"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def private(view: View) -> View:
    """Kept out of caches and search engines: the address is the key. Says so when the site cannot answer yet."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            response = view(request, *args, **kwargs)
        except services.Refused as refusal:
            context = {"problem": refusal.sentence}
            status = HTTPStatus.SERVICE_UNAVAILABLE
            response = render(request, "quotes/not_ready.html", context, status=status)
        patch_cache_control(response, private=True, no_store=True)
        response.headers["X-Robots-Tag"] = "noindex, nofollow"
        return response

    return guarded


def speak(request: HttpRequest, language: str) -> None:
    """The language of what is shown, for visitors who have not chosen one."""
    if settings.LANGUAGE_COOKIE_NAME not in request.COOKIES:
        translation.activate(language)
        request.LANGUAGE_CODE = language


def file_response(body: bytes | str, content_type: str, name: str) -> HttpResponse:
    """A file to keep; a PDF opens in the browser. `name` is ours, never a visitor's."""
    response = HttpResponse(body, content_type=content_type)
    kind = "inline" if content_type == PDF else "attachment"
    response.headers["Content-Disposition"] = f'{kind}; filename="{name}"'
    return response


def draft_or_404(request: HttpRequest, token: str) -> Draft:
    draft = get_object_or_404(Draft.objects.alive(), token=token)
    speak(request, draft.language)
    return draft


def quote_or_404(request: HttpRequest, token: str) -> Quote:
    quote = get_object_or_404(Quote, token=token)
    if not quote.link_works(timezone.localdate()):
        raise Http404
    speak(request, quote.language)
    return quote


def proposed(draft: Draft) -> tuple[Assessment, Proposal | None]:
    """What a plan's answers come to, and the proposal when they come to a workload."""
    assessment = assess(draft.answers, snapshot())
    return assessment, services.proposal_for(assessment.workload) if assessment.workload else None


# ── proposals ───────────────────────────────────────────────────────────────────────────────────────────────────


@require_http_methods(["GET", "HEAD", "POST"])
@private
def estimate(request: HttpRequest, token: str) -> HttpResponse:
    """The living estimate: what the answers so far, with those just typed, would come to. Nothing is saved."""
    draft = draft_or_404(request, token)
    catalog = snapshot()
    answers = draft.answers
    if request.method == "POST":
        answers, _problems = merged(draft, request.POST.get("step", ""), request.POST, catalog)
    assessment = assess(answers, catalog)
    found = services.proposal_for(assessment.workload, quick=True) if assessment.workload else None
    return render(request, "quotes/estimate.html", estimate_panel(assessment, found))


@require_safe
@private
def proposal(request: HttpRequest, token: str) -> HttpResponse:
    """The proposals for a plan, the recommended or the chosen one in full; without a workload, back to the plan."""
    draft = draft_or_404(request, token)
    assessment, found = proposed(draft)
    if found is None:
        return redirect("wizard:step", token, "check")
    system = _system(found, request.GET.get("tier", ""))
    form = _cost_form(draft, found, system) if system else None
    return _proposal_page(request, draft, assessment, found, system, form)


def _system(found: Proposal, tier: str) -> SizedSystem | None:
    """The chosen proposal, else the recommended one."""
    chosen = _tier(tier)
    return (found.system(chosen) if chosen else None) or found.recommended


def _cost_form(draft: Draft, found: Proposal, system: SizedSystem, data: Any = None) -> CostForm:
    site, sources = services.current_assumptions(), services.seller_sources()
    return CostForm(draft, found, system, site, sources, data)


def _proposal_page(
    request: HttpRequest,
    draft: Draft,
    assessment: Assessment,
    found: Proposal,
    system: SizedSystem | None,
    form: CostForm | None,
) -> HttpResponse:
    failed = form is not None and form.is_bound and not form.is_valid()
    context = {
        "draft": draft,
        "assessment": assessment,
        "cost_form": form,
        "costs_open": failed or "costs" in request.GET,
        **proposal_page(found, system.tier if system else None),
        **(_delivery(found, system) if system else {}),
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if failed else HTTPStatus.OK
    return render(request, "quotes/proposal.html", context, status=status)


def _delivery(found: Proposal, system: SizedSystem) -> dict[str, Any]:
    """When this system can be there when it is ordered today."""
    day = found.sizing.calculated_on
    return delivery_page(
        found.prices[system.tier].lines,
        found.assumptions,
        ordered_on=day,
        wished_on=found.sizing.workload.delivery.start_on,
        valid_until=day + timedelta(days=services.current_seller().validity_days),
    )


@require_POST
@private
def costs(request: HttpRequest, token: str) -> HttpResponse:
    """A customer's own figures, or back to ours (`reset`: the name of one field, or `all`); then the proposal again."""
    draft = draft_or_404(request, token)
    assessment, found = proposed(draft)
    system = _system(found, request.POST.get("tier", "")) if found else None
    if found is None or system is None:
        return redirect("quotes:proposal", token)
    form = _cost_form(draft, found, system, request.POST)
    if wanted := request.POST.get("reset"):
        services.change_costs(draft, reset([name for name in form.known() if wanted in {name, "all"}]))
    elif not form.is_valid():
        return _proposal_page(request, draft, assessment, found, system, form)
    else:
        services.change_costs(draft, form.changes())
    query = urlencode({"tier": system.tier.value, "costs": "open"})
    return HttpResponseRedirect(f"{reverse('quotes:proposal', args=[token])}?{query}#costs")


def _tier(text: str) -> Tier | None:
    return Tier(text) if text in set(Tier) else None


@require_safe
@private
def proposal_json(request: HttpRequest, token: str) -> HttpResponse:
    """The whole proposal as data, in the shape of docs/schema/proposal.json."""
    _assessment, found = proposed(draft_or_404(request, token))
    if found is None:
        raise Http404
    return file_response(found.model_dump_json(indent=2), "application/json", "proposal.json")


@require_safe
@private
def proposal_sheet(request: HttpRequest, token: str, tier: str) -> HttpResponse:
    """The site sheet of one of the proposals, in the visitor's language."""
    draft = draft_or_404(request, token)
    _assessment, found = proposed(draft)
    wanted = _tier(tier)
    if found is None or wanted is None or found.system(wanted) is None:
        raise Http404
    language = translation.get_language() or draft.language
    return file_response(services.site_sheet_for(found, wanted, language), PDF, "site-sheet.pdf")


@require_safe
@private
def launch_archive(request: HttpRequest, token: str, tier: str) -> HttpResponse:
    """Start commands of one proposal: every file of every load, with directions."""
    _assessment, found = proposed(draft_or_404(request, token))
    return _archive(_plan(found, tier), found.sizing.workload.title if found else "")


@require_safe
@private
def launch_file(request: HttpRequest, token: str, tier: str, folder: str, name: str) -> HttpResponse:
    """One file of one load."""
    _assessment, found = proposed(draft_or_404(request, token))
    loads = {load.folder: load for load in _plan(found, tier).loads}
    files = {file.name: file for file in loads[folder].files} if folder in loads else {}
    if name not in files:
        raise Http404
    return file_response(content(files[name]), "text/plain; charset=utf-8", name)


def _plan(found: Proposal | None, tier: str) -> LaunchPlan:
    system = found.system(Tier(tier)) if found and tier in set(Tier) else None
    if found is None or system is None:
        raise Http404
    return launch_plan(system, found.sizing.workload)


def _archive(plan: LaunchPlan, title: str) -> HttpResponse:
    if not plan.loads:
        raise Http404
    return file_response(archive(plan, title), ZIP, "ready-to-run.zip")


@require_safe
@private
def proposal_costs_xlsx(request: HttpRequest, token: str, tier: str) -> HttpResponse:
    """What one proposal costs over the years, as a spreadsheet that computes itself."""
    _assessment, found = proposed(draft_or_404(request, token))
    chosen = _tier(tier)
    system = found.system(chosen) if found and chosen else None
    if found is None or system is None or system.economics is None:
        raise Http404
    content = render_costs(found, system, translation.get_language() or settings.LANGUAGE_CODE)
    return file_response(content, XLSX, f"costs-{system.tier.value}.xlsx")


@require_http_methods(["GET", "HEAD", "POST"])
@private
def request_quote(request: HttpRequest, token: str, tier: str) -> HttpResponse:
    """Contact details, then a quote in draft with its preview at once."""
    draft = draft_or_404(request, token)
    _assessment, found = proposed(draft)
    system = found.system(Tier(tier)) if found and tier in set(Tier) else None
    if found is None or system is None:
        return redirect("quotes:proposal", token)
    form = ContactForm(request.POST if request.method == "POST" else None)
    status = HTTPStatus.OK
    if request.method == "POST" and form.is_valid():
        language = translation.get_language() or draft.language
        try:
            quote = services.create_quote(found, Tier(tier), form.contact, language=language, draft=draft)
        except services.Refused as refusal:
            form.add_error(None, refusal.sentence)
            many = isinstance(refusal, services.TooMany)
            status = HTTPStatus.TOO_MANY_REQUESTS if many else HTTPStatus.UNPROCESSABLE_ENTITY
        else:
            return redirect("quotes:quote", token=quote.token)
    elif form.errors:
        status = HTTPStatus.UNPROCESSABLE_ENTITY
    context = {"form": form, "draft": draft, **_asked(found, system)}
    return render(request, "quotes/request.html", context, status=status)


def _asked(found: Proposal, system: SizedSystem) -> dict[str, Any]:
    return {
        "system": system,
        "price": found.prices[system.tier],
        "demonstration": found.demonstration_prices,
        "seller": services.current_seller(),
    }


# ── quotes ──────────────────────────────────────────────────────────────────────────────────────────────────────


@require_safe
@private
def quote(request: HttpRequest, token: str) -> HttpResponse:
    """The customer's page of one quote: what it says, the PDF, and the decision while it is open."""
    return _quote_page(request, quote_or_404(request, token), AcceptForm(), DeclineForm())


def _quote_page(
    request: HttpRequest, row: Quote, accept_form: AcceptForm, decline_form: DeclineForm, problem: str = ""
) -> HttpResponse:
    context = {
        **quote_page(row, timezone.now()),
        "accept_form": accept_form,
        "decline_form": decline_form,
        "problem": problem,
    }
    failed = problem or accept_form.errors or decline_form.errors
    status = HTTPStatus.UNPROCESSABLE_ENTITY if failed else HTTPStatus.OK
    return render(request, "quotes/quote.html", context, status=status)


@require_safe
@private
def quote_pdf(request: HttpRequest, token: str) -> HttpResponse:
    """The PDF in the quote's language; a watermark says when it is only a preview."""
    return pdf_response(quote_or_404(request, token))


def pdf_response(row: Quote) -> HttpResponse:
    return file_response(services.pdf_of(row), PDF, f"{_name(row)}.pdf")


def _name(row: Quote) -> str:
    return row.full_number or "preview"


@require_safe
@private
def quote_sheet(request: HttpRequest, token: str) -> HttpResponse:
    """The site sheet of a quote, in the quote's language. Gone with a quote that this version cannot read."""
    row = quote_or_404(request, token)
    try:
        body = services.site_sheet_of(row)
    except services.Unreadable as unreadable:
        raise Http404 from unreadable
    return file_response(body, PDF, f"{_name(row)}-site-sheet.pdf")


@require_safe
@private
def quote_xlsx(request: HttpRequest, token: str) -> HttpResponse:
    """The price table as a spreadsheet whose formulas add up again, in the quote's language."""
    return xlsx_response(quote_or_404(request, token))


def xlsx_response(row: Quote) -> HttpResponse:
    return file_response(services.xlsx_of(row), XLSX, f"{_name(row)}.xlsx")


@require_safe
@private
def quote_launch(request: HttpRequest, token: str) -> HttpResponse:
    """Start commands of the system as it was quoted, from the frozen proposal, in the quote's language."""
    row = quote_or_404(request, token)
    if not row.issued_at:
        raise Http404
    try:
        document = services.document_of(row)
    except services.Unreadable as unreadable:
        raise Http404 from unreadable
    with translation.override(document.language):
        return _archive(launch_plan(document.system, document.proposal.sizing.workload), row.title)


@require_safe
@private
def quote_costs_xlsx(request: HttpRequest, token: str) -> HttpResponse:
    """What the quoted system costs over the years, as a spreadsheet; 404 for a quote that has no such figures."""
    return costs_response(quote_or_404(request, token))


def costs_response(row: Quote) -> HttpResponse:
    try:
        document = services.document_of(row)
        content = render_costs(document.proposal, document.system, document.language)
    except (services.Unreadable, ValueError):
        raise Http404 from None
    return file_response(content, XLSX, f"{_name(row)}-costs.xlsx")


@require_POST
@private
def accept(request: HttpRequest, token: str) -> HttpResponse:
    """The customer agrees; the page then says so and has the signed PDF."""
    row = quote_or_404(request, token)
    form = AcceptForm(request.POST)
    if row.status == QuoteStatus.ISSUED and not form.is_valid():
        return _quote_page(request, row, form, DeclineForm())
    given = form.cleaned_data if form.is_valid() else {}
    try:
        services.accept(row, name=given.get("name", ""), function=given.get("function", ""))
    except services.Refused as refusal:
        return _quote_page(request, row, AcceptForm(), DeclineForm(), refusal.sentence)
    return redirect("quotes:quote", token=token)


@require_POST
@private
def decline(request: HttpRequest, token: str) -> HttpResponse:
    """The customer says no, with a reason if they want to give one."""
    row = quote_or_404(request, token)
    form = DeclineForm(request.POST)
    if row.status == QuoteStatus.ISSUED and not form.is_valid():
        return _quote_page(request, row, AcceptForm(), form)
    given = form.cleaned_data if form.is_valid() else {}
    try:
        services.decline(row, name=given.get("name", ""), reason=given.get("reason", ""))
    except services.Refused as refusal:
        return _quote_page(request, row, AcceptForm(), DeclineForm(), refusal.sentence)
    return redirect("quotes:quote", token=token)
