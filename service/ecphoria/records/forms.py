"""Write texts so that all spellings have one form; keys, names and filters are compared in it."""

import re
import unicodedata
from itertools import chain, groupby
from typing import Final

_MANY_MARKS: Final = re.compile(r"[^\w\s\x00-\u02ff]{31,}")
"""The standard library sorts a run of combining marks in quadratic time, so a long one is sorted
here. No language has 30 marks on one letter."""
_SAME_LETTERS: Final = re.compile("[\ufb00-\ufb06\uff01-\uff9f\U0001d400-\U0001d7ff]+")
"""Ligatures, full-width and mathematical letters: the plain ones in another print."""
_UNSEEN: Final = re.compile("[\u00ad\u200c\u200d\u2060\ufe0e\ufe0f\ufeff]+")
"""Invisible characters inside a word, such as a soft hyphen."""


def composed(text: str) -> str:
    """Write a text in normalisation form C.

    The time is linear in the length of the text, apart from the sorting of long runs of marks.

    >>> composed("Zu\u0308rich") == "Z\u00fcrich"
    True
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _MANY_MARKS.sub(_sorted_marks, text))


def _sorted_marks(run: re.Match[str]) -> str:
    """Bring marks into their canonical order, which no normalisation changes any more."""
    marks = "".join(unicodedata.normalize("NFD", mark) for mark in run[0])
    parts = groupby(marks, key=lambda mark: unicodedata.combining(mark) > 0)
    return "".join(
        chain.from_iterable(sorted(part, key=unicodedata.combining) for _, part in parts)
    )


def plain(text: str) -> str:
    """Write a text in form C, with plain letters, and without invisible characters."""
    if text.isascii():
        return text
    return composed(_SAME_LETTERS.sub(_printed_plainly, _UNSEEN.sub("", text)))


def lowered(text: str) -> str:
    """Write a text plainly and in lower case; the dot of the Turkish capital I goes with it."""
    lower = plain(text).lower()
    return lower if lower.isascii() else composed(lower.replace("i\u0307", "i"))


def _printed_plainly(letters: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", letters[0])
