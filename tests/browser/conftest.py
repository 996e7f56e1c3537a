"""A real Chromium against a real, running site with its own database and the seed catalog.

The site runs in a process of its own, so browser tests see what a visitor sees and touch no Django objects. Everything
that goes wrong on a page (script errors, violations of the content security policy, requests to elsewhere, answers of
500) fails the test that opened it, whatever the test itself looked at.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Response,
    sync_playwright,
)

from tests.cast import password

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent
RESULTS = ROOT / "test-results"

PREPARE = """
from django.core.management import call_command, get_commands
from tests.cast import CAST, enter
call_command("migrate", verbosity=0, interactive=False)
if "load_catalog" in get_commands():
    call_command("load_catalog", verbosity=0)
for name in CAST:
    enter(name)
"""

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
CHROMIUM_MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
CHROMIUM_FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker("browser")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Lets fixtures know whether their test failed, for the screenshot."""
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


FAILED = pytest.StashKey[bool]()


@pytest.fixture
def db() -> None:
    pytest.fail("browser tests drive a site in another process; prepare its data with site.run(...)")


@dataclass(frozen=True)
class Site:
    """A running site. `run` executes Python inside its Django, for what no page can do."""

    url: str
    environment: dict[str, str]
    log: Path

    def run(self, code: str) -> str:
        result = subprocess.run(
            [sys.executable, "-c", f"import django; django.setup()\n{code}"],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        return result.stdout


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=5):  # noqa: S310
                return
        except (URLError, ConnectionError):
            time.sleep(0.1)
    pytest.fail(f"the site did not start:\n{log.read_text()}")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The site as `make demo` runs it, on a free port, with the seed catalog and the cast of the tests."""
    home = tmp_path_factory.mktemp("site")
    log = home / "server.log"
    port = _free_port()
    url = f"http://localhost:{port}"
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "configurator.settings",
        "PYTHONPATH": str(ROOT),
        "SITE_MODE": "demo",
        "SITE_URL": url,
        "SECRET_KEY": "only-for-browser-tests",
        "DATABASE_URL": f"sqlite:///{home / 'db.sqlite3'}",
        "VAR_DIR": str(home),
        "DEBUG": "0",
    }
    running = Site(url, environment, log)
    running.run(PREPARE)
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "manage.py", "runserver", "--noreload", f"localhost:{port}"],
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait_for(f"{url}/healthz", server, log)
            yield running
        finally:
            server.terminate()
            server.wait(timeout=20)
    assert "Traceback" not in log.read_text(), log.read_text()


def find_chromium() -> str:
    """The browser of this machine: $CHROMIUM, or one found by name. Playwright's own download is never used."""
    wanted = os.environ.get("CHROMIUM")
    found = [wanted] if wanted else [path for name in CHROMIUM_NAMES if (path := shutil.which(name))]
    if not found and CHROMIUM_MAC.exists():
        found = [str(CHROMIUM_MAC)]
    if not found or not shutil.which(found[0]):
        pytest.fail(
            "The browser tests need Chromium or Chrome, and found none. Install it (Debian: apt install chromium) "
            "or say where it is: CHROMIUM=/path/to/chromium make test"
        )
    return found[0]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    # Chromium refuses its sandbox to root, which is who runs the tests in containers.
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=find_chromium(), args=CHROMIUM_FLAGS, chromium_sandbox=not as_root
        )
        yield chromium
        chromium.close()


