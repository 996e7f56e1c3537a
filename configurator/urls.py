"""The addresses of the site."""

from django.conf import settings
from django.contrib import admin
from django.urls import include, path

from configurator import converters  # noqa: F401 — the kind of address `token`
from configurator.health import healthz
from configurator.styleguide import styleguide

urlpatterns = [
    path("", include("configurator.wizard.urls")),
    path("quotes/", include("quotes.urls")),
    path("admin/", admin.site.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    path("healthz", healthz, name="healthz"),
]

handler400 = "configurator.errors.bad_request"
handler500 = "configurator.errors.server_error"

if settings.SITE_MODE != "production":
    urlpatterns.append(path("styleguide/", styleguide, name="styleguide"))
