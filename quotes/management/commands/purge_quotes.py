"""Let go of what was kept long enough: `manage.py purge_quotes`, for a daily timer."""

from typing import Any

from django.core.management.base import BaseCommand

from quotes import services


class Command(BaseCommand):
    help = (
        "Marks quotes whose validity is over, deletes requests that came to nothing, and erases personal data from "
        "quotes that were kept as long as the seller's card says."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        expired = services.expire_due()
        erased = services.purge()
        self.stdout.write(
            f"{expired} quotes expired, {erased.deleted} drafts deleted, {erased.stripped} quotes stripped of "
            "personal data."
        )
