"""The rules of the house that no linter knows: what pure code may touch, and what templates may carry."""

import ast
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.core.management import get_commands

ROOT = Path(__file__).resolve().parent.parent
APPS = ("catalog", "configurator", "quotes")

PURE_FILES = ("catalog/quantity.py", "catalog/specs.py", "configurator/workload.py", "quotes/proposal.py")
PURE_PACKAGES = ("configurator/existing", "quotes/sizing", "quotes/pricing", "quotes/launch")
PURE_LIBRARIES = {"pydantic", "numpy"}
# Standard modules that bring in a clock, chance, the network or the machine.
IMPURE_STANDARD = {
    "asyncio", "http", "logging", "multiprocessing", "os", "random", "secrets", "socket", "sqlite3", "subprocess",
    "tempfile", "threading", "time", "urllib", "uuid",
}  # fmt: skip
CLOCKS = {"now", "today", "utcnow", "localtime", "fromtimestamp"}
READS = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "files", "glob", "iterdir"}


def pure_modules() -> list[Path]:
    files = [ROOT / name for name in PURE_FILES if (ROOT / name).exists()]
    return sorted(files + [path for package in PURE_PACKAGES for path in (ROOT / package).rglob("*.py")])


def own_modules() -> list[Path]:
    return sorted(
        path for app in APPS for path in (ROOT / app).rglob("*.py") if "migrations" not in path.parts
    )


def as_id(path: Path) -> str:
    return str(path.relative_to(ROOT))


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(tree: ast.Module, path: Path) -> Iterator[tuple[int, str]]:
    """Line and absolute name of everything imported, `from a import b` as `a.b`."""
    package = module_name(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = [*base, *([node.module] if node.module else [])]
            yield from ((node.lineno, ".".join([*base, alias.name])) for alias in node.names)


def calls(tree: ast.Module) -> Iterator[tuple[ast.Call, str, str]]:
    """Every call with the last part of its name and the name of the function around it ('' at module level)."""

    def walk(node: ast.AST, around: str) -> Iterator[tuple[ast.Call, str, str]]:
        for child in ast.iter_child_nodes(node):
            inside = child.name if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else around
            if isinstance(child, ast.Call):
                function = child.func
                name = getattr(function, "id", None) or getattr(function, "attr", "")
                yield child, name, around
            yield from walk(child, inside)

    yield from walk(tree, "")


@pytest.mark.parametrize("path", pure_modules(), ids=as_id)
def test_pure_modules_import_only_pure_things(path: Path) -> None:
    pure_names = {module_name(pure) for pure in pure_modules()}
    wrong = []
    for line, name in imported(ast.parse(path.read_text()), path):
        top = name.split(".")[0]
        if top in APPS:
            allowed = any(name == pure or name.startswith(f"{pure}.") for pure in pure_names)
        else:
            allowed = top in PURE_LIBRARIES or (top in sys.stdlib_module_names and top not in IMPURE_STANDARD)
        if not allowed:
            wrong.append(f"{as_id(path)}:{line} imports {name}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", pure_modules(), ids=as_id)
def test_pure_modules_read_no_clock_and_no_files(path: Path) -> None:
    wrong = []
    for call, name, around in calls(ast.parse(path.read_text())):
        is_clock = name in CLOCKS
        # A data file is read once by a function that says so in its name.
        is_read = name in READS and not around.lstrip("_").startswith(("load", "read"))
        is_output = name in {"print", "input", "default_rng"}
        if is_clock or is_read or is_output:
            wrong.append(f"{as_id(path)}:{call.lineno} calls {name}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", own_modules(), ids=as_id)
def test_no_signals_and_no_drawers_for_everything(path: Path) -> None:
    assert path.name not in {"utils.py", "helpers.py", "common.py", "misc.py"}, (
        "name a module for what it holds"
    )
    wrong = [
        f"{as_id(path)}:{line} imports {name}"
        for line, name in imported(ast.parse(path.read_text()), path)
        if name.startswith("django.db.models.signals") or name == "django.dispatch.receiver"
    ]
    assert not wrong, "\n".join(wrong)


def templates() -> list[Path]:
    suffixes = {".html", ".svg", ".xml"}
    folders = [ROOT / "templates", *(ROOT / app for app in APPS)]
    return sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in suffixes)


