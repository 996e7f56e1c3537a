"""Source Sans 3 with the letters that most documents need, cut from the package's font once per process.

WeasyPrint makes a font of fixed weight for every document and weight; from the whole variable font that takes as long
as laying out several pages, and the moment gets into the file. What this cut lacks comes from the whole font.
"""

from functools import cache
from io import BytesIO
from pathlib import Path

import fontpkg_source_sans_3
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

FILES = Path(fontpkg_source_sans_3.__file__).parent / "files"
WHOLE = "SourceSans3[wght].ttf"
LETTERS = (*range(0x20, 0x180), *(ord(sign) for sign in "–—‘’“”„†•…‰‹›€™−×÷≤≥≈√∞→₉₅²³½¾\u2009\u202f"))

WEIGHTS = (300, 400, 600)
NARROW_SPACE = 0x202F
NARROW_SPACE_WIDTH = 185  # thousandths of an em; the full space has 200


@cache
def common_letters(weight: int) -> bytes:
    """A TrueType font of one weight: western European letters, figures and the signs of simple mathematics."""
    font = instantiateVariableFont(_read(_cut()), {"wght": weight}, static=True)
    font["OS/2"].usWeightClass = weight
    return _written(font)


@cache
def _cut() -> bytes:
    """The common letters at all weights."""
    font = _read((FILES / WHOLE).read_bytes())
    subsetter = Subsetter(Options(layout_features=["kern"], notdef_outline=True, hinting=False))
    subsetter.populate(unicodes=LETTERS)
    subsetter.subset(font)
    # Between number and unit stands a narrow space, which the face draws 0.12 em wide: too thin to be seen.
    font["hmtx"][font.getBestCmap()[NARROW_SPACE]] = (NARROW_SPACE_WIDTH, 0)
    return _written(font)


def _read(content: bytes) -> TTFont:
    return TTFont(BytesIO(content), recalcTimestamp=False)


def _written(font: TTFont) -> bytes:
    target = BytesIO()
    font.save(target)
    return target.getvalue()
