"""The addresses of the questionnaire."""

from django.http import HttpRequest, HttpResponse
from django.urls import path

app_name = "wizard"


def start(request: HttpRequest) -> HttpResponse:
    return HttpResponse("Rekenkracht")


urlpatterns = [path("", start, name="start")]
