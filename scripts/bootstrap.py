"""Sets the project up in its own folder: environment, requirements, settings for a trial, translations.

Runs on a bare Python, so it imports the standard library only. Every step is skipped when its result is there, so
that a second run takes about a second. `--dev` adds what tests and checks need.
"""

import argparse
import hashlib
import os
import platform
import secrets
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

PANGO = {
    "debian": "apt install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0",
    "fedora": "dnf install pango",
    "arch": "pacman -S pango",
    "alpine": "apk add pango",
    "suse": "zypper install libpango-1_0-0",
    "Darwin": "brew install pango",
}


def say(text: str) -> None:
    print(f"· {text}", flush=True)


def give_up(text: str) -> None:
    sys.exit(f"\n{text}\n")


def run(*command: str | Path, trouble: str) -> None:
    """Runs a command with its output hidden unless it fails."""
    result = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if result.returncode:
        print(result.stdout, file=sys.stderr)
        give_up(trouble)


def make_environment() -> None:
    works = (
        PYTHON.exists()
        and not subprocess.run([PYTHON, "-m", "pip", "--version"], capture_output=True).returncode
    )
    if works:
        return
    say(f"Making .venv with Python {platform.python_version()}")
    run(
        *(sys.executable, "-m", "venv", "--clear", VENV),
        trouble="Python could not make a virtual environment. On Debian and Ubuntu: apt install python3-venv",
    )


def install(name: str) -> None:
    """Installs requirements/`name`.txt unless exactly that file is installed already."""
    requirements = ROOT / "requirements" / f"{name}.txt"
    stamp = VENV / f".{name}-installed"
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return
    say(f"Installing requirements/{name}.txt")
    run(
        *(PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
        *("--require-hashes", "-r", requirements),
        trouble="The requirements could not be installed; the lines above say why. Is the network reachable?",
    )
    stamp.write_text(digest)


def system_ids() -> list[str]:
    """The names this system goes by, most specific first ('ubuntu', 'debian' or 'Darwin')."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return [platform.system()]
    return [release.get("ID", ""), *release.get("ID_LIKE", "").split()]


def check_pango() -> None:
    """WeasyPrint draws PDFs with Pango, a system library that pip cannot install."""
    found = subprocess.run(
        [PYTHON, "-c", "import weasyprint"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if found.returncode == 0:
        return
    if "OSError" not in found.stderr:
        give_up(found.stderr)
    commands = [PANGO[name] for name in system_ids() if name in PANGO] or list(PANGO.values())
    give_up(
        "The PDF quotes need the system library Pango, which is not on this machine. Install it with\n  "
        + "\nor\n  ".join(commands)
        + "\nand run the same command again."
    )


def write_trial_settings() -> None:
    path = ROOT / ".env"
    if path.exists():
        return
    say("Writing .env with a random secret, for a trial on this machine")
    path.touch(mode=0o600)
    path.write_text(f"SITE_MODE=demo\nSECRET_KEY={secrets.token_urlsafe(64)}\n")


def compile_messages() -> None:
    run(PYTHON, "scripts/messages.py", "compile", trouble="The translations could not be compiled.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dev", action="store_true", help="also install what tests and checks need")
    choice = parser.parse_args()

    make_environment()
    install("base")
    if choice.dev:
        install("dev")
    check_pango()
    write_trial_settings()
    compile_messages()


if __name__ == "__main__":
    main()
