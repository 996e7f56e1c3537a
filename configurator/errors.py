"""What a visitor gets when a request cannot be answered: a page in both languages that gives nothing away."""

import sys
from http import HTTPStatus

from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.http import url_has_allowed_host_and_scheme


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """413 for a form that is too large, 400 for what makes no sense."""
    large = isinstance(exception, RequestDataTooBig)
    return _page(HTTPStatus.REQUEST_ENTITY_TOO_LARGE if large else HTTPStatus.BAD_REQUEST)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403 for a form without its secret, mostly because a cookie was lost; with the way back to the form."""
    back = request.META.get("HTTP_REFERER", "")
    ours = url_has_allowed_host_and_scheme(back, {request.get_host()})
    context = {"back": back if ours else ""}
    return render(request, "403_csrf.html", context, status=HTTPStatus.FORBIDDEN)


def server_error(request: HttpRequest) -> HttpResponse:
    """503 while the database does not answer, 500 for what is wrong with the site itself."""
    away = isinstance(sys.exc_info()[1], OperationalError | InterfaceError)
    return _page(HTTPStatus.SERVICE_UNAVAILABLE if away else HTTPStatus.INTERNAL_SERVER_ERROR)


def _page(status: HTTPStatus) -> HttpResponse:
    return HttpResponse(render_to_string(f"{status.value}.html"), status=status)
