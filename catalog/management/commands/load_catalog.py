"""manage.py load_catalog: read the catalog's data files into the database."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from catalog.loading import Report, load
from catalog.seed import DATA, read_seed
from catalog.seed_rows import SeedError


class Command(BaseCommand):
    help = (
        "Read the data files of the catalog, check every row, and add or update the rows in the database. "
        "Rows that somebody edited since they were loaded are kept and named."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="only check and report; change nothing")
        parser.add_argument(
            "--overwrite", action="store_true", help="take back rows that somebody edited in the admin"
        )
        parser.add_argument(
            "--directory", type=Path, default=DATA, help="where the data files are (default: catalog/data)"
        )

    def handle(self, *args: Any, check: bool, overwrite: bool, directory: Path, **options: Any) -> None:
        try:
            seed = read_seed(directory)
        except SeedError as error:
            raise CommandError(f"{len(error.mistakes)} mistakes, nothing was loaded:\n{error}") from None
        except OSError as error:
            raise CommandError(f"A data file cannot be read: {error}") from None
        self._tell(load(seed, overwrite=overwrite, rehearse=check), check, int(options["verbosity"]))

    def _tell(self, report: Report, check: bool, verbosity: int) -> None:
        for (kind, outcome), count in sorted(report.counts.items()):
            if outcome != "unchanged" or verbosity > 1:
                self.stdout.write(f"{kind}: {count} {outcome}")
        for line in report.kept:
            self.stdout.write(f"kept as edited: {line}")
        for line in report.extra:
            self.stdout.write(f"no longer in the data files (left as it is): {line}")
        would = "would be " if check else ""
        self.stdout.write(
            self.style.SUCCESS(
                f"{report.total('added')} {would}added, {report.total('changed')} {would}changed, "
                f"{report.total('kept')} kept as edited, {report.total('unchanged')} unchanged."
            )
        )
