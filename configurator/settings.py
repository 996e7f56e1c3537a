"""Settings: one file, filled from the environment (or the file `.env` beside manage.py), that fails loudly.

Read `Environment` for what can be set; docs/operations.md explains each for whoever runs the site.
"""

import os
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlsplit

import dj_database_url
import fontpkg_source_sans_3
from django.core.exceptions import ImproperlyConfigured
from django.utils.csp import CSP
from django.utils.translation import gettext_lazy as _
from pydantic import SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

BASE_DIR = Path(__file__).resolve().parent.parent


class Environment(BaseSettings):
    """What an administrator decides. Every refusal is a sentence that says what to do."""

    model_config = SettingsConfigDict(extra="ignore", env_ignore_empty=True)

    site_mode: Literal["production", "demo", "test"] = "production"
    site_url: str = "http://localhost:8000"
    secret_key: SecretStr = SecretStr("")
    secret_key_fallbacks: list[SecretStr] = []
    debug: bool = False
    allowed_hosts: list[str] = []
    trust_proxy: bool = False
    database_url: SecretStr = SecretStr("")
    var_dir: Path = BASE_DIR / "var"
    smtp_host: str = ""
    smtp_port: int = 587
    smtp_user: str = ""
    smtp_password: SecretStr = SecretStr("")
    smtp_security: Literal["starttls", "tls", "none"] = "starttls"
    mail_from: str = ""
    model_hub_url: str = ""
    model_hub_token: SecretStr = SecretStr("")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"

    @field_validator("site_url")
    @classmethod
    def _is_an_origin(cls, url: str) -> str:
        parts = urlsplit(url)
        if (
            parts.scheme not in {"http", "https"}
            or not parts.hostname
            or parts.path.strip("/")
            or parts.query
        ):
            raise ValueError(f"'{url}' is not an address; write it as https://name.example, without a path")
        return f"{parts.scheme}://{parts.netloc}"

    @field_validator("model_hub_url")
    @classmethod
    def _is_a_hub(cls, url: str) -> str:
        how = "write it as https://huggingface.co, without password or question mark, or leave it empty"
        try:
            parts = urlsplit(url)
            host = f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname
        except ValueError:
            raise ValueError(f"this is no address of a model hub; {how}") from None
        if url and (
            parts.scheme != "https" or not host or parts.netloc.lower() != host or "?" in url or "#" in url
        ):
            raise ValueError(f"this is no address of a model hub; {how}")
        return url.rstrip("/")

    @model_validator(mode="after")
    def _is_safe(self) -> Self:
        if self.smtp_host and not self.mail_from:
            raise ValueError(
                "MAIL_FROM is missing; e-mail needs an address to come from, such as quotes@example.com"
            )
        if self.model_hub_token.get_secret_value() and not self.model_hub_url:
            raise ValueError(
                "MODEL_HUB_TOKEN opens no hub without MODEL_HUB_URL, such as https://huggingface.co"
            )
        key = self.secret_key.get_secret_value()
        if self.site_mode != "production":
            if not key:
                raise ValueError("SECRET_KEY is missing; `make demo` writes one into .env")
            return self
        if len(key) < 50 or len(set(key)) < 5:
            raise ValueError(
                "SECRET_KEY is missing or too weak for production; set it to at least 50 random characters "
                "(or set SITE_MODE=demo for a trial on your own machine: `make demo` does that for you)"
            )
        if self.debug:
            raise ValueError("DEBUG shows secrets to visitors; switch it off in production")
        if not self.site_url.startswith("https://"):
            raise ValueError("SITE_URL must be the public https:// address of the site in production")
        return self


def read_environment() -> Environment:
    """The environment, or ImproperlyConfigured with one sentence per mistake (never with a secret's value)."""
    # The tests must not depend on what somebody keeps in their .env.
    env_file = None if os.environ.get("SITE_MODE") == "test" else BASE_DIR / ".env"
    try:
        return Environment(_env_file=env_file)
    except ValidationError as error:
        mistakes = []
        for detail in error.errors(include_url=False, include_input=False):
            name = "_".join(str(part) for part in detail["loc"][:1]).upper()
            sentence = detail["msg"].removeprefix("Value error, ")
            mistakes.append(f"{name}: {sentence}." if name else f"{sentence}.")
        raise ImproperlyConfigured(" ".join(mistakes)) from None


def read_database(url: str, var_dir: Path) -> dict[str, Any]:
    """Django's database settings for `url`: PostgreSQL, or SQLite (the default, in `var_dir`)."""
    scheme = urlsplit(url or "sqlite://").scheme
    if scheme not in {"sqlite", "postgres", "postgresql"}:
        raise ImproperlyConfigured(
            "DATABASE_URL must look like postgresql://user:password@host:5432/name or sqlite:////path/to/file."
        )
    if scheme == "sqlite":
        path = Path(url.removeprefix("sqlite:///")) if url else var_dir / "db.sqlite3"
        path.parent.mkdir(parents=True, exist_ok=True)
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": path,
            # Writers queue instead of failing half-way; readers never wait for them.
            "OPTIONS": {
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-32000;",
            },
        }
    try:
        database = dj_database_url.parse(url, conn_max_age=60, conn_health_checks=True)
    except ValueError as error:
        raise ImproperlyConfigured(f"DATABASE_URL cannot be read: {error}") from None
    if not database.get("NAME"):
        raise ImproperlyConfigured("DATABASE_URL names no database; end it with /name.")
    return dict(database)


