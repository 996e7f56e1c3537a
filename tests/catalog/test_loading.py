"""load_catalog: what it adds, what it leaves to people, and what it says."""

import shutil
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from catalog.loading import load
from catalog.models import Accelerator, CatalogVersion, Margin, Price, Server
from catalog.seed import DATA, read_seed, seed


def run(*args: str) -> str:
    out = StringIO()
    call_command("load_catalog", *args, stdout=out)
    return out.getvalue()


def test_a_second_time_changes_nothing(catalog: None) -> None:
    before = CatalogVersion.current()
    report = load(seed())
    assert report.changes == 0
    assert report.kept == []
    assert report.extra == []
    assert report.total("unchanged") == len(seed().rows) + len(seed().prices) + len(seed().margins)
    assert CatalogVersion.current() == before
    assert Accelerator.history.filter(sku="l40s").count() == 1


def test_checking_changes_nothing(db: None) -> None:
    said = run("--check")
    assert "would be added" in said
    assert not Accelerator.objects.exists()


def test_what_somebody_edited_is_kept_and_named(catalog: None) -> None:
    server = Server.objects.get(pk="SYS-821GE-TNHR")
    server.weight_kg = 108
    server.save()
    said = run()
    assert "kept as edited: server SYS-821GE-TNHR: weight_kg" in said
    assert "1 kept as edited" in said
    server.refresh_from_db()
    assert server.weight_kg == 108


def test_a_changed_list_counts_as_edited(catalog: None) -> None:
    Server.objects.get(pk="SYS-821GE-TNHR").accelerators.set(["l40s"])
    assert "kept as edited: server SYS-821GE-TNHR: accelerators" in run()


def test_overwriting_takes_edits_back(catalog: None) -> None:
    Server.objects.filter(pk="SYS-821GE-TNHR").update(weight_kg=108)
    assert "1 changed" in run("--overwrite")
    assert Server.objects.get(pk="SYS-821GE-TNHR").weight_kg == 110


def test_an_edited_price_is_kept(catalog: None) -> None:
    Price.objects.filter(article_id="l40s").update(amount=9000)
    assert "kept as edited: price l40s: amount" in run()
    assert Price.objects.get(article_id="l40s").amount == 9000


def test_a_price_of_a_colleague_is_not_contradicted(catalog: None) -> None:
    Price.objects.filter(article_id="l40s").update(valid_until=date(2026, 12, 31))
    Price.objects.create(article_id="l40s", amount=9100, source="distributor", valid_from=date(2027, 1, 1))
    assert "kept as edited: price l40s: another price holds" in run("--overwrite")
    assert [each.amount for each in Price.objects.filter(article_id="l40s")] == [8600, 9100]


@pytest.fixture
def changed_files(tmp_path: Path) -> Callable[[str, str, str], Path]:
    """A copy of the data files in which one text of one file is replaced."""

    def change(file: str, old: str, new: str) -> Path:
        directory = tmp_path / "data"
        if not directory.exists():
            shutil.copytree(DATA, directory)
        text = (directory / file).read_text()
        assert text.count(old) == 1, text.count(old)
        (directory / file).write_text(text.replace(old, new))
        return directory

    return change


def test_a_changed_file_changes_the_untouched_row(
    catalog: None, changed_files: Callable[[str, str, str], Path]
) -> None:
    directory = changed_files("margins.csv", "gpu_card,7,3", "gpu_card,8,3")
    report = load(read_seed(directory))
    assert (report.total("added"), report.total("changed"), report.total("kept")) == (0, 1, 0)
    assert Margin.objects.get(pk="gpu_card").margin_pct == 8
    report = load(read_seed(directory))
    assert report.changes == 0


def test_a_changed_file_does_not_change_the_edited_row(
    catalog: None, changed_files: Callable[[str, str, str], Path]
) -> None:
    Margin.objects.filter(pk="gpu_card").update(margin_pct=Decimal(9))
    load(read_seed(changed_files("margins.csv", "gpu_card,7,3", "gpu_card,8,3")))
    assert Margin.objects.get(pk="gpu_card").margin_pct == 9


def test_a_row_that_left_the_files_stays_and_is_named(
    catalog: None, changed_files: Callable[[str, str, str], Path]
) -> None:
    text = (DATA / "racks.csv").read_text().splitlines(keepends=True)
    row = next(line for line in text if line.startswith("server-rack-42u-600x1200"))
    directory = changed_files("racks.csv", row, "")
    price = next(
        line for line in (DATA / "prices.csv").read_text().splitlines(keepends=True)
        if line.startswith("server-rack-42u-600x1200,")
    )  # fmt: skip
    changed_files("prices.csv", price, "")
    assert load(read_seed(directory)).extra == ["rack server-rack-42u-600x1200"]


def test_a_mistake_loads_nothing(db: None, changed_files: Callable[[str, str, str], Path]) -> None:
    directory = changed_files("margins.csv", "gpu_card,7,3", "gpu_card,seven,3")
    with pytest.raises(CommandError, match=r"margins.csv, line \d+, margin_pct: "):
        run("--directory", str(directory))
    assert not Margin.objects.exists()


def test_a_rule_of_the_database_rolls_everything_back(
    db: None, changed_files: Callable[[str, str, str], Path]
) -> None:
    """The types allow more memory than the label says; the tables do not."""
    directory = changed_files("accelerators.csv", ",46068,48,864,362,", ",99068,48,864,362,")
    with pytest.raises(Exception, match="catalog_accelerator_memory_within_label"):
        load(read_seed(directory))
    assert not Margin.objects.exists()


def test_a_missing_file_is_a_sentence(db: None, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read"):
        run("--directory", str(tmp_path))
