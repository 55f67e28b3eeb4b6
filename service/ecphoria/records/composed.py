"""The one Unicode form of texts that are compared."""

import re
import unicodedata
from itertools import chain, groupby
from typing import Final

_MANY_MARKS: Final = re.compile(r"[^\w\s\x00-\u02ff]{31,}")
"""The standard library sorts a run of combining marks in quadratic time, so a long one is sorted
here. No language has 30 marks on one letter."""


def composed(text: str) -> str:
    """Write a text in normalisation form C; keys, names and filters are compared in it.

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
