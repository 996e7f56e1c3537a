"""The JSON schemas of Workload and Proposal: `manage.py write_schemas [--check]` writes docs/schema/*.json."""

import json
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from configurator.workload import Workload
from quotes.proposal import Proposal

FOLDER = settings.BASE_DIR / "docs" / "schema"


def schemas() -> dict[str, str]:
    """File name to text: what `size` reads, and what it and the site hand out."""
    wanted = {
        "workload.json": Workload.model_json_schema(mode="validation"),
        "proposal.json": Proposal.model_json_schema(mode="serialization"),
    }
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {
        name: json.dumps(head | schema, indent=2, ensure_ascii=False) + "\n"
        for name, schema in wanted.items()
    }


class Command(BaseCommand):
    help = "Writes the JSON schemas of Workload and Proposal to docs/schema."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="only say whether the files are current")

    def handle(self, *args: Any, check: bool, **options: Any) -> None:
        texts = schemas()
        stale = [
            name
            for name, text in texts.items()
            if not (FOLDER / name).exists() or (FOLDER / name).read_text(encoding="utf-8") != text
        ]
        if check and stale:
            raise CommandError(f"Not current: {', '.join(stale)}. Run `manage.py write_schemas`.")
        FOLDER.mkdir(parents=True, exist_ok=True)
        for name in stale:
            (FOLDER / name).write_text(texts[name], encoding="utf-8")
        self.stdout.write(f"{len(stale)} of {len(texts)} schemas written.")
