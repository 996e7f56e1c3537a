"""Source Sans 3 with the letters that most documents need, cut from the package's font once per process.

WeasyPrint makes a font of fixed weight for every document and weight; from the whole variable font, with 2 000 signs,
that takes as long as laying out several pages. What this cut lacks comes from the whole font.
"""

from functools import cache
from io import BytesIO
from pathlib import Path

import fontpkg_source_sans_3
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

FILES = Path(fontpkg_source_sans_3.__file__).parent / "files"
WHOLE = "SourceSans3[wght].ttf"
LETTERS = (*range(0x20, 0x180), *(ord(sign) for sign in "–—‘’“”„†•…‰‹›€™−×÷≤≥≈√∞→₉₅²³½¾\u2009\u202f"))

NARROW_SPACE = 0x202F
NARROW_SPACE_WIDTH = 185  # thousandths of an em; the full space has 200


@cache
def common_letters() -> bytes:
    """A variable TrueType font: western European letters, figures and the signs of simple mathematics."""
    font = TTFont(FILES / WHOLE)
    subsetter = Subsetter(Options(layout_features=["kern", "mark", "ccmp", "locl"], notdef_outline=True))
    subsetter.populate(unicodes=LETTERS)
    subsetter.subset(font)
    # Between number and unit stands a narrow space, which the face draws 0.12 em wide: too thin to be seen.
    font["hmtx"][font.getBestCmap()[NARROW_SPACE]] = (NARROW_SPACE_WIDTH, 0)
    target = BytesIO()
    font.save(target)
    return target.getvalue()
