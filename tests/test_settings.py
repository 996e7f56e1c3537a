"""The settings refuse what is wrong, each time with a sentence that says what to do and tells no secret."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from configurator.settings import Environment

ROOT = Path(__file__).resolve().parent.parent
GOOD_KEY = "k3y-".join("abcdefghijklmnopqrstuvwxyz")
PRODUCTION = {"SITE_MODE": "production", "SITE_URL": "https://example.test", "SECRET_KEY": GOOD_KEY}


def manage(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """`manage.py` with exactly this environment; the values are never empty, so no .env shows through."""
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "DEBUG": "0", "TRUST_PROXY": "0", **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"SECRET_KEY": "short"}, "SECRET_KEY is missing or too weak for production"),
        ({"SECRET_KEY": "a" * 60}, "SECRET_KEY is missing or too weak for production"),
        ({"DEBUG": "1"}, "DEBUG shows secrets to visitors"),
        ({"DEBUG": "yse"}, "DEBUG: Input should be a valid boolean"),
        ({"SITE_URL": "http://example.test"}, "SITE_URL must be the public https:// address"),
        ({"SITE_URL": "example.test"}, "'example.test' is not an address"),
        ({"SITE_URL": "https://example.test/path"}, "is not an address"),
        ({"SITE_MODE": "staging"}, "SITE_MODE: Input should be 'production', 'demo' or 'test'"),
        ({"SMTP_HOST": "smtp.example.test"}, "MAIL_FROM is missing"),
        (
            {"MODEL_HUB_URL": "http://user:hunter2@hub.example"},
            "MODEL_HUB_URL: this is no address of a model",
        ),
        ({"DATABASE_URL": "mysql://user:hunter2@host/name"}, "DATABASE_URL must look like postgresql://"),
        ({"DATABASE_URL": "postgres//host/name"}, "DATABASE_URL must look like postgresql://"),
        ({"DATABASE_URL": "postgres://user:hunter2@host:port/name"}, "DATABASE_URL cannot be read"),
        ({"DATABASE_URL": "postgres://user:hunter2@host"}, "DATABASE_URL names no database"),
    ],
)
def test_wrong_settings_stop_with_one_sentence(wrong: dict[str, str], sentence: str) -> None:
    result = manage("check", **PRODUCTION | wrong)
    assert result.returncode == 1
    assert result.stderr.startswith("Wrong settings: ")
    assert sentence in result.stderr
    assert "Traceback" not in result.stderr
    assert "hunter2" not in result.stderr


def test_production_settings_pass_every_deployment_check() -> None:
    result = manage("check", "--deploy", "--fail-level", "WARNING", **PRODUCTION)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    "url",
    [
        "http://hub.example",
        "hub.example",
        "https://user:password@hub.example",
        "https://hub.example?x",
        "https://hub.example:99999",
        "https://[hub",
        "https:///models",
        "file:///models",
    ],
)
def test_a_hub_is_an_https_address(url: str) -> None:
    with pytest.raises(ValidationError, match="this is no address of a model hub"):
        Environment(_env_file=None, secret_key="key", model_hub_url=url)


def test_a_hub_may_lie_under_a_path_and_its_token_needs_it() -> None:
    given = Environment(_env_file=None, secret_key="key", model_hub_url="https://hub.example:8443/api/")
    assert given.model_hub_url == "https://hub.example:8443/api"
    with pytest.raises(ValidationError, match="opens no hub without MODEL_HUB_URL"):
        Environment(_env_file=None, secret_key="key", model_hub_token="token")
