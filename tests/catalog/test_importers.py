"""Price lists and cloud prices as people send them."""

import io
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook

from catalog.importers.cloud_prices import CloudTerms, apply_offers, read_offers
from catalog.importers.price_list import PriceLine, Terms, apply_prices, plan_prices, read_price_list
from catalog.importers.tabular import UnreadableTable, read_table, to_day, to_decimal
from catalog.models import CloudOffer, Price

TERMS = Terms(source="Distributor, December", stated_on=date(2026, 12, 1), valid_from=date(2026, 12, 1))


@pytest.fixture(autouse=True)
def _in_english() -> Iterator[None]:
    with translation.override("en"):
        yield


# ── numbers and days ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("1234.56", "1234.56"), ("1234,56", "1234.56"), ("1.234,56", "1234.56"), ("1,234.56", "1234.56"),
        ("1.234.567", "1234567"), ("1,234,567", "1234567"), ("1.234.567,89", "1234567.89"), ("€ 8.600,00", "8600"),
        ("€ 8 600,5", "8600.5"), ("8600,-", "8600"), ("0,125", "0.125"), (8600, "8600"), (0.1, "0.1"), ("12", "12"),
        ("-3", "-3"),
    ],
)  # fmt: skip
def test_numbers_as_people_write_them(cell: Any, number: str) -> None:
    assert to_decimal(cell) == Decimal(number)


@pytest.mark.parametrize(
    "cell", ["8.600", "8,600", "abc", "", "NaN", "1e999999999", True, "12..5", "-", "1.23.456", "1,2,3"]
)
def test_what_can_mean_two_numbers_or_none_is_refused(cell: Any) -> None:
    with pytest.raises(ValueError, match=r"mean two numbers|not a number"):
        to_decimal(cell)


@given(st.decimals(min_value=0, max_value=10**7, places=2, allow_nan=False))
def test_dutch_and_english_spellings_agree(number: Decimal) -> None:
    english = f"{number:,.2f}"
    dutch = english.replace(",", "x").replace(".", ",").replace("x", ".")
    assert to_decimal(english) == to_decimal(dutch) == number


@pytest.mark.parametrize(
    "cell",
    ["2026-12-01", "01-12-2026", "1/12/2026", "01.12.2026", date(2026, 12, 1), datetime(2026, 12, 1, 9)],  # noqa: DTZ001
)
def test_days_as_people_write_them(cell: Any) -> None:
    assert to_day(cell) == date(2026, 12, 1)


def test_a_day_that_is_none() -> None:
    with pytest.raises(ValueError, match="'soon' is not a date"):
        to_day("soon")


# ── tables ──────────────────────────────────────────────────────────────────────────────────────────────────────


def workbook(*rows: list[Any]) -> bytes:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row in rows:
        sheet.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"SKU;Price\nl40s;9000\n", "a.csv"),
        (b"SKU,Price\nl40s,9000\n", "a.csv"),
        (b"SKU\tPrice\nl40s\t9000\n", "a.txt"),
        (b"\xef\xbb\xbfSKU;Price\n\nl40s;9000\n;\n", "a.csv"),
        (workbook(["SKU", "Price"], ["l40s", 9000]), "a.xlsx"),
        (workbook([None, None], ["SKU", "Price"], [None, None], ["l40s", 9000]), "A.XLSX"),
    ],
)
def test_tables_in_the_usual_spellings(content: bytes, name: str) -> None:
    ((_line, row),) = read_table(content, name)
    assert {title: str(cell) for title, cell in row.items()} == {"sku": "l40s", "price": "9000"}


def test_letters_of_an_old_code_page() -> None:
    ((_line, row),) = read_table(
        "SKU;Price;Notes\nl40s;9000;prijs per 1 november, oké".encode("cp1252"), "a.csv"
    )
    assert row["notes"].endswith("oké")


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        (b"", "a.csv", "empty"),
        (b"not a zip", "a.xlsx", "cannot be opened"),
        (b'SKU;Price\n"l40s;1\n', "a.csv", "no CSV"),
        (b"\x81\x8d\xff", "a.csv", "no text"),
        (b"a;b\n" + b"1;2\n" * 20_001, "a.csv", "more than 20000 rows"),
    ],
)
def test_what_is_no_table(content: bytes, name: str, sentence: str) -> None:
    with pytest.raises(UnreadableTable, match=sentence):
        list(read_table(content, name))


