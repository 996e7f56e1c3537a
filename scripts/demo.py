"""Brings the trial database up to date, fills it with the seed catalog and examples, and starts the site."""

import argparse
import hashlib
import os
import socket
import sys
from pathlib import Path

import django
from django.conf import settings
from django.core.management import call_command, get_commands

ROOT = Path(__file__).resolve().parent.parent


def say(text: str) -> None:
    print(f"· {text}", flush=True)


def refuse_a_taken_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            sys.exit(f"\nPort {port} is in use on this machine. Choose another: make demo PORT={port + 1}\n")


def catalog_state() -> str:
    """Changes with the seed data and with the database, so that a new database is filled and a filled one kept."""
    digest = hashlib.sha256(repr(settings.DATABASES["default"]["NAME"]).encode())
    database = Path(settings.DATABASES["default"]["NAME"])
    if database.exists():
        digest.update(str(database.stat().st_ino).encode())
    for path in sorted((ROOT / "catalog" / "data").rglob("*")):
        if path.is_file():
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def fill() -> None:
    """Migrates, loads the seed catalog when it or the database is new, and makes the examples."""
    call_command("migrate", interactive=False, verbosity=0)
    commands = get_commands()
    stamp = ROOT / "var" / ".catalog-loaded"
    # What sales changed in the admin must survive a second start.
    if "load_catalog" in commands and not (stamp.exists() and stamp.read_text() == catalog_state()):
        say("Loading the seed catalog")
        call_command("load_catalog")
        stamp.write_text(catalog_state())
    if "make_demo" in commands:
        call_command("make_demo")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000)
    port = parser.parse_args().port
    refuse_a_taken_port(port)

    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    os.environ["SITE_URL"] = f"http://localhost:{port}"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "configurator.settings")
    django.setup()
    if settings.PRODUCTION:
        sys.exit(
            "\nThis folder is set up for production (SITE_MODE); a demo would write examples into real data.\n"
        )
    fill()
    say(f"Site   http://localhost:{port}/")
    say(f"Admin  http://localhost:{port}/admin/")
    say("Stop with Ctrl-C")
    os.execv(sys.executable, [sys.executable, "manage.py", "runserver", f"localhost:{port}"])


if __name__ == "__main__":
    main()
