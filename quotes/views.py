"""Pages of proposals and quotes. Whoever holds the secret link of a plan or a quote sees that one and no other."""

from http import HTTPStatus

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import override
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe

from catalog.snapshot import snapshot
from configurator.models import Draft
from configurator.wizard.answers import assess, merged
from quotes import services
from quotes.documents.pdf import render_pdf
from quotes.forms import AcceptForm, ContactForm, DeclineForm
from quotes.models import Quote, QuoteStatus
from quotes.presentation import estimate_panel, proposal_page
from quotes.sizing.results import Tier


def draft_or_404(token: str) -> Draft:
    return get_object_or_404(Draft.objects.alive(), token=token)


def quote_or_404(token: str) -> Quote:
    return get_object_or_404(Quote, token=token, link_revoked=False)


# ── proposals ───────────────────────────────────────────────────────────────────────────────────────────────────


@never_cache
@require_http_methods(["GET", "POST"])
def estimate(request: HttpRequest, token: str) -> HttpResponse:
    """The living estimate: what the answers so far, with those just typed, would come to. Nothing is saved."""
    draft = draft_or_404(token)
    catalog = snapshot()
    answers = draft.answers
    if request.method == "POST":
        answers, _problems = merged(draft, request.POST.get("step", ""), request.POST, catalog)
    assessment = assess(answers, catalog)
    found = services.proposal_for(assessment.workload) if assessment.workload else None
    return render(request, "quotes/estimate.html", estimate_panel(assessment, found))


@never_cache
@require_safe
def proposal(request: HttpRequest, token: str) -> HttpResponse:
    """The proposals for a plan, or the way back to the question that stands in the way."""
    draft = draft_or_404(token)
    assessment = assess(draft.answers, snapshot())
    if assessment.workload is None:
        return redirect("wizard:plan", token=token)
    found = services.proposal_for(assessment.workload)
    context = {"draft": draft, "proposal": found, **proposal_page(found)}
    return render(request, "quotes/proposal.html", context)


@never_cache
@require_GET
def proposal_json(request: HttpRequest, token: str) -> HttpResponse:
    """The whole proposal as data, in the shape of docs/schema/proposal.json."""
    assessment = assess(draft_or_404(token).answers, snapshot())
    if assessment.workload is None:
        raise Http404
    body = services.proposal_for(assessment.workload).model_dump_json(indent=2)
    return HttpResponse(body, content_type="application/json")


@never_cache
@require_http_methods(["GET", "POST"])
def request_quote(request: HttpRequest, token: str, tier: str) -> HttpResponse:
    """Contact details, then a quote in draft with its preview at once."""
    draft = draft_or_404(token)
    assessment = assess(draft.answers, snapshot())
    if assessment.workload is None or tier not in set(Tier):
        raise Http404
    found = services.proposal_for(assessment.workload)
    system = found.system(Tier(tier))
    if system is None:
        raise Http404
    form = ContactForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        quote = services.create_quote(found, Tier(tier), form.contact, language=draft.language, draft=draft)
        return redirect("quotes:quote", token=quote.token)
    context = {
        "form": form,
        "draft": draft,
        "system": system,
        "price": found.prices[Tier(tier)],
        "tier": tier,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else HTTPStatus.OK
    return render(request, "quotes/request.html", context, status=status)


# ── quotes ──────────────────────────────────────────────────────────────────────────────────────────────────────


@never_cache
@require_safe
def quote(request: HttpRequest, token: str) -> HttpResponse:
    """The customer's page of one quote: what it says, the PDF, and the decision while it is open."""
    return _quote_page(request, quote_or_404(token), AcceptForm(), DeclineForm())


def _quote_page(
    request: HttpRequest, row: Quote, accept_form: AcceptForm, decline_form: DeclineForm, problem: str = ""
) -> HttpResponse:
    services.expire_due()
    row.refresh_from_db()
    context = {
        "quote": row,
        "document": services.document_of(row),
        "open": row.status == QuoteStatus.ISSUED,
        "accept_form": accept_form,
        "decline_form": decline_form,
        "problem": problem,
    }
    failed = problem or accept_form.errors or decline_form.errors
    status = HTTPStatus.UNPROCESSABLE_ENTITY if failed else HTTPStatus.OK
    return render(request, "quotes/quote.html", context, status=status)


@never_cache
@require_GET
def quote_pdf(request: HttpRequest, token: str) -> HttpResponse:
    """The PDF in the quote's language; a watermark says when it is only a preview."""
    row = quote_or_404(token)
    document = services.document_of(row, site_url=settings.SITE_URL)
    with override(row.language):
        body = render_pdf(document)
    name = f"{document.full_number or 'preview'}.pdf"
    return HttpResponse(
        body, content_type="application/pdf", headers={"Content-Disposition": f'inline; filename="{name}"'}
    )


@never_cache
@require_POST
def accept(request: HttpRequest, token: str) -> HttpResponse:
    row = quote_or_404(token)
    form = AcceptForm(request.POST)
    if not form.is_valid():
        return _quote_page(request, row, form, DeclineForm())
    try:
        services.accept(row, name=form.cleaned_data["name"], function=form.cleaned_data["function"])
    except services.Refused as refusal:
        return _quote_page(request, row, form, DeclineForm(), refusal.messages[0])
    return redirect("quotes:quote", token=token)


@never_cache
@require_POST
def decline(request: HttpRequest, token: str) -> HttpResponse:
    row = quote_or_404(token)
    form = DeclineForm(request.POST)
    if not form.is_valid():
        return _quote_page(request, row, AcceptForm(), form)
    try:
        services.decline(row, name=form.cleaned_data["name"], reason=form.cleaned_data["reason"])
    except services.Refused as refusal:
        return _quote_page(request, row, AcceptForm(), form, refusal.messages[0])
    return redirect("quotes:quote", token=token)