# ── price lists ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_dutch_list() -> None:
    content = (
        "Artikelnummer;Omschrijving;Lijstprijs;Levertijd;Geldig vanaf\nl40s;kaart;9.150,00;6;15-12-2026\n"
    )
    lines, mistakes = read_price_list(content.encode(), "lijst.csv", TERMS)
    assert mistakes == []
    assert lines == [
        PriceLine(line=2, sku="l40s", amount=Decimal("9150.00"), currency="EUR", valid_from=date(2026, 12, 15),
                  lead_time_weeks=6)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("header", "row", "sentence"),
    [
        ("SKU;Price", "x;-1", "cannot be negative"),
        ("SKU;Price", "x;0", "no price"),
        ("SKU;Price", "x;8.600", "can mean two numbers"),
        ("SKU;Price;Currency", "x;1;JPY", "'JPY' is not used here"),
        ("SKU;Price;Lead time", "x;1;2,5", "whole number of weeks"),
        ("SKU;Price;Lead time", "x;1;on request", "whole number of weeks"),
        ("SKU;Price;Valid from;Valid until", "x;1;2026-12-02;2026-12-01", "before its first day"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(header: str, row: str, sentence: str) -> None:
    lines, (mistake,) = read_price_list(f"{header}\n{row}\n".encode(), "a.csv", TERMS)
    assert lines == []
    assert mistake.line == 2
    assert sentence in mistake.sentence


def test_an_empty_cell_is_told_of_its_line() -> None:
    lines, mistakes = read_price_list(b"SKU;Price;Lead time\nx;;\n;5;\ny;5;4 weken\n", "a.csv", TERMS)
    assert [each.lead_time_weeks for each in lines] == [4]
    assert [each.sentence for each in mistakes] == ["No price on this line.", "No article on this line."]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("Name;Price\nx;1", "column such as 'SKU'.*The first line has: name, price"),
        ("SKU;Quantity\nx;1", "column such as 'Price'"),
        ("l40s;8000\nl4;3000", "The first line has: l40s, 8000"),
    ],
)
def test_a_list_without_its_columns_is_refused_whole(content: str, sentence: str) -> None:
    with pytest.raises(UnreadableTable, match=sentence):
        read_price_list(content.encode(), "a.csv", TERMS)


def test_what_is_likely_a_slip_is_marked(catalog: None) -> None:
    plan, _mistakes = plan_prices(
        [line("l40s", "9000"), line("l4", "29500", 3), line("a10", "2900", 4, currency="USD")], TERMS
    )
    assert [each.doubt[:7] for each in plan.prices] == ["", "a large", "proposa"]
    assert plan.doubtful_count == 2


def line(sku: str, amount: str, number: int = 2, **changes: Any) -> PriceLine:
    values: dict[str, Any] = {"currency": "EUR", "valid_from": date(2026, 12, 1), **changes}
    return PriceLine(line=number, sku=sku, amount=Decimal(amount), **values)


def test_a_list_ends_old_prices_and_states_the_others_again(catalog: None) -> None:
    Price.objects.filter(article_id="h100-nvl-94gb").update(demonstration=False)
    plan, mistakes = plan_prices([line("L40S", "9000"), line("h100-nvl-94gb", "28500", 3)], TERMS)
    assert mistakes == []
    assert [(each.step, each.article, each.present) for each in plan.prices] == [
        ("add", "l40s", Decimal(8600)), ("restate", "h100-nvl-94gb", Decimal(28500)),
    ]  # fmt: skip
    assert round(plan.prices[0].change_pct or 0, 1) == Decimal("4.7")
    assert apply_prices(plan) == 1
    old, new = Price.objects.filter(article_id="l40s")
    assert (old.amount, old.valid_until, old.demonstration) == (8600, date(2026, 11, 30), True)
    assert (new.amount, new.valid_until, new.demonstration) == (9000, None, False)
    assert (new.source, new.stated_on) == ("Distributor, December", date(2026, 12, 1))
    assert new.history.get().history_change_reason == "price list"
    restated = Price.objects.get(article_id="h100-nvl-94gb")
    assert (restated.stated_on, restated.amount) == (date(2026, 12, 1), 28500)


def test_a_demonstration_price_makes_room_for_a_real_one_of_the_same_amount(catalog: None) -> None:
    plan, _mistakes = plan_prices([line("l40s", "8600")], TERMS)
    assert [each.step for each in plan.prices] == ["add"]
    apply_prices(plan)
    assert [each.demonstration for each in Price.objects.filter(article_id="l40s")] == [True, False]


def test_the_same_list_again_changes_nothing(catalog: None) -> None:
    lines = [line("l40s", "9000")]
    apply_prices(plan_prices(lines, TERMS)[0])
    plan, mistakes = plan_prices(lines, TERMS)
    assert mistakes == []
    assert (plan.count("add"), plan.count("correct"), plan.count("restate")) == (0, 0, 1)


def test_a_list_of_the_same_day_corrects(catalog: None) -> None:
    apply_prices(plan_prices([line("l40s", "9000")], TERMS)[0])
    plan, _mistakes = plan_prices([line("l40s", "8900")], TERMS)
    assert [each.step for each in plan.prices] == ["correct"]
    apply_prices(plan)
    assert [each.amount for each in Price.objects.filter(article_id="l40s")] == [8600, 8900]


def test_planning_stores_nothing(catalog: None) -> None:
    before = list(Price.objects.values_list("pk", "amount"))
    plan_prices([line("l40s", "1")], TERMS)
    assert list(Price.objects.values_list("pk", "amount")) == before


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MMA4Z00-NS", "MMA4Z00-NS"),
        ("L40S", "l40s"),
        ("MEM-DR564MC-ER56", "ddr5-64gb-5600"),
        ("EPYC 9555", "epyc-9555"),
    ],
)
def test_an_article_is_recognised(catalog: None, text: str, expected: str) -> None:
    plan, _mistakes = plan_prices([line(text, "1")], TERMS)
    assert [each.article for each in plan.prices] == [expected]


