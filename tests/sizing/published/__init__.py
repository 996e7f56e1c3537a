"""A few rows of every table of published measurements, each with its source, as the evaluators read them."""

import csv
from pathlib import Path

HERE = Path(__file__).parent


def rows(name: str) -> list[dict[str, str]]:
    with (HERE / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


RUNS = rows("serving_measured")
DISAGGREGATED = rows("serving_measured_disagg")
TABLES = rows("serving_throughput")
STARTS = rows("serving_memory")
CASES = rows("cases")


def made(*tables: list[dict[str, str]]) -> dict[str, str]:
    """A calibrator for tests of the command: one file that counts the tables."""
    return {"made.json": str(len(tables))}