FORBIDDEN_IN_TEMPLATES = {
    "an inline style": re.compile(r"<[^>]*\sstyle\s*=", re.I),
    "a style element": re.compile(r"<style\b", re.I),
    "an inline script": re.compile(r"<script(?![^>]*\bsrc=)(?![^>]*type=.application/json)", re.I),
    "an event attribute": re.compile(r"<[^>]*\s(?:on[a-z]{3,}|hx-on[:a-z-]*)\s*=", re.I),
    "a script address": re.compile(r"javascript:", re.I),
    "something loaded from elsewhere": re.compile(
        r"<(?:script|img|link|iframe|source)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//", re.I
    ),
    "text marked safe": re.compile(r"\|\s*safe\b"),
}


@pytest.mark.parametrize("path", templates(), ids=as_id)
def test_templates_fit_the_content_security_policy(path: Path) -> None:
    text = re.sub(r"{%\s*comment.*?endcomment\s*%}|{#.*?#}", "", path.read_text(), flags=re.S)
    # The quote itself is never sent to a browser: WeasyPrint reads it, and the seller's colour is set there.
    forgiven = {"a style element"} if "quotes/document/" in as_id(path) else set()
    found = {what for what, pattern in FORBIDDEN_IN_TEMPLATES.items() if pattern.search(text)} - forgiven
    assert not found, f"{as_id(path)} holds {', '.join(found)}"


def test_style_sheets_and_scripts_load_nothing_from_elsewhere() -> None:
    sources = [path for kind in ("*.css", "*.js") for path in (ROOT / "static").rglob(kind)]
    wrong = [
        as_id(path)
        for path in sources
        if re.search(r"(?:url\(|@import|import\s|fetch\()\s*[\"']?(?:https?:)?//", path.read_text())
    ]
    assert not wrong


def test_requirements_are_pinned_with_hashes_and_name_no_host() -> None:
    for path in (ROOT / "requirements").glob("*.txt"):
        text = path.read_text()
        pins = re.findall(r"^[A-Za-z0-9_.\-\[\]]+==", text, re.M)
        assert pins
        assert len(re.split(r"^(?=[A-Za-z0-9])", text, flags=re.M)) - 1 == len(pins)
        assert all("--hash=sha256:" in block for block in re.split(r"^(?=[A-Za-z0-9])", text, flags=re.M)[1:])
        assert "://" not in text
        assert "index-url" not in text


class _Words(HTMLParser):
    """Collects words that stand in a template as they are, in text and in attributes that people read."""

    READ = {"alt", "aria-label", "aria-description", "placeholder", "title"}

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_data(self, data: str) -> None:
        # Inside a style element the parser is in its mode for raw text.
        if self.cdata_elem is None:
            self._keep(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in self.READ:
                self._keep(value or "")

    def _keep(self, text: str) -> None:
        # Units, abbreviations and the product's name are the same in both languages; `page--wide` is a class name.
        words = re.sub(r"&\w+;|Rekenkracht|KvK|\b[A-Z]{2,5}\b|\b\w+--\w+\b", "", text)
        if re.search(r"[^\W\d_]{3,}", words):
            self.found.append(" ".join(words.split()))


# The style guide shows examples to developers; the pages for a broken site speak both languages at once.
SPOKEN_AS_IS = {
    "templates/styleguide.html",
    "templates/parts/plain_error.html",
    *(f"templates/{code}.html" for code in (400, 413, 500, 503)),
}


@pytest.mark.parametrize("path", [path for path in templates() if as_id(path) not in SPOKEN_AS_IS], ids=as_id)
def test_templates_hold_no_untranslated_text(path: Path) -> None:
    text = path.read_text()
    for block in ("comment", "blocktranslate", "blocktrans"):
        text = re.sub(rf"{{%\s*{block}\b.*?{{%\s*end{block}\s*%}}", "", text, flags=re.S)
    words = _Words()
    words.feed(re.sub(r"{%.*?%}|{{.*?}}|{#.*?#}", "", text, flags=re.S))
    assert not words.found, f"{as_id(path)}: {words.found}"


@pytest.mark.parametrize("path", [*ROOT.glob("docs/**/*.md"), ROOT / "CONTRIBUTING.md"], ids=as_id)
def test_docs_name_modules_and_commands_that_exist(path: Path) -> None:
    said = re.findall(r"`([^`\n]+)`", path.read_text())
    elsewhere = (module for folder in ("scripts", "tests") for module in (ROOT / folder).rglob("*.py"))
    own = [as_id(module) for module in (*own_modules(), *elsewhere)]
    modules = {word for word in said if re.fullmatch(r"[\w/]+\.py", word) and "/" in word}
    missing = {word for word in modules if not any(f"/{one}".endswith(f"/{word}") for one in own)}
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
    for word in said:
        missing |= set(re.findall(r"^make ([\w-]+)", word)) - targets
        missing |= set(re.findall(r"manage\.py (\w+)", word)) - set(get_commands())
    assert not missing