def test_lines_that_have_no_place_are_named(catalog: None) -> None:
    Price.objects.filter(article_id="l4").update(valid_until=date(2027, 1, 31))
    lines = [line("nothing", "1"), line("l40s", "1", 3), line("L40S", "2", 4), line("l4", "1", 5)]
    plan, mistakes = plan_prices(lines, TERMS)
    assert [each.article for each in plan.prices] == ["l40s"]
    assert [(each.line, each.sentence) for each in mistakes] == [
        (2, "There is no article 'nothing'."),
        (4, "This article already stands on line 3."),
        (5, "Another price holds on some of these days."),
    ]


# ── cloud prices ────────────────────────────────────────────────────────────────────────────────────────────────

VMS = b"""InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Price,SpotPrice,Region,AvailabilityZone
p5.48xlarge,192,2048,H100,8,"{'Gpus': [{'Name': 'H100', 'MemoryInfo': {'SizeInMiB': 81559}}]}",58.9,20,eu-north-1,a
p5.48xlarge,192,2048,H100,8,,57.5,20,eu-north-1,b
p5.48xlarge,192,2048,H100,8,,55.0,20,us-east-1,a
m7.large,2,8,,,,0.1,,eu-north-1,a
p5e.48xlarge,192,2048,H200,8,,,,eu-north-1,a
shared,2,8,L4,0.5,,0.3,,eu-north-1,a
odd,8,32,NewThing,1,,2.5,,eu-north-1,a
"""
CLOUD = CloudTerms(
    provider="AWS",
    currency="USD",
    exchange_rate=Decimal("0.92"),
    exchange_rate_on=date(2026, 11, 30),
    source="vms.csv",
)


def test_columns_of_a_cloud_are_found_by_name(db: None) -> None:
    offers, report = read_offers(VMS, "vms.csv", CLOUD)
    assert set(offers) == {"aws-eu-north-1-p5.48xlarge", "aws-us-east-1-p5.48xlarge", "aws-eu-north-1-odd"}
    found = offers["aws-eu-north-1-p5.48xlarge"]
    assert (found["hourly_amount"], found["accelerator_count"], found["in_eu"]) == (Decimal("57.5"), 8, True)
    assert offers["aws-us-east-1-p5.48xlarge"]["in_eu"] is False
    assert (report.without_price, report.without_accelerator) == (1, 1)
    assert report.mistakes == ["Line 7: a part of an accelerator is not compared"]


def test_cloud_prices_are_taken_over(catalog: None) -> None:
    offers, report = read_offers(VMS, "vms.csv", CLOUD, only_eu=True)
    apply_offers(offers.values(), report)
    assert (report.added, report.changed) == (["aws-eu-north-1-odd"], ["aws-eu-north-1-p5.48xlarge"])
    assert CloudOffer.objects.get(pk="aws-eu-north-1-p5.48xlarge").hourly_amount == Decimal("57.5")
    assert CloudOffer.objects.get(pk="aws-eu-north-1-odd").offered_accelerator is None
    _offers, again = read_offers(VMS, "vms.csv", CLOUD, only_eu=True)
    apply_offers(_offers.values(), again)
    assert (again.added, again.changed, again.unchanged) == ([], [], 2)


def test_the_command_reports_before_it_changes(catalog: None, tmp_path: Any) -> None:
    path = tmp_path / "vms.csv"
    path.write_bytes(VMS)
    out = io.StringIO()
    args = ["import_cloud_prices", str(path), "--provider", "AWS", "--currency", "USD", "--rate", "0.92"]
    call_command(*args, "--rate-on", "2026-11-30", "--check", stdout=out)
    assert "1 would be added, 2 would be changed, 0 unchanged" in out.getvalue()
    assert not CloudOffer.objects.filter(pk="aws-eu-north-1-odd").exists()
    with pytest.raises(CommandError, match="Nothing was imported: Say of which day"):
        call_command(*args, stdout=out)
