"""Name the classes of characters that `re` has no name for: capitals, marks, whole scripts.

Each constant is the inside of a regular expression's character class.
"""

import unicodedata
from collections.abc import Callable
from typing import Final

__all__ = ["APOSTROPHES", "LATIN", "MARKS", "UNREADABLE", "UNSPACED", "UPPER"]


def _ranges(holds: Callable[[str], bool], start: int, stop: int) -> str:
    """Write the characters for which `holds` as ranges."""
    parts: list[str] = []
    first: int | None = None
    for code in range(start, stop + 1):
        inside = code < stop and holds(chr(code))
        if inside and first is None:
            first = code
        elif not inside and first is not None:
            parts.append(f"\\u{first:04x}-\\u{code - 1:04x}")
            first = None
    return "".join(parts)


APOSTROPHES: Final = "'\u2019"
"""The typewriter's and the printer's."""

UPPER: Final = _ranges(str.isupper, 0x41, 0x590) + _ranges(str.isupper, 0x1E00, 0x2000)
"""Capitals of the Latin, Greek, Cyrillic and Armenian scripts."""

MARKS: Final = _ranges(lambda char: unicodedata.category(char) in {"Mn", "Mc"}, 0x483, 0x1C00)
"""Vowel signs and points: part of the word, though `\\w` leaves them out (Hindi, Thai)."""

LATIN: Final = (
    r"\u0000-\u036f\u1d00-\u1dbf\u1e00-\u1eff\u2000-\u2bff\u2c60-\u2c7f\ua720-\ua7ff"
    r"\uab30-\uab6f\ufb00-\ufb06\uff00-\uff65\U0001d400-\U0001d7ff"
)
"""Blocks whose letters are Latin or stand for Latin ones, with the common signs between them."""

UNREADABLE: Final = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff"
"""Control characters and halves of surrogate pairs: nothing that text consists of."""

UNSPACED: Final = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts whose words spaces do not reliably part: Thai, Lao, Burmese, Khmer and CJK."""
