"""Response headers that Django has no setting for."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

_POLICY = ", ".join(f"{feature}=()" for feature in ("camera", "geolocation", "microphone", "payment", "usb"))


def permissions_policy(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Denies browser features that no page uses."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Permissions-Policy", _POLICY)
        return response

    return middleware