class Watch:
    """Collects what goes wrong on a page."""

    def __init__(self, page: Page, home: str) -> None:
        self.home = home
        self.troubles: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.troubles.append(f"script error: {error}"))
        page.on("request", self._request)
        page.on("response", self._response)

    def _console(self, message: ConsoleMessage) -> None:
        # Answers such as 422 are repeated here by the browser; _response judges them.
        # A visitor who goes on before the estimate is there aborts it, which htmx reports as an error.
        harmless = ("Failed to load resource", "htmx:sendAbort", "htmx:afterRequest")
        if message.type == "error" and not message.text.startswith(harmless):
            self.troubles.append(f"console: {message.text}")

    def _request(self, request: Request) -> None:
        if not request.url.startswith((f"{self.home}/", "data:", "blob:", "about:")):
            self.troubles.append(f"request to elsewhere: {request.url}")

    def _response(self, response: Response) -> None:
        missing_asset = response.status == 404 and "/static/" in response.url
        if response.status >= 500 or missing_asset:
            self.troubles.append(f"{response.status} for {response.url}")


OpenPage = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser, site: Site, request: pytest.FixtureRequest) -> Iterator[OpenPage]:
    """`open_page(width=…, height=…, language=…, theme=…, javascript=…)`: a new visitor with that screen and language.

    Addresses may start with a slash. At the end of the test every trouble that any page met fails it.
    """
    contexts: list[BrowserContext] = []
    watches: list[Watch] = []

    def make(
        *,
        width: int = 1280,
        height: int = 900,
        language: str = "nl",
        theme: str = "light",
        javascript: bool = True,
    ) -> Page:
        context = browser.new_context(
            base_url=site.url,
            viewport={"width": width, "height": height},
            locale={"nl": "nl-NL", "en": "en-GB"}[language],
            color_scheme={"light": "light", "dark": "dark"}[theme],  # type: ignore[arg-type]
            java_script_enabled=javascript,
            timezone_id="Europe/Amsterdam",
            reduced_motion="reduce",
        )
        context.set_default_timeout(15_000)
        contexts.append(context)
        context.on("page", lambda page: watches.append(Watch(page, site.url)))
        return context.new_page()

    yield make

    if request.node.stash.get(FAILED, False):
        RESULTS.mkdir(exist_ok=True)
        name = re.sub(r"[^\w.-]+", "-", request.node.nodeid.removeprefix("tests/browser/"))
        for number, page in enumerate(page for context in contexts for page in context.pages):
            page.screenshot(path=RESULTS / f"{name}-{number}.png", full_page=True)
    for context in contexts:
        context.close()
    troubles = [trouble for watch in watches for trouble in watch.troubles]
    assert not troubles, "\n".join(troubles)


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    """A Dutch visitor on a laptop in daylight."""
    return open_page()


@pytest.fixture
def sign_in() -> Callable[[Page, str], None]:
    """`sign_in(page, "saskia")` logs a member of the cast in to the admin."""

    def enter(page: Page, name: str) -> None:
        page.goto("/admin/login/?next=/admin/")
        page.fill("#id_username", name)
        page.fill("#id_password", password(name))
        page.click("[type=submit]")
        page.wait_for_url("**/admin/")

    return enter


@pytest.fixture
def expect_accessible() -> Callable[[Page], None]:
    """Fails with a readable list when axe finds anything on the page (needs JavaScript on)."""
    axe = Axe()

    def expect(page: Page) -> None:
        results = axe.run(page)
        assert results.violations_count == 0, f"{page.url}\n{results.generate_report()}"

    return expect


OVERFLOWING = """() => {
  const width = document.documentElement.clientWidth;
  if (document.scrollingElement.scrollWidth <= width) return [];
  return [...document.querySelectorAll('body *')]
    .filter(element => element.getBoundingClientRect().right > width + 0.5)
    .map(element => `${element.tagName.toLowerCase()}.${element.className} ends at ` +
      `${Math.round(element.getBoundingClientRect().right)} of ${width} px`)
    .slice(0, 10).concat(['the page scrolls sideways']);
}"""


@pytest.fixture
def expect_no_overflow() -> Callable[[Page], None]:
    """Fails when the page scrolls sideways, naming what sticks out."""

    def expect(page: Page) -> None:
        troubles = page.evaluate(OVERFLOWING)
        assert not troubles, f"{page.url}\n" + "\n".join(troubles)

    return expect
