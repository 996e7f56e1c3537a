"""The ASGI entry point for production servers."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "configurator.settings")

application = get_asgi_application()
