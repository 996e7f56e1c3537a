"""Delete the plans whose time is over: `manage.py purge_drafts [--dry-run]`, for a daily timer."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from configurator.models import Draft


class Command(BaseCommand):
    help = "Deletes the drafts of customers that were kept long enough."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only say how many there are")

    def handle(self, *args: Any, **options: Any) -> None:
        expired = Draft.objects.expired()
        if options["dry_run"]:
            self.stdout.write(f"{expired.count()} expired drafts would be deleted.")
            return
        _total, deleted = expired.delete()
        self.stdout.write(f"{deleted.get(Draft._meta.label, 0)} expired drafts deleted.")
