"""Fit the constants of sizing on reference tables: `manage.py calibrate DIR [--only serving] [--check]`."""

import csv
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from catalog.seed import seed_snapshot
from quotes.services.proposals import today
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.evaluation.base import Context
from quotes.sizing.evaluation.registry import CALIBRATORS
from quotes.sizing.serving.calibration import load_calibration

DATA = Path(__file__).parents[2] / "sizing" / "data"


class Command(BaseCommand):
    help = (
        "Fits the constants of sizing on the CSV files in a directory and writes them to quotes/sizing/data."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("directory", type=Path, help="holds files named as the reference tables")
        parser.add_argument("--only", choices=sorted(CALIBRATORS), help="one of the fits")
        parser.add_argument("--check", action="store_true", help="tell what would change and write nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        directory: Path = options["directory"]
        if not directory.is_dir():
            raise CommandError(f"{directory} is not a directory.")
        context = Context(seed_snapshot(today()), Assumptions(), load_calibration())
        for name, calibrator in CALIBRATORS.items():
            if options["only"] not in (None, name):
                continue
            missing = [file for file in calibrator.files if not (directory / f"{file}.csv").exists()]
            if missing:
                self.stdout.write(f"{name}: left as it is, {', '.join(missing)}.csv not found")
                continue
            tables = {file: read_table(directory / f"{file}.csv") for file in calibrator.files}
            for file, content in calibrator.make(tables, context).items():
                self._put(file, content, check=options["check"])

    def _put(self, file: str, content: str, *, check: bool) -> None:
        path = DATA / file
        same = path.exists() and path.read_text(encoding="utf-8") == content
        if not same and not check:
            path.write_text(content, encoding="utf-8")
        told = "unchanged" if same else "would change" if check else "written"
        self.stdout.write(f"{path.name}: {told}, {len(content.encode()) / 1000:.0f} kB")


def read_table(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file; blanks are empty strings."""
    with path.open(encoding="utf-8", newline="") as file:
        return [{key: value or "" for key, value in row.items()} for row in csv.DictReader(file)]
