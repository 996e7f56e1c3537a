"""System checks: what is missing on this machine, said before a visitor finds out."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register


@register
def fonts_are_there(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    if any(settings.FONT_DIR.glob("*.ttf")):
        return []
    return [
        Error(
            f"No font in {settings.FONT_DIR}.",
            hint="Install the requirements again: the package fontpkg-source-sans-3 brings it.",
            id="configurator.E001",
        )
    ]


@register
def translations_are_compiled(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    missing = [
        source.parent.parent.name
        for path in settings.LOCALE_PATHS
        for source in path.glob("*/LC_MESSAGES/django.po")
        if not source.with_suffix(".mo").exists()
    ]
    if not missing:
        return []
    return [
        Warning(
            f"The translations are not compiled: {', '.join(missing)}.",
            hint="Run `make setup`.",
            id="configurator.W001",
        )
    ]


@register(deploy=True)
def documents_can_be_made(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    # Only on `check --deploy`: importing WeasyPrint costs half a second.
    try:
        import weasyprint  # noqa: F401, PLC0415
    except OSError as error:
        return [
            Error(
                f"WeasyPrint misses a system library: {error}.",
                hint="Install Pango (Debian: apt install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0).",
                id="configurator.E002",
            )
        ]
    return []