env = read_environment()
PRODUCTION = env.site_mode == "production"
HTTPS = env.site_url.startswith("https://")

# The site itself
SITE_MODE = env.site_mode
SITE_URL = env.site_url
SECRET_KEY = env.secret_key.get_secret_value()
SECRET_KEY_FALLBACKS = [key.get_secret_value() for key in env.secret_key_fallbacks]
DEBUG = env.debug
ALLOWED_HOSTS = [
    urlsplit(SITE_URL).hostname or "",
    *env.allowed_hosts,
    *([] if PRODUCTION else ["localhost", "127.0.0.1", "[::1]"]),
]
CSRF_TRUSTED_ORIGINS = [SITE_URL]
CSRF_FAILURE_VIEW = "configurator.errors.csrf_failure"
ROOT_URLCONF = "configurator.urls"
WSGI_APPLICATION = "configurator.wsgi.application"

INSTALLED_APPS = [
    "configurator.apps.ConfiguratorConfig",
    "catalog.apps.CatalogConfig",
    "quotes.apps.QuotesConfig",
    "django_htmx",
    "simple_history",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "configurator.middleware.permissions_policy",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "simple_history.middleware.HistoryRequestMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "quotes.branding.brand",
            ],
        },
    },
]

# Data
DATABASES = {"default": read_database(env.database_url.get_secret_value(), env.var_dir)}

# Language and time
LANGUAGE_CODE = "nl"
LANGUAGES = [("nl", _("Dutch")), ("en", _("English"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "Europe/Amsterdam"
USE_TZ = True
LANGUAGE_COOKIE_SAMESITE = "Lax"

# E-mail: none without a host
MAILERS = {
    "default": {
        "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "OPTIONS": {
            "host": env.smtp_host,
            "port": env.smtp_port,
            "username": env.smtp_user,
            "password": env.smtp_password.get_secret_value(),
            "use_tls": env.smtp_security == "starttls",
            "use_ssl": env.smtp_security == "tls",
            "timeout": 10,
        },
    }
    if env.smtp_host
    else {"BACKEND": "django.core.mail.backends.dummy.EmailBackend"}
}
DEFAULT_FROM_EMAIL = env.mail_from
# A site may do without: sales then copy the links.
SILENCED_SYSTEM_CHECKS = [] if env.smtp_host else ["mail.E001"]

# The hub that models are looked up on by their name: none without an address
MODEL_HUB_URL = env.model_hub_url
MODEL_HUB_TOKEN = env.model_hub_token.get_secret_value()

# Static files: served by WhiteNoise, from the finders while trying out, from hashed copies in production
STATIC_URL = "/static/"
STATIC_ROOT = env.var_dir / "static"
FONT_DIR = Path(fontpkg_source_sans_3.__file__).parent / "files"
STATICFILES_DIRS = [BASE_DIR / "static", ("fonts", FONT_DIR)]
WHITENOISE_USE_FINDERS = not PRODUCTION
WHITENOISE_AUTOREFRESH = not PRODUCTION
WHITENOISE_ALLOW_ALL_ORIGINS = False
WHITENOISE_MIMETYPES = {".ttf": "font/ttf"}
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if PRODUCTION
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}
MEDIA_ROOT = env.var_dir / "media"

# Accounts: only staff log in
LOGIN_URL = "admin:login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# Security
SECURE_CSP = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF, "data:"],
    "font-src": [CSP.SELF],
    "connect-src": [CSP.SELF],
    "form-action": [CSP.SELF],
    "frame-ancestors": [CSP.NONE],
    "base-uri": [CSP.NONE],
}
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
SECURE_SSL_REDIRECT = PRODUCTION
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if PRODUCTION else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = PRODUCTION
SECURE_HSTS_PRELOAD = PRODUCTION
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.trust_proxy else None
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = HTTPS
SESSION_COOKIE_AGE = 12 * 3600
CSRF_COOKIE_HTTPONLY = True

# Logging: to the console, with secrets and personal data masked
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "configurator.logs.MaskedFormatter",
            "format": "{asctime} {levelname} {name}: {message}",
            "style": "{",
        }
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.log_level},
    "loggers": {
        # Django gives these handlers of their own, which would bypass the mask.
        "django": {"handlers": [], "propagate": True},
        "django.server": {"handlers": [], "propagate": True},
        # Scanners ask for wrong host names all day; they get a 400 and no line.
        "django.security.DisallowedHost": {"level": "CRITICAL"},
        # WeasyPrint and fontTools report harmless details of every document.
        "weasyprint": {"level": "ERROR"},
        "fontTools": {"level": "WARNING"},
    },
}
