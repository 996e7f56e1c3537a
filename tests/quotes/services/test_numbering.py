"""Many people issue at once: every number is given once and none is skipped."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, connections, transaction

from quotes.models import NumberSequence
from quotes.services.life import next_number

WORKERS, EACH = 6, 8


def take_numbers(_worker: int) -> list[str]:
    """Every third transaction is rolled back, as when issuing is refused at the last moment."""
    taken = []
    try:
        for turn in range(EACH):
            try:
                with transaction.atomic():
                    number = next_number(2026)
                    if turn % 3 == 2:
                        raise InterruptedError
                taken.append(number)
            except InterruptedError:
                pass
    finally:
        connections.close_all()
    return taken


@pytest.mark.django_db(transaction=True)
def test_numbers_are_gapless_under_concurrency() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer at a time; the test needs PostgreSQL")
    with ThreadPoolExecutor(WORKERS) as pool:
        taken = sorted(number for numbers in pool.map(take_numbers, range(WORKERS)) for number in numbers)
    assert taken == [f"2026-{number:04d}" for number in range(1, len(taken) + 1)]
    assert NumberSequence.objects.get(year=2026).last == len(taken)


@pytest.mark.django_db
def test_numbers_are_gapless_after_refusals() -> None:
    taken = []
    for turn in range(9):
        try:
            with transaction.atomic():
                number = next_number(2026)
                if turn % 3 == 2:
                    raise InterruptedError
            taken.append(number)
        except InterruptedError:
            pass
    assert taken == [f"2026-{number:04d}" for number in range(1, 7)]
