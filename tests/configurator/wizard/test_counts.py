"""Counts per hour: what is read, what is refused, and that nothing else is kept."""

import pytest
from django.core.exceptions import ValidationError
from hypothesis import given
from hypothesis import strategies as st

from configurator.wizard.counts import CountsQuestion, read_counts
from configurator.wizard.questions.service import LanguageServiceForm

pytestmark = pytest.mark.usefixtures("english")
DAY = [float(count) for count in range(1, 25)]
FORMS = {
    "bare": lambda at, n: f"{n}",
    "semicolon and day": lambda at, n: f"31-1-2026 {at:02}:00;{n}",
    "tab and moment": lambda at, n: f"2026-01-31T{at:02}:00:00Z\t{n}",
    "comma and clock": lambda at, n: f"{at:02}:00,{n}",
    "quoted": lambda at, n: f'"2026-01-31 {at:02}:00";"{n}"',
    "hour of the day": lambda at, n: f"{at};{n}",
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("header", ["", "tijd;aantal\n", "Hour, requests\n"])
def test_the_forms_that_spreadsheets_write(form, header: str) -> None:
    assert read_counts(header + "\r\n".join(form(at, at + 1) for at in range(24))) == DAY


@pytest.mark.parametrize(
    ("cell", "count"),
    [("12,5", 12.5), ("12.5", 12.5), ("1.234", 1234), ("1.234,5", 1234.5), ("1 234", 1234), ("0", 0)],
)
def test_numbers_with_a_comma_a_point_or_thousands(cell: str, count: float) -> None:
    assert read_counts("\n".join([cell, *["1"] * 23]))[0] == count


@pytest.mark.parametrize("length", [24, 168, 8760, 8784])
def test_a_day_a_week_and_a_year_are_taken(length: int) -> None:
    assert len(read_counts("\n".join(["7"] * length))) == length


@pytest.mark.parametrize("length", [0, 1, 23, 25, 167, 8759])
def test_other_lengths_are_refused(length: int) -> None:
    with pytest.raises(ValidationError, match="24"):
        read_counts("\n".join(["7"] * length))


SECRETS = [
    "08:00;12;jan@voorbeeld.example",
    "jan de vries;12",
    "08:00;hoe zeg ik mijn huur op?",
    "10.0.0.1;12",
    "-5",
    "1e9",
    "12;0612345678901",
    "=1+1",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_anything_but_a_time_and_a_count_is_refused_and_forgotten(secret: str) -> None:
    text = "\n".join(["1"] * 4 + [secret] + ["1"] * 19)
    with pytest.raises(ValidationError, match="Line 5"):
        read_counts(text)
    kept = question().keep(text)
    assert secret not in kept
    with pytest.raises(ValidationError, match="Line 5"):
        read_counts(kept)


def question() -> CountsQuestion:
    found = LanguageServiceForm.base_fields["counts"]
    assert isinstance(found, CountsQuestion)
    return found


def test_a_day_without_use_is_refused() -> None:
    with pytest.raises(ValidationError, match="zero"):
        read_counts("\n".join(["0"] * 24))


@given(counts=st.lists(st.integers(0, 10**9), min_size=24, max_size=24).filter(any))
def test_what_is_shown_again_reads_as_it_was(counts: list[int]) -> None:
    asked = question()
    shown = asked.write(asked.store([float(count) for count in counts]), None)  # type: ignore[arg-type]
    again = read_counts(shown)
    assert again == pytest.approx(counts, rel=1e-5)


@given(text=st.text(max_size=300))
def test_whatever_is_pasted_is_read_or_refused(text: str) -> None:
    try:
        found = read_counts(text)
    except ValidationError:
        return
    assert max(found) > 0
