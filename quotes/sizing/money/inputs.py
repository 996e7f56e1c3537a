"""What goes into a figure about money: something given, or an assumption by its key."""

from catalog.quantity import Message, Quantity
from quotes.sizing.trace import Input


def euros(value: float) -> Quantity:
    return Quantity(value=value, unit="EUR", digits=3)


def given(name: str, value: float, unit: str, source: str) -> Input:
    return Input(name=Message.of(name), value=Quantity(value=value, unit=unit, digits=4), source=source)


def assumed(name: str, value: float, unit: str, key: str) -> Input:
    return Input(
        name=Message.of(name),
        value=Quantity(value=value, unit=unit, digits=4),
        source="assumption",
        assumption=key,
    )


def given_or_assumed(name: str, value: float, unit: str, answered: bool, key: str) -> Input:
    return given(name, value, unit, "answer") if answered else assumed(name, value, unit, key)
