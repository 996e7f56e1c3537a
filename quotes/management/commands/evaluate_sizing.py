"""Predict published measurements and say how far off.

`manage.py evaluate_sizing DIR [--json] [--rows OUT.csv] [--docs OUT.md]`.
"""

import csv
import json
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from catalog.seed import seed_snapshot
from quotes.management.commands.calibrate import read_table
from quotes.services.proposals import today
from quotes.sizing.assumptions import Assumptions
from quotes.sizing.evaluation import EVALUATORS, other_cross, serving_calibrate, training_cross
from quotes.sizing.evaluation.accuracy import Cross, document
from quotes.sizing.evaluation.base import Context, PredictedRow
from quotes.sizing.evaluation.registry import evaluator
from quotes.sizing.evaluation.report import COLUMNS, Summary, as_json, row_cells, summaries, text
from quotes.sizing.serving.calibration import load_calibration

NOTES = Path(__file__).parents[3] / "docs" / "sizing" / "accuracy_notes.md"


class Command(BaseCommand):
    help = "Predicts every row of the reference tables in a directory and sums up the errors."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("directory", type=Path, help="holds files named as the reference tables")
        parser.add_argument("--json", action="store_true", help="print the summary as JSON")
        parser.add_argument("--rows", type=Path, metavar="OUT.csv", help="write every predicted row")
        parser.add_argument("--docs", type=Path, metavar="OUT.md", help="write the document on accuracy")
        parser.add_argument("--only", nargs="+", choices=sorted(EVALUATORS), help="some of the files")

    def handle(self, *args: Any, **options: Any) -> None:
        directory: Path = options["directory"]
        files = [name for name in EVALUATORS if (directory / f"{name}.csv").exists()]
        files = [name for name in files if options["only"] is None or name in options["only"]]
        if not files:
            raise CommandError(f"{directory} holds none of the reference tables.")
        context = Context(seed_snapshot(today()), Assumptions(), load_calibration())
        found: list[Summary] = []
        cells: list[tuple[object, ...]] = []
        for name in files:
            rows = predicted_rows(name, directory, context)
            found += summaries(name, rows)
            cells += [row_cells(name, row) for row in rows]
        if options["rows"]:
            write_rows(options["rows"], cells)
        if options["docs"]:
            options["docs"].write_text(accuracy(found, directory, context), encoding="utf-8")
        if options["json"]:
            self.stdout.write(json.dumps(as_json(found), indent=2, ensure_ascii=False))
            return
        for line in text(found):
            self.stdout.write(line)


def predicted_rows(name: str, directory: Path, context: Context) -> Sequence[PredictedRow]:
    """Every row of one file, at least one prediction or refusal each. CommandError when an evaluator skips one."""
    rows = read_table(directory / f"{name}.csv")
    found: Iterator[PredictedRow] = evaluator(name)(rows, context)
    predicted = list(found)
    skipped = {row["id"] for row in rows} - {row.id for row in predicted}
    if skipped:
        raise CommandError(
            f"{name}: {len(skipped)} rows without an answer or a reason, such as {min(skipped)}."
        )
    return predicted


def accuracy(found: Sequence[Summary], directory: Path, context: Context) -> str:
    """The document on accuracy, with whole groups left out where the tables for it are there."""

    def tables(*names: str) -> list[list[dict[str, str]]]:
        paths = [directory / f"{name}.csv" for name in names]
        return [read_table(path) for path in paths] if all(path.exists() for path in paths) else []

    crosses: list[Cross] = []
    if serving := tables("serving_measured", "serving_measured_disagg"):
        crosses += serving_calibrate.cross_validation(serving[0], serving[1], context)
    if training := tables("training_throughput", "training_memory"):
        crosses += training_cross.cross_validation(training[0], training[1])
    if other := tables("other_workloads"):
        crosses += other_cross.cross_validation(other[0], context)
    return document(found, crosses, NOTES.read_text(encoding="utf-8") if NOTES.exists() else "")


def write_rows(path: Path, cells: Sequence[tuple[object, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(cells)
