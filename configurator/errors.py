"""What a visitor gets when a request cannot be answered: a page in both languages that gives nothing away."""

import sys
from http import HTTPStatus

from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """413 for a form that is too large, 400 for what makes no sense."""
    large = isinstance(exception, RequestDataTooBig)
    return _page(HTTPStatus.REQUEST_ENTITY_TOO_LARGE if large else HTTPStatus.BAD_REQUEST)


def server_error(request: HttpRequest) -> HttpResponse:
    """503 while the database does not answer, 500 for what is wrong with the site itself."""
    away = isinstance(sys.exc_info()[1], OperationalError | InterfaceError)
    return _page(HTTPStatus.SERVICE_UNAVAILABLE if away else HTTPStatus.INTERNAL_SERVER_ERROR)


def _page(status: HTTPStatus) -> HttpResponse:
    return HttpResponse(render_to_string(f"{status.value}.html"), status=status)
