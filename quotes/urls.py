"""The addresses of proposals and quotes."""

from importlib import import_module
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.urls import path

app_name = "quotes"


def _view(name: str, module: str = "quotes.views") -> Any:
    """The view, imported at its first request: sizing lands piece by piece and must not keep the site from starting."""

    def later(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        return getattr(import_module(module), name)(request, **kwargs)

    return later


urlpatterns = [
    path("estimate/<str:token>/", _view("estimate"), name="estimate"),
    path("proposal/<str:token>/", _view("proposal"), name="proposal"),
    path("proposal/<str:token>/proposal.json", _view("proposal_json"), name="proposal_json"),
    path("proposal/<str:token>/request/<str:tier>/", _view("request_quote"), name="request"),
    path("accent.css", _view("accent_css", "quotes.branding"), name="accent"),
    path("q/<str:token>/", _view("quote"), name="quote"),
    path("q/<str:token>/quote.pdf", _view("quote_pdf"), name="pdf"),
    path("q/<str:token>/accept/", _view("accept"), name="accept"),
    path("q/<str:token>/decline/", _view("decline"), name="decline"),
]
