"""manage.py import_cloud_prices FILE: take over the prices of one cloud."""

from argparse import ArgumentParser
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from catalog.importers.cloud_prices import CloudTerms, apply_offers, read_offers
from catalog.importers.tabular import UnreadableTable


class Command(BaseCommand):
    help = (
        "Add or update cloud offers from a CSV in the layout of the SkyPilot catalogs (one cloud per file)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--provider", required=True)
        parser.add_argument("--currency", required=True, help="the file does not say: EUR, USD or GBP")
        parser.add_argument("--rate", type=Decimal, default=Decimal(1), help="euro per unit of the currency")
        parser.add_argument("--rate-on", type=date.fromisoformat, help="the day of the rate, as 2026-11-30")
        parser.add_argument("--rate-source", default="")
        parser.add_argument("--priced-on", type=date.fromisoformat, help="the day of the prices, when known")
        parser.add_argument("--source", help="where the file comes from (default: its name)")
        parser.add_argument(
            "--only-eu", action="store_true", help="leave out regions outside the European Union"
        )
        parser.add_argument("--check", action="store_true", help="only report; change nothing")

    def handle(self, *args: Any, file: Path, check: bool, only_eu: bool, **options: Any) -> None:
        terms = CloudTerms(
            provider=options["provider"],
            currency=options["currency"],
            exchange_rate=options["rate"],
            exchange_rate_on=options["rate_on"],
            exchange_rate_source=options["rate_source"],
            priced_on=options["priced_on"],
            source=options["source"] or file.name,
        )
        try:
            offers, report = read_offers(file.read_bytes(), file.name, terms, only_eu=only_eu)
            apply_offers(offers.values(), report, rehearse=check)
        except (OSError, UnreadableTable) as error:
            raise CommandError(f"{file} cannot be read: {error}") from None
        except ValidationError as error:
            raise CommandError(f"Nothing was imported: {'; '.join(error.messages)}") from None
        for mistake in report.mistakes:
            self.stdout.write(mistake)
        would = "would be " if check else ""
        self.stdout.write(
            f"{len(report.added)} {would}added, {len(report.changed)} {would}changed, {report.unchanged} unchanged; "
            f"left out: {report.without_price} without a price, {report.without_accelerator} without an accelerator, "
            f"{len(report.mistakes)} with a mistake."
        )
