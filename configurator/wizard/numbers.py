"""Numbers as people type them: `1.500,5`, `1,500.5`, `€ 200k`, `500 miljard`, `20 %`, and back again.

The reader's language decides what a dot and a comma mean. Where only one reading makes sense the other language's
way is understood too: `1,5` in English and `1.5` in Dutch are one and a half, and `2.000` people are two thousand in
both.
"""

import re
from collections.abc import Collection
from decimal import Decimal

from django.utils.translation import get_language, gettext

from configurator import formats

LONGEST = 40  # characters; a longer text is no number that a person typed

# Words for powers of ten, in both languages. "B" is how the field writes a thousand million.
_POWERS = {
    "k": 3, "thousand": 3, "duizend": 3,
    "m": 6, "mln": 6, "million": 6, "miljoen": 6,
    "b": 9, "bn": 9, "mld": 9, "mrd": 9, "billion": 9, "miljard": 9,
    "trillion": 12, "biljoen": 12,
}  # fmt: skip
_SIGNS = str.maketrans(
    {"−": "-", "–": "-", "’": "'", "\N{NO-BREAK SPACE}": " ", "\N{NARROW NO-BREAK SPACE}": " "}
)
_SHAPE = re.compile(
    r"(?P<sign>[+-]?)(?P<digits>[0-9][0-9.,' ]*|[.,][0-9]+)(?:e(?P<exponent>[+-]?[0-9]{1,2}))?\s*(?P<word>\D*)"
)


_THOUSANDS = re.compile(r"[1-9][0-9]{0,2}(?P<mark>[.,])[0-9]{3}(?:(?P=mark)[0-9]{3})*")


class NotANumber(ValueError):
    pass


def parse(text: str, units: Collection[str] = (), *, whole: bool = False) -> Decimal:
    """The number that `text` says in the active language. Raises NotANumber.

    `units` are endings that may follow the number and change nothing ("TB", "people"); words for powers of ten
    multiply, an exponent (`1e9`) is understood, `€` is ignored. Of what only comes `whole`, three digits after a
    mark are thousands, whichever mark: nobody counts people in thousandths.
    """
    if len(text) > LONGEST:
        raise NotANumber(text)
    plain = text.translate(_SIGNS).replace("€", " ").strip().casefold()
    plain = re.sub(r"^eur\b|\beur(o)?$", "", plain).strip()
    shape = _SHAPE.fullmatch(plain)
    if shape is None:
        raise NotANumber(text)
    power = int(shape["exponent"] or 0) + _power(shape["word"].strip(), units)
    digits = shape["digits"].strip()
    if whole and not power and _THOUSANDS.fullmatch(digits):
        digits = re.sub("[.,]", "", digits)
    value = Decimal(_plain_digits(digits)).scaleb(power)
    return -value if shape["sign"] == "-" else value


def _power(word: str, units: Collection[str]) -> int:
    endings = {unit.casefold() for unit in units}
    if not word or word in endings:
        return 0
    head, _, rest = word.partition(" ")
    if head in _POWERS and (not rest or rest.strip() in endings):
        return _POWERS[head]
    raise NotANumber(word)


def _plain_digits(digits: str) -> str:
    """`1.500,5` or `1,500.5` as `1500.5`, after the separators of the active language."""
    point, group = (",", ".") if (get_language() or "").startswith("nl") else (".", ",")
    for decimal, thousand in ((point, group), (group, point)):
        mark = re.escape(thousand)
        grouped = rf"[1-9][0-9]{{0,2}}(?:(?:{mark}|'| )[0-9]{{3}})+"
        if re.fullmatch(rf"(?:{grouped}|[0-9]*)(?:{re.escape(decimal)}[0-9]*)?", digits):
            whole, _, fraction = digits.partition(decimal)
            return f"{re.sub('[^0-9]', '', whole) or '0'}.{fraction or '0'}"
    raise NotANumber(digits)


def write(value: Decimal) -> str:
    """`value` as an input shows it and `parse` reads it back: grouped, all its digits, millions in words."""
    for power, word in ((9, gettext("billion")), (6, gettext("million"))):
        scaled = value.scaleb(-power)
        if abs(scaled) >= 1 and scaled == scaled.quantize(Decimal("0.1")):
            return f"{formats.number(scaled)} {word}"
    return formats.number(value)
